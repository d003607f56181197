//! What an event says, which words of it are to go, and every form they may stand in.
//!
//! A call says what it was asked to do: the strings of its arguments, as the model wrote them. Invariant: no word is looked
//! for that is too short to be meant, or part of the mark.

use super::{Erase, refused};
use crate::decide::CommandError;
use domain::erasure::MARK;
use domain::event::{Fact, Recorded, ToolCall};
use domain::model::Block;
use serde_json::Value;
use tools::redact::forms;

/// Fewest characters that can be erased: fewer stand in too many words that aren't meant.
const LEAST_CHARS: usize = 4;
/// A line of several is looked for by itself from this many characters on.
const LINE_CHARS: usize = 12;

/// All that the chosen event says, and the words of it that are to go.
pub(super) fn wanted(events: &[Recorded], erase: &Erase) -> Result<(String, Vec<String>), CommandError> {
    let chosen = events.iter().find(|event| event.seq == erase.chosen);
    let Some(chosen) = chosen.and_then(|event| event.clone().decode().ok()) else {
        return refused("erase/unknown", "there is no such event in this session");
    };
    let parts = match &chosen.fact {
        Some(Fact::ToolCall(call)) => asked(events, chosen.envelope.seq, call),
        Some(fact) => vec![fact.says()],
        None => Vec::new(),
    };
    let says = parts.join("\n");
    let wanted = match &erase.text {
        Some(text) => vec![text.clone()],
        None => parts,
    };
    let wanted: Vec<&str> = wanted.iter().map(|one| one.trim()).filter(|one| !one.is_empty()).collect();
    if wanted.is_empty() {
        return refused("erase/words", "this event says nothing by itself; name the exact words to erase");
    }
    let long: Vec<&str> = wanted.into_iter().filter(|one| one.chars().count() >= LEAST_CHARS).collect();
    if long.is_empty() {
        return refused("erase/short", format!("at least {LEAST_CHARS} characters can be erased"));
    }
    let mut all: Vec<String> = Vec::new();
    for one in long {
        all.push(one.to_owned());
        if one.lines().count() > 1 {
            let lines = one.lines().map(str::trim).filter(|line| line.chars().count() >= LINE_CHARS);
            all.extend(lines.map(str::to_owned));
        }
    }
    Ok((says, all))
}

/// Every form in which these words may stand in a session's events.
pub(super) fn forms_in(events: &[Recorded], wanted: &[String]) -> Result<Vec<String>, CommandError> {
    let mut all = wanted.to_vec();
    // A session's name is the beginning of its first message, cut.
    let titles = events.iter().filter(|event| event.kind == "session/renamed");
    for title in titles.filter_map(|event| event.clone().decode().ok()) {
        if let Some(Fact::SessionRenamed(named)) = title.fact {
            all.extend(wanted.iter().filter_map(|one| cut_off(&named.title, one)));
        }
    }
    let forms: Vec<String> = all.iter().flat_map(|one| forms(one)).collect();
    if forms.iter().any(|form| MARK.contains(form.as_str())) {
        return refused("erase/mark", "these words are part of what stands where words were erased");
    }
    Ok(forms)
}

/// The end of a title, where the title was cut within the words: `Use sk-ant-api03-8fK…`.
fn cut_off(title: &str, wanted: &str) -> Option<String> {
    let cut = title.strip_suffix('…')?.trim_end();
    let mut tails = cut.char_indices().map(|(at, _)| &cut[at..]);
    let tail = tails.find(|tail| wanted.starts_with(tail) && *tail != wanted)?;
    (tail.chars().count() >= LEAST_CHARS).then(|| tail.to_owned())
}

/// What a call was asked to do, in the model's own text; it stands in the answer before it.
fn asked(events: &[Recorded], seq: u64, call: &ToolCall) -> Vec<String> {
    let answers = events.iter().rev().skip_while(|event| event.seq >= seq);
    let answers = answers.filter(|event| event.kind == "assistant/accepted");
    let arguments = answers.filter_map(|event| event.clone().decode().ok()).find_map(|event| {
        let Some(Fact::AssistantAccepted(answer)) = event.fact else { return None };
        answer.blocks.into_iter().find_map(|block| match block {
            Block::Call { provider_call_id, arguments, .. } if provider_call_id == call.provider_call_id => {
                Some(arguments)
            }
            Block::Call { .. } | Block::Text { .. } | Block::Reasoning { .. } => None,
        })
    });
    let arguments = arguments.unwrap_or_default();
    match serde_json::from_str(&arguments) {
        Ok(value) => strings(value),
        Err(_) => vec![arguments],
    }
}

fn strings(value: Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.into_iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.into_iter().flat_map(|(_, value)| strings(value)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}
