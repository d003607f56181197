//! Playing a script: which answer a request gets, and how it streams.
//!
//! Invariants: each conversation has its own place in the script; choosing depends on the request and on what this
//! conversation already used, on nothing else; waiting obeys cancellation and runs on tokio's clock.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use domain::model::{Block, ErrorClass, ModelDelta, ModelError, ModelSnapshot, Outcome, StopReason};
use futures_util::stream;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::script::{Answer, Piece, RawStream, Script, When};
use crate::dialect::wire_of;
use crate::http::{Reading, Timers, read_answer};
use crate::send::{Partial, Request, SendError, SendResult, Sink};

/// A script being played. Share it behind an `Arc`; every conversation has its own place in it.
#[derive(Debug)]
pub struct Player {
    script: Arc<Script>,
    timers: Timers,
    places: Mutex<HashMap<String, HashSet<usize>>>,
    recorded: Mutex<Vec<Recorded>>,
}

/// A request the player received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The conversation it belongs to.
    pub conversation: String,
    /// The whole body.
    pub body: Bytes,
}

/// The player keeps the first this many requests.
const RECORDED: usize = 10_000;

/// A request as the player reads it.
#[derive(Debug, Deserialize)]
struct Heard {
    #[serde(default)]
    model: String,
    messages: Vec<Value>,
}

impl Player {
    /// Plays this script with the usual timers.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self {
            script: Arc::new(script),
            timers: Timers::default(),
            places: Mutex::default(),
            recorded: Mutex::default(),
        }
    }

    /// The requests received so far, in order.
    #[must_use]
    pub fn recorded(&self) -> Vec<Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers one request. The connection isn't looked at.
    ///
    /// # Errors
    /// What the script says, `BadRequest` when it has nothing left, `Cancelled` when the token is.
    pub async fn send(
        &self,
        request: Request<'_>,
        sink: &mut dyn Sink,
        cancel: &CancellationToken,
    ) -> SendResult {
        let body = request.body.to_bytes();
        let heard: Heard = serde_json::from_slice(&body).map_err(|error| {
            ModelError::new(
                ErrorClass::BadRequest,
                format!("the request isn't of the scripted dialect: {error}"),
            )
        })?;
        self.record(request.conversation, body);
        let number = self.choose(request.conversation, &heard)?;
        let answer = &self.script.answers[number];
        if let Some(raw) = &answer.stream {
            return self.play_raw(raw, request.model, sink, cancel).await;
        }
        let mut said = Said::default();
        for (at, piece) in answer.say.iter().flatten().enumerate() {
            let place = format!("call_{}_{}", number + 1, at + 1);
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(SendError::Cancelled(said.partial(answer))),
                () = said.piece(piece, place, sink) => {}
            }
        }
        if cancel.is_cancelled() {
            return Err(SendError::Cancelled(said.partial(answer)));
        }
        said.end(answer)
    }

    fn record(&self, conversation: &str, body: Bytes) {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        if recorded.len() < RECORDED {
            recorded.push(Recorded { conversation: conversation.into(), body });
        }
    }

    fn choose(&self, conversation: &str, heard: &Heard) -> Result<usize, ModelError> {
        let answers = &self.script.answers;
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let used = places.entry(conversation.into()).or_insert_with(|| skipped(answers, heard.answers()));
        let fits = |(at, answer): &(usize, &Answer)| {
            !used.contains(at) && answer.when.as_ref().is_none_or(|when| heard.meets(when))
        };
        let Some((at, answer)) = answers.iter().enumerate().find(fits) else {
            let newest: String = heard.newest_texts().join(" / ").chars().take(200).collect();
            return Err(ModelError::new(
                ErrorClass::BadRequest,
                format!(
                    "the script has no answer left for: {newest:?} ({} of {} used)",
                    used.len(),
                    answers.len()
                ),
            ));
        };
        if !answer.repeat {
            used.insert(at);
        }
        Ok(at)
    }

    async fn play_raw(
        &self,
        raw: &RawStream,
        model: &ModelSnapshot,
        sink: &mut dyn Sink,
        cancel: &CancellationToken,
    ) -> SendResult {
        let spoken = ModelSnapshot { dialect: raw.dialect.clone(), ..model.clone() };
        let wire = wire_of(&spoken).map_err(|e| ModelError::new(ErrorClass::BadRequest, e.to_string()))?;
        let size = if raw.chunk_bytes == 0 { raw.body.len().max(1) } else { raw.chunk_bytes };
        let chunks: Vec<_> =
            raw.body.as_bytes().chunks(size).map(|c| Ok(Bytes::copy_from_slice(c))).collect();
        let url = Url::parse("script:stream")
            .map_err(|e| ModelError::new(ErrorClass::BadRequest, e.to_string()))?;
        let reading = Reading {
            fold: wire.fold(&spoken),
            sink,
            cancel,
            timers: self.timers,
            started: Instant::now(),
            event_stream: false,
            url: &url,
            status: 200,
        };
        read_answer(stream::iter(chunks), reading).await
    }
}

/// The answers a continued conversation already had: its first `had` whole ones and the failures before them.
fn skipped(answers: &[Answer], had: usize) -> HashSet<usize> {
    let mut left = had;
    let mut used = HashSet::new();
    for (at, answer) in answers.iter().enumerate().filter(|(_, answer)| !answer.repeat) {
        if left == 0 {
            break;
        }
        left -= usize::from(answer.is_whole());
        used.insert(at);
    }
    used
}

impl Heard {
    fn answers(&self) -> usize {
        self.messages.iter().filter(|message| message["role"] == "assistant").count()
    }

    /// The messages since the last answer.
    fn newest(&self) -> impl Iterator<Item = &Value> {
        let from =
            self.messages.iter().rposition(|message| message["role"] == "assistant").map_or(0, |at| at + 1);
        self.messages[from..].iter()
    }

    fn newest_texts(&self) -> Vec<&str> {
        let results = |message: &'_ Value| message["results"].as_array().is_some();
        let mut texts = Vec::new();
        for message in self.newest() {
            if results(message) {
                texts.extend(
                    message["results"].as_array().into_iter().flatten().filter_map(|r| r["text"].as_str()),
                );
            } else {
                texts.extend(message["text"].as_str());
            }
        }
        texts
    }

    fn meets(&self, when: &When) -> bool {
        let contains = when.contains.as_ref();
        contains.is_none_or(|part| self.newest_texts().iter().any(|text| text.contains(part.as_str())))
            && when.results.is_none_or(|wanted| self.newest().any(|m| m["role"] == "results") == wanted)
            && when.answers.is_none_or(|wanted| self.answers() == wanted)
            && when.model.as_ref().is_none_or(|wanted| self.model == *wanted)
    }
}

/// What was said of an answer so far.
#[derive(Debug, Default)]
struct Said {
    blocks: Vec<Block>,
    calls: u32,
}

impl Said {
    async fn piece(&mut self, piece: &Piece, id: String, sink: &mut dyn Sink) {
        pause(piece.wait_ms).await;
        if let Some(text) = &piece.text {
            let parts = if piece.pace_ms == 0 { vec![text.as_str()] } else { words(text) };
            for (at, part) in parts.into_iter().enumerate() {
                pause(if at == 0 { 0 } else { piece.pace_ms }).await;
                self.text(part);
                sink.delta(ModelDelta::Text { text: part.into() });
            }
        }
        if let Some(text) = &piece.reasoning {
            self.blocks.push(Block::Reasoning { text: text.clone(), opaque: None });
            sink.delta(ModelDelta::Reasoning { text: text.clone() });
        }
        if let Some(call) = &piece.call {
            let arguments = match &call.arguments {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                value => value.to_string(),
            };
            let (index, name) = (self.calls, Some(call.name.clone()));
            self.calls += 1;
            self.blocks.push(Block::Call {
                provider_call_id: call.id.clone().unwrap_or(id),
                name: call.name.clone(),
                arguments: arguments.clone(),
            });
            sink.delta(ModelDelta::Arguments { index, name, text: arguments });
        }
    }

    fn text(&mut self, part: &str) {
        match self.blocks.last_mut() {
            Some(Block::Text { text }) => text.push_str(part),
            _ if part.is_empty() => {}
            _ => self.blocks.push(Block::Text { text: part.into() }),
        }
    }

    fn partial(&self, answer: &Answer) -> Partial {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            Block::Reasoning { .. } | Block::Call { .. } => None,
        });
        Partial { text: texts.collect(), usage: answer.usage }
    }

    fn end(self, answer: &Answer) -> SendResult {
        if let Some(failure) = &answer.error {
            let message =
                failure.message.clone().unwrap_or_else(|| format!("the script fails: {:?}", failure.class));
            let mut error = ModelError::new(failure.class, message);
            error.retry_after_ms = failure.retry_after_ms;
            error.context_tokens = failure.context_tokens;
            let partial = self.partial(answer);
            error.partial_text = partial.text;
            error.usage = partial.usage;
            return Err(error.into());
        }
        let usual = if self.calls > 0 { StopReason::ToolCalls } else { StopReason::Stop };
        Ok(Outcome {
            blocks: self.blocks,
            stop: answer.stop.unwrap_or(usual),
            usage: answer.usage,
            response_id: None,
            model: None,
        })
    }
}

async fn pause(ms: u64) {
    if ms > 0 {
        sleep(Duration::from_millis(ms)).await;
    }
}

/// Words with the blanks that follow them; text without blanks, such as Chinese, goes by characters.
fn words(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if c.is_whitespace() || !c.is_ascii() {
            parts.push(&text[from..end]);
            from = end;
        }
    }
    if from < text.len() {
        parts.push(&text[from..]);
    }
    parts
}

#[cfg(test)]
mod tests;
