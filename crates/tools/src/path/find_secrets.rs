//! Files of a folder that their names make special: those that hold secrets, and those that programs obey. Found by looking,
//! whatever ignore rules say.

use super::is_secret;
use super::protected::{OBEYED_IN_REPOSITORY, is_protected, is_protected_folder};
use crate::place::open_dir_in;
use cap_std::fs::Dir;

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

/// The secret files below a folder; `None` where not all of it could be looked through.
pub(crate) fn find_secrets(root: &Dir) -> Option<Vec<String>> {
    find_special(root).map(|special| special.secrets)
}

/// What is special below a folder; `None` where not all of it could be looked through. Links aren't followed: what they lead
/// to has its own name.
pub(crate) fn find_special(root: &Dir) -> Option<Special> {
    let mut found = Found { special: Special::default(), entries: 0 };
    found.below(root, "", 0, false)?;
    let mut special = found.special;
    special.obeyed.sort_by_key(|path| path.matches('/').count());
    special.obeyed.truncate(MOST_OBEYED);
    Some(special)
}

struct Found {
    special: Special,
    entries: usize,
}

impl Found {
    /// `covered`: a folder above is named as a whole.
    fn below(&mut self, dir: &Dir, above: &str, depth: usize, covered: bool) -> Option<()> {
        if depth > DEPTH {
            return None;
        }
        for entry in dir.entries().ok()? {
            let entry = entry.ok()?;
            self.entries += 1;
            if self.entries > MOST {
                return None;
            }
            let name = entry.file_name();
            // A name that isn't Unicode is none of those we know.
            let Some(name) = name.to_str() else { continue };
            let path = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                let inside = covered || self.folder(name, &path);
                // One that can't be opened can't be read by a command either.
                if let Ok(inner) = open_dir_in(dir, name) {
                    self.below(&inner, &path, depth + 1, inside)?;
                }
                continue;
            }
            // A `.git` that is a file says where the repository is, and with it whose hooks run.
            if !covered && (name == ".git" || is_protected(&path)) {
                self.special.obeyed.push(path.clone());
            }
            if is_secret(&path) {
                self.special.secrets.push(path);
            }
        }
        Some(())
    }

    /// Names a folder that is obeyed as a whole, or the parts of a repository that are; says whether it names all in it.
    fn folder(&mut self, name: &str, path: &str) -> bool {
        if name.eq_ignore_ascii_case(".git") {
            self.special.obeyed.extend(OBEYED_IN_REPOSITORY.iter().map(|part| format!("{path}/{part}")));
            return true;
        }
        let whole = is_protected_folder(name);
        if whole {
            self.special.obeyed.push(path.to_owned());
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::find_special;
    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    #[test]
    fn a54_what_is_obeyed_is_found_wherever_it_lies() {
        let home = tempfile::tempdir().unwrap();
        for path in [
            "a/b/AGENTS.md",
            "a/.git/hooks/pre-commit",
            "a/.git/objects/x",
            "a/.vscode/tasks.json",
            "c/.env",
            "c/d.rs",
        ] {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let root = Dir::open_ambient_dir(home.path(), ambient_authority()).unwrap();
        let mut found = find_special(&root).unwrap();
        found.obeyed.sort();
        assert_eq!(found.obeyed, ["a/.git/config", "a/.git/hooks", "a/.vscode", "a/b/AGENTS.md"]);
        assert_eq!(found.secrets, ["c/.env"]);
    }
}
