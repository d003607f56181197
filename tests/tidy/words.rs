//! How a file opens, how long it is, and what may not stand in it.

use crate::tree::{self, File};

/// Longest file of code.
const LONGEST: usize = 600;
/// Longest component of the page.
const LONGEST_COMPONENT: usize = 400;

fn is_code(file: &File) -> bool {
    file.is(&[".rs", ".ts", ".svelte", ".js", ".mjs", ".css"])
}

/// `word` where no letter, digit or underscore touches it.
fn stands_alone(line: &str, word: &str) -> bool {
    let touches = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        !touches(line[..at].chars().next_back()) && !touches(line[at + word.len()..].chars().next())
    })
}

#[test]
fn every_rust_file_says_first_what_it_is() {
    let says = |file: &File| file.text.lines().next().is_some_and(|line| line.starts_with("//! "));
    let silent: Vec<String> = tree::files()
        .iter()
        .filter(|file| file.is(&[".rs"]) && !says(file))
        .map(|file| file.path.clone())
        .collect();
    tree::none("files that don't open with `//! `", &silent);
}

#[test]
fn files_stay_short_enough_to_read() {
    let limit = |file: &File| if file.is(&[".svelte"]) { LONGEST_COMPONENT } else { LONGEST };
    let long: Vec<String> = tree::files()
        .iter()
        .filter(|file| is_code(file) && file.text.lines().count() > limit(file))
        .map(|file| format!("{}: {} lines", file.path, file.text.lines().count()))
        .collect();
    tree::none("files that are too long", &long);
}

#[test]
fn nothing_is_left_half_done_or_switched_off() {
    // Written in two parts, so that this file doesn't break its own rule.
    let half = |first: &str, second: &str| format!("{first}{second}");
    let words = [half("TO", "DO"), half("FIX", "ME"), half("XX", "X")];
    let calls = [
        half("todo", "!("),
        half("unimplemented", "!("),
        half("#[ign", "ore"),
        half("test.sk", "ip"),
        half("it.sk", "ip"),
        half("describe.sk", "ip"),
        half(".on", "ly("),
        half("thread::sl", "eep("),
    ];
    let mut broken = Vec::new();
    for file in tree::files().iter().filter(|file| is_code(file)) {
        for (number, line) in file.text.lines().enumerate() {
            let found = words.iter().find(|word| stands_alone(line, word)).or(calls.iter().find(|call| {
                line.contains(call.as_str()) && !(call.contains("thread::") && may_wait(&file.path))
            }));
            if let Some(found) = found {
                broken.push(format!("{}:{}: {found}", file.path, number + 1));
            }
        }
    }
    tree::none("left half done or switched off", &broken);
}

/// Where a thread may wait for the outside world: the window's tests poll a real program, a cage waits for processes, and a
/// save waits a little for a file that another program holds open.
fn may_wait(path: &str) -> bool {
    path == "crates/tools/src/save.rs"
        || path.starts_with("tests/e2e/")
        || path.starts_with("crates/sandbox/")
        || path.starts_with("tests/faults/")
}

#[test]
fn no_place_of_one_machine_and_no_address_of_a_registry_is_named() {
    let half = |first: &str, second: &str| format!("{first}{second}");
    let places = [
        half("/wo", "rk/"),
        half("/fa", "rm/"),
        half(".lib", "rary/"),
        half("/ro", "ot/."),
        half("deb.deb", "ian.org"),
        half("pypi", ".org"),
        half("pythonhos", "ted"),
        half("registry.npm", "js"),
        half("static.crates", ".io"),
    ];
    let mut broken = Vec::new();
    for file in tree::files().iter().filter(|file| file.path != "Cargo.lock") {
        for (number, line) in file.text.lines().enumerate() {
            for place in &places {
                let at = line.find(place.as_str());
                let inside_a_word = at.is_some_and(|at| {
                    place.starts_with('/') && line[..at].ends_with(|c: char| c.is_alphanumeric())
                });
                if at.is_some() && !inside_a_word {
                    broken.push(format!("{}:{}: {place}", file.path, number + 1));
                }
            }
        }
    }
    tree::none("places of one machine", &broken);
}

#[test]
fn types_are_named_for_what_they_are() {
    let vague = ["Manager", "Helper", "Util", "Utils", "Processor"];
    let mut broken = Vec::new();
    for file in tree::files().iter().filter(|file| file.is(&[".rs", ".ts"])) {
        for (number, line) in file.text.lines().enumerate() {
            let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let declared = words
                .by_ref()
                .find(|word| ["struct", "enum", "trait", "class", "interface"].contains(word))
                .and_then(|_| words.find(|word| !word.is_empty()));
            if let Some(name) = declared.filter(|name| vague.iter().any(|vague| name.ends_with(vague))) {
                broken.push(format!("{}:{}: {name}", file.path, number + 1));
            }
        }
    }
    tree::none("names that say nothing", &broken);
}
