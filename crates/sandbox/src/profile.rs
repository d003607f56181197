//! What a cage lets in, and what runs inside it.
//!
//! A **profile** is an allow list from an empty root: whatever it doesn't name doesn't exist for the command.
//! Paths are absolute; a path that doesn't exist when the cage is built is left out, so it is neither hidden nor
//! kept if the command makes it; only the folder itself must exist. Invariant: nothing here widens by default, and
//! `hide` wins over every other list.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The allow list of one cage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The project folder: where the command starts, under its path with all links resolved. Writable when `write`
    /// says so.
    pub workdir: PathBuf,
    /// Further folders or files the command may change (only with [`WriteAccess::Folder`]).
    pub read_write: Vec<PathBuf>,
    /// Further folders or files the command may only read. One inside a writable folder stays read-only in a full cage.
    pub read_only: Vec<PathBuf>,
    /// Paths that stay invisible even where a listed folder contains them: our data and runtime folders.
    pub hide: Vec<PathBuf>,
    /// Whether anything but the private temporary folders can be written.
    pub write: WriteAccess,
    /// What the command may reach over the network.
    pub network: Network,
    /// Bounds on what the command may use up.
    pub limits: Limits,
}

impl Profile {
    /// The usual profile of a project folder: writable, no network, nothing else let in, default limits.
    pub fn for_folder(workdir: impl Into<PathBuf>) -> Self {
        Self {
            workdir: workdir.into(),
            read_write: Vec::new(),
            read_only: Vec::new(),
            hide: Vec::new(),
            write: WriteAccess::Folder,
            network: Network::None,
            limits: Limits::default(),
        }
    }
}

/// What the command may write besides its private temporary folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteAccess {
    /// The project folder and `read_write`.
    Folder,
    /// Nothing: *Plan only*.
    None,
}

/// What the command may reach over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Nothing: no socket of any family can be made, not even a local one (only unnamed socket pairs).
    None,
    /// Only one listening socket of ours, handed out as [`Caged::proxy`](crate::Caged::proxy): whoever serves it as an
    /// HTTP proxy decides where the command gets. There is no resolver and no other way out. The usual proxy variables
    /// ([`PROXY_VARIABLES`]) point to it. Refused where it can't be enforced.
    Proxy,
}

/// Bounds on what a command may use up. Those of one process fail that process; those of all together end the cage, and
/// [`End::over`](crate::End::over) says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Processor seconds of one process; then it is killed.
    pub cpu_s: u64,
    /// Private writable memory of one process, in bytes (reserved but unused address space isn't counted).
    pub memory_bytes: u64,
    /// Private memory of all processes together, with what the private folders hold: looked at several times a second,
    /// and never more than three quarters of the machine's. The kernel takes the cage first when memory runs out.
    pub total_memory_bytes: u64,
    /// Processes and threads alive at once. The kernel refuses more; where it doesn't count (root), the cage is ended.
    pub processes: u64,
    /// Largest file a process can write, in bytes.
    pub file_size_bytes: u64,
}

impl Default for Limits {
    /// 20 minutes of processor time and 8 GiB a process, 12 GiB together, 1,024 processes, files up to 8 GiB: room for
    /// a build, an end for a runaway.
    fn default() -> Self {
        Self {
            cpu_s: 1_200,
            memory_bytes: 8 << 30,
            total_memory_bytes: 12 << 30,
            processes: 1_024,
            file_size_bytes: 8 << 30,
        }
    }
}

/// Variables that name the proxy to programs, in a cage with [`Network::Proxy`]; each holds the same URL.
pub const PROXY_VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// The command: program, arguments, and its *complete* environment.
///
/// Nothing of our own environment is inherited. The cage adds exactly two variables, replacing given ones:
/// `HOME` and `TMPDIR`, which point to empty private folders that end with the call; with [`Network::Proxy`] also
/// [`PROXY_VARIABLES`]. Standard input is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// Absolute path of the program as seen inside the cage, e.g. `/bin/bash`.
    pub program: PathBuf,
    /// Arguments after the program's name.
    pub args: Vec<OsString>,
    /// Every variable the command sees besides `HOME` and `TMPDIR`.
    pub env: Vec<(OsString, OsString)>,
}

impl CommandSpec {
    /// `sh -c script` with a plain search path and no other variable.
    pub fn shell(script: impl Into<OsString>) -> Self {
        Self {
            program: Path::new("/bin/sh").to_owned(),
            args: vec!["-c".into(), script.into()],
            env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        }
    }
}
