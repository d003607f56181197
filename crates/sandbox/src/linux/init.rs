//! Process 1 of a cage.
//!
//! It finishes the cage from inside, starts the command, reaps, and when the shell has ended names what is still
//! alive and exits: the kernel then ends every process of the namespace. Invariant: it dies with the launcher.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::{Errno, FdFlags};
use rustix::process::{DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions};

use super::launcher::{Broken, ended};
use super::meter::Meter;
use super::sys::{self, Fork};
use super::wire::{Ended, Line, Plan, Said};
use super::{confine, outlet, root, tree};
use crate::caged::Overrun;

/// In our own namespaces. `launcher` is a pipe that closes with the launcher.
pub(crate) fn run(line: &Line, plan: &Plan, launcher: &OwnedFd) -> i32 {
    let built = tie_to_parent().and_then(|()| {
        let mut gone = [PollFd::new(launcher, PollFlags::HUP)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        match rustix::event::poll(&mut gone, Some(&now)) {
            Ok(0) => {}
            Ok(_) => return Err(Broken::at("first process", "the launcher is gone")),
            Err(error) => return Err(Broken::at("first process", error)),
        }
        root::build(&plan.places)
            .map_err(|(path, error)| Broken::at(format!("new root, {}", path.display()), error))
    });
    finish(line, plan, built)
}

/// Executed by `bwrap` inside the root it built.
pub(crate) fn run_under_bwrap(plan: RawFd, line: RawFd) -> i32 {
    let (plan, line) = (sys::adopt(plan), sys::adopt(line));
    let kept = [plan.as_raw_fd(), line.as_raw_fd()];
    if rustix::io::fcntl_setfd(&line, FdFlags::CLOEXEC).is_err() || sys::close_all_but(&kept).is_err() {
        return 1;
    }
    let line = Line::new(line);
    let read = Plan::read(&mut File::from(plan));
    let plan = match read {
        Ok(plan) => plan,
        Err(error) => {
            Broken::at("plan", error).tell(&line);
            return 1;
        }
    };
    let built = tie_to_parent();
    finish(&line, &plan, built)
}

fn tie_to_parent() -> Result<(), Broken> {
    if rustix::process::getpid() != Pid::INIT {
        return Err(Broken::at("process namespace", "we aren't its first process"));
    }
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| Broken::at("parent-death signal", error))
}

fn finish(line: &Line, plan: &Plan, built: Result<(), Broken>) -> i32 {
    let started = built.and_then(|()| outlet::open(line, plan)).and_then(|()| {
        confine::drop_capabilities().map_err(|error| Broken::at("capabilities", error))?;
        // Nothing of ours can be read or traced through /proc/1.
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .map_err(|error| Broken::at("first process", error))?;
        sys::fork().map_err(|error| Broken::at("command", error))
    });
    match started {
        Ok(Fork::Child) => sys::exit_now(confine::execute(line, plan)),
        Ok(Fork::Parent(shell)) => {
            match reap_until(shell, Meter::new(plan)) {
                Outcome::Ended(exit) => {
                    let (leftovers, more) = tree::name_others();
                    line.say(&Said::Ended { exit, leftovers, more });
                }
                Outcome::Over(overrun) => line.say(&Said::Over { overrun }),
            }
            0
        }
        Err(broken) => {
            broken.tell(line);
            1
        }
    }
}

enum Outcome {
    Ended(Ended),
    Over(Overrun),
}

/// Reaps everything until the shell has ended or the cage is over a bound. Our end is then everybody's.
fn reap_until(shell: Pid, mut meter: Option<Meter>) -> Outcome {
    let end = rustix::process::pidfd_open(shell, PidfdFlags::empty());
    // Another child that ends just before we wait is reaped at the next look.
    if end.is_err() || sys::be_woken_by_children().is_err() {
        meter = None;
    }
    loop {
        let options = if meter.is_some() { WaitOptions::NOHANG } else { WaitOptions::empty() };
        match rustix::process::wait(options) {
            Ok(Some((pid, status))) if pid == shell => return Outcome::Ended(ended(status)),
            Ok(Some(_)) | Err(Errno::INTR) => continue,
            Ok(None) => {}
            Err(_) => return Outcome::Ended(Ended::Killed),
        }
        if let (Some(meter), Ok(end)) = (&mut meter, &end) {
            if let Some(overrun) = meter.look(tree::others) {
                return Outcome::Over(overrun);
            }
            // Woken by time or by a child: both are looked at.
            let _ = rustix::event::poll(&mut [PollFd::new(end, PollFlags::IN)], Some(&meter.wait()));
        }
    }
}
