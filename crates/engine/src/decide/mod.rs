//! Deciding: folded state × input → events. Pure; performing is elsewhere.
//!
//! [`advance`] gives the events that follow from the state alone; [`take`] those that follow from an input; [`wanted`]
//! names the operations that should be under way; [`recover`] closes what a dead process left open. Invariant: none of
//! them remembers anything, so a process that starts with this state goes on exactly here.

mod added;
mod answer;
mod cancel;
mod claim;
mod closing;
mod command;
mod erase;
mod finish;
mod jobs;
mod judged;
mod recover;
mod restore;
mod shorter;
mod spending;
#[cfg(test)]
mod tests;
mod wanted;

pub use command::{Command, CommandError, CommandReply, command};
pub use erase::may_erase;
pub use judged::{InForce, Judged, Judgement};
pub use recover::{Found, Look, recover};
pub use restore::{CALLED_OFF, Restore};
pub use shorter::CANNOT_FIT;
pub use spending::{Past, Spending};
pub use wanted::{Op, wanted};

use crate::input::Input;
use crate::limits::Limits;
use domain::event::{CheckedCall, Draft, ModelChoice};
use domain::ids::Ids;
use domain::model::ModelSnapshot;
use domain::state::State;

/// Events to append together.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The events, in order.
    pub drafts: Vec<Draft>,
    /// Must they be on disk before anything goes on?
    pub barrier: bool,
}

/// What deciding may look up: all of it fixed while one decision is made.
pub struct Env<'a> {
    /// UTC milliseconds.
    pub now: u64,
    /// This process.
    pub epoch: u64,
    /// New ids.
    pub ids: &'a dyn Ids,
    /// A number from 0 to 999 for spreading waits.
    pub jitter: u64,
    /// The bounds.
    pub limits: &'a Limits,
    /// Is there somebody who can be asked?
    pub attended: bool,
    /// Is the app closing?
    pub closing: bool,
    /// Is one of the store's running turns this session's to use?
    pub slot: bool,
    /// Models and tools as they are now.
    pub knowledge: &'a dyn Knowledge,
}

/// Pure look-ups.
pub trait Knowledge: Send + Sync {
    /// The capabilities of a chosen model; `None` when there is no such connection.
    fn model(&self, choice: &ModelChoice) -> Option<ModelSnapshot>;
    /// Models that may go on where the chosen one doesn't answer, in the person's order.
    fn instead(&self) -> Vec<ModelChoice>;
    /// How much may be spent, and what was spent today.
    ///
    /// # Errors
    /// When nobody can tell: then nothing is spent.
    fn spending(&self) -> Result<Spending, String>;
    /// Resolves a tool and checks arguments against its schema.
    fn check(&self, name: &str, arguments: &str) -> CheckedCall;
    /// What the person allowed and forbade, as it stands.
    fn in_force(&self, state: &State) -> InForce;
}

impl Decision {
    pub(crate) fn plain(drafts: Vec<Draft>) -> Self {
        Self { drafts, barrier: false }
    }

    fn barrier(drafts: Vec<Draft>) -> Self {
        Self { drafts, barrier: true }
    }
}

/// What follows from the state alone, if anything.
#[must_use]
pub fn advance(state: &State, env: &Env<'_>) -> Option<Decision> {
    if let Some(decision) = jobs::advance(state, env) {
        return Some(decision);
    }
    match &state.turn {
        None => claim::turn(state, env),
        Some(turn) => match &turn.step {
            None => claim::step(state, turn, env),
            Some(step) => finish::step(state, turn, step),
        },
    }
}

/// What follows from an input. Inputs about things that have ended are recorded as late and change nothing.
#[must_use]
pub fn take(state: &State, input: Input, env: &Env<'_>) -> Decision {
    match input {
        Input::Prepared { step, request } => answer::prepared(state, &step, request, env),
        Input::Shorter { step, shorter } => shorter::shorter(state, &step, shorter, env),
        Input::NotPrepared { step, code, message } => answer::not_prepared(state, &step, code, message),
        Input::Deltas { attempt, deltas } => answer::deltas(state, attempt, deltas),
        Input::Answered { attempt, outcome, raw } => answer::answered(state, &attempt, outcome, raw, env),
        Input::SendFailed { attempt, error, raw } => answer::failed(state, &attempt, error, raw, env),
        Input::SendStopped { attempt, text, usage } => answer::stopped(state, &attempt, &text, usage),
        Input::BackoffOver { step } => answer::again(state, &step, env),
        Input::Judged { step, calls } => judged::judged(state, &step, calls, env),
        Input::Output { call, text } => finish::output(state, call, text),
        Input::Finished { call, finished, ms } => finish::call(state, &call, finished, ms),
        Input::JobJudged { job, judged } => jobs::judged(state, &job, *judged, env),
        Input::JobOutput { job, text } => jobs::output(state, job, text),
        Input::StopJob { job } => jobs::stopped_by_model(state, &job),
        Input::JobFinished { job, finished, ms } => jobs::finished(state, &job, finished, ms, env),
        Input::Restored { revision, restored } => restore::restored(state, &revision, restored, env),
        Input::NotRestored { revision } => restore::not_restored(state, &revision),
        Input::ApprovalDue { approval } => command::expire(state, &approval),
    }
}
