//! A running command and its end.
//!
//! **Caged** is the handle of one process tree. It ends when its shell exits, when it is killed, or when this
//! process dies; whatever else was running in it is then stopped and named as a **leftover**. Invariant: once
//! `wait` has returned, no process of the tree is alive (on systems without a cage: of its process group).

use std::fs::File;
use std::net::TcpListener;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::strength::{Mechanism, Strength};

/// How the command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It exited by itself with this code.
    Code(i32),
    /// A signal ended it, e.g. 9; not sent by [`Caged::kill`].
    Signal(i32),
    /// [`Caged::kill`] ended it (or dropping the handle), or a bound of the whole cage: see [`End::over`].
    Killed,
    /// The program couldn't be started; the text says why.
    NotStarted(String),
    /// The supervisor ended without a word: killed from outside, or a fault of ours.
    Lost,
}

/// A process that was alive when the shell had exited, and was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its command line, shortened to 120 characters, control characters replaced. Written by the command
    /// itself: data, never trusted.
    pub name: String,
}

/// The end of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// How the command itself ended.
    pub exit: Exit,
    /// At most 32 leftovers.
    pub leftovers: Vec<Leftover>,
    /// How many leftovers there were beyond those named.
    pub more_leftovers: usize,
    /// Set when the whole tree was ended because it used more than it may; `exit` is then [`Exit::Killed`].
    pub over: Option<Overrun>,
}

/// A bound for a whole cage that was crossed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(target_os = "linux", derive(serde::Serialize, serde::Deserialize))]
pub enum Overrun {
    /// Memory of all processes together.
    Memory,
    /// Processes and threads alive at once.
    Processes,
}

impl End {
    pub(crate) fn of(exit: Exit) -> Self {
        Self { exit, leftovers: Vec::new(), more_leftovers: 0, over: None }
    }
}

/// One command running in a cage. Dropping it kills the tree.
#[derive(Debug)]
pub struct Caged {
    /// The command's standard output; the read end of a pipe, close-on-exec. Taken by the reader.
    pub stdout: Option<File>,
    /// The command's standard error, likewise.
    pub stderr: Option<File>,
    /// With [`Network::Proxy`](crate::Network::Proxy): where the command's connections arrive. Only this cage can reach
    /// it. Taken by whoever serves it; while nobody does, connections wait.
    pub proxy: Option<TcpListener>,
    pid: u32,
    mechanism: Option<Mechanism>,
    strength: Strength,
    shared: Arc<Shared>,
}

impl Caged {
    pub(crate) fn new(
        (stdout, stderr): (Option<File>, Option<File>),
        pid: u32,
        mechanism: Option<Mechanism>,
        strength: Strength,
        shared: Arc<Shared>,
    ) -> Self {
        Self { stdout, stderr, proxy: None, pid, mechanism, strength, shared }
    }

    /// The process id of the tree's outermost process, as this system sees it.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How the cage was built; `None` when it runs uncaged.
    pub fn mechanism(&self) -> Option<Mechanism> {
        self.mechanism
    }

    /// What this cage enforces.
    pub fn strength(&self) -> &Strength {
        &self.strength
    }

    /// Blocks until the tree has ended. Can be called from several threads and again.
    pub fn wait(&self) -> End {
        let mut state = self.shared.lock();
        loop {
            if let State::Ended(end) = &*state {
                return end.clone();
            }
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Like [`Caged::wait`], giving up after `limit`.
    pub fn wait_timeout(&self, limit: Duration) -> Option<End> {
        self.shared.wait_until(Instant::now() + limit)
    }

    /// The end, if the tree has ended already.
    pub fn try_wait(&self) -> Option<End> {
        match &*self.shared.lock() {
            State::Ended(end) => Some(end.clone()),
            State::Running { .. } => None,
        }
    }

    /// Calls `then` once with the end: from the waiting thread, or at once when it has ended already. Must not
    /// block.
    pub fn on_end(&self, then: impl FnOnce(End) + Send + 'static) {
        let mut state = self.shared.lock();
        match &mut *state {
            State::Running { listeners } => listeners.push(Box::new(then)),
            State::Ended(end) => {
                let end = end.clone();
                drop(state);
                then(end);
            }
        }
    }

    /// Stops every process of the tree, whatever it ignores and wherever it moved, and waits until none is
    /// left: normally a few milliseconds, never more than two seconds. Returns how the command ended, which is its own
    /// exit when it was faster. [`Exit::Lost`] means that even the supervisor had to be killed.
    pub fn kill(&self) -> End {
        self.shared.stopper.stop();
        if let Some(end) = self.shared.wait_until(Instant::now() + KILL_PATIENCE) {
            return end;
        }
        self.shared.stopper.force();
        self.shared.wait_until(Instant::now() + KILL_PATIENCE).unwrap_or_else(|| End::of(Exit::Lost))
    }

    /// Processes that were still alive when the shell exited and were stopped. Empty while it runs.
    pub fn leftovers(&self) -> Vec<Leftover> {
        self.try_wait().map(|end| end.leftovers).unwrap_or_default()
    }
}

impl Drop for Caged {
    fn drop(&mut self) {
        if self.try_wait().is_none() {
            self.kill();
        }
    }
}

/// How long the supervisor gets to end a tree before it is killed itself, and the kernel to do the rest.
const KILL_PATIENCE: Duration = Duration::from_millis(800);

/// The means to end a tree from outside; each kind of spawn brings its own.
pub(crate) trait Stop: Send + Sync + std::fmt::Debug {
    /// Asks for the end of every process; returns at once.
    fn stop(&self);
    /// Ends the supervisor itself; the kernel ends the rest where it can.
    fn force(&self);
}

/// What the handle and the waiting thread share.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    stopper: Box<dyn Stop>,
}

type Listener = Box<dyn FnOnce(End) + Send>;

enum State {
    Running { listeners: Vec<Listener> },
    Ended(End),
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running { listeners } => write!(f, "Running({} listeners)", listeners.len()),
            Self::Ended(end) => write!(f, "Ended({end:?})"),
        }
    }
}

impl Shared {
    pub(crate) fn new(stopper: Box<dyn Stop>) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::Running { listeners: Vec::new() }),
            changed: Condvar::new(),
            stopper,
        })
    }

    /// Records the end, once, and tells everybody.
    pub(crate) fn finish(&self, end: End) {
        let before = std::mem::replace(&mut *self.lock(), State::Ended(end.clone()));
        self.changed.notify_all();
        if let State::Running { listeners } = before {
            for listener in listeners {
                listener(end.clone());
            }
        }
    }

    /// For a tree whose end nobody can wait for: asks for it and counts it as lost.
    pub(crate) fn abandon(&self) {
        self.stopper.stop();
        self.finish(End::of(Exit::Lost));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until(&self, deadline: Instant) -> Option<End> {
        let mut state = self.lock();
        loop {
            if let State::Ended(end) = &*state {
                return Some(end.clone());
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The output pipes of a child, taken.
#[cfg(unix)]
pub(crate) fn pipes_of(child: &mut std::process::Child) -> (Option<File>, Option<File>) {
    use std::os::fd::OwnedFd;
    let file = |pipe: OwnedFd| File::from(pipe);
    (child.stdout.take().map(|pipe| file(pipe.into())), child.stderr.take().map(|pipe| file(pipe.into())))
}
