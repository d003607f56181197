//! The record as the hands read it: what one event of the session says, whole.
//!
//! Invariants: only this session's events, and only what the model or the person said or what a call gave back; what was kept
//! beside a long result is read with it. The person's output is what a call or a job gave back itself, without the words that
//! Daybook puts in front of it for the model.

use domain::digest::Digest;
use domain::event::{Fact, JobEnd, JobEnded, ToolOutcome, ToolResult};
use domain::history::{OUTPUT, output_name};
use domain::ids::{CallId, JobId, SessionId};
use domain::model::Block;
use std::collections::BTreeMap;
use std::io;
use store::{ReadError, Reader, StoreHandle};
use tools::record::Record;
use tools::run::error_text;

/// The kinds of events that hold what a call or a job gave back.
const RESULT: &str = "tool/result";
const ENDED: &str = "job/ended";
/// The kind of those that hold what a job printed while it ran.
const PRINTED: &str = "job/output";
/// How the text of one that ran here and was stopped begins.
const STOPPED: &str = "Error (call/cancelled): ";

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
        let Some(digits) = name.strip_prefix(OUTPUT) else { return Ok(None) };
        let of = |fact: &Fact| outcome(fact)?.kept.values().copied().find(|kept| output_name(kept) == name);
        for kind in [ENDED, RESULT] {
            let found = self.store.newest_with(&self.session, kind, digits, of).map_err(io::Error::other)?;
            if let Some(kept) = found {
                let bytes = self.store.blob(&kept).map_err(io::Error::other)?;
                return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
        Ok(None)
    }
}

/// All that a call or a job gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whole {
    /// It stands in its event.
    Text(String),
    /// It is a content of this name, behind a head that is worded for the model where it begins with that.
    Kept {
        /// Which.
        digest: Digest,
        /// What may stand in front of it; empty where nothing does.
        head: String,
    },
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
    let found = reader.newest_with(session, RESULT, call.as_str(), |fact| match fact {
        Fact::ToolResult(e) if e.call == *call => outcome(fact).map(|outcome| outcome.whole()),
        _ => None,
    });
    Ok(found?.filter(Whole::is_something))
}

/// All that a job printed; `None` where it printed nothing, or hasn't ended. Where its end holds nothing of that, it is what
/// was logged while it ran.
///
/// # Errors
/// When an event can't be read.
pub fn output_of_job(reader: &Reader, session: &SessionId, job: &JobId) -> Result<Option<Whole>, ReadError> {
    let found = reader.newest_with(session, ENDED, job.as_str(), |fact| match fact {
        Fact::JobEnded(e) if e.job == *job => outcome(fact).map(|outcome| outcome.whole()),
        _ => None,
    })?;
    match found {
        Some(whole) if !whole.is_something() => {
            Ok(Some(Whole::Text(logged(reader, session, job)?)).filter(Whole::is_something))
        }
        found => Ok(found),
    }
}

/// What a call gave back itself, without the error that is worded for the model.
#[must_use]
pub fn own_result(e: &ToolResult) -> &str {
    behind(&e.text, &head_of_result(e))
}

/// What a job printed, as far as its end holds it, without what is worded for the model.
#[must_use]
pub fn own_end(e: &JobEnded) -> &str {
    match head_of_end(e) {
        Some(head) => behind(&e.text, &head),
        None => "",
    }
}

fn head_of_result(e: &ToolResult) -> String {
    match &e.outcome {
        ToolOutcome::Ok { .. } => String::new(),
        ToolOutcome::Error { error } => error_text(error),
    }
}

/// What stands in front of a job's output; `None` where there is no output behind it.
fn head_of_end(e: &JobEnded) -> Option<String> {
    match &e.end {
        JobEnd::Completed { .. } => Some(String::new()),
        JobEnd::Failed { error } => Some(error_text(error)),
        // It ran here and was stopped; else all of it is Daybook's own note.
        JobEnd::Cancelled { .. } | JobEnd::Interrupted if e.text.starts_with(STOPPED) => {
            Some(e.text.split("\n\n").next().unwrap_or_default().to_owned())
        }
        JobEnd::Cancelled { .. } | JobEnd::Interrupted => None,
    }
}

/// What stands behind a head; all of it where there is none, and nothing where it begins with other words.
fn behind<'a>(text: &'a str, head: &str) -> &'a str {
    match head.is_empty() {
        true => text,
        false => text.strip_prefix(head).unwrap_or("").trim_start_matches('\n'),
    }
}

/// What was logged of a job's output while it ran.
fn logged(reader: &Reader, session: &SessionId, job: &JobId) -> Result<String, ReadError> {
    let (mut pieces, mut before) = (Vec::new(), u64::MAX >> 1);
    while let Some(seq) = reader.last_of(session, PRINTED, before)? {
        if let Some(Fact::JobOutput(e)) = reader.fact(session, seq)?
            && e.job == *job
        {
            pieces.push(e.text);
        }
        before = seq;
    }
    pieces.reverse();
    Ok(pieces.concat())
}

impl Whole {
    fn is_something(&self) -> bool {
        !matches!(self, Self::Text(text) if text.trim().is_empty())
    }

    /// What was kept, as it was given back.
    #[must_use]
    pub fn without_head(head: &str, mut kept: Vec<u8>) -> Vec<u8> {
        if !head.is_empty() && kept.starts_with(head.as_bytes()) {
            let behind = kept[head.len()..].iter().position(|byte| *byte != b'\n');
            kept.drain(..behind.map_or(kept.len(), |more| head.len() + more));
        }
        kept
    }
}

/// What came of a call or of a job: its text, and what was kept beside it.
struct Outcome<'a> {
    text: &'a str,
    own: &'a str,
    head: String,
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
            let (own, head) = (own_result(e), head_of_result(e));
            Some(Outcome { text: &e.text, own, head, kept: &e.kept, value })
        }
        Fact::JobEnded(e) => {
            let value = match &e.end {
                JobEnd::Completed { value } => Some(value),
                JobEnd::Failed { .. } | JobEnd::Cancelled { .. } | JobEnd::Interrupted => None,
            };
            let (own, head) = (own_end(e), head_of_end(e).unwrap_or_default());
            Some(Outcome { text: &e.text, own, head, kept: &e.kept, value })
        }
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
            Some(kept) => Whole::Kept { digest: *kept, head: self.head.clone() },
            None => Whole::Text(self.own.to_owned()),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use domain::call::ToolError;
    use domain::event::{Changed, JobCancelBy};

    fn ended(end: JobEnd, text: &str) -> JobEnded {
        let (changed, kept, seen) = (Changed::default(), BTreeMap::new(), BTreeMap::new());
        let (text, secrets) = (text.to_owned(), Vec::new());
        JobEnded { job: JobId::from_bits(1), end, text, changed, kept, seen, secrets, ms: 1 }
    }

    #[test]
    fn the_persons_copy_holds_no_words_for_the_model() {
        let late = ToolError {
            code: "call/timeout".into(),
            message: "too long".into(),
            suggestion: Some("Less.".into()),
        };
        let failed = || JobEnd::Failed { error: late.clone() };
        let (by_user, note) = (JobEnd::Cancelled { by: JobCancelBy::User }, "Lost sight of; look.\n\nAt it.");
        let stopped = "Error (call/cancelled): cancelled before it ended\n\n1\n\n2\n";
        let completed = JobEnd::Completed { value: serde_json::Value::Null };
        for (end, text, own) in [
            (completed, "\n1\n", "\n1\n"),
            (failed(), "Error (call/timeout): too long\nLess.\n\n1\n", "1\n"),
            (failed(), "Error (call/timeout): too long\nLess.", ""),
            (by_user.clone(), stopped, "1\n\n2\n"),
            (JobEnd::Interrupted, stopped, "1\n\n2\n"),
            (by_user, note, ""),
            (JobEnd::Interrupted, note, ""),
        ] {
            assert_eq!(own_end(&ended(end, text)), own, "{text:?}");
        }
        // One too long for its event was kept with its head.
        let kept = Digest::of(b"all");
        let text = format!("{}\n\n1\n[…]\n{}", error_text(&late), output_name(&kept));
        let mut end = ended(failed(), &text);
        end.kept.insert("output-1".to_owned(), kept);
        let fact = Fact::JobEnded(end);
        let Some(Whole::Kept { digest, head }) = outcome(&fact).map(|outcome| outcome.whole()) else {
            panic!()
        };
        assert_eq!(digest, kept);
        let bytes = |text: &str| text.as_bytes().to_vec();
        assert_eq!(Whole::without_head(&head, bytes(&format!("{head}\n\n1\n"))), b"1\n");
        assert_eq!(Whole::without_head(&head, bytes("1\n2\n")), b"1\n2\n");
        assert_eq!(Whole::without_head("", bytes("\n1\n")), b"\n1\n");
    }

    #[test]
    fn a_finished_jobs_output_is_the_content_that_its_value_names() {
        let kept = Digest::of(b"1\n");
        let value = serde_json::json!({"exit_code": 0, "output": kept.to_string()});
        let mut end = ended(JobEnd::Completed { value }, "1\n[exit code 0]");
        end.kept.insert("output-1".to_owned(), kept);
        let whole = outcome(&Fact::JobEnded(end)).map(|outcome| outcome.whole());
        assert_eq!(whole, Some(Whole::Kept { digest: kept, head: String::new() }));
    }
}
