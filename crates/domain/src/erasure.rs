//! Erasing words from recorded payloads: what is left of an event when they are gone.
//!
//! An **erasure** takes the payload of an event away and leaves the same event with a mark where the words stood, so that the
//! order, the ids and the laws still hold. Invariants: only strings change, never an id or a digest; what is left decodes as
//! the same type; none of the words' forms is in it.

use crate::digest::Digest;
use crate::event::{Fact, Payload, Recorded};

/// What stands where the words stood, also in what the model reads from then on.
pub const MARK: &str = "[erased by the person]";

/// How deep JSON inside strings of JSON is followed.
const MAX_NESTING: usize = 8;

/// Words to erase, in every form they may be written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Longest first, so that a form that holds another goes whole.
    forms: Vec<String>,
}

/// What is left of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// This payload.
    Text(String),
    /// Nothing: it was for showing only.
    Nothing,
}

/// The words are part of what the record itself is made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} (`{kind}`) can't be read any more without these words")]
pub struct NeededByRecord {
    /// The event.
    pub seq: u64,
    /// Its type.
    pub kind: String,
}

impl Words {
    /// Words with these forms; empty ones don't count.
    #[must_use]
    pub fn new(forms: impl IntoIterator<Item = String>) -> Self {
        let mut forms: Vec<String> = forms.into_iter().filter(|form| !form.is_empty()).collect();
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self { forms }
    }

    /// Is one of the forms in this text?
    #[must_use]
    pub fn within(&self, text: &str) -> bool {
        self.forms.iter().any(|form| text.contains(form.as_str()))
    }

    /// What is left of an event without them; `None` when they aren't in it.
    ///
    /// # Errors
    /// When the event can't be understood without them.
    pub fn out_of(&self, event: &Recorded) -> Result<Option<Left>, NeededByRecord> {
        let Some(text) = event.payload.text().map(AsRef::<str>::as_ref) else { return Ok(None) };
        let fits = |left: &String, reach: Reach| {
            self.scan(left, reach, 0) == *left && Fact::decode(&event.kind, event.version, left).is_ok()
        };
        // The record's own keys and numbers are tried, too, and left where the event can't be read without them.
        for reach in Reach::WIDEST_FIRST {
            let left = self.scan(text, reach, 0);
            if left != text && fits(&left, reach) {
                return Ok(Some(Left::Text(left)));
            }
        }
        match self.scan(text, Reach::VALUES, 0) == text {
            true => Ok(None),
            false if event.ignorable => Ok(Some(Left::Nothing)),
            false => Err(NeededByRecord { seq: event.seq, kind: event.kind.clone() }),
        }
    }

    /// The JSON text with the words taken out of its strings.
    fn scan(&self, text: &str, reach: Reach, depth: usize) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '"' => literal(rest),
                '-' | '0'..='9' => rest.find(|c: char| !is_of_number(c)).unwrap_or(rest.len()),
                other => other.len_utf8(),
            };
            let (token, after) = rest.split_at(length);
            rest = after;
            match first {
                '"' if !reach.keys && rest.trim_start().starts_with(':') => out.push_str(token),
                '"' => out.push_str(&self.string(token, depth)),
                '-' | '0'..='9' if reach.numbers && self.within(token) => {
                    out.push_str(&quoted(MARK));
                }
                _ => out.push_str(token),
            }
        }
        out
    }

    fn string(&self, literal: &str, depth: usize) -> String {
        let Ok(text) = serde_json::from_str::<String>(literal) else { return literal.to_owned() };
        // A key may look like one: then its own words say that it goes.
        if is_name(&text) && !self.forms.contains(&text) {
            return literal.to_owned();
        }
        let left = self.text(&text, depth);
        if left == text { literal.to_owned() } else { quoted(&left) }
    }

    /// A text without the words. JSON stays JSON.
    fn text(&self, text: &str, depth: usize) -> String {
        let is_json = depth < MAX_NESTING && is_container(text);
        let inner = if is_json { self.scan(text, Reach::ALL, depth + 1) } else { text.to_owned() };
        let left = self.forms.iter().fold(inner, |text, form| text.replace(form.as_str(), MARK));
        match is_json && left != text && !is_container(&left) {
            true => format!("{{\"erased\":{}}}", quoted(MARK)),
            false => left,
        }
    }
}

/// What besides values is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reach {
    keys: bool,
    numbers: bool,
}

impl Reach {
    const ALL: Self = Self { keys: true, numbers: true };
    const VALUES: Self = Self { keys: false, numbers: false };
    const WIDEST_FIRST: [Self; 4] =
        [Self::ALL, Self { numbers: false, ..Self::ALL }, Self { keys: false, ..Self::ALL }, Self::VALUES];
}

/// The length of the string literal that begins here.
fn literal(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')
}

fn is_container(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// A digest or one of our ids: a name the record lives by.
fn is_name(text: &str) -> bool {
    let id = |(kind, rest): (&str, &str)| {
        kind.len() == 3 && rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    text.parse::<Digest>().is_ok() || text.split_once('_').is_some_and(id)
}

fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

impl Payload {
    /// The text there is: as written, or what an erasure left of it.
    #[must_use]
    pub fn text(&self) -> Option<&std::sync::Arc<str>> {
        match self {
            Self::Text(text) | Self::Redacted { left: text, .. } => Some(text),
            Self::Erased(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
