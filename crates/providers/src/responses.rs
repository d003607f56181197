//! The `openai-responses` dialect: requests of the Responses API as bytes, for OpenAI and the servers that speak it.
//!
//! The conversation is a flat list of *items*: a message, a reasoning, a call, a call's output. Nothing is kept by the
//! provider (`store: false`), so a reasoning item travels encrypted and goes back as it came. Invariants: such an item
//! goes to the provider it came from, to nobody else, and never without the item it led to, which would be refused; a
//! body depends on nothing the provider remembers.

mod fold;
mod items;

use domain::digest::Digest;
use domain::model::{Block, CallResult, Head, Message, ModelSnapshot};
use serde_json::{Value, json};

use crate::dialect::{Dialect, Wire, effort_word};
use crate::fold::Fold;
use crate::json::{Side, arguments_object, bounded_id, quoted, safe_name, sides};
use crate::quirks::Quirks;
use crate::structured;

pub use fold::ResponsesFold;

/// The dialect's name, also the tag of its opaque blocks.
pub const NAME: &str = "openai-responses";

/// Says that an answer may be used again from here on.
const MARKER: &str = r#","prompt_cache_breakpoint":{"mode":"explicit"}"#;
/// What closes a head whose system text is the first item.
const HEAD_END: &str = "}]},";

/// The Responses API as one provider speaks it.
#[derive(Debug, Clone)]
pub struct Responses {
    provider: String,
    quirks: Quirks,
}

impl Responses {
    /// The dialect with the quirks of this provider.
    #[must_use]
    pub fn new(provider: &str) -> Self {
        Self { provider: provider.into(), quirks: Quirks::of(provider) }
    }
}

impl Dialect for Responses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn adapter_version(&self) -> u32 {
        1
    }

    fn head(&self, model: &ModelSnapshot, head: &Head) -> Vec<u8> {
        let mut out = format!(
            r#"{{"model":{},"max_output_tokens":{},"stream":true,"store":false"#,
            quoted(&model.model),
            model.max_output_tokens
        );
        if let Some(effort) = model.effort {
            out.push_str(&format!(r#","reasoning":{{"effort":"{}"}}"#, effort_word(effort, "xhigh")));
        }
        // A model that doesn't reason is refused when its reasoning is asked for.
        if !model.abilities.efforts.is_empty() {
            out.push_str(r#","include":["reasoning.encrypted_content"]"#);
        }
        if self.quirks.cache_key {
            out.push_str(&format!(r#","prompt_cache_key":"{}""#, cache_key(head)));
        }
        if let Some(shape) = structured::native(model, head) {
            let format = json!({"type": "json_schema", "name": shape.name, "schema": shape.schema,
                "strict": structured::is_strict(&shape.schema)});
            out.push_str(&format!(r#","text":{{"format":{format}}}"#));
        }
        let tools = structured::tools(model, head);
        if !tools.is_empty() {
            let tools: Vec<Value> = tools
                .iter()
                .map(|tool| {
                    // Without `strict: false` schemas are rewritten, and optional arguments become demanded ones.
                    json!({"type": "function", "name": tool.name, "description": tool.description,
                        "parameters": tool.schema, "strict": false})
                })
                .collect();
            out.push_str(&format!(r#","tools":{}"#, Value::from(tools)));
            if structured::by_tool(model, head).is_some() {
                let choice = match head.tools.is_empty() {
                    true => json!({"type": "function", "name": structured::ANSWER_TOOL}),
                    false => "required".into(),
                };
                out.push_str(&format!(r#","tool_choice":{choice}"#));
            }
            if !model.parallel_calls {
                out.push_str(r#","parallel_tool_calls":false"#);
            }
        }
        if model.abilities.cache_marks {
            // Only an item's content can carry a marker.
            out.push_str(r#","input":[{"type":"message","role":"developer","content":["#);
            out.push_str(&format!(r#"{{"type":"input_text","text":{}{HEAD_END}"#, quoted(&head.system)));
        } else {
            out.push_str(&format!(r#","instructions":{},"input":["#, quoted(&head.system)));
        }
        out.into_bytes()
    }

    fn segment(&self, messages: &[Message]) -> Vec<u8> {
        let mut items = Vec::new();
        for side in sides(messages) {
            match side {
                Side::User(run) => items.extend(user_items(&run)),
                Side::Assistant(blocks) => self.add_assistant(blocks, &mut items),
            }
        }
        items.join(",").into_bytes()
    }

    /// The newest message is marked by the provider itself; what it doesn't know is where the part ends that other
    /// sessions share.
    fn mark_head(&self, head: &[u8]) -> Option<Vec<u8>> {
        let at = head.len().checked_sub(HEAD_END.len())?;
        (&head[at..] == HEAD_END.as_bytes()).then(|| [&head[..at], MARKER.as_bytes(), &head[at..]].concat())
    }
}

impl Wire for Responses {
    fn fold(&self, model: &ModelSnapshot) -> Box<dyn Fold> {
        Box::new(ResponsesFold::new(&self.provider, model))
    }

    fn path(&self) -> &'static str {
        "v1/responses"
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }
}

impl Responses {
    /// The items of an answer, in the order they came.
    fn add_assistant(&self, blocks: &[Block], items: &mut Vec<String>) {
        let mut reasoning = Vec::new();
        for block in blocks {
            let item = match block {
                Block::Text { text } if text.is_empty() => continue,
                Block::Text { text } => json!({"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": text}]}),
                Block::Reasoning { opaque, .. } => {
                    reasoning.extend(opaque.as_ref().and_then(|opaque| self.own(opaque)));
                    continue;
                }
                Block::Call { provider_call_id, name, arguments } => json!({"type": "function_call",
                    "call_id": bounded_id(provider_call_id), "name": safe_name(name),
                    "arguments": arguments_object(arguments)}),
            };
            items.append(&mut reasoning);
            items.push(item.to_string());
        }
    }

    /// The reasoning item of this very provider.
    fn own(&self, opaque: &Value) -> Option<String> {
        let own = opaque["dialect"] == NAME && opaque["provider"] == self.provider.as_str();
        own.then(|| opaque.get("item").map(Value::to_string))?
    }
}

/// One item a result, in the model's order, then the words as one message.
fn user_items(run: &[&Message]) -> Vec<String> {
    let (mut items, mut words) = (Vec::new(), Vec::new());
    for message in run {
        match message {
            Message::Results(results) => items.extend(results.iter().map(result_item)),
            Message::User(text) => words.push(text.as_str()),
            Message::Assistant(_) => {}
        }
    }
    if !words.is_empty() {
        let content = json!([{"type": "input_text", "text": words.join("\n\n")}]);
        items.push(json!({"type": "message", "role": "user", "content": content}).to_string());
    }
    items
}

/// The dialect has no error flag: the result's own text says that it is an error.
fn result_item(result: &CallResult) -> String {
    let id = bounded_id(&result.provider_call_id);
    json!({"type": "function_call_output", "call_id": id, "output": result.text}).to_string()
}

/// Requests that begin with the same words should meet the same machine's cache: the key follows from these words.
fn cache_key(head: &Head) -> String {
    let tools: Vec<&str> = head.tools.iter().map(|tool| tool.name.as_str()).collect();
    let digest = Digest::of_parts(&[head.system.as_bytes(), tools.join(",").as_bytes()]).to_string();
    format!("daybook-{}", &digest[..16])
}

#[cfg(test)]
mod tests;
