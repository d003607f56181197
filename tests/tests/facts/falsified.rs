//! Wrong facts: each card, made to say something that isn't so.
//!
//! Invariant: a law that no wrong fact breaks proves nothing, so every one of these must be found.

use domain::call::{Act, Facts, Undo};

/// The facts with one of them wrong each time, and which.
pub(super) fn falsified(facts: &Facts, was_taken_back: bool) -> Vec<(&'static str, Facts)> {
    let with = |change: &dyn Fn(&mut Facts)| {
        let mut facts = facts.clone();
        change(&mut facts);
        facts
    };
    let mut all = vec![
        ("one path more", with(&|facts| facts.can_touch.push("another.txt".to_owned()))),
        ("no path", with(&|facts| facts.can_touch.clear())),
        ("outside or not", with(&|facts| toggle(facts, "outside_folder"))),
        ("network or not", with(&|facts| toggle(facts, "network"))),
        ("one site more", with(&|facts| facts.reach.push("three.example.com:443".to_owned()))),
        ("one added folder more", with(&|facts| facts.added.push("/another".to_owned()))),
        ("another risk", with(&|facts| facts.risk = 4 - facts.risk.min(3) + u8::from(facts.risk == 2))),
    ];
    if !facts.reach.is_empty() {
        all.push(("one site less", with(&|facts| drop(facts.reach.pop()))));
    }
    if !facts.added.is_empty() {
        all.push(("no added folder", with(&|facts| facts.added.clear())));
    }
    if facts.act == Act::Run {
        all.push(("another command", with(&|facts| facts.exact.push(' '))));
        all.push(("a file that isn't written", with(&|facts| say(facts, "writes", "another.txt"))));
    }
    if matches!(facts.act, Act::Write | Act::Edit) {
        all.push(("one folder more", with(&|facts| say(facts, "folders", "another"))));
        let new = facts.words.get("new").is_some_and(|new| new == "true");
        all.push(("new or not", with(&|facts| say(facts, "new", &(!new).to_string()))));
    }
    if facts.words.contains_key("named_elsewhere") {
        all.push(("no name elsewhere", with(&|facts| drop(facts.words.remove("named_elsewhere")))));
        all.push(("more names elsewhere", with(&|facts| say(facts, "names_unseen", "9"))));
    }
    if facts.act == Act::Delete {
        all.push(("more files", with(&|facts| say(facts, "files", "99"))));
    }
    if was_taken_back {
        all.push(("no undo", with(&|facts| facts.undo = Undo::No)));
        let other = if facts.undo == Undo::Yes { Undo::Partly } else { Undo::Yes };
        all.push(("another undo", with(&|facts| facts.undo = other)));
    }
    all
}

fn say(facts: &mut Facts, name: &str, word: &str) {
    facts.words.insert(name.to_owned(), word.to_owned());
}

fn toggle(facts: &mut Facts, word: &str) {
    match facts.cannot_touch.iter().position(|one| one == word) {
        Some(at) => drop(facts.cannot_touch.remove(at)),
        None => facts.cannot_touch.push(word.to_owned()),
    }
}
