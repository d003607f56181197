//! The app's side of a cage: starting the launcher and waiting for its words.
//!
//! Launchers are started from one thread that never ends, because the kernel's parent-death signal follows the
//! thread that started a process. Each cage has a waiting thread of its own. Invariant: a `Caged` exists only
//! after its launcher said that the cage stands.

use std::io::{self, BufReader, Read};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal};

use super::layout::{self, Layout};
use super::wire::{Ear, Ended, Plan, PlanLimits, STOP, Said, hear, tell};
use super::{bwrap, hook, landlock};
use crate::caged::{Caged, End, Exit, Leftover, Shared, Stop, pipes_of};
use crate::error::SpawnError;
use crate::profile::{CommandSpec, Limits, Network, Profile};
use crate::strength::{Mechanism, Strength};

/// A cage stands in milliseconds; a machine under heavy load gets this long.
const PATIENCE_S: u64 = 20;

/// Starts a command in a cage of exactly this kind.
pub(crate) fn spawn_in(
    mechanism: Mechanism,
    profile: &Profile,
    command: &CommandSpec,
) -> Result<Caged, SpawnError> {
    let layout = layout::lay_out(profile)?;
    if let (Mechanism::Landlock, Some(path)) = (mechanism, layout.covered.first()) {
        return Err(SpawnError::CannotHide { mechanism, path: path.clone() });
    }
    if let (Mechanism::Landlock, Network::Proxy) = (mechanism, profile.network) {
        // Its rules know ports, not addresses: every machine in the world has that port too.
        return Err(SpawnError::CannotProxy { mechanism });
    }
    spawn_laid_out(mechanism, layout, Some(profile.limits), profile.network, command)
}

fn elsewhere(mechanism: Mechanism) -> SpawnError {
    SpawnError::NoCage(format!("{} is for another system", mechanism.name()))
}

/// The same from a finished layout.
pub(crate) fn spawn_laid_out(
    mechanism: Mechanism,
    layout: Layout,
    limits: Option<Limits>,
    network: Network,
    command: &CommandSpec,
) -> Result<Caged, SpawnError> {
    let (readable, writable) = match mechanism {
        Mechanism::Bubblewrap | Mechanism::Namespaces => (vec!["/".into()], layout.writable_places()),
        Mechanism::Landlock => layout.real_paths(),
        Mechanism::Seatbelt | Mechanism::AppContainer => return Err(elsewhere(mechanism)),
    };
    let own_root = mechanism != Mechanism::Landlock;
    let plan = Plan {
        mechanism: Some(mechanism),
        bwrap: bwrap::find().map(Into::into),
        places: layout.places,
        readable,
        writable,
        private: own_root.then_some(layout.private),
        limits: limits.map(|limits| PlanLimits {
            cpu_s: limits.cpu_s,
            memory_bytes: limits.memory_bytes,
            total_memory_bytes: limits.total_memory_bytes,
            processes: limits.processes,
            file_size_bytes: limits.file_size_bytes,
        }),
        outlet: network == Network::Proxy,
        ..bare_plan(&layout.workdir, command)
    };
    start(&plan, strength_of(mechanism))
}

/// Starts a command without any cage, supervised so that its whole tree can be ended.
pub(crate) fn spawn_uncaged(workdir: &Path, command: &CommandSpec) -> Result<Caged, SpawnError> {
    start(&bare_plan(workdir, command), Strength::None("started without a cage on purpose".into()))
}

/// What a mechanism enforces when it works.
pub(crate) fn strength_of(mechanism: Mechanism) -> Strength {
    match mechanism {
        Mechanism::Bubblewrap | Mechanism::Namespaces => Strength::Full,
        Mechanism::Landlock => Strength::Partial(landlock::missing(landlock::version().unwrap_or(0))),
        Mechanism::Seatbelt | Mechanism::AppContainer => Strength::None("it is for another system".into()),
    }
}

fn bare_plan(workdir: &Path, command: &CommandSpec) -> Plan {
    Plan {
        mechanism: None,
        bwrap: None,
        places: Vec::new(),
        readable: Vec::new(),
        writable: Vec::new(),
        private: None,
        scratch: std::env::temp_dir().into(),
        workdir: workdir.into(),
        program: command.program.clone().into(),
        args: command.args.clone(),
        env: command.env.clone(),
        limits: None,
        outlet: false,
    }
}

fn start(plan: &Plan, strength: Strength) -> Result<Caged, SpawnError> {
    let (mut ours, theirs) = UnixStream::pair().map_err(SpawnError::Supervisor)?;
    let mut command = Command::new("/proc/self/exe");
    command
        .arg(hook::LAUNCHER)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = start_from_permanent_thread(command).map_err(SpawnError::Supervisor)?;
    let first = ours.set_write_timeout(Some(Duration::from_secs(PATIENCE_S))).and_then(|()| {
        tell(&mut ours, plan)?;
        ours.set_read_timeout(Some(Duration::from_secs(PATIENCE_S)))?;
        let mut reader = BufReader::new(Ear::new(ours.try_clone()?));
        let mut first = hear(&mut reader)?;
        let mut outlet = None;
        if let Some(Said::Listening) = first {
            outlet = reader.get_mut().take();
            first = hear(&mut reader)?;
        }
        ours.set_read_timeout(None)?;
        Ok((first, reader, ours.try_clone()?, outlet))
    });
    match first {
        Ok((Some(Said::Ready), reader, socket, outlet)) if plan.outlet == outlet.is_some() => {
            let stop = Stopper::new(socket, &child).map_err(SpawnError::Supervisor);
            let stop = stop.inspect_err(|_| abandon(&ours, &mut child))?;
            let shared = Shared::new(Box::new(stop));
            let mut caged =
                Caged::new(pipes_of(&mut child), child.id(), plan.mechanism, strength, Arc::clone(&shared));
            caged.proxy = outlet.map(Into::into);
            wait_aside(reader, child, Arc::clone(&shared)).map_err(|error| {
                // Nobody listens, so nobody would ever hear the end: the launcher is told to stop all the same.
                shared.abandon();
                SpawnError::Supervisor(error)
            })?;
            Ok(caged)
        }
        other => {
            abandon(&ours, &mut child);
            Err(explain(plan.mechanism, other.map(|(said, ..)| said), &mut child))
        }
    }
}

/// Ends a launcher that didn't get as far as a cage.
fn abandon(socket: &UnixStream, child: &mut Child) {
    // Each can only fail when the launcher is gone already.
    let _ = socket.shutdown(Shutdown::Both);
    let _ = child.kill();
    let _ = child.wait();
}

fn explain(mechanism: Option<Mechanism>, said: io::Result<Option<Said>>, child: &mut Child) -> SpawnError {
    let mechanism = mechanism.map_or("uncaged", Mechanism::name);
    match said {
        Ok(Some(Said::Failed { step, why })) => SpawnError::Build { mechanism, step, why },
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            SpawnError::Silent(PATIENCE_S)
        }
        Err(error) => SpawnError::Supervisor(error),
        Ok(_) => {
            // bwrap tells its troubles on standard error.
            const WORDS_BYTES: u64 = 2_000;
            let mut words = Vec::new();
            if let Some(stderr) = child.stderr.take() {
                let _ = stderr.take(WORDS_BYTES).read_to_end(&mut words);
            }
            let words = String::from_utf8_lossy(&words).trim().to_owned();
            let why = if words.is_empty() { "the launcher ended without a word".to_owned() } else { words };
            SpawnError::Build { mechanism, step: "start".into(), why }
        }
    }
}

#[derive(Debug)]
struct Stopper {
    socket: Mutex<UnixStream>,
    launcher: OwnedFd,
}

impl Stopper {
    fn new(socket: UnixStream, child: &Child) -> io::Result<Self> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("no process id"))?;
        let launcher = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Self { socket: Mutex::new(socket), launcher })
    }
}

impl Stop for Stopper {
    fn stop(&self) {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        // Fails only when the launcher is gone, and with it the cage.
        let _ = rustix::net::send(&*socket, &[STOP], rustix::net::SendFlags::NOSIGNAL);
    }

    fn force(&self) {
        let _ = rustix::process::pidfd_send_signal(&self.launcher, Signal::KILL);
    }
}

/// Listens to the launcher until it is gone, then records the end.
fn wait_aside(mut reader: BufReader<Ear>, mut child: Child, shared: Arc<Shared>) -> io::Result<()> {
    let listen = move || {
        let mut end = End::of(Exit::Lost);
        let mut not_started = None;
        while let Ok(Some(said)) = hear(&mut reader) {
            match said {
                Said::Ended { exit, leftovers, more } if end.exit == Exit::Lost => {
                    end = End {
                        exit: match exit {
                            Ended::Code(code) => Exit::Code(code),
                            Ended::Signal(signal) => Exit::Signal(signal),
                            Ended::Killed => Exit::Killed,
                        },
                        leftovers: leftovers.into_iter().map(|name| Leftover { name }).collect(),
                        more_leftovers: more,
                        over: None,
                    };
                }
                Said::Over { overrun } => end = End { over: Some(overrun), ..End::of(Exit::Killed) },
                Said::NotStarted { why } => not_started = Some(why),
                Said::Listening | Said::Ready | Said::Failed { .. } | Said::Ended { .. } => {}
            }
        }
        // The launcher exits after the last process of the cage.
        let _ = child.wait();
        drop((reader, child));
        if let Some(why) = not_started {
            end.exit = Exit::NotStarted(why);
        }
        shared.finish(end);
    };
    thread::Builder::new().name("cage-wait".into()).spawn(listen).map(drop)
}

type Job = (Command, Sender<io::Result<Child>>);

/// Starts a process from the one thread that lives as long as this process.
fn start_from_permanent_thread(command: Command) -> io::Result<Child> {
    static JOBS: OnceLock<io::Result<Mutex<Sender<Job>>>> = OnceLock::new();
    let gone = || io::Error::other("the starting thread is gone");
    let jobs = JOBS.get_or_init(|| {
        let (send, receive) = channel::<Job>();
        let serve = move || {
            for (mut command, reply) in receive {
                // Nobody waits any more: the launcher sees its socket close.
                let _ = reply.send(command.spawn());
            }
        };
        thread::Builder::new().name("cage-start".into()).spawn(serve)?;
        Ok(Mutex::new(send))
    });
    let jobs = jobs.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
    let (reply, answer) = channel();
    jobs.lock().unwrap_or_else(PoisonError::into_inner).send((command, reply)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}
