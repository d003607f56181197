//! Reading the content of what changed, and keeping it.
//!
//! Invariant: the content that is kept is the content the stat belongs to. Both come from one open handle, and a file
//! whose stat isn't the same after reading as before is read again; one that never holds still is left out.

use super::handle::{open_file, walk_to};
use super::name::to_os;
use super::scan::THREADS;
use super::stat::{Stat, mode};
use super::tree::Why;
use crate::blob::{BlobSink, Staged, holds_secret};
use cap_std::fs::{Dir, File};
use domain::digest::Digest;
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// How often a file is read that changes meanwhile.
const TRIES: usize = 3;
/// Files one thread takes at a time.
const BATCH: usize = 64;

/// A file to read: its folder's path, its name, and where it belongs.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) folder: usize,
    pub(super) item: usize,
}

/// Where a file belongs: folder and item.
type Place = (usize, usize);

/// What reading a file gave.
#[derive(Debug, Clone)]
pub(super) enum Read1 {
    Kept { stat: Stat, mode: Option<u32>, content: Digest, new: bool },
    LeftOut { why: Why },
    Gone,
}

/// Why reading had to end.
#[derive(Debug)]
pub(super) enum Failed {
    Blobs(io::Error),
    Cancelled,
}

/// Reads and stages many files, a few at the same time; gives what each gave, in no order. `paths(wanted)` says where one
/// is: its folder's path and its name. Files of one folder should follow each other.
pub(super) fn read_all<'a>(
    root: &Dir,
    wanted: &'a [Wanted],
    paths: impl Fn(&'a Wanted) -> (&'a str, &'a str) + Sync,
    limit: u64,
    blobs: &dyn BlobSink,
    cancel: &CancellationToken,
) -> Result<Vec<(Place, Read1)>, Failed> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Ok(Vec::with_capacity(wanted.len())));
    let run = || {
        loop {
            let at = next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(batch) = wanted.get(at..wanted.len().min(at + BATCH)).filter(|batch| !batch.is_empty())
            else {
                return;
            };
            let read = match cancel.is_cancelled() {
                true => Err(Failed::Cancelled),
                false => read_batch(root, batch, &paths, limit, blobs, cancel),
            };
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            match (read, &mut *done) {
                (Ok(read), Ok(all)) => all.extend(read),
                (Err(failed), Ok(_)) => *done = Err(failed),
                (_, Err(_)) => return,
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    std::thread::scope(|scope| {
        for _ in 1..threads.min(wanted.len().div_ceil(BATCH)) {
            scope.spawn(run);
        }
        run();
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn read_batch<'a>(
    root: &Dir,
    batch: &'a [Wanted],
    paths: &impl Fn(&'a Wanted) -> (&'a str, &'a str),
    limit: u64,
    blobs: &dyn BlobSink,
    cancel: &CancellationToken,
) -> Result<Vec<(Place, Read1)>, Failed> {
    let mut open: Option<(usize, io::Result<Dir>)> = None;
    let mut out = Vec::with_capacity(batch.len());
    for wanted in batch {
        let (folder, name) = paths(wanted);
        if open.as_ref().is_none_or(|(number, _)| *number != wanted.folder) {
            open = Some((wanted.folder, walk_to(root, folder)));
        }
        let read = match &open {
            Some((_, Ok(dir))) => read(dir, name, limit, blobs, cancel)?,
            _ => Read1::Gone,
        };
        out.push(((wanted.folder, wanted.item), read));
    }
    Ok(out)
}

/// Reads and stages one file. It stops in the middle of a large one when it is told to.
pub(super) fn read(
    dir: &Dir,
    name: &str,
    limit: u64,
    blobs: &dyn BlobSink,
    cancel: &CancellationToken,
) -> Result<Read1, Failed> {
    let left_out = |why| Ok(Read1::LeftOut { why });
    for _ in 0..TRIES {
        let file = match open_file(dir, &to_os(name)) {
            Ok(file) => file,
            Err(error) if super::handle::is_absent(&error) => return Ok(Read1::Gone),
            Err(_) => return left_out(Why::Unreadable),
        };
        let Ok(meta) = file.metadata() else { return left_out(Why::Unreadable) };
        if !meta.is_file() {
            return left_out(Why::Special);
        }
        if crate::place::is_placeholder(&file) {
            // Its content stands in a cloud: looking at a folder must not fetch a person's whole drive.
            return left_out(Why::Unreadable);
        }
        let stat = Stat::of(&meta);
        if stat.bytes > limit {
            return left_out(Why::TooLarge);
        }
        let mut from = Source { file: (&file).take(stat.bytes + 1), broken: false, cancel };
        let staged = match blobs.stage(&mut from) {
            Ok(staged) => staged,
            Err(_) if cancel.is_cancelled() => return Err(Failed::Cancelled),
            Err(error) if holds_secret(&error) => return left_out(Why::Secret),
            Err(_) if from.broken => return left_out(Why::Unreadable),
            Err(error) => return Err(Failed::Blobs(error)),
        };
        if is_still(&file, &stat, &staged) {
            let Staged { digest: content, new, .. } = staged;
            return Ok(Read1::Kept { stat, mode: mode(&meta), content, new });
        }
    }
    left_out(Why::Changing)
}

fn is_still(file: &File, stat: &Stat, staged: &Staged) -> bool {
    staged.bytes == stat.bytes && file.metadata().is_ok_and(|meta| Stat::of(&meta) == *stat)
}

/// Tells an error of the file from one of the storage.
struct Source<'a> {
    file: io::Take<&'a File>,
    broken: bool,
    cancel: &'a CancellationToken,
}

impl Read for Source<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("told to stop"));
        }
        let read = self.file.read(into);
        self.broken |= read.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        read
    }
}
