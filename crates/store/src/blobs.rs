//! Blobs: large content beside the log, named by its digest.
//!
//! A blob is a file `blobs/<first two hex digits>/<the rest>`. Invariants: it is whole and synced before anybody learns
//! its name, so an event never refers to one that isn't there; the same bytes are kept once; what is read is compared
//! with its name first. The temporary file is made in the folder it will live in, so the rename never crosses disks.

use crate::folder::sync_folder;
use domain::digest::Digest;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Why a blob can't be had.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// Its file is gone.
    #[error("blob {digest} is missing from the data folder")]
    Missing {
        /// Its name.
        digest: Digest,
    },
    /// Its file holds something else.
    #[error("blob {digest} was changed on the disk: what is there has the digest {found}")]
    Changed {
        /// Its name.
        digest: Digest,
        /// What the file has.
        found: Digest,
    },
    /// No room on the disk.
    #[error("the disk is full; {} could not be kept", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// A file operation failed.
    #[error("the blob file {} can't be used", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: io::Error,
    },
}

#[derive(Debug)]
pub(crate) struct Blobs {
    folder: PathBuf,
    temporary: AtomicU64,
}

impl Blobs {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, temporary: AtomicU64::new(0) }
    }

    fn path(&self, digest: &Digest) -> (PathBuf, PathBuf) {
        let name = digest.to_string();
        let shard = self.folder.join(&name[..2]);
        let file = shard.join(&name[2..]);
        (shard, file)
    }

    /// Keeps these bytes and gives their name.
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        let digest = Digest::of(bytes);
        let (shard, path) = self.path(&digest);
        // A file that is there is compared, not trusted: a damaged one is replaced by the same content.
        if fs::read(&path).is_ok_and(|found| found == bytes) {
            return Ok(digest);
        }
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        let temporary = shard.join(format!(".new-{}-{number}", std::process::id()));
        self.write(&shard, &temporary, &path, bytes).map_err(|source| {
            let _ = fs::remove_file(&temporary);
            failed(&path, source)
        })?;
        Ok(digest)
    }

    fn write(&self, shard: &Path, temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if !shard.is_dir() {
            fs::create_dir_all(shard)?;
            sync_folder(&self.folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        drop(file);
        fs::rename(temporary, path)?;
        sync_folder(shard)
    }

    /// The bytes of this name.
    pub(crate) fn get(&self, digest: &Digest) -> Result<Vec<u8>, BlobError> {
        let (_, path) = self.path(digest);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BlobError::Missing { digest: *digest });
            }
            Err(error) => return Err(failed(&path, error)),
        };
        let found = Digest::of(&bytes);
        if found == *digest { Ok(bytes) } else { Err(BlobError::Changed { digest: *digest, found }) }
    }
}

fn failed(path: &Path, source: io::Error) -> BlobError {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            BlobError::Full { path: path.to_owned() }
        }
        _ => BlobError::Io { path: path.to_owned(), source },
    }
}
