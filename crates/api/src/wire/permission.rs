//! What is allowed without asking, and why: rules, grants, and what would happen if.

use super::store::{AddedFolder, Folder};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Something that may be allowed for more than one call. The cage and the handles enforce its scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Offer {
    /// Creating and changing files below this path; `.` is the whole folder.
    Write {
        /// The path.
        under: String,
    },
    /// Deleting below this path.
    Delete {
        /// The path.
        under: String,
    },
    /// Commands that begin with these words, without internet, in the folder only.
    Command {
        /// The program and the words after it.
        words: Vec<String>,
        /// Only this very command.
        exact: bool,
        /// Scripts and files it runs: when one of them changes, it is asked about again.
        files: Vec<String>,
    },
    /// All commands, without internet, in the folder only.
    Commands,
    /// Commands may reach this site, `host:port`. Whatever a command can read could be sent there.
    Site {
        /// The site.
        site: String,
    },
}

/// Everything that was allowed for more than one call, and what holds by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Permissions {
    /// What was allowed, newest first.
    pub grants: Vec<GrantView>,
    /// Is there more that was allowed for good and can't be read? It allows nothing.
    pub grants_unreadable: bool,
    /// Other folders that sessions may look at, newest first.
    pub added: Vec<AddedView>,
    /// The person's own rules, newest first. The strictest wins, and no mode, permission or yes lifts a *never*.
    pub own: Vec<OwnRule>,
    /// Can't the person's rules be read? Then `own` and `rules` are empty, and every call asks.
    pub own_unreadable: bool,
    /// The cage's strength here: `full`, `partial` or `none`.
    pub cage: String,
    /// Can commands be let onto the network host by host here?
    pub hosts: bool,
    /// What each mode does by itself; nothing where the person's rules can't be read.
    pub rules: Vec<ModeRule>,
}

/// A folder that a session may look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct AddedView {
    /// The folder.
    pub added: AddedFolder,
    /// The session.
    pub session: String,
    /// That session's name.
    pub session_title: String,
    /// That session's own folder.
    pub folder: Folder,
    /// When it was added, UTC ms.
    #[ts(type = "number")]
    pub given: u64,
}

/// Something that was allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct GrantView {
    /// Its id.
    pub id: String,
    /// What.
    pub what: Offer,
    /// Where it holds.
    pub folder: Folder,
    /// The session it ends with; null holds always in that folder.
    pub session: Option<String>,
    /// That session's name.
    pub session_title: Option<String>,
    /// When it was given, UTC ms.
    #[ts(type = "number")]
    pub given: u64,
    /// When something last ran by it, UTC ms; null is never, as far as is known.
    #[ts(type = "number | null")]
    pub used: Option<u64>,
    /// Were all sessions looked at that could have used it?
    pub used_known: bool,
}

/// What a rule of the person is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RuleAbout {
    /// Reading files.
    Read,
    /// Creating and changing files.
    Change,
    /// Deleting.
    Delete,
    /// Running commands.
    Run,
    /// Going online.
    Online,
    /// Sending, publishing, uploading.
    Publish,
    /// Reading files that hold secrets.
    Secrets,
    /// Commands of a kind, however they are dressed.
    Command {
        /// `git push`.
        words: String,
    },
    /// Everything at a path of the folder and below.
    Path {
        /// The path.
        under: String,
    },
}

/// What a rule says. There is no *allow*: a rule can only narrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "snake_case")]
pub enum RuleWord {
    /// The person is asked.
    Ask,
    /// Never.
    Never,
}

/// A rule of the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct OwnRule {
    /// What it is about.
    pub about: RuleAbout,
    /// Where it holds; null is every folder.
    pub folder: Option<Folder>,
    /// What then.
    pub word: RuleWord,
    /// When it was set, UTC ms.
    #[ts(type = "number")]
    pub given: u64,
}

/// What a mode does by itself with a kind of act, with the rules that hold in every folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ModeRule {
    /// The mode.
    pub mode: super::command::Mode,
    /// `read`, `write`, `delete`, `run`, `network`, `publish`, `secret` or `protected`.
    pub act: String,
    /// `allow`, `ask` or `deny`.
    pub verdict: String,
    /// The rule that wins, such as `mode/ask`, `builtin/network` or `user/run`.
    pub rule: String,
}

/// What to try out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Tried {
    /// Running a command.
    Run {
        /// The command.
        command: String,
    },
    /// Reading a file.
    Read {
        /// Its path.
        path: String,
    },
    /// Creating or changing a file.
    Change {
        /// Its path.
        path: String,
    },
    /// Deleting.
    Delete {
        /// The path.
        path: String,
    },
}

/// What would happen now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct WhatIf {
    /// `allow`, `ask` or `deny`.
    pub verdict: String,
    /// The rule that says so, such as `builtin/looks`, `mode/ask`, `grant/gra_…`.
    pub rule: String,
    /// Is it held so that it can't write anything?
    pub read_only: bool,
    /// Why it isn't understood, as codes; empty when it is.
    pub doubts: Vec<String>,
    /// Programs it starts.
    pub programs: Vec<String>,
    /// Sites it would go online to, `host:port`.
    pub reach: Vec<String>,
    /// Paths it can touch; `.` is the whole folder.
    pub touches: Vec<String>,
    /// Paths that a rule of the person keeps from it.
    pub kept_out: Vec<String>,
    /// The person's rule that wins, where it is one.
    pub own: Option<OwnRule>,
}
