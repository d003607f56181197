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

/// When the person's today began and when it ends, UTC ms.
pub(crate) fn day() -> (u64, u64) {
    let now = jiff::ZonedDateTime::now();
    // A day that can't be told, at the end of all time, has no end.
    day_of(&now).unwrap_or((0, u64::MAX))
}

fn day_of(now: &jiff::ZonedDateTime) -> Option<(u64, u64)> {
    let begins = now.start_of_day().ok()?;
    let ends = begins.tomorrow().ok()?.start_of_day().ok()?;
    let ms = |time: &jiff::ZonedDateTime| u64::try_from(time.timestamp().as_millisecond()).ok();
    ms(&begins).zip(ms(&ends))
}

/// Today in the person's zone, `2026-11-29`.
pub(crate) fn today() -> String {
    jiff::ZonedDateTime::now().date().to_string()
}

#[cfg(test)]
mod tests {
    use super::day_of;

    /// A person's day begins at a quarter of an hour, and has 24 hours but where the clocks change.
    #[test]
    fn a_day_is_the_persons_own() {
        #[track_caller]
        fn check(now: &str, begins: &str, hours: u64) {
            let ms = |text: &str| text.parse::<jiff::Timestamp>().expect("a moment").as_millisecond();
            let now: jiff::ZonedDateTime = now.parse().expect("a moment in a zone");
            let (from, until) = day_of(&now).expect("a day");
            assert_eq!(from, u64::try_from(ms(begins)).expect("after 1970"), "{now}");
            assert_eq!(until - from, hours * 60 * 60 * 1_000, "{now}");
            assert!(from.is_multiple_of(15 * 60 * 1_000), "{now}");
        }
        check("2026-11-30T23:59:59.999+08:00[Asia/Shanghai]", "2026-11-29T16:00:00Z", 24);
        check("2026-11-30T00:00:00+05:45[Asia/Kathmandu]", "2026-11-29T18:15:00Z", 24);
        check("2026-10-25T12:00:00+01:00[Europe/Berlin]", "2026-10-24T22:00:00Z", 25);
        check("2026-03-08T12:00:00-07:00[America/Los_Angeles]", "2026-03-08T08:00:00Z", 23);
    }
}
