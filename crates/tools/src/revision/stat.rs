//! What a file system says of a file without its content.
//!
//! A **stat** is size, times, number and mode. Equal stats mean equal content where the times are old enough that a
//! later change would show in them: that is [`Stat::is_settled`].

use cap_std::fs::Metadata;
use domain::call::Entry;

/// Times finer than this can't be trusted apart: the clocks of file systems tick up to every ten milliseconds.
const TICK_NS: i64 = 20_000_000;
/// Some file systems count whole or even seconds.
const COARSE_TICK_NS: i64 = 2_000_000_000;
const SECOND_NS: i64 = 1_000_000_000;

/// Size, times, number and mode of one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) bytes: u64,
    pub(crate) mtime_ns: i64,
    pub(crate) ctime_ns: i64,
    pub(crate) number: u64,
    pub(crate) mode: u32,
}

/// What tells cheaply whether something of which no copy is kept was changed. Of a folder only its own time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) bytes: u64,
    pub(crate) mtime_ns: i64,
}

impl Stamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        let bytes = if meta.is_file() { meta.len() } else { 0 };
        Self { bytes, mtime_ns: times(meta).0 }
    }

    /// Was it this that an effect left?
    pub(super) fn is_of(self, entry: Option<&Entry>) -> bool {
        matches!(entry, Some(Entry::Uncovered { bytes: Some(bytes), mtime_ns: Some(mtime_ns), .. })
            if (*bytes, *mtime_ns) == (self.bytes, self.mtime_ns))
    }
}

impl From<Stat> for Stamp {
    fn from(stat: Stat) -> Self {
        Self { bytes: stat.bytes, mtime_ns: stat.mtime_ns }
    }
}

impl Stat {
    pub(crate) fn of(meta: &Metadata) -> Self {
        let (mtime_ns, ctime_ns) = times(meta);
        Self { bytes: meta.len(), mtime_ns, ctime_ns, number: number(meta), mode: mode(meta).unwrap_or(0) }
    }

    /// Were its times past, by a tick of its file system, when the clock of the file system stood at `now_ns`?
    pub(crate) fn is_settled(&self, now_ns: i64) -> bool {
        let coarse = self.mtime_ns % SECOND_NS == 0;
        let tick = if coarse { COARSE_TICK_NS } else { TICK_NS };
        self.mtime_ns.max(self.ctime_ns).saturating_add(tick) < now_ns
    }
}

/// Unix permission bits.
#[cfg(unix)]
pub(crate) fn mode(meta: &Metadata) -> Option<u32> {
    use cap_std::fs::MetadataExt;
    Some(meta.mode() & 0o7777)
}

#[cfg(not(unix))]
pub(crate) fn mode(_: &Metadata) -> Option<u32> {
    None
}

/// Last change of the content and of the file itself, nanoseconds since 1970.
#[cfg(unix)]
fn times(meta: &Metadata) -> (i64, i64) {
    use cap_std::fs::MetadataExt;
    let ns = |seconds: i64, rest: i64| seconds.saturating_mul(SECOND_NS).saturating_add(rest);
    (ns(meta.mtime(), meta.mtime_nsec()), ns(meta.ctime(), meta.ctime_nsec()))
}

#[cfg(not(unix))]
fn times(meta: &Metadata) -> (i64, i64) {
    let changed = meta.modified().ok().map(cap_std::time::SystemTime::into_std);
    let since = changed.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    (since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(i64::MAX), 0)
}

/// The disk a file lies on.
#[cfg(unix)]
pub(crate) fn disk(meta: &Metadata) -> u64 {
    cap_std::fs::MetadataExt::dev(meta)
}

#[cfg(unix)]
pub(crate) fn number(meta: &Metadata) -> u64 {
    cap_std::fs::MetadataExt::ino(meta)
}

/// How many names a file has.
#[cfg(unix)]
pub(crate) fn names(meta: &Metadata) -> u64 {
    cap_std::fs::MetadataExt::nlink(meta)
}

/// Windows tells these only of open files.
#[cfg(not(unix))]
pub(crate) fn disk(_: &Metadata) -> u64 {
    0
}

#[cfg(not(unix))]
pub(crate) fn number(_: &Metadata) -> u64 {
    0
}

#[cfg(not(unix))]
pub(crate) fn names(_: &Metadata) -> u64 {
    1
}
