//! What can go wrong, one enum per operation: opening, appending, reading.
//!
//! Every message says what was attempted, on what, why not, and what to do. Invariant: no error names SQLite's types,
//! so that nothing above this crate depends on them, and "damaged" is never reported as "empty".

use domain::event::DecodeError;
use domain::ids::SessionId;
use domain::state::Violation;
use std::path::PathBuf;

/// Why a store can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no such folder.
    #[error("the data folder {} does not exist; create it or name another one", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
    },
    /// The path is something else than a folder.
    #[error("the data folder {} is not a folder; name another one", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// Nothing can be written there.
    #[error("the data folder {} can't be written to: {why}; give yourself the right to write there or name another folder", path.display())]
    NotWritable {
        /// The folder.
        path: PathBuf,
        /// The system's words.
        why: String,
    },
    /// A network file system, where the database's shared memory and locks don't hold.
    #[error("the data folder {} is on a network file system ({kind}); it must be on a disk of this machine", path.display())]
    Network {
        /// The folder.
        path: PathBuf,
        /// Which one.
        kind: String,
    },
    /// Another process has it open.
    #[error("the data folder {} is in use by another Daybook{}; close that one or let it do the work", path.display(), holder(*pid))]
    Locked {
        /// The folder.
        path: PathBuf,
        /// The other process, where it could be read.
        pid: Option<u32>,
    },
    /// A later version wrote it.
    #[error("the store in {} has layout {found}, this Daybook knows up to {known}; a newer Daybook is needed, nothing was changed", path.display())]
    Newer {
        /// The folder.
        path: PathBuf,
        /// Its layout.
        found: u32,
        /// The newest this build knows.
        known: u32,
    },
    /// The database is there and can't be read as one, or is gone while its blobs are there.
    #[error("the store in {} is damaged: {why}; nothing was changed, copies from before updates are in its `backups` folder", path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file operation failed.
    #[error("opening the store failed at {}: {why}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's words.
        why: String,
    },
    /// The database refused something.
    #[error("opening the store in {} failed while {doing}: {why}", path.display())]
    Sql {
        /// The folder.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The database's words.
        why: String,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

/// Why nothing was appended. Unless it says otherwise, the log is as before.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AppendError {
    /// A listener tried to append while it was being told.
    #[error("an append from inside an announcement; enqueue the work instead")]
    Reentrant,
    /// The session has moved on.
    #[error(
        "session {session} is at {actual}, not at {expected}; read what came in between and decide again"
    )]
    Conflict {
        /// The session.
        session: SessionId,
        /// The sequence number the first event was to get.
        expected: u64,
        /// The one it would get now.
        actual: u64,
    },
    /// A payload above the limit; large content belongs into a blob.
    #[error("`{kind}` holds {bytes} bytes, an event may hold {max}; put the content into a blob")]
    TooLarge {
        /// Its type.
        kind: &'static str,
        /// Its bytes.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// More events than one append may hold.
    #[error("{count} events in one append, {max} are allowed")]
    TooMany {
        /// How many.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// A payload that can't be written, or that wouldn't read back as it is.
    #[error("`{kind}` can't be stored: {why}")]
    Unserialisable {
        /// Its type.
        kind: &'static str,
        /// What is wrong.
        why: String,
    },
    /// It may not come next.
    #[error("event {seq} of session {session} may not come next: {violation}")]
    Refused {
        /// The session.
        session: SessionId,
        /// The place it would have had.
        seq: u64,
        /// The law it breaks.
        #[source]
        violation: Violation,
    },
    /// The session can't be written to, because it can't be read to its end.
    #[error("the session is open for reading only: {0}")]
    ReadOnly(#[source] ReadError),
    /// Another process opened the store after this one.
    #[error(
        "this process opened the store as epoch {mine}, epoch {current} has taken over; nothing more is written from here"
    )]
    Fenced {
        /// Our epoch.
        mine: u64,
        /// The newest.
        current: u64,
    },
    /// No room on the disk. The reserve has been given back, so that a last small event fits.
    #[error("the disk is full; free some space, then the work can go on")]
    Full,
    /// The commit failed in a way that leaves open whether it holds; the store was closed and opened again, and
    /// `last_seq` tells.
    #[error("saving failed ({why}); the store was opened again, look at what it holds before going on")]
    Unsure {
        /// The database's words.
        why: String,
    },
    /// The store can't be written.
    #[error("the store is not writable while {doing}: {why}")]
    Sql {
        /// What was being done.
        doing: &'static str,
        /// The database's words.
        why: String,
    },
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
    /// An injected fault ended this process.
    #[error("the process is dead (injected)")]
    Crashed,
}

/// Why something can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// An event isn't what was written; everything before it is good.
    #[error(
        "event {seq} of session {session} is damaged: {what}; the rest can be read, nothing can be added"
    )]
    Damaged {
        /// The session.
        session: SessionId,
        /// The first bad event.
        seq: u64,
        /// What is wrong with it.
        what: String,
    },
    /// An event this build doesn't understand and may not pass over.
    #[error("session {session}, event {seq}: {why}")]
    Unknown {
        /// The session.
        session: SessionId,
        /// The event.
        seq: u64,
        /// What it is and what is needed.
        #[source]
        why: DecodeError,
    },
    /// The database refused.
    #[error("reading the store failed while {doing}: {why}")]
    Sql {
        /// What was being done.
        doing: &'static str,
        /// The database's words.
        why: String,
    },
}

impl ReadError {
    pub(crate) fn sql(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> Self {
        move |error| Self::Sql { doing, why: error.to_string() }
    }
}

impl AppendError {
    pub(crate) fn sql(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> Self {
        move |error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full,
            _ => Self::Sql { doing, why: error.to_string() },
        }
    }
}
