//! Several edits in one call: all of them or none, and an error that says which one.

use super::rig::Rig;
use crate::run::error_text;
use domain::call::ToolError;
use serde_json::{Value, json};

/// A list of edits from pairs.
fn edits(pairs: &[(&str, &str)]) -> Value {
    pairs.iter().map(|(old, new)| json!({"old_text": old, "new_text": new})).collect()
}

#[track_caller]
fn check(before: &str, pairs: &[(&str, &str)], after: &str) -> String {
    let rig = Rig::with(&[("f", before.as_bytes())]);
    let finished = rig.call("edit_file", json!({"path": "f", "edits": edits(pairs)}));
    assert_eq!(String::from_utf8(rig.get("f")).unwrap(), after, "{}", finished.text);
    assert_eq!(finished.effects.len(), 1, "one change of one file");
    finished.text
}

#[track_caller]
fn check_error(before: &str, args: Value) -> ToolError {
    let rig = Rig::with(&[("f", before.as_bytes())]);
    let error = rig.error("edit_file", args);
    assert_eq!(rig.get("f"), before.as_bytes(), "a failed call changes nothing: {error}");
    assert_eq!(rig.names(), ["f"]);
    error
}

#[track_caller]
fn check_failed(before: &str, pairs: &[(&str, &str)], code: &str) -> String {
    let error = check_error(before, json!({"path": "f", "edits": edits(pairs)}));
    assert_eq!(error.code, code);
    error_text(&error)
}

#[test]
fn e29_of_several_edits_all_are_made_in_their_order() {
    check("a\nb\nc\n", &[("a", "A"), ("c", "C")], "A\nb\nC\n");
    check("a\r\nb\nc\r\n", &[("a\n", "A\nx\n"), ("c", "C")], "A\r\nx\r\nb\nC\r\n");
    check("one\n", &[("one", "two"), ("two", "three")], "three\n");
    check("", &[("", "made\n"), ("made", "filled")], "filled\n");
    let rig = Rig::with(&[("f", b"a a b\n")]);
    let all = json!([
        {"old_text": "a", "new_text": "c", "replace_all": true}, {"old_text": "b", "new_text": "d"}
    ]);
    let text = rig.call("edit_file", json!({"path": "f", "edits": all})).text;
    insta::assert_snapshot!(text, @r#"Changed "f" (+1 -1 lines). Edit 1: Replaced 2 occurrences."#);
    assert_eq!(rig.get("f"), b"c c d\n");
}

#[test]
fn e29_one_edit_that_fails_undoes_all_and_is_named() {
    insta::assert_snapshot!(check_failed("a\nb\n", &[("a", "b"), ("zzz", "y")], "edit/not_found"), @r#"
    Error (edit/not_found): edit 2 of 2 failed, so none was made: old_text isn't in "f"; nothing was changed
    Read the file and copy the text exactly.
    "#);
    insta::assert_snapshot!(check_failed("x\nx\nb\n", &[("x", "y"), ("b", "c")], "edit/ambiguous"), @r#"
    Error (edit/ambiguous): edit 1 of 2 failed, so none was made: old_text occurs 2 times in "f", at lines 1, 2; nothing was changed
    Add lines around it to make it unique, or set replace_all.
    "#);
    check_failed("a\nb\n", &[("b", "c"), ("", "y")], "edit/empty_old_text");
    check_failed("a\nb\n", &[("a", "c"), ("a", "d")], "edit/not_found");
}

#[test]
fn e29_edits_that_change_nothing_are_called_that() {
    let text = check("a\nb\n", &[("zzz", "zzz"), ("a", "A")], "A\nb\n");
    assert!(text.ends_with("Edit 1 changes nothing."), "{text}");
    check_failed("a\nb\n", &[("zzz", "zzz"), ("b", "b")], "edit/no_change");
    check_failed("a\nb\n", &[("a", "c"), ("c", "a")], "edit/no_change");
    let one =
        |old: &str, new: &str| check_error("a\nb\n", json!({"path": "f", "old_text": old, "new_text": new}));
    assert_eq!(one("zzz", "zzz").code, "edit/no_change");
    assert_eq!(one("a", "a").code, "edit/no_change");
    let done = check_error(
        "let total = 2;\n",
        json!({"path": "f", "old_text": "x = 1", "new_text": "let total = 2;"}),
    );
    insta::assert_snapshot!(error_text(&done), @r#"
    Error (edit/not_found): old_text isn't in "f"; nothing was changed
    new_text is there already, at line 1: is the edit done?
    "#);
}

#[test]
fn e29_one_pair_or_a_list_and_never_both() {
    let pair = json!([{"old_text": "a", "new_text": "b"}]);
    for args in [
        json!({"path": "f"}),
        json!({"path": "f", "edits": []}),
        json!({"path": "f", "old_text": "a"}),
        json!({"path": "f", "new_text": "b"}),
        json!({"path": "f", "old_text": "a", "new_text": "c", "edits": pair}),
        json!({"path": "f", "edits": [{"old_text": "a"}]}),
        json!({"path": "f", "edits": [{"old_text": "a", "new_text": "b", "path": "g"}]}),
        json!({"path": "f", "edits": vec![&pair[0]; 101]}),
    ] {
        assert_eq!(check_error("a\n", args.clone()).code, "arguments/invalid", "{args}");
    }
    let rig = Rig::with(&[("f", b"a\n")]);
    rig.call("edit_file", json!({"path": "f", "old_text": "", "new_text": "", "edits": pair}));
    assert_eq!(rig.get("f"), b"b\n", "fields that a model only filled in don't count");
    rig.call("edit_file", json!({"path": "f", "old_text": "b", "new_text": "c", "edits": []}));
    assert_eq!(rig.get("f"), b"c\n");
}
