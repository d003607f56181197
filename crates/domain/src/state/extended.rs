//! Turns that go on when they were about to end, and how long their plan has been left alone: law and fold.
//!
//! Invariant: a turn is extended at most once for each reason, so however a model answers, notes of ours come to an end.

use super::check::{Verdict, Violation, require};
use super::{State, Turn};
use crate::event::{StepEndKind, TurnExtended};

/// Only between steps, after an answer or a failure, once for each reason, with a note that waits.
pub(super) fn check(state: &State, e: &TurnExtended) -> Verdict {
    let turn = state.turn.as_ref().ok_or(Violation { law: "turn/open", detail: "no turn is open".into() })?;
    require(turn.cancel.is_none(), "turn/cancel", || "the turn is being stopped".into())?;
    let ends = turn.step.is_none() && matches!(turn.last, Some(StepEndKind::Answer | StepEndKind::Failed));
    require(ends, "turn/extended", || format!("the last step ended as {:?}", turn.last))?;
    require(!turn.extended.contains(&e.why), "turn/extended_once", || {
        format!("{:?} was said before", e.why)
    })?;
    let waits = state.inbox.iter().any(|waiting| waiting.message == e.message && waiting.reserved.is_none());
    require(waits, "turn/extended", || format!("{} doesn't wait", e.message))
}

/// It goes on, also after a step that failed.
pub(super) fn extended(turn: &mut Turn, e: &TurnExtended) {
    turn.extended.push(e.why);
    if turn.last == Some(StepEndKind::Failed) {
        turn.last = None;
    }
}

impl Turn {
    /// Steps of it since its plan was last replaced or told of.
    #[must_use]
    pub fn steps_without_plan(&self) -> u32 {
        self.steps.saturating_sub(self.planned.unwrap_or(0).max(self.reminded))
    }
}
