//! The single acts of a restore, below one folder handle.
//!
//! Invariant: no act follows a link, and a file's old or new content stands there whole at every moment, except where a
//! file has several names: then the new content stands beside it until it is written.

use crate::place::Place;
use crate::save::{is_temporary, rename, temp_name};
use cap_fs_ext::{FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, Metadata, OpenOptions, Permissions};
use domain::call::Effect;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write as _};

/// What a half-done write in place leaves behind is called like this.
const IN_PLACE_END: &str = ".daybook-in-place";

/// Why an act wasn't done.
#[derive(Debug)]
pub(super) enum Stop {
    Io(io::Error),
    /// As by a crash.
    BrokenOff,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ErrorKind> for Stop {
    fn from(kind: ErrorKind) -> Self {
        Self::Io(kind.into())
    }
}

/// How content that stands beside its file gets into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// By a rename.
    Replaces,
    /// By writing: the file has other names, or another owner.
    InPlace,
}

/// What becomes of a file's other names when it is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Into {
    /// They get the new content, too.
    AllNames,
    /// They keep what they show.
    Apart,
}

/// Removes a file or link.
pub(super) fn remove_file(dir: &Dir, name: &OsStr) -> io::Result<()> {
    writable_on_windows(dir, name);
    cap_fs_ext::DirExt::remove_file_or_symlink(dir, name)
}

/// Removes an empty folder; what half-done saves of ours left in it doesn't count.
pub(super) fn remove_folder(dir: &Dir, name: &OsStr) -> io::Result<()> {
    match dir.remove_dir(name) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
            let inside = super::handle::open_folder(dir, name)?;
            for entry in inside.entries()?.flatten() {
                if entry.file_name().to_str().is_some_and(is_half_done) {
                    inside.remove_file(entry.file_name())?;
                }
            }
            dir.remove_dir(name)
        }
        done => done,
    }
}

/// Makes a folder that its owner can fill; its own mode comes last.
pub(super) fn make_folder(dir: &Dir, name: &OsStr, mode: Option<u32>) -> io::Result<()> {
    dir.create_dir(name)?;
    let Some(mode) = mode else { return Ok(()) };
    set_folder_mode(&super::handle::open_folder(dir, name)?, mode | 0o700)
}

/// Puts a link where nothing, a file or a link stands.
#[cfg(not(windows))]
pub(super) fn put_link(dir: &Dir, name: &str, target: &OsStr) -> io::Result<()> {
    let temp = fresh(dir, name)?;
    dir.symlink_contents(target, &temp)?;
    rename(dir, &temp, &super::name::to_os(name))
}

/// Windows makes links only for those who may, and only to a known kind.
#[cfg(windows)]
pub(super) fn put_link(_: &Dir, _: &str, _: &OsStr) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Writes new content beside a file, with the mode it shall have, and makes it durable.
pub(super) fn write_beside(
    dir: &Dir,
    name: &str,
    bytes: &[u8],
    mode: Option<u32>,
    replaces: Option<Into>,
) -> io::Result<Beside> {
    let old = replaces.map(|_| dir.symlink_metadata(super::name::to_os(name))).transpose()?;
    let temp = fresh(dir, name)?;
    let mut how = OpenOptions::new();
    how.write(true).create_new(true).follow(FollowSymlinks::No);
    if mode.is_some() || old.is_some() {
        private(&mut how);
    }
    let mut file = dir.open_with(&temp, &how)?;
    let write = || -> io::Result<Beside> {
        file.write_all(bytes)?;
        match (mode.map(with_mode), &old) {
            (Some(Some(permissions)), _) => file.set_permissions(permissions)?,
            (_, Some(old)) => file.set_permissions(old.permissions())?,
            _ => {}
        }
        file.sync_all()?;
        let shared = match &old {
            Some(_) if replaces == Some(Into::Apart) => false,
            Some(old) => old.nlink() > 1 || !same_owner(&file.metadata()?, old),
            None => false,
        };
        Ok(if shared { Beside::InPlace } else { Beside::Replaces })
    };
    let done = { write }();
    if done.is_err() {
        // The error that matters is the first one.
        let _ = dir.remove_file(&temp);
    }
    done
}

/// Puts what stands beside a file in its place.
pub(super) fn rename_over(dir: &Dir, name: &str) -> io::Result<()> {
    let name_os = super::name::to_os(name);
    writable_on_windows(dir, &name_os);
    rename(dir, temp_name(name).as_ref(), &name_os)
}

/// Marks that the file is about to be written in place: from here on its content may be in between.
pub(super) fn begin_in_place(dir: &Dir, name: &str) -> io::Result<()> {
    rename(dir, temp_name(name).as_ref(), in_place_name(name).as_ref())
}

/// Writes the content into the file itself, so that its other names have it, too.
pub(super) fn write_in_place(dir: &Dir, name: &str, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
    let os = super::name::to_os(name);
    let mut how = OpenOptions::new();
    how.write(true).nonblock(true).follow(FollowSymlinks::No);
    let opened = dir.open_with(&os, &how);
    let mut file = match opened {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let old = super::stat::mode(&dir.symlink_metadata(&os)?);
            set_mode(dir, &os, old.map(|mode| mode | 0o200))?;
            dir.open_with(&os, &how)?
        }
        opened => opened?,
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    if let Some(permissions) = mode.and_then(with_mode) {
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

/// The file is whole again.
pub(super) fn end_in_place(dir: &Dir, name: &str) -> io::Result<()> {
    dir.remove_file(in_place_name(name))
}

/// Where the new content stands while a file is written in place.
pub(super) fn in_place_name(name: &str) -> String {
    // Not swept with what half-done saves leave: it is the only whole copy while the file is in between.
    format!("{}{IN_PLACE_END}", temp_name(name))
}

/// Is this the name of something a save or a restore has half done?
pub(super) fn is_half_done(name: &str) -> bool {
    is_temporary(name) || (name.starts_with('.') && name.ends_with(IN_PLACE_END))
}

/// Removes what a killed restore left beside something that is whole by now.
pub(super) fn sweep(place: &Place, whole: &Effect) {
    let name = super::name::last(&whole.path);
    if let Ok(dir) = super::handle::walk_to(place.dir(), super::name::parent(&whole.path)) {
        // Mostly there is nothing.
        let _ = dir.remove_file(temp_name(name));
        let _ = end_in_place(&dir, name);
    }
}

/// Sets the mode of a file that isn't a link.
pub(super) fn set_mode(dir: &Dir, name: &OsStr, mode: Option<u32>) -> io::Result<()> {
    let Some(permissions) = mode.and_then(with_mode) else { return Ok(()) };
    match super::handle::open_file(dir, name) {
        Ok(file) => file.set_permissions(permissions),
        // A file that its owner may not read can't be opened, but he may still change that.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => dir.set_permissions(name, permissions),
        Err(error) => Err(error),
    }
}

/// Sets the mode of an open folder.
pub(super) fn set_folder_mode(dir: &Dir, mode: u32) -> io::Result<()> {
    with_mode(mode).map_or(Ok(()), |permissions| dir.set_permissions(".", permissions))
}

/// The name for new content, with nothing there any more.
fn fresh(dir: &Dir, name: &str) -> io::Result<OsString> {
    let temp = temp_name(name);
    match dir.remove_file(&temp) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(temp.into()),
    }
}

#[cfg(unix)]
fn with_mode(mode: u32) -> Option<Permissions> {
    use cap_std::fs::PermissionsExt;
    Some(Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn with_mode(_: u32) -> Option<Permissions> {
    None
}

#[cfg(unix)]
fn private(how: &mut OpenOptions) {
    cap_std::fs::OpenOptionsExt::mode(how, 0o600);
}

#[cfg(not(unix))]
fn private(_: &mut OpenOptions) {}

#[cfg(unix)]
fn same_owner(new: &Metadata, old: &Metadata) -> bool {
    use cap_std::fs::MetadataExt as Ext;
    (Ext::uid(new), Ext::gid(new)) == (Ext::uid(old), Ext::gid(old))
}

#[cfg(not(unix))]
fn same_owner(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Windows removes and replaces no read-only file.
#[cfg(windows)]
fn writable_on_windows(dir: &Dir, name: &OsStr) {
    if let Ok(meta) = dir.symlink_metadata(name) {
        let mut permissions = meta.permissions();
        if permissions.readonly() && meta.is_file() {
            permissions.set_readonly(false);
            // What fails here fails again, with its own error, in the act itself.
            let _ = dir.set_permissions(name, permissions);
        }
    }
}

#[cfg(not(windows))]
fn writable_on_windows(_: &Dir, _: &OsStr) {}
