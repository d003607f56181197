//! What the doors may read: lists, records, contents and differences, by the engine's leave.
//!
//! The doors stand on the engine alone; the words they need from the floors below are named here, one by one. Invariant:
//! nothing in this list writes.

pub use store::{
    Activity, AppendError, BlobError, Need, NeedKind, Notice, ReadError, Reader, Salvage, SessionRow,
    Subscription,
};
pub use tools::diff::{FileDiff, Hunk, Line, LineKind, NoHunks};
pub use tools::visible::visible;
pub use tools::{Cage, Limits as Hands, Place};
