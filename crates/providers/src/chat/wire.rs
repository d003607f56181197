//! Small readings of Chat Completions JSON: content in its shapes, usage in its dialects, reasoning in its fields.
//!
//! Invariant: reading is lenient about absence and null, and never guesses: a field of another type counts as absent.

use domain::model::{Block, Usage};
use serde_json::{Map, Value, json};

use super::NAME;
use crate::quirks::ReasoningEcho;

/// Is this object an error rather than a chunk? vLLM marks it with `object`, everyone else with `error`.
pub(crate) fn is_error(data: &Value) -> bool {
    !data["error"].is_null() || data["object"] == "error"
}

/// `content` as a string, null, or a list of parts of which the text counts.
pub(crate) fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Token counts, where any is above zero.
pub(crate) fn usage(wire: &Value) -> Option<Usage> {
    let prompt = wire["prompt_tokens"].as_u64().unwrap_or(0);
    let output = wire["completion_tokens"].as_u64().unwrap_or(0);
    let cached = [
        &wire["prompt_tokens_details"]["cached_tokens"],
        &wire["prompt_cache_hit_tokens"],
        &wire["cached_tokens"],
    ];
    let cache_read = cached.into_iter().find_map(Value::as_u64).unwrap_or(0);
    let cache_write = wire["prompt_tokens_details"]["cache_write_tokens"].as_u64().unwrap_or(0);
    let input = prompt.saturating_sub(cache_read).saturating_sub(cache_write);
    (prompt | output != 0).then_some(Usage { input, output, cache_read, cache_write })
}

/// Reasoning as it streams: plain text under one of two names, and OpenRouter's blocks.
#[derive(Debug, Default)]
pub(crate) struct Reasoning {
    text: String,
    details: Vec<Value>,
}

/// What one delta added.
pub(crate) struct Thought {
    pub(crate) text: String,
    pub(crate) bytes: usize,
}

impl Reasoning {
    /// Takes the reasoning fields of a delta or message. Servers that fill both names repeat themselves.
    pub(crate) fn add(&mut self, message: &Value) -> Thought {
        let text = [&message["reasoning_content"], &message["reasoning"]]
            .into_iter()
            .find_map(|field| field.as_str().filter(|text| !text.is_empty()))
            .unwrap_or_default()
            .to_owned();
        self.text.push_str(&text);
        let mut bytes = text.len();
        for detail in message["reasoning_details"].as_array().into_iter().flatten() {
            bytes += detail.to_string().len();
            self.add_detail(detail);
        }
        Thought { text, bytes }
    }

    fn add_detail(&mut self, detail: &Value) {
        let same = |known: &&mut Value| {
            known["index"] == detail["index"] && known["type"] == detail["type"] && detail["type"].is_string()
        };
        let Some(known) = self.details.iter_mut().rev().find(same).and_then(Value::as_object_mut) else {
            self.details.push(detail.clone());
            return;
        };
        for (field, value) in detail.as_object().into_iter().flatten() {
            match (field.as_str(), known.get_mut(field), value) {
                ("text" | "summary" | "data", Some(Value::String(text)), Value::String(more)) => {
                    text.push_str(more)
                }
                (_, _, Value::Null) => {}
                (_, _, value) => {
                    known.insert(field.clone(), value.clone());
                }
            }
        }
    }

    /// The reasoning as a block, with what its provider wants back.
    pub(crate) fn block(&self, provider: &str, echo: ReasoningEcho) -> Option<Block> {
        if self.text.is_empty() && self.details.is_empty() {
            return None;
        }
        let mut opaque = Map::new();
        opaque.insert("dialect".into(), NAME.into());
        opaque.insert("provider".into(), provider.into());
        match echo {
            ReasoningEcho::Never => return Some(Block::Reasoning { text: self.text.clone(), opaque: None }),
            ReasoningEcho::Content | ReasoningEcho::ContentOnEveryCall => {
                opaque.insert("reasoning_content".into(), self.text.clone().into());
            }
            ReasoningEcho::Details => {
                opaque.insert("reasoning".into(), self.text.clone().into());
                if !self.details.is_empty() {
                    opaque.insert("reasoning_details".into(), json!(self.details));
                }
            }
        }
        Some(Block::Reasoning { text: self.text.clone(), opaque: Some(opaque.into()) })
    }
}
