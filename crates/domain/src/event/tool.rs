//! Payloads of calls, approvals and questions.
//!
//! Invariants: every call of an accepted answer has exactly one terminal (result, denied, cancelled, outcome_unknown);
//! nothing with effects runs before its `tool/start` is durable; an approval binds tool, version, arguments and facts by
//! digest and authorises at most one execution.

use crate::call::{Act, Facts, Grant, Question, Semantics, ToolError, Verdict};
use crate::digest::Digest;
use crate::event::revision::Changed;
use crate::ids::{ApprovalId, CallId, QuestionId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `tool/call`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call.
    pub call: CallId,
    /// Its place in the answer, from 0.
    pub index: u32,
    /// The provider's id of it.
    pub provider_call_id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// What came of resolving and checking it.
    pub checked: CheckedCall,
    /// The call this one runs again, after an unknown outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<CallId>,
}

/// What came of resolving and checking a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CheckedCall {
    /// The tool exists and the arguments fit its schema.
    Good {
        /// The tool's version.
        version: u32,
        /// Canonical arguments.
        arguments: String,
        /// Their digest.
        digest: Digest,
        /// Was the text mended (a fence, a trailing comma)?
        #[serde(default)]
        mended: bool,
    },
    /// It can't run; the model is told why.
    Bad {
        /// Why.
        error: ToolError,
    },
}

/// `tool/decision`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDecision {
    /// The call.
    pub call: CallId,
    /// The policy's word.
    pub decision: Verdict,
    /// Digest of the facts it was made on.
    pub facts: Digest,
    /// The kind of act, and the paths it touches: calls of one answer that don't meet may run side by side.
    pub act: Act,
    /// Paths it touches, relative to the folder.
    pub touches: Vec<String>,
}

/// `approval/requested`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// The approval.
    pub approval: ApprovalId,
    /// The call.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// The tool's version.
    pub version: u32,
    /// Digest of the canonical arguments.
    pub arguments: Digest,
    /// What the call would touch.
    pub facts: Facts,
    /// What a yes must name: digest over tool, version, arguments and facts.
    pub digest: Digest,
    /// Milliseconds it stays open.
    pub valid_ms: u64,
    /// What may be allowed for more than this call together with it, narrowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<Grant>,
}

/// `approval/granted`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalGranted {
    /// The approval.
    pub approval: ApprovalId,
    /// The digest the person saw.
    pub digest: Digest,
}

/// `approval/refused`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRefused {
    /// The approval.
    pub approval: ApprovalId,
    /// Why; the model reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Nobody was there to ask.
    #[serde(default)]
    pub nobody: bool,
}

/// `approval/expired`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalExpired {
    /// The approval.
    pub approval: ApprovalId,
    /// `time`, `turn` or `changed` (what it was about is different now).
    pub why: String,
}

/// `tool/start`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolStart {
    /// The call.
    pub call: CallId,
    /// Digest of the canonical arguments, the same as approved or allowed.
    pub arguments: Digest,
    /// What it may do, and what recovery may do about it.
    pub semantics: Semantics,
    /// Tree of the folder just before, where its changes are told by comparing: commands, whole folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Digest>,
    /// Files with secrets that it reads or names: what reaches the network later in the session asks because of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
}

/// `tool/output`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// The call.
    pub call: CallId,
    /// Cleaned text.
    pub text: String,
}

/// `secret/printed`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretPrinted {
    /// The call.
    pub call: CallId,
    /// Files with secrets whose content stood in its output, as a repository remembers them: what reaches the network later
    /// in the session asks because of them.
    pub files: Vec<String>,
}

/// `tool/result`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call.
    pub call: CallId,
    /// How it went.
    pub outcome: ToolOutcome,
    /// The text shown to the model.
    pub text: String,
    /// What it changed.
    #[serde(flatten)]
    pub changed: Changed,
    /// Blobs of what didn't fit, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept: BTreeMap<String, Digest>,
    /// Files it saw or left, with their content's digest, for refusing stale writes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seen: BTreeMap<String, Digest>,
    /// Milliseconds it ran.
    pub ms: u64,
}

/// How a call went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ToolOutcome {
    /// Well.
    Ok {
        /// The structured result.
        value: serde_json::Value,
    },
    /// Badly.
    Error {
        /// How.
        error: ToolError,
    },
}

/// `tool/denied`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDenied {
    /// The call.
    pub call: CallId,
    /// `policy`, `refused`, `nobody`, `expired`.
    pub by: String,
    /// The text shown to the model.
    pub text: String,
}

/// `tool/cancelled`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCancelled {
    /// The call.
    pub call: CallId,
    /// The text shown to the model.
    pub text: String,
    /// What it changed before it was stopped.
    #[serde(flatten)]
    pub changed: Changed,
}

/// `tool/outcome_unknown`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutcomeUnknown {
    /// The call.
    pub call: CallId,
    /// What is known: `reason` (`crash`, `timeout`, `cancel`), `started`, `output`, …
    pub evidence: BTreeMap<String, String>,
    /// The text shown to the model.
    pub text: String,
    /// What is different in the folder since it started, whoever did it.
    #[serde(flatten)]
    pub changed: Changed,
}

/// `call/resolved`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResolved {
    /// The call.
    pub call: CallId,
    /// What was found out.
    pub resolution: Resolution,
}

/// What was found out about an unknown outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// It did happen.
    Done,
    /// It is to be run again, as a new call.
    Again,
    /// It is left alone.
    Skip,
}

/// `question/asked`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAsked {
    /// The question.
    pub question: QuestionId,
    /// The call that asks.
    pub call: CallId,
    /// What is asked.
    pub body: Question,
}

/// `question/answered`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswered {
    /// The question.
    pub question: QuestionId,
    /// The answer; the model reads it as the call's result.
    pub answer: String,
}
