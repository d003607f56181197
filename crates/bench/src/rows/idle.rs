//! P10: a host with a session that has nothing to do: how often it wakes up, what it burns, what it writes.

use super::Run;
use crate::Done;
use crate::meter::{cpu, wake_ups, written_to_disk};
use crate::model::{Answer, Server};
use crate::place::Place;
use crate::report::Row;
use api::wire::command::Mode;
use std::time::Duration;

/// After the last work, until what follows it by itself is over.
const SETTLED: Duration = Duration::from_secs(2);

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let seconds: u64 = match (run.options.quick, run.options.long) {
        (true, _) => 2,
        (_, true) => 60,
        (false, false) => 20,
    };
    let server = run.runtime.block_on(Server::plain(|_| Answer::text("Done.")))?;
    let place = run.runtime.block_on(Place::new(&server.url()))?;
    let mut talk = run.runtime.block_on(place.session(Mode::Edit))?;
    run.runtime.block_on(talk.turn("Do it."))?;
    // A thread that waits for a time without any event; waking from it is counted and taken off again.
    let wait = |time| std::thread::park_timeout(time);
    wait(SETTLED);
    let (wakes, burnt, written) = (wake_ups(), cpu(), written_to_disk());
    wait(Duration::from_secs(seconds));
    let of = |now: Option<u64>, then: Option<u64>| {
        now.zip(then).map_or(f64::NAN, |(now, then)| now.saturating_sub(then) as f64)
    };
    let wakes = of(wake_ups(), wakes) - 1.0;
    let written = of(written_to_disk(), written);
    let burnt = cpu().zip(burnt).map_or(f64::NAN, |(now, then)| now.saturating_sub(then).as_secs_f64());
    drop(talk);
    run.runtime.block_on(place.close());
    let note = format!(
        "the core for {seconds} s, this program's own runtime and server included; the page isn't measured here"
    );
    Ok(vec![
        Row::at_most("P10", "idle: ≤ 1 wake-up a second", wakes.max(0.0) / seconds as f64, 1.0)
            .unit("1/s")
            .note(note),
        Row::at_most("P10", "idle: ≤ 0.1 % of a processor", burnt / seconds as f64 * 100.0, 0.1).unit("%"),
        Row::at_most("P10", "idle: nothing is written to the disk", written, 0.0).unit("bytes"),
    ])
}
