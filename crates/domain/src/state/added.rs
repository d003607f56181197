//! Added folders: other folders that the person lets a session look at, and which may be one.
//!
//! An **added folder** is for looking only: what a session changes lies in its own folder, so that lease, revisions and undo
//! stay whole. Invariant: an added folder and the session's own have nothing in common, nor have two added ones, so a
//! path belongs to at most one of them. Paths are compared as text here; whoever adds one has resolved its links.

use super::check::Violation;
use super::types::State;
use crate::event::{FolderAdded, FolderIdentity};
use serde::{Deserialize, Serialize};

/// Most added folders of one session: each is opened for every call and named to the model.
pub const MOST_ADDED: usize = 16;

/// An added folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Added {
    /// Its path, links resolved.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Which folder it is.
    pub identity: FolderIdentity,
    /// When it was added, UTC ms.
    pub at: u64,
}

/// Why a folder can't be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Its path or name is empty.
    #[error("it has no name")]
    Nameless,
    /// It is the session's own folder.
    #[error("it is the session's own folder")]
    Own,
    /// It lies in the session's own folder.
    #[error("it lies in the session's own folder and can be read already")]
    Inside,
    /// The session's own folder lies in it.
    #[error("the session's own folder lies in it")]
    Around,
    /// It is, holds, or lies in one that was added.
    #[error("it has something in common with {0}, which was added before")]
    Overlaps(
        /// The other one's path.
        String,
    ),
    /// The id was used.
    #[error("the id is taken")]
    Taken,
    /// There are as many as can be.
    #[error("{MOST_ADDED} folders are added; remove one first")]
    TooMany,
}

impl Unfit {
    /// As a broken law.
    pub(super) fn violation(&self) -> Violation {
        let law = match self {
            Self::Nameless => "folder/named",
            Self::Own | Self::Inside | Self::Around | Self::Overlaps(_) => "folder/apart",
            Self::Taken => "folder/unique",
            Self::TooMany => "folder/count",
        };
        Violation { law, detail: self.to_string() }
    }
}

impl State {
    /// May this folder be added now?
    ///
    /// # Errors
    /// Why not.
    pub fn may_add(&self, e: &FolderAdded) -> Result<(), Unfit> {
        let root = self.session.as_ref().map_or("", |session| session.root.as_str());
        if e.path.is_empty() || e.name.trim().is_empty() {
            return Err(Unfit::Nameless);
        }
        if self.added.contains_key(&e.folder) {
            return Err(Unfit::Taken);
        }
        match (within(&e.path, root), within(root, &e.path)) {
            (true, true) => return Err(Unfit::Own),
            (true, false) => return Err(Unfit::Inside),
            (false, true) => return Err(Unfit::Around),
            (false, false) => {}
        }
        let overlaps = |other: &&Added| within(&e.path, &other.path) || within(&other.path, &e.path);
        if let Some(other) = self.added.values().find(overlaps) {
            return Err(Unfit::Overlaps(other.path.clone()));
        }
        if self.added.len() >= MOST_ADDED { Err(Unfit::TooMany) } else { Ok(()) }
    }
}

/// Is `inner` the same as `outer` or below it, by the parts of both? A path of any system, so that a log is judged alike
/// on each.
fn within(inner: &str, outer: &str) -> bool {
    let mut inner = inner.split(['/', '\\']).filter(|part| !part.is_empty());
    outer.split(['/', '\\']).filter(|part| !part.is_empty()).all(|part| inner.next() == Some(part))
}
