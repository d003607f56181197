//! Server-sent events: bytes in at any chunking, whole events out.
//!
//! Follows the WHATWG event-stream rules for lines (CR, LF, CRLF), the byte-order mark, comments, multi-line `data`,
//! and the dispatch on a blank line. Invariants: the events don't depend on how the bytes were cut; UTF-8 is judged
//! per event, never per chunk; what is kept in memory is bounded by [`Limits`]; an event that wasn't ended by a blank
//! line is never given out.

use memchr::memchr2;

/// Bounds of what one stream may make us keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest line in bytes.
    pub line_bytes: usize,
    /// Longest `data` of one event in bytes.
    pub event_bytes: usize,
}

impl Default for Limits {
    /// 4 MB a line and 8 MB an event: far above any real delta, far below trouble.
    fn default() -> Self {
        Self { line_bytes: 4 << 20, event_bytes: 8 << 20 }
    }
}

/// A dispatched event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The `event:` field, empty where there was none.
    pub name: String,
    /// The `data:` lines joined by LF; invalid UTF-8 became U+FFFD.
    pub data: String,
    /// Did the event hold bytes that weren't UTF-8?
    pub lossy: bool,
}

/// The stream broke a bound; nothing after it can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// A line is longer than allowed.
    #[error("a line of the event stream is longer than {0} bytes")]
    LineTooLong(usize),
    /// The data of one event is longer than allowed.
    #[error("an event of the stream is longer than {0} bytes")]
    EventTooLong(usize),
}

/// The state between two chunks.
#[derive(Debug, Default)]
pub struct Parser {
    limits: Limits,
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    started: bool,
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

impl Parser {
    /// A parser with its own bounds.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Takes the next bytes and appends the events they complete to `out`.
    ///
    /// # Errors
    /// When a line or an event grows past its bound.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut Vec<Event>) -> Result<(), SseError> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', bytes) else {
                return self.keep(bytes);
            };
            self.after_cr = bytes[end] == b'\r';
            let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.line.is_empty() && self.started {
                self.check_line(head.len())?;
                self.line(head, out)?;
            } else {
                self.keep(head)?;
                let line = std::mem::take(&mut self.line);
                let skip = if self.started || !line.starts_with(BOM) { 0 } else { BOM.len() };
                self.started = true;
                self.line(&line[skip..], out)?;
                self.line = line;
                self.line.clear();
            }
            bytes = rest;
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        self.check_line(self.line.len() + bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn check_line(&self, length: usize) -> Result<(), SseError> {
        let most = self.limits.line_bytes;
        if length > most { Err(SseError::LineTooLong(most)) } else { Ok(()) }
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<Event>) -> Result<(), SseError> {
        if line.is_empty() {
            self.dispatch(out);
            return Ok(());
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(0) => return Ok(()),
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &b""[..]),
        };
        match field {
            b"data" => self.add_data(value),
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn add_data(&mut self, value: &[u8]) -> Result<(), SseError> {
        if self.data.len() + value.len() + 1 > self.limits.event_bytes {
            return Err(SseError::EventTooLong(self.limits.event_bytes));
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn dispatch(&mut self, out: &mut Vec<Event>) {
        if std::mem::take(&mut self.has_data) {
            let (name, data) = (String::from_utf8_lossy(&self.name), String::from_utf8_lossy(&self.data));
            let lossy =
                matches!(name, std::borrow::Cow::Owned(_)) || matches!(data, std::borrow::Cow::Owned(_));
            out.push(Event { name: name.into_owned(), data: data.into_owned(), lossy });
        }
        self.name.clear();
        self.data.clear();
    }
}

#[cfg(test)]
mod tests;
