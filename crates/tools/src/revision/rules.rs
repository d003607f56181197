//! Which folders are ignored.
//!
//! **Rules** are those of `.gitignore` files, the nearest one first, as git reads them; a repository isn't needed. The
//! repository's own folder is never ignored and has no rules inside. `.ignore` files are for searching and don't count.

use super::name::last;
use super::scan::small_text;
use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::ffi::OsString;
use std::sync::Arc;

const FILE: &str = ".gitignore";
const REPOSITORY: &str = ".git";
/// Largest file of rules that is read.
const BYTES: u64 = 1 << 20;

/// The rules that hold in one folder.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules(Vec<Arc<Gitignore>>);

impl Rules {
    /// The rules inside a folder that holds these names.
    pub(super) fn below(&self, dir: &Dir, path: &str, names: &[OsString]) -> Self {
        if last(path) == REPOSITORY {
            return Self::default();
        }
        let mut rules = self.clone();
        if !names.iter().any(|name| name == FILE) {
            return rules;
        }
        let Some(text) = small_text(dir, FILE, BYTES) else { return rules };
        let mut builder = GitignoreBuilder::new(path);
        for line in text.lines() {
            // A line that is no rule is passed over, as git does.
            let _ = builder.add_line(None, line);
        }
        if let Ok(built) = builder.build() {
            rules.0.push(Arc::new(built));
        }
        rules
    }

    /// Do they name this path? What lies in an ignored folder isn't asked about.
    pub(super) fn ignore(&self, path: &str, folder: bool) -> bool {
        if last(path) == REPOSITORY {
            return false;
        }
        let word = self.0.iter().rev().map(|one| one.matched(path, folder)).find(|found| !found.is_none());
        word.is_some_and(|found| found.is_ignore())
    }
}
