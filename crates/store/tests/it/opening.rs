//! Opening: which folders are refused, and by what name; who comes second; older and newer layouts.

use crate::rig::*;
use domain::digest::Digest;
use std::fs;
use std::path::{Path, PathBuf};
use store::{BlobError, Durability, OpenError, RESERVE_BYTES, Reader, Store, create_folder};

#[track_caller]
fn refused(folder: &Path, expect: &str) -> OpenError {
    let error = Store::open(folder, inline()).err().expect("refused");
    let text = error.to_string();
    assert!(
        text.contains(expect) && text.contains(folder.to_str().expect("text")),
        "{text}\n  should say: {expect}"
    );
    error
}

#[test]
fn x02_a_folder_that_can_not_be_used_is_refused_by_name() {
    let dir = tempfile::tempdir().expect("a folder");
    refused(&dir.path().join("nowhere"), "does not exist");
    let file = dir.path().join("file");
    fs::write(&file, b"text").expect("writes");
    refused(&file, "is not a folder");
    assert!(Reader::open(&file).is_err() && Reader::open(&dir.path().join("nowhere")).is_err());
    assert!(!dir.path().join("nowhere").exists(), "nothing was made instead");
    let made = dir.path().join("a").join("b\n🌿");
    create_folder(&made).expect("makes");
    open(&made);
}

#[cfg(target_os = "linux")]
#[test]
fn x02_a_folder_that_can_not_be_written_is_refused_by_name() {
    // Also root can make no file in here.
    refused(Path::new("/proc"), "can't be written to");
}

#[test]
fn x04_a_second_process_is_told_who_holds_the_store() {
    let dir = tempfile::tempdir().expect("a folder");
    let first = open(dir.path());
    first.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    match refused(dir.path(), "in use by another Daybook (process ") {
        OpenError::Locked { pid, .. } => assert_eq!(pid, Some(std::process::id())),
        other => panic!("{other}"),
    }
    // It may look, and sees what comes after as well.
    let viewer = Reader::open(dir.path()).expect("opens");
    first.append(&session(1), 1, vec![renamed("x")], Durability::Normal).expect("appends");
    assert_eq!(viewer.events(&session(1), 0, 9).expect("reads").len(), 2);
    assert_eq!(viewer.state(&session(1)).expect("folds").next_seq, 2);
    first.append(&session(1), 2, vec![renamed("y")], Durability::Normal).expect("appends");
    assert_eq!(viewer.state(&session(1)).expect("folds").next_seq, 3);
    drop(first);
    assert_eq!(open(dir.path()).epoch(), 2);
}

/// What is in the folder's files, but for the lock and for what SQLite keeps beside a database while it is looked at.
fn hashes(folder: &Path) -> Vec<(PathBuf, Digest)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file() && !path.ends_with("lock") && !path.ends_with("store.db-shm"))
        .filter(|path| fs::metadata(path).is_ok_and(|found| found.len() > 0))
        .map(|path| (path.clone(), Digest::of(&fs::read(path).expect("reads"))))
        .collect();
    files.sort();
    files
}

#[test]
fn a_newer_layout_is_refused_and_not_a_byte_is_changed() {
    let dir = tempfile::tempdir().expect("a folder");
    open(dir.path()).append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    raw(dir.path()).pragma_update(None, "user_version", 7).expect("changes");
    let before = hashes(dir.path());
    match refused(dir.path(), "a newer Daybook is needed") {
        OpenError::Newer { found, known, .. } => assert_eq!((found, known), (7, 3)),
        other => panic!("{other}"),
    }
    assert!(matches!(Reader::open(dir.path()), Err(OpenError::Newer { .. })));
    assert_eq!(hashes(dir.path()), before);
}

#[test]
fn a_damaged_store_is_never_taken_for_an_empty_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    store.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    store.put_blob(b"content").expect("keeps");
    drop(store);
    let database = dir.path().join("store.db");
    let whole = fs::read(&database).expect("reads");
    let check = |content: Option<&[u8]>, expect: &str| {
        match content {
            Some(bytes) => fs::write(&database, bytes).expect("writes"),
            None => fs::remove_file(&database).expect("deletes"),
        }
        let error = refused(dir.path(), expect);
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
        assert_eq!(fs::read(&database).ok().as_deref(), content, "left as it was found");
    };
    check(Some(b""), "the database file is empty");
    check(Some(b"not a database at all, just some text that somebody put here"), "not a database");
    check(Some(&[0; 8192]), "is damaged");
    check(None, "gone while its blobs are there");
    fs::write(&database, whole).expect("writes");
    assert_eq!(open(dir.path()).next_seq(&session(1)), Ok(1));
}

#[test]
fn a_first_start_that_was_cut_off_is_begun_again() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("store.db.new"), b"half").expect("writes");
    open(dir.path()).append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    assert!(!dir.path().join("store.db.new").exists());
}

#[test]
fn the_reserve_is_real_bytes_and_comes_back() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let reserve = dir.path().join("reserve");
    assert_eq!(fs::metadata(&reserve).expect("there").len(), RESERVE_BYTES as u64);
    #[cfg(unix)]
    {
        let blocks = std::os::unix::fs::MetadataExt::blocks(&fs::metadata(&reserve).expect("there"));
        assert!(blocks * 512 >= RESERVE_BYTES as u64, "{blocks} blocks: it isn't sparse");
    }
    fs::remove_file(&reserve).expect("deletes");
    assert!(store.keep_reserve());
    assert!(reserve.exists());
}

#[cfg(unix)]
#[test]
fn the_folder_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a folder");
    let made = dir.path().join("daybook");
    create_folder(&made).expect("makes");
    assert_eq!(fs::metadata(&made).expect("there").permissions().mode() & 0o777, 0o700);
}

/// What later layouts added, taken away.
const FIRST_LAYOUT: &str =
    "DROP TABLE blobs; DROP TABLE remains; DROP TABLE gone; DROP TABLE erasing; PRAGMA user_version = 1";

/// A store of the layout before attached content can be looked at as it is, and is updated with a copy kept.
#[test]
fn a_store_of_the_first_layout_is_read_as_it_is_and_updated_behind_a_copy() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    store.append(&session(1), 0, vec![created()], Durability::Normal).expect("appends");
    let kept = store.put_blob(b"content").expect("keeps");
    drop(store);
    raw(dir.path()).execute_batch(FIRST_LAYOUT).expect("goes back");
    let viewer = Reader::open(dir.path()).expect("opens");
    let attached = Digest::of(b"attached");
    assert_eq!(viewer.blob(&kept).expect("reads"), b"content");
    assert!(matches!(viewer.blob(&attached), Err(BlobError::Missing { .. })));
    assert!(!viewer.holds_blob(&attached).expect("looks"));
    let store = open(dir.path());
    assert_eq!(store.blob(&kept).expect("reads"), b"content");
    store.attach_blob(b"attached").expect("attaches");
    store.append(&session(1), 1, vec![renamed("x")], Durability::Normal).expect("appends");
    assert_eq!(viewer.blob(&attached).expect("reads"), b"attached", "whoever looked before sees it, too");
    let copy = rusqlite::Connection::open(dir.path().join("backups/store-layout-1.db")).expect("is kept");
    let layout: i64 = copy.pragma_query_value(None, "user_version", |row| row.get(0)).expect("answers");
    let events: i64 = copy.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).expect("counts");
    assert_eq!((layout, events), (1, 1));
    assert!(copy.prepare("SELECT * FROM blobs").is_err(), "the copy has the old layout");
}

/// Whatever an older build left is listed and opens after the update; where the update can't be made, that is said and every
/// byte stays as it was.
#[test]
fn case_h19_after_an_update_every_session_is_listed_and_opens() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    for n in 1..=20 {
        store.append(&session(n), 0, vec![created()], Durability::Normal).expect("appends");
        let title = vec![renamed(&format!("Chat {n}"))];
        store.append(&session(n), 1, title, Durability::Normal).expect("appends");
        store.append(&session(n), 2, turn_until_asked(1), Durability::Normal).expect("appends");
    }
    let listed = store.sessions().expect("lists");
    let logs: Vec<_> = (1..=20).map(|n| store.events(&session(n), 0, 99).expect("reads")).collect();
    drop(store);
    // As the first build left it: its lists were made anew by each later one, and there were fewer tables.
    raw(dir.path())
        .execute_batch(&format!(
            "{FIRST_LAYOUT}; UPDATE facts_of_store SET value = 0 WHERE name = 'projections'"
        ))
        .expect("goes back");
    let before = hashes(dir.path());
    // No copy can be kept first, so nothing is changed.
    let copy = dir.path().join("backups/store-layout-1.db");
    fs::create_dir_all(copy.join("in the way")).expect("makes");
    let error = Store::open(dir.path(), inline()).err().expect("refused").to_string();
    assert!(error.contains(copy.to_str().expect("text")), "{error}");
    fs::remove_dir_all(&copy).expect("deletes");
    assert_eq!(hashes(dir.path()), before);
    let store = open(dir.path());
    assert!(copy.is_file());
    assert_eq!(store.sessions().expect("lists"), listed);
    for (n, log) in (1..=20).zip(&logs) {
        assert_eq!(&store.events(&session(n), 0, 99).expect("opens"), log);
        assert_eq!(store.state(&session(n)).expect("folds").next_seq, log.len() as u64);
    }
}
