//! Dying at a chosen append, and a disk that is full.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use store::{Fate, Faults, Point};

/// Kills the process at the n-th append (from 0), before it begins or after its commit; counts appends otherwise.
#[derive(Debug)]
pub struct DieAt {
    at: Mutex<Option<(u64, Point)>>,
    appends: AtomicU64,
    dead: AtomicBool,
    pages: AtomicU32,
}

impl DieAt {
    /// Never dies.
    #[must_use]
    pub fn never() -> Self {
        Self {
            at: Mutex::new(None),
            appends: AtomicU64::new(0),
            dead: AtomicBool::new(false),
            pages: AtomicU32::new(0),
        }
    }

    /// Dies at this append.
    #[must_use]
    pub fn append(n: u64, point: Point) -> Self {
        Self { at: Mutex::new(Some((n, point))), ..Self::never() }
    }

    /// No page more than the database has fits on the disk, or as many as anybody likes.
    pub fn fill_disk(&self, full: bool) {
        self.pages.store(u32::from(full), Ordering::Relaxed);
    }

    /// Dies at the append after that many more.
    pub fn after(&self, more: u64, point: Point) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = Some((self.appends() + more, point));
    }

    /// Appends begun so far.
    #[must_use]
    pub fn appends(&self) -> u64 {
        self.appends.load(Ordering::Relaxed)
    }

    /// Is the process dead?
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }
}

impl Faults for DieAt {
    fn reach(&self, point: Point) -> Fate {
        let number = match point {
            Point::BeforeBegin => self.appends.fetch_add(1, Ordering::Relaxed),
            Point::BeforeCommit | Point::AfterCommit => self.appends().saturating_sub(1),
        };
        if self.is_dead() || *self.at.lock().unwrap_or_else(PoisonError::into_inner) == Some((number, point))
        {
            self.dead.store(true, Ordering::Relaxed);
            return Fate::Die;
        }
        Fate::Go
    }
    fn max_pages(&self) -> Option<u32> {
        Some(self.pages.load(Ordering::Relaxed)).filter(|pages| *pages > 0)
    }
}
