//! Making paths be again what they were.
//!
//! Invariants: before anything is changed, every content that will be written was read and compared with its name, and
//! every content that will go is durable in the blobs; a path that isn't as expected stays and is reported; running the
//! same restore again after a crash finishes it and gives the same folder.

use super::apply::{Apply, Fuse};
use super::compose::{inverse, same};
use super::links::tell_parted;
use super::merge::{Ours, merged};
use super::plan::{Force, Hindrance, Stage, State, Step, add_parents, plan, standing};
use super::put;
use crate::blob::BlobSink;
use crate::place::Place;
use domain::call::Effect;
use domain::digest::Digest;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// What a restore did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// What became of each path that is restored now: its `before` is what stood there, its `after` the goal. Restoring
    /// these undoes this restore. Ascending by path.
    pub done: Vec<Effect>,
    /// Paths that were left as they are.
    pub kept: Vec<Kept>,
}

/// A path that was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The path.
    pub path: String,
    /// Why.
    pub why: Hindrance,
}

/// Why nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// Not a path below the folder.
    #[error("{path:?} is no path below the folder")]
    Path {
        /// It.
        path: String,
    },
    /// A path has two goals; [`super::compose`] makes one of them.
    #[error("{path:?} stands twice in what shall be restored")]
    Twice {
        /// It.
        path: String,
    },
    /// The content to restore isn't there any more, or isn't what it was.
    #[error("the old content of {path:?} (blob {digest}) can't be read; nothing was changed")]
    Content {
        /// Whose content.
        path: String,
        /// Its name.
        digest: Digest,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A forced folder holds more than is removed at once.
    #[error("the folder {path:?} holds more than {most} things; nothing was changed")]
    TooMany {
        /// The folder.
        path: String,
        /// The bound.
        most: usize,
    },
    /// Present content can't be kept.
    #[error("what is there now can't be kept; nothing was changed")]
    Blobs(#[source] io::Error),
    /// It was broken off in the middle; running it again finishes it.
    #[error("restoring was broken off in the middle")]
    BrokenOff,
}

/// A restore, worked out and not begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Planned {
    /// What to do, one a path: its `after` is what stands there now, its `before` what shall. Ascending by path.
    pub steps: Vec<Effect>,
    /// Paths that will be left as they are.
    pub kept: Vec<Kept>,
}

impl Planned {
    /// Adds the paths where only our part can be taken back, since somebody changed another: of a text, or the permissions
    /// of a file. Where nothing of ours is left, the path isn't left alone either: it is done.
    ///
    /// # Errors
    /// When a content can't be read or kept.
    pub fn merge_texts(
        &mut self,
        place: &Place,
        blobs: &dyn BlobSink,
        wanted: &[Effect],
    ) -> Result<(), RestoreError> {
        for effect in wanted {
            let at = self
                .kept
                .iter()
                .position(|kept| kept.path == effect.path && matches!(kept.why, Hindrance::Changed { .. }));
            let Some(at) = at else { continue };
            if let Some(ours) = merged(place, blobs, effect)? {
                self.kept.remove(at);
                match ours {
                    Ours::Part(step) => self.steps.push(*step),
                    Ours::Nothing => {}
                }
            }
        }
        self.steps.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(())
    }
}

/// Works out how each path becomes its effect's `before` again, provided it now is its `after` (or `force` names it). Paths
/// that are so already need nothing. What stands there now is durable in the blobs afterwards; nothing in the folder is
/// touched.
///
/// # Errors
/// When a path isn't one or stands twice, old content is missing, or present content can't be kept.
pub fn plan_restore(
    place: &Place,
    blobs: &dyn BlobSink,
    wanted: &[Effect],
    force: &Force,
) -> Result<Planned, RestoreError> {
    let mut steps = plan(place, wanted, force, blobs, Stage::Asked)?;
    add_parents(place, &mut steps)?;
    blobs.settle().map_err(RestoreError::Blobs)?;
    check_contents(blobs, &steps)?;
    let mut planned = Planned::default();
    for (path, step) in steps {
        match step.state {
            State::Ready => {
                let after = standing(&step.now, &step.effect);
                let before = step.effect.before;
                planned.steps.push(Effect { path, before, after, lines: None, kept_in: None, parted: None });
            }
            State::Done => {}
            State::Kept { why } => planned.kept.push(Kept { path, why }),
        }
    }
    Ok(planned)
}

/// Carries out the steps of a planned restore. Steps that are done already count as done by it: running it again after a
/// crash finishes it and tells the same.
///
/// # Errors
/// When a path isn't one or stands twice, old content is missing, or present content can't be kept: nothing was changed
/// then.
pub fn carry_out(place: &Place, blobs: &dyn BlobSink, steps: &[Effect]) -> Result<Restored, RestoreError> {
    carry_out_until(place, blobs, steps, &mut Fuse::none())
}

/// Plans a restore and carries it out at once.
///
/// # Errors
/// As both.
pub fn restore(
    place: &Place,
    blobs: &dyn BlobSink,
    wanted: &[Effect],
    force: &Force,
) -> Result<Restored, RestoreError> {
    let planned = plan_restore(place, blobs, wanted, force)?;
    let mut steps = planned.steps;
    tell_parted(place, &mut steps, wanted);
    let mut done = carry_out(place, blobs, &steps)?;
    done.kept.extend(planned.kept);
    done.kept.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(done)
}

/// The same, broken off where the fuse says.
pub(super) fn carry_out_until(
    place: &Place,
    blobs: &dyn BlobSink,
    steps: &[Effect],
    fuse: &mut Fuse,
) -> Result<Restored, RestoreError> {
    let steps = plan(place, steps, &Force::Nothing, blobs, Stage::Begun)?;
    blobs.settle().map_err(RestoreError::Blobs)?;
    check_contents(blobs, &steps)?;
    let mut out = Restored::default();
    let mut ready = Vec::new();
    for (path, step) in steps {
        match step.state {
            State::Ready => ready.push(step),
            State::Done => {
                put::sweep(place, &step.effect);
                out.done.push(inverse(&step.effect));
            }
            State::Kept { why } => out.kept.push(Kept { path, why }),
        }
    }
    let applied = Apply::new(place, blobs, fuse).run(ready)?;
    out.done.extend(applied.done);
    out.kept.extend(applied.kept);
    out.done.retain(|effect| !same(effect.before.as_ref(), effect.after.as_ref()));
    out.done.sort_by(|one, other| one.path.cmp(&other.path));
    out.kept.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(out)
}

/// Reads everything that will be written; the blobs compare it with its name.
fn check_contents(blobs: &dyn BlobSink, steps: &BTreeMap<String, Step>) -> Result<(), RestoreError> {
    let mut seen = BTreeSet::new();
    for step in steps.values().filter(|step| step.state == State::Ready) {
        let Some(digest) = step.effect.content_before() else { continue };
        let there = step.now.entry().and_then(domain::call::Entry::content) == Some(digest);
        if there || !seen.insert(digest) {
            continue;
        }
        blobs.get(&digest).map_err(|source| RestoreError::Content {
            path: step.effect.path.clone(),
            digest,
            source,
        })?;
    }
    Ok(())
}
