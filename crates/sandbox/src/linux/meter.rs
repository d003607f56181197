//! Counting what a whole cage uses.
//!
//! The kernel's own limits are per process, and root's processes aren't counted by it at all. So whoever supervises a
//! cage looks several times a second: how many processes and threads live, how much memory they and the private
//! folders hold together. Invariant: a cage found over a bound is ended as a whole; a process's share of memory that
//! several use is counted once.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::process::Pid;

use super::wire::{Plan, PlanLimits};
use crate::caged::Overrun;
use crate::strength::Mechanism;

/// Shortest time between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// A look may take this part of the time.
const SHARE: u32 = 10;
/// Part of the machine's memory that a cage never gets.
const KEPT_FROM_ALL: u64 = 4;

/// Bounds of one cage, and when to look next.
#[derive(Debug)]
pub(crate) struct Meter {
    processes: u64,
    memory_bytes: u64,
    /// Private folders that live in memory.
    in_memory: Vec<PathBuf>,
    next: Instant,
}

impl Meter {
    /// A meter for this plan, if it has limits.
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let PlanLimits { processes, total_memory_bytes, .. } = plan.limits?;
        let most = machine_bytes().map_or(u64::MAX, |all| all - all / KEPT_FROM_ALL);
        let in_memory = match &plan.private {
            Some(private) if plan.mechanism != Some(Mechanism::Landlock) => {
                vec!["/dev/shm".into(), private.home.clone().into(), private.tmp.clone().into()]
            }
            Some(_) | None => Vec::new(),
        };
        let memory_bytes = total_memory_bytes.min(most);
        Some(Self { processes, memory_bytes, in_memory, next: Instant::now() + PAUSE })
    }

    /// How long to wait before the next look.
    pub(crate) fn wait(&self) -> Timespec {
        let left = self.next.saturating_duration_since(Instant::now());
        Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 0, tv_nsec: 0 })
    }

    /// Looks, if it is time; `pids` gives every process of the cage.
    pub(crate) fn look(&mut self, pids: impl FnOnce() -> Vec<Pid>) -> Option<Overrun> {
        let began = Instant::now();
        if began < self.next {
            return None;
        }
        let found = self.measure(&pids());
        self.next = Instant::now() + PAUSE.max(began.elapsed() * SHARE);
        found
    }

    fn measure(&self, pids: &[Pid]) -> Option<Overrun> {
        let mut all = Used::default();
        for used in pids.iter().filter_map(|pid| status(*pid)) {
            all.threads += used.threads;
            all.private_bytes += used.private_bytes;
            all.shared_bytes = all.shared_bytes.max(used.shared_bytes);
        }
        if all.threads > self.processes {
            return Some(Overrun::Processes);
        }
        let folders = self.folders_bytes();
        if all.private_bytes + all.shared_bytes + folders <= self.memory_bytes {
            return None;
        }
        // Pages that a fork left shared were counted for each: look closely before anything is ended.
        let exact: u64 = pids.iter().filter_map(|pid| proportional(*pid)).sum();
        (exact + folders > self.memory_bytes).then_some(Overrun::Memory)
    }

    fn folders_bytes(&self) -> u64 {
        let used = |folder: &PathBuf| {
            let found = rustix::fs::statvfs(folder).ok()?;
            Some((found.f_blocks - found.f_bfree).saturating_mul(found.f_frsize))
        };
        self.in_memory.iter().filter_map(used).sum()
    }
}

/// What a process uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Used {
    threads: u64,
    private_bytes: u64,
    shared_bytes: u64,
}

fn status(pid: Pid) -> Option<Used> {
    let text = fs::read_to_string(of(pid, "status")).ok()?;
    parse_status(&text)
}

/// Nothing for a corpse: it holds no memory and is about to go.
fn parse_status(text: &str) -> Option<Used> {
    if field(text, "State:").is_some_and(|state| state.starts_with(['Z', 'X'])) {
        return None;
    }
    let threads = field(text, "Threads:")?.parse().ok()?;
    let bytes = |name| kilobytes(text, name).unwrap_or(0);
    Some(Used { threads, private_bytes: bytes("RssAnon:"), shared_bytes: bytes("RssShmem:") })
}

/// Its share of memory; where it can't be looked into, all it has.
fn proportional(pid: Pid) -> Option<u64> {
    let exact = fs::read_to_string(of(pid, "smaps_rollup"))
        .ok()
        .and_then(|text| Some(kilobytes(&text, "Pss_Anon:")? + kilobytes(&text, "Pss_Shmem:")?));
    exact.or_else(|| status(pid).map(|used| used.private_bytes + used.shared_bytes))
}

/// Threads of this user on the whole machine, as the kernel counts them against its limit.
pub(crate) fn threads_of_this_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::getuid().as_raw();
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let pids = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        (entry.metadata().ok()?.uid() == user).then_some(pid)
    });
    pids.filter_map(status).map(|used| used.threads).sum()
}

fn machine_bytes() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let number: u64 = field(text, name)?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(number << 10)
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

fn of(pid: Pid, file: &str) -> String {
    format!("/proc/{}/{file}", pid.as_raw_nonzero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_as_what_it_uses() {
        let check = |given: &str, expect: Option<(u64, u64, u64)>| {
            let found = parse_status(given).map(|used| (used.threads, used.private_bytes, used.shared_bytes));
            assert_eq!(found, expect, "{given}");
        };
        let alive = "Name:\tx\nState:\tS (sleeping)\nRssAnon:\t     12 kB\nRssFile:\t 9 kB\nRssShmem:\t 4 kB\nThreads:\t3\n";
        check(alive, Some((3, 12 << 10, 4 << 10)));
        check("Name:\tx\nState:\tZ (zombie)\nThreads:\t1\n", None);
        check("Name:\tkthread\nState:\tI (idle)\nThreads:\t1\n", Some((1, 0, 0)));
        check("", None);
    }
}
