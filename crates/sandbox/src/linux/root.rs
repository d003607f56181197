//! Building the new root with our own mounts, as process 1 of new namespaces.
//!
//! Every real path is opened as a detached copy of its mount *before* the new root hides it; then the copies are
//! moved to their places and the old root is dropped. Invariant: places are looked up below the new root without
//! following links, so nothing that changes meanwhile can lead a mount elsewhere.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags,
};

use super::layout::{Access, Place};
use super::sys::restrict_mount;

/// Replaces the root by what `places` name. On failure: the path and what went wrong.
pub(crate) fn build(places: &[Place]) -> Result<(), (PathBuf, io::Error)> {
    let slash = |error: io::Error| (PathBuf::from("/"), error);
    let mask = rustix::process::umask(Mode::empty());
    stand_on_a_private_mount().map_err(slash)?;
    let mut ready = Vec::new();
    for place in places {
        ready.push((place, detached(place).map_err(|error| (place.at().to_owned(), error))?));
    }
    let root = root().map_err(slash)?;
    for (place, mount) in &ready {
        install(&root, place, mount.as_ref()).map_err(|error| (place.at().to_owned(), error))?;
    }
    for place in places {
        if let Place::Empty { at, sealed: true, .. } = place {
            seal(&root, Path::new(at)).map_err(|error| (place.at().to_owned(), error))?;
        }
    }
    enter(&root).map_err(slash)?;
    rustix::process::umask(mask);
    Ok(())
}

/// Makes sure that nothing we mount shows outside, and that the root is a mount, for only such a root can be
/// replaced. In a `chroot` it is an ordinary folder of a mount we can't name, which may be shared: there we move to
/// a copy, attached where nothing is shared.
fn stand_on_a_private_mount() -> io::Result<()> {
    let about = rustix::fs::statx(CWD, "/", AtFlags::empty(), StatxFlags::BASIC_STATS)?;
    if !about.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) {
        rustix::mount::mount_change("/proc", MountPropagationFlags::PRIVATE)?;
        let flags =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        let copy = rustix::mount::open_tree(CWD, "/", flags)?;
        rustix::mount::move_mount(copy.as_fd(), "", CWD, "/proc", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        rustix::process::fchdir(&copy)?;
        rustix::process::chroot(".")?;
    }
    Ok(rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}

/// The mount of one place, not attached anywhere yet.
fn detached(place: &Place) -> io::Result<Option<OwnedFd>> {
    const NO_TRICKS: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    Ok(Some(match place {
        Place::Link { .. } => return Ok(None),
        Place::Empty { bytes, mode, .. } => memory(*bytes, *mode)?,
        Place::Proc { .. } => {
            let context = rustix::mount::fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
            rustix::mount::fsconfig_create(context.as_fd())?;
            // Read-only: the kernel's settings below /proc/sys look at the user's id only, not at capabilities.
            let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
                | MountAttrFlags::MOUNT_ATTR_NOSUID
                | MountAttrFlags::MOUNT_ATTR_NODEV
                | MountAttrFlags::MOUNT_ATTR_NOEXEC;
            rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?
        }
        Place::Bind { from, access, .. } => {
            // The path was resolved when the cage was laid out; a link in it now is somebody's doing.
            let resolve = ResolveFlags::NO_SYMLINKS;
            let found = rustix::fs::openat2(
                CWD,
                from.as_os_str(),
                OFlags::PATH | OFlags::CLOEXEC,
                Mode::empty(),
                resolve,
            )?;
            let flags = OpenTreeFlags::OPEN_TREE_CLONE
                | OpenTreeFlags::OPEN_TREE_CLOEXEC
                | OpenTreeFlags::AT_RECURSIVE
                | OpenTreeFlags::AT_EMPTY_PATH;
            let copy = rustix::mount::open_tree(found.as_fd(), "", flags)?;
            let attributes = match access {
                Access::Read => NO_TRICKS | libc::MOUNT_ATTR_RDONLY,
                Access::Write => NO_TRICKS,
                Access::Device => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC,
            };
            restrict_mount(copy.as_fd(), attributes, true)?;
            copy
        }
    }))
}

/// An empty file system in memory.
fn memory(bytes: u64, mode: u32) -> io::Result<OwnedFd> {
    let context = rustix::mount::fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "size", bytes.to_string())?;
    rustix::mount::fsconfig_set_string(context.as_fd(), "mode", format!("{mode:o}"))?;
    rustix::mount::fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// The new root itself, attached over a folder that exists on every system and isn't needed any more.
fn root() -> io::Result<OwnedFd> {
    const ROOT_BYTES: u64 = 4 << 20;
    let root = memory(ROOT_BYTES, 0o755)?;
    rustix::mount::move_mount(root.as_fd(), "", CWD, "/usr", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    Ok(root)
}

fn install(root: &OwnedFd, place: &Place, mount: Option<&OwnedFd>) -> io::Result<()> {
    let at = inside(place.at());
    if let Some(parent) = at.parent() {
        make_folders(root, parent)?;
    }
    let Some(mount) = mount else {
        if let Place::Link { to, .. } = place {
            rustix::fs::symlinkat(to.as_os_str(), root.as_fd(), at)?;
        }
        return Ok(());
    };
    let folder = {
        let stat = rustix::fs::fstat(mount)?;
        FileType::from_raw_mode(stat.st_mode) == FileType::Directory
    };
    if folder {
        make_folders(root, at)?;
    } else if matches!(find(root, at), Err(Errno::NOENT)) {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        rustix::fs::openat(root, at, flags, Mode::from_raw_mode(0o444))?;
    }
    let target = find(root, at)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(rustix::mount::move_mount(mount.as_fd(), "", target.as_fd(), "", flags)?)
}

/// Makes the folders of `path` that aren't there yet.
fn make_folders(root: &OwnedFd, path: &Path) -> io::Result<()> {
    let mut upto = PathBuf::new();
    for part in path.components() {
        upto.push(part);
        match find(root, &upto) {
            Ok(_) => {}
            Err(Errno::NOENT) => rustix::fs::mkdirat(root, &upto, Mode::from_raw_mode(0o755))?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The thing at `path` below the new root.
fn find(root: &OwnedFd, path: &Path) -> rustix::io::Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() { OsStr::new(".") } else { path.as_os_str() };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    rustix::fs::openat2(root, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
}

fn seal(root: &OwnedFd, at: &Path) -> io::Result<()> {
    restrict_mount(find(root, inside(at))?.as_fd(), libc::MOUNT_ATTR_RDONLY, false)
}

/// Makes the new root the root, and lets go of the old one.
fn enter(root: &OwnedFd) -> io::Result<()> {
    restrict_mount(root.as_fd(), libc::MOUNT_ATTR_RDONLY, false)?;
    rustix::process::fchdir(root)?;
    // Same folder twice: the old root ends up on top of the new one and is unmounted from there.
    rustix::process::pivot_root(".", ".")?;
    rustix::mount::unmount(".", UnmountFlags::DETACH)?;
    Ok(rustix::process::chdir("/")?)
}

fn inside(at: &Path) -> &Path {
    at.strip_prefix("/").unwrap_or(at)
}
