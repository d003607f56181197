//! The log has one way in: one statement of the product inserts into it, and it stands in the store. A model's answer has one,
//! too.
//!
//! Tests are not counted: forging a row is how they show that the store refuses it.

use crate::tree;

#[test]
fn one_statement_inserts_events_and_the_store_has_it() {
    let mut places = Vec::new();
    let ships = |path: &str| !path.contains("tests/") && !path.ends_with("tests.rs");
    for file in tree::files().iter().filter(|file| file.is(&[".rs", ".sql", ".ts"]) && ships(&file.path)) {
        for _ in 0..inserts(&file.text) {
            places.push(file.path.clone());
        }
    }
    assert_eq!(places.len(), 1, "statements that insert events: {places:#?}");
    assert!(places[0].starts_with("crates/store/src/"), "the one insert stands in {}", places[0]);
}

/// What a model said becomes history in one place: nothing else that ships makes the event, but for the made-up records that
/// `daybook bench` writes into a temporary store of its own, to read them at length.
#[test]
fn r_mod_07_one_place_takes_a_models_answer_into_the_history() {
    let ships = |path: &str| !path.contains("test");
    let makes = |text: &str| {
        let made = text.match_indices("AssistantAccepted {");
        made.filter(|(at, _)| !text[..*at].ends_with("struct ")).count()
    };
    let mut places = Vec::new();
    for file in tree::files().iter().filter(|file| file.is(&[".rs"]) && ships(&file.path)) {
        places.extend(std::iter::repeat_n(file.path.clone(), makes(&file.text)));
    }
    assert_eq!(places, ["crates/bench/src/log.rs", "crates/engine/src/decide/answer.rs"]);
}

/// How many statements of this text insert into (or replace in) the table of events, however they are laid out.
fn inserts(text: &str) -> usize {
    let words: Vec<String> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty() && *word != "n")
        .map(str::to_ascii_lowercase)
        .collect();
    let begins = |at: usize| {
        let verb = words[at].as_str();
        let after = if words.get(at + 1).map(String::as_str) == Some("or") { at + 3 } else { at + 1 };
        (verb == "insert" || verb == "replace")
            && words.get(after).map(String::as_str) == Some("into")
            && words.get(after + 1).map(String::as_str) == Some("events")
    };
    (0..words.len()).filter(|at| begins(*at)).count()
}

#[test]
fn the_count_sees_every_layout_and_nothing_else() {
    let statement = |verb: &str, table: &str| format!("{verb}\n   INTO \"{table}\" (a) VALUES (?1)");
    for (text, count) in [
        (statement("INSERT", "events"), 1),
        (statement("insert or ignore", "events"), 1),
        (statement("REPLACE", "events"), 1),
        (statement("INSERT", "events_search"), 0),
        (statement("INSERT", "blobs"), 0),
        ("nothing is put into events here".to_owned(), 0),
        (statement("INSERT", "events").repeat(2), 2),
    ] {
        assert_eq!(inserts(&text), count, "{text}");
    }
}
