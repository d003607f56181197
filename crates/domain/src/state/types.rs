//! The types of a session's state: each phase is a variant that carries only its own data.
//!
//! Reading order is nesting order: session, inbox, turn, step, call. Everything is serialised for snapshots, which are
//! versioned by [`STATE_VERSION`] and thrown away when it changes.

use crate::call::Question;
use crate::call::{Act, Grant, Mode, Plan, Semantics, Verdict};
use crate::digest::Digest;
use crate::event::{
    CancelBy, ExtendedWhy, FolderIdentity, ModelChoice, MoneyMet, Origin, Retry, Source, StepEndKind, Target,
};
use crate::ids::{
    ApprovalId, AttemptId, CallId, CommandId, FolderId, GrantId, MessageId, QuestionId, RevisionId, StepId,
    TurnId,
};
use crate::model::{Effort, ModelSnapshot, StopReason, Usage};
use crate::money::{Price, Spent};
use crate::state::added::Added;
use crate::state::job::{EndedJob, Job};
use crate::state::shorter::{About, History, TooLarge};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Version of the shape below; a snapshot of another version is rebuilt from the log.
pub const STATE_VERSION: u32 = 16;

/// How many client commands are remembered, so that a repeat is recognised.
pub const REMEMBERED_COMMANDS: usize = 256;

/// Most grants in force in one session.
pub const MOST_GRANTS: usize = 200;

/// How many files are remembered as seen.
pub const REMEMBERED_FILES: usize = 4_096;

/// How many lasting permissions are remembered with their last use.
pub const REMEMBERED_GRANTS: usize = 512;

/// How many steps of a turn are remembered for noticing repeats.
pub const REMEMBERED_STEPS: usize = 12;

/// A session, folded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Sequence number of the next event.
    pub next_seq: u64,
    /// UTC ms of the last event.
    pub time: u64,
    /// What it was created with and what was changed since; `None` before `session/created`.
    pub session: Option<Session>,
    /// Messages that wait.
    pub inbox: Vec<Waiting>,
    /// Commands taken lately and what they posted.
    pub commands: Vec<(CommandId, MessageId, u64)>,
    /// The open turn.
    pub turn: Option<Turn>,
    /// Turns begun so far.
    pub turns: u64,
    /// A turn that a crash cut off and that is to be continued.
    pub continuation: Option<TurnId>,
    /// Calls with an unknown outcome that nobody has settled.
    pub unknown: Vec<UnknownCall>,
    /// Settled as "run it again"; a new call with the same arguments is the retry.
    pub again: Vec<UnknownCall>,
    /// Jobs that haven't ended, in the order they were made.
    pub jobs: Vec<Job>,
    /// Jobs that ended lately, newest last.
    pub ended_jobs: Vec<EndedJob>,
    /// The current plan.
    pub plan: Option<Plan>,
    /// The current run of byte-identical prefixes.
    pub prefix: Option<Prefix>,
    /// What the model reads instead of older parts of the history.
    pub history: History,
    /// What all attempts cost.
    pub usage: Totals,
    /// What the person lets be spent beyond the session's limit, in micro-dollars.
    pub raised: u64,
    /// The limit of money that the last turn ended at, until the person went on past it or another turn began.
    pub met: Option<MetLimit>,
    /// Models that the person lets be asked without counting what they cost.
    pub uncounted: Vec<ModelChoice>,
    /// Project documents the model saw, by path, in the version it saw.
    pub documents: BTreeMap<String, Digest>,
    /// Files the session saw or left, by path, with their content's digest.
    pub seen: BTreeMap<String, Digest>,
    /// The last environment note, by digest: it is given again only when it changed.
    pub environment: Option<Digest>,
    /// Other folders the person lets it look at.
    pub added: BTreeMap<FolderId, Added>,
    /// The last note about added folders, by digest: it is given again only when it changed.
    pub told_added: Option<Digest>,
    /// Changes that are being taken back.
    pub restoring: Option<Restoring>,
    /// What the person allowed for the rest of the session.
    pub grants: BTreeMap<GrantId, Given>,
    /// When something last ran by a permission that always holds in the folder.
    pub lasting_used: BTreeMap<GrantId, u64>,
    /// Files with secrets that calls read or named, whatever became of them; it only grows.
    pub secrets: BTreeSet<String>,
    /// How the last turn ended badly, for lists; `None` when it ended well or none ended yet.
    pub last_failure: Option<String>,
    /// Did the person stop the last turn, or Daybook by closing?
    pub stopped: bool,
    /// Where words were last erased: requests before it hold what the history doesn't any more.
    pub erased: Option<u64>,
}

/// A limit of money that a turn ended at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetLimit {
    /// Which, as the turn's end names it.
    pub limit: String,
    /// Its value, in micro-dollars.
    pub value: u64,
    /// What was known then.
    pub money: MoneyMet,
}

/// Something allowed for the rest of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// What.
    pub what: Grant,
    /// When, UTC ms.
    pub at: u64,
    /// When something last ran by it.
    pub used: Option<u64>,
}

/// Changes that are being taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restoring {
    /// The return.
    pub revision: RevisionId,
    /// What is done, path by path: a blob, a JSON array of effects.
    pub steps: Digest,
    /// The process in which the person called it off.
    #[serde(default)]
    pub called_off: Option<u64>,
}

/// What a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its folder.
    pub folder: FolderId,
    /// The folder's path.
    pub root: String,
    /// Its mode.
    pub mode: Mode,
    /// Its model.
    pub model: Option<ModelChoice>,
    /// How much its model is asked to think, as far as it can be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Is it the guided tour?
    pub tour: bool,
    /// Which folder it is, as far as that is on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<FolderIdentity>,
    /// Its name.
    pub title: String,
}

/// A message that waits in the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The message.
    pub message: MessageId,
    /// Its words.
    pub text: String,
    /// When it is read.
    pub target: Target,
    /// May it start a turn?
    pub wakeup: bool,
    /// Did it lose that right when the person stopped the work? The next message that may start a turn gives it back.
    pub held: bool,
    /// Who says it.
    pub origin: Origin,
    /// The step that claimed it.
    pub reserved: Option<StepId>,
    /// When it was posted, UTC ms.
    pub time: u64,
}

/// The open turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// The work it claimed.
    pub source: Source,
    /// The process that runs it.
    pub epoch: u64,
    /// When it began, UTC ms.
    pub started: u64,
    /// Who wants it to stop.
    pub cancel: Option<CancelBy>,
    /// Steps begun.
    pub steps: u32,
    /// The open step.
    pub step: Option<Step>,
    /// How the last step ended; `None` before the first, and where another model goes on for it.
    pub last: Option<StepEndKind>,
    /// Fingerprints of the last steps' calls and results, newest last.
    pub fingerprints: Vec<Digest>,
    /// Steps in a row in which the person refused every call.
    pub refused_steps: u32,
    /// The model it asks instead of the session's, since that one didn't answer.
    pub model: Option<ModelChoice>,
    /// Models that didn't answer in it.
    pub unanswering: Vec<ModelChoice>,
    /// Steps in a row, up to the last that needed a checkpoint, that needed one.
    pub checkpoints: u32,
    /// The number of that step; 0 before any.
    pub checkpoint_step: u32,
    /// The step in which the plan was last replaced; `None` where it wasn't.
    pub planned: Option<u32>,
    /// The step before which the model was last reminded of its plan; 0 before any.
    pub reminded: u32,
    /// Why it went on where it was about to end.
    pub extended: Vec<ExtendedWhy>,
}

/// The open step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its id.
    pub id: StepId,
    /// Its number in the turn, from 1.
    pub n: u32,
    /// Where it began.
    pub at: u64,
    /// Its model, frozen.
    pub model: ModelSnapshot,
    /// Where it stands.
    pub phase: StepPhase,
    /// Requests built.
    pub revisions: u32,
    /// Attempts begun.
    pub attempts: u32,
    /// Of these, with the request that is built now.
    pub tries: u32,
    /// The request its attempts send.
    pub request: Option<Request>,
    /// The last request that was refused for its size.
    pub refused: Option<TooLarge>,
    /// How many were.
    pub overflows: u32,
    /// The calls of its answer, in the model's order.
    pub calls: Vec<Call>,
}

/// Where a step stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum StepPhase {
    /// Begun; no request yet.
    Claimed,
    /// A request is built; none is under way.
    Prepared,
    /// A request is under way.
    Attempting {
        /// The attempt.
        attempt: AttemptId,
    },
    /// The last attempt failed in a passing way; the same request goes out again after a wait.
    Backoff {
        /// The wait.
        retry: Retry,
        /// Why.
        class: crate::model::ErrorClass,
    },
    /// An answer was accepted.
    Answered {
        /// Why the model stopped.
        stop: StopReason,
        /// Ids of the calls the answer announced, in order.
        announced: Vec<String>,
        /// The attempt it came from, until that is settled.
        unsettled: Option<AttemptId>,
    },
    /// No answer will be accepted; only the end is missing.
    Exhausted,
}

/// A prepared request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Where it was recorded.
    pub seq: u64,
    /// Its body's digest.
    pub body: Digest,
    /// Its bytes.
    pub bytes: u64,
    /// Its estimated input tokens.
    pub tokens: u64,
    /// What a request for a summary is about; `None` for the step's own.
    pub about: Option<About>,
}

/// A call of the open step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// The provider's id of it.
    pub provider_call_id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// Tool version, canonical arguments and their digest; `None` for a call that couldn't be checked.
    pub good: Option<Good>,
    /// The policy's last word.
    pub decision: Option<Decided>,
    /// The approval it waits or waited for.
    pub approval: Option<Approval>,
    /// The question it asks.
    pub question: Option<Asked>,
    /// Does a job that changes something run beside it, or did one?
    pub beside: bool,
    /// Where it stands.
    pub phase: CallPhase,
}

/// A checked call's frozen arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Good {
    /// The tool's version.
    pub version: u32,
    /// Canonical arguments.
    pub arguments: String,
    /// Their digest.
    pub digest: Digest,
}

/// The policy's last word on a call, and what the call touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The word.
    pub verdict: Verdict,
    /// The kind of act.
    pub act: Act,
    /// Paths it touches.
    pub touches: Vec<String>,
}

/// An approval request of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// What a yes must name.
    pub digest: Digest,
    /// Milliseconds it stays open.
    pub valid_ms: u64,
    /// When it was asked, UTC ms.
    pub asked: u64,
    /// What was offered with it.
    pub offers: Vec<Grant>,
    /// Where it stands.
    pub state: ApprovalState,
}

/// Where an approval stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApprovalState {
    /// Waits for the person.
    Open,
    /// The person said yes.
    Granted,
    /// The person said no, or nobody was there.
    Refused {
        /// Why.
        why: Option<String>,
        /// Nobody was there to ask.
        nobody: bool,
    },
    /// It lapsed.
    Expired,
}

/// A question of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Its id.
    pub id: QuestionId,
    /// What is asked.
    pub body: Question,
    /// The answer.
    pub answer: Option<String>,
}

/// Where a call stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallPhase {
    /// Proposed, and perhaps judged; not started.
    Proposed,
    /// Running.
    Started {
        /// What it may do.
        semantics: Semantics,
        /// When, UTC ms.
        at: u64,
        /// The folder's tree just before, where its changes are told by comparing.
        tree: Option<Digest>,
    },
    /// Ended.
    Ended {
        /// How.
        terminal: Terminal,
        /// Digest of what the model reads of it.
        text: Digest,
    },
}

/// The four ways a call can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terminal {
    /// With a result, good or bad.
    Result {
        /// Was it good?
        ok: bool,
    },
    /// It was not allowed.
    Denied {
        /// Did the person say no?
        by_person: bool,
    },
    /// It was stopped.
    Cancelled,
    /// Nobody knows.
    OutcomeUnknown,
}

/// A call whose outcome isn't known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownCall {
    /// The call.
    pub call: CallId,
    /// Its turn.
    pub turn: TurnId,
    /// The tool's name.
    pub name: String,
    /// Digest of its canonical arguments.
    pub arguments: Digest,
}

/// A run of requests whose bytes only grow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prefix {
    /// Its number, from 1.
    pub epoch: u32,
    /// The provider it was built for.
    pub provider: String,
    /// The model it was built for.
    pub model: String,
    /// The dialect.
    pub dialect: String,
    /// The adapter's version.
    pub adapter: u32,
    /// Blob of its head.
    pub head: Digest,
    /// The generation of the history it holds.
    pub generation: u64,
    /// Segments so far.
    pub segments: u32,
    /// Estimated tokens of its last request.
    pub tokens: u64,
    /// Where its first request was recorded.
    pub opened: u64,
    /// Where its last request was recorded: the history up to there is in it.
    pub last: u64,
}

/// What attempts cost, summed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Attempts settled.
    pub attempts: u64,
    /// Attempts whose cost isn't known.
    pub unknown: u64,
    /// Tokens, reported and estimated.
    pub tokens: Usage,
    /// Money.
    pub spent: Spent,
}

impl State {
    /// The open step, with its turn.
    #[must_use]
    pub fn step(&self) -> Option<(&Turn, &Step)> {
        self.turn.as_ref().and_then(|turn| turn.step.as_ref().map(|step| (turn, step)))
    }

    /// What the model of the open step costs.
    #[must_use]
    pub fn price(&self) -> Option<&Price> {
        self.step().and_then(|(_, step)| step.model.price.as_ref())
    }

    /// A call of the open step.
    #[must_use]
    pub fn call(&self, id: &CallId) -> Option<&Call> {
        self.step().and_then(|(_, step)| step.calls.iter().find(|call| call.id == *id))
    }

    /// The call of the open step that this approval is about.
    #[must_use]
    pub fn approval(&self, id: &ApprovalId) -> Option<(&Call, &Approval)> {
        let (_, step) = self.step()?;
        step.calls.iter().find_map(|call| Some((call, call.approval.as_ref().filter(|a| a.id == *id)?)))
    }

    /// Unsettled unknown outcomes of this turn.
    pub fn unknown_of<'a>(&'a self, turn: &'a TurnId) -> impl Iterator<Item = &'a UnknownCall> {
        self.unknown.iter().filter(move |unknown| unknown.turn == *turn)
    }

    /// How many things wait for the person: open approvals, open questions, unknown outcomes.
    #[must_use]
    pub fn needs_you(&self) -> usize {
        let calls = self.step().map_or(&[][..], |(_, step)| &step.calls);
        self.unknown.len() + calls.iter().filter(|call| call.waits_for_person()).count()
    }
}

impl Call {
    /// Has it ended?
    #[must_use]
    pub fn ended(&self) -> bool {
        matches!(self.phase, CallPhase::Ended { .. })
    }

    /// Does an approval or a question of it wait for the person?
    #[must_use]
    pub fn waits_for_person(&self) -> bool {
        !self.ended()
            && (self.approval.as_ref().is_some_and(|a| a.state == ApprovalState::Open)
                || self.question.as_ref().is_some_and(|q| q.answer.is_none()))
    }
}
