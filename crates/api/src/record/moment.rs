//! A session at any moment: the fold of its log up to an event.
//!
//! States on the way are kept now and then, so that going back and forth doesn't fold the log from its beginning each time.
//! Invariant: what is kept equals the fold of the log up to there (the same law as for any snapshot), and only that is shown.

use super::{keep, no_event};
use crate::failure::{internal, of_read};
use crate::room::{Inside, lock};
use crate::view::{facts, words};
use crate::wire::ApiError;
use crate::wire::command::Mode;
use crate::wire::record::{Moment, MomentCall};
use domain::event::Origin;
use domain::ids::SessionId;
use domain::state::{ApprovalState, Call, CallPhase, State, Terminal};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A state is kept after as many events: few enough to fold between two frames.
const EVERY: u64 = 1_000;
/// Most states that are kept of a session.
const MOST: usize = 256;

/// States of a session by the number of events in them.
pub(super) type Moments = BTreeMap<u64, Arc<State>>;

pub(super) fn moment(inside: &Inside, session: &SessionId, seq: u64) -> Result<Moment, ApiError> {
    let next = inside.reader.next_seq(session).map_err(|read| of_read(&read))?;
    if seq >= next {
        return Err(no_event(seq));
    }
    // The newest moment is the state as it is kept, unless something was recorded just now.
    if seq + 1 == next
        && let Ok(state) = inside.reader.state(session)
        && state.next_seq == next
    {
        return Ok(shown(seq, &state));
    }
    let mut kept = lock(&inside.record.moments).remove(session).unwrap_or_default();
    let state = after(inside, session, seq + 1, &mut kept);
    keep(&inside.record.moments, session, kept);
    Ok(shown(seq, &*state?))
}

/// The state after the first `count` events.
fn after(
    inside: &Inside,
    session: &SessionId,
    count: u64,
    kept: &mut Moments,
) -> Result<Arc<State>, ApiError> {
    let nearest = kept.range(..=count).next_back().map(|(_, state)| Arc::clone(state));
    let mut state = nearest.unwrap_or_default();
    while state.next_seq < count {
        let to = (state.next_seq / EVERY + 1) * EVERY;
        let limit = usize::try_from(to.min(count) - state.next_seq).unwrap_or(usize::MAX);
        let page = inside.reader.events(session, state.next_seq, limit).map_err(|read| of_read(&read))?;
        if page.is_empty() {
            return Err(no_event(count.saturating_sub(1)));
        }
        let folding = Arc::make_mut(&mut state);
        for recorded in page {
            folding.fold(&recorded.decode().map_err(internal)?);
        }
        if state.next_seq.is_multiple_of(EVERY) && kept.len() < MOST {
            kept.insert(state.next_seq, Arc::clone(&state));
        }
    }
    Ok(state)
}

fn shown(seq: u64, state: &State) -> Moment {
    let session = state.session.as_ref();
    let step = state.step().map(|(_, step)| step);
    let calls = step.map_or(&[][..], |step| &step.calls);
    let asked = calls.iter().filter(|call| !call.ended()).filter_map(|call| call.question.as_ref());
    let used = &state.usage.tokens;
    Moment {
        seq,
        time: state.time,
        turns: state.turns,
        turn: state.turn.as_ref().map(|turn| turn.id.to_string()),
        step: state.turn.as_ref().map_or(0, |turn| turn.steps),
        mode: session.map_or(Mode::Ask, |session| words::mode(session.mode)),
        model: session.and_then(|session| session.model.as_ref()).map(words::choice),
        plan: state.plan.as_ref().map(words::plan),
        calls: calls.iter().map(call).collect(),
        questions: asked
            .filter(|asked| asked.answer.is_none())
            .map(|asked| words::question(&asked.id, &asked.body))
            .collect(),
        unknown: state.unknown.iter().map(|unknown| facts::shown(&unknown.name)).collect(),
        waiting: state.inbox.iter().filter(|one| one.origin == Origin::User).map(words::waiting).collect(),
        tokens: used.input + used.cache_read + used.cache_write + used.output,
    }
}

fn call(call: &Call) -> MomentCall {
    let asks = call.approval.as_ref().is_some_and(|approval| approval.state == ApprovalState::Open);
    let state = match &call.phase {
        CallPhase::Proposed if asks => "asks",
        CallPhase::Proposed => "proposed",
        CallPhase::Started { .. } => "running",
        CallPhase::Ended { terminal, .. } => match terminal {
            Terminal::Result { ok: true } => "done",
            Terminal::Result { ok: false } => "failed",
            Terminal::Denied { .. } => "denied",
            Terminal::Cancelled => "cancelled",
            Terminal::OutcomeUnknown => "unknown",
        },
    };
    let facts = call.good.as_ref().map(|good| facts::of_arguments(&good.arguments)).unwrap_or_default();
    MomentCall { tool: facts::shown(&call.name), facts, state: state.to_owned() }
}
