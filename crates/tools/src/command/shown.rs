//! A command as a person must see it: hidden characters written out, and warnings with their places.
//!
//! The window shows what stands here and decides nothing. Invariant: every marker in the text has a warning, and a text
//! with none looks like what it is.

use super::reading::{Doubt, Span, Why};
use crate::visible::visible;
use serde::{Deserialize, Serialize};

/// A gap this wide can push what follows out of sight.
const GAP: usize = 24;
/// A text longer than this doesn't fit a card.
const LONG_CHARS: usize = 2_000;
/// Most warnings listed; one more of a kind says no more.
const MAX_WARNINGS: usize = 64;

/// A text to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The text with `⟨U+202E⟩` in place of what can't be seen.
    pub text: String,
    /// What to say about it, in order.
    pub warnings: Vec<Warning>,
}

/// Something a person would not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What it is.
    pub kind: WarningKind,
    /// Where it is in the text as it was given, in bytes.
    pub span: Span,
}

/// Kinds of warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A control character: escape, backspace, carriage return.
    Control,
    /// Turns the direction of writing.
    Direction,
    /// Has no shape: zero width, tags, variation selectors.
    Invisible,
    /// Looks like a space.
    Space,
    /// A letter that looks like another script's.
    LookAlike,
    /// A mark that we use ourselves.
    Marker,
    /// Many spaces or empty lines in a row.
    Gap,
    /// Longer than a card shows at once.
    Long,
}

impl WarningKind {
    /// Does it hide something from the eye?
    #[must_use]
    pub fn hides(self) -> bool {
        !matches!(self, Self::Gap | Self::Long)
    }
}

/// The text as it is shown, with its warnings.
#[must_use]
pub fn shown(text: &str) -> Shown {
    let made = visible(text).text;
    let mut warnings = hidden(text, &made);
    warnings.extend(gaps(text));
    if text.chars().nth(LONG_CHARS).is_some() {
        warnings.push(Warning { kind: WarningKind::Long, span: Span { start: 0, end: text.len() } });
    }
    warnings.sort_by_key(|warning| warning.span);
    warnings.truncate(MAX_WARNINGS);
    Shown { text: made, warnings }
}

/// The first hidden character, as a doubt.
pub(super) fn first_hidden(text: &str) -> Why {
    hidden(text, &visible(text).text)
        .first()
        .map_or_else(|| Why::all(Doubt::Hidden, text), |first| Why { doubt: Doubt::Hidden, span: first.span })
}

/// The kinds of what was written out of this text.
pub(crate) fn hidden_between(text: &str, made: &str) -> impl Iterator<Item = WarningKind> {
    hidden(text, made).into_iter().map(|warning| warning.kind)
}

/// Follows both texts side by side: where they differ, a character was written out.
fn hidden(text: &str, made: &str) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut rest = made;
    for (at, ch) in text.char_indices() {
        let same = rest.strip_prefix(ch).filter(|_| !matches!(ch, '⟨' | '⟩'));
        if let Some(after) = same {
            rest = after;
            continue;
        }
        rest = rest.split_once('⟩').map_or("", |(_, after)| after);
        let span = Span { start: at, end: at + ch.len_utf8() };
        warnings.push(Warning { kind: kind(ch), span });
    }
    warnings
}

fn kind(ch: char) -> WarningKind {
    match ch {
        '⟨' | '⟩' => WarningKind::Marker,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            WarningKind::Direction
        }
        ch if ch.is_control() => WarningKind::Control,
        ch if ch.is_whitespace() => WarningKind::Space,
        ch if crate::visible::is_invisible(ch) => WarningKind::Invisible,
        _ => WarningKind::LookAlike,
    }
}

/// Runs of blanks that could move the rest out of sight.
fn gaps(text: &str) -> Vec<Warning> {
    let mut gaps = Vec::new();
    let mut start = None;
    let ends = text.char_indices().chain([(text.len(), 'x')]);
    for (at, ch) in ends {
        match (start, ch.is_whitespace()) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                if at - from >= GAP {
                    gaps.push(Warning { kind: WarningKind::Gap, span: Span { start: from, end: at } });
                }
                start = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    gaps
}
