//! Taking changes back: reads the list of steps, holds the folder, and makes path after path what it was.
//!
//! While it waits for the folder it can be called off. Invariant: running it again after a crash finishes it, changes
//! nothing twice and tells the same.

use crate::blobs::blobs;
use crate::decide::Op;
use crate::input::{Input, Restored};
use crate::ledger;
use crate::perform::Done;
use crate::perform::calls::bounded_changes;
use crate::restoring::{kept_back, of_restore, on_record, open};
use crate::shared::{Shared, real_root};
use domain::call::{Effect, ToolError};
use domain::ids::{RevisionId, SessionId};
use domain::state::{self, Restoring};
use std::sync::Arc;
use store::Reader;
use tokio_util::sync::CancellationToken;
use tools::revision::{State, carry_out, preview};

pub(crate) async fn restore(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<state::State>,
    revision: RevisionId,
    cancel: CancellationToken,
) -> Done {
    let op = Op::Restore(revision.clone());
    let Some(restoring) = state.restoring.clone() else { return Done::with(op, None) };
    if restoring.called_off.is_some() && !has_begun(&shared, &state, &restoring).await {
        return Done::with(op, Some(Input::NotRestored { revision }));
    }
    let root = real_root(&state);
    let Some(lease) = shared.hold_folder(&root, &session, &cancel).await else {
        return Done::with(op, Some(Input::NotRestored { revision }));
    };
    // From here on it is finished, whoever wants it stopped.
    let work = move || all(&shared, &state, &restoring).unwrap_or_else(Restored::broken_off);
    let restored = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        let message = format!("taking changes back broke off: {error}");
        Restored::broken_off(ToolError { code: "internal".to_owned(), message, suggestion: None })
    });
    drop(lease);
    Done::with(op, Some(Input::Restored { revision, restored }))
}

/// Has a process before this one begun with it? Then some path isn't any more what it was when the steps were worked out.
/// Where that can't be told, it is taken for begun.
async fn has_begun(shared: &Arc<Shared>, state: &Arc<state::State>, restoring: &Restoring) -> bool {
    let (shared, state, restoring) = (Arc::clone(shared), Arc::clone(state), restoring.clone());
    let look = move || {
        let place = open(&shared, &state).map_err(on_record)?;
        let states = preview(&place, &steps(&shared, &restoring)?, None);
        Ok(states.map_err(|error| on_record(of_restore(&error)))?.iter().all(|(_, now)| *now == State::Ready))
    };
    let untouched: Result<Result<bool, ToolError>, _> = tokio::task::spawn_blocking(look).await;
    !matches!(untouched, Ok(Ok(true)))
}

fn steps(shared: &Shared, restoring: &Restoring) -> Result<Vec<Effect>, ToolError> {
    let missing =
        |error: String| ToolError { code: "content/missing".to_owned(), message: error, suggestion: None };
    let bytes = Reader::blob(&shared.store, &restoring.steps).map_err(|error| missing(error.to_string()))?;
    ledger::list(&bytes).map_err(|error| missing(error.to_string()))
}

fn all(shared: &Shared, state: &state::State, restoring: &Restoring) -> Result<Restored, ToolError> {
    let place = open(shared, state).map_err(on_record)?;
    let blobs = blobs(shared);
    let steps = steps(shared, restoring)?;
    let done = carry_out(&place, &blobs, &steps).map_err(|error| on_record(of_restore(&error)))?;
    let (kept, kept_more) = kept_back(done.kept);
    Ok(Restored { changed: bounded_changes(done.done, &blobs), kept, kept_more, error: None })
}
