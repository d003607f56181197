//! Recovery: what a new process appends for what a dead one left open, from the inside out.
//!
//! A turn whose answer was accepted is adopted: its calls that never started, approvals and questions wait on, calls that
//! may have had effects become `outcome_unknown`. A turn without an answer ends as interrupted and is continued by a new
//! one. Invariant: nothing with possible effects runs twice; running recovery again adds nothing.

use super::{Decision, Env, answer, cancel, jobs, judged};
use domain::call::{Effect, Entry, Recovery, Semantics, ToolError};
use domain::event::{
    AttemptEndKind, Changed, Doubt, Draft, End, Fact, InboxReleased, RecoveryAdopted, RecoveryContinuation,
    Source, StepEnd, StepEndKind, ToolCancelled, ToolOutcome, ToolOutcomeUnknown, TurnEnd,
};
use domain::ids::{CallId, MessageId};
use domain::state::{Call, CallPhase, State, Step, StepPhase, Turn};
use std::collections::BTreeMap;

/// What looking at the world found out about calls that had started, before anything is written about them.
pub type Found = BTreeMap<CallId, Look>;

/// What a look found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// It happened, and this is what it changed.
    Done(Vec<Effect>),
    /// It didn't happen.
    NotDone,
    /// Nobody can tell, but this is different in the folder since it started.
    Differs(Changed),
}

/// What recovery appends, if anything. Calls that aren't in `found` stay unknown where they may have had effects.
#[must_use]
pub fn recover(state: &State, env: &Env<'_>, found: &Found) -> Option<Decision> {
    let mut drafts = jobs::recover(state, env, found);
    let turn = state.turn.as_ref().filter(|turn| turn.epoch != env.epoch);
    drafts.extend(turn.into_iter().flat_map(|turn| of_turn(state, turn, found)));
    (!drafts.is_empty()).then(|| Decision::barrier(drafts))
}

fn of_turn(state: &State, turn: &Turn, found: &Found) -> Vec<Draft> {
    match &turn.step {
        None => adopt(turn),
        Some(step) => match &step.phase {
            StepPhase::Answered { .. } => {
                let mut drafts: Vec<Draft> =
                    step.calls.iter().filter_map(|call| settle(turn, step, call, found)).collect();
                drafts.extend(adopt(turn));
                drafts
            }
            StepPhase::Claimed
            | StepPhase::Prepared
            | StepPhase::Attempting { .. }
            | StepPhase::Backoff { .. }
            | StepPhase::Exhausted => interrupt(state, turn, step),
        },
    }
}

fn adopt(turn: &Turn) -> Vec<Draft> {
    vec![Draft::of_turn(&turn.id, RecoveryAdopted { turn: turn.id.clone() })]
}

/// A call that had started: nobody has seen its end.
fn settle(turn: &Turn, step: &Step, call: &Call, found: &Found) -> Option<Draft> {
    let CallPhase::Started { semantics, at, .. } = &call.phase else { return None };
    if call.question.is_some() {
        return None;
    }
    let of_step = |fact: Fact| Some(Draft::of_step(&turn.id, &step.id, fact));
    match semantics {
        // It runs again by itself: adopting puts it back in line.
        Semantics::None { retry: true } => None,
        Semantics::None { retry: false } => {
            let text =
                "Cut off when Daybook was closed; it changes nothing, so it can be run again.".to_owned();
            of_step(ToolCancelled { call: call.id.clone(), text, changed: Changed::default() }.into())
        }
        Semantics::Possible { recovery } => {
            let changed = match found.get(&call.id) {
                Some(Look::Done(effects)) => return of_step(happened(&call.id, effects)),
                Some(Look::NotDone) => return of_step(not_happened(&call.id)),
                // Whoever changed things while nobody looked is among them.
                Some(Look::Differs(changed)) => changed.clone().doubted(Doubt::Mixed),
                None => Changed::default(),
            };
            let kind = match recovery {
                Recovery::Idempotent { .. } => "idempotent",
                Recovery::Reconcile { .. } => "reconcile",
                Recovery::Manual => "manual",
            };
            let evidence = BTreeMap::from([
                ("reason".to_owned(), "crash".to_owned()),
                ("recovery".to_owned(), kind.to_owned()),
                ("started_at".to_owned(), at.to_string()),
            ]);
            let text = "Outcome unknown: Daybook was closed while this ran. It may have happened wholly, in part or not \
                        at all. It was not run again. Look at the actual state before doing anything about it."
                .to_owned();
            of_step(ToolOutcomeUnknown { call: call.id.clone(), evidence, text, changed }.into())
        }
    }
}

/// The world told that a call happened: its result is what was found.
fn happened(call: &CallId, effects: &[Effect]) -> Fact {
    // Folders that were made for it come first.
    let file = effects.iter().find(|effect| !matches!(effect.after, Some(Entry::Folder { .. })));
    let path = file.map_or("", |effect| effect.path.as_str());
    let value = serde_json::json!({ "path": path, "found_done": true });
    let text = format!("Done: {path} was changed just before Daybook was closed, as a look at it showed.");
    let mut result = judged::result(call, ToolOutcome::Ok { value }, text);
    let seen = effects.iter().filter_map(|effect| Some((effect.path.clone(), effect.content_after()?)));
    result.seen.extend(seen);
    result.changed.effects.extend_from_slice(effects);
    result.into()
}

/// The world told that a call didn't happen.
fn not_happened(call: &CallId) -> Fact {
    let error = ToolError {
        code: "call/cut_off".into(),
        message: "Daybook was closed before this happened; nothing was changed".into(),
        suggestion: Some("Do it again if it is still wanted.".into()),
    };
    let text = tools::run::error_text(&error);
    judged::result(call, ToolOutcome::Error { error }, text).into()
}

/// A step without an answer: everything in it ends, its unsent messages go back, and a new turn goes on where it was.
fn interrupt(state: &State, turn: &Turn, step: &Step) -> Vec<Draft> {
    let of_step = |fact: Fact| Draft::of_step(&turn.id, &step.id, fact);
    let mut drafts = Vec::new();
    if let StepPhase::Attempting { attempt } = &step.phase {
        let settled = answer::estimated(step, "");
        drafts.push(answer::attempt_end(turn, step, attempt, AttemptEndKind::Interrupted, settled, None));
    }
    if turn.cancel.is_some() {
        drafts.extend(cancel::keep_words(state, turn, step));
    } else {
        let claimed: Vec<MessageId> = state
            .inbox
            .iter()
            .filter(|waiting| waiting.reserved.as_ref() == Some(&step.id))
            .map(|waiting| waiting.message.clone())
            .collect();
        if !claimed.is_empty() {
            drafts.push(of_step(InboxReleased { messages: claimed }.into()));
        }
    }
    let (step_end, turn_end) = match turn.cancel {
        Some(by) => (StepEndKind::Cancelled, End::Cancelled { by }),
        None => (StepEndKind::Interrupted, End::Interrupted),
    };
    drafts.push(of_step(StepEnd { step: step.id.clone(), end: step_end }.into()));
    drafts.push(Draft::of_turn(&turn.id, TurnEnd { end: turn_end }));
    // Messages that went back wake a turn of their own; anything else needs to be continued, a continuation again.
    let continues = matches!(turn.source, Source::Recovery { .. });
    // A summary that was asked for stays asked for.
    let begun = continues || turn.steps > 1 || step.revisions > 0;
    if turn.source != Source::Summary && turn.cancel.is_none() && begun {
        drafts.push(Draft::new(RecoveryContinuation { turn: turn.id.clone() }));
    }
    drafts
}
