//! Payloads about the record itself: what was taken out of it.
//!
//! Invariants: an erasure is on record in the transaction that makes it; it names every event it touched and what is left of
//! each, so that nothing else can pass for erased.

use crate::digest::Digest;
use serde::{Deserialize, Serialize};

/// `record/erased`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordErased {
    /// Who wanted it.
    pub by: ErasedBy,
    /// Why.
    pub why: ErasedWhy,
    /// The event that was chosen.
    pub chosen: u64,
    /// The events the words stood in.
    pub events: Vec<ErasedEvent>,
    /// Blobs that held them and went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<Digest>,
}

/// Who wants words erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErasedBy {
    /// The person.
    User,
}

/// Why words are erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErasedWhy {
    /// A key or a password.
    Secret,
    /// Something private.
    Private,
    /// Something else.
    Other,
}

/// An event that words were taken out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasedEvent {
    /// Its place.
    pub seq: u64,
    /// The digest of what is left of its payload; nothing is left without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Digest>,
}
