//! Payloads of requests, attempts and answers.
//!
//! An **attempt** is one request really sent. Invariants: a prepared request holds what it adds to the one before in its
//! prefix epoch and the digest of the whole body, never a second copy of the history; every attempt is settled once;
//! an answer enters the history through `assistant/accepted` alone, a summary through `checkpoint/committed`.

use crate::digest::Digest;
use crate::ids::{AttemptId, MessageId};
use crate::model::{Block, ModelDelta, ModelError, StopReason, Usage};
use serde::{Deserialize, Serialize};

/// `request/prepared`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestPrepared {
    /// Which run of byte-identical prefixes it belongs to, from 1 in each session.
    pub prefix_epoch: u32,
    /// Why a new prefix epoch began; only on its first request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<EpochReason>,
    /// Which build of this step's request, from 1.
    pub revision: u32,
    /// The dialect.
    pub dialect: String,
    /// Version of the adapter that encoded it.
    pub adapter: u32,
    /// Blob of everything up to the first message; only on the first request of a prefix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Digest>,
    /// Blobs of the segments it adds, in order.
    pub added: Vec<Digest>,
    /// Segments before these in the prefix epoch.
    pub base: u32,
    /// Segments (counted in the whole prefix epoch) that carry a cache marker.
    #[serde(default)]
    pub markers: Vec<u32>,
    /// SHA-256 of the whole body.
    pub body: Digest,
    /// Bytes of the whole body.
    pub bytes: u64,
    /// Inbox messages whose words it holds for the first time.
    #[serde(default)]
    pub included: Vec<MessageId>,
    /// Estimated input tokens.
    pub tokens: u64,
}

/// Why the prefix changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpochReason {
    /// The session's first request.
    First,
    /// The person chose another model or provider.
    ModelSwitch,
    /// The instructions or tools of this build differ from those of the last request.
    Config,
    /// Words were erased from what the last request held.
    Erased,
    /// Older parts of the history were replaced, or stand in full again: the event before says which.
    History,
}

/// `attempt/start`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptStart {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its number in the step, from 1 without gaps.
    pub n: u32,
    /// The body's digest; a retry's is the same.
    pub body: Digest,
    /// What for.
    #[serde(default, skip_serializing_if = "Purpose::is_answer")]
    pub purpose: Purpose,
}

/// What an attempt is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The step's answer.
    #[default]
    Answer,
    /// A summary of closed steps, for a checkpoint; it never enters the history by itself.
    Summary,
}

impl Purpose {
    /// Is it the step's answer?
    #[must_use]
    pub fn is_answer(&self) -> bool {
        *self == Self::Answer
    }
}

/// `attempt/end`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnd {
    /// The attempt.
    pub attempt: AttemptId,
    /// How it ended.
    pub end: AttemptEndKind,
    /// What it cost, settled once.
    pub settled: Settled,
    /// Blob of the raw answer, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Digest>,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum AttemptEndKind {
    /// Its answer was accepted.
    Accepted,
    /// It gave a summary, which waits to be part of a checkpoint.
    Summarised {
        /// The summary.
        text: String,
    },
    /// Its answer was whole but isn't one we accept.
    Unaccepted {
        /// Why the model stopped.
        stop: StopReason,
        /// What it had said, for the record.
        text: String,
    },
    /// It failed.
    Failed {
        /// How.
        error: ModelError,
        /// The same request is sent again no earlier than this, UTC ms, after a wait of `wait_ms`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry: Option<Retry>,
    },
    /// It was stopped.
    Cancelled,
    /// The process that ran it died.
    Interrupted,
}

/// When the same request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Milliseconds to wait.
    pub wait_ms: u64,
    /// UTC ms when the wait ends, for showing.
    pub until: u64,
}

/// What an attempt cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "usage", rename_all = "snake_case")]
pub enum Settled {
    /// As reported.
    Reported {
        /// The tokens.
        tokens: Usage,
    },
    /// Reckoned by us, because it was cut off.
    Estimated {
        /// The tokens.
        tokens: Usage,
    },
    /// Not known.
    Unknown,
}

/// `assistant/delta`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssistantDelta {
    /// The attempt that streams.
    pub attempt: AttemptId,
    /// The pieces, in order.
    pub deltas: Vec<ModelDelta>,
}

/// `assistant/accepted`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssistantAccepted {
    /// The attempt it came from.
    pub attempt: AttemptId,
    /// The answer.
    pub blocks: Vec<Block>,
    /// Why the model stopped.
    pub stop: StopReason,
}
