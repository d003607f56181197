//! What an append is given, and the laws a draft must meet before anything is touched.
//!
//! Each draft is encoded once, measured, and decoded again: what is checked and folded is what the bytes say. Invariant:
//! a [`Ready`] fits an event and reads back as it is, so nothing can be stored that a later start couldn't read.

use crate::error::AppendError;
use domain::event::{Draft, Fact};
use domain::ids::SessionId;
use std::sync::Arc;

/// The largest payload, in bytes; larger content is a blob that the event names.
pub const MAX_EVENT_BYTES: usize = 256 * 1024;

/// The most events in one append: far above what a step of 32 calls makes.
pub const MAX_EVENTS: usize = 4_096;

/// How far a commit is carried before it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Survives the process: it may die at any time.
    Normal,
    /// A barrier: survives a power cut as well, and with it everything committed before.
    Barrier,
}

/// Events for one session, to be appended after those it has.
#[derive(Debug, Clone, PartialEq)]
pub struct Append {
    /// The session.
    pub session: SessionId,
    /// The sequence number the first of them gets: how many events the session has, 0 for a new one.
    pub expected_seq: u64,
    /// The events.
    pub drafts: Vec<Draft>,
}

/// A draft that can be stored.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) draft: Draft,
    pub(crate) payload: Arc<str>,
}

/// The same, for a whole session of an append.
#[derive(Debug)]
pub(crate) struct ReadyAppend {
    pub(crate) session: SessionId,
    pub(crate) expected_seq: u64,
    pub(crate) events: Vec<Ready>,
}

pub(crate) fn ready(batch: Vec<Append>) -> Result<Vec<ReadyAppend>, AppendError> {
    let count = batch.iter().map(|append| append.drafts.len()).sum();
    if count > MAX_EVENTS {
        return Err(AppendError::TooMany { count, max: MAX_EVENTS });
    }
    batch
        .into_iter()
        .filter(|append| !append.drafts.is_empty())
        .map(|append| {
            let events = append.drafts.into_iter().map(ready_draft).collect::<Result<_, _>>()?;
            Ok(ReadyAppend { session: append.session, expected_seq: append.expected_seq, events })
        })
        .collect()
}

fn ready_draft(draft: Draft) -> Result<Ready, AppendError> {
    let kind = draft.fact.kind();
    let unserialisable = |why: String| AppendError::Unserialisable { kind: kind.name, why };
    let text = draft.fact.encode().map_err(|error| unserialisable(error.to_string()))?;
    if text.len() > MAX_EVENT_BYTES {
        return Err(AppendError::TooLarge { kind: kind.name, bytes: text.len(), max: MAX_EVENT_BYTES });
    }
    match Fact::decode(kind.name, kind.version, &text) {
        Ok(fact) if fact == draft.fact => Ok(Ready { draft, payload: text.into() }),
        Ok(_) => Err(unserialisable("it reads back as something else".to_owned())),
        Err(error) => Err(unserialisable(error.to_string())),
    }
}
