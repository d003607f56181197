//! What stands in the way is kept and reported, unless it is forced; and what is forced is kept in the blobs.

use super::rig::Rig;
use crate::BlobSink;
use crate::revision::*;
use domain::call::{Effect, Entry};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// A turn that edits `a`, creates `new/b`, deletes `gone`; what a person does then; what an undo keeps, and the folder
/// after it as `path=content` of its files.
#[track_caller]
fn check(person: impl Fn(&Rig), kept: &[(&str, &str)], folder: &str) {
    let mut rig = Rig::new();
    rig.write("a", "old");
    rig.write("gone", "gone");
    let before = rig.take();
    rig.write("a", "new");
    rig.write("new/b", "made");
    fs::remove_file(rig.path("gone")).unwrap();
    let after = rig.take();
    let effects = rig.changes(&before, &after).effects;
    person(&rig);
    let seen = preview(&rig.place, &effects, None).unwrap();
    let state = files(&rig);
    let restored = rig.restore(&effects);
    let found: Vec<(&str, String)> =
        restored.kept.iter().map(|kept| (kept.path.as_str(), word(&kept.why))).collect();
    assert_eq!(found, kept.iter().map(|(path, why)| (*path, (*why).to_owned())).collect::<Vec<_>>());
    assert_eq!(files(&rig), folder);
    let foreseen: Vec<Kept> = seen
        .into_iter()
        .filter_map(|(path, state)| match state {
            State::Kept { why } => Some(Kept { path, why }),
            State::Ready | State::Done => None,
        })
        .collect();
    assert_eq!(foreseen, restored.kept, "the preview says the same");
    // Undoing the undo gives what the person left.
    rig.restore(&restored.done);
    assert_eq!(files(&rig), state);
}

fn word(why: &Hindrance) -> String {
    match why {
        Hindrance::Changed { now: None } => "nothing there".into(),
        Hindrance::Changed { now: Some(Entry::File { bytes, .. }) } => format!("a file of {bytes}"),
        Hindrance::Changed { now: Some(Entry::Link { target }) } => format!("a link to {target}"),
        Hindrance::Changed { now: Some(Entry::Folder { .. }) } => "a folder".into(),
        Hindrance::Changed { now: Some(Entry::Uncovered { .. }) } => "uncovered".into(),
        Hindrance::NotEmpty { holds } => format!("holds {}", holds.join(" ")),
        Hindrance::Blocked { by } => format!("blocked by {by}"),
        other => format!("{other:?}"),
    }
}

fn files(rig: &Rig) -> String {
    let (mut out, mut todo) = (Vec::new(), vec![rig.folder.clone()]);
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&rig.folder).unwrap().display().to_string();
            let meta = path.symlink_metadata().unwrap();
            match (meta.is_symlink(), meta.is_dir()) {
                (true, _) => out.push(format!("{name}@")),
                (_, true) => {
                    out.push(format!("{name}/"));
                    todo.push(path);
                }
                _ if meta.is_file() => out.push(format!("{name}={}", rig.text(&name))),
                _ => out.push(format!("{name}|")),
            }
        }
    }
    out.sort();
    out.join(" ")
}

#[test]
fn r_undo_a_persons_edit_in_between_is_kept_and_reported() {
    check(|_| {}, &[], "a=old gone=gone");
    check(|rig| rig.write("a", "mine"), &[("a", "a file of 4")], "a=mine gone=gone");
    check(|rig| fs::remove_file(rig.path("a")).unwrap(), &[("a", "nothing there")], "gone=gone");
    check(|rig| rig.write("gone", "mine"), &[("gone", "a file of 4")], "a=old gone=mine");
    check(|rig| rig.write("new/mine", "m"), &[("new", "holds mine")], "a=old gone=gone new/ new/mine=m");
    check(
        |rig| rig.write("new/b", "mine"),
        &[("new", "holds b"), ("new/b", "a file of 4")],
        "a=old gone=gone new/ new/b=mine",
    );
    let mode = |rig: &Rig| fs::set_permissions(rig.path("a"), fs::Permissions::from_mode(0o750)).unwrap();
    check(mode, &[("a", "a file of 3")], "a=new gone=gone");
    let link = |rig: &Rig| {
        fs::remove_file(rig.path("a")).unwrap();
        symlink("gone", rig.path("a")).unwrap();
    };
    check(link, &[("a", "a link to gone")], "a@ gone=gone");
    check(|rig| fs::create_dir(rig.path("gone")).unwrap(), &[("gone", "a folder")], "a=old gone/");
}

#[test]
fn r_undo_what_is_already_so_counts_as_done() {
    check(|rig| rig.write("gone", "gone"), &[], "a=old gone=gone");
    check(|rig| fs::remove_dir_all(rig.path("new")).unwrap(), &[], "a=old gone=gone");
}

#[test]
fn r_undo_a_folder_that_became_a_file_or_a_link_blocks_what_was_in_it() {
    let mut rig = Rig::new();
    rig.write("in/deep/file", "old");
    let before = rig.take();
    fs::remove_file(rig.path("in/deep/file")).unwrap();
    let after = rig.take();
    let effects = rig.changes(&before, &after).effects;
    fs::remove_dir_all(rig.path("in")).unwrap();
    let outside = rig.outside.path().join("elsewhere");
    fs::create_dir_all(outside.join("deep")).unwrap();
    symlink(&outside, rig.path("in")).unwrap();
    let restored = rig.restore(&effects);
    assert_eq!(
        restored.kept,
        [Kept { path: "in/deep/file".into(), why: Hindrance::Blocked { by: "in".into() } }]
    );
    assert_eq!(fs::read_dir(outside.join("deep")).unwrap().count(), 0);
    fs::remove_file(rig.path("in")).unwrap();
    let restored = rig.restore(&effects);
    assert_eq!((restored.kept, rig.text("in/deep/file")), (vec![], "old".into()), "missing folders are made");
}

#[test]
fn r_undo_what_somebody_removed_is_not_made_again_as_the_way_to_something() {
    let mut rig = Rig::new();
    rig.write("b/c/d", "old");
    let before = rig.take();
    fs::remove_dir_all(rig.path("b")).unwrap();
    rig.write("b", "a file in its place");
    let after = rig.take();
    fs::remove_file(rig.path("b")).unwrap();
    let restored = rig.restore(&rig.changes(&before, &after).effects);
    let kept: Vec<(&str, String)> =
        restored.kept.iter().map(|kept| (kept.path.as_str(), word(&kept.why))).collect();
    let expect = [("b", "nothing there"), ("b/c", "blocked by b"), ("b/c/d", "blocked by b/c")];
    assert_eq!(kept, expect.map(|(path, why)| (path, why.to_owned())));
    assert_eq!((files(&rig), restored.done), (String::new(), vec![]));
}

#[test]
fn r_undo_what_is_forced_can_be_undone_as_well() {
    let mut rig = Rig::new();
    rig.write("a", "old");
    rig.write("b", "old b");
    let before = rig.take();
    rig.write("a", "new");
    rig.write("b", "new b");
    let after = rig.take();
    let effects = rig.changes(&before, &after).effects;
    rig.write("a", "mine");
    fs::remove_file(rig.path("b")).unwrap();
    rig.write("b/inside/c", "mine too");
    let mine = files(&rig);
    let force = Force::Paths(BTreeSet::from(["a".to_owned()]));
    let restored = restore(&rig.place, &rig.blobs, &effects, &force).unwrap();
    assert_eq!(restored.kept.len(), 1, "only what is named is forced");
    assert_eq!(rig.text("a"), "old");
    let forced = restore(&rig.place, &rig.blobs, &effects, &Force::All).unwrap();
    assert_eq!((forced.kept, files(&rig)), (vec![], "a=old b=old b".into()));
    assert_eq!(rig.take().tree, before.tree);
    let all = compose(&[restored.done, forced.done].concat());
    let back: Vec<Effect> = all;
    assert_eq!((rig.restore(&back).kept, files(&rig)), (vec![], mine));
}

#[test]
fn i20_missing_old_content_changes_nothing_at_all() {
    let mut rig = Rig::new();
    rig.write("a", "old a");
    rig.write("b", "old b");
    let before = rig.take();
    rig.write("a", "new a");
    rig.write("b", "new b");
    let after = rig.take();
    let effects = rig.changes(&before, &after).effects;
    rig.blobs.forget(&domain::digest::Digest::of(b"old b"));
    let failed = restore(&rig.place, &rig.blobs, &effects, &Force::All).unwrap_err();
    assert!(matches!(&failed, RestoreError::Content { path, .. } if path == "b"), "{failed}");
    assert_eq!(files(&rig), "a=new a b=new b");
}

#[test]
fn r_undo_paths_that_lead_elsewhere_or_belong_to_us_are_never_touched() {
    let rig = Rig::new();
    rig.write("own/file", "ours");
    let effect = |path: &str| Effect {
        path: path.into(),
        before: None,
        after: Some(Entry::Folder { mode: None }),
        lines: None,
        kept_in: None,
        parted: None,
    };
    for path in ["..", "a/../b", "/etc", "", "a//b", "./a", "a/", "a\0b"] {
        let failed = restore(&rig.place, &rig.blobs, &[effect(path)], &Force::All).unwrap_err();
        assert!(matches!(failed, RestoreError::Path { .. }), "{path:?}");
    }
    for path in ["own", "own/file"] {
        let kept = restore(&rig.place, &rig.blobs, &[effect(path)], &Force::All).unwrap().kept;
        assert_eq!(kept, [Kept { path: path.into(), why: Hindrance::Own }]);
    }
    let twice = [effect("a"), effect("a")];
    let failed = restore(&rig.place, &rig.blobs, &twice, &Force::Nothing).unwrap_err();
    assert!(matches!(failed, RestoreError::Twice { .. }));
    assert_eq!(rig.text("own/file"), "ours");
}

#[test]
fn r_undo_a_preview_can_keep_the_present_content_for_showing() {
    let mut rig = Rig::new();
    rig.write("a", "old");
    let before = rig.take();
    rig.write("a", "new");
    let after = rig.take();
    rig.write("a", "mine");
    let effects = rig.changes(&before, &after).effects;
    let mine = domain::digest::Digest::of(b"mine");
    preview(&rig.place, &effects, None).unwrap();
    assert!(!rig.blobs.holds(&mine).unwrap());
    preview(&rig.place, &effects, Some(&rig.blobs)).unwrap();
    assert_eq!(rig.blobs.get(&mine).unwrap(), b"mine");
}

#[test]
fn r_undo_permissions_go_back_where_somebody_changed_the_content_or_are_left_alone() {
    let mode = |rig: &Rig, path: &str, mode| {
        fs::set_permissions(rig.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let mut rig = Rig::new();
    for path in ["script", "theirs"] {
        rig.write(path, b"\0binary");
        mode(&rig, path, 0o644);
    }
    let before = rig.take();
    mode(&rig, "script", 0o600);
    mode(&rig, "theirs", 0o600);
    let after = rig.take();
    let effects = rig.changes(&before, &after).effects;
    rig.write("script", b"\0binary, mine");
    rig.write("theirs", b"\0binary, mine");
    mode(&rig, "theirs", 0o640);
    let mut planned = plan_restore(&rig.place, &rig.blobs, &effects, &Force::Nothing).unwrap();
    planned.merge_texts(&rig.place, &rig.blobs, &effects).unwrap();
    let kept: Vec<_> = planned.kept.iter().map(|kept| (kept.path.as_str(), kept.why.code())).collect();
    assert_eq!(kept, [("theirs", "changed")]);
    let done = carry_out(&rig.place, &rig.blobs, &planned.steps).unwrap();
    assert_eq!(done.kept, []);
    let stands = |path: &str| fs::metadata(rig.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((stands("script"), stands("theirs")), (0o644, 0o640));
    assert_eq!(rig.text("script"), "\0binary, mine");
}

#[test]
fn r_undo_what_was_taken_back_already_is_neither_done_again_nor_left_alone() {
    let mut rig = Rig::new();
    rig.write("list", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let before = rig.take();
    rig.write("list", "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n");
    let after = rig.take();
    let effects = rig.changes(&before, &after).effects;
    rig.write("list", "1\n2\n3\n4\n5\n6\n7\neight\n9\n");
    let mut planned = plan_restore(&rig.place, &rig.blobs, &effects, &Force::Nothing).unwrap();
    planned.merge_texts(&rig.place, &rig.blobs, &effects).unwrap();
    assert_eq!(planned, Planned::default());
}

#[test]
fn a_file_whose_name_was_erased_keeps_no_other_from_going_back() {
    let mut rig = Rig::new();
    let before = rig.take();
    rig.write("new/secret", "s");
    rig.write("other", "o");
    let after = rig.take();
    let mut effects = rig.changes(&before, &after).effects;
    for effect in effects.iter_mut().filter(|effect| effect.path == "new/secret") {
        effect.path = format!("new/{}", domain::erasure::MARK);
    }
    let done = rig.restore(&effects);
    let kept: Vec<_> = done.kept.iter().map(|kept| kept.why.code()).collect();
    assert_eq!(kept, ["not_empty", "name_erased"], "the folder it is in, and the file");
    assert_eq!((rig.text("new/secret"), rig.path("other").exists()), ("s".into(), false));
}
