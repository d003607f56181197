//! What an approval card is given: facts of the command, and its text with what hides in it written out.

use super::bash;
use crate::command::{Summary, WarningKind, shown, summary};

fn list(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_card_says_what_a_command_starts_names_and_writes() {
    let got =
        summary(&bash("cd sub && timeout 5 grep x ../etc/a.txt .git/config > out.txt | tee -a b.log"), &[]);
    let expect = Summary {
        programs: list(&["cd", "grep", "tee"]),
        via: list(&["timeout"]),
        files: list(&["out.txt", "../etc/a.txt", ".git/config", "b.log"]),
        writes: list(&["out.txt"]),
        protected: list(&[".git/config"]),
        outside: true,
        ..Summary::default()
    };
    assert_eq!(got, expect);
    let got = summary(
        &bash("A=1 curl -o x.bin https://me@Example.com:8/a.txt; scp f.txt me@other.org:x; rm -rf build/"),
        &[],
    );
    assert_eq!(got.hosts, ["example.com", "other.org"]);
    assert_eq!(got.variables, ["A"]);
    assert!(got.deletes && !got.publishes && !got.interprets);
    assert_eq!(got.files, ["x.bin", "f.txt", "build/"]);
    for (text, deletes, publishes, interprets) in [
        ("git push", false, true, false),
        ("git clean -fd", true, false, false),
        ("git reset --hard", true, false, false),
        ("git reset", false, false, false),
        ("find . -delete", true, false, false),
        ("find . -exec rm {} +", true, false, false),
        ("npm publish", false, true, false),
        ("sh -c 'rm x'", true, false, false),
        ("python3 x.py", false, false, true),
        ("ls", false, false, false),
    ] {
        let got = summary(&bash(text), &[]);
        assert_eq!((got.deletes, got.publishes, got.interprets), (deletes, publishes, interprets), "{text}");
    }
    let unclear = summary(&bash("ls $(rm x)"), &[]);
    assert!(unclear.programs.is_empty() && unclear.doubts.len() == 1);
    insta::assert_snapshot!(serde_json::to_string(&unclear.doubts).unwrap(), @r#"[{"doubt":"substitution","span":{"start":3,"end":5}}]"#);
}

#[track_caller]
fn check(text: &str, expect: &str, kinds: &[WarningKind]) {
    let got = shown(text);
    assert_eq!(got.text, expect);
    assert_eq!(got.warnings.iter().map(|warning| warning.kind).collect::<Vec<_>>(), kinds, "{text:?}");
}

#[test]
fn a20_what_hides_is_written_out_with_a_warning() {
    use WarningKind::{Control, Direction, Invisible, LookAlike, Marker, Space};
    check("ls -la", "ls -la", &[]);
    check("cat 笔记.md", "cat 笔记.md", &[]);
    check("\u{441}\u{430}t f", "⟨U+0441⟩⟨U+0430⟩t f", &[LookAlike, LookAlike]);
    check("a\u{202e}b\u{2066}c", "a⟨U+202E⟩b⟨U+2066⟩c", &[Direction, Direction]);
    check("a\u{200b}\u{e0041}", "a⟨U+200B⟩⟨U+E0041⟩", &[Invisible, Invisible]);
    check("a\u{1b}[8m\u{8}\r", "a⟨U+001B⟩[8m⟨U+0008⟩⟨U+000D⟩", &[Control, Control, Control]);
    check("ls\u{a0}x", "ls⟨U+00A0⟩x", &[Space]);
    check("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟨U+27E9⟩", &[Marker, Marker]);
    let got = shown("a\u{202e}b");
    assert_eq!((got.warnings[0].span.start, got.warnings[0].span.end), (1, 4));
}

#[test]
fn a21_a_tail_out_of_sight_is_warned_of() {
    let text = format!("ls{}; rm -rf x", " ".repeat(400));
    check(&text, &text, &[WarningKind::Gap]);
    check(&format!("{}ls", " ".repeat(400)), &format!("{}ls", " ".repeat(400)), &[WarningKind::Gap]);
    check(
        &format!("ls\n{}rm x", "\n".repeat(40)),
        &format!("ls\n{}rm x", "\n".repeat(40)),
        &[WarningKind::Gap],
    );
    let long = format!("echo {}; rm -rf x", "a".repeat(5_000));
    check(&long, &long, &[WarningKind::Long]);
    assert!(shown(&long).text.ends_with("; rm -rf x"), "the tail stays");
}
