//! Reading an Anthropic Messages answer, streamed or whole.
//!
//! Blocks are kept by their wire index and in the order they began. Invariants: only `message_stop` ends an answer;
//! events after it, and repeats of what already happened, change nothing; a delta for a block that is closed or was
//! never opened, or a second message in one stream, breaks the protocol.

use domain::model::{Block, ModelDelta, ModelError, ModelSnapshot, Outcome, Usage};
use serde_json::{Value, json};

use super::NAME;
use crate::answer::{Answer, Budget, cut, stop_reason};
use crate::classify;
use crate::fold::{Fold, MAX_BLOCKS, Progress, protocol};
use crate::json::is_object;
use crate::sse::Event;

/// One answer being read.
#[derive(Debug)]
pub struct AnthropicFold {
    provider: String,
    snapshot: ModelSnapshot,
    id: Option<String>,
    model: Option<String>,
    slots: Vec<Slot>,
    usage: WireUsage,
    stop: Option<String>,
    ended: bool,
    ignored: u64,
    budget: Budget,
}

#[derive(Debug)]
struct Slot {
    index: u64,
    open: bool,
    touched: bool,
    part: Part,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Thinking { text: String, signature: Option<String> },
    Redacted(Value),
    Call { position: u32, id: String, name: String, input: Option<String>, arguments: String },
    Unknown,
}

#[derive(Debug, Default)]
struct WireUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl AnthropicFold {
    /// A fresh reader.
    #[must_use]
    pub fn new(provider: &str, snapshot: &ModelSnapshot) -> Self {
        Self {
            provider: provider.into(),
            snapshot: snapshot.clone(),
            id: None,
            model: None,
            slots: Vec::new(),
            usage: WireUsage::default(),
            stop: None,
            ended: false,
            ignored: 0,
            budget: Budget::default(),
        }
    }

    fn ignore(&mut self) -> Progress {
        self.ignored += 1;
        Progress::Idle
    }

    fn message_start(&mut self, message: &Value) -> Result<Progress, ModelError> {
        let id = text_of(message, "id");
        if let Some(known) = &self.id {
            if id.as_deref().is_none_or(|id| id == known) {
                return Ok(self.ignore());
            }
            return Err(protocol("a second message began inside one answer"));
        }
        self.id = Some(id.unwrap_or_default());
        self.model = text_of(message, "model");
        self.usage.merge(&message["usage"]);
        Ok(Progress::Idle)
    }

    fn block_start(&mut self, data: &Value, out: &mut Vec<ModelDelta>) -> Result<Progress, ModelError> {
        let index = index_of(data)?;
        let part = self.part(&data["content_block"]);
        if let Some(known) = self.slots.iter().find(|slot| slot.index == index) {
            let same = std::mem::discriminant(&known.part) == std::mem::discriminant(&part);
            if known.open && !known.touched && same {
                return Ok(self.ignore());
            }
            return Err(protocol(format!("content block {index} began twice")));
        }
        if self.slots.len() >= MAX_BLOCKS {
            return Err(protocol(format!("the answer has more than {MAX_BLOCKS} blocks")));
        }
        self.budget.take(data["content_block"].to_string().len())?;
        let mut progress = Progress::Content;
        match &part {
            Part::Text(text) if !text.is_empty() => out.push(ModelDelta::Text { text: text.clone() }),
            Part::Thinking { text, .. } if !text.is_empty() => {
                out.push(ModelDelta::Reasoning { text: text.clone() });
            }
            Part::Call { position, name, .. } => {
                let (index, name) = (*position, Some(name.clone()));
                out.push(ModelDelta::Arguments { index, name, text: String::new() });
            }
            Part::Unknown => progress = self.ignore(),
            Part::Text(_) | Part::Thinking { .. } => progress = Progress::Idle,
            Part::Redacted(_) => {}
        }
        self.slots.push(Slot { index, open: true, touched: false, part });
        Ok(progress)
    }

    fn part(&self, block: &Value) -> Part {
        match block["type"].as_str() {
            Some("text") => Part::Text(text_of(block, "text").unwrap_or_default()),
            Some("thinking") => Part::Thinking {
                text: text_of(block, "thinking").unwrap_or_default(),
                signature: text_of(block, "signature").filter(|signature| !signature.is_empty()),
            },
            Some("redacted_thinking") => Part::Redacted(block.clone()),
            Some("tool_use") => Part::Call {
                position: self.slots.iter().filter(|slot| matches!(slot.part, Part::Call { .. })).count()
                    as u32,
                id: text_of(block, "id").unwrap_or_default(),
                name: text_of(block, "name").unwrap_or_default(),
                input: match &block["input"] {
                    Value::Null => None,
                    Value::Object(fields) if fields.is_empty() => None,
                    input => Some(input.to_string()),
                },
                arguments: String::new(),
            },
            _ => Part::Unknown,
        }
    }

    fn block_delta(&mut self, data: &Value, out: &mut Vec<ModelDelta>) -> Result<Progress, ModelError> {
        let index = index_of(data)?;
        let delta = &data["delta"];
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.index == index) else {
            return Err(protocol(format!("content for block {index}, which never began")));
        };
        if !slot.open {
            return Err(protocol(format!("content for block {index}, which had ended")));
        }
        let field = match (delta["type"].as_str(), &slot.part) {
            (_, Part::Unknown) => return Ok(self.ignore()),
            (Some("text_delta"), Part::Text(_)) => "text",
            (Some("thinking_delta"), Part::Thinking { .. }) => "thinking",
            (Some("signature_delta"), Part::Thinking { .. }) => "signature",
            (Some("input_json_delta"), Part::Call { .. }) => "partial_json",
            (Some(kind @ ("text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta")), _) => {
                return Err(protocol(format!("{kind} for block {index}, which is of another kind")));
            }
            _ => return Ok(self.ignore()),
        };
        let more = delta[field].as_str().unwrap_or_default();
        self.budget.take(more.len())?;
        if more.is_empty() {
            return Ok(Progress::Idle);
        }
        slot.touched = true;
        Ok(grow(&mut slot.part, field, more, out))
    }

    fn block_stop(&mut self, data: &Value) -> Result<Progress, ModelError> {
        let index = index_of(data)?;
        match self.slots.iter_mut().find(|slot| slot.index == index && slot.open) {
            Some(slot) => slot.open = false,
            None => return Ok(self.ignore()),
        }
        Ok(Progress::Idle)
    }

    fn block(&self, part: &Part) -> Option<Block> {
        let opaque = |block: Value| Some(json!({"dialect": NAME, "provider": self.provider, "block": block}));
        Some(match part {
            Part::Text(text) => Block::Text { text: text.clone() },
            Part::Thinking { text, signature } => Block::Reasoning {
                text: text.clone(),
                opaque: signature.as_ref().and_then(|signature| {
                    opaque(json!({"type": "thinking", "thinking": text, "signature": signature}))
                }),
            },
            Part::Redacted(block) => Block::Reasoning { text: String::new(), opaque: opaque(block.clone()) },
            Part::Call { id, name, input, arguments, .. } => Block::Call {
                provider_call_id: id.clone(),
                name: name.clone(),
                arguments: match input {
                    Some(input) if arguments.trim().is_empty() => input.clone(),
                    _ => arguments.clone(),
                },
            },
            Part::Unknown => return None,
        })
    }
}

/// Adds a piece to a block whose kind was checked.
fn grow(part: &mut Part, field: &str, more: &str, out: &mut Vec<ModelDelta>) -> Progress {
    match part {
        Part::Text(text) => {
            text.push_str(more);
            out.push(ModelDelta::Text { text: more.into() });
        }
        Part::Thinking { signature, .. } if field == "signature" => {
            signature.get_or_insert_default().push_str(more);
        }
        Part::Thinking { text, .. } => {
            text.push_str(more);
            out.push(ModelDelta::Reasoning { text: more.into() });
        }
        // Nothing can follow a whole object, so a repeat of it is the same event sent twice.
        Part::Call { arguments, .. } if arguments == more && is_object(more) => return Progress::Idle,
        Part::Call { position, arguments, .. } => {
            arguments.push_str(more);
            out.push(ModelDelta::Arguments { index: *position, name: None, text: more.into() });
        }
        Part::Redacted(_) | Part::Unknown => {}
    }
    Progress::Content
}

impl Fold for AnthropicFold {
    fn event(&mut self, event: &Event, out: &mut Vec<ModelDelta>) -> Result<Progress, ModelError> {
        if self.ended {
            return Ok(self.ignore());
        }
        if event.data.trim() == "[DONE]" {
            return Ok(self.ignore());
        }
        let data: Value = serde_json::from_str(&event.data)
            .map_err(|error| protocol(format!("an event of the answer isn't JSON: {error}")))?;
        match data["type"].as_str().unwrap_or(&event.name) {
            "message_start" => self.message_start(&data["message"]),
            "content_block_start" => self.block_start(&data, out),
            "content_block_delta" => self.block_delta(&data, out),
            "content_block_stop" => self.block_stop(&data),
            "message_delta" => {
                if let Some(stop) = text_of(&data["delta"], "stop_reason") {
                    self.stop = Some(stop);
                }
                self.usage.merge(&data["usage"]);
                Ok(Progress::Idle)
            }
            "message_stop" => {
                self.ended = true;
                Ok(Progress::Ended)
            }
            "ping" => Ok(Progress::Idle),
            _ if !data["error"].is_null() => Err(classify::in_stream(&data)),
            _ => Ok(self.ignore()),
        }
    }

    fn plain(&mut self, body: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), ModelError> {
        let data: Value = serde_json::from_slice(body)
            .map_err(|error| protocol(format!("the answer is neither a stream nor JSON: {error}")))?;
        if !data["error"].is_null() {
            return Err(classify::in_stream(&data));
        }
        let Some(content) = data["content"].as_array().filter(|_| data["type"] == "message") else {
            return Err(protocol("the answer isn't a message of this dialect"));
        };
        self.message_start(&data)?;
        for (index, block) in content.iter().enumerate() {
            self.block_start(&json!({"index": index, "content_block": block}), out)?;
        }
        self.stop = text_of(&data, "stop_reason");
        self.ended = true;
        Ok(())
    }

    fn finish(&mut self) -> Result<Outcome, ModelError> {
        if !self.ended {
            return Err(cut());
        }
        let stop = self.stop.as_deref().ok_or_else(|| protocol("the answer ended without saying why"))?;
        let answer = Answer {
            blocks: self.slots.iter().filter_map(|slot| self.block(&slot.part)).collect(),
            usage: self.usage(),
            response_id: self.id.clone().filter(|id| !id.is_empty()),
            model: self.model.clone(),
        };
        answer.outcome(stop_reason(stop)?, &self.snapshot)
    }

    fn whole(&self) -> bool {
        self.ended
    }

    fn partial_text(&self) -> String {
        let texts = self.slots.iter().filter_map(|slot| match &slot.part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    fn usage(&self) -> Option<Usage> {
        let WireUsage { input, output, cache_read, cache_write } = self.usage;
        let any = input | output | cache_read | cache_write;
        (any != 0).then_some(Usage { input, output, cache_read, cache_write })
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}

impl WireUsage {
    /// Counts are cumulative, and zero only says that they weren't known yet.
    fn merge(&mut self, wire: &Value) {
        for (field, name) in [
            (&mut self.input, "input_tokens"),
            (&mut self.output, "output_tokens"),
            (&mut self.cache_read, "cache_read_input_tokens"),
            (&mut self.cache_write, "cache_creation_input_tokens"),
        ] {
            if let Some(count) = wire[name].as_u64().filter(|count| *count > 0) {
                *field = count;
            }
        }
    }
}

fn text_of(value: &Value, field: &str) -> Option<String> {
    value[field].as_str().map(str::to_owned)
}

fn index_of(data: &Value) -> Result<u64, ModelError> {
    data["index"]
        .as_u64()
        .filter(|index| *index < 1_000_000)
        .ok_or_else(|| protocol(format!("a content block with the position {}", data["index"])))
}
