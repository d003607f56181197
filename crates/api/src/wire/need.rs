//! What waits for the person, over all sessions: one line each, with as much as a list may say of it.
//!
//! A **need** is an open request, an open question or an unknown outcome. Its line can be answered with where it says all
//! there is to say; else the session's own entry is looked at first.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

/// One thing that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Need {
    /// The approval's, the question's or the call's id.
    pub id: String,
    /// The session's entry that it stands in.
    pub entry: String,
    /// Since when, UTC ms.
    #[ts(type = "number")]
    pub since: u64,
    /// What it is.
    pub what: NeedWhat,
}

/// What waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NeedWhat {
    /// A call wants to be allowed.
    Approval {
        /// Digest to answer with.
        digest: String,
        /// Tool name.
        tool: String,
        /// What kind of act, as in the request.
        act: String,
        /// Wording facts, as in the request.
        facts: BTreeMap<String, String>,
        /// Can it be undone? `yes`, `partly`, `no`.
        undo: String,
        /// Do these words say all of the request, so that it may be allowed from a list?
        whole: bool,
    },
    /// A question wants an answer.
    Question {
        /// Its text, its beginning where it is long.
        text: String,
    },
    /// Nobody knows what a call did.
    Outcome {
        /// Tool name.
        tool: String,
        /// Wording facts of the call, where they are known.
        facts: BTreeMap<String, String>,
    },
}
