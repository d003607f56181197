//! A session as a folder of its own: taken out of a store whole, and into another one to be looked at.
//!
//! An **archive** holds `manifest.json`, `events.jsonl` with one event a line exactly as recorded, and the blobs that they name.
//! Invariants: nothing in it was changed on the way, and whoever takes it in finds that out before anything is taken; types of
//! events that nobody here knows pass through byte for byte.

mod export;
mod import;
mod line;

pub use export::export;
pub use import::import;
pub(crate) use import::import_into;

use crate::keep::unwritten;
use api::error;
use api::wire::ApiError;
use domain::digest::Digest;
use domain::ids::SessionId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What the format calls itself.
const FORMAT: &str = "daybook-session";
/// Its version: raised when an older reader would take something wrong.
const VERSION: u32 = 1;
const MANIFEST: &str = "manifest.json";
const EVENTS: &str = "events.jsonl";
const BLOBS: &str = "blobs";

/// What an archive holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    format: String,
    version: u32,
    session: SessionId,
    /// How many events.
    events: u64,
    /// The hash of the last one, which all the others are in.
    head: Digest,
    blobs: Vec<Kept>,
    /// Blobs that events name and that were gone on purpose.
    gone: Vec<Missed>,
}

/// A blob of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    digest: Digest,
    bytes: u64,
}

/// A blob that was gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Missed {
    digest: Digest,
    /// `erased` or `thinned`.
    why: String,
}

/// What was written or taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// The session.
    pub session: String,
    /// Events.
    pub events: u64,
    /// Blobs.
    pub blobs: u64,
    /// Requests that were rebuilt and compared before it was taken in.
    pub requests: u64,
}

/// Why a session can't be exported or imported.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A file or folder.
    #[error("{} can't be used: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
    /// The store can't be opened.
    #[error(transparent)]
    Open(#[from] store::OpenError),
    /// The record can't be read.
    #[error(transparent)]
    Read(#[from] store::ReadError),
    /// A blob can't be had or kept.
    #[error(transparent)]
    Blob(#[from] store::BlobError),
    /// It can't be saved.
    #[error(transparent)]
    Save(#[from] store::AppendError),
    /// Not an id.
    #[error(transparent)]
    Id(#[from] domain::ids::BadId),
    /// No such session.
    #[error("there is no session {0}")]
    Unknown(SessionId),
    /// Something is there already.
    #[error("{} is there already", .0.display())]
    There(PathBuf),
    /// The session is here already.
    #[error("session {0} is here already")]
    Here(SessionId),
    /// It isn't an archive, or one of a newer Daybook.
    #[error("this is no session that this Daybook can take in: {0}")]
    Unfit(String),
    /// It isn't what it was when it was exported.
    #[error("the archive isn't what was exported: {0}")]
    Changed(String),
    /// It has work open, or had.
    #[error(
        "the session has work open, or had when it was exported; answer what it asks or stop it, then export it"
    )]
    AtWork,
}

impl ArchiveError {
    /// As clients see it.
    #[must_use]
    pub fn to_api(&self) -> ApiError {
        let code = match self {
            Self::There(_) => "archive/there",
            Self::Here(_) => "archive/here",
            Self::Unfit(_) => "archive/unfit",
            // Events that don't follow from each other are refused by the store itself.
            Self::Changed(_) | Self::Save(store::AppendError::ReadOnly(_)) => "archive/changed",
            Self::AtWork => "archive/at_work",
            Self::Unknown(_) => "session/unknown",
            Self::Id(_) => "command/invalid",
            Self::Io { source, .. } => return unwritten(source, self.to_string()),
            // An archive's manifest is a promise: what isn't there was taken away.
            Self::Open(_) | Self::Read(_) | Self::Blob(_) | Self::Save(_) => "archive/store",
        };
        error(code, self.to_string(), "")
    }

    /// Does another Daybook have the store open?
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        matches!(self, Self::Open(store::OpenError::Locked { .. }))
    }
}

fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> ArchiveError {
    let path = path.to_owned();
    move |source| ArchiveError::Io { path, source }
}
