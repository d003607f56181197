//! The view fold: events of one session in, patches of its view out.
//!
//! A **fold** holds the view so far, the session's state, and how much of a streaming answer or a running command has been
//! shown. Live pieces show at once; the logged ones hold the same pieces in the same order, so only what hasn't been shown
//! yet is appended. Invariants: applying the patches to the old view gives the new one; without live pieces, the view is a
//! function of the log alone; an answer that streamed and will be tried again goes away.

mod added;
mod answer;
pub(crate) mod approval;
mod calls;
pub(crate) mod diff;
pub(crate) mod facts;
mod history;
mod jobs;
mod patch;
mod restore;
#[cfg(test)]
mod tests;
pub(crate) mod words;

pub(crate) use added::HERE;
pub(crate) use calls::unknown_key;
pub use patch::{Indexed, OUTPUT_LINES, apply, joined};

use crate::wire::spend::Spent;
use crate::wire::store::{AddedFolder, Folder};
use crate::wire::view::{
    Activity, ApprovalState, Entry, EntryBody, NoticeLevel, Patch, QuestionView, SessionView, Tokens,
    WaitingMessage,
};
use answer::Streaming;
use domain::digest::Digest;
use domain::event::{self, Event, Fact, Settled};
use domain::ids::{CallId, FolderId, JobId, SessionId};
use domain::state::{Added, State, StepPhase};
use engine::Hold;
use std::collections::{BTreeMap, HashMap};

/// Content and places that a view needs besides events; both depend on nothing that changes a session.
pub trait Shelf: Send + Sync {
    /// The bytes of a blob; `None` when they can't be had.
    fn blob(&self, digest: &Digest) -> Option<Vec<u8>>;
    /// A folder as shown: its id, and the path it had when the session began.
    fn folder(&self, id: &FolderId, root: &str) -> Folder;
    /// An added folder as shown, and whether it is there now.
    fn added(&self, id: &FolderId, added: &Added) -> AddedFolder;
}

/// The fold of one session.
#[derive(Debug, Clone)]
pub struct Fold {
    id: SessionId,
    state: State,
    shown: Indexed,
    streaming: Option<Streaming>,
    /// Bytes of each running call's output: logged, and shown.
    outputs: HashMap<CallId, answer::Seen>,
    /// The same of each running job.
    job_outputs: HashMap<JobId, answer::Seen>,
    /// Net change of each file: content before the first and after the last change.
    files: BTreeMap<String, restore::Net>,
    /// The words of the step's accepted answer.
    said: String,
    tokens: Tokens,
    /// How long the open turn has been at work, ms: a time in which no process ran counts for nothing.
    turn_ms: u64,
    /// Is the open turn only there for a summary?
    only_summary: bool,
    /// Project documents of which a version was told.
    documents: BTreeMap<String, Digest>,
    /// The process that wrote the last event.
    epoch: u64,
    /// What work waits for outside the session.
    hold: Option<Hold>,
}

impl Fold {
    /// Nothing folded yet.
    #[must_use]
    pub fn new(id: &SessionId) -> Self {
        let folder = Folder {
            id: String::new(),
            name: String::new(),
            place: String::new(),
            exists: false,
            wide: None,
        };
        let view = SessionView {
            id: id.to_string(),
            title: String::new(),
            folder,
            added: Vec::new(),
            mode: crate::wire::command::Mode::Ask,
            model: None,
            effort: None,
            tour: false,
            activity: Activity::Idle,
            seq: 0,
            entries: Vec::new(),
            plan: None,
            jobs: Vec::new(),
            waiting: Vec::new(),
            changed_files: 0,
            tokens: Tokens::default(),
            spent: Spent::default(),
            read_only: None,
        };
        Self {
            id: id.clone(),
            state: State::default(),
            shown: Indexed::new(view),
            streaming: None,
            outputs: HashMap::new(),
            job_outputs: HashMap::new(),
            files: BTreeMap::new(),
            said: String::new(),
            tokens: Tokens::default(),
            turn_ms: 0,
            only_summary: false,
            documents: BTreeMap::new(),
            epoch: 0,
            hold: None,
        }
    }

    /// The session.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The view now.
    #[must_use]
    pub fn view(&self) -> &SessionView {
        &self.shown.view
    }

    /// The sequence number of the event that comes next.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.state.next_seq
    }

    /// Marks the session as one that can only be read.
    pub fn read_only(&mut self, why: String) {
        self.shown.view.read_only = Some(why);
    }

    /// Folds one event in; the caller gives them in order, each once.
    pub fn event(&mut self, event: &Event, shelf: &dyn Shelf) -> Vec<Patch> {
        let mut out = Vec::new();
        // Between two processes nothing ran, and while the person was waited for nobody worked.
        let waited = matches!(self.shown.view.activity, Activity::NeedsYou { .. });
        if event.envelope.epoch == self.epoch && !waited {
            self.turn_ms += event.envelope.time.saturating_sub(self.state.time);
        }
        self.epoch = event.envelope.epoch;
        let note = self.is_note(event);
        self.state.fold(event);
        self.shown.view.seq = event.envelope.seq;
        if let Some(fact) = event.fact.as_ref().filter(|_| !note) {
            self.fact(fact, event, shelf, &mut out);
        }
        self.derived(&mut out);
        out
    }

    /// Are these words of the runtime to the model, and nobody's to show?
    fn is_note(&self, event: &Event) -> bool {
        let Some(Fact::UserMessage(said)) = &event.fact else { return false };
        let waits = self.state.inbox.iter().find(|waiting| waiting.message == said.message);
        waits.is_some_and(|waiting| waiting.origin == event::Origin::Host)
    }

    /// What still moves, whole: what a client that joins here needs so that nothing is doubled.
    #[must_use]
    pub fn moving(&self) -> Vec<Patch> {
        let running = |entry: &Entry| match &entry.body {
            EntryBody::Answer { streaming, .. } => *streaming,
            EntryBody::Calls { calls } => {
                calls.iter().any(|call| call.state == crate::wire::view::CallState::Running)
            }
            _ => false,
        };
        let entries = self.shown.view.entries.iter().filter(|entry| running(entry));
        let jobs = self.shown.view.jobs.iter().filter(|job| !job.phase.ended());
        let jobs = jobs.map(|job| Patch::Job { job: job.clone() });
        entries.map(|entry| Patch::Entry { entry: entry.clone() }).chain(jobs).collect()
    }

    fn fact(&mut self, fact: &Fact, event: &Event, shelf: &dyn Shelf, out: &mut Vec<Patch>) {
        match fact {
            Fact::SessionCreated(e) => self.created(e, shelf),
            Fact::SessionMode(e) => {
                self.told(event, "mode/changed", &[("mode", words::mode_name(e.mode).to_owned())], out)
            }
            Fact::SessionModel(e) => {
                let facts = [("provider", e.model.provider.clone()), ("model", e.model.model.clone())];
                self.told(event, "model/changed", &facts, out);
            }
            Fact::SessionEffort(_) | Fact::FolderIdentified(_) => {}
            Fact::TurnExtended(e) => {
                let why = [("why", words::extended(e.why).to_owned())];
                self.notice(event, "turn/extended", &why, NoticeLevel::Info, out);
            }
            Fact::SpendRaised(e) => self.told(event, "spend/raised", &words::raised(e), out),
            Fact::SpendUncounted(e) => self.told(event, "spend/uncounted", &words::asked(&e.model), out),
            Fact::ModelSwitched(e) => self.switched(e, event, out),
            Fact::FolderAdded(e) => {
                self.look(shelf, out);
                self.told(event, "folder/added", &[("name", facts::shown(&e.name))], out);
            }
            Fact::FolderRemoved(e) => self.folder_removed(e, event, shelf, out),
            Fact::UserMessage(e) => {
                self.put(event, e.message.to_string(), EntryBody::Said { text: e.text.clone() }, out)
            }
            // Given to the model once more because the earlier time was summarised away.
            Fact::DocumentLoaded(e)
                if self.documents.insert(e.path.clone(), e.content) == Some(e.content) => {}
            Fact::DocumentLoaded(e) => {
                let code = if e.named_only { "document/named" } else { "document/loaded" };
                self.notice(event, code, &[("path", facts::shown(&e.path))], NoticeLevel::Info, out);
            }
            Fact::AttemptStart(e) => self.streaming = Some(Streaming::new(&e.attempt, event.envelope.time)),
            Fact::AttemptEnd(e) => self.attempt_end(e, event, out),
            Fact::AssistantDelta(e) => self.logged_deltas(e, out),
            Fact::AssistantAccepted(e) => self.accepted(e, event, out),
            Fact::ToolCall(e) => self.proposed(e, event, out),
            Fact::ToolStart(e) => self.started(&e.call, out),
            Fact::ToolOutput(e) => self.logged_output(e, out),
            Fact::ToolResult(e) => {
                self.result(e, out);
                if added::says_gone(e) {
                    self.look(shelf, out);
                }
            }
            Fact::ToolDenied(e) => self.denied(e, out),
            Fact::ToolCancelled(e) => self.cancelled(e, out),
            Fact::ToolOutcomeUnknown(e) => self.unknown(e, event, out),
            Fact::JobCreated(e) => self.job_created(e, event, out),
            Fact::JobStarted(e) => self.job_started(e, event, out),
            Fact::JobOutput(e) => self.logged_job_output(e, out),
            Fact::JobCancel(e) => self.job_stopping(&e.job, out),
            Fact::JobReconciling(e) => self.job_lost(e, out),
            Fact::JobEnded(e) => self.job_ended(e, out),
            Fact::CallResolved(e) => self.resolved(e, event, out),
            Fact::ApprovalRequested(e) => {
                let approval = approval::view(e, &self.said, shelf);
                self.put(event, approval.id.clone(), EntryBody::Approval { approval }, out);
                self.wait(&e.call, true, out);
            }
            Fact::ApprovalGranted(e) => {
                self.answered(e.approval.as_str(), ApprovalState::Granted, event, out)
            }
            Fact::ApprovalRefused(e) => {
                self.answered(e.approval.as_str(), ApprovalState::Refused { why: e.why.clone() }, event, out);
            }
            Fact::ApprovalExpired(e) => {
                let why = self.expiry(&e.why);
                self.answered(e.approval.as_str(), ApprovalState::Expired { why }, event, out);
            }
            Fact::QuestionAsked(e) => self.asked(e, event, out),
            Fact::QuestionAnswered(e) => self.question_answered(e, event, out),
            Fact::RevisionRestoring(e) => self.restoring(e, event, out),
            // Its end follows, whichever it is.
            Fact::RevisionCalledOff(_) => {}
            Fact::RevisionRestored(e) => self.restored(e, event, out),
            Fact::RevisionThinned(e) => self.thinned(e, event, out),
            Fact::PlanReplaced(e) => self.push(Patch::Plan { plan: words::plan(&e.plan) }, out),
            // Closed and opened again and again while it waited: said once.
            Fact::RecoveryAdopted(_) if self.newest_is("recovery/adopted") => {}
            Fact::RecoveryAdopted(_) => self.notice(event, "recovery/adopted", &[], NoticeLevel::Info, out),
            Fact::RecoveryContinuation(_) => {
                self.notice(event, "recovery/continued", &[], NoticeLevel::Info, out)
            }
            Fact::RecordErased(e) => {
                let facts = [("events", e.events.len().to_string()), ("contents", e.blobs.len().to_string())];
                self.notice(event, "record/erased", &facts, NoticeLevel::Info, out);
            }
            Fact::NoticeRaised(e) => {
                let facts: Vec<(&str, String)> =
                    e.facts.iter().map(|(k, v)| (k.as_str(), facts::shown(v))).collect();
                self.notice(event, &e.code, &facts, NoticeLevel::Info, out);
            }
            Fact::HistoryShortened(e) => self.shortened(e, event, out),
            Fact::CheckpointCommitted(e) => self.checkpoint(e, event, out),
            Fact::HistoryRestored(_) => self.full_history(event, out),
            // What it did has its own line.
            Fact::TurnEnd(e) if self.only_summary && e.end == event::End::Completed => {}
            Fact::TurnEnd(e) => self.turn_end(e, event, out),
            Fact::TurnStart(e) => {
                self.turn_ms = 0;
                self.only_summary = e.source == event::Source::Summary;
                self.look_for_gone(shelf, out);
            }
            Fact::SessionRenamed(_)
            | Fact::InboxPosted(_)
            | Fact::InboxReserved(_)
            | Fact::InboxReleased(_)
            | Fact::InboxCancelled(_)
            | Fact::TurnCancel(_)
            | Fact::StepStart(_)
            | Fact::StepEnd(_)
            | Fact::ContextNote(_)
            | Fact::RequestPrepared(_)
            | Fact::HistoryAsked(_)
            | Fact::ContextOverflowed(_)
            | Fact::SummaryPrepared(_)
            | Fact::ToolDecision(_)
            | Fact::CredentialUsed(_)
            | Fact::SecretPrinted(_)
            | Fact::GrantGiven(_)
            | Fact::GrantRevoked(_)
            | Fact::LateIgnored(_) => {}
        }
    }

    fn created(&mut self, e: &event::SessionCreated, shelf: &dyn Shelf) {
        let view = &mut self.shown.view;
        view.folder = shelf.folder(&e.folder, &e.root);
        view.mode = words::mode(e.mode);
        view.model = e.model.as_ref().map(words::choice);
        view.tour = e.tour;
    }

    /// A change of the session worth a line, once something was said in it.
    fn told(&mut self, event: &Event, code: &str, facts: &[(&str, String)], out: &mut Vec<Patch>) {
        if self.state.turns > 0 {
            self.notice(event, code, facts, NoticeLevel::Info, out);
        }
    }

    fn notice(
        &mut self,
        event: &Event,
        code: &str,
        facts: &[(&str, String)],
        level: NoticeLevel,
        out: &mut Vec<Patch>,
    ) {
        let key = format!("notice_{}", event.envelope.seq);
        let facts = facts.iter().map(|(name, fact)| ((*name).to_owned(), fact.clone())).collect();
        self.put(event, key, EntryBody::Notice { code: code.to_owned(), facts, level }, out);
    }

    /// Is the newest entry this notice?
    fn newest_is(&self, code: &str) -> bool {
        let newest = self.shown.view.entries.last().map(|entry| &entry.body);
        matches!(newest, Some(EntryBody::Notice { code: newest, .. }) if newest == code)
    }

    fn answered(&mut self, approval: &str, state: ApprovalState, event: &Event, out: &mut Vec<Patch>) {
        let Some(EntryBody::Approval { approval: open }) =
            self.shown.entry(approval).map(|entry| entry.body.clone())
        else {
            return;
        };
        let call = open.call.clone();
        self.put(
            event,
            approval.to_owned(),
            EntryBody::Approval { approval: crate::wire::view::ApprovalView { state, ..open } },
            out,
        );
        if let Ok(call) = call.parse() {
            self.wait(&call, false, out);
        }
    }

    /// Why nobody is asked any more: whoever stopped the turn, where that is why.
    fn expiry(&self, why: &str) -> String {
        let cancel = self.state.turn.as_ref().and_then(|turn| turn.cancel);
        match cancel {
            Some(by) if why == "turn" => words::by_name(by).to_owned(),
            Some(_) | None => why.to_owned(),
        }
    }

    fn asked(&mut self, e: &event::QuestionAsked, event: &Event, out: &mut Vec<Patch>) {
        let question = words::question(&e.question, &e.body);
        self.put(event, question.id.clone(), EntryBody::Question { question }, out);
        self.wait(&e.call, true, out);
    }

    fn question_answered(&mut self, e: &event::QuestionAnswered, event: &Event, out: &mut Vec<Patch>) {
        let key = e.question.to_string();
        let Some(EntryBody::Question { question }) = self.shown.entry(&key).map(|entry| entry.body.clone())
        else {
            return;
        };
        let answer = if question.sensitive { "•••".to_owned() } else { e.answer.clone() };
        self.put(
            event,
            key,
            EntryBody::Question { question: QuestionView { answer: Some(answer), ..question } },
            out,
        );
    }

    fn turn_end(&mut self, e: &event::TurnEnd, event: &Event, out: &mut Vec<Patch>) {
        let (end, facts) = words::end(&e.end);
        let mut facts: BTreeMap<String, String> =
            facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect();
        if end == "failed"
            && let Some(model) = &self.shown.view.model
        {
            facts.insert("provider".to_owned(), model.provider.clone());
        }
        let turn =
            event.envelope.turn.as_ref().map_or_else(|| event.envelope.seq.to_string(), ToString::to_string);
        self.put(event, turn, EntryBody::TurnEnd { end: end.to_owned(), facts, ms: self.turn_ms }, out);
        self.streaming = None;
        self.outputs.clear();
    }

    fn settle(&mut self, settled: Settled) {
        let tokens = match settled {
            Settled::Reported { tokens } | Settled::Estimated { tokens } => tokens,
            Settled::Unknown => return,
        };
        self.tokens.input += tokens.input + tokens.cache_read + tokens.cache_write;
        self.tokens.cached += tokens.cache_read;
        self.tokens.output += tokens.output;
    }

    /// What follows from the state: the waiting messages, the activity, the session's line. Told when it changed.
    fn derived(&mut self, out: &mut Vec<Patch>) {
        let waiting = self.waiting();
        if waiting != self.shown.view.waiting {
            self.push(Patch::Waiting { waiting }, out);
        }
        let activity = self.activity();
        if activity != self.shown.view.activity {
            self.push(Patch::Activity { activity }, out);
        }
        let Some(session) = &self.state.session else { return };
        let changed = self.files.values().filter(|net| net.differs()).count();
        let meta = Patch::Meta {
            title: session.title.clone(),
            mode: words::mode(session.mode),
            model: session.model.as_ref().map(words::choice),
            effort: session.effort.map(Into::into),
            changed_files: u32::try_from(changed).unwrap_or(u32::MAX),
            tokens: self.tokens,
            spent: Spent::of(&self.state.usage.spent, self.state.raised),
        };
        if meta != meta_of(&self.shown.view) {
            self.push(meta, out);
        }
    }

    fn waiting(&self) -> Vec<WaitingMessage> {
        let users = self.state.inbox.iter().filter(|waiting| waiting.origin == event::Origin::User);
        users.map(words::waiting).collect()
    }

    fn activity(&self) -> Activity {
        let count = u32::try_from(self.state.needs_you()).unwrap_or(u32::MAX);
        let Some(turn) = &self.state.turn else {
            return if count > 0 { Activity::NeedsYou { count } } else { Activity::Idle };
        };
        if turn.cancel.is_some() {
            return Activity::Stopping;
        }
        if count > 0 {
            return Activity::NeedsYou { count };
        }
        let step = turn.step.as_ref();
        let about = step.and_then(|step| step.request.as_ref()?.about);
        match step.map(|step| (&step.phase, step.tries)) {
            Some((StepPhase::Backoff { retry, class }, attempts)) => Activity::Retrying {
                class: words::class(*class).to_owned(),
                until: retry.until,
                attempt: attempts + 1,
            },
            Some((StepPhase::Attempting { .. }, _)) if about.is_some() => {
                Activity::Summarising { since: turn.started }
            }
            _ => match self.hold {
                Some(Hold::Folder) => Activity::Held { by: "folder".to_owned() },
                Some(Hold::Store) => Activity::Held { by: "store".to_owned() },
                None => Activity::Working { since: turn.started },
            },
        }
    }

    fn put(&mut self, event: &Event, key: String, body: EntryBody, out: &mut Vec<Patch>) {
        self.put_at(event.envelope.time, key, body, out);
    }

    fn put_at(&mut self, time: u64, key: String, body: EntryBody, out: &mut Vec<Patch>) {
        let time = self.shown.entry(&key).map_or(time, |entry| entry.time);
        self.push(Patch::Entry { entry: Entry { key, time, body } }, out);
    }

    fn push(&mut self, patch: Patch, out: &mut Vec<Patch>) {
        self.shown.apply(&patch);
        out.push(patch);
    }
}

fn meta_of(view: &SessionView) -> Patch {
    Patch::Meta {
        title: view.title.clone(),
        mode: view.mode,
        model: view.model.clone(),
        effort: view.effort,
        changed_files: view.changed_files,
        tokens: view.tokens,
        spent: view.spent,
    }
}
