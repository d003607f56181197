//! What a command asked of the network.
//!
//! One line per site and outcome, with counts: what a person is shown afterwards. Invariant: bounded, whatever the
//! command asks for; what isn't kept is counted.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lines that are kept.
const KEPT: usize = 256;
/// Longest name that is kept of what was asked for, in characters.
const NAME_CHARS: usize = 260;

/// Requests of one command to one site with one outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// What was asked for, e.g. `example.com:443`. Written by the command: data, never trusted. Empty in the one line
    /// that counts what wasn't kept.
    pub site: String,
    /// What became of it.
    pub outcome: Outcome,
    /// How many requests.
    pub requests: u64,
    /// Bytes sent to it.
    pub bytes_up: u64,
    /// Bytes received from it.
    pub bytes_down: u64,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was let through to a checked address.
    Granted,
    /// It wasn't.
    Refused(Refusal),
}

/// Why a request wasn't let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The person granted other sites, not this one.
    #[error("the person hasn't granted this site")]
    NotGranted,
    /// An address instead of a name, a name of this machine's own network, or no name.
    #[error("only public hosts can be reached, by their names")]
    NotAName,
    /// A granted name that leads to an address that isn't public.
    #[error("its name leads to {0}, not to the public internet")]
    NotPublic(&'static str),
    /// No request a proxy understands.
    #[error("only HTTP, and CONNECT for everything else, is understood")]
    NotUnderstood,
    /// A tunnel was granted, and a TLS hello in it was for another host, or for none.
    #[error("inside its tunnel another host was named")]
    OtherName,
    /// The name leads nowhere, or not in time.
    #[error("its name can't be resolved")]
    Unresolved,
    /// Nobody answered at its addresses in time.
    #[error("it can't be connected to")]
    Unreachable,
    /// The command moved as many bytes as it may.
    #[error("this command has moved all the bytes it may")]
    TooMuch,
}

/// The lines of one command.
#[derive(Debug)]
pub(crate) struct Log {
    lines: Mutex<Lines>,
    most_up: u64,
    most_down: u64,
}

#[derive(Debug, Default)]
struct Lines {
    kept: Vec<Used>,
    more: u64,
    up: u64,
    down: u64,
}

/// Which line bytes are counted in; none for a site beyond those kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineNumber(Option<usize>);

impl Log {
    pub(crate) fn new(most_up: u64, most_down: u64) -> Self {
        Self { lines: Mutex::default(), most_up, most_down }
    }

    /// Counts one request.
    pub(crate) fn note(&self, site: &str, outcome: Outcome) -> LineNumber {
        let site: String = site.chars().take(NAME_CHARS).collect();
        let mut lines = self.lock();
        if let Some(at) = lines.kept.iter().position(|line| line.site == site && line.outcome == outcome) {
            lines.kept[at].requests += 1;
            return LineNumber(Some(at));
        }
        if lines.kept.len() >= KEPT {
            lines.more += 1;
            return LineNumber(None);
        }
        lines.kept.push(Used { site, outcome, requests: 1, bytes_up: 0, bytes_down: 0 });
        LineNumber(Some(lines.kept.len() - 1))
    }

    /// Counts bytes; `false` when the command has moved all it may.
    pub(crate) fn count(&self, line: LineNumber, up: usize, down: usize) -> bool {
        let (up, down) = (up as u64, down as u64);
        let mut lines = self.lock();
        lines.up += up;
        lines.down += down;
        if let Some(line) = line.0.and_then(|at| lines.kept.get_mut(at)) {
            line.bytes_up += up;
            line.bytes_down += down;
        }
        lines.up <= self.most_up && lines.down <= self.most_down
    }

    /// Has it moved all it may?
    pub(crate) fn is_used_up(&self) -> bool {
        let lines = self.lock();
        lines.up >= self.most_up || lines.down >= self.most_down
    }

    /// Every byte so far: whether anything moves shows in it.
    pub(crate) fn moved(&self) -> u64 {
        let lines = self.lock();
        lines.up + lines.down
    }

    pub(crate) fn lines(&self) -> Vec<Used> {
        let lines = self.lock();
        let mut used = lines.kept.clone();
        if lines.more > 0 {
            let outcome = Outcome::Refused(Refusal::NotGranted);
            used.push(Used {
                site: String::new(),
                outcome,
                requests: lines.more,
                bytes_up: 0,
                bytes_down: 0,
            });
        }
        used
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_the_rest_is_counted() {
        let log = Log::new(10, 10);
        for at in 0..1_000 {
            log.note(&format!("host{at}.example:443"), Outcome::Refused(Refusal::NotGranted));
        }
        let lines = log.lines();
        assert_eq!(lines.len(), KEPT + 1);
        assert_eq!(lines.iter().map(|line| line.requests).sum::<u64>(), 1_000);
    }

    #[test]
    fn bytes_are_counted_to_their_end() {
        let log = Log::new(10, 5);
        let line = log.note("a.example:443", Outcome::Granted);
        assert!(log.count(line, 10, 5));
        assert!(log.is_used_up() && !log.count(line, 0, 1));
        let lines = log.lines();
        assert_eq!((lines[0].bytes_up, lines[0].bytes_down, log.moved()), (10, 6, 16));
    }
}
