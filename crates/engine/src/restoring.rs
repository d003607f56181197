//! Working out a restore: what shall happen to each path, before anything is touched.
//!
//! Where somebody changed a text since, only our part of it is taken back if that can be done cleanly; anything else that
//! isn't as expected is left alone. Invariant: what stands at a path that will change is durable in the blobs and named
//! in the list, so nothing of a person's is lost however the restore ends.

use crate::actor::CommandFailure;
use crate::blobs::blobs;
use crate::decide::{CommandError, Restore};
use crate::ledger::Ledger;
use crate::own;
use crate::shared::Shared;
use domain::call::{Effect, Entry, ToolError};
use domain::digest::Digest;
use domain::erasure::MARK;
use domain::event::{EffectList, KeptBack, RestoreOf, RestoreScope};
use domain::ids::SessionId;
use domain::state::State;
use std::collections::BTreeMap;
use store::{BlobError, Gone, Reader};
use tools::revision::{
    Force, Hindrance, Kept, PartError, RestoreError, plan_part, plan_restore, tell_parted,
};
use tools::{BlobSink, Place};

/// Most paths left alone that are named.
const NAMED: usize = 100;

/// What taking a scope back means as things are now. Blocks.
pub(crate) fn work_out(
    shared: &Shared,
    session: &SessionId,
    scope: RestoreScope,
    overwrite: Vec<String>,
    seen: &BTreeMap<String, Digest>,
) -> Result<Restore, CommandFailure> {
    let state = shared.store.state(session).map_err(CommandFailure::unreadable)?;
    let ledger = Ledger::read(&shared.store, session).map_err(CommandFailure::unreadable)?;
    let place = open(shared, &state)?;
    let blobs = blobs(shared);
    let net = ledger.net(&scope);
    let thinned = match &scope.of {
        RestoreOf::Turn { turn } => ledger.thinned.contains_key(turn),
        RestoreOf::Restore { revision } => ledger.thinned_returns.contains(revision),
        RestoreOf::Session | RestoreOf::Since { .. } | RestoreOf::Call { .. } | RestoreOf::Part { .. } => {
            false
        }
    };
    if thinned {
        let message = "this can't be undone any more: what stood there before was let go".to_owned();
        return Err(CommandError { code: "content/thinned", message }.into());
    }
    whole(&shared.store, &net)?;
    if let RestoreOf::Part { part, .. } = &scope.of {
        let mut steps = [part_of(&place, &blobs, &net, &ledger, part)?];
        tell_parted(&place, &mut steps, &net);
        let (steps, read_to) = (listed(shared, &steps)?, ledger.read_to);
        return Ok(Restore { scope, steps, overwrite: Vec::new(), kept: Vec::new(), kept_more: 0, read_to });
    }
    let force = match overwrite.is_empty() {
        true => Force::Nothing,
        false => Force::Paths(overwrite.iter().cloned().collect()),
    };
    let mut planned = plan_restore(&place, &blobs, &net, &force).map_err(|error| of_restore(&error))?;
    as_shown(&planned.steps, seen)?;
    planned.merge_texts(&place, &blobs, &net).map_err(|error| of_restore(&error))?;
    let told = matches!(scope.of, RestoreOf::Restore { .. });
    // A return said it when it brought a name back, and taking it back changes nothing about that.
    tell_parted(&place, &mut planned.steps, if told { &[] } else { &net });
    let steps = listed(shared, &planned.steps)?;
    let (kept, kept_more) = kept_back(planned.kept);
    Ok(Restore { scope, steps, overwrite, kept, kept_more, read_to: ledger.read_to })
}

/// Names what stands at a path, so that a yes to replacing it is a yes to just this.
#[must_use]
pub fn standing(now: Option<&Entry>) -> Digest {
    // An entry always has a text.
    Digest::of(&serde_json::to_vec(&now).unwrap_or_default())
}

/// Refuses where something else stands at a path now than when the person said that it may go.
fn as_shown(steps: &[Effect], seen: &BTreeMap<String, Digest>) -> Result<(), CommandError> {
    let other =
        |step: &&Effect| seen.get(&step.path).is_some_and(|seen| *seen != standing(step.after.as_ref()));
    match steps.iter().find(other) {
        None => Ok(()),
        Some(step) => {
            let path = tools::path::shown(&step.path);
            let message = format!("{path} was changed again since it was shown; nothing was touched");
            Err(CommandError { code: "restore/changed_again", message })
        }
    }
}

/// The one step that takes one part of one file back; what can't be told apart is refused with the reason.
fn part_of(
    place: &Place,
    blobs: &dyn BlobSink,
    net: &[Effect],
    ledger: &Ledger,
    part: &Digest,
) -> Result<Effect, CommandFailure> {
    let refused = |why: PartError| CommandError { code: why.code(), message: why.to_string() };
    let [effect] = net else { return Err(refused(PartError::Stale).into()) };
    let undone = ledger.undone_parts(&effect.path);
    let step = plan_part(place, blobs, effect, &undone, part).map_err(|error| of_restore(&error))?;
    step.map_err(|why| refused(why).into())
}

/// The steps as a blob.
fn listed(shared: &Shared, steps: &[Effect]) -> Result<EffectList, CommandFailure> {
    let bytes = serde_json::to_vec(steps).map_err(CommandFailure::unreadable)?;
    let list = shared.store.put_blob(&bytes).map_err(CommandFailure::unreadable)?;
    Ok(EffectList { list, count: steps.len() as u64 })
}

/// Refuses where a content that shall come back was taken out of the store, before anything is touched.
fn whole(reader: &Reader, net: &[Effect]) -> Result<(), CommandError> {
    for effect in net {
        // One whose name was erased is left alone anyway.
        let Some(content) = effect.content_before().filter(|_| !effect.path.contains(MARK)) else { continue };
        if let Err(BlobError::Gone { why, .. }) = reader.check_blob(&content) {
            let path = tools::path::shown(&effect.path);
            let (code, why) = match why {
                Gone::Erased => ("content/erased", "it held words that were erased from the record"),
                Gone::Thinned => ("content/thinned", "it was let go, since it was kept too long"),
            };
            let message =
                format!("{path} can't be brought back: its content from before isn't kept any more; {why}");
            return Err(CommandError { code, message });
        }
    }
    Ok(())
}

/// The folder, as restores see it.
pub(crate) fn open(shared: &Shared, state: &State) -> Result<Place, CommandError> {
    own::open(state, shared.ports.hide.clone())
        .map_err(|not_own| CommandError { code: not_own.code(), message: not_own.to_string() })
}

/// The first paths that were left alone, and how many more there are.
pub(crate) fn kept_back(mut kept: Vec<Kept>) -> (Vec<KeptBack>, u64) {
    let more = kept.len().saturating_sub(NAMED) as u64;
    kept.truncate(NAMED);
    let named = kept.into_iter().map(|Kept { path, why }| KeptBack {
        path,
        why: why.code().to_owned(),
        now: match why {
            Hindrance::Changed { now } => now,
            _ => None,
        },
    });
    (named.collect(), more)
}

/// Why nothing of a restore was done.
pub(crate) fn of_restore(error: &RestoreError) -> CommandError {
    let code = match error {
        RestoreError::Content { .. } => "content/missing",
        RestoreError::Blobs(_) => "store/full",
        RestoreError::Path { .. }
        | RestoreError::Twice { .. }
        | RestoreError::TooMany { .. }
        | RestoreError::BrokenOff => "restore/failed",
    };
    CommandError { code, message: error.to_string() }
}

/// The same, as the record has it.
pub(crate) fn on_record(error: CommandError) -> ToolError {
    ToolError { code: error.code.to_owned(), message: error.message, suggestion: None }
}
