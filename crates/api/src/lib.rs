//! What a client sees: typed commands, subscriptions by sequence number, errors with a code, a message and a hint.
//!
//! Three doors lead to this one [`Room`] (the window's IPC, the local door, stdio); wire types stop here. What only a
//! host has (folders, keys, settings, the tour) comes through the [`Desk`] port. Invariants: no command takes a path or a
//! program from a page, no reply holds a secret, and every client folds the same events in the same order.

pub mod wire;

mod added;
mod certificate;
mod changes;
mod copy;
mod desk;
mod erase;
mod failure;
mod line;
mod lists;
mod made;
mod needs;
mod permissions;
mod record;
mod room;
mod rules;
mod shortcuts;
mod storage;
mod subscribe;
mod undo;
pub mod view;

pub use changes::{changes, diff};
pub use desk::{Asked, Desk, Kept, Lasting, RULES_UNREADABLE, Ruled, TourStart};
pub use failure::{error, of_command, of_read};
pub use line::event_line;
pub use room::Room;
pub use view::words::failure_facts;
pub use view::{Fold, Shelf};
