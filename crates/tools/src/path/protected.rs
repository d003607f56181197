//! Paths whose content decides what programs, or we, do later.
//!
//! A **protected path** is one that changing asks about in every mode: hooks, what shells, editors and package managers
//! obey when a person opens the folder, and what tells an agent how to behave. What a person builds or runs on purpose
//! (sources, `package.json`, `pyproject.toml`, a Makefile) isn't: that would be the whole folder. Invariant: names are
//! compared as the most forgiving file system would, so no spelling of a protected name is a free one.

/// Protected with all that is in them.
const FOLDERS: [&str; 24] = [
    ".git",
    ".daybook",
    ".agents",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".windsurf",
    ".continue",
    ".opencode",
    ".ssh",
    ".gnupg",
    ".aws",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".devcontainer",
    ".husky",
    ".githooks",
    ".direnv",
    ".cargo",
    ".mvn",
    ".bundle",
];
/// Protected wherever they lie.
const FILES: [&str; 55] = [
    "agents.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    "skill.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".mcp.json",
    ".gitmodules",
    ".gitattributes",
    ".gitconfig",
    // Without one of these there is no repository: a folder that gets one may have hooks of its own.
    "head",
    ".hgrc",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    "lefthook.yml",
    ".lefthook.yml",
    ".overcommit.yml",
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".tool-versions",
    ".autoenv",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    "bunfig.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "pip.conf",
    "pip.ini",
    ".pypirc",
    ".pydistutils.cfg",
    "sitecustomize.py",
    "usercustomize.py",
    ".netrc",
    ".condarc",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".inputrc",
    ".vimrc",
    ".exrc",
];
/// What git runs from a folder of this name, in whatever repository it lies.
const HOOKS_FOLDER: &str = "hooks";
/// The hooks of git that people have.
const HOOKS: [&str; 22] = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "fsmonitor-watchman",
];

/// Does changing this path ask in every mode? Compares names as the most forgiving file system would: without case,
/// compatibility forms, invisible characters, streams, trailing dots and spaces.
#[must_use]
pub fn is_protected(path: &str) -> bool {
    let parts: Vec<String> = path.split('/').map(folded).collect();
    let Some((name, folders)) = parts.split_last() else { return false };
    let hook = folders.last().is_some_and(|folder| folder == HOOKS_FOLDER) && HOOKS.contains(&name.as_str());
    let yarn =
        parts.windows(2).any(|two| two[0] == ".yarn" && matches!(two[1].as_str(), "releases" | "plugins"));
    let folder = |part: &String| is_short(part) || FOLDERS.contains(&part.as_str());
    hook || yarn || FILES.contains(&name.as_str()) || parts.iter().any(folder)
}

/// Is a folder of this name protected with all that is in it?
pub(crate) fn is_protected_folder(name: &str) -> bool {
    let name = folded(name);
    is_short(&name) || FOLDERS.contains(&name.as_str())
}

/// What a repository runs and obeys, below its `.git` and below the folder of each submodule and worktree in it; the rest
/// stays writable, or nothing could be committed. `commondir` says whose hooks and settings count.
pub(crate) const OBEYED_IN_REPOSITORY: [&str; 4] = ["hooks", "config", "config.worktree", "commondir"];

/// The short names Windows makes for names that begin with a dot.
fn is_short(part: &str) -> bool {
    part.split_once('~').is_some_and(|(stem, tail)| {
        let folder = |folder: &str| {
            let bare = folder.trim_start_matches('.');
            stem == &bare[..bare.len().min(6)]
        };
        tail.starts_with(|ch: char| ch.is_ascii_digit()) && FOLDERS.iter().any(|name| folder(name))
    })
}

/// Protected paths that a command nobody looked at must not change, by their usual names. A repository itself stays
/// writable, or nothing could be committed; what it runs and obeys doesn't. The cage holds what exists when the command
/// starts; a command can still make one of these names new, which only asking first prevents.
pub(crate) fn protected_from_commands() -> impl Iterator<Item = String> {
    let folders = FOLDERS.into_iter().filter(|name| *name != ".git");
    let files = FILES.into_iter().filter(|name| *name != "head");
    let files = files.chain(["AGENTS.md", "CLAUDE.md", "GEMINI.md", "SKILL.md"]);
    let repository = OBEYED_IN_REPOSITORY.into_iter().map(|part| format!(".git/{part}"));
    let others = [".yarn/releases", ".yarn/plugins"].into_iter().chain(folders).chain(files);
    repository.chain(others.map(str::to_owned))
}

/// A name as the most forgiving file system would compare it.
pub(super) fn folded(part: &str) -> String {
    let name = part.split(':').next().unwrap_or(part);
    let mut out = String::with_capacity(name.len());
    for ch in name.chars().filter(|ch| !crate::visible::is_invisible(*ch) && !is_mark(*ch)) {
        match ch {
            '\u{ff01}'..='\u{ff5e}' => out.extend(char::from_u32(u32::from(ch) - 0xfee0)),
            '\u{fb00}' => out.push_str("ff"),
            '\u{fb01}' => out.push_str("fi"),
            '\u{fb02}' => out.push_str("fl"),
            '\u{fb03}' => out.push_str("ffi"),
            '\u{fb04}' => out.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => out.push_str("st"),
            '\u{017f}' => out.push('s'),
            '\u{212a}' => out.push('k'),
            '\u{0131}' | '\u{0130}' => out.push('i'),
            '\u{2024}' => out.push('.'),
            '\u{2025}' => out.push_str(".."),
            ch => out.extend(ch.to_lowercase()),
        }
    }
    out.to_lowercase().trim_end_matches(['.', ' ']).to_owned()
}

/// Combining marks: what a decomposed name adds to its letters.
fn is_mark(ch: char) -> bool {
    matches!(ch, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}
