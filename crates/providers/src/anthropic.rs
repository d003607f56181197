//! The `anthropic-messages` dialect: requests as bytes.
//!
//! Content is always a list of blocks, so that a cache marker is one insertion at the end of a segment. All results of
//! a step stand in one user message, before any words. Invariant: signed thinking goes back as the very block that
//! came, in its place among text and calls; reasoning of another dialect is left out, never forged.

mod fold;

use domain::model::{Block, CallResult, Head, Message, ModelSnapshot};
use serde_json::{Map, Value, json};

use crate::dialect::{Dialect, Wire, effort_word};
use crate::fold::Fold;
use crate::json::{Side, arguments_object, quoted, safe_id, safe_name, sides};
use crate::structured;

pub use fold::AnthropicFold;

/// The dialect's name, also the tag of the opaque blocks that may go back to it.
pub const NAME: &str = "anthropic-messages";

const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;
const HEAD_END: &str = r#","messages":["#;

/// Anthropic Messages, and servers that speak it.
#[derive(Debug, Clone)]
pub struct Anthropic {
    provider: String,
}

impl Anthropic {
    /// The dialect as this provider speaks it: signatures of one provider mean nothing to another.
    #[must_use]
    pub fn new(provider: &str) -> Self {
        Self { provider: provider.into() }
    }
}

impl Dialect for Anthropic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn adapter_version(&self) -> u32 {
        1
    }

    fn head(&self, model: &ModelSnapshot, head: &Head) -> Vec<u8> {
        let mut out = format!(
            r#"{{"model":{},"max_tokens":{},"stream":true"#,
            quoted(&model.model),
            model.max_output_tokens
        );
        let config = output_config(model, head);
        if !config.is_empty() {
            out.push_str(&format!(r#","output_config":{}"#, Value::from(config)));
        }
        let tools = structured::tools(model, head);
        if !tools.is_empty() {
            let choice = tool_choice(model, head);
            let tools: Vec<Value> = tools
                .iter()
                .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema}))
                .collect();
            if !choice.is_null() {
                out.push_str(&format!(r#","tool_choice":{choice}"#));
            }
            out.push_str(&format!(r#","tools":{}"#, Value::from(tools)));
        }
        // The system text stands last, so that the head's marker covers tools and system and sits at a known place.
        if !head.system.trim().is_empty() {
            out.push_str(&format!(r#","system":[{{"type":"text","text":{}}}]"#, quoted(&head.system)));
        }
        out.push_str(HEAD_END);
        out.into_bytes()
    }

    fn segment(&self, messages: &[Message]) -> Vec<u8> {
        let mut elements = Vec::new();
        for side in sides(messages) {
            let (role, blocks) = match side {
                Side::User(run) => ("user", user_blocks(&run)),
                Side::Assistant(blocks) => {
                    ("assistant", blocks.iter().filter_map(|block| self.assistant_block(block)).collect())
                }
            };
            if !blocks.is_empty() {
                elements.push(format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(",")));
            }
        }
        elements.join(",").into_bytes()
    }

    fn mark(&self, segment: &[u8]) -> Option<Vec<u8>> {
        let last = last_role(segment)?;
        let at = segment.len().checked_sub(b"}]}".len())?;
        (last == "user" && segment.ends_with(b"}]}")).then(|| insert(segment, at))
    }

    fn mark_head(&self, head: &[u8]) -> Option<Vec<u8>> {
        let at = head.len().checked_sub(HEAD_END.len() + b"}]".len())?;
        head[at..].starts_with(b"}]").then(|| insert(head, at))
    }
}

impl Wire for Anthropic {
    fn fold(&self, model: &ModelSnapshot) -> Box<dyn Fold> {
        Box::new(AnthropicFold::new(&self.provider, model))
    }

    fn path(&self) -> &'static str {
        "v1/messages"
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }
}

impl Anthropic {
    fn assistant_block(&self, block: &Block) -> Option<String> {
        match block {
            Block::Text { text } => (!text.trim().is_empty()).then(|| text_block(text)),
            Block::Reasoning { opaque, .. } => {
                let opaque = opaque.as_ref()?;
                let own = opaque["dialect"] == NAME && opaque["provider"] == self.provider.as_str();
                own.then(|| opaque.get("block").map(Value::to_string))?
            }
            Block::Call { provider_call_id, name, arguments } => Some(format!(
                r#"{{"type":"tool_use","id":{},"name":{},"input":{}}}"#,
                quoted(&safe_id(provider_call_id)),
                quoted(&safe_name(name)),
                arguments_object(arguments)
            )),
        }
    }
}

/// How much is thought, and what the answer must be.
fn output_config(model: &ModelSnapshot, head: &Head) -> Map<String, Value> {
    let mut config = Map::new();
    if let Some(effort) = model.effort {
        config.insert("effort".into(), effort_word(effort, "max").into());
    }
    if let Some(shape) = structured::native(model, head) {
        config.insert("format".into(), json!({"type": "json_schema", "schema": shape.schema}));
    }
    config
}

/// `null` where the model may choose as it likes.
fn tool_choice(model: &ModelSnapshot, head: &Head) -> Value {
    let must = structured::by_tool(model, head).is_some();
    let mut choice = match (must, head.tools.is_empty()) {
        (true, true) => json!({"type": "tool", "name": structured::ANSWER_TOOL}),
        (true, false) => json!({"type": "any"}),
        (false, _) if model.parallel_calls => return Value::Null,
        (false, _) => json!({"type": "auto"}),
    };
    if !model.parallel_calls {
        choice["disable_parallel_tool_use"] = true.into();
    }
    choice
}

fn insert(bytes: &[u8], at: usize) -> Vec<u8> {
    [&bytes[..at], MARKER.as_bytes(), &bytes[at..]].concat()
}

/// Role of a segment's last element; thinking blocks can't carry a marker, so answers aren't marked.
fn last_role(segment: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Element {
        role: String,
    }
    let array = [b"[", segment, b"]"].concat();
    serde_json::from_slice::<Vec<Element>>(&array).ok()?.pop().map(|element| element.role)
}

/// Results first, as the dialect demands, then words.
fn user_blocks(run: &[&Message]) -> Vec<String> {
    let (mut results, mut words) = (Vec::new(), Vec::new());
    for message in run {
        match message {
            Message::Results(all) => results.extend(all.iter().map(result_block)),
            Message::User(text) if text.trim().is_empty() => {}
            Message::User(text) => words.push(text_block(text)),
            Message::Assistant(_) => {}
        }
    }
    if results.is_empty() && words.is_empty() && !run.is_empty() {
        words.push(text_block("(empty message)"));
    }
    results.append(&mut words);
    results
}

fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(text))
}

fn result_block(result: &CallResult) -> String {
    let error = if result.is_error { r#","is_error":true"# } else { "" };
    let (id, text) = (quoted(&safe_id(&result.provider_call_id)), quoted(&result.text));
    format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{text}{error}}}"#)
}

#[cfg(test)]
mod tests;
