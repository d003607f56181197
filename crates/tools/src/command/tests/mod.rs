//! Tests of readings and what is decided on them, by rows of the case lists.
//!
//! One table a row: a text and what must come of it. What bash itself does is asked in `tests/oracle.rs`.

mod attacks;
mod cards;
#[cfg(target_os = "linux")]
mod made;
#[cfg(target_os = "linux")]
mod oracle;
mod rules;
#[cfg(target_os = "linux")]
mod traced;

use super::{Dialect, Doubt, Pattern, Reading, Simple, covers, harmless, read};

pub(super) fn bash(text: &str) -> Reading {
    read(text, Dialect::Bash)
}

#[track_caller]
pub(super) fn understood(text: &str) -> Vec<Simple> {
    match bash(text) {
        Reading::Understood(commands) => commands,
        Reading::Unclear { why, .. } => panic!("{text:?} is unclear: {why:?}"),
    }
}

/// The first doubt about a text.
#[track_caller]
pub(super) fn doubt(text: &str, dialect: Dialect) -> Doubt {
    match read(text, dialect) {
        Reading::Unclear { why, .. } => why[0].doubt,
        Reading::Understood(commands) => panic!("{text:?} is understood: {commands:?}"),
    }
}

/// Neither harmless, nor covered by rules for every program that the attack leans on.
#[track_caller]
pub(super) fn check_asks(text: &str) {
    let rules: Vec<Pattern> = [
        "ls",
        "cat",
        "find",
        "sed",
        "git",
        "git branch",
        "git log",
        "git diff",
        "git fetch",
        "head",
        "sort",
        "grep",
        "env",
        "echo",
        "sh",
        "bash",
        "python3",
        "cargo test",
        "xargs",
        "printf",
        "test",
        "cd",
        "rm",
        "timeout",
        "awk",
        "curl",
        "ssh",
    ]
    .into_iter()
    .map(kind)
    .collect();
    for dialect in [Dialect::Bash, Dialect::Sh] {
        let reading = read(text, dialect);
        assert_eq!(harmless(&reading, &[]), None, "{text:?} was harmless: {reading:?}");
        assert!(!covers(&reading, &rules, &[]), "{text:?} was covered: {reading:?}");
    }
}

/// Commands of a kind: `git push`.
fn kind(text: &str) -> Pattern {
    Pattern::Kind(text.split_whitespace().map(str::to_owned).collect())
}

#[track_caller]
pub(super) fn check_free(text: &str) {
    let reading = bash(text);
    assert!(harmless(&reading, &[]).is_some(), "{text:?} asks: {reading:?}");
}
