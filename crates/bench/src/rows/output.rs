//! P14: a command that prints a gigabyte, beside the same command into a file.

use super::Run;
use crate::Done;
use crate::meter::{cost, forget_peak, memory, peak};
use crate::model::{Answer, Server};
use crate::outside::print_into;
use crate::pairs::pairs;
use crate::place::Place;
use crate::report::Row;
use api::wire::command::Mode;
use serde_json::json;

/// Rounds: each moves gigabytes.
const ROUNDS: usize = 3;

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let bytes = run.count(1_000_000_000, 20_000_000);
    let print = format!("yes 0123456789abcdef0123456789abcdef | head -c {bytes}");
    let command = print.clone();
    let server = run.runtime.block_on(Server::plain(move |heard| match heard.n % 2 {
        0 => Answer::call("run_command", json!({"command": command, "timeout_ms": 600_000})),
        _ => Answer::text("Done."),
    }))?;
    let place = run.runtime.block_on(Place::new(&server.url()))?;
    let mut talk = run.runtime.block_on(place.session(Mode::Auto))?;
    let file = place.folder().path().join("printed");
    let before = memory();
    let told = forget_peak();
    let (done, _) = cost(|| run.runtime.block_on(talk.turn("Print it.")));
    let ended = done?;
    let grown = peak().filter(|_| told).zip(before).map(|(peak, before)| peak.saturating_sub(before));
    if !ended.iter().any(|line| line.contains("\"type\":\"tool/result\"")) {
        return Err("the command didn't run here: it needs a cage".into());
    }
    let measured = pairs(
        run.count(ROUNDS, 1),
        1,
        || print_into(&print, &file),
        || run.runtime.block_on(talk.turn("Print it.")).map(drop),
    )?;
    drop(talk);
    run.runtime.block_on(place.close());
    let (plain, ours) = measured.medians(|cost| cost.wall_us);
    let mb = grown.map_or(f64::NAN, |bytes| bytes as f64 / f64::from(1 << 20));
    let goal = |what: &str| format!("a command that prints {} MB: {what}", bytes / 1_000_000);
    Ok(vec![
        Row::at_most(
            "P14",
            goal("≤ 1.3× the time of the same into a file"),
            measured.ratio(|c| c.wall_us),
            1.3,
        )
        .unit("×")
        .beside(1.0)
        .note(format!(
            "{:.2} and {:.2} s; its whole turn, in its cage; {} rounds; A/A {:.3}",
            ours / 1e6,
            plain / 1e6,
            measured.a.len(),
            measured.control(|c| c.wall_us)
        )),
        Row::at_most("P14", goal("≤ 64 MB more memory"), mb, 64.0).unit("MB"),
    ])
}
