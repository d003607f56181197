//! Errors as clients see them: translated once, here.
//!
//! Invariant: the code is for branching and stays; the message says what was attempted, on what and why not; the hint
//! says what can be done.

use crate::wire::ApiError;
use domain::ids::BadId;
use engine::CommandFailure;
use engine::ledger::LedgerError;
use engine::show::{AppendError, BlobError, ReadError};

/// An error from its three parts; an empty hint is none.
#[must_use]
pub fn error(code: &str, message: impl Into<String>, hint: &str) -> ApiError {
    ApiError {
        code: code.to_owned(),
        message: message.into(),
        hint: (!hint.is_empty()).then(|| hint.to_owned()),
    }
}

/// Why a command wasn't recorded.
#[must_use]
pub fn of_command(failure: &CommandFailure) -> ApiError {
    match failure {
        CommandFailure::Refused(refused) => error(refused.code, &refused.message, ""),
        CommandFailure::Store(append) => of_append(append),
        CommandFailure::Unreadable(why) => error(
            "session/read_only",
            format!("the session can't be continued: {why}"),
            "It can still be read; begin a new session to go on.",
        ),
        CommandFailure::Closing => error("app/closing", failure.to_string(), "Start Daybook again."),
    }
}

fn of_append(append: &AppendError) -> ApiError {
    let (code, hint) = match append {
        AppendError::Full => ("store/full", "Free some space, then try again."),
        AppendError::ReadOnly(_) => {
            ("session/read_only", "It can still be read; begin a new session to go on.")
        }
        AppendError::Fenced { .. } => ("store/taken_over", "Go on in the Daybook that was opened last."),
        AppendError::Closed | AppendError::Crashed => ("app/closing", "Start Daybook again."),
        AppendError::TooLarge { .. } | AppendError::TooMany { .. } | AppendError::Unserialisable { .. } => {
            ("command/too_large", "Say it in smaller parts.")
        }
        AppendError::Conflict { .. } | AppendError::Refused { .. } | AppendError::Reentrant => {
            ("internal", "")
        }
        AppendError::Unsure { .. } | AppendError::Sql { .. } => {
            ("store/read_only", "Look at the disk; nothing recorded was lost.")
        }
    };
    error(code, append.to_string(), hint)
}

/// Why something can't be read.
#[must_use]
pub fn of_read(read: &ReadError) -> ApiError {
    let (code, hint) = match read {
        ReadError::Damaged { .. } => {
            ("session/damaged", "Everything before it can be read; other sessions aren't affected.")
        }
        ReadError::Unknown { .. } => ("session/newer", "Open it with a newer Daybook."),
        ReadError::Sql { .. } => ("store/read", "Look at the disk and the data folder."),
    };
    error(code, read.to_string(), hint)
}

pub(crate) fn of_ledger(ledger: &LedgerError) -> ApiError {
    match ledger {
        LedgerError::Read(read) => of_read(read),
        LedgerError::Blob(blob) => of_blob(blob),
        LedgerError::List(_) => error("content/missing", ledger.to_string(), ""),
    }
}

pub(crate) fn of_blob(blob: &BlobError) -> ApiError {
    error("content/missing", blob.to_string(), "")
}

pub(crate) fn of_id(bad: &BadId) -> ApiError {
    error("command/invalid", bad.to_string(), "")
}

pub(crate) fn internal(why: impl std::fmt::Display) -> ApiError {
    error(
        "internal",
        format!("something failed inside Daybook: {why}"),
        "Try again; if it happens again, restart Daybook.",
    )
}
