//! `daybook export` and `daybook import`: a session as a folder of its own.
//!
//! An imported session can be looked at, replayed and verified; nothing of it runs here.

use crate::exit::{Exit, Failure};
use crate::output;
use host::ArchiveError;
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
