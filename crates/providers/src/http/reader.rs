//! Reading an answer's bytes to their end: an event stream, a whole JSON answer, or a web page where neither belongs.
//!
//! Invariants: a broken or ended stream is an outcome only if the terminal event was seen and the bytes ended
//! cleanly; the text that had arrived goes with every failure; timers run on tokio's clock; memory is bounded by the
//! parser, the fold and [`PLAIN_BYTES`].

use bytes::Bytes;
use domain::model::{ErrorClass, ModelDelta, ModelError, Outcome};
use futures_util::{Stream, StreamExt};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::timers::{Timers, Watch};
use crate::answer::cut;
use crate::classify;
use crate::fold::{Fold, Progress, protocol};
use crate::send::{Partial, RAW_LIMIT, SendError, SendResult, Sink};
use crate::sse::{Event, Parser};

/// Largest JSON answer taken instead of a stream: 32 MB.
const PLAIN_BYTES: usize = 32 << 20;

/// How much of a web page is looked at for its title.
const PAGE_BYTES: usize = 64 << 10;

/// Bytes and time given to a finished answer to close its body, so that the connection can be used again.
const DRAIN_BYTES: usize = 64 << 10;
const DRAIN_TIME: std::time::Duration = std::time::Duration::from_millis(500);

/// What an answer is read with.
pub(crate) struct Reading<'a> {
    pub(crate) fold: Box<dyn Fold>,
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) timers: Timers,
    /// When the request was sent.
    pub(crate) started: Instant,
    /// Did the server call it an event stream? Otherwise its first byte decides.
    pub(crate) event_stream: bool,
    pub(crate) url: &'a Url,
    pub(crate) status: u16,
}

/// What the body turned out to be.
enum Shape {
    Unknown,
    Events(Parser),
    Plain(Vec<u8>),
    Page(Vec<u8>),
}

/// Reads to the end. A broken transport is an `Err` of the stream with its cause as text.
pub(crate) async fn read_answer<S>(mut stream: S, reading: Reading<'_>) -> SendResult
where
    S: Stream<Item = Result<Bytes, String>> + Send + Unpin,
{
    let cancel = reading.cancel;
    let mut reader = Reader::new(reading);
    loop {
        let end = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(SendError::Cancelled(reader.partial())),
            chunk = stream.next() => match chunk {
                Some(Ok(bytes)) => reader.take(&bytes),
                Some(Err(cause)) => Some(Err(reader.broken(&cause))),
                None => Some(reader.end()),
            },
            () = sleep_until(reader.watch.deadline()) => Some(reader.expire()),
        };
        match end {
            None => {}
            Some(Ok(outcome)) => {
                drain(&mut stream).await;
                return Ok(outcome);
            }
            Some(Err(error)) => return Err(SendError::Failed(reader.dress(error))),
        }
    }
}

struct Reader<'a> {
    fold: Box<dyn Fold>,
    sink: &'a mut dyn Sink,
    shape: Shape,
    watch: Watch,
    raw_left: usize,
    url: &'a Url,
    status: u16,
    events: Vec<Event>,
    deltas: Vec<ModelDelta>,
}

/// `None`: go on reading.
type End = Option<Result<Outcome, ModelError>>;

impl<'a> Reader<'a> {
    fn new(reading: Reading<'a>) -> Self {
        let Reading { fold, sink, cancel: _, timers, started, event_stream, url, status } = reading;
        Self {
            fold,
            sink,
            shape: if event_stream { Shape::Events(Parser::default()) } else { Shape::Unknown },
            watch: Watch::new(timers, started),
            raw_left: RAW_LIMIT,
            url,
            status,
            events: Vec::new(),
            deltas: Vec::new(),
        }
    }

    fn take(&mut self, bytes: &Bytes) -> End {
        let now = Instant::now();
        if bytes.is_empty() {
            return None;
        }
        self.record(bytes);
        self.watch.byte(now);
        if matches!(self.shape, Shape::Unknown) {
            self.shape = shape_of(bytes);
        }
        let end = match &mut self.shape {
            Shape::Unknown => None,
            Shape::Events(parser) => match parser.push(bytes, &mut self.events) {
                Ok(()) => self.fold_events(now),
                // Events before the broken line still count, for the text that had arrived.
                Err(error) => self.fold_events(now).or_else(|| Some(Err(protocol(error.to_string())))),
            },
            Shape::Plain(body) => {
                self.watch.content(now);
                body.extend_from_slice(bytes);
                let long = body.len() > PLAIN_BYTES;
                long.then(|| Err(protocol(format!("the answer is longer than {} MB", PLAIN_BYTES >> 20))))
            }
            Shape::Page(page) => {
                page.extend_from_slice(bytes);
                (page.len() >= PAGE_BYTES).then(|| Err(classify::web_page(self.status, self.url, page)))
            }
        };
        // A server that never stops sending never lets the timer run: look at it here, too.
        end.or_else(|| (now >= self.watch.deadline()).then(|| self.expire()))
    }

    fn fold_events(&mut self, now: Instant) -> End {
        for event in self.events.drain(..) {
            let progress = self.fold.event(&event, &mut self.deltas);
            for delta in self.deltas.drain(..) {
                self.sink.delta(delta);
            }
            match progress {
                Ok(Progress::Idle) => {}
                Ok(Progress::Content) => self.watch.content(now),
                Ok(Progress::Ended) => return Some(self.fold.finish()),
                Err(error) => return Some(Err(error)),
            }
        }
        if self.fold.whole() {
            self.watch.whole();
        }
        None
    }

    /// The bytes ended cleanly.
    fn end(&mut self) -> Result<Outcome, ModelError> {
        match &self.shape {
            Shape::Unknown => Err(ModelError::new(ErrorClass::Cut, "the provider sent an empty answer")),
            Shape::Events(_) => self.fold.finish(),
            Shape::Plain(body) => {
                let read = self.fold.plain(body, &mut self.deltas);
                for delta in self.deltas.drain(..) {
                    self.sink.delta(delta);
                }
                read.and_then(|()| self.fold.finish())
            }
            Shape::Page(page) => Err(classify::web_page(self.status, self.url, page)),
        }
    }

    /// The transport broke. Even after the terminal event, what follows it might have been an error.
    fn broken(&self, cause: &str) -> ModelError {
        match self.shape {
            Shape::Unknown => ModelError::new(ErrorClass::Network, format!("the connection broke: {cause}")),
            Shape::Events(_) | Shape::Plain(_) | Shape::Page(_) => {
                let mut error = cut();
                error.message = format!("{}: {cause}", error.message);
                error
            }
        }
    }

    /// Patience ended; a whole answer whose closing matter never came is whole all the same.
    fn expire(&mut self) -> Result<Outcome, ModelError> {
        if self.fold.whole() { self.fold.finish() } else { Err(self.watch.expired(Instant::now())) }
    }

    fn record(&mut self, bytes: &Bytes) {
        let kept = bytes.slice(..bytes.len().min(self.raw_left));
        self.raw_left -= kept.len();
        if !kept.is_empty() {
            self.sink.raw(&kept);
        }
    }

    fn partial(&self) -> Partial {
        Partial { text: self.fold.partial_text(), usage: self.fold.usage() }
    }

    fn dress(&self, mut error: ModelError) -> ModelError {
        error.partial_text = self.fold.partial_text();
        error.usage = error.usage.or_else(|| self.fold.usage());
        error
    }
}

/// What a body is by its first telling byte; no line of an event stream begins with a brace or an angle bracket.
fn shape_of(bytes: &[u8]) -> Shape {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Shape::Unknown,
        Some(b'{' | b'[') => Shape::Plain(Vec::new()),
        Some(b'<') => Shape::Page(Vec::new()),
        Some(_) => Shape::Events(Parser::default()),
    }
}

async fn drain<S>(stream: &mut S)
where
    S: Stream<Item = Result<Bytes, String>> + Send + Unpin,
{
    let reading = async {
        let mut left = DRAIN_BYTES;
        while let Some(Ok(bytes)) = stream.next().await {
            left = left.saturating_sub(bytes.len());
            if left == 0 {
                break;
            }
        }
    };
    // Not draining in time only costs the connection.
    let _elapsed = timeout(DRAIN_TIME, reading).await;
}

#[cfg(test)]
mod tests;
