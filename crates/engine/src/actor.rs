//! The actor of one session: takes its inputs in order, decides, appends, and keeps the wanted operations under way.
//!
//! Its queue is the only way in. Invariants: the state it decides on is the fold of what is stored; an operation's end
//! and its pieces pass through the queue like everything else; when the store says this process may not write any
//! more, everything stops at once.

use crate::decide::{self, Command, CommandError, CommandReply, Decision, Env, Op};
use crate::input::Input;
use crate::own;
use crate::perform::prepare::Cache;
use crate::perform::{Done, Pieces, Ready, calls, jobs, prepare, restore, send, trees};
use crate::shared::{Hold, Shared};
use domain::event::{Draft, FolderIdentified};
use domain::ids::{CallId, SessionId};
use domain::model::{ErrorClass, ModelError};
use domain::state::{Job, State};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::{AppendError, Durability};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Inputs that may wait in a session's queue; pieces of a stream wait for room.
pub(crate) const QUEUE: usize = 256;

/// How long a store that can't be written for now is left alone before the next try.
pub(crate) const STALL: Duration = Duration::from_secs(1);

/// What comes through the queue.
#[derive(Debug)]
pub(crate) enum Post {
    /// A client's command.
    Command(Command, oneshot::Sender<Result<Recorded, CommandFailure>>),
    /// A piece of something under way.
    Input(Input),
    /// An operation ended.
    Done(Done),
    /// Something is to be taken out that was worked out from the record up to here: stand still until that is done.
    Stand {
        /// How far the record was read.
        read_to: u64,
        /// Gets what keeps the session still, or why it can't be.
        answer: oneshot::Sender<Result<Standing, CommandFailure>>,
    },
    /// Contents that the kept request holds were taken out of the store: it is used no longer than for what it was made.
    Forget,
    /// The app is closing: stop what runs, answer when nothing does.
    Close(oneshot::Sender<()>),
}

/// A session stands still for as long as this lives.
#[derive(Debug)]
pub(crate) struct Standing {
    _until: oneshot::Sender<()>,
}

/// A command that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The last sequence number it was recorded at (of the first time, for a repeat).
    pub seq: u64,
    /// What it posted.
    pub reply: CommandReply,
}

/// Why a command wasn't recorded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommandFailure {
    /// It doesn't fit the session's state.
    #[error(transparent)]
    Refused(#[from] CommandError),
    /// The store said no.
    #[error(transparent)]
    Store(#[from] AppendError),
    /// The session can't be read.
    #[error("the session can't be opened: {0}")]
    Unreadable(String),
    /// The engine is closing.
    #[error("Daybook is closing; nothing more is taken")]
    Closing,
}

impl CommandFailure {
    /// For whatever couldn't be read.
    pub(crate) fn unreadable(error: impl std::fmt::Display) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// The process may not write any more, or the session can't be.
struct Stop;

pub(crate) struct Actor {
    id: SessionId,
    shared: Arc<Shared>,
    state: Arc<State>,
    queue: mpsc::Receiver<Post>,
    back: mpsc::Sender<Post>,
    running: HashMap<Op, CancellationToken>,
    ready: HashMap<CallId, Ready>,
    slot: Option<OwnedSemaphorePermit>,
    cache: Cache,
    /// Does the kept request hold what was taken out of the store?
    stale: bool,
    closing: Vec<oneshot::Sender<()>>,
}

impl Actor {
    pub(crate) fn new(
        id: SessionId,
        shared: Arc<Shared>,
        state: Arc<State>,
        queue: mpsc::Receiver<Post>,
        back: mpsc::Sender<Post>,
    ) -> Self {
        Self {
            id,
            shared,
            state,
            queue,
            back,
            running: HashMap::new(),
            ready: HashMap::new(),
            slot: None,
            cache: Cache::default(),
            stale: false,
            closing: Vec::new(),
        }
    }

    /// Runs until the engine closes or the store may not be written any more.
    pub(crate) async fn run(mut self) {
        if self.work().await.is_err() {
            tracing::warn!(session = %self.id, "this session's work stopped: its store can't be written by this process");
        }
        self.running.values().for_each(CancellationToken::cancel);
        self.closing.drain(..).for_each(|waiting| {
            let _ = waiting.send(());
        });
    }

    async fn work(&mut self) -> Result<(), Stop> {
        let epoch = self.shared.store.epoch();
        let cut_off = |job: &Job| job.running().is_some_and(|run| run.epoch != epoch);
        let dead = self.state.turn.as_ref().is_some_and(|turn| turn.epoch != epoch)
            || self.state.jobs.iter().any(cut_off);
        let found =
            if dead { trees::look(&self.shared, &self.id, &self.state).await } else { decide::Found::new() };
        if let Some(decision) = self.decide(|state, env| decide::recover(state, env, &found)) {
            self.append(decision).await?;
        }
        self.identify().await?;
        loop {
            self.settle().await?;
            if !self.closing.is_empty() && self.running.is_empty() {
                return Ok(());
            }
            match self.queue.recv().await {
                Some(Post::Command(command, answer)) => self.command(command, answer).await?,
                Some(Post::Input(input)) => self.input(input).await?,
                Some(Post::Done(done)) => self.done(done).await?,
                Some(Post::Stand { read_to, answer }) => self.stand(read_to, answer).await?,
                Some(Post::Forget) => self.stale = true,
                Some(Post::Close(answer)) => self.close(answer).await?,
                None => return Ok(()),
            }
        }
    }

    /// A session from before that was recorded: the folder that stands at its path is its own.
    async fn identify(&mut self) -> Result<(), Stop> {
        let unknown = self.state.session.as_ref().filter(|session| session.identity.is_none());
        let Some(root) = unknown.map(|session| session.root.clone()) else { return Ok(()) };
        let looking = tokio::task::spawn_blocking(move || own::identity(&root));
        match looking.await.ok().flatten() {
            Some(identity) => {
                self.append(decide::Decision::plain(vec![Draft::new(FolderIdentified { identity })])).await
            }
            None => Ok(()),
        }
    }

    /// Appends all that follows from the state alone, then starts what is wanted and stops what isn't.
    async fn settle(&mut self) -> Result<(), Stop> {
        while let Some(decision) = self.decide(decide::advance).filter(|decision| !decision.drafts.is_empty())
        {
            self.append(decision).await?;
        }
        if self.state.turn.is_none() {
            self.forget();
        }
        let wanted = self.with_env(|env, state| decide::wanted(state, env));
        // A session that rests, or only waits for the person, leaves its place in the store's running turns to others.
        let beside_turns =
            |op: &Op| is_background(op) || matches!(op, Op::Expire { .. } | Op::Slot | Op::Restore(_));
        if wanted.iter().chain(self.running.keys()).all(beside_turns) {
            self.slot = None;
        } else if self.slot.is_none() {
            // A turn that goes on after a yes takes a place again; where none is free, it goes on all the same.
            self.slot = Arc::clone(&self.shared.slots).try_acquire_owned().ok();
        }
        for (op, cancel) in &self.running {
            if !wanted.iter().any(|other| same(op, other)) {
                cancel.cancel();
            }
        }
        for op in wanted {
            if !self.running.keys().any(|other| same(&op, other) || both_judge(&op, other)) {
                self.start(op);
            }
        }
        // What didn't start now is judged again when it may, and holds nothing until then.
        self.ready.clear();
        Ok(())
    }

    /// Lets go of a request that holds what was taken out. What still works on one has it for itself.
    fn forget(&mut self) {
        if std::mem::take(&mut self.stale) {
            self.cache = Cache::default();
        }
    }

    fn start(&mut self, op: Op) {
        if matches!(op, Op::Prepare(_)) {
            self.forget();
        }
        let cancel = CancellationToken::new();
        self.running.insert(op.clone(), cancel.clone());
        let (shared, id, state) = (Arc::clone(&self.shared), self.id.clone(), Arc::clone(&self.state));
        let (cache, back) = (Arc::clone(&self.cache), self.back.clone());
        let pieces = Pieces::new(self.back.clone());
        let ready = match &op {
            Op::Run(call) => self.ready.remove(call),
            Op::RunJob(job) => state.job(job).and_then(|job| self.ready.remove(&job.call.id)),
            _ => None,
        };
        tokio::spawn(async move {
            // On a task of its own, so that a mistake of ours in it ends as its failure and not as a session that hangs.
            let broken = broken(&op);
            let performing = perform(op.clone(), shared, id, state, cache, pieces, ready, cancel);
            let done = tokio::spawn(performing).await.unwrap_or_else(|error| {
                tracing::error!(%error, ?op, "an operation broke off");
                Done::with(op, broken)
            });
            drop(back.send(Post::Done(done)).await);
        });
    }

    async fn done(&mut self, done: Done) -> Result<(), Stop> {
        self.running.remove(&done.op);
        self.ready = done.cleared.into_iter().collect();
        if let Some(slot) = done.slot {
            self.slot = Some(slot);
        }
        match done.input {
            Some(input) => self.input(input).await,
            None => Ok(()),
        }
    }

    async fn input(&mut self, input: Input) -> Result<(), Stop> {
        let decision = self.with_env(|env, state| decide::take(state, input.clone(), env));
        // What is only for showing may be missed; anything else that can't be recorded would come again and again.
        let shown_only =
            matches!(input, Input::Deltas { .. } | Input::Output { .. } | Input::JobOutput { .. });
        match self.try_append(decision).await {
            Ok(()) => Ok(()),
            Err(Failure::Stop) => Err(Stop),
            Err(Failure::Refused(error)) => {
                tracing::error!(session = %self.id, %error, "an event was refused");
                let Some(smaller) = instead(input, &error) else {
                    return if shown_only { Ok(()) } else { Err(Stop) };
                };
                let decision = self.with_env(|env, state| decide::take(state, smaller, env));
                self.append(decision).await
            }
        }
    }

    async fn command(
        &mut self,
        command: Command,
        answer: oneshot::Sender<Result<Recorded, CommandFailure>>,
    ) -> Result<(), Stop> {
        if self.shared.closing() && !matches!(command, Command::Stop(_)) {
            drop(answer.send(Err(CommandFailure::Closing)));
            return Ok(());
        }
        let (decision, reply) = match self.with_env(|env, state| decide::command(state, command, env)) {
            Ok(taken) => taken,
            Err(error) => {
                drop(answer.send(Err(error.into())));
                return Ok(());
            }
        };
        // A person waits for the answer, so a store that is full for now says so instead of holding the line.
        let taken = match self.once(&decision).await {
            Err(AppendError::Unsure { .. }) if self.reread(decision.drafts.len()) => Ok(()),
            taken => taken,
        };
        match taken {
            Ok(()) => {
                let seq = reply.repeated_at.unwrap_or(self.state.next_seq.saturating_sub(1));
                drop(answer.send(Ok(Recorded { seq, reply })));
                Ok(())
            }
            Err(error) => {
                let fatal = fatal(&error);
                drop(answer.send(Err(error.into())));
                if fatal { Err(Stop) } else { Ok(()) }
            }
        }
    }

    /// Stands still while something is taken out; the state and the prompt are read again from what is left.
    async fn stand(
        &mut self,
        read_to: u64,
        answer: oneshot::Sender<Result<Standing, CommandFailure>>,
    ) -> Result<(), Stop> {
        let fits = match self.shared.closing() {
            true => Err(CommandFailure::Closing),
            false => decide::may_erase(&self.state, read_to).map_err(CommandFailure::from),
        };
        if let Err(refused) = fits {
            drop(answer.send(Err(refused)));
            return Ok(());
        }
        let (until, over) = oneshot::channel();
        drop(answer.send(Ok(Standing { _until: until })));
        // It is over when the other side is dropped.
        drop(over.await);
        self.stale = true;
        self.state = self.shared.store.state(&self.id).map_err(|error| {
            tracing::error!(session = %self.id, %error, "a session can't be read after something was taken out");
            Stop
        })?;
        Ok(())
    }

    /// Stops the running turn, unless it only waits for the person: that waits on in the next process. Jobs are stopped with
    /// everything else, since nothing is wanted any more.
    async fn close(&mut self, answer: oneshot::Sender<()>) -> Result<(), Stop> {
        self.closing.push(answer);
        let working =
            self.running.keys().any(|op| !is_background(op) && !matches!(op, Op::Expire { .. } | Op::Slot));
        if working {
            let stop = Command::Stop(domain::event::CancelBy::Shutdown);
            if let Ok((decision, _)) = self.with_env(|env, state| decide::command(state, stop, env)) {
                self.append(decision).await?;
            }
        } else {
            self.running.values().for_each(CancellationToken::cancel);
        }
        Ok(())
    }

    fn decide(&self, what: impl FnOnce(&State, &Env<'_>) -> Option<Decision>) -> Option<Decision> {
        self.with_env(|env, state| what(state, env))
    }

    fn with_env<T>(&self, with: impl FnOnce(&Env<'_>, &State) -> T) -> T {
        let ports = &self.shared.ports;
        let env = Env {
            now: ports.clock.now_ms(),
            epoch: self.shared.store.epoch(),
            ids: &*ports.ids,
            jitter: (ports.jitter)(),
            limits: &self.shared.limits,
            attended: self.shared.attended.load(Ordering::Acquire),
            closing: !self.closing.is_empty(),
            slot: self.slot.is_some(),
            knowledge: &*self.shared,
        };
        with(&env, &self.state)
    }

    /// Appends what must be appended; a refusal here is a mistake of ours, and this session's work ends loudly.
    async fn append(&mut self, decision: Decision) -> Result<(), Stop> {
        self.try_append(decision).await.map_err(|failure| {
            if let Failure::Refused(error) = failure {
                tracing::error!(session = %self.id, %error, "an event was refused");
            }
            Stop
        })
    }

    /// Appends, waiting out a store that can't be written for now.
    async fn try_append(&mut self, decision: Decision) -> Result<(), Failure> {
        let mut waiting = None;
        loop {
            match self.once(&decision).await {
                Ok(()) => return Ok(()),
                Err(error) if fatal(&error) => return Err(Failure::Stop),
                Err(AppendError::Full | AppendError::Sql { .. } | AppendError::Unsure { .. }) => {
                    waiting.get_or_insert_with(|| self.shared.wait_for(&self.id, Hold::Store));
                    tokio::time::sleep(STALL).await;
                    if self.reread(decision.drafts.len()) {
                        return Ok(());
                    }
                    if self.shared.closing() {
                        return Err(Failure::Stop);
                    }
                }
                Err(error) => return Err(Failure::Refused(error)),
            }
        }
    }

    /// After a commit whose outcome was open: was it made after all?
    fn reread(&mut self, drafts: usize) -> bool {
        let due = self.state.next_seq + drafts as u64;
        match self.shared.store.state(&self.id) {
            Ok(state) if state.next_seq == due => {
                self.state = state;
                true
            }
            Ok(_) | Err(_) => false,
        }
    }

    async fn once(&mut self, decision: &Decision) -> Result<(), AppendError> {
        if decision.drafts.is_empty() {
            return Ok(());
        }
        let durability = if decision.barrier { Durability::Barrier } else { Durability::Normal };
        let drafts: Vec<Draft> = decision.drafts.clone();
        let batch = store::Append { session: self.id.clone(), expected_seq: self.state.next_seq, drafts };
        let recorded = self.shared.store.append_later(vec![batch], durability).await?;
        let state = Arc::make_mut(&mut self.state);
        for event in recorded {
            match event.decode() {
                Ok(event) => state.fold(&event),
                Err(error) => tracing::error!(%error, "an event of this build can't be read back"),
            }
        }
        Ok(())
    }
}

enum Failure {
    Stop,
    Refused(AppendError),
}

/// Nothing more can be written by this process.
fn fatal(error: &AppendError) -> bool {
    matches!(
        error,
        AppendError::Fenced { .. } | AppendError::Closed | AppendError::Crashed | AppendError::ReadOnly(_)
    )
}

/// What an operation that broke off inside Daybook counts as. A call that had started may have done anything.
fn broken(op: &Op) -> Option<Input> {
    let message = "this failed inside Daybook".to_owned();
    match op {
        Op::Prepare(step) => {
            Some(Input::NotPrepared { step: step.clone(), code: "internal".into(), message })
        }
        Op::Send(attempt) => Some(Input::SendFailed {
            attempt: attempt.clone(),
            error: ModelError::new(ErrorClass::Protocol, message),
            raw: None,
        }),
        Op::Run(call) => {
            let end =
                crate::input::FinishedEnd::Unknown([("reason".to_owned(), "internal".to_owned())].into());
            let text = "Outcome unknown: this failed inside Daybook. Look before doing it again.".to_owned();
            let (changed, kept, seen) = (Default::default(), BTreeMap::new(), BTreeMap::new());
            let finished = crate::input::Finished { end, text, changed, kept, seen, secrets: Vec::new() };
            Some(Input::Finished { call: call.clone(), finished, ms: 0 })
        }
        Op::Restore(revision) => {
            let error = domain::call::ToolError { code: "internal".into(), message, suggestion: None };
            let restored = crate::input::Restored::broken_off(error);
            Some(Input::Restored { revision: revision.clone(), restored })
        }
        Op::RunJob(job) => {
            Some(Input::JobFinished { job: job.clone(), finished: jobs::broken(message), ms: 0 })
        }
        Op::Slot
        | Op::Backoff { .. }
        | Op::Judge { .. }
        | Op::Begin(_)
        | Op::BeginJob(_)
        | Op::Expire { .. } => None,
    }
}

/// What is recorded instead of something too large or otherwise unfit for an event.
fn instead(input: Input, error: &AppendError) -> Option<Input> {
    let message = format!("it can't be recorded: {error}");
    match input {
        Input::Answered { attempt, raw, .. } => {
            let error = ModelError::new(ErrorClass::Protocol, message);
            Some(Input::SendFailed { attempt, error, raw })
        }
        Input::Finished { call, finished, ms } => {
            let changed = !finished.changed.is_empty();
            let error =
                domain::call::ToolError { code: "result/too_large".into(), message, suggestion: None };
            let mut text = tools::run::error_text(&error);
            // What it did can't be told in an event, so what it did isn't known: never a plain failure.
            let end = if changed {
                text.push_str("\nIt did change things. Look before doing anything about it.");
                crate::input::FinishedEnd::Unknown([("reason".to_owned(), "too_large".to_owned())].into())
            } else {
                crate::input::FinishedEnd::Failed(error)
            };
            let (changed, kept, seen) = (Default::default(), BTreeMap::new(), BTreeMap::new());
            let finished =
                crate::input::Finished { end, text, changed, kept, seen, secrets: finished.secrets };
            Some(Input::Finished { call, finished, ms })
        }
        Input::JobFinished { job, finished, ms } => {
            Some(Input::JobFinished { job, finished: jobs::unrecorded(finished, message), ms })
        }
        Input::Judged { step, calls } => {
            let suggestion = Some("Ask for less in one call.".to_owned());
            let error = domain::call::ToolError { code: "call/too_large".into(), message, suggestion };
            let refused = |one| decide::Judged { result: Err(error.clone()), ..one };
            Some(Input::Judged { step, calls: calls.into_iter().map(refused).collect() })
        }
        Input::Prepared { step, .. } => {
            Some(Input::NotPrepared { step, code: "request/too_large".into(), message })
        }
        Input::Shorter { step, .. } => {
            Some(Input::NotPrepared { step, code: decide::CANNOT_FIT.to_owned(), message })
        }
        _ => None,
    }
}

/// The same operation, whatever is left of its waiting time.
fn same(one: &Op, other: &Op) -> bool {
    match (one, other) {
        (Op::Expire { approval: a, .. }, Op::Expire { approval: b, .. }) => a == b,
        _ => one == other,
    }
}

/// Does it go on whatever becomes of the turn?
fn is_background(op: &Op) -> bool {
    matches!(op, Op::BeginJob(_) | Op::RunJob(_))
}

/// Calls are judged in one operation at a time; what comes meanwhile is judged after it.
fn both_judge(one: &Op, other: &Op) -> bool {
    matches!((one, other), (Op::Judge { .. }, Op::Judge { .. }))
}

#[expect(clippy::too_many_arguments, reason = "an operation gets all it needs by value")]
async fn perform(
    op: Op,
    shared: Arc<Shared>,
    id: SessionId,
    state: Arc<State>,
    cache: Cache,
    pieces: Pieces,
    ready: Option<Ready>,
    cancel: CancellationToken,
) -> Done {
    match op.clone() {
        Op::Slot => tokio::select! {
            slot = Arc::clone(&shared.slots).acquire_owned() => Done { slot: slot.ok(), ..Done::with(op, None) },
            () = cancel.cancelled() => Done::with(op, None),
        },
        Op::Prepare(step) => {
            let input = prepare::prepare(shared, id, state, step, cache, cancel).await;
            Done::with(op, Some(input))
        }
        Op::Send(attempt) => send::send(shared, id, state, attempt, cache, pieces, cancel).await,
        Op::Backoff { step, wait_ms, .. } => {
            let over = waited(wait_ms, &cancel).await.then_some(Input::BackoffOver { step });
            Done::with(op, over)
        }
        Op::Judge { step, calls } => calls::judge(shared, id, state, step, calls, cancel).await,
        Op::Begin(call) => calls::begin(shared, id, state, call, cancel).await,
        Op::Run(call) => calls::run(shared, id, state, call, ready, pieces, cancel).await,
        Op::BeginJob(job) => jobs::begin(shared, id, state, job, cancel).await,
        Op::RunJob(job) => jobs::run(shared, id, state, job, ready, pieces, cancel).await,
        Op::Restore(revision) => restore::restore(shared, id, state, revision, cancel).await,
        Op::Expire { approval, left_ms } => {
            let due = waited(left_ms, &cancel).await.then_some(Input::ApprovalDue { approval });
            Done::with(op, due)
        }
    }
}

/// True when the whole time passed.
async fn waited(ms: u64, cancel: &CancellationToken) -> bool {
    tokio::select! {
        () = tokio::time::sleep(Duration::from_millis(ms)) => true,
        () = cancel.cancelled() => false,
    }
}
