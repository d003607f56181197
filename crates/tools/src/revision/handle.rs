//! Reaching things by handle, one name at a time.
//!
//! Invariant: every folder is opened from its parent's handle by one name and not through a link, so whatever is swapped
//! for a link in between, nothing outside the folder is ever reached.

use super::name::{parts, to_os};
use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, OpenOptions};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};

/// A folder below a handle, not through a link.
pub(super) fn open_folder(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    dir.open_dir_nofollow(name)
}

/// A file below a handle for reading, not through a link, without waiting for a pipe's other side.
pub(super) fn open_file(dir: &Dir, name: &OsStr) -> io::Result<File> {
    let mut how = OpenOptions::new();
    how.read(true).nonblock(true).follow(FollowSymlinks::No);
    dir.open_with(name, &how)
}

/// The folder at this path below the root.
pub(super) fn walk_to(root: &Dir, path: &str) -> io::Result<Dir> {
    let names = parts(path).ok_or(ErrorKind::InvalidInput)?;
    names.into_iter().try_fold(root.try_clone()?, |dir, name| open_folder(&dir, &to_os(name)))
}

/// Was something missing, or no folder, on the way?
pub(super) fn is_absent(error: &io::Error) -> bool {
    // A link where a folder was looked for is refused as a loop of links by some systems.
    let looped = error.raw_os_error().is_some_and(|number| cfg!(unix) && LOOPS.contains(&number));
    looped || matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// ELOOP of Linux and of the BSDs, macOS among them.
const LOOPS: [i32; 2] = [40, 62];
