//! Systems without a cage of ours yet: macOS and Windows.
//!
//! The probe says so, and an uncaged start is possible only through the function that carries it in its name.
//! What it starts is a process group (Unix) or a console tree (Windows) that can be ended together. Invariant:
//! nothing here claims a limit.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread;

use crate::caged::{Caged, End, Exit, Shared, Stop};
use crate::error::SpawnError;
use crate::profile::{CommandSpec, Profile};
use crate::strength::{Mechanism, Report, Strength, Tried};

const WHY: &str = "cages exist on Linux only so far";

/// Nothing works here.
pub(crate) fn probe() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    let fails = || Tried::Fails(WHY.into());
    REPORT.get_or_init(|| Report {
        bubblewrap: fails(),
        namespaces: fails(),
        landlock: fails(),
        seccomp: fails(),
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
    process
        .args(&command.args)
        .env_clear()
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .current_dir(workdir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    lead_a_group(&mut process);
    let mut child = process.spawn().map_err(SpawnError::Supervisor)?;
    let group = Group { leader: child.id() };
    let shared = Shared::new(Box::new(group));
    let caged = Caged::new(&mut child, None, Strength::None(WHY.into()), Arc::clone(&shared));
    wait_aside(child, Arc::clone(&shared)).map_err(|error| {
        shared.abandon();
        SpawnError::Supervisor(error)
    })?;
    Ok(caged)
}

fn wait_aside(mut child: Child, shared: Arc<Shared>) -> io::Result<()> {
    let group = Group { leader: child.id() };
    let listen = move || {
        let exit = match child.wait() {
            Ok(status) => exit_of(status),
            Err(_) => Exit::Lost,
        };
        // The group outlives its leader: whatever stayed in it is ended too, unnamed.
        group.stop();
        shared.finish(End::of(exit));
    };
    thread::Builder::new().name("command-wait".into()).spawn(listen).map(drop)
}

#[derive(Debug, Clone, Copy)]
struct Group {
    leader: u32,
}

#[cfg(unix)]
impl Stop for Group {
    fn stop(&self) {
        use rustix::process::{Pid, Signal};
        if let Some(leader) = i32::try_from(self.leader).ok().and_then(Pid::from_raw) {
            // Fails only when nobody is left in the group.
            let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        }
    }

    fn force(&self) {
        self.stop();
    }
}

#[cfg(unix)]
fn lead_a_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(unix)]
fn exit_of(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    const KILL: i32 = 9;
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(KILL)) => Exit::Killed,
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Lost,
    }
}

#[cfg(windows)]
impl Stop for Group {
    fn stop(&self) {
        // The system's own tool walks the tree; job objects come with the cage for this system.
        let tree = ["/T", "/F", "/PID", &self.leader.to_string()].map(str::to_owned);
        let system = std::env::var_os("SystemRoot").unwrap_or_else(|| "C:\\Windows".into());
        let program = Path::new(&system).join("System32").join("taskkill.exe");
        let _ = Command::new(program).args(tree).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }

    fn force(&self) {
        self.stop();
    }
}

#[cfg(windows)]
fn lead_a_group(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    command.creation_flags(CREATE_NO_WINDOW);
}

#[cfg(windows)]
fn exit_of(status: std::process::ExitStatus) -> Exit {
    status.code().map_or(Exit::Lost, Exit::Code)
}
