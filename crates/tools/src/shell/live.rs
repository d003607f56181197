//! Output shown while a command still runs.
//!
//! **Live** output is whole cleaned lines, at most one chunk per interval and never more than a window can show; the
//! result is made from the spool, so nothing depends on it. Invariant: no registered secret is shown, and a flood costs
//! no more than a trickle.

use super::clean::Cleaner;
use crate::redact::Needles;
use crate::tool::{Ctx, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most output shown between two chunks; of more, the last part is shown.
const CHUNK_BYTES: usize = 16 << 10;

/// Gives output to whoever watches.
pub(crate) struct Live {
    to: Output,
    secrets: Arc<Needles>,
    every: Duration,
    last: Option<Instant>,
    waiting: Vec<u8>,
    skipped: bool,
    cleaner: Cleaner,
}

impl Live {
    pub(crate) fn new(ctx: &Ctx) -> Self {
        Self {
            to: ctx.output.clone(),
            secrets: Arc::clone(&ctx.secrets),
            every: Duration::from_millis(ctx.limits.output_every_ms),
            last: None,
            waiting: Vec::new(),
            skipped: false,
            cleaner: Cleaner::live(),
        }
    }

    /// Takes more output.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if matches!(self.to, Output::None) {
            return;
        }
        self.waiting.extend_from_slice(&bytes[bytes.len().saturating_sub(CHUNK_BYTES)..]);
        if self.waiting.len() > CHUNK_BYTES {
            self.skipped = true;
            self.waiting.drain(..self.waiting.len() - CHUNK_BYTES);
        }
        self.tick();
    }

    /// Shows what waits, if its time has come.
    pub(crate) fn tick(&mut self) {
        if !self.waiting.is_empty() && self.last.is_none_or(|last| last.elapsed() >= self.every) {
            self.last = Some(Instant::now());
            self.flush();
        }
    }

    /// Takes the last output and shows all that is left.
    pub(crate) fn end(&mut self, rest: &[u8]) {
        self.waiting.extend_from_slice(rest);
        self.flush();
        let text = std::mem::replace(&mut self.cleaner, Cleaner::live()).finish();
        self.give(&text);
    }

    fn flush(&mut self) {
        let mut text = String::new();
        if std::mem::take(&mut self.skipped) {
            text.push_str("[…]\n");
        }
        self.cleaner.push(&std::mem::take(&mut self.waiting));
        text.push_str(&self.cleaner.take());
        self.give(&text);
    }

    fn give(&self, text: &str) {
        match &self.to {
            Output::To(take) if !text.is_empty() => take(&self.secrets.redact(text)),
            Output::To(_) | Output::None => {}
        }
    }
}
