//! git: which calls only look, and which subcommand a call really is behind git's own options.
//!
//! Invariant: an option in front of the subcommand never hides it, and only listed options of listed subcommands look.
//! What a repository's settings make git do is not decided here: [`super::Harmless::obeys_repository`] says so.

use super::options::{Options, operands};
use super::reading::Simple;

/// Is it git, by its bare name?
pub(super) fn is_git(simple: &Simple) -> bool {
    simple.program() == "git" || simple.program() == "git.exe"
}

/// Options in front of the subcommand that take the next word.
const GLOBAL_VALUED: [&str; 10] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--super-prefix",
    "--config-env",
    "--attr-source",
    "--shallow-file",
];
/// Those that change nothing but how it prints.
const GLOBAL_HARMLESS: [&str; 4] = ["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"];

/// The subcommand and where it stands among the arguments, behind git's own options.
pub(super) fn subcommand(args: &[String]) -> (Option<&str>, usize) {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        if GLOBAL_VALUED.contains(&arg.as_str()) {
            at += 2;
        } else if arg.starts_with('-') {
            at += 1;
        } else {
            return (Some(arg), at);
        }
    }
    (None, at)
}

/// Do git's own options leave it the folder's repository with its settings as they are?
pub(super) fn is_here(args: &[String]) -> bool {
    let (_, at) = subcommand(args);
    args.get(..at).unwrap_or_default().iter().all(|arg| GLOBAL_HARMLESS.contains(&arg.as_str()))
}

/// Could the subcommand be another name for something, set with `-c alias.…` or by the repository?
pub(super) fn may_be_alias(args: &[String]) -> bool {
    let known = |name: &str| KNOWN.contains(&name) || look(name).is_some();
    args.iter().any(|arg| arg.to_ascii_lowercase().contains("alias."))
        || !subcommand(args).0.is_some_and(known)
}

const KNOWN: [&str; 41] = [
    "add",
    "am",
    "apply",
    "archive",
    "bisect",
    "bundle",
    "checkout",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "config",
    "fetch",
    "filter-branch",
    "format-patch",
    "gc",
    "grep",
    "help",
    "init",
    "maintenance",
    "merge",
    "mv",
    "notes",
    "prune",
    "pull",
    "push",
    "rebase",
    "reflog",
    "reset",
    "restore",
    "revert",
    "rm",
    "send-email",
    "shortlog",
    "stash",
    "submodule",
    "switch",
    "tag",
    "version",
    "worktree",
    "remote",
];

/// Does the call only look?
pub(super) fn looks(args: &[String]) -> bool {
    let (Some(name), at) = subcommand(args) else { return false };
    let rest = args.get(at + 1..).unwrap_or_default();
    let Some(look) = look(name).filter(|_| is_here(args)) else { return false };
    let odd = rest.iter().any(|arg| verifies(arg) || arg.contains(":("));
    let Some(words) = operands(&look.options, rest).filter(|_| !odd) else { return false };
    let named = words.iter().all(|word| is_name(word));
    match look.words {
        Words::Any => named,
        Words::None => words.is_empty(),
        // Without `--list` a word makes a branch or a tag.
        Words::IfListed => named && (words.is_empty() || rest.iter().any(|arg| arg == "--list")),
        Words::Only(only) => words == [only],
    }
}

/// Does a format ask for a signature? Checking one starts a program.
fn verifies(arg: &str) -> bool {
    let sign = |rest: &str| rest.trim_start_matches(['+', '-', ' ']).starts_with('G');
    arg.split('%').skip(1).any(sign) || arg.to_ascii_lowercase().contains("signature")
}

/// A revision, a range or a path in the folder.
fn is_name(word: &str) -> bool {
    let steps = |text: &str| text.split('/').any(|part| part == "..");
    !word.starts_with(['/', '~', '-', '\\', '!', ':'])
        && !word.contains(['\\', '\n'])
        && !steps(word)
        && !is_drive(word)
        && word.split(':').all(|part| !part.starts_with(['/', '~']) && !steps(part))
}

fn is_drive(word: &str) -> bool {
    word.as_bytes().get(1) == Some(&b':') && word.starts_with(|ch: char| ch.is_ascii_alphabetic())
}

struct Look {
    options: Options,
    words: Words,
}

enum Words {
    Any,
    None,
    IfListed,
    Only(&'static str),
}

fn look(name: &str) -> Option<Look> {
    let (words, flags, valued, long): (Words, &str, &str, &[&str]) = match name {
        "status" => (Words::Any, "sbz", "", STATUS),
        "diff" => (Words::Any, DIFF_FLAGS, "USGl", DIFF),
        "log" | "show" => (Words::Any, LOG_FLAGS, "nUSGLl", LOG),
        "rev-parse" => (Words::Any, "q", "", REV_PARSE),
        "ls-files" => (
            Words::Any,
            "cdmostuvzk",
            "",
            &[
                "--cached",
                "--deleted",
                "--modified",
                "--others",
                "--stage",
                "--exclude-standard",
                "--full-name",
            ],
        ),
        "blame" => (Words::Any, "wsletfnM", "L", &["--date=", "--porcelain", "--line-porcelain"]),
        "branch" => (
            Words::IfListed,
            "arvl",
            "",
            &[
                "--list",
                "--all",
                "--remotes",
                "--show-current",
                "--verbose",
                "--sort=",
                "--format=",
                "--no-color",
                "--merged=?",
                "--no-merged=?",
            ],
        ),
        "tag" => (Words::IfListed, "l", "", &["--list", "--sort=", "--format="]),
        "remote" => (Words::None, "v", "", &["--verbose"]),
        "stash" => (Words::Only("list"), "", "", &[]),
        "describe" => {
            (Words::Any, "", "", &["--tags", "--always", "--all", "--long", "--abbrev=", "--match="])
        }
        "merge-base" => (Words::Any, "a", "", &["--all", "--is-ancestor"]),
        "rev-list" => {
            (Words::Any, "", "n", &["--count", "--all", "--max-count=", "--left-right", "--no-merges"])
        }
        _ => return None,
    };
    Some(Look { options: Options { flags, valued, long }, words })
}

const STATUS: &[&str] = &[
    "--short",
    "--branch",
    "--porcelain=?",
    "--untracked-files=?",
    "--ignored=?",
    "--long",
    "--show-stash",
    "--renames",
    "--no-renames",
];
const DIFF_FLAGS: &str = "pbwzRMCDa";
const DIFF: &[&str] = &[
    "--stat=?",
    "--numstat",
    "--shortstat",
    "--summary",
    "--name-only",
    "--name-status",
    "--cached",
    "--staged",
    "--unified=",
    "--patch",
    "--no-patch",
    "--raw",
    "--minimal",
    "--patience",
    "--histogram",
    "--ignore-all-space",
    "--ignore-space-change",
    "--ignore-blank-lines",
    "--color=?",
    "--no-color",
    "--word-diff=?",
    "--check",
    "--find-renames=?",
    "--no-renames",
    "--diff-filter=",
    "--no-ext-diff",
    "--no-textconv",
    "--exit-code",
    "--quiet",
    "--merge-base",
    "--compact-summary",
    "--no-prefix",
    "--text",
    "--binary",
    "--full-index",
    "--abbrev=?",
];
const LOG_FLAGS: &str = "pbwzRMCDasi0123456789cm";
const LOG: &[&str] = &[
    "--oneline",
    "--stat=?",
    "--numstat",
    "--shortstat",
    "--summary",
    "--name-only",
    "--name-status",
    "--graph",
    "--decorate=?",
    "--no-decorate",
    "--all",
    "--branches=?",
    "--tags=?",
    "--remotes=?",
    "--since=",
    "--until=",
    "--after=",
    "--before=",
    "--author=",
    "--committer=",
    "--grep=",
    "--format=",
    "--pretty=?",
    "--abbrev-commit",
    "--abbrev=?",
    "--date=",
    "--follow",
    "--merges",
    "--no-merges",
    "--first-parent",
    "--reverse",
    "--max-count=",
    "--skip=",
    "--patch",
    "--no-patch",
    "--unified=",
    "--diff-filter=",
    "--no-ext-diff",
    "--no-textconv",
    "--color=?",
    "--no-color",
    "--topo-order",
    "--date-order",
    "--no-renames",
    "--find-renames=?",
    "--raw",
    "--word-diff=?",
    "--regexp-ignore-case",
    "--left-right",
    "--cherry-pick",
];
const REV_PARSE: &[&str] = &[
    "--show-toplevel",
    "--abbrev-ref=?",
    "--short=?",
    "--git-dir",
    "--is-inside-work-tree",
    "--verify",
    "--show-prefix",
    "--is-bare-repository",
    "--symbolic-full-name",
    "--show-cdup",
    "--git-common-dir",
    "--absolute-git-dir",
    "--is-shallow-repository",
];
