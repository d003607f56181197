//! Reading a file for a change, and saving it whole.
//!
//! A **save** writes beside the file, syncs, renames over it and syncs the folder, all through one folder handle.
//! Invariant: at every moment the old or the new content stands there whole; mode (but for set-user-id and set-group-id),
//! link and owner stay as they were, and a read-only file isn't replaced. Only a file with several names, or of another owner, is written in
//! place, and only while it has as many names as when it was looked at.

use crate::path::{RelPath, shown};
use crate::place::{Place, Reached, io_failed};
use crate::tool::failed;
use cap_fs_ext::{FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use domain::call::{Entry, ToolError};
use domain::digest::Digest;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};

/// What a half-done save leaves behind is called like this.
const TEMP_END: &str = ".daybook-tmp";

/// A file as it is before a change.
#[derive(Debug)]
pub(crate) struct Current {
    /// Its whole content.
    pub(crate) bytes: Vec<u8>,
    /// The digest of that.
    pub(crate) digest: Digest,
    /// Its permission bits, where there are any.
    pub(crate) mode: Option<u32>,
    /// How many names it has.
    pub(crate) names: u64,
}

impl Current {
    /// It, as an entry of the folder.
    pub(crate) fn entry(&self) -> Entry {
        Entry::File { content: self.digest, bytes: self.bytes.len() as u64, mode: self.mode }
    }
}

/// The file a change is about, and what is there now.
#[derive(Debug)]
pub(crate) struct Target {
    /// The file's own path, links followed.
    pub(crate) real: RelPath,
    /// What is there; `None` when nothing is.
    pub(crate) current: Option<Current>,
}

impl Target {
    /// Looks at what is there.
    pub(crate) fn find(place: &Place, reached: &Reached, limit: u64) -> Result<Self, ToolError> {
        let real = reached.real.clone();
        if real.is_root() {
            return Err(failed("file/is_folder", "the folder itself isn't a file", ""));
        }
        match place.dir().symlink_metadata(real.as_str()) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound) => Ok(Self { real, current: None }),
            Err(error) => Err(io_failed("reach", &real, &error)),
            // Where links were followed and one still stands, it leads to nothing.
            Ok(meta) if meta.is_symlink() => Err(failed(
                "file/broken_link",
                format!("{} is a link to nothing", shown(reached.path.as_str())),
                "",
            )),
            Ok(_) => Ok(Self { current: Some(Current::read(place, &real, limit)?), real }),
        }
    }
}

impl Current {
    /// The whole of a regular file of at most `limit` bytes.
    pub(crate) fn read(place: &Place, path: &RelPath, limit: u64) -> Result<Self, ToolError> {
        let said = place.say(path);
        let fail = |error| io_failed("read", &said, &error);
        let file = place.open_file(path).map_err(fail)?;
        let meta = file.metadata().map_err(fail)?;
        regular(&said, &meta)?;
        let too_large = |size: u64| {
            let name = shown(&said);
            let message = format!("{name} is {size} bytes, more than the {limit} that are read");
            failed("file/too_large", message, "Use run_command to look at parts of it.")
        };
        if meta.len() > limit {
            return Err(too_large(meta.len()));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
        file.take(limit + 1).read_to_end(&mut bytes).map_err(fail)?;
        // It grew meanwhile: a part of it must not pass for the whole.
        if bytes.len() as u64 > limit {
            return Err(too_large(bytes.len() as u64));
        }
        let digest = Digest::of(&bytes);
        Ok(Self { bytes, digest, mode: mode(&meta), names: meta.nlink() })
    }
}

/// Refuses what isn't a plain file.
pub(crate) fn regular(path: impl AsRef<str>, meta: &Metadata) -> Result<(), ToolError> {
    let name = shown(path.as_ref());
    match (meta.is_file(), meta.is_dir()) {
        (true, _) => Ok(()),
        (_, true) => Err(failed(
            "file/is_folder",
            format!("{name} is a folder"),
            "Use list_files to see what is in it.",
        )),
        _ => Err(failed("file/special", format!("{name} is a pipe, socket or device, not a file"), "")),
    }
}

/// Puts `bytes` where `target` stands, making missing folders.
pub(crate) fn save(place: &Place, target: &Target, bytes: &[u8]) -> Result<(), ToolError> {
    let path = &target.real;
    let fail = |error| io_failed("write", path, &error);
    match &target.current {
        None => {
            place.dir().create_dir_all(path.parent().as_str()).or_else(already_there).map_err(fail)?;
            let dir = place.parent_of(path).map_err(fail)?;
            if dir.symlink_metadata(path.name()).is_ok() {
                return Err(failed(
                    "file/changed",
                    format!("{path} has appeared in the meantime"),
                    "Read it first.",
                ));
            }
            replace(&dir, path.name(), bytes, None).map_err(fail)
        }
        Some(current) => {
            let dir = place.parent_of(path).map_err(fail)?;
            let file = open_to_write(&dir, path)?;
            let meta = file.metadata().map_err(fail)?;
            // What was opened counts, not what stood there before.
            regular(path, &meta)?;
            if meta.nlink() != current.names {
                return Err(renamed(path));
            }
            if meta.nlink() > 1 {
                return in_place(file, bytes, &meta).map_err(fail);
            }
            match replace(&dir, path.name(), bytes, Some(&meta)) {
                // Another owner's file: replacing it would make it ours.
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    in_place(file, bytes, &meta).map_err(fail)
                }
                done => done.map_err(fail),
            }
        }
    }
}

/// Refuses a file that isn't known by the names it had: what is written would show where nobody agreed to.
pub(crate) fn renamed(path: &RelPath) -> ToolError {
    let name = shown(path.as_str());
    let message = format!("{name} has got or lost a name since it was looked at; nothing was written");
    failed("file/changed", message, "Call again if it is still wanted.")
}

/// Opens the old file for writing without touching it: whoever may not write it may not replace it either.
fn open_to_write(dir: &Dir, path: &RelPath) -> Result<File, ToolError> {
    let mut how = OpenOptions::new();
    how.read(true).write(true).nonblock(true).follow(FollowSymlinks::No);
    let read_only = || {
        let message = format!("{} is read-only", shown(path.as_str()));
        failed("file/read_only", message, "Ask the person whether it shall be made writable.")
    };
    let meta = dir.symlink_metadata(path.name()).map_err(|error| io_failed("write", path, &error))?;
    regular(path, &meta)?;
    if meta.permissions().readonly() {
        return Err(read_only());
    }
    dir.open_with(path.name(), &how).map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => read_only(),
        _ => io_failed("write", path, &error),
    })
}

fn replace(dir: &Dir, name: &str, bytes: &[u8], old: Option<&Metadata>) -> std::io::Result<()> {
    let temp = temp_name(name);
    let mut how = OpenOptions::new();
    how.write(true).create_new(true).follow(FollowSymlinks::No);
    if old.is_some() {
        private(&mut how);
    }
    let mut file = match dir.open_with(&temp, &how) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            dir.remove_file(&temp)?;
            dir.open_with(&temp, &how)?
        }
        opened => opened?,
    };
    let mut write = || -> std::io::Result<()> {
        if let Some(old) = old {
            same_owner(&file.metadata()?, old)?;
        }
        file.write_all(bytes)?;
        if let Some(old) = old {
            file.set_permissions(kept(old))?;
        }
        file.sync_all()?;
        rename(dir, temp.as_ref(), name.as_ref())
    };
    let done = write();
    if done.is_err() {
        // The error that matters is the first one; a leftover is swept by the next save or by recovery.
        let _ = dir.remove_file(&temp);
    }
    done.and_then(|()| sync_dir(dir))
}

/// Windows refuses to rename over a file that somebody has open: try a little, then give up with the content unharmed.
pub(crate) fn rename(dir: &Dir, from: &OsStr, to: &OsStr) -> std::io::Result<()> {
    let pauses = if cfg!(windows) { 10 } else { 0 };
    while_locked(
        pauses,
        || std::thread::sleep(std::time::Duration::from_millis(50)),
        || dir.rename(from, dir, to),
    )
}

/// Repeats what is refused because of a lock, a bounded number of times; a lock that stays is an error of its own kind.
fn while_locked(
    pauses: u32,
    mut pause: impl FnMut(),
    mut act: impl FnMut() -> std::io::Result<()>,
) -> std::io::Result<()> {
    for _ in 0..pauses {
        match act() {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => pause(),
            done => return done,
        }
    }
    act().map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied if pauses > 0 => ErrorKind::ResourceBusy.into(),
        _ => error,
    })
}

fn in_place(mut file: File, bytes: &[u8], old: &Metadata) -> std::io::Result<()> {
    let kept = kept(old);
    if kept != old.permissions() {
        // Before the new content stands there, so that it never runs as somebody else.
        file.set_permissions(kept)?;
    }
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

/// The permissions new content has: those of the old, but it doesn't run as the file's owner or group. Systems take that
/// from any file that is written, and a replaced one must be no way around it.
#[cfg(unix)]
fn kept(old: &Metadata) -> cap_std::fs::Permissions {
    use cap_std::fs::{MetadataExt, PermissionsExt};
    cap_std::fs::Permissions::from_mode(old.mode() & 0o1777)
}

#[cfg(not(unix))]
fn kept(old: &Metadata) -> cap_std::fs::Permissions {
    old.permissions()
}

/// Removes what interrupted saves left in the folder of this path.
pub(crate) fn sweep(place: &Place, path: &RelPath) -> std::io::Result<()> {
    let dir = place.parent_of(path)?;
    for entry in dir.entries()? {
        let name = entry?.file_name();
        if name.to_str().is_some_and(is_temporary) {
            dir.remove_file(&name)?;
        }
    }
    Ok(())
}

/// Is this the name of a half-done save?
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(TEMP_END)
}

/// Saves of one file always use the same name, so the next one finds a leftover. Short: a name may be 255 bytes long.
pub(crate) fn temp_name(name: &str) -> String {
    format!(".{}{TEMP_END}", &Digest::of(name.as_bytes()).to_string()[..16])
}

fn already_there(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}

#[cfg(unix)]
fn private(how: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt;
    how.mode(0o600);
}

#[cfg(not(unix))]
fn private(_: &mut OpenOptions) {}

/// Permission bits, where the system has them.
#[cfg(unix)]
pub(crate) fn mode(meta: &Metadata) -> Option<u32> {
    use cap_std::fs::MetadataExt;
    Some(meta.mode() & 0o7777)
}

#[cfg(not(unix))]
pub(crate) fn mode(_: &Metadata) -> Option<u32> {
    None
}

#[cfg(unix)]
fn same_owner(new: &Metadata, old: &Metadata) -> std::io::Result<()> {
    use cap_std::fs::MetadataExt;
    match (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        true => Ok(()),
        false => Err(ErrorKind::Unsupported.into()),
    }
}

#[cfg(not(unix))]
fn same_owner(_: &Metadata, _: &Metadata) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
pub(crate) fn sync_dir(dir: &Dir) -> std::io::Result<()> {
    crate::place::open_in(dir, ".", FollowSymlinks::No)?.sync_all()
}

#[cfg(not(unix))]
pub(crate) fn sync_dir(_: &Dir) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rename that is refused this often.
    #[track_caller]
    fn check(refused: u32, pauses: u32, expect: Result<(), ErrorKind>) {
        let (mut left, mut paused) = (refused, 0);
        let act = || match left {
            0 => Ok(()),
            _ => {
                left -= 1;
                Err(ErrorKind::PermissionDenied.into())
            }
        };
        assert_eq!(while_locked(pauses, || paused += 1, act).map_err(|error| error.kind()), expect);
        assert!(paused <= pauses);
    }

    #[test]
    fn e16_a_lock_is_waited_for_a_little_and_then_named() {
        check(0, 10, Ok(()));
        check(3, 10, Ok(()));
        check(10, 10, Ok(()));
        check(11, 10, Err(ErrorKind::ResourceBusy));
        check(1, 0, Err(ErrorKind::PermissionDenied));
        let path = RelPath::parse("t.txt").unwrap();
        let error = io_failed("write", &path, &ErrorKind::ResourceBusy.into());
        assert_eq!(error.message, "can't write \"t.txt\": another program has it open");
    }
}
