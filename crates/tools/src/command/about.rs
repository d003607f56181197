//! What a reading says about one thing: a path it names, a program it mentions.
//!
//! Invariant: these answer *surely* from an understood reading and *perhaps* from the words of one that isn't; nothing
//! here makes a command free.

use super::kinds::{PUBLISHERS, known_as};
use super::reading::{Reading, Simple};
use crate::path::{RelPath, is_inside};

/// Does the command name this path of the folder, or something below it? Never told of one that isn't understood.
#[must_use]
pub(crate) fn named(reading: &Reading, under: &str) -> bool {
    let Reading::Understood(commands) = reading else { return false };
    let mut moved: Vec<&str> = Vec::new();
    commands.iter().any(|simple| {
        let here = words(simple).any(|word| {
            let below = moved.iter().any(|base| leads(&format!("{base}/{word}"), under));
            below || leads(word, under)
        });
        if simple.program() == "cd" {
            moved.extend(simple.args().first().map(String::as_str));
        }
        here
    })
}

fn words(simple: &Simple) -> impl Iterator<Item = &str> {
    let targets = simple.redirects.iter().map(|redirect| redirect.target.as_str());
    let values = simple.assignments.iter().map(|one| one.value.as_str());
    let pieces =
        simple.argv.iter().flat_map(|word| std::iter::once(word.as_str()).chain(word.split(['=', ':', ','])));
    pieces.chain(targets).chain(values)
}

fn leads(word: &str, under: &str) -> bool {
    !word.is_empty() && RelPath::parse(word).is_ok_and(|path| is_inside(path.as_str(), under))
}

/// Is this program started, or only mentioned in what isn't understood?
#[must_use]
pub(crate) fn mentions(reading: &Reading, program: &str) -> bool {
    mentions_any(reading, &[program])
}

/// Could it publish something, as far as it isn't understood?
#[must_use]
pub(crate) fn mentions_publishing(reading: &Reading) -> bool {
    matches!(reading, Reading::Unclear { .. }) && mentions_any(reading, &PUBLISHERS)
}

fn mentions_any(reading: &Reading, programs: &[&str]) -> bool {
    let is_one = |word: &String| programs.contains(&known_as(word).as_str());
    match reading {
        Reading::Understood(commands) => {
            commands.iter().any(|simple| simple.argv.first().is_some_and(is_one))
        }
        Reading::Unclear { words, .. } => words.iter().any(is_one),
    }
}
