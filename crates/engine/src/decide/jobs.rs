//! Jobs: made by a call that ends at once, judged again when they begin, ended once, and told of in the inbox.
//!
//! A **job** is a command that goes on in the background. It belongs to its session, not to a turn: a turn's end and a stop
//! leave it alone. Invariant: what begins was cleared by a judgement made then, under the folder's lease; whoever made it is
//! told how it ended, in the transaction of that end, in our words and none of the command's.

use super::{Decision, Env, Found, Judged, Judgement, Look, Op, command, finish};
use crate::input::{Finished, FinishedEnd};
use domain::call::{ToolError, Verdict};
use domain::event::{
    Changed, Doubt, Draft, InboxPosted, JobCancel, JobCancelBy, JobEnd, JobEnded, JobOutput, JobReconciling,
    JobStarted, Origin, Target,
};
use domain::ids::{JobId, MessageId};
use domain::state::{Job, JobPhase, JobRun, State};
use std::collections::BTreeMap;

/// How many paths a notice names.
const NAMED: usize = 20;
/// How much of a command a notice holds.
const COMMAND_CHARS: usize = 120;

/// Jobs that wait to begin and those that run, as operations.
pub(super) fn wanted(state: &State, env: &Env<'_>) -> Vec<Op> {
    let wanted = |job: &Job| match &job.phase {
        _ if job.cancel.is_some() => None,
        JobPhase::Pending => Some(Op::BeginJob(job.id.clone())),
        JobPhase::Running(run) if run.epoch == env.epoch => Some(Op::RunJob(job.id.clone())),
        JobPhase::Running(_) | JobPhase::Reconciling(_) => None,
    };
    state.jobs.iter().filter_map(wanted).collect()
}

/// One that was stopped before it began ends at once.
pub(super) fn advance(state: &State, env: &Env<'_>) -> Option<Decision> {
    let unbegun = |job: &&Job| job.phase == JobPhase::Pending && job.cancel.is_some();
    let job = state.jobs.iter().find(unbegun)?;
    let end = JobEnd::Cancelled { by: job.cancel? };
    Some(ended(state, job, of(job, end, "Stopped before it began; nothing of it ran."), env))
}

/// May one more be made? How many wait to begin.
pub(super) fn too_many(state: &State, env: &Env<'_>) -> Option<ToolError> {
    let waiting = state.jobs.iter().filter(|job| job.phase == JobPhase::Pending).count();
    let open = state.jobs.len();
    let full = waiting >= env.limits.waiting_jobs || open >= domain::state::MOST_JOBS;
    full.then(|| ToolError {
        code: "job/too_many".into(),
        message: format!("{open} jobs of this session are open, {waiting} of them still wait to begin"),
        suggestion: Some("Wait for one with job, or cancel one that isn't needed.".into()),
    })
}

/// It was judged as things are now: it begins, or it ends without having begun.
pub(super) fn judged(state: &State, id: &JobId, judged: Judged, env: &Env<'_>) -> Decision {
    let open = state.job(id).filter(|job| job.phase == JobPhase::Pending && job.cancel.is_none());
    let Some(job) = open else { return Decision::plain(Vec::new()) };
    let fail = |error: ToolError| {
        let text = tools::run::error_text(&error);
        ended(state, job, of(job, JobEnd::Failed { error }, &text), env)
    };
    let judgement = match judged.result {
        Ok(judgement) => judgement,
        Err(error) => return fail(error),
    };
    // An app that closes begins nothing more; another session holds the folder; or it was made under another mode, other
    // permissions, rules or folders and says nothing. It is judged again.
    let current = super::judged::is_current(state, &judgement, &env.knowledge.in_force(state));
    if env.closing || judgement.waits || !current {
        return Decision::plain(Vec::new());
    }
    match refused(&judgement) {
        Some(error) => fail(error),
        None => {
            let Judgement { semantics, tree, since, uncaged, .. } = judgement;
            let since = tree.map(|_| since);
            Decision::barrier(vec![Draft::new(JobStarted {
                job: id.clone(),
                semantics,
                tree,
                since,
                uncaged,
            })])
        }
    }
}

/// Why it may not begin, where it may not: what was allowed when it was made may not be any more.
fn refused(judgement: &Judgement) -> Option<ToolError> {
    let not_allowed = |message: String| ToolError {
        code: "job/not_allowed".into(),
        message,
        suggestion: Some("Run it again if it is still wanted; the person will be asked.".into()),
    };
    match &judgement.verdict {
        Verdict::Deny { reason, .. } => Some(not_allowed(format!("it may not begin: {reason}"))),
        Verdict::Allow { .. } | Verdict::Ask { .. } if judgement.cleared => None,
        Verdict::Allow { .. } | Verdict::Ask { .. } => {
            let message = "it may not begin: what it would do isn't what was allowed when it was asked for";
            Some(not_allowed(message.to_owned()))
        }
    }
}

/// Live output; dropped when it has ended.
pub(super) fn output(state: &State, id: JobId, text: String) -> Decision {
    match state.job(&id).and_then(Job::running) {
        Some(_) => Decision::plain(vec![Draft::new(JobOutput { job: id, text })]),
        None => Decision::plain(Vec::new()),
    }
}

/// The model doesn't want it any more.
pub(super) fn stopped_by_model(state: &State, id: &JobId) -> Decision {
    let open = state.job(id).filter(|job| job.cancel.is_none());
    let draft = open.map(|job| Draft::new(JobCancel { job: job.id.clone(), by: JobCancelBy::Model }));
    Decision::barrier(draft.into_iter().collect())
}

/// The person doesn't want it any more.
pub(super) fn stop(state: &State, id: &JobId) -> command::Taken {
    match state.job(id) {
        Some(job) if job.cancel.is_none() => {
            command::done(vec![Draft::new(JobCancel { job: id.clone(), by: JobCancelBy::User })])
        }
        // Stopping what is being stopped is what was wanted.
        Some(_) => command::done(Vec::new()),
        None => command::no("job/ended", "this job has ended already"),
    }
}

/// The person looked: one that was lost sight of runs no more.
pub(super) fn settle(state: &State, id: &JobId, env: &Env<'_>) -> command::Taken {
    let Some(job) = state.job(id) else { return command::no("job/ended", "this job has ended already") };
    let JobPhase::Reconciling(run) = &job.phase else {
        return command::no("job/known", "it is known where this job stands; stop it if it isn't wanted");
    };
    let text =
        "Lost sight of; the person says that it has ended. Look at the actual state before relying on it.";
    let ms = env.now.saturating_sub(run.at);
    let end = job.cancel.map_or(JobEnd::Interrupted, |by| JobEnd::Cancelled { by });
    let changed = Changed::default().doubted(Doubt::Untold);
    command::done(ended(state, job, JobEnded { ms, changed, ..of(job, end, text) }, env).drafts)
}

/// Its run ended.
pub(super) fn finished(state: &State, id: &JobId, finished: Finished, ms: u64, env: &Env<'_>) -> Decision {
    let Some((job, run)) = state.job(id).and_then(|job| Some((job, job.running()?))) else {
        return finish::late(id.as_str(), "a result");
    };
    let Finished { end, text, changed, kept, seen, secrets } = finished;
    let end = match end {
        FinishedEnd::Ok(value) => JobEnd::Completed { value },
        FinishedEnd::Failed(error) => JobEnd::Failed { error },
        FinishedEnd::Stopped => job.cancel.map_or(JobEnd::Interrupted, |by| JobEnd::Cancelled { by }),
        FinishedEnd::Unknown(evidence) => return lost(job, evidence, env),
    };
    let changed = beside(changed, run.beside);
    let job_ended = JobEnded { job: id.clone(), end, text, changed, kept, seen, secrets, ms };
    ended(state, job, job_ended, env)
}

/// Changes told by comparing, of something that wasn't alone in the folder.
pub(super) fn beside(changed: Changed, beside: bool) -> Changed {
    match changed.doubt {
        None if beside && !changed.is_empty() => changed.doubted(Doubt::Mixed),
        _ => changed,
    }
}

/// What a new process appends for the jobs of a dead one: none is run again.
pub(super) fn recover(state: &State, env: &Env<'_>, found: &Found) -> Vec<Draft> {
    let dead = |job: &&Job| job.running().is_some_and(|run| run.epoch != env.epoch);
    let each = |job: &Job| match job.running() {
        Some(run) if run.uncaged => {
            let reason = ("reason".to_owned(), "crash".to_owned());
            lost(job, BTreeMap::from([reason]), env).drafts
        }
        Some(run) => cut_off(state, job, run, found.get(&job.call.id), env).drafts,
        None => Vec::new(),
    };
    state.jobs.iter().filter(dead).flat_map(each).collect()
}

/// Its cage ended with the process that ran it.
fn cut_off(state: &State, job: &Job, run: &JobRun, look: Option<&Look>, env: &Env<'_>) -> Decision {
    let changed = match look {
        // Whoever changed things while nobody looked is among them.
        Some(Look::Differs(changed)) => beside(changed.clone(), true),
        Some(Look::Done(_) | Look::NotDone) => Changed::default(),
        None if run.tree.is_some() => Changed::default().doubted(Doubt::Untold),
        None => Changed::default(),
    };
    let text = "Interrupted: Daybook was closed while it ran, and it ended then. It was not run again. Look at the \
                actual state before doing anything about it.";
    let ms = state.time.saturating_sub(run.at);
    ended(state, job, JobEnded { ms, changed, ..of(job, JobEnd::Interrupted, text) }, env)
}

/// Nobody knows whether it ended: the person is told, and so is the model.
fn lost(job: &Job, evidence: BTreeMap<String, String>, env: &Env<'_>) -> Decision {
    let text = format!(
        "<note>Lost sight of the background job {} ({}): whether it still runs isn't known. It was not run again. Look \
         at the actual state before relying on it.</note>",
        job.id,
        named(job)
    );
    let reconciling = JobReconciling { job: job.id.clone(), evidence };
    Decision::barrier(vec![Draft::new(reconciling), notice(text, false, env)])
}

/// An end, with the notice to whoever made it.
fn ended(state: &State, job: &Job, end: JobEnded, env: &Env<'_>) -> Decision {
    // A person who stops the work wants quiet.
    let quiet = match &state.turn {
        Some(turn) => turn.cancel.is_some(),
        None => state.stopped,
    };
    let text = format!(
        "<note>The background job {} ({}) has ended: {}.{} Its output: call job with action status.</note>",
        job.id,
        named(job),
        how(&end.end),
        changes(&end.changed)
    );
    Decision::barrier(vec![Draft::new(end), notice(text, job.notify && !quiet, env)])
}

fn of(job: &Job, end: JobEnd, text: &str) -> JobEnded {
    JobEnded {
        job: job.id.clone(),
        end,
        text: text.to_owned(),
        changed: Changed::default(),
        kept: BTreeMap::new(),
        seen: BTreeMap::new(),
        secrets: Vec::new(),
        ms: 0,
    }
}

fn notice(text: String, wakeup: bool, env: &Env<'_>) -> Draft {
    let message = MessageId::new(env.ids);
    let (target, origin) = (Target::NextStep, Origin::Host);
    Draft::new(InboxPosted { message, text, target, wakeup, origin, command: None })
}

fn named(job: &Job) -> String {
    let line = job.command.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(COMMAND_CHARS).collect();
    let more = if cut.len() < job.command.len() { "…" } else { "" };
    format!("{}{more}", tools::path::shown(&cut))
}

fn how(end: &JobEnd) -> String {
    match end {
        JobEnd::Completed { value } => match value.get("exit_code").and_then(serde_json::Value::as_i64) {
            Some(code) => format!("completed, exit code {code}"),
            None => "completed".to_owned(),
        },
        JobEnd::Failed { error } => format!("failed ({})", error.code),
        JobEnd::Cancelled { by: JobCancelBy::User } => "the person stopped it".to_owned(),
        JobEnd::Cancelled { by: JobCancelBy::Model } => "stopped, as you asked".to_owned(),
        JobEnd::Interrupted => "interrupted, since Daybook was closed; it was not run again".to_owned(),
    }
}

fn changes(changed: &Changed) -> String {
    if changed.is_empty() {
        return String::new();
    }
    let mut paths: Vec<String> =
        changed.effects.iter().take(NAMED).map(|effect| tools::path::shown(&effect.path)).collect();
    let more = changed.count().saturating_sub(paths.len() as u64);
    if more > 0 {
        paths.push(format!("and {more} more"));
    }
    format!(" Different in the folder since it began: {}.", paths.join(", "))
}
