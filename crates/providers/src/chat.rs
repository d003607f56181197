//! The `openai-chat` dialect: Chat Completions requests as bytes, for OpenAI and the many servers that speak it.
//!
//! What providers do differently comes from [`Quirks`]. Invariant: reasoning goes back to the provider it came from
//! and in the field it came in, and to nobody else; results stand as one `tool` message each, in the model's order.

mod calls;
mod fold;
mod wire;

use domain::model::{Block, CallResult, Head, Message, ModelSnapshot};
use serde_json::{Map, Value, json};

use crate::dialect::{Dialect, Wire};
use crate::fold::Fold;
use crate::json::{Side, arguments_object, quoted, safe_name, sides};
use crate::quirks::{LimitField, Quirks, ReasoningEcho};
use crate::structured;

pub use fold::ChatFold;

/// The dialect's name, also the tag of its opaque blocks.
pub const NAME: &str = "openai-chat";

/// What a call of another model carries to a provider that wants its own signature; documented by Google for this case.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Chat Completions as one provider speaks it.
#[derive(Debug, Clone)]
pub struct Chat {
    provider: String,
    quirks: Quirks,
}

impl Chat {
    /// The dialect with the quirks of this provider.
    #[must_use]
    pub fn new(provider: &str) -> Self {
        Self { provider: provider.into(), quirks: Quirks::of(provider) }
    }
}

impl Dialect for Chat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn adapter_version(&self) -> u32 {
        2
    }

    fn head(&self, model: &ModelSnapshot, head: &Head) -> Vec<u8> {
        let limit = match self.quirks.limit {
            LimitField::MaxTokens => "max_tokens",
            LimitField::MaxCompletionTokens => "max_completion_tokens",
        };
        let mut out = format!(
            r#"{{"model":{},"{limit}":{},"stream":true"#,
            quoted(&model.model),
            model.max_output_tokens
        );
        if self.quirks.stream_options {
            out.push_str(r#","stream_options":{"include_usage":true}"#);
        }
        if let Some(shape) = structured::native(model, head) {
            let strict = structured::is_strict(&shape.schema);
            let schema = json!({"name": shape.name, "schema": shape.schema, "strict": strict});
            let format = json!({"type": "json_schema", "json_schema": schema});
            out.push_str(&format!(r#","response_format":{format}"#));
        }
        let tools = structured::tools(model, head);
        if !tools.is_empty() {
            let tools: Vec<Value> = tools
                .iter()
                .map(|tool| {
                    json!({"type": "function", "function":
                        {"name": tool.name, "description": tool.description, "parameters": tool.schema}})
                })
                .collect();
            out.push_str(&format!(r#","tools":{}"#, Value::from(tools)));
            if structured::by_tool(model, head).is_some() {
                let function = json!({"name": structured::ANSWER_TOOL});
                let choice = match head.tools.is_empty() {
                    true => json!({"type": "function", "function": function}),
                    false => "required".into(),
                };
                out.push_str(&format!(r#","tool_choice":{choice}"#));
            }
            if self.quirks.parallel_tool_calls && !model.parallel_calls {
                out.push_str(r#","parallel_tool_calls":false"#);
            }
        }
        out.push_str(r#","messages":["#);
        out.push_str(&json!({"role": "system", "content": head.system}).to_string());
        out.push(',');
        out.into_bytes()
    }

    fn segment(&self, messages: &[Message]) -> Vec<u8> {
        let sides = sides(messages);
        let spoke = |side: &Side<'_>| match side {
            Side::User(run) => run.iter().any(|message| matches!(message, Message::User(_))),
            Side::Assistant(_) => false,
        };
        let turn = sides.iter().rposition(spoke);
        let mut elements = Vec::new();
        for (at, side) in sides.iter().enumerate() {
            match side {
                Side::User(run) => elements.extend(user_elements(run)),
                Side::Assistant(blocks) => {
                    let current = turn.is_none_or(|turn| at > turn);
                    elements.extend(self.assistant(blocks, current && self.quirks.signed_calls));
                }
            }
        }
        elements.join(",").into_bytes()
    }
}

impl Wire for Chat {
    fn fold(&self, model: &ModelSnapshot) -> Box<dyn Fold> {
        Box::new(ChatFold::new(&self.provider, model))
    }

    fn path(&self) -> &'static str {
        "v1/chat/completions"
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }
}

impl Chat {
    /// `signed`: the first call must carry a signature.
    fn assistant(&self, blocks: &[Block], signed: bool) -> Option<String> {
        let (mut texts, mut calls, mut reasoning) = (Vec::new(), Vec::new(), Map::new());
        let mut extras = Vec::new();
        for block in blocks {
            match block {
                Block::Text { text } => texts.push(text.as_str()),
                Block::Reasoning { opaque, .. } => {
                    let own = opaque.as_ref().filter(|opaque| self.is_own(opaque));
                    self.add_reasoning(own, &mut reasoning);
                    extras.extend(own.and_then(|own| own["extras"].as_array()).into_iter().flatten());
                }
                Block::Call { provider_call_id, name, arguments } => calls.push(json!({
                    "id": provider_call_id, "type": "function",
                    "function": {"name": safe_name(name), "arguments": arguments_object(arguments)},
                })),
            }
        }
        for (call, extra) in calls.iter_mut().zip(extras).filter(|(_, extra)| !extra.is_null()) {
            call["extra_content"] = extra.clone();
        }
        if let Some(first) = calls.first_mut().filter(|call| signed && call["extra_content"].is_null()) {
            first["extra_content"] = json!({"google": {"thought_signature": NO_SIGNATURE}});
        }
        if texts.is_empty() && calls.is_empty() {
            return None;
        }
        let every_call = self.quirks.reasoning == ReasoningEcho::ContentOnEveryCall && !calls.is_empty();
        if every_call && !reasoning.contains_key("reasoning_content") {
            reasoning.insert("reasoning_content".into(), "".into());
        }
        let mut message = Map::new();
        message.insert("role".into(), "assistant".into());
        message.insert("content".into(), if texts.is_empty() { Value::Null } else { texts.concat().into() });
        message.extend(reasoning);
        if !calls.is_empty() {
            message.insert("tool_calls".into(), calls.into());
        }
        Some(Value::from(message).to_string())
    }

    /// Did this very provider send it?
    fn is_own(&self, opaque: &Value) -> bool {
        opaque["dialect"] == NAME && opaque["provider"] == self.provider.as_str()
    }

    /// Adds what a provider sent as its reasoning; a second block continues the first.
    fn add_reasoning(&self, opaque: Option<&Value>, out: &mut Map<String, Value>) {
        let fields: &[&str] = match self.quirks.reasoning {
            ReasoningEcho::Never => return,
            ReasoningEcho::Content | ReasoningEcho::ContentOnEveryCall => &["reasoning_content"],
            ReasoningEcho::Details => &["reasoning", "reasoning_details"],
        };
        let Some(opaque) = opaque else { return };
        for field in fields {
            match (opaque.get(field), out.get_mut(*field)) {
                (None, _) => {}
                (Some(Value::String(more)), Some(Value::String(text))) => text.push_str(more),
                (Some(Value::Array(more)), Some(Value::Array(all))) => all.extend(more.iter().cloned()),
                (Some(value), _) => {
                    out.insert((*field).into(), value.clone());
                }
            }
        }
    }
}

/// One `tool` message a result, then the words as one user message.
fn user_elements(run: &[&Message]) -> Vec<String> {
    let (mut elements, mut words) = (Vec::new(), Vec::new());
    for message in run {
        match message {
            Message::Results(results) => elements.extend(results.iter().map(result_element)),
            Message::User(text) => words.push(text.as_str()),
            Message::Assistant(_) => {}
        }
    }
    if !words.is_empty() {
        elements.push(json!({"role": "user", "content": words.join("\n\n")}).to_string());
    }
    elements
}

/// The dialect has no error flag: the result's own text says that it is an error.
fn result_element(result: &CallResult) -> String {
    json!({"role": "tool", "tool_call_id": result.provider_call_id, "content": result.text}).to_string()
}

#[cfg(test)]
mod tests;
