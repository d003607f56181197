//! The Windows cage: an app container in a job object.
//!
//! Files and network are the container's to hold, number, memory and end of processes the job's; the job ends with the
//! app's last handle. **Type-checked and tested as a structure only: nobody has run it yet.** Invariant: the probe claims
//! nothing that a cage on this very machine didn't show; the command inherits three handles and no other.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::windows::io::OwnedHandle;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::{env, io, thread};

use crate::caged::{Caged, End, Exit, Shared, Stop};
use crate::container::{self, CHANGE, Container, Entry, Job, plain};
use crate::error::SpawnError;
use crate::profile::{CommandSpec, Network, Profile};
use crate::strength::{Mechanism, Missing, Report, Strength, Tried};
use crate::win_sys::{Identity, JobObject, Launch, Process};

/// Exit code of what we ended.
const ENDED_BY_US: u32 = 0x4b_49_4c;

/// What works here, found out by a cage that must let something through and hold something back.
pub(crate) fn probe() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| Report::of_trials(vec![(Mechanism::AppContainer, try_out())], None, |_| strength()))
}

fn try_out() -> Tried {
    const CODE: i32 = 7;
    let made = private_folder().and_then(|outer| {
        fs::create_dir(outer.join("project"))?;
        fs::write(outer.join("canary"), "not to be read")?;
        Ok(outer)
    });
    let outer = match made {
        Ok(outer) => outer,
        Err(error) => return Tried::Fails(format!("no private folder: {error}")),
    };
    let root = env::var_os("SystemRoot").unwrap_or_else(|| "C:\\Windows".into());
    let script = format!("type ..\\canary >nul 2>&1 && exit 1 & echo x> made || exit 2 & exit {CODE}");
    let command = CommandSpec {
        program: Path::new(&root).join("System32").join("cmd.exe"),
        args: vec!["/d".into(), "/c".into(), script.into()],
        env: vec![("SystemRoot".into(), root)],
    };
    let started = spawn_in(Mechanism::AppContainer, &Profile::for_folder(outer.join("project")), &command);
    let ended = started.map(|caged| caged.wait().exit);
    let _ = fs::remove_dir_all(&outer);
    match ended {
        Ok(Exit::Code(CODE)) => Tried::Works("an app container without capabilities, in a job".into()),
        Ok(Exit::Code(1)) => Tried::Fails("a file that wasn't listed could be read".into()),
        Ok(other) => Tried::Fails(format!("a trivial command ended with {other:?}")),
        Err(error) => Tried::Fails(error.to_string()),
    }
}

fn strength() -> Strength {
    Strength::Partial(vec![Missing::FileNames, Missing::ReadOnlyParts, Missing::FileSize])
}

/// Starts a command in a container.
pub(crate) fn spawn_in(
    mechanism: Mechanism,
    profile: &Profile,
    command: &CommandSpec,
) -> Result<Caged, SpawnError> {
    if mechanism != Mechanism::AppContainer {
        return Err(SpawnError::NoCage(format!("{} is for another system", mechanism.name())));
    }
    if profile.network == Network::Proxy {
        // A container reaches no port of this machine unless an administrator exempts it.
        return Err(SpawnError::CannotProxy { mechanism });
    }
    let profile = resolved(profile)?;
    let listed = std::iter::once(&profile.workdir).chain(&profile.read_write).chain(&profile.read_only);
    let mut hidden = profile.hide.iter();
    if let Some(path) = hidden.find(|path| listed.clone().any(|folder| path.starts_with(folder))) {
        return Err(SpawnError::CannotHide { mechanism, path: path.clone() });
    }
    let container = container::contain(&profile);
    let private = private_folder().map_err(|error| broken("private folder", &error))?;
    let mut variables = command.env.clone();
    for name in ["HOME", "TMPDIR", "TEMP", "TMP", "USERPROFILE", "LOCALAPPDATA", "APPDATA"] {
        variables.push((name.into(), private.clone().into_os_string()));
    }
    let caged = Held { container: Some(&container), private: Some(private.clone()), strength: strength() };
    start(caged, &profile.workdir, command, &variables).inspect_err(|_| {
        // Nothing runs in it.
        let _ = fs::remove_dir_all(&private);
    })
}

/// Starts the command in a job and no container.
pub(crate) fn spawn_uncaged(workdir: &Path, command: &CommandSpec) -> Result<Caged, SpawnError> {
    let strength = Strength::None("started without a cage on purpose".into());
    start(Held { container: None, private: None, strength }, workdir, command, &command.env)
}

struct Held<'a> {
    container: Option<&'a Container>,
    private: Option<PathBuf>,
    strength: Strength,
}

fn start(
    held: Held<'_>,
    workdir: &Path,
    command: &CommandSpec,
    variables: &[(OsString, OsString)],
) -> Result<Caged, SpawnError> {
    let limits = held.container.map_or(Job::UNLIMITED, |container| container.job);
    let job = Arc::new(JobObject::new(&limits).map_err(|error| broken("job", &error))?);
    let identity = match held.container {
        None => None,
        Some(container) => {
            let identity = Identity::of(&container.moniker).map_err(|error| broken("container", &error))?;
            let private = held.private.iter().map(|path| Entry { path: path.clone(), mask: CHANGE });
            for Entry { path, mask } in container.entries.iter().cloned().chain(private) {
                identity.grant(&path, mask).map_err(|error| broken("rights", &error))?;
            }
            Some(identity)
        }
    };
    let pipe = |step: &'static str| io::pipe().map_err(|error| broken(step, &error));
    let ((out, out_end), (err, err_end)) = (pipe("output")?, pipe("errors")?);
    let empty = File::open("NUL").map_err(|error| broken("input", &error))?;
    let mut launch = Launch {
        program: &command.program,
        command_line: container::command_line(&command.program, &command.args),
        environment: container::environment(variables),
        workdir: &plain(workdir),
        handles: [OwnedHandle::from(empty), OwnedHandle::from(out_end), OwnedHandle::from(err_end)],
        identity: identity.as_ref(),
        job: &job,
    };
    let process = launch.start().map_err(|error| broken("start", &error))?;
    drop(launch);
    let told = Arc::new(AtomicBool::new(false));
    let shared = Shared::new(Box::new(Stopper { job: Arc::clone(&job), told: Arc::clone(&told) }));
    let pipes = (Some(File::from(OwnedHandle::from(out))), Some(File::from(OwnedHandle::from(err))));
    let mechanism = held.container.map(|_| Mechanism::AppContainer);
    let caged = Caged::new(pipes, process.id(), mechanism, held.strength, Arc::clone(&shared));
    wait_aside(process, job, told, held.private, Arc::clone(&shared)).map_err(|error| {
        shared.abandon();
        SpawnError::Supervisor(error)
    })?;
    Ok(caged)
}

fn wait_aside(
    process: Process,
    job: Arc<JobObject>,
    told: Arc<AtomicBool>,
    private: Option<PathBuf>,
    shared: Arc<Shared>,
) -> io::Result<()> {
    let listen = move || {
        let exit = match process.wait() {
            Ok(ENDED_BY_US) if told.load(Ordering::SeqCst) => Exit::Killed,
            // A number of 32 bits, read as programs mean it.
            Ok(code) => Exit::Code(code.cast_signed()),
            Err(_) => Exit::Lost,
        };
        let left = job.alive();
        job.end(ENDED_BY_US);
        if let Some(private) = private {
            let _ = fs::remove_dir_all(private);
        }
        shared.finish(End { more_leftovers: left, ..End::of(exit) });
    };
    thread::Builder::new().name("cage-wait".into()).spawn(listen).map(drop)
}

#[derive(Debug)]
struct Stopper {
    job: Arc<JobObject>,
    told: Arc<AtomicBool>,
}

impl Stop for Stopper {
    fn stop(&self) {
        self.told.store(true, Ordering::SeqCst);
        self.job.end(ENDED_BY_US);
    }

    fn force(&self) {
        self.stop();
    }
}

/// The profile with every link resolved; what doesn't exist is left out.
fn resolved(profile: &Profile) -> Result<Profile, SpawnError> {
    let refuse = |why| SpawnError::Folder { path: profile.workdir.clone(), why };
    let workdir = profile.workdir.canonicalize().map_err(|_| refuse("it doesn't exist"))?;
    if !workdir.is_dir() {
        return Err(refuse("it isn't a folder"));
    }
    let windows = env::var_os("SystemRoot").and_then(|root| Path::new(&root).canonicalize().ok());
    if workdir.parent().is_none() || windows.is_some_and(|windows| workdir.starts_with(windows)) {
        return Err(refuse("it belongs to the system"));
    }
    let real = |paths: &[PathBuf]| paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let hide: Vec<PathBuf> = real(&profile.hide);
    if hide.contains(&workdir) {
        return Err(refuse("it holds the app's own data"));
    }
    Ok(Profile {
        workdir,
        read_write: real(&profile.read_write),
        read_only: real(&profile.read_only),
        hide,
        ..profile.clone()
    })
}

fn private_folder() -> io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("daybook-cage-{}-{number}", std::process::id()));
    fs::create_dir(&folder)?;
    Ok(folder)
}

fn broken(step: &str, error: &io::Error) -> SpawnError {
    SpawnError::Build { mechanism: Mechanism::AppContainer.name(), step: step.into(), why: error.to_string() }
}
