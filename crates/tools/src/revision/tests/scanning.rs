//! What a revision covers, what it leaves out and says so, and what it costs.

use super::rig::{Rig, shown};
use crate::revision::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::Ordering;
use tokio_util::sync::CancellationToken;

fn left_out(taken: &Taken) -> Vec<(String, Why)> {
    taken.left_out.paths.iter().map(|one| (one.path.clone(), one.why)).collect()
}

#[test]
fn r_undo_what_is_not_covered_is_listed() {
    let mut rig = Rig::new();
    rig.bounds = Bounds { file_bytes: 100, folder_bytes: 150, ignored_bytes: 10, ..Bounds::default() };
    rig.write(".gitignore", "node_modules/\n*.log\n.env\n");
    rig.write("node_modules/x/y.js", "y");
    rig.write("big.log", "x".repeat(50));
    rig.write(".env", "KEY=1");
    rig.write("own/secret", "ours");
    rig.write("huge", "x".repeat(101));
    rig.write("half-1", "x".repeat(80));
    rig.write("half-2", "x".repeat(60));
    rig.write(".git/HEAD", "ref");
    rig.write(".git/big.log", "x".repeat(11));
    std::os::unix::net::UnixListener::bind(rig.path("socket")).unwrap();
    symlink("/etc", rig.path("link")).unwrap();
    let taken = rig.take();
    let expect = [
        ("big.log", Why::Ignored),
        ("half-1", Why::TooMuch),
        ("huge", Why::TooLarge),
        ("node_modules", Why::Ignored),
        ("own", Why::Own),
        ("socket", Why::Special),
    ];
    assert_eq!(left_out(&taken), expect.map(|(path, why)| (path.to_owned(), why)));
    assert_eq!((taken.files, taken.folders), (5, 1), ".git, .env, .gitignore and half-2");
    rig.bounds.listed = 2;
    let taken = rig.take();
    assert_eq!((taken.left_out.paths.len(), taken.left_out.count), (2, 6));
}

#[test]
fn files_with_a_name_that_was_not_seen_are_listed() {
    let mut rig = Rig::new();
    for name in ["alone", "d/twice", "out", "d/large"] {
        rig.write(name, "x".repeat(20));
    }
    rig.bounds = Bounds { file_bytes: 30, ..Bounds::default() };
    rig.write("d/large", "x".repeat(31));
    fs::hard_link(rig.path("d/twice"), rig.path("twice")).unwrap();
    assert_eq!(rig.take().named_elsewhere, Vec::<String>::new());
    let outside = tempfile::tempdir_in(rig.path("").parent().unwrap()).unwrap();
    fs::hard_link(rig.path("out"), outside.path().join("out")).unwrap();
    fs::hard_link(rig.path("out"), rig.path("d/out")).unwrap();
    fs::hard_link(rig.path("d/large"), outside.path().join("large")).unwrap();
    let taken = rig.take();
    assert_eq!(taken.named_elsewhere, ["d/large", "d/out", "out"], "covered or not");
    assert_eq!(taken.names_unseen, 2, "one of each");
    rig.write(".gitignore", "ignored/\n");
    fs::create_dir(rig.path("ignored")).unwrap();
    fs::hard_link(rig.path("alone"), rig.path("ignored/other")).unwrap();
    let taken = rig.take();
    assert_eq!((taken.named_elsewhere.len(), taken.names_unseen), (4, 3), "where nobody looked counts");
    fs::remove_file(rig.path("ignored/other")).unwrap();
    rig.bounds.listed = 1;
    assert_eq!(rig.take().named_elsewhere, ["d/large"]);
}

#[test]
fn r_undo_what_was_not_covered_is_never_called_created() {
    let mut rig = Rig::new();
    rig.write(".gitignore", "out/\n");
    rig.write("out/precious", "p");
    let before = rig.take();
    rig.write(".gitignore", "");
    let after = rig.take();
    let found = rig.changes(&before, &after);
    assert_eq!(shown(&found.effects), ".gitignore: file of 5 (644) -> file of 0 (644) +0 -1\n");
    assert_eq!(found.uncovered.paths, [LeftOut { path: "out".into(), why: Why::Ignored, bytes: None }]);
    assert_eq!(rig.restore(&found.effects).kept, []);
    assert_eq!(rig.text("out/precious"), "p");
}

#[test]
fn r_undo_only_changed_content_is_read_and_kept() {
    let mut rig = Rig::new();
    for number in 0..50 {
        rig.write(&format!("folder-{}/file-{number}", number % 5), format!("content {number}"));
    }
    let aged = |rig: &Rig| {
        // Older than a tick of the file system's clock: what is as new as the revision is read again.
        std::process::Command::new("sh")
            .args(["-c", "sleep 0.1; find . -type f -exec touch -d '1 hour ago' {} +; sleep 0.1"])
            .current_dir(&rig.folder)
            .status()
            .unwrap();
    };
    aged(&rig);
    let first = rig.take();
    assert_eq!((first.files, first.folders), (50, 5));
    let staged = |rig: &Rig| rig.blobs.stages.load(Ordering::Relaxed);
    let before = staged(&rig);
    let second = rig.take();
    assert_eq!((second.tree, second.new_bytes, staged(&rig)), (first.tree, 0, before), "nothing is read");
    rig.write("folder-1/file-1", "changed");
    let third = rig.take();
    assert_eq!(staged(&rig) - before, 4, "the file, its folder's tree, the root's, the outermost");
    assert!(third.new_bytes < 2_000, "{}", third.new_bytes);
    rig.index.save().unwrap();
    let private = rig.outside.path().join("private");
    rig.index = Index::open(&private, &rig.place, &rig.blobs);
    let before = staged(&rig);
    assert_eq!(rig.take().tree, third.tree);
    assert!(
        staged(&rig) - before <= 1,
        "a saved index is used again: but for the file, which had not settled"
    );
}

#[test]
fn r_undo_a_folder_below_that_changed_is_seen_from_above() {
    let mut rig = Rig::new();
    for path in ["a/b/c/file", "a/b/other", "a/x"] {
        rig.write(path, path);
    }
    let first = rig.take();
    let mode = |mode| fs::Permissions::from_mode(mode);
    let change = |rig: &mut Rig, make: &dyn Fn(&Rig)| {
        let before = rig.take();
        make(rig);
        let after = rig.take();
        assert_ne!(before.tree, after.tree);
        assert_eq!(after.tree, rig.index_free_take().tree);
        let effects = rig.changes(&before, &after).effects;
        rig.restore(&effects);
        assert_eq!(rig.take().tree, first.tree);
    };
    change(&mut rig, &|rig| rig.write("a/b/c/file", "x"));
    change(&mut rig, &|rig| fs::set_permissions(rig.path("a/b/c"), mode(0o700)).unwrap());
    change(&mut rig, &|rig| fs::create_dir(rig.path("a/b/c/empty")).unwrap());
    change(&mut rig, &|rig| symlink("x", rig.path("a/b/c/link")).unwrap());
    change(&mut rig, &|rig| fs::remove_file(rig.path("a/b/c/file")).unwrap());
    change(&mut rig, &|rig| fs::rename(rig.path("a/b/c"), rig.path("a/b/d")).unwrap());
    change(&mut rig, &|rig| fs::set_permissions(rig.path("."), mode(0o700)).unwrap());
}

#[test]
fn x24_a_damaged_or_foreign_index_is_ignored() {
    let mut rig = Rig::new();
    rig.write("a", "content");
    let first = rig.take();
    rig.index.save().unwrap();
    let private = rig.outside.path().join("private");
    let file = fs::read_dir(&private).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&file).unwrap();
    for at in [0, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&file, &bytes).unwrap();
        rig.index = Index::open(&private, &rig.place, &rig.blobs);
        assert_eq!(rig.take().tree, first.tree);
    }
    fs::write(&file, &whole[..whole.len() / 3]).unwrap();
    rig.index = Index::open(&private, &rig.place, &rig.blobs);
    assert_eq!(rig.take().tree, first.tree);
    // The blobs were lost: an index that knows them would name what isn't there.
    fs::write(&file, &whole).unwrap();
    for name in rig.blobs.names() {
        rig.blobs.forget(&name);
    }
    rig.index = Index::open(&private, &rig.place, &rig.blobs);
    let taken = rig.take();
    assert!(rig.needed(&[taken.tree]).unwrap().iter().all(|name| rig.blobs.names().contains(name)));
}

#[test]
fn r_undo_a_change_of_equal_size_within_one_tick_is_seen() {
    let mut rig = Rig::new();
    for round in 0..200 {
        rig.write("a", format!("{round:05}"));
        let taken = rig.take();
        rig.write("a", format!("{:05}", round + 50_000));
        let next = rig.take();
        assert_ne!(taken.tree, next.tree, "round {round}");
    }
}

#[test]
fn i20_every_blob_of_a_revision_is_reachable_and_no_other() {
    let mut rig = Rig::new();
    rig.write("a/b/c", "one");
    let first = rig.take();
    rig.write("a/b/c", "two");
    let second = rig.take();
    let all = rig.needed(&[first.tree, second.tree]).unwrap();
    assert_eq!(all.into_iter().collect::<Vec<_>>(), rig.blobs.names());
    let only = rig.needed(&[second.tree]).unwrap();
    assert_eq!(only.len(), 5, "one file, three folders and the outermost tree");
    for name in rig.blobs.names().into_iter().filter(|name| !only.contains(name)) {
        rig.blobs.forget(&name);
    }
    assert_eq!(rig.text("a/b/c"), "two");
    assert!(rig.needed(&[second.tree]).is_ok());
    assert!(rig.needed(&[first.tree]).is_err(), "an incomplete set is never given");
}

#[test]
fn a_revision_is_bounded_and_can_be_stopped() {
    let mut rig = Rig::new();
    for number in 0..20 {
        rig.write(&format!("f{number}"), "x");
    }
    let cancel = CancellationToken::new();
    let bounds = Bounds { entries: 19, ..Bounds::default() };
    let failed = take(&rig.place, &rig.blobs, &mut rig.index, &bounds, None, &cancel).unwrap_err();
    assert!(matches!(failed, TakeError::TooMany { most: 19 }));
    cancel.cancel();
    let failed = take(&rig.place, &rig.blobs, &mut rig.index, &Bounds::default(), None, &cancel).unwrap_err();
    assert!(matches!(failed, TakeError::Cancelled));
    let before = rig.take();
    let bounds = Bounds { changes: 5, ..Bounds::default() };
    let empty = crate::BlobSink::put(&rig.blobs, b"daybook tree 1\n").unwrap();
    let limits = crate::Limits::default();
    let found = changes(&rig.blobs, &empty, &before.tree, &bounds, &limits).unwrap();
    assert_eq!((found.effects.len(), found.more), (5, 16));
}
