//! From a profile to the list of what the new root holds.
//!
//! A **place** is one thing to put into the empty root. The list is ordered by path, so parents come before what
//! lies in them and a deeper place wins. Both mechanisms with a root of their own render the same list, and the
//! file rules are read from it. Invariant: a path is visible only if a place names it or a folder above it, and
//! no hidden path lies in view.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::wire::Private;
use crate::error::SpawnError;
use crate::profile::{Profile, WriteAccess};

/// One thing in the new root, at an absolute path of the new root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Place {
    /// An empty private file system. Sealed ones are read-only once everything is in place.
    Empty { at: OsString, bytes: u64, mode: u32, sealed: bool },
    /// A symbolic link.
    Link { at: OsString, to: OsString },
    /// Something of the real file system.
    Bind { from: OsString, at: OsString, access: Access },
    /// The processes of the cage, read-only.
    Proc { at: OsString },
}

/// How a bound thing can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Access {
    Read,
    Write,
    /// A device node that works.
    Device,
}

/// The whole content of a cage.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) places: Vec<Place>,
    pub(crate) private: Private,
    /// The folder with its links resolved.
    pub(crate) workdir: PathBuf,
    /// Hidden paths that lie inside a listed folder: only a root of one's own can hide them.
    pub(crate) covered: Vec<PathBuf>,
}

/// Programs and what they need to run. `/home`, `/root`, `/var`, `/run`, `/opt`, `/mnt`, `/media`, `/srv` and
/// `/sys` are left out on purpose.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system/sw",
];
/// The parts of `/etc` that programs read to run; nothing that names hosts, services or accounts' secrets.
const CONFIGURATION: &[&str] = &[
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "default/locale",
    "fonts",
    "gai.conf",
    "group",
    "host.conf",
    "inputrc",
    "java",
    "java-17-openjdk",
    "java-21-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "libreoffice",
    "locale.alias",
    "locale.conf",
    "localtime",
    "login.defs",
    "lsb-release",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "papersize",
    "passwd",
    "perl",
    "pki/tls/certs",
    "protocols",
    "python3",
    "services",
    "shells",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "texmf",
    "timezone",
    "vim",
    "xattr.conf",
];
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];
/// The private folders live in memory: enough for compilers' temporary files, an end for a runaway.
const PRIVATE_BYTES: u64 = 1 << 30;
/// File systems that only hold mount points.
const FRAME_BYTES: u64 = 1 << 20;
const PRIVATE: &str = "/private";
const TMP: &str = "/tmp";
/// Folders that belong to the system and can't be a project.
const NO_PROJECT: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/sys", "/dev"];

/// Lays out a cage. Fails when the folder can't be used.
pub(crate) fn lay_out(profile: &Profile) -> Result<Layout, SpawnError> {
    let workdir = usable_folder(&profile.workdir)?;
    let mut places = Places::system();
    let write = match profile.write {
        WriteAccess::Folder => Access::Write,
        WriteAccess::None => Access::Read,
    };
    for path in profile.read_only.iter().filter_map(|path| path.canonicalize().ok()) {
        places.bind(&path, Access::Read);
    }
    for path in profile.read_write.iter().filter_map(|path| path.canonicalize().ok()) {
        places.bind(&path, write);
    }
    // A part of the folder that is listed as read-only keeps its own, deeper place.
    places.bind(&workdir, write);
    let covered = places.hide(&profile.hide, &workdir)?;
    places.pin();
    let private = places.private_folders();
    Ok(Layout { places: places.in_order(), private, workdir, covered })
}

/// A cage with nothing but the system, for trying it out.
pub(crate) fn lay_out_system() -> Layout {
    let mut places = Places::system();
    let private = places.private_folders();
    Layout { places: places.in_order(), private, workdir: "/".into(), covered: Vec::new() }
}

impl Layout {
    /// What the file rules let be read and executed, and what they let be changed, when there is no other root.
    pub(crate) fn real_paths(&self) -> (Vec<OsString>, Vec<OsString>) {
        let (mut read, mut write) = (Vec::new(), Vec::new());
        for place in &self.places {
            if let Place::Bind { from, access, .. } = place {
                match access {
                    Access::Read => read.push(from.clone()),
                    Access::Write | Access::Device => write.push(from.clone()),
                }
            }
        }
        (read, write)
    }

    /// The same for a new root: everything in it may be read, this may be changed.
    pub(crate) fn writable_places(&self) -> Vec<OsString> {
        let writable = |place: &Place| match place {
            Place::Bind { at, access: Access::Write | Access::Device, .. } => Some(at.clone()),
            Place::Empty { at, sealed: false, .. } => Some(at.clone()),
            Place::Bind { .. } | Place::Empty { .. } | Place::Link { .. } | Place::Proc { .. } => None,
        };
        self.places.iter().filter_map(writable).collect()
    }
}

impl Place {
    pub(crate) fn at(&self) -> &Path {
        match self {
            Self::Empty { at, .. } | Self::Link { at, .. } | Self::Bind { at, .. } | Self::Proc { at } => {
                Path::new(at)
            }
        }
    }
}

fn usable_folder(path: &Path) -> Result<PathBuf, SpawnError> {
    let refuse = |why| SpawnError::Folder { path: path.to_owned(), why };
    let folder = path.canonicalize().map_err(|_| refuse("it doesn't exist"))?;
    if !folder.is_dir() {
        return Err(refuse("it isn't a folder"));
    }
    let system = NO_PROJECT.iter().any(|system| folder.starts_with(system));
    if system || folder.parent().is_none() {
        return Err(refuse("it belongs to the system"));
    }
    Ok(folder)
}

/// Places under construction, keyed by where they are; the order of paths puts parents first.
struct Places(BTreeMap<PathBuf, Place>);

impl Places {
    fn system() -> Self {
        let mut places = Self(BTreeMap::new());
        for path in SYSTEM {
            places.system_path(Path::new(path));
        }
        for name in CONFIGURATION {
            places.system_path(&Path::new("/etc").join(name));
        }
        places.put(Place::Proc { at: "/proc".into() });
        for device in DEVICES.iter().filter(|device| Path::new(device).exists()) {
            places.put(Place::Bind { from: device.into(), at: device.into(), access: Access::Device });
        }
        for (at, to) in DEVICE_LINKS {
            places.put(Place::Link { at: at.into(), to: to.into() });
        }
        places.empty("/dev/shm", PRIVATE_BYTES, 0o1777, false);
        places.empty(TMP, PRIVATE_BYTES, 0o1777, false);
        places
    }

    /// A system folder or file as it is: a link stays one where its target is in view.
    fn system_path(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        match path.read_link() {
            Ok(to) if SYSTEM.iter().any(|system| real.starts_with(system)) => {
                self.put(Place::Link { at: path.into(), to: to.into() });
            }
            Ok(_) | Err(_) => {
                self.put(Place::Bind { from: real.into(), at: path.into(), access: Access::Read });
            }
        }
    }

    fn bind(&mut self, path: &Path, access: Access) {
        self.put(Place::Bind { from: path.into(), at: path.into(), access });
    }

    fn empty(&mut self, at: &str, bytes: u64, mode: u32, sealed: bool) {
        self.put(Place::Empty { at: at.into(), bytes, mode, sealed });
    }

    fn put(&mut self, place: Place) {
        self.0.insert(place.at().to_owned(), place);
    }

    /// The private home, and the private `TMPDIR`, which is `/tmp` unless that was listed.
    fn private_folders(&mut self) -> Private {
        let home = format!("{PRIVATE}/home");
        self.empty(&home, PRIVATE_BYTES, 0o700, false);
        let listed = matches!(self.0.get(Path::new(TMP)), Some(Place::Bind { .. }));
        let tmp = if listed { format!("{PRIVATE}/tmp") } else { TMP.to_owned() };
        if listed {
            self.empty(&tmp, PRIVATE_BYTES, 0o700, false);
        }
        Private { home: home.into(), tmp: tmp.into() }
    }

    /// Covers hidden paths that would be in view, and returns them.
    fn hide(&mut self, hidden: &[PathBuf], workdir: &Path) -> Result<Vec<PathBuf>, SpawnError> {
        let mut covered = Vec::new();
        for path in hidden.iter().filter_map(|path| path.canonicalize().ok()) {
            if path == workdir {
                return Err(SpawnError::Folder { path, why: "it holds the app's own data" });
            }
            let listed = matches!(self.0.get(&path), Some(Place::Bind { .. }));
            if listed {
                self.0.remove(&path);
            }
            if !matches!(self.nearest_above(&path), Some(Place::Bind { .. })) {
                continue;
            }
            let at = path.clone().into_os_string();
            self.put(if path.is_dir() {
                Place::Empty { at, bytes: FRAME_BYTES, mode: 0o555, sealed: true }
            } else {
                Place::Bind { from: "/dev/null".into(), at, access: Access::Read }
            });
            covered.push(path);
        }
        Ok(covered)
    }

    /// Makes every folder between a bound folder and a deeper place a mount point of its own. A mount point can't
    /// be renamed from inside; without this a command could move the parent of a hidden folder away, and the
    /// next cage wouldn't find it where it has to be hidden.
    fn pin(&mut self) {
        let mut pins = Vec::new();
        for at in self.0.keys() {
            let Some(Place::Bind { at: above, access, .. }) = self.nearest_above(at) else { continue };
            let between = at.ancestors().skip(1).take_while(|path| *path != Path::new(above));
            pins.extend(between.map(|path| (path.to_owned(), *access)));
        }
        for (path, access) in pins {
            self.bind(&path, access);
        }
    }

    fn nearest_above(&self, path: &Path) -> Option<&Place> {
        path.ancestors().skip(1).find_map(|above| self.0.get(above))
    }

    fn in_order(self) -> Vec<Place> {
        self.0.into_values().collect()
    }
}
