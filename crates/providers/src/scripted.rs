//! The `scripted` dialect and its deterministic model: a JSON file says what the model answers.
//!
//! Used by tests and the guided tour through the same engine, tools and approvals as a real model. The format is
//! documented at [`Script`]. Invariant: the same requests in the same order get the same answers, and a script that
//! has nothing left says so instead of inventing something.

mod player;
mod script;

use domain::model::{Head, Message, ModelSnapshot};
use serde_json::{Value, json};

use crate::dialect::Dialect;
use crate::json::quoted;

pub use player::{Player, Recorded};
pub use script::{Answer, Failure, Piece, RawStream, Script, ScriptError, When};

/// The dialect's name.
pub const NAME: &str = "scripted";

/// Requests to a script: the neutral messages, nearly as they are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scripted;

impl Dialect for Scripted {
    fn name(&self) -> &'static str {
        NAME
    }

    fn adapter_version(&self) -> u32 {
        1
    }

    fn head(&self, model: &ModelSnapshot, head: &Head) -> Vec<u8> {
        let tools: Vec<Value> = head
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "schema": tool.schema}))
            .collect();
        format!(
            r#"{{"model":{},"max_output_tokens":{},"system":{},"tools":{},"messages":["#,
            quoted(&model.model),
            model.max_output_tokens,
            quoted(&head.system),
            Value::from(tools)
        )
        .into_bytes()
    }

    fn segment(&self, messages: &[Message]) -> Vec<u8> {
        let elements: Vec<String> = messages.iter().map(|message| element(message).to_string()).collect();
        elements.join(",").into_bytes()
    }
}

fn element(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({"role": "user", "text": text}),
        Message::Assistant(blocks) => json!({"role": "assistant", "blocks": blocks}),
        Message::Results(results) => {
            let results: Vec<Value> = results
                .iter()
                .map(|result| {
                    json!({
                        "id": result.provider_call_id, "name": result.name,
                        "text": result.text, "is_error": result.is_error,
                    })
                })
                .collect();
            json!({"role": "results", "results": results})
        }
    }
}
