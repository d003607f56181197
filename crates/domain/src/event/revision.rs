//! Payloads of undo, and of what the person allowed for more than one call.
//!
//! A **revision** is a state of the folder that undo can return to; **restoring** makes paths be what they were, one by
//! one, and keeps back every path that isn't as expected any more. Invariants: what is to be restored is recorded before
//! the first path is touched, so that a process that takes over can finish it; a grant is given and revoked by the person.

use crate::call::{Effect, Entry, Grant, ToolError};
use crate::digest::Digest;
use crate::ids::{ApprovalId, CallId, GrantId, RevisionId, TurnId};
use serde::{Deserialize, Serialize};

/// What changed in the folder, as data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The changes; the first of them where there are more than an event holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// All of them, where they are too many for the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<EffectList>,
    /// What isn't known about them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
    /// Paths that were changed, made or removed besides, and that undo doesn't cover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncovered: Option<Uncovered>,
}

/// Paths that undo doesn't cover. A folder stands for everything in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncovered {
    /// The first of them.
    pub paths: Vec<String>,
    /// All of them.
    pub count: u64,
}

/// What isn't known about a list of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The folder couldn't be looked at afterwards: there may be more.
    Untold,
    /// Daybook was closed meanwhile, or a job and something else of the session ran side by side: some of them may be
    /// somebody else's.
    Mixed,
}

impl Changed {
    /// Did nothing change?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty() && self.all.is_none()
    }

    /// These changes, of which something isn't known.
    #[must_use]
    pub fn doubted(self, doubt: Doubt) -> Self {
        Self { doubt: Some(doubt), ..self }
    }

    /// How many paths changed.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.all.as_ref().map_or(self.effects.len() as u64, |all| all.count)
    }
}

/// A list of effects kept as a blob: a JSON array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectList {
    /// The blob.
    pub list: Digest,
    /// How many there are.
    pub count: u64,
}

/// `revision/restoring`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionRestoring {
    /// This return.
    pub revision: RevisionId,
    /// What is being taken back.
    pub scope: RestoreScope,
    /// What will be done, worked out before anything is touched: each effect's `after` is what stands at its path now, its
    /// `before` what shall.
    pub steps: EffectList,
    /// Paths the person wants back even where they were changed since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overwrite: Vec<String>,
    /// Paths that will be left alone; the first of them where there are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptBack>,
    /// How many more will.
    #[serde(default)]
    pub kept_more: u64,
}

/// What is being taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreScope {
    /// Whose changes.
    pub of: RestoreOf,
    /// Only these paths; empty is all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// Whose changes are taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RestoreOf {
    /// All of the session.
    Session,
    /// Those of one turn.
    Turn {
        /// The turn.
        turn: TurnId,
    },
    /// Those of this turn and all after it: back to the moment before it.
    Since {
        /// The turn.
        turn: TurnId,
    },
    /// Those of one call.
    Call {
        /// The call.
        call: CallId,
    },
    /// One part of what one file's difference shows, of a turn or of the whole session; the scope names the file.
    Part {
        /// The turn; none is the whole session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
        /// Digest over both contents and the part's place in them.
        part: Digest,
    },
    /// Those of an earlier return: undo of the undo.
    Restore {
        /// The return.
        revision: RevisionId,
    },
}

/// `revision/called_off`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionCalledOff {
    /// The return.
    pub revision: RevisionId,
}

/// `revision/restored`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionRestored {
    /// The return.
    pub revision: RevisionId,
    /// What it changed.
    #[serde(flatten)]
    pub changed: Changed,
    /// Paths that were left alone besides those known before it began; the first of them where there are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptBack>,
    /// How many more were.
    #[serde(default)]
    pub kept_more: u64,
    /// Why it stopped before its end, where it did; what it had changed by then stands in `changed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
}

/// A path that a return left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptBack {
    /// The path.
    pub path: String,
    /// `changed` (somebody changed it since), `unreadable`, `left_out`, `busy`, …
    pub why: String,
    /// What stands there now, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<Entry>,
}

/// `revision/thinned`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionThinned {
    /// Turns whose contents from before went: they can't be undone any more.
    pub turns: Vec<TurnId>,
    /// Returns that can't be undone any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restores: Vec<RevisionId>,
    /// How many contents went.
    pub contents: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// `grant/given`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantGiven {
    /// The grant.
    pub grant: GrantId,
    /// What it allows, for the rest of the session.
    pub what: Grant,
    /// The approval it was given with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
}

/// `grant/revoked`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantRevoked {
    /// The grant.
    pub grant: GrantId,
}
