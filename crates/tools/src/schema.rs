//! The strict half of reading arguments: one clear error that names each field and what is wrong with it.
//!
//! Compiled once per tool. Invariant: the words come from the schema and the fields' names, never from a value longer
//! than a line, so an error can be shown to the model and kept in the log.

use crate::tool::{Declared, failed};
use domain::call::ToolError;
use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;

/// Most faults named in one error.
const MAX_FAULTS: usize = 8;

/// Checks the arguments of a call.
///
/// # Errors
/// `arguments/invalid`, naming every fault (at most 8).
pub(crate) fn check(schema: &Validator, value: &Value, declared: &Declared) -> Result<(), ToolError> {
    let mut faults: Vec<String> = schema.iter_errors(value).map(|error| in_words(&error)).collect();
    if faults.is_empty() {
        return Ok(());
    }
    faults.sort();
    faults.dedup();
    let more = faults.len().saturating_sub(MAX_FAULTS);
    faults.truncate(MAX_FAULTS);
    let mut message = format!("the arguments of {} don't fit: {}", declared.name, faults.join("; "));
    if more > 0 {
        message.push_str(&format!("; and {more} more"));
    }
    Err(failed("arguments/invalid", message, &format!("Its arguments are: {}.", signature(&declared.schema))))
}

fn in_words(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let field = place.trim_start_matches('/').replace('/', ".");
    let named = if field.is_empty() { "the arguments".to_owned() } else { format!("`{field}`") };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            format!(
                "`{}{name}` is missing",
                if field.is_empty() { String::new() } else { format!("{field}.") }
            )
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let names: Vec<_> = unexpected
                .iter()
                .map(|name| format!("`{}`", name.chars().take(40).collect::<String>()))
                .collect();
            format!("{} isn't known", names.join(", "))
        }
        ValidationErrorKind::Type { .. } => {
            format!("{named} must be {}, not {}", wanted(error), kind(error.instance()))
        }
        _ => format!("{named}: {}", error.to_string().chars().take(160).collect::<String>()),
    }
}

fn wanted(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Type { kind: jsonschema::error::TypeKind::Single(one) } => {
            format!("a {one}").replace("a i", "an i").replace("a o", "an o").replace("a a", "an a")
        }
        _ => "of another type".to_owned(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// `{path: string, limit?: integer}`.
fn signature(schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object().into_iter().flatten().map(|(name, field)| {
        let optional = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{name}{optional}: {}", field["type"].as_str().unwrap_or("any"))
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}
