//! Ends of calls and steps.
//!
//! Invariant: a step ends when its answer is there and each of its calls has a terminal, and not before; a late result
//! of an ended call is recorded as late and changes nothing.

use super::{Decision, cancel, shorter};
use crate::input::{Finished, FinishedEnd};
use domain::event::{
    Draft, End, Fact, LateIgnored, SecretPrinted, StepEnd, StepEndKind, ToolCancelled, ToolOutcome,
    ToolOutcomeUnknown, ToolOutput, ToolResult, TurnEnd,
};
use domain::ids::CallId;
use domain::state::{Call, CallPhase, State, Step, StepPhase, Turn};

/// What follows from an open step alone.
pub(super) fn step(state: &State, turn: &Turn, step: &Step) -> Option<Decision> {
    if let Some(by) = turn.cancel {
        return cancel::converge(state, turn, step, by);
    }
    match &step.phase {
        StepPhase::Answered { .. } if step.calls.iter().all(Call::ended) => {
            let end = if step.calls.is_empty() { StepEndKind::Answer } else { StepEndKind::Tools };
            let ended = StepEnd { step: step.id.clone(), end };
            Some(Decision::plain(vec![Draft::of_step(&turn.id, &step.id, ended)]))
        }
        StepPhase::Exhausted => {
            let message = "the last attempt ended without the step's end".to_owned();
            Some(failed(state, turn, step, End::failed("internal", message)))
        }
        StepPhase::Claimed => shorter::only_summary(state, turn, step),
        StepPhase::Prepared
        | StepPhase::Attempting { .. }
        | StepPhase::Backoff { .. }
        | StepPhase::Answered { .. } => None,
    }
}

/// The step failed and its turn with it.
pub(super) fn failed(state: &State, turn: &Turn, step: &Step, end: End) -> Decision {
    let mut drafts = cancel::keep_words(state, turn, step);
    drafts.push(Draft::of_step(
        &turn.id,
        &step.id,
        StepEnd { step: step.id.clone(), end: StepEndKind::Failed },
    ));
    drafts.push(Draft::of_turn(&turn.id, TurnEnd { end }));
    Decision::plain(drafts)
}

/// Live output; dropped when its call has ended.
pub(super) fn output(state: &State, call: CallId, text: String) -> Decision {
    match (state.step(), state.call(&call)) {
        (Some((turn, step)), Some(open)) if matches!(open.phase, CallPhase::Started { .. }) => {
            Decision::plain(vec![Draft::of_step(&turn.id, &step.id, ToolOutput { call, text })])
        }
        _ => Decision::plain(Vec::new()),
    }
}

/// A started call ended.
pub(super) fn call(state: &State, id: &CallId, finished: Finished, ms: u64) -> Decision {
    let Some((turn, step)) = state.step() else { return late(id.as_str(), "a result") };
    if !state.call(id).is_some_and(|call| matches!(call.phase, CallPhase::Started { .. })) {
        return late(id.as_str(), "a result");
    }
    let Finished { end, text, changed, kept, seen, secrets } = finished;
    let changed = match state.call(id) {
        Some(Call { phase: CallPhase::Started { tree: Some(_), .. }, beside, .. }) => {
            super::jobs::beside(changed, *beside)
        }
        Some(_) | None => changed,
    };
    let call = id.clone();
    let fact: Fact = match end {
        FinishedEnd::Ok(value) => {
            ToolResult { call, outcome: ToolOutcome::Ok { value }, text, changed, kept, seen, ms }.into()
        }
        FinishedEnd::Failed(error) => {
            ToolResult { call, outcome: ToolOutcome::Error { error }, text, changed, kept, seen, ms }.into()
        }
        FinishedEnd::Stopped => ToolCancelled { call, text, changed }.into(),
        FinishedEnd::Unknown(evidence) => ToolOutcomeUnknown { call, evidence, text, changed }.into(),
    };
    let printed = SecretPrinted { call: id.clone(), files: secrets };
    let printed = (!printed.files.is_empty()).then(|| Draft::of_step(&turn.id, &step.id, printed));
    Decision::plain(printed.into_iter().chain([Draft::of_step(&turn.id, &step.id, fact)]).collect())
}

/// Something came for what has ended.
pub(super) fn late(about: &str, what: &str) -> Decision {
    let ignored = LateIgnored { about: about.to_owned(), what: what.to_owned() };
    Decision::plain(vec![Draft::new(ignored)])
}
