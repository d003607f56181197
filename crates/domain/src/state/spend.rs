//! What the person lets be spent beyond a limit, and the question that waits until then.
//!
//! Invariant: a limit that was met is a question until the person went on past it or another turn began.

use super::types::{MetLimit, State};
use crate::event::{End, SpendLimit, SpendRaised, SpendUncounted};

/// The limit of money that this end met.
pub(super) fn met(end: &End) -> Option<MetLimit> {
    let End::Limit { limit, value, money: Some(money) } = end else { return None };
    Some(MetLimit { limit: limit.clone(), value: *value, money: (**money).clone() })
}

/// More for a day is counted over all sessions, elsewhere.
pub(super) fn raised(state: &mut State, e: &SpendRaised) {
    state.met = None;
    if e.limit == SpendLimit::Session {
        state.raised = state.raised.saturating_add(e.by);
    }
}

/// The model is asked without being counted.
pub(super) fn uncounted(state: &mut State, e: &SpendUncounted) {
    state.met = None;
    state.uncounted.push(e.model.clone());
}
