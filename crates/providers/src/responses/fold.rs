//! Reading an answer of the Responses API, streamed or whole.
//!
//! Events are told apart by their own `type`; numbers of a sequence are not relied on, since many servers send none.
//! Invariants: only `response.completed` and `response.incomplete` end an answer, what they say of its state wins over
//! their name, and a failed one is never an outcome; events after the end change nothing.

use domain::model::{ErrorClass, ModelDelta, ModelError, ModelSnapshot, Outcome, StopReason, Usage};
use serde_json::Value;

use super::items::{Items, Piece};
use crate::answer::{Answer, Budget, cut, stop_reason};
use crate::classify;
use crate::fold::{Fold, Progress, protocol};
use crate::sse::Event;

/// One answer being read.
#[derive(Debug)]
pub struct ResponsesFold {
    provider: String,
    snapshot: ModelSnapshot,
    id: Option<String>,
    model: Option<String>,
    items: Items,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    ignored: u64,
    budget: Budget,
}

impl ResponsesFold {
    /// A fresh reader.
    #[must_use]
    pub fn new(provider: &str, snapshot: &ModelSnapshot) -> Self {
        Self {
            provider: provider.into(),
            snapshot: snapshot.clone(),
            id: None,
            model: None,
            items: Items::default(),
            stop: None,
            usage: None,
            ignored: 0,
            budget: Budget::default(),
        }
    }

    fn ignore(&mut self) -> Progress {
        self.ignored += 1;
        Progress::Idle
    }

    /// What is known of the whole answer, with each event that tells of it.
    fn note(&mut self, response: &Value) {
        let text = |field: &str| response[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        self.id = self.id.take().or_else(|| text("id"));
        self.model = text("model").or_else(|| self.model.take());
        self.usage = usage(&response["usage"]).or(self.usage);
    }

    /// A second answer breaks the protocol; later events may name it otherwise, as some gateways do.
    fn begin(&mut self, response: &Value) -> Result<Progress, ModelError> {
        let id = response["id"].as_str().unwrap_or_default();
        if self.id.as_deref().is_some_and(|known| !id.is_empty() && known != id) {
            return Err(protocol("a second answer began inside one"));
        }
        self.note(response);
        Ok(Progress::Idle)
    }

    fn grow(
        &mut self,
        piece: Piece,
        data: &Value,
        out: &mut Vec<ModelDelta>,
    ) -> Result<Progress, ModelError> {
        let added = self.items.grow(piece, data, out)?;
        self.count(added)
    }

    fn count(&mut self, added: usize) -> Result<Progress, ModelError> {
        self.budget.take(added)?;
        Ok(if added > 0 { Progress::Content } else { Progress::Idle })
    }

    /// The terminal event, or a whole answer.
    fn end(
        &mut self,
        response: &Value,
        incomplete: bool,
        out: &mut Vec<ModelDelta>,
    ) -> Result<Progress, ModelError> {
        self.note(response);
        let stop = match response["status"].as_str() {
            Some("failed") => return Err(failed(response)),
            Some("cancelled") => return Err(cut()),
            Some("incomplete") => incomplete_reason(response)?,
            _ if incomplete => incomplete_reason(response)?,
            _ => StopReason::Stop,
        };
        let added = self.items.settle_all(response["output"].as_array().map_or(&[], Vec::as_slice), out)?;
        self.budget.take(added)?;
        if stop == StopReason::Stop && self.items.has_open_call() {
            return Err(protocol("the answer ended, but a call in it didn't"));
        }
        self.stop = Some(stop);
        Ok(Progress::Ended)
    }
}

impl Fold for ResponsesFold {
    fn event(&mut self, event: &Event, out: &mut Vec<ModelDelta>) -> Result<Progress, ModelError> {
        let text = event.data.trim();
        if self.stop.is_some() || text == "[DONE]" || text.is_empty() {
            return Ok(self.ignore());
        }
        let data: Value = serde_json::from_str(text)
            .map_err(|error| protocol(format!("an event of the answer isn't JSON: {error}")))?;
        match data["type"].as_str().unwrap_or(&event.name) {
            "response.created" => self.begin(&data["response"]),
            "response.in_progress" | "response.queued" => {
                self.note(&data["response"]);
                Ok(Progress::Idle)
            }
            "response.output_item.added" if !self.items.begin(&data, out)? => Ok(self.ignore()),
            // An item that thinks or speaks has only begun to; a call already says which tool it is for.
            "response.output_item.added" => self.count(data["item"]["name"].as_str().map_or(0, str::len)),
            "response.output_text.delta" => self.grow(Piece::Text, &data, out),
            "response.refusal.delta" => self.grow(Piece::Refusal, &data, out),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.grow(Piece::Reasoning, &data, out)
            }
            "response.function_call_arguments.delta" => self.grow(Piece::Arguments, &data, out),
            "response.function_call_arguments.done" => {
                let added = self.items.arguments(&data, out)?;
                self.count(added)
            }
            "response.reasoning_summary_part.added" => {
                self.items.paragraph(&data, out);
                Ok(Progress::Idle)
            }
            "response.output_item.done" => {
                let added = self.items.settle(&data, out)?;
                self.count(added)
            }
            "response.completed" => self.end(&data["response"], false, out),
            "response.incomplete" => self.end(&data["response"], true, out),
            "response.failed" => {
                self.note(&data["response"]);
                Err(failed(&data["response"]))
            }
            "response.cancelled" => Err(cut()),
            // Each of these only repeats what the item's own end says.
            "response.content_part.added"
            | "response.content_part.done"
            | "response.output_text.done"
            | "response.refusal.done"
            | "response.reasoning_summary_part.done"
            | "response.reasoning_summary_text.done"
            | "response.reasoning_text.done"
            | "keepalive"
            | "ping" => Ok(Progress::Idle),
            "error" => Err(classify::in_stream(&data)),
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
        if !data["output"].is_array() {
            return Err(protocol("the answer isn't one of this dialect"));
        }
        if let Some(status @ ("queued" | "in_progress")) = data["status"].as_str() {
            return Err(protocol(format!("the provider answered before it had an answer: {status}")));
        }
        self.end(&data, false, out)?;
        Ok(())
    }

    fn finish(&mut self) -> Result<Outcome, ModelError> {
        let stop = self.stop.ok_or_else(cut)?;
        let refused = stop == StopReason::Stop && self.items.is_refusal();
        let answer = Answer {
            blocks: self.items.blocks(&self.provider),
            usage: self.usage,
            response_id: self.id.clone(),
            model: self.model.clone(),
        };
        answer.outcome(if refused { StopReason::Refusal } else { stop }, &self.snapshot)
    }

    fn whole(&self) -> bool {
        self.stop.is_some()
    }

    fn partial_text(&self) -> String {
        self.items.text()
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}

fn failed(response: &Value) -> ModelError {
    if response["error"].is_null() {
        return ModelError::new(ErrorClass::Server, "the provider failed while answering and gave no reason");
    }
    classify::in_stream(response)
}

fn incomplete_reason(response: &Value) -> Result<StopReason, ModelError> {
    match response["incomplete_details"]["reason"].as_str() {
        None | Some("max_output_tokens") => Ok(StopReason::Length),
        Some(reason) => stop_reason(reason),
    }
}

/// Input counts hold what was read from the cache and what was written to it.
fn usage(wire: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let (all, output) = (count(&wire["input_tokens"]), count(&wire["output_tokens"]));
    let cache_read = count(&wire["input_tokens_details"]["cached_tokens"]);
    let cache_write = count(&wire["input_tokens_details"]["cache_write_tokens"]);
    let input = all.saturating_sub(cache_read).saturating_sub(cache_write);
    (all | output != 0).then_some(Usage { input, output, cache_read, cache_write })
}
