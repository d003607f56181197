//! Many blobs at once: written without a sync each, made durable together.
//!
//! **Staged** content is a whole temporary file without a name yet. Invariants: it gets its name only after a sync that
//! began after its last byte was written, so also a staged blob is whole and synced before anybody learns its name; whoever's
//! settling returns knows that all it staged before is durable, whichever call did the work; and after a sync that was refused
//! the bytes are written once more, because a later sync would cover nothing of them.

use crate::count::Counter;
use crate::folder::sync_folder;
use domain::digest::Digest;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// From this many files on, one sync of the whole file system is cheaper than one for each.
const MANY: usize = 64;

/// Blobs that have no name yet.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    waiting: Mutex<BTreeMap<Digest, PathBuf>>,
    /// Of those the ones whose sync was refused.
    doubtful: Mutex<BTreeSet<Digest>>,
    /// Folders with names that aren't synced yet, or whose sync was refused, and how often one was made there.
    named: Mutex<BTreeMap<PathBuf, u64>>,
    /// Held while settling, so that a second caller can't return before what it staged is durable.
    settling: Mutex<()>,
    /// How many syncs it took.
    counter: Counter,
}

impl Staging {
    /// Takes a whole temporary file; `false` when the same content waits already, and then the file is removed.
    pub(crate) fn add(&self, digest: Digest, temporary: PathBuf) -> bool {
        let mut waiting = locked(&self.waiting);
        if waiting.contains_key(&digest) {
            let _ = std::fs::remove_file(temporary);
            return false;
        }
        waiting.insert(digest, temporary);
        true
    }

    /// Does it wait for its name?
    pub(crate) fn has(&self, digest: &Digest) -> bool {
        locked(&self.waiting).contains_key(digest)
    }

    /// Syncs everything that waits, names it by `name(temporary, shard, path)`, which owes what it names, and syncs the names.
    pub(crate) fn settle(
        &self,
        folder: &Path,
        paths: impl Fn(&Digest) -> (PathBuf, PathBuf),
        name: impl Fn(&Path, &Path, &Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let _alone = locked(&self.settling);
        let batch = locked(&self.waiting).clone();
        if batch.is_empty() {
            return self.sync_names();
        }
        self.sync(folder, &batch).inspect_err(|_| locked(&self.doubtful).extend(batch.keys().copied()))?;
        for (digest, temporary) in &batch {
            let (shard, path) = paths(digest);
            name(temporary, &shard, &path)?;
            locked(&self.waiting).remove(digest);
        }
        self.sync_names()
    }

    /// How often it synced, for counting.
    pub(crate) fn counter(&self) -> &Counter {
        &self.counter
    }

    /// A name is about to be made in this folder. It is there, so that one that can't be found later has lost names.
    pub(crate) fn owe(&self, folder: &Path) {
        *locked(&self.named).entry(folder.to_owned()).or_default() += 1;
    }

    /// Makes the names in this folder durable, where some may not be.
    pub(crate) fn pay(&self, folder: &Path) -> io::Result<()> {
        let Some(owed) = locked(&self.named).get(folder).copied() else { return Ok(()) };
        sync_folder(folder)?;
        self.counter.file_syncs(1);
        // A name that was made meanwhile stays owed.
        locked(&self.named).retain(|other, names| other != folder || *names != owed);
        Ok(())
    }

    fn sync(&self, folder: &Path, batch: &BTreeMap<Digest, PathBuf>) -> io::Result<()> {
        let doubtful = locked(&self.doubtful).clone();
        for (digest, file) in batch.iter().filter(|(digest, _)| doubtful.contains(digest)) {
            if let Err(error) = write_again(digest, file) {
                // What can't be had from its file any more has to be staged again.
                locked(&self.waiting).remove(digest);
                locked(&self.doubtful).remove(digest);
                return Err(error);
            }
        }
        if batch.len() < MANY || !sync_everything(folder)? {
            batch.values().try_for_each(|file| sync_file(file))?;
            self.counter.file_syncs(batch.len());
        } else {
            self.counter.file_syncs(1);
        }
        locked(&self.doubtful).retain(|digest| !batch.contains_key(digest));
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let shards: Vec<PathBuf> = locked(&self.named).keys().cloned().collect();
        shards.iter().try_for_each(|shard| self.pay(shard))
    }
}

/// A panic elsewhere leaves nothing half-done in these maps.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the same bytes over themselves, if they are still what they were.
fn write_again(digest: &Digest, path: &Path) -> io::Result<()> {
    let bytes = std::fs::read(path)?;
    if Digest::of(&bytes) != *digest {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "what was staged isn't there any more"));
    }
    File::options().write(true).open(path)?.write_all(&bytes)
}

/// Windows syncs only what was opened for writing.
fn sync_file(path: &Path) -> io::Result<()> {
    let file = if cfg!(windows) { File::options().write(true).open(path) } else { File::open(path) };
    file?.sync_all()
}

/// Makes all of the disk durable in one go; `false` where a system can't.
#[cfg(target_os = "linux")]
fn sync_everything(folder: &Path) -> io::Result<bool> {
    rustix::fs::syncfs(File::open(folder)?)?;
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
fn sync_everything(_: &Path) -> io::Result<bool> {
    Ok(false)
}
