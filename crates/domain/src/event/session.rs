//! Payloads of the session itself and its inbox.
//!
//! An **inbox message** is content with a target, a wake-up flag and a status; steer, follow-up and inject are the three
//! uses of it. Invariant: a message is included in at most one request, and the client command that posted it is
//! recorded so that a repeat is the same message.

use crate::call::{Mode, Plan};
use crate::ids::{CommandId, FolderId, MessageId, StepId};
use crate::model::Effort;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `session/created`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCreated {
    /// The folder's id.
    pub folder: FolderId,
    /// The folder's path when it was opened: the only root there is, never the model's.
    pub root: String,
    /// The mode it begins with.
    pub mode: Mode,
    /// The model it begins with.
    pub model: Option<ModelChoice>,
    /// Is this the guided tour (scripted, no AI)?
    #[serde(default)]
    pub tour: bool,
    /// Which folder that was, whatever its path leads to later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<FolderIdentity>,
}

/// A model of a provider, as chosen by the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelChoice {
    /// The connection's name.
    pub provider: String,
    /// The model's name there.
    pub model: String,
}

/// `session/renamed`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRenamed {
    /// The new name.
    pub title: String,
}

/// `session/mode`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionMode {
    /// The new mode.
    pub mode: Mode,
}

/// `session/model`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionModel {
    /// The new model.
    pub model: ModelChoice,
}

/// `session/effort`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEffort {
    /// How much the model is asked to think; `None` leaves it to the provider.
    pub effort: Option<Effort>,
}

/// `folder/added`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderAdded {
    /// Its id in this session.
    pub folder: FolderId,
    /// Its path with all links resolved: the person's choice, never the model's.
    pub path: String,
    /// Its name, for showing.
    pub name: String,
    /// Which folder it is, whatever its path leads to later.
    pub identity: FolderIdentity,
}

/// The file system's own name of a folder. One that is moved keeps it; one that is put in its place has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderIdentity {
    /// The disk.
    pub device: u64,
    /// The folder on it.
    pub inode: u64,
}

impl FolderIdentity {
    /// Numbers up to here are given to the outermost folders of many disks.
    const COMMON: u64 = 1_024;

    /// Is it the same folder? A disk may have another number when it is connected again; a folder's number on it stays,
    /// and two disks hardly ever have the same one, but for their outermost folders.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.inode == other.inode && (self.device == other.device || self.inode > Self::COMMON)
    }
}

/// `folder/identified`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderIdentified {
    /// Which folder stands at the session's path, and is its own from now on.
    pub identity: FolderIdentity,
}

/// `folder/removed`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderRemoved {
    /// Which.
    pub folder: FolderId,
}

/// When a message is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Before the next step of the running turn, or by the next turn when none runs.
    NextStep,
    /// By the next turn.
    NextTurn,
}

/// Where a message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The person's words.
    User,
    /// The runtime's note to the model: a resolved outcome, a reminder.
    Host,
}

/// `inbox/posted`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxPosted {
    /// The message.
    pub message: MessageId,
    /// Its words.
    pub text: String,
    /// When it is read.
    pub target: Target,
    /// May it start a turn?
    pub wakeup: bool,
    /// Who says it.
    pub origin: Origin,
    /// The client command that posted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandId>,
}

/// `inbox/reserved`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxReserved {
    /// The messages, in the order they will be read.
    pub messages: Vec<MessageId>,
    /// The step that claimed them.
    pub step: StepId,
}

/// `inbox/released`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxReleased {
    /// The messages.
    pub messages: Vec<MessageId>,
}

/// `inbox/cancelled`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxCancelled {
    /// The message.
    pub message: MessageId,
}

/// `plan/replaced`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanReplaced {
    /// The whole new plan.
    pub plan: Plan,
}

/// `credential/used`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialUsed {
    /// The provider whose key was used.
    pub provider: String,
    /// Where it came from: `keychain` or `environment`.
    pub source: String,
}

/// `notice/raised`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeRaised {
    /// What it is about, `noun/problem`; the window words it.
    pub code: String,
    /// What a wording needs.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

/// `late/ignored`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateIgnored {
    /// The id of what had already ended.
    pub about: String,
    /// What came late.
    pub what: String,
}
