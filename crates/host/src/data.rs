//! Where things are on this machine: the data folder, and the local door's place.
//!
//! Invariant: a named folder is used or refused, never swapped for another one; two data folders never share a door.

use domain::digest::Digest;
use etcetera::BaseStrategy as _;
use std::path::{Path, PathBuf};

/// There is no place of the person's own on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no home folder, so the data folder has no place; name one with --data-dir")]
pub struct NoHome;

/// The data folder: the named one, else the platform's.
///
/// # Errors
/// When none is named and the person has no home folder.
pub fn data_folder(named: Option<&Path>) -> Result<PathBuf, NoHome> {
    match named {
        Some(path) => std::path::absolute(path).map_err(|_| NoHome),
        None => platform_folder(),
    }
}

#[cfg(not(windows))]
fn platform_folder() -> Result<PathBuf, NoHome> {
    let name = if cfg!(target_os = "macos") { "Daybook" } else { "daybook" };
    etcetera::base_strategy::choose_native_strategy()
        .map(|place| place.data_dir().join(name))
        .map_err(|_| NoHome)
}

/// Not the roaming folder: a store must not travel between machines.
#[cfg(windows)]
fn platform_folder() -> Result<PathBuf, NoHome> {
    std::env::var_os("LOCALAPPDATA").map(|local| PathBuf::from(local).join("Daybook")).ok_or(NoHome)
}

/// Eight hex digits that stand for a data folder wherever a short name is needed.
#[must_use]
pub fn store_name(data: &Path) -> String {
    let real = data.canonicalize().unwrap_or_else(|_| data.to_owned());
    Digest::of(real.as_os_str().as_encoded_bytes()).to_string()[..8].to_owned()
}

/// The local door's socket: in the runtime folder, else inside the data folder.
#[must_use]
pub fn door_path(data: &Path) -> PathBuf {
    match runtime_folder() {
        Some(runtime) => runtime.join(format!("{}.sock", store_name(data))),
        None => data.join("door").join("daybook.sock"),
    }
}

/// Our folder in the runtime folder, where there is one.
#[must_use]
pub fn runtime_folder() -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from)?;
    (runtime.is_absolute() && runtime.is_dir()).then(|| runtime.join("daybook"))
}

/// The home folder, for showing paths and for the trash.
#[must_use]
pub fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

/// Where deleted things go.
#[must_use]
pub fn bin() -> tools::Bin {
    if cfg!(any(target_os = "macos", windows)) {
        return tools::Bin::System;
    }
    let data = etcetera::base_strategy::choose_native_strategy().ok().map(|place| place.data_dir());
    data.map_or(tools::Bin::Blobs, |data| tools::Bin::Folder(data.join("Trash")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_folder_is_taken_as_it_is_and_has_its_own_short_name() {
        let one = tempfile::tempdir().expect("a folder");
        let other = tempfile::tempdir().expect("a folder");
        assert_eq!(data_folder(Some(one.path())), Ok(one.path().to_owned()));
        assert_eq!(store_name(one.path()), store_name(&one.path().join(".")));
        assert_ne!(store_name(one.path()), store_name(other.path()));
        assert_eq!(store_name(one.path()).len(), 8);
    }
}
