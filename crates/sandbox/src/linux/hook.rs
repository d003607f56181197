//! The way from an ordinary start of a binary into the launcher.
//!
//! A cage is started by executing the running binary again with one marked argument. The hook runs before
//! `main` of every binary that links this crate, so callers have nothing to do. An ordinary start costs one read
//! of the own command line. Invariant: after a marked start `main` is never reached.

use std::fs::File;
use std::io::Read;

/// Argument of the launcher: the plan comes over standard input.
pub(crate) const LAUNCHER: &str = "daybook-cage-launcher";
/// First argument of process 1 in a cage built by `bwrap`; two descriptor numbers follow.
pub(crate) const INIT: &str = "daybook-cage-init";

/// Called once before `main`.
pub(crate) fn on_load() {
    let Some(args) = marked_arguments() else { return };
    let code = match (args.get(1).map(String::as_str), args.get(2), args.get(3), args.len()) {
        (Some(LAUNCHER), None, None, 2) => super::launcher::run(),
        (Some(INIT), Some(plan), Some(line), 4) => match (plan.parse(), line.parse()) {
            // Two descriptors of their own, or nobody of ours started this.
            (Ok(plan), Ok(line)) if plan > 2 && line > 2 && plan != line => {
                super::init::run_under_bwrap(plan, line)
            }
            _ => return,
        },
        _ => return,
    };
    super::sys::exit_now(code)
}

/// The command line, if its first argument is one of ours.
fn marked_arguments() -> Option<Vec<String>> {
    const PREFIX: &[u8] = b"daybook-cage-";
    // Ours are short. Reading a bounded head keeps an ordinary start with a long command line cheap, and `/proc`
    // works where the C library passes no arguments to functions that run before `main`.
    let mut head = Vec::new();
    File::open("/proc/self/cmdline").ok()?.take(4_096).read_to_end(&mut head).ok()?;
    let mut parts = head.strip_suffix(b"\0").unwrap_or(&head).split(|byte| *byte == 0);
    if !parts.clone().nth(1)?.starts_with(PREFIX) {
        return None;
    }
    // The binary's own path may be anything; only our arguments must be text.
    let own = parts.next().map(|path| String::from_utf8_lossy(path).into_owned())?;
    let rest = parts.map(|part| String::from_utf8(part.to_vec()).ok()).collect::<Option<Vec<_>>>()?;
    Some(std::iter::once(own).chain(rest).collect())
}
