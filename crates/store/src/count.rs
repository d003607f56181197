//! Counts: how often this process made something durable, and raised an alarm, for whoever measures what it costs.
//!
//! A commit is a **barrier** when it is on the disk before it counts; the writing of blob files syncs by itself. Invariant:
//! these are numbers and nothing more: nothing is decided by them.

use std::sync::atomic::{AtomicU64, Ordering};

/// What was made durable since the store was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Commits of events.
    pub commits: u64,
    /// Those of them that were barriers: one sync each.
    pub barriers: u64,
    /// Syncs of blob files and their folders.
    pub file_syncs: u64,
    /// Times that the write-ahead log began to grow because something reads without end.
    pub starved: u64,
}

impl Counts {
    /// What happened since an earlier look.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            commits: self.commits.saturating_sub(before.commits),
            barriers: self.barriers.saturating_sub(before.barriers),
            file_syncs: self.file_syncs.saturating_sub(before.file_syncs),
            starved: self.starved.saturating_sub(before.starved),
        }
    }

    /// Syncs of either kind.
    #[must_use]
    pub fn syncs(self) -> u64 {
        self.barriers + self.file_syncs
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counter {
    commits: AtomicU64,
    barriers: AtomicU64,
    file_syncs: AtomicU64,
    starved: AtomicU64,
}

impl Counter {
    pub(crate) fn commit(&self, barrier: bool) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.barriers.fetch_add(u64::from(barrier), Ordering::Relaxed);
    }

    pub(crate) fn file_syncs(&self, count: usize) {
        self.file_syncs.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn starved(&self) {
        self.starved.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            commits: self.commits.load(Ordering::Relaxed),
            barriers: self.barriers.load(Ordering::Relaxed),
            file_syncs: self.file_syncs.load(Ordering::Relaxed),
            starved: self.starved.load(Ordering::Relaxed),
        }
    }
}
