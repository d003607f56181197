//! An operating-system **cage** for one process tree.
//!
//! A cage shows a command an almost empty machine: the system's programs, the project folder, private temporary
//! folders, no network, no sockets, no other process. It ends with its shell, with [`Caged::kill`], and with us,
//! however we end. What a command may see comes as a [`Profile`]; what this machine can enforce is in [`probe`].
//! Invariants: a cage weaker than demanded is an error, never a silent fallback; nothing outlives its cage; all
//! `unsafe` code of the product is in this crate.
//!
//! Callers have nothing to set up. On Linux the cage is started by executing the running binary again with a
//! marked argument; a function that the C library calls before `main` notices it (`linux::hook`). It works in
//! every binary that links this crate, test harnesses included.

mod caged;
mod error;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
mod profile;
mod strength;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use other as system;

use std::path::Path;

pub use caged::{Caged, End, Exit, Leftover};
pub use error::SpawnError;
pub use profile::{CommandSpec, Limits, Network, Profile, WriteAccess};
pub use strength::{Floor, Mechanism, Missing, Report, Strength, Tried};

/// What this machine can enforce, found out by trying; takes some tens of milliseconds once per process.
pub fn probe() -> &'static Report {
    system::probe()
}

/// Starts a command in the best cage of this machine, if that is at least as strong as `floor`.
///
/// Returns when the cage stands and the program is about to be executed; a program that can't be executed shows
/// as [`Exit::NotStarted`].
pub fn spawn(profile: &Profile, command: &CommandSpec, floor: Floor) -> Result<Caged, SpawnError> {
    let report = probe();
    match (&report.strength, report.chosen, floor) {
        (Strength::None(why), _, _) => Err(SpawnError::NoCage(why.clone())),
        (Strength::Partial(missing), _, Floor::Full) => Err(SpawnError::TooWeak(missing.clone())),
        (Strength::Full | Strength::Partial(_), Some(mechanism), _) => spawn_in(mechanism, profile, command),
        (Strength::Full | Strength::Partial(_), None, _) => Err(SpawnError::NoCage("none was chosen".into())),
    }
}

/// Starts a command in a cage of exactly this kind; fails where it doesn't work.
pub fn spawn_in(mechanism: Mechanism, profile: &Profile, command: &CommandSpec) -> Result<Caged, SpawnError> {
    system::spawn_in(mechanism, profile, command)
}

/// Starts a command with **no cage at all**: all rights of the user, files and network. Only for a command that a
/// person has allowed to run so. Its tree still ends with [`Caged::kill`] and, on Linux, with its shell and with
/// us; the environment is exactly the given one.
pub fn spawn_uncaged(workdir: &Path, command: &CommandSpec) -> Result<Caged, SpawnError> {
    system::spawn_uncaged(workdir, command)
}
