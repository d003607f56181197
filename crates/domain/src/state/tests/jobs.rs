//! Jobs: the law of their phases, and what is known of two things that ran side by side.

use super::{check, with};
use crate::call::{Effect, Entry, Semantics};
use crate::event::*;
use crate::state::{CallPhase, JobPhase, State};
use crate::testing::*;

/// A call that left a job and ended.
fn left() -> Log {
    with(Log::answered(2), |log| {
        log.lawful(decided(1, allow()));
        log.lawful(started(1, Semantics::None { retry: true }));
        log.lawful(job_created(1, 1));
        log.lawful(result(1));
    })
}

fn running() -> Log {
    with(left(), |log| log.lawful(job_started(1, manual())))
}

fn by(by: JobCancelBy) -> JobEnd {
    JobEnd::Cancelled { by }
}

fn failed_end() -> JobEnd {
    JobEnd::Failed { error: super::error() }
}

#[test]
fn r_job_02_a_job_goes_from_pending_to_running_to_one_end() {
    let proposed = Log::answered(1);
    check(&proposed, job_created(1, 1), Err("job/call"));
    check(&left(), job_created(2, 1), Err("job/call"));
    let twice = with(Log::answered(1), |log| {
        log.lawful(decided(1, allow()));
        log.lawful(started(1, Semantics::None { retry: true }));
        log.lawful(job_created(1, 1));
    });
    check(&twice, job_created(2, 1), Err("job/one_a_call"));
    check(&twice, job_created(1, 1), Err("job/unique"));
    check(&left(), job_started(2, manual()), Err("job/phase"));
    let later = JobStarted { since: Some(u64::MAX), ..job_started(1, manual()) };
    check(&left(), later, Err("job/since"));
    check(&left(), job_ended(1, completed()), Err("job/end"));
    check(&left(), job_ended(1, JobEnd::Interrupted), Err("job/end"));
    check(&left(), job_ended(1, failed_end()), Ok(()));
    check(&left(), JobOutput { job: job(1), text: "x".into() }, Err("job/phase"));
    check(&running(), job_started(1, manual()), Err("job/phase"));
    check(&running(), JobOutput { job: job(1), text: "x".into() }, Ok(()));
    for end in [completed(), failed_end(), JobEnd::Interrupted] {
        check(&running(), job_ended(1, end.clone()), Ok(()));
        let ended = with(running(), |log| log.lawful(job_ended(1, end)));
        check(&ended, job_ended(1, completed()), Err("job/open"));
        check(&ended, job_cancel(1, JobCancelBy::User), Err("job/open"));
        assert!(ended.state.jobs.is_empty());
        assert_eq!(ended.state.ended_jobs.len(), 1);
    }
}

#[test]
fn r_job_08_one_that_was_stopped_begins_no_more_and_the_first_who_asked_stays() {
    let stopped = with(left(), |log| {
        log.lawful(job_cancel(1, JobCancelBy::Model));
        log.lawful(job_cancel(1, JobCancelBy::User));
    });
    check(&stopped, job_started(1, manual()), Err("job/phase"));
    check(&stopped, job_ended(1, by(JobCancelBy::User)), Err("job/end"));
    check(&stopped, job_ended(1, by(JobCancelBy::Model)), Ok(()));
    check(&running(), job_ended(1, by(JobCancelBy::User)), Err("job/end"));
}

#[test]
fn r_job_04_what_was_lost_sight_of_is_reconciling_until_it_is_known() {
    check(&left(), job_lost(1), Err("job/phase"));
    let lost = with(running(), |log| log.lawful(job_lost(1)));
    check(&lost, job_lost(1), Err("job/phase"));
    check(&lost, job_ended(1, JobEnd::Interrupted), Ok(()));
    assert!(matches!(lost.state.jobs[0].phase, JobPhase::Reconciling(_)));
}

#[test]
fn only_a_job_that_began_changed_something() {
    let effect = Effect {
        path: "made".into(),
        before: None,
        after: Some(Entry::Folder { mode: None }),
        lines: None,
        kept_in: None,
        parted: None,
    };
    let changed = Changed { effects: vec![effect], ..Changed::default() };
    let failed = JobEnded { changed: changed.clone(), ..job_ended(1, failed_end()) };
    check(&left(), failed, Err("job/effects"));
    check(&running(), JobEnded { changed, ..job_ended(1, completed()) }, Ok(()));
}

#[test]
fn nothing_is_taken_back_or_erased_while_a_job_is_open() {
    let resting = with(left(), |log| {
        log.lawful(cancelled(2));
        log.lawful(step_end(1, StepEndKind::Tools));
        log.lawful(TurnEnd { end: End::Length });
    });
    let erased = || RecordErased {
        by: ErasedBy::User,
        why: ErasedWhy::Secret,
        chosen: 1,
        events: Vec::new(),
        blobs: Vec::new(),
    };
    check(&resting, RevisionThinned::default(), Err("revision/idle"));
    check(&resting, erased(), Err("record/idle"));
    let ended = with(resting, |log| log.lawful(job_ended(1, failed_end())));
    check(&ended, RevisionThinned::default(), Ok(()));
    check(&ended, erased(), Ok(()));
}

#[test]
fn a_call_and_a_job_that_run_side_by_side_know_it_whichever_began_first() {
    let beside = |state: &State| {
        let call = state.call(&call(2)).map(|call| call.beside);
        (call, state.jobs[0].run().map(|run| run.beside))
    };
    let after = with(running(), |log| {
        log.lawful(decided(2, allow()));
        log.lawful(started(2, manual()));
    });
    assert_eq!(beside(&after.state), (Some(true), Some(true)));
    let before = with(left(), |log| {
        log.lawful(decided(2, allow()));
        log.lawful(started(2, manual()));
        log.lawful(job_started(1, manual()));
    });
    assert_eq!(beside(&before.state), (Some(true), Some(true)));
    let looks = with(running(), |log| {
        log.lawful(decided(2, allow()));
        log.lawful(started(2, Semantics::None { retry: true }));
    });
    assert_eq!(beside(&looks.state), (Some(false), Some(false)));
    assert!(matches!(looks.state.call(&call(2)).map(|c| &c.phase), Some(CallPhase::Started { .. })));
}
