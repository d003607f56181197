//! Listing, reading and searching: encodings, bounds, near names, ignore rules.

use super::rig::Rig;
use serde_json::json;

fn utf16(text: &str, mark: bool, big: bool) -> Vec<u8> {
    let units = mark.then_some(0xfeffu16).into_iter().chain(text.encode_utf16());
    units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

#[track_caller]
fn check_encoding(bytes: &[u8], text: &str, encoding: &str) {
    let rig = Rig::with(&[("f.txt", bytes)]);
    let read = rig.call("read_file", json!({"path": "f.txt"}));
    assert!(read.text.starts_with(text.trim_end()), "{}", read.text);
    assert_eq!(read.value["value"]["encoding"], encoding);
    let named = read.text.contains(&format!("encoding {encoding}"));
    assert_eq!(named, encoding != "UTF-8", "{}", read.text);
}

#[test]
fn e19_utf16_with_and_without_mark_is_text() {
    for text in ["Hello, Notepad\nline two\n", "混合 mixed 文字\nsecond\n"] {
        check_encoding(&utf16(text, true, false), text, "UTF-16LE with BOM");
        check_encoding(&utf16(text, true, true), text, "UTF-16BE with BOM");
        check_encoding(&utf16(text, false, false), text, "UTF-16LE");
        check_encoding(&utf16(text, false, true), text, "UTF-16BE");
    }
}

#[test]
fn other_encodings_are_named() {
    let gbk = encoding_rs::GBK.encode("# 加法\ndef add(a, b):\n    return a + b\n").0.into_owned();
    check_encoding(&gbk, "# 加法\ndef add(a, b):\n    return a + b\n", "GBK");
    check_encoding("plain ä 你好\n".as_bytes(), "plain ä 你好\n", "UTF-8");
    check_encoding("\u{feff}marked\n".as_bytes(), "marked\n", "UTF-8 with BOM");
    check_encoding(b"caf\xe9 cr\xe8me br\xfbl\xe9e\n", "café crème brûlée\n", "Latin-1 (windows-1252)");
}

#[test]
fn e21_binary_files_are_refused_with_kind_and_size() {
    let zip = [b"PK\x03\x04\x14\0\0\0\x08\0".as_slice(), &[7; 90]].concat();
    let elf = [b"\x7fELF\x02\x01\x01\0\0\0\0\0".as_slice(), &[0; 88]].concat();
    let noise: Vec<u8> = (0u32..100).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let rig =
        Rig::with(&[("t.ods", &zip), ("prog", &elf), ("noise", &noise), ("a.pdf", b"%PDF-1.7\n1 0 obj\n")]);
    for (path, kind) in [
        ("t.ods", "application/zip"),
        ("prog", "application/x-executable"),
        ("noise", "unknown kind"),
        ("a.pdf", "application/pdf"),
    ] {
        let finished = rig.call("read_file", json!({"path": path}));
        assert!(finished.text.starts_with("Error (file/binary)"), "{}", finished.text);
        assert!(finished.text.contains(kind) && finished.text.contains(" bytes"), "{}", finished.text);
        assert!(!finished.text.contains('\0') && !finished.value.to_string().contains("\\u0000"));
    }
}

#[test]
fn e23_one_long_line_is_bounded_and_says_so() {
    let rig = Rig::with(&[("big.json", format!("[{}]", "1,".repeat(500_000)).as_bytes())]);
    let read = rig.call("read_file", json!({"path": "big.json"}));
    assert!(read.text.len() < 52 << 10, "{}", read.text.len());
    assert!(
        read.text.contains("line 1 is cut, 948802 bytes of it are missing: search_files finds"),
        "{}",
        &read.text[51_000..]
    );
    assert_eq!(read.value["value"]["complete"], false);
}

#[test]
fn long_files_come_in_parts() {
    let body: String = (1..=5_000).map(|n| format!("{n}\n")).collect();
    let rig = Rig::with(&[("long.txt", body.as_bytes())]);
    let read = |args| rig.call("read_file", args).text;
    assert!(
        read(json!({"path": "long.txt"})).ends_with("\n2000\n[lines 1-2000 of 5000; go on with offset 2001]")
    );
    assert_eq!(read(json!({"path": "long.txt", "offset": 4999})), "4999\n5000\n[lines 4999-5000 of 5000]");
    assert_eq!(
        read(json!({"path": "long.txt", "offset": 7, "limit": 1})),
        "7\n[lines 7-7 of 5000; go on with offset 8]"
    );
    assert!(read(json!({"path": "long.txt", "offset": 5001})).contains("the file has 5000 lines"));
    rig.put("empty", b"");
    assert_eq!(read(json!({"path": "empty"})), "(the file is empty)");
}

#[test]
fn e33_a_name_with_another_space_is_never_guessed() {
    let rig = Rig::with(&[("a\u{a0}b.txt", b"X"), ("a b.txt", b"Y")]);
    assert_eq!(rig.call("read_file", json!({"path": "a\u{a0}b.txt"})).text, "X");
    assert_eq!(rig.call("read_file", json!({"path": "a b.txt"})).text, "Y");
    let both = rig.error("read_file", json!({"path": "a\u{2009}b.txt"}));
    assert_eq!(both.code, "file/not_found");
    insta::assert_snapshot!(both.suggestion.unwrap(), @r#"Did you mean "a b.txt" or "a⟨U+00A0⟩b.txt"?"#);
}

#[test]
fn e39_a_missing_name_lists_the_near_one() {
    let rig = Rig::with(&[("docs/多agent文档.md", b"X"), ("docs/other.md", b"")]);
    let error = rig.error("read_file", json!({"path": "docs/多 agent 文档.md"}));
    insta::assert_snapshot!(crate::run::error_text(&error), @r#"
    Error (file/not_found): can't read "docs/多 agent 文档.md": there is no such file
    Did you mean "docs/多agent文档.md"?
    "#);
}

#[test]
fn reading_what_is_no_file_ends_at_once() {
    let rig = Rig::with(&[("d/x", b"")]);
    assert_eq!(rig.error("read_file", json!({"path": "d"})).code, "file/is_folder");
    assert_eq!(rig.error("read_file", json!({"path": "d/x/y"})).code, "file/not_found");
    let made = std::process::Command::new("mkfifo").arg(rig.path("pipe")).status().unwrap();
    assert!(made.success());
    assert_eq!(rig.error("read_file", json!({"path": "pipe"})).code, "file/special");
}

#[test]
fn lists_obey_ignore_rules_and_say_so() {
    let rig = Rig::with(&[
        (".gitignore", b"target/\n*.log\n"),
        ("target/x", b""),
        ("src/main.rs", b""),
        ("src/.gitignore", b"!keep.log\n/gen\n"),
        ("src/keep.log", b""),
        ("src/drop.log.d/x.log", b""),
        ("src/gen/y", b""),
        (".git/config", b""),
    ]);
    insta::assert_snapshot!(rig.call("list_files", json!({})).text, @"
    .gitignore
    src/
    src/.gitignore
    src/drop.log.d/
    src/keep.log
    src/main.rs
    [left out by ignore rules: target/, src/gen/, src/drop.log.d/x.log]
    ");
    insta::assert_snapshot!(rig.call("list_files", json!({"path": "src/gen"})).text, @"src/gen/y");
    assert_eq!(rig.error("list_files", json!({"path": "src/main.rs"})).code, "file/not_folder");
}

#[test]
fn long_lists_are_cut_level_by_level() {
    let mut rig = Rig::with(&[("deep/a/1", b""), ("deep/a/2", b""), ("top", b"")]);
    rig.limits(|limits| limits.list_entries = 3);
    insta::assert_snapshot!(rig.call("list_files", json!({})).text, @"
    deep/
    deep/a/
    top
    [2 more entries, deeper ones first, are left out; list a folder by its path to see them]
    ");
    rig.limits(|limits| limits.walk_entries = 4);
    assert!(rig.call("list_files", json!({})).text.contains("at least 1 more entries"));
}

#[test]
fn searches_find_text_in_any_encoding_and_bound_hits() {
    let gbk = encoding_rs::GBK.encode("第一行\n加法 here\n").0.into_owned();
    let mut rig = Rig::with(&[
        ("gbk.py", &gbk),
        ("u16.txt", &utf16("x\n加法\n", true, false)),
        ("a.rs", "fn 加法() {}\n".as_bytes()),
        ("bin", b"\0\x01\x02\x03"),
        (".gitignore", b"skip/\n"),
        ("skip/z", "加法\n".as_bytes()),
    ]);
    insta::assert_snapshot!(rig.call("search_files", json!({"pattern": "加法"})).text, @"
    a.rs:1: fn 加法() {}
    gbk.py:2: 加法 here
    u16.txt:2: 加法
    [1 binary, too large, unreadable or not downloaded files were not searched]
    ");
    assert_eq!(
        rig.call("search_files", json!({"pattern": "加法", "glob": "*.rs"})).text,
        "a.rs:1: fn 加法() {}"
    );
    assert_eq!(
        rig.call("search_files", json!({"pattern": "加法", "path": "gbk.py"})).text,
        "gbk.py:2: 加法 here"
    );
    assert_eq!(
        rig.call("search_files", json!({"pattern": "nowhere", "glob": "*.rs"})).text,
        "No line matches in 1 files."
    );
    rig.limits(|limits| limits.search_hits = 2);
    assert!(
        rig.call("search_files", json!({"pattern": "."}))
            .text
            .contains("\n[more than 2 hits; narrow the pattern, path or glob to see the rest]")
    );
    assert_eq!(rig.error("search_files", json!({"pattern": "("})).code, "search/pattern");
    assert_eq!(rig.error("search_files", json!({"pattern": "x", "glob": "{"})).code, "search/glob");
}
