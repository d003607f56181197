//! Looking at processes, and ending a tree that has no namespace of its own.
//!
//! Reads `/proc`. Ending works for the children of a **subreaper**: whoever loses its parent becomes the
//! subreaper's child, so nothing gets out of sight, and the look is repeated until there is no child left. What
//! forks faster than it can be looked at isn't caught: one reason why such a cage is called partial. Invariant:
//! when [`end_all`] returns, no descendant is left.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};

/// Longest name of a leftover, in characters.
const NAME_CHARS: usize = 120;
/// How many leftovers are named.
const NAMED: usize = 32;

/// A living process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: Pid,
    parent: Option<Pid>,
}

/// Names of living processes, at most 32, and how many there are beyond.
pub(crate) type Names = (Vec<String>, usize);

/// Everybody else in this process namespace, seen from process 1.
pub(crate) fn others() -> Vec<Pid> {
    let own = rustix::process::getpid();
    living().iter().map(|process| process.pid).filter(|pid| *pid != own).collect()
}

/// The same by name.
pub(crate) fn name_others() -> Names {
    name_all(&others())
}

/// The same by name.
pub(crate) fn name_descendants() -> Names {
    name_all(&descendants())
}

/// Ends and reaps every descendant of this process, which must be a subreaper.
pub(crate) fn end_all() {
    loop {
        for pid in descendants() {
            // It may have ended meanwhile; what can't be signalled is looked at again in the next round.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
        // Killed processes need a moment to end: give way instead of spinning.
        let pause = rustix::event::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        let _ = rustix::event::poll(&mut [], Some(&pause));
    }
}

/// Everybody below this process.
pub(crate) fn descendants() -> Vec<Pid> {
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for process in living() {
        if let Some(parent) = process.parent {
            children.entry(parent).or_default().push(process.pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![rustix::process::getpid()];
    while let Some(pid) = next.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        next.extend(&below);
        found.extend(below);
    }
    found
}

/// Every process that isn't a corpse.
fn living() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(|number| read(Pid::from_raw(number)?)).collect()
}

fn read(pid: Pid) -> Option<Process> {
    let stat = fs::read(PathBuf::from(format!("/proc/{}/stat", pid.as_raw_nonzero()))).ok()?;
    parse_stat(&stat).map(|parent| Process { pid, parent })
}

/// The parent in a `stat` line, or nothing for a corpse. The name in it can hold spaces and brackets: the fields
/// start after the last bracket.
fn parse_stat(stat: &[u8]) -> Option<Option<Pid>> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = std::str::from_utf8(stat.get(end + 1..)?).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let parent: i32 = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X" | "x")).then_some(Pid::from_raw(parent))
}

fn name_all(pids: &[Pid]) -> Names {
    let names: Vec<String> = pids.iter().filter_map(|pid| name(*pid)).collect();
    let more = names.len().saturating_sub(NAMED);
    (names.into_iter().take(NAMED).collect(), more)
}

/// What a process calls itself; nothing when it ended meanwhile.
fn name(pid: Pid) -> Option<String> {
    let folder = PathBuf::from(format!("/proc/{}", pid.as_raw_nonzero()));
    let line = fs::read(folder.join("cmdline")).ok()?;
    let line = if line.is_empty() { fs::read(folder.join("comm")).ok()? } else { line };
    Some(tidy(&line))
}

/// Arguments joined by spaces, control characters replaced, cut to 120 characters.
fn tidy(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\0', '\n']);
    let clean = text.chars().map(|char| match char {
        '\0' => ' ',
        char if char.is_control() => '\u{fffd}',
        char => char,
    });
    clean.take(NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_printable_line() {
        let check = |given: &[u8], expect: &str| assert_eq!(tidy(given), expect);
        check(b"sleep\x00300\x00", "sleep 300");
        check(b"kworker\n", "kworker");
        check(b"a\x1b[31m\nb\x00\xff", "a\u{fffd}[31m\u{fffd}b \u{fffd}");
        check(&[b'x'; 500], &"x".repeat(NAME_CHARS));
    }

    #[test]
    fn stat_lines_with_hostile_names() {
        let check = |given: &str, expect: Option<Option<i32>>| {
            assert_eq!(parse_stat(given.as_bytes()), expect.map(|pid| pid.and_then(Pid::from_raw)));
        };
        check("12 (sh) S 7 12 12", Some(Some(7)));
        check("12 (a) Z 1 (b) R 9 1", Some(Some(9)));
        check("12 (sh) Z 7 12 12", None);
        check("1 (init) S 0 1 1", Some(None));
        check("nonsense", None);
    }
}
