//! Payloads of turns, steps and recovery.
//!
//! A **turn** goes from claiming work to exactly one end; a **step** is one decision inside it. Invariant: whatever
//! starts also ends, on every path, and the end says why and by whom.

use crate::event::{ModelChoice, MoneyMet};
use crate::ids::{AttemptId, MessageId, StepId, TurnId};
use crate::model::{Answered, ErrorClass, ModelSnapshot};
use serde::{Deserialize, Serialize};

/// `turn/start`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStart {
    /// The turn.
    pub turn: TurnId,
    /// The work it claimed.
    pub source: Source,
}

/// The work a turn claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// A message woke it.
    Message {
        /// The message that was first in line.
        message: MessageId,
    },
    /// It goes on with a turn that a crash cut off.
    Recovery {
        /// The turn that was cut off.
        of: TurnId,
    },
    /// The person asked for earlier work to be summarised.
    Summary,
}

/// Who wants a turn to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelBy {
    /// The person.
    User,
    /// The app is closing.
    Shutdown,
}

/// `turn/cancel`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCancel {
    /// Who asked first; later reasons don't overwrite it.
    pub by: CancelBy,
}

/// `turn/end`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnd {
    /// Why it ended.
    pub end: End,
}

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum End {
    /// A validated stop, and nothing was owed.
    Completed,
    /// Somebody stopped it.
    Cancelled {
        /// Who.
        by: CancelBy,
    },
    /// The person's refusals left it nothing to do.
    Rejected,
    /// The claimed work turned out to be gone.
    NothingToDo,
    /// It failed.
    Failed {
        /// An error class or code.
        code: String,
        /// For the record.
        message: String,
        /// What is known of the answer that it came with.
        #[serde(flatten)]
        answered: Answered,
    },
    /// The model met its output limit.
    Length,
    /// The model refused, or its provider's filter cut it off.
    Refused,
    /// It can't go on until something outside changes.
    Blocked {
        /// What.
        why: String,
    },
    /// It met a limit; a click may continue it.
    Limit {
        /// Which: `steps`, `attempts`, `calls`, `repeats`, …; of money `spend_session`, `spend_day`, `price`.
        limit: String,
        /// Its value.
        value: u64,
        /// What was known of money, where it is a limit of that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        money: Option<Box<MoneyMet>>,
    },
    /// The process that ran it died.
    Interrupted,
}

impl End {
    /// A failure of which only the code and our words are known.
    #[must_use]
    pub fn failed(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failed { code: code.into(), message: message.into(), answered: Answered::default() }
    }

    /// A limit that has nothing to do with money.
    #[must_use]
    pub fn limit(limit: impl Into<String>, value: u64) -> Self {
        Self::Limit { limit: limit.into(), value, money: None }
    }
}

/// `model/switched`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSwitched {
    /// The model that didn't answer.
    pub from: ModelChoice,
    /// The model that the rest of the turn asks.
    pub to: ModelChoice,
    /// The last attempt of the first one; what it had said is no part of the history.
    pub attempt: AttemptId,
    /// What that met.
    pub class: ErrorClass,
}

/// `turn/extended`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnExtended {
    /// What was seen when it was about to end; once in a turn each.
    pub why: ExtendedWhy,
    /// The note of ours that it goes on with.
    pub message: MessageId,
}

/// Why a turn that was about to end goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtendedWhy {
    /// The answer met its limit in the middle of a call.
    CutCall,
    /// Items of the plan that was made in it are open.
    OpenPlan,
}

/// `step/start`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepStart {
    /// The step.
    pub step: StepId,
    /// Its number in the turn, from 1.
    pub n: u32,
    /// The model and its capabilities, frozen.
    pub model: ModelSnapshot,
}

/// `step/end`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEnd {
    /// The step.
    pub step: StepId,
    /// How it ended.
    pub end: StepEndKind,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEndKind {
    /// Its calls all ended; their results go to the model.
    Tools,
    /// It gave an answer without calls.
    Answer,
    /// It was only there to summarise earlier work.
    Summarised,
    /// No answer was accepted.
    Failed,
    /// It was stopped.
    Cancelled,
    /// The process that ran it died.
    Interrupted,
}

/// `user/message`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The inbox message it was.
    pub message: MessageId,
    /// Its words.
    pub text: String,
}

/// `context/note`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextNote {
    /// What it is: `environment`, `added_folders`, `document`, `recovery`, `resolution`, …
    pub topic: String,
    /// Where its content came from: `host` (ours) or `folder` (outside: data, not instructions).
    pub trust: Trust,
    /// The text as the model sees it.
    pub text: String,
}

/// How far content is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Written by the runtime.
    Host,
    /// Written by the person.
    User,
    /// From the opened folder: project documents, files.
    Folder,
    /// Anything else from outside.
    Outside,
}

/// `document/loaded`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentLoaded {
    /// Path relative to the folder.
    pub path: String,
    /// Content, as a blob.
    pub content: crate::digest::Digest,
    /// Bytes.
    pub bytes: u64,
    /// Was it above the budget, so that only its name was given?
    pub named_only: bool,
}

/// `recovery/adopted`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryAdopted {
    /// The turn that waits for a person.
    pub turn: TurnId,
}

/// `recovery/continuation`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryContinuation {
    /// The turn that was cut off.
    pub turn: TurnId,
}
