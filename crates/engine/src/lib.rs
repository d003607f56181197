//! The loop: decide (pure), perform (all the IO), and one actor per session that joins them through the log.
//!
//! A thing happens only by being appended. Invariant: there is no state outside the log that matters: kill the process at
//! any instruction, start again, and the fold of the log says what to do next.

mod actor;
mod blobs;
pub mod decide;
mod engine;
pub mod erasing;
mod folders;
pub mod input;
pub mod ledger;
pub mod limits;
pub mod own;
mod perform;
pub mod ports;
pub mod prompt;
mod record;
mod removing;
mod restoring;
pub mod saw;
mod shared;
pub mod show;
pub mod thinning;
pub mod verify;

pub use actor::{CommandFailure, Recorded};
pub use decide::{Command, CommandError, CommandReply, Past};
pub use engine::{Engine, IMPORTED, StartError};
pub use erasing::{Erasable, Erase, Erased, Reach};
pub use limits::Limits;
pub use perform::would::{Try, Would};
pub use ports::{Caps, ModelRequest, Models, Ports, Problem};
pub use shared::{Hold, Live};
pub use thinning::{Kept, Thinned};
