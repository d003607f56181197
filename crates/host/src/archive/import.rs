//! Taking a session in: read, compared and verified in a store of its own first, and only then taken.
//!
//! Invariant: an archive that was changed anywhere, or that holds what can't have happened, leaves no trace in the store.

use super::{ArchiveError, Archived, BLOBS, EVENTS, FORMAT, MANIFEST, Manifest, VERSION, io, line};
use crate::ports::SystemClock;
use domain::digest::Digest;
use domain::event::Recorded;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use store::{Gone, Import, MAX_EVENT_BYTES, Options, Store, StoreHandle};

/// The largest manifest.
const MANIFEST_BYTES: u64 = 64 << 20;
/// The longest line: an event with its envelope.
const LINE_BYTES: u64 = MAX_EVENT_BYTES as u64 + 64 * 1024;
/// The largest content.
const BLOB_BYTES: u64 = 1 << 30;
/// Where an archive is looked at before it is taken in.
const ASIDE: &str = "importing";

/// One archive at a time is looked at beside a store.
static ONE: Mutex<()> = Mutex::new(());

/// Takes an archive into the store of a data folder that nobody has open.
///
/// # Errors
/// When the store is in use, the session is here, or the archive isn't whole; nothing was taken then.
pub fn import(data: &Path, from: &Path) -> Result<Archived, ArchiveError> {
    // Before a store is made where there was none.
    let manifest = manifest(from)?;
    store::create_folder(data)?;
    let store = Store::open(data, Options::inline(Arc::new(SystemClock)))?;
    take_in(&store, data, from, manifest)
}

/// Takes an archive into the store that this process has open.
///
/// # Errors
/// When the session is here, or the archive isn't whole; nothing was taken then.
pub(crate) fn import_into(store: &StoreHandle, data: &Path, from: &Path) -> Result<Archived, ArchiveError> {
    take_in(store, data, from, manifest(from)?)
}

fn take_in(
    store: &StoreHandle,
    data: &Path,
    from: &Path,
    manifest: Manifest,
) -> Result<Archived, ArchiveError> {
    let events = events(from, &manifest)?;
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    if store.next_seq(&manifest.session)? > 0 {
        return Err(ArchiveError::Here(manifest.session));
    }
    let aside = data.join(ASIDE);
    let _ = fs::remove_dir_all(&aside);
    let requests = verified(&aside, from, &manifest, &events);
    let _ = fs::remove_dir_all(&aside);
    let requests = requests?;
    take(store, from, &manifest, events)?;
    let (events, blobs) = (manifest.events, manifest.blobs.len() as u64);
    Ok(Archived { session: manifest.session.to_string(), events, blobs, requests })
}

/// Everything holds, in a store that goes away again; gives how many requests were rebuilt.
fn verified(
    aside: &Path,
    from: &Path,
    manifest: &Manifest,
    events: &[Recorded],
) -> Result<u64, ArchiveError> {
    store::create_folder(aside)?;
    let store = Store::open(aside, Options::inline(Arc::new(SystemClock)))?;
    take(&store, from, manifest, events.to_vec())?;
    if !store.state(&manifest.session)?.rests() {
        return Err(ArchiveError::AtWork);
    }
    let verdict = engine::verify::verify(&store, &manifest.session, store.epoch())
        .map_err(|error| ArchiveError::Changed(error.to_string()))?;
    match verdict.findings.first() {
        None => Ok(verdict.requests - verdict.erased_requests),
        Some(first) => {
            Err(ArchiveError::Changed(format!("event {}: {}: {}", first.seq, first.law, first.detail)))
        }
    }
}

/// Takes all of it into a store. The events share their words with those given, so a copy of them is small.
fn take(
    store: &StoreHandle,
    from: &Path,
    manifest: &Manifest,
    events: Vec<Recorded>,
) -> Result<(), ArchiveError> {
    for kept in &manifest.blobs {
        if kept.bytes > BLOB_BYTES {
            return Err(ArchiveError::Unfit(format!("content {} is too large", kept.digest)));
        }
        let path = from.join(BLOBS).join(kept.digest.to_string());
        let file = File::open(&path).map_err(io(&path))?;
        // One that is another stays unsettled, and so is never there.
        let staged = store.stage_blob(&mut file.take(kept.bytes.saturating_add(1)))?;
        if staged.digest != kept.digest || staged.bytes != kept.bytes {
            return Err(ArchiveError::Changed(format!("content {} is another one", kept.digest)));
        }
    }
    store.settle_blobs()?;
    let gone = manifest.gone.iter().map(|missed| {
        let why = if missed.why == "thinned" { Gone::Thinned } else { Gone::Erased };
        (missed.digest, why)
    });
    let import = Import { session: manifest.session.clone(), events, gone: gone.collect() };
    Ok(store.import(import)?)
}

fn manifest(from: &Path) -> Result<Manifest, ArchiveError> {
    let path = from.join(MANIFEST);
    let mut text = String::new();
    let file = File::open(&path).map_err(io(&path))?;
    file.take(MANIFEST_BYTES).read_to_string(&mut text).map_err(io(&path))?;
    let unfit = |why: String| ArchiveError::Unfit(why);
    let about: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| unfit(format!("its manifest is no JSON: {error}")))?;
    if about["format"] != FORMAT {
        return Err(unfit("it isn't a Daybook session".to_owned()));
    }
    if about["version"] != VERSION {
        return Err(unfit(format!(
            "its format is version {}, this Daybook reads {VERSION}",
            about["version"]
        )));
    }
    serde_json::from_value(about).map_err(|error| unfit(format!("its manifest isn't whole: {error}")))
}

/// The events, whose lines are those that were written. Only a line feed ends a line.
fn events(from: &Path, manifest: &Manifest) -> Result<Vec<Recorded>, ArchiveError> {
    let changed = |what: &str| ArchiveError::Changed(what.to_owned());
    let path = from.join(EVENTS);
    let mut file = BufReader::new(File::open(&path).map_err(io(&path))?);
    let (mut events, mut text) = (Vec::new(), Vec::new());
    loop {
        text.clear();
        let read = (&mut file).take(LINE_BYTES).read_until(b'\n', &mut text).map_err(io(&path))?;
        if read == 0 {
            break;
        }
        if events.len() as u64 == manifest.events {
            return Err(changed("it has more lines than its manifest names"));
        }
        let Some(line) = text.strip_suffix(b"\n") else { return Err(changed("a line has no end")) };
        let line = std::str::from_utf8(line).map_err(|_| changed("a line is no text"))?;
        events.push(line::read(&manifest.session, line)?);
    }
    let head = events.last().map_or(Digest::ZERO, |event| event.hash);
    let whole = events.len() as u64 == manifest.events && head == manifest.head;
    if whole { Ok(events) } else { Err(changed("its lines aren't those that its manifest names")) }
}
