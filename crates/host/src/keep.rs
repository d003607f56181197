//! What the person takes out of the store by their own hand, and puts into it: files, and sessions whole.
//!
//! A path comes from the system's dialog. Invariant: at every moment the old or the new content stands at it whole; where
//! writing fails, nothing of ours is left beside it.

use crate::archive::{export, import_into};
use api::error;
use api::wire::ApiError;
use api::wire::copy::{Copied, Imported};
use domain::ids::{Ids, SessionId};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use store::StoreHandle;

/// Writes a file whole: beside it first, then over it, with the mode and the group of the one that stood there. Where the
/// group can't be given, nobody but its owner may do more with this one than everybody might with that one.
pub(crate) fn save(to: &Path, bytes: &[u8], ids: &dyn Ids) -> Result<(), ApiError> {
    // Short, whatever its own name is: a name may be 255 bytes long.
    let part = to.with_file_name(format!(".daybook-{:08x}.part", ids.next() as u32));
    let write = || {
        let old = match fs::metadata(to) {
            Ok(old) => old.is_file().then_some(old),
            Err(io) if io.kind() == ErrorKind::NotFound => None,
            Err(io) => return Err(io),
        };
        let mut how = OpenOptions::new();
        how.write(true).create_new(true);
        if old.is_some() {
            private(&mut how);
        }
        let mut file = how.open(&part)?;
        file.write_all(bytes)?;
        if let Some(old) = old {
            file.set_permissions(kept(&old, &file)?)?;
        }
        file.sync_all()?;
        drop(file);
        fs::rename(&part, to)
    };
    write().map_err(|io| {
        let _ = fs::remove_file(&part);
        unwritten(&io, format!("{} can't be written: {io}", to.display()))
    })
}

/// Nobody else reads what replaces a file before it has that one's permissions.
#[cfg(unix)]
pub(crate) fn private(how: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt as _;
    how.mode(0o600);
}

#[cfg(not(unix))]
pub(crate) fn private(_: &mut OpenOptions) {}

/// Gives the new file the group of the one that it replaces, and says with which permissions.
#[cfg(unix)]
fn kept(old: &fs::Metadata, new: &fs::File) -> std::io::Result<fs::Permissions> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let pass = |group| fchown(new, None, Some(group));
    let mode = mode(old.mode(), (old.gid(), new.metadata()?.gid()), pass);
    Ok(fs::Permissions::from_mode(mode))
}

/// The mode of the file that is replaced; the new one doesn't run as its owner or group. Where it stays another group's, that
/// one may do nothing, and everybody only what the old group might, whose members are of everybody now.
#[cfg(unix)]
fn mode(old: u32, (group, now): (u32, u32), pass: impl FnOnce(u32) -> std::io::Result<()>) -> u32 {
    let kept = old & 0o1777;
    if group == now || pass(group).is_ok() {
        return kept;
    }
    kept & !0o077 | kept & (kept >> 3) & 0o007
}

#[cfg(not(unix))]
fn kept(old: &fs::Metadata, _: &fs::File) -> std::io::Result<fs::Permissions> {
    Ok(old.permissions())
}

/// Writes a session out.
pub(crate) fn take_out(data: &Path, session: &SessionId, to: &Path) -> Result<Copied, ApiError> {
    let done = export(data, session.as_str(), to).map_err(|failed| failed.to_api())?;
    let name = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Copied { name, bytes: 0, events: done.events })
}

/// Takes a session in.
pub(crate) fn take_in(store: &StoreHandle, data: &Path, from: &Path) -> Result<Imported, ApiError> {
    let done = import_into(store, data, from).map_err(|failed| failed.to_api())?;
    Ok(Imported { session: done.session, events: done.events, requests: done.requests })
}

/// Why a place that the person named can't be used.
pub(crate) fn unwritten(io: &std::io::Error, words: String) -> ApiError {
    let code = match io.kind() {
        ErrorKind::NotFound => "copy/missing",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "copy/permission",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "copy/full",
        ErrorKind::IsADirectory | ErrorKind::DirectoryNotEmpty => "copy/folder",
        _ => "copy/failed",
    };
    error(code, words, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::SystemIds;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_copy_replaces_what_the_person_agreed_to_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("output.txt");
        for bytes in [&b"one\r\n\xff"[..], b"", b"two"] {
            save(&to, bytes, &SystemIds).unwrap();
            assert_eq!(fs::read(&to).unwrap(), bytes);
            assert_eq!(names(folder.path()), ["output.txt"]);
        }
    }

    #[test]
    fn a_copy_may_have_any_name_that_a_file_has() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("n".repeat(255));
        save(&to, b"x", &SystemIds).unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"x");
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_that_replaces_a_file_keeps_who_may_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("output.txt");
        for mode in [0o600, 0o640, 0o755] {
            fs::write(&to, "old").unwrap();
            fs::set_permissions(&to, fs::Permissions::from_mode(mode)).unwrap();
            save(&to, b"new", &SystemIds).unwrap();
            assert_eq!(fs::read(&to).unwrap(), b"new");
            assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o7777, mode);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_is_open_to_no_other_group_than_what_it_replaces() {
        let mut passed = Vec::new();
        let mut of = |old, groups, refused: bool| {
            mode(old, groups, |group| {
                passed.push(group);
                if refused { Err(ErrorKind::PermissionDenied.into()) } else { Ok(()) }
            })
        };
        assert_eq!(of(0o100_640, (7, 7), true), 0o640, "it is that group's already");
        assert_eq!(of(0o100_640, (7, 8), false), 0o640, "it is given to that group");
        assert_eq!(of(0o104_664, (7, 8), true), 0o604, "it can't be");
        assert_eq!(
            of(0o100_604, (7, 8), true),
            0o600,
            "who was shut out as that group isn't let in as anybody"
        );
        assert_eq!(passed, [7, 7, 7]);
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_is_the_group_s_that_what_it_replaces_was() {
        use std::os::unix::fs::{MetadataExt as _, chown};
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("output.txt");
        fs::write(&to, "old").unwrap();
        let own = fs::metadata(&to).unwrap().gid();
        // Root may give it to any; where the test runs as somebody else, it stays the one it has.
        let group = if chown(&to, None, Some(own + 1)).is_ok() { own + 1 } else { own };
        save(&to, b"new", &SystemIds).unwrap();
        assert_eq!(fs::metadata(&to).unwrap().gid(), group);
    }

    #[test]
    fn a_copy_that_cant_be_written_leaves_what_stood_there() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::create_dir_all(taken.join("inside")).unwrap();
        assert_eq!(save(&taken, b"x", &SystemIds).unwrap_err().code, "copy/folder");
        assert_eq!(names(folder.path()), ["taken"]);
        assert_eq!(save(&folder.path().join("no/x"), b"x", &SystemIds).unwrap_err().code, "copy/missing");
    }
}
