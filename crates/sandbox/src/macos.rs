//! The macOS cage: a profile for the system's own `sandbox-exec`.
//!
//! Files, network and services are the system's to enforce; the end of the tree is ours (see `group`), so the cage is
//! partial. **Type-checked and tested as text only: nobody has run it yet.** Invariant: the probe claims nothing that a
//! cage on this very machine didn't show.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io};

use crate::caged::{Caged, Exit};
use crate::error::SpawnError;
use crate::group::{self, Held};
use crate::profile::{CommandSpec, Limits, Network, PROXY_VARIABLES, Profile};
use crate::seatbelt::{self, Ingredients};
use crate::strength::{Mechanism, Missing, Report, Strength, Tried};

const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";
/// Folders that belong to the system and can't be a project.
const NO_PROJECT: &[&str] =
    &["/System", "/Library", "/usr", "/bin", "/sbin", "/private/etc", "/dev", "/Applications"];

/// What works here, found out by a cage that must let something through and hold something back.
pub(crate) fn probe() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| Report::of_trials(vec![(Mechanism::Seatbelt, try_out())], None, |_| strength()))
}

fn try_out() -> Tried {
    const CODE: i32 = 7;
    let folder = match Private::new() {
        Ok(folder) => folder,
        Err(error) => return Tried::Fails(format!("no private folder: {error}")),
    };
    let script = format!("cat /etc/hosts > /dev/null 2>&1 && exit 1; echo x > made || exit 2; exit {CODE}");
    let started =
        spawn_in(Mechanism::Seatbelt, &Profile::for_folder(&folder.root), &CommandSpec::shell(script));
    let ended = started.map(|caged| caged.wait().exit);
    let _ = fs::remove_dir_all(&folder.root);
    match ended {
        Ok(Exit::Code(CODE)) => Tried::Works("the system's sandbox-exec".into()),
        Ok(Exit::Code(1)) => Tried::Fails("a file that wasn't listed could be read".into()),
        Ok(other) => Tried::Fails(format!("a trivial command ended with {other:?}")),
        Err(error) => Tried::Fails(error.to_string()),
    }
}

fn strength() -> Strength {
    Strength::Partial(vec![Missing::UnsupervisedEnd, Missing::ProcessCount, Missing::Memory])
}

/// Starts a command under a profile.
pub(crate) fn spawn_in(
    mechanism: Mechanism,
    profile: &Profile,
    command: &CommandSpec,
) -> Result<Caged, SpawnError> {
    if mechanism != Mechanism::Seatbelt {
        return Err(SpawnError::NoCage(format!("{} is for another system", mechanism.name())));
    }
    let workdir = usable_folder(&profile.workdir)?;
    let hide = real(&profile.hide);
    if hide.contains(&workdir) {
        return Err(SpawnError::Folder { path: workdir, why: "it holds the app's own data" });
    }
    let fail = |step: &'static str| {
        move |error: io::Error| SpawnError::Build {
            mechanism: Mechanism::Seatbelt.name(),
            step: step.into(),
            why: error.to_string(),
        }
    };
    let proxy = match profile.network {
        Network::None => None,
        Network::Proxy => Some(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(fail("outlet"))?),
    };
    let port = proxy.as_ref().map(TcpListener::local_addr).transpose().map_err(fail("outlet"))?;
    let port = port.map(|address| address.port());
    let private = Private::new().map_err(fail("private folder"))?;
    let rendered = seatbelt::render(&Ingredients {
        workdir: workdir.clone(),
        read_write: real(&profile.read_write),
        read_only: real(&profile.read_only),
        hide,
        write: profile.write,
        private: vec![private.home.clone(), private.tmp.clone()],
        proxy_port: port,
    });
    let mut process = Command::new(SANDBOX_EXEC);
    process.args(rendered.arguments()).args(["/bin/sh", "-c", &limited(&profile.limits), "sh"]);
    own(&mut process, command, &workdir);
    process.env("HOME", &private.home).env("TMPDIR", &private.tmp);
    if let Some(port) = port {
        process.env_remove("NO_PROXY").env_remove("no_proxy");
        process.envs(PROXY_VARIABLES.map(|name| (name, format!("http://127.0.0.1:{port}"))));
    }
    let held = Held { mechanism: Some(mechanism), strength: strength(), proxy, private: Some(private.root) };
    group::start(process, held)
}

/// Starts the command as the leader of a group of its own, without any cage.
pub(crate) fn spawn_uncaged(workdir: &Path, command: &CommandSpec) -> Result<Caged, SpawnError> {
    let mut process = Command::new(&command.program);
    process.args(&command.args).env_clear().current_dir(workdir);
    process.envs(command.env.iter().map(|(name, value)| (name, value)));
    let strength = Strength::None("started without a cage on purpose".into());
    group::start(process, Held { mechanism: None, strength, proxy: None, private: None })
}

/// The command itself as further arguments, its environment and folder.
fn own(process: &mut Command, command: &CommandSpec, workdir: &Path) {
    process.arg(&command.program).args(&command.args).env_clear().current_dir(workdir);
    process.envs(command.env.iter().map(|(name, value)| (name, value)));
}

/// A script that sets limits and becomes its arguments. Numbers only: nothing of the command stands in it.
fn limited(limits: &Limits) -> String {
    const BLOCK_BYTES: u64 = 512;
    let blocks = limits.file_size_bytes / BLOCK_BYTES;
    format!("ulimit -c 0 && ulimit -t {} && ulimit -f {blocks} && exec \"$@\"", limits.cpu_s)
}

fn real(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().filter_map(|path| path.canonicalize().ok()).collect()
}

fn usable_folder(path: &Path) -> Result<PathBuf, SpawnError> {
    let refuse = |why| SpawnError::Folder { path: path.to_owned(), why };
    let folder = path.canonicalize().map_err(|_| refuse("it doesn't exist"))?;
    if !folder.is_dir() {
        return Err(refuse("it isn't a folder"));
    }
    if folder.parent().is_none() || NO_PROJECT.iter().any(|system| folder.starts_with(system)) {
        return Err(refuse("it belongs to the system"));
    }
    Ok(folder)
}

/// A private folder of one cage.
struct Private {
    root: PathBuf,
    home: PathBuf,
    tmp: PathBuf,
}

impl Private {
    fn new() -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("daybook-cage-{}-{number}", std::process::id());
        let root = env::temp_dir().canonicalize()?.join(name);
        fs::DirBuilder::new().mode(0o700).create(&root)?;
        let (home, tmp) = (root.join("home"), root.join("tmp"));
        fs::create_dir(&home)?;
        fs::create_dir(&tmp)?;
        Ok(Self { root, home, tmp })
    }
}
