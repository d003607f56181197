//! Taking words and contents out: nothing of them is left in any byte of the folder, whatever cuts it off.

use crate::failing::faulty;
use crate::rig::*;
use domain::digest::Digest;
use domain::erasure::{Left, MARK, Words};
use domain::event::{Draft, ErasedBy, ErasedEvent, ErasedWhy, Fact, Payload, RecordErased};
use std::path::Path;
use std::sync::Arc;
use store::{
    Append, AppendError, BlobError, Durability, Fate, Gone, OfSession, Point, ReadError, Removal, Store,
};

/// Made up for this test; nothing in the world is opened by it.
const CANARY: &str = "kanarie-7f3e-zingt";

/// Files of the folder that hold the canary.
fn holding(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("reads").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read(&path)
                .is_ok_and(|bytes| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()))
            {
                found.push(path.strip_prefix(folder).expect("inside").display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// A session whose words, title, snapshots and blobs hold the canary, with plenty of it in old pages.
fn planted(store: &Store) {
    let append = |drafts| {
        store.append(&session(1), store.next_seq(&session(1)).expect("reads"), drafts, Durability::Normal)
    };
    append(vec![created()]).expect("appends");
    for n in 1..=3 {
        store.attach_blob(format!("row {n} {CANARY}").repeat(200).as_bytes()).expect("attaches");
        append(vec![posted(n + 50, &format!("{} {CANARY}", "long ".repeat(2_000)))]).expect("appends");
        append(vec![renamed(&format!("named {CANARY} {n}"))]).expect("appends");
        append(whole_turn(n)).expect("appends");
    }
    append(vec![posted(99, &format!("it waits: {CANARY}"))]).expect("appends");
    store.put_blob(format!("file {CANARY}").as_bytes()).expect("puts");
    store.put_blob(b"innocent").expect("puts");
    store.append(&session(2), 0, vec![created(), renamed("another")], Durability::Normal).expect("appends");
}

fn erase(store: &Store) -> Result<store::Removed, AppendError> {
    let words = Words::new([CANARY.to_owned()]);
    let events = store.events(&session(1), 0, 10_000).expect("reads");
    let mut payloads: Vec<(u64, Option<Arc<str>>)> = Vec::new();
    for event in &events {
        match words.out_of(event).expect("fits") {
            Some(Left::Text(left)) => payloads.push((event.seq, Some(left.into()))),
            Some(Left::Nothing) => payloads.push((event.seq, None)),
            None => {}
        }
    }
    let blobs = store.blobs_that(&|bytes| words.within(&String::from_utf8_lossy(bytes))).expect("reads");
    let of = |left: &Option<Arc<str>>| left.as_ref().map(|left| Digest::of(left.as_bytes()));
    let record = RecordErased {
        by: ErasedBy::User,
        why: ErasedWhy::Secret,
        chosen: 1,
        events: payloads.iter().map(|(seq, left)| ErasedEvent { seq: *seq, left: of(left) }).collect(),
        blobs: blobs.clone(),
    };
    let append =
        Append { session: session(1), expected_seq: events.len() as u64, drafts: vec![Draft::new(record)] };
    store.remove(Removal { sessions: vec![OfSession { append, payloads }], blobs, why: Gone::Erased })
}

/// Everything holds, and says what was erased.
fn sound(store: &Store) {
    for n in [1, 2] {
        store.verify_chain(&session(n)).expect("the chain holds");
    }
    assert_eq!(store.verify_projections(), Ok(None));
    let events = store.events(&session(1), 0, 10_000).expect("reads");
    let redacted = events.iter().filter(|event| matches!(event.payload, Payload::Redacted { .. })).count();
    assert!(redacted >= 7, "{redacted}");
    let state = store.state(&session(1)).expect("folds");
    assert_eq!(state.inbox.last().map(|waiting| waiting.text.clone()), Some(format!("it waits: {MARK}")));
    let row = store.session(&session(1)).expect("reads").expect("listed");
    assert_eq!(row.title, format!("named {MARK} 3"));
    let title = |fact: &Fact| match fact {
        Fact::SessionRenamed(renamed) => Some(renamed.title.clone()).filter(|title| title.ends_with('2')),
        _ => None,
    };
    let found = store.newest_with(&session(1), "session/renamed", " 2", title).expect("reads");
    assert_eq!(found, Some(format!("named {MARK} 2")), "what is left of it is looked at, too");
    let gone = store.blob(&Digest::of(format!("file {CANARY}").as_bytes()));
    assert!(matches!(gone, Err(BlobError::Gone { why: Gone::Erased, .. })), "{gone:?}");
    assert_eq!(store.blob(&Digest::of(b"innocent")).expect("reads"), b"innocent");
}

#[test]
fn erased_words_are_in_no_byte_of_the_folder() {
    let dir = quick_folder();
    let store = open(dir.path());
    planted(&store);
    let backups = dir.path().join("backups");
    let copy = backups.join("store-layout-2.db").display().to_string();
    raw(dir.path()).execute("VACUUM INTO ?1", [copy]).expect("copies");
    assert!(holding(dir.path()).len() >= 2, "{:?}", holding(dir.path()));
    let removed = erase(&store).expect("erases");
    assert_eq!((removed.copies, removed.unfinished), (1, None));
    assert_eq!(holding(dir.path()), Vec::<String>::new(), "while it is open");
    sound(&store);
    let next = store.next_seq(&session(1)).expect("reads");
    store.append(&session(1), next, vec![renamed("goes on")], Durability::Barrier).expect("appends");
    drop(store);
    assert_eq!(holding(dir.path()), Vec::<String>::new(), "after it was closed");
    let store = open(dir.path());
    assert_eq!(store.state(&session(1)).expect("folds").session.clone().expect("there").title, "goes on");
}

/// A copy from before an update that doesn't have the session stays.
#[test]
fn copies_without_the_session_stay() {
    let dir = quick_folder();
    let store = open(dir.path());
    store.append(&session(2), 0, vec![created()], Durability::Barrier).expect("appends");
    let copy = dir.path().join("backups/store-layout-1.db");
    raw(dir.path()).execute("VACUUM INTO ?1", [copy.display().to_string()]).expect("copies");
    planted_without_second(&store);
    assert_eq!(erase(&store).expect("erases").copies, 0);
    assert!(copy.exists());
}

fn planted_without_second(store: &Store) {
    store.append(&session(1), 0, vec![created(), posted(1, CANARY)], Durability::Normal).expect("appends");
}

#[test]
fn an_erasure_that_was_cut_off_is_finished_at_the_next_start_or_never_began() {
    for (point, begun) in
        [(Point::BeforeBegin, false), (Point::BeforeCommit, false), (Point::AfterCommit, true)]
    {
        let dir = quick_folder();
        let (store, switch) = faulty(dir.path());
        planted(&store);
        let before = store.events(&session(1), 0, 10_000).expect("reads");
        switch.at(point, Fate::Die, 0);
        assert_eq!(erase(&store).unwrap_err(), AppendError::Crashed);
        drop(store);
        assert_ne!(holding(dir.path()), Vec::<String>::new(), "{point:?}");
        let store = open(dir.path());
        match begun {
            true => {
                assert_eq!(holding(dir.path()), Vec::<String>::new());
                sound(&store);
            }
            false => assert_eq!(store.events(&session(1), 0, 10_000).expect("reads"), before),
        }
    }
}

/// What is left is held by a digest, so a flipped bit in it is found before it is used.
#[test]
fn what_is_left_of_an_event_is_compared_like_any_other() {
    let dir = quick_folder();
    let store = open(dir.path());
    planted(&store);
    erase(&store).expect("erases");
    raw(dir.path())
        .execute("UPDATE remains SET payload = replace(payload, 'waits', 'WAITS')", [])
        .expect("changes");
    let found = store.events(&session(1), 0, 10_000).unwrap_err();
    assert!(matches!(found, ReadError::Damaged { .. }), "{found:?}");
}

#[test]
fn an_erased_payload_never_comes_back_by_an_update() {
    let dir = quick_folder();
    let store = open(dir.path());
    planted(&store);
    erase(&store).expect("erases");
    let raw = raw(dir.path());
    for change in [
        "UPDATE events SET payload = '{}', erased = NULL WHERE length(erased) = 64",
        "UPDATE events SET erased = zeroblob(64) WHERE length(erased) = 64",
        "DELETE FROM events WHERE length(erased) = 64",
    ] {
        assert!(raw.execute(change, []).is_err(), "{change}");
    }
}

#[test]
fn contents_that_are_let_go_say_so_and_stay_where_this_process_keeps_them_again() {
    let dir = quick_folder();
    let store = open(dir.path());
    store.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    let old = store.put_blob(b"old").expect("puts");
    let let_go = |store: &Store, blobs: &[Digest]| {
        let seq = store.next_seq(&session(1)).expect("reads");
        let append = Append { session: session(1), expected_seq: seq, drafts: vec![renamed("thin")] };
        let sessions = vec![OfSession { append, payloads: Vec::new() }];
        let removal = Removal { sessions, blobs: blobs.to_vec(), why: Gone::Thinned };
        store.remove(removal).expect("lets go")
    };
    let_go(&store, &[old]);
    assert_eq!(store.blob(&old).expect("this process has just kept it"), b"old");
    drop(store);
    let store = open(dir.path());
    let_go(&store, &[old]);
    let gone = store.blob(&old);
    assert!(matches!(gone, Err(BlobError::Gone { why: Gone::Thinned, .. })), "{gone:?}");
    assert_eq!(store.put_blob(b"old").expect("puts"), old);
    assert_eq!(store.blob(&old).expect("it is back"), b"old");
}

/// What couldn't be removed is on record as gone, and goes with whatever is let go next.
#[test]
fn a_content_that_could_not_be_removed_goes_the_next_time() {
    let dir = quick_folder();
    let store = open(dir.path());
    store.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    let old = store.put_blob(b"old").expect("puts");
    drop(store);
    let name = old.to_string();
    let file = dir.path().join("blobs").join(&name[..2]).join(&name[2..]);
    std::fs::remove_file(&file).expect("removes");
    std::fs::create_dir(&file).expect("stands in the way");
    let store = open(dir.path());
    let let_go = |blobs: Vec<Digest>| {
        let seq = store.next_seq(&session(1)).expect("reads");
        let append = Append { session: session(1), expected_seq: seq, drafts: vec![renamed("thin")] };
        let sessions = vec![OfSession { append, payloads: Vec::new() }];
        store.remove(Removal { sessions, blobs, why: Gone::Thinned }).expect("is on record")
    };
    assert!(let_go(vec![old]).unfinished.is_some());
    std::fs::remove_dir(&file).expect("removes");
    std::fs::write(&file, b"old").expect("it is still there");
    assert_eq!(let_go(Vec::new()).unfinished, None);
    assert!(!file.exists());
}
