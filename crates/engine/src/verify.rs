//! Verification: every request ever sent is rebuilt and compared, and the whole log is audited.
//!
//! Invariant: a clean verdict means that the chain holds, every law holds at every prefix, two folds agree, and each
//! request's bytes are exactly what was sent; where the adapter is today's, encoding the history again gives the same
//! segments.

use crate::prompt::{PAGE, Prompt, RebuildError};
use domain::audit::{Finding, audit};
use domain::digest::Digest;
use domain::event::{Fact, Recorded, RequestPrepared};
use domain::history;
use domain::ids::SessionId;
use domain::model::ModelSnapshot;
use domain::state::State;
use store::Reader;

/// What verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Events read.
    pub events: u64,
    /// Requests rebuilt and compared.
    pub requests: u64,
    /// Of these, encoded again from the history as well.
    pub encoded_again: u64,
    /// What doesn't hold, in the log's order; empty when all is well.
    pub findings: Vec<Finding>,
}

/// Verifies one session. `epoch` is the process that has the store open now, or the last one that had.
///
/// # Errors
/// When the log can't be read at all.
pub fn verify(reader: &Reader, session: &SessionId, epoch: u64) -> Result<Verdict, RebuildError> {
    let events = all(reader, session)?;
    let mut verdict = Verdict { events: events.len() as u64, ..Verdict::default() };
    verdict.findings = audit(&events, epoch);
    requests(reader, &events, &mut verdict)?;
    folds(reader, session, &events, &mut verdict)?;
    verdict.findings.sort_by_key(|finding| finding.seq);
    Ok(verdict)
}

fn all(reader: &Reader, session: &SessionId) -> Result<Vec<Recorded>, RebuildError> {
    let mut events = Vec::new();
    loop {
        let page = reader.events(session, events.len() as u64, PAGE)?;
        if page.is_empty() {
            return Ok(events);
        }
        events.extend(page);
    }
}

/// I9: each body from its segments; and the segments from the history.
fn requests(reader: &Reader, events: &[Recorded], verdict: &mut Verdict) -> Result<(), RebuildError> {
    let mut prompt = Prompt::default();
    let mut model: Option<ModelSnapshot> = None;
    // Facts since the last request of the prefix epoch, and since the beginning for one that opens.
    let mut facts: Vec<Fact> = Vec::new();
    let mut since = 0;
    for recorded in events {
        let Some(fact) = recorded.clone().decode()?.fact else { continue };
        match &fact {
            Fact::StepStart(start) => model = Some(start.model.clone()),
            Fact::RequestPrepared(prepared) => {
                if prepared.opened.is_some() {
                    since = 0;
                }
                match &model {
                    Some(model) => {
                        one(reader, prepared, model, &facts[since..], &mut prompt, recorded.seq, verdict)?
                    }
                    None => find(verdict, recorded.seq, "a request outside any step"),
                }
                since = facts.len();
            }
            _ => {}
        }
        facts.push(fact);
    }
    Ok(())
}

fn one(
    reader: &Reader,
    prepared: &RequestPrepared,
    model: &ModelSnapshot,
    added: &[Fact],
    prompt: &mut Prompt,
    seq: u64,
    verdict: &mut Verdict,
) -> Result<(), RebuildError> {
    verdict.requests += 1;
    if let Err(error) = prompt.take(reader, prepared) {
        find(verdict, seq, format!("a part of the request is missing or damaged: {error}"));
        return Ok(());
    }
    let dialect = match providers::dialect_of(model) {
        Ok(dialect) => dialect,
        Err(error) => {
            find(verdict, seq, error.to_string());
            return Ok(());
        }
    };
    let body = prompt.body(&*dialect, &prepared.markers);
    if body.digest() != prepared.body || body.len() as u64 != prepared.bytes {
        find(
            verdict,
            seq,
            format!("the rebuilt request has digest {}, {} was sent", body.digest(), prepared.body),
        );
    }
    if dialect.adapter_version() == prepared.adapter && dialect.name() == prepared.dialect {
        verdict.encoded_again += 1;
        match history::project(added) {
            Ok(messages) => {
                let segment = dialect.segment(&messages);
                let expected: Vec<Digest> =
                    if segment.is_empty() { Vec::new() } else { vec![Digest::of(&segment)] };
                if expected != prepared.added {
                    find(verdict, seq, "encoding the history again gives other bytes than were sent");
                }
            }
            Err(error) => find(verdict, seq, error.to_string()),
        }
    }
    Ok(())
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
    if *reader.state(session)? != state {
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
