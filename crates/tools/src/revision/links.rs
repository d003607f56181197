//! Files with several names: what is written into one shows in all of them.
//!
//! A restore writes into such a file only where every other name in the folder shall get the same; otherwise the name it
//! is about gets a file **apart**, and the others keep what they show. Names outside the folder are unknown and follow, as
//! they followed the change that is taken back. Whatever is kept out of sight is kept out under each of its files' names, and
//! where not all names could be looked for, that is said.

use super::bounds::Bounds;
use super::handle::{is_absent, open_folder, walk_to};
use super::name::{MAX_DEPTH, ROOT, depth, join, last, parent, to_os};
use super::plan::{Step, names};
use crate::place::Place;
use cap_fs_ext::MetadataExt as _;
use cap_std::fs::Dir;
use domain::call::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Paths among the steps that get a file of their own.
pub(super) fn apart(place: &Place, steps: &[Step]) -> BTreeSet<String> {
    let mut shared: BTreeMap<File, (u64, Vec<&Step>)> = BTreeMap::new();
    for step in steps.iter().filter(|step| writes(step)) {
        if let Some((file, names)) = shared_file(place, &step.effect.path) {
            shared.entry(file).or_insert_with(|| (names, Vec::new())).1.push(step);
        }
    }
    if shared.is_empty() {
        return BTreeSet::new();
    }
    let mut found = Found::of(shared.iter().map(|(file, (names, _))| (*file, *names)));
    let whole = found.below(place.dir(), ROOT);
    let mut apart = BTreeSet::new();
    for (file, (_, steps)) in shared {
        let names = found.names.remove(&file).unwrap_or_default();
        let goal = steps.first().and_then(|step| step.effect.before.clone());
        let all_alike = whole
            && names.iter().all(|name| {
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
    /// Those in the folder, in order.
    pub(crate) inside: Vec<String>,
    /// How many more there are: outside, or in a folder too large to be looked through.
    pub(crate) unseen: u64,
}

/// By which other names a file of the folder is known. Looks through the folder until it has found all there are, if
/// there are any, in ignored folders too.
pub(crate) fn other_names(place: &Place, path: &str) -> OtherNames {
    let Some((file, count)) = shared_file(place, path) else { return OtherNames::default() };
    let mut found = Found::of([(file, count)]);
    found.below(place.dir(), ROOT);
    let mut names = found.names.remove(&file).unwrap_or_default();
    let unseen = count.saturating_sub(names.len() as u64);
    names.retain(|name| name != path);
    names.sort();
    OtherNames { inside: names, unseen }
}

/// The name of a secret file that this file is known by, too, where there is one: as calls say it.
pub(crate) fn secret_name(place: &Place, path: &str) -> Option<String> {
    let mut names = other_names(place, path).inside.into_iter();
    let secret = names.find(|name| crate::path::is_secret(name))?;
    crate::path::RelPath::parse(&secret).ok().map(|secret| place.say(&secret))
}

/// Names that files at a path and below have elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    /// Those in the folder, in order, and not below the path.
    pub(crate) names: Vec<String>,
    /// Can't it be told that there are no more which a call could reach?
    pub(crate) more: bool,
}

/// Most entries that are looked at for names elsewhere, and most of such names: beyond that it can't be told.
const LOOKED_AT: usize = 200_000;
const MOST_NAMES: usize = 200;

/// By which names outside of each path its files are known; paths without any are left out. Looks through the folder only
/// where a file has several names, and then through the added folders, too, where one that is left might be.
pub(crate) fn elsewhere(place: &Place, paths: &[String], added: &[&Place]) -> BTreeMap<String, Elsewhere> {
    let mut kept = Kept { left: LOOKED_AT, files: BTreeMap::new(), unsure: BTreeSet::new() };
    for path in paths {
        kept.at(place.dir(), path);
    }
    let mut found = Found::of(kept.files.iter().map(|(file, (count, _))| (*file, *count)));
    found.left = LOOKED_AT;
    let mut whole = found.below(place.dir(), ROOT);
    let names = std::mem::take(&mut found.names);
    // A name that isn't found in an added folder either can't be reached.
    whole &= added.iter().all(|added| found.below(added.dir(), ROOT));
    let mut all: BTreeMap<String, Elsewhere> = BTreeMap::new();
    for (file, (_, paths)) in &kept.files {
        let outside = |path: &str, name: &str| !crate::path::is_inside(name, path);
        for path in paths {
            let one = all.entry(path.clone()).or_default();
            one.names
                .extend(names.get(file).into_iter().flatten().filter(|name| outside(path, name)).cloned());
            one.more |= found.names.contains_key(file) || (!whole && found.wanted.contains_key(file));
        }
    }
    for path in kept.unsure {
        all.entry(path).or_default().more = true;
    }
    for one in all.values_mut() {
        one.names.sort();
        // What can't be said as a path can't be kept out by it.
        one.more |= one.names.len() > MOST_NAMES || one.names.iter().any(|name| to_os(name) != name.as_str());
    }
    all.retain(|_, one| one.more || !one.names.is_empty());
    all
}

/// Files with several names at and below paths that are kept out.
struct Kept {
    /// How many more entries may be looked at.
    left: usize,
    /// How many names each has, and below which of the paths it was found.
    files: BTreeMap<File, (u64, BTreeSet<String>)>,
    /// Paths that couldn't be looked through.
    unsure: BTreeSet<String>,
}

impl Kept {
    fn at(&mut self, root: &Dir, path: &str) {
        let looked = match walk_to(root, parent(path)).map(|dir| self.entry(&dir, last(path), path, 0)) {
            Ok(looked) => looked,
            Err(error) => is_absent(&error),
        };
        if !looked {
            self.unsure.insert(path.to_owned());
        }
    }

    /// Looks at one entry and what is below; false when that wasn't possible.
    fn entry(&mut self, dir: &Dir, name: &str, path: &str, depth: usize) -> bool {
        let os = to_os(name);
        let meta = match dir.symlink_metadata(&os) {
            Ok(meta) => meta,
            Err(error) => return is_absent(&error),
        };
        if self.left == 0 || depth > MAX_DEPTH {
            return false;
        }
        self.left -= 1;
        if meta.is_dir() {
            return match open_folder(dir, &os) {
                Ok(folder) => names(&folder).iter().all(|inner| self.entry(&folder, inner, path, depth + 1)),
                Err(error) => is_absent(&error),
            };
        }
        if meta.is_file() && meta.nlink() > 1 {
            let known = self.files.entry((meta.dev(), meta.ino())).or_default();
            known.0 = meta.nlink();
            known.1.insert(path.to_owned());
        }
        true
    }
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
    /// How many names of each file are still to be found.
    wanted: BTreeMap<File, u64>,
    names: BTreeMap<File, Vec<String>>,
    /// How many more entries may be looked at.
    left: usize,
}

impl Found {
    fn of(wanted: impl IntoIterator<Item = (File, u64)>) -> Self {
        Self { wanted: wanted.into_iter().collect(), names: BTreeMap::new(), left: Bounds::default().entries }
    }

    /// Looks through everything below, until all names are found; false when that was too much. What can't be looked at
    /// can't be written to by us either.
    fn below(&mut self, dir: &Dir, path: &str) -> bool {
        for name in names(dir) {
            if self.wanted.is_empty() {
                return true;
            }
            if self.left == 0 {
                return false;
            }
            self.left -= 1;
            let os = to_os(&name);
            let Ok(meta) = dir.symlink_metadata(&os) else { continue };
            let inner = if path == ROOT { name.clone() } else { join(path, &name) };
            if meta.is_dir() {
                // Names that lie deeper aren't looked for.
                if depth(&inner) >= MAX_DEPTH {
                    return false;
                }
                if open_folder(dir, &os).is_ok_and(|folder| !self.below(&folder, &inner)) {
                    return false;
                }
            } else if meta.is_file() {
                self.meet((meta.dev(), meta.ino()), inner);
            }
        }
        true
    }

    fn meet(&mut self, file: File, name: String) {
        let Some(more) = self.wanted.get_mut(&file) else { return };
        *more -= 1;
        if *more == 0 {
            self.wanted.remove(&file);
        }
        self.names.entry(file).or_default().push(name);
    }
}
