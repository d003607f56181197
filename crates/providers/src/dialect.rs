//! A *dialect*: how neutral messages become the bytes of a request, and the fold that reads its stream.
//!
//! A body is `head ‖ segments joined by "," ‖ tail`. The head holds everything up to and including the opening of the
//! messages array, a *segment* is one addition to the history encoded once. Invariant: bytes depend on the arguments
//! and the dialect's [`Dialect::adapter_version`] alone, so a body can be rebuilt from stored segments for ever, and
//! the body of a longer history begins with the bytes of the shorter one (without its markers and tail).

use bytes::Bytes;
use domain::digest::Digest;
use domain::model::{Effort, Head, Message, ModelSnapshot};
use sha2::{Digest as _, Sha256};

use crate::anthropic::{self, Anthropic};
use crate::chat::{self, Chat};
use crate::fold::Fold;
use crate::responses::{self, Responses};
use crate::scripted::{self, Scripted};

/// A wire format. Get one with [`dialect_of`]; it already knows the provider's quirks.
pub trait Dialect: Send + Sync {
    /// `anthropic-messages`, `openai-chat`, `openai-responses` or `scripted`.
    fn name(&self) -> &'static str;

    /// Raised with every change of the bytes that [`Dialect::head`], [`Dialect::segment`] or a mark give.
    fn adapter_version(&self) -> u32;

    /// Everything of the body up to and including the opening of the messages array.
    fn head(&self, model: &ModelSnapshot, head: &Head) -> Vec<u8>;

    /// One addition to the history as array elements separated by commas, none at the ends. Adjacent user-kind
    /// messages are merged where the dialect wants roles to alternate. Empty for no messages.
    fn segment(&self, messages: &[Message]) -> Vec<u8>;

    /// What closes the body after the last segment.
    fn tail(&self) -> Vec<u8> {
        b"]}".to_vec()
    }

    /// What a head says of tools, as text: for telling how much of a request that is. `None` where it says nothing of any.
    fn tools_of(&self, head: &[u8]) -> Option<String> {
        let open = head.strip_suffix(b",").unwrap_or(head);
        let whole = [open, &self.tail()].concat();
        let body: serde_json::Value = serde_json::from_slice(&whole).ok()?;
        body.get("tools").map(serde_json::Value::to_string)
    }

    /// The same segment with the dialect's cache marker in its last element; `None` where the dialect has none or
    /// the segment can't carry it.
    fn mark(&self, _segment: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// The same head with the dialect's cache marker; `None` where there is none.
    fn mark_head(&self, _head: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// A dialect that is spoken over HTTP.
pub trait Wire: Dialect {
    /// A fresh reader of one answer.
    fn fold(&self, model: &ModelSnapshot) -> Box<dyn Fold>;

    /// Path below the base URL, with its version: `v1/messages`.
    fn path(&self) -> &'static str;

    /// How the key travels: the header's name and what stands before the key.
    fn key_header(&self) -> (&'static str, &'static str);

    /// Further headers of every request.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// The dialects that a service of one's own can be spoken to in.
pub const WIRES: [&str; 3] = [anthropic::NAME, chat::NAME, responses::NAME];

/// How much thinking is asked for; dialects differ in the word for the most.
pub(crate) fn effort_word(effort: Effort, most: &'static str) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Max => most,
    }
}

/// No dialect has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no dialect `{0}`; known are anthropic-messages, openai-chat, openai-responses and scripted"
)]
pub struct UnknownDialect(pub String);

/// The dialect a model is spoken to in, with its provider's quirks.
///
/// # Errors
/// When the snapshot names a dialect this version doesn't have.
pub fn dialect_of(model: &ModelSnapshot) -> Result<Box<dyn Dialect>, UnknownDialect> {
    match model.dialect.as_str() {
        anthropic::NAME => Ok(Box::new(Anthropic::new(&model.provider))),
        chat::NAME => Ok(Box::new(Chat::new(&model.provider))),
        responses::NAME => Ok(Box::new(Responses::new(&model.provider))),
        scripted::NAME => Ok(Box::new(Scripted)),
        other => Err(UnknownDialect(other.into())),
    }
}

/// The same, for dialects that go over HTTP.
///
/// # Errors
/// When the snapshot's dialect is unknown or has no wire.
pub fn wire_of(model: &ModelSnapshot) -> Result<Box<dyn Wire>, UnknownDialect> {
    match model.dialect.as_str() {
        anthropic::NAME => Ok(Box::new(Anthropic::new(&model.provider))),
        chat::NAME => Ok(Box::new(Chat::new(&model.provider))),
        responses::NAME => Ok(Box::new(Responses::new(&model.provider))),
        other => Err(UnknownDialect(other.into())),
    }
}

/// Where cache markers go; Anthropic takes four at most. A marker that the dialect can't place is left out; bytes stay deterministic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markers {
    /// Mark the head?
    pub head: bool,
    /// Positions of marked segments, from 0.
    pub segments: Vec<usize>,
}

/// The hash of how a body begins, so that a longer one with the same beginning isn't hashed from its start.
#[derive(Debug, Clone, Default)]
pub struct Begun {
    hash: Sha256,
    chunks: usize,
}

/// The chunks of a whole request body, immutable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// In order; concatenated they are the body.
    pub chunks: Vec<Bytes>,
}

impl Body {
    /// Puts a body together from its stored parts; a body needs one segment at least. Empty segments take no place.
    #[must_use]
    pub fn assemble(dialect: &dyn Dialect, head: &Bytes, segments: &[Bytes], markers: &Markers) -> Self {
        let mut chunks = Vec::with_capacity(segments.len() * 2 + 2);
        let marked = if markers.head { dialect.mark_head(head) } else { None };
        chunks.push(marked.map_or_else(|| head.clone(), Bytes::from));
        let mut first = true;
        for (at, segment) in segments.iter().enumerate().filter(|(_, segment)| !segment.is_empty()) {
            if !std::mem::take(&mut first) {
                chunks.push(Bytes::from_static(b","));
            }
            let marked = if markers.segments.contains(&at) { dialect.mark(segment) } else { None };
            chunks.push(marked.map_or_else(|| segment.clone(), Bytes::from));
        }
        chunks.push(Bytes::from(dialect.tail()));
        Self { chunks }
    }

    /// SHA-256 over the concatenated bytes, what `request/prepared` holds.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        for chunk in &self.chunks {
            hash.update(chunk);
        }
        Digest(hash.finalize().into())
    }

    /// The same as [`Body::digest`], going on from what `begun` has hashed of an earlier body. The first `same` chunks must be
    /// those of that body, and of every later one that this is asked for.
    #[must_use]
    pub fn digest_from(&self, begun: &mut Begun, same: usize) -> Digest {
        let same = same.min(self.chunks.len());
        if begun.chunks > same {
            *begun = Begun::default();
        }
        for chunk in &self.chunks[begun.chunks..same] {
            begun.hash.update(chunk);
        }
        begun.chunks = same;
        let mut hash = begun.hash.clone();
        for chunk in &self.chunks[same..] {
            hash.update(chunk);
        }
        Digest(hash.finalize().into())
    }

    /// The body's length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks.iter().map(Bytes::len).sum()
    }

    /// Is there nothing in it?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The body in one piece, as it is sent.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        self.chunks.concat().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body that grows, with its marks moving along, and one that is shorter again.
    #[test]
    fn a_digest_goes_on_from_what_was_hashed() {
        let dialect = Anthropic::new("anthropic");
        let element = |n: usize| {
            Bytes::from(dialect.segment(&[Message::User(format!("words {n} {}", "x".repeat(n * 37)))]))
        };
        let head = Bytes::from_static(br#"{"system":[{"type":"text","text":"s"}],"messages":["#);
        let all: Vec<Bytes> = (0..12).map(element).collect();
        let mut begun = Begun::default();
        for count in (1_usize..=12).chain([3, 4, 12]) {
            let marked = count.saturating_sub(2)..count;
            let first = marked.start;
            let markers = Markers { head: true, segments: marked.collect() };
            let body = Body::assemble(&dialect, &head, &all[..count], &markers);
            assert_eq!(body.chunks.len(), 2 * count + 1);
            assert_eq!(body.digest_from(&mut begun, (2 * first).max(1)), body.digest(), "{count} segments");
        }
        let whole = Body::assemble(&dialect, &head, &all, &Markers::default());
        assert_eq!(whole.digest_from(&mut Begun::default(), 1_000), whole.digest(), "more than there are");
    }
}
