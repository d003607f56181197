//! Files with several names: what is written into one shows in all of them.
//!
//! A restore writes into such a file only where every other name in the folder shall get the same; otherwise the name it
//! is about gets a file **apart**, and the others keep what they show. Names outside the folder are unknown and follow, as
//! they followed the change that is taken back.

use super::handle::{open_folder, walk_to};
use super::name::{MAX_DEPTH, ROOT, depth, join, last, parent, to_os};
use super::plan::{Step, names};
use crate::place::Place;
use cap_fs_ext::MetadataExt as _;
use cap_std::fs::Dir;
use domain::call::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Paths among the steps that get a file of their own.
pub(super) fn apart(place: &Place, steps: &[Step]) -> BTreeSet<String> {
    let mut shared: BTreeMap<File, Vec<&Step>> = BTreeMap::new();
    for step in steps.iter().filter(|step| writes(step)) {
        if let Some((file, _)) = shared_file(place, &step.effect.path) {
            shared.entry(file).or_default().push(step);
        }
    }
    if shared.is_empty() {
        return BTreeSet::new();
    }
    let mut found = Found { wanted: shared.keys().copied().collect(), names: BTreeMap::new() };
    found.below(place.dir(), ROOT);
    let mut apart = BTreeSet::new();
    for (file, steps) in shared {
        let names = found.names.remove(&file).unwrap_or_default();
        let goal = steps.first().and_then(|step| step.effect.before.clone());
        let all_alike = names.iter().all(|name| {
            let step = steps.iter().find(|step| step.effect.path == *name);
            step.is_some_and(|step| step.effect.before == goal)
        });
        if !all_alike {
            apart.extend(steps.iter().map(|step| step.effect.path.clone()));
        }
    }
    apart
}

/// Would carrying it out write into a file that is there?
fn writes(step: &Step) -> bool {
    let file = |entry: Option<&Entry>| matches!(entry, Some(Entry::File { .. }));
    file(step.now.entry()) && file(step.effect.before.as_ref())
}

/// The other names of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OtherNames {
    /// Those in the folder.
    pub(crate) inside: Vec<String>,
    /// Are there more, outside?
    pub(crate) outside: bool,
}

/// By which other names a file of the folder is known. Looks through the whole folder, if there are any.
pub(crate) fn other_names(place: &Place, path: &str) -> OtherNames {
    let Some((file, count)) = shared_file(place, path) else { return OtherNames::default() };
    let mut found = Found { wanted: BTreeSet::from([file]), names: BTreeMap::new() };
    found.below(place.dir(), ROOT);
    let names = found.names.remove(&file).unwrap_or_default();
    let outside = (names.len() as u64) < count;
    OtherNames { inside: names.into_iter().filter(|name| name != path).collect(), outside }
}

/// Disk and number.
type File = (u64, u64);

/// A file with several names, and how many.
fn shared_file(place: &Place, path: &str) -> Option<(File, u64)> {
    let dir = walk_to(place.dir(), parent(path)).ok()?;
    let meta = dir.symlink_metadata(to_os(last(path))).ok()?;
    (meta.is_file() && meta.nlink() > 1).then(|| ((meta.dev(), meta.ino()), meta.nlink()))
}

struct Found {
    wanted: BTreeSet<File>,
    names: BTreeMap<File, Vec<String>>,
}

impl Found {
    /// Looks through everything below; what can't be looked at can't be written to by us either.
    fn below(&mut self, dir: &Dir, path: &str) {
        for name in names(dir) {
            let os = to_os(&name);
            let Ok(meta) = dir.symlink_metadata(&os) else { continue };
            let inner = if path == ROOT { name.clone() } else { join(path, &name) };
            if meta.is_dir() && depth(&inner) < MAX_DEPTH {
                if let Ok(folder) = open_folder(dir, &os) {
                    self.below(&folder, &inner);
                }
            } else if meta.is_file() && self.wanted.contains(&(meta.dev(), meta.ino())) {
                self.names.entry((meta.dev(), meta.ino())).or_default().push(inner);
            }
        }
    }
}
