//! Which folder may be added to look at, as far as the machine has to be asked.
//!
//! A **wall** is a place that no session may be shown, whoever chose it: our own data, a whole home, where programs keep
//! their own files and keys, the system. Invariant: what passes is an absolute path without links, a name, and the
//! identity of the folder that was looked at through one handle.

use super::identity_of;
use crate::path::is_secret;
use crate::place::Place;
use crate::visible::visible;
use domain::event::FolderIdentity;
use std::path::{Component, Path, PathBuf};

/// Places that can't be added, nor anything in or around them.
#[derive(Debug, Clone)]
pub struct Walls<'a> {
    /// The session's own folder.
    pub root: &'a Path,
    /// The person's home.
    pub home: Option<&'a Path>,
    /// Our own data, runtime and configuration folders.
    pub hide: &'a [PathBuf],
}

/// A folder that may be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its path, links resolved.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Which folder it is.
    pub identity: FolderIdentity,
}

/// Why a folder can't be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It can't be opened.
    #[error("it isn't there, or can't be opened as a folder")]
    Missing,
    /// Its path can't be written down or shown as it is.
    #[error("its path holds characters that can't be shown")]
    Name,
    /// The session's own folder lies on its way, or it on that one's.
    #[error("it has something in common with the session's own folder")]
    Shared,
    /// A disk's outermost folder.
    #[error("it is a whole disk")]
    Root,
    /// The home, or something around it.
    #[error("it is your whole home folder, or holds it")]
    Home,
    /// Where programs keep what is theirs, keys and passwords among it.
    #[error("programs keep their own files, keys and passwords there")]
    Private,
    /// The system's.
    #[error("it belongs to the system")]
    System,
    /// Ours, or around ours.
    #[error("it holds Daybook's own files")]
    OwnFiles,
}

impl Refused {
    /// `folder/problem`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing => "folder/missing",
            Self::Name => "folder/name",
            Self::Shared => "folder/shared",
            Self::Root => "folder/disk",
            Self::Home => "folder/home",
            Self::Private => "folder/private",
            Self::System => "folder/system",
            Self::OwnFiles => "folder/own",
        }
    }
}

/// Looks at a folder that the person chose.
///
/// # Errors
/// Why it can't be added.
pub fn look(path: &Path, walls: &Walls<'_>) -> Result<Found, Refused> {
    let place = Place::open(path, Vec::new()).map_err(|_| Refused::Missing)?;
    let identity = identity_of(&place).map_err(|_| Refused::Missing)?;
    let real = place.path();
    let text = real.to_str().filter(|text| is_plain(text)).ok_or(Refused::Name)?;
    let name = real.file_name().and_then(|name| name.to_str()).ok_or(Refused::Root)?;
    let own = walls.hide.iter().map(|one| one.canonicalize().unwrap_or_else(|_| one.clone()));
    if own.into_iter().any(|own| real.starts_with(&own) || own.starts_with(real)) {
        return Err(Refused::OwnFiles);
    }
    if let Some(home) = walls.home.and_then(|home| home.canonicalize().ok()) {
        if home.starts_with(real) {
            return Err(Refused::Home);
        }
        if real.strip_prefix(&home).is_ok_and(is_programs_own) {
            return Err(Refused::Private);
        }
    }
    let root = walls.root.canonicalize().unwrap_or_else(|_| walls.root.to_owned());
    // By what they are, not by their names: a name has several spellings where case doesn't count.
    let is = |path: &Path| Place::open(path, Vec::new()).ok().and_then(|place| identity_of(&place).ok());
    let own = is(&root);
    let shared = real.ancestors().any(|above| own.is_some() && is(above) == own)
        || root.ancestors().any(|above| is(above) == Some(identity));
    if shared {
        return Err(Refused::Shared);
    }
    // A folder of keys is one wherever it lies.
    if is_secret(&format!("{}/x", text.replace('\\', "/"))) {
        return Err(Refused::Private);
    }
    if is_system(real) {
        return Err(Refused::System);
    }
    Ok(Found { path: text.to_owned(), name: name.to_owned(), identity })
}

fn is_plain(text: &str) -> bool {
    !text.chars().any(char::is_control) && !visible(text).suspicious
}

/// Does a path below the home begin where programs keep what is theirs?
fn is_programs_own(inside: &Path) -> bool {
    let first = inside.components().next().and_then(|part| part.as_os_str().to_str()).unwrap_or_default();
    first.starts_with('.')
        || (cfg!(target_os = "linux") && first == "snap")
        || (cfg!(target_os = "macos") && first == "Library")
        || (cfg!(windows) && first.eq_ignore_ascii_case("AppData"))
}

/// Folders of the system, and what isn't files at all.
const SYSTEM: [&str; 20] = [
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "nix",
    "proc",
    "run",
    "sbin",
    "snap",
    "sys",
    "usr",
    "System",
    "Library",
    "Applications",
    "private/etc",
    "private/var/db",
];
/// Of these, where disks are mounted for people.
const MOUNTED: [&str; 1] = ["run/media"];
/// The same on Windows, below a drive.
const WINDOWS: [&str; 4] = ["windows", "program files", "program files (x86)", "programdata"];

/// Does another disk begin here?
#[cfg(unix)]
fn is_mounted(real: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let disk = |path: &Path| path.metadata().ok().map(|meta| meta.dev());
    real.parent().is_some_and(|above| disk(above) != disk(real))
}

/// Does another disk begin here?
#[cfg(not(unix))]
fn is_mounted(_: &Path) -> bool {
    false
}

fn is_system(real: &Path) -> bool {
    let parts = real.components().filter(|part| matches!(part, Component::Normal(_)));
    let below: PathBuf = parts.collect();
    if cfg!(windows) {
        let first = below.components().next().map(|part| part.as_os_str().to_string_lossy().to_lowercase());
        return first.is_some_and(|first| WINDOWS.contains(&first.as_str()));
    }
    // A stick is a folder in there; the folder of all sticks is not.
    let sticks = ["mnt", "media", "Volumes"].iter().any(|place| below == Path::new(place))
        || (["media", "run/media"].iter().any(|place| below.parent() == Some(Path::new(place)))
            && !is_mounted(real));
    if sticks {
        return true;
    }
    let mounted = MOUNTED.iter().any(|place| below.starts_with(place) && below != Path::new(place));
    !mounted && SYSTEM.iter().any(|place| below.starts_with(place))
}
