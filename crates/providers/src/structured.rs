//! *Structured answers*: a value that fits a JSON Schema, asked for through the dialect and checked by us all the same.
//!
//! Where the provider itself holds an answer to a schema, it is told to; elsewhere the answer is a call of a tool that must
//! be called. Invariant: [`read`] gives a value only when the whole answer is one, fits the schema and keeps the caller's
//! own rules, whoever promised what.

use domain::model::{AnswerShape, Block, Head, ModelSnapshot, Outcome, StopReason, ToolSpec};
use serde_json::Value;

/// The tool that an answer is given with, where the provider knows no schemas.
pub const ANSWER_TOOL: &str = "give_answer";

/// Largest answer that is read as a value: 1 MB.
const ANSWER_BYTES: usize = 1 << 20;

/// Why an answer isn't the value that was asked for. The text can be shown to the model, so that it tries again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It was refused, cut off or empty.
    #[error("the model gave no whole answer ({0:?})")]
    NotWhole(StopReason),
    /// It isn't one JSON value, or a call of another tool.
    #[error("the answer isn't the value that was asked for: {0}")]
    NotJson(String),
    /// It doesn't fit.
    #[error("the answer doesn't fit what was asked for: {}", .0.join("; "))]
    Schema(Vec<String>),
    /// It fits, but breaks a rule of the caller.
    #[error("the answer breaks a rule: {0}")]
    Rule(String),
    /// The schema itself can't be used.
    #[error("the schema asked for can't be used: {0}")]
    BadSchema(String),
}

/// Reads the value out of an answer and checks it against the schema and the caller's rules.
///
/// # Errors
/// When there is no such value.
pub fn read(
    outcome: &Outcome,
    shape: &AnswerShape,
    rules: impl FnOnce(&Value) -> Result<(), String>,
) -> Result<Value, Unfit> {
    let text = text_of(outcome)?;
    if text.len() > ANSWER_BYTES {
        return Err(Unfit::NotJson(format!("it is longer than {} MB", ANSWER_BYTES >> 20)));
    }
    let value: Value = serde_json::from_str(&text).map_err(|error| Unfit::NotJson(error.to_string()))?;
    let schema =
        jsonschema::validator_for(&shape.schema).map_err(|error| Unfit::BadSchema(error.to_string()))?;
    let found: Vec<String> = schema
        .iter_errors(&value)
        .take(5)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    if !found.is_empty() {
        return Err(Unfit::Schema(found));
    }
    rules(&value).map_err(Unfit::Rule)?;
    Ok(value)
}

/// The shape the provider itself is asked to hold, if it can.
pub(crate) fn native<'a>(model: &ModelSnapshot, head: &'a Head) -> Option<&'a AnswerShape> {
    head.answer.as_ref().filter(|shape| holds(model, shape))
}

/// The shape that a tool must give.
pub(crate) fn by_tool<'a>(model: &ModelSnapshot, head: &'a Head) -> Option<&'a AnswerShape> {
    head.answer.as_ref().filter(|shape| !holds(model, shape))
}

/// Anthropic takes closed schemas only; the others hold to an open one as well as they can.
fn holds(model: &ModelSnapshot, shape: &AnswerShape) -> bool {
    model.abilities.structured && (model.dialect != crate::anthropic::NAME || is_strict(&shape.schema))
}

/// All tools of a request: the head's, and the one that gives the answer.
pub(crate) fn tools(model: &ModelSnapshot, head: &Head) -> Vec<ToolSpec> {
    let answer = by_tool(model, head).map(|shape| ToolSpec {
        name: ANSWER_TOOL.into(),
        description: "Gives the final answer. Call it once, when everything else is done.".into(),
        schema: shape.schema.clone(),
    });
    head.tools.iter().cloned().chain(answer).collect()
}

/// Can a provider be asked to hold this schema to the letter? Each object must list all its fields as required and allow no
/// others; the rest of a schema is its own business.
pub(crate) fn is_strict(schema: &Value) -> bool {
    let nested = || match schema {
        Value::Object(fields) => fields.values().all(is_strict),
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    };
    let closed = schema["type"] != "object" || {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let all = |fields: &serde_json::Map<String, Value>| {
            fields.len() == required.len() && fields.keys().all(|field| required.contains(&field.as_str()))
        };
        schema["additionalProperties"] == false && schema["properties"].as_object().is_some_and(all)
    };
    closed && nested()
}

/// The text of the value: the arguments of the answer's call, or the words.
fn text_of(outcome: &Outcome) -> Result<String, Unfit> {
    let calls: Vec<(&str, &str)> = outcome
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Call { name, arguments, .. } => Some((name.as_str(), arguments.as_str())),
            Block::Text { .. } | Block::Reasoning { .. } => None,
        })
        .collect();
    match (outcome.stop, calls.as_slice()) {
        (StopReason::ToolCalls, [(ANSWER_TOOL, arguments)]) => Ok((*arguments).to_owned()),
        (StopReason::ToolCalls, _) => Err(Unfit::NotJson("it calls other tools".into())),
        (StopReason::Stop, _) => Ok(outcome
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                Block::Reasoning { .. } | Block::Call { .. } => None,
            })
            .collect()),
        (stop @ (StopReason::Length | StopReason::Refusal | StopReason::ContentFilter), _) => {
            Err(Unfit::NotWhole(stop))
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use domain::model::{Abilities, Message};
    use serde_json::json;

    use super::*;
    use crate::testing::{call, snapshot, text, tools as other_tools};
    use crate::{Body, Markers, dialect_of};

    fn shape() -> AnswerShape {
        let schema = json!({"type": "object", "properties": {"total": {"type": "integer"}},
            "required": ["total"], "additionalProperties": false});
        AnswerShape { name: "sum".into(), schema }
    }

    /// The fields of a request that have to do with the answer's shape.
    fn asked(dialect: &str, structured: bool, tools: Vec<ToolSpec>, shape: AnswerShape) -> String {
        let abilities = Abilities { structured, ..Abilities::default() };
        let model = ModelSnapshot { abilities, ..snapshot(dialect) };
        let made = dialect_of(&model).unwrap();
        let head = Head { system: "s".into(), tools, answer: Some(shape.clone()) };
        let head = Bytes::from(made.head(&model, &head));
        let segment = Bytes::from(made.segment(&[Message::User("hi".into())]));
        let body = Body::assemble(&*made, &head, &[segment], &Markers { head: true, segments: vec![0] });
        let sent: Value = serde_json::from_slice(&body.to_bytes()).unwrap();
        let names: Vec<&Value> = sent["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|tool| if tool["name"].is_null() { &tool["function"]["name"] } else { &tool["name"] })
            .collect();
        let mut told = json!({"tools": names});
        for field in ["response_format", "text", "output_config", "tool_choice"] {
            if !sent[field].is_null() {
                told[field] = sent[field].clone();
            }
        }
        told.to_string().replace(&shape.schema.to_string(), "SCHEMA")
    }

    #[test]
    fn r_mod_15_each_dialect_asks_in_its_own_way() {
        let mut told = String::new();
        for dialect in crate::dialect::WIRES {
            told.push_str(&format!("{dialect}\n"));
            for (structured, tools) in
                [(true, Vec::new()), (true, other_tools()), (false, Vec::new()), (false, other_tools())]
            {
                told.push_str(&format!("  {}\n", asked(dialect, structured, tools, shape())));
            }
        }
        insta::assert_snapshot!(told, @r#"
    anthropic-messages
      {"tools":[],"output_config":{"format":{"type":"json_schema","schema":SCHEMA}}}
      {"tools":["read_file"],"output_config":{"format":{"type":"json_schema","schema":SCHEMA}}}
      {"tools":["give_answer"],"tool_choice":{"type":"tool","name":"give_answer"}}
      {"tools":["read_file","give_answer"],"tool_choice":{"type":"any"}}
    openai-chat
      {"tools":[],"response_format":{"type":"json_schema","json_schema":{"name":"sum","schema":SCHEMA,"strict":true}}}
      {"tools":["read_file"],"response_format":{"type":"json_schema","json_schema":{"name":"sum","schema":SCHEMA,"strict":true}}}
      {"tools":["give_answer"],"tool_choice":{"type":"function","function":{"name":"give_answer"}}}
      {"tools":["read_file","give_answer"],"tool_choice":"required"}
    openai-responses
      {"tools":[],"text":{"format":{"type":"json_schema","name":"sum","schema":SCHEMA,"strict":true}}}
      {"tools":["read_file"],"text":{"format":{"type":"json_schema","name":"sum","schema":SCHEMA,"strict":true}}}
      {"tools":["give_answer"],"tool_choice":{"type":"function","name":"give_answer"}}
      {"tools":["read_file","give_answer"],"tool_choice":"required"}
    "#);
    }

    #[test]
    fn r_mod_15_an_open_schema_is_never_called_strict() {
        let mut open = shape();
        open.schema["additionalProperties"] = json!(true);
        let asked = |dialect: &str| asked(dialect, true, Vec::new(), open.clone());
        assert!(asked(crate::anthropic::NAME).contains(ANSWER_TOOL));
        assert!(asked(crate::chat::NAME).contains(r#""strict":false"#));
        assert!(asked(crate::responses::NAME).contains(r#""strict":false"#));
    }

    #[test]
    fn only_closed_schemas_are_strict() {
        let closed = shape().schema;
        assert!(is_strict(&closed));
        assert!(is_strict(&json!({"type": "array", "items": closed})));
        for (field, value) in [("additionalProperties", json!(true)), ("required", json!([]))] {
            let mut open = shape().schema;
            open[field] = value;
            assert!(!is_strict(&open), "{field}");
            assert!(!is_strict(&json!({"type": "array", "items": open})), "{field} within");
        }
    }

    /// Reads an answer; `even` is a rule of the caller.
    #[track_caller]
    fn check(stop: StopReason, blocks: Vec<Block>, expect: Result<Value, &str>) {
        let outcome = Outcome { blocks, stop, usage: None, response_id: None, model: None };
        let even = |value: &Value| {
            let total = value["total"].as_u64().unwrap_or(0);
            if total.is_multiple_of(2) { Ok(()) } else { Err(format!("{total} is odd")) }
        };
        let got = read(&outcome, &shape(), even).map_err(|unfit| unfit.to_string());
        assert_eq!(got, expect.map_err(str::to_owned));
    }

    #[test]
    fn r_mod_15_a_value_is_checked_whoever_promised_it() {
        let said = |words: &str| vec![text(words)];
        check(StopReason::Stop, said(r#"{"total": 4}"#), Ok(json!({"total": 4})));
        check(StopReason::ToolCalls, vec![call("a", ANSWER_TOOL, r#"{"total":4}"#)], Ok(json!({"total": 4})));
        check(StopReason::Stop, said(r#"{"total": 3}"#), Err("the answer breaks a rule: 3 is odd"));
        check(
            StopReason::Stop,
            said(r#"{"total": "4"}"#),
            Err(r#"the answer doesn't fit what was asked for: /total: "4" is not of type "integer""#),
        );
        check(
            StopReason::Stop,
            said("Four."),
            Err("the answer isn't the value that was asked for: expected value at line 1 column 1"),
        );
        let two = vec![call("a", ANSWER_TOOL, "{}"), call("b", "read_file", "{}")];
        check(
            StopReason::ToolCalls,
            two,
            Err("the answer isn't the value that was asked for: it calls other tools"),
        );
        check(StopReason::Length, said(r#"{"total": 4}"#), Err("the model gave no whole answer (Length)"));
        check(StopReason::Refusal, said("No."), Err("the model gave no whole answer (Refusal)"));
        let odd = AnswerShape { name: "x".into(), schema: json!({"type": 7}) };
        let outcome = Outcome {
            blocks: said("1"),
            stop: StopReason::Stop,
            usage: None,
            response_id: None,
            model: None,
        };
        assert!(matches!(read(&outcome, &odd, |_| Ok(())), Err(Unfit::BadSchema(_))));
    }
}
