//! What the doors may read: lists, records, contents and differences, by the engine's leave.
//!
//! The doors stand on the engine alone; the words they need from the floors below are named here, one by one. Invariant:
//! nothing in this list writes.

pub use store::{
    Activity, AppendError, BlobError, Damage, Need, NeedKind, Notice, ReadError, Reader, Salvage, SessionRow,
    Subscription,
};
pub use tools::added::{AddedPlace, Gone};
pub use tools::command::{Shown, WarningKind, shown as command_shown};
pub use tools::diff::{FileDiff, Hunk, Line, LineKind, NoHunks};
pub use tools::exact::{exact, made_visible};
pub use tools::policy::{only_looks, protected, secrets};
pub use tools::revision::{Hindrance, PartError, Parts, Sides, State, inverse, present, standing_at};
pub use tools::rules::{About, Layer, PERSON, Rule};
pub use tools::run::error_text;
pub use tools::visible::{is_invisible, visible};
pub use tools::{Cage, Limits as Hands, Place, PolicyInput};

use crate::blobs::ReadBlobs;
use crate::engine::Engine;
pub use crate::record::{Whole, output_of_call, output_of_job, own_end, own_result};
pub use crate::restoring::standing;
use domain::call::{Act, Effect, Verdict};
use domain::event::Recorded;
use domain::ids::SessionId;
use tools::blob::Guarded;
use tools::revision::{Bounds, Hashing, RestoreError, sides as all_sides};

/// Events from a place on, as far as they can be read, and where and why the first can't be that can't. A bad event hides the
/// rest of its page: what stands before it is read by itself.
///
/// # Errors
/// When the database refuses.
pub fn up_to_break(
    reader: &Reader,
    session: &SessionId,
    from: u64,
    limit: usize,
) -> Result<(Vec<Recorded>, Option<Damage>), ReadError> {
    match reader.events(session, from, limit) {
        Ok(events) => Ok((events, None)),
        Err(ReadError::Damaged { seq, what, .. }) => {
            let good = usize::try_from(seq.saturating_sub(from)).unwrap_or(usize::MAX);
            Ok((reader.events(session, from, good.min(limit))?, Some(Damage { seq, what })))
        }
        Err(read) => Err(read),
    }
}

/// Did a content go because its words were erased? Else it was let go of with what was kept for undo.
#[must_use]
pub fn is_erasure(why: store::Gone) -> bool {
    why == store::Gone::Erased
}

/// What stands at a changed path, before, after and now.
///
/// # Errors
/// When a content can't be read.
pub fn sides(place: &Place, reader: &Reader, effect: &Effect) -> Result<Sides, RestoreError> {
    all_sides(place, &ReadBlobs(reader), effect)
}

/// The difference of a file's text with its parts, each of which can be taken back alone; `None` where it has none.
///
/// # Errors
/// When a content can't be read.
pub fn parts(reader: &Reader, effect: &Effect) -> Result<Option<(FileDiff, Parts)>, RestoreError> {
    tools::revision::parts(&ReadBlobs(reader), effect, &Hands::default())
}

/// What the policy says of a kind of act by itself, without any call: for showing what a mode means.
#[must_use]
pub fn by_itself(act: Act, path: &str, command: &str, network: bool, input: &PolicyInput<'_>) -> Verdict {
    tools::policy::by_itself(act, path, command, network, input)
}

/// What stands at the paths of effects now, as taking them back would find it; changes nothing.
///
/// # Errors
/// When a path isn't one or stands twice.
pub fn preview(place: &Place, effects: &[Effect]) -> Result<Vec<(String, State)>, RestoreError> {
    tools::revision::preview(place, effects, None)
}

/// The same for a person who asks what an undo would do: files with a registered key are left alone. Keeps nothing.
///
/// # Errors
/// When a path isn't one or stands twice.
pub fn preview_undo(
    engine: &Engine,
    place: &Place,
    effects: &[Effect],
) -> Result<Vec<(String, State)>, RestoreError> {
    let watching = Guarded { blobs: Hashing, secrets: engine.secrets() };
    tools::revision::preview(place, effects, Some(&watching))
}

/// Counts the lines of changes that have none yet, as far as both sides are text and there aren't too many.
pub fn count_lines(reader: &Reader, effects: &mut [Effect]) {
    tools::revision::count_lines(effects, &ReadBlobs(reader), &Bounds::default(), &Hands::default());
}
