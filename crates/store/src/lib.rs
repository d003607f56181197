//! Durable memory: the append-only log of every session, and everything that is posted from it.
//!
//! An event comes to be through [`StoreHandle::append`] or [`StoreHandle::append_many`] and through nothing else; it is
//! checked, chained by hash to the one before, listed, committed and then announced. Large content lies beside the log
//! as blobs named by digest, small content is attached to an append. Invariants: what was acknowledged is there after any crash; one process writes at a time;
//! damage is found before it is used, and hides nothing but itself. This is the only crate that keeps anything in SQLite.

mod announce;
mod append;
mod blobs;
mod connection;
mod count;
mod damage;
mod error;
mod folded;
mod folder;
mod import;
mod lists;
mod mending;
mod network;
mod ports;
mod projection;
mod reader;
mod removal;
mod reply;
mod rows;
mod schema;
mod settings;
mod spent;
mod staging;
mod store;
mod work;
mod writer;

pub use announce::{Announcement, Keep, Notice, QUEUE, Subscription};
pub use append::{Append, Durability, MAX_EVENT_BYTES, MAX_EVENTS};
pub use blobs::{ATTACHED_BYTES, BlobError, Collected, Gone, Staged};
pub use connection::WAL_ALARM_BYTES;
pub use count::Counts;
pub use damage::{Damage, Salvage};
pub use error::{AppendError, OpenError, ReadError};
pub use folder::{RESERVE_BYTES, create_folder};
pub use import::Import;
pub use lists::{Activity, Folder, Need, NeedKind, SessionRow};
pub use ports::{Clock, Fate, Faults, NoFaults, Point};
pub use reader::Reader;
pub use removal::{OfSession, Removal, Removed};
pub use settings::Edit;
pub use spent::SpentIn;
pub use store::{Options, Store, StoreHandle, Writes};
