//! What stands at one path now.
//!
//! Invariant: content and stat come from one handle; with a real blob sink the content that was seen is also kept.

use super::content::{Failed, Read1, read};
use super::handle::is_absent;
use super::name::{to_os, to_text};
use super::stat::{Stat, mode};
use super::tree::Why;
use crate::blob::{BlobSink, Staged};
use cap_std::fs::Dir;
use domain::call::Entry;
use domain::digest::Digest;
use sha2::{Digest as _, Sha256};
use std::io::{self, Read};
use tokio_util::sync::CancellationToken;

/// What stands there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Now {
    Nothing,
    Is {
        entry: Entry,
        /// Of a file: tells cheaply whether it is still the same.
        stat: Stat,
    },
    /// A pipe, socket or device.
    Special,
    Unreadable,
    /// A file with a registered key in it, which is kept nowhere.
    HoldsKey,
}

impl Now {
    pub(super) fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Is { entry, .. } => Some(entry),
            Self::Nothing | Self::Special | Self::Unreadable | Self::HoldsKey => None,
        }
    }
}

/// Looks at a name in a folder. Content goes to `blobs`; [`Hashing`] keeps none.
///
/// # Errors
/// When content can't be kept.
pub(super) fn look(dir: &Dir, name: &str, blobs: &dyn BlobSink) -> io::Result<Now> {
    let os = to_os(name);
    let meta = match dir.symlink_metadata(&os) {
        Ok(meta) => meta,
        Err(error) if is_absent(&error) => return Ok(Now::Nothing),
        Err(_) => return Ok(Now::Unreadable),
    };
    let stat = Stat::of(&meta);
    if meta.is_symlink() {
        let target = dir.read_link_contents(&os).ok().and_then(|target| to_text(target.as_os_str()));
        return Ok(target.map_or(Now::Unreadable, |target| Now::Is { entry: Entry::Link { target }, stat }));
    }
    if meta.is_dir() {
        return Ok(Now::Is { entry: Entry::Folder { mode: mode(&meta) }, stat });
    }
    if !meta.is_file() {
        return Ok(Now::Special);
    }
    match read(dir, name, u64::MAX - 1, blobs, &CancellationToken::new()) {
        Ok(Read1::Kept { stat, mode, content, .. }) => {
            Ok(Now::Is { entry: Entry::File { content, bytes: stat.bytes, mode }, stat })
        }
        Ok(Read1::Gone) => Ok(Now::Nothing),
        Ok(Read1::LeftOut { why: Why::Special }) => Ok(Now::Special),
        Ok(Read1::LeftOut { why: Why::Secret }) => Ok(Now::HoldsKey),
        Ok(Read1::LeftOut { .. }) | Err(Failed::Cancelled) => Ok(Now::Unreadable),
        Err(Failed::Blobs(error)) => Err(error),
    }
}

/// Is it still what was seen? Content isn't read again when the stat is the same.
pub(super) fn is_still(dir: &Dir, name: &str, seen: &Now) -> bool {
    let os = to_os(name);
    let meta = dir.symlink_metadata(&os);
    match (seen, meta) {
        (Now::Nothing, Err(error)) => is_absent(&error),
        (Now::Is { entry: Entry::File { .. }, stat }, Ok(meta)) => meta.is_file() && Stat::of(&meta) == *stat,
        (Now::Is { entry: Entry::Folder { mode: seen }, .. }, Ok(meta)) => {
            meta.is_dir() && mode(&meta) == *seen
        }
        (Now::Special, Ok(meta)) => !meta.is_file() && !meta.is_dir() && !meta.is_symlink(),
        (Now::Is { entry: Entry::Link { target }, .. }, Ok(meta)) if meta.is_symlink() => {
            let now = dir.read_link_contents(&os).ok().and_then(|target| to_text(target.as_os_str()));
            now.as_ref() == Some(target)
        }
        _ => false,
    }
}

/// Names content without keeping it.
#[derive(Debug)]
pub struct Hashing;

impl BlobSink for Hashing {
    fn put(&self, bytes: &[u8]) -> io::Result<Digest> {
        Ok(Digest::of(bytes))
    }

    fn put_stream(&self, from: &mut dyn Read) -> io::Result<Digest> {
        self.stage(from).map(|staged| staged.digest)
    }

    fn get(&self, _: &Digest) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn stage(&self, from: &mut dyn Read) -> io::Result<Staged> {
        let (mut hasher, mut bytes, mut piece) = (Sha256::new(), 0, vec![0; 1 << 16]);
        loop {
            match from.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => {
                    hasher.update(&piece[..read]);
                    bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Staged { digest: Digest(hasher.finalize().into()), bytes, new: false })
    }
}
