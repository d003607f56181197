//! The record as the hands read it: what one event of the session says, whole.
//!
//! Invariant: only this session's events, and only what the model or the person said or what a call gave back; what was kept
//! beside a long result is read with it.

use domain::digest::Digest;
use domain::event::{Fact, ToolOutcome};
use domain::history::output_name;
use domain::ids::{CallId, JobId, SessionId};
use domain::model::Block;
use std::collections::BTreeMap;
use std::io;
use store::{ReadError, Reader, StoreHandle};
use tools::record::Record;

/// The kinds of events that hold what a call or a job gave back.
const RESULT: &str = "tool/result";
const ENDED: &str = "job/ended";

/// One session's record.
pub(crate) struct OwnRecord {
    pub(crate) store: StoreHandle,
    pub(crate) session: SessionId,
}

impl Record for OwnRecord {
    fn says(&self, seq: u64) -> io::Result<Option<String>> {
        let events = self.store.events(&self.session, seq, 1).map_err(io::Error::other)?;
        let Some(event) = events.into_iter().next().filter(|event| event.seq == seq) else { return Ok(None) };
        let fact = event.decode().map_err(io::Error::other)?.fact;
        let said = match &fact {
            Some(Fact::ToolResult(e)) => self.whole(&e.kept, &e.text)?,
            Some(Fact::JobEnded(e)) => self.whole(&e.kept, &e.text)?,
            Some(fact) => said(fact),
            None => String::new(),
        };
        Ok((!said.trim().is_empty()).then_some(said))
    }

    fn kept(&self, name: &str) -> io::Result<Option<String>> {
        let found = newest(&self.store, &self.session, &[ENDED, RESULT], |fact| {
            outcome(fact)?.kept.values().copied().find(|kept| output_name(kept) == name)
        });
        let Some(kept) = found.map_err(io::Error::other)? else { return Ok(None) };
        let bytes = self.store.blob(&kept).map_err(io::Error::other)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// All that a call or a job gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whole {
    /// It stands in its event.
    Text(String),
    /// It is a content of this name.
    Kept(Digest),
}

/// All that a call gave back; `None` where it gave nothing.
///
/// # Errors
/// When an event can't be read.
pub fn output_of_call(
    reader: &Reader,
    session: &SessionId,
    call: &CallId,
) -> Result<Option<Whole>, ReadError> {
    let found = newest(reader, session, &[RESULT], |fact| match fact {
        Fact::ToolResult(e) if e.call == *call => outcome(fact).map(|outcome| outcome.whole()),
        _ => None,
    });
    Ok(found?.filter(Whole::is_something))
}

/// All that a job printed; `None` where it printed nothing, or hasn't ended.
///
/// # Errors
/// When an event can't be read.
pub fn output_of_job(reader: &Reader, session: &SessionId, job: &JobId) -> Result<Option<Whole>, ReadError> {
    let found = newest(reader, session, &[ENDED], |fact| match fact {
        Fact::JobEnded(e) if e.job == *job => outcome(fact).map(|outcome| outcome.whole()),
        _ => None,
    });
    Ok(found?.filter(Whole::is_something))
}

impl Whole {
    fn is_something(&self) -> bool {
        !matches!(self, Self::Text(text) if text.trim().is_empty())
    }
}

/// What came of a call or of a job: its text, and what was kept beside it.
struct Outcome<'a> {
    text: &'a str,
    kept: &'a BTreeMap<String, Digest>,
    value: Option<&'a serde_json::Value>,
}

fn outcome(fact: &Fact) -> Option<Outcome<'_>> {
    match fact {
        Fact::ToolResult(e) => {
            let value = match &e.outcome {
                ToolOutcome::Ok { value } => Some(value),
                ToolOutcome::Error { .. } => None,
            };
            Some(Outcome { text: &e.text, kept: &e.kept, value })
        }
        Fact::JobEnded(e) => Some(Outcome { text: &e.text, kept: &e.kept, value: None }),
        _ => None,
    }
}

impl Outcome<'_> {
    /// The content that the text names or that the value calls the output; else the text is all there is.
    fn whole(&self) -> Whole {
        let output = self.value.and_then(|value| value["output"].as_str());
        let is_it =
            |kept: &&Digest| self.text.contains(&output_name(kept)) || output == Some(&kept.to_string());
        match self.kept.values().find(is_it) {
            Some(kept) => Whole::Kept(*kept),
            None => Whole::Text(self.text.to_owned()),
        }
    }
}

/// What the newest event of these kinds gives that gives something.
fn newest<T>(
    reader: &Reader,
    session: &SessionId,
    kinds: &[&str],
    of: impl Fn(&Fact) -> Option<T>,
) -> Result<Option<T>, ReadError> {
    for kind in kinds {
        let mut before = u64::MAX >> 1;
        while let Some(seq) = reader.last_of(session, kind, before)? {
            if let Some(found) = reader.fact(session, seq)?.as_ref().and_then(&of) {
                return Ok(Some(found));
            }
            before = seq;
        }
    }
    Ok(None)
}

impl OwnRecord {
    /// A result, with the whole of what didn't fit into it.
    fn whole(&self, kept: &BTreeMap<String, Digest>, text: &str) -> io::Result<String> {
        if kept.is_empty() {
            return Ok(text.to_owned());
        }
        let mut whole = String::new();
        for kept in kept.values() {
            let bytes = self.store.blob(kept).map_err(io::Error::other)?;
            whole.push_str(&String::from_utf8_lossy(&bytes));
        }
        Ok(whole)
    }
}

fn said(fact: &Fact) -> String {
    match fact {
        // What waits, and what we tell beside, isn't said yet or not by anybody.
        Fact::InboxPosted(_) | Fact::ContextNote(_) => String::new(),
        Fact::AssistantAccepted(e) => {
            let parts = e.blocks.iter().filter_map(|block| match block {
                Block::Text { text } => Some(text.clone()),
                Block::Call { name, arguments, .. } => Some(format!("{name} {arguments}")),
                Block::Reasoning { .. } => None,
            });
            parts.collect::<Vec<_>>().join("\n\n")
        }
        fact => fact.says(),
    }
}
