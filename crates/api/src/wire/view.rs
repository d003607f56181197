//! The view of one session: an ordered list of entries beside a plan, waiting messages and the turn's state.
//!
//! [`SessionView`] is the fold of the log at `seq`; [`Patch`]es carry it forward. Entries keep their key and place for
//! ever, so a client upserts by key. Codes and facts only: `facts` hold strings and numbers that a wording needs.

use super::command::Mode;
use super::spend::Spent;
use super::store::{AddedFolder, Effort, Folder, ModelChoice};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

/// Everything a client needs to draw a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionView {
    /// The session.
    pub id: String,
    /// Its name; empty until the first message gives one.
    pub title: String,
    /// Its folder.
    pub folder: Folder,
    /// Other folders it may look at, in the order of their names.
    pub added: Vec<AddedFolder>,
    /// Its mode.
    pub mode: Mode,
    /// Its model; null when none is chosen yet.
    pub model: Option<ModelChoice>,
    /// How much its model is asked to think; null leaves it to the model's maker.
    pub effort: Option<Effort>,
    /// Is this the guided tour?
    pub tour: bool,
    /// What it is doing.
    pub activity: Activity,
    /// Last event folded in.
    #[ts(type = "number")]
    pub seq: u64,
    /// What happened, oldest first.
    pub entries: Vec<Entry>,
    /// The current plan.
    pub plan: Option<Plan>,
    /// Jobs: all that are open, and those that ended lately; in the order they were made.
    pub jobs: Vec<super::job::JobView>,
    /// Messages that wait to be read.
    pub waiting: Vec<WaitingMessage>,
    /// Changed files so far.
    pub changed_files: u32,
    /// Tokens of all attempts: input (cached included) and output.
    pub tokens: Tokens,
    /// What they cost.
    pub spent: Spent,
    /// Why it can only be read, where it can only be read.
    pub read_only: Option<String>,
}

/// What a session is doing now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Activity {
    /// Nothing.
    Idle,
    /// A turn runs.
    Working {
        /// When it began, UTC ms.
        #[ts(type = "number")]
        since: u64,
    },
    /// A model writes a summary of earlier work, so that the conversation fits again.
    Summarising {
        /// When the turn began, UTC ms.
        #[ts(type = "number")]
        since: u64,
    },
    /// A turn is open and waits for something outside the session.
    Held {
        /// What for: `folder` (another session works in it), `store` (it can't be written for now), or `host` (no Daybook
        /// runs; it goes on when one is opened).
        by: String,
    },
    /// Waits until `until` before sending again.
    Retrying {
        /// Why: an error class such as `rate_limited`.
        class: String,
        /// UTC ms.
        #[ts(type = "number")]
        until: u64,
        /// Which attempt comes next.
        attempt: u32,
    },
    /// Waits for the person: approvals, questions or unknown outcomes.
    NeedsYou {
        /// How many things.
        count: u32,
    },
    /// Was asked to stop and is stopping.
    Stopping,
}

/// One change of the view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "nearly every patch is an entry")]
pub enum Patch {
    /// Put this entry at its key's place, or at the end when the key is new.
    Entry {
        /// The entry.
        entry: Entry,
    },
    /// More text for an answer entry that streams.
    Text {
        /// Key of the entry.
        key: String,
        /// The text to append.
        text: String,
    },
    /// More output for a call that runs.
    Output {
        /// The call.
        call: String,
        /// The text to append (cleaned, bounded by the client to its last 200 lines).
        text: String,
    },
    /// Put this job at its id's place, or at the end when it is new; of those that ended the client keeps the last 20.
    Job {
        /// The job.
        job: super::job::JobView,
    },
    /// More output for a job that runs.
    JobOutput {
        /// The job.
        job: String,
        /// The text to append.
        text: String,
    },
    /// An entry went away (an answer that streamed but was not accepted and will be tried again).
    Removed {
        /// Its key.
        key: String,
    },
    /// A new plan.
    Plan {
        /// The plan.
        plan: Plan,
    },
    /// The waiting messages now.
    Waiting {
        /// All of them.
        waiting: Vec<WaitingMessage>,
    },
    /// What it is doing now.
    Activity {
        /// The activity.
        activity: Activity,
    },
    /// The added folders now.
    Added {
        /// All of them.
        added: Vec<AddedFolder>,
    },
    /// Name, mode, model, counts.
    Meta {
        /// Name.
        title: String,
        /// Mode.
        mode: Mode,
        /// Model.
        model: Option<ModelChoice>,
        /// How much the model is asked to think.
        effort: Option<Effort>,
        /// Changed files so far.
        changed_files: u32,
        /// Tokens.
        tokens: Tokens,
        /// What they cost.
        spent: Spent,
    },
}

/// Tokens of a session so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Tokens {
    /// Input, read from caches included.
    #[ts(type = "number")]
    pub input: u64,
    /// Of these, read from the provider's cache.
    #[ts(type = "number")]
    pub cached: u64,
    /// Output.
    #[ts(type = "number")]
    pub output: u64,
}

/// One entry of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Entry {
    /// Stable key, unique in the session.
    pub key: String,
    /// UTC ms.
    #[ts(type = "number")]
    pub time: u64,
    /// What it is.
    pub body: EntryBody,
}

/// Kinds of entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a request is the largest entry and a rare one")]
pub enum EntryBody {
    /// The person's words.
    Said {
        /// The words.
        text: String,
    },
    /// The model's words, Markdown.
    Answer {
        /// The words so far.
        text: String,
        /// Reasoning, shown folded; may be empty.
        reasoning: String,
        /// Still arriving?
        streaming: bool,
    },
    /// Calls of one step, in the model's order.
    Calls {
        /// The calls.
        calls: Vec<CallView>,
    },
    /// A call that needs the person's yes.
    Approval {
        /// The request.
        approval: ApprovalView,
    },
    /// A question of the model.
    Question {
        /// The question.
        question: QuestionView,
    },
    /// A call whose outcome isn't known.
    Unknown {
        /// The call.
        call: CallView,
        /// Engine facts: `started_at`, `output_tail`, `reason` and the like.
        evidence: BTreeMap<String, String>,
        /// The person's answer, once given.
        resolution: Option<super::command::Resolution>,
    },
    /// Something the person should know, worded by code.
    Notice {
        /// Such as `attempt/failed`, `recovery/continued`, `limit/steps`.
        code: String,
        /// What a wording needs.
        facts: BTreeMap<String, String>,
        /// How grave it is.
        level: NoticeLevel,
    },
    /// What the model reads of earlier work got shorter.
    History {
        /// How.
        history: HistoryView,
    },
    /// Changes were taken back, or are being taken back.
    Undo {
        /// The return.
        undo: super::undo::UndoView,
    },
    /// A turn ended.
    TurnEnd {
        /// `completed`, `cancelled`, `rejected`, `nothing_to_do`, `failed`, `length`, `blocked` or `limit`.
        end: String,
        /// Such as `by` (`user`, `shutdown`), `class`, `limit`; of one of money what was met: `value` (the limit), `spent`, `sure`,
        /// `portion`, `next`, and the `provider` and `model` that were to be asked; of a failure also `said` (the service's own words) or
        /// `message` (ours), and where it answered `status` and `address`.
        facts: BTreeMap<String, String>,
        /// Milliseconds it took, without the time Daybook was closed.
        #[ts(type = "number")]
        ms: u64,
    },
}

/// A replacement in what the model reads; what happened stays in the record and in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct HistoryView {
    /// Steps that a checkpoint stands for; 0 where only results became references.
    #[ts(type = "number")]
    pub steps: u64,
    /// Long results that became references.
    #[ts(type = "number")]
    pub results: u64,
    /// Estimated tokens of the request without it.
    #[ts(type = "number")]
    pub before: u64,
    /// And with it.
    #[ts(type = "number")]
    pub after: u64,
    /// `budget`, `overflow` or `asked`.
    pub why: String,
    /// The checkpoint's text, as the model reads it.
    pub text: String,
    /// Did a model write a summary for it?
    pub by_model: bool,
    /// Is it in force: can the full history be asked for because of it?
    pub in_force: bool,
}

/// How grave a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something failed; work may go on.
    Bad,
}

/// One call as shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CallView {
    /// The call.
    pub id: String,
    /// Tool name, e.g. `read_file`, `run_command`; unknown names are possible.
    pub tool: String,
    /// Wording facts from the arguments: `path`, `command`, `pattern`, …
    pub facts: BTreeMap<String, String>,
    /// Where it stands.
    pub state: CallState,
    /// Was it ever started? One that ended without that did nothing.
    pub started: bool,
    /// Milliseconds it ran, once it ended.
    #[ts(type = "number | null")]
    pub ms: Option<u64>,
    /// Lines added by it, for file changes.
    pub added: Option<u32>,
    /// Lines removed by it.
    pub removed: Option<u32>,
    /// Last output, cleaned; for running and finished commands and for results.
    pub output: String,
    /// Error code, when it failed.
    pub error: Option<String>,
    /// Who kept it from being done or stopped it, when it was denied or cancelled.
    pub halt: Option<Halt>,
}

/// Who kept a call from being done, or stopped it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Halt {
    /// What the session's mode doesn't do.
    Mode {
        /// The mode.
        mode: Mode,
    },
    /// A rule.
    Rule {
        /// Its name, such as `user/no-push`; empty where the record doesn't say.
        rule: String,
    },
    /// The person.
    Refused {
        /// Their reason.
        why: Option<String>,
    },
    /// It needed a yes, and nobody was there to ask.
    Nobody,
    /// It needed a yes, and nobody answered in time.
    Expired,
    /// The work was stopped.
    Stopped {
        /// `user`, `shutdown`; `turn` (its turn ended otherwise).
        by: String,
    },
}

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Proposed, not yet started.
    Proposed,
    /// Needs the person.
    Waiting,
    /// Running.
    Running,
    /// Ended well.
    Done,
    /// Ended with an error result.
    Failed,
    /// Not allowed.
    Denied,
    /// Stopped.
    Cancelled,
    /// Outcome unknown.
    Unknown,
}

/// An approval request: facts computed by the engine, never the model's words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ApprovalView {
    /// The approval.
    pub id: String,
    /// The call.
    pub call: String,
    /// Tool name.
    pub tool: String,
    /// Digest to answer with.
    pub digest: String,
    /// What kind of act: `write`, `edit`, `delete`, `run`, `outside`, `network`.
    pub act: String,
    /// Wording facts: `path`, `command`, `folder`, `size`, …
    pub facts: BTreeMap<String, String>,
    /// Paths it can touch, relative to the folder; `.` = the whole folder.
    pub can_touch: Vec<String>,
    /// What the cage enforces it can't touch: codes `outside_folder`, `network`, `other_programs`; empty when nothing is enforced.
    pub cannot_touch: Vec<String>,
    /// 1 to 3.
    pub risk: u8,
    /// Can it be undone? `yes`, `partly`, `no`.
    pub undo: String,
    /// Exactly what will run, be written or be deleted, what hides made visible: the command, the whole text of a new file,
    /// the difference of another, the path.
    pub exact: String,
    /// Can't it be shown whole? Then it can't be allowed by who only sees this.
    pub unshown: bool,
    /// A difference to show, for file changes.
    pub diff: Option<super::store::FileDiff>,
    /// Does the text hold invisible or look-alike characters?
    pub suspicious: bool,
    /// What to say about the exact text: `control`, `direction`, `invisible`, `space`, `look_alike`, `marker`, `gap`, `long`.
    pub warnings: Vec<String>,
    /// What may be allowed for more than this call with it, narrowest first; often nothing.
    pub offers: Vec<super::permission::Offer>,
    /// Paths of added folders that it can look at and not change.
    pub added: Vec<String>,
    /// Sites it may reach, `host:port`; empty is none.
    pub reach: Vec<String>,
    /// Where it stands.
    pub state: ApprovalState,
    /// The model's own words on why, shown as the model's.
    pub model_says: Option<String>,
}

/// Where an approval stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApprovalState {
    /// Waits for the person.
    Open,
    /// Yes, once.
    Granted,
    /// No.
    Refused {
        /// Why.
        why: Option<String>,
    },
    /// Nobody is asked any more.
    Expired {
        /// `time`; `changed` (what would be done); `user` or `shutdown` (stopped its turn); `turn` (its turn ended otherwise).
        why: String,
    },
}

/// A question of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct QuestionView {
    /// The question.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Choices; may be empty.
    pub options: Vec<String>,
    /// May the person write an own answer?
    pub free_text: bool,
    /// Should the answer be hidden while typed?
    pub sensitive: bool,
    /// The answer, once given.
    pub answer: Option<String>,
}

/// A message that waits to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct WaitingMessage {
    /// The message.
    pub id: String,
    /// Its words.
    pub text: String,
    /// When it will be read.
    pub intent: super::command::Intent,
    /// Does it wait for the person, since they stopped the work? It goes with the next message, or when it is sent.
    pub held: bool,
    /// UTC ms.
    #[ts(type = "number")]
    pub time: u64,
}

/// The plan as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Plan {
    /// Counts up by one with each change.
    pub version: u32,
    /// The items in order.
    pub items: Vec<PlanItem>,
}

/// One item of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct PlanItem {
    /// What to do.
    pub text: String,
    /// Where it stands.
    pub status: PlanStatus,
}

/// Where a plan item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Being done; at most one.
    InProgress,
    /// Done.
    Completed,
}
