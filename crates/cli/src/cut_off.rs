//! Coming to rest, and saying which commands in the background that cut off: they go on for as long as whoever hosts them.
//!
//! Invariant: only what began in this process and is on record as interrupted after it came to rest is said to be stopped.

use crate::exit::Failure;
use crate::looking::view;
use crate::output;
use crate::way::Way;
use api::Room;
use api::wire::job::JobPhase;
use serde_json::Value;
use std::collections::BTreeSet;

/// Events that are read at once.
const PAGE: usize = 500;

/// Comes to rest; `from` is the number of the first event that this process could have added to the session.
pub(crate) async fn close(way: &Way, session: &str, from: u64) {
    way.close().await;
    if let Err(failure) = tell(way, session, from).await {
        let why = failure.message;
        output::diagnose(&format!("what became of commands in the background can't be read: {why}"));
    }
}

async fn tell(way: &Way, session: &str, from: u64) -> Result<(), Failure> {
    let Way::Seat(seat) = way else { return Ok(()) };
    let Some(host) = seat.host() else { return Ok(()) };
    let jobs = view(way, session).await?.jobs;
    // Most sessions have none, and then the record needn't be read for them.
    if jobs.is_empty() {
        return Ok(());
    }
    let stopped = stopped(host.room(), session, from)?;
    for job in jobs {
        let command = job.command.escape_debug();
        if stopped.contains(&job.id) {
            output::diagnose(&format!(
                "stopped with this program, before its end, in the background: {command}"
            ));
        } else if job.phase == JobPhase::Pending {
            output::diagnose(&format!("begins in the background when Daybook is opened next: {command}"));
        }
    }
    Ok(())
}

/// Jobs of the session that ended because this process did.
fn stopped(room: &Room, session: &str, from: u64) -> Result<BTreeSet<String>, Failure> {
    let (mut begun, mut stopped, mut next) = (BTreeSet::new(), BTreeSet::new(), from);
    loop {
        let page = room.page(session, next, PAGE)?;
        if page.is_empty() {
            return Ok(stopped);
        }
        for line in page {
            next += 1;
            let line: Value = serde_json::from_str(&line).map_err(Failure::internal)?;
            let (kind, payload) = (&line["event"]["type"], &line["event"]["payload"]);
            let job = payload["job"].as_str().unwrap_or_default();
            if kind == "job/started" {
                begun.insert(job.to_owned());
            } else if kind == "job/ended" && payload["end"]["how"] == "interrupted" && begun.contains(job) {
                stopped.insert(job.to_owned());
            }
        }
    }
}
