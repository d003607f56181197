//! What the store takes from outside: the time, and in tests the places where it fails.
//!
//! The store reads no clock of its own and has no switch for tests: a simulation passes in a manual [`Clock`] and
//! [`Faults`] that end a run at a chosen [`Point`]. Invariant: with [`NoFaults`] nothing here changes what is written.

/// Where the time comes from; only shown and measured, never used for order.
pub trait Clock: Send + Sync {
    /// UTC milliseconds.
    fn now_ms(&self) -> u64;
}

/// A place in an append where a process can die or a disk can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Point {
    /// Everything is encoded, nothing has begun.
    BeforeBegin,
    /// Everything is inserted; the commit has not begun.
    BeforeCommit,
    /// The commit is done; nobody has been told.
    AfterCommit,
}

/// What happens at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Nothing unusual.
    Go,
    /// The process is dead from here on: this append and every later one answers `Crashed` without touching the disk.
    Die,
    /// The commit fails as it does when the disk refuses to sync. Means something at [`Point::BeforeCommit`] only.
    FailSync,
}

/// Injected faults.
pub trait Faults: Send + Sync {
    /// Called at each point of each append.
    fn reach(&self, point: Point) -> Fate;

    /// The most pages the database may have, which makes the disk full at a chosen size; `None` for no bound.
    fn max_pages(&self) -> Option<u32> {
        None
    }
}

/// No faults: what every product build passes.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFaults;

impl Faults for NoFaults {
    fn reach(&self, _: Point) -> Fate {
        Fate::Go
    }
}
