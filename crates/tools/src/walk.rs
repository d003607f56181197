//! Walking the folder by handle, with the ignore rules people already have.
//!
//! A **walk** goes level by level, so that a cut keeps what is near the top. Invariant: every folder is opened from its
//! parent's handle and not through a link, so a walk can't leave the folder; `.git` and our own folders are never walked.

use crate::path::RelPath;
use crate::place::{Place, open_dir_in, open_in};
use cap_fs_ext::FollowSymlinks;
use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Files with ignore rules, the later ones count more.
const RULE_FILES: [&str; 2] = [".gitignore", ".ignore"];
/// Largest file of ignore rules that is read.
const RULE_BYTES: u64 = 1 << 20;

/// One thing in the folder.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) path: RelPath,
    pub(crate) kind: Kind,
}

/// What it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    Link,
    Other,
}

/// What a walk didn't show.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Paths left out by ignore rules; folders end in `/`.
    pub(crate) ignored: Vec<String>,
    /// Paths left out because a rule of the person is about them.
    pub(crate) kept_out: Vec<String>,
    /// Folders that couldn't be read.
    pub(crate) unreadable: Vec<String>,
    /// Names that aren't Unicode.
    pub(crate) unnamed: usize,
    /// Did it stop before the end?
    pub(crate) cut: bool,
}

/// What the model reads about paths that were left out because a rule of the person is about them; empty where none were.
pub(crate) fn kept_out_note(kept_out: &[String]) -> String {
    const NAMED: usize = 5;
    if kept_out.is_empty() {
        return String::new();
    }
    let named: Vec<String> = kept_out.iter().take(NAMED).map(|path| crate::path::shown(path)).collect();
    format!("\n[left out, because the person set a rule about it: {}]", named.join(", "))
}

/// Should the walk go on?
pub(crate) enum Next {
    Go,
    Stop,
}

/// Walks everything below `start` (a path with its links followed), sorted within each folder, and gives each entry with the handle of its folder.
///
/// # Errors
/// When `start` can't be opened as a folder.
pub(crate) fn walk(
    place: &Place,
    start: &RelPath,
    most: usize,
    cancel: &CancellationToken,
    mut each: impl FnMut(&Entry, &Dir) -> Next,
) -> io::Result<LeftOut> {
    let mut left_out = LeftOut::default();
    let mut seen = 0;
    let mut queue = VecDeque::from([(start.clone(), rules_above(place, start)?)]);
    while let Some((folder, rules)) = queue.pop_front() {
        let dir = match open_below(place, &folder) {
            Ok(dir) => dir,
            Err(error) if folder == *start => return Err(error),
            Err(_) => {
                left_out.unreadable.push(folder.to_string());
                continue;
            }
        };
        let rules = with_rules_of(&dir, &folder, rules);
        let mut entries = entries(&dir, &folder, &mut left_out);
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        for entry in entries {
            seen += 1;
            if seen > most || cancel.is_cancelled() {
                left_out.cut = true;
                return Ok(left_out);
            }
            if entry.path.name() == ".git" || place.hides(&entry.path) {
                continue;
            }
            if place.keeps_from(start, &entry.path) {
                left_out.kept_out.push(entry.path.to_string());
                continue;
            }
            if is_ignored(&rules, &entry) {
                let end = if entry.kind == Kind::Folder { "/" } else { "" };
                left_out.ignored.push(format!("{}{end}", entry.path));
                continue;
            }
            if let Next::Stop = each(&entry, &dir) {
                left_out.cut = true;
                return Ok(left_out);
            }
            if entry.kind == Kind::Folder {
                queue.push_back((entry.path, rules.clone()));
            }
        }
    }
    Ok(left_out)
}

/// A folder of a walk, not through a link at its end.
pub(crate) fn open_below(place: &Place, folder: &RelPath) -> io::Result<Dir> {
    match folder.is_root() {
        true => place.open_dir(folder),
        false => open_dir_in(&place.parent_of(folder)?, folder.name()),
    }
}

fn entries(dir: &Dir, folder: &RelPath, left_out: &mut LeftOut) -> Vec<Entry> {
    let Ok(read) = dir.entries() else {
        left_out.unreadable.push(folder.to_string());
        return Vec::new();
    };
    let mut out = Vec::new();
    for entry in read.flatten() {
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_dir() => Kind::Folder,
            Ok(kind) if kind.is_file() => Kind::File,
            Ok(kind) if kind.is_symlink() => Kind::Link,
            _ => Kind::Other,
        };
        match entry.file_name().to_str() {
            Some(name) => out.push(Entry { path: folder.join(name), kind }),
            None => left_out.unnamed += 1,
        }
    }
    out
}

type Rules = Vec<Arc<Gitignore>>;

/// Rules of the folders between the root and the start, so that a walk that begins deeper obeys the same rules.
fn rules_above(place: &Place, start: &RelPath) -> io::Result<Rules> {
    let mut rules = Vec::new();
    let mut folder = RelPath::root();
    if start.is_root() {
        return Ok(rules);
    }
    let parts: Vec<&str> = start.as_str().split('/').collect();
    for part in parts {
        let dir = place.open_dir(&folder)?;
        rules = with_rules_of(&dir, &folder, rules);
        folder = folder.join(part);
    }
    Ok(rules)
}

fn with_rules_of(dir: &Dir, folder: &RelPath, mut rules: Rules) -> Rules {
    let mut builder = GitignoreBuilder::new(folder.as_str());
    for name in RULE_FILES {
        let mut text = String::new();
        let read = open_in(dir, name, FollowSymlinks::No)
            .and_then(|file| {
                if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
            })
            .and_then(|file| file.take(RULE_BYTES).read_to_string(&mut text));
        if read.is_ok() {
            for line in text.lines() {
                // A line that is no rule is passed over, as git does.
                let _ = builder.add_line(None, line);
            }
        }
    }
    match builder.build() {
        Ok(built) if !built.is_empty() => rules.push(Arc::new(built)),
        _ => {}
    }
    rules
}

/// The nearest folder's rules win.
fn is_ignored(rules: &Rules, entry: &Entry) -> bool {
    let folder = entry.kind == Kind::Folder;
    let word =
        rules.iter().rev().map(|one| one.matched(entry.path.as_str(), folder)).find(|found| !found.is_none());
    word.is_some_and(|found| found.is_ignore())
}
