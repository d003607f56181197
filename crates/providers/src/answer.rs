//! What the dialects do with an answer once its parts are known: ids, calls written as text, why it stopped.
//!
//! Invariants: every call of an outcome has an id of its own; a call is read from text only where the model's
//! snapshot says so and the whole message is that call; a stop reason nobody knows is a break of the protocol.

use domain::digest::Digest;
use domain::model::{Block, ErrorClass, ModelError, ModelSnapshot, Outcome, StopReason, Usage};
use serde_json::value::RawValue;

use crate::fold::{MAX_ANSWER_BYTES, protocol};

/// The parts of a whole answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) blocks: Vec<Block>,
    pub(crate) usage: Option<Usage>,
    pub(crate) response_id: Option<String>,
    pub(crate) model: Option<String>,
}

impl Answer {
    /// Makes the outcome; `stop` is the normalised reason as the provider gave it.
    pub(crate) fn outcome(
        mut self,
        stop: StopReason,
        snapshot: &ModelSnapshot,
    ) -> Result<Outcome, ModelError> {
        self.blocks.retain(|block| !matches!(block, Block::Text { text } if text.is_empty()));
        if snapshot.calls_as_text && stop == StopReason::Stop {
            read_call_from_text(&mut self.blocks);
        }
        self.rename_ids();
        let calls = self.blocks.iter().any(|block| matches!(block, Block::Call { .. }));
        let stop = match (stop, calls) {
            (StopReason::Stop, true) => StopReason::ToolCalls,
            (StopReason::ToolCalls, false) => {
                return Err(protocol("the answer says that it calls tools, but holds no call"));
            }
            (stop, _) => stop,
        };
        let Self { blocks, usage, response_id, model } = self;
        Ok(Outcome { blocks, stop, usage, response_id, model })
    }

    /// Gives calls without an id, or with one already seen in this answer, an id that follows from the answer.
    fn rename_ids(&mut self) {
        let mut seen: Vec<String> = Vec::new();
        let response = self.response_id.clone().unwrap_or_default();
        for (at, block) in self.blocks.iter_mut().enumerate() {
            let Block::Call { provider_call_id, name, arguments } = block else { continue };
            if provider_call_id.trim().is_empty() || seen.contains(provider_call_id) {
                let place = at.to_string();
                let parts = [response.as_bytes(), place.as_bytes(), name.as_bytes(), arguments.as_bytes()];
                *provider_call_id = format!("call_{}", &Digest::of_parts(&parts).to_string()[..20]);
            }
            seen.push(provider_call_id.clone());
        }
    }
}

/// Counts what is kept of an answer.
#[derive(Debug, Default)]
pub(crate) struct Budget(usize);

impl Budget {
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > MAX_ANSWER_BYTES {
            return Err(protocol(format!("the answer is longer than {} MB", MAX_ANSWER_BYTES >> 20)));
        }
        Ok(())
    }
}

/// The stream is over, but the answer isn't.
pub(crate) fn cut() -> ModelError {
    ModelError::new(ErrorClass::Cut, "the answer broke off before its end")
}

/// Normalises a stop reason of any provider.
pub(crate) fn stop_reason(wire: &str) -> Result<StopReason, ModelError> {
    Ok(match wire {
        "stop" | "end_turn" | "stop_sequence" | "eos" => StopReason::Stop,
        "tool_calls" | "tool_use" | "function_call" => StopReason::ToolCalls,
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refusal,
        "content_filter" | "sensitive" => StopReason::ContentFilter,
        "insufficient_system_resource" => {
            return Err(ModelError::new(
                ErrorClass::Overloaded,
                "the provider ran out of capacity while answering",
            ));
        }
        "error" | "network_error" => {
            return Err(ModelError::new(ErrorClass::Server, "the provider failed while answering"));
        }
        "abort" | "cancelled" => return Err(cut()),
        other => return Err(protocol(format!("the answer ended for an unknown reason: {other:?}"))),
    })
}

/// Replaces the only text block by the call it wholly consists of.
fn read_call_from_text(blocks: &mut [Block]) {
    let mut said = blocks.iter_mut().filter(|block| !matches!(block, Block::Reasoning { .. }));
    let (Some(block), None) = (said.next(), said.next()) else { return };
    let Block::Text { text } = &*block else { return };
    if let Some(call) = written_call(text) {
        *block = call;
    }
}

/// Reads `{"name": …, "arguments": {…}}`, bare, in one code fence or in `<tool_call>` tags, with nothing beside it.
fn written_call(text: &str) -> Option<Block> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Written<'a> {
        name: String,
        #[serde(borrow)]
        arguments: &'a RawValue,
    }
    let written: Written<'_> = serde_json::from_str(unwrap_fence(text.trim())).ok()?;
    let arguments = written.arguments.get();
    (!written.name.is_empty() && arguments.starts_with('{')).then(|| Block::Call {
        provider_call_id: String::new(),
        name: written.name,
        arguments: arguments.to_owned(),
    })
}

fn unwrap_fence(text: &str) -> &str {
    if let Some(inner) = text.strip_prefix("<tool_call>").and_then(|t| t.strip_suffix("</tool_call>")) {
        return inner.trim();
    }
    let Some(inner) = text.strip_prefix("```").and_then(|t| t.strip_suffix("```")) else { return text };
    let inner = inner.split_once('\n').map_or(inner, |(_language, rest)| rest);
    inner.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(calls_as_text: bool) -> ModelSnapshot {
        ModelSnapshot {
            provider: "p".into(),
            dialect: "openai-chat".into(),
            model: "m".into(),
            context_tokens: None,
            max_output_tokens: 1,
            parallel_calls: true,
            calls_as_text,
            abilities: Default::default(),
            effort: None,
            price: None,
        }
    }

    fn text(text: &str) -> Block {
        Block::Text { text: text.into() }
    }

    fn call(id: &str) -> Block {
        Block::Call { provider_call_id: id.into(), name: "f".into(), arguments: "{}".into() }
    }

    #[track_caller]
    fn check_text(given: &str, expect: Option<&str>) {
        let answer = Answer { blocks: vec![text(given)], ..Answer::default() };
        let outcome = answer.outcome(StopReason::Stop, &snapshot(true)).unwrap();
        match (&outcome.blocks[..], expect) {
            ([Block::Call { arguments, provider_call_id, .. }], Some(expect)) => {
                assert_eq!((arguments.as_str(), outcome.stop), (expect, StopReason::ToolCalls));
                assert!(!provider_call_id.is_empty());
            }
            ([Block::Text { .. }], None) => assert_eq!(outcome.stop, StopReason::Stop),
            other => panic!("{given}: {other:?}"),
        }
    }

    #[test]
    fn a_call_is_read_from_text_only_when_it_is_the_whole_message() {
        check_text("```json\n{\"name\": \"f\", \"arguments\": {\"a\":  1}}\n```", Some("{\"a\":  1}"));
        check_text("{\"name\":\"f\",\"arguments\":{}}", Some("{}"));
        check_text("<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>", Some("{}"));
        check_text("Like this:\n```json\n{\"name\":\"f\",\"arguments\":{}}\n```", None);
        check_text("```json\n{\"name\":\"f\",\"arguments\":{}}\n```\nShall I?", None);
        check_text("```json\n{\"name\":\"f\",\"arguments\":{}}\n```\n```json\n{}\n```", None);
        check_text("{\"name\":\"f\",\"arguments\":{},\"note\":1}", None);
        check_text("{\"name\":\"f\",\"arguments\":\"rm\"}", None);
        check_text("{\"name\":\"f\",\"argu", None);
    }

    #[test]
    fn without_the_capability_text_stays_text() {
        let given = "```json\n{\"name\": \"f\", \"arguments\": {}}\n```";
        let answer = Answer { blocks: vec![text(given)], ..Answer::default() };
        let outcome = answer.outcome(StopReason::Stop, &snapshot(false)).unwrap();
        assert_eq!((outcome.blocks, outcome.stop), (vec![text(given)], StopReason::Stop));
    }

    #[test]
    fn x14_doubled_and_empty_ids_are_renamed_the_same_way_each_time() {
        let run = || {
            let blocks = vec![call("a"), call("a"), call(""), call("b")];
            let answer = Answer { blocks, response_id: Some("r".into()), ..Answer::default() };
            let outcome = answer.outcome(StopReason::ToolCalls, &snapshot(false)).unwrap();
            let ids = outcome.blocks.into_iter().map(|block| match block {
                Block::Call { provider_call_id, .. } => provider_call_id,
                other => panic!("{other:?}"),
            });
            ids.collect::<Vec<_>>()
        };
        let ids = run();
        let mut unique = ids.clone();
        unique.sort();
        unique.dedup();
        assert_eq!((ids.len(), unique.len()), (4, 4));
        assert_eq!((ids[0].as_str(), ids[3].as_str()), ("a", "b"));
        assert_eq!(ids, run());
    }

    #[test]
    fn stop_reasons_are_normalised_or_refused() {
        for (given, expect) in [
            ("stop", Ok(StopReason::Stop)),
            ("end_turn", Ok(StopReason::Stop)),
            ("tool_use", Ok(StopReason::ToolCalls)),
            ("length", Ok(StopReason::Length)),
            ("max_tokens", Ok(StopReason::Length)),
            ("refusal", Ok(StopReason::Refusal)),
            ("content_filter", Ok(StopReason::ContentFilter)),
            ("insufficient_system_resource", Err(ErrorClass::Overloaded)),
            ("network_error", Err(ErrorClass::Server)),
            ("abort", Err(ErrorClass::Cut)),
            ("because", Err(ErrorClass::Protocol)),
        ] {
            assert_eq!(stop_reason(given).map_err(|error| error.class), expect, "{given}");
        }
        let promised = Answer { blocks: vec![text("x")], ..Answer::default() };
        let refused = promised.outcome(StopReason::ToolCalls, &snapshot(false)).unwrap_err();
        assert_eq!(refused.class, ErrorClass::Protocol);
    }
}
