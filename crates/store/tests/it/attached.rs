//! Attached blobs: readable at once, durable with the next append, never named by an event that outlives them.

use crate::failing::faulty;
use crate::rig::*;
use domain::digest::Digest;
use domain::event::{Draft, End, Fact};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use store::{ATTACHED_BYTES, AppendError, BlobError, Durability, Fate, Faults, Point, Reader, Store};

fn append(store: &Store, n: u128, drafts: Vec<Draft>) -> Result<u64, AppendError> {
    let next = store.next_seq(&session(n)).expect("reads");
    store.append(&session(n), next, drafts, Durability::Normal).map(|events| events.len() as u64)
}

fn files(folder: &Path) -> usize {
    let shards = fs::read_dir(folder.join("blobs")).expect("a folder");
    shards.map(|shard| fs::read_dir(shard.expect("an entry").path()).expect("a folder").count()).sum()
}

fn rows(folder: &Path) -> i64 {
    raw(folder).query_row("SELECT count(*) FROM blobs", [], |row| row.get(0)).expect("counts")
}

#[test]
fn i20_attached_content_is_read_at_once_here_and_by_everybody_after_the_append() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let other = Reader::open(dir.path()).expect("opens");
    let digest = store.attach_blob(b"content").expect("attaches");
    assert_eq!(digest, Digest::of(b"content"));
    assert_eq!(store.blob(&digest).expect("reads"), b"content");
    assert!(store.holds_blob(&digest).expect("looks"));
    assert!(matches!(other.blob(&digest), Err(BlobError::Missing { .. })), "nobody else knows it yet");
    append(&store, 1, vec![created()]).expect("appends");
    for reader in [&other, &**store] {
        assert_eq!(reader.blob(&digest).expect("reads"), b"content");
        assert!(reader.holds_blob(&digest).expect("looks"));
    }
    // The same again is kept once.
    store.attach_blob(b"content").expect("attaches");
    append(&store, 1, vec![renamed("x")]).expect("appends");
    assert_eq!((rows(dir.path()), files(dir.path())), (1, 0));
}

#[test]
fn i20_what_is_large_or_too_much_becomes_a_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let sizes = [ATTACHED_BYTES, ATTACHED_BYTES + 1];
    for (size, expect) in sizes.into_iter().zip([0, 1]) {
        let digest = store.attach_blob(&vec![7; size]).expect("keeps");
        assert_eq!(files(dir.path()), expect, "{size}");
        let streamed = store.attach_blob_stream(&mut &vec![7; size][..]).expect("keeps");
        assert_eq!((streamed, files(dir.path())), (digest, expect), "{size}");
    }
    let contents: Vec<Vec<u8>> = (0..40).map(|n| vec![n; ATTACHED_BYTES]).collect();
    let names: Vec<Digest> = contents.iter().map(|one| store.attach_blob(one).expect("keeps")).collect();
    assert_eq!(
        files(dir.path()),
        1 + 39 - 7,
        "a megabyte waits: the first one, which is one of these, and 7 more"
    );
    append(&store, 1, vec![created()]).expect("appends");
    drop(store);
    let store = open(dir.path());
    for (name, content) in names.iter().zip(&contents) {
        assert_eq!(&store.blob(name).expect("reads"), content);
    }
}

/// Looks for one content at each point of each append.
#[derive(Default)]
struct Looks {
    at: Mutex<Option<(Reader, Digest)>>,
    found: Mutex<Vec<(Point, bool)>>,
}

impl Faults for Looks {
    fn reach(&self, point: Point) -> Fate {
        if let Some((reader, name)) = &*self.at.lock().expect("unpoisoned") {
            let found = reader.blob(name).is_ok_and(|bytes| Digest::of(&bytes) == *name);
            self.found.lock().expect("unpoisoned").push((point, found));
        }
        Fate::Go
    }
}

/// On its way from memory into the store it is never nowhere.
#[test]
fn i20_attached_content_is_found_at_each_point_of_an_append() {
    let dir = quick_folder();
    let looks = Arc::new(Looks::default());
    let store = Store::open(dir.path(), inline().with_faults(looks.clone())).expect("opens");
    let name = store.attach_blob(b"content").expect("attaches");
    *looks.at.lock().expect("unpoisoned") = Some((Reader::clone(&store), name));
    append(&store, 1, vec![created()]).expect("appends");
    let found = [Point::BeforeBegin, Point::BeforeCommit, Point::AfterCommit].map(|point| (point, true));
    assert_eq!(*looks.found.lock().expect("unpoisoned"), found);
}

/// Whatever ends a transaction without a commit, what it carried is readable and goes with the next one.
#[test]
fn a_transaction_rolled_back_leaves_what_it_carried_for_the_next() {
    let dir = tempfile::tempdir().expect("a folder");
    let (store, switch) = faulty(dir.path());
    append(&store, 1, vec![created()]).expect("appends");
    let digest = store.attach_blob(&[7; 40_000]).expect("attaches");
    let other = Reader::open(dir.path()).expect("opens");
    let still = |why: &str| {
        assert_eq!(store.blob(&digest).expect(why), [7; 40_000]);
        assert!(matches!(other.blob(&digest), Err(BlobError::Missing { .. })), "{why}");
    };
    let conflict = store.append(&session(1), 9, vec![renamed("x")], Durability::Normal);
    assert!(matches!(conflict, Err(AppendError::Conflict { .. })), "{conflict:?}");
    still("in the wrong place");
    let refused = append(&store, 1, vec![turn_end(1, End::Completed)]);
    assert!(matches!(refused, Err(AppendError::Refused { .. })), "{refused:?}");
    still("against a law");
    switch.at(Point::BeforeCommit, Fate::FailSync, 0);
    assert!(matches!(append(&store, 1, vec![renamed("x")]), Err(AppendError::Unsure { .. })));
    still("a refused sync");
    switch.pages(12);
    assert_eq!(append(&store, 1, vec![renamed("x")]), Err(AppendError::Full));
    still("a full disk");
    switch.pages(0);
    assert_eq!(append(&store, 1, vec![renamed("x")]), Ok(1));
    assert_eq!(other.blob(&digest).expect("there"), [7; 40_000]);
    assert_eq!(other.events(&session(1), 0, 9).expect("reads").len(), 2);
    assert_eq!(store.verify_projections(), Ok(None));
}

#[test]
fn what_was_attached_and_never_followed_by_an_append_is_gone() {
    let dir = tempfile::tempdir().expect("a folder");
    let digest = open(dir.path()).attach_blob(b"content").expect("attaches");
    let store = open(dir.path());
    append(&store, 1, vec![created()]).expect("appends");
    assert!(matches!(store.blob(&digest), Err(BlobError::Missing { .. })));
}

#[test]
fn x24_a_changed_row_is_named_and_mended_by_its_content() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let digest = store.attach_blob(b"content").expect("attaches");
    append(&store, 1, vec![created()]).expect("appends");
    raw(dir.path()).execute("UPDATE blobs SET bytes = CAST('CONTENT' AS BLOB)", []).expect("changes");
    match store.blob(&digest) {
        Err(BlobError::Changed { digest: named, found }) => {
            assert_eq!((named, found), (digest, Digest::of(b"CONTENT")));
        }
        other => panic!("{other:?}"),
    }
    store.attach_blob(b"content").expect("attaches");
    append(&store, 1, vec![renamed("x")]).expect("appends");
    assert_eq!(Reader::open(dir.path()).expect("opens").blob(&digest).expect("reads"), b"content");
    raw(dir.path()).execute("DELETE FROM blobs", []).expect("deletes");
    assert!(matches!(store.blob(&digest), Err(BlobError::Missing { .. })));
}

/// A commit that isn't a barrier may be lost by a power cut, so what is put never counts on a row; and what is wrong with a
/// file is no reason to miss a row.
#[test]
fn i20_what_is_put_is_a_file_also_where_a_row_has_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let digest = store.attach_blob(b"content").expect("attaches");
    append(&store, 1, vec![created()]).expect("appends");
    let name = digest.to_string();
    let file = dir.path().join("blobs").join(&name[..2]).join(&name[2..]);
    assert!(store.stage_blob(&mut &b"content"[..]).expect("stages").new);
    store.settle_blobs().expect("settles");
    fs::remove_file(&file).expect("is there");
    assert_eq!(store.put_blob(b"content").expect("keeps"), digest);
    fs::write(&file, b"CONTENT").expect("is there");
    assert_eq!(store.blob(&digest).expect("reads"), b"content");
    raw(dir.path()).execute("DELETE FROM blobs", []).expect("deletes");
    assert!(matches!(store.blob(&digest), Err(BlobError::Changed { .. })));
}

#[test]
fn i20_only_old_rows_nobody_refers_to_are_collected() {
    let dir = tempfile::tempdir().expect("a folder");
    let seconds = |n| std::time::UNIX_EPOCH + std::time::Duration::from_secs(n);
    let name = |content: &[u8]| Digest::of(content);
    {
        // Its clock stands at one second.
        let store = open(dir.path());
        for content in [&b"kept"[..], b"once", b"used"] {
            store.attach_blob(content).expect("attaches");
        }
        append(&store, 1, vec![created()]).expect("appends");
        let all = store.collect_blobs(&|_| false, seconds(1 << 35)).expect("collects");
        assert_eq!(all.blobs, 0, "what this process has attached stays");
    }
    let store = open(dir.path());
    let keep = |digest: &Digest| *digest == name(b"kept");
    assert_eq!(
        store.collect_blobs(&keep, seconds(1)).expect("collects").blobs,
        0,
        "nothing is as old as that"
    );
    store.attach_blob(b"used").expect("is there already");
    let collected = store.collect_blobs(&keep, seconds(2)).expect("collects");
    assert_eq!((collected.blobs, collected.bytes), (1, 4));
    let held = [&b"kept"[..], b"once", b"used"].map(|one| store.holds_blob(&name(one)).expect("looks"));
    assert_eq!(held, [true, false, true]);
    assert_eq!(rows(dir.path()), 2);
    // Also many, and more than one transaction takes.
    for n in 0..600_u32 {
        store.attach_blob(&n.to_be_bytes()).expect("attaches");
    }
    append(&store, 1, vec![renamed("x")]).expect("appends");
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.collect_blobs(&keep, seconds(2)).expect("collects").blobs, 601);
    assert_eq!(rows(dir.path()), 1);
}

/// A death at any point of an append: whatever event is there, what it names is there.
#[test]
fn i20_a_death_at_any_point_leaves_no_event_without_the_content_it_names() {
    for point in [Point::BeforeBegin, Point::BeforeCommit, Point::AfterCommit] {
        for die_at in 0..6 {
            let dir = quick_folder();
            let (store, switch) = faulty(dir.path());
            switch.at(point, Fate::Die, die_at);
            let mut lived = 0;
            while lived < 20 && append(&store, 1, naming(&store, lived)).is_ok() {
                lived += 1;
            }
            assert_eq!(lived, u64::from(die_at), "it died");
            drop(store);
            let store = open(dir.path());
            let there = named_and_read(&store, 1);
            let appends = lived + u64::from(point == Point::AfterCommit);
            assert_eq!(there, (2 * appends).saturating_sub(1), "{point:?} of append {die_at}");
            append(&store, 1, naming(&store, appends)).expect("goes on");
            assert!(named_and_read(&store, 1) > there);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Whatever is attached, put, appended, refused and restarted in whatever order: each reader finds what was attached
    /// since the last start or carried by a commit, and nothing else.
    #[test]
    fn i20_what_is_readable_is_what_waits_and_what_was_committed(
        steps in proptest::collection::vec((0_u8..5, 0_u8..6), 1..30)
    ) {
        let dir = quick_folder();
        let mut store = open(dir.path());
        append(&store, 1, vec![created()]).expect("appends");
        let content = |n: u8| vec![n; 1 + usize::from(n) * 5_000];
        let (mut waiting, mut durable) = ([false; 6], [false; 6]);
        for (act, n) in steps {
            match act {
                0 | 1 => {
                    store.attach_blob(&content(n)).expect("attaches");
                    waiting[usize::from(n)] = true;
                }
                2 => {
                    append(&store, 1, vec![renamed("x")]).expect("appends");
                    (0..6).for_each(|at| durable[at] |= std::mem::take(&mut waiting[at]));
                }
                3 => drop(append(&store, 1, vec![turn_end(1, End::Completed)]).expect_err("refused")),
                _ => {
                    drop(store);
                    store = open(dir.path());
                    waiting = [false; 6];
                }
            }
            let other = Reader::open(dir.path()).expect("opens");
            for n in 0..6 {
                let (digest, at) = (Digest::of(&content(n)), usize::from(n));
                prop_assert_eq!(store.blob(&digest).ok(), (waiting[at] || durable[at]).then(|| content(n)));
                prop_assert_eq!(store.holds_blob(&digest).expect("looks"), waiting[at] || durable[at]);
                prop_assert_eq!(other.blob(&digest).ok(), durable[at].then(|| content(n)));
            }
        }
    }
}

/// An event that names content, which is attached first; the session's first append begins it.
pub(crate) fn naming(store: &Store, n: u64) -> Vec<Draft> {
    let bytes = format!("{n} ").repeat(200 + usize::try_from(n % 10).expect("small") * 97);
    let named = renamed(&store.attach_blob(bytes.as_bytes()).expect("attaches").to_string());
    if n == 0 { vec![created(), named] } else { vec![named.clone(), named] }
}

/// Reads everything that the session's titles name, and says how many there are.
pub(crate) fn named_and_read(reader: &Reader, n: u128) -> u64 {
    let events = reader.events(&session(n), 0, usize::MAX >> 1).expect("reads");
    let names = events.into_iter().filter_map(|event| match event.decode().expect("decodes").fact {
        Some(Fact::SessionRenamed(renamed)) => Some(renamed.title.parse::<Digest>().expect("a name")),
        _ => None,
    });
    let read: Vec<Vec<u8>> =
        names.map(|name| reader.blob(&name).expect("what an event names is there")).collect();
    read.len() as u64
}
