//! The first look at a text: what is refused before anyone parses it.
//!
//! Invariant: a text that passes is bounded and holds no character that shells, parsers and people could take for
//! another: two readings of it see the same characters.

use super::reading::{Doubt, Why};
use crate::visible::visible;

/// Longest text that is read.
const MAX_BYTES: usize = 16 << 10;

/// Doubts about the text's characters; none when it can be parsed.
pub(super) fn doubts(text: &str) -> Vec<Why> {
    if text.len() > MAX_BYTES {
        return vec![Why::all(Doubt::TooLarge, text)];
    }
    let control = text.char_indices().find(|(_, ch)| ch.is_control() && !matches!(ch, '\n' | '\t'));
    let mut why = Vec::new();
    if let Some((at, ch)) = control {
        why.push(Why::at(Doubt::Control, at, at + ch.len_utf8()));
    }
    if why.is_empty() && visible(text).suspicious {
        why.push(super::shown::first_hidden(text));
    }
    why
}
