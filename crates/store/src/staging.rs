//! Many blobs at once: written without a sync each, made durable together.
//!
//! **Staged** content is a whole temporary file without a name yet. Invariant: it gets its name only after a sync that
//! began after its last byte was written, so also a staged blob is whole and synced before anybody learns its name; and
//! whoever's settling returns knows that all it staged before is durable, whichever call did the work.

use crate::folder::sync_folder;
use domain::digest::Digest;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// From this many files on, one sync of the whole file system is cheaper than one for each.
const MANY: usize = 64;

/// Blobs that have no name yet.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    waiting: Mutex<BTreeMap<Digest, PathBuf>>,
    /// Folders with names that aren't synced yet; more than the running settling's only after one failed.
    named: Mutex<BTreeSet<PathBuf>>,
    /// Held while settling, so that a second caller can't return before what it staged is durable.
    settling: Mutex<()>,
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

    /// Syncs everything that waits, names it by `name(temporary, shard, path)` and syncs the names.
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
        let many = batch.len() >= MANY && sync_everything(folder)?;
        if !many {
            batch.values().try_for_each(|file| sync_file(file))?;
        }
        for (digest, temporary) in &batch {
            let (shard, path) = paths(digest);
            name(temporary, &shard, &path)?;
            locked(&self.named).insert(shard);
            locked(&self.waiting).remove(digest);
        }
        self.sync_names()
    }

    fn sync_names(&self) -> io::Result<()> {
        let shards = locked(&self.named).clone();
        shards.iter().try_for_each(|shard| sync_folder(shard))?;
        locked(&self.named).clear();
        Ok(())
    }
}

/// A panic elsewhere leaves nothing half-done in these maps.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
