//! File, port and scope rules by Landlock.
//!
//! In a cage with a root of its own they are a second wall; without one they are the wall. The kernel's interface
//! version is asked for and then *demanded*: nothing is dropped silently. Invariant: what isn't listed can be
//! neither read nor changed, no TCP port but the outlet's can be used, and (from version 6) no process outside signalled.

use std::ffi::OsString;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::group::Group;
use super::launcher::Broken;
use super::wire::Plan;
use super::{outlet, sys};
use crate::strength::{Mechanism, Missing};

/// Before version 3 a file outside could be cut to nothing: too weak to be the only wall.
const LEAST_ALONE: u32 = 3;
/// From this version on, signals to processes outside are refused.
const WITH_SCOPES: u32 = 6;

/// The kernel's version, if it has Landlock.
pub(crate) fn version() -> Option<u32> {
    sys::landlock_abi()
}

/// What a cage without namespaces lacks with this version.
pub(crate) fn missing(version: u32) -> Vec<Missing> {
    let mut missing =
        vec![Missing::FileNames, Missing::ReadOnlyParts, Missing::Attributes, Missing::UnsupervisedEnd];
    if version < WITH_SCOPES {
        missing.push(Missing::Signals);
    }
    // The kernel's limit binds no root user, and one that doubles itself is faster than our counting.
    if rustix::process::geteuid().is_root() && !Group::works() {
        missing.push(Missing::ProcessCount);
    }
    missing
}

/// Confines this process and its children to come.
pub(crate) fn apply(plan: &Plan) -> Result<(), Broken> {
    let alone = plan.mechanism == Some(Mechanism::Landlock);
    let version = match version() {
        None if alone => return Err(Broken::at("file rules", "this kernel has no Landlock")),
        None => return Ok(()),
        Some(version) if alone && version < LEAST_ALONE => {
            return Err(Broken::at("file rules", format!("Landlock version {version} is too old")));
        }
        Some(version) => version,
    };
    let abi = known(version);
    let enforced = restrict(abi, version, plan).map_err(|error| Broken::at("file rules", error))?;
    match enforced {
        RulesetStatus::FullyEnforced => Ok(()),
        status => Err(Broken::at("file rules", format!("only {status:?}"))),
    }
}

fn restrict(abi: ABI, version: u32, plan: &Plan) -> Result<RulesetStatus, Box<dyn std::error::Error>> {
    let all = AccessFs::from_all(abi);
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(all)?;
    let ports = AccessNet::from_all(abi);
    if !ports.is_empty() {
        rules = rules.handle_access(ports)?;
    }
    if version >= WITH_SCOPES {
        rules = rules.scope(Scope::from_all(abi))?;
    }
    let mut rules = rules.create()?;
    if plan.outlet && !ports.is_empty() {
        rules = rules.add_rule(NetPort::new(outlet::PORT, AccessNet::ConnectTcp))?;
    }
    for path in &plan.readable {
        rules = allow(rules, path, AccessFs::from_read(abi), abi)?;
    }
    for path in &plan.writable {
        rules = allow(rules, path, all, abi)?;
    }
    Ok(rules.restrict_self()?.ruleset)
}

fn allow(
    rules: landlock::RulesetCreated,
    path: &OsString,
    access: BitFlags<AccessFs>,
    abi: ABI,
) -> Result<landlock::RulesetCreated, Box<dyn std::error::Error>> {
    let access = if Path::new(path).is_dir() { access } else { access & AccessFs::from_file(abi) };
    let opened = PathFd::new(path).map_err(|error| format!("{}: {error}", Path::new(path).display()))?;
    Ok(rules.add_rule(PathBeneath::new(opened, access))?)
}

/// The newest version we know that the kernel has too.
fn known(version: u32) -> ABI {
    match version {
        0 => ABI::Unsupported,
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6 => ABI::V6,
        _ => ABI::V7,
    }
}
