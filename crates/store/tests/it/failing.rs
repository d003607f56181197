//! Failing: full disks, refused syncs, deaths at each point of an append, and writers that were taken over.

use crate::rig::*;
use domain::event::Draft;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use store::{AppendError, Durability, Fate, Faults, Options, Point, RESERVE_BYTES, Store};

/// Faults set from the test.
#[derive(Default)]
pub(crate) struct Switch {
    /// The point and what happens there at the n-th time from now.
    next: Mutex<Option<(Point, Fate, u32)>>,
    pages: AtomicU32,
}

impl Switch {
    pub(crate) fn at(&self, point: Point, fate: Fate, after: u32) {
        *self.next.lock().expect("unpoisoned") = Some((point, fate, after));
    }

    /// The most pages the database may have; 0 for no bound.
    pub(crate) fn pages(&self, most: u32) {
        self.pages.store(most, Ordering::Relaxed);
    }
}

impl Faults for Switch {
    fn reach(&self, point: Point) -> Fate {
        let mut next = self.next.lock().expect("unpoisoned");
        match &mut *next {
            Some((at, fate, 0)) if *at == point => {
                let fate = *fate;
                *next = None;
                fate
            }
            Some((at, _, after)) if *at == point => {
                *after -= 1;
                Fate::Go
            }
            _ => Fate::Go,
        }
    }

    fn max_pages(&self) -> Option<u32> {
        Some(self.pages.load(Ordering::Relaxed)).filter(|pages| *pages > 0)
    }
}

pub(crate) fn faulty(folder: &std::path::Path) -> (Store, Arc<Switch>) {
    let switch = Arc::new(Switch::default());
    let store = Store::open(folder, inline().with_faults(switch.clone())).expect("opens");
    (store, switch)
}

#[test]
fn x01_a_full_disk_loses_nothing_and_leaves_room_to_say_so() {
    let dir = tempfile::tempdir().expect("a folder");
    let (store, switch) = faulty(dir.path());
    let ses = session(1);
    store.append(&ses, 0, vec![created()], Durability::Normal).expect("appends");
    let reserve = dir.path().join("reserve");
    switch.pages.store(40, Ordering::Relaxed);
    let mut seq = 1;
    let error = loop {
        match store.append(&ses, seq, vec![renamed(&"x".repeat(9_000))], Durability::Barrier) {
            Ok(_) => seq += 1,
            Err(error) => break error,
        }
        assert!(seq < 100, "it must get full");
    };
    assert_eq!(error, AppendError::Full);
    assert!(!reserve.exists(), "its {RESERVE_BYTES} bytes are given back");
    assert_eq!(store.next_seq(&ses), Ok(seq), "what was acknowledged is there, the rest isn't");
    assert_eq!(store.state(&ses).expect("folds").next_seq, seq);
    // Room again, as much as the reserve gives.
    switch.pages.store(60, Ordering::Relaxed);
    store
        .append(&ses, seq, vec![renamed("the disk is full")], Durability::Barrier)
        .expect("the reserve has room");
    switch.pages.store(0, Ordering::Relaxed);
    store.append(&ses, seq + 1, vec![renamed(&"x".repeat(9_000))], Durability::Barrier).expect("goes on");
    assert!(store.keep_reserve() && reserve.exists());
    assert_eq!(store.verify_chain(&ses), Ok(()));
    assert_eq!(store.verify_projections(), Ok(None));
}

/// The reserve that found no room when the store was opened is put there while it is open.
#[test]
fn x01_a_reserve_that_found_no_room_at_the_start_comes_when_there_is_some() {
    let dir = tempfile::tempdir().expect("a folder");
    let reserve = dir.path().join("reserve");
    std::fs::create_dir(&reserve).expect("something is in the way");
    let store = open(dir.path());
    let ses = session(1);
    store.append(&ses, 0, vec![created()], Durability::Normal).expect("appends without it");
    let more = |seq| store.append(&ses, seq, vec![renamed("x")], Durability::Normal).map(drop);
    (1..30).for_each(|seq| more(seq).expect("appends"));
    assert!(!store.keep_reserve() && reserve.is_dir(), "still in the way");
    std::fs::remove_dir(&reserve).expect("out of the way");
    (30..50).for_each(|seq| more(seq).expect("appends"));
    assert!(reserve.is_file(), "nobody asked for it");
}

#[test]
fn a_refused_sync_is_never_tried_again_on_the_same_handle() {
    let dir = tempfile::tempdir().expect("a folder");
    let (store, switch) = faulty(dir.path());
    let ses = session(1);
    store.append(&ses, 0, vec![created(), posted(1, "one")], Durability::Barrier).expect("appends");
    switch.at(Point::BeforeCommit, Fate::FailSync, 0);
    let told = store.subscribe();
    let error = store.append(&ses, 2, vec![turn_start(1)], Durability::Barrier).unwrap_err();
    assert!(matches!(error, AppendError::Unsure { .. }), "{error}");
    assert_eq!(told.try_next(), None, "nothing was announced");
    // The store says what holds, and goes on from there with a state it read again.
    assert_eq!(store.next_seq(&ses), Ok(2));
    assert!(store.state(&ses).expect("folds").turn.is_none());
    store.append(&ses, 2, vec![turn_start(1)], Durability::Barrier).expect("appends on the fresh handle");
    assert_eq!(store.verify_chain(&ses), Ok(()));
}

/// The disk went away with the sync, and came back: whoever asks next gets a store that works.
#[test]
fn r5_a_store_that_could_not_be_opened_again_is_opened_later() {
    let dir = tempfile::tempdir().expect("a folder");
    let (store, switch) = faulty(dir.path());
    let ses = session(1);
    store.append(&ses, 0, vec![created()], Durability::Barrier).expect("appends");
    let (database, away) = (dir.path().join("store.db"), dir.path().join("away.db"));
    switch.at(Point::BeforeCommit, Fate::FailSync, 0);
    std::fs::rename(&database, &away).expect("moves");
    let error = store.append(&ses, 1, vec![renamed("x")], Durability::Barrier).unwrap_err();
    assert!(matches!(error, AppendError::Unsure { .. }), "{error}");
    for _ in 0..2 {
        let error = store.append(&ses, 1, vec![renamed("x")], Durability::Barrier).unwrap_err();
        assert!(error.to_string().starts_with("the store is not writable while opening it again"), "{error}");
        let edit = store::Edit::Set { name: "language".into(), value: "zh".into() };
        assert!(matches!(store.edit(edit), Err(AppendError::Sql { .. })));
    }
    std::fs::rename(&away, &database).expect("moves");
    store.append(&ses, 1, vec![renamed("x")], Durability::Barrier).expect("the work goes on");
    assert_eq!(store.verify_chain(&ses), Ok(()));
}

#[test]
fn a_death_at_any_point_of_any_append_leaves_a_whole_prefix() {
    let drafts: Vec<Draft> = std::iter::once(created()).chain(whole_turn(1)).collect();
    let pieces: Vec<&[Draft]> = drafts.chunks(3).collect();
    for (point, committed) in [(Point::BeforeBegin, 0), (Point::BeforeCommit, 0), (Point::AfterCommit, 1)] {
        for die_at in 0..pieces.len() {
            let dir = tempfile::tempdir().expect("a folder");
            let (store, switch) = faulty(dir.path());
            switch.at(point, Fate::Die, u32::try_from(die_at).expect("small"));
            let mut acknowledged = 0;
            for piece in &pieces {
                match store.append(&session(1), acknowledged, piece.to_vec(), Durability::Normal) {
                    Ok(events) => acknowledged += events.len() as u64,
                    Err(error) => {
                        assert_eq!(error, AppendError::Crashed);
                        break;
                    }
                }
            }
            let dead = store.append(&session(2), 0, vec![created()], Durability::Normal);
            assert_eq!(dead, Err(AppendError::Crashed), "a dead process writes nothing more");
            drop(store);
            let store = open(dir.path());
            let there = acknowledged + committed * pieces[die_at].len() as u64;
            assert_eq!(store.next_seq(&session(1)), Ok(there), "{point:?} of append {die_at}");
            assert_eq!(store.verify_projections(), Ok(None));
            // The rest can follow.
            let rest = drafts[usize::try_from(there).expect("small")..].to_vec();
            store.append(&session(1), there, rest, Durability::Normal).expect("appends");
            assert_eq!(domain::audit::audit(&store.events(&session(1), 0, 99).expect("reads"), 2), vec![]);
        }
    }
}

/// A lock file that was cleaned away lets a second writer in; the first one must notice.
#[test]
fn i15_an_older_epoch_can_not_append() {
    let dir = tempfile::tempdir().expect("a folder");
    let old = open(dir.path());
    old.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    std::fs::remove_file(dir.path().join("lock")).expect("deletes");
    let new = open(dir.path());
    let fenced = AppendError::Fenced { mine: 1, current: 2 };
    assert_eq!(old.append(&session(1), 1, vec![renamed("old")], Durability::Normal), Err(fenced.clone()));
    new.append(&session(1), 1, vec![renamed("new")], Durability::Normal).expect("appends");
    assert_eq!(old.append(&session(2), 0, vec![created()], Durability::Normal), Err(fenced.clone()));
    let edit = store::Edit::Set { name: "language".into(), value: "zh".into() };
    assert_eq!(old.edit(edit), Err(fenced));
    assert!(old.rebuild().unwrap_err().to_string().contains("epoch 2 has taken over"));
    let events = new.events(&session(1), 0, 9).expect("reads");
    assert_eq!(events.iter().map(|event| event.epoch).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(old.state(&session(1)).expect("folds").next_seq, 2, "it still reads what is true");
}

#[test]
fn x04_two_writers_at_once_make_no_gap_and_no_double() {
    let dir = tempfile::tempdir().expect("a folder");
    let old = Store::open(dir.path(), Options::new(Hand::at(1))).expect("opens");
    old.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    let written = AtomicU64::new(0);
    let write = |store: &Store| {
        loop {
            let next = store.next_seq(&session(1)).expect("reads");
            match store.append(&session(1), next, vec![renamed("x")], Durability::Normal) {
                Ok(_) if written.fetch_add(1, Ordering::Relaxed) >= 2_000 => return None,
                Ok(_) | Err(AppendError::Conflict { .. }) => {}
                Err(error) => return Some(error),
            }
        }
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| write(&old));
        while written.load(Ordering::Relaxed) < 200 {
            std::thread::yield_now();
        }
        std::fs::remove_file(dir.path().join("lock")).expect("deletes");
        let new = Store::open(dir.path(), Options::new(Hand::at(2))).expect("opens");
        assert_eq!(write(&new), None);
        assert_eq!(first.join().expect("joins"), Some(AppendError::Fenced { mine: 1, current: 2 }));
        let events = new.events(&session(1), 0, 10_000).expect("dense and chained");
        assert_eq!(events.len() as u64, written.load(Ordering::Relaxed) + 1);
        let taken_over = events.partition_point(|event| event.epoch == 1);
        assert!(events[taken_over..].iter().all(|event| event.epoch == 2), "the old one wrote nothing after");
    });
}

#[test]
fn x03_a_store_that_somebody_holds_is_given_up_after_a_while_and_works_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    store.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    let holder = raw(dir.path());
    holder.execute_batch("BEGIN IMMEDIATE").expect("holds");
    let error = store.append(&session(1), 1, vec![renamed("x")], Durability::Normal).unwrap_err();
    assert!(error.to_string().contains("not writable") && error.to_string().contains("locked"), "{error}");
    assert_eq!(store.events(&session(1), 0, 9).expect("reads").len(), 1, "reading goes on");
    holder.execute_batch("ROLLBACK").expect("lets go");
    store.append(&session(1), 1, vec![renamed("x")], Durability::Normal).expect("appends");
}

/// Something else stands where the memory that connections share should be.
#[test]
fn x03_shared_memory_that_can_not_be_made_is_said_at_once() {
    let dir = tempfile::tempdir().expect("a folder");
    drop(open(dir.path()));
    let in_the_way = dir.path().join("store.db-shm");
    std::fs::create_dir(&in_the_way).expect("makes");
    let began = std::time::Instant::now();
    let refused = Store::open(dir.path(), inline()).err().expect("it can't be opened").to_string();
    assert!(refused.contains(dir.path().to_str().expect("text")), "{refused}");
    assert!(began.elapsed() < std::time::Duration::from_secs(30), "no waiting without an end");
    std::fs::remove_dir(&in_the_way).expect("removes");
    open(dir.path());
}

#[test]
fn x22_a_reader_that_never_ends_is_noticed() {
    let dir = quick_folder();
    let store = open(dir.path());
    store.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    let endless = raw(dir.path());
    endless.execute_batch("BEGIN; SELECT count(*) FROM events").expect("reads");
    let large = "x".repeat(250_000);
    let mut seq = 1;
    while store.wal_bytes() <= store::WAL_ALARM_BYTES {
        assert_eq!(store.counts().starved, 0, "a log of that length is nothing to speak of");
        store.append(&session(1), seq, vec![renamed(&large); 8], Durability::Normal).expect("appends");
        seq += 8;
        assert!(seq < 400, "{} bytes", store.wal_bytes());
    }
    assert_eq!(store.counts().starved, 1, "it is said when it begins");
    store.append(&session(1), seq, vec![renamed("x")], Durability::Normal).expect("appends");
    assert_eq!(store.counts().starved, 1, "and once only");
    seq += 1;
    endless.execute_batch("ROLLBACK").expect("ends");
    store.append(&session(1), seq, vec![renamed("x")], Durability::Normal).expect("appends");
    store.append(&session(1), seq + 1, vec![renamed("x")], Durability::Normal).expect("appends");
    assert!(store.wal_bytes() < store::WAL_ALARM_BYTES, "{} bytes: it is cut back", store.wal_bytes());
}
