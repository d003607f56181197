//! Wording facts: short pieces of arguments and results that a sentence about a call needs.
//!
//! Invariant: they come from checked arguments or from the engine, are bounded, and hold nothing invisible.

use engine::show::visible;
use serde_json::Value;
use std::collections::BTreeMap;

/// Longest fact, in characters.
const LONGEST: usize = 400;

/// Arguments that a sentence about a call may name.
const NAMED: [&str; 10] = [
    "path",
    "command",
    "pattern",
    "glob",
    "offset",
    "limit",
    "question",
    "replace_all",
    "background",
    "action",
];

/// Facts from canonical arguments.
pub(crate) fn of_arguments(arguments: &str) -> BTreeMap<String, String> {
    let Ok(Value::Object(fields)) = serde_json::from_str(arguments) else { return BTreeMap::new() };
    let mut facts: BTreeMap<String, String> =
        fields.iter().filter(|(name, _)| NAMED.contains(&name.as_str())).filter_map(fact).collect();
    if let Some(Value::Array(items)) = fields.get("items") {
        facts.insert("items".to_owned(), items.len().to_string());
    }
    facts
}

/// Facts from a structured result: its exit code.
pub(crate) fn of_result(value: &Value) -> Option<(String, String)> {
    value.get("exit_code").and_then(Value::as_i64).map(|code| ("exit_code".to_owned(), code.to_string()))
}

fn fact((name, value): (&String, &Value)) -> Option<(String, String)> {
    let text = match value {
        Value::String(text) => shown(text),
        Value::Number(number) => number.to_string(),
        Value::Bool(yes) => yes.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    Some((name.clone(), text))
}

/// A text made visible and short.
pub(crate) fn shown(text: &str) -> String {
    let text = visible(text).text;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::of_arguments;

    #[test]
    fn what_a_sentence_may_name_is_told_and_nothing_else() {
        let facts = of_arguments(r#"{"action":"cancel","id":"job_1","content":"words"}"#);
        assert_eq!(facts, [("action".to_owned(), "cancel".to_owned())].into());
    }
}
