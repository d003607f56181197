//! May words be erased now?
//!
//! Invariant: nothing is taken out of a session while something of it runs, since what runs holds copies.

use super::command::{CommandError, no};
use domain::state::State;

/// Fits an erasure that was worked out from the record up to `read_to`?
///
/// # Errors
/// When work goes on, or the record has moved on.
pub fn may_erase(state: &State, read_to: u64) -> Result<(), CommandError> {
    if state.turn.is_some() {
        return no("erase/busy", "work is going on in this session; stop it first, then erase");
    }
    if state.restoring.is_some() {
        return no("erase/busy", "changes are being taken back; wait until that is done");
    }
    if !state.jobs.is_empty() {
        return no(
            "erase/busy",
            "a job of this session goes on in the background; stop it first, then erase",
        );
    }
    match state.next_seq == read_to {
        true => Ok(()),
        false => no("erase/moved_on", "something happened meanwhile; look again"),
    }
}
