//! Verification: every request ever sent is rebuilt and compared, and the whole log is audited.
//!
//! Invariant: a clean verdict means that the chain holds, every law holds at every prefix, two folds agree, and each
//! request's bytes are exactly what was sent; where the adapter is today's, encoding the history again gives the same
//! segments.

use crate::prompt::{self, PAGE, PREPARED, Prompt, RebuildError, SUMMARY};
use domain::audit::{Finding, audit};
use domain::digest::Digest;
use domain::event::{Fact, Payload, Recorded, RequestPrepared, SummaryPrepared};
use domain::history;
use domain::ids::SessionId;
use domain::model::ModelSnapshot;
use domain::state::State;
use std::ops::ControlFlow;
use store::{BlobError, Gone, Reader};

/// Hears how far a verification is, and may stop it.
pub type Watch<'a> = dyn Fn(Progress) -> ControlFlow<()> + 'a;

/// What verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Events read.
    pub events: u64,
    /// Requests rebuilt and compared.
    pub requests: u64,
    /// Of these, encoded again from the history as well.
    pub encoded_again: u64,
    /// Events that words were erased from.
    pub erased_events: u64,
    /// Requests that can't be rebuilt, or not be encoded again, because of that.
    pub erased_requests: u64,
    /// What doesn't hold, in the log's order; empty when all is well.
    pub findings: Vec<Finding>,
}

/// Verifies one session. `epoch` is the process that has the store open now, or the last one that had.
///
/// # Errors
/// When the log can't be read at all.
pub fn verify(reader: &Reader, session: &SessionId, epoch: u64) -> Result<Verdict, RebuildError> {
    watched(reader, session, epoch, &|_| ControlFlow::Continue(())).map(Option::unwrap_or_default)
}

/// How far a verification is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Events read.
    pub events: u64,
    /// Requests rebuilt.
    pub requests: u64,
    /// Requests there are; 0 until all events are read.
    pub of: u64,
}

/// The same, telling how far it is and stopping where it is told to; nothing is found out then.
///
/// # Errors
/// When the log can't be read at all.
pub fn watched(
    reader: &Reader,
    session: &SessionId,
    epoch: u64,
    watch: &Watch<'_>,
) -> Result<Option<Verdict>, RebuildError> {
    let Some(events) = read(reader, session, watch)? else { return Ok(None) };
    let mut verdict = Verdict { events: events.len() as u64, ..Verdict::default() };
    verdict.findings = audit(&events, epoch);
    let erased = |event: &&Recorded| !event.ignorable && !matches!(event.payload, Payload::Text(_));
    verdict.erased_events = events.iter().filter(erased).count() as u64;
    if requests(reader, &events, &mut verdict, watch)?.is_break() {
        return Ok(None);
    }
    folds(reader, session, &events, &mut verdict)?;
    verdict.findings.sort_by_key(|finding| finding.seq);
    Ok(Some(verdict))
}

pub(crate) fn all(reader: &Reader, session: &SessionId) -> Result<Vec<Recorded>, RebuildError> {
    read(reader, session, &|_| ControlFlow::Continue(())).map(Option::unwrap_or_default)
}

fn read(
    reader: &Reader,
    session: &SessionId,
    watch: &Watch<'_>,
) -> Result<Option<Vec<Recorded>>, RebuildError> {
    let mut events = Vec::new();
    loop {
        let read = events.len() as u64;
        if watch(Progress { events: read, ..Progress::default() }).is_break() {
            return Ok(None);
        }
        let page = reader.events(session, read, PAGE)?;
        if page.is_empty() {
            return Ok(Some(events));
        }
        events.extend(page);
    }
}

/// I9: each body from its segments; and the segments from the history.
fn requests(
    reader: &Reader,
    events: &[Recorded],
    verdict: &mut Verdict,
    watch: &Watch<'_>,
) -> Result<ControlFlow<()>, RebuildError> {
    let of = events.iter().filter(|event| [PREPARED, SUMMARY].contains(&event.kind.as_str())).count() as u64;
    let mut rebuilt = Rebuilt { reader, prompt: Prompt::default(), erased: false };
    let mut model: Option<ModelSnapshot> = None;
    // Facts since the last request of the prefix epoch, and since the beginning for one that opens.
    let mut facts: Vec<(u64, Fact)> = Vec::new();
    let mut since = 0;
    // How many of them had lost no word, up to the last that had.
    let mut whole_from = 0;
    for recorded in events {
        let untouched = matches!(recorded.payload, Payload::Text(_));
        let Some(fact) = recorded.clone().decode()?.fact else { continue };
        match &fact {
            Fact::StepStart(start) => model = Some(start.model.clone()),
            Fact::RequestPrepared(prepared) => {
                let progress = Progress { events: verdict.events, requests: verdict.requests, of };
                if watch(progress).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                if prepared.opened.is_some() {
                    since = 0;
                }
                let added = Added { facts: &facts[since..], whole: whole_from <= since };
                match &model {
                    Some(model) => rebuilt.one(prepared, model, &added, recorded.seq, verdict),
                    None => find(verdict, recorded.seq, "a request outside any step"),
                }
                since = facts.len();
            }
            Fact::SummaryPrepared(prepared) => match &model {
                Some(model) => summary(reader, prepared, model, recorded.seq, verdict),
                None => find(verdict, recorded.seq, "a request outside any step"),
            },
            _ => {}
        }
        facts.push((recorded.seq, fact));
        if !untouched {
            whole_from = facts.len();
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// A request for a summary stands alone.
fn summary(
    reader: &Reader,
    prepared: &SummaryPrepared,
    model: &ModelSnapshot,
    seq: u64,
    verdict: &mut Verdict,
) {
    verdict.requests += 1;
    let dialect = match providers::dialect_of(model) {
        Ok(dialect) => dialect,
        Err(error) => return find(verdict, seq, error.to_string()),
    };
    match prompt::summary(reader, &*dialect, prepared) {
        Ok(body) if body.digest() == prepared.body && body.len() as u64 == prepared.bytes => {}
        Ok(_) => find(verdict, seq, "the rebuilt request for a summary isn't the one that was sent"),
        Err(BlobError::Gone { why: Gone::Erased, .. }) => verdict.erased_requests += 1,
        Err(error) => {
            find(verdict, seq, format!("a part of the request is missing or damaged: {error}"));
        }
    }
}

/// What a request added to the one before.
struct Added<'a> {
    facts: &'a [(u64, Fact)],
    /// Did none of them lose words?
    whole: bool,
}

/// Requests, rebuilt one after the other.
struct Rebuilt<'a> {
    reader: &'a Reader,
    prompt: Prompt,
    /// Was a part of this prefix epoch erased? Then none of its requests can be rebuilt from there on.
    erased: bool,
}

impl Rebuilt<'_> {
    fn one(
        &mut self,
        prepared: &RequestPrepared,
        model: &ModelSnapshot,
        added: &Added<'_>,
        seq: u64,
        verdict: &mut Verdict,
    ) {
        verdict.requests += 1;
        self.erased &= prepared.opened.is_none();
        match self.prompt.take(self.reader, prepared) {
            Ok(()) => {}
            Err(BlobError::Gone { why: Gone::Erased, .. }) => self.erased = true,
            Err(error) => {
                find(verdict, seq, format!("a part of the request is missing or damaged: {error}"));
                return;
            }
        }
        if self.erased {
            verdict.erased_requests += 1;
            return;
        }
        let dialect = match providers::dialect_of(model) {
            Ok(dialect) => dialect,
            Err(error) => return find(verdict, seq, error.to_string()),
        };
        let body = self.prompt.body(&*dialect, &prepared.markers);
        if body.digest() != prepared.body || body.len() as u64 != prepared.bytes {
            let (digest, sent) = (body.digest(), prepared.body);
            find(verdict, seq, format!("the rebuilt request has digest {digest}, {sent} was sent"));
        }
        if dialect.adapter_version() != prepared.adapter || dialect.name() != prepared.dialect {
            return;
        }
        match history::project(added.facts) {
            Ok(messages) => {
                let segment = dialect.segment(&messages);
                let expected: Vec<Digest> =
                    if segment.is_empty() { Vec::new() } else { vec![Digest::of(&segment)] };
                let same = expected == prepared.added;
                if !same && !added.whole {
                    verdict.erased_requests += 1;
                    return;
                }
                verdict.encoded_again += 1;
                if !same {
                    find(verdict, seq, "encoding the history again gives other bytes than were sent");
                }
            }
            Err(error) => find(verdict, seq, error.to_string()),
        }
    }
}

/// I17: the fold of the log equals what the store keeps.
fn folds(
    reader: &Reader,
    session: &SessionId,
    events: &[Recorded],
    verdict: &mut Verdict,
) -> Result<(), RebuildError> {
    let mut state = State::default();
    for recorded in events {
        state.fold(&recorded.clone().decode()?);
    }
    let kept = reader.state(session)?;
    // The session may have gone on since its events were read.
    let kept =
        if kept.next_seq == state.next_seq { kept } else { reader.state_after(session, state.next_seq)? };
    if *kept != state {
        let seq = state.next_seq.saturating_sub(1);
        verdict.findings.push(Finding {
            law: "I17".into(),
            seq,
            detail: "the kept state differs from the log's fold".into(),
        });
    }
    Ok(())
}

fn find(verdict: &mut Verdict, seq: u64, detail: impl Into<String>) {
    verdict.findings.push(Finding { law: "I9".into(), seq, detail: detail.into() });
}
