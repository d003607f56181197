//! What surrounds a command: its environment, its output on the way in, and its cleaned text.
//!
//! **Spool** keeps raw output in bounded space, **clean** turns terminal output into text, **live** shows it meanwhile, **env** is the allow list,
//! **history** tells which files with secrets git printed, **refused** says why the cage let something fail.
//! Invariant: memory and time stay bounded whatever a command prints, and nothing of our own environment leaks in.

pub(crate) mod clean;
pub(crate) mod env;
pub(crate) mod history;
pub(crate) mod live;
pub(crate) mod refused;
pub(crate) mod spool;

/// What commands are written in here.
#[must_use]
pub(crate) fn dialect() -> crate::command::Dialect {
    if cfg!(windows) { crate::command::Dialect::PowerShell } else { crate::command::Dialect::Bash }
}
