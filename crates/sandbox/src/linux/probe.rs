//! Finding out what works here, by doing it.
//!
//! Every mechanism is tried once per process with a real cage around a trivial command; the answer is kept.
//! Invariant: the report never claims more than a cage that stood.

use std::sync::OnceLock;

use super::layout::lay_out_system;
use super::spawn::{spawn_laid_out, strength_of};
use super::{bwrap, landlock};
use crate::caged::Exit;
use crate::profile::{CommandSpec, Network};
use crate::strength::{Mechanism, Report, Tried};

/// What this machine can do.
pub(crate) fn probe() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(find_out)
}

fn find_out() -> Report {
    let abi = landlock::version();
    let second =
        abi.map_or_else(|| "without Landlock".to_owned(), |abi| format!("with Landlock version {abi}"));
    let bubblewrap = match bwrap::find() {
        Some(path) => try_out(Mechanism::Bubblewrap, format!("{}, {second}", path.display())),
        None => Tried::Fails("bwrap isn't installed".into()),
    };
    let namespaces =
        try_out(Mechanism::Namespaces, format!("user, process, mount, network and IPC, {second}"));
    let alone = try_out(Mechanism::Landlock, second);
    let tried = vec![
        (Mechanism::Bubblewrap, bubblewrap),
        (Mechanism::Namespaces, namespaces),
        (Mechanism::Landlock, alone),
    ];
    // Every mechanism loads the system-call filter or fails, so one that works proves it.
    Report::of_trials(tried, abi, strength_of)
}

fn try_out(mechanism: Mechanism, fact: String) -> Tried {
    const CODE: i32 = 7;
    let command = CommandSpec::shell(format!("exit {CODE}"));
    match spawn_laid_out(mechanism, lay_out_system(), None, Network::None, &command)
        .map(|caged| caged.wait().exit)
    {
        Ok(Exit::Code(CODE)) => Tried::Works(fact),
        Ok(other) => Tried::Fails(format!("a trivial command ended with {other:?}")),
        Err(error) => Tried::Fails(error.to_string()),
    }
}
