//! Appending: order, laws, limits, and who is told.

use crate::rig::*;
use domain::digest::Digest;
use domain::event::*;
use domain::ids::{StepId, TurnId};
use domain::state::State;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::{
    Append, AppendError, Durability, Keep, MAX_EVENT_BYTES, MAX_EVENTS, Notice, Options, QUEUE, Store,
};

#[test]
fn what_is_appended_reads_back_after_a_restart() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let ses = session(1);
    let written = store
        .append(&ses, 0, vec![created(), renamed("Garden"), posted(7, "water it")], Durability::Barrier)
        .expect("appends");
    assert_eq!(store.events(&ses, 0, 10).expect("reads"), written);
    assert_eq!(store.events(&ses, 1, 1).expect("reads"), written[1..2]);
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.epoch(), 2);
    assert_eq!(store.events(&ses, 0, 10).expect("reads"), written);
    assert_eq!(store.state(&ses).expect("folds").inbox.len(), 1);
    assert_eq!((store.next_seq(&ses), store.last_seq(&ses)), (Ok(3), Ok(Some(2))));
    let last = store.append(&ses, 3, vec![renamed("Meadow")], Durability::Normal).expect("appends");
    assert_eq!((last[0].epoch, last[0].pos, last[0].prev_hash), (2, 4, written[2].hash));
}

#[test]
fn i01_sequences_are_dense_and_chained_whatever_the_clock_says() {
    let dir = tempfile::tempdir().expect("a folder");
    let clock = Hand::at(5_000);
    let store = Store::open(dir.path(), Options::inline(clock.clone())).expect("opens");
    let (one, two) = (session(1), session(2));
    store.append(&one, 0, vec![created()], Durability::Normal).expect("appends");
    clock.set(1_000);
    store.append(&two, 0, vec![created(), renamed("Two")], Durability::Normal).expect("appends");
    clock.set(0);
    store.append(&one, 1, vec![renamed("One"), renamed("Uno")], Durability::Normal).expect("appends");
    for ses in [&one, &two] {
        let events = store.events(ses, 0, 100).expect("reads");
        let mut before = Digest::ZERO;
        for (place, event) in events.iter().enumerate() {
            assert_eq!(event.seq, place as u64);
            assert_eq!(event.prev_hash, before);
            assert_eq!(event.hash, event.expected_hash());
            before = event.hash;
        }
        assert_eq!(domain::audit::audit(&events, 1), vec![]);
    }
    let times: Vec<_> = store.events(&one, 0, 9).expect("reads").iter().map(|event| event.time).collect();
    assert_eq!(times, [5_000, 0, 0]);
    // Lists follow positions, not the clock: the session changed last is first although its time is the oldest.
    assert_eq!(store.sessions().expect("lists")[0].session, one);
}

/// One refusal a line: what is appended to a session with `created` and one turn, and what the store says.
#[test]
fn appends_that_break_a_law_change_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let ses = session(1);
    store.append(&ses, 0, vec![created(), posted(1, "hello")], Durability::Normal).expect("appends");
    let before = store.events(&ses, 0, 100).expect("reads");
    let check = |seq: u64, drafts: Vec<Draft>, expect: &str| {
        let error = store.append(&ses, seq, drafts, Durability::Normal).expect_err(expect);
        assert!(error.to_string().contains(expect), "{error}\n  should say: {expect}");
        assert_eq!(store.events(&ses, 0, 100).expect("reads"), before, "{expect}");
        assert_eq!(store.state(&ses).expect("folds").next_seq, 2);
        assert_eq!(store.verify_projections(), Ok(None));
    };
    check(1, vec![renamed("x")], "is at 2, not at 1");
    check(3, vec![renamed("x")], "is at 2, not at 3");
    check(2, vec![created()], "session/first");
    check(2, vec![turn_start(9)], "turn/claims_work");
    check(2, vec![renamed("fine"), turn_start(1), turn_start(1)], "turn/one_open");
    check(2, vec![renamed("x").from_sources(vec![0, 2])], "event/sources");
    check(
        2,
        vec![Draft::of_turn(&TurnId::from_bits(4), SessionRenamed { title: "x".into() })],
        "event/scope",
    );
    check(2, vec![renamed(&"x".repeat(MAX_EVENT_BYTES))], "put the content into a blob");
    check(2, vec![renamed("x"); MAX_EVENTS + 1], "4097 events in one append");
    check(2, vec![Draft::new(result(1, deep(200)))], "can't be stored");
}

fn deep(levels: usize) -> serde_json::Value {
    (0..levels).fold(serde_json::Value::Null, |inner, _| serde_json::Value::Array(vec![inner]))
}

#[test]
fn the_largest_event_fits_and_one_byte_more_does_not() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let frame = renamed("").fact.encode().expect("encodes").len();
    let fits = "x".repeat(MAX_EVENT_BYTES - frame);
    store.append(&session(1), 0, vec![created(), renamed(&fits)], Durability::Normal).expect("fits");
    let error =
        store.append(&session(1), 2, vec![renamed(&format!("{fits}x"))], Durability::Normal).unwrap_err();
    let (bytes, max) = (MAX_EVENT_BYTES + 1, MAX_EVENT_BYTES);
    assert_eq!(error, AppendError::TooLarge { kind: "session/renamed", bytes, max });
    assert_eq!(
        store.state(&session(1)).expect("folds").session.as_ref().map(|s| s.title.len()),
        Some(fits.len())
    );
}

#[test]
fn the_envelope_reads_back_whole() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::open(dir.path(), Options::inline(Hand::at(1_700_000_000_000))).expect("opens");
    let drafts = [vec![created()], turn_until_asked(1)].concat();
    store.append(&session(1), 0, drafts, Durability::Normal).expect("appends");
    let delta = &store.events(&session(1), 8, 1).expect("reads")[0];
    assert_eq!((delta.kind.as_str(), delta.version, delta.ignorable), ("assistant/delta", 1, true));
    assert_eq!(
        (delta.turn.clone(), delta.step.clone()),
        (Some(TurnId::from_bits(1)), Some(StepId::from_bits(1)))
    );
    assert_eq!((delta.time, delta.epoch, delta.pos, delta.seq), (1_700_000_000_000, 1, 9, 8));
    let summary = renamed("Garden").from_sources(vec![0, 3, 12]);
    store.append(&session(1), 14, vec![summary], Durability::Normal).expect("appends");
    let summary = &store.events(&session(1), 14, 1).expect("reads")[0];
    assert_eq!((summary.ignorable, &summary.sources[..], &summary.turn), (false, &[0, 3, 12][..], &None));
}

#[test]
fn several_sessions_are_appended_to_or_none() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let append = |n, expected_seq, drafts| Append { session: session(n), expected_seq, drafts };
    let batch = vec![append(1, 0, vec![created()]), append(2, 0, vec![created(), turn_start(1)])];
    let error = store.append_many(batch, Durability::Normal).unwrap_err();
    assert!(matches!(error, AppendError::Refused { seq: 1, .. }), "{error}");
    assert_eq!(store.sessions(), Ok(vec![]));
    assert_eq!(store.next_seq(&session(1)), Ok(0));
    let batch = vec![
        append(1, 0, vec![created(), posted(1, "first")]),
        append(2, 0, vec![created()]),
        append(1, 2, vec![turn_start(1)]),
    ];
    let told = store.subscribe();
    let written = store.append_many(batch, Durability::Normal).expect("appends");
    let places: Vec<_> = written.iter().map(|event| (event.session.clone(), event.seq, event.pos)).collect();
    assert_eq!(places, [(session(1), 0, 1), (session(1), 1, 2), (session(2), 0, 3), (session(1), 2, 4)]);
    let announced: Vec<_> = std::iter::from_fn(|| told.try_next())
        .flat_map(|notice| match notice {
            Notice::Committed(announcement) => announcement.events.to_vec(),
            Notice::Resync => panic!("nothing was left out"),
        })
        .collect();
    assert_eq!(announced, written);
}

/// Where the session stood when a listener was told, and what its own append gave.
type Seen = (u64, Result<Vec<Recorded>, AppendError>);

/// On a thread of its own, because what this forbids would otherwise wait for itself for ever.
#[test]
fn an_append_inside_an_announcement_is_an_error() {
    let (done, ended) = std::sync::mpsc::channel();
    let run = std::thread::spawn(move || {
        appends_inside_announcements();
        done.send(()).expect("somebody waits");
    });
    let ended = ended.recv_timeout(Duration::from_secs(30));
    assert!(ended.is_ok(), "it waits for itself, or failed: {:?}", run.is_finished().then(|| run.join()));
}

fn appends_inside_announcements() {
    for options in [inline(), Options::new(Hand::at(1))] {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::open(dir.path(), options).expect("opens");
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (handle, log) = (store.handle(), Arc::clone(&seen));
        store.listen(move |told| {
            // What is announced is committed: a reader finds it already.
            let next = handle.next_seq(&told.session).expect("reads");
            let again = handle.append(&told.session, next, vec![renamed("Again")], Durability::Normal);
            log.lock().expect("unpoisoned").push((next, again));
            if next < 2 { Keep::Yes } else { Keep::No }
        });
        store.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
        store.append(&session(1), 1, vec![renamed("One")], Durability::Normal).expect("appends");
        store.append(&session(1), 2, vec![renamed("Two")], Durability::Normal).expect("appends");
        drop(store);
        let reentrant = || Err(AppendError::Reentrant);
        assert_eq!(*seen.lock().expect("unpoisoned"), [(1, reentrant()), (2, reentrant())]);
    }
}

#[test]
fn a_slow_subscriber_is_told_to_read_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let (slow, gone) = (store.subscribe(), store.subscribe());
    drop(gone);
    store.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    for seq in 1..=QUEUE as u64 {
        store.append(&session(1), seq, vec![renamed("x")], Durability::Normal).expect("appends");
    }
    store.append(&session(1), QUEUE as u64 + 1, vec![renamed("last")], Durability::Normal).expect("appends");
    assert_eq!(slow.try_next(), Some(Notice::Resync));
    match slow.try_next() {
        Some(Notice::Committed(told)) => assert_eq!(told.events[0].seq, QUEUE as u64 + 1),
        other => panic!("{other:?}"),
    }
    assert_eq!(slow.try_next(), None);
}

#[test]
fn many_threads_write_in_one_line() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::open(dir.path(), Options::new(Hand::at(1))).expect("opens");
    let told = store.subscribe();
    std::thread::scope(|scope| {
        for n in 1..=8 {
            let handle = store.handle();
            scope.spawn(move || {
                handle.append(&session(n), 0, vec![created()], Durability::Normal).expect("appends");
                for seq in 1..=20 {
                    handle.append(&session(n), seq, vec![renamed("x")], Durability::Normal).expect("appends");
                }
            });
        }
    });
    let mut places = Vec::new();
    while let Some(Notice::Committed(announcement)) = told.try_next() {
        places.extend(announcement.events.iter().map(|event| event.pos));
    }
    assert_eq!(places, (1..=8 * 21).collect::<Vec<_>>(), "told in the order of the commits");
    let handle = store.handle();
    drop(store);
    let late = handle.append(&session(1), 21, vec![renamed("x")], Durability::Normal);
    assert_eq!(late, Err(AppendError::Closed));
    assert_eq!(handle.next_seq(&session(1)), Ok(21), "a handle still reads");
}

#[test]
fn committed_events_can_not_be_changed_or_deleted() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    store.append(&session(1), 0, vec![created(), renamed("Garden")], Durability::Normal).expect("appends");
    let raw = raw(dir.path());
    for sql in [
        "DELETE FROM events WHERE seq = 1",
        "UPDATE events SET payload = '{}' WHERE seq = 1",
        "UPDATE events SET time = 7 WHERE seq = 1",
        "UPDATE events SET payload = NULL, erased = zeroblob(32), hash = zeroblob(32) WHERE seq = 1",
        "INSERT OR REPLACE INTO events SELECT * FROM events WHERE seq = 1",
    ] {
        let result = raw.execute_batch(&format!("PRAGMA recursive_triggers = ON; {sql}"));
        assert!(result.is_err(), "{sql}");
    }
    assert_eq!(store.verify_chain(&session(1)), Ok(()));
}

#[test]
fn only_events_with_a_text_are_looked_at_from_the_newest_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let titles = ["red 1", "blue 2", "red 3", "red 4", "blue 5"];
    let drafts = std::iter::once(created()).chain(titles.map(renamed)).collect();
    store.append(&session(1), 0, drafts, Durability::Normal).expect("appends");
    store.append(&session(2), 0, vec![created(), renamed("red 6")], Durability::Normal).expect("appends");
    let looked_at = std::cell::RefCell::new(Vec::new());
    let newest = |kind: &str, text: &str, not: &str| {
        looked_at.take();
        let of = |fact: &Fact| {
            let Fact::SessionRenamed(renamed) = fact else { panic!("{fact:?}") };
            looked_at.borrow_mut().push(renamed.title.clone());
            (renamed.title != not).then(|| renamed.title.clone())
        };
        let found = store.newest_with(&session(1), kind, text, of).expect("reads");
        (found.unwrap_or_default(), looked_at.borrow().join(", "))
    };
    let check = |found: (String, String), expect: &str, looked_at: &str| {
        assert_eq!(found, (expect.to_owned(), looked_at.to_owned()));
    };
    let last = |within| store.last_with(&session(1), "session/renamed", "red", within).expect("reads");
    let newest_red = last(0..u64::MAX >> 1).expect("it is there");
    assert_eq!(
        (last(newest_red..newest_red + 1), last(newest_red + 1..u64::MAX >> 1)),
        (Some(newest_red), None)
    );
    assert!(last(0..newest_red).is_some_and(|before| before < newest_red));
    check(newest("session/renamed", "red", ""), "red 4", "red 4");
    check(newest("session/renamed", "red", "red 4"), "red 3", "red 4, red 3");
    check(newest("session/renamed", "blue 2", "blue 2"), "", "blue 2");
    check(newest("session/renamed", "green", ""), "", "");
    check(newest("session/created", "red", ""), "", "");
}

#[test]
fn i17_the_state_at_any_place_is_the_replay_of_the_log() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let ses = session(1);
    let drafts: Vec<Draft> = std::iter::once(created()).chain((1..=3).flat_map(whole_turn)).collect();
    // In uneven pieces, so that snapshots (at each turn's end) and the cache meet every place.
    let mut seq = 0;
    for piece in drafts.chunks(7) {
        store.append(&ses, seq, piece.to_vec(), Durability::Normal).expect("appends");
        seq += piece.len() as u64;
        let events = store.events(&ses, 0, 1_000).expect("reads");
        let replayed = replay(&events);
        assert_eq!(*store.state(&ses).expect("folds"), replayed);
        assert_eq!(store.verify_projections(), Ok(None), "after {seq}");
    }
    drop(store);
    let store = open(dir.path());
    let events = store.events(&ses, 0, 1_000).expect("reads");
    assert_eq!(*store.state(&ses).expect("folds"), replay(&events));
    for count in 0..=events.len() {
        let at = store.state_after(&ses, count as u64).expect("folds");
        assert_eq!(*at, replay(&events[..count]), "after {count} events");
    }
    let facts: Vec<Fact> =
        events.iter().filter_map(|event| event.clone().decode().expect("decodes").fact).collect();
    assert_eq!(
        facts,
        drafts.into_iter().map(|draft| draft.fact).collect::<Vec<_>>(),
        "stored is what was checked"
    );
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    for kind in ["turn/start", "user/message", "step/start", "assistant/accepted", "tool/call", "tool/start"]
    {
        assert!(kinds.contains(&kind), "{kind}");
    }
    assert_eq!(domain::audit::audit(&events, 2), vec![]);
}

fn replay(events: &[Recorded]) -> State {
    let events: Vec<Event> = events.iter().map(|event| event.clone().decode().expect("decodes")).collect();
    State::of(&events)
}

#[test]
fn a_listener_that_panics_takes_nothing_with_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::open(dir.path(), Options::new(Hand::at(1))).expect("opens");
    store.listen(|_| panic!("a bug of the listener"));
    let told = store.subscribe();
    for seq in 0..3 {
        let draft = if seq == 0 { created() } else { renamed("x") };
        store.append(&session(1), seq, vec![draft], Durability::Normal).expect("appends");
        assert!(matches!(told.try_next(), Some(Notice::Committed(_))));
    }
}

#[test]
fn tasks_write_and_listen_without_blocking_a_thread() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::open(dir.path(), Options::new(Hand::at(1))).expect("opens");
    let mut told = store.subscribe();
    let append = |seq, draft| {
        let append = Append { session: session(1), expected_seq: seq, drafts: vec![draft] };
        store.append_later(vec![append], Durability::Barrier)
    };
    // Queued in this order, whatever is waited for first; one that nobody waits for is committed all the same.
    let (first, second) = (append(0, created()), append(1, renamed("two")));
    drop(append(2, renamed("three")));
    assert_eq!(wait(second).expect("appends")[0].seq, 1);
    assert_eq!(wait(first).expect("appends")[0].seq, 0);
    for seq in 0..3 {
        match wait(told.next()) {
            Notice::Committed(announcement) => assert_eq!(announcement.events[0].seq, seq),
            Notice::Resync => panic!("nothing was left out"),
        }
    }
    assert_eq!(told.next_within(Duration::from_millis(1)), None);
}

/// Runs a future on this thread.
fn wait<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}
