//! Collecting what nobody refers to any more.
//!
//! A blob, file or row, is **collected** when it isn't kept by the caller, is older than a grace period and wasn't put or
//! attached by this process. Invariant: a blob that is put or attached, also one that was there already, stays until the
//! process ends; only one process writes a store, so between that and the event that names it nothing is lost.

use super::{BlobError, Blobs, TEMPORARY, failed};
use domain::digest::Digest;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};
use std::time::SystemTime;

/// What collecting removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    /// Blobs, and leftovers of killed puts.
    pub blobs: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Blobs {
    /// Notes that this process refers to a blob, before looking whether it is there.
    pub(super) fn refer(&self, digest: &Digest) {
        self.referred().insert(*digest);
    }

    /// What this process refers to. Whoever removes a blob holds this until it is gone: who refers to it afterwards finds
    /// it missing and writes it.
    pub(crate) fn referred(&self) -> MutexGuard<'_, HashSet<Digest>> {
        self.referred.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes what a process that died was still writing. Nobody else writes here while this is called.
    pub(crate) fn sweep(&self) {
        let found = entries(&self.folder).unwrap_or_default();
        for (path, _) in found.into_iter().filter(|(_, name)| name.starts_with(TEMPORARY)) {
            let _ = fs::remove_file(&path);
        }
    }

    /// Names of files, and of what waits, whose content `holds`.
    pub(crate) fn that(&self, holds: &dyn Fn(&[u8]) -> bool) -> Result<Vec<Digest>, BlobError> {
        let waiting = self.attached().waiting();
        let mut found: Vec<Digest> =
            waiting.iter().filter(|(_, bytes)| holds(bytes)).map(|(digest, _)| *digest).collect();
        for (path, name) in entries(&self.folder)? {
            if name.len() != 2 || !path.is_dir() {
                continue;
            }
            for (file, rest) in entries(&path)? {
                let Ok(digest) = format!("{name}{rest}").parse::<Digest>() else { continue };
                if holds(&fs::read(&file).map_err(|error| failed(&file, error))?) {
                    found.push(digest);
                }
            }
        }
        Ok(found)
    }

    /// Removes the files that `keep` doesn't name, were written before `before` and this process doesn't refer to.
    pub(crate) fn collect(
        &self,
        keep: &dyn Fn(&Digest) -> bool,
        before: SystemTime,
    ) -> Result<Collected, BlobError> {
        let mut collected = Collected::default();
        for (path, name) in entries(&self.folder)? {
            if name.starts_with(TEMPORARY) {
                remove(&path, before, &mut collected)?;
            } else if name.len() == 2 && path.is_dir() {
                for (file, rest) in entries(&path)? {
                    let Ok(digest) = format!("{name}{rest}").parse::<Digest>() else { continue };
                    let referred = self.referred();
                    if !referred.contains(&digest) && !keep(&digest) {
                        remove(&file, before, &mut collected)?;
                    }
                }
            }
        }
        Ok(collected)
    }
}

fn entries(folder: &Path) -> Result<Vec<(std::path::PathBuf, String)>, BlobError> {
    let read = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let found = read.map_err(|error| failed(folder, error))?;
    let named = |entry: fs::DirEntry| Some((entry.path(), entry.file_name().into_string().ok()?));
    Ok(found.into_iter().filter_map(named).collect())
}

fn remove(path: &Path, before: SystemTime, collected: &mut Collected) -> Result<(), BlobError> {
    let fail = |error| failed(path, error);
    let meta = fs::symlink_metadata(path).map_err(fail)?;
    if meta.is_file() && meta.modified().map_err(fail)? < before {
        fs::remove_file(path).map_err(fail)?;
        collected.blobs += 1;
        collected.bytes += meta.len();
    }
    Ok(())
}
