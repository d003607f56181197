//! The outline: one letter an event, read once and carried on.
//!
//! Most letters follow from an event's type; for calls' ends and the ends of attempts and turns the payload says whether files
//! changed and whether it went well. Invariant: an event has the letter that its line has.

use super::up_to_break;
use crate::room::Inside;
use crate::wire::ApiError;
use crate::wire::record::{RecordBreak, RecordOutline};
use domain::event::{AttemptEndKind, End, Fact, JobEnd, Recorded, ToolOutcome};
use domain::ids::SessionId;

/// Events read at once.
const PAGE: usize = 1_000;

/// An outline as far as it was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Outline {
    letters: String,
    began: Option<u64>,
    ended: Option<u64>,
}

pub(super) fn outline(inside: &Inside, session: &SessionId, from: u64) -> Result<RecordOutline, ApiError> {
    let read = inside.record.outlines.age();
    let mut outline = inside.record.outlines.take(session).unwrap_or_default();
    let broken = outline.read_on(inside, session)?;
    // A letter is one byte.
    let at = usize::try_from(from).unwrap_or(usize::MAX);
    let letters = outline.letters.get(at..).unwrap_or_default().to_owned();
    let shown = RecordOutline { from, letters, began: outline.began, ended: outline.ended, broken };
    inside.record.outlines.keep(session, outline, read);
    Ok(shown)
}

impl Outline {
    fn read_on(&mut self, inside: &Inside, session: &SessionId) -> Result<Option<RecordBreak>, ApiError> {
        loop {
            let (page, broken) = up_to_break(&inside.reader, session, self.letters.len() as u64, PAGE)?;
            page.iter().for_each(|event| self.take(event));
            if broken.is_some() || page.len() < PAGE {
                return Ok(broken);
            }
        }
    }

    fn take(&mut self, event: &Recorded) {
        self.letters.push(letter(event, telling(event).as_ref()));
        self.began.get_or_insert(event.time);
        self.ended = Some(event.time);
    }
}

/// What the letter of an event depends on, where its type alone doesn't tell.
fn telling(event: &Recorded) -> Option<Fact> {
    match event.kind.as_str() {
        "attempt/end" | "turn/end" | "tool/result" | "tool/cancelled" | "job/ended" => {
            event.clone().decode().ok().and_then(|event| event.fact)
        }
        _ => None,
    }
}

/// The letter of an event that says this, as far as it can be read.
pub(super) fn letter(event: &Recorded, fact: Option<&Fact>) -> char {
    let Some(fact) = fact else { return plain(event) };
    match fact {
        Fact::AttemptEnd(e) => match e.end {
            AttemptEndKind::Accepted | AttemptEndKind::Summarised { .. } | AttemptEndKind::Cancelled => 's',
            AttemptEndKind::Unaccepted { .. } | AttemptEndKind::Failed { .. } => 'S',
            AttemptEndKind::Interrupted => 'r',
        },
        Fact::TurnEnd(e) => match e.end {
            End::Completed | End::Cancelled { .. } | End::Rejected | End::NothingToDo => 't',
            End::Failed { .. } | End::Length | End::Refused | End::Blocked { .. } | End::Limit { .. } => 'T',
            End::Interrupted => 'r',
        },
        Fact::ToolResult(e) => {
            let letter = if e.changed.is_empty() { 'c' } else { 'f' };
            match e.outcome {
                ToolOutcome::Ok { .. } => letter,
                ToolOutcome::Error { .. } => letter.to_ascii_uppercase(),
            }
        }
        Fact::JobEnded(e) => {
            let letter = if e.changed.is_empty() { 'c' } else { 'f' };
            match e.end {
                JobEnd::Completed { .. } | JobEnd::Cancelled { .. } => letter,
                JobEnd::Failed { .. } => letter.to_ascii_uppercase(),
                JobEnd::Interrupted => 'r',
            }
        }
        Fact::ToolCancelled(e) if !e.changed.is_empty() => 'f',
        _ => plain(event),
    }
}

/// By its type alone.
fn plain(event: &Recorded) -> char {
    let (noun, verb) = event.kind.split_once('/').unwrap_or((event.kind.as_str(), ""));
    match (noun, verb) {
        ("turn", "start") => 'n',
        ("turn", _) => 't',
        ("step", "start") => 'p',
        ("tool" | "job", "output") | ("assistant", "delta") => 'd',
        ("tool", "outcome_unknown") | ("job", "reconciling") => 'R',
        ("job", _) => 'c',
        ("call", _) | ("recovery", _) | ("late", _) => 'r',
        ("question", "answered") | ("user", _) | ("inbox", _) => 'm',
        ("assistant", _) => 'a',
        ("tool" | "plan" | "question" | "secret", _) => 'c',
        ("approval" | "grant", _) => 'y',
        ("revision", _) => 'f',
        ("session" | "folder" | "record" | "notice", _) => 'o',
        _ if event.ignorable => 'd',
        _ if event.step.is_some() => 's',
        _ => 'o',
    }
}
