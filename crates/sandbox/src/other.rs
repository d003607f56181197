//! Systems without a cage of ours: other Unix systems.
//!
//! The probe says so, and an uncaged start is possible only through the function that carries it in its name.
//! Invariant: nothing here claims a limit.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::caged::Caged;
use crate::error::SpawnError;
use crate::group::{self, Held};
use crate::profile::{CommandSpec, Profile};
use crate::strength::{Mechanism, Report, Strength};

const WHY: &str = "there is no cage for this system";

/// Nothing works here.
pub(crate) fn probe() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| Report {
        tried: Vec::new(),
        landlock_abi: None,
        chosen: None,
        strength: Strength::None(WHY.into()),
    })
}

/// Always refuses.
pub(crate) fn spawn_in(_: Mechanism, _: &Profile, _: &CommandSpec) -> Result<Caged, SpawnError> {
    Err(SpawnError::NoCage(WHY.into()))
}

/// Starts the command as the leader of a group of its own.
pub(crate) fn spawn_uncaged(workdir: &Path, command: &CommandSpec) -> Result<Caged, SpawnError> {
    let mut process = Command::new(&command.program);
    process.args(&command.args).env_clear().current_dir(workdir);
    process.envs(command.env.iter().map(|(name, value)| (name, value)));
    group::start(
        process,
        Held { mechanism: None, strength: Strength::None(WHY.into()), proxy: None, private: None },
    )
}
