//! Erasing words from the record, and what is kept for undo, as a client sees them.
//!
//! A place is named by what the view calls it: an entry's key, a call's id (what came of it; `asked:` before it is what it
//! was asked to do), or an event's number. Invariant: the words to
//! erase go in through here and come out nowhere.

use super::permission::Offer;
use super::store::Folder;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What erasing would touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ErasePreview {
    /// The event that was chosen.
    #[ts(type = "number")]
    pub seq: u64,
    /// All that it says; the person may mark a part of it.
    pub says: String,
    /// How often the words stand in each kind of place of this session.
    pub places: Vec<ErasePlace>,
    /// How many other sessions hold them.
    pub elsewhere: u32,
    /// What was allowed for good and holds them.
    pub permissions: Vec<HeldPermission>,
}

/// Something that was allowed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct HeldPermission {
    /// Its id.
    pub id: String,
    /// What.
    pub what: Offer,
    /// Where it holds.
    pub folder: Folder,
}

/// A kind of place that words stand in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ErasePlace {
    /// `message`, `waiting` (on its way to being read), `title`, `answer`, `call`, `result`, `shown` (streamed for showing
    /// only), `note` or `other`.
    pub kind: String,
    /// How many.
    pub count: u32,
}

/// Why words are erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(rename_all = "snake_case")]
pub enum EraseWhy {
    /// A key or a password.
    Secret,
    /// Something private.
    Private,
    /// Something else.
    Other,
}

/// What was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ErasedView {
    /// Where it is on record.
    #[ts(type = "number")]
    pub seq: u64,
    /// Events it took words out of.
    #[ts(type = "number")]
    pub events: u64,
    /// Other sessions that it took words out of.
    #[ts(type = "number")]
    pub sessions: u64,
    /// Parts of requests, results and contents kept for undo that went.
    #[ts(type = "number")]
    pub contents: u64,
    /// Copies of the record kept from before updates that went.
    #[ts(type = "number")]
    pub copies: u64,
    /// May old bytes still be on the disk? The next start of Daybook tries again.
    pub unfinished: bool,
}

/// What "Thin now" did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ThinnedView {
    /// Turns and returns whose contents went.
    #[ts(type = "number")]
    pub turns: u64,
    /// Their bytes.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Sessions that are at work, where more would have gone if they weren't.
    #[ts(type = "number")]
    pub left: u64,
    /// What is kept now.
    pub kept: StorageView,
}

/// What is kept for undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct StorageView {
    /// Bytes of contents that are kept for undo only.
    #[ts(type = "number")]
    pub bytes: u64,
    /// The limit: 1, 5, 10 or 50.
    pub limit_gigabytes: u32,
    /// When the oldest turn began that can still be undone, UTC ms; null where there is none.
    #[ts(type = "number | null")]
    pub since: Option<u64>,
    /// Turns that can't be undone any more.
    #[ts(type = "number")]
    pub thinned: u64,
}
