//! The world outside: commands that are counted instead of run, and ports that count instead of asking the system.

use domain::ids::Ids;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;
use tools::Cage;
use tools::launch::{Ended, Exit, Hold, LaunchError, Launcher, Order, Running};

/// What the clock shows before anything happens.
const BEGINNING: u64 = 1_900_000_000_000;

/// A day, in milliseconds.
pub const DAY: u64 = 24 * 60 * 60 * 1_000;

/// What happened outside, over all processes.
#[derive(Debug, Default)]
pub struct World {
    commands: Mutex<Vec<String>>,
    ids: AtomicU64,
    now: AtomicU64,
    frozen: AtomicBool,
    /// Where judging stops while it is shut: after the folder was looked at, before the engine hears of it.
    pub judging: Gate,
}

/// Stops whoever comes while it is shut.
#[derive(Debug, Default)]
pub struct Gate {
    standing: Mutex<Standing>,
    told: Condvar,
}

#[derive(Debug, Default)]
struct Standing {
    shut: bool,
    waiting: usize,
}

impl Gate {
    /// Shuts it for who comes from now on.
    pub fn shut(&self) {
        self.standing().shut = true;
    }

    /// Lets everybody through.
    pub fn open(&self) {
        self.standing().shut = false;
        self.told.notify_all();
    }

    /// Does somebody wait before it?
    #[must_use]
    pub fn is_waited_at(&self) -> bool {
        self.standing().waiting > 0
    }

    /// Goes through, once it is open.
    pub fn pass(&self) {
        let mut standing = self.standing();
        standing.waiting += 1;
        let passed = self.told.wait_while(standing, |standing| standing.shut);
        passed.unwrap_or_else(PoisonError::into_inner).waiting -= 1;
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World {
    /// Counts a command as run: for one whose start a dead process had recorded.
    pub fn happened(&self, command: &str) {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).push(command.to_owned());
    }

    /// Ids as in a later life of the machine: none of the ones that were given before this many.
    pub fn begin_ids_at(&self, n: u64) {
        self.ids.store(n, Ordering::Relaxed);
    }

    /// Lets time pass.
    pub fn pass(&self, ms: u64) {
        self.now.fetch_add(ms, Ordering::Relaxed);
    }

    /// Somebody sets the clock of the machine.
    pub fn set_clock(&self, ms: u64) {
        self.now.store(ms.wrapping_sub(BEGINNING), Ordering::Relaxed);
    }

    /// What the clock shows, without moving it.
    #[must_use]
    pub fn clock(&self) -> u64 {
        BEGINNING.wrapping_add(self.now.load(Ordering::Relaxed))
    }

    /// When the day on the clock began and when it ends; the person lives by universal time.
    pub(crate) fn day(self: &Arc<Self>) -> Arc<dyn Fn() -> (u64, u64) + Send + Sync> {
        let world = Arc::clone(self);
        Arc::new(move || {
            let begins = world.clock() / DAY * DAY;
            (begins, begins + DAY)
        })
    }

    /// The clock of the machine stands still.
    pub fn freeze_clock(&self) {
        self.frozen.store(true, Ordering::Relaxed);
    }

    /// The commands that ran, in order.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Ids that count up over all processes, spread so that no two look alike.
pub struct CountedIds(pub Arc<World>);

impl Ids for CountedIds {
    fn next(&self) -> u128 {
        let n = self.0.ids.fetch_add(1, Ordering::Relaxed) + 1;
        (u128::from(n) << 64) | 0x7000_8000_0000_0000
    }
}

/// A clock that moves by one millisecond each time it is read.
pub struct CountedClock {
    world: Arc<World>,
    runtime: ThreadId,
}

impl CountedClock {
    /// A clock for a process whose runtime has this thread. Beside it only judging reads the clock.
    #[must_use]
    pub fn of(world: Arc<World>) -> Self {
        Self { world, runtime: thread::current().id() }
    }
}

impl store::Clock for CountedClock {
    fn now_ms(&self) -> u64 {
        if thread::current().id() != self.runtime {
            self.world.judging.pass();
        }
        if !self.world.frozen.load(Ordering::Relaxed) {
            self.world.now.fetch_add(1, Ordering::Relaxed);
        }
        self.world.clock()
    }
}

/// A shell that counts: `note WORDS` prints them, `fail` ends with code 1, `hang WORDS` prints them and runs until it is
/// killed, `make PATH` and `drop PATH` make and remove a file in the folder, `anew PATH` puts another file in its place,
/// everything else prints nothing.
pub struct CountingShell {
    /// Where it counts.
    pub world: Arc<World>,
    /// How strong the cage claims to be.
    pub cage: Cage,
}

impl Launcher for CountingShell {
    fn cage(&self) -> Cage {
        self.cage
    }

    fn launch(&self, order: &Order) -> Result<Box<dyn Running>, LaunchError> {
        let command = order.args.last().cloned().unwrap_or_default();
        self.world.commands.lock().unwrap_or_else(PoisonError::into_inner).push(command.clone());
        let mut out = tempfile::tempfile().map_err(|error| LaunchError(error.to_string()))?;
        if let Some(words) = command.strip_prefix("note ").or_else(|| command.strip_prefix("hang ")) {
            writeln!(out, "{words}").map_err(|error| LaunchError(error.to_string()))?;
        }
        if let Some(bytes) = command.strip_prefix("fill ").and_then(|bytes| bytes.parse().ok()) {
            out.write_all(&vec![b'x'; bytes]).map_err(|error| LaunchError(error.to_string()))?;
        }
        // What the cage holds read-only changes nothing.
        if order.hold != Hold::ReadOnly {
            act(&order.folder, &command).map_err(|error| LaunchError(error.to_string()))?;
        }
        std::io::Seek::rewind(&mut out).map_err(|error| LaunchError(error.to_string()))?;
        let code = i32::from(command.starts_with("fail"));
        let hangs = command.starts_with("hang");
        Ok(Box::new(Ran { out: Some(out), code, hangs, killed: Mutex::default(), told: Condvar::new() }))
    }
}

/// What a command does to the folder.
fn act(folder: &Path, command: &str) -> std::io::Result<()> {
    if let Some(path) = command.strip_prefix("make ") {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(path, command)?;
    }
    if let Some(path) = command.strip_prefix("anew ") {
        std::fs::write(folder.join("anew.tmp"), command)?;
        std::fs::rename(folder.join("anew.tmp"), folder.join(path))?;
    }
    command.strip_prefix("drop ").map_or(Ok(()), |path| std::fs::remove_file(folder.join(path)))
}

struct Ran {
    out: Option<File>,
    code: i32,
    hangs: bool,
    killed: Mutex<bool>,
    told: Condvar,
}

impl Running for Ran {
    fn pipes(&mut self) -> (Option<File>, Option<File>) {
        (self.out.take(), None)
    }

    fn wait_timeout(&self, limit: Duration) -> Option<Ended> {
        if self.hangs {
            let killed = self.killed.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self.told.wait_timeout_while(killed, limit, |killed| !*killed);
            let killed = *waited.unwrap_or_else(PoisonError::into_inner).0;
            return killed.then(|| Ended { exit: Exit::Killed, leftovers: Vec::new(), more_leftovers: 0 });
        }
        Some(Ended { exit: Exit::Code(self.code), leftovers: Vec::new(), more_leftovers: 0 })
    }

    fn kill(&self) -> Option<Ended> {
        *self.killed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.told.notify_all();
        Some(Ended { exit: Exit::Killed, leftovers: Vec::new(), more_leftovers: 0 })
    }
}
