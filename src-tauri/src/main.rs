//! The window of Daybook: `daybook-desktop`. It shows the built page, hands its four commands to the room behind them
//! (`host` and `api`), turns dialogs and drops into opaque folder ids, lives in the tray while work runs, and calls the
//! person through the system's notifications while it isn't in front.
//!
//! Invariant: the page gets no power of its own. No plugin, path, program or address is reachable from it; what it
//! may ask for is the typed command set of `api`, checked in Rust.

mod app;
mod commands;
mod door;
mod language;
mod notices;
mod policy;
mod startup;
mod subscriptions;
mod tray;
mod window;

use std::process::ExitCode;

fn main() -> ExitCode {
    match startup::prepare() {
        Ok(start) => app::run(start),
        Err(refusal) => refusal.tell(),
    }
}
