//! The cache audit: every request a store recorded, put together again, compared with the one before, and judged.
//!
//! A request's **share** is how much of it the request before it already held, from its first byte on. Bytes come from the
//! record by the same way as `verify` takes; marks for a provider's cache move from request to request and aren't counted.
//! Invariant: a line whose bytes don't have the recorded digest says so, and nothing is judged of it.

mod class;
mod goals;
#[cfg(test)]
mod mutations;
mod shared;
mod walk;

pub use class::Class;
pub use domain::model::Usage;
pub use goals::{Goals, goals};
pub(crate) use shared::{arrived, pairs};

use domain::event::EpochReason;
use domain::ids::SessionId;
use serde_json::{Value, json};
use std::path::Path;
use store::{OpenError, ReadError, Reader};
use walk::Walk;

/// Events read at once.
const PAGE: usize = 1_000;

/// Why nothing can be audited.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The store.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Reading it.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An event.
    #[error(transparent)]
    Decode(#[from] domain::event::DecodeError),
    /// Not an id.
    #[error(transparent)]
    Id(#[from] domain::ids::BadId),
    /// No such session.
    #[error("there is no session {0}")]
    Unknown(SessionId),
}

/// One attempt: a request that was really sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The session.
    pub session: String,
    /// Which attempt of the session, from 1.
    pub i: u64,
    /// The event its request is recorded in.
    pub seq: u64,
    /// Is the request put together again to the byte, and was that what this attempt sent?
    pub exact: bool,
    /// Bytes of the request.
    pub bytes: u64,
    /// Bytes of the request before it, without its end; `None` where nothing was before it in its epoch.
    pub before: Option<u64>,
    /// Bytes that both begin with.
    pub lcp: u64,
    /// The prefix epoch; `None` for a request beside the history, for a summary.
    pub epoch: Option<u32>,
    /// Why that epoch began, on its first request.
    pub opened: Option<EpochReason>,
    /// Is it a request that was sent before?
    pub retry: bool,
    /// Milliseconds since the attempt before.
    pub gap_ms: Option<u64>,
    /// Blocks it adds to the request before it.
    pub blocks: usize,
    /// Estimated tokens of it.
    pub tokens: u64,
    /// What the provider counted, where it did.
    pub usage: Option<Usage>,
    /// What became of the provider's cache.
    pub class: Class,
}

impl Line {
    /// How much of it the request before already held, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.bytes == 0 { 0.0 } else { self.lcp as f64 / self.bytes as f64 }
    }

    /// Does it begin with all of the request before it, in the same epoch? `None` where there is none.
    #[must_use]
    pub fn grows(&self) -> Option<bool> {
        self.before.map(|before| self.lcp == before)
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "session": self.session, "i": self.i, "seq": self.seq, "exact": self.exact, "bytes": self.bytes,
            "lcp": self.lcp, "share": (self.share() * 1e6).round() / 1e6, "grows": self.grows(),
            "epoch": self.epoch, "opened": self.opened, "retry": self.retry, "gap_ms": self.gap_ms,
            "blocks": self.blocks, "tokens": self.tokens,
            "usage": self.usage.map(|u| json!({"read": u.cache_read, "write": u.cache_write, "uncached": u.input})),
            "class": self.class.word(),
        })
    }
}

/// Audits one session of a store, or all of them. It only reads, so it can run beside a host.
///
/// # Errors
/// When the store can't be read, or there is no such session.
pub fn audit(data: &Path, session: Option<&str>) -> Result<Vec<Line>, AuditError> {
    let reader = Reader::open(data)?;
    let sessions = match session {
        Some(one) => {
            let id: SessionId = one.parse()?;
            if reader.next_seq(&id)? == 0 {
                return Err(AuditError::Unknown(id));
            }
            vec![id]
        }
        None => reader.sessions()?.into_iter().map(|row| row.session).collect(),
    };
    let mut lines = Vec::new();
    for session in &sessions {
        lines.extend(of_session(&reader, session)?);
    }
    Ok(lines)
}

/// Audits one session.
///
/// # Errors
/// When its record can't be read.
pub fn of_session(reader: &Reader, session: &SessionId) -> Result<Vec<Line>, AuditError> {
    let mut walk = Walk::new(reader, session);
    let mut next = 0;
    loop {
        let page = reader.events(session, next, PAGE)?;
        let Some(last) = page.last() else { return Ok(walk.done()) };
        next = last.seq + 1;
        for recorded in page {
            walk.take(recorded.decode()?);
        }
    }
}
