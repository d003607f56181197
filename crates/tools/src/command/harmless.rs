//! Commands that only look: they may run without asking in a read-only cage without network.
//!
//! Invariant: under the shell that was read, such a command starts nothing outside the table, writes no file, and every
//! path it names lies below the folder or an added one as written; links are the cage's to hold.

use super::reading::{Dialect, Reading, Simple, Via};
use super::table::{Operands, entry};
use super::{git, options, powershell, special};
use crate::path::{RelPath, rest_below};
use serde::{Deserialize, Serialize};

/// A command that only looks, and what it obeys beside its own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Harmless {
    /// It obeys a repository's settings, and those can name programs (`diff.external`, `core.fsmonitor`, filters): run it
    /// in the read-only cage, or ask where there is none.
    pub obeys_repository: bool,
}

/// Does everything in it only look, in the folder and the added ones? Nothing when it doesn't, or isn't understood.
#[must_use]
pub fn harmless(reading: &Reading, added: &[String]) -> Option<Harmless> {
    let Reading::Understood(commands) = reading else { return None };
    let mut all = Harmless { obeys_repository: false };
    for (at, simple) in commands.iter().enumerate() {
        all.obeys_repository |= harmless_one(simple, commands.get(..at)?, added)?.obeys_repository;
    }
    (!commands.is_empty()).then_some(all)
}

/// One command, with those before it.
pub(super) fn harmless_one(simple: &Simple, before: &[Simple], added: &[String]) -> Option<Harmless> {
    is_plain(simple).then_some(())?;
    match git::is_git(simple) {
        // In another folder another repository's settings would be obeyed.
        true if before.iter().any(|one| one.program() == "cd") => None,
        true => git::looks(simple.args()).then_some(Harmless { obeys_repository: true }),
        false => looks(simple, added).then_some(Harmless { obeys_repository: false }),
    }
}

/// Nothing around it changes what it does, and its output goes to us.
pub(super) fn is_plain(simple: &Simple) -> bool {
    simple.assignments.is_empty()
        && simple.redirects.iter().all(super::reading::Redirect::is_idle)
        && simple.via.iter().all(|via| via.transparent)
        && !simple.open
}

fn looks(simple: &Simple, added: &[String]) -> bool {
    let (program, args) = (simple.program(), simple.args());
    // Behind a program it isn't the shell's own any more, but whatever is called so.
    let own = |via: &Via| matches!(via.program.as_str(), "bash" | "sh" | "dash" | "command" | "time");
    if matches!(program, "cd" | "command") && !simple.via.iter().all(own) {
        return false;
    }
    match simple.dialect {
        Dialect::PowerShell => return powershell::looks(program, args, added),
        Dialect::Cmd => return false,
        Dialect::Bash | Dialect::Sh => {}
    }
    if let Some(verdict) = special::looks(program, args, added) {
        return verdict;
    }
    let Some(entry) = entry(program) else { return false };
    let Some(operands) = options::operands(&entry.options, args) else { return false };
    match entry.operands {
        Operands::None => operands.is_empty(),
        Operands::Paths => operands.iter().all(|path| inside(path, added)),
        Operands::OnePath => operands.len() <= 1 && operands.iter().all(|path| inside(path, added)),
        Operands::PatternThenPaths => {
            operands.get(1..).is_some_and(|paths| paths.iter().all(|path| inside(path, added)))
        }
        Operands::Text => true,
        Operands::DateFormat => operands.iter().all(|format| format.starts_with('+')),
    }
}

/// Does the path stay below the folder, or below an added one, as written? `-` is the input.
pub(super) fn inside(path: &str, added: &[String]) -> bool {
    let below = |text: &str| RelPath::parse(text).is_ok();
    below(path) || added.iter().any(|base| rest_below(base, path).is_some_and(below))
}

/// The added folders that a command names, by its words as written: a program's own words, and what it reads from.
#[must_use]
pub fn named_folders(reading: &Reading, added: &[String]) -> Vec<String> {
    let Reading::Understood(commands) = reading else { return Vec::new() };
    let named = |base: &&String| {
        let is_in = |word: &String| rest_below(base, word).is_some();
        commands.iter().any(|simple| {
            simple.argv.iter().chain(simple.redirects.iter().map(|redirect| &redirect.target)).any(is_in)
        })
    };
    added.iter().filter(named).cloned().collect()
}
