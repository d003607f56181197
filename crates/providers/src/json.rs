//! Small steps that the dialects take with JSON text: argument objects, names and ids that a provider accepts.
//!
//! Invariant: encoding is deterministic and never drops what the model wrote; text that isn't a JSON object travels
//! inside one, so the model can read in its history what it had sent.

use domain::digest::Digest;
use domain::model::{Block, Message};
use serde_json::{Map, Value, json};

/// A JSON string literal of `text`.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Argument text as an object: verbatim where it is one, `{}` where it is blank, wrapped otherwise.
pub(crate) fn arguments_object(arguments: &str) -> String {
    let text = arguments.trim();
    if text.is_empty() || text == "null" {
        return "{}".into();
    }
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(_) => text.to_owned(),
        Err(_) => json!({ "invalid_arguments": arguments }).to_string(),
    }
}

/// Is this text one whole JSON object?
pub(crate) fn is_object(text: &str) -> bool {
    // The cheap look first: this is asked for every piece of a growing text.
    text.trim_start().starts_with('{')
        && text.trim_end().ends_with('}')
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// A tool's name as providers accept it back: a name the model made up may hold anything.
pub(crate) fn safe_name(name: &str) -> String {
    let safe: String = name
        .chars()
        .take(64)
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .collect();
    if safe.is_empty() { "unnamed".into() } else { safe }
}

/// A call id of `[a-zA-Z0-9_-]` only; ids from another provider are rewritten so that no two become one.
pub(crate) fn safe_id(id: &str) -> String {
    let mut safe = String::with_capacity(id.len());
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
            safe.push(char::from(byte));
        } else {
            safe.push_str(&format!("-x{byte:02x}"));
        }
    }
    if safe.is_empty() { "call".into() } else { safe }
}

/// A call id of at most 64 bytes, as it is where it fits: some providers make longer ones than others take.
pub(crate) fn bounded_id(id: &str) -> String {
    if (1..=64).contains(&id.len()) {
        id.into()
    } else {
        format!("call_{}", &Digest::of(id.as_bytes()).to_string()[..32])
    }
}

/// One run of neighbours on the same side of the conversation.
pub(crate) enum Side<'a> {
    /// User words and results, in order.
    User(Vec<&'a Message>),
    /// One answer.
    Assistant(&'a [Block]),
}

/// Groups neighbouring user-kind messages.
pub(crate) fn sides(messages: &[Message]) -> Vec<Side<'_>> {
    let mut sides = Vec::new();
    for message in messages {
        match (message, sides.last_mut()) {
            (Message::Assistant(blocks), _) => sides.push(Side::Assistant(blocks)),
            (Message::User(_) | Message::Results(_), Some(Side::User(run))) => run.push(message),
            (Message::User(_) | Message::Results(_), _) => sides.push(Side::User(vec![message])),
        }
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p02_blank_arguments_are_an_empty_object_and_broken_ones_stay_readable() {
        for (given, expect) in [
            ("", "{}"),
            ("  ", "{}"),
            ("null", "{}"),
            (r#" {"a": 1.50} "#, r#"{"a": 1.50}"#),
            (r#"{"q"#, r#"{"invalid_arguments":"{\"q"}"#),
            ("[1]", r#"{"invalid_arguments":"[1]"}"#),
            (r#"{"a":"\ud800"}"#, r#"{"invalid_arguments":"{\"a\":\"\\ud800\"}"}"#),
        ] {
            assert_eq!(arguments_object(given), expect);
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(
            arguments_object(&deep).starts_with(r#"{"invalid_arguments":"#),
            "too deep for a provider's parser"
        );
    }

    #[test]
    fn foreign_names_and_ids_become_acceptable() {
        assert_eq!(safe_name("functions.read file"), "functions_read_file");
        assert_eq!(safe_name(""), "unnamed");
        assert_eq!(safe_id("toolu_01-A"), "toolu_01-A");
        assert_eq!(safe_id("functions.read:0"), "functions-x2eread-x3a0");
        assert_ne!(safe_id("a.b"), safe_id("a:b"));
        assert_eq!(safe_id(""), "call");
        assert_eq!(bounded_id("functions.read:0"), "functions.read:0");
        assert_eq!(bounded_id(&"é".repeat(33)).len(), "call_".len() + 32);
        assert_ne!(bounded_id(&"a".repeat(65)), bounded_id(&"a".repeat(66)));
    }
}
