//! What was covered and isn't any more comes back; what never was is named when it changed.

use super::rig::{Rig, shown};
use crate::revision::*;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::process::Command;

fn fifo(rig: &Rig, path: &str) {
    assert!(Command::new("mkfifo").arg(rig.path(path)).status().unwrap().success());
}

fn uncovered(found: &Changes) -> Vec<&str> {
    found.uncovered.paths.iter().map(|one| one.path.as_str()).collect()
}

/// A file that grew over the bound: its rig, the revision from before, and what is found changed.
fn grown() -> (Rig, Taken, Changes) {
    let mut rig = Rig::new();
    rig.bounds.file_bytes = 100;
    rig.write("data", "x".repeat(80));
    let before = rig.take();
    rig.write("data", "y".repeat(160));
    let after = rig.take_after(&before);
    let found = rig.changes(&before, &after);
    (rig, before, found)
}

#[test]
fn r_undo_a_file_that_grew_over_the_bound_comes_back_and_goes_again() {
    let (mut rig, before, found) = grown();
    assert_eq!(shown(&found.effects), "data: file of 80 (644) -> uncovered, too_large\n");
    assert_eq!(found.uncovered, LeftOuts::default());
    let undone = rig.restore(&found.effects);
    assert_eq!((undone.kept.clone(), rig.take().tree), (vec![], before.tree));
    assert_eq!(rig.restore(&undone.done).kept, []);
    assert_eq!(rig.text("data"), "y".repeat(160), "what grew was kept, too");
}

#[test]
fn r_undo_a_file_that_grew_over_the_bound_and_was_changed_since_stays() {
    let (rig, _, found) = grown();
    rig.write("data", "mine".repeat(50));
    let kept = rig.restore(&found.effects).kept;
    assert!(matches!(kept[..], [Kept { why: Hindrance::Changed { .. }, .. }]), "{kept:?}");
    assert_eq!(rig.text("data"), "mine".repeat(50));
    fs::remove_file(rig.path("data")).unwrap();
    assert_eq!(rig.restore(&found.effects).kept, [], "where nothing stands nothing is lost");
    assert_eq!(rig.text("data"), "x".repeat(80));
}

#[test]
fn r_undo_a_rule_that_is_written_first_hides_nothing() {
    for by_index in [true, false] {
        let mut rig = Rig::new();
        rig.bounds.ignored_bytes = 10;
        rig.write("docs/deep/thesis.txt", "thesis");
        rig.write("docs/b", "b");
        rig.write("large.log", "l".repeat(20));
        let before = rig.take();
        rig.write(".gitignore", "docs\n*.log\n");
        rig.write("docs/deep/thesis.txt", "gone");
        fs::remove_file(rig.path("docs/b")).unwrap();
        rig.write("large.log", "m".repeat(30));
        rig.write("new.log", "n".repeat(30));
        if !by_index {
            rig.index = Index::open(&rig.outside.path().join("nothing-saved"), &rig.place, &rig.blobs);
        }
        let after = rig.take_after(&before);
        let found = rig.changes(&before, &after);
        insta::allow_duplicates! { insta::assert_snapshot!(shown(&found.effects), @r"
        .gitignore: nothing -> file of 11 (644) +2 -0
        docs/b: file of 1 (644) -> nothing +0 -1
        docs/deep/thesis.txt: file of 6 (644) -> file of 4 (644) +1 -1
        large.log: file of 20 (644) -> file of 30 (644) +1 -1
        "); }
        assert_eq!(uncovered(&found), ["new.log"], "what was never held follows the rules");
        assert_eq!(rig.restore(&found.effects).kept, []);
        assert_eq!(rig.text("docs/deep/thesis.txt"), "thesis");
    }
}

#[test]
fn r_undo_a_pipe_in_place_of_a_file_or_folder_goes_and_they_come_back() {
    let mut rig = Rig::new();
    rig.write("a", "precious");
    rig.write("d/e/f", "deep");
    let before = rig.take();
    fs::remove_file(rig.path("a")).unwrap();
    fs::remove_dir_all(rig.path("d")).unwrap();
    fifo(&rig, "a");
    fifo(&rig, "d");
    let after = rig.take_after(&before);
    let found = rig.changes(&before, &after);
    insta::assert_snapshot!(shown(&found.effects), @r"
    a: file of 8 (644) -> uncovered, special
    d: folder (755) -> uncovered, special
    d/e: folder (755) -> nothing
    d/e/f: file of 4 (644) -> nothing +0 -1
    ");
    let undone = rig.restore(&found.effects);
    assert_eq!((undone.kept.clone(), rig.take().tree), (vec![], before.tree));
    let redone = rig.restore(&undone.done);
    let not_kept: Vec<_> = redone.kept.iter().map(|kept| (kept.path.as_str(), kept.why.code())).collect();
    assert_eq!(not_kept, [("a", "not_kept"), ("d", "not_kept")], "a pipe can't be made again");
    assert_eq!(rig.text("a"), "precious");
}

#[test]
fn r_undo_a_pipe_of_somebody_elses_stays() {
    let mut rig = Rig::new();
    rig.write("a", "old");
    let before = rig.take();
    rig.write("a", "new");
    let after = rig.take_after(&before);
    let found = rig.changes(&before, &after);
    fs::remove_file(rig.path("a")).unwrap();
    fifo(&rig, "a");
    let kept = rig.restore(&found.effects).kept;
    assert!(matches!(kept[..], [Kept { why: Hindrance::Special, .. }]), "{kept:?}");
    assert!(fs::symlink_metadata(rig.path("a")).unwrap().file_type().is_fifo());
}

#[test]
fn r_undo_what_was_not_covered_is_named_when_it_went_or_changed_and_only_then() {
    let mut rig = Rig::new();
    rig.bounds.file_bytes = 100;
    rig.write(".gitignore", "node_modules\nbuild\nquiet\n");
    for folder in ["node_modules", "build", "quiet"] {
        rig.write(&format!("{folder}/x"), "x");
    }
    for file in ["huge", "grows", "stays"] {
        rig.write(file, "h".repeat(200));
    }
    let before = rig.take();
    fs::remove_dir_all(rig.path("node_modules")).unwrap();
    rig.write("build/more", "m");
    fs::remove_file(rig.path("huge")).unwrap();
    rig.write("grows", "h".repeat(300));
    let after = rig.take_after(&before);
    let found = rig.changes(&before, &after);
    assert_eq!(uncovered(&found), ["build", "grows", "huge", "node_modules"]);
    assert_eq!(found.effects, []);
    let again = rig.take_after(&after);
    assert_eq!(rig.changes(&after, &again), Changes::default());
}
