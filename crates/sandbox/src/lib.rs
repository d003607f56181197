//! An operating-system **cage** for one process tree.
//!
//! It shows a command an almost empty machine: the system's programs, the project folder, private temporary folders,
//! no network, no sockets, no other process. It ends with its shell, with [`Caged::kill`], and with us. What a command
//! may see is a [`Profile`]; what this machine can enforce is in [`probe`]. Invariants: a cage weaker than demanded
//! is an error, never a silent fallback; nothing outlives its cage; all `unsafe` of the product is in this crate.
//!
//! Callers have nothing to set up, not even in `main`: on Linux a cage is started by executing the running binary
//! again with a marked argument, which a function that the C library calls before `main` notices (`linux::hook`).

mod caged;
#[cfg(any(windows, test))]
mod container;
mod error;
#[cfg(any(all(unix, not(target_os = "linux")), test))]
mod group;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
mod other;
mod profile;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
mod strength;
#[cfg(windows)]
mod win;
#[cfg(windows)]
mod win_sys;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
use other as system;
#[cfg(windows)]
use win as system;

use std::path::Path;

pub use caged::{Caged, End, Exit, Leftover, Overrun};
pub use error::SpawnError;
pub use profile::{CommandSpec, Limits, Network, PROXY_VARIABLES, Profile, WriteAccess};
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
    spawn_in(choose(probe(), floor)?, profile, command)
}

/// The mechanism to use, or why there is none that is strong enough.
fn choose(report: &Report, floor: Floor) -> Result<Mechanism, SpawnError> {
    match (&report.strength, report.chosen, floor) {
        (Strength::None(why), _, _) => Err(SpawnError::NoCage(why.clone())),
        (Strength::Partial(missing), _, Floor::Full) => Err(SpawnError::TooWeak(missing.clone())),
        (Strength::Full | Strength::Partial(_), Some(mechanism), _) => Ok(mechanism),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(strength: Strength, chosen: Option<Mechanism>, floor: Floor, expect: Result<Mechanism, &str>) {
        let report = Report { tried: Vec::new(), landlock_abi: None, chosen, strength };
        let found = choose(&report, floor).map_err(|error| error.to_string());
        assert_eq!(found, expect.map_err(str::to_owned));
    }

    #[test]
    fn a_cage_weaker_than_demanded_is_an_error() {
        let weak = || Strength::Partial(vec![Missing::FileNames, Missing::ProcessCount]);
        let none = || Strength::None("no reason".into());
        let too_weak = "only a partial cage works here (missing: file names, process count), and a full one was demanded";
        let no_cage = "commands can't be caged on this system: no reason";
        check(Strength::Full, Some(Mechanism::Namespaces), Floor::Full, Ok(Mechanism::Namespaces));
        check(Strength::Full, Some(Mechanism::Bubblewrap), Floor::Partial, Ok(Mechanism::Bubblewrap));
        check(weak(), Some(Mechanism::Landlock), Floor::Partial, Ok(Mechanism::Landlock));
        check(weak(), Some(Mechanism::Landlock), Floor::Full, Err(too_weak));
        check(none(), None, Floor::Full, Err(no_cage));
        check(none(), None, Floor::Partial, Err(no_cage));
    }
}
