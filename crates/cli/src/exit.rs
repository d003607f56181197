//! How it ended, as a number: the contract with scripts.

use api::wire::ApiError;
use std::process::ExitCode;

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Completed, or nothing to do.
    Completed = 0,
    /// Something failed inside.
    Internal = 1,
    /// It was asked wrong.
    Usage = 2,
    /// It waits for a person, met a limit, or something is in the way.
    Waiting = 3,
    /// The turn failed, or the person's no left nothing to do.
    Failed = 4,
    /// It was stopped.
    Cancelled = 5,
    /// The store, or what was verified, isn't as it should be.
    Store = 6,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command came to nothing.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn usage(why: impl std::fmt::Display) -> Self {
        Self { exit: Exit::Usage, message: why.to_string(), hint: None }
    }

    pub(crate) fn internal(why: impl std::fmt::Display) -> Self {
        Self { exit: Exit::Internal, message: why.to_string(), hint: None }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self { exit: of_code(&error.code), message: error.message, hint: error.hint }
    }
}

/// The exit code of an error's code.
fn of_code(code: &str) -> Exit {
    match code {
        "approval/closed"
        | "approval/changed"
        | "approval/expired"
        | "question/closed"
        | "call/settled"
        | "message/read"
        | "inbox/full"
        | "erase/busy"
        | "erase/busy_elsewhere"
        | "store/in_use"
        | "store/taken_over"
        | "serve/no_door" => Exit::Waiting,
        "session/damaged" | "session/newer" | "session/read_only" | "content/missing" => Exit::Store,
        "app/closing" => Exit::Cancelled,
        "internal" | "door/unusable" => Exit::Internal,
        _ => match code.split('/').next().unwrap_or_default() {
            "store" => Exit::Store,
            "command" | "session" | "folder" | "provider" | "message" | "approval" | "question" | "mode"
            | "script" | "data" | "changes" | "key" | "keychain" | "door" | "call" | "erase" => Exit::Usage,
            _ => Exit::Internal,
        },
    }
}

/// The exit code of a turn's end.
pub(crate) fn of_end(end: &str) -> Exit {
    match end {
        "completed" | "nothing_to_do" => Exit::Completed,
        "cancelled" | "interrupted" => Exit::Cancelled,
        "waiting" | "limit" | "length" | "blocked" => Exit::Waiting,
        _ => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_errors_have_their_numbers() {
        for (end, code) in [
            ("completed", 0),
            ("nothing_to_do", 0),
            ("waiting", 3),
            ("limit", 3),
            ("length", 3),
            ("blocked", 3),
            ("failed", 4),
            ("rejected", 4),
            ("refused", 4),
            ("cancelled", 5),
        ] {
            assert_eq!(of_end(end) as u8, code, "{end}");
        }
        for (error, code) in [
            ("session/unknown", 2),
            ("folder/missing", 2),
            ("provider/unfit", 2),
            ("erase/nothing", 2),
            ("erase/busy", 3),
            ("approval/closed", 3),
            ("store/in_use", 3),
            ("store/damaged", 6),
            ("session/damaged", 6),
            ("internal", 1),
            ("something/new", 1),
        ] {
            assert_eq!(of_code(error) as u8, code, "{error}");
        }
    }
}
