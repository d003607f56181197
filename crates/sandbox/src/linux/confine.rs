//! The last steps before the command's program is executed, in the process that becomes the command.
//!
//! Order matters: limits and capabilities first, then "no new privileges", then the file rules, then the filter
//! (which forbids most of the earlier steps). Invariant: the program isn't executed unless every step worked.

use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, Rlimit, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::launcher::Broken;
use super::wire::{Line, Plan, PlanLimits, Said};
use super::{filter, landlock, meter, outlet};
use crate::profile::PROXY_VARIABLES;
use crate::strength::Mechanism;

/// Exit code of a command that couldn't be executed, as shells have it.
const NOT_FOUND: i32 = 127;

/// Becomes the command. Returns only when that failed, with the exit code.
pub(crate) fn execute(line: &Line, plan: &Plan) -> i32 {
    if let Err(broken) = confine(plan) {
        broken.tell(line);
        return NOT_FOUND;
    }
    line.say(&Said::Ready);
    let mut command = Command::new(&plan.program);
    command.args(&plan.args).env_clear().envs(plan.env.iter().map(|(name, value)| (name, value)));
    if let Some(private) = &plan.private {
        command.env("HOME", &private.home).env("TMPDIR", &private.tmp);
    }
    if plan.outlet {
        command.env_remove("NO_PROXY").env_remove("no_proxy");
        command.envs(PROXY_VARIABLES.map(|name| (name, outlet::URL)));
    }
    let error = command.exec();
    line.say(&Said::NotStarted { why: error.to_string() });
    NOT_FOUND
}

fn confine(plan: &Plan) -> Result<(), Broken> {
    let fail = |step: &'static str| move |error: rustix::io::Errno| Broken::at(step, error);
    rustix::process::setsid().map_err(fail("session"))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(fail("parent-death signal"))?;
    rustix::process::chdir(plan.workdir.as_os_str()).map_err(fail("folder"))?;
    if let Some(limits) = &plan.limits {
        limit(limits, plan.mechanism).map_err(fail("limits"))?;
    }
    if plan.mechanism.is_none() {
        return Ok(());
    }
    drop_capabilities().map_err(fail("capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(fail("no new privileges"))?;
    landlock::apply(plan)?;
    filter::apply(plan)
}

/// Gives up every capability for good, also for programs executed later.
pub(crate) fn drop_capabilities() -> rustix::io::Result<()> {
    const HIGHEST: u32 = 63;
    for number in 0..=HIGHEST {
        let one = CapabilitySet::from_bits_retain(1 << number);
        // Fails for numbers the kernel doesn't know, and where there is nothing to give up.
        if let Ok(true) = rustix::thread::capability_is_in_bounding_set(one)
            && holds_setpcap()
        {
            rustix::thread::remove_capability_from_bounding_set(one)?;
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )
}

fn holds_setpcap() -> bool {
    rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SETPCAP))
}

/// Lowers the limits; one that is lower already stays.
fn limit(limits: &PlanLimits, mechanism: Option<Mechanism>) -> rustix::io::Result<()> {
    let processes = match mechanism {
        // Counted in a user namespace of its own.
        Some(Mechanism::Bubblewrap | Mechanism::Namespaces) => limits.processes,
        // Counted with all else this user runs.
        Some(Mechanism::Landlock | Mechanism::Seatbelt | Mechanism::AppContainer) | None => {
            meter::threads_of_this_user().saturating_add(limits.processes)
        }
    };
    let wanted = [
        (Resource::Cpu, limits.cpu_s),
        (Resource::Data, limits.memory_bytes),
        (Resource::Nproc, processes),
        (Resource::Fsize, limits.file_size_bytes),
        (Resource::Core, 0),
    ];
    for (resource, most) in wanted {
        let now = rustix::process::getrlimit(resource);
        let most = now.maximum.map_or(most, |hard| most.min(hard));
        rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}
