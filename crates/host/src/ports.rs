//! The real ports: the machine's clock, ids, chance and date.
//!
//! The one place of the product that reads the clock or draws randomness for the engine.

use std::time::{SystemTime, UNIX_EPOCH};

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl store::Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The time, for ports that want it whole.
#[expect(clippy::disallowed_methods, reason = "this is the port that time comes in through")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// New ids from clock and randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

impl domain::ids::Ids for SystemIds {
    fn next(&self) -> u128 {
        uuid::Uuid::now_v7().as_u128()
    }
}

/// A number from 0 to 999: of an id's random end.
pub(crate) fn jitter() -> u64 {
    u64::try_from(uuid::Uuid::now_v7().as_u128() % 1_000).unwrap_or(0)
}

/// Today in the person's zone, `2026-11-29`.
pub(crate) fn today() -> String {
    jiff::ZonedDateTime::now().date().to_string()
}
