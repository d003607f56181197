//! Commands: one enum variant a command, tagged by `name`, each with its arguments; replies are [`Reply`].
//!
//! A command is typed ids and text, never a path or a program: folders come from the dialog, a drop or the recent list
//! as opaque ids. Commands that append say the sequence number they were recorded at and are idempotent by `command`.

pub use super::listen::{Notification, Topic};

use super::copy::{Copied, CopyOf, Imported};
use super::permission::{Permissions, RuleAbout, RuleWord, Tried, WhatIf};
use super::record::{Moment, RecordEvent, RecordLine, RecordOutline, Saw, SawBody, Verification};
use super::spend::PastLimit;
use super::storage::{ErasePreview, EraseWhy, ErasedView, StorageView, ThinnedView};
use super::store::{
    AppInfo, Effort, FileDiff, Folder, ModelChoice, Provider, ProviderDraft, SessionSummary, Settings,
};
use super::undo::{Changes, ThreeWay, UndoOf, UndoPreview};
use super::view::SessionView;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

/// What a client may ask for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "name", content = "args", rename_all = "snake_case")]
pub enum Command {
    /// What this app is and what it can do here. Reply: `app`.
    App,
    /// Sessions, newest first. Reply: `sessions`.
    Sessions,
    /// Folders opened before, newest first. Reply: `folders`.
    Folders,
    /// Let the person choose a folder in the system's dialog (window only). Reply: `folder`, null when dismissed.
    ChooseFolder,
    /// Let the person choose another folder that the session may look at (window only). Reply: `done`, also when dismissed.
    ChooseReadFolder {
        /// The session.
        session: String,
    },
    /// Take such a folder back. Reply: `done`.
    RemoveFolder {
        /// The session.
        session: String,
        /// The added folder.
        folder: String,
    },
    /// Go on in the folder that stands at the session's path now: the person says that this one is it. Reply: `done`.
    UseFolder {
        /// The session.
        session: String,
    },
    /// Summarise earlier work for the model: before the next request, or now when nothing runs. Reply: `done`.
    Summarise {
        /// The session.
        session: String,
    },
    /// Let the model read the full history again. Reply: `done`.
    UseFullHistory {
        /// The session.
        session: String,
    },
    /// Begin a session in a folder. Reply: `created`.
    CreateSession {
        /// The folder.
        folder: String,
        /// `ask`, `edit`, `plan` or `auto`.
        mode: Mode,
        /// Which model; the default one when null.
        model: Option<ModelChoice>,
        /// Did the person say that it may be a folder which holds far more than one piece of work?
        #[serde(default)]
        wide: bool,
    },
    /// Begin the guided tour: sample folder, scripted model, real engine. Reply: `created`.
    StartTour {
        /// The language that it is told in: `en` or `zh-CN`.
        language: String,
    },
    /// The whole view of a session; subscribe from its `seq` + 1. Reply: `session`.
    OpenSession {
        /// The session.
        session: String,
    },
    /// Say something. While a turn runs, `steer` is read before the next step and `follow_up` after the turn. Reply: `sent`.
    Send {
        /// The session.
        session: String,
        /// The words.
        text: String,
        /// How it is meant; when idle both start a turn.
        intent: Intent,
        /// Client-made id (`cmd_` + 32 hex), so that a repeat is one message.
        command: String,
    },
    /// Go on past a limit of money: as far as one more portion, or without counting what isn't known. Reply: `sent`; refused
    /// where that isn't what was shown.
    GoOn {
        /// The session.
        session: String,
        /// The limit, as it was shown.
        past: PastLimit,
        /// The words that the model reads.
        text: String,
        /// Client-made id, so that a repeat is one message and one portion.
        command: String,
    },
    /// Take back a message that waits. Reply: `done`.
    RemoveMessage {
        /// The session.
        session: String,
        /// The message.
        message: String,
    },
    /// Say a message that waits now: it is read before the next step, and starts a turn when idle. Reply: `sent`.
    SendWaiting {
        /// The session.
        session: String,
        /// The message.
        message: String,
    },
    /// Stop the running turn, or call off an undo that waits for the folder; messages that wait wait on, until one is sent or something else is said. Reply: `done`.
    Interrupt {
        /// The session.
        session: String,
    },
    /// Stop a job; one that hasn't begun never will. Reply: `done`.
    StopJob {
        /// The session.
        session: String,
        /// The job.
        job: String,
    },
    /// Say that a job that was lost sight of has ended. Reply: `done`.
    SettleJob {
        /// The session.
        session: String,
        /// The job.
        job: String,
    },
    /// Say yes to one call. Reply: `done`; an error when the digest isn't what was shown or it is no longer open.
    Approve {
        /// The session.
        session: String,
        /// The approval.
        approval: String,
        /// The digest shown with it.
        digest: String,
        /// Allow this one of its offers, too, by its place.
        offer: Option<u32>,
        /// Always in this folder instead of for this session only.
        lasting: bool,
    },
    /// What is allowed without asking. Reply: `permissions`.
    Permissions,
    /// Take a permission back. Reply: `permissions`.
    Revoke {
        /// The grant.
        grant: String,
        /// Its session, where it has one.
        session: Option<String>,
    },
    /// Let go of what was allowed for good and can't be read; only where there is such. Reply: `permissions`.
    ResetPermissions,
    /// Set a rule, or take it away; the same thing in the same place has one. Reply: `permissions`.
    SetRule {
        /// What it is about.
        about: RuleAbout,
        /// The folder; null is every folder.
        folder: Option<String>,
        /// What it says; null takes it away.
        word: Option<RuleWord>,
    },
    /// Start again without rules; only where those that are kept can't be read. Reply: `permissions`.
    ResetRules,
    /// What would happen in a session now; nothing runs. Reply: `what_if`.
    WhatIf {
        /// The session.
        session: String,
        /// What to try out.
        what: Tried,
    },
    /// Say no to one call. Reply: `done`.
    Refuse {
        /// The session.
        session: String,
        /// The approval.
        approval: String,
        /// Why; the model reads it.
        why: Option<String>,
    },
    /// Answer a question of the model. Reply: `done`.
    Answer {
        /// The session.
        session: String,
        /// The question.
        question: String,
        /// The chosen option or free text.
        text: String,
    },
    /// Say what became of a call whose outcome is unknown. Reply: `done`.
    Resolve {
        /// The session.
        session: String,
        /// The call.
        call: String,
        /// What the person found.
        resolution: Resolution,
    },
    /// Change the mode. Reply: `done`.
    SetMode {
        /// The session.
        session: String,
        /// The new mode.
        mode: Mode,
    },
    /// Change the model from the next step on. Reply: `done`.
    SetModel {
        /// The session.
        session: String,
        /// The new model.
        model: ModelChoice,
    },
    /// Change how much the model is asked to think, from the next step on. Reply: `done`.
    SetEffort {
        /// The session.
        session: String,
        /// `low`, `medium`, `high` or `max`; null leaves it to the model's maker.
        effort: Option<Effort>,
    },
    /// Name a session. Reply: `done`.
    Rename {
        /// The session.
        session: String,
        /// The name, 1 to 200 characters.
        title: String,
    },
    /// What this session changed. Reply: `changes`.
    Changes {
        /// The session.
        session: String,
    },
    /// One file's difference over a call, over a turn, or over the whole session. Reply: `diff`.
    Diff {
        /// The session.
        session: String,
        /// The path as given by `changes`.
        path: String,
        /// The turn; null is the whole session.
        turn: Option<String>,
        /// Only this call's part of it; null is all of it.
        call: Option<String>,
    },
    /// What taking changes back would do. Reply: `undo_preview`.
    PreviewUndo {
        /// The session.
        session: String,
        /// Whose changes.
        of: UndoOf,
        /// Only these paths; empty is all.
        paths: Vec<String>,
    },
    /// The sides of a file that somebody changed after this session did. Reply: `three_way`.
    ThreeWay {
        /// The session.
        session: String,
        /// Whose change.
        of: UndoOf,
        /// The path.
        path: String,
    },
    /// Take changes back; what somebody changed since stays unless named. Reply: `done`; an entry tells what came of it.
    Undo {
        /// The session.
        session: String,
        /// Whose changes.
        of: UndoOf,
        /// Only these paths; empty is all.
        paths: Vec<String>,
        /// Paths to bring back even where they were changed since.
        overwrite: Vec<String>,
        /// What the preview said stands at such a path, by path: where it is something else now, nothing is done.
        #[serde(default)]
        seen: BTreeMap<String, String>,
    },
    /// Show something this session made in the system's own view of folders. Reply: `done`.
    ShowMade {
        /// The session.
        session: String,
        /// Its id as given by `changes`.
        made: String,
    },
    /// Save a copy where the person says in the system's dialog (window only). Reply: `copied`, null when dismissed.
    SaveCopy {
        /// The session.
        session: String,
        /// Of what.
        of: CopyOf,
    },
    /// Take in a session that the person chooses in a dialog (window only). Reply: `imported`, null when dismissed.
    ImportSession,
    /// One letter for each event of the record from a sequence number on. Reply: `record_outline`.
    RecordOutline {
        /// The session.
        session: String,
        /// The first event wanted.
        #[ts(type = "number")]
        from: u64,
    },
    /// Events as lines, at most 200 at once. Reply: `record_lines`.
    RecordLines {
        /// The session.
        session: String,
        /// The first event wanted.
        #[ts(type = "number")]
        from: u64,
        /// How many.
        count: u32,
    },
    /// One event exactly as recorded. Reply: `record_event`.
    RecordEvent {
        /// The session.
        session: String,
        /// Which.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The session as it was right after an event. Reply: `moment`.
    Moment {
        /// The session.
        session: String,
        /// The event.
        #[ts(type = "number")]
        seq: u64,
    },
    /// What the model saw in the request that an event's step sent. Reply: `saw`.
    Saw {
        /// The session.
        session: String,
        /// The event: of a step that built a request.
        #[ts(type = "number")]
        seq: u64,
    },
    /// A piece of a request's exact bytes. Reply: `saw_body`.
    SawBody {
        /// The session.
        session: String,
        /// The event the request is recorded in.
        #[ts(type = "number")]
        seq: u64,
        /// Where the piece begins, in bytes.
        #[ts(type = "number")]
        from: u64,
    },
    /// Begin to verify a record, in the background; one that is under way goes on. Reply: `verification`.
    Verify {
        /// The session.
        session: String,
    },
    /// How far that is, or what came of it last. Reply: `verification`.
    Verification {
        /// The session.
        session: String,
    },
    /// Stop it. Reply: `verification`.
    StopVerify {
        /// The session.
        session: String,
    },
    /// What erasing words from the record would touch. Reply: `erase_preview`.
    PreviewErase {
        /// The session.
        session: String,
        /// An entry's key, a call's id, `asked:` and a call's id, or an event's number.
        place: String,
        /// The exact words; all that stands at the place when null.
        text: Option<String>,
    },
    /// Erase words from the record of a session and from everything that is kept, for good. Reply: `erased`.
    Erase {
        /// The session.
        session: String,
        /// An entry's key, a call's id, `asked:` and a call's id, or an event's number.
        place: String,
        /// The exact words; all that stands at the place when null.
        text: Option<String>,
        /// Why.
        why: EraseWhy,
        /// From every other session that holds them as well?
        everywhere: bool,
        /// What was allowed for good and is revoked with it, as `erase_preview` names it.
        revoke: Vec<String>,
    },
    /// What is kept for undo. Reply: `storage`.
    Storage,
    /// Choose the limit of what is kept for undo: 1, 5, 10 or 50. Reply: `storage`.
    SetUndoLimit {
        /// In gigabytes.
        gigabytes: u32,
    },
    /// Let go of old contents now, by the rule. Reply: `thinned`.
    ThinNow,
    /// Providers and their models. Reply: `providers`.
    Providers,
    /// Store a key in the system's keychain. Reply: `providers`.
    SetKey {
        /// The provider.
        provider: String,
        /// The key; never logged, never sent back.
        key: String,
    },
    /// Remove a key from the keychain. Reply: `providers`.
    ForgetKey {
        /// The provider.
        provider: String,
    },
    /// Add or change a service that speaks a known dialect. Reply: `providers`.
    SaveProvider {
        /// The service.
        provider: ProviderDraft,
    },
    /// Remove an added service and its key. Reply: `providers`; refused with `key/left` when it is gone and the keychain
    /// kept the key.
    RemoveProvider {
        /// Its id.
        provider: String,
    },
    /// Let the person choose the file of a service's own certificate in the system's dialog: those in it are trusted for this
    /// service instead of those that were. Reply: `providers`, also when it was dismissed.
    ChooseCertificate {
        /// The service's id.
        provider: String,
    },
    /// Trust a service's own certificate no longer. Reply: `providers`.
    RemoveCertificate {
        /// The service's id.
        provider: String,
    },
    /// Ask a provider whether key and address work and which models it has. Reply: `providers`.
    CheckProvider {
        /// Its id.
        provider: String,
    },
    /// Settings of the app. Reply: `settings`.
    Settings,
    /// Change settings. Reply: `settings`.
    SaveSettings {
        /// All of them.
        settings: Settings,
    },
}

/// Answers to commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Reply {
    /// It is done (and recorded, where it records).
    Done,
    /// About the app.
    App(AppInfo),
    /// Sessions.
    Sessions(Vec<SessionSummary>),
    /// Folders.
    Folders(Vec<Folder>),
    /// A chosen folder.
    Folder(Option<Folder>),
    /// A new session's id.
    Created {
        /// Its id.
        session: String,
    },
    /// A session's view.
    Session(Box<SessionView>),
    /// A message was recorded.
    Sent {
        /// Its id.
        message: String,
        /// Where.
        #[ts(type = "number")]
        seq: u64,
    },
    /// What was changed.
    Changes(Changes),
    /// What an undo would do.
    UndoPreview(UndoPreview),
    /// The sides of a file.
    ThreeWay(ThreeWay),
    /// What is allowed.
    Permissions(Permissions),
    /// What would happen.
    WhatIf(WhatIf),
    /// A difference.
    Diff(FileDiff),
    /// What was saved.
    Copied(Option<Copied>),
    /// What was taken in.
    Imported(Option<Imported>),
    /// An outline of the record.
    RecordOutline(RecordOutline),
    /// Events as lines.
    RecordLines(Vec<RecordLine>),
    /// One event.
    RecordEvent(RecordEvent),
    /// The session at a moment.
    Moment(Box<Moment>),
    /// What the model saw.
    Saw(Box<Saw>),
    /// A piece of a request.
    SawBody(SawBody),
    /// Whether the record holds.
    Verification(Verification),
    /// What erasing would touch.
    ErasePreview(ErasePreview),
    /// What was erased.
    Erased(ErasedView),
    /// What is kept for undo.
    Storage(StorageView),
    /// What "Thin now" did.
    Thinned(ThinnedView),
    /// Providers.
    Providers(Vec<Provider>),
    /// Settings.
    Settings(Settings),
}

/// What a session may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Ask first.
    Ask,
    /// Edit freely.
    Edit,
    /// Plan only.
    Plan,
    /// Auto.
    Auto,
}

/// How a message is meant while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Read it before the next step.
    Steer,
    /// Read it after this turn.
    FollowUp,
}

/// What a person found out about a call whose outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// It did happen.
    Done,
    /// It didn't: run it again (as a new call).
    Again,
    /// Leave it.
    Skip,
}
