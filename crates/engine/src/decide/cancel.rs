//! Cancelling to quiescence: closing what is open from the inside out, once nothing of it runs any more.
//!
//! Invariant: a call ends as cancelled only if it never started or its executor confirmed the stop; the turn ends after
//! all its children, with the reason that came first.

use super::Decision;
use domain::event::{
    ApprovalExpired, CancelBy, Changed, Draft, End, StepEnd, StepEndKind, ToolCancelled, TurnEnd, UserMessage,
};
use domain::state::{ApprovalState, Call, CallPhase, State, Step, StepPhase, Turn};

/// What a person's stop leaves to be written now; `None` while something still runs.
pub(super) fn converge(state: &State, turn: &Turn, step: &Step, by: CancelBy) -> Option<Decision> {
    let mut drafts: Vec<Draft> = Vec::new();
    for call in step.calls.iter().filter(|call| stoppable(call)) {
        let why =
            if matches!(by, CancelBy::User) { "the person stopped the work" } else { "Daybook is closing" };
        drafts.extend(unstart(turn, step, call, &format!("Not run: {why}.")));
    }
    if !drafts.is_empty() {
        return Some(Decision::plain(drafts));
    }
    let running =
        step.calls.iter().any(|call| !call.ended()) || matches!(step.phase, StepPhase::Attempting { .. });
    if running {
        return None;
    }
    drafts.extend(keep_words(state, turn, step));
    drafts.push(Draft::of_step(
        &turn.id,
        &step.id,
        StepEnd { step: step.id.clone(), end: StepEndKind::Cancelled },
    ));
    drafts.push(Draft::of_turn(&turn.id, TurnEnd { end: End::Cancelled { by } }));
    Some(Decision::barrier(drafts))
}

/// Words that were claimed and never sent still belong to the history.
pub(super) fn keep_words(state: &State, turn: &Turn, step: &Step) -> Vec<Draft> {
    let claimed = state.inbox.iter().filter(|waiting| waiting.reserved.as_ref() == Some(&step.id));
    claimed
        .map(|waiting| {
            let said = UserMessage { message: waiting.message.clone(), text: waiting.text.clone() };
            Draft::of_step(&turn.id, &step.id, said)
        })
        .collect()
}

/// Ends a call that hasn't started, or that only waits for an answer.
pub(super) fn unstart(turn: &Turn, step: &Step, call: &Call, text: &str) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if let Some(approval) = &call.approval
        && matches!(approval.state, ApprovalState::Open | ApprovalState::Granted)
    {
        let expired = ApprovalExpired { approval: approval.id.clone(), why: "turn".into() };
        drafts.push(Draft::of_step(&turn.id, &step.id, expired));
    }
    let ended = ToolCancelled { call: call.id.clone(), text: text.to_owned(), changed: Changed::default() };
    drafts.push(Draft::of_step(&turn.id, &step.id, ended));
    drafts
}

/// Not begun, or begun and only waiting for the person: nothing of it runs.
fn stoppable(call: &Call) -> bool {
    match &call.phase {
        CallPhase::Proposed => true,
        CallPhase::Started { .. } => call.question.as_ref().is_some_and(|question| question.answer.is_none()),
        CallPhase::Ended { .. } => false,
    }
}
