//! The trash people know.
//!
//! On freedesktop systems we move things there ourselves, by handle, with their original place noted, so that "restore"
//! in the file manager puts them back; elsewhere the system's own interface takes them from a private folder. Invariant:
//! a thing is either moved whole or still where it was.

use crate::tool::{Bin, Ctx};
use cap_std::fs::Dir;
use std::io;
use std::path::Path;

/// Did the trash take it?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// It is in the trash.
    Trash,
    /// It is still where it was: there is no trash, or it lies on another disk.
    No,
}

/// Most names tried for one thing.
const MAX_NAMES: u32 = 1_000;

/// Moves `name` in `parent` to the trash. `original` is where it stood, for restoring.
pub(super) fn put(ctx: &Ctx, parent: &Dir, name: &str, original: &Path) -> io::Result<Kept> {
    match &ctx.bin {
        Bin::Blobs => Ok(Kept::No),
        Bin::Folder(folder) => to_folder(folder, parent, name, original),
        Bin::System => to_system(&ctx.private, parent, name),
    }
}

fn to_folder(folder: &Path, parent: &Dir, name: &str, original: &Path) -> io::Result<Kept> {
    let Ok((files, info)) = open(folder) else { return Ok(Kept::No) };
    for count in 1..=MAX_NAMES {
        let short = &name[..name.floor_char_boundary(200)];
        let kept = if count == 1 { short.to_owned() } else { format!("{short}.{count}") };
        let note = format!("{kept}.trashinfo");
        let mut how = cap_std::fs::OpenOptions::new();
        how.write(true).create_new(true);
        let mut file = match info.open_with(&note, &how) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(_) => return Ok(Kept::No),
        };
        let moved = write_note(&mut file, original).and_then(|()| {
            // Something may stand there without a note; a rename would replace it.
            if files.symlink_metadata(&kept).is_ok() {
                Err(io::ErrorKind::AlreadyExists.into())
            } else {
                parent.rename(name, &files, &kept)
            }
        });
        match moved {
            Ok(()) => return Ok(Kept::Trash),
            Err(error) => {
                info.remove_file(&note)?;
                if error.kind() != io::ErrorKind::AlreadyExists {
                    return Ok(Kept::No);
                }
            }
        }
    }
    Ok(Kept::No)
}

fn open(folder: &Path) -> io::Result<(Dir, Dir)> {
    let authority = cap_std::ambient_authority();
    Dir::create_ambient_dir_all(folder, authority)?;
    let dir = Dir::open_ambient_dir(folder, authority)?;
    dir.create_dir_all("files")?;
    dir.create_dir_all("info")?;
    Ok((dir.open_dir("files")?, dir.open_dir("info")?))
}

fn write_note(file: &mut cap_std::fs::File, original: &Path) -> io::Result<()> {
    use io::Write;
    // The file system's own clock says when.
    let when = file.metadata()?.modified()?.into_std();
    let when = jiff::Timestamp::try_from(when).map_err(io::Error::other)?;
    let when = when.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let path = encoded(original);
    file.write_all(format!("[Trash Info]\nPath={path}\nDeletionDate={when}\n").as_bytes())?;
    file.sync_all()
}

/// The path as the trash's notes write it: percent-encoded but for `/`.
fn encoded(path: &Path) -> String {
    let mut out = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(*byte))
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// By handle into a private folder first: the system's trash works by path, and a path could be swapped.
#[cfg(any(windows, target_os = "macos"))]
fn to_system(private: &Path, parent: &Dir, name: &str) -> io::Result<Kept> {
    let Ok(dir) = Dir::open_ambient_dir(private, cap_std::ambient_authority()) else { return Ok(Kept::No) };
    if dir.symlink_metadata(name).is_ok() || parent.rename(name, &dir, name).is_err() {
        return Ok(Kept::No);
    }
    let mut trash = trash::TrashContext::default();
    without_finder(&mut trash);
    match trash.delete(private.join(name)) {
        Ok(()) => Ok(Kept::Trash),
        Err(_) => dir.rename(name, parent, name).map(|()| Kept::No),
    }
}

/// Asking Finder would show a permission dialog and play a sound.
#[cfg(target_os = "macos")]
fn without_finder(trash: &mut trash::TrashContext) {
    use trash::macos::{DeleteMethod, TrashContextExtMacos};
    trash.set_delete_method(DeleteMethod::NsFileManager);
}

#[cfg(windows)]
fn without_finder(_: &mut trash::TrashContext) {}

#[cfg(not(any(windows, target_os = "macos")))]
fn to_system(_: &Path, _: &Dir, _: &str) -> io::Result<Kept> {
    Ok(Kept::No)
}
