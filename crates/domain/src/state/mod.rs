//! What a session is now: the fold of its events, and the law of what may come next.
//!
//! [`State`] holds everything the loop decides on and nothing it doesn't: a process that starts with an empty memory and
//! this state knows what to do next. `fold` never fails (it is given events that passed `check`); `check` never
//! changes anything. Invariant: fold is deterministic, so two folds of one log are equal.

mod added;
mod check;
mod extended;
mod fold;
mod job;
mod shorter;
mod spend;
#[cfg(test)]
mod tests;
mod types;

pub use added::{Added, MOST_ADDED, Unfit};
pub use check::Violation;
pub use job::{EndedJob, Job, JobPhase, JobRun, MOST_JOBS, REMEMBERED_JOBS};
pub use shorter::{About, History, Measured, Standing, Summary, TooLarge, Window};
pub use types::*;

use crate::event::{Draft, Event};

impl State {
    /// May this event come next?
    ///
    /// # Errors
    /// The law it would break.
    pub fn check(&self, draft: &Draft) -> Result<(), Violation> {
        check::check(self, draft)
    }

    /// Takes in the next event. An event without a fact (erased, or decorative and unknown) only moves the position.
    pub fn fold(&mut self, event: &Event) {
        fold::fold(self, event);
    }

    /// The fold of these events from the beginning.
    #[must_use]
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut state = Self::default();
        events.into_iter().for_each(|event| state.fold(event));
        state
    }

    /// Would nothing of it begin by itself? Messages that wake nobody may wait: a note of what was taken back, held words.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.turn.is_none()
            && self.continuation.is_none()
            && self.restoring.is_none()
            && self.unknown.is_empty()
            && self.jobs.is_empty()
            && !self.inbox.iter().any(|waiting| waiting.wakeup)
    }
}
