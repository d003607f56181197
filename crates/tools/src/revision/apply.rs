//! Carrying out a restore, step by step.
//!
//! Order: what has to go, the deepest first; then folders, files and links, the shallowest first; at last the modes of
//! folders, the deepest first, so that a read-only folder can be filled. Invariants: each path is looked at again right
//! before it is changed; a file is replaced whole or not at all, unless it has several names; a path that fails is
//! reported and the others go on.

use super::handle::{is_absent, open_folder, walk_to};
use super::links::{Puts, apart};
use super::look::{Now, is_still, look};
use super::name::{ROOT, depth, join, last, parent, parts, to_os};
use super::plan::{Hindrance, State, Step, is_half_way, judge, names, os_last, standing};
use super::put::{self, Stop};
use super::restore::{Kept, RestoreError};
use super::stat::mode;
use crate::blob::BlobSink;
use crate::place::Place;
use cap_std::fs::Dir;
use domain::call::{Effect, Entry, Parted};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};

/// Breaks a restore off before one of its steps, as a crash would.
#[derive(Debug)]
pub(super) struct Fuse(Option<usize>);

impl Fuse {
    /// Never breaks off.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Breaks off after so many steps.
    #[cfg(test)]
    pub(super) fn after(steps: usize) -> Self {
        Self(Some(steps))
    }

    pub(super) fn step(&mut self) -> Result<(), Stop> {
        match &mut self.0 {
            None => Ok(()),
            Some(0) => Err(Stop::BrokenOff),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }
}

/// A restore that runs.
pub(super) struct Apply<'a> {
    place: &'a Place,
    blobs: &'a dyn BlobSink,
    fuse: &'a mut Fuse,
    /// Paths that get a file of their own instead of being written into one that has other names.
    apart: BTreeMap<String, Parted>,
    /// The folder that was reached last.
    at: Option<(String, Dir)>,
    /// Folders that were opened for writing, and the mode they had.
    opened: BTreeMap<String, u32>,
    /// Folders whose names changed.
    touched: BTreeSet<String>,
    out: Applied,
}

/// What became of the steps.
#[derive(Debug, Default)]
pub(super) struct Applied {
    pub(super) done: Vec<Effect>,
    pub(super) kept: Vec<Kept>,
}

impl<'a> Apply<'a> {
    pub(super) fn new(place: &'a Place, blobs: &'a dyn BlobSink, fuse: &'a mut Fuse) -> Self {
        let (opened, touched, out) = (BTreeMap::new(), BTreeSet::new(), Applied::default());
        Self { place, blobs, fuse, apart: BTreeMap::new(), at: None, opened, touched, out }
    }

    /// Does all of it.
    pub(super) fn run(mut self, mut steps: Vec<Step>) -> Result<Applied, RestoreError> {
        self.apart = apart(self.place, steps.iter().map(Puts::of_step));
        // Stable sorts: within one depth the order is that of the paths.
        steps.sort_by_key(|step| std::cmp::Reverse(depth(&step.effect.path)));
        let mut failed = BTreeSet::new();
        for step in steps.iter().filter(|step| has_to_go(step)) {
            let gone = self.remove(step);
            if !self.note(step, gone)? {
                failed.insert(step.effect.path.clone());
            }
        }
        let (gone, mut made): (Vec<Step>, Vec<Step>) =
            steps.into_iter().partition(|step| step.effect.before.is_none());
        let goes = |step: &Step| !failed.contains(&step.effect.path);
        self.out.done.extend(gone.iter().filter(|step| goes(step)).map(done));
        made.retain(goes);
        made.sort_by_key(|step| depth(&step.effect.path));
        let mut modes = Vec::new();
        for step in made {
            let put = self.put(&step);
            if self.note(&step, put)? {
                modes.push(step);
            }
        }
        for step in modes.into_iter().rev() {
            let set = self.folder_mode(&step);
            if self.note(&step, set)? {
                self.out.done.push(done(&step));
            }
        }
        self.close()?;
        Ok(self.out)
    }

    /// Reports a step that failed; `true` is one that didn't.
    fn note(&mut self, step: &Step, result: Result<Option<Hindrance>, Stop>) -> Result<bool, RestoreError> {
        let why = match result {
            Ok(None) => return Ok(true),
            Ok(Some(why)) => why,
            Err(Stop::BrokenOff) => return Err(RestoreError::BrokenOff),
            Err(Stop::Io(error)) => Hindrance::Failed { error: crate::tool::bare(&error) },
        };
        self.out.kept.push(Kept { path: step.effect.path.clone(), why });
        Ok(false)
    }

    fn remove(&mut self, step: &Step) -> Result<Option<Hindrance>, Stop> {
        let path = &step.effect.path;
        if let Some(why) = self.look_again(step)? {
            return Ok(Some(why));
        }
        self.fuse.step()?;
        let os = os_last(path);
        let is_folder = matches!(step.now.entry(), Some(Entry::Folder { .. }));
        let removed = self.in_folder(path, |dir| match is_folder {
            true => put::remove_folder(dir, &os),
            false => put::remove_file(dir, &os),
        });
        match removed {
            Err(Stop::Io(error)) if is_absent(&error) => Ok(None),
            Err(Stop::Io(error)) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                let holds = walk_to(self.place.dir(), path).map(|dir| names(&dir)).unwrap_or_default();
                Ok(Some(Hindrance::NotEmpty { holds }))
            }
            other => other.map(|()| None),
        }
    }

    fn put(&mut self, step: &Step) -> Result<Option<Hindrance>, Stop> {
        let path = &step.effect.path;
        if path == ROOT {
            return Ok(None);
        }
        // What had to go has gone; anything else is looked at again.
        let now = match has_to_go(step) {
            true => Now::Nothing,
            false => match self.look_again(step)? {
                Some(why) => return Ok(Some(why)),
                None => step.now.clone(),
            },
        };
        self.make_parents(path)?;
        self.fuse.step()?;
        match &step.effect.before {
            Some(Entry::Folder { mode }) if now == Now::Nothing => {
                let os = os_last(path);
                self.in_folder(path, |dir| put::make_folder(dir, &os, *mode))?;
            }
            // What wasn't kept is never planned for.
            None | Some(Entry::Folder { .. } | Entry::Uncovered { .. }) => {}
            Some(Entry::Link { target }) => {
                let target = to_os(target);
                self.in_folder(path, |dir| put::put_link(dir, last(path), &target))?;
            }
            Some(Entry::File { content, mode, .. }) => {
                let apart = self.apart.contains_key(path);
                let same = now.entry().and_then(Entry::content) == Some(*content) && !apart;
                if same {
                    let os = os_last(path);
                    self.in_folder(path, |dir| put::set_mode(dir, &os, *mode))?;
                    put::sweep(self.place, &step.effect);
                } else {
                    let bytes = self.blobs.get(content)?;
                    self.put_file(path, &bytes, *mode, &now)?;
                }
            }
        }
        Ok(None)
    }

    fn put_file(&mut self, path: &str, bytes: &[u8], mode: Option<u32>, now: &Now) -> Result<(), Stop> {
        let name = last(path);
        let replaces = matches!(now.entry(), Some(Entry::File { .. }));
        let into = if self.apart.contains_key(path) { put::Into::Apart } else { put::Into::AllNames };
        let new =
            self.in_folder(path, |dir| put::write_beside(dir, name, bytes, mode, replaces.then_some(into)))?;
        self.fuse.step()?;
        match new {
            put::Beside::Replaces => self.in_folder(path, |dir| put::rename_over(dir, name)),
            put::Beside::InPlace => {
                self.in_folder(path, |dir| put::begin_in_place(dir, name))?;
                self.fuse.step()?;
                self.in_folder(path, |dir| put::write_in_place(dir, name, &bytes[..bytes.len() / 2], None))?;
                self.fuse.step()?;
                self.in_folder(path, |dir| put::write_in_place(dir, name, bytes, mode))?;
                self.fuse.step()?;
                self.in_folder(path, |dir| put::end_in_place(dir, name))
            }
        }
    }

    /// Sets the mode of a folder that is otherwise as it shall be.
    fn folder_mode(&mut self, step: &Step) -> Result<Option<Hindrance>, Stop> {
        let path = &step.effect.path;
        let Some(Entry::Folder { mode: Some(goal) }) = step.effect.before else { return Ok(None) };
        self.opened.remove(path);
        let dir = match path == ROOT {
            true => self.place.dir().try_clone()?,
            false => walk_to(self.place.dir(), path)?,
        };
        if mode(&dir.dir_metadata()?).is_some_and(|now| now != goal) {
            self.fuse.step()?;
            put::set_folder_mode(&dir, goal)?;
        }
        Ok(None)
    }

    /// Has somebody changed the path since the plan was made? Then it is judged anew, against what was seen then.
    fn look_again(&mut self, step: &Step) -> Result<Option<Hindrance>, Stop> {
        let path = &step.effect.path;
        let dir = match walk_to(self.place.dir(), parent(path)) {
            Ok(dir) => dir,
            Err(error) if is_absent(&error) => {
                let here = step.now == Now::Nothing;
                return Ok((!here).then_some(Hindrance::Changed { now: None }));
            }
            Err(error) => return Err(error.into()),
        };
        if is_still(&dir, last(path), &step.now) {
            return Ok(None);
        }
        let now = look(&dir, last(path), self.blobs)?;
        self.blobs.settle()?;
        let seen = Effect { after: standing(&step.now, &step.effect), ..step.effect.clone() };
        let ours = is_half_way(now.entry(), seen.before.as_ref(), seen.after.as_ref());
        match judge(&seen, &now, ours) {
            State::Ready | State::Done => Ok(None),
            State::Kept { why } => Ok(Some(why)),
        }
    }

    /// Makes the folders on the way to a path that aren't there.
    fn make_parents(&mut self, path: &str) -> Result<(), Stop> {
        let above = parent(path).to_owned();
        if self.at.as_ref().is_some_and(|(at, _)| *at == above) {
            return Ok(());
        }
        let mut dir = self.place.dir().try_clone()?;
        let mut reached = ROOT.to_owned();
        for name in parts(&above).ok_or(ErrorKind::InvalidInput)? {
            let os = to_os(name);
            let next = join(&reached, name);
            dir = match open_folder(&dir, &os) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.fuse.step()?;
                    self.in_folder(&next, |dir| put::make_folder(dir, &os, None))?;
                    let made = open_folder(&dir, &os)?;
                    let after = Some(Entry::Folder { mode: mode(&made.dir_metadata()?) });
                    self.out.done.push(Effect {
                        path: next.clone(),
                        before: None,
                        after,
                        lines: None,
                        kept_in: None,
                        parted: None,
                    });
                    made
                }
                opened => opened?,
            };
            reached = next;
        }
        Ok(())
    }

    /// Does something in the folder of a path; one that its owner may not write is opened for it and closed at the end.
    fn in_folder<T>(&mut self, path: &str, act: impl Fn(&Dir) -> io::Result<T>) -> Result<T, Stop> {
        let above = parent(path);
        if self.at.as_ref().is_none_or(|(at, _)| at != above) {
            self.at = Some((above.to_owned(), walk_to(self.place.dir(), above)?));
        }
        let Some((_, dir)) = &self.at else { return Err(io::Error::from(ErrorKind::NotFound).into()) };
        self.touched.insert(above.to_owned());
        match act(dir) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                let Some(old) = mode(&dir.dir_metadata()?).filter(|mode| mode & 0o300 != 0o300) else {
                    return Err(error.into());
                };
                put::set_folder_mode(dir, old | 0o700)?;
                self.opened.entry(above.to_owned()).or_insert(old);
                Ok(act(dir)?)
            }
            done => Ok(done?),
        }
    }

    /// Gives opened folders their modes back and makes the names durable.
    fn close(&mut self) -> Result<(), RestoreError> {
        self.at = None;
        for (path, mode) in std::mem::take(&mut self.opened).into_iter().rev() {
            // A folder that has gone since needs no mode.
            if let Ok(dir) = walk_to(self.place.dir(), &path) {
                let _ = put::set_folder_mode(&dir, mode);
            }
        }
        for path in std::mem::take(&mut self.touched) {
            // The names are there; a disk that can't be synced says so with the next file.
            let _ = walk_to(self.place.dir(), &path).and_then(|dir| crate::save::sync_dir(&dir));
        }
        Ok(())
    }
}

/// Does something have to go first, because there shall be nothing, or a folder instead of something else, or the
/// other way round?
fn has_to_go(step: &Step) -> bool {
    let is_folder = |entry: Option<&Entry>| matches!(entry, Some(Entry::Folder { .. }));
    let (now, goal) = (step.now.entry(), step.effect.before.as_ref());
    let differs = now.is_some() && (goal.is_none() || is_folder(now) != is_folder(goal));
    // A pipe, which is only here where it was expected.
    differs || step.now == Now::Special
}

fn done(step: &Step) -> Effect {
    Effect {
        path: step.effect.path.clone(),
        before: step.was.clone(),
        after: step.effect.before.clone(),
        lines: None,
        kept_in: None,
        parted: step.effect.parted.clone(),
    }
}
