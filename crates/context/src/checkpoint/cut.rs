//! Where the history is cut: between two closed steps, so that the newest stay word for word.
//!
//! Invariant: no cut lies within a step, so no call is parted from its result, and an open step is never touched.

use crate::estimate;
use domain::event::Fact;
use domain::history;
use domain::model::{Block, Message};

/// Closed steps whose results always stay whole.
const WHOLE: usize = 2;

/// A cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// What lies before this event is replaced.
    pub upto: u64,
    /// Closed steps before it, since the session began.
    pub steps: u64,
    /// Closed steps after it.
    pub kept: u64,
}

/// The cut that keeps the newest closed steps within `tail` tokens; `None` where nothing after `standing` would be replaced.
/// `end` is where the open step begins, or the end of the log.
#[must_use]
pub fn cut(facts: &[(u64, Fact)], standing: u64, end: u64, tail: u64) -> Option<Cut> {
    let starts = closed(facts, end);
    let (mut kept, mut used) = (0, 0);
    for (at, from) in starts.iter().enumerate().rev() {
        let to = starts.get(at + 1).copied().unwrap_or(end);
        used += weight(between(facts, *from, to));
        if used > tail || *from <= standing {
            break;
        }
        kept += 1;
    }
    let steps = starts.len() - kept;
    let upto = starts.get(steps).copied().unwrap_or(end);
    let fresh = starts[..steps].iter().any(|start| *start >= standing);
    fresh.then_some(Cut { upto, steps: steps as u64, kept: kept as u64 })
}

/// The cut at this very place.
#[must_use]
pub fn cut_at(facts: &[(u64, Fact)], upto: u64, end: u64) -> Cut {
    let starts = closed(facts, end);
    let steps = starts.partition_point(|start| *start < upto);
    Cut { upto, steps: steps as u64, kept: (starts.len() - steps) as u64 }
}

/// Where references may begin, so that the newest closed steps keep their results, and how many results become references
/// beyond those that are (`since`). A step that never got an answer has no results and isn't one of them.
#[must_use]
pub fn references(facts: &[(u64, Fact)], since: u64, end: u64) -> (u64, u64) {
    let starts = answered(facts, end);
    let upto = starts.len().checked_sub(WHOLE).and_then(|at| starts.get(at)).copied().unwrap_or(0);
    let long = between(facts, since, upto).iter().filter(|(seq, fact)| match fact {
        Fact::ToolResult(e) => {
            let is_error = matches!(e.outcome, domain::event::ToolOutcome::Error { .. });
            history::reference(*seq, &e.text, is_error).is_some()
        }
        Fact::ToolCancelled(e) => history::reference(*seq, &e.text, true).is_some(),
        Fact::ToolOutcomeUnknown(e) => history::reference(*seq, &e.text, true).is_some(),
        _ => false,
    });
    (upto, long.count() as u64)
}

/// Where the closed steps before `end` begin.
fn closed(facts: &[(u64, Fact)], end: u64) -> Vec<u64> {
    let starts = facts.iter().filter(|(seq, fact)| *seq < end && matches!(fact, Fact::StepStart(_)));
    starts.map(|(seq, _)| *seq).collect()
}

/// Where those of them begin that got an answer.
fn answered(facts: &[(u64, Fact)], end: u64) -> Vec<u64> {
    let mut begun = None;
    let mut starts = Vec::new();
    for (seq, fact) in facts.iter().filter(|(seq, _)| *seq < end) {
        match fact {
            Fact::StepStart(_) => begun = Some(*seq),
            Fact::AssistantAccepted(_) => starts.extend(begun.take()),
            _ => {}
        }
    }
    starts
}

fn between(facts: &[(u64, Fact)], from: u64, to: u64) -> &[(u64, Fact)] {
    let at = |seq| facts.partition_point(|(one, _)| *one < seq);
    facts.get(at(from)..at(to)).unwrap_or_default()
}

/// About how many tokens these facts add to a request.
fn weight(facts: &[(u64, Fact)]) -> u64 {
    history::project(facts).map_or(u64::MAX, |messages| messages.iter().map(weight_of).sum())
}

fn weight_of(message: &Message) -> u64 {
    match message {
        Message::User(text) => estimate::tokens(text),
        Message::Assistant(blocks) => blocks.iter().map(weight_of_block).sum(),
        Message::Results(results) => results.iter().map(|result| estimate::tokens(&result.text) + 20).sum(),
    }
}

fn weight_of_block(block: &Block) -> u64 {
    match block {
        Block::Text { text } => estimate::tokens(text),
        Block::Reasoning { text, opaque } => {
            estimate::tokens(text) + opaque.as_ref().map_or(0, |value| estimate::tokens(&value.to_string()))
        }
        Block::Call { arguments, .. } => estimate::tokens(arguments) + 20,
    }
}
