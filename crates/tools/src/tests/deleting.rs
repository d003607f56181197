//! Deleting: kept in the trash or as blobs, never through a link, never what changed meanwhile.
#![cfg(unix)]

use super::rig::Rig;
use crate::tool::Bin;
use domain::call::{Entry, Recovery, Semantics, Undo};
use serde_json::json;
use std::os::unix::fs::symlink;

fn delete(rig: &Rig, path: &str) -> crate::Finished {
    rig.call("delete_path", json!({"path": path}))
}

#[test]
fn a_file_goes_to_the_trash_and_can_be_found_there() {
    let mut rig = Rig::with(&[("docs/old plan.md", b"plan\n"), ("x/old plan.md", b"other\n")]);
    let trash = rig.outside.path().join("Trash");
    rig.ctx.bin = Bin::Folder(trash.clone());
    let finished = delete(&rig, "docs/old plan.md");
    assert_eq!(finished.text, "Moved \"docs/old plan.md\" to the trash.");
    assert_eq!(finished.effects[0].kept_in.as_deref(), Some("trash"));
    delete(&rig, "x/old plan.md");
    assert_eq!(std::fs::read(trash.join("files/old plan.md")).unwrap(), b"plan\n");
    assert_eq!(std::fs::read(trash.join("files/old plan.md.2")).unwrap(), b"other\n");
    let note = std::fs::read_to_string(trash.join("info/old plan.md.trashinfo")).unwrap();
    let lines: Vec<&str> = note.lines().collect();
    let original = format!("Path={}/docs/old%20plan.md", rig.ctx.place.path().display());
    assert_eq!((lines[0], lines[1]), ("[Trash Info]", original.as_str()));
    assert!(
        lines[2].len() == "DeletionDate=2026-01-01T00:00:00".len() && lines[2].starts_with("DeletionDate=20"),
        "{note}"
    );
    assert_eq!(
        rig.ctx.blobs.get(&finished.effects[0].content_before().unwrap()).unwrap(),
        b"plan\n",
        "undo needs no trash"
    );
}

#[test]
fn without_a_trash_every_file_is_kept() {
    let rig = Rig::with(&[("d/a", b"1\n2\n"), ("d/sub/b", b"\0bin"), ("keep", b"k")]);
    symlink("../keep", rig.path("d/link")).unwrap();
    let finished = delete(&rig, "d");
    assert_eq!(finished.text, "Deleted \"d\" (3 files); the content is kept and can be brought back.");
    assert_eq!(rig.names(), ["keep"]);
    let kept: Vec<_> = finished
        .effects
        .iter()
        .map(|effect| {
            (effect.path.as_str(), effect.content_before().map(|digest| rig.ctx.blobs.get(&digest).unwrap()))
        })
        .collect();
    let some = |bytes: &[u8]| Some(bytes.to_vec());
    assert_eq!(
        kept,
        [
            ("d", None),
            ("d/a", some(b"1\n2\n")),
            ("d/link", None),
            ("d/sub", None),
            ("d/sub/b", some(b"\0bin"))
        ]
    );
    assert_eq!(finished.effects[2].before, Some(Entry::Link { target: "../keep".into() }));
    assert!(matches!(finished.effects[0].before, Some(Entry::Folder { mode: Some(_) })));
    assert_eq!(rig.get("keep"), b"k", "the link was deleted, not what it leads to");
}

#[test]
fn a_whole_folder_goes_to_the_trash_even_when_it_is_too_large_to_copy() {
    let mut rig = Rig::with(&[("d/a", b"1"), ("d/b", b"2"), ("e/a", b"1"), ("e/b", b"2")]);
    rig.limits(|limits| limits.delete_entries = 2);
    let refused = rig.error("delete_path", json!({"path": "d"}));
    assert_eq!(refused.code, "delete/too_large");
    assert_eq!(rig.get("d/a"), b"1", "nothing is deleted that isn't kept");
    rig.ctx.bin = Bin::Folder(rig.outside.path().join("Trash"));
    let facts = rig.survey("delete_path", &json!({"path": "d"})).unwrap().facts;
    assert_eq!((facts.undo, facts.risk, facts.words["more"].as_str()), (Undo::Partly, 3, "true"));
    let finished = delete(&rig, "d");
    assert_eq!((finished.effects.len(), finished.effects[0].kept_in.as_deref()), (1, Some("trash")));
    assert!(!rig.path("d").exists());
}

/// A result that lists each of thousands of files fits in no event: the deletion was done and never recorded.
#[test]
fn a_folder_of_more_files_than_an_event_can_list_goes_to_the_trash_as_one() {
    let mut rig = Rig::new();
    for n in 0..700 {
        rig.put(&format!("d/{n}"), b"1");
    }
    assert_eq!(rig.error("delete_path", json!({"path": "d"})).code, "delete/too_large");
    assert_eq!(rig.get("d/0"), b"1", "nothing is deleted that isn't kept");
    rig.ctx.bin = Bin::Folder(rig.outside.path().join("Trash"));
    let finished = delete(&rig, "d");
    assert_eq!((finished.effects.len(), finished.effects[0].kept_in.as_deref()), (1, Some("trash")));
    assert!(!rig.path("d").exists());
}

#[test]
fn a_trash_that_can_not_be_used_is_no_loss() {
    let mut rig = Rig::with(&[("f", b"1")]);
    std::fs::write(rig.outside.path().join("file"), "").unwrap();
    rig.ctx.bin = Bin::Folder(rig.outside.path().join("file/Trash"));
    let finished = delete(&rig, "f");
    assert_eq!(finished.effects[0].kept_in.as_deref(), Some("blob"));
    rig.put("g", b"1");
    rig.ctx.bin = Bin::System;
    assert_eq!(delete(&rig, "g").effects[0].kept_in.as_deref(), Some("blob"));
}

#[test]
fn a_link_is_deleted_and_not_its_target() {
    let rig = Rig::with(&[("real/x", b"1")]);
    symlink("real", rig.path("link")).unwrap();
    symlink(rig.outside.path(), rig.path("out")).unwrap();
    for link in ["link", "out"] {
        delete(&rig, link);
    }
    assert_eq!((rig.names(), rig.get("real/x")), (vec!["real".to_owned()], b"1".to_vec()));
}

#[test]
fn the_folder_itself_and_what_is_not_there_are_refused() {
    let rig = Rig::with(&[("notes.md", b"")]);
    for path in [".", "./", "x/.."] {
        assert_eq!(rig.error("delete_path", json!({"path": path})).code, "delete/root");
    }
    let error = rig.error("delete_path", json!({"path": "note.md"}));
    assert_eq!(error.suggestion.as_deref(), Some("Did you mean \"notes.md\"?"));
    assert_eq!(rig.error("delete_path", json!({"path": "none/x"})).code, "file/not_found");
}

#[test]
fn a_deletion_found_done_names_no_content_that_nobody_kept() {
    let mut rig = Rig::new();
    rig.ctx.secrets = std::sync::Arc::new(crate::redact::Needles::new(["sk-canary-0123456789"]));
    rig.put("key.txt", b"KEY=sk-canary-0123456789\n");
    rig.put("plain.txt", b"plain\n");
    let found_done = |path: &str, undo: Undo| {
        let surveyed = rig.check("delete_path", &json!({ "path": path })).survey(&rig.ctx).unwrap();
        assert_eq!(surveyed.facts.undo, undo, "{path}");
        let Semantics::Possible { recovery: Recovery::Reconcile { operation } } = surveyed.semantics else {
            panic!("it can be asked about")
        };
        std::fs::remove_file(rig.path(path)).unwrap();
        assert_eq!(
            crate::reconcile(&rig.ctx.place, &operation, &rig.ctx.limits).unwrap(),
            crate::Settled::Done
        );
        crate::asked_about(&operation).unwrap().remove(0)
    };
    let plain = found_done("plain.txt", Undo::Yes);
    assert_eq!(plain.content_before(), Some(domain::digest::Digest::of(b"plain\n")));
    let key = found_done("key.txt", Undo::Partly);
    assert_eq!((key.before, key.kept_in.as_deref()), (None, Some("trash")));
}
