//! Revisions: states of the project folder that undo can return to, byte for byte.
//!
//! A **revision** is named by the digest of a tree of blobs ([`take()`]). Two revisions give [`changes()`], effects as data;
//! [`restore()`] makes paths be again what they were before, and [`preview()`] says first what would be in the way. Content,
//! permission bits, symbolic links and empty folders are covered, whoever made the change; no git is needed.
//! Invariants: what is overwritten or removed is kept in the blobs first; a path that isn't as expected is kept and
//! reported, never guessed at; what isn't covered is listed.

mod apply;
mod bounds;
mod changes;
mod compose;
mod content;
mod handle;
mod held;
mod index;
mod known;
mod links;
mod look;
mod merge;
mod name;
mod parts;
mod plan;
mod put;
mod reach;
mod restore;
mod rules;
mod scan;
mod shared;
mod stat;
mod take;
mod tree;

#[cfg(test)]
mod tests;

pub use bounds::Bounds;
pub use changes::{Changes, ReadError, changes, count_lines, standing_in};
pub use compose::{compose, inverse, same};
pub use index::Index;
pub use links::tell_parted;
pub(crate) use links::{Elsewhere, OtherNames, SecretFiles, elsewhere, other_names, secret_name};
pub use look::Hashing;
pub use merge::{Sides, sides};
pub use parts::{PartError, Parts, parts, plan_part, present};
pub use plan::{Force, Hindrance, State, preview, standing_at};
pub use reach::reach_new;
pub use restore::{Kept, Planned, RestoreError, Restored, carry_out, plan_restore, restore};
pub use take::{LeftOut, LeftOuts, TakeError, Taken, take};
pub use tree::Why;
