//! Looking at everything in the folder, without reading any content.
//!
//! A **scan** opens each folder from its parent's handle, not through a link, and takes the stat of each entry; a few
//! threads share the folders. Invariants: nothing outside the folder and nothing on another disk is looked at; a folder's
//! number is larger than its parent's; what isn't covered is in the scan with the reason.

use super::bounds::Bounds;
use super::handle::{is_absent, open_file, open_folder};
use super::held::Held;
use super::index::Index;
use super::known::Known;
use super::name::{MAX_DEPTH, ROOT, depth, join, to_os, to_text};
use super::put::is_half_done;
use super::rules::Rules;
use super::stat::{self, Stamp, Stat, disk, mode};
use super::tree::Why;
use crate::path::RelPath;
use crate::place::Place;
use cap_std::fs::{Dir, Metadata};
use domain::digest::Digest;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Threads that look or read at the same time.
pub(super) const THREADS: usize = 4;

/// One folder as it was found.
#[derive(Debug, Default)]
pub(super) struct Folder {
    pub(super) path: String,
    pub(super) mode: Option<u32>,
    /// Ascending by name.
    pub(super) items: Vec<Item>,
    /// What is known of it, where all in it is as it was, but for what is inside of its folders.
    pub(super) same: Option<Arc<Known>>,
    /// Was it there to be looked into?
    pub(super) found: Found,
    /// Files in it that have several names, covered or not.
    pub(super) shared: Vec<Shared>,
}

/// A file with several names, seen by one of them.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) name: String,
    pub(super) number: u64,
    /// How many names it has.
    pub(super) names: u64,
}

/// What became of a folder when its turn came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Found {
    #[default]
    Read,
    /// It has gone since its parent was read.
    Gone,
    LeftOut(Why),
}

/// One entry as it was found.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// What it is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// The content is there when it is known without reading.
    File {
        stat: Stat,
        mode: Option<u32>,
        content: Option<Digest>,
    },
    Link {
        target: String,
    },
    /// Gone since the folder was read.
    Gone,
    /// The number of that folder.
    Folder(usize),
    LeftOut {
        why: Why,
        stamp: Option<Stamp>,
    },
}

/// Why a folder can't be looked at.
#[derive(Debug)]
pub(super) enum Failed {
    /// The folder itself can't be read.
    Root(io::Error),
    /// It has more entries than a revision may have.
    TooMany,
    /// It was told to stop.
    Cancelled,
}

/// Looks at everything, and recognises what the index knows; the folders by number, the root first.
pub(super) fn scan(
    place: &Place,
    index: &Index,
    bounds: &Bounds,
    held: &Held<'_>,
    cancel: &CancellationToken,
) -> Result<Vec<Folder>, Failed> {
    let meta = place.dir().dir_metadata().map_err(Failed::Root)?;
    let root = Job { number: 0, above: None, path: ROOT.to_owned(), rules: Rules::default() };
    let work = Work { jobs: vec![root], open: 1, folders: vec![None], entries: 0, failed: None };
    let (disk, work) = (disk(&meta), Mutex::new(work));
    let scan = Scan { place, index, bounds, held, cancel, disk, work, wake: Condvar::new() };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| scan.run());
        }
        scan.run();
    });
    let work = scan.work.into_inner().unwrap_or_else(PoisonError::into_inner);
    match work.failed {
        Some(failed) => Err(failed),
        None => Ok(work.folders.into_iter().flatten().collect()),
    }
}

struct Scan<'a> {
    place: &'a Place,
    index: &'a Index,
    bounds: &'a Bounds,
    held: &'a Held<'a>,
    cancel: &'a CancellationToken,
    disk: u64,
    work: Mutex<Work>,
    wake: Condvar,
}

/// A folder to look at: opened only when its turn comes, so that few are open at once.
struct Job {
    number: usize,
    above: Option<(Arc<Dir>, OsString)>,
    path: String,
    rules: Rules,
}

struct Work {
    /// The newest first: deep before wide keeps few handles open.
    jobs: Vec<Job>,
    /// Jobs that wait or run.
    open: usize,
    folders: Vec<Option<Folder>>,
    entries: usize,
    failed: Option<Failed>,
}

impl Scan<'_> {
    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        while let Some(job) = self.next() {
            let done = self.folder(job);
            let mut work = self.lock();
            work.open -= 1;
            if let Err(failed) = done {
                work.failed.get_or_insert(failed);
            }
            self.wake.notify_all();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut work = self.lock();
        loop {
            if self.cancel.is_cancelled() {
                work.failed.get_or_insert(Failed::Cancelled);
            }
            if work.failed.is_some() || work.open == 0 {
                return None;
            }
            if let Some(job) = work.jobs.pop() {
                return Some(job);
            }
            work = self.wake.wait(work).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn folder(&self, job: Job) -> Result<(), Failed> {
        let opened = match &job.above {
            None => self.place.dir().try_clone(),
            Some((above, name)) => open_folder(above, name),
        };
        let read = opened.and_then(|dir| {
            let meta = dir.dir_metadata()?;
            let found: Vec<_> = dir.entries()?.collect::<io::Result<_>>()?;
            Ok((dir, meta, found))
        });
        let not_read = |path: String, found| {
            let folder = Folder { path, found, ..Folder::default() };
            self.lock().folders[job.number] = Some(folder);
            Ok(())
        };
        let (dir, meta, found) = match read {
            Ok(read) => read,
            Err(error) if job.above.is_none() => return Err(Failed::Root(error)),
            Err(error) if is_absent(&error) => return not_read(job.path, Found::Gone),
            Err(_) => return not_read(job.path, Found::LeftOut(Why::Unreadable)),
        };
        if self.disk != disk(&meta) {
            return not_read(job.path, Found::LeftOut(Why::OtherDisk));
        }
        let names: Vec<OsString> = found.iter().map(cap_std::fs::DirEntry::file_name).collect();
        let rules = job.rules.below(&dir, &job.path, &names);
        let mut folder = Folder { path: job.path, mode: mode(&meta), ..Folder::default() };
        folder.items.reserve(found.len());
        for (entry, name) in found.iter().zip(names) {
            if self.cancel.is_cancelled() {
                return Err(Failed::Cancelled);
            }
            // What has gone since the folder was read isn't there.
            let Ok(meta) = entry.metadata() else { continue };
            let Some(text) = to_text(&name) else {
                let kind = Kind::LeftOut { why: Why::Name, stamp: None };
                folder.items.push(Item { name: name.to_string_lossy().into_owned(), kind });
                continue;
            };
            if is_half_done(&text) {
                continue;
            }
            if meta.is_file() && stat::names(&meta) > 1 {
                let (number, names) = (stat::number(&meta), stat::names(&meta));
                folder.shared.push(Shared { name: text.clone(), number, names });
            }
            let kind = self.kind(&dir, &name, &folder.path, &text, &meta, &rules);
            folder.items.push(Item { name: text, kind });
        }
        folder.items.sort_by(|one, other| one.name.cmp(&other.name));
        folder.items.dedup_by(|one, other| one.name == other.name);
        let known = self.index.folders.get(&folder.path);
        folder.same = known.filter(|known| known.recognise(&mut folder.items)).cloned();
        self.hand_in(job.number, folder, dir, &rules)
    }

    /// What an entry is; a folder to look into has no number yet.
    fn kind(
        &self,
        dir: &Dir,
        name: &OsStr,
        folder: &str,
        text: &str,
        meta: &Metadata,
        rules: &Rules,
    ) -> Kind {
        let left_out = |why| Kind::LeftOut { why, stamp: Some(Stamp::of(meta)) };
        let without_stamp = |why| Kind::LeftOut { why, stamp: None };
        // Ignore rules leave out only what no earlier revision holds.
        let ignored = |path: &str, is_folder| rules.ignore(path, is_folder) && !self.held.holds(folder, text);
        if meta.is_symlink() {
            let target = dir.read_link_contents(name).ok().and_then(|target| to_text(target.as_os_str()));
            return target.map_or(left_out(Why::Unreadable), |target| Kind::Link { target });
        }
        if meta.is_dir() {
            let path = join(folder, text);
            return match () {
                () if self.place.hides(&RelPath::root().join(&path)) => without_stamp(Why::Own),
                () if disk(meta) != self.disk => without_stamp(Why::OtherDisk),
                () if ignored(&path, true) => left_out(Why::Ignored),
                () if depth(&path) >= MAX_DEPTH => left_out(Why::TooDeep),
                () => Kind::Folder(0),
            };
        }
        let bytes = meta.len();
        match () {
            () if !meta.is_file() => without_stamp(Why::Special),
            () if bytes > self.bounds.file_bytes => left_out(Why::TooLarge),
            () if bytes > self.bounds.ignored_bytes && ignored(&join(folder, text), false) => {
                left_out(Why::Ignored)
            }
            () => Kind::File { stat: Stat::of(meta), mode: mode(meta), content: None },
        }
    }

    /// Keeps what was found, and gives the folders in it their numbers and their turn.
    fn hand_in(&self, number: usize, mut folder: Folder, dir: Dir, rules: &Rules) -> Result<(), Failed> {
        let dir = Arc::new(dir);
        let mut work = self.lock();
        work.entries += folder.items.len();
        if work.entries > self.bounds.entries {
            return Err(Failed::TooMany);
        }
        for item in &mut folder.items {
            let Kind::Folder(number) = &mut item.kind else { continue };
            *number = work.folders.len();
            work.folders.push(None);
            work.open += 1;
            let above = Some((Arc::clone(&dir), to_os(&item.name)));
            let path = join(&folder.path, &item.name);
            work.jobs.push(Job { number: *number, above, path, rules: rules.clone() });
        }
        work.folders[number] = Some(folder);
        Ok(())
    }
}

/// The text of a small regular file, for rules.
pub(super) fn small_text(dir: &Dir, name: &str, limit: u64) -> Option<String> {
    let file = open_file(dir, OsStr::new(name)).ok()?;
    let mut bytes = Vec::new();
    file.metadata().ok()?.is_file().then_some(())?;
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
