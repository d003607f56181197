//! The launcher: the process between the app and the cage.
//!
//! It reads the plan, builds what has to be built from outside, starts the first process of the cage, and then
//! only watches two things: the app's end of the socket and that process. When the app asks or is gone, the
//! cage ends. Invariant: it exits only after every process of the cage has ended.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};
use rustix::thread::UnshareFlags;

use super::group::Group;
use super::meter::Meter;
use super::sys::{self, Fork};
use super::wire::{Ended, Line, Plan, Private, Said};
use super::{bwrap, confine, hook, init, tree};
use crate::caged::Overrun;
use crate::strength::Mechanism;

/// A step of building that failed, and the system's words.
pub(crate) struct Broken {
    pub(crate) step: String,
    pub(crate) why: String,
}

impl Broken {
    pub(crate) fn at(step: impl Into<String>, why: impl ToString) -> Self {
        Self { step: step.into(), why: why.to_string() }
    }

    pub(crate) fn tell(self, line: &Line) {
        line.say(&Said::Failed { step: self.step, why: self.why });
    }
}

/// Runs the launcher; the result is its exit code.
pub(crate) fn run() -> i32 {
    // Until the plan is known, dying with the app is right for every mechanism.
    if rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
        return 1;
    }
    let (line, plan) = match begin() {
        Ok(begun) => begun,
        Err(error) => {
            // There is no line to tell it over; the app reads this one when nothing else comes.
            let _ = writeln!(io::stderr(), "the launcher can't begin: {error}");
            return 1;
        }
    };
    let group = plan.limits.and_then(|limits| Group::enter(limits.processes));
    let outcome = match plan.mechanism {
        Some(Mechanism::Namespaces) => {
            offer_to_the_kernel();
            in_namespaces(&line, &plan)
        }
        Some(Mechanism::Bubblewrap) => {
            offer_to_the_kernel();
            under_bwrap(&line, &plan)
        }
        Some(Mechanism::Landlock | Mechanism::Seatbelt | Mechanism::AppContainer) | None => {
            supervised(&line, plan)
        }
    };
    group.into_iter().for_each(Group::leave);
    match outcome {
        Ok(()) => 0,
        Err(broken) => {
            broken.tell(&line);
            1
        }
    }
}

/// Takes the socket from standard input, lets go of everything inherited, and reads the plan.
fn begin() -> io::Result<(Line, Plan)> {
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let empty = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&empty)?;
    drop(empty);
    sys::close_all_but(&[socket.as_raw_fd()])?;
    // A terminal's Ctrl-C or hang-up is for the app to handle.
    rustix::process::setsid()?;
    let mut reader = File::from(socket.try_clone()?);
    let plan = Plan::read(&mut reader)?;
    Ok((Line::new(socket), plan))
}

fn in_namespaces(line: &Line, plan: &Plan) -> Result<(), Broken> {
    enter_namespaces()?;
    // Closed by our end: tells the first process whether we were still there when it tied itself to us.
    let (ours, theirs) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|error| Broken::at("pipe", error))?;
    match sys::fork().map_err(|error| Broken::at("first process", error))? {
        Fork::Child => {
            drop(theirs);
            sys::exit_now(init::run(line, plan, &ours))
        }
        Fork::Parent(first) => watch(line, first),
    }
}

/// New namespaces of every kind. Root can do without a user namespace where the system forbids them.
fn enter_namespaces() -> Result<(), Broken> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let kinds = UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    match sys::unshare(kinds | UnshareFlags::NEWUSER) {
        Ok(()) => {
            let (user, group) = (user.as_raw(), group.as_raw());
            let write = |name: &str, text: String| {
                fs::write(Path::new("/proc/self").join(name), text).map_err(|error| Broken::at(name, error))
            };
            write("setgroups", "deny".into())?;
            write("uid_map", format!("{user} {user} 1"))?;
            write("gid_map", format!("{group} {group} 1"))?;
        }
        Err(_) if user.is_root() => sys::unshare(kinds).map_err(|error| Broken::at("namespaces", error))?,
        Err(error) => return Err(Broken::at("user namespace", error)),
    }
    // Gaining capabilities in the new namespace can have cleared it.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| Broken::at("parent-death signal", error))
}

fn under_bwrap(line: &Line, plan: &Plan) -> Result<(), Broken> {
    let program = plan.bwrap.clone().ok_or_else(|| Broken::at("bwrap", "it isn't installed"))?;
    let fail = |error: io::Error| Broken::at("bwrap", error);
    // When bwrap's outer process is killed, its child becomes ours and can be waited for.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| fail(error.into()))?;
    let own = rustix::fs::open("/proc/self/exe", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| fail(error.into()))?;
    let for_init = in_memory(c"plan", &plan.encode().map_err(fail)?).map_err(fail)?;
    let mut joined = Vec::new();
    for argument in bwrap::arguments(&plan.places) {
        joined.extend_from_slice(argument.as_bytes());
        joined.push(0);
    }
    let arguments = in_memory(c"arguments", &joined).map_err(fail)?;
    match sys::fork().map_err(fail)? {
        Fork::Parent(outer) => watch(line, outer),
        Fork::Child => {
            let passed = [&own, &for_init, &arguments, line.fd()];
            let tied = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            let error = match tied.and_then(|()| passed.iter().try_for_each(|fd| keep_open(fd))) {
                Err(error) => error.into(),
                Ok(()) => Command::new(program)
                    .env_clear()
                    .args([OsStr::new("--args"), &number(&arguments), OsStr::new("--")])
                    .arg(format!("/proc/self/fd/{}", own.as_raw_fd()))
                    .args([OsStr::new(hook::INIT), &number(&for_init), &number(line.fd())])
                    .exec(),
            };
            fail(error).tell(line);
            sys::exit_now(1)
        }
    }
}

/// No namespace: the command is our child, and what it leaves behind becomes our child too.
fn supervised(line: &Line, mut plan: Plan) -> Result<(), Broken> {
    let fail = |error: Errno| Broken::at("supervisor", error);
    // Here *we* end the tree when the app is gone, so we must outlive it.
    rustix::process::set_parent_process_death_signal(None).map_err(fail)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(fail)?;
    let scratch = match plan.mechanism {
        Some(_) => Some(make_scratch(&mut plan).map_err(|error| Broken::at("private folder", error))?),
        None => None,
    };
    let outcome = match sys::fork().map_err(|error| Broken::at("first process", error)) {
        Err(broken) => Err(broken),
        Ok(Fork::Child) => {
            offer_to_the_kernel();
            sys::exit_now(confine::execute(line, &plan))
        }
        Ok(Fork::Parent(shell)) => outcome(line, shell, Meter::new(&plan)),
    };
    tree::end_all();
    if let Some(scratch) = scratch {
        // Gone already or not ours any more: nothing is left to do about it.
        let _ = fs::remove_dir_all(scratch);
    }
    line.say(&outcome?);
    Ok(())
}

/// Waits for the app's word or the shell's end, and looks who else is alive.
fn outcome(line: &Line, shell: Pid, meter: Option<Meter>) -> Result<Said, Broken> {
    match first_to_end(line, shell, meter)? {
        First::Over(overrun) => Ok(Said::Over { overrun }),
        First::App => Ok(Said::Ended { exit: Ended::Killed, leftovers: Vec::new(), more: 0 }),
        First::Cage => {
            let status = rustix::process::waitpid(Some(shell), WaitOptions::empty())
                .map_err(|error| Broken::at("supervisor", error))?;
            let (leftovers, more) = tree::name_descendants();
            let exit = status.map_or(Ended::Killed, |(_, status)| ended(status));
            Ok(Said::Ended { exit, leftovers, more })
        }
    }
}

/// Waits until the app is gone or asks, or the first process ends, and then for the rest of the cage. Process 1
/// tells its own end; when it goes, the kernel ends everything in its namespace before we can reap it.
fn watch(line: &Line, first: Pid) -> Result<(), Broken> {
    let killed = match first_to_end(line, first, None)? {
        First::Cage => false,
        First::App | First::Over(_) => rustix::process::kill_process(first, Signal::KILL).is_ok(),
    };
    while let Ok(_) | Err(Errno::INTR) = rustix::process::wait(WaitOptions::empty()) {}
    if killed {
        line.say(&Said::Ended { exit: Ended::Killed, leftovers: Vec::new(), more: 0 });
    }
    Ok(())
}

enum First {
    /// It asked for the end, or is gone.
    App,
    /// The first process ended.
    Cage,
    /// The tree uses more than it may.
    Over(Overrun),
}

fn first_to_end(line: &Line, first: Pid, mut meter: Option<Meter>) -> Result<First, Broken> {
    let fail = |error: Errno| Broken::at("watching", error);
    let process = rustix::process::pidfd_open(first, PidfdFlags::empty()).map_err(fail)?;
    loop {
        let mut both =
            [PollFd::new(line.fd(), PollFlags::IN | PollFlags::HUP), PollFd::new(&process, PollFlags::IN)];
        let wait = meter.as_ref().map(Meter::wait);
        match rustix::event::poll(&mut both, wait.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(fail(error)),
        }
        if !both[1].revents().is_empty() {
            return Ok(First::Cage);
        }
        if !both[0].revents().is_empty() {
            return Ok(First::App);
        }
        if let Some(overrun) = meter.as_mut().and_then(|meter| meter.look(tree::descendants)) {
            return Ok(First::Over(overrun));
        }
    }
}

/// Makes this process and its children what the kernel ends first when memory runs out.
fn offer_to_the_kernel() {
    // Where it can't be said, the kernel takes the largest, which a runaway is anyway.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
}

/// How a process ended, for the wire.
pub(crate) fn ended(status: WaitStatus) -> Ended {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, Some(signal)) => Ended::Signal(signal),
        (None, None) => Ended::Killed,
    }
}

/// A private folder on the real file system, since there is no root of one's own.
fn make_scratch(plan: &mut Plan) -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    const ATTEMPTS: u32 = 64;
    let id = rustix::process::getpid().as_raw_nonzero();
    for attempt in 0..ATTEMPTS {
        let folder = Path::new(&plan.scratch).join(format!("daybook-cage-{id}-{attempt}"));
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => {
                let (home, tmp) = (folder.join("home"), folder.join("tmp"));
                fs::create_dir(&home)?;
                fs::create_dir(&tmp)?;
                plan.writable.push(folder.clone().into());
                plan.private = Some(Private { home: home.into(), tmp: tmp.into() });
                return Ok(folder);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "every name is taken"))
}

/// Bytes behind a descriptor that a program to be executed can read from the start.
fn in_memory(name: &std::ffi::CStr, bytes: &[u8]) -> io::Result<OwnedFd> {
    let name: CString = name.into();
    let mut file = File::from(rustix::fs::memfd_create(&name, MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

fn keep_open(fd: &OwnedFd) -> rustix::io::Result<()> {
    rustix::io::fcntl_setfd(fd.as_fd(), FdFlags::empty())
}

fn number(fd: &OwnedFd) -> OsString {
    fd.as_raw_fd().to_string().into()
}
