//! The record as the hands read it: what one event of the session says, whole.
//!
//! Invariants: only this session's events, and only what the model or the person said or what a call gave back; what was kept
//! beside a long result is read with it. The person's output is what a call or a job gave back itself, to the byte, without
//! the words that Daybook puts around it for the model.

use domain::digest::Digest;
use domain::event::{Fact, JobEnd, JobEnded, ToolOutcome, ToolResult};
use domain::history::{OUTPUT, output_name};
use domain::ids::{CallId, JobId, SessionId};
use domain::model::Block;
use std::collections::BTreeMap;
use std::io;
use store::{ReadError, Reader, StoreHandle};
use tools::record::Record;
use tools::run::{NO_OUTPUT, error_text};

/// The kinds of events that hold what a call or a job gave back.
const RESULT: &str = "tool/result";
const ENDED: &str = "job/ended";
/// The kinds of those that a job begins with, and that hold what it printed while it ran.
const STARTED: &str = "job/started";
const PRINTED: &str = "job/output";
/// Behind the last place of any session.
const AFTER_ALL: u64 = u64::MAX >> 1;
/// What the first content that a result keeps is called: of a command, all that it printed.
const FIRST: &str = "output-1";
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
    let found = reader.newest_with(session, RESULT, call.as_str(), |fact| match fact {
        Fact::ToolResult(e) if e.call == *call => outcome(fact).map(|outcome| outcome.whole()),
        _ => None,
    });
    Ok(found?.flatten())
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
        Some(None) => Ok(Whole::text(&logged(reader, session, job)?)),
        found => Ok(found.flatten()),
    }
}

/// What a call gave back itself, without the error that is worded for the model.
#[must_use]
pub fn own_result(e: &ToolResult) -> &str {
    match &e.outcome {
        ToolOutcome::Ok { .. } => &e.text,
        ToolOutcome::Error { error } => behind(&e.text, &error_text(error)),
    }
}

/// What a job printed, as far as its end holds it, without what is worded for the model.
#[must_use]
pub fn own_end(e: &JobEnded) -> &str {
    match &e.end {
        JobEnd::Completed { .. } => &e.text,
        JobEnd::Failed { error } => behind(&e.text, &error_text(error)),
        // It ran here and was stopped; else all of it is Daybook's own note.
        JobEnd::Cancelled { .. } | JobEnd::Interrupted if e.text.starts_with(STOPPED) => {
            behind(&e.text, e.text.split("\n\n").next().unwrap_or_default())
        }
        JobEnd::Cancelled { .. } | JobEnd::Interrupted => "",
    }
}

/// What stands behind a head; nothing where it begins with other words, or only says that there was no output.
fn behind<'a>(text: &'a str, head: &str) -> &'a str {
    match text.strip_prefix(head).unwrap_or("").trim_start_matches('\n') {
        NO_OUTPUT => "",
        own => own,
    }
}

/// What was logged of a job's output while it ran: nothing of it stands before its beginning.
fn logged(reader: &Reader, session: &SessionId, job: &JobId) -> Result<String, ReadError> {
    let (mut pieces, mut within) = (Vec::new(), began(reader, session, job)?..AFTER_ALL);
    while let Some(seq) = reader.last_with(session, PRINTED, job.as_str(), within.clone())? {
        if let Some(Fact::JobOutput(e)) = reader.fact(session, seq)?
            && e.job == *job
        {
            pieces.push(e.text);
        }
        within.end = seq;
    }
    pieces.reverse();
    Ok(pieces.concat())
}

/// Where a job began; the session's beginning where that can't be told any more.
fn began(reader: &Reader, session: &SessionId, job: &JobId) -> Result<u64, ReadError> {
    let mut before = AFTER_ALL;
    while let Some(seq) = reader.last_with(session, STARTED, job.as_str(), 0..before)? {
        match reader.fact(session, seq)? {
            Some(Fact::JobStarted(e)) if e.job == *job => return Ok(seq),
            _ => before = seq,
        }
    }
    Ok(0)
}

impl Whole {
    /// A text, where it says anything.
    fn text(text: &str) -> Option<Self> {
        (!text.trim().is_empty()).then(|| Self::Text(text.to_owned()))
    }
}

/// What came of a call or of a job: its text, and what was kept beside it.
struct Outcome<'a> {
    text: &'a str,
    own: &'a str,
    kept: &'a BTreeMap<String, Digest>,
    /// Where it came to a result.
    value: Option<&'a serde_json::Value>,
}

fn outcome(fact: &Fact) -> Option<Outcome<'_>> {
    match fact {
        Fact::ToolResult(e) => {
            let value = match &e.outcome {
                ToolOutcome::Ok { value } => Some(value),
                ToolOutcome::Error { .. } => None,
            };
            Some(Outcome { text: &e.text, own: own_result(e), kept: &e.kept, value })
        }
        Fact::JobEnded(e) => {
            let value = match &e.end {
                JobEnd::Completed { value } => Some(value),
                JobEnd::Failed { .. } | JobEnd::Cancelled { .. } | JobEnd::Interrupted => None,
            };
            Some(Outcome { text: &e.text, own: own_end(e), kept: &e.kept, value })
        }
        _ => None,
    }
}

impl Outcome<'_> {
    /// All of it; `None` where that is nothing.
    fn whole(&self) -> Option<Whole> {
        match self.value {
            Some(value) => self.whole_of(value),
            None => self.whole_without_value(),
        }
    }

    /// The content that the text names or that the value calls the output; else the text is all there is.
    fn whole_of(&self, value: &serde_json::Value) -> Option<Whole> {
        let output = value["output"].as_str();
        let is_it =
            |kept: &&Digest| self.text.contains(&output_name(kept)) || output == Some(&kept.to_string());
        match self.kept.values().find(is_it) {
            Some(kept) => Some(Whole::Kept(*kept)),
            // A command that printed nothing: its text is Daybook's own.
            None if value.get("exit_code").is_some() && value["bytes"] == 0 => None,
            None => Whole::text(self.own),
        }
    }

    /// Of what didn't come to a result only a command gives anything back, and all that it printed is kept.
    fn whole_without_value(&self) -> Option<Whole> {
        match self.kept.get(FIRST) {
            // An error too long for its event.
            Some(kept) if self.own.is_empty() && self.text.contains(&output_name(kept)) => None,
            Some(kept) => Some(Whole::Kept(*kept)),
            None if self.own.starts_with(NO_OUTPUT) => None,
            None => Whole::text(self.own),
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
            (failed(), "Error (call/timeout): too long\nLess.\n\n(no output)", ""),
            (by_user.clone(), stopped, "1\n\n2\n"),
            (JobEnd::Interrupted, stopped, "1\n\n2\n"),
            (by_user, note, ""),
            (JobEnd::Interrupted, note, ""),
        ] {
            assert_eq!(own_end(&ended(end, text)), own, "{text:?}");
        }
    }

    #[test]
    fn what_a_command_printed_is_what_it_kept_however_it_ended() {
        let kept = Digest::of(b"1\n");
        let late = ToolError { code: "call/timeout".into(), message: "too long".into(), suggestion: None };
        let value = |bytes: u64, output: Option<&Digest>| JobEnd::Completed {
            value: serde_json::json!({"exit_code": 0, "bytes": bytes, "output": output}),
        };
        let failed = || JobEnd::Failed { error: late.clone() };
        let by_user = || JobEnd::Cancelled { by: JobCancelBy::User };
        let whole = |end: JobEnd, text: &str, printed: bool| {
            let mut end = ended(end, text);
            if printed {
                end.kept.insert("output-1".to_owned(), kept);
                // Too long for its event with the words around it, these were kept, too.
                end.kept.insert("output-2".to_owned(), Digest::of(b"words"));
            }
            outcome(&Fact::JobEnded(end)).and_then(|outcome| outcome.whole())
        };
        let (all, lines) = (Some(Whole::Kept(kept)), "[left running and stopped: sh]");
        let long =
            format!("Error (call/timeout): too long\n\n1\n[…]\n{}", output_name(&Digest::of(b"words")));
        let stopped = "Error (call/cancelled): cancelled before it ended\n\n";
        for (end, text, printed) in [
            (value(2, Some(&kept)), "1\n[exit code 0]".to_owned(), true),
            (value(0, None), "(no output)\n[exit code 0]".to_owned(), false),
            (failed(), long, true),
            (failed(), "Error (call/timeout): too long\n\n(no output)".to_owned(), false),
            (failed(), format!("Error (call/timeout): too long\n\n(no output)\n{lines}"), false),
            (by_user(), format!("{stopped}1\n{lines}"), true),
            (by_user(), format!("{stopped}(no output)"), true),
            (by_user(), stopped.trim_end().to_owned(), true),
            (by_user(), format!("{stopped}(no output)"), false),
            (JobEnd::Interrupted, format!("{stopped}(no output)\n{lines}"), false),
        ] {
            assert_eq!(whole(end, &text, printed), all.clone().filter(|_| printed), "{text:?}");
        }
        assert_eq!(whole(failed(), &format!("Error (call/tim\n[…]\n{}", output_name(&kept)), true), None);
    }
}
