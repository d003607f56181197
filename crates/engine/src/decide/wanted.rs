//! Which operations should be under way now, from the state alone.
//!
//! The performer compares this with what it is doing: it starts what is missing and stops what is no longer wanted.
//! Invariant: nothing is wanted for a turn that is being stopped, nor while the app closes, so a stop reaches every
//! operation by this one road.

use super::{Env, claim, jobs};
use domain::call::{Act, Verdict};
use domain::ids::{ApprovalId, AttemptId, CallId, JobId, RevisionId, StepId};
use domain::state::{ApprovalState, Call, CallPhase, State, Step, StepPhase};

/// An operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Op {
    /// Get one of the store's running turns.
    Slot,
    /// Build the request of a step.
    Prepare(StepId),
    /// Send the prepared request.
    Send(AttemptId),
    /// Wait before sending again.
    Backoff {
        /// The step.
        step: StepId,
        /// Attempts made so far.
        after: u32,
        /// Milliseconds to wait, from when it was decided.
        wait_ms: u64,
    },
    /// Survey and judge calls.
    Judge {
        /// The step.
        step: StepId,
        /// The calls.
        calls: Vec<CallId>,
    },
    /// Wait until no other session works in the folder, and judge a call once more whose turn has come.
    Begin(CallId),
    /// Run a started call.
    Run(CallId),
    /// Wait for a place among the running jobs and for the folder, and judge a job once more.
    BeginJob(JobId),
    /// Run a job that has begun.
    RunJob(JobId),
    /// Wait until no other session works in the folder, and take changes back.
    Restore(RevisionId),
    /// Wait until an approval lapses.
    Expire {
        /// The approval.
        approval: ApprovalId,
        /// Milliseconds it has left.
        left_ms: u64,
    },
}

/// The wanted operations.
#[must_use]
pub fn wanted(state: &State, env: &Env<'_>) -> Vec<Op> {
    if env.closing {
        return Vec::new();
    }
    let mut ops = of_turn(state, env);
    ops.extend(jobs::wanted(state, env));
    ops
}

fn of_turn(state: &State, env: &Env<'_>) -> Vec<Op> {
    if let Some(restoring) = &state.restoring {
        // What was called off under a dead process is looked at: it may have begun.
        let called_off = restoring.called_off == Some(env.epoch);
        return if called_off { Vec::new() } else { vec![Op::Restore(restoring.revision.clone())] };
    }
    let Some(turn) = &state.turn else {
        let work = !env.slot && claim::runnable(state).is_some();
        return if work { vec![Op::Slot] } else { Vec::new() };
    };
    let Some(step) = turn.step.as_ref().filter(|_| turn.cancel.is_none()) else { return Vec::new() };
    match &step.phase {
        StepPhase::Claimed => vec![Op::Prepare(step.id.clone())],
        StepPhase::Attempting { attempt } => vec![Op::Send(attempt.clone())],
        StepPhase::Backoff { retry, .. } => {
            vec![Op::Backoff { step: step.id.clone(), after: step.attempts, wait_ms: retry.wait_ms }]
        }
        StepPhase::Answered { .. } => calls(step, env),
        StepPhase::Prepared | StepPhase::Exhausted => Vec::new(),
    }
}

fn calls(step: &Step, env: &Env<'_>) -> Vec<Op> {
    let mut ops: Vec<Op> = Vec::new();
    for call in &step.calls {
        if matches!(call.phase, CallPhase::Started { .. }) && call.question.is_none() {
            ops.push(Op::Run(call.id.clone()));
        }
        if let Some(approval) =
            call.approval.as_ref().filter(|a| a.state == ApprovalState::Open && !call.ended())
        {
            let left_ms = (approval.asked + approval.valid_ms).saturating_sub(env.now).min(approval.valid_ms);
            ops.push(Op::Expire { approval: approval.id.clone(), left_ms });
        }
    }
    let proposed = |call: &&Call| call.phase == CallPhase::Proposed && call.good.is_some();
    let judge = step.calls.iter().filter(proposed).filter(|call| call.decision.is_none());
    let judge: Vec<CallId> = judge.map(|call| call.id.clone()).collect();
    if !judge.is_empty() {
        ops.push(Op::Judge { step: step.id.clone(), calls: judge });
    }
    let begin = step.calls.iter().filter(proposed).filter(|call| may_begin(step, call, env));
    ops.extend(begin.map(|call| Op::Begin(call.id.clone())));
    ops
}

/// Was it cleared to run, and has its turn come?
fn may_begin(step: &Step, call: &Call, env: &Env<'_>) -> bool {
    let Some(decided) = &call.decision else { return false };
    let cleared = match (&decided.verdict, call.approval.as_ref().map(|a| &a.state)) {
        (Verdict::Allow { .. }, _) | (Verdict::Ask { .. }, Some(ApprovalState::Granted)) => true,
        (Verdict::Ask { .. } | Verdict::Deny { .. }, _) => false,
    };
    cleared && ready(step, call, env)
}

/// May it start beside what runs and what stands before it?
pub(super) fn ready(step: &Step, call: &Call, env: &Env<'_>) -> bool {
    let running = step.calls.iter().filter(|other| matches!(other.phase, CallPhase::Started { .. })).count();
    let before = step.calls.iter().take_while(|other| other.id != call.id).filter(|other| !other.ended());
    running < env.limits.parallel_calls && before.into_iter().all(|other| !conflict(call, other))
}

/// Calls meet when one of them changes something the other touches; a command meets everything.
fn conflict(one: &Call, other: &Call) -> bool {
    let (Some(a), Some(b)) = (&one.decision, &other.decision) else {
        // A call that hasn't been judged could touch anything; one that can't be checked touches nothing.
        return one.good.is_some() && other.good.is_some();
    };
    let harmless = |act: Act| matches!(act, Act::Read | Act::Talk);
    if harmless(a.act) && harmless(b.act) {
        return false;
    }
    if a.act == Act::Talk || b.act == Act::Talk {
        return false;
    }
    if a.act == Act::Run || b.act == Act::Run {
        return true;
    }
    a.touches.iter().any(|x| b.touches.iter().any(|y| within(x, y) || within(y, x)))
}

/// Is `inner` the same path as `outer` or below it?
fn within(inner: &str, outer: &str) -> bool {
    outer == "." || inner == outer || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
}
