//! Exactly what a change of a file writes, as a person must see it.
//!
//! The whole text of a new file, the difference of another, with what can't be seen written out. In content, unlike in a
//! command, a word in a script whose letters look Latin is a word, and a wide space or an emoji's variant is what people
//! type. Invariant: for one old content, two new ones that differ are two texts that differ.

use crate::command::{WarningKind, hidden_between};
use crate::diff::{FileDiff, Line, LineKind, Span};
use crate::text::Text;
use crate::visible::visible_content;
use std::collections::BTreeSet;

/// More of it isn't shown, and what isn't shown can't be allowed.
const SHOWN_BYTES: usize = 1 << 20;
/// Stands at the end of a last line that has no line's end.
const NO_END: &str = "⟨EOF⟩";

/// What is written, made visible.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exact {
    /// All of it; `None` where it can't be shown whole.
    pub text: Option<String>,
    /// What hides in what is new.
    pub hidden: BTreeSet<WarningKind>,
}

/// What stands there once `new` was written over `old`, of which `diff` is the difference.
#[must_use]
pub fn exact(old: Option<&[u8]>, new: &[u8], diff: &FileDiff) -> Exact {
    let shown = match old {
        Some(_) if !diff.hunks.is_empty() => difference(diff),
        Some(_) | None => match whole(new) {
            Some(text) => text,
            None => return Exact::default(),
        },
    };
    let (text, hidden) = shown;
    Exact { text: (text.len() <= SHOWN_BYTES).then_some(text), hidden }
}

/// Writes out what can't be seen in the lines of a difference; which pieces changed stays.
pub fn made_visible(diff: &mut FileDiff) {
    for line in diff.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
        let pieces = visible_content(&text_of(line));
        let mut rest = pieces.into_iter();
        for span in &mut line.spans {
            span.text = rest.by_ref().take(span.text.chars().count()).collect();
        }
    }
}

fn difference(diff: &FileDiff) -> (String, BTreeSet<WarningKind>) {
    let (mut out, mut hidden) = (String::new(), BTreeSet::new());
    for hunk in &diff.hunks {
        let side = |other: LineKind| hunk.lines.iter().filter(|line| line.kind != other).count();
        let (old, new) = (side(LineKind::Added), side(LineKind::Removed));
        out.push_str(&format!("@@ -{},{old} +{},{new} @@\n", hunk.old_start, hunk.new_start));
        for line in &hunk.lines {
            let text = text_of(line);
            let made = visible_content(&text).concat();
            let sign = match line.kind {
                LineKind::Same => ' ',
                LineKind::Removed => '-',
                LineKind::Added => '+',
            };
            if line.kind == LineKind::Added {
                hidden.extend(hidden_between(&text, &made));
            }
            let end = if line.no_newline { NO_END } else { "" };
            out.push_str(&format!("{sign}{made}{end}\n"));
        }
    }
    (out, hidden)
}

fn whole(new: &[u8]) -> Option<(String, BTreeSet<WarningKind>)> {
    let text = match std::str::from_utf8(new) {
        Ok(text) => text.to_owned(),
        Err(_) => Text::decode(new).ok()?.body,
    };
    let made: String = text.split_inclusive('\n').flat_map(visible_content).collect();
    let hidden = hidden_between(&text, &made).collect();
    Some((made, hidden))
}

fn text_of(line: &Line) -> String {
    line.spans.iter().map(|Span { text, .. }| text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use proptest::prelude::*;

    fn shown(old: Option<&str>, new: &str) -> Exact {
        let diff = FileDiff::of(old.map(str::as_bytes), Some(new.as_bytes()), &Limits::default());
        exact(old.map(str::as_bytes), new.as_bytes(), &diff)
    }

    #[track_caller]
    fn check(old: Option<&str>, new: &str, text: &str, hidden: &[WarningKind]) {
        let got = shown(old, new);
        assert_eq!((got.text.as_deref(), got.hidden), (Some(text), hidden.iter().copied().collect()));
    }

    #[test]
    fn a21_a_new_file_is_its_text_and_another_its_difference() {
        check(None, "one\ntwo", "one\ntwo", &[]);
        check(Some("one\ntwo\n"), "one\n2\n", "@@ -1,2 +1,2 @@\n one\n-two\n+2\n", &[]);
        check(Some("one\n"), "one", "@@ -1,1 +1,1 @@\n-one\n+one⟨EOF⟩\n", &[]);
        check(Some("a\r\nb\r\n"), "a\r\nc\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", &[]);
        check(Some("a\r\n"), "a\n", "@@ -1,1 +1,1 @@\n-a⟨U+000D⟩\n+a\n", &[]);
        check(Some(""), "one\n", "@@ -1,0 +1,1 @@\n+one\n", &[]);
        // What isn't compared is shown whole.
        check(Some("\0\u{1}"), "one\n", "one\n", &[]);
        check(Some("same"), "same", "same", &[]);
    }

    #[test]
    fn a20_what_hides_in_new_content_is_written_out_and_what_people_type_is_not() {
        use WarningKind::{Control, Direction, Invisible, LookAlike};
        check(None, "x = \u{202e}1;\u{200b}", "x = ⟨U+202E⟩1;⟨U+200B⟩", &[Direction, Invisible]);
        check(None, "\u{feff}a\0", "⟨U+FEFF⟩a⟨U+0000⟩", &[Control, Invisible]);
        check(None, "c\u{430}t()", "c⟨U+0430⟩t()", &[LookAlike]);
        check(None, "if (\u{430} == 1)", "if (⟨U+0430⟩ == 1)", &[LookAlike]);
        let typed = "　　价格：ＡＢ ⚠\u{fe0f}\nон и она, а не я\nτα αρνιά\n";
        check(None, typed, typed, &[]);
        // What was there before is shown, but nobody is warned of what isn't new.
        check(Some("\u{200b}a\n"), "b\n", "@@ -1,1 +1,1 @@\n-⟨U+200B⟩a\n+b\n", &[]);
    }

    #[test]
    fn a21_what_is_too_long_or_no_text_is_not_shown_in_part() {
        let long = "x".repeat(SHOWN_BYTES + 1);
        assert_eq!(shown(None, &long).text, None);
        let bytes = [0xff, 0xfe, 0x00, 0xd8, 0x01];
        let diff = FileDiff::of(None, Some(&bytes), &Limits::default());
        assert_eq!(exact(None, &bytes, &diff).text, None);
    }

    #[test]
    fn a20_pieces_of_a_line_are_made_visible_as_the_line_is() {
        let mut diff = FileDiff::of(Some(b"cat x\n"), Some("c\u{430}t x\n".as_bytes()), &Limits::default());
        made_visible(&mut diff);
        let lines: Vec<String> = diff.hunks[0].lines.iter().map(text_of).collect();
        assert_eq!(lines, ["cat x", "c⟨U+0430⟩t x"]);
    }

    proptest! {
        #[test]
        fn a21_different_contents_are_shown_differently(
            old in "[ab\u{430}\u{200b}⟨⟩\r\n]{0,10}",
            one in "[ab\u{430}\u{200b}⟨⟩\r\n]{0,10}",
            other in "[ab\u{430}\u{200b}⟨⟩\r\n]{0,10}",
        ) {
            prop_assume!(one != other && one != old && other != old);
            prop_assert_ne!(shown(Some(&old), &one).text, shown(Some(&old), &other).text);
            prop_assert_ne!(shown(None, &one).text, shown(None, &other).text);
        }
    }
}
