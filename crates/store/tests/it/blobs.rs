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

#[test]
fn i20_staged_blobs_get_their_names_together_and_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let long = vec![7u8; (1 << 20) + 7];
    let contents: Vec<Vec<u8>> = (0..100u32).map(|n| n.to_be_bytes().to_vec()).chain([long]).collect();
    let mut names = Vec::new();
    for content in &contents {
        let staged = store.stage_blob(&mut &content[..]).expect("stages");
        assert_eq!((staged.digest, staged.bytes), (Digest::of(content), content.len() as u64));
        assert!(staged.new);
        assert!(!store.stage_blob(&mut &content[..]).expect("stages").new, "waits already");
        assert!(!store.holds_blob(&staged.digest).expect("looks"), "has no name before it is synced");
        names.push(staged.digest);
    }
    store.settle_blobs().expect("settles");
    for (name, content) in names.iter().zip(&contents) {
        assert!(store.holds_blob(name).expect("looks"));
        assert_eq!(&store.blob(name).expect("reads"), content);
        assert!(!store.stage_blob(&mut &content[..]).expect("stages").new, "is kept already");
    }
    store.settle_blobs().expect("settles nothing");
    assert_eq!(files(dir.path()), contents.len(), "no copy and no temporary file stays");
}

#[test]
fn i20_a_folder_that_could_not_be_made_once_is_in_nobodys_way() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let path = file(dir.path(), &Digest::of(b"one"));
    let shard = path.parent().expect("a shard");
    fs::write(shard, b"in the way").expect("writes");
    store.put_blob(b"one").expect_err("its folder can't be made");
    fs::remove_file(shard).expect("deletes");
    let other = store.stage_blob(&mut &b"another"[..]).expect("stages").digest;
    assert_ne!(file(dir.path(), &other).parent(), Some(shard));
    store.settle_blobs().expect("nothing is owed there");
    assert_eq!(store.blob(&other).expect("reads"), b"another");
    store.put_blob(b"one").expect("keeps");
}

/// What got its name and went before the name was synced isn't taken for durable.
#[cfg(unix)]
#[test]
fn i20_a_folder_that_is_gone_before_its_names_are_synced_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let mut contents: [&[u8]; 2] = [b"one", b"another"];
    contents.sort_unstable_by_key(|content| Digest::of(content));
    let shards =
        contents.map(|content| file(dir.path(), &Digest::of(content)).parent().expect("one").to_owned());
    for content in contents {
        store.stage_blob(&mut &content[..]).expect("stages");
    }
    fs::write(&shards[1], b"in the way").expect("writes");
    store.settle_blobs().expect_err("the second one can't have its name");
    assert!(store.holds_blob(&Digest::of(contents[0])).expect("looks"), "the first one has its name");
    fs::remove_file(&shards[1]).expect("deletes");
    fs::remove_dir_all(&shards[0]).expect("deletes");
    for _ in 0..2 {
        store.settle_blobs().expect_err("what was staged isn't there");
    }
    assert!(store.stage_blob(&mut &contents[0][..]).expect("stages").new);
    store.settle_blobs().expect("settles");
    assert_eq!(contents.map(|content| store.blob(&Digest::of(content)).expect("reads")), contents);
}

#[test]
fn i20_a_stream_that_breaks_leaves_nothing() {
    struct Breaks(usize);
    impl std::io::Read for Breaks {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            if self.0 == 0 {
                return Err(std::io::Error::other("pulled out"));
            }
            let read = self.0.min(into.len());
            self.0 -= read;
            Ok(read)
        }
    }
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    assert!(store.put_blob_stream(&mut Breaks(10)).is_err());
    assert!(store.put_blob_stream(&mut Breaks((1 << 20) + 5)).is_err());
    assert_eq!(fs::read_dir(dir.path().join("blobs")).expect("a folder").count(), 0);
    let digest = store.put_blob_stream(&mut &vec![1; (1 << 20) + 5][..]).expect("keeps");
    assert_eq!(store.blob(&digest).expect("reads"), vec![1; (1 << 20) + 5]);
}

#[cfg(unix)]
#[test]
fn x24_a_staged_blob_mends_one_of_another_size() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = open(dir.path());
    let digest = store.put_blob(b"content").expect("keeps");
    fs::write(file(dir.path(), &digest), b"").expect("cut off");
    assert!(store.stage_blob(&mut &b"content"[..]).expect("stages").new);
    store.settle_blobs().expect("settles");
    assert_eq!(store.blob(&digest).expect("reads"), b"content");
}

#[test]
fn i20_only_old_blobs_nobody_refers_to_are_collected() {
    let dir = tempfile::tempdir().expect("a folder");
    let name = |content: &[u8]| Digest::of(content);
    {
        let store = open(dir.path());
        for content in [b"kept", b"once", b"used"] {
            store.put_blob(content).expect("keeps");
        }
        fs::write(dir.path().join("blobs/.new-1-1"), b"half").expect("left by a killed put");
        let all = store.collect_blobs(&|_| false, later()).expect("collects");
        assert_eq!((all.blobs, all.bytes), (1, 4), "what this process has put stays");
    }
    let store = open(dir.path());
    let keep = |digest: &Digest| *digest == name(b"kept");
    let none = store.collect_blobs(&keep, std::time::UNIX_EPOCH).expect("collects");
    assert_eq!(none.blobs, 0, "nothing is as old as that");
    store.stage_blob(&mut &b"used"[..]).expect("is there already");
    let collected = store.collect_blobs(&keep, later()).expect("collects");
    assert_eq!((collected.blobs, collected.bytes), (1, 4));
    let held = [&b"kept"[..], b"once", b"used"].map(|one| store.holds_blob(&name(one)).expect("looks"));
    assert_eq!(held, [true, false, true]);
}

/// After everything this test writes.
fn later() -> std::time::SystemTime {
    std::time::UNIX_EPOCH + std::time::Duration::from_secs(1 << 35)
}
