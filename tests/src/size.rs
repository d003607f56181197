//! How much of a fault test is run: a little with each change, a **shard** of its whole size at night.
//!
//! A test asks for its [`seeds`] and says with [`tell`] what it saw; `scripts/nightly` sets the shard and reads the line.
//! Invariant: this is the one place where the two sizes part; everything else of a test is the same by day and by night.

use std::io::Write as _;
use std::ops::Range;

/// Names the shard: `FROM..TO`.
const SHARD: &str = "DAYBOOK_FAULTS";

/// The seeds of this run: these with each change, the shard's at night.
///
/// # Panics
/// When the shard can't be read.
#[must_use]
pub fn seeds(with_each_change: Range<u64>) -> Range<u64> {
    let Ok(shard) = std::env::var(SHARD) else { return with_each_change };
    let bounds = shard.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    bounds.unwrap_or_else(|| panic!("{SHARD} is {shard:?}, it should be FROM..TO"))
}

/// What a test leaves out with each change it doesn't at night.
#[must_use]
pub fn either<T>(with_each_change: T, at_night: T) -> T {
    if std::env::var_os(SHARD).is_some() { at_night } else { with_each_change }
}

/// Says what a test saw, in one line.
///
/// # Panics
/// When nobody listens.
#[expect(clippy::expect_used, reason = "a test whose words get lost ends")]
pub fn tell(id: &str, seeds: &Range<u64>, counts: &[(&str, u64)]) {
    let counts: Vec<String> =
        counts.iter().map(|(name, count)| format!("{}={count}", name.replace(' ', "_"))).collect();
    // On a line of its own, whatever the runner has begun to write.
    let (from, to) = (seeds.start, seeds.end);
    writeln!(std::io::stdout().lock(), "\nfaults {id} {from}..{to} {}", counts.join(" ")).expect("said");
}
