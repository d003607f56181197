//! Canonical JSON: the one text of a value that digests are taken over.
//!
//! Keys are sorted by their UTF-8 bytes, white space is gone, strings are escaped one way, and a number keeps the text it
//! was written with (doubles would give ids above 2^53 the same digest). An object with the same key twice, or nesting
//! deeper than [`MAX_DEPTH`], is refused: two readers could understand it differently.

use crate::digest::Digest;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// Deepest nesting of arrays and objects that is read.
pub const MAX_DEPTH: usize = 64;

/// Why a text has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// Not JSON, or an object names a key twice, or it nests too deep.
    #[error("not usable as arguments: {0}")]
    Invalid(String),
}

/// The canonical text of this JSON text.
///
/// # Errors
/// When it isn't JSON, names a key twice, or nests deeper than [`MAX_DEPTH`].
pub fn canonical(text: &str) -> Result<String, CanonicalError> {
    let node = parse(text, 0)?;
    let mut out = String::with_capacity(text.len());
    node.write(&mut out);
    Ok(out)
}

/// The digest of the canonical text.
///
/// # Errors
/// As [`canonical`].
pub fn canonical_digest(text: &str) -> Result<Digest, CanonicalError> {
    canonical(text).map(|text| Digest::of(text.as_bytes()))
}

enum Node {
    /// `null`, `true`, `false` or a number, as written.
    Literal(String),
    Text(String),
    List(Vec<Node>),
    Map(BTreeMap<String, Node>),
}

fn parse(text: &str, depth: usize) -> Result<Node, CanonicalError> {
    let invalid = |error: serde_json::Error| CanonicalError::Invalid(error.to_string());
    if depth > MAX_DEPTH {
        return Err(CanonicalError::Invalid(format!("nested deeper than {MAX_DEPTH}")));
    }
    let text = text.trim();
    match text.as_bytes().first() {
        Some(b'{') => {
            let pairs: Pairs = serde_json::from_str(text).map_err(invalid)?;
            let mut map = BTreeMap::new();
            for (key, raw) in pairs.0 {
                let node = parse(raw.get(), depth + 1)?;
                if map.insert(key.clone(), node).is_some() {
                    return Err(CanonicalError::Invalid(format!("the key {key:?} stands twice")));
                }
            }
            Ok(Node::Map(map))
        }
        Some(b'[') => {
            let items: Items = serde_json::from_str(text).map_err(invalid)?;
            items.0.iter().map(|raw| parse(raw.get(), depth + 1)).collect::<Result<_, _>>().map(Node::List)
        }
        Some(b'"') => serde_json::from_str(text).map_err(invalid).map(Node::Text),
        _ => {
            serde_json::from_str::<&RawValue>(text).map_err(invalid)?;
            Ok(Node::Literal(text.to_owned()))
        }
    }
}

impl Node {
    fn write(&self, out: &mut String) {
        match self {
            Self::Literal(text) => out.push_str(text),
            Self::Text(text) => write_text(text, out),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Map(map) => {
                out.push('{');
                for (at, (key, value)) in map.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    write_text(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// Escapes only what JSON demands: quote, backslash and control characters.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for ch in text.chars() {
        match ch {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ch if ch < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(ch))),
            ch => out.push(ch),
        }
    }
    out.push('"');
}

/// An object's pairs in order, doubles included.
struct Pairs(Vec<(String, Box<RawValue>)>);

/// An array's items.
struct Items(Vec<Box<RawValue>>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Pairs;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        from.deserialize_map(Read)
    }
}

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Items;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Items, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Items(items))
            }
        }
        from.deserialize_seq(Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expect: Result<&str, &str>) {
        match (canonical(given), expect) {
            (Ok(text), Ok(want)) => assert_eq!(text, want),
            (Err(error), Err(want)) => assert!(error.to_string().contains(want), "{error}"),
            (got, want) => panic!("{given}: {got:?}, wanted {want:?}"),
        }
    }

    #[test]
    fn sorts_keys_and_keeps_numbers() {
        check(r#"{ "b": 1.50, "a": [ true, null ] }"#, Ok(r#"{"a":[true,null],"b":1.50}"#));
        check("9007199254740993", Ok("9007199254740993"));
        check(r#""\u4f60\/""#, Ok("\"你/\""));
        check(r#"{"a":{"z":{},"y":[]}}"#, Ok(r#"{"a":{"y":[],"z":{}}}"#));
    }

    #[test]
    fn refuses_what_two_readers_could_read_differently() {
        check(r#"{"a":1,"a":2}"#, Err("stands twice"));
        check(r#"{"x":[{"a":1,"\u0061":2}]}"#, Err("stands twice"));
        check("{", Err("EOF"));
        check(&format!("{}{}", "[".repeat(100), "]".repeat(100)), Err("nested deeper"));
    }

    #[test]
    fn ids_above_two_to_the_53_have_their_own_digests() {
        assert_ne!(canonical_digest("9007199254740992"), canonical_digest("9007199254740993"));
    }
}
