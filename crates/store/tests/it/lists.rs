//! The lists: what each session is doing, what waits for the person, and that they are the log's.

use crate::rig::*;
use domain::call::Mode;
use domain::event::{CallResolved, Draft, End, Resolution};
use domain::ids::{ApprovalId, CallId, FolderId};
use store::{Activity, Append, Durability, Edit, Need, NeedKind};

#[test]
fn a_session_shows_what_it_is_doing() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let ses = session(1);
    let mut seq = 0;
    let mut check = |drafts: Vec<Draft>, activity: Activity, needs: &[(NeedKind, String, u64)]| {
        seq += store.append(&ses, seq, drafts, Durability::Normal).expect("appends").len() as u64;
        let row = store.session(&ses).expect("lists").expect("there");
        assert_eq!((row.activity, row.events, row.waiting), (activity, seq, needs.len() as u64));
        let found: Vec<Need> = store.needs_you().expect("lists");
        let found: Vec<_> = found.into_iter().map(|need| (need.kind, need.id, need.seq)).collect();
        assert_eq!(found, needs);
        assert_eq!(store.verify_projections(), Ok(None));
    };
    let approval = |n, seq| (NeedKind::Approval, ApprovalId::from_bits(n).to_string(), seq);
    let outcome = |n, seq| (NeedKind::Outcome, CallId::from_bits(n).to_string(), seq);
    check(vec![created()], Activity::Idle, &[]);
    check(turn_until_asked(1), Activity::NeedsYou, &[approval(1, 13)]);
    check(granted_and_started(1), Activity::Working, &[]);
    check(vec![call_unknown(1)], Activity::NeedsYou, &[outcome(1, 16)]);
    check(ends(1, End::Interrupted), Activity::NeedsYou, &[outcome(1, 16)]);
    let fact = CallResolved { call: CallId::from_bits(1), resolution: Resolution::Done };
    check(vec![Draft::new(fact)], Activity::Stopped, &[]);
    check(whole_turn(2)[..13].to_vec(), Activity::NeedsYou, &[approval(2, 32)]);
    let row = store.session(&ses).expect("lists").expect("there");
    assert_eq!((row.turns, row.calls, row.mode, row.root.as_str()), (2, 2, Mode::Ask, "/home/ann/garden"));
    assert_eq!(row.model.map(|choice| choice.model).as_deref(), Some("small"));
}

#[test]
fn lists_that_were_tampered_with_are_found_out_and_rebuilt() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    store
        .append(&session(1), 0, [vec![created()], turn_until_asked(1)].concat(), Durability::Normal)
        .expect("a");
    store.append(&session(2), 0, vec![created()], Durability::Normal).expect("appends");
    let (sessions, needs) = (store.sessions().expect("lists"), store.needs_you().expect("lists"));
    for sql in [
        "UPDATE sessions SET activity = 'idle', waiting = 0",
        "DELETE FROM sessions",
        "DELETE FROM needs_you",
        "INSERT INTO needs_you SELECT session, 'apr_x', kind, call, pos, seq, since FROM needs_you",
        "UPDATE sessions SET head = zeroblob(32)",
    ] {
        raw(dir.path()).execute_batch(sql).expect("changes");
        let difference = store.verify_projections().expect("compares");
        assert!(difference.is_some(), "{sql}");
        store.rebuild().expect("rebuilds");
        assert_eq!(store.verify_projections(), Ok(None), "{sql}");
        assert_eq!(store.sessions().expect("lists"), sessions);
        assert_eq!(store.needs_you().expect("lists"), needs);
    }
    // Lists of another version are rebuilt when the store is opened.
    raw(dir.path())
        .execute_batch(
            "DROP TABLE sessions; DROP TABLE needs_you; UPDATE facts_of_store SET value = 0 \
        WHERE name = 'projections'",
        )
        .expect("changes");
    drop(store);
    assert_eq!(open(dir.path()).sessions().expect("lists"), sessions);
}

#[test]
fn ten_thousand_sessions_are_listed_without_reading_the_log() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    for hundred in 0..100 {
        let batch = (0..100)
            .map(|n| Append { session: session(hundred * 100 + n), expected_seq: 0, drafts: vec![created()] })
            .collect();
        store.append_many(batch, Durability::Normal).expect("appends");
    }
    // With the log out of the way the list is still whole, so it can't have been read.
    raw(dir.path()).execute_batch("ALTER TABLE events RENAME TO elsewhere").expect("moves");
    let listed = store.sessions().expect("lists");
    assert_eq!(listed.len(), 10_000);
    assert_eq!(listed[0].session, session(9_999));
}

#[test]
fn folders_and_settings_are_remembered() {
    let dir = tempfile::tempdir().expect("a folder");
    let clock = Hand::at(10);
    let store = store::Store::open(dir.path(), store::Options::inline(clock.clone())).expect("opens");
    let opened = |n, path: &str| Edit::UseFolder { folder: FolderId::from_bits(n), path: path.into() };
    store.edit(opened(1, "/home/ann/garden")).expect("saves");
    clock.set(20);
    store.edit(opened(2, "/home/ann/小屋")).expect("saves");
    clock.set(30);
    store.edit(opened(3, "/home/ann/garden")).expect("saves");
    store.edit(Edit::Set { name: "language".into(), value: "zh".into() }).expect("saves");
    store.edit(Edit::Set { name: "theme".into(), value: "dark".into() }).expect("saves");
    store.edit(Edit::Unset { name: "theme".into() }).expect("saves");
    drop(store);
    let store = open(dir.path());
    let folders: Vec<_> =
        store.folders().expect("lists").into_iter().map(|f| (f.folder, f.last_used)).collect();
    assert_eq!(
        folders,
        [(FolderId::from_bits(1), 30), (FolderId::from_bits(2), 20)],
        "a path keeps its first id"
    );
    store.edit(Edit::ForgetFolder { folder: FolderId::from_bits(1) }).expect("saves");
    assert_eq!(store.folders().expect("lists").len(), 1);
    assert_eq!(store.setting("language"), Ok(Some("zh".into())));
    assert_eq!(store.setting("theme"), Ok(None));
}

/// Whoever reads while somebody writes sees what was there before or what is there now, and never nothing.
#[test]
fn case_h24_a_reader_beside_a_writer_never_finds_an_empty_list() {
    const LOADS: usize = 10_000;
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    for n in 1..=3 {
        store.append(&session(n), 0, vec![created()], Durability::Normal).expect("appends");
    }
    store.edit(Edit::Set { name: "language".into(), value: "zh".into() }).expect("saves");
    let done = std::sync::atomic::AtomicBool::new(false);
    let (store, done) = (&store, &done);
    let saved = std::thread::scope(|both| {
        let writer = both.spawn(move || {
            let mut saved = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let title = renamed(&format!("Title {saved}"));
                store.append(&session(1), saved + 1, vec![title], Durability::Normal).expect("appends");
                let value = if saved % 2 == 0 { "en" } else { "zh" };
                store.edit(Edit::Set { name: "language".into(), value: value.into() }).expect("saves");
                saved += 1;
            }
            saved
        });
        let mut reader = store::Reader::open(dir.path()).expect("opens");
        for n in 0..LOADS {
            // As a program that has just started, now and then.
            if n % 20 == 0 {
                reader = store::Reader::open(dir.path()).expect("opens");
            }
            let listed = reader.sessions().expect("lists");
            assert_eq!(listed.len(), 3, "load {n}");
            let first = reader.events(&session(1), 0, 1).expect("reads");
            assert_eq!(first.len(), 1, "load {n}");
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        writer.join().expect("it writes to the end")
    });
    assert!(saved > 100, "{saved} saves beside {LOADS} loads");
    assert_eq!(store.setting("language").map(|found| found.is_some()), Ok(true));
}
