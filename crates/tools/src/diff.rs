//! Differences as data: the engine computes hunks, the window only draws them.
//!
//! A **hunk** is a run of changed lines with three lines around it; changed words inside a line are marked. Invariant:
//! the old lines of all hunks are lines of the old text, the new ones of the new text, in order; computing ends at its
//! deadline with a coarser difference, never later.

use crate::limits::Limits;
use crate::text::{LineEnds, Text};
use domain::call::LineCount;
use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// Lines shown around a change.
const CONTEXT: usize = 3;
/// Longest line that is looked at word by word, in bytes.
const INLINE_BYTES: usize = 2_000;

/// The difference of two versions of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// The hunks, in order.
    pub hunks: Vec<Hunk>,
    /// Why there are none, when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_hunks: Option<NoHunks>,
    /// Lines added and removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineCount>,
}

/// Why a difference has no hunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoHunks {
    /// One side isn't text.
    Binary,
    /// A side is larger than is compared.
    TooLarge,
    /// There is no difference.
    Same,
}

/// One run of changed lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// First line in the old text, from 1.
    pub old_start: usize,
    /// First line in the new text, from 1.
    pub new_start: usize,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// On which side it stands.
    pub kind: LineKind,
    /// Its text in pieces, without the line's end; a carriage return stays where the sides don't all end with one.
    pub spans: Vec<Span>,
    /// The last line of its side, without a line's end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_newline: bool,
}

/// On which side a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// On both.
    Same,
    /// Only in the old text.
    Removed,
    /// Only in the new text.
    Added,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The piece.
    pub text: String,
    /// Does it differ from the other side?
    pub changed: bool,
}

impl FileDiff {
    /// The difference of two contents as bytes; `None` is a file that isn't there.
    #[must_use]
    pub fn of(old: Option<&[u8]>, new: Option<&[u8]>, limits: &Limits) -> Self {
        if old == new {
            return Self::none(NoHunks::Same);
        }
        let too_large = |side: Option<&[u8]>| side.is_some_and(|bytes| bytes.len() > limits.diff_bytes);
        if too_large(old) || too_large(new) {
            return Self::none(NoHunks::TooLarge);
        }
        let text = |side: Option<&[u8]>| {
            side.map_or(Ok(String::new()), |bytes| Text::decode(bytes).map(|text| text.body))
        };
        match (text(old), text(new)) {
            (Ok(old), Ok(new)) => {
                Self::of_texts(&without_crlf(&old, &new), &without_crlf(&new, &old), limits)
            }
            _ => Self::none(NoHunks::Binary),
        }
    }

    fn of_texts(old: &str, new: &str, limits: &Limits) -> Self {
        let deadline = Instant::now() + Duration::from_millis(limits.diff_ms);
        let diff = TextDiff::configure().deadline(deadline).diff_lines(old, new);
        let hunks = diff
            .grouped_ops(CONTEXT)
            .iter()
            .map(|ops| Hunk {
                old_start: ops.first().map_or(1, |op| op.old_range().start + 1),
                new_start: ops.first().map_or(1, |op| op.new_range().start + 1),
                lines: ops
                    .iter()
                    .flat_map(|op| diff.iter_inline_changes_deadline(op, Some(deadline)))
                    .map(|change| line(&change))
                    .collect(),
            })
            .collect();
        Self { hunks, no_hunks: None, lines: Some(count(&diff)) }
    }

    fn none(why: NoHunks) -> Self {
        Self { hunks: Vec::new(), no_hunks: Some(why), lines: None }
    }
}

/// A text without the carriage returns of its line ends, where both texts end all their lines so: they say nothing of
/// what changed. Otherwise they are part of the lines.
fn without_crlf<'a>(text: &'a str, other: &str) -> Cow<'a, str> {
    let alike = |text| matches!(LineEnds::of(text), LineEnds::CrLf | LineEnds::None);
    if alike(text) && alike(other) { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// Lines added and removed between two texts.
pub(crate) fn line_count(old: &str, new: &str, limits: &Limits) -> LineCount {
    let timeout = Duration::from_millis(limits.diff_ms);
    count(&TextDiff::configure().timeout(timeout).diff_lines(old, new))
}

fn count(diff: &TextDiff<'_, '_, str>) -> LineCount {
    let (mut added, mut removed) = (0u32, 0u32);
    for op in diff.ops().iter().filter(|op| op.tag() != similar::DiffTag::Equal) {
        removed = removed.saturating_add(u32::try_from(op.old_range().len()).unwrap_or(u32::MAX));
        added = added.saturating_add(u32::try_from(op.new_range().len()).unwrap_or(u32::MAX));
    }
    LineCount { added, removed }
}

fn line(change: &similar::InlineChange<'_, str>) -> Line {
    let kind = match change.tag() {
        ChangeTag::Equal => LineKind::Same,
        ChangeTag::Delete => LineKind::Removed,
        ChangeTag::Insert => LineKind::Added,
    };
    let long = change.values().iter().map(|(_, text)| text.len()).sum::<usize>() > INLINE_BYTES;
    let mut spans: Vec<Span> = Vec::new();
    for (changed, text) in change.values() {
        let (text, changed) = (text.trim_end_matches('\n'), *changed && !long);
        match spans.last_mut() {
            Some(last) if last.changed == changed => last.text.push_str(text),
            _ if text.is_empty() => {}
            _ => spans.push(Span { text: text.to_owned(), changed }),
        }
    }
    Line { kind, spans, no_newline: change.missing_newline() }
}
