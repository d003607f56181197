//! A state, a change of every kind, and back to the very same state.
#![cfg(unix)]

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
