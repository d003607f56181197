//! What a call may do: the registry, the way of a call as types, the built-in tools, and what shows and cleans their output.
//!
//! A call goes `check` → `survey` → `policy::judge` → `clear` → `run`, and each step takes a value only the step before
//! makes: [`Checked`], [`Surveyed`], [`Cleared`], [`Finished`]. Invariant: nothing runs without a [`Cleared`], nothing
//! here writes the log (results, effects and blobs leave as data), and every file is reached through the handle of its folder.

pub mod added;
pub mod blob;
pub mod call;
pub mod carried;
pub mod clear;
pub mod command;
pub mod diff;
pub mod exact;
pub mod launch;
pub mod limits;
pub mod network;
pub mod parallel;
pub mod parse;
pub mod path;
pub mod place;
pub mod policy;
pub mod record;
pub mod redact;
pub mod registry;
pub mod revision;
pub mod rules;
pub mod run;
pub mod tool;
pub mod visible;

mod builtin;
mod cages;
mod grants;
mod save;
mod schema;
mod shell;
mod text;
mod walk;

#[cfg(test)]
mod tests;

pub use added::{AddedPlace, identity_of};
pub use blob::BlobSink;
pub use builtin::{Settled, asked_about, reconcile};
pub use cages::Cages;
pub use call::{Checked, Interaction, Surveyed};
pub use clear::{Approval, Cleared, Refusal, clear};
pub use limits::Limits;
pub use place::Place;
pub use policy::{Cage, PolicyInput, judge};
pub use registry::{Registry, Visibility, Visible};
pub use run::{End, Finished, run};
pub use tool::{Bin, Ctx, Output, Tool};
