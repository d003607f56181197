//! Blobs: large content beside the log, named by its digest.
//!
//! A blob is a file `blobs/<first two hex digits>/<the rest>`. Invariants: it is whole and synced before anybody learns
//! its name, so an event never refers to one that isn't there; the same bytes are kept once; what is read is compared
//! with its name first. The temporary file is made in the blob folder, so the rename never crosses disks.
//! Many at once are **staged** ([`crate::staging`]): they get their names together, after one sync. Small content that only
//! an event will name is **attached** ([`attached`]) and becomes a row instead; what was put never counts on a row, whose
//! commit may not have been synced.

pub(crate) mod attached;
mod collect;
pub(crate) mod gone;

pub use attached::ATTACHED_BYTES;
pub use collect::Collected;
pub use gone::Gone;

use crate::count::Counter;
use crate::staging::Staging;
use attached::Attached;
use domain::digest::Digest;
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Content up to this size is read whole before anything is written, so that what is kept already costs no write.
const SMALL_BYTES: u64 = 1 << 20;
/// What isn't named yet is called like this.
const TEMPORARY: &str = ".new-";

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
        /// What is there has.
        found: Digest,
    },
    /// It was taken out on purpose.
    #[error("blob {digest} was {}", word(*why))]
    Gone {
        /// Its name.
        digest: Digest,
        /// Why.
        why: Gone,
    },
    /// No room on the disk.
    #[error("the disk is full; {} could not be kept", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Its row can't be read or removed.
    #[error("attached content can't be had from the store: {why}")]
    Store {
        /// The store's words.
        why: String,
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

fn word(why: Gone) -> &'static str {
    match why {
        Gone::Erased => "erased, since it held words that the person erased",
        Gone::Thinned => "let go, since it was kept for undo only and too long ago",
    }
}

/// Content that was staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Staged {
    /// Its name.
    pub digest: Digest,
    /// Its size.
    pub bytes: u64,
    /// Was it not kept before?
    pub new: bool,
}

#[derive(Debug)]
pub(crate) struct Blobs {
    folder: PathBuf,
    temporary: AtomicU64,
    staging: Staging,
    attached: Attached,
    /// What this process has put, for [`Blobs::collect`].
    referred: Mutex<HashSet<Digest>>,
}

impl Blobs {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            temporary: AtomicU64::new(0),
            staging: Staging::default(),
            attached: Attached::default(),
            referred: Mutex::default(),
        }
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
        self.refer(&digest);
        let (shard, path) = self.path(&digest);
        // A file that is there is compared, not trusted: a damaged one is replaced by the same content.
        if fs::read(&path).is_ok_and(|found| found == bytes) {
            // Its name may be one whose sync was refused.
            return self.staging.pay(&shard).map(|()| digest).map_err(|source| failed(&path, source));
        }
        let temporary = self.new_name();
        let write = || {
            self.write(&temporary, bytes)?.sync_all()?;
            self.counter().file_syncs(1);
            self.name(&temporary, &shard, &path)
        };
        write().map_err(|source| {
            let _ = fs::remove_file(&temporary);
            failed(&path, source)
        })?;
        Ok(digest)
    }

    /// Lets these bytes go with the next append; what is too large, or finds too much waiting, is put.
    pub(crate) fn attach(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        let digest = Digest::of(bytes);
        self.refer(&digest);
        if self.attached.add(digest, bytes) { Ok(digest) } else { self.put(bytes) }
    }

    /// The same for what the reader gives; what is too large isn't held in memory.
    pub(crate) fn attach_stream(&self, from: &mut dyn Read) -> Result<Digest, BlobError> {
        let mut head = Vec::new();
        let most = ATTACHED_BYTES as u64 + 1;
        from.take(most).read_to_end(&mut head).map_err(|source| failed(&self.folder, source))?;
        if head.len() <= ATTACHED_BYTES { self.attach(&head) } else { self.put_stream(&mut head.chain(from)) }
    }

    /// What this process made durable, commits of the writer included.
    pub(crate) fn counter(&self) -> &Counter {
        self.staging.counter()
    }

    /// What waits for the next append.
    pub(crate) fn attached(&self) -> &Attached {
        &self.attached
    }

    /// Keeps what the reader gives, without holding it in memory.
    pub(crate) fn put_stream(&self, from: &mut dyn Read) -> Result<Digest, BlobError> {
        let staged = self.stage(from)?;
        self.settle()?;
        Ok(staged.digest)
    }

    /// Takes what the reader gives; it is there, and durable, once [`Blobs::settle`] has returned.
    pub(crate) fn stage(&self, from: &mut dyn Read) -> Result<Staged, BlobError> {
        let fail = |source| failed(&self.folder, source);
        let mut head = Vec::new();
        from.take(SMALL_BYTES).read_to_end(&mut head).map_err(fail)?;
        if (head.len() as u64) < SMALL_BYTES {
            let (digest, bytes) = (Digest::of(&head), head.len() as u64);
            if self.has(&digest, bytes) {
                return Ok(Staged { digest, bytes, new: false });
            }
            let temporary = self.new_name();
            self.write(&temporary, &head).map_err(|source| self.given_up(&temporary, source))?;
            return Ok(self.staged(digest, bytes, temporary));
        }
        let temporary = self.new_name();
        let (digest, bytes) =
            self.copy(&temporary, &head, from).map_err(|source| self.given_up(&temporary, source))?;
        if self.has(&digest, bytes) {
            let _ = fs::remove_file(&temporary);
            return Ok(Staged { digest, bytes, new: false });
        }
        Ok(self.staged(digest, bytes, temporary))
    }

    /// Makes everything staged so far durable and gives it its names. What fails stays staged for the next time.
    pub(crate) fn settle(&self) -> Result<(), BlobError> {
        let paths = |digest: &Digest| self.path(digest);
        let named = |temporary: &Path, shard: &Path, path: &Path| self.rename(temporary, shard, path);
        self.staging.settle(&self.folder, paths, named).map_err(|source| failed(&self.folder, source))
    }

    /// Is there a file of this name? Its content is compared when it is read.
    pub(crate) fn holds(&self, digest: &Digest) -> Result<bool, BlobError> {
        let (_, path) = self.path(digest);
        match fs::symlink_metadata(&path) {
            Ok(found) => Ok(found.is_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(&path, error)),
        }
    }

    /// The size of the file of this name.
    pub(crate) fn size(&self, digest: &Digest) -> Option<u64> {
        let (_, path) = self.path(digest);
        fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).map(|found| found.len())
    }

    /// Is it kept, or about to be? A file of another size is damaged and written again.
    fn has(&self, digest: &Digest, bytes: u64) -> bool {
        self.refer(digest);
        let (_, path) = self.path(digest);
        self.staging.has(digest)
            || fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == bytes)
    }

    fn staged(&self, digest: Digest, bytes: u64, temporary: PathBuf) -> Staged {
        let new = self.staging.add(digest, temporary);
        Staged { digest, bytes, new }
    }

    fn given_up(&self, temporary: &Path, source: io::Error) -> BlobError {
        let _ = fs::remove_file(temporary);
        failed(&self.folder, source)
    }

    fn new_name(&self) -> PathBuf {
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!("{TEMPORARY}{}-{number}", std::process::id()))
    }

    fn write(&self, temporary: &Path, bytes: &[u8]) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(temporary)?;
        file.write_all(bytes)?;
        Ok(file)
    }

    fn copy(&self, temporary: &Path, head: &[u8], from: &mut dyn Read) -> io::Result<(Digest, u64)> {
        let mut file = self.write(temporary, head)?;
        let (mut hasher, mut bytes) = (Sha256::new_with_prefix(head), head.len() as u64);
        let mut piece = vec![0; 1 << 18];
        loop {
            let read = match from.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hasher.update(&piece[..read]);
            file.write_all(&piece[..read])?;
            bytes += read as u64;
        }
        Ok((Digest(hasher.finalize().into()), bytes))
    }

    fn rename(&self, temporary: &Path, shard: &Path, path: &Path) -> io::Result<()> {
        if !shard.is_dir() {
            self.staging.owe(&self.folder);
            fs::create_dir_all(shard)?;
        }
        self.staging.pay(&self.folder)?;
        self.staging.owe(shard);
        fs::rename(temporary, path)
    }

    fn name(&self, temporary: &Path, shard: &Path, path: &Path) -> io::Result<()> {
        self.rename(temporary, shard, path)?;
        self.staging.pay(shard)
    }

    /// The bytes of the file of this name.
    pub(crate) fn get(&self, digest: &Digest) -> Result<Vec<u8>, BlobError> {
        let (_, path) = self.path(digest);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BlobError::Missing { digest: *digest });
            }
            Err(error) => return Err(failed(&path, error)),
        };
        compared(digest, bytes)
    }
}

/// The bytes, if they are the ones of this name.
pub(crate) fn compared(digest: &Digest, bytes: Vec<u8>) -> Result<Vec<u8>, BlobError> {
    let found = Digest::of(&bytes);
    if found == *digest { Ok(bytes) } else { Err(BlobError::Changed { digest: *digest, found }) }
}

fn failed(path: &Path, source: io::Error) -> BlobError {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            BlobError::Full { path: path.to_owned() }
        }
        _ => BlobError::Io { path: path.to_owned(), source },
    }
}
