//! A session's own folder, opened.
//!
//! **Own** is the folder that was at the session's path when it began, or the one the person said since. Invariant: what was put
//! in its place is neither looked at nor changed, by undo as little as by calls.

use domain::call::ToolError;
use domain::event::FolderIdentity;
use domain::state::State;
use std::path::{Path, PathBuf};
use tools::{Place, identity_of};

/// Why a session's own folder can't be worked in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotOwn {
    /// Nothing stands there, or it can't be opened.
    #[error("{0}")]
    Missing(
        /// The system's words.
        String,
    ),
    /// Another folder stands there.
    #[error("another folder is at {path} now; nothing in it was touched")]
    Other {
        /// The path.
        path: String,
    },
}

impl NotOwn {
    /// Its code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "folder/missing",
            Self::Other { .. } => "folder/other",
        }
    }

    /// As the model reads it.
    pub(crate) fn for_model(&self) -> ToolError {
        let suggestion = match self {
            Self::Missing(_) => "Tell the person that the folder can't be opened.",
            Self::Other { .. } => {
                "Tell the person that the session's folder was moved or replaced; they can put it back, or say that the \
                 session goes on in the one that is there now."
            }
        };
        let (code, message) = (self.code().into(), self.to_string());
        ToolError { code, message, suggestion: Some(suggestion.into()) }
    }
}

/// Opens a session's own folder. `hide` is what nobody may reach in it.
///
/// # Errors
/// When it isn't there, or another one is.
pub fn open(state: &State, hide: Vec<PathBuf>) -> Result<Place, NotOwn> {
    let (root, known) = match &state.session {
        Some(session) => (session.root.as_str(), session.identity),
        None => ("", None),
    };
    let place = Place::open(Path::new(root), hide).map_err(|error| NotOwn::Missing(error.to_string()))?;
    let same = known.is_none_or(|known| identity_of(&place).is_ok_and(|now| now.is(&known)));
    if same { Ok(place) } else { Err(NotOwn::Other { path: root.to_owned() }) }
}

/// Which folder stands at a path, where one does.
pub(crate) fn identity(root: &str) -> Option<FolderIdentity> {
    Place::open(Path::new(root), Vec::new()).ok().and_then(|place| identity_of(&place).ok())
}
