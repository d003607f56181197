//! Editing: every byte that wasn't asked to change stays, and a failed match helps the next one.

use super::rig::Rig;
use crate::run::error_text;
use serde_json::json;

#[track_caller]
fn check(before: &[u8], old: &str, new: &str, after: &[u8]) -> String {
    let rig = Rig::with(&[("f", before)]);
    let finished = rig.call("edit_file", json!({"path": "f", "old_text": old, "new_text": new}));
    assert_eq!(String::from_utf8_lossy(&rig.get("f")), String::from_utf8_lossy(after), "{}", finished.text);
    assert_eq!(rig.get("f"), after);
    finished.text
}

#[track_caller]
fn check_error(before: &[u8], old: &str, new: &str, code: &str) -> String {
    let rig = Rig::with(&[("f", before)]);
    let error = rig.error("edit_file", json!({"path": "f", "old_text": old, "new_text": new}));
    assert_eq!(error.code, code);
    assert_eq!(rig.get("f"), before, "a failed edit changes nothing");
    error_text(&error)
}

#[test]
fn e01_keeps_line_ends_of_untouched_lines() {
    check(b"a\r\nb\nc\r\n", "b", "B", b"a\r\nB\nc\r\n");
    check(b"a\r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nc\n", b"a\r\nB\nc\r\n");
    let rig = Rig::with(&[("f", b"a\r\nb\nc\r\n")]);
    let finished = rig.call("edit_file", json!({"path": "f", "old_text": "b", "new_text": "B"}));
    let effect = &finished.effects[0];
    let blob = |digest: Option<_>| rig.ctx.blobs.get(&digest.unwrap()).unwrap();
    let diff = crate::diff::FileDiff::of(
        Some(&blob(effect.content_before())),
        Some(&blob(effect.content_after())),
        &rig.ctx.limits,
    );
    let changed = diff.hunks[0].lines.iter().filter(|line| line.kind != crate::diff::LineKind::Same).count();
    assert_eq!((diff.hunks.len(), changed), (1, 2), "one line removed, one added");
}

#[test]
fn e03_new_lines_end_like_their_neighbours() {
    check(b"x\r\nz\r\n", "x\n", "x\ny\n", b"x\r\ny\r\nz\r\n");
    check(b"x\r\nz\r\n", "z", "z\nend", b"x\r\nz\r\nend\r\n");
    check(b"x\nz\n", "x\n", "x\r\ny\r\n", b"x\ny\nz\n");
}

#[test]
fn e04_plain_search_text_matches_a_crlf_file() {
    check(b"f(){\r\n  a\r\n}\r\n", "f(){\n  a\n}", "f(){\n  b\n}", b"f(){\r\n  b\r\n}\r\n");
}

#[test]
fn e07_no_line_break_is_added_at_the_end() {
    check(b"{\n  \"a\": 1\n}", "\"a\": 1", "\"a\": 2", b"{\n  \"a\": 2\n}");
}

#[test]
fn e09_appending_after_an_unfinished_last_line_glues_nothing() {
    check(b"hello\nworld", "world", "world\ntail", b"hello\nworld\ntail");
    let note = check(b"hello\nworld", "world\n", "world\ntail\n", b"hello\nworld\ntail");
    assert!(note.contains("still ends without a line break"), "{note}");
}

#[test]
fn e17_gbk_stays_gbk() {
    let gbk = |text: &str| encoding_rs::GBK.encode(text).0.into_owned();
    let before = gbk("# 加法\ndef add(a, b):\n    return a + b\n");
    check(
        &before,
        "return a + b\n",
        "return a + b\n\n# 减法\n",
        &gbk("# 加法\ndef add(a, b):\n    return a + b\n\n# 减法\n"),
    );
    check_error(&before, "# 加法", "# 🌍", "text/unencodable");
}

#[test]
fn e19_utf16_stays_utf16() {
    let bytes = |text: &str| {
        [0xfeffu16].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect::<Vec<_>>()
    };
    check(&bytes("one\r\ntwo 二\r\n"), "two 二", "three 三", &bytes("one\r\nthree 三\r\n"));
    check("\u{feff}a\n".as_bytes(), "a", "b", "\u{feff}b\n".as_bytes());
}

#[test]
fn e28_an_empty_file_can_be_filled() {
    check(b"", "", "hi\n", b"hi\n");
    check_error(b"not empty\n", "", "hi\n", "edit/empty_old_text");
}

#[test]
fn e29_what_changes_nothing_is_called_that_and_nothing_is_done_by_halves() {
    check_error(b"a\nb\n", "zzz", "zzz", "edit/no_change");
    check_error(b"a\nb\n", "zzz", "y", "edit/not_found");
    let rig = Rig::with(&[("f", b"a a\n")]);
    let args = json!({"path": "f", "old_text": "a", "new_text": "b", "replace_all": true});
    assert!(rig.call("edit_file", args).text.contains("Replaced 2 occurrences"));
    assert_eq!(rig.get("f"), b"b b\n");
}

#[test]
fn e35_several_matches_give_count_and_lines() {
    insta::assert_snapshot!(check_error(b"x = 1\ny\nx = 1\nx = 1\n", "x = 1", "x = 2", "edit/ambiguous"), @r#"
    Error (edit/ambiguous): old_text occurs 3 times in "f", at lines 1, 3, 4; nothing was changed
    Add lines around it to make it unique, or set replace_all.
    "#);
}

#[test]
fn e36_a_near_miss_shows_the_real_lines() {
    let body = "intro\nThe plan — in short — is this:\ndo it\n".as_bytes();
    insta::assert_snapshot!(check_error(body, "The plan - in short - is this:\n", "x", "edit/not_found"), @r#"
    Error (edit/not_found): old_text isn't in "f"; nothing was changed
    The nearest lines, from line 2, are:
    The plan — in short — is this:
    "#);
    insta::assert_snapshot!(check_error(b"if x:\n\tgo()\n", "if x:\n    go()\n", "x", "edit/not_found"), @r#"
    Error (edit/not_found): old_text isn't in "f"; nothing was changed
    The nearest lines, from line 1 (only white space differs), are:
    if x:
    	go()
    "#);
    assert!(
        check_error(b"a\n", "nothing like it at all", "x", "edit/not_found")
            .contains("copy the text exactly")
    );
}

#[test]
fn e37_line_breaks_around_the_search_text_do_not_matter() {
    let note = check(b"foo\nbar\n", "\nfoo\n", "\nFOO\n", b"FOO\nbar\n");
    assert!(note.contains("Matched without the line breaks around old_text"), "{note}");
    check(b"  foo\nbar\n", "\n  foo\n", "\n  FOO\n", b"  FOO\nbar\n");
}

#[test]
fn an_edit_of_a_missing_or_binary_file_is_refused() {
    let rig = Rig::with(&[("bin", b"\0\x01\xff")]);
    let edit = |path| rig.error("edit_file", json!({"path": path, "old_text": "a", "new_text": "b"}));
    assert_eq!(edit("bin").code, "file/binary");
    assert_eq!(edit("none").code, "file/not_found");
    assert!(rig.names() == ["bin"]);
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_written() {
    let mut rig = Rig::with(&[("f", b"one\n")]);
    let read = rig.call("read_file", json!({"path": "f"}));
    rig.saw(&read);
    rig.put("f", b"one, by others\n");
    let edit = json!({"path": "f", "old_text": "one", "new_text": "two"});
    insta::assert_snapshot!(error_text(&rig.error("edit_file", edit.clone())), @r#"
    Error (file/changed): "f" has changed since it was last read; nothing was written
    Read it again, then decide anew.
    "#);
    assert_eq!(rig.error("write_file", json!({"path": "f", "content": "x"})).code, "file/changed");
    rig.saw(&rig.call("read_file", json!({"path": "f"})));
    let finished = rig.call("edit_file", edit);
    rig.saw(&finished);
    assert_eq!(rig.get("f"), b"two, by others\n");
    rig.call("edit_file", json!({"path": "f", "old_text": "two", "new_text": "three"}));
}
