//! Folders the person opened: a path behind an opaque id.
//!
//! Invariant: a path gets in by the person's own act (dialog, drop, command line) and is kept resolved; our own data folder
//! is no project.

use crate::data::home;
use crate::settings::unsaved;
use crate::wide::wide;
use api::error;
use api::wire::ApiError;
use api::wire::store::Folder;
use domain::ids::{FolderId, Ids};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use store::{Edit, StoreHandle};

/// The registry, kept in the store.
#[derive(Clone)]
pub(crate) struct Folders {
    pub(crate) store: StoreHandle,
    /// Our own data folder.
    pub(crate) data: PathBuf,
}

impl Folders {
    /// Makes a folder known and gives its id: the one it has, or a new one.
    pub(crate) fn open(&self, path: &Path, ids: &dyn Ids) -> Result<Folder, ApiError> {
        let real = path.canonicalize().map_err(|io| {
            error(
                "folder/missing",
                format!("the folder {} can't be opened: {io}", path.display()),
                "Choose another folder.",
            )
        })?;
        if !real.is_dir() {
            return Err(error(
                "folder/not_a_folder",
                format!("{} is not a folder", real.display()),
                "Choose a folder.",
            ));
        }
        // A whole disk is no project: nobody could say what changed in it, nor take it back.
        if real.parent().is_none() {
            return Err(error(
                "folder/disk",
                format!("{} is a whole disk", real.display()),
                "Choose a folder on it.",
            ));
        }
        if real.starts_with(&self.data) {
            return Err(error(
                "folder/own",
                format!("{} belongs to Daybook itself", real.display()),
                "Choose another folder.",
            ));
        }
        let id = self.remember(&real, ids)?;
        Ok(self.shown(&id, &real))
    }

    /// The same without asking what it is: for the tour's folder, which is ours.
    pub(crate) fn remember(&self, real: &Path, ids: &dyn Ids) -> Result<FolderId, ApiError> {
        let Some(text) = real.to_str() else {
            return Err(error(
                "folder/name",
                "the folder's path isn't Unicode text",
                "Rename the folder or move it.",
            ));
        };
        let edit = Edit::UseFolder { folder: FolderId::new(ids), path: text.to_owned() };
        self.store.edit(edit).map_err(|failed| unsaved(&failed))?;
        let known = self.store.folders().map_err(|read| api::of_read(&read))?;
        let found = known.into_iter().find(|folder| folder.path == text).map(|folder| folder.folder);
        found.ok_or_else(|| error("internal", "a folder that was just opened isn't known", ""))
    }

    /// Those opened before, newest first; the tour's isn't one of them.
    pub(crate) fn list(&self) -> Result<Vec<Folder>, ApiError> {
        let known = self.store.folders().map_err(|read| api::of_read(&read))?;
        let others = known.iter().filter(|folder| !Path::new(&folder.path).starts_with(&self.data));
        Ok(others.map(|folder| self.shown(&folder.folder, Path::new(&folder.path))).collect())
    }

    /// Where the folders that were opened once are, or were.
    pub(crate) fn places(&self) -> Result<BTreeMap<FolderId, PathBuf>, ApiError> {
        let known = self.store.folders().map_err(|read| api::of_read(&read))?;
        Ok(known.into_iter().map(|folder| (folder.folder, folder.path.into())).collect())
    }

    /// A folder as shown.
    pub(crate) fn shown(&self, id: &FolderId, path: &Path) -> Folder {
        shown(id, path, &self.data)
    }

    /// Where a known folder is, if it is there.
    pub(crate) fn path(&self, id: &FolderId) -> Result<PathBuf, ApiError> {
        let Some(path) = self.places()?.remove(id) else {
            return Err(error(
                "folder/unknown",
                format!("there is no folder {id}"),
                "Choose the folder again.",
            ));
        };
        match path.is_dir() {
            true => Ok(path),
            false => Err(error(
                "folder/missing",
                format!("{} isn't there any more", path.display()),
                "Choose the folder again.",
            )),
        }
    }
}

/// A folder as shown: never its whole path where the home folder can be `~`.
pub(crate) fn shown(id: &FolderId, path: &Path, data: &Path) -> Folder {
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let inside = home().and_then(|home| path.strip_prefix(home).ok().map(Path::to_path_buf));
    let place = match inside {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~{}{}", std::path::MAIN_SEPARATOR, rest.display()),
        None => path.display().to_string(),
    };
    Folder { id: id.to_string(), name, place, exists: path.is_dir(), wide: wide(path, data) }
}
