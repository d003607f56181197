//! Blobs: kept once, never taken on trust.

use crate::rig::open;
use domain::digest::Digest;
use std::fs;
use std::path::{Path, PathBuf};
use store::BlobError;

fn file(folder: &Path, digest: &Digest) -> PathBuf {
    let name = digest.to_string();
    folder.join("blobs").join(&name[..2]).join(&name[2..])
}

fn files(folder: &Path) -> usize {
    let shards = fs::read_dir(folder.join("blobs")).expect("a folder");
    shards.map(|shard| fs::read_dir(shard.expect("an entry").path()).expect("a folder").count()).sum()
}

#[test]
fn i20_a_blob_is_kept_once_and_compared_when_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let digest = store.put_blob(b"large content").expect("keeps");
    assert_eq!(digest, Digest::of(b"large content"));
    assert_eq!(store.put_blob(b"large content").expect("keeps"), digest);
    store.put_blob(b"").expect("keeps");
    assert_eq!(files(dir.path()), 2, "no copy and no temporary file stays");
    assert_eq!(store.blob(&digest).expect("reads"), b"large content");
    assert_eq!(store.blob(&Digest::of(b"")).expect("reads"), b"");
}

#[test]
fn x24_a_changed_or_deleted_blob_is_named_and_mended_by_its_content() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let digest = store.put_blob(b"content").expect("keeps");
    let path = file(dir.path(), &digest);
    // Changed through another name of the same file, as a hard link is.
    fs::hard_link(&path, dir.path().join("link")).expect("links");
    fs::write(dir.path().join("link"), b"CONTENT").expect("writes");
    match store.blob(&digest) {
        Err(BlobError::Changed { digest: named, found }) => {
            assert_eq!((named, found), (digest, Digest::of(b"CONTENT")));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(store.put_blob(b"content").expect("keeps"), digest);
    assert_eq!(store.blob(&digest).expect("reads"), b"content");
    assert_eq!(fs::read(dir.path().join("link")).expect("reads"), b"CONTENT", "the other file is left alone");
    fs::remove_file(&path).expect("deletes");
    assert!(matches!(store.blob(&digest), Err(BlobError::Missing { .. })));
}

#[cfg(unix)]
#[test]
fn x24_the_blob_folder_may_be_on_another_disk() {
    let dir = tempfile::tempdir().expect("a folder");
    let elsewhere = if Path::new("/dev/shm").is_dir() { "/dev/shm" } else { "/tmp" };
    let other = tempfile::tempdir_in(elsewhere).expect("a folder");
    std::os::unix::fs::symlink(other.path(), dir.path().join("blobs")).expect("links");
    let store = open(dir.path());
    let digest = store.put_blob(b"content").expect("keeps");
    assert_eq!(store.blob(&digest).expect("reads"), b"content");
    assert_eq!(fs::read_dir(other.path()).expect("a folder").count(), 1);
}
