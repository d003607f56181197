//! What the server says, as the bytes of an event stream.

use super::cache::Counted;
use serde_json::{Value, json};
use std::time::Duration;

/// An answer to one request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// All of it at once.
    Says(Vec<Said>),
    /// So many pieces of text, one after the other in this time; without an end when there are none to come.
    Paced { pieces: Option<usize>, every: Duration },
    /// No, with this status.
    Refuses(u16),
}

/// A block of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    Text(String),
    Call { name: &'static str, arguments: Value },
}

impl Answer {
    /// Only words.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Says(vec![Said::Text(text.into())])
    }

    /// One call.
    pub(crate) fn call(name: &'static str, arguments: Value) -> Self {
        Self::Says(vec![Said::Call { name, arguments }])
    }
}

/// A piece of a paced answer.
pub(crate) const PIECE: &str = "word ";

pub(crate) fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// How an answer begins.
pub(crate) fn opening(n: usize, counted: Counted) -> String {
    let usage = json!({"input_tokens": counted.uncached, "cache_read_input_tokens": counted.read,
        "cache_creation_input_tokens": counted.written, "output_tokens": 1});
    let message = json!({"id": format!("msg_{n}"), "type": "message", "role": "assistant", "model": "bench",
        "content": [], "stop_reason": null, "usage": usage});
    event("message_start", &json!({"type": "message_start", "message": message}))
}

/// How it ends.
pub(crate) fn closing(stop: &str, output: u64) -> String {
    let delta =
        json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": output}});
    event("message_delta", &delta) + &event("message_stop", &json!({"type": "message_stop"}))
}

/// The beginning of a text block.
pub(crate) fn text_begins(index: usize) -> String {
    let block = json!({"type": "text", "text": ""});
    event(
        "content_block_start",
        &json!({"type": "content_block_start", "index": index, "content_block": block}),
    )
}

/// More of it.
pub(crate) fn text_goes_on(index: usize, text: &str) -> String {
    let delta = json!({"type": "text_delta", "text": text});
    event("content_block_delta", &json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

/// The end of a block.
pub(crate) fn block_ends(index: usize) -> String {
    event("content_block_stop", &json!({"type": "content_block_stop", "index": index}))
}

/// A whole answer.
pub(crate) fn whole(n: usize, said: &[Said], counted: Counted) -> String {
    let mut out = opening(n, counted);
    let mut stop = "end_turn";
    for (index, said) in said.iter().enumerate() {
        match said {
            Said::Text(text) => {
                out += &text_begins(index);
                out += &text_goes_on(index, text);
            }
            Said::Call { name, arguments } => {
                stop = "tool_use";
                let block = json!({"type": "tool_use", "id": format!("toolu_{n}_{index}"), "name": name, "input": {}});
                let start = json!({"type": "content_block_start", "index": index, "content_block": block});
                out += &event("content_block_start", &start);
                let delta = json!({"type": "input_json_delta", "partial_json": arguments.to_string()});
                let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
                out += &event("content_block_delta", &delta);
            }
        }
        out += &block_ends(index);
    }
    out + &closing(stop, 20)
}
