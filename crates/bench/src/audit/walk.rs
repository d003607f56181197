//! The walk along one session's record: requests are put together as they come, and each attempt becomes a line.

use super::Line;
use super::class::{Class, Look, class};
use super::shared::{grown, length};
use bytes::Bytes;
use domain::digest::Digest;
use domain::event::{
    AttemptEnd, AttemptEndKind, AttemptStart, EpochReason, Event, Fact, Purpose, RequestPrepared, Settled,
    SummaryPrepared,
};
use domain::ids::{AttemptId, SessionId};
use domain::model::Usage;
use engine::prompt::{Prompt, summary};
use providers::{Body, Dialect, Markers};
use serde_json::Value;
use std::sync::Arc;
use store::Reader;

pub(super) struct Walk<'a> {
    reader: &'a Reader,
    session: &'a SessionId,
    dialect: Option<Arc<dyn Dialect>>,
    prompt: Prompt,
    /// The request that the next attempt sends.
    current: Option<Request>,
    /// The last request of the history that was sent.
    before: Option<Request>,
    /// The last one that its provider counted, and when that attempt began.
    counted: Option<(Request, u64)>,
    /// When an attempt last began.
    last: Option<u64>,
    /// Did the last attempt fail?
    failed: bool,
    /// The attempt under way and its line.
    open: Option<(AttemptId, Look)>,
    lines: Vec<Line>,
}

/// A request, put together without marks.
#[derive(Clone)]
struct Request {
    seq: u64,
    epoch: Option<u32>,
    opened: Option<EpochReason>,
    /// Its pieces; the last is its end.
    pieces: Vec<Bytes>,
    body: Digest,
    exact: bool,
    sent: bool,
    blocks: usize,
    tokens: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(reader: &'a Reader, session: &'a SessionId) -> Self {
        Self {
            reader,
            session,
            dialect: None,
            prompt: Prompt::default(),
            current: None,
            before: None,
            counted: None,
            last: None,
            failed: false,
            open: None,
            lines: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, event: Event) {
        let (seq, time) = (event.envelope.seq, event.envelope.time);
        match event.fact {
            Some(Fact::StepStart(start)) => {
                self.dialect = providers::dialect_of(&start.model).ok().map(Arc::from);
            }
            Some(Fact::RequestPrepared(prepared)) => self.prepared(seq, &prepared),
            Some(Fact::SummaryPrepared(prepared)) => self.summary(seq, &prepared),
            Some(Fact::AttemptStart(start)) => self.start(&start, time),
            Some(Fact::AttemptEnd(end)) => self.end(&end),
            _ => {}
        }
    }

    /// The lines. Where a provider never said a word of a cache, that isn't held against it.
    pub(super) fn done(mut self) -> Vec<Line> {
        let says = |line: &Line| line.usage.is_some_and(|usage| usage.cache_read + usage.cache_write > 0);
        if !self.lines.iter().any(says) {
            let misses = [Class::Ttl, Class::LookBack, Class::Unexplained];
            for line in self.lines.iter_mut().filter(|line| misses.contains(&line.class)) {
                line.class = Class::NotReported;
            }
        }
        self.lines
    }

    fn prepared(&mut self, seq: u64, prepared: &RequestPrepared) {
        let Some(dialect) = self.dialect.clone() else { return };
        let whole = self.prompt.take(self.reader, prepared).is_ok();
        let body = self.prompt.body(&*dialect, &prepared.markers);
        let plain = Body::assemble(&*dialect, &self.prompt.head, &self.prompt.segments, &Markers::default());
        let added = self.prompt.segments.len().saturating_sub(prepared.added.len());
        self.current = Some(Request {
            seq,
            epoch: Some(prepared.prefix_epoch),
            opened: prepared.opened,
            pieces: plain.chunks,
            body: prepared.body,
            exact: whole && body.digest() == prepared.body,
            sent: false,
            blocks: self.prompt.segments[added..].iter().map(blocks).sum(),
            tokens: prepared.tokens,
        });
    }

    fn summary(&mut self, seq: u64, prepared: &SummaryPrepared) {
        let Some(dialect) = self.dialect.clone() else { return };
        let body = summary(self.reader, &*dialect, prepared);
        let exact = body.as_ref().is_ok_and(|body| body.digest() == prepared.body);
        self.current = Some(Request {
            seq,
            epoch: None,
            opened: None,
            pieces: body.map(|body| body.chunks).unwrap_or_default(),
            body: prepared.body,
            exact,
            sent: false,
            blocks: 0,
            tokens: prepared.tokens,
        });
    }

    fn start(&mut self, start: &AttemptStart, time: u64) {
        let Some(request) = self.current.clone() else { return };
        let aside = start.purpose == Purpose::Summary;
        let retry = request.sent;
        let before = if retry { Some(&request) } else { self.before.as_ref() };
        let before = before.filter(|before| !aside && before.epoch == request.epoch);
        let before = before.map(|before| grown(&before.pieces, &request.pieces));
        let line = Line {
            session: self.session.to_string(),
            i: self.lines.len() as u64 + 1,
            seq: request.seq,
            exact: request.exact && start.body == request.body,
            bytes: length(&request.pieces),
            before: before.map(|(before, _)| before),
            lcp: before.map_or(0, |(_, lcp)| lcp),
            epoch: request.epoch,
            opened: request.opened.filter(|_| !retry),
            retry,
            gap_ms: self.last.map(|last| time.saturating_sub(last)),
            blocks: if retry { 0 } else { request.blocks },
            tokens: request.tokens,
            usage: None,
            class: if aside { Class::Aside } else { Class::NotReported },
        };
        // A request that was refused left nothing in any cache: what could be read is what the last counted one held.
        let counted = self.counted.as_ref();
        let look = Look {
            usage: None,
            after_another: counted.is_some(),
            opened: request
                .opened
                .filter(|_| counted.is_none_or(|(counted, _)| counted.epoch != request.epoch)),
            after_failure: self.failed,
            share: counted.map_or(0.0, |(counted, _)| {
                grown(&counted.pieces, &request.pieces).1 as f64 / line.bytes.max(1) as f64
            }),
            gap_ms: counted.map(|(_, began)| time.saturating_sub(*began)),
            blocks: request.blocks,
        };
        self.last = Some(time);
        self.open = Some((start.attempt.clone(), look));
        self.lines.push(line);
        if let Some(current) = &mut self.current {
            current.sent = true;
            if !aside {
                self.before = Some(current.clone());
            }
        }
    }

    fn end(&mut self, end: &AttemptEnd) {
        let Some((attempt, look)) = self.open.take() else { return };
        let Some(line) = self.lines.last_mut().filter(|_| attempt == end.attempt) else { return };
        self.failed = matches!(end.end, AttemptEndKind::Failed { .. });
        line.usage = counted(&end.settled);
        if let (Some(_), Some(sent), Some(began), true) =
            (line.usage, &self.current, self.last, line.epoch.is_some())
        {
            self.counted = Some((sent.clone(), began));
        }
        if line.class != Class::Aside {
            line.class = class(&Look { usage: line.usage, ..look });
        }
        if !line.exact {
            line.class = Class::NotRebuilt;
        }
    }
}

/// What the provider itself counted.
fn counted(settled: &Settled) -> Option<Usage> {
    match settled {
        Settled::Reported { tokens } => Some(*tokens),
        Settled::Estimated { .. } | Settled::Unknown => None,
    }
}

/// Pieces of content in a segment: what a provider's look-back counts.
fn blocks(segment: &Bytes) -> usize {
    let array = [b"[", segment.as_ref(), b"]"].concat();
    let elements: Vec<Value> = serde_json::from_slice(&array).unwrap_or_default();
    elements.iter().map(|element| element["content"].as_array().map_or(1, Vec::len)).sum()
}
