//! P3: reading a long record into all that is computed from it, beside reading the same events from a file of lines.
//!
//! Ours reads rows, checks the chain of hashes, decodes, folds the state and gives the model's history. The control reads
//! lines, parses each, and decodes the payload into the same types.

use super::Run;
use crate::Done;
use crate::log;
use crate::pairs::pairs;
use crate::place::Folder;
use crate::report::Row;
use domain::event::Fact;
use domain::ids::SessionId;
use domain::state::State;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use store::{Options, Reader, Store};

const EVENTS: usize = 100_000;
/// Rounds: each takes seconds.
const ROUNDS: usize = 7;

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let events = run.count(EVENTS, 5_000);
    let folder = Folder::new()?;
    let id = SessionId::from_bits(3);
    store::create_folder(&folder.data())?;
    let lines = folder.path().join("events.jsonl");
    {
        let store = Store::open(&folder.data(), Options::new(Arc::new(host::SystemClock)))?;
        log::session(&store, &id, events)?;
        write_lines(&store, &id, &lines)?;
    }
    let data = folder.data();
    let measured = pairs(run.count(ROUNDS, 2), 1, || read_lines(&lines), || replay(&data, &id))?;
    let (plain, ours) = measured.medians(|cost| cost.cpu_us);
    let (_, wall) = measured.medians(|cost| cost.wall_us);
    let control = measured.control(|cost| cost.cpu_us);
    Ok(vec![
        Row::at_most(
            "P3",
            format!("replay of {events} events ≤ 2× the CPU of reading lines of JSON"),
            measured.ratio(|cost| cost.cpu_us),
            2.0,
        )
        .unit("×")
        .beside(1.0)
        .note(format!(
            "{:.0} and {:.0} ms; with the chain of hashes, the fold and the history; {} rounds; A/A {control:.3}",
            ours / 1e3,
            plain / 1e3,
            measured.a.len()
        )),
        Row::at_most("P3", format!("replay of {events} events within 1 s"), wall / 1e6, 1.0).unit("s"),
    ])
}

fn replay(data: &Path, session: &SessionId) -> Done<()> {
    let reader = Reader::open(data)?;
    let (mut state, mut facts, mut next) = (State::default(), Vec::new(), 0);
    loop {
        let page = reader.events(session, next, 1_000)?;
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        for recorded in page {
            let event = recorded.decode()?;
            state.fold(&event);
            facts.extend(event.placed());
        }
    }
    let history = domain::history::project(&facts)?;
    std::hint::black_box((state, history));
    Ok(())
}

fn write_lines(store: &Store, session: &SessionId, path: &Path) -> Done<()> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut next = 0;
    loop {
        let page = store.events(session, next, 1_000)?;
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        for event in &page {
            writeln!(out, "{}", api::event_line(event))?;
        }
    }
    Ok(out.flush()?)
}

fn read_lines(path: &Path) -> Done<()> {
    let mut facts = Vec::new();
    for line in std::io::BufReader::new(std::fs::File::open(path)?).lines() {
        let line = line?;
        let outer: BTreeMap<&str, BTreeMap<&str, &RawValue>> = serde_json::from_str(&line)?;
        let event = outer.get("event").ok_or("a line without an event")?;
        let field = |name: &str| event.get(name).map(|value| value.get()).ok_or("a field is missing");
        let kind: &str = serde_json::from_str(field("type")?)?;
        facts.push(Fact::decode(kind, 1, field("payload")?)?);
    }
    std::hint::black_box(facts);
    Ok(())
}
