//! Rules that a person grants for commands, and whether they cover one.
//!
//! A **pattern** is a kind of command (`git diff`, `cargo test`) or one command word for word. Invariant: an interpreter, a
//! shell, a fetcher or a wrapper is covered word for word only; deleting and publishing never are; and one command that
//! isn't covered leaves the whole line uncovered. The check is here, not in the making: a rule from a file gains nothing.

use super::harmless::{harmless_one, inside, is_plain};
use super::kinds::{deletes, is_exact_only, is_interpreter, is_wrapper, known_as, publishes};
use super::reading::{Joint, Reading, Simple};
use super::{git, special, table};
use serde::{Deserialize, Serialize};

/// What a rule fits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// A program, and the words right behind it: `["git", "diff"]`, `["npm", "run", "test"]`, `["head"]`. Never empty.
    Kind(Vec<String>),
    /// These words and no others. A script named in them must be held by its content too: that is the caller's part.
    Exact(Vec<String>),
}

/// Programs whose kinds can be granted, with their subcommands; `run` takes one more word along.
const KINDS: [(&str, &[&str]); 19] = [
    ("git", &["add", "commit", "fetch", "switch", "merge"]),
    ("cargo", &["build", "check", "test", "clippy", "fmt", "bench", "doc", "tree", "metadata"]),
    ("npm", &["test", "run", "ls", "outdated"]),
    ("pnpm", &["test", "run", "ls", "outdated"]),
    ("yarn", &["test", "run"]),
    ("go", &["build", "test", "vet", "fmt", "list"]),
    ("dotnet", &["build", "test"]),
    ("ruff", &["check", "format"]),
    ("mvn", &["compile", "test"]),
    ("gradle", &["build", "test"]),
    ("pytest", &[]),
    ("tsc", &[]),
    ("eslint", &[]),
    ("prettier", &[]),
    ("mypy", &[]),
    ("rustfmt", &[]),
    ("gofmt", &[]),
    ("jest", &[]),
    ("vitest", &[]),
];

/// Pieces of options that make a program run, load, fetch or write something else.
const RISKY: [&str; 30] = [
    "exec",
    "config",
    "plugin",
    "shell",
    "command",
    "cmd",
    "eval",
    "require",
    "import",
    "load",
    "output",
    "out-",
    "outdir",
    "prefix",
    "rules",
    "pack",
    "ssh",
    "proxy",
    "registry",
    "hook",
    "editor",
    "pager",
    "toolchain",
    "wrapper",
    "runner",
    "filter",
    "template",
    "manifest",
    "target-dir",
    "strategy",
];

impl Pattern {
    /// What "always allow this kind" would mean for a command, or nothing when there is no such rule to offer.
    #[must_use]
    pub fn of(simple: &Simple, added: &[String]) -> Option<Self> {
        let (name, argv) = (known_as(simple.program()), &simple.argv);
        if !is_plain(simple) || !may_be_ruled(simple) {
            return None;
        }
        let exact = Self::Exact(argv.clone());
        if simple.program().contains('/') || is_exact_only(&name) {
            return Some(exact);
        }
        let kind = match KINDS.iter().find(|(program, _)| *program == simple.program()) {
            Some((_, [])) => Self::Kind(argv.get(..1)?.to_vec()),
            Some(_) => match simple.args().first().map(String::as_str) {
                Some("run") => argv.get(..3).map_or(exact.clone(), |words| Self::Kind(words.to_vec())),
                Some(word) if !word.starts_with('-') => Self::Kind(argv.get(..2)?.to_vec()),
                _ => exact.clone(),
            },
            None => Self::Kind(argv.get(..1)?.to_vec()),
        };
        // A kind that wouldn't cover what it was made from helps nobody.
        Some(if kind.fits(simple, &[], added) { kind } else { exact })
    }

    /// Its words: the program first.
    #[must_use]
    pub fn words(&self) -> &[String] {
        match self {
            Self::Kind(words) | Self::Exact(words) => words,
        }
    }

    /// Does it allow this command, with those before it on the line?
    fn fits(&self, simple: &Simple, before: &[Simple], added: &[String]) -> bool {
        if !is_plain(simple) || !may_be_ruled(simple) {
            return false;
        }
        let moved = before.iter().any(|one| one.program() == "cd");
        match self {
            // In another folder the same words can name other files.
            Self::Exact(argv) => *argv == simple.argv && !moved,
            Self::Kind(words) => {
                simple.argv.starts_with(words) && !words.is_empty() && kind_is_safe(simple, added)
            }
        }
    }
}

/// Can a rule allow it at all?
fn may_be_ruled(simple: &Simple) -> bool {
    let name = known_as(simple.program());
    // An interpreter without a script runs what it reads.
    let fed = is_interpreter(&name) && (simple.joint == Joint::Pipe || simple.argv.len() < 2);
    // A wrapper that is still there wasn't looked through: what it starts could be anything. `env` alone only prints.
    let hides = is_wrapper(&name) && simple.argv.len() > 1;
    !hides && !deletes(&simple.argv) && !publishes(&simple.argv) && !fed
}

/// Is the command, by its own options, still of the kind that it seems to be?
fn kind_is_safe(simple: &Simple, added: &[String]) -> bool {
    let (program, args) = (simple.program(), simple.args());
    if is_exact_only(&known_as(program)) || program.contains('/') {
        return false;
    }
    if table::entry(program).is_some() || special::looks(program, args, added).is_some() {
        return harmless_one(simple, &[], added).is_some();
    }
    if git::is_git(simple) && git::looks(args) {
        return true;
    }
    let Some((_, subcommands)) = KINDS.iter().find(|(name, _)| *name == program) else { return false };
    let rest = match (subcommands.is_empty(), args.split_first()) {
        (true, _) => args,
        (false, Some((word, rest))) if subcommands.contains(&word.as_str()) => rest,
        (false, _) => return false,
    };
    !rest.iter().any(|arg| is_risky(program, arg))
}

fn is_risky(program: &str, arg: &str) -> bool {
    let lower = arg.to_ascii_lowercase();
    let (option, value) = match lower.split_once('=') {
        Some((option, value)) => (option, value),
        None if lower.starts_with('-') => (lower.as_str(), ""),
        None => ("", lower.as_str()),
    };
    if !value.is_empty() && !inside(value, &[])
        || value.contains("::")
        || value.contains("://")
        || value.starts_with('@')
    {
        return true;
    }
    let letters = match program {
        "git" => "cCsSXxOFG",
        "cargo" => "ZC",
        "go" => "oC",
        "npm" | "pnpm" => "C",
        "pytest" => "pco",
        "eslint" => "co",
        _ => "cCoO",
    };
    let short = arg.starts_with('-') && !arg.starts_with("--");
    // `-exec` of go and `-o/etc/x` alike.
    let by_letter = short && arg.chars().skip(1).any(|ch| letters.contains(ch) || ch == '/');
    (option.starts_with('-') && RISKY.iter().any(|piece| option.contains(piece))) || by_letter
}

/// Is every command of the line harmless or covered by a rule? An unclear one never is.
#[must_use]
pub fn covers(reading: &Reading, patterns: &[Pattern], added: &[String]) -> bool {
    let Reading::Understood(commands) = reading else { return false };
    let covered = |(at, simple): (usize, &Simple)| {
        let before = commands.get(..at).unwrap_or_default();
        harmless_one(simple, before, added).is_some()
            || patterns.iter().any(|pattern| pattern.fits(simple, before, added))
    };
    !commands.is_empty() && commands.iter().enumerate().all(covered)
}
