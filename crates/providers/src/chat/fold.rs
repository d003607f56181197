//! Reading a Chat Completions answer, streamed or whole.
//!
//! Only the first choice counts. Invariants: an answer is whole only once a chunk gave its finish reason, whatever
//! `[DONE]` says; usage may come with that chunk, after it, or never; null, empty and missing mean the same.

use domain::model::{Block, ModelDelta, ModelError, ModelSnapshot, Outcome, StopReason, Usage};
use serde_json::{Value, json};

use super::calls::Calls;
use super::{NAME, wire};
use crate::answer::{Answer, Budget, cut, stop_reason};
use crate::classify;
use crate::fold::{Fold, Progress, protocol};
use crate::quirks::{Quirks, ReasoningEcho};
use crate::sse::Event;

/// One answer being read.
#[derive(Debug)]
pub struct ChatFold {
    provider: String,
    echo: ReasoningEcho,
    snapshot: ModelSnapshot,
    id: Option<String>,
    model: Option<String>,
    text: String,
    refusal: String,
    reasoning: wire::Reasoning,
    calls: Calls,
    finish: Option<String>,
    done: bool,
    usage: Option<Usage>,
    ignored: u64,
    budget: Budget,
}

impl ChatFold {
    /// A fresh reader.
    #[must_use]
    pub fn new(provider: &str, snapshot: &ModelSnapshot) -> Self {
        Self {
            provider: provider.into(),
            echo: Quirks::of(provider).reasoning,
            snapshot: snapshot.clone(),
            id: None,
            model: None,
            text: String::new(),
            refusal: String::new(),
            reasoning: wire::Reasoning::default(),
            calls: Calls::default(),
            finish: None,
            done: false,
            usage: None,
            ignored: 0,
            budget: Budget::default(),
        }
    }

    fn chunk(&mut self, data: &Value, out: &mut Vec<ModelDelta>) -> Result<Progress, ModelError> {
        if wire::is_error(data) {
            return Err(classify::in_stream(data));
        }
        self.note_origin(data)?;
        let choice = &data["choices"][0];
        for usage in [&data["usage"], &choice["usage"]] {
            self.usage = wire::usage(usage).or(self.usage);
        }
        if choice.is_null() && data.get("choices").is_none() && data["usage"].is_null() {
            self.ignored += 1;
            return Ok(Progress::Idle);
        }
        if self.finish.is_some() {
            // Chunks after the finish reason only bring usage; content there is an event sent twice.
            return Ok(Progress::Idle);
        }
        let added = self.message(&choice["delta"], out)?;
        self.finish = choice["finish_reason"].as_str().filter(|finish| !finish.is_empty()).map(str::to_owned);
        Ok(if added > 0 { Progress::Content } else { Progress::Idle })
    }

    fn note_origin(&mut self, data: &Value) -> Result<(), ModelError> {
        let id = data["id"].as_str().filter(|id| !id.is_empty());
        match (&self.id, id) {
            (None, Some(id)) => self.id = Some(id.to_owned()),
            // Some gateways give every chunk an id of its own, but none begins its message twice.
            (Some(known), Some(id)) if known != id && self.begun() && begins_message(data) => {
                return Err(protocol("a second message began inside one answer"));
            }
            _ => {}
        }
        if self.model.is_none() {
            self.model = data["model"].as_str().filter(|model| !model.is_empty()).map(str::to_owned);
        }
        Ok(())
    }

    fn begun(&self) -> bool {
        !self.text.is_empty() || !self.calls.is_empty() || self.finish.is_some()
    }

    /// Takes a delta or a whole message; gives the number of bytes that were new.
    fn message(&mut self, message: &Value, out: &mut Vec<ModelDelta>) -> Result<usize, ModelError> {
        let mut added = 0;
        let thought = self.reasoning.add(message);
        if !thought.text.is_empty() {
            out.push(ModelDelta::Reasoning { text: thought.text });
        }
        added += thought.bytes;
        for (text, kept) in [
            (wire::content(&message["content"]), &mut self.text),
            (wire::content(&message["refusal"]), &mut self.refusal),
        ] {
            if !text.is_empty() {
                added += text.len();
                kept.push_str(&text);
                out.push(ModelDelta::Text { text });
            }
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            added += self.calls.add(call, out)?;
        }
        self.budget.take(added)?;
        Ok(added)
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        blocks.extend(self.reasoning.block(&self.provider, self.echo));
        for text in [&self.text, &self.refusal] {
            blocks.push(Block::Text { text: text.clone() });
        }
        if let Some(extras) = self.calls.extras() {
            let opaque = json!({"dialect": NAME, "provider": self.provider, "extras": extras});
            blocks.push(Block::Reasoning { text: String::new(), opaque: Some(opaque) });
        }
        blocks.extend(self.calls.blocks());
        blocks
    }
}

fn begins_message(chunk: &Value) -> bool {
    chunk["choices"][0]["delta"]["role"] == "assistant"
}

impl Fold for ChatFold {
    fn event(&mut self, event: &Event, out: &mut Vec<ModelDelta>) -> Result<Progress, ModelError> {
        let text = event.data.trim();
        if self.done {
            self.ignored += 1;
            return Ok(Progress::Idle);
        }
        if text == "[DONE]" {
            self.done = true;
            return Ok(Progress::Ended);
        }
        if text.is_empty() {
            self.ignored += 1;
            return Ok(Progress::Idle);
        }
        let data: Value = serde_json::from_str(text)
            .map_err(|error| protocol(format!("an event of the answer isn't JSON: {error}")))?;
        self.chunk(&data, out)
    }

    fn plain(&mut self, body: &[u8], out: &mut Vec<ModelDelta>) -> Result<(), ModelError> {
        let data: Value = serde_json::from_slice(body)
            .map_err(|error| protocol(format!("the answer is neither a stream nor JSON: {error}")))?;
        if wire::is_error(&data) {
            return Err(classify::in_stream(&data));
        }
        let choice = &data["choices"][0];
        if !choice["message"].is_object() {
            return Err(protocol("the answer isn't a message of this dialect"));
        }
        self.note_origin(&data)?;
        self.usage = wire::usage(&data["usage"]);
        self.message(&choice["message"], out)?;
        self.finish = choice["finish_reason"].as_str().filter(|finish| !finish.is_empty()).map(str::to_owned);
        self.done = true;
        Ok(())
    }

    fn finish(&mut self) -> Result<Outcome, ModelError> {
        let stop = stop_reason(self.finish.as_deref().ok_or_else(cut)?)?;
        let refused = stop == StopReason::Stop && !self.refusal.is_empty();
        let answer = Answer {
            blocks: self.blocks(),
            usage: self.usage,
            response_id: self.id.clone(),
            model: self.model.clone(),
        };
        answer.outcome(if refused { StopReason::Refusal } else { stop }, &self.snapshot)
    }

    fn whole(&self) -> bool {
        self.finish.is_some()
    }

    fn partial_text(&self) -> String {
        self.text.clone()
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}
