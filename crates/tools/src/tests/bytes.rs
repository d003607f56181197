//! Laws of bytes: an edit changes the bytes it was asked to change, whatever the encoding and the line ends.

use super::rig::Rig;
use crate::text::Text;
use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
use proptest::prelude::*;
use serde_json::json;

/// How a file is written down.
#[derive(Debug, Clone, Copy)]
enum Writing {
    Utf8 { mark: bool },
    Utf16 { big: bool },
    In(&'static Encoding),
}

impl Writing {
    /// The bytes of a text without a mark; `None` where the encoding doesn't have all its characters.
    fn bytes(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Utf8 { .. } => Some(text.as_bytes().to_vec()),
            Self::Utf16 { big } => Some(
                text.encode_utf16()
                    .flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() })
                    .collect(),
            ),
            Self::In(encoding) => match encoding.encode(text) {
                (bytes, _, false) => Some(bytes.into_owned()),
                (.., true) => None,
            },
        }
    }

    fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 { mark: true } => b"\xef\xbb\xbf",
            Self::Utf16 { big: true } => b"\xfe\xff",
            Self::Utf16 { big: false } => b"\xff\xfe",
            Self::Utf8 { mark: false } | Self::In(_) => b"",
        }
    }
}

fn writing() -> impl Strategy<Value = Writing> {
    prop_oneof![
        Just(Writing::Utf8 { mark: false }),
        Just(Writing::Utf8 { mark: true }),
        Just(Writing::Utf16 { big: false }),
        Just(Writing::Utf16 { big: true }),
        prop::sample::select(vec![GBK, GB18030, BIG5, SHIFT_JIS, EUC_JP, EUC_KR, WINDOWS_1251, WINDOWS_1252])
            .prop_map(Writing::In),
    ]
}

/// A line and how it ends; words of many scripts, so that each encoding has some of them.
fn line() -> impl Strategy<Value = (String, &'static str)> {
    let word = prop_oneof![
        4 => "[ -~]{0,12}",
        2 => "[\u{4e00}-\u{4fff}]{1,6}",
        1 => "[\u{e0}-\u{ff}]{1,6}",
        1 => "[\u{430}-\u{44f}]{1,6}",
        1 => "[\u{3041}-\u{3093}]{1,6}",
        1 => "[\u{ac00}-\u{acff}]{1,4}",
        1 => "\\t{1,3}",
        1 => "[\u{1f300}-\u{1f33f}]",
    ];
    (prop::collection::vec(word, 0..5), prop::sample::select(vec!["\n", "\n", "\r\n", "\r\n", "\r"]))
        .prop_map(|(words, end)| (words.concat(), end))
}

/// The text that is edited stands in no made line.
const OLD: &str = "Here-42-It-Is";

/// What an edit does to bytes: those of `old` become those of `new`, and none else.
fn edits_only_its_bytes(
    writing: Writing,
    lines: &[(String, &str)],
    at: usize,
    new: &str,
    last: bool,
) -> Result<(), TestCaseError> {
    let mut body = String::new();
    for (n, (text, end)) in lines.iter().enumerate() {
        body.push_str(text);
        if n == at {
            body.push_str(OLD);
        }
        if last || n + 1 < lines.len() {
            body.push_str(end);
        }
    }
    let Some((head, tail)) = body.split_once(OLD) else { unreachable!("it is in there") };
    let all = [head, OLD, tail, new].map(|part| writing.bytes(part));
    let [Some(head), Some(old), Some(tail), Some(made)] = all else {
        return Err(TestCaseError::reject("not writable"));
    };
    let before = [writing.mark(), &head, &old, &tail].concat();
    let after = [writing.mark(), &head, &made, &tail].concat();
    let rig = Rig::in_memory();
    rig.put("f", &before);
    match rig.try_call("edit_file", json!({"path": "f", "old_text": OLD, "new_text": new})) {
        Ok(done) if !done.is_error() => prop_assert_eq!(rig.get("f"), after, "{}", done.text),
        other => {
            prop_assert!(isnt_understood(writing, &format!("{other:?}")), "{:?}", other);
            prop_assert_eq!(rig.get("f"), before);
        }
    }
    Ok(())
}

/// Random letters of an old encoding may be no text to us, or look like one of another encoding, in which the text to
/// edit doesn't stand: what isn't understood stays as it is. Unicode is always understood.
fn isnt_understood(writing: Writing, said: &str) -> bool {
    let codes = ["file/binary", "text/unencodable", "edit/not_found"];
    matches!(writing, Writing::In(_)) && codes.iter().any(|code| said.contains(code))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_global_rejects: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_changes_its_bytes_and_no_others(
        writing in writing(),
        lines in prop::collection::vec(line(), 1..12),
        at in any::<prop::sample::Index>(),
        new in "[ -~]{0,20}",
        last in any::<bool>(),
    ) {
        prop_assume!(new != OLD && !lines.iter().any(|(text, _)| text.contains(OLD)));
        edits_only_its_bytes(writing, &lines, at.index(lines.len()), &new, last)?;
    }

    #[test]
    fn an_edit_over_lines_keeps_how_each_ends(
        writing in writing(),
        lines in prop::collection::vec(line(), 2..8),
        at in any::<prop::sample::Index>(),
    ) {
        // The model writes plain line breaks, whatever stands in the file; only the words of the second line change.
        let at = at.index(lines.len() - 1);
        let lines: Vec<_> = lines.into_iter().map(|(text, end)| (text, if end == "\r" { "\n" } else { end })).collect();
        let text = |second: &str| -> String {
            let line = |(n, (text, end)): (usize, &(String, &str))| match n {
                n if n == at => format!("{text}first-line{end}"),
                n if n == at + 1 => format!("{second}{text}{end}"),
                _ => format!("{text}{end}"),
            };
            lines.iter().enumerate().map(line).collect()
        };
        let (Some(before), Some(after)) = (writing.bytes(&text("second-old")), writing.bytes(&text("second-new"))) else {
            return Err(TestCaseError::reject("not writable"));
        };
        let (before, after) = ([writing.mark(), &before].concat(), [writing.mark(), &after].concat());
        let rig = Rig::in_memory();
        rig.put("f", &before);
        let args = json!({"path": "f", "old_text": "first-line\nsecond-old", "new_text": "first-line\nsecond-new"});
        match rig.try_call("edit_file", args) {
            Ok(done) if !done.is_error() => prop_assert_eq!(rig.get("f"), after, "{}", done.text),
            other => {
                prop_assert!(isnt_understood(writing, &format!("{other:?}")), "{:?}", other);
                prop_assert_eq!(rig.get("f"), before);
            }
        }
    }

    /// Whatever counts as text is written back as it was.
    #[test]
    fn what_is_decoded_is_encoded_to_the_same_bytes(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(prop::sample::select(vec![0xffu8, 0xfe, 0xef, 0xbb, 0xbf, 0, 0x0a, 0x0d, 0xd8, 0xdc, 0x41, 0xe4, 0xb8]), 0..24),
        (writing(), prop::collection::vec(line(), 0..6)).prop_map(|(writing, lines)| {
            let text: String = lines.iter().map(|(text, end)| format!("{text}{end}")).collect();
            [writing.mark(), &writing.bytes(&text).unwrap_or_default()].concat()
        }),
    ]) {
        if let Ok(text) = Text::decode(&bytes) {
            prop_assert_eq!(text.encode(&text.body), Ok(bytes), "{}", text.encoding());
        }
    }
}

/// The law would hold if everything were called binary, so: what people really write is text.
#[test]
fn ordinary_texts_of_every_encoding_are_text() {
    let ends = ["\n", "\r\n"];
    for end in ends {
        let check = |writing: Writing, text: &str| {
            let text = text.replace('\n', end);
            let bytes = [writing.mark(), &writing.bytes(&text).unwrap()].concat();
            let read = Text::decode(&bytes).unwrap_or_else(|binary| panic!("{writing:?}: {binary:?}"));
            assert_eq!(read.body, text, "{writing:?}");
        };
        let chinese = "# 加法和减法\ndef add(a, b):  # 把两个数相加\n    return a + b\n";
        for writing in [
            Writing::Utf8 { mark: false },
            Writing::Utf8 { mark: true },
            Writing::Utf16 { big: false },
            Writing::Utf16 { big: true },
            Writing::In(GBK),
            Writing::In(GB18030),
        ] {
            check(writing, chinese);
        }
        check(Writing::In(GB18030), "日志：第一行\n𠀀𠀁 很少见的字\n");
        check(Writing::In(WINDOWS_1252), "café crème brûlée\nÄpfel für Käufer\n");
        check(Writing::In(SHIFT_JIS), "これは日本語の文章です。\nファイルを開いてください。\n");
        check(Writing::In(WINDOWS_1251), "Это обычный русский текст.\nИ ещё одна строка.\n");
    }
}
