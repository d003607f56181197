//! Writing a session out: its events, and the blobs that they name by themselves or through a list of changes.
//!
//! It reads only, so it can run beside a host. Invariants: what goes out is a session at rest, however it goes on meanwhile;
//! what its text merely mentions isn't taken along, a blob goes only where an event holds its name as a value of its own.

use super::{
    ArchiveError, Archived, BLOBS, EVENTS, FORMAT, Kept, MANIFEST, Manifest, Missed, VERSION, io, line,
};
use domain::digest::Digest;
use domain::event::{Fact, Recorded};
use domain::ids::SessionId;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use store::{BlobError, Gone, Reader};

/// Events read at once.
const PAGE: usize = 1_000;

/// Writes a session into a new folder.
///
/// # Errors
/// When there is no such session, it is at work, it can't be read, the folder is there already, or can't be written.
pub fn export(data: &Path, session: &str, to: &Path) -> Result<Archived, ArchiveError> {
    let reader = Reader::open(data)?;
    let session: SessionId = session.parse()?;
    let state = reader.state(&session)?;
    let next = state.next_seq;
    if next == 0 {
        return Err(ArchiveError::Unknown(session));
    }
    if !state.rests() {
        return Err(ArchiveError::AtWork);
    }
    drop(state);
    if to.exists() {
        return Err(ArchiveError::There(to.to_owned()));
    }
    // Under another name until it is whole.
    let mut name = to.file_name().map(ToOwned::to_owned).unwrap_or_default();
    name.push(".part");
    let part = to.with_file_name(name);
    if let Some(above) = to.parent().filter(|above| !above.as_os_str().is_empty()) {
        store::create_folder(above)?;
    }
    // Made here and now, or left alone: what stands there may be somebody's.
    make(&part)?;
    let done = write(&reader, &session, next, &part).and_then(|done| {
        fs::rename(&part, to).map_err(io(to))?;
        Ok(done)
    });
    if done.is_err() {
        let _ = fs::remove_dir_all(&part);
    }
    done
}

/// Makes a folder that only this person can look into, where nothing stands.
fn make(path: &Path) -> Result<(), ArchiveError> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => ArchiveError::There(path.to_owned()),
        _ => io(path)(error),
    })
}

fn write(reader: &Reader, session: &SessionId, next: u64, to: &Path) -> Result<Archived, ArchiveError> {
    let blobs = to.join(BLOBS);
    make(&blobs)?;
    let path = to.join(EVENTS);
    let mut file = std::io::BufWriter::new(fs::File::create(&path).map_err(io(&path))?);
    let (mut names, mut events, mut head) = (BTreeSet::new(), 0, Digest::ZERO);
    while events < next {
        let page = reader.events(session, events, PAGE)?;
        if page.is_empty() {
            break;
        }
        for event in page.into_iter().filter(|event| event.seq < next) {
            let mut text = line::written(&event)?;
            text.push('\n');
            file.write_all(text.as_bytes()).map_err(io(&path))?;
            (events, head) = (events + 1, event.hash);
            named(reader, event, &mut names)?;
        }
    }
    file.flush().and_then(|()| file.get_ref().sync_all()).map_err(io(&path))?;
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for digest in names {
        match reader.blob(&digest) {
            Ok(bytes) => {
                let path = blobs.join(digest.to_string());
                fs::write(&path, &bytes).map_err(io(&path))?;
                kept.push(Kept { digest, bytes: bytes.len() as u64 });
            }
            Err(BlobError::Gone { why, .. }) => {
                let why = if why == Gone::Erased { "erased" } else { "thinned" };
                gone.push(Missed { digest, why: why.to_owned() });
            }
            // A digest of something that was never kept: of arguments, of a body.
            Err(BlobError::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let count = kept.len() as u64;
    let (format, session) = (FORMAT.to_owned(), session.clone());
    let manifest =
        Manifest { format, version: VERSION, session: session.clone(), events, head, blobs: kept, gone };
    let path = to.join(MANIFEST);
    let text =
        serde_json::to_string_pretty(&manifest).map_err(|error| ArchiveError::Unfit(error.to_string()))?;
    fs::write(&path, text).map_err(io(&path))?;
    Ok(Archived { session: session.to_string(), events, blobs: count, requests: 0 })
}

/// The names in an event, and in the list of changes that it names.
fn named(reader: &Reader, event: Recorded, into: &mut BTreeSet<Digest>) -> Result<(), ArchiveError> {
    let Some(text) = event.payload.text() else { return Ok(()) };
    if let Ok(value) = serde_json::from_str(text) {
        digests(&value, into);
    }
    let fact = event.decode().ok().and_then(|event| event.fact);
    let list = match &fact {
        Some(Fact::RevisionRestoring(e)) => Some(&e.steps),
        Some(fact) => fact.changed().and_then(|changed| changed.all.as_ref()),
        None => None,
    };
    let Some(list) = list else { return Ok(()) };
    match reader.blob(&list.list) {
        Ok(bytes) => {
            if let Ok(value) = serde_json::from_slice(&bytes) {
                digests(&value, into);
            }
            Ok(())
        }
        Err(BlobError::Gone { .. } | BlobError::Missing { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Values that are a digest and nothing else.
fn digests(value: &Value, into: &mut BTreeSet<Digest>) {
    match value {
        Value::String(text) => into.extend(text.parse::<Digest>().ok()),
        Value::Array(items) => items.iter().for_each(|item| digests(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| digests(field, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
