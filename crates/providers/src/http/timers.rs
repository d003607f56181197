//! How long we wait, and for what. Only silence ends an answer, never its length.
//!
//! Before the first content a model may think long: silence is bounded by `first_token`, and a server that only sends
//! signs of life by the longer of `first_token` and `content_idle`. After it, silence is bounded by `byte_idle` and
//! life without content by `content_idle`. Invariant: comments and pings reset the byte timer, never the content timer.

use std::time::Duration;

use domain::model::{ErrorClass, ModelError};
use tokio::time::Instant;

/// The waits of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timers {
    /// Until the first content, from a provider in the network: 120 s.
    pub first_token: Duration,
    /// The same from this machine, which may load and read a prompt slowly: 900 s.
    pub first_token_loopback: Duration,
    /// Between two bytes once content came: 60 s.
    pub byte_idle: Duration,
    /// Between two pieces of content: 300 s.
    pub content_idle: Duration,
    /// For the closing matter after a whole answer: 5 s.
    pub after_whole: Duration,
    /// For the body of an error: 10 s.
    pub error_body: Duration,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            first_token: Duration::from_secs(120),
            first_token_loopback: Duration::from_secs(900),
            byte_idle: Duration::from_secs(60),
            content_idle: Duration::from_secs(300),
            after_whole: Duration::from_secs(5),
            error_body: Duration::from_secs(10),
        }
    }
}

impl Timers {
    /// The timers for a server on this machine or elsewhere.
    pub(crate) fn on(mut self, loopback: bool) -> Self {
        if loopback {
            self.first_token = self.first_token_loopback;
        }
        self
    }

    pub(crate) fn no_answer(&self) -> ModelError {
        timed_out(format!("no answer began within {} s", self.first_token.as_secs()))
    }
}

/// When what last happened in one answer.
#[derive(Debug)]
pub(crate) struct Watch {
    timers: Timers,
    started: Instant,
    last_byte: Option<Instant>,
    last_content: Option<Instant>,
    whole: bool,
}

impl Watch {
    pub(crate) fn new(timers: Timers, started: Instant) -> Self {
        Self { timers, started, last_byte: None, last_content: None, whole: false }
    }

    pub(crate) fn byte(&mut self, now: Instant) {
        self.last_byte = Some(now);
    }

    pub(crate) fn content(&mut self, now: Instant) {
        self.last_content = Some(now);
    }

    pub(crate) fn whole(&mut self) {
        self.whole = true;
    }

    /// When patience ends, if nothing more happens.
    pub(crate) fn deadline(&self) -> Instant {
        let silence = self.last_byte.unwrap_or(self.started);
        if self.whole {
            return silence + self.timers.after_whole;
        }
        match (self.last_content, self.last_byte) {
            (Some(content), _) => (silence + self.timers.byte_idle).min(content + self.timers.content_idle),
            (None, None) => self.started + self.timers.first_token,
            (None, Some(_)) => {
                let thinking = self.timers.first_token.max(self.timers.content_idle);
                (silence + self.timers.first_token).min(self.started + thinking)
            }
        }
    }

    /// What to say once the deadline has passed.
    pub(crate) fn expired(&self, now: Instant) -> ModelError {
        let silence = now - self.last_byte.unwrap_or(self.started);
        let Some(content) = self.last_content else {
            return match self.last_byte {
                None => self.timers.no_answer(),
                Some(_) => timed_out(format!(
                    "the connection was alive, but no answer began within {} s",
                    (now - self.started).as_secs()
                )),
            };
        };
        if silence >= self.timers.byte_idle {
            timed_out(format!("the answer fell silent for {} s", silence.as_secs()))
        } else {
            timed_out(format!("only signs of life and no content for {} s", (now - content).as_secs()))
        }
    }
}

fn timed_out(message: String) -> ModelError {
    ModelError::new(ErrorClass::Timeout, message)
}
