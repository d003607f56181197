//! What a server asks us to wait, from its headers.
//!
//! Invariant: only what can be understood counts: seconds (whole or not, zero included) or an HTTP date, which is
//! compared with the server's own `Date` where it sent one, so that a wrong clock here does no harm. The cap on
//! waiting belongs to whoever waits.

use std::time::{Duration, SystemTime};

/// The headers that matter, as text.
#[derive(Debug, Clone, Copy, Default)]
pub struct RetryHeaders<'a> {
    /// `retry-after`: seconds or a date.
    pub retry_after: Option<&'a str>,
    /// `retry-after-ms`: milliseconds, sent by a few providers, more precise.
    pub retry_after_ms: Option<&'a str>,
    /// `date`: the server's clock.
    pub date: Option<&'a str>,
}

/// Milliseconds to wait; `now` is used where the server didn't say what time it is.
#[must_use]
pub fn retry_after_ms(headers: RetryHeaders<'_>, now: SystemTime) -> Option<u64> {
    if let Some(ms) = headers.retry_after_ms.and_then(|text| number(text, 1.0)) {
        return Some(ms);
    }
    let text = headers.retry_after?.trim();
    if let Some(ms) = number(text, 1000.0) {
        return Some(ms);
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let from = headers.date.and_then(|date| httpdate::parse_http_date(date.trim()).ok()).unwrap_or(now);
    let wait = until.duration_since(from).unwrap_or(Duration::ZERO);
    u64::try_from(wait.as_millis()).ok()
}

fn number(text: &str, scale: f64) -> Option<u64> {
    let value: f64 = text.trim().parse().ok()?;
    // The cast saturates, so an absurd number is an absurdly long wait and not a wrapped one.
    (value.is_finite() && value >= 0.0).then(|| (value * scale).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(retry_after: &str, expect: Option<u64>) {
        let headers = RetryHeaders { retry_after: Some(retry_after), ..RetryHeaders::default() };
        let now = httpdate::parse_http_date("Sun, 29 Nov 2026 10:00:00 GMT").unwrap();
        assert_eq!(retry_after_ms(headers, now), expect, "{retry_after}");
    }

    #[test]
    fn x16_retry_after_in_all_its_forms() {
        check("7", Some(7_000));
        check("0", Some(0));
        check("0.25", Some(250));
        check("-1", None);
        check("1e9", Some(1_000_000_000_000));
        check("1000000000", Some(1_000_000_000_000));
        check("soon", None);
        check("nan", None);
        check("inf", None);
        check("", None);
        check("Sun, 29 Nov 2026 10:00:30 GMT", Some(30_000));
        check("Sun, 29 Nov 2026 09:00:00 GMT", Some(0));
    }

    #[test]
    fn the_servers_clock_and_milliseconds_win() {
        let mut headers = RetryHeaders {
            retry_after: Some("Sun, 29 Nov 2026 12:00:05 GMT"),
            date: Some("Sun, 29 Nov 2026 12:00:00 GMT"),
            retry_after_ms: None,
        };
        assert_eq!(retry_after_ms(headers, SystemTime::UNIX_EPOCH), Some(5_000));
        headers.retry_after_ms = Some("120");
        assert_eq!(retry_after_ms(headers, SystemTime::UNIX_EPOCH), Some(120));
    }
}
