//! From a model's argument text to canonical text, leniently and without guessing.
//!
//! **Repair** is a small mend that can't change what was meant: a fence around the JSON, a trailing comma, a raw control
//! character inside a string. Invariant: a truncated text is never completed, an object that names a key twice is
//! refused, and every repair is reported.

use crate::tool::failed;
use domain::call::ToolError;
use domain::canonical::canonical;
use serde::{Deserialize, Serialize};

/// One mend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// Blank text was read as no arguments.
    Blank,
    /// A Markdown fence was taken off.
    Fence,
    /// A comma before a closing bracket was dropped.
    TrailingComma,
    /// A raw control character inside a string was escaped.
    ControlCharacter,
    /// The arguments were a JSON string that held the object.
    Quoted,
}

/// Argument text that could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The canonical text: an object.
    pub canonical: String,
    /// What had to be mended.
    pub repairs: Vec<Repair>,
}

/// Reads argument text of at most `limit` bytes. Never panics; the caller keeps the text as it came.
///
/// # Errors
/// `arguments/unreadable` with the place of the fault, for the model to mend.
pub fn parse(text: &str, limit: usize) -> Result<Parsed, ToolError> {
    if text.len() > limit {
        return Err(unreadable(&format!("they are {} bytes long, the limit is {limit}", text.len())));
    }
    let mut repairs = Vec::new();
    let mut body = text.trim_start_matches('\u{feff}').trim();
    if let Some(inner) = unfenced(body) {
        repairs.push(Repair::Fence);
        body = inner;
    }
    if body.is_empty() {
        repairs.push(Repair::Blank);
        return Ok(Parsed { canonical: "{}".to_owned(), repairs });
    }
    let canonical = match canonical(body) {
        Ok(text) => text,
        Err(error) => {
            let (mended, more) = mended(body);
            let again = if more.is_empty() { Err(error) } else { canonical(&mended) };
            repairs.extend(more);
            again.map_err(|error| unreadable(&error.to_string()))?
        }
    };
    as_object(canonical, repairs)
}

/// An object stays; a string that holds an object is opened once; `null` is no arguments; the rest is refused.
fn as_object(text: String, mut repairs: Vec<Repair>) -> Result<Parsed, ToolError> {
    match text.as_bytes().first() {
        Some(b'{') => Ok(Parsed { canonical: text, repairs }),
        Some(b'"') => {
            let inner: String = serde_json::from_str(&text).unwrap_or_default();
            let inner = canonical_of(&inner).filter(|inner| inner.starts_with('{'));
            repairs.push(Repair::Quoted);
            inner
                .map(|canonical| Parsed { canonical, repairs })
                .ok_or_else(|| unreadable("they are a text, not an object"))
        }
        _ if text == "null" => {
            repairs.push(Repair::Blank);
            Ok(Parsed { canonical: "{}".to_owned(), repairs })
        }
        _ => Err(unreadable("they are not a JSON object")),
    }
}

fn canonical_of(text: &str) -> Option<String> {
    canonical(text).ok()
}

/// The inside of a fence that wraps the whole text.
fn unfenced(text: &str) -> Option<&str> {
    let (info, rest) = text.strip_prefix("```")?.split_once('\n')?;
    let plain = info.trim().chars().all(|ch| ch.is_ascii_alphanumeric());
    plain.then(|| rest.trim_end().strip_suffix("```")).flatten().map(str::trim)
}

/// Drops trailing commas and escapes raw control characters in strings.
fn mended(text: &str) -> (String, Vec<Repair>) {
    let mut out = String::with_capacity(text.len() + 16);
    let mut repairs = Vec::new();
    let mut note = |repair| {
        if !repairs.contains(&repair) {
            repairs.push(repair);
        }
    };
    let (mut in_string, mut escaped) = (false, false);
    for (at, ch) in text.char_indices() {
        if !in_string {
            let closes = || text[at + 1..].trim_start().starts_with(['}', ']']);
            let follows_value = || !out.trim_end().ends_with(['{', '[', ',', ':']);
            match ch {
                ',' if closes() && follows_value() => note(Repair::TrailingComma),
                ch => {
                    in_string = ch == '"';
                    out.push(ch);
                }
            }
        } else if ch < ' ' {
            note(Repair::ControlCharacter);
            // A backslash before a raw line break was meant to stand for itself only in shells: keep both readable.
            if escaped {
                out.push('\\');
            }
            out.push_str(&format!("\\u{:04x}", u32::from(ch)));
            escaped = false;
        } else {
            in_string = escaped || ch != '"';
            escaped = !escaped && ch == '\\';
            out.push(ch);
        }
    }
    (out, repairs)
}

fn unreadable(why: &str) -> ToolError {
    failed(
        "arguments/unreadable",
        format!("the arguments can't be read: {why}"),
        "Send the call again with one complete JSON object as arguments.",
    )
}
