//! What leaves the store by the person's own hand, and what comes into it: copies of contents, and whole sessions.
//!
//! Where a copy goes is chosen in the system's dialog by whoever sits in front of it. Invariant: no path stands in these
//! words, in neither direction but for a file's own name.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a copy is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CopyOf {
    /// All that a call gave back.
    Output {
        /// The call.
        call: String,
    },
    /// All that a job printed.
    Job {
        /// The job.
        job: String,
    },
    /// A file as it was before or after a turn changed it.
    Version {
        /// The path as given by `changes`.
        path: String,
        /// The turn.
        turn: String,
        /// Before it? Else after.
        before: bool,
    },
    /// The session whole, as an archive.
    Session,
}

/// What was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Copied {
    /// The name that the person gave it.
    pub name: String,
    /// Bytes of a content; 0 for a session.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Events of a session; 0 for a content.
    #[ts(type = "number")]
    pub events: u64,
}

/// What was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Imported {
    /// The session, which can be looked at now.
    pub session: String,
    /// Its events.
    #[ts(type = "number")]
    pub events: u64,
    /// Requests to models that were put together again and compared before it was taken in.
    #[ts(type = "number")]
    pub requests: u64,
}
