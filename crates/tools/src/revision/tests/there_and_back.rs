//! A state, a change of every kind, and back to the very same state.

use super::rig::{Rig, shown};
use crate::revision::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn mode(rig: &Rig, path: &str, mode: u32) {
    fs::set_permissions(rig.path(path), fs::Permissions::from_mode(mode)).unwrap();
}

fn begin(rig: &Rig) {
    for (path, content) in
        [("a.txt", "one\ntwo\n"), ("gone/deep/b.txt", "b"), ("run.sh", "#!/bin/sh\n"), ("x", "x")]
    {
        rig.write(path, content);
        mode(rig, path, 0o644);
    }
    fs::create_dir(rig.path("empty")).unwrap();
    for folder in ["empty", "gone", "gone/deep"] {
        mode(rig, folder, 0o755);
    }
    symlink("a.txt", rig.path("link")).unwrap();
    symlink("/nowhere/at all", rig.path("broken")).unwrap();
}

/// What a turn does through tools and through the shell.
fn change(rig: &Rig) {
    rig.write("a.txt", "one\n2\nthree\n");
    rig.write("new/file.txt", "new");
    mode(rig, "new", 0o755);
    mode(rig, "new/file.txt", 0o600);
    fs::remove_dir_all(rig.path("gone")).unwrap();
    mode(rig, "run.sh", 0o755);
    fs::rename(rig.path("x"), rig.path("y")).unwrap();
    fs::remove_dir(rig.path("empty")).unwrap();
    fs::remove_file(rig.path("link")).unwrap();
    symlink("y", rig.path("link")).unwrap();
    fs::remove_file(rig.path("broken")).unwrap();
    fs::create_dir_all(rig.path("broken/inside")).unwrap();
    mode(rig, "broken", 0o700);
    mode(rig, "broken/inside", 0o555);
}

#[test]
fn r_undo_every_kind_of_change_goes_back_and_forth_to_equal_trees() {
    let mut rig = Rig::new();
    begin(&rig);
    let before = rig.take();
    change(&rig);
    let after = rig.take();
    let found = rig.changes(&before, &after);
    insta::assert_snapshot!(shown(&found.effects), @r"
    a.txt: file of 8 (644) -> file of 12 (644) +2 -1
    broken: link to /nowhere/at all -> folder (700)
    broken/inside: nothing -> folder (555)
    empty: folder (755) -> nothing
    gone: folder (755) -> nothing
    gone/deep: folder (755) -> nothing
    gone/deep/b.txt: file of 1 (644) -> nothing +0 -1
    link: link to a.txt -> link to y
    new: nothing -> folder (755)
    new/file.txt: nothing -> file of 3 (600) +1 -0
    run.sh: file of 10 (644) -> file of 10 (755)
    x: file of 1 (644) -> nothing +0 -1
    y: nothing -> file of 1 (644) +1 -0
    ");
    let undone = rig.restore(&found.effects);
    assert_eq!(undone.kept, []);
    assert_eq!(rig.take().tree, before.tree, "undone");
    let redone = rig.restore(&undone.done);
    assert_eq!(redone.kept, []);
    assert_eq!(rig.take().tree, after.tree, "redone");
    let again = rig.restore(&redone.done);
    assert_eq!((again.kept, rig.take().tree), (vec![], before.tree), "and undone again");
    assert_eq!(rig.text("a.txt"), "one\ntwo\n");
    assert_eq!(compose(&[found.effects.clone(), undone.done].concat()), []);
}

#[test]
fn e13_a_name_that_became_another_files_goes_back_alone() {
    let mut rig = Rig::new();
    rig.write("a", "what a shows");
    rig.write("c", "what c showed");
    let before = rig.take();
    fs::remove_file(rig.path("c")).unwrap();
    fs::hard_link(rig.path("a"), rig.path("c")).unwrap();
    let after = rig.take();
    let effects = rig.changes(&before, &after).effects;
    let restored = rig.restore(&effects);
    assert_eq!((rig.text("a"), rig.text("c")), ("what a shows".into(), "what c showed".into()));
    rig.restore(&restored.done);
    assert_eq!(rig.text("c"), "what a shows");
}

#[test]
fn e13_an_undo_keeps_all_names_of_a_file() {
    let mut rig = Rig::new();
    rig.write("one", "old");
    fs::hard_link(rig.path("one"), rig.path("two")).unwrap();
    let before = rig.take();
    rig.write("one", "new, longer");
    let after = rig.take();
    let found = rig.changes(&before, &after);
    assert_eq!(found.effects.len(), 2, "both names show it");
    assert_eq!(rig.restore(&found.effects).kept, []);
    assert_eq!((rig.text("one"), rig.text("two")), ("old".into(), "old".into()));
    rig.write("two", "still one file");
    assert_eq!(rig.text("one"), "still one file");
}

#[test]
fn e14_a_read_only_file_in_a_read_only_folder_comes_back_as_it_was() {
    let mut rig = Rig::new();
    rig.write("locked/file", "old");
    mode(&rig, "locked/file", 0o444);
    mode(&rig, "locked", 0o555);
    let before = rig.take();
    mode(&rig, "locked", 0o755);
    fs::remove_dir_all(rig.path("locked")).unwrap();
    let after = rig.take();
    let found = rig.changes(&before, &after);
    let undone = rig.restore(&found.effects);
    assert_eq!((undone.kept.clone(), rig.take().tree), (vec![], before.tree));
    assert_eq!((rig.restore(&undone.done).kept, rig.take().tree), (vec![], after.tree));
}

#[test]
fn r_undo_names_of_every_kind_are_covered() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let mut rig = Rig::new();
    let before = rig.take();
    let long = "n".repeat(255);
    let odd = [
        OsStr::from_bytes(b"caf\xe9.txt"),
        OsStr::from_bytes(b"\xff\xfe"),
        OsStr::new("\u{10fff9}"),
        OsStr::new("日本 \u{202e}txt"),
        OsStr::new(" back\\slash\n"),
        OsStr::new("%2e%2e"),
        OsStr::new(long.as_str()),
    ];
    for name in odd {
        fs::create_dir(rig.folder.join(name)).unwrap();
        fs::write(rig.folder.join(name).join(name), name.as_bytes()).unwrap();
    }
    symlink(OsStr::from_bytes(b"to\xff"), rig.path("link")).unwrap();
    let after = rig.take();
    assert_eq!((after.files, after.folders, after.left_out.count), (7, 7, 0));
    let undone = rig.restore(&rig.changes(&before, &after).effects);
    assert_eq!((undone.kept.clone(), rig.take().tree), (vec![], before.tree));
    assert_eq!((rig.restore(&undone.done).kept, rig.take().tree), (vec![], after.tree));
    for name in odd {
        assert_eq!(fs::read(rig.folder.join(name).join(name)).unwrap(), name.as_bytes());
    }
    assert_eq!(fs::read_link(rig.path("link")).unwrap().as_os_str().as_bytes(), b"to\xff");
}

#[test]
fn r_undo_the_mode_of_the_folder_itself_is_covered() {
    let mut rig = Rig::new();
    mode(&rig, ".", 0o755);
    let before = rig.take();
    mode(&rig, ".", 0o700);
    let after = rig.take();
    let found = rig.changes(&before, &after);
    assert_eq!(shown(&found.effects), ".: folder (755) -> folder (700)\n");
    assert_eq!((rig.restore(&found.effects).kept, rig.take().tree), (vec![], before.tree));
}

#[test]
fn r_undo_a_tools_effect_inside_an_ignored_folder_is_undone_by_itself() {
    let mut rig = Rig::new();
    rig.write(".gitignore", "build/\n");
    rig.write("build/out.txt", "old");
    let before = rig.take();
    let old = crate::BlobSink::put(&rig.blobs, b"old").unwrap();
    let new = domain::digest::Digest::of(b"new");
    rig.write("build/out.txt", "new");
    assert_eq!(rig.take().tree, before.tree, "the revision doesn't cover it");
    let file = |content, bytes| Some(domain::call::Entry::File { content, bytes, mode: None });
    let effect = domain::call::Effect {
        path: "build/out.txt".into(),
        before: file(old, 3),
        after: file(new, 3),
        lines: None,
        kept_in: None,
        parted: None,
    };
    assert_eq!(rig.restore(&[effect]).kept, []);
    assert_eq!(rig.text("build/out.txt"), "old");
}
