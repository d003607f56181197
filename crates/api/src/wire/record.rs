//! The record of one session as a client looks at it: its outline, its lines, any moment of it, what the model saw, and
//! whether it holds.
//!
//! An **outline** is one letter an event, so that a client knows how long the record is, can filter it and draw it without
//! reading it. Lines and moments are asked for by sequence number, the same numbers that live events carry. Invariant: no
//! reply grows with the record but the outline, which takes a byte an event.

use super::command::Mode;
use super::store::ModelChoice;
use super::view::{Plan, QuestionView, WaitingMessage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

/// One letter for each event from `from` on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RecordOutline {
    /// The first event the letters are for.
    #[ts(type = "number")]
    pub from: u64,
    /// `n` a turn begins, `t` else of a turn, `p` a step begins, `s` else of a step, `m` words of the person, `a` an answer, `c` a
    /// call, `f` files changed, `y` approvals, `r` recovery, `d` for showing only, `o` other; a capital went wrong.
    pub letters: String,
    /// When the first event was recorded, UTC ms; null where there is none.
    #[ts(type = "number | null")]
    pub began: Option<u64>,
    /// When the last event was recorded.
    #[ts(type = "number | null")]
    pub ended: Option<u64>,
    /// The event from which on nothing can be read, where there is one.
    pub broken: Option<RecordBreak>,
}

/// An event that isn't what was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RecordBreak {
    /// Which.
    #[ts(type = "number")]
    pub seq: u64,
    /// What is wrong, for those who look closer.
    pub detail: String,
}

/// One event as a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RecordLine {
    /// Its sequence number.
    #[ts(type = "number")]
    pub seq: u64,
    /// When, UTC ms.
    #[ts(type = "number")]
    pub time: u64,
    /// Its type, `noun/verb`; a client words those it knows.
    pub kind: String,
    /// Its letter in the outline.
    pub letter: String,
    /// How deep it stands: 0 a turn or a step, 1 in a step, 2 in a call.
    pub depth: u8,
    /// What a wording needs.
    pub facts: BTreeMap<String, String>,
    /// Were words erased from it?
    pub erased: bool,
}

/// One event exactly as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct RecordEvent {
    /// Its sequence number.
    #[ts(type = "number")]
    pub seq: u64,
    /// Its type.
    pub kind: String,
    /// The version of its payload.
    pub version: u32,
    /// When, UTC ms.
    #[ts(type = "number")]
    pub time: u64,
    /// The process that wrote it.
    #[ts(type = "number")]
    pub epoch: u64,
    /// Its turn.
    pub turn: Option<String>,
    /// Its step.
    pub step: Option<String>,
    /// May a reader that doesn't know its type pass over it?
    pub ignorable: bool,
    /// The events it was made from.
    #[ts(type = "number[]")]
    pub sources: Vec<u64>,
    /// The hash it carries.
    pub hash: String,
    /// The hash of the event before.
    pub before: String,
    /// Its payload, byte for byte as far as it goes; null where all of it was erased.
    pub payload: Option<String>,
    /// Bytes of the whole payload.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Were words erased from it?
    pub erased: bool,
}

/// The session as it was right after an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Moment {
    /// The event.
    #[ts(type = "number")]
    pub seq: u64,
    /// When, UTC ms.
    #[ts(type = "number")]
    pub time: u64,
    /// Turns begun by then.
    #[ts(type = "number")]
    pub turns: u64,
    /// The open turn, where one was.
    pub turn: Option<String>,
    /// Steps of it begun; 0 where none was open.
    pub step: u32,
    /// Its mode then.
    pub mode: Mode,
    /// Its model then.
    pub model: Option<ModelChoice>,
    /// The plan then.
    pub plan: Option<Plan>,
    /// Calls of the open step.
    pub calls: Vec<MomentCall>,
    /// Questions that waited for the person.
    pub questions: Vec<QuestionView>,
    /// Tools of calls whose outcome nobody knew.
    pub unknown: Vec<String>,
    /// Messages that waited.
    pub waiting: Vec<WaitingMessage>,
    /// Tokens of all attempts so far, in and out.
    #[ts(type = "number")]
    pub tokens: u64,
}

/// A call at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct MomentCall {
    /// The tool.
    pub tool: String,
    /// What a wording needs.
    pub facts: BTreeMap<String, String>,
    /// `proposed`, `asks` (for a yes), `running`, `done`, `failed`, `denied`, `cancelled` or `unknown`.
    pub state: String,
}

/// One request, as the model saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Saw {
    /// The event it is recorded in.
    #[ts(type = "number")]
    pub seq: u64,
    /// When, UTC ms.
    #[ts(type = "number")]
    pub time: u64,
    /// Its step's number in the turn.
    pub step: u32,
    /// How often it was sent.
    pub attempts: u32,
    /// The model.
    pub model: ModelChoice,
    /// The wire format.
    pub dialect: String,
    /// Its parts, in order.
    pub parts: Vec<SawPart>,
    /// New parts that aren't told one by one.
    #[ts(type = "number")]
    pub more: u64,
    /// Why nothing of the request before stands where it stood: `first`, `model_switch`, `config`, `erased`, …; null where it does.
    pub opened: Option<String>,
    /// Bytes of the whole request.
    #[ts(type = "number")]
    pub bytes: u64,
    /// SHA-256 of the whole request.
    pub digest: String,
    /// `exactly`, `erased` (words were) or `no`.
    pub rebuilt: String,
    /// What the service counted, where it did.
    pub counted: Option<SawCounted>,
}

/// A part of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SawPart {
    /// `instructions`, `tools`, `before`, `said`, `note`, `answer` or `result`.
    pub what: String,
    /// What a wording needs: `topic` and `path` of a note, `tool`, `ok` and the arguments of a result.
    pub facts: BTreeMap<String, String>,
    /// Where it came from: `host`, `user`, `both`, `model`, `folder`, `command` or `outside`.
    pub source: String,
    /// Estimated tokens.
    #[ts(type = "number")]
    pub tokens: u64,
    /// Was it in the request before, in the same place?
    pub same: bool,
}

/// Tokens as a service counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SawCounted {
    /// Input, cached included.
    #[ts(type = "number")]
    pub input: u64,
    /// Of that, read from its cache.
    #[ts(type = "number")]
    pub cached: u64,
    /// Output.
    #[ts(type = "number")]
    pub output: u64,
}

/// A piece of a request's exact bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SawBody {
    /// Where the piece begins, in bytes.
    #[ts(type = "number")]
    pub from: u64,
    /// The piece, as text.
    pub text: String,
    /// Where the next piece begins; null at the end.
    #[ts(type = "number | null")]
    pub next: Option<u64>,
}

/// Whether a record holds: every event chained and lawful, every request rebuilt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Verification {
    /// `none` (nobody looked since Daybook was opened), `running`, `done`, `stopped` or `failed` (it can't be read).
    pub state: String,
    /// Events looked at.
    #[ts(type = "number")]
    pub events: u64,
    /// Requests rebuilt.
    #[ts(type = "number")]
    pub requests: u64,
    /// Requests there are.
    #[ts(type = "number")]
    pub of: u64,
    /// Requests that can't be rebuilt because words were erased.
    #[ts(type = "number")]
    pub erased: u64,
    /// How long ago it was done, ms.
    #[ts(type = "number | null")]
    pub ago: Option<u64>,
    /// How much doesn't hold.
    #[ts(type = "number")]
    pub findings: u64,
    /// The first thing that doesn't, in the record's order.
    pub first: Option<VerifyFinding>,
}

/// Something that doesn't hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct VerifyFinding {
    /// The event.
    #[ts(type = "number")]
    pub seq: u64,
    /// `request` (other bytes than were sent), `changed` (the event isn't what was written) or `law`.
    pub what: String,
    /// What exactly, for those who look closer.
    pub detail: String,
}
