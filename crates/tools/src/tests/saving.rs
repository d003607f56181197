//! Saving: the old or the new content, whole; links, modes and owners as they were.
#![cfg(unix)]

use super::rig::Rig;
use crate::clear::{Approval, NAMES_UNSEEN, clear};
use crate::save::{Target, save};
use crate::{Settled, reconcile};
use domain::call::{Mode, Recovery, Semantics, Verdict};
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

fn write(path: &str, content: &str) -> Value {
    json!({"path": path, "content": content})
}

#[test]
fn e12_a_link_stays_a_link() {
    let rig = Rig::with(&[("shared/real.toml", b"a = 1\n"), ("conf/keep", b"")]);
    symlink("../shared/real.toml", rig.path("conf/link.toml")).unwrap();
    symlink("link.toml", rig.path("conf/chain.toml")).unwrap();
    symlink("loop", rig.path("loop")).unwrap();
    symlink("nowhere", rig.path("dangling")).unwrap();
    rig.call("write_file", write("conf/link.toml", "a = 2\n"));
    assert_eq!(rig.get("shared/real.toml"), b"a = 2\n");
    let finished =
        rig.call("edit_file", json!({"path": "conf/chain.toml", "old_text": "2", "new_text": "3"}));
    assert_eq!(
        (rig.get("shared/real.toml"), finished.effects[0].path.as_str()),
        (b"a = 3\n".to_vec(), "shared/real.toml")
    );
    for link in ["conf/link.toml", "conf/chain.toml"] {
        assert!(std::fs::symlink_metadata(rig.path(link)).unwrap().is_symlink());
    }
    assert_eq!(rig.error("write_file", write("dangling", "x")).code, "file/broken_link");
    let loops = rig.error("write_file", write("loop", "x"));
    assert!(loops.code == "file/io" && loops.message.contains("symbolic links"), "{loops}");
}

#[test]
fn e13_all_names_of_a_file_show_the_new_content() {
    let rig = Rig::with(&[("a", b"one one one\n")]);
    std::fs::hard_link(rig.path("a"), rig.path("b")).unwrap();
    rig.call("write_file", write("a", "two\n"));
    assert_eq!((rig.get("a"), rig.get("b")), (b"two\n".to_vec(), b"two\n".to_vec()));
    assert_eq!(
        std::fs::metadata(rig.path("a")).unwrap().ino(),
        std::fs::metadata(rig.path("b")).unwrap().ino()
    );
}

/// What is written goes to every name, so the card names them, each changes on record, and one that leads out asks.
#[test]
fn e13_a_card_names_all_names_of_a_file() {
    let mut rig = Rig::with(&[("a", b"one\n"), ("sub/other", b"other\n")]);
    std::fs::hard_link(rig.path("a"), rig.path("sub/b")).unwrap();
    let facts = |rig: &Rig, path: &str| {
        rig.check("write_file", &write(path, "two\n")).survey(&rig.ctx).unwrap().facts
    };
    let named = facts(&rig, "a");
    assert_eq!(
        (named.can_touch, named.cannot_touch.len(), named.risk),
        (vec!["a".into(), "sub/b".into()], 2, 2)
    );
    let told: Vec<String> =
        rig.call("write_file", write("a", "two\n")).effects.into_iter().map(|effect| effect.path).collect();
    assert_eq!(told, ["a", "sub/b"]);

    let outside = tempfile::tempdir_in(rig.path("").parent().unwrap()).unwrap();
    std::fs::hard_link(rig.path("a"), outside.path().join("c")).unwrap();
    let named = facts(&rig, "sub/b");
    assert_eq!((named.cannot_touch, named.risk), (vec!["network".to_owned()], 3));
    assert_eq!(named.words.get(NAMES_UNSEEN).map(String::as_str), Some("1"));
    std::fs::hard_link(rig.path("a"), outside.path().join("d")).unwrap();
    let more = facts(&rig, "sub/b");
    assert_eq!(more.words.get(NAMES_UNSEEN).map(String::as_str), Some("2"));
    std::fs::remove_file(outside.path().join("d")).unwrap();
    for mode in [Mode::Ask, Mode::Edit, Mode::Auto] {
        rig.mode = mode;
        let judged = rig.judge("write_file", &write("sub/b", "three\n"));
        assert_eq!(judged, Verdict::Ask { rule: "builtin/outside".to_owned() }, "{mode:?}");
        let other = rig.judge("write_file", &write("sub/other", "three\n"));
        assert_eq!(matches!(other, Verdict::Allow { .. }), mode != Mode::Ask, "{mode:?}");
    }
}

/// The names on the card are those that are written to: one that comes or goes after the yes, at whichever moment, is
/// refused, and nothing is written.
#[test]
fn e13_a_name_made_after_the_yes_is_not_written_to() {
    let between = |change: &dyn Fn(&Rig)| {
        let rig = Rig::with(&[("a", b"one\n")]);
        std::fs::hard_link(rig.path("a"), rig.path("b")).unwrap();
        let call = rig.check("write_file", &write("a", "two\n"));
        let surveyed = call.survey(&rig.ctx).unwrap();
        let approval = Approval::of(&call, &surveyed.facts, 1_000);
        let cleared = clear(&call, surveyed, &rig.policy(), Some(&approval), 0).unwrap();
        change(&rig);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let finished = runtime.block_on(crate::run(cleared, &rig.ctx));
        // And had it been asked about once more, it would have been a different question.
        let again = call.survey(&rig.ctx).unwrap();
        assert_ne!(Approval::of(&call, &again.facts, 1_000).digest(), approval.digest());
        assert_eq!((rig.get("a"), finished.effects), (b"one\n".to_vec(), vec![]));
        finished.text
    };
    let outside = tempfile::tempdir_in(Rig::new().path("").parent().unwrap().parent().unwrap()).unwrap();
    let text = between(&|rig| std::fs::hard_link(rig.path("a"), rig.path("c")).unwrap());
    insta::assert_snapshot!(text, @r#"
    Error (file/changed): "a" has got or lost a name since it was looked at; nothing was written
    Call again if it is still wanted.
    "#);
    let same = |other: String| assert_eq!(other, text);
    same(between(&|rig| std::fs::hard_link(rig.path("a"), outside.path().join("c")).unwrap()));
    same(between(&|rig| std::fs::remove_file(rig.path("b")).unwrap()));
    same(between(&|rig| std::fs::rename(rig.path("b"), rig.path("c")).unwrap()));

    let rig = Rig::with(&[("a", b"one\n")]);
    let target = Target::find(&rig.ctx.place, &rig.ctx.place.reach("a").unwrap(), 100).unwrap();
    std::fs::hard_link(rig.path("a"), rig.path("b")).unwrap();
    let error = save(&rig.ctx.place, &target, b"two\n").unwrap_err();
    assert_eq!((error.code.as_str(), rig.get("a")), ("file/changed", b"one\n".to_vec()));
}

#[test]
fn a_card_names_the_folders_that_are_made_first() {
    let rig = Rig::with(&[("there/f", b"")]);
    let check = |path: &str, expect: Option<&str>| {
        let facts = rig.check("write_file", &write(path, "x")).survey(&rig.ctx).unwrap().facts;
        assert_eq!(facts.words.get("folders").map(String::as_str), expect, "{path}");
        assert_eq!(facts.can_touch, [path]);
    };
    check("new/er/f", Some("new\nnew/er"));
    check("there/new/f", Some("there/new"));
    check("there/g", None);
    check("there/f", None);
}

#[test]
fn e14_a_read_only_file_is_not_replaced() {
    let rig = Rig::with(&[("f", b"old\n")]);
    std::fs::set_permissions(rig.path("f"), std::fs::Permissions::from_mode(0o444)).unwrap();
    for args in [
        ("write_file", write("f", "new\n")),
        ("edit_file", json!({"path": "f", "old_text": "old", "new_text": "new"})),
    ] {
        let error = rig.error(args.0, args.1);
        insta::allow_duplicates! {
            insta::assert_snapshot!(crate::run::error_text(&error), @r#"
            Error (file/read_only): "f" is read-only
            Ask the person whether it shall be made writable.
            "#);
        }
    }
    assert_eq!((rig.get("f"), rig.names()), (b"old\n".to_vec(), vec!["f".to_owned()]));
}

#[test]
fn modes_stay_and_new_files_get_the_usual_one() {
    let rig = Rig::with(&[("run.sh", b"echo 1\n"), ("private", b"x")]);
    let mode = |path: &str| std::fs::metadata(rig.path(path)).unwrap().mode() & 0o7777;
    std::fs::set_permissions(rig.path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(rig.path("private"), std::fs::Permissions::from_mode(0o600)).unwrap();
    rig.put("usual", b"");
    for path in ["run.sh", "private", "deep/new/file"] {
        rig.call("write_file", write(path, "changed\n"));
    }
    assert_eq!((mode("run.sh"), mode("private"), mode("deep/new/file")), (0o755, 0o600, mode("usual")));
}

#[test]
fn a_replaced_text_keeps_its_encoding_and_line_ends() {
    let gbk = |text: &str| encoding_rs::GBK.encode(text).0.into_owned();
    let rig = Rig::with(&[("g", &gbk("你好\r\n世界\r\n")), ("u", "\u{feff}a\n".as_bytes())]);
    let said = rig.call("write_file", write("g", "再见\n世界\n")).text;
    assert_eq!(rig.get("g"), gbk("再见\r\n世界\r\n"));
    assert_eq!(said, "Changed \"g\" (+1 -1 lines). Kept: encoding GBK, CRLF line ends.");
    rig.call("write_file", write("u", "b\n"));
    assert_eq!(rig.get("u"), "\u{feff}b\n".as_bytes());
    rig.put("mark", "\u{feff}".as_bytes());
    rig.call("write_file", write("mark", "b\n"));
    assert_eq!(rig.get("mark"), "\u{feff}b\n".as_bytes(), "also where there is nothing but the mark");
    assert_eq!(rig.error("write_file", write("g", "🌍")).code, "text/unencodable");
    assert_eq!(
        rig.call("write_file", write("u", "b\n")).text,
        "\"u\" already has exactly this content; nothing was changed. Kept: encoding UTF-8 with BOM."
    );
}

#[test]
fn e15_a_killed_save_leaves_old_or_new_and_its_leftover_is_cleared() {
    // The child saves over the file without end; it is killed in the middle, again and again.
    let here = "tests::saving::e15_a_killed_save_leaves_old_or_new_and_its_leftover_is_cleared";
    const SIZE: usize = 16 << 20;
    if let Some(folder) = std::env::var_os("DAYBOOK_TEST_SAVES") {
        let place = crate::Place::open(folder.as_ref(), Vec::new()).unwrap();
        let real = place.reach("big").unwrap().real;
        let current = crate::save::Current::read(&place, &real, SIZE as u64).unwrap();
        let target = crate::save::Target { real, current: Some(current) };
        let contents: Vec<Vec<u8>> = (b'a'..b'd').map(|letter| vec![letter; SIZE]).collect();
        for bytes in contents.iter().cycle() {
            crate::save::save(&place, &target, bytes).unwrap();
        }
    }
    let rig = Rig::with(&[("big", &vec![b'-'; SIZE])]);
    let mut leftovers = 0;
    for round in 0..10u32 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", here])
            .env("DAYBOOK_TEST_SAVES", rig.path("."))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // In the middle of a save, and at a moment that differs from round to round.
        while rig.names().len() == 1 {
            assert!(child.try_wait().unwrap().is_none(), "the child saves until it is killed");
        }
        (0..round * 20).for_each(|_| drop(rig.names()));
        child.kill().unwrap();
        child.wait().unwrap();
        let bytes = rig.get("big");
        assert!(bytes.len() == SIZE && bytes.windows(2).step_by(1_000).all(|two| two[0] == two[1]), "whole");
        assert_eq!(bytes[0], bytes[SIZE - 1]);
        leftovers += rig.names().len() - 1;
        let question = json!({"path": "big", "before": null, "after": null}).to_string();
        reconcile(&rig.ctx.place, &question, &rig.ctx.limits).unwrap();
        assert_eq!(rig.names(), ["big"], "the leftover is cleared");
    }
    assert!(leftovers > 0, "no kill hit a save: the test shows nothing");
}

#[test]
fn an_unknown_write_is_settled_by_looking() {
    let rig = Rig::with(&[("f", b"old")]);
    let operation = |name, args| match rig.survey(name, &args).unwrap().semantics {
        Semantics::Possible { recovery: Recovery::Reconcile { operation } } => operation,
        other => panic!("{other:?}"),
    };
    let settled = |operation: &str| reconcile(&rig.ctx.place, operation, &rig.ctx.limits).unwrap();
    let (change, create) =
        (operation("write_file", write("f", "new")), operation("write_file", write("d/n", "new")));
    let delete = operation("delete_path", json!({"path": "f"}));
    assert_eq!([&change, &create, &delete].map(|one| settled(one)), [Settled::NotDone; 3]);
    rig.put("f", b"new");
    rig.put("d/n", b"new");
    assert_eq!(
        [&change, &create, &delete].map(|one| settled(one)),
        [Settled::Done, Settled::Done, Settled::Unclear]
    );
    rig.put("f", b"other");
    assert_eq!(settled(&change), Settled::Unclear);
    std::fs::remove_file(rig.path("f")).unwrap();
    assert_eq!(settled(&delete), Settled::Done);
    assert!(
        reconcile(&rig.ctx.place, r#"{"path":"../x","before":null,"after":null}"#, &rig.ctx.limits).is_err()
    );
}

#[test]
fn each_change_leaves_an_effect_with_both_contents() {
    let rig = Rig::with(&[("f", b"a\nb\n")]);
    let finished = rig.call("write_file", write("f", "a\nc\nd\n"));
    let [effect] = &finished.effects[..] else { panic!("{finished:?}") };
    let blob = |digest: Option<_>| rig.ctx.blobs.get(&digest.unwrap()).unwrap();
    assert_eq!(
        (blob(effect.content_before()), blob(effect.content_after())),
        (b"a\nb\n".to_vec(), b"a\nc\nd\n".to_vec())
    );
    assert_eq!(effect.lines, Some(domain::call::LineCount { added: 2, removed: 1 }));
    assert_eq!(finished.text, "Changed \"f\" (+2 -1 lines).");
    let proposed = rig.survey("write_file", &write("f", "next")).unwrap().facts.proposed;
    assert_eq!(blob(proposed), b"next", "what is proposed can be shown before it is approved");
}
