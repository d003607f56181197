//! `daybook export`, `daybook import` and `daybook trace`: a session as a folder of its own, or as spans.
//!
//! An imported session can be looked at, replayed and verified; nothing of it runs here.

use crate::exit::{Exit, Failure};
use crate::output;
use host::{ArchiveError, Words};
use std::io::ErrorKind;
use std::path::Path;

pub(crate) fn export(data: &Path, session: &str, to: &Path) -> Result<Exit, Failure> {
    let done = host::export(data, session, to).map_err(failed)?;
    output::line(&format!("{}: {} events and {} contents", done.session, done.events, done.blobs));
    output::diagnose(
        "it holds all that was said and done in the session; look at it before you give it away",
    );
    Ok(Exit::Completed)
}

pub(crate) fn import(data: &Path, from: &Path) -> Result<Exit, Failure> {
    let done = host::import(data, from).map_err(failed)?;
    output::line(&format!(
        "{}: {} events and {} contents, {} requests rebuilt",
        done.session, done.events, done.blobs, done.requests
    ));
    Ok(Exit::Completed)
}

pub(crate) fn trace(data: &Path, session: &str, content: bool, to: Option<&Path>) -> Result<Exit, Failure> {
    let words = if content { Words::Taken } else { Words::Left };
    let Some(path) = to else {
        let mut out = std::io::stdout().lock();
        host::trace(data, session, words, &mut out).map_err(failed)?;
        return Ok(Exit::Completed);
    };
    let unmade = |source: std::io::Error| match source.kind() {
        ErrorKind::AlreadyExists => failed(ArchiveError::There(path.to_owned())),
        _ => failed(ArchiveError::Io { path: path.to_owned(), source }),
    };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = std::io::BufWriter::new(options.open(path).map_err(unmade)?);
    let spans = host::trace(data, session, words, &mut file).map_err(failed)?;
    output::line(&format!("{}: {spans} spans", path.display()));
    Ok(Exit::Completed)
}

fn failed(why: ArchiveError) -> Failure {
    let (exit, hint) = match &why {
        ArchiveError::Id(_) | ArchiveError::Unknown(_) | ArchiveError::There(_) | ArchiveError::Unfit(_) => {
            (Exit::Usage, None)
        }
        ArchiveError::Open(_) if why.is_in_use() => {
            (Exit::Waiting, Some("Close Daybook, then import it again."))
        }
        ArchiveError::Here(_) | ArchiveError::AtWork => (Exit::Waiting, None),
        ArchiveError::Changed(_) => (Exit::Store, Some("Nothing was taken in.")),
        ArchiveError::Io { .. }
        | ArchiveError::Open(_)
        | ArchiveError::Read(_)
        | ArchiveError::Blob(_)
        | ArchiveError::Save(_) => (Exit::Store, None),
    };
    Failure { exit, message: why.to_string(), hint: hint.map(str::to_owned) }
}
