//! A session at any moment: the fold of its log up to an event.
//!
//! States on the way are kept now and then, so that going back and forth doesn't fold the log from its beginning each time.
//! Invariant: what is kept equals the fold of the log up to there (the same law as for any snapshot), and only that is shown.

use super::no_event;
use crate::failure::{internal, of_read};
use crate::room::Inside;
use crate::view::{facts, words};
use crate::wire::ApiError;
use crate::wire::command::Mode;
use crate::wire::record::{Moment, MomentCall};
use domain::event::{Origin, Recorded};
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
    let read = inside.record.moments.age();
    let mut kept = inside.record.moments.take(session).unwrap_or_default();
    let page = |from, limit| inside.reader.events(session, from, limit).map_err(|read| of_read(&read));
    let state = after(&page, seq + 1, EVERY, &mut kept);
    inside.record.moments.keep(session, kept, read);
    Ok(shown(seq, &*state?))
}

/// The state after the first `count` events; one is kept `every` so many. Events are read from a place on, at most so many.
fn after(
    page: &impl Fn(u64, usize) -> Result<Vec<Recorded>, ApiError>,
    count: u64,
    every: u64,
    kept: &mut Moments,
) -> Result<Arc<State>, ApiError> {
    let nearest = kept.range(..=count).next_back().map(|(_, state)| Arc::clone(state));
    let mut state = nearest.unwrap_or_default();
    while state.next_seq < count {
        let to = (state.next_seq / every + 1) * every;
        let limit = usize::try_from(to.min(count) - state.next_seq).unwrap_or(usize::MAX);
        let events = page(state.next_seq, limit)?;
        if events.is_empty() {
            return Err(no_event(count.saturating_sub(1)));
        }
        let folding = Arc::make_mut(&mut state);
        for recorded in events {
            folding.fold(&recorded.decode().map_err(internal)?);
        }
        if state.next_seq.is_multiple_of(every) && kept.len() < MOST {
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

#[cfg(test)]
mod tests {
    use super::{Moments, after};
    use domain::digest::Digest;
    use domain::event::{Fact, Payload, Recorded, SessionCreated, SessionRenamed};
    use domain::ids::{FolderId, SessionId};
    use domain::state::State;

    fn recorded(seq: u64, fact: &Fact) -> Recorded {
        Recorded {
            session: SessionId::from_bits(1),
            pos: seq,
            seq,
            kind: fact.kind().name.to_owned(),
            version: 1,
            time: 1_000 + seq,
            epoch: 1,
            turn: None,
            step: None,
            ignorable: false,
            sources: vec![],
            prev_hash: Digest::ZERO,
            hash: Digest::ZERO,
            payload: Payload::Text(fact.encode().expect("a payload").into()),
        }
    }

    fn log() -> Vec<Recorded> {
        let created = Fact::SessionCreated(SessionCreated {
            folder: FolderId::from_bits(1),
            root: "/home/ada/bakery".into(),
            mode: domain::call::Mode::Ask,
            model: None,
            tour: false,
            identity: None,
        });
        let titles = (1..10).map(|n| Fact::SessionRenamed(SessionRenamed { title: format!("title {n}") }));
        let facts: Vec<Fact> = std::iter::once(created).chain(titles).collect();
        (0..).zip(&facts).map(|(seq, fact)| recorded(seq, fact)).collect()
    }

    #[test]
    fn r_log_17_what_is_kept_on_the_way_equals_the_fold_up_to_there() {
        let log = log();
        let page = |from: u64, limit: usize| {
            Ok(log.iter().skip(from as usize).take(limit).cloned().collect::<Vec<_>>())
        };
        let folded = |count: usize| {
            let mut state = State::default();
            log.iter().take(count).for_each(|one| state.fold(&one.clone().decode().expect("an event")));
            state
        };
        let mut kept = Moments::new();
        // Back and forth, onto what is kept and between.
        for count in [7, 3, 9, 1, 10, 4, 2] {
            let state = after(&page, count, 2, &mut kept).expect("a state");
            assert_eq!(*state, folded(count as usize), "after {count}");
        }
        assert_eq!(kept.keys().copied().collect::<Vec<_>>(), [2, 4, 6, 8, 10]);
        for (count, state) in &kept {
            assert_eq!(**state, folded(*count as usize), "kept after {count}");
        }
        assert_eq!(after(&page, 11, 2, &mut kept).expect_err("there are ten").code, "record/none");
    }
}
