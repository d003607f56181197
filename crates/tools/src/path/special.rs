//! Files of a folder that their names make special: those that hold secrets, and those that programs obey. Found by looking,
//! whatever ignore rules say.

use super::is_secret;
use super::protected::{OBEYED_IN_REPOSITORY, is_protected, is_protected_folder};
use crate::place::open_dir_in;
use cap_std::fs::Dir;
use tokio_util::sync::CancellationToken;

/// Most entries that are looked at; a folder with more can't be said to be looked through.
const MOST: usize = 200_000;
/// Deepest folders.
const DEPTH: usize = 64;
/// Most obeyed paths that are named, those nearest to the root first.
const MOST_OBEYED: usize = 512;

/// What was found below a folder; paths are relative to it.
#[derive(Debug, Default)]
pub(crate) struct Special {
    /// Files that hold secrets.
    pub(crate) secrets: Vec<String>,
    /// Files and folders that programs or we obey; of a repository only what it runs and obeys.
    pub(crate) obeyed: Vec<String>,
}

/// The secret files below a folder as far as this many entries reach, and whether that was all of it.
pub(crate) fn find_secrets(root: &Dir, most: usize, cancel: &CancellationToken) -> (Vec<String>, bool) {
    let mut found = Found { special: Special::default(), left: most, cancel };
    let whole = found.below(root, "", 0, Within::Folder).is_some();
    (found.special.secrets, whole)
}

/// What is special below a folder; `None` where not all of it could be looked through. Links aren't followed: what they lead
/// to has its own name.
pub(crate) fn find_special(root: &Dir, cancel: &CancellationToken) -> Option<Special> {
    let mut found = Found { special: Special::default(), left: MOST, cancel };
    found.below(root, "", 0, Within::Folder)?;
    let mut special = found.special;
    // Of those in one folder, the pointer that says where the repository is comes before any name that others could make many of.
    special.obeyed.sort_by_key(|path| (path.matches('/').count(), path != ".git"));
    special.obeyed.truncate(MOST_OBEYED);
    Some(special)
}

/// What a folder lies within, which decides what counts in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// The folder of a person.
    Folder,
    /// A folder that is named as a whole, or a part of a repository that nothing obeys.
    Covered,
    /// A repository: a `.git`, or what one keeps for a submodule or a worktree.
    Repository,
    /// The submodules or worktrees of a repository, whose names may have several parts.
    Repositories,
}

struct Found<'c> {
    special: Special,
    /// How many more entries may be looked at.
    left: usize,
    cancel: &'c CancellationToken,
}

impl Found<'_> {
    fn below(&mut self, dir: &Dir, above: &str, depth: usize, within: Within) -> Option<()> {
        if depth > DEPTH {
            return None;
        }
        for entry in dir.entries().ok()? {
            let entry = entry.ok()?;
            if self.left == 0 || self.cancel.is_cancelled() {
                return None;
            }
            self.left -= 1;
            let name = entry.file_name();
            // A name that isn't Unicode is none of those we know.
            let Some(name) = name.to_str() else { continue };
            let path = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                // One that can't be opened can't be read by a command either.
                let inner = open_dir_in(dir, name);
                let inside = self.folder(name, &path, within, inner.as_ref().ok());
                if let Ok(inner) = inner {
                    self.below(&inner, &path, depth + 1, inside)?;
                }
                continue;
            }
            // A `.git` that is a file says where the repository is, and with it whose hooks run.
            if within == Within::Folder && (name == ".git" || is_protected(&path)) {
                self.special.obeyed.push(path.clone());
            }
            if is_secret(&path) {
                self.special.secrets.push(path);
            }
        }
        Some(())
    }

    /// Names a folder that is obeyed as a whole, or the parts of a repository that are; gives what lies within it.
    fn folder(&mut self, name: &str, path: &str, within: Within, dir: Option<&Dir>) -> Within {
        let is = |one: &str| name.eq_ignore_ascii_case(one);
        match within {
            Within::Folder if is(".git") => self.repository(path),
            Within::Folder if is_protected_folder(name) => {
                self.special.obeyed.push(path.to_owned());
                Within::Covered
            }
            Within::Folder => Within::Folder,
            Within::Repository if is("modules") || is("worktrees") => Within::Repositories,
            Within::Repository | Within::Covered => Within::Covered,
            // Without this file git takes it for none.
            Within::Repositories if dir.is_some_and(|dir| dir.symlink_metadata("HEAD").is_ok()) => {
                self.repository(path)
            }
            Within::Repositories => Within::Repositories,
        }
    }

    fn repository(&mut self, path: &str) -> Within {
        self.special.obeyed.extend(OBEYED_IN_REPOSITORY.iter().map(|part| format!("{path}/{part}")));
        Within::Repository
    }
}

#[cfg(test)]
mod tests {
    use super::find_special;
    use cap_std::ambient_authority;
    use cap_std::fs::Dir;
    use tokio_util::sync::CancellationToken;

    #[test]
    fn a54_what_is_obeyed_is_found_wherever_it_lies() {
        let home = tempfile::tempdir().unwrap();
        for path in [
            "a/b/AGENTS.md",
            "a/.git/hooks/pre-commit",
            "a/.git/objects/x",
            "a/.vscode/tasks.json",
            "a/.git/modules/lib/deep/HEAD",
            "a/.git/modules/lib/deep/hooks/post-checkout",
            "a/.git/modules/lib/deep/modules/x/HEAD",
            "a/.git/modules/lib/deep/refs/heads/config",
            "a/.git/worktrees/w/HEAD",
            "c/.env",
            "c/d.rs",
        ] {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let root = Dir::open_ambient_dir(home.path(), ambient_authority()).unwrap();
        let mut found = find_special(&root, &CancellationToken::new()).unwrap();
        let mut expect = vec!["a/.vscode".to_owned(), "a/b/AGENTS.md".to_owned()];
        for repository in ["", "/modules/lib/deep", "/modules/lib/deep/modules/x", "/worktrees/w"] {
            let parts = ["hooks", "config", "config.worktree", "commondir"];
            expect.extend(parts.map(|part| format!("a/.git{repository}/{part}")));
        }
        found.obeyed.sort();
        expect.sort();
        assert_eq!(found.obeyed, expect);
        assert_eq!(found.secrets, ["c/.env"]);
    }
}
