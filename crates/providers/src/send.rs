//! What a caller hands to an attempt and what it gets back, the same for HTTP and for a script.
//!
//! Invariant: an attempt ends exactly once, as an [`Outcome`], a classified [`ModelError`] or `Cancelled`; deltas and
//! raw bytes given to the [`Sink`] before are for showing and for the record, never for the history.

use bytes::Bytes;
use domain::model::{ModelDelta, ModelError, ModelSnapshot, Outcome, Usage};

use crate::{Body, Connection};

/// One attempt's request. The body is immutable, so a retry sends the same bytes.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// Where to.
    pub connection: &'a Connection,
    /// The step's frozen model.
    pub model: &'a ModelSnapshot,
    /// The whole body.
    pub body: &'a Body,
    /// The session's id: a script keeps one place per conversation.
    pub conversation: &'a str,
}

/// Takes what arrives while an answer streams.
pub trait Sink: Send {
    /// A piece to show.
    fn delta(&mut self, delta: ModelDelta);

    /// Response bytes as they came, for the record; at most [`RAW_LIMIT`] bytes of an attempt are offered.
    fn raw(&mut self, _bytes: &Bytes) {}
}

/// Most response bytes of one attempt offered to [`Sink::raw`]: 1 MB.
pub const RAW_LIMIT: usize = 1 << 20;

impl Sink for Vec<ModelDelta> {
    fn delta(&mut self, delta: ModelDelta) {
        self.push(delta);
    }
}

/// What was known when an attempt was cancelled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Partial {
    /// Text that had arrived; for the record, never for the history.
    pub text: String,
    /// Usage reported until then.
    pub usage: Option<Usage>,
}

/// Why an attempt has no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The caller's token was cancelled.
    #[error("the request was cancelled")]
    Cancelled(Partial),
    /// The provider or the way to it failed.
    #[error(transparent)]
    Failed(#[from] ModelError),
}

/// The end of an attempt.
pub type SendResult = Result<Outcome, SendError>;
