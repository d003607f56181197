//! Payloads of replacements in the model's history.
//!
//! A **checkpoint** is a text that stands for closed steps in what the model reads. Invariants: nothing is deleted, so every
//! replacement can be taken back; each names the **generation** of the history it was made from and makes the next one;
//! what it replaces ends between two steps, so no call is parted from its result.

use crate::digest::Digest;
use crate::ids::AttemptId;
use serde::{Deserialize, Serialize};

/// `history/asked`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryAsked {
    /// The generation that the person saw.
    pub from: u64,
}

/// `context/overflowed`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextOverflowed {
    /// Digest of the refused body: it is never sent again.
    pub body: Digest,
    /// The window's size in tokens, where the service told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
}

/// `summary/prepared`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryPrepared {
    /// The generation it is made from.
    pub from: u64,
    /// It is about what lies before this event.
    pub upto: u64,
    /// The dialect.
    pub dialect: String,
    /// Version of the adapter that encoded it.
    pub adapter: u32,
    /// Blob of everything up to the first message.
    pub head: Digest,
    /// Blob of its one segment.
    pub segment: Digest,
    /// SHA-256 of the whole body.
    pub body: Digest,
    /// Bytes of the whole body.
    pub bytes: u64,
    /// Estimated input tokens.
    pub tokens: u64,
}

/// `history/shortened`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryShortened {
    /// The generation it makes.
    pub generation: u64,
    /// The generation it was made from.
    pub from: u64,
    /// Long results recorded before this event are given as a reference.
    pub upto: u64,
    /// How many these are.
    pub results: u64,
    /// Estimated tokens of the request without it and with it.
    pub tokens: Shrunk,
    /// Why.
    pub why: ShortenWhy,
}

/// `checkpoint/committed`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointCommitted {
    /// The generation it makes.
    pub generation: u64,
    /// The generation it was made from.
    pub from: u64,
    /// It stands for everything the history had before this event.
    pub upto: u64,
    /// Hash of the last event it stands for: with the chain, of all of them.
    pub chain: Digest,
    /// Closed steps it stands for.
    pub steps: u64,
    /// Closed steps that stay word for word.
    pub kept: u64,
    /// The text that stands for them, as the model reads it.
    pub text: String,
    /// The attempt whose summary is in it; without one it holds only what the record knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<AttemptId>,
    /// Estimated tokens of the request without it and with it.
    pub tokens: Shrunk,
    /// Why.
    pub why: ShortenWhy,
}

/// `history/restored`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryRestored {
    /// The generation it makes.
    pub generation: u64,
    /// The generation it was made from.
    pub from: u64,
}

/// What a replacement saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shrunk {
    /// Tokens without it.
    pub before: u64,
    /// Tokens with it.
    pub after: u64,
}

/// Why the history gets shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShortenWhy {
    /// The request would leave too little room in the model's window.
    Budget,
    /// The service said that the request didn't fit.
    Overflow,
    /// The person asked for it.
    Asked,
}
