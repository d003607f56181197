//! Payloads of jobs: commands that go on in the background.
//!
//! A **job** is a long operation with an owner, made by a call that ended at once; what it changes belongs to the turn that
//! made it. Invariants: a job begins only after it was judged again, and at most once; its start is on the disk before
//! anything of it runs; it has exactly one end, and while that isn't known it is reconciling.

use crate::call::{Semantics, ToolError};
use crate::digest::Digest;
use crate::event::revision::Changed;
use crate::ids::{CallId, JobId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `job/created`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCreated {
    /// The job.
    pub job: JobId,
    /// The call that made it; its arguments and its approval are the job's.
    pub call: CallId,
    /// The command.
    pub command: String,
    /// Does its end wake a session that rests?
    pub notify: bool,
}

/// `job/started`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobStarted {
    /// The job.
    pub job: JobId,
    /// What it may do.
    pub semantics: Semantics,
    /// Tree of the folder just before, where its changes are told by comparing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Digest>,
    /// Where the log was before that tree was taken; what the session has on record from there on may not be in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// No cage holds it: it may outlive the process that started it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncaged: bool,
}

/// `job/output`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOutput {
    /// The job.
    pub job: JobId,
    /// Cleaned text.
    pub text: String,
}

/// `job/cancel`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCancel {
    /// The job.
    pub job: JobId,
    /// Who asked first; later reasons don't overwrite it.
    pub by: JobCancelBy,
}

/// Who wants a job to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobCancelBy {
    /// The person.
    User,
    /// The model that made it.
    Model,
}

/// `job/reconciling`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobReconciling {
    /// The job.
    pub job: JobId,
    /// What is known: `reason` (`crash`, `stop`, …).
    pub evidence: BTreeMap<String, String>,
}

/// `job/ended`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobEnded {
    /// The job.
    pub job: JobId,
    /// How.
    pub end: JobEnd,
    /// What the model reads of it when it asks.
    pub text: String,
    /// What it changed.
    #[serde(flatten)]
    pub changed: Changed,
    /// Blobs of what didn't fit, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept: BTreeMap<String, Digest>,
    /// Files it saw or left, with their content's digest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seen: BTreeMap<String, Digest>,
    /// Files with secrets whose content stood in its output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Milliseconds it ran.
    pub ms: u64,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum JobEnd {
    /// By itself, with a result: a command that ends with an error code has one, too.
    Completed {
        /// The structured result.
        value: serde_json::Value,
    },
    /// It couldn't run, or not to its end.
    Failed {
        /// Why.
        error: ToolError,
    },
    /// Somebody stopped it.
    Cancelled {
        /// Who.
        by: JobCancelBy,
    },
    /// The process that ran it closed or died.
    Interrupted,
}

impl JobEnd {
    /// The phase as people and models read it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}
