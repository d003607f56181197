//! Added folders: other folders that the person lets a session look at, each by its own handle.
//!
//! An **added place** is such a folder as it is now: open, or gone. A **spot** is a path of the model with the folder it lies
//! in. Invariants: the handle is compared with the identity on record, so what was put in the folder's place isn't read; a
//! link out of it is refused by the handle; no tool that changes something gets a spot in one.

mod fit;

pub use fit::{Found, Refused, Walls, look};

use crate::path::{RelPath, rest_below, shown};
use crate::place::{Place, Reached};
use crate::revision::secret_name;
use crate::tool::{Ctx, failed};
use cap_fs_ext::MetadataExt as _;
use domain::call::ToolError;
use domain::event::FolderIdentity;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An added folder as it is now.
#[derive(Debug)]
pub struct AddedPlace {
    path: String,
    place: Result<Arc<Place>, Gone>,
}

/// Why an added folder can't be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Gone {
    /// Nothing stands there, or it can't be opened.
    #[error("it isn't there any more, or its disk isn't connected")]
    Missing,
    /// Another folder stands there.
    #[error("another folder stands in its place now")]
    Other,
}

/// A path of the model, and the folder it lies in.
pub(crate) struct Spot {
    pub(crate) place: Arc<Place>,
    pub(crate) reached: Reached,
}

impl AddedPlace {
    /// Opens it by its path, and sees whether it is still the one that was added.
    #[must_use]
    pub fn open(path: &str, identity: FolderIdentity, hide: Vec<PathBuf>) -> Self {
        let open = || {
            let place = Place::open(Path::new(path), hide).map_err(|_| Gone::Missing)?;
            match identity_of(&place) {
                Ok(now) if now == identity => Ok(Arc::new(place.said_in_full(path))),
                Ok(_) => Err(Gone::Other),
                Err(_) => Err(Gone::Missing),
            }
        };
        Self { path: path.to_owned(), place: open() }
    }

    /// Why it can't be looked at; nothing when it can.
    #[must_use]
    pub fn gone(&self) -> Option<Gone> {
        self.place.as_ref().err().copied()
    }

    /// It by its handle, where it can be looked at.
    pub(crate) fn place(&self) -> Option<&Place> {
        self.place.as_deref().ok()
    }

    fn opened(&self) -> Result<&Arc<Place>, ToolError> {
        self.place.as_ref().map_err(|gone| {
            failed(
                "folder/gone",
                format!("the added folder {} can't be opened: {gone}", shown(&self.path)),
                "Go on without it, and tell the person that they can add it again.",
            )
        })
    }
}

/// Which folder a handle leads to.
///
/// # Errors
/// When the handle doesn't say.
pub fn identity_of(place: &Place) -> std::io::Result<FolderIdentity> {
    let meta = place.dir().dir_metadata()?;
    Ok(FolderIdentity { device: meta.dev(), inode: meta.ino() })
}

impl Spot {
    /// The added folder it lies in.
    pub(crate) fn added(&self) -> Option<&str> {
        self.place.base()
    }

    /// Its path, as the model may say it.
    pub(crate) fn said(&self) -> String {
        self.place.say(&self.reached.path)
    }

    /// Its path and where it leads, for facts.
    pub(crate) fn names(&self) -> Vec<String> {
        let Reached { path, real } = &self.reached;
        let mut names = vec![self.place.say(path), self.place.say(real)];
        names.dedup();
        names
    }
}

impl Ctx {
    /// Reads a path of the model: in the session's folder, or in full in an added one. Links are followed.
    pub(crate) fn spot(&self, text: &str) -> Result<Spot, ToolError> {
        let (place, path) = self.find(text)?;
        let real = place.reach(path.as_str())?.real;
        Ok(Spot { place, reached: Reached { path, real } })
    }

    /// The folder a path of the model lies in, and the path in it, as written.
    pub(crate) fn find(&self, text: &str) -> Result<(Arc<Place>, RelPath), ToolError> {
        match self.added_around(text) {
            Some((added, rest)) => {
                let place = added.opened()?;
                let rest = if cfg!(windows) { rest.replace('\\', "/") } else { rest.to_owned() };
                Ok((Arc::clone(place), place.resolve(&rest)?))
            }
            None => Ok((Arc::clone(&self.place), self.place.resolve(text)?)),
        }
    }

    /// Reads a path that is to be changed: in the session's own folder.
    pub(crate) fn own(&self, text: &str) -> Result<Reached, ToolError> {
        self.not_added(text)?;
        self.place.reach(text)
    }

    /// Refuses a path in an added folder.
    pub(crate) fn not_added(&self, text: &str) -> Result<(), ToolError> {
        let Some((added, _)) = self.added_around(text) else { return Ok(()) };
        Err(failed(
            "folder/look_only",
            format!("{} lies in {}, which was added to look at only", shown(text), shown(&added.path)),
            "Write into the session's own folder instead. To change things there, the person can begin a session in that folder.",
        ))
    }

    /// All folders that can be looked at now: the session's own, and the added ones.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&*self.place).chain(self.added.iter().filter_map(AddedPlace::place))
    }

    /// The name of a secret file that the file at a spot is, too, in whichever of these folders that name lies.
    pub(crate) fn secret_name(&self, spot: &Spot) -> Option<String> {
        secret_name(&spot.place, spot.reached.real.as_str(), self.places(), &self.cancel)
    }

    /// The paths of the added folders that can be looked at now.
    pub(crate) fn added_paths(&self) -> Vec<String> {
        self.added.iter().filter(|added| added.place.is_ok()).map(|added| added.path.clone()).collect()
    }

    /// These added folders, by path and handle.
    pub(crate) fn added_here(&self, paths: &[String]) -> Result<Vec<(PathBuf, Arc<Place>)>, ToolError> {
        let one = |path: &String| match self.added.iter().find(|added| added.path == *path) {
            Some(added) => added.opened().map(|place| (PathBuf::from(path), Arc::clone(place))),
            None => Err(failed(
                "folder/removed",
                format!("{} may not be looked at any more: the person took that back", shown(path)),
                "Go on without it.",
            )),
        };
        paths.iter().map(one).collect()
    }

    fn added_around<'t>(&self, text: &'t str) -> Option<(&AddedPlace, &'t str)> {
        self.added.iter().find_map(|added| Some((added, rest_below(&added.path, text)?)))
    }
}
