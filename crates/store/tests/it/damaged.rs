//! Damage: cut logs, flipped bits, unknown events. What is left can be read; what is wrong is said.

use crate::rig::*;
use crate::size::{either, seeds, tell};
use domain::digest::Digest;
use domain::event::{Draft, Recorded};
use std::fs;
use std::path::Path;
use store::{AppendError, Damage, Durability, OpenError, ReadError, Reader, Store};

/// Changes the log behind the store's back.
fn tamper(folder: &Path, sql: &str) {
    let drop_guards =
        "DROP TRIGGER IF EXISTS events_are_not_deleted; DROP TRIGGER IF EXISTS events_are_not_changed;";
    raw(folder).execute_batch(&format!("{drop_guards} {sql}")).expect("changes");
}

#[test]
fn h15_one_bad_event_hides_no_other() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let drafts = (0..99).map(|n| renamed(&format!("title {n}")));
    let ses = session(1);
    let written = store
        .append(&ses, 0, std::iter::once(created()).chain(drafts).collect(), Durability::Normal)
        .expect("a");
    store.append(&session(2), 0, vec![created()], Durability::Normal).expect("appends");
    tamper(
        dir.path(),
        "UPDATE events SET payload = '{\"title\":\"title 49!\"}' WHERE session LIKE '%1' AND seq = 50",
    );
    drop(store);
    let store = open(dir.path());
    let found = store.salvage(&ses).expect("reads");
    assert_eq!(found.good, 50);
    let rest: Vec<Recorded> = written.iter().filter(|event| event.seq != 50).cloned().collect();
    assert_eq!(found.events, rest);
    let what = "its content doesn't match its hash".to_owned();
    assert_eq!(found.damage, [Damage { seq: 50, what }]);
    // Good parts read as always; nothing is built on the bad one, and nothing added after it.
    assert_eq!(store.events(&ses, 0, 50).expect("reads"), written[..50]);
    assert_eq!(store.events(&ses, 51, 49).expect("reads"), written[51..]);
    assert!(matches!(store.events(&ses, 40, 20), Err(ReadError::Damaged { seq: 50, .. })));
    assert!(matches!(store.state(&ses), Err(ReadError::Damaged { seq: 50, .. })));
    assert_eq!(store.state_after(&ses, 50).expect("folds").next_seq, 50);
    let error = store.append(&ses, 100, vec![renamed("x")], Durability::Normal).unwrap_err();
    assert!(matches!(&error, AppendError::ReadOnly(ReadError::Damaged { seq: 50, .. })), "{error}");
    // The other session is as usable as before, and both are listed.
    store.append(&session(2), 1, vec![renamed("fine")], Durability::Normal).expect("appends");
    assert_eq!(store.sessions().expect("lists").len(), 2);
    assert_eq!(store.verify_chain(&session(2)), Ok(()));
}

#[test]
fn every_kind_of_damage_is_named_at_its_place() {
    let check = |sql: &str, seq: u64, expect: &str| {
        let dir = tempfile::tempdir().expect("a folder");
        let store = open(dir.path());
        let titles = (0..9).map(|n| renamed(&n.to_string()));
        store
            .append(&session(1), 0, std::iter::once(created()).chain(titles).collect(), Durability::Normal)
            .expect("appends");
        tamper(dir.path(), sql);
        match store.verify_chain(&session(1)) {
            Err(ReadError::Damaged { seq: found, what, .. }) => {
                assert!(found == seq && what.contains(expect), "{sql}: {found}, {what}");
            }
            other => panic!("{sql}: {other:?}"),
        }
        // Found damage is remembered although the state was folded before it came.
        let late = store.append(&session(1), 10, vec![renamed("x")], Durability::Normal);
        assert!(matches!(late, Err(AppendError::ReadOnly(_))), "{sql}: {late:?}");
        let found = store.salvage(&session(1)).expect("reads");
        assert_eq!((found.good, found.damage[0].seq), (seq, seq), "{sql}");
    };
    check("DELETE FROM events WHERE seq = 4", 4, "it is missing");
    check("DELETE FROM events WHERE seq >= 7", 7, "it is missing, with everything after it");
    check("UPDATE events SET time = time + 1 WHERE seq = 3", 3, "doesn't match its hash");
    check("UPDATE events SET epoch = 9 WHERE seq = 0", 0, "doesn't match its hash");
    check("UPDATE events SET hash = zeroblob(32) WHERE seq = 2", 2, "doesn't match its hash");
    check("UPDATE events SET hash = zeroblob(5) WHERE seq = 2", 2, "doesn't have the shape");
    check("UPDATE events SET turn = 'not an id' WHERE seq = 2", 2, "doesn't have the shape");
    check(
        "UPDATE events SET payload = NULL, erased = zeroblob(32) WHERE seq = 6",
        6,
        "doesn't match its hash",
    );
}

#[test]
fn a_swapped_pair_and_a_foreign_event_do_not_follow() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    for n in [1, 2] {
        let drafts = vec![created(), renamed("one"), renamed("two")];
        store.append(&session(n), 0, drafts, Durability::Normal).expect("appends");
    }
    let mut forged = store.events(&session(1), 1, 1).expect("reads").remove(0);
    forged.prev_hash = Digest::of(b"elsewhere");
    forged.hash = forged.expected_hash();
    let set = |hash: Digest, column: &str| format!("{column} = x'{hash}'");
    tamper(
        dir.path(),
        &format!(
            "UPDATE events SET {}, {} WHERE session LIKE '%1' AND seq = 1",
            set(forged.prev_hash, "prev_hash"),
            set(forged.hash, "hash")
        ),
    );
    let error = store.verify_chain(&session(1)).unwrap_err();
    assert!(error.to_string().contains("doesn't follow from the event before it"), "{error}");
    assert_eq!(store.salvage(&session(1)).expect("reads").events.len(), 3, "each is whole in itself");
    assert_eq!(store.verify_chain(&session(2)), Ok(()));
}

#[test]
fn an_erased_payload_reads_back_as_erased_and_the_chain_holds() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let drafts = vec![created(), renamed("my password is hunter2"), renamed("Garden")];
    let written = store.append(&session(1), 0, drafts, Durability::Normal).expect("appends");
    let digest = written[1].payload.digest();
    // Exactly this change is allowed with all guards in place.
    raw(dir.path())
        .execute_batch(&format!("UPDATE events SET payload = NULL, erased = x'{digest}' WHERE seq = 1"))
        .expect("erases");
    drop(store);
    let store = open(dir.path());
    let events = store.events(&session(1), 0, 9).expect("reads");
    assert_eq!(events[1].payload, domain::event::Payload::Erased(digest));
    assert_eq!(events[1].hash, written[1].hash);
    assert_eq!(store.verify_chain(&session(1)), Ok(()));
    assert_eq!(
        store.state(&session(1)).expect("folds").session.as_ref().map(|s| s.title.as_str()),
        Some("Garden")
    );
    let again =
        raw(dir.path()).execute_batch("UPDATE events SET payload = '{}', erased = NULL WHERE seq = 1");
    assert!(again.is_err(), "nothing comes back");
}

/// Puts an event of a type or version this build doesn't have at the session's end, as a newer Daybook would have.
fn from_the_future(
    folder: &Path,
    last: &Recorded,
    kind: &str,
    version: u32,
    ignorable: bool,
    payload: &str,
) -> Recorded {
    let mut event = Recorded {
        seq: last.seq + 1,
        pos: last.pos + 1,
        kind: kind.to_owned(),
        version,
        ignorable,
        prev_hash: last.hash,
        payload: domain::event::Payload::Text(payload.into()),
        ..last.clone()
    };
    event.hash = event.expected_hash();
    let (prev, hash) = (event.prev_hash, event.hash);
    raw(folder)
        .execute(
            &format!(
                "INSERT INTO events (session, seq, kind, version, time, epoch, ignorable, prev_hash, hash, payload) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, x'{prev}', x'{hash}', ?8)"
            ),
            rusqlite::params![
                event.session.as_str(),
                i64::try_from(event.seq).expect("small"),
                kind,
                version,
                i64::try_from(event.time).expect("small"),
                i64::try_from(event.epoch).expect("small"),
                ignorable,
                payload
            ],
        )
        .expect("inserts");
    event
}

#[test]
fn i19_unknown_events_survive_byte_for_byte() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let ses = session(1);
    let last =
        store.append(&ses, 0, vec![created(), renamed("Garden")], Durability::Normal).expect("a").remove(1);
    drop(store);
    // An unknown field of a known type, and an unknown decorative type with odd spacing, order and numbers.
    let odd = "{ \"b\" :1.0e2,\"a\":12345678901234567890, \"b\":\"\\u00e9\" }";
    let field =
        from_the_future(dir.path(), &last, "session/renamed", 1, false, r#"{"title":"New","sparkle":[1]}"#);
    let decor = from_the_future(dir.path(), &field, "sparkle/shown", 3, true, odd);
    let store = open(dir.path());
    assert_eq!(store.events(&ses, 2, 9).expect("reads"), [field.clone(), decor.clone()]);
    // They change no known projection, and the session goes on after them.
    let state = store.state(&ses).expect("folds");
    assert_eq!((state.session.as_ref().map(|s| s.title.as_str()), state.next_seq), (Some("New"), 4));
    store.append(&ses, 4, vec![renamed("Newer")], Durability::Normal).expect("appends");
    store.rebuild().expect("rebuilds");
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.events(&ses, 2, 2).expect("reads"), [field, decor]);
    assert_eq!(store.verify_chain(&ses), Ok(()));
    assert_eq!(store.verify_projections(), Ok(None));
}

#[test]
fn x19_an_unknown_event_that_counts_makes_the_session_read_only() {
    let check = |kind: &str, version: u32, expect: &str| {
        let dir = tempfile::tempdir().expect("a folder");
        let store = open(dir.path());
        let last =
            store.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends").remove(0);
        store.append(&session(2), 0, vec![created()], Durability::Normal).expect("appends");
        let last = Recorded { pos: last.pos + 1, ..last };
        let event = from_the_future(dir.path(), &last, kind, version, false, "{}");
        drop(store);
        let store = open(dir.path());
        let error = store.state(&session(1)).unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
        let error = store.append(&session(1), 2, vec![renamed("x")], Durability::Normal).unwrap_err();
        assert!(matches!(&error, AppendError::ReadOnly(ReadError::Unknown { seq: 1, .. })), "{error}");
        assert_eq!(store.events(&session(1), 1, 9).expect("still shown"), [event]);
        let sought = |text: &str| store.newest_with(&session(1), kind, text, |_| Some(()));
        assert!(
            matches!(sought("{}"), Err(ReadError::Unknown { seq: 1, .. })),
            "it may be the one that is sought"
        );
        assert_eq!(sought("{ }"), Ok(None));
        store.rebuild().expect("rebuilds");
        assert_eq!(store.sessions().expect("lists").len(), 2, "it stays in the list");
        store.append(&session(2), 1, vec![renamed("x")], Durability::Normal).expect("others go on");
    };
    check("goal/set", 1, "event type `goal/set` (version 1) is unknown here; a newer Daybook is needed");
    check("session/renamed", 9, "has payload version 9, this build reads up to 1; a newer Daybook is needed");
}

#[test]
fn a_wrong_snapshot_is_never_trusted() {
    let check = |sql: &str| {
        let dir = tempfile::tempdir().expect("a folder");
        let store = open(dir.path());
        let drafts: Vec<Draft> = std::iter::once(created()).chain(whole_turn(1)).collect();
        let seq = store.append(&session(1), 0, drafts, Durability::Normal).expect("appends").len() as u64;
        let state = store.state(&session(1)).expect("folds");
        let snapshots = "SELECT count(*) FROM snapshots WHERE state LIKE '%limit%' OR 1";
        let count: i64 = raw(dir.path()).query_row(snapshots, [], |row| row.get(0)).expect("counts");
        assert_eq!(count, 1, "a turn's end leaves a snapshot");
        drop(store);
        raw(dir.path()).execute_batch(sql).expect("changes");
        let store = open(dir.path());
        assert_eq!(*store.state(&session(1)).expect("folds"), *state, "{sql}");
        store.append(&session(1), seq, whole_turn(2), Durability::Normal).expect("goes on");
        drop(store);
        let store = open(dir.path());
        let events = store.events(&session(1), 0, 999).expect("reads");
        let events: Vec<_> = events.into_iter().map(|event| event.decode().expect("decodes")).collect();
        assert_eq!(*store.state(&session(1)).expect("folds"), domain::state::State::of(&events), "{sql}");
    };
    check("SELECT 1");
    check("UPDATE snapshots SET state = replace(state, 'garden', 'meadow')");
    check("UPDATE snapshots SET seq = seq - 1");
    check("UPDATE snapshots SET head = zeroblob(32)");
    check("UPDATE snapshots SET version = version + 1");
    check("UPDATE snapshots SET state = '', digest = zeroblob(7)");
}

/// Sealed as one of ours, but made by another build or from another history: it must not be taken either.
#[test]
fn a_snapshot_of_another_build_or_another_history_is_not_taken() {
    let check = |version_step: u32, foreign: bool| {
        let dir = tempfile::tempdir().expect("a folder");
        let store = open(dir.path());
        let drafts: Vec<Draft> = std::iter::once(created()).chain(whole_turn(1)).collect();
        store.append(&session(1), 0, drafts, Durability::Normal).expect("appends");
        let state = store.state(&session(1)).expect("folds");
        drop(store);
        let raw = raw(dir.path());
        let (version, seq, head): (u32, i64, Vec<u8>) = raw
            .query_row("SELECT version, seq, head FROM snapshots", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .expect("a snapshot");
        let mut other = (*state).clone();
        other.turns += 7;
        let text = serde_json::to_string(&other).expect("encodes");
        let version = version + version_step;
        let head = if foreign { Digest::of(b"another history").0.to_vec() } else { head };
        let seal = Digest::of_parts(&[
            session(1).as_str().as_bytes(),
            &version.to_be_bytes(),
            &seq.to_be_bytes(),
            &head,
            text.as_bytes(),
        ]);
        let values = rusqlite::params![version, head, seal.0.as_slice(), text];
        raw.execute("UPDATE snapshots SET version = ?1, head = ?2, digest = ?3, state = ?4", values)
            .expect("forges");
        *open(dir.path()).state(&session(1)).expect("folds") == *state
    };
    assert!(check(1, false), "another build's");
    assert!(check(0, true), "another history's");
    assert!(
        !check(0, false),
        "forged down to the seal it would be taken: the other two were refused for their reason"
    );
}

/// A store with three sessions, and the files it consists of while it is open, the log not yet carried over.
struct Model {
    database: Vec<u8>,
    wal: Vec<u8>,
    events: Vec<Vec<Recorded>>,
}

fn model() -> Model {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    for round in 0..12 {
        for n in 0..3 {
            let seq = store.next_seq(&session(n)).expect("reads");
            let drafts = match round {
                0 => vec![created()],
                _ => vec![renamed(&format!("title {round} of {n} {}", "lorem ipsum ".repeat(40)))],
            };
            store.append(&session(n), seq, drafts, Durability::Normal).expect("appends");
        }
    }
    let read = |name: &str| fs::read(dir.path().join(name)).expect("reads");
    let events = (0..3).map(|n| store.events(&session(n), 0, 99).expect("reads")).collect();
    Model { database: read("store.db"), wal: read("store.db-wal"), events }
}

/// What became of a damaged copy.
#[derive(Debug, PartialEq)]
enum Found {
    /// Every session is a prefix of what it was, and this many events are left.
    Prefix(usize),
    /// The store or a session said that it is damaged.
    Said,
}

/// Opens a copy made of these bytes, and insists that whatever is handed out was written.
fn look(database: &[u8], wal: &[u8], model: &Model) -> Found {
    let dir = quick_folder();
    fs::write(dir.path().join("store.db"), database).expect("writes");
    fs::write(dir.path().join("store.db-wal"), wal).expect("writes");
    // A reserve of the right length, so that no time goes into writing one.
    let reserve = fs::File::create(dir.path().join("reserve")).expect("makes");
    reserve.set_len(store::RESERVE_BYTES as u64).expect("makes");
    let store = match Store::open(dir.path(), inline()) {
        Ok(store) => store,
        Err(OpenError::Damaged { .. }) => return Found::Said,
        Err(error) => panic!("{error}"),
    };
    let (mut left, mut said) = (0, false);
    for (n, written) in model.events.iter().enumerate() {
        let ses = session(n as u128);
        match store.events(&ses, 0, 99) {
            Ok(events) => {
                assert_eq!(events, written[..events.len()], "no other event than those written");
                left += events.len();
                said |= store.verify_chain(&ses).is_err();
            }
            Err(_) => {
                said = true;
                let salvaged = store.salvage(&ses).map(|found| found.events).unwrap_or_default();
                assert!(salvaged.iter().all(|event| written.contains(event)), "salvage invents nothing");
            }
        }
    }
    if said { Found::Said } else { Found::Prefix(left) }
}

#[test]
fn r4_a_log_cut_anywhere_leaves_a_committed_prefix() {
    let model = model();
    let step = either(509 * 7, 509);
    let mut before = 0;
    for end in (0..model.wal.len()).step_by(step).chain([model.wal.len()]) {
        match look(&model.database, &model.wal[..end], &model) {
            Found::Prefix(left) => {
                assert!(left >= before, "a longer log holds no less: {left} after {before} at {end}");
                before = left;
            }
            Found::Said => panic!("a cut at {end} is an ordinary crash, not damage"),
        }
    }
    assert_eq!(before, model.events.iter().map(Vec::len).sum::<usize>());
}

#[test]
fn r4_bits_flipped_in_the_log_never_become_events() {
    let model = model();
    let seeds = seeds(0..100);
    for seed in seeds.clone() {
        let mut dice = Dice::of(0x5eed_0004, seed);
        let mut wal = model.wal.clone();
        let at = usize::try_from(dice.below(wal.len() as u64)).expect("small");
        wal[at] ^= 1 << dice.below(8);
        look(&model.database, &wal, &model);
    }
    tell("R4 flips", &seeds, &[("flips", seeds.end - seeds.start)]);
}

/// The database with everything carried over, so that its pages hold the events.
fn settled() -> (Vec<u8>, Model) {
    let model = model();
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("store.db"), &model.database).expect("writes");
    fs::write(dir.path().join("store.db-wal"), &model.wal).expect("writes");
    drop(open(dir.path()));
    // Without copies of rows that were moved: a flip in one of those means nothing.
    raw(dir.path())
        .execute_batch("PRAGMA secure_delete = ON; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        .expect("tidies");
    (fs::read(dir.path().join("store.db")).expect("reads"), model)
}

#[test]
fn r9_a_flip_inside_a_payload_is_found_before_use() {
    let (database, model) = settled();
    let payloads: Vec<(usize, usize)> = model
        .events
        .iter()
        .flatten()
        .map(|event| {
            let domain::event::Payload::Text(text) = &event.payload else { panic!("nothing is erased") };
            let at =
                database.windows(text.len()).rposition(|bytes| bytes == text.as_bytes()).expect("stored");
            (at, text.len())
        })
        .collect();
    let seeds = seeds(0..100);
    let (mut said, flips) = (0, seeds.end - seeds.start);
    for seed in seeds.clone() {
        let mut dice = Dice::of(0x5eed_0009, seed);
        let mut bytes = database.clone();
        let (at, length) = payloads[usize::try_from(dice.below(payloads.len() as u64)).expect("small")];
        bytes[at + usize::try_from(dice.below(length as u64)).expect("small")] ^= 1 << dice.below(8);
        said += u64::from(look(&bytes, b"", &model) == Found::Said);
    }
    assert_eq!(said, flips);
    tell("R9", &seeds, &[("flips", flips)]);
}

#[test]
fn r9_broken_pages_and_short_files_are_said_and_hide_nothing_else() {
    let (database, model) = settled();
    let mut dice = Dice(0x5eed_0019);
    let pages = database.len() / 4096;
    for page in 0..pages {
        let mut bytes = database.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0);
        look(&bytes, b"", &model);
    }
    for _ in 0..40 {
        let mut bytes = database.clone();
        let at = usize::try_from(dice.below(bytes.len() as u64)).expect("small");
        bytes[at] ^= 1 << dice.below(8);
        look(&bytes, b"", &model);
        let short = usize::try_from(dice.below(database.len() as u64)).expect("small");
        look(&database[..short], b"", &model);
    }
    // The log taken away, or swapped for one of another time: a prefix, or said.
    look(&model.database, b"", &model);
    look(&database, &model.wal, &model);
}

#[test]
fn a_viewer_of_a_damaged_store_shows_what_is_left() {
    let (database, model) = settled();
    let dir = tempfile::tempdir().expect("a folder");
    let at = (0..database.len() - 5).rev().find(|at| &database[*at..at + 5] == b"lorem").expect("a payload");
    let mut bytes = database;
    bytes[at] ^= 1;
    fs::write(dir.path().join("store.db"), bytes).expect("writes");
    let viewer = Reader::open(dir.path()).expect("opens");
    let salvaged: Vec<_> = (0..3).map(|n| viewer.salvage(&session(n)).expect("reads")).collect();
    assert_eq!(salvaged.iter().map(|found| found.damage.len()).sum::<usize>(), 1);
    let left: usize = salvaged.iter().map(|found| found.events.len()).sum();
    assert_eq!(left, model.events.iter().map(Vec::len).sum::<usize>() - 1);
}
