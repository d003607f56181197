//! Jobs as shown: one line each, from made to ended, with the newest output.
//!
//! Live pieces show at once and the logged ones hold the same, so a byte is shown once. Invariant: what is open is all there;
//! of what ended only the last stay, so that a session with many jobs stays small.

use super::answer::Seen;
use super::patch::{append_output, bounded};
use super::{Fold, facts};
use crate::wire::job::{JobPhase, JobView};
use crate::wire::view::Patch;
use domain::event::{
    Event, JobCancelBy, JobCreated, JobEnd, JobEnded, JobOutput, JobReconciling, JobStarted,
};
use domain::ids::JobId;
use engine::Live;
use engine::show::own_end;

/// Jobs that ended and stay in the view.
pub(super) const ENDED_JOBS: usize = 20;

impl Fold {
    pub(super) fn job_created(&mut self, e: &JobCreated, event: &Event, out: &mut Vec<Patch>) {
        let job = JobView {
            id: e.job.to_string(),
            call: e.call.to_string(),
            command: facts::shown(&e.command),
            notify: e.notify,
            created: event.envelope.time,
            started: None,
            phase: JobPhase::Pending,
            stopping: false,
            effects: false,
            output: String::new(),
            changed: 0,
            doubt: None,
        };
        self.push(Patch::Job { job }, out);
    }

    pub(super) fn job_started(&mut self, e: &JobStarted, event: &Event, out: &mut Vec<Patch>) {
        self.job_outputs.insert(e.job.clone(), Seen::up_to(Live::JOB_LOGGED));
        let (time, effects) = (event.envelope.time, e.semantics.has_effects());
        self.change_job(
            &e.job,
            |job| (job.started, job.phase, job.effects) = (Some(time), JobPhase::Running, effects),
            out,
        );
    }

    pub(super) fn live_job_output(&mut self, job: &JobId, at: usize, text: &str, out: &mut Vec<Patch>) {
        let Some(seen) = self.job_outputs.get_mut(job) else { return };
        let fresh = seen.live(at, text);
        self.more_of_job(job, fresh, out);
    }

    pub(super) fn logged_job_output(&mut self, e: &JobOutput, out: &mut Vec<Patch>) {
        let Some(seen) = self.job_outputs.get_mut(&e.job) else { return };
        let fresh = seen.logged(&e.text);
        self.more_of_job(&e.job, fresh, out);
    }

    fn more_of_job(&mut self, job: &JobId, text: String, out: &mut Vec<Patch>) {
        if !text.is_empty() {
            self.push(Patch::JobOutput { job: job.to_string(), text }, out);
        }
    }

    pub(super) fn job_stopping(&mut self, job: &JobId, out: &mut Vec<Patch>) {
        self.change_job(job, |job| job.stopping = true, out);
    }

    pub(super) fn job_lost(&mut self, e: &JobReconciling, out: &mut Vec<Patch>) {
        self.job_outputs.remove(&e.job);
        self.change_job(&e.job, |job| job.phase = JobPhase::Reconciling, out);
    }

    pub(super) fn job_ended(&mut self, e: &JobEnded, out: &mut Vec<Patch>) {
        self.job_outputs.remove(&e.job);
        self.changed(&e.changed);
        let own = own_end(e);
        self.change_job(
            &e.job,
            |job| {
                job.phase = ended(&e.end, e.ms);
                // Where its end says nothing of its own, what streamed is all there is.
                if !own.is_empty() {
                    job.output = bounded(own);
                }
                job.changed = e.changed.count();
                job.doubt = e.changed.doubt.map(crate::undo::doubt);
            },
            out,
        );
    }

    fn change_job(&mut self, id: &JobId, change: impl FnOnce(&mut JobView), out: &mut Vec<Patch>) {
        let Some(job) = self.shown.view.jobs.iter().find(|job| job.id == id.as_str()) else { return };
        let mut job = job.clone();
        change(&mut job);
        self.push(Patch::Job { job }, out);
    }
}

fn ended(end: &JobEnd, ms: u64) -> JobPhase {
    match end {
        JobEnd::Completed { value } => {
            JobPhase::Completed { code: value.get("exit_code").and_then(serde_json::Value::as_i64), ms }
        }
        JobEnd::Failed { error } => JobPhase::Failed { error: error.code.clone(), ms },
        JobEnd::Cancelled { by: JobCancelBy::User } => JobPhase::Cancelled { by: "user".to_owned(), ms },
        JobEnd::Cancelled { by: JobCancelBy::Model } => JobPhase::Cancelled { by: "model".to_owned(), ms },
        JobEnd::Interrupted => JobPhase::Interrupted { ms },
    }
}

/// Puts a job at its place; of those that ended, the ones go that ended first.
pub(super) fn put(jobs: &mut Vec<JobView>, job: &JobView) {
    match jobs.iter_mut().find(|known| known.id == job.id) {
        Some(known) => *known = job.clone(),
        None => jobs.push(job.clone()),
    }
    while jobs.iter().filter(|job| job.phase.ended()).count() > ENDED_JOBS {
        let first = jobs.iter().enumerate().filter_map(|(at, job)| Some((job.ended_at()?, at))).min();
        let Some((_, at)) = first else { return };
        jobs.remove(at);
    }
}

/// Appends output.
pub(super) fn more(jobs: &mut [JobView], id: &str, text: &str) {
    if let Some(job) = jobs.iter_mut().find(|job| job.id == id) {
        append_output(&mut job.output, text);
    }
}
