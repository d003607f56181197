//! Reading an answer: the object that eats a stream's events and gives one [`Outcome`].
//!
//! Invariant: [`Fold::finish`] gives an outcome only after the dialect's own terminal event was seen; everything else
//! is `Cut`. Unknown events are ignored and counted, a break of the protocol is an error at once, and what a fold keeps
//! is bounded by [`MAX_ANSWER_BYTES`].

use domain::model::{ErrorClass, ModelDelta, ModelError, Outcome, Usage};

use crate::sse::Event;

/// Most bytes of text, reasoning and arguments in one answer: 16 MB, so that no stream can fill the memory.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;

/// Most blocks or calls in one answer.
pub const MAX_BLOCKS: usize = 512;

/// How far an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing new for the reader: a ping, an unknown event, an empty delta.
    Idle,
    /// Content arrived.
    Content,
    /// Nothing more belongs to this answer.
    Ended,
}

/// One answer being read.
pub trait Fold: Send {
    /// Takes one event and appends what is to be shown to `out`.
    ///
    /// # Errors
    /// An error the provider sent inside the stream, or a break of the protocol.
    fn event(&mut self, event: &Event, out: &mut Vec<ModelDelta>) -> Result<Progress, ModelError>;

    /// Takes a whole JSON answer that came instead of a stream.
    ///
    /// # Errors
    /// As [`Fold::event`].
    fn plain(&mut self, body: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), ModelError>;

    /// The stream is over.
    ///
    /// # Errors
    /// `Cut` when the terminal event is missing, `Protocol` when the answer contradicts itself.
    fn finish(&mut self) -> Result<Outcome, ModelError>;

    /// Was the terminal event seen? Closing matter such as usage may still come.
    fn whole(&self) -> bool;

    /// Text so far.
    fn partial_text(&self) -> String;

    /// Usage reported so far.
    fn usage(&self) -> Option<Usage>;

    /// How many unknown or repeated events were passed over.
    fn ignored(&self) -> u64;
}

/// The answer doesn't follow the protocol.
#[must_use]
pub fn protocol(message: impl Into<String>) -> ModelError {
    ModelError::new(ErrorClass::Protocol, message)
}
