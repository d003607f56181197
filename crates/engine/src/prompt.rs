//! The prompt cache: head and segments of a session's current prefix epoch, as bytes.
//!
//! It is what the last request held; the next one adds to it. It can always be built again from `request/prepared` events
//! and blobs. Invariant: a body is head ‖ segments ‖ tail, and its digest is what the event says.

use bytes::Bytes;
use domain::digest::Digest;
use domain::event::{Event, Fact, RequestPrepared, SummaryPrepared};
use domain::ids::SessionId;
use domain::state::Prefix;
use providers::{Body, Dialect, Markers};
use store::{ReadError, Reader};

/// How many events are read at once.
pub(crate) const PAGE: usize = 1_000;

/// The event of a request that was built.
pub(crate) const PREPARED: &str = "request/prepared";
/// The type of the events that requests for a summary are recorded as.
pub(crate) const SUMMARY: &str = "summary/prepared";

/// Why a request can't be rebuilt.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// The log can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A part of a request can't be read.
    #[error("a part of a request is missing or damaged: {0}")]
    Part(#[from] store::BlobError),
    /// No request stands there.
    #[error("no request is recorded at {seq}")]
    None {
        /// The place.
        seq: u64,
    },
    /// An event can't be understood.
    #[error(transparent)]
    Decode(#[from] domain::event::DecodeError),
}

/// Head and segments of a prefix epoch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Which prefix epoch; 0 before the first request.
    pub epoch: u32,
    /// Everything up to the first message.
    pub head: Bytes,
    /// The segments, oldest first.
    pub segments: Vec<Bytes>,
}

impl Prompt {
    /// What a session's current prefix epoch holds, from its log.
    ///
    /// # Errors
    /// When the log or a blob can't be read.
    pub fn load(reader: &Reader, session: &SessionId, prefix: &Prefix) -> Result<Self, RebuildError> {
        let mut prompt = Self::default();
        for (_, fact) in facts(reader, session, prefix.opened, prefix.last + 1)? {
            if let Fact::RequestPrepared(prepared) = fact {
                prompt.take(reader, &prepared)?;
            }
        }
        Ok(prompt)
    }

    /// What the request recorded at `seq` held, from the log.
    ///
    /// # Errors
    /// When there is none, or the log or a blob can't be read.
    pub fn at(reader: &Reader, session: &SessionId, seq: u64) -> Result<Self, RebuildError> {
        let mut requests = Vec::new();
        let mut at = Some(seq);
        while let Some(seq) = at {
            let Some(Fact::RequestPrepared(prepared)) = one(reader, session, seq)?.fact else {
                return Err(RebuildError::None { seq });
            };
            let opened = prepared.opened.is_some();
            requests.push(prepared);
            at = if opened { None } else { reader.last_of(session, PREPARED, seq)? };
        }
        let mut prompt = Self::default();
        for prepared in requests.iter().rev() {
            prompt.take(reader, prepared)?;
        }
        Ok(prompt)
    }

    /// Takes in what a request added.
    ///
    /// # Errors
    /// When a blob can't be read.
    pub fn take(&mut self, reader: &Reader, prepared: &RequestPrepared) -> Result<(), store::BlobError> {
        if let Some(head) = &prepared.head {
            *self = Self { epoch: prepared.prefix_epoch, head: blob(reader, head)?, segments: Vec::new() };
        }
        for digest in &prepared.added {
            self.segments.push(blob(reader, digest)?);
        }
        Ok(())
    }

    /// The body with cache markers at these segments.
    #[must_use]
    pub fn body(&self, dialect: &dyn Dialect, markers: &[u32]) -> Body {
        let segments = markers.iter().filter_map(|at| usize::try_from(*at).ok()).collect();
        Body::assemble(dialect, &self.head, &self.segments, &Markers { head: true, segments })
    }

    /// How many chunks of a body with these markers a later body of the epoch has as well: all before the first marked segment.
    /// None where chunks can't be told by counting.
    #[must_use]
    pub fn same_chunks(&self, body: &Body, markers: &[u32]) -> usize {
        let first = markers.first().and_then(|at| usize::try_from(*at).ok()).unwrap_or(self.segments.len());
        // Head, segments with a comma between each two, tail; an empty segment would have no chunk.
        if body.chunks.len() == 2 * self.segments.len() + 1 { (2 * first).max(1) } else { 0 }
    }

    /// Where markers go: the newest segment, and the one before, which the last request had marked.
    #[must_use]
    pub fn markers(&self) -> Vec<u32> {
        let count = u32::try_from(self.segments.len()).unwrap_or(u32::MAX);
        (count.saturating_sub(2)..count).collect()
    }
}

/// The body of a request for a summary: it stands alone and isn't marked for any cache.
///
/// # Errors
/// When a blob can't be read.
pub fn summary(
    reader: &Reader,
    dialect: &dyn Dialect,
    prepared: &SummaryPrepared,
) -> Result<Body, store::BlobError> {
    let (head, segment) = (blob(reader, &prepared.head)?, blob(reader, &prepared.segment)?);
    Ok(Body::assemble(dialect, &head, &[segment], &Markers::default()))
}

fn blob(reader: &Reader, digest: &Digest) -> Result<Bytes, store::BlobError> {
    reader.blob(digest).map(Bytes::from)
}

/// One event of a session, decoded.
pub(crate) fn one(reader: &Reader, session: &SessionId, seq: u64) -> Result<Event, RebuildError> {
    Ok(reader.event(session, seq)?.ok_or(RebuildError::None { seq })?.decode()?)
}

/// The facts of a session with their places, from one sequence number up to, not including, another.
///
/// # Errors
/// When the log can't be read.
pub(crate) fn facts(
    reader: &Reader,
    session: &SessionId,
    from: u64,
    to: u64,
) -> Result<Vec<(u64, Fact)>, RebuildError> {
    let mut facts = Vec::new();
    let mut at = from;
    while at < to {
        let page = reader.events(session, at, PAGE.min(usize::try_from(to - at).unwrap_or(PAGE)))?;
        let Some(last) = page.last() else { break };
        at = last.seq + 1;
        for recorded in page {
            facts.extend(recorded.decode()?.placed());
        }
    }
    Ok(facts)
}
