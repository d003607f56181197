//! Folders that sessions write in: who holds one, and what its revisions know.
//!
//! The **lease** of a folder lets one session at a time change it; a folder that contains another is the same folder here.
//! It is held while something of a session runs in it, never while a person is waited for. Invariants: what is different
//! after a session's own work, and wasn't before it, happened under that session's lease; a revision never rests on an index
//! from before contents were taken out.

use domain::digest::Digest;
use domain::ids::SessionId;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tools::revision::{Bounds, Index, TakeError, Taken, take};
use tools::{BlobSink, Place};

/// Folders of one engine.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    held: Mutex<Vec<Held>>,
    freed: Notify,
    indexes: Mutex<HashMap<PathBuf, Arc<Mutex<Index>>>>,
}

#[derive(Debug)]
struct Held {
    root: PathBuf,
    session: SessionId,
    times: usize,
}

/// A folder held for a session; given back when dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    folders: Arc<Folders>,
    root: PathBuf,
    session: SessionId,
}

impl Folders {
    /// Waits until no other session holds this folder, one in it or one around it, and holds it; `None` when told to stop.
    pub(crate) async fn hold(
        self: &Arc<Self>,
        root: &Path,
        session: &SessionId,
        cancel: &CancellationToken,
    ) -> Option<Lease> {
        loop {
            // Listening begins before looking, so that nothing is missed in between.
            let freed = self.freed.notified();
            if let Some(lease) = self.hold_now(root, session) {
                return Some(lease);
            }
            tokio::select! {
                () = freed => {}
                () = cancel.cancelled() => return None,
            }
        }
    }

    /// Holds it if no other session does.
    pub(crate) fn hold_now(self: &Arc<Self>, root: &Path, session: &SessionId) -> Option<Lease> {
        let (folders, root, session) = (Arc::clone(self), root.to_owned(), session.clone());
        folders.try_hold(&root, &session).then(|| Lease { folders: Arc::clone(&folders), root, session })
    }

    fn try_hold(&self, root: &Path, session: &SessionId) -> bool {
        let mut held = lock(&self.held);
        let others = |one: &Held| {
            one.session != *session && (one.root.starts_with(root) || root.starts_with(&one.root))
        };
        if held.iter().any(others) {
            return false;
        }
        match held.iter_mut().find(|one| one.session == *session && one.root == root) {
            Some(own) => own.times += 1,
            None => held.push(Held { root: root.to_owned(), session: session.clone(), times: 1 }),
        }
        true
    }

    /// Forgets which contents files had, does this, in which contents may be taken out of the store, and only then lets
    /// revisions begin or end again: each reads every file anew.
    pub(crate) fn without_contents<T>(&self, private: &Path, act: impl FnOnce() -> T) -> T {
        let mut indexes = lock(&self.indexes);
        indexes.clear();
        let entries = std::fs::read_dir(private).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("index-")) {
            if let Err(error) = std::fs::remove_file(entry.path()) {
                tracing::warn!(%error, "the index of a folder couldn't be removed");
            }
        }
        act()
    }

    /// A revision of the folder as it is now. What `held`, or else the last revision, holds stays covered. Blocks: the first
    /// time seconds for a large folder, later little.
    ///
    /// # Errors
    /// When the folder can't be read or kept.
    pub(crate) fn revision(
        &self,
        place: &Place,
        blobs: &dyn BlobSink,
        private: &Path,
        held: Option<&Digest>,
        cancel: &CancellationToken,
    ) -> Result<Taken, TakeError> {
        if let Err(error) = std::fs::create_dir_all(private) {
            tracing::warn!(%error, "the private folder can't be made; folders will be read again");
        }
        loop {
            let known = {
                let mut indexes = lock(&self.indexes);
                let open = || Arc::new(Mutex::new(Index::open(private, place, blobs)));
                Arc::clone(indexes.entry(place.path().to_owned()).or_insert_with(open))
            };
            let mut index = lock(&known);
            let held = held.copied().or(index.last());
            let taken = take(place, blobs, &mut index, &Bounds::default(), held.as_ref(), cancel)?;
            let indexes = lock(&self.indexes);
            // Contents went while it was under way, some that it found in its index, perhaps: taken again.
            if !indexes.get(place.path()).is_some_and(|now| Arc::ptr_eq(now, &known)) {
                continue;
            }
            if taken.new_bytes > 0
                && let Err(error) = index.save()
            {
                tracing::warn!(%error, "the index of a folder couldn't be saved; it will be read again");
            }
            return Ok(taken);
        }
    }
}

impl Lease {
    /// Holds it once more.
    pub(crate) fn again(&self) -> Option<Self> {
        self.folders.hold_now(&self.root, &self.session)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut held = lock(&self.folders.held);
        if let Some(at) = held.iter().position(|one| one.session == self.session && one.root == self.root) {
            held[at].times -= 1;
            if held[at].times == 0 {
                held.swap_remove(at);
            }
        }
        drop(held);
        self.folders.freed.notify_waiters();
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::io;

    #[track_caller]
    fn check(held: &[(&str, u128)], asks: (&str, u128), expect: bool) {
        let folders = Folders::default();
        for (root, session) in held {
            assert!(folders.try_hold(Path::new(root), &SessionId::from_bits(*session)));
        }
        assert_eq!(folders.try_hold(Path::new(asks.0), &SessionId::from_bits(asks.1)), expect);
    }

    #[test]
    fn one_session_at_a_time_changes_a_folder() {
        check(&[("/a", 1)], ("/a", 1), true);
        check(&[("/a", 1)], ("/a", 2), false);
        check(&[("/a", 1)], ("/a/b", 2), false);
        check(&[("/a/b", 1)], ("/a", 2), false);
        check(&[("/a", 1)], ("/ab", 2), true);
    }

    #[tokio::test]
    async fn whoever_waits_goes_on_when_all_is_given_back_or_stops_when_told() {
        let folders = Arc::new(Folders::default());
        let (one, other) = (SessionId::from_bits(1), SessionId::from_bits(2));
        let cancel = CancellationToken::new();
        let first = folders.hold(Path::new("/a"), &one, &cancel).await.unwrap();
        let second = folders.hold(Path::new("/a"), &one, &cancel).await.unwrap();
        let waiting = {
            let (folders, other, cancel) = (Arc::clone(&folders), other.clone(), cancel.clone());
            tokio::spawn(async move { folders.hold(Path::new("/a"), &other, &cancel).await.is_some() })
        };
        drop(first);
        tokio::task::yield_now().await;
        assert!(!folders.try_hold(Path::new("/a"), &other), "it is still held once");
        drop(second);
        assert!(waiting.await.unwrap());
        let third = folders.hold(Path::new("/a"), &one, &cancel).await;
        let stopped = {
            let (folders, cancel) = (Arc::clone(&folders), cancel.clone());
            tokio::spawn(async move { folders.hold(Path::new("/a/b"), &other, &cancel).await.is_none() })
        };
        tokio::task::yield_now().await;
        cancel.cancel();
        assert!(stopped.await.unwrap());
        drop(third);
    }

    /// Keeps everything in memory, and takes contents out once while a revision is under way.
    struct Interrupting<'a> {
        folders: &'a Folders,
        private: &'a Path,
        kept: Mutex<HashMap<Digest, Vec<u8>>>,
        times: Mutex<usize>,
    }

    impl BlobSink for Interrupting<'_> {
        fn put(&self, bytes: &[u8]) -> io::Result<Digest> {
            lock(&self.kept).insert(Digest::of(bytes), bytes.to_vec());
            Ok(Digest::of(bytes))
        }

        fn put_stream(&self, from: &mut dyn io::Read) -> io::Result<Digest> {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes)?;
            self.put(&bytes)
        }

        fn get(&self, digest: &Digest) -> io::Result<Vec<u8>> {
            lock(&self.kept).get(digest).cloned().ok_or(io::ErrorKind::NotFound.into())
        }

        fn settle(&self) -> io::Result<()> {
            *lock(&self.times) += 1;
            if *lock(&self.times) == 2 {
                self.folders.without_contents(self.private, || lock(&self.kept).clear());
            }
            Ok(())
        }
    }

    #[test]
    fn a_revision_under_way_while_contents_go_is_taken_again_and_its_old_index_is_not_saved() {
        let (home, private) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (root, private) = (home.path(), private.path());
        std::fs::write(root.join("old.txt"), "old").unwrap();
        let folders = Folders::default();
        let place = Place::open(root, Vec::new()).unwrap();
        let (kept, times) = (Mutex::default(), Mutex::default());
        let blobs = Interrupting { folders: &folders, private, kept, times };
        let never = CancellationToken::new();
        let old = folders.revision(&place, &blobs, private, None, &never).unwrap();
        std::fs::write(root.join("new.txt"), "new").unwrap();
        let taken = folders.revision(&place, &blobs, private, None, &never).unwrap();
        assert_eq!((*lock(&blobs.times), taken.files), (3, old.files + 1));
        let mut read = HashSet::new();
        let reached = tools::revision::reach_new(&blobs, taken.tree, &mut read, &|_| false).unwrap();
        for digest in reached {
            assert!(blobs.holds(&digest).unwrap(), "all that it names is kept, the old content too");
        }
        let saved = Index::open(private, &place, &blobs);
        assert!(format!("{saved:?}").contains(&format!("{:?}", taken.tree)), "of the second time");
    }
}
