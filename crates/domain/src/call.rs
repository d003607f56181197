//! The words of a call: semantics, facts, verdicts, results and effects.
//!
//! A **call** is one tool call, from proposed to exactly one terminal. An **approval** is the user's recorded yes to one
//! call. Invariant: [`Semantics`] has no way to say "effects possible, no key, retry", and what an approval binds is
//! the digest of [`Facts`], not their wording.

use crate::digest::Digest;
use crate::ids::GrantId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a session may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// *Ask first*: reading is free, everything else asks.
    Ask,
    /// *Edit freely*: reading and writing in the folder are free.
    Edit,
    /// *Plan only*: nothing is written, through no tool.
    Plan,
    /// *Auto*: reading, writing and caged commands are free.
    Auto,
}

/// What running a call may do to the world, and what recovery may do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effects", rename_all = "snake_case")]
pub enum Semantics {
    /// Nothing outside is changed.
    None {
        /// May it run again by itself?
        retry: bool,
    },
    /// Something outside may change.
    Possible {
        /// What can be done when the outcome isn't known.
        recovery: Recovery,
    },
}

/// How an unknown outcome can be settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Recovery {
    /// Running it again with this key has the effect at most once.
    Idempotent {
        /// The key, stable over retries.
        key: String,
    },
    /// A named query tells what became of it.
    Reconcile {
        /// The query; the tool that made it knows how to run it.
        operation: String,
    },
    /// Only a person can tell.
    Manual,
}

impl Semantics {
    /// Can it change anything outside?
    #[must_use]
    pub fn has_effects(&self) -> bool {
        matches!(self, Self::Possible { .. })
    }
}

/// What kind of act a call is; policy and cards branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Reads in the folder.
    Read,
    /// Creates or replaces a file in the folder.
    Write,
    /// Changes part of a file in the folder.
    Edit,
    /// Deletes in the folder.
    Delete,
    /// Runs a command.
    Run,
    /// Talks to the person or keeps the plan; touches nothing.
    Talk,
}

/// What a call would touch, computed by the engine from its checked arguments and the world, never by the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The kind of act.
    pub act: Act,
    /// Paths it can touch, relative to the folder with `/` between parts; `.` is the whole folder. Absolute where it reads in
    /// an added folder.
    pub can_touch: Vec<String>,
    /// What the cage really keeps it from: `outside_folder`, `network`, `other_programs`, `writing`.
    pub cannot_touch: Vec<String>,
    /// Added folders that it can look at, by their paths; it changes nothing there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Sites it may reach through the filter, `host:port`; empty is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reach: Vec<String>,
    /// Can it be undone?
    pub undo: Undo,
    /// 1 (small) to 3 (large).
    pub risk: u8,
    /// The exact thing: the command, or the canonical arguments.
    pub exact: String,
    /// Wording facts: `path`, `command`, `size`, `lines`, …
    #[serde(default)]
    pub words: BTreeMap<String, String>,
    /// Digests of the things it depends on (the old file, the script it runs), so that a change in between asks again.
    #[serde(default)]
    pub depends_on: BTreeMap<String, Digest>,
    /// Blob that holds the new content of a file, for showing the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<Digest>,
}

/// Can an act be undone?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// Wholly.
    Yes,
    /// In part, or perhaps.
    Partly,
    /// Not at all.
    No,
}

/// The policy's word on a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It may run.
    Allow {
        /// Which rule says so: `mode/edit`, `builtin/read`, …
        rule: String,
    },
    /// The person decides.
    Ask {
        /// Which rule says so.
        rule: String,
    },
    /// It may not run, whoever asks.
    Deny {
        /// Which rule says so.
        rule: String,
        /// In words the model can act on.
        reason: String,
    },
}

/// An error a tool gives back to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolError {
    /// Stable code: `arguments/invalid`, `path/outside`, `edit/not_found`, …
    pub code: String,
    /// What was attempted, on what, why not.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// What a grant's rule begins with in a decision.
pub const GRANT_RULE: &str = "grant/";

/// The name of a grant's rule in a decision.
#[must_use]
pub fn grant_rule(grant: &GrantId) -> String {
    format!("{GRANT_RULE}{grant}")
}

/// What stands at a path of the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// A regular file.
    File {
        /// Its content, as a blob.
        content: Digest,
        /// Its size.
        bytes: u64,
        /// Unix permission bits (`& 0o7777`); `None` where there are none or nobody looked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// A symbolic link.
    Link {
        /// Where it points, as written in it.
        target: String,
    },
    /// A folder.
    Folder {
        /// Unix permission bits, as of a file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// Something of which no copy is kept: a pipe, a file over the bounds, one that can't be read.
    Uncovered {
        /// Why: `too_large`, `special`, `unreadable`, …
        why: String,
        /// Its size, where that tells whether it was changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
        /// When it was changed last, nanoseconds since 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mtime_ns: Option<i64>,
    },
}

impl Entry {
    /// The content of a file.
    #[must_use]
    pub fn content(&self) -> Option<Digest> {
        match self {
            Self::File { content, .. } => Some(*content),
            Self::Link { .. } | Self::Folder { .. } | Self::Uncovered { .. } => None,
        }
    }

    /// Is it the same for everybody who looks? A permission that isn't known equals every other.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        let same = |one: &Option<u32>, other: &Option<u32>| one.is_none() || other.is_none() || one == other;
        match (self, other) {
            (Self::File { content: a, mode: x, .. }, Self::File { content: b, mode: y, .. }) => {
                a == b && same(x, y)
            }
            (Self::Link { target: a }, Self::Link { target: b }) => a == b,
            (Self::Folder { mode: x }, Self::Folder { mode: y }) => same(x, y),
            (Self::Uncovered { .. }, Self::Uncovered { .. }) => self == other,
            (Self::File { .. } | Self::Link { .. } | Self::Folder { .. } | Self::Uncovered { .. }, _) => {
                false
            }
        }
    }
}

/// A change of one path, as data: undo, the changes view and history are made from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Path relative to the folder, `/` between parts.
    pub path: String,
    /// What stood there before; `None` is nothing.
    pub before: Option<Entry>,
    /// What stands there after.
    pub after: Option<Entry>,
    /// Lines added and removed, for text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineCount>,
    /// Where a deleted thing went: `trash` or a blob; facts for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<String>,
    /// The file isn't one with these names any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parted: Option<Parted>,
}

/// Other names of a file (hard links), at the moment at which one of its names stops being a name of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parted {
    /// Those in the folder, in order; the first of them where there are many.
    pub names: Vec<String>,
    /// How many more there are, in the folder or outside of it.
    #[serde(default)]
    pub more: u64,
}

impl Parted {
    /// Most names that are kept.
    const NAMED: usize = 5;

    /// These names and so many that weren't seen; nothing where there are none.
    #[must_use]
    pub fn of(mut names: Vec<String>, unseen: u64) -> Option<Self> {
        names.sort();
        names.dedup();
        let more = unseen + names.len().saturating_sub(Self::NAMED) as u64;
        names.truncate(Self::NAMED);
        (more > 0 || !names.is_empty()).then_some(Self { names, more })
    }
}

impl Effect {
    /// The content before, where that was a file.
    #[must_use]
    pub fn content_before(&self) -> Option<Digest> {
        self.before.as_ref().and_then(Entry::content)
    }

    /// The content after, where that is a file.
    #[must_use]
    pub fn content_after(&self) -> Option<Digest> {
        self.after.as_ref().and_then(Entry::content)
    }
}

/// Something the person allowed for more than one call. What it lets happen is what the cage enforces, never more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Grant {
    /// Creating and changing files below this path of the folder; `.` is all of it.
    Write {
        /// The path.
        under: String,
    },
    /// Deleting below this path.
    Delete {
        /// The path.
        under: String,
    },
    /// Commands that begin with these words, in the cage.
    Command {
        /// The program and the words after it.
        words: Vec<String>,
        /// Only this very command, with nothing after.
        exact: bool,
        /// The scripts and files it runs or obeys, by content: one that changed isn't what was allowed.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        files: BTreeMap<String, Digest>,
    },
    /// All commands, in the cage.
    Commands,
    /// Commands may reach this site through the filter.
    Site {
        /// `host:port`, lower case.
        site: String,
    },
}

/// Lines added and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCount {
    /// Added.
    pub added: u32,
    /// Removed.
    pub removed: u32,
}

/// A plan: the current path, a whole snapshot with a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Counts up by one with each replacement, from 1.
    pub version: u32,
    /// Items in order; at most one in progress.
    pub items: Vec<PlanItem>,
}

/// One item of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// What to do.
    pub text: String,
    /// Where it stands.
    pub status: PlanStatus,
}

/// Where a plan item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// A question to the person: for information, never for permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its text.
    pub text: String,
    /// Choices; may be empty.
    #[serde(default)]
    pub options: Vec<String>,
    /// May the person write an own answer?
    pub free_text: bool,
    /// Should the answer be hidden while typed and kept out of the view?
    #[serde(default)]
    pub sensitive: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_exe_04_effects_with_neither_key_nor_question_can_not_be_said_to_run_again() {
        for said in [
            r#"{"effects":"possible"}"#,
            r#"{"effects":"possible","retry":true}"#,
            r#"{"effects":"possible","recovery":{"kind":"idempotent"}}"#,
            r#"{"effects":"possible","recovery":{"kind":"retry"}}"#,
            r#"{"effects":"none"}"#,
        ] {
            assert!(serde_json::from_str::<Semantics>(said).is_err(), "{said}");
        }
    }
}
