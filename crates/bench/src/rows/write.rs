//! P1: what an append costs beside SQLite by itself.
//!
//! The same payload of 1 KB, the same table and settings; single at a barrier, single without, and 32 at once. Ours checks,
//! folds, chains, lists and announces on a thread of its own; the control inserts.

use super::Run;
use crate::Done;
use crate::log::created;
use crate::pairs::{Pairs, pairs};
use crate::place::Folder;
use crate::raw::{Raw, Sync};
use crate::report::Row;
use domain::event::{Draft, NoticeRaised};
use domain::ids::SessionId;
use std::sync::Arc;
use store::{Durability, Options, Store};

/// Bytes of the payload's text.
const TEXT: usize = 1_000;
/// Events of a batch.
const BATCH: usize = 32;

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let rounds = run.rounds();
    let appends = run.count(300, 20);
    let normal = compared(rounds, appends, 1, Durability::Normal)?;
    let batch = compared(rounds, appends / 10 + 1, BATCH, Durability::Normal)?;
    let barrier = compared(rounds, appends / 10 + 1, 1, Durability::Barrier)?;
    let mut rows = Vec::new();
    for (name, measured, least) in
        [("one event", &normal, 0.8), ("32 at once", &batch, 0.7), ("a barrier", &barrier, 0.8)]
    {
        rows.extend(costs(name, measured, least));
    }
    rows.push(syncs(&barrier));
    Ok(rows)
}

struct Compared {
    pairs: Pairs,
    /// Appends of ours, and how many syncs they took.
    ours: (u64, u64),
}

fn compared(rounds: usize, appends: usize, batch: usize, durability: Durability) -> Done<Compared> {
    let notice = notice();
    let payload = domain::event::Fact::from(notice.clone()).encode()?;
    let mut raw = Raw::new(if durability == Durability::Barrier { Sync::Full } else { Sync::Normal })?;
    let folder = Folder::new()?;
    store::create_folder(&folder.data())?;
    let store = Store::open(&folder.data(), Options::new(Arc::new(host::SystemClock)))?;
    let session = SessionId::from_bits(1);
    store.append(&session, 0, vec![Draft::new(created())], Durability::Normal)?;
    let mut next = 1;
    let before = store.counts();
    let pairs = pairs(
        rounds,
        appends * batch,
        || (0..appends).try_for_each(|_| raw.append(&payload, batch)),
        || {
            for _ in 0..appends {
                let drafts = vec![Draft::new(notice.clone()); batch];
                store.append(&session, next, drafts, durability)?;
                next += batch as u64;
            }
            Ok(())
        },
    )?;
    let counts = store.counts().since(before);
    Ok(Compared { pairs, ours: (counts.commits, counts.syncs()) })
}

fn costs(name: &str, compared: &Compared, least: f64) -> [Row; 3] {
    let pairs = &compared.pairs;
    let (raw_cpu, our_cpu) = pairs.medians(|cost| cost.cpu_us);
    let (raw_wall, our_wall) = pairs.medians(|cost| cost.wall_us);
    let (raw_bytes, our_bytes) = pairs.medians(|cost| cost.written);
    let control = pairs.control(|cost| cost.cpu_us);
    [
        Row::at_most(
            "P1",
            format!("append of 1 KB, {name}: ≤ 1.5× the CPU of SQLite alone"),
            pairs.ratio(|c| c.cpu_us),
            1.5,
        )
        .unit("×")
        .beside(1.0)
        .note(format!("CPU an event {our_cpu:.1} µs, SQLite alone {raw_cpu:.1} µs; A/A {control:.3}")),
        Row::at_most(
            "P1",
            format!("append of 1 KB, {name}: ≤ 1.15× the bytes"),
            pairs.ratio(|cost| cost.written),
            1.15,
        )
        .unit("×")
        .beside(1.0)
        .note(format!("{our_bytes:.0} and {raw_bytes:.0} bytes an event, handed to the system")),
        Row::at_least(
            "P1",
            format!("append of 1 KB, {name}: ≥ {least}× the throughput"),
            1.0 / pairs.ratio(|c| c.wall_us),
            least,
        )
        .unit("×")
        .beside(1.0)
        .note(format!("{our_wall:.0} and {raw_wall:.0} µs an event")),
    ]
}

fn syncs(barrier: &Compared) -> Row {
    let (commits, syncs) = barrier.ours;
    Row::at_most(
        "P1",
        "append of 1 KB, a barrier: as many syncs as SQLite alone",
        syncs as f64 / commits as f64,
        1.0,
    )
    .unit("syncs")
    .beside(1.0)
    .note("counted by the store; the write-ahead log's own carrying over is the same for both")
}

fn notice() -> NoticeRaised {
    let facts = [("text".to_owned(), "x".repeat(TEXT))].into_iter().collect();
    NoticeRaised { code: "bench/notice".to_owned(), facts }
}
