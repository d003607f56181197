//! How commands are started: a port with one real side, the cage.
//!
//! A **launcher** starts a command for one folder and says how strong its cage is. Invariant: whoever asks for a cage
//! gets one or an error; running without one is a separate word, never a fallback.

use crate::network::{Hosts, Used};
use crate::policy::Cage;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

/// Starts commands.
pub trait Launcher: Send + Sync {
    /// What its cages enforce on this machine.
    fn cage(&self) -> Cage;

    /// Whether [`Reach::Hosts`] can be enforced here; where it can't, such an order is refused.
    fn can_reach_hosts(&self) -> bool {
        false
    }

    /// Starts it; may block for a moment.
    ///
    /// # Errors
    /// When it can't be started; nothing of it has run then.
    fn launch(&self, order: &Order) -> Result<Box<dyn Running>, LaunchError>;
}

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its complete environment; the cage adds `HOME` and `TMPDIR`.
    pub env: Vec<(String, String)>,
    /// The folder it starts in.
    pub folder: PathBuf,
    /// Absolute paths of added folders: there for it, and never to be changed.
    pub look: Vec<PathBuf>,
    /// Absolute paths that don't exist for it, even inside the folder.
    pub hide: Vec<PathBuf>,
    /// Absolute paths inside the folder that it may read and not change: what later decides about us or about programs the
    /// person runs. Holds where the cage has a root of its own.
    pub keep: Vec<PathBuf>,
    /// What it may reach over the network.
    pub reach: Reach,
    /// How it is held.
    pub hold: Hold,
}

/// What a command may reach over the network. An uncaged one reaches what the person does, whatever stands here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Reach {
    /// Nothing.
    #[default]
    Nothing,
    /// These sites, through a proxy that decides by name. Where the cage can't enforce it, nothing is started.
    Hosts(Hosts),
}

/// How a command is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// In a cage that may write the folder.
    Caged,
    /// In a cage that may write nothing that lasts.
    ReadOnly,
    /// Without a cage: only where the person approved this very command on a machine that has none.
    Uncaged,
}

/// A started command. Dropping it ends its whole tree.
pub trait Running: Send + Sync {
    /// Its output pipes, once: standard output and standard error.
    fn pipes(&mut self) -> (Option<File>, Option<File>);
    /// Blocks until the tree has ended, at most this long.
    fn wait_timeout(&self, limit: Duration) -> Option<Ended>;
    /// Ends the tree and waits until nothing of it is left; `None` when that couldn't be confirmed.
    fn kill(&self) -> Option<Ended>;
    /// Paths of [`Order::keep`] that it made: they weren't there when it started, so they couldn't be held.
    fn made(&self) -> Vec<PathBuf> {
        Vec::new()
    }
    /// Which bound for the whole command it crossed, if it was ended for that, e.g. `memory`.
    fn over(&self) -> Option<&'static str> {
        None
    }
    /// What it asked of the network so far, granted or refused.
    fn used(&self) -> Vec<Used> {
        Vec::new()
    }
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The command's own end.
    pub exit: Exit,
    /// What it had left running, by name; it was stopped.
    pub leftovers: Vec<String>,
    /// How many more than those named.
    pub more_leftovers: usize,
}

/// The command's own end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that we didn't send.
    Signal(i32),
    /// By us.
    Killed,
    /// It never began.
    NotStarted(String),
    /// Nobody knows.
    Lost,
}

/// Why a command wasn't started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the command couldn't be started: {0}")]
pub struct LaunchError(pub String);
