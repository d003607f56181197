//! Power cuts: what was synced is there, of the rest any part may be, in any order and torn.
//!
//! The disk is simulated: at a barrier the log's bytes are taken as safe (that a barrier syncs is asserted where the
//! writer is); at the cut, of everything written since, random blocks of 512 bytes are kept and the others lost.

use crate::attached::named_and_read;
use crate::rig::*;
use crate::size::{seeds, tell};
use domain::event::Recorded;
use std::fs;
use store::{Append, Durability};

const BLOCK: usize = 512;

/// A disk at its cut: the database, the log as synced last, the log as written, and the events of two sessions.
struct Cut {
    database: Vec<u8>,
    synced: Vec<u8>,
    written: Vec<u8>,
    /// How many events each session had at the last barrier.
    safe: usize,
    events: [Vec<Recorded>; 2],
}

fn cut(dice: &mut Dice) -> Cut {
    let dir = quick_folder();
    let store = open(dir.path());
    let wal = || fs::read(dir.path().join("store.db-wal")).expect("reads");
    let (mut synced, mut safe, mut next) = (Vec::new(), 0, 0);
    for _ in 0..4 + dice.below(12) {
        let drafts = match next {
            0 => vec![created()],
            // Events that name content, which is attached first.
            _ => {
                let bytes = vec![b'x'; usize::try_from(dice.below(9_000)).expect("small") + 1];
                vec![renamed(&store.attach_blob(&bytes).expect("attaches").to_string()); 2]
            }
        };
        let append = |n| Append { session: session(n), expected_seq: next, drafts: drafts.clone() };
        let barrier = next == 0 || dice.below(4) == 0;
        let durability = if barrier { Durability::Barrier } else { Durability::Normal };
        let recorded = store.append_many(vec![append(1), append(2)], durability).expect("appends");
        next += recorded.len() as u64 / 2;
        if barrier {
            synced = wal();
            safe = usize::try_from(next).expect("small");
        }
    }
    let events = [1, 2].map(|n| store.events(&session(n), 0, 999).expect("reads"));
    let database = fs::read(dir.path().join("store.db")).expect("reads");
    Cut { database, synced, written: wal(), safe, events }
}

#[test]
fn r4_a_power_cut_keeps_barriers_and_tears_nothing() {
    let seeds = seeds(0..60);
    let mut lost = 0;
    for round in seeds.clone() {
        let mut dice = Dice::of(0x5eed_0104, round);
        let cut = cut(&mut dice);
        // Much is lost, or so little that the cut lies somewhere among the last transactions.
        let odds = if round % 2 == 0 { 3 } else { 150 };
        let mut left = cut.synced.clone();
        left.resize(cut.written.len().max(left.len()), 0);
        for at in (0..cut.written.len()).step_by(BLOCK) {
            if dice.below(odds) > 0 {
                let block = at..(at + BLOCK).min(cut.written.len());
                left[block.clone()].copy_from_slice(&cut.written[block]);
            }
        }
        left.truncate(
            left.len()
                - usize::try_from(dice.below((left.len() - cut.synced.len()) as u64 + 1)).expect("fits"),
        );
        let dir = quick_folder();
        fs::write(dir.path().join("store.db"), &cut.database).expect("writes");
        fs::write(dir.path().join("store.db-wal"), &left).expect("writes");
        let store = open(dir.path());
        let [one, two] = [1, 2].map(|n| store.events(&session(n), 0, 999).expect("whole"));
        assert_eq!(one.len(), two.len(), "round {round}: a transaction was torn");
        assert!(
            one.len() >= cut.safe,
            "round {round}: {} were behind a barrier, {} are left",
            cut.safe,
            one.len()
        );
        assert_eq!(named_and_read(&store, 1), one.len() as u64 - 1, "round {round}");
        assert_eq!((&one[..], &two[..]), (&cut.events[0][..one.len()], &cut.events[1][..two.len()]));
        assert_eq!(store.verify_projections(), Ok(None));
        lost += cut.events[0].len() - one.len();
        let next = one.len() as u64;
        store.append(&session(1), next, vec![renamed("after")], Durability::Barrier).expect("goes on");
    }
    let few = seeds.end - seeds.start < 60;
    assert!(few || lost > 0, "the cuts lose something, or they would show nothing");
    tell("R4 log", &seeds, &[("cuts", seeds.end - seeds.start), ("events lost", lost as u64)]);
}
