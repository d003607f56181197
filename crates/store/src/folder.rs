//! The data folder: where everything is, and whether it may be used.
//!
//! Inside: `store.db`, `blobs/`, `backups/`, `lock`, and `reserve`, a file of real bytes that is given up when the disk
//! is full so that the event that says so can still be written. Invariants: one process holds the lock; a folder that
//! can't keep the promises (missing, not writable, on a network) is refused by name, never swapped for another one.

use crate::error::OpenError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// Bytes of the reserve: room for a few thousand small events and a checkpoint.
pub const RESERVE_BYTES: usize = 4 * 1024 * 1024;

/// Bytes of it that are made and then repeated: more than compressing file systems look back.
const RESERVE_BLOCK: usize = 256 * 1024;

/// A usable data folder.
#[derive(Debug, Clone)]
pub(crate) struct DataFolder {
    path: PathBuf,
}

/// The right to write this store, held as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Makes the data folder, for its owner alone, where it doesn't exist yet.
///
/// # Errors
/// When it can't be made.
pub fn create_folder(path: &Path) -> Result<(), OpenError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(io_at(path))
}

impl DataFolder {
    /// Looks at a folder that will only be read.
    pub(crate) fn to_read(path: &Path) -> Result<Self, OpenError> {
        let metadata = fs::metadata(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => OpenError::Missing { path: path.to_owned() },
            io::ErrorKind::NotADirectory => OpenError::NotAFolder { path: path.to_owned() },
            _ => OpenError::Io { path: path.to_owned(), why: error.to_string() },
        })?;
        if !metadata.is_dir() {
            return Err(OpenError::NotAFolder { path: path.to_owned() });
        }
        let path = fs::canonicalize(path).map_err(io_at(path))?;
        match crate::network::network_kind(&path) {
            Some(kind) => Err(OpenError::Network { path, kind }),
            None => Ok(Self { path }),
        }
    }

    /// Looks at a folder that will be written, and makes the folders inside.
    pub(crate) fn to_write(path: &Path) -> Result<Self, OpenError> {
        let folder = Self::to_read(path)?;
        let not_writable =
            |error: io::Error| OpenError::NotWritable { path: folder.path.clone(), why: error.to_string() };
        let probe = folder.path.join(format!(".probe-{}", std::process::id()));
        File::create(&probe).and_then(|mut file| file.write_all(b"daybook")).map_err(not_writable)?;
        fs::remove_file(&probe).map_err(not_writable)?;
        for inside in [folder.blobs(), folder.backups()] {
            fs::create_dir_all(&inside).map_err(not_writable)?;
        }
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("store.db")
    }

    pub(crate) fn wal(&self) -> PathBuf {
        self.path.join("store.db-wal")
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.path.join("blobs")
    }

    pub(crate) fn backups(&self) -> PathBuf {
        self.path.join("backups")
    }

    fn reserve(&self) -> PathBuf {
        self.path.join("reserve")
    }

    /// Takes the lock, or says who has it.
    pub(crate) fn lock(&self) -> Result<Lock, OpenError> {
        let path = self.path.join("lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io_at(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Some systems don't let others read a locked file; then the process stays unnamed.
                let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                return Err(OpenError::Locked { path: self.path.clone(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(io_at(&path)(error)),
        }
        let write_pid = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        write_pid(&mut file).map_err(io_at(&path))?;
        Ok(Lock { _file: file })
    }

    /// Puts the reserve back where it is missing or short; false when there is no room for it.
    pub(crate) fn keep_reserve(&self) -> bool {
        let path = self.reserve();
        if fs::metadata(&path).is_ok_and(|found| found.len() == RESERVE_BYTES as u64) {
            return true;
        }
        // Written out, because a sparse file would hold no room, and in bytes that don't compress.
        let mut word = 0x9e37_79b9_7f4a_7c15_u64;
        let block: Vec<u8> = std::iter::repeat_with(|| {
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            word.to_le_bytes()
        })
        .take(RESERVE_BLOCK / 8)
        .flatten()
        .collect();
        let written = File::create(&path).and_then(|mut file| {
            (0..RESERVE_BYTES / RESERVE_BLOCK).try_for_each(|_| file.write_all(&block))?;
            file.sync_all()
        });
        if written.is_err() {
            self.give_up_reserve();
        }
        written.is_ok()
    }

    /// Gives the reserve's room back to the disk.
    pub(crate) fn give_up_reserve(&self) {
        if let Err(error) = fs::remove_file(self.reserve())
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the disk reserve could not be given back");
        }
    }
}

pub(crate) fn io_at(path: &Path) -> impl FnOnce(io::Error) -> OpenError + use<> {
    let path = path.to_owned();
    move |error| OpenError::Io { path, why: error.to_string() }
}

/// Makes a folder's entries durable; systems that can't sync a folder do so on their own.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
