//! Jobs of a session: what is open, what ended lately, and the law of their phases.
//!
//! A **job** goes from pending to running to exactly one end, with reconciling in between where nobody knows whether it
//! ended. It keeps the call that made it, so that it can be judged again when it begins. Invariants: open jobs are few and
//! whole, ended ones are only named; where one runs beside a call that changes something, both know.

use super::check::{Verdict, require};
use super::types::{Call, CallPhase, State};
use crate::call::Semantics;
use crate::digest::Digest;
use crate::event::{Event, JobCancel, JobCancelBy, JobCreated, JobEnd, JobEnded, JobReconciling, JobStarted};
use crate::ids::JobId;
use serde::{Deserialize, Serialize};

/// Most jobs of a session that are open at once, whatever wants more.
pub const MOST_JOBS: usize = 64;

/// How many ended jobs are remembered.
pub const REMEMBERED_JOBS: usize = 32;

/// An open job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// The call that made it, as it was cleared: tool, arguments, approval.
    pub call: Call,
    /// Its command.
    pub command: String,
    /// Does its end wake a session that rests?
    pub notify: bool,
    /// Who wants it to stop.
    pub cancel: Option<JobCancelBy>,
    /// Where it stands.
    pub phase: JobPhase,
}

/// Where an open job stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobPhase {
    /// It waits to begin; nothing of it ran.
    Pending,
    /// It runs.
    Running(JobRun),
    /// It ran, and whether it ended isn't known.
    Reconciling(JobRun),
}

/// A job's one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRun {
    /// When it began, UTC ms.
    pub at: u64,
    /// Where the log was before its tree was taken, or where its beginning is recorded.
    pub seq: u64,
    /// The process that runs it.
    pub epoch: u64,
    /// What it may do.
    pub semantics: Semantics,
    /// The folder's tree just before, where its changes are told by comparing.
    pub tree: Option<Digest>,
    /// May it outlive its process?
    pub uncaged: bool,
    /// Did something else of the session that changes things run meanwhile?
    pub beside: bool,
}

/// A job that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndedJob {
    /// Its id.
    pub id: JobId,
    /// Its command.
    pub command: String,
    /// How it ended.
    pub end: JobEnd,
    /// Where that was recorded: the words of it stand there.
    pub seq: u64,
}

impl Job {
    /// Its run, where it runs.
    #[must_use]
    pub fn running(&self) -> Option<&JobRun> {
        match &self.phase {
            JobPhase::Running(run) => Some(run),
            JobPhase::Pending | JobPhase::Reconciling(_) => None,
        }
    }

    /// Its run, where it has begun.
    #[must_use]
    pub fn run(&self) -> Option<&JobRun> {
        match &self.phase {
            JobPhase::Running(run) | JobPhase::Reconciling(run) => Some(run),
            JobPhase::Pending => None,
        }
    }
}

impl State {
    /// An open job.
    #[must_use]
    pub fn job(&self, id: &JobId) -> Option<&Job> {
        self.jobs.iter().find(|job| job.id == *id)
    }

    /// Does a job run, or may it still, that can change something?
    #[must_use]
    pub fn job_changes(&self) -> bool {
        self.jobs.iter().filter_map(Job::run).any(|run| run.semantics.has_effects())
    }
}

pub(super) fn check_created(state: &State, e: &JobCreated) -> Verdict {
    let call = state.call(&e.call);
    let started = call.is_some_and(|call| matches!(call.phase, CallPhase::Started { .. }));
    require(started, "job/call", || format!("{} hasn't started", e.call))?;
    let known =
        state.jobs.iter().any(|job| job.id == e.job) || state.ended_jobs.iter().any(|j| j.id == e.job);
    require(!known, "job/unique", || format!("{} exists", e.job))?;
    let once = state.jobs.iter().all(|job| job.call.id != e.call);
    require(once, "job/one_a_call", || format!("{} made one already", e.call))?;
    require(state.jobs.len() < MOST_JOBS, "job/count", || format!("{MOST_JOBS} are open"))
}

/// It begins once, unless somebody stopped it, and never while changes are taken back.
pub(super) fn check_started(state: &State, e: &JobStarted) -> Verdict {
    let job = state.job(&e.job);
    let pending = job.is_some_and(|job| job.phase == JobPhase::Pending && job.cancel.is_none());
    require(pending, "job/phase", || format!("{} isn't waiting to begin", e.job))?;
    let before = e.since.is_none_or(|since| since <= state.next_seq);
    require(before, "job/since", || format!("the tree of {} was taken later", e.job))?;
    require(state.restoring.is_none(), "revision/idle", || "changes are being taken back".into())
}

pub(super) fn check_running(state: &State, id: &JobId) -> Verdict {
    let runs = state.job(id).is_some_and(|job| job.running().is_some());
    require(runs, "job/phase", || format!("{id} doesn't run"))
}

pub(super) fn check_open(state: &State, id: &JobId) -> Verdict {
    require(state.job(id).is_some(), "job/open", || format!("{id} isn't open"))
}

/// One end each. One that never began changed nothing and has no result.
pub(super) fn check_ended(state: &State, e: &JobEnded) -> Verdict {
    check_open(state, &e.job)?;
    let Some(job) = state.job(&e.job) else { return Ok(()) };
    let fits = match &e.end {
        JobEnd::Completed { .. } => job.run().is_some(),
        JobEnd::Cancelled { by } => job.cancel == Some(*by),
        JobEnd::Interrupted => job.run().is_some(),
        JobEnd::Failed { .. } => true,
    };
    require(fits, "job/end", || format!("{} doesn't fit {:?}", e.end.name(), job.phase))?;
    require(job.run().is_some() || e.changed.is_empty(), "job/effects", || {
        format!("{} changed something without having begun", e.job)
    })
}

/// Is the folder left alone by jobs? What is taken back or erased must not move meanwhile.
pub(super) fn at_rest(state: &State, law: &'static str) -> Verdict {
    require(state.jobs.is_empty(), law, || "a job is open".into())
}

pub(super) fn created(state: &mut State, e: &JobCreated) {
    let Some(call) = state.call(&e.call).cloned() else { return };
    // Of the call it is the making that ran; the job hasn't begun.
    let call = Call { phase: CallPhase::Proposed, ..call };
    state.jobs.push(Job {
        id: e.job.clone(),
        call,
        command: e.command.clone(),
        notify: e.notify,
        cancel: None,
        phase: JobPhase::Pending,
    });
}

pub(super) fn started(state: &mut State, e: &JobStarted, event: &Event) {
    let changes = e.semantics.has_effects();
    let beside = changes && (state.job_changes() || calls_change(state));
    let run = JobRun {
        at: event.envelope.time,
        seq: e.since.unwrap_or(event.envelope.seq),
        epoch: event.envelope.epoch,
        semantics: e.semantics.clone(),
        tree: e.tree,
        uncaged: e.uncaged,
        beside,
    };
    if changes {
        beside_jobs(state);
        let step = state.turn.as_mut().and_then(|turn| turn.step.as_mut());
        for call in step.into_iter().flat_map(|step| &mut step.calls).filter(|call| changes_now(call)) {
            call.beside = true;
        }
    }
    if let Some(job) = state.jobs.iter_mut().find(|job| job.id == e.job) {
        job.phase = JobPhase::Running(run);
    }
}

/// A call that changes something starts: jobs that run know it, and it knows them.
pub(super) fn call_started(state: &mut State, semantics: &Semantics) -> bool {
    let beside = semantics.has_effects() && state.job_changes();
    if beside {
        beside_jobs(state);
    }
    beside
}

pub(super) fn cancel(state: &mut State, e: &JobCancel) {
    if let Some(job) = state.jobs.iter_mut().find(|job| job.id == e.job) {
        job.cancel = job.cancel.or(Some(e.by));
    }
}

pub(super) fn reconciling(state: &mut State, e: &JobReconciling) {
    if let Some(job) = state.jobs.iter_mut().find(|job| job.id == e.job)
        && let JobPhase::Running(run) = &job.phase
    {
        job.phase = JobPhase::Reconciling(run.clone());
    }
}

pub(super) fn ended(state: &mut State, e: &JobEnded, event: &Event) {
    state.secrets.extend(e.secrets.iter().cloned());
    let Some(at) = state.jobs.iter().position(|job| job.id == e.job) else { return };
    let job = state.jobs.remove(at);
    if state.ended_jobs.len() == REMEMBERED_JOBS {
        state.ended_jobs.remove(0);
    }
    let seq = event.envelope.seq;
    state.ended_jobs.push(EndedJob { id: job.id, command: job.command, end: e.end.clone(), seq });
}

fn beside_jobs(state: &mut State) {
    for job in &mut state.jobs {
        if let JobPhase::Running(run) | JobPhase::Reconciling(run) = &mut job.phase {
            run.beside = true;
        }
    }
}

fn calls_change(state: &State) -> bool {
    state.step().is_some_and(|(_, step)| step.calls.iter().any(changes_now))
}

fn changes_now(call: &Call) -> bool {
    matches!(&call.phase, CallPhase::Started { semantics, .. } if semantics.has_effects())
}
