//! Small makers of messages and answers that the unit tests of several files share.
//!
//! They hold no expectation of their own; each test says what it expects where it stands.

use domain::model::{Block, CallResult, Message, ModelDelta, ModelError, ModelSnapshot, Outcome, ToolSpec};
use serde_json::json;

use crate::fold::{Fold, Progress};
use crate::sse::Event;

pub(crate) fn snapshot(dialect: &str) -> ModelSnapshot {
    ModelSnapshot {
        provider: "test".into(),
        dialect: dialect.into(),
        model: "model-1".into(),
        context_tokens: None,
        max_output_tokens: 1000,
        parallel_calls: true,
        calls_as_text: false,
        abilities: Default::default(),
        effort: None,
        price: None,
    }
}

pub(crate) fn tools() -> Vec<ToolSpec> {
    vec![ToolSpec {
        name: "read_file".into(),
        description: "Reads.".into(),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    }]
}

pub(crate) fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Block {
    Block::Call { provider_call_id: id.into(), name: name.into(), arguments: arguments.into() }
}

pub(crate) fn results(all: &[(&str, &str, &str, bool)]) -> Message {
    let make = |(id, name, text, is_error): &(&str, &str, &str, bool)| CallResult {
        provider_call_id: (*id).into(),
        name: (*name).into(),
        text: (*text).into(),
        is_error: *is_error,
    };
    Message::Results(all.iter().map(make).collect())
}

/// Feeds the data of events and finishes, as the reader does, but goes on after the end.
pub(crate) fn events(
    mut fold: Box<dyn Fold>,
    data: &[&str],
) -> (Result<Outcome, ModelError>, Vec<ModelDelta>, u64) {
    let mut deltas = Vec::new();
    for data in data {
        let event = Event { name: String::new(), data: (*data).into(), lossy: false };
        let progress: Result<Progress, ModelError> = fold.event(&event, &mut deltas);
        if let Err(error) = progress {
            return (Err(error), deltas, fold.ignored());
        }
    }
    (fold.finish(), deltas, fold.ignored())
}
