//! Taking changes back: reads the list, holds the folder, and makes path after path what it was.
//!
//! Where somebody changed a text file since, only our part of it is taken back if that can be done cleanly; otherwise it
//! is left alone and reported. Invariant: running it again after a crash finishes it and changes nothing twice.

use crate::blobs::Blobs;
use crate::decide::Op;
use crate::input::{Input, Restored};
use crate::ledger;
use crate::perform::Done;
use crate::perform::calls::bounded_changes;
use crate::shared::Shared;
use domain::call::{Effect, ToolError};
use domain::event::KeptBack;
use domain::ids::{RevisionId, SessionId};
use domain::state::{Restoring, State};
use std::path::Path;
use std::sync::Arc;
use store::Reader;
use tokio_util::sync::CancellationToken;
use tools::Place;
use tools::revision::{
    Force, Hindrance, Kept, RestoreError, Restored as PutBack, merged, restore as put_back,
};

/// Most paths left alone that are named.
const NAMED: usize = 100;

pub(crate) async fn restore(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    revision: RevisionId,
) -> Done {
    let root = state.session.as_ref().map(|session| session.root.clone()).unwrap_or_default();
    // The same folder by whatever name it is reached: calls hold it by its real path.
    let real = Path::new(&root).canonicalize().unwrap_or_else(|_| Path::new(&root).to_owned());
    // A return that was begun is finished: closing waits for it.
    let never = CancellationToken::new();
    let lease = shared.folders.hold(&real, &session, &never).await;
    let work = move || match &state.restoring {
        Some(restoring) => all(&shared, &root, restoring)
            .unwrap_or_else(|error| Restored { error: Some(error), ..Restored::default() }),
        None => Restored::default(),
    };
    let restored = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Restored {
        error: Some(failed("internal", format!("taking changes back broke off: {error}"))),
        ..Restored::default()
    });
    drop(lease);
    Done::with(Op::Restore(revision.clone()), Some(Input::Restored { revision, restored }))
}

fn all(shared: &Shared, root: &str, restoring: &Restoring) -> Result<Restored, ToolError> {
    let place = Place::open(Path::new(root), shared.ports.hide.clone())
        .map_err(|error| failed("folder/missing", error.to_string()))?;
    let blobs = Blobs(shared.store.clone());
    let bytes = Reader::blob(&shared.store, &restoring.wanted)
        .map_err(|error| failed("content/missing", error.to_string()))?;
    let wanted = ledger::list(&bytes).map_err(|error| failed("content/missing", error.to_string()))?;
    let force = match restoring.overwrite.is_empty() {
        true => Force::Nothing,
        false => Force::Paths(restoring.overwrite.iter().cloned().collect()),
    };
    let mut done = put_back(&place, &blobs, &wanted, &force).map_err(|error| of_restore(&error))?;
    // What was done stays told, whatever becomes of the rest.
    let error = merge(&place, &blobs, &wanted, &mut done).err().map(|error| of_restore(&error));
    let kept_more = done.kept.len().saturating_sub(NAMED) as u64;
    let kept = done.kept.into_iter().take(NAMED).map(kept_back).collect();
    Ok(Restored { changed: bounded_changes(done.done, &blobs), kept, kept_more, error })
}

/// Takes back only our part of files that somebody changed since, where that can be done cleanly.
fn merge(place: &Place, blobs: &Blobs, wanted: &[Effect], done: &mut PutBack) -> Result<(), RestoreError> {
    let ours = our_parts(place, blobs, wanted, &done.kept)?;
    if ours.is_empty() {
        return Ok(());
    }
    let parts = put_back(place, blobs, &ours, &Force::Nothing)?;
    done.kept.retain(|kept| !ours.iter().any(|one| one.path == kept.path));
    done.kept.extend(parts.kept);
    done.done.extend(parts.done);
    Ok(())
}

/// For files that somebody changed since: the effects that take back only our part.
fn our_parts(
    place: &Place,
    blobs: &Blobs,
    wanted: &[Effect],
    kept: &[Kept],
) -> Result<Vec<Effect>, RestoreError> {
    let mut parts = Vec::new();
    for one in kept.iter().filter(|kept| matches!(kept.why, Hindrance::Changed { .. })) {
        if let Some(effect) = wanted.iter().find(|effect| effect.path == one.path) {
            parts.extend(merged(place, blobs, effect)?);
        }
    }
    Ok(parts)
}

fn kept_back(kept: Kept) -> KeptBack {
    let (why, now) = match kept.why {
        Hindrance::Changed { now } => ("changed", now),
        Hindrance::NotEmpty { .. } => ("not_empty", None),
        Hindrance::Blocked { .. } => ("blocked", None),
        Hindrance::Unreadable => ("unreadable", None),
        Hindrance::Special => ("special", None),
        Hindrance::Own => ("own", None),
        Hindrance::Failed { .. } => ("failed", None),
    };
    KeptBack { path: kept.path, why: why.to_owned(), now }
}

fn of_restore(error: &RestoreError) -> ToolError {
    let code = match error {
        RestoreError::Content { .. } => "content/missing",
        RestoreError::Blobs(_) => "store/full",
        RestoreError::Path { .. }
        | RestoreError::Twice { .. }
        | RestoreError::TooMany { .. }
        | RestoreError::BrokenOff => "restore/failed",
    };
    failed(code, error.to_string())
}

fn failed(code: &str, message: String) -> ToolError {
    ToolError { code: code.to_owned(), message, suggestion: None }
}
