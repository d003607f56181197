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

/// Writes a file whole: beside it first, then over it. Who may read the one that stood there may read this one.
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
            file.set_permissions(kept(&old))?;
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

/// The permissions of the file that is replaced; the new one doesn't run as its owner or group.
#[cfg(unix)]
fn kept(old: &fs::Metadata) -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    fs::Permissions::from_mode(old.permissions().mode() & 0o1777)
}

#[cfg(not(unix))]
fn kept(old: &fs::Metadata) -> fs::Permissions {
    old.permissions()
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
