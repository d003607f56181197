//! Text in and out: argument text, what is shown for approval, differences, secrets.

use crate::Limits;
use crate::diff::{FileDiff, LineKind, NoHunks};
use crate::parse::{Repair, parse};
use crate::redact::{MASK, Needles, Written, forms};
use crate::visible::visible;
use proptest::prelude::*;
use std::sync::Arc;

#[track_caller]
fn check_parse(given: &str, expect: Result<(&str, &[Repair]), &str>) {
    match (parse(given, 1 << 20), expect) {
        (Ok(parsed), Ok((text, repairs))) => {
            assert_eq!((parsed.canonical.as_str(), parsed.repairs.as_slice()), (text, repairs))
        }
        (Err(error), Err(want)) => {
            assert!(error.code == "arguments/unreadable" && error.message.contains(want), "{error}")
        }
        (got, want) => panic!("{given:?}: {got:?}, wanted {want:?}"),
    }
}

#[test]
fn p02_blank_arguments_are_none_and_broken_ones_fail() {
    for blank in ["", "  ", "\n", "null", "```json\n```", "\u{feff}"] {
        let parsed = parse(blank, 100).unwrap();
        assert_eq!(parsed.canonical, "{}", "{blank:?}");
        assert!(parsed.repairs.contains(&Repair::Blank));
    }
    check_parse("{\"q\"", Err("EOF"));
}

#[test]
fn small_mends_are_made_and_said() {
    check_parse(r#"{"b":1,"a":[1,2]}"#, Ok((r#"{"a":[1,2],"b":1}"#, &[])));
    check_parse("```json\n{\"a\":1}\n```", Ok((r#"{"a":1}"#, &[Repair::Fence])));
    check_parse("```\n{\"a\":1}```", Ok((r#"{"a":1}"#, &[Repair::Fence])));
    check_parse(r#"{"a":[1,2,],}"#, Ok((r#"{"a":[1,2]}"#, &[Repair::TrailingComma])));
    check_parse("{\"a\":\"x\ny\tz\"}", Ok((r#"{"a":"x\ny\tz"}"#, &[Repair::ControlCharacter])));
    check_parse(r#""{\"a\":1}""#, Ok((r#"{"a":1}"#, &[Repair::Quoted])));
    check_parse("{\"a\":\", }\"}", Ok((r#"{"a":", }"}"#, &[])));
}

#[test]
fn nothing_is_guessed_or_completed() {
    for cut in [
        r#"{"a":"b"#,
        r#"{"a":1"#,
        r#"{"a":1,"#,
        r#"{"a":"#,
        "{",
        r#"{"a":"x"},"#,
        "```json\n{\"a\":1",
        r#"{"a":"x\"#,
    ] {
        assert!(parse(cut, 1_000).is_err(), "{cut}");
    }
    check_parse(r#"{"a":1,"a":2}"#, Err("stands twice"));
    check_parse(r#"{"a":1,"a":2,}"#, Err("stands twice"));
    check_parse("{,}", Err("not usable"));
    check_parse("{\"a\":1,,}", Err("not usable"));
    check_parse("{'a':1}", Err("not usable"));
    check_parse("{\"a\":1} and more", Err("not usable"));
    check_parse("[1]", Err("not a JSON object"));
    check_parse("\"text\"", Err("a text, not an object"));
    check_parse(&format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100)), Err("nested deeper"));
    check_parse(&"[".repeat(100_000), Err(""));
    assert!(
        parse(&format!("{{\"a\":\"{}\"}}", "x".repeat(100)), 50)
            .unwrap_err()
            .message
            .contains("the limit is 50")
    );
}

proptest! {
    #[test]
    fn parsing_never_panics_and_reads_its_own_text_back(text in "\\PC*|[{}\\[\\]\",:a1\\\\ \n]{0,40}") {
        if let Ok(parsed) = parse(&text, 1_000) {
            let again = parse(&parsed.canonical, 1_000).unwrap();
            prop_assert_eq!(&again.canonical, &parsed.canonical);
            prop_assert!(again.repairs.is_empty());
        }
    }
}

#[track_caller]
fn check_visible(given: &str, expect: &str) {
    let got = visible(given);
    assert_eq!((got.text.as_str(), got.suspicious), (expect, given != expect));
}

#[test]
fn a20_what_hides_or_imitates_is_written_out() {
    check_visible("сat /etc/passwd", "⟨U+0441⟩at /etc/passwd");
    check_visible("ls \u{202e}cod.exe", "ls ⟨U+202E⟩cod.exe");
    check_visible("a\u{2066}b\u{2069}", "a⟨U+2066⟩b⟨U+2069⟩");
    check_visible("r\u{200b}m", "r⟨U+200B⟩m");
    check_visible("x\u{e0041}\u{e0001}", "x⟨U+E0041⟩⟨U+E0001⟩");
    check_visible("\u{1b}[8mhidden\u{1b}[0m", "⟨U+001B⟩[8mhidden⟨U+001B⟩[0m");
    check_visible("\u{1b}]8;;http://x\u{7}", "⟨U+001B⟩]8;;http://x⟨U+0007⟩");
    check_visible("safe\u{8}\u{8}rm\r", "safe⟨U+0008⟩⟨U+0008⟩rm⟨U+000D⟩");
    check_visible("ｒｍ -rf", "⟨U+FF52⟩⟨U+FF4D⟩ -rf");
    check_visible("a\u{a0}b\u{3000}c", "a⟨U+00A0⟩b⟨U+3000⟩c");
    check_visible("𝐫m", "⟨U+1D42B⟩m");
    check_visible("аррӏе", "⟨U+0430⟩⟨U+0440⟩⟨U+0440⟩⟨U+04CF⟩⟨U+0435⟩");
    check_visible("⟨U+200B⟩", "⟨U+27E8⟩U+200B⟨U+27E9⟩");
    // Signs that shells obey, and letters of further scripts.
    check_visible("touch x\u{37e} rm y", "touch x⟨U+037E⟩ rm y");
    check_visible("touch x； rm y", "touch x⟨U+FF1B⟩ rm y");
    check_visible("cat a∕b a⁄b", "cat a⟨U+2215⟩b a⟨U+2044⟩b");
    check_visible("rm \u{2010}rf x", "rm ⟨U+2010⟩rf x");
    check_visible("a\u{2024}txt", "a⟨U+2024⟩txt");
    check_visible("ⅼs ℓs", "⟨U+217C⟩s ⟨U+2113⟩s");
    check_visible("ⲥat ᏟAT ꓚAT", "⟨U+2CA5⟩at ⟨U+13DF⟩AT ⟨U+A4DA⟩AT");
}

#[test]
fn ordinary_text_of_any_language_stays() {
    for text in [
        "ls -l \"a b\"\n\tgrep x",
        "echo 你好，世界（测试）",
        "git commit -m \"修复 v2；完善（见 3.1）：全部\"",
        "a – b — c",
        "привет мир",
        "Ελληνικά κείμενο",
        "日本語 ひらがな",
        "한국어",
        "naïve café",
        "emoji 🌍",
        "a — b",
    ] {
        check_visible(text, text);
    }
}

proptest! {
    #[test]
    fn a20_different_texts_look_different(one in "[a\u{200b}\u{202e}⟨⟩U+0-9\u{430}\u{e0041} ]{0,12}", other in "[a\u{200b}\u{202e}⟨⟩U+0-9\u{430}\u{e0041} ]{0,12}") {
        let (seen, also) = (visible(&one), visible(&other));
        prop_assert_eq!(one == other, seen.text == also.text);
    }
}

fn drawn(old: &str, new: &str) -> String {
    let diff = FileDiff::of(Some(old.as_bytes()), Some(new.as_bytes()), &Limits::default());
    let mut out = String::new();
    for hunk in &diff.hunks {
        out.push_str(&format!("@@ {} {}\n", hunk.old_start, hunk.new_start));
        for line in &hunk.lines {
            let sign = match line.kind {
                LineKind::Same => ' ',
                LineKind::Removed => '-',
                LineKind::Added => '+',
            };
            let text: String = line
                .spans
                .iter()
                .map(|span| if span.changed { format!("«{}»", span.text) } else { span.text.clone() })
                .collect();
            out.push_str(&format!("{sign}{text}{}\n", if line.no_newline { " (no line break)" } else { "" }));
        }
    }
    out
}

#[test]
fn differences_are_hunks_with_changed_words() {
    let body = |n: usize, word: &str| {
        (1..=n)
            .map(|at| if at == 10 { format!("line {word} ten\n") } else { format!("line {at}\n") })
            .collect::<String>()
    };
    insta::assert_snapshot!(drawn(&body(20, "old"), &(body(20, "new") + "end")), @r"
    @@ 7 7
     line 7
     line 8
     line 9
    -line «old» ten
    +line «new» ten
     line 11
     line 12
     line 13
    @@ 18 18
     line 18
     line 19
     line 20
    +end (no line break)
    ");
}

#[test]
fn a_difference_without_hunks_says_why() {
    let limits = Limits { diff_bytes: 100, ..Limits::default() };
    let why = |old: Option<&[u8]>, new: Option<&[u8]>| FileDiff::of(old, new, &limits).no_hunks;
    assert_eq!(why(Some(b"a"), Some(b"a")), Some(NoHunks::Same));
    assert_eq!(why(Some(b"a"), Some(&[b'x'; 101])), Some(NoHunks::TooLarge));
    assert_eq!(why(Some(b"a"), Some(b"\0\x01\xff")), Some(NoHunks::Binary));
    let created = FileDiff::of(None, Some(b"one\ntwo\n"), &limits);
    assert_eq!(
        (created.lines.unwrap().added, created.lines.unwrap().removed, created.hunks[0].lines.len()),
        (2, 0, 2)
    );
}

#[test]
fn a_difference_ends_at_its_deadline() {
    let side =
        |salt: u64| (0..30_000u64).map(|n| format!("{}\n", n.wrapping_mul(salt) >> 7)).collect::<String>();
    let limits = Limits { diff_ms: 50, ..Limits::default() };
    let begun = std::time::Instant::now();
    let diff = FileDiff::of(
        Some(side(0x9e37_79b9_7f4a_7c15).as_bytes()),
        Some(side(0xc2b2_ae3d_27d4_eb4f).as_bytes()),
        &limits,
    );
    assert!(!diff.hunks.is_empty());
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}

proptest! {
    #[test]
    fn hunks_are_made_of_both_texts(old in "([ab]\n){0,12}", new in "([abc]\n){0,12}") {
        let diff = FileDiff::of(Some(old.as_bytes()), Some(new.as_bytes()), &Limits::default());
        let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
        for hunk in &diff.hunks {
            let (mut at_old, mut at_new) = (hunk.old_start - 1, hunk.new_start - 1);
            for line in &hunk.lines {
                let text: String = line.spans.iter().map(|span| span.text.as_str()).collect();
                if line.kind != LineKind::Added { prop_assert_eq!(old[at_old], &text); at_old += 1; }
                if line.kind != LineKind::Removed { prop_assert_eq!(new[at_new], &text); at_new += 1; }
            }
        }
    }
}

#[test]
fn i16_secrets_go_in_every_form_they_are_written_in() {
    let secret = "sk-\"very/secret\\key+1 ä";
    let needles = Needles::new([secret, "short", "another-secret"]);
    use base64::Engine as _;
    let base64 = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let url: String = secret
        .bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect();
    for form in [
        format!("x{secret}y"),
        serde_json::to_string(secret).unwrap(),
        base64(&format!("a:{secret}:b")),
        base64(&format!("{secret}:b")),
        base64(&format!("ab:{secret}")),
        url.clone(),
        url.replace("%C3%A4", "%c3%a4").replace("%2F", "%2f").replace("%5C", "%5c").replace("%2B", "%2b"),
    ] {
        let got = needles.redact(&form);
        assert!(got.contains(MASK), "{form} -> {got}");
    }
    assert_eq!(needles.redact("a short word"), "a short word");
    assert_eq!(needles.redact("another-secret!"), format!("{MASK}!"));
}

proptest! {
    #[test]
    fn i16_no_cut_lets_a_secret_through(pieces in proptest::collection::vec("secret-a|secret-ab|sec|ret-|a|b|x", 0..20), cut in 1usize..9) {
        let needles = Arc::new(Needles::new(["secret-a", "secret-abab"]));
        let text = pieces.concat();
        let mut stream = needles.stream();
        let mut out = Vec::new();
        for chunk in text.as_bytes().chunks(cut) {
            out.extend(stream.push(chunk));
        }
        out.extend(stream.finish());
        prop_assert_eq!(String::from_utf8(out).unwrap(), needles.redact(&text));
    }
}

#[test]
fn words_are_found_in_contents_of_every_encoding_that_is_read() {
    let written = Written::new(&forms("张三的银行密码"));
    let text = "开头\n张三的银行密码\n结尾\n";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for content in [text.as_bytes().to_vec(), utf16, big] {
        assert!(written.within(&content));
    }
    for encoding in [encoding_rs::GBK, encoding_rs::GB18030] {
        assert!(written.within(&encoding.encode(text).0), "{}", encoding.name());
    }
    for (encoding, words) in [
        (encoding_rs::BIG5, "銀行密碼是一二三"),
        (encoding_rs::SHIFT_JIS, "パスワードは秘密"),
        (encoding_rs::EUC_KR, "비밀번호입니다"),
        (encoding_rs::WINDOWS_1252, "clé privée"),
        (encoding_rs::WINDOWS_1251, "пароль тайный"),
    ] {
        let content = encoding.encode(&format!("a {words} b")).0.into_owned();
        assert!(Written::new(&forms(words)).within(&content), "{}", encoding.name());
        assert!(!written.within(&content), "{}", encoding.name());
    }
}

#[test]
fn a_few_bytes_of_an_encoding_count_only_where_the_content_says_the_words() {
    let written = Written::new(&forms("clés"));
    assert!(written.within(b"mes cl\xe9s sont ici, pr\xe8s de la fen\xeatre\n"));
    assert!(!written.within(b"\0\x01\x02\x03cl\xe9s\0\x04\x05\x06\xff\xfe\xfd"), "by chance");
}
