//! What a restore would find in its way.
//!
//! A restore is a three-way comparison for each path: what is expected there (`after`), what shall be there again
//! (`before`) and what is there **now**. Invariants: only a path that is as expected, or half way there after a crash, or
//! named by [`Force`], is ever changed; planning changes nothing in the folder.

use super::compose::same;
use super::handle::{is_absent, walk_to};
use super::look::{Hashing, Now, look};
use super::name::{ROOT, depth, join, last, parent, parts, to_os, to_text};
use super::put::{in_place_name, is_half_done};
use super::restore::RestoreError;
use super::stat::{Stamp, Stat, mode};
use super::tree::Why;
use crate::blob::BlobSink;
use crate::path::RelPath;
use crate::place::Place;
use cap_std::fs::Dir;
use domain::call::{Effect, Entry};
use domain::erasure::MARK;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Most things a forced restore may remove that it wasn't told of one by one.
const MOST_FORCED: usize = 100_000;
/// Names that are listed of what a folder still holds.
const LISTED: usize = 20;

/// Which paths are restored although they aren't as expected. What is there goes into the blobs first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Force {
    /// None.
    #[default]
    Nothing,
    /// These.
    Paths(BTreeSet<String>),
    /// All.
    All,
}

impl Force {
    fn names(&self, path: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Paths(paths) => paths.contains(path),
            Self::All => true,
        }
    }
}

/// Where one path stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// As expected: it can be restored.
    Ready,
    /// Already what it shall be.
    Done,
    /// It won't be touched.
    Kept {
        /// Why not.
        why: Hindrance,
    },
}

/// Why a path isn't restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Hindrance {
    /// Somebody else changed it since. Forcing it replaces what is there.
    Changed {
        /// What is there now; `None` is nothing.
        now: Option<Entry>,
    },
    /// The folder would have to go and holds things that aren't part of this. Forcing it removes them, too.
    NotEmpty {
        /// Some of their names.
        holds: Vec<String>,
    },
    /// On the way to it stands something that is no folder.
    Blocked {
        /// That path.
        by: String,
    },
    /// It can't be read, so nobody knows whether it is as expected.
    Unreadable,
    /// A file with a registered key in it stands there, of which no copy is kept.
    HoldsKey,
    /// A pipe, socket or device stands there.
    Special,
    /// No copy was kept of what stood there, so it can't be brought back.
    NotKept,
    /// Words of its name were erased from the record, so nobody knows which file it is.
    NameErased,
    /// It belongs to Daybook itself.
    Own,
    /// The system refused.
    Failed {
        /// Its words, without paths.
        error: String,
    },
}

impl Hindrance {
    /// Its code, as events and clients have it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Changed { .. } => "changed",
            Self::NotEmpty { .. } => "not_empty",
            Self::Blocked { .. } => "blocked",
            Self::Unreadable => "unreadable",
            Self::HoldsKey => "holds_key",
            Self::Special => "special",
            Self::NotKept => "not_kept",
            Self::NameErased => "name_erased",
            Self::Own => "own",
            Self::Failed { .. } => "failed",
        }
    }
}

/// One path of a restore: `effect.before` is the goal, `effect.after` what is expected.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) effect: Effect,
    pub(super) now: Now,
    pub(super) state: State,
    /// What a restore of this restore has to bring back: what is there now, or what was expected where a restore was
    /// killed half way.
    pub(super) was: Option<Entry>,
}

/// Says of each path whether it could be restored, in the order given. `keep` is where the present content of changed files
/// goes, so that all three sides can be shown.
///
/// # Errors
/// When a path isn't one, or stands twice; when content can't be kept.
pub fn preview(
    place: &Place,
    wanted: &[Effect],
    keep: Option<&dyn BlobSink>,
) -> Result<Vec<(String, State)>, RestoreError> {
    let steps = plan(place, wanted, &Force::Nothing, keep.unwrap_or(&Hashing), Stage::Asked)?;
    if let Some(blobs) = keep {
        blobs.settle().map_err(RestoreError::Blobs)?;
    }
    let states = |effect: &Effect| Some((effect.path.clone(), steps.get(&effect.path)?.state.clone()));
    Ok(wanted.iter().filter_map(states).collect())
}

/// Has anything been touched yet?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// No: whatever isn't as expected was changed by somebody.
    Asked,
    /// Perhaps: it was on record before the first path was touched, and what is half way there was left so by us.
    Begun,
}

/// Looks at every path and decides what may happen to it.
pub(super) fn plan(
    place: &Place,
    wanted: &[Effect],
    force: &Force,
    blobs: &dyn BlobSink,
    stage: Stage,
) -> Result<BTreeMap<String, Step>, RestoreError> {
    let mut steps = BTreeMap::new();
    for effect in wanted {
        parts(&effect.path).ok_or_else(|| RestoreError::Path { path: effect.path.clone() })?;
        let step = seen(place, effect, force, blobs, stage)?;
        if steps.insert(effect.path.clone(), step).is_some() {
            return Err(RestoreError::Twice { path: effect.path.clone() });
        }
    }
    join_names(&mut steps);
    add_forced(place, &mut steps, force, blobs)?;
    hold_full_folders(place, &mut steps);
    hold_blocked(place, &mut steps);
    Ok(steps)
}

fn seen(
    place: &Place,
    effect: &Effect,
    force: &Force,
    blobs: &dyn BlobSink,
    stage: Stage,
) -> Result<Step, RestoreError> {
    let step = |now, state, was| Step { effect: effect.clone(), now, state, was };
    if effect.path.contains(MARK) {
        return Ok(step(Now::Unreadable, State::Kept { why: Hindrance::NameErased }, None));
    }
    if place.hides(&RelPath::root().join(&effect.path)) {
        return Ok(step(Now::Unreadable, State::Kept { why: Hindrance::Own }, None));
    }
    let now = now(place, &effect.path, blobs)?;
    let begun = stage == Stage::Begun;
    let half_way = begun && is_half_way(now.entry(), effect.before.as_ref(), effect.after.as_ref());
    let (state, was) = match judge(effect, &now, force.names(&effect.path) || half_way) {
        State::Ready if half_way && !same(now.entry(), effect.after.as_ref()) => {
            (State::Ready, effect.after.clone())
        }
        State::Ready => (State::Ready, standing(&now, effect)),
        State::Kept { why: Hindrance::Changed { .. } } if begun && is_in_between(place, effect)? => {
            (State::Ready, effect.after.clone())
        }
        state => (state, None),
    };
    Ok(step(now, state, was))
}

/// Was this file, which has several names, being written in place when a restore was killed?
fn is_in_between(place: &Place, effect: &Effect) -> Result<bool, RestoreError> {
    let Some(goal) = effect.content_before() else { return Ok(false) };
    let Ok(dir) = walk_to(place.dir(), parent(&effect.path)) else { return Ok(false) };
    let beside = in_place_name(last(&effect.path));
    let found = look(&dir, &beside, &Hashing).map_err(RestoreError::Blobs)?;
    Ok(found.entry().and_then(Entry::content) == Some(goal))
}

/// What stands at a path now; nothing where its folder isn't one.
pub(super) fn now(place: &Place, path: &str, blobs: &dyn BlobSink) -> Result<Now, RestoreError> {
    if path == ROOT {
        let Ok(meta) = place.dir().dir_metadata() else { return Ok(Now::Unreadable) };
        return Ok(Now::Is { entry: Entry::Folder { mode: mode(&meta) }, stat: Stat::of(&meta) });
    }
    match walk_to(place.dir(), parent(path)) {
        Ok(dir) => look(&dir, last(path), blobs).map_err(RestoreError::Blobs),
        Err(error) if is_absent(&error) => Ok(Now::Nothing),
        Err(_) => Ok(Now::Unreadable),
    }
}

/// The three-way comparison of one path.
pub(super) fn judge(effect: &Effect, now: &Now, forced: bool) -> State {
    let (goal, expected) = (effect.before.as_ref(), effect.after.as_ref());
    match now {
        Now::Special if is_special(goal) => State::Done,
        Now::Special if is_special(expected) => State::Ready,
        Now::Special => State::Kept { why: Hindrance::Special },
        Now::Unreadable => State::Kept { why: Hindrance::Unreadable },
        Now::HoldsKey => State::Kept { why: Hindrance::HoldsKey },
        Now::Nothing | Now::Is { .. } => {
            let entry = now.entry();
            let left = matches!(now, Now::Is { entry: Entry::File { .. }, stat }
                if Stamp::from(*stat).is_of(expected));
            // Where nothing stands in place of what wasn't covered, nothing is lost by bringing back.
            let went = entry.is_none() && matches!(expected, Some(Entry::Uncovered { .. }));
            match () {
                () if same(entry, goal) => State::Done,
                () if matches!(goal, Some(Entry::Uncovered { .. })) => {
                    State::Kept { why: Hindrance::NotKept }
                }
                () if forced || left || went || same(entry, expected) => State::Ready,
                () => State::Kept { why: Hindrance::Changed { now: entry.cloned() } },
            }
        }
    }
}

fn is_special(entry: Option<&Entry>) -> bool {
    matches!(entry, Some(Entry::Uncovered { why, .. }) if why == Why::Special.code())
}

/// What stands at a path of which a restore may take hold: a pipe is what was expected, or it would be left alone.
pub(super) fn standing(now: &Now, effect: &Effect) -> Option<Entry> {
    match now {
        Now::Special => effect.after.clone(),
        now => now.entry().cloned(),
    }
}

/// Is it what a restore leaves that was killed?
pub(super) fn is_half_way(now: Option<&Entry>, goal: Option<&Entry>, expected: Option<&Entry>) -> bool {
    let is_folder = |entry: Option<&Entry>| matches!(entry, Some(Entry::Folder { .. }));
    match (now, goal, expected) {
        // Content first, then the mode.
        (
            Some(Entry::File { content, mode, .. }),
            Some(Entry::File { content: goal, mode: goal_mode, .. }),
            Some(Entry::File { content: old, mode: old_mode, .. }),
        ) => (content == goal || content == old) && (mode == goal_mode || mode == old_mode),
        // A folder is opened for its owner while things inside are made, and gets its mode at the end.
        (Some(Entry::Folder { .. }), Some(Entry::Folder { .. }), expected) if !is_folder(expected) => true,
        (Some(Entry::Folder { mode: now }), _, Some(Entry::Folder { mode: old })) => {
            *now == old.map(|mode| mode | 0o700)
        }
        // What is replaced by another kind goes first.
        (None, Some(goal), Some(expected)) => is_folder(Some(goal)) != is_folder(Some(expected)),
        _ => false,
    }
}

/// The other names of a file that is half way are half way as well.
fn join_names(steps: &mut BTreeMap<String, Step>) {
    let file = |step: &Step| match &step.now {
        // Where files have no numbers, nobody knows which names are one file.
        Now::Is { entry: Entry::File { .. }, stat } if stat.number != 0 => {
            Some((stat.number, step.effect.content_before()?))
        }
        _ => None,
    };
    let half_way = |step: &&Step| step.state == State::Ready && step.now.entry() != step.was.as_ref();
    let found: BTreeSet<_> = steps.values().filter(half_way).filter_map(file).collect();
    for step in steps.values_mut() {
        let changed = matches!(step.state, State::Kept { why: Hindrance::Changed { .. } });
        if changed && file(step).is_some_and(|one| found.contains(&one)) {
            (step.state, step.was) = (State::Ready, step.effect.after.clone());
        }
    }
}

/// Folders on the way to what will be made, that aren't there: each becomes a step, so that it goes again when this is
/// taken back.
pub(super) fn add_parents(place: &Place, steps: &mut BTreeMap<String, Step>) -> Result<(), RestoreError> {
    let made = |step: &&Step| step.state == State::Ready && step.effect.before.is_some();
    let mut todo: Vec<String> = steps.values().filter(made).map(|step| step.effect.path.clone()).collect();
    while let Some(path) = todo.pop() {
        let above = parent(&path).to_owned();
        if above == ROOT || steps.contains_key(&above) {
            continue;
        }
        let now = now(place, &above, &Hashing)?;
        if now != Now::Nothing {
            continue;
        }
        let before = Some(Entry::Folder { mode: None });
        let effect =
            Effect { path: above.clone(), before, after: None, lines: None, kept_in: None, parted: None };
        steps.insert(above.clone(), Step { effect, now, state: State::Ready, was: None });
        todo.push(above);
    }
    Ok(())
}

/// Where a forced path is a folder that has to go, everything in it has to go as well: each thing becomes a step.
fn add_forced(
    place: &Place,
    steps: &mut BTreeMap<String, Step>,
    force: &Force,
    blobs: &dyn BlobSink,
) -> Result<(), RestoreError> {
    let goes = |step: &&Step| force.names(&step.effect.path) && is_folder_to_go(step);
    let mut folders: Vec<String> = steps.values().filter(goes).map(|step| step.effect.path.clone()).collect();
    let mut added = 0;
    while let Some(folder) = folders.pop() {
        let Ok(dir) = walk_to(place.dir(), &folder) else { continue };
        for name in names(&dir) {
            let path = join(&folder, &name);
            if steps.contains_key(&path) {
                continue;
            }
            added += 1;
            if added > MOST_FORCED {
                return Err(RestoreError::TooMany { path: folder, most: MOST_FORCED });
            }
            let now = look(&dir, &name, blobs).map_err(RestoreError::Blobs)?;
            let entry = now.entry().cloned();
            if matches!(entry, Some(Entry::Folder { .. })) {
                folders.push(path.clone());
            }
            let effect = Effect {
                path: path.clone(),
                before: None,
                after: entry,
                lines: None,
                kept_in: None,
                parted: None,
            };
            let state = judge(&effect, &now, true);
            let was = effect.after.clone();
            steps.insert(path, Step { effect, now, state, was });
        }
    }
    Ok(())
}

fn is_folder_to_go(step: &Step) -> bool {
    step.state == State::Ready
        && matches!(step.now.entry(), Some(Entry::Folder { .. }))
        && !matches!(step.effect.before, Some(Entry::Folder { .. }))
}

/// A folder that has to go but would still hold something stays; and so do those around it.
fn hold_full_folders(place: &Place, steps: &mut BTreeMap<String, Step>) {
    let mut folders: Vec<String> =
        steps.values().filter(|step| is_folder_to_go(step)).map(|step| step.effect.path.clone()).collect();
    folders.sort_by_key(|path| std::cmp::Reverse(depth(path)));
    for folder in folders {
        let Ok(dir) = walk_to(place.dir(), &folder) else { continue };
        let goes = |name: &String| {
            let step = steps.get(&join(&folder, name));
            step.is_some_and(|step| step.effect.before.is_none() && !matches!(step.state, State::Kept { .. }))
        };
        let mut holds: Vec<String> = names(&dir).into_iter().filter(|name| !goes(name)).collect();
        if holds.is_empty() {
            continue;
        }
        holds.sort();
        holds.truncate(LISTED);
        if let Some(step) = steps.get_mut(&folder) {
            step.state = State::Kept { why: Hindrance::NotEmpty { holds } };
        }
    }
}

/// What shall stand in a folder that isn't one, and won't be one, can't be made.
fn hold_blocked(place: &Place, steps: &mut BTreeMap<String, Step>) {
    let made = |step: &&Step| step.state == State::Ready && step.effect.before.is_some();
    let paths: Vec<String> = steps.values().filter(made).map(|step| step.effect.path.clone()).collect();
    // Ascending, so that what holds a folder also holds what is deeper in it.
    for path in paths {
        let blocked = blocks(place, steps, &path);
        if let (Some(by), Some(step)) = (blocked, steps.get_mut(&path)) {
            step.state = State::Kept { why: Hindrance::Blocked { by } };
        }
    }
}

fn blocks(place: &Place, steps: &BTreeMap<String, Step>, path: &str) -> Option<String> {
    let mut above = parent(path);
    while above != ROOT {
        match steps.get(above) {
            Some(step) => {
                let is_folder = |entry| matches!(entry, Some(&Entry::Folder { .. }));
                let stands = match step.state {
                    State::Ready | State::Done => is_folder(step.effect.before.as_ref()),
                    // Also where nothing is: somebody wants it so.
                    State::Kept { .. } => is_folder(step.now.entry()),
                };
                return (!stands).then(|| above.to_owned());
            }
            None => match now(place, above, &Hashing) {
                Ok(Now::Nothing) => above = parent(above),
                Ok(Now::Is { entry: Entry::Folder { .. }, .. }) => return None,
                _ => return Some(above.to_owned()),
            },
        }
    }
    None
}

/// Where something stands at a path, below the folder and as the system names it; `None` where nothing does.
#[must_use]
pub fn standing_at(place: &Place, path: &str) -> Option<PathBuf> {
    let dir = walk_to(place.dir(), parent(path)).ok()?;
    dir.symlink_metadata(os_last(path)).ok()?;
    parts(path).map(|names| names.into_iter().map(to_os).collect())
}

/// Names in a folder, without what half-done saves of ours left.
pub(super) fn names(dir: &Dir) -> Vec<String> {
    let Ok(entries) = dir.entries() else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    names.filter_map(|name| to_text(&name).filter(|text| !is_half_done(text))).collect()
}

/// The name for the system.
pub(super) fn os_last(path: &str) -> std::ffi::OsString {
    to_os(last(path))
}
