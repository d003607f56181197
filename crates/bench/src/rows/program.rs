//! P12, and what a peer is compared by: start, a tool step, memory, connections; all of the built program from outside.

use super::Run;
use crate::Done;
use crate::log;
use crate::meter::millis;
use crate::model::{Answer, Server};
use crate::outside::{Watched, exec, watch};
use crate::pairs::median;
use crate::place::Folder;
use crate::report::Row;
use serde_json::json;
use std::sync::Arc;
use store::{Options, Store};

/// Tool steps of the longer session; the shorter one has one.
const STEPS: usize = 25;
const SESSIONS: usize = 10_000;

pub(super) fn start(run: &Run<'_>) -> Done<Vec<Row>> {
    let program = &run.options.program;
    let folder = Folder::new()?;
    let times = run.count(15, 3);
    let version: Vec<f64> = (0..times)
        .map(|_| watch(program, &folder, &["--version"]).map(|seen| millis(seen.took)))
        .collect::<Done<_>>()?;
    let sessions = run.count(SESSIONS, 200);
    store::create_folder(&folder.data())?;
    {
        let store = Store::open(&folder.data(), Options::new(Arc::new(host::SystemClock)))?;
        log::sessions(&store, sessions)?;
    }
    let list: Vec<f64> = (0..times)
        .map(|_| watch(program, &folder, &["sessions", "--json"]).map(|seen| millis(seen.took)))
        .collect::<Done<_>>()?;
    Ok(vec![
        Row::at_most("P12", "`daybook --version` within 50 ms", median(version), 50.0).unit("ms"),
        Row::at_most("P12", format!("`daybook sessions` of {sessions} within 1 s"), median(list), 1_000.0)
            .unit("ms")
            .note("the whole program; the window's own start isn't measured here"),
    ])
}

pub(super) fn steps(run: &Run<'_>) -> Done<Vec<Row>> {
    let steps = run.count(STEPS, 5);
    let times = run.count(5, 1);
    let mut rows = Vec::new();
    for (name, mode, tool) in [("a command", "auto", "run_command"), ("a file read", "edit", "read_file")] {
        let (mut slopes, mut whole, mut peaks, mut firsts, mut connections) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), 0);
        for _ in 0..times {
            let (one, _) = session(run, mode, tool, 1)?;
            let (many, server) = session(run, mode, tool, steps + 1)?;
            let cpu = |seen: &Watched| seen.cpu.map_or(f64::NAN, millis);
            slopes.push((cpu(&many) - cpu(&one)) / steps as f64);
            whole.push(cpu(&many) / (steps + 1) as f64);
            peaks.push(many.peak.map_or(f64::NAN, |peak| peak as f64 / f64::from(1 << 20)));
            let heard = server.heard();
            firsts.extend(heard.first().map(|first| millis(first.at.saturating_duration_since(many.began))));
            connections = connections.max(server.connections());
            if heard.len() != steps + 2 {
                return Err(
                    format!("{} requests arrived where {} were planned", heard.len(), steps + 2).into()
                );
            }
        }
        let (slope, whole) = (median(slopes), median(whole));
        rows.push(
            Row::at_most("step", format!("{name}: ≤ 20 ms of CPU a step, the tool's own process included"), slope, 20.0)
                .unit("ms")
                .note(format!("the program from outside, {} steps less one step; {whole:.1} ms with its start and end spread over them; the kernel counts in steps of 10 ms", steps + 1)),
        );
        rows.push(
            Row::at_most(
                "step",
                format!("{name}: peak memory of such a session ≤ 80 MB"),
                median(peaks),
                80.0,
            )
            .unit("MB")
            .note("of the program itself, looked at every 2 ms"),
        );
        if tool == "read_file" {
            rows.push(
                Row::at_most("step", "from start to the first request within 150 ms", median(firsts), 150.0)
                    .unit("ms"),
            );
            rows.push(
                Row::at_most("step", "one connection for a whole session", connections as f64, 1.0)
                    .unit("count"),
            );
        }
    }
    Ok(rows)
}

/// A session of this many tool steps, in the program.
fn session(run: &Run<'_>, mode: &str, tool: &'static str, steps: usize) -> Done<(Watched, Server)> {
    let server = run.runtime.block_on(Server::new(move |heard| match heard.n {
        n if n < steps && tool == "run_command" => {
            Answer::call(tool, json!({"command": format!("head -n {} notes.txt", n + 1)}))
        }
        n if n < steps => Answer::call(tool, json!({"path": "notes.txt", "limit": n + 1})),
        _ => Answer::text("Done."),
    }))?;
    let folder = Folder::new()?;
    let seen = exec(&run.options.program, &folder, &server, mode)?;
    Ok((seen, server))
}
