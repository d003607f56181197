//! Listening: the topics there are, and what is delivered of them.
//!
//! Invariant: what is delivered is in order, and whoever misses something is told to begin anew.

use super::need::Need;
use super::store::{Folder, SessionSummary};
use super::view::Patch;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a client may listen to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Topic {
    /// One session from a sequence number on.
    Session {
        /// The session.
        session: String,
        /// First sequence number wanted.
        #[ts(type = "number")]
        from: u64,
    },
    /// The lists: sessions, what needs the person, providers.
    Store,
}

/// What a subscription delivers, in order, in batches of at most one frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Notification {
    /// Changes of a session's view up to and including `seq`.
    Session {
        /// The session.
        session: String,
        /// Last event folded in.
        #[ts(type = "number")]
        seq: u64,
        /// The changes, in order.
        patches: Vec<Patch>,
    },
    /// A line of the session list changed.
    Summary {
        /// The new line.
        summary: SessionSummary,
    },
    /// What waits for the person in one session: all of it, oldest first. Told at the start of each session where
    /// something waits, and again when it changes.
    Needs {
        /// The session.
        session: String,
        /// What waits; empty is nothing any more.
        needs: Vec<Need>,
    },
    /// Something was dropped on the window (window only).
    FolderDropped {
        /// The folder.
        folder: Folder,
    },
    /// Something that isn't a folder was dropped.
    DropRefused {
        /// Its name, for showing.
        name: String,
    },
    /// The person chose a session outside the page, in a notification of the system (window only).
    SessionChosen {
        /// The session.
        session: String,
    },
    /// The client fell behind: open the session again and subscribe from there.
    Resync {
        /// The session.
        session: String,
    },
}
