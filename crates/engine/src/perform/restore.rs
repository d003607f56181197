//! Taking changes back: reads the list of steps, holds the folder, and makes path after path what it was.
//!
//! Invariant: running it again after a crash finishes it, changes nothing twice and tells the same.

use crate::blobs::blobs;
use crate::decide::Op;
use crate::input::{Input, Restored};
use crate::ledger;
use crate::perform::Done;
use crate::perform::calls::bounded_changes;
use crate::restoring::{kept_back, of_restore, on_record, open};
use crate::shared::{Shared, real_root};
use domain::call::ToolError;
use domain::ids::{RevisionId, SessionId};
use domain::state::{Restoring, State};
use std::sync::Arc;
use store::Reader;
use tokio_util::sync::CancellationToken;
use tools::revision::carry_out;

pub(crate) async fn restore(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    revision: RevisionId,
) -> Done {
    let root = state.session.as_ref().map(|session| session.root.clone()).unwrap_or_default();
    // A return that was begun is finished: closing waits for it.
    let lease = shared.hold_folder(&real_root(&state), &session, &CancellationToken::new()).await;
    let work = move || match &state.restoring {
        Some(restoring) => all(&shared, &root, restoring).unwrap_or_else(Restored::broken_off),
        None => Restored::default(),
    };
    let restored = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        let message = format!("taking changes back broke off: {error}");
        Restored::broken_off(ToolError { code: "internal".to_owned(), message, suggestion: None })
    });
    drop(lease);
    Done::with(Op::Restore(revision.clone()), Some(Input::Restored { revision, restored }))
}

fn all(shared: &Shared, root: &str, restoring: &Restoring) -> Result<Restored, ToolError> {
    let missing =
        |error: String| ToolError { code: "content/missing".to_owned(), message: error, suggestion: None };
    let place = open(shared, root).map_err(on_record)?;
    let blobs = blobs(shared);
    let bytes = Reader::blob(&shared.store, &restoring.steps).map_err(|error| missing(error.to_string()))?;
    let steps = ledger::list(&bytes).map_err(|error| missing(error.to_string()))?;
    let done = carry_out(&place, &blobs, &steps).map_err(|error| on_record(of_restore(&error)))?;
    let (kept, kept_more) = kept_back(done.kept);
    Ok(Restored { changed: bounded_changes(done.done, &blobs), kept, kept_more, error: None })
}
