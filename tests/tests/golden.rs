//! Golden stores: one of each layout that ever was, kept in `tests/golden` for good.
//!
//! Those of layouts 1 and 2 were made of the third by taking away what came after them. When the layout changes, the first
//! test writes the store of the new one and fails until it is checked in. Invariant: a golden store is never made again.

use crate::play::alone;
use crate::scenarios::all;
use domain::digest::Digest;
use domain::event::Recorded;
use engine::{Command, Engine};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Activity, OpenError, Options, Reader, Store};
use tests::driver::Ended;
use tests::world::CountedClock;
use tests::{DieAt, Rig};

/// Where the layout's number stands in a database: four bytes, the largest first.
const LAYOUT: std::ops::Range<usize> = 60..64;

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

fn layout(database: &[u8]) -> u32 {
    u32::from_be_bytes(database[LAYOUT].try_into().expect("four bytes"))
}

/// A rig whose store is this one.
fn with(database: &[u8]) -> Rig {
    let scenario = all().remove(0);
    let rig = scenario.rig();
    std::fs::write(rig.data().join("store.db"), database).expect("writes");
    rig.world.begin_ids_at(1 << 20);
    rig
}

/// What a store holds today, as a build of its time would have left it.
fn made_now() -> Vec<u8> {
    let scenario = all().into_iter().find(|one| one.name == "three reads side by side").expect("a scenario");
    let rig = scenario.rig();
    alone(async {
        let process = rig.start(DieAt::never());
        assert_eq!(scenario.play(&rig, &process, &mut None).await, Ended::Resting);
    });
    // Opened and closed once more, which carries all of it over into the one file.
    drop(Store::open(rig.data(), Options::inline(clock(&rig))).expect("opens"));
    std::fs::read(rig.data().join("store.db")).expect("reads")
}

fn clock(rig: &Rig) -> Arc<CountedClock> {
    Arc::new(CountedClock::of(Arc::clone(&rig.world)))
}

#[test]
fn rel_r10_a_store_of_this_layout_is_kept() {
    let database = made_now();
    let file = kept().join(format!("layout-{}.db", layout(&database)));
    if !file.exists() {
        std::fs::write(&file, &database).expect("writes");
        panic!("{} was written: the layout is a new one. Check it in.", file.display());
    }
    let golden = std::fs::read(&file).expect("reads");
    assert_eq!(layout(&golden), layout(&database));
}

/// All golden stores, oldest first.
fn golden() -> Vec<Vec<u8>> {
    let newest = layout(&made_now());
    let read = |n| std::fs::read(kept().join(format!("layout-{n}.db"))).expect("a golden store");
    (1..=newest).map(read).collect()
}

#[test]
fn rel_r10_every_layout_that_ever_was_opens_whole_and_goes_on() {
    for (n, database) in golden().into_iter().enumerate() {
        assert_eq!(layout(&database) as usize, n + 1);
        let rig = with(&database);
        let scenario = all().remove(0);
        let reader = Reader::open(rig.data()).expect("it can be looked at as it is");
        let session = reader.sessions().expect("a list")[0].session.clone();
        let before = reader.events(&session, 0, usize::MAX >> 1).expect("reads");
        assert!(before.len() > 20, "layout {}: {} events", n + 1, before.len());
        drop(reader);
        let epoch = alone(async {
            let process = rig.start(DieAt::never());
            goes_on(&process.engine, &session).await;
            assert_eq!(scenario.play(&rig, &process, &mut None).await, Ended::Resting);
            process.engine.store().epoch()
        });
        let after: Vec<Recorded> = rig.log(&session);
        assert_eq!(after[..before.len()], before[..], "layout {}", n + 1);
        assert_eq!(after.len(), before.len() + 1, "layout {}", n + 1);
        let verdict = Reader::open(rig.data()).expect("opens");
        assert_eq!(verdict.verify_chain(&session), Ok(()));
        assert_eq!(verdict.verify_projections(), Ok(None));
        assert_eq!(domain::audit::audit(&after, epoch), vec![], "layout {}", n + 1);
    }
}

/// The old session is at rest and can be written to.
async fn goes_on(engine: &Engine, session: &domain::ids::SessionId) {
    let rows = engine.store().sessions().expect("a list");
    assert_eq!(rows[0].activity, Activity::Idle);
    let renamed = Command::Rename("Kept for good".into());
    engine.command(session, renamed).await.expect("it is taken");
}

#[test]
fn rel_r10_a_store_of_a_later_layout_is_refused_and_not_a_byte_is_changed() {
    let mut database = golden().pop().expect("one");
    let newer = layout(&database) + 1;
    database[LAYOUT].copy_from_slice(&newer.to_be_bytes());
    let rig = with(&database);
    let path = rig.data().join("store.db");
    let before = Digest::of(&std::fs::read(&path).expect("reads"));
    let refused =
        [Store::open(rig.data(), Options::inline(clock(&rig))).err(), Reader::open(rig.data()).err()];
    for error in refused {
        assert!(matches!(error, Some(OpenError::Newer { found, .. }) if found == newer), "{error:?}");
    }
    assert_eq!(Digest::of(&std::fs::read(&path).expect("reads")), before);
    let log = std::fs::metadata(rig.data().join("store.db-wal"));
    assert!(log.is_err() || log.is_ok_and(|found| found.len() == 0), "nothing was written beside it");
}
