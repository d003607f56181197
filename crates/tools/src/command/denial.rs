//! Commands that a rule denies, however they are dressed.
//!
//! Unlike a grant, a denial looks through options, wrappers, folders and nested shells, and errs on the side of no.
//! Invariant: adding words around a denied command never turns it into one that runs unasked.

use super::kinds::known_as;
use super::pattern::Pattern;
use super::reading::{Reading, Simple};
use super::{git, special, table};

/// What the denials say of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denial {
    /// Nothing.
    None,
    /// It may be one: the person decides, whatever the mode.
    Perhaps(Pattern),
    /// It is one.
    Denied(Pattern),
}

/// Does one of these patterns deny the command? [`Denial::Perhaps`] when a denied program is only mentioned in a text
/// that isn't understood, or could be reached through another name.
#[must_use]
pub fn denied_by(reading: &Reading, patterns: &[Pattern]) -> Denial {
    let mut worst = Denial::None;
    for pattern in patterns {
        match grade(reading, pattern) {
            Grade::Yes => return Denial::Denied(pattern.clone()),
            Grade::Perhaps => worst = Denial::Perhaps(pattern.clone()),
            Grade::No => {}
        }
    }
    worst
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    No,
    Perhaps,
    Yes,
}

fn grade(reading: &Reading, pattern: &Pattern) -> Grade {
    let Some(program) = pattern.words().first().map(|word| known_as(word)) else { return Grade::No };
    match reading {
        Reading::Understood(commands) => {
            commands.iter().map(|simple| one(simple, pattern, &program)).max().unwrap_or(Grade::No)
        }
        Reading::Unclear { words, .. } if mentions(words, &program) => Grade::Perhaps,
        Reading::Unclear { .. } => Grade::No,
    }
}

fn mentions(words: &[String], program: &str) -> bool {
    words.iter().any(|word| known_as(word) == program)
}

fn one(simple: &Simple, pattern: &Pattern, program: &str) -> Grade {
    let words = pattern.words().get(1..).unwrap_or_default();
    let (options, plain_words): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| word.starts_with('-') && word.len() > 1);
    if simple.via.iter().any(|via| via.program == program) && started_by(simple, &plain_words) {
        return if options.is_empty() { Grade::Yes } else { Grade::Perhaps };
    }
    let name = known_as(simple.program());
    if name != program {
        // Programs that look take it for text; of any other we don't know that it isn't started.
        let looks =
            table::entry(simple.program()).is_some() || special::looks(simple.program(), &[], &[]).is_some();
        let mentioned = || simple.args().iter().any(|arg| mentions(&pieces(arg), program));
        return if !looks && mentioned() { Grade::Perhaps } else { Grade::No };
    }
    if matches!(pattern, Pattern::Exact(_)) {
        return if simple.args() == words { Grade::Yes } else { Grade::No };
    }
    let (args, certain) = match program {
        "git" => (simple.args().get(git::subcommand(simple.args()).1..).unwrap_or_default(), true),
        _ => (simple.args(), false),
    };
    let plain: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let begins = plain.iter().zip(&plain_words).all(|(arg, word)| arg == word);
    let found = match certain {
        true => begins && plain.len() >= plain_words.len(),
        // Which options of other programs take a word isn't known: any order-keeping choice of words counts.
        false => contains(&plain, &plain_words),
    };
    if (found || (simple.open && begins)) && options.iter().all(|option| has(args, option)) {
        Grade::Yes
    } else if found && (simple.open || args.iter().any(|arg| arg.starts_with(['-', '+']))) {
        // An option has more than one spelling, and not all are known.
        Grade::Perhaps
    } else if program == "git" && git::may_be_alias(simple.args()) {
        Grade::Perhaps
    } else {
        Grade::No
    }
}

/// Do the words stand in this order among the arguments?
fn contains(args: &[&String], words: &[&String]) -> bool {
    let mut args = args.iter();
    words.iter().all(|word| args.any(|arg| arg == word))
}

/// Do the words begin with the program behind a wrapper, and stand in this order in its arguments?
fn started_by(simple: &Simple, words: &[&String]) -> bool {
    let Some((first, rest)) = words.split_first() else { return true };
    let args: Vec<&String> = simple.args().iter().collect();
    known_as(simple.program()) == known_as(first) && contains(&args, rest)
}

/// Is the option among the arguments, also with a value behind it or as letters of others (`-fr` has `-rf`)?
fn has(args: &[String], option: &str) -> bool {
    let same =
        |arg: &String| arg.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    let letter = |ch: char| {
        args.iter()
            .any(|arg| arg.strip_prefix('-').is_some_and(|arg| !arg.starts_with('-') && arg.contains(ch)))
    };
    let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-') && letters.len() <= 3);
    args.iter().any(same) || letters.is_some_and(|letters| letters.chars().all(letter))
}

/// The words of a program's text.
fn pieces(text: &str) -> Vec<String> {
    let apart = |ch: char| !(ch.is_alphanumeric() || matches!(ch, '-' | '_' | '.' | '/'));
    text.split(apart).filter(|piece| !piece.is_empty()).map(str::to_owned).collect()
}
