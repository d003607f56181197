//! Changes and taking them back, as a client sees them.
//!
//! A session's changes are listed turn by turn; what a return did and left alone is an entry of the conversation.

use super::store::FileChange;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a session changed, turn by turn, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Changes {
    /// All changed files of the session, from before it to now, by path.
    pub files: Vec<FileChange>,
    /// The turns that changed something.
    pub turns: Vec<TurnChanges>,
    /// New files that are there, many in one place as one, the first of them.
    pub made: Vec<Made>,
}

/// Something a session made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Made {
    /// What to name it by.
    pub id: String,
    /// A new file, or the folder that new files are in.
    pub path: String,
    /// How many new files are in it, where it is a folder; 0 is a file.
    pub files: u32,
}

/// What one turn changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TurnChanges {
    /// The turn.
    pub turn: String,
    /// Its number in the session, from 1.
    pub number: u32,
    /// The first line of what was asked; empty where nothing was said.
    pub title: String,
    /// When it began, UTC ms.
    #[ts(type = "number")]
    pub time: u64,
    /// Its files, by path.
    pub files: Vec<FileChange>,
    /// Were all of them taken back?
    pub undone: bool,
    /// What isn't known about them: `untold` (there may be more) or `mixed` (some may be somebody else's).
    pub doubt: Option<String>,
    /// What else it changed, which undo doesn't cover.
    #[serde(default)]
    pub not_covered: Option<NotCovered>,
    /// Since when they can't be undone any more, UTC ms, because contents from before were let go; null where they can.
    #[ts(type = "number | null")]
    pub thinned: Option<u64>,
}

/// What changed and isn't covered by undo. A folder stands for everything in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct NotCovered {
    /// The first of the paths.
    pub paths: Vec<String>,
    /// How many there are.
    #[ts(type = "number")]
    pub count: u64,
}

/// Whose changes are taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum UndoOf {
    /// All of the session.
    Session,
    /// Those of one turn.
    Turn {
        /// The turn.
        turn: String,
    },
    /// Those of this turn and all after it.
    Since {
        /// The turn.
        turn: String,
    },
    /// Those of one call.
    Call {
        /// The call.
        call: String,
    },
    /// One part of one file's difference, as its hunk names it; the paths hold that file alone.
    Part {
        /// The turn whose difference it is; null is the whole session's.
        turn: Option<String>,
        /// The part.
        part: String,
    },
    /// Those of an earlier return.
    Undo {
        /// The return.
        undo: String,
    },
}

/// A return to how things were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct UndoView {
    /// Its id.
    pub id: String,
    /// Whose changes it takes back.
    pub of: UndoOf,
    /// Where it stands: `working`, `done`, `failed`, or `called_off` while it waited.
    pub state: String,
    /// Does it wait until another session's work in the folder is done?
    pub held: bool,
    /// What it changed; the first of them where there are many.
    pub files: Vec<UndoneFile>,
    /// How many files it changed.
    #[ts(type = "number")]
    pub count: u64,
    /// What it left alone; the first of them.
    pub kept: Vec<KeptFile>,
    /// How many more it left alone.
    #[ts(type = "number")]
    pub kept_more: u64,
    /// Code of why it stopped, where it failed.
    pub error: Option<String>,
    /// Was it taken back itself?
    pub undone: bool,
    /// Since when it can't be taken back any more, UTC ms, because what stood there was let go; null where it can.
    #[ts(type = "number | null")]
    pub thinned: Option<u64>,
}

/// A file that a return changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct UndoneFile {
    /// Its path.
    pub path: String,
    /// `restored` (content or permissions are as before), `removed` or `brought_back`.
    pub what: String,
    /// Of a return that is over: it was one file with other names and is a file of its own now.
    #[serde(default)]
    pub parted: Option<PartedFile>,
}

/// Names that a file was one with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PartedFile {
    /// Some of them.
    pub names: Vec<String>,
    /// How many more there are, in the folder or outside of it.
    #[ts(type = "number")]
    pub more: u64,
}

/// A file that a return left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct KeptFile {
    /// Its path.
    pub path: String,
    /// Why: `changed` (somebody changed it since), `unreadable`, `left_out`, `busy`, …
    pub why: String,
    /// Of a preview: names what stands there now, where the person may let it go.
    #[serde(default)]
    pub now: Option<String>,
    /// What taking it back anyway would do, as of an [`UndoneFile`]; null of a return that is over.
    pub anyway: Option<String>,
}

/// What a return would do, before it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct UndoPreview {
    /// Files it would change.
    pub files: Vec<UndoneFile>,
    /// Files it would leave alone: somebody changed them since.
    pub kept: Vec<KeptFile>,
    /// How many files it is about in all.
    #[ts(type = "number")]
    pub count: u64,
    /// What isn't known about them, as in [`TurnChanges`].
    pub doubt: Option<String>,
    /// What was changed besides, which undo doesn't cover.
    #[serde(default)]
    pub not_covered: Option<NotCovered>,
}

/// The three sides of a file that was changed by both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ThreeWay {
    /// Its path.
    pub path: String,
    /// What Daybook changed: before it and after it.
    pub ours: super::store::FileDiff,
    /// What was changed since: after Daybook and now.
    pub theirs: super::store::FileDiff,
    /// Can Daybook's part be taken back without the other? The content that would stand there then.
    pub merged: Option<super::store::FileDiff>,
}
