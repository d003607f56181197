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
use crate::path::{RelPath, find_secrets};
use crate::place::Place;
use cap_fs_ext::MetadataExt as _;
use cap_std::fs::{Dir, Metadata};
use domain::call::{Effect, Entry, Parted};
use std::collections::{BTreeMap, BTreeSet};
use tokio_util::sync::CancellationToken;

/// What a restore does to one path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Puts<'a> {
    path: &'a str,
    now: Option<&'a Entry>,
    goal: Option<&'a Entry>,
}

impl<'a> Puts<'a> {
    /// As a step that is about to be done says it.
    pub(super) fn of_step(step: &'a Step) -> Self {
        Self { path: &step.effect.path, now: step.now.entry(), goal: step.effect.before.as_ref() }
    }

    /// As a planned step says it, whose `after` is what stands there.
    fn planned(step: &'a Effect) -> Self {
        Self { path: &step.path, now: step.after.as_ref(), goal: step.before.as_ref() }
    }

    /// Does it write into a file that is there?
    fn writes(&self) -> bool {
        is_file(self.now) && is_file(self.goal)
    }
}

fn is_file(entry: Option<&Entry>) -> bool {
    matches!(entry, Some(Entry::File { .. }))
}

/// Paths that get a file of their own, each with the names it leaves behind.
pub(super) fn apart<'a>(place: &Place, steps: impl Iterator<Item = Puts<'a>>) -> BTreeMap<String, Parted> {
    let mut shared: BTreeMap<File, (u64, Vec<Puts<'a>>)> = BTreeMap::new();
    for step in steps.filter(Puts::writes) {
        if let Some((file, names)) = shared_file(place, step.path) {
            shared.entry(file).or_insert_with(|| (names, Vec::new())).1.push(step);
        }
    }
    if shared.is_empty() {
        return BTreeMap::new();
    }
    let mut found = Found::of(shared.iter().map(|(file, (names, _))| (*file, *names)));
    let whole = found.below(place.dir(), ROOT);
    let mut apart = BTreeMap::new();
    for (file, (count, steps)) in shared {
        let names = found.names.remove(&file).unwrap_or_default();
        let goal = steps.first().and_then(|step| step.goal);
        let all_alike = whole
            && names.iter().all(|name| {
                let step = steps.iter().find(|step| step.path == name);
                step.is_some_and(|step| step.goal == goal)
            });
        if !all_alike {
            let unseen = count.saturating_sub(names.len() as u64);
            apart.extend(steps.iter().map(|step| {
                let others = names.iter().filter(|name| *name != step.path).cloned().collect();
                (step.path.to_owned(), Parted::of(others, unseen).unwrap_or_default())
            }));
        }
    }
    apart
}

/// Says of each planned step whether its path will be a file of its own although it was one with other names: now, or before
/// what is taken back. `wanted` is what is taken back.
pub fn tell_parted(place: &Place, steps: &mut [Effect], wanted: &[Effect]) {
    let apart = apart(place, steps.iter().map(Puts::planned));
    let made: BTreeSet<String> =
        steps.iter().filter(|step| is_file(step.before.as_ref())).map(|step| step.path.clone()).collect();
    for step in steps.iter_mut().filter(|step| is_file(step.before.as_ref())) {
        let before =
            wanted.iter().find(|effect| effect.path == step.path).and_then(|one| one.parted.as_ref());
        step.parted = match apart.get(&step.path) {
            Some(parted) => Some(parted.clone()),
            None => before.and_then(|parted| still_parted(place, &step.path, parted, &made)),
        };
    }
}

/// Names that a path was one with and isn't now, as far as they are there, or will be.
fn still_parted(place: &Place, path: &str, parted: &Parted, made: &BTreeSet<String>) -> Option<Parted> {
    let own = file(place, path);
    let other = |name: &String| match file(place, name) {
        Some(there) => own != Some(there),
        None => made.contains(name),
    };
    let names = parted.names.iter().filter(|name| other(name)).cloned().collect();
    // Where it has other names now, those may be the ones that nobody saw.
    let more = if shared_file(place, path).is_some() { 0 } else { parted.more };
    Parted::of(names, more)
}

/// The other names of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OtherNames {
    /// Those in the folder, in order.
    pub(crate) inside: Vec<String>,
    /// How many more there are: outside, or in a folder too large to be looked through.
    pub(crate) unseen: u64,
}

impl OtherNames {
    /// As an effect has them after which the file isn't one with them.
    pub(crate) fn parted(self) -> Option<Parted> {
        Parted::of(self.inside, self.unseen)
    }
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

/// Secret files that have several names, in whatever folder a call could look into. Under each of its names such a file is a
/// secret, also where that name lies in another folder.
pub(crate) struct SecretFiles {
    /// The name that says so, as calls say it.
    names: BTreeMap<File, String>,
    /// Were all the folders looked through?
    whole: bool,
}

impl SecretFiles {
    /// None yet.
    pub(crate) fn none() -> Self {
        Self { names: BTreeMap::new(), whole: true }
    }

    /// Those of all these folders, in ignored ones too.
    pub(crate) fn of<'p>(places: impl IntoIterator<Item = &'p Place>, cancel: &CancellationToken) -> Self {
        let mut files = Self::none();
        places.into_iter().for_each(|place| files.look(place, cancel));
        files
    }

    /// Looks through one more folder.
    pub(crate) fn look(&mut self, place: &Place, cancel: &CancellationToken) {
        let (secrets, whole) = find_secrets(place.dir(), Bounds::default().entries, cancel);
        self.add(place, &secrets);
        self.whole &= whole;
    }

    /// Takes note of what was found in a folder.
    pub(crate) fn add(&mut self, place: &Place, secrets: &[String]) {
        for path in secrets {
            if let Some((file, _)) = shared_file(place, path) {
                let said = RelPath::parse(path).map_or_else(|_| path.clone(), |path| place.say(&path));
                self.names.entry(file).or_insert(said);
            }
        }
    }

    /// The name that says that this file holds secrets.
    pub(crate) fn name(&self, meta: &Metadata) -> Option<&str> {
        self.names.get(&(meta.dev(), meta.ino())).map(String::as_str)
    }

    /// Does a folder hold files with several names that aren't among these, as far as it is looked through?
    pub(crate) fn leave_open(&self, place: &Place) -> bool {
        let mut left = LOOKED_AT;
        let looked = through(place.dir(), ROOT, &mut left, &mut |meta, _| {
            if meta.nlink() > 1 && self.name(meta).is_none() { Looked::Enough } else { Looked::On }
        });
        looked != Looked::On
    }

    /// By which names these files are in a folder; `None` where that can't be told, or said as paths.
    pub(crate) fn met_in(&self, place: &Place) -> Option<Vec<String>> {
        if self.names.is_empty() && self.whole {
            return Some(Vec::new());
        }
        let (mut met, mut left) = (Vec::new(), LOOKED_AT);
        let looked = through(place.dir(), ROOT, &mut left, &mut |meta, path| {
            let known = self.name(meta).is_some();
            // It may be one of those that weren't found.
            let unknown = !known && !self.whole && meta.nlink() > 1;
            if known {
                met.push(path);
            }
            if unknown || met.len() > MOST_NAMES { Looked::TooMuch } else { Looked::On }
        });
        let said = met.iter().all(|name| to_os(name) == name.as_str());
        (looked != Looked::TooMuch && said).then_some(met)
    }
}

/// The name of a secret file that the file at a path is, too, where there is one: as calls say it. `places` are all folders
/// that calls can look into.
pub(crate) fn secret_name<'p>(
    place: &Place,
    path: &str,
    places: impl IntoIterator<Item = &'p Place>,
    cancel: &CancellationToken,
) -> Option<String> {
    let (file, _) = shared_file(place, path)?;
    SecretFiles::of(places, cancel).names.remove(&file)
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
    let meta = file_meta(place, path)?;
    (meta.nlink() > 1).then(|| ((meta.dev(), meta.ino()), meta.nlink()))
}

/// Which file stands at a path.
fn file(place: &Place, path: &str) -> Option<File> {
    file_meta(place, path).map(|meta| (meta.dev(), meta.ino()))
}

fn file_meta(place: &Place, path: &str) -> Option<Metadata> {
    let dir = walk_to(place.dir(), parent(path)).ok()?;
    dir.symlink_metadata(to_os(last(path))).ok().filter(Metadata::is_file)
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
        if self.wanted.is_empty() {
            return true;
        }
        let mut left = self.left;
        let looked = through(dir, path, &mut left, &mut |meta, name| {
            self.meet((meta.dev(), meta.ino()), name);
            if self.wanted.is_empty() { Looked::Enough } else { Looked::On }
        });
        self.left = left;
        looked != Looked::TooMuch
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

/// How a look through a folder goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    /// It goes on.
    On,
    /// What was looked for is found.
    Enough,
    /// There is more than is looked at.
    TooMuch,
}

/// Gives each file below with its path, as long as that is answered with going on.
fn through(
    dir: &Dir,
    path: &str,
    left: &mut usize,
    each: &mut dyn FnMut(&Metadata, String) -> Looked,
) -> Looked {
    for name in names(dir) {
        if *left == 0 {
            return Looked::TooMuch;
        }
        *left -= 1;
        let os = to_os(&name);
        let Ok(meta) = dir.symlink_metadata(&os) else { continue };
        let inner = if path == ROOT { name } else { join(path, &name) };
        let looked = if meta.is_dir() {
            match open_folder(dir, &os) {
                // Names that lie deeper aren't looked for.
                _ if depth(&inner) >= MAX_DEPTH => Looked::TooMuch,
                Ok(folder) => through(&folder, &inner, left, each),
                Err(_) => Looked::On,
            }
        } else if meta.is_file() {
            each(&meta, inner)
        } else {
            Looked::On
        };
        if looked != Looked::On {
            return looked;
        }
    }
    Looked::On
}
