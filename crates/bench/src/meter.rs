//! Meters of this process: processor time, memory, bytes written, wake-ups.
//!
//! They read what the system itself counts (`/proc` and the process clock), so nothing is estimated. Invariant: what this
//! system can't tell is `None`, never zero.

use std::time::{Duration, Instant};

/// What one block of work took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Cost {
    /// Processor time of all threads, µs.
    pub(crate) cpu_us: f64,
    /// Time on the clock, µs.
    pub(crate) wall_us: f64,
    /// Bytes handed to the system for writing.
    pub(crate) written: f64,
}

impl Cost {
    /// One of so many equal pieces.
    pub(crate) fn per(self, pieces: usize) -> Self {
        let pieces = pieces.max(1) as f64;
        Self { cpu_us: self.cpu_us / pieces, wall_us: self.wall_us / pieces, written: self.written / pieces }
    }
}

/// Does the work and says what it took.
pub(crate) fn cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let (cpu, written, began) = (cpu(), written(), Instant::now());
    let done = work();
    let wall_us = micros(began.elapsed());
    let since = |now: Option<Duration>, then: Option<Duration>| {
        now.zip(then).map_or(f64::NAN, |(now, then)| micros(now.saturating_sub(then)))
    };
    let cpu_us = since(self::cpu(), cpu);
    let written = self::written().zip(written).map_or(f64::NAN, |(now, then)| (now - then) as f64);
    (done, Cost { cpu_us, wall_us, written })
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Processor time of this process, all threads.
#[cfg(target_os = "linux")]
pub(crate) fn cpu() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cpu() -> Option<Duration> {
    None
}

/// Processor time of processes that this one started and that have ended, with theirs.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_of_ended() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name may hold anything, also spaces and brackets; what is counted stands after its last bracket.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?;
    Some(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cpu_of_ended() -> Option<Duration> {
    None
}

/// Bytes this process handed to the system for writing, of whatever kind.
pub(crate) fn written() -> Option<u64> {
    field("/proc/self/io", "wchar:")
}

/// Bytes this process caused to be written to a disk.
pub(crate) fn written_to_disk() -> Option<u64> {
    field("/proc/self/io", "write_bytes:")
}

/// Memory of this process now, bytes.
pub(crate) fn memory() -> Option<u64> {
    field("/proc/self/status", "VmRSS:").map(|kb| kb * 1024)
}

/// The most memory of this process since [`forget_peak`].
pub(crate) fn peak() -> Option<u64> {
    field("/proc/self/status", "VmHWM:").map(|kb| kb * 1024)
}

/// The same of another process, while it lives.
pub(crate) fn peak_of(process: u32) -> Option<u64> {
    field(&format!("/proc/{process}/status"), "VmHWM:").map(|kb| kb * 1024)
}

/// Begins a new peak. `false` where the system doesn't let us.
pub(crate) fn forget_peak() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// How often threads of this process woke up from waiting.
pub(crate) fn wake_ups() -> Option<u64> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?.flatten();
    let of = |status: &str| field(status, "voluntary_ctxt_switches:");
    Some(threads.filter_map(|thread| of(thread.path().join("status").to_str()?)).sum())
}

fn field(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
