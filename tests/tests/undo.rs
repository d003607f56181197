//! Taking changes back: what tools and commands did goes back byte for byte, comes again, and survives a kill.

use crate::play::{Play, alone, run, script, text, write};
use domain::call::Mode;
use domain::event::{Fact, RestoreOf, RestoreScope, RevisionRestored};
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use store::Point;
use tests::{Answers, DieAt, Ended, Rig};

/// Everything in a folder: kind, permissions, content.
fn folder(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).expect("readable") {
            let path = entry.expect("an entry").path();
            let meta = path.symlink_metadata().expect("there");
            let what = if meta.is_symlink() {
                format!("-> {}", std::fs::read_link(&path).expect("a link").display())
            } else if meta.is_dir() {
                todo.push(path.clone());
                format!("folder {:o}", meta.permissions().mode())
            } else {
                format!("{:o} {:?}", meta.permissions().mode(), std::fs::read(&path).expect("readable"))
            };
            found.insert(path.strip_prefix(root).expect("inside").display().to_string(), what);
        }
    }
    found
}

/// A rig in *Auto* whose model writes, edits and runs commands that make and remove files.
fn changing() -> Rig {
    let steps = [
        write("new/deep.txt", "one\n"),
        run("make built/out.txt"),
        run("drop kept.txt"),
        write("readme.txt", "changed\n"),
        text("Done."),
        text("Heard."),
    ];
    let mut rig = Rig::new(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>()));
    rig.mode = Mode::Auto;
    let root = rig.folder().to_owned();
    std::fs::write(root.join("kept.txt"), "precious\n").expect("written");
    std::fs::set_permissions(root.join("kept.txt"), std::fs::Permissions::from_mode(0o755)).expect("set");
    std::fs::write(root.join("readme.txt"), "as it was\n").expect("written");
    std::fs::create_dir(root.join("empty")).expect("made");
    symlink("readme.txt", root.join("link")).expect("linked");
    rig
}

async fn undo(play: &Play, of: RestoreOf, overwrite: &[&str]) -> RevisionRestored {
    let before = play.count("revision/restored");
    let scope = RestoreScope { of, paths: Vec::new() };
    let overwrite = overwrite.iter().map(|path| (*path).to_owned()).collect();
    play.process.engine.restore(&play.session, scope, overwrite).await.expect("it is taken");
    play.until(|state| state.restoring.is_none()).await;
    assert_eq!(play.count("revision/restored"), before + 1);
    restored(play)
}

fn restored(play: &Play) -> RevisionRestored {
    let last = play.facts().into_iter().rev().find_map(|fact| match fact {
        Fact::RevisionRestored(done) => Some(done),
        _ => None,
    });
    last.expect("something was taken back")
}

/// What the last return was to leave alone, and why.
fn kept(play: &Play) -> Vec<(String, String)> {
    let last = play.facts().into_iter().rev().find_map(|fact| match fact {
        Fact::RevisionRestoring(began) => Some(began.kept),
        _ => None,
    });
    last.expect("something was taken back").into_iter().map(|kept| (kept.path, kept.why)).collect()
}

#[test]
fn what_tools_and_commands_changed_goes_back_and_comes_again_byte_for_byte() {
    alone(async {
        let rig = changing();
        let at_first = folder(rig.folder());
        let play = Play::on(rig).await;
        play.through("Change things.").await;
        let changed = folder(play.rig.folder());
        assert!(changed.contains_key("built/out.txt") && !changed.contains_key("kept.txt"), "{changed:?}");
        let done = undo(&play, RestoreOf::Session, &[]).await;
        assert_eq!((done.kept.len(), done.error), (0, None));
        assert_eq!(folder(play.rig.folder()), at_first);
        let again = undo(&play, RestoreOf::Restore { revision: done.revision }, &[]).await;
        assert_eq!(folder(play.rig.folder()), changed);
        undo(&play, RestoreOf::Restore { revision: again.revision }, &[]).await;
        assert_eq!(folder(play.rig.folder()), at_first, "the undo of the undo of the undo");
        let ledger = engine::ledger::Ledger::read(play.process.engine.store(), &play.session).expect("read");
        assert!(ledger.undone(&ledger.turns[0].turn).contains("kept.txt"), "and it says so");
        play.through("Go on.").await;
        let heard = play.heard().join("\n");
        assert!(heard.contains("took changes back") && heard.contains("kept.txt"), "{heard}");
    });
}

#[test]
fn one_call_goes_back_alone() {
    alone(async {
        let play = Play::on(changing()).await;
        play.through("Change things.").await;
        let drop = play.facts().into_iter().find_map(|fact| match fact {
            Fact::ToolResult(done) if done.changed.effects.iter().any(|effect| effect.path == "kept.txt") => {
                Some(done.call)
            }
            _ => None,
        });
        undo(&play, RestoreOf::Call { call: drop.expect("a command removed it") }, &[]).await;
        let now = folder(play.rig.folder());
        assert!(now.contains_key("kept.txt") && now.contains_key("built/out.txt"), "{now:?}");
    });
}

#[test]
fn what_one_call_changed_is_the_same_read_by_itself() {
    alone(async {
        let play = Play::on(changing()).await;
        play.through("Change things.").await;
        let reader = play.process.engine.store();
        let ledger = engine::ledger::Ledger::read(reader, &play.session).expect("read");
        let mut changed = 0;
        for call in play.facts().into_iter().filter_map(|fact| fact.call().cloned()) {
            let of = RestoreOf::Call { call: call.clone() };
            let all = ledger.net(&RestoreScope { of, paths: Vec::new() });
            let own = |paths| engine::ledger::Ledger::net_of_call(reader, &play.session, &call, paths);
            assert_eq!(own(Vec::new()).expect("read"), all);
            for effect in &all {
                assert_eq!(own(vec![effect.path.clone()]).expect("read"), std::slice::from_ref(effect));
                changed += 1;
            }
        }
        assert!(changed > 3, "{changed}");
    });
}

#[test]
fn what_a_person_changed_since_is_kept_and_reported_or_merged() {
    alone(async {
        let play = Play::on(changing()).await;
        play.through("Change things.").await;
        let root = play.rig.folder().to_owned();
        std::fs::write(root.join("new/deep.txt"), "mine\n").expect("written");
        let done = undo(&play, RestoreOf::Session, &[]).await;
        assert_eq!(done.kept, [], "it was known before");
        let kept = kept(&play);
        assert_eq!(
            kept.iter().map(|(path, why)| (path.as_str(), why.as_str())).collect::<Vec<_>>(),
            [("new", "not_empty"), ("new/deep.txt", "changed")]
        );
        assert_eq!(std::fs::read(root.join("new/deep.txt")).expect("there"), b"mine\n");
        assert_eq!(std::fs::read(root.join("kept.txt")).expect("back"), b"precious\n");
        undo(&play, RestoreOf::Session, &["new/deep.txt", "new"]).await;
        assert!(!root.join("new").exists(), "the person said so");
        let back = restored(&play).revision;
        undo(&play, RestoreOf::Restore { revision: back }, &[]).await;
        assert_eq!(std::fs::read(root.join("new/deep.txt")).expect("there"), b"mine\n", "and it isn't lost");
    });
}

#[test]
fn a_restore_that_was_killed_is_finished_by_the_next_process() {
    let mut points = 0;
    for n in 0..200 {
        let rig = changing();
        let at_first = folder(rig.folder());
        let dead = alone(async {
            let process = rig.start(DieAt::append(n, Point::AfterCommit));
            let Ok(session) = process.engine.create(rig.created()).await else { return None };
            let play = Play::in_process(rig, process, session);
            play.process
                .engine
                .command(
                    &play.session,
                    engine::Command::Say {
                        text: "Change things.".into(),
                        target: domain::event::Target::NextStep,
                        command: None,
                    },
                )
                .await
                .ok()?;
            if play.rest(&Answers::default()).await == Ended::Dead {
                return None;
            }
            let scope = RestoreScope { of: RestoreOf::Session, paths: Vec::new() };
            let taken = play.process.engine.restore(&play.session, scope, Vec::new()).await;
            let begun = play.rig.log(&play.session).iter().any(|event| event.kind == "revision/restoring");
            let done = taken.is_ok() && {
                for _ in 0..50 {
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                }
                play.rig.log(&play.session).iter().any(|event| event.kind == "revision/restored")
            };
            Some((play, begun, done))
        });
        let Some((play, begun, done)) = dead else { continue };
        if !begun {
            continue;
        }
        points += 1;
        alone(async {
            let play = play.restart().await;
            drop(play.process.engine.state(&play.session));
            play.until(|state| state.restoring.is_none()).await;
            assert_eq!(folder(play.rig.folder()), at_first, "killed after append {n}");
            assert_eq!(play.count("revision/restored"), 1);
            play.clean();
        });
        if done {
            break;
        }
    }
    assert!(points >= 2, "it was killed before and after the end was recorded: {points}");
}

/// A file of ten lines, one of them changed.
fn lines(changed: &[(usize, &str)]) -> String {
    let line = |n| {
        changed.iter().find(|(at, _)| *at == n).map_or(format!("line {n}"), |(_, text)| (*text).to_owned())
    };
    (0..10).map(|n| line(n) + "\n").collect()
}

#[test]
fn a_killed_undo_loses_nothing_that_a_person_had_and_can_be_undone() {
    let steps = [write("list.txt", &lines(&[(1, "theirs")])), write("new.txt", "made\n"), text("Done.")];
    let mut rig = Rig::new(&script(&steps.iter().map(String::as_str).collect::<Vec<_>>()));
    rig.mode = Mode::Auto;
    let root = rig.folder().to_owned();
    std::fs::write(root.join("list.txt"), lines(&[])).expect("written");
    let mine = lines(&[(1, "theirs"), (8, "mine")]);
    let play = alone(async {
        let play = Play::on(rig).await;
        play.through("Change things.").await;
        play
    });
    std::fs::write(root.join("list.txt"), &mine).expect("written");
    std::fs::write(root.join("new.txt"), "mine, too\n").expect("written");
    // All of it is done and the end isn't on record.
    let play = alone(async {
        let Play { rig, process, session } = play;
        drop(process);
        let process = Arc::new(rig.start(DieAt::append(1, Point::BeforeCommit)));
        let scope = RestoreScope { of: RestoreOf::Session, paths: Vec::new() };
        process.engine.restore(&session, scope, vec!["new.txt".into()]).await.expect("it is taken");
        let play = Play { rig, process, session };
        while !play.process.faults.is_dead() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        play
    });
    assert_eq!(play.count("revision/restored"), 0);
    assert_eq!(std::fs::read_to_string(root.join("list.txt")).expect("there"), lines(&[(8, "mine")]));
    assert!(!root.join("new.txt").exists());
    alone(async {
        let play = play.restart().await;
        drop(play.process.engine.state(&play.session));
        play.until(|state| state.restoring.is_none()).await;
        let done = restored(&play);
        assert_eq!((done.changed.count(), done.kept.len(), done.error), (2, 0, None));
        undo(&play, RestoreOf::Restore { revision: done.revision }, &[]).await;
        assert_eq!(std::fs::read_to_string(root.join("list.txt")).expect("there"), mine);
        assert_eq!(std::fs::read_to_string(root.join("new.txt")).expect("there"), "mine, too\n");
        play.clean();
    });
}

/// Everything in the data folder, as bytes.
fn kept_anywhere(data: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![data.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).expect("readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if let Ok(bytes) = std::fs::read(&path)
                && bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn no_copy_of_a_registered_key_is_kept_for_undo() {
    const KEY: &str = "sk-canary-0123456789abcdef";
    let edit = serde_json::json!({ "path": "env.txt", "old_text": "one", "new_text": "two" });
    let edit = format!(r#"{{"call":{{"name":"edit_file","arguments":{edit}}}}}"#);
    let delete = r#"{"call":{"name":"delete_path","arguments":{"path":"env.txt"}}}"#;
    let steps = [&edit, delete, &run("make built.txt"), &write("mine.txt", "made\n"), &text("Done.")];
    let mut rig = Rig::new(&script(&steps.map(|step| step as &str)));
    rig.mode = Mode::Auto;
    rig.keys = vec![KEY.to_owned()];
    let root = rig.folder().to_owned();
    let with_key = format!("one\nKEY={KEY}\n");
    std::fs::write(root.join("env.txt"), &with_key).expect("written");
    alone(async {
        let play = Play::on(rig).await;
        play.through("Change things.").await;
        let refused: Vec<String> = play
            .facts()
            .into_iter()
            .filter_map(|fact| match fact {
                Fact::ToolResult(done) => match done.outcome {
                    domain::event::ToolOutcome::Error { error } => Some(error.code),
                    domain::event::ToolOutcome::Ok { .. } => None,
                },
                _ => None,
            })
            .collect();
        assert_eq!(refused, ["file/holds_key", "delete/too_large"]);
        assert_eq!(std::fs::read_to_string(root.join("env.txt")).expect("there"), with_key);
        // A person puts the key where an undo would write.
        std::fs::write(root.join("mine.txt"), &with_key).expect("written");
        let place = tools::Place::open(&root, Vec::new()).expect("it opens");
        let ledger = engine::ledger::Ledger::read(play.process.engine.store(), &play.session).expect("read");
        let net = ledger.net(&RestoreScope { of: RestoreOf::Session, paths: Vec::new() });
        let seen = engine::show::preview_undo(&play.process.engine, &place, &net).expect("it is looked at");
        let seen = seen.into_iter().find(|(path, _)| path == "mine.txt").map(|(_, state)| state);
        let holds_key = engine::show::State::Kept { why: tools::revision::Hindrance::HoldsKey };
        assert_eq!(seen, Some(holds_key), "the preview promises no more than the undo does");
        undo(&play, RestoreOf::Session, &["mine.txt"]).await;
        assert_eq!(kept(&play), [("mine.txt".to_owned(), "holds_key".to_owned())]);
        assert_eq!(std::fs::read_to_string(root.join("mine.txt")).expect("there"), with_key);
        assert!(!root.join("built.txt").exists());
        assert_eq!(kept_anywhere(play.rig.data(), KEY), Vec::<String>::new());
        play.clean();
    });
}
