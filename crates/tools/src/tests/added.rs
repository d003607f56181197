//! Another folder that the person added: it can be looked at through every tool that looks, and nothing there can be
//! changed, left through a link, or swapped for something else.
#![cfg(unix)]

use super::rig::Rig;
use crate::added::{Gone, Refused, Walls, look};
use crate::policy::{Cage, secrets};
use crate::run::error_text;
use crate::{AddedPlace, End};
use domain::call::{Grant, Mode, Verdict};
use domain::event::FolderIdentity;
use domain::ids::GrantId;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What was asked before there were added folders reads as it was written and binds what it bound.
#[test]
fn facts_without_an_added_folder_are_what_they_were() {
    let rig = Rig::with(&[("own.txt", b"mine\n")]);
    let facts = rig.survey("read_file", &json!({"path": "own.txt"})).unwrap().facts;
    let written = serde_json::to_string(&facts).unwrap();
    assert!(!written.contains("added"), "{written}");
    assert_eq!(serde_json::from_str::<domain::call::Facts>(&written).unwrap(), facts);
}

/// A rig with an added folder beside its own, in which `a.txt`, `sub/b.txt` and `.env` lie, and the folder's path.
fn rig() -> (Rig, String) {
    let mut rig = Rig::with(&[("own.txt", b"mine\n")]);
    let folder = folder(&rig, "invoices");
    fs::create_dir(folder.join("sub")).unwrap();
    fs::write(folder.join("a.txt"), "total 12\n").unwrap();
    fs::write(folder.join("sub/b.txt"), "total 30\n").unwrap();
    fs::write(folder.join(".env"), "KEY=sk-CANARY\n").unwrap();
    let path = add(&mut rig, &folder);
    (rig, path)
}

fn folder(rig: &Rig, name: &str) -> PathBuf {
    let folder = rig.outside.path().canonicalize().unwrap().join(name);
    fs::create_dir(&folder).unwrap();
    folder
}

fn add(rig: &mut Rig, folder: &Path) -> String {
    let root = rig.path(".");
    let found = look(folder, &Walls { root: &root, home: None, hide: &[] }).unwrap();
    rig.ctx.added = Arc::new(vec![AddedPlace::open(&found.path, found.identity, Vec::new())]);
    found.path
}

fn text(rig: &Rig, path: &str, name: &str, args: Value) -> String {
    let finished = rig.call(name, args);
    assert_eq!(finished.end, End::Ok, "{finished:?}");
    assert!(finished.seen.is_empty() && finished.effects.is_empty());
    finished.text.replace(path, "ADDED")
}

#[test]
fn it_is_listed_read_and_searched_by_its_whole_path() {
    let (rig, path) = rig();
    insta::assert_snapshot!(text(&rig, &path, "list_files", json!({"path": path})), @r"
    ADDED/.env
    ADDED/a.txt
    ADDED/sub/
    ADDED/sub/b.txt
    ");
    insta::assert_snapshot!(text(&rig, &path, "read_file", json!({"path": format!("{path}/sub/b.txt")})), @"total 30");
    insta::assert_snapshot!(text(&rig, &path, "search_files", json!({"path": path, "pattern": "total|KEY"})), @r#"
    ADDED/a.txt:1: total 12
    ADDED/sub/b.txt:1: total 30
    [1 files that seem to hold secrets were not searched: "ADDED/.env"; give one as path to search it]
    "#);
    let near = error_text(&rig.error("read_file", json!({"path": format!("{path}/A.txt")})));
    insta::assert_snapshot!(near.replace(&path, "ADDED"), @r#"
    Error (file/not_found): can't read "ADDED/A.txt": there is no such file
    Did you mean "ADDED/a.txt"?
    "#);
    let facts = rig.survey("read_file", &json!({"path": format!("{path}/a.txt")})).unwrap().facts;
    assert_eq!(facts.can_touch, [format!("{path}/a.txt")]);
    assert_eq!(facts.added, [path]);
    assert_eq!(facts.cannot_touch, ["network", "writing"], "it does touch what is outside");
}

#[test]
fn it_is_read_in_every_mode_and_a_file_with_secrets_asks_and_is_remembered() {
    let (mut rig, path) = rig();
    let (plain, secret) = (json!({"path": format!("{path}/a.txt")}), json!({"path": format!("{path}/.env")}));
    for mode in [Mode::Ask, Mode::Edit, Mode::Plan, Mode::Auto] {
        rig.mode = mode;
        assert_eq!(rig.judge("read_file", &plain), Verdict::Allow { rule: "builtin/read".into() });
        let rule = format!("builtin/secret:{path}/.env");
        assert_eq!(rig.judge("read_file", &secret), Verdict::Ask { rule });
    }
    assert_eq!(secrets(&rig.survey("read_file", &secret).unwrap().facts), [format!("{path}/.env")]);
}

#[test]
fn nothing_in_it_is_written_edited_or_deleted() {
    let (mut rig, path) = rig();
    for mode in [Mode::Edit, Mode::Auto] {
        rig.mode = mode;
        for (name, args) in [
            ("write_file", json!({"path": format!("{path}/new.txt"), "content": "x"})),
            ("write_file", json!({"path": format!("{path}/a.txt"), "content": "x"})),
            ("edit_file", json!({"path": format!("{path}/a.txt"), "old_text": "12", "new_text": "13"})),
            ("delete_path", json!({"path": format!("{path}/a.txt")})),
            ("delete_path", json!({"path": path})),
        ] {
            let error = rig.error(name, args);
            assert_eq!(error.code, "folder/look_only", "{error:?}");
        }
    }
    let error = rig.error("write_file", json!({"path": format!("{path}/new.txt"), "content": "x"}));
    insta::assert_snapshot!(error_text(&error).replace(&path, "ADDED"), @r#"
    Error (folder/look_only): "ADDED/new.txt" lies in "ADDED", which was added to look at only
    Write into the session's own folder instead. To change things there, the person can begin a session in that folder.
    "#);
    // A link of the own folder into it is a way out like any other.
    symlink(&path, rig.path("shortcut")).unwrap();
    let error = rig.error("write_file", json!({"path": "shortcut/new.txt", "content": "x"}));
    assert_eq!(error.code, "path/outside");
    assert_eq!(fs::read_dir(&path).unwrap().count(), 3);
    assert_eq!(fs::read_to_string(format!("{path}/a.txt")).unwrap(), "total 12\n");
}

#[test]
fn a33_nothing_but_it_is_reached_from_it() {
    let (rig, path) = rig();
    fs::write(rig.outside.path().join("canary"), "CANARY").unwrap();
    folder(&rig, "invoices-old");
    fs::write(rig.outside.path().join("invoices-old/canary"), "CANARY").unwrap();
    symlink("../canary", format!("{path}/up")).unwrap();
    symlink(rig.outside.path().join("canary"), format!("{path}/whole")).unwrap();
    symlink("..", format!("{path}/parent")).unwrap();
    let base = rig.outside.path().canonicalize().unwrap();
    let base = base.display();
    for leads in [
        format!("{path}/../canary"),
        format!("{path}/sub/../../canary"),
        format!("{path}/%2e%2e/canary"),
        format!("{path}/..\\canary"),
        format!("{path}/up"),
        format!("{path}/whole"),
        format!("{path}/parent/canary"),
        format!("{path}-old/canary"),
        format!("{base}/canary"),
        format!("{base}/./invoices/a.txt"),
        format!("{base}/project/own.txt"),
        format!("/proc/self/root{path}/a.txt"),
        format!("~{path}/a.txt"),
        "/etc/passwd".to_owned(),
    ] {
        for name in ["read_file", "list_files", "search_files"] {
            let args = match name {
                "search_files" => json!({"path": leads, "pattern": "."}),
                _ => json!({"path": leads}),
            };
            let error = rig.error(name, args);
            assert!(matches!(&*error.code, "path/outside" | "path/unusable"), "{name} {leads}: {error:?}");
            assert!(!error_text(&error).contains("CANARY"));
        }
    }
}

#[test]
fn what_is_gone_or_swapped_is_said_and_not_read() {
    let (mut rig, path) = rig();
    let identity =
        look(Path::new(&path), &Walls { root: &rig.path("."), home: None, hide: &[] }).unwrap().identity;
    let args = json!({"path": format!("{path}/a.txt")});
    let now = |rig: &mut Rig| {
        let place = AddedPlace::open(&path, identity, Vec::new());
        let gone = place.gone();
        rig.ctx.added = Arc::new(vec![place]);
        gone
    };
    assert_eq!(now(&mut rig), None);
    let away = format!("{path}-moved");
    fs::rename(&path, &away).unwrap();
    assert_eq!(now(&mut rig), Some(Gone::Missing));
    insta::assert_snapshot!(error_text(&rig.error("read_file", args.clone())).replace(&path, "ADDED"), @r#"
    Error (folder/gone): the added folder "ADDED" can't be opened: it isn't there any more, or its disk isn't connected
    Go on without it, and tell the person that they can add it again.
    "#);
    // Another one in its place, and a link to another one.
    fs::create_dir(&path).unwrap();
    fs::write(format!("{path}/a.txt"), "CANARY").unwrap();
    assert_eq!(now(&mut rig), Some(Gone::Other));
    assert_eq!(rig.error("read_file", args.clone()).code, "folder/gone");
    fs::remove_dir_all(&path).unwrap();
    symlink(rig.path("."), &path).unwrap();
    assert_eq!(now(&mut rig), Some(Gone::Other));
    assert_eq!(rig.error("list_files", json!({"path": path})).code, "folder/gone");
    // The own folder goes on, and commands run without it.
    assert_eq!(rig.call("read_file", json!({"path": "own.txt"})).end, End::Ok);
    fs::remove_file(&path).unwrap();
    fs::rename(&away, &path).unwrap();
    assert_eq!(now(&mut rig), None, "it is back");
}

#[test]
fn a_command_that_looks_into_it_runs_unasked_and_sees_only_what_it_names() {
    let (mut rig, path) = rig();
    fs::remove_file(format!("{path}/.env")).unwrap();
    rig.mode = Mode::Ask;
    let run = |rig: &Rig, command: String| {
        let args = json!({"command": command});
        let verdict = rig.judge("run_command", &args);
        (verdict, rig.survey("run_command", &args).unwrap().facts.added, rig.call("run_command", args).text)
    };
    for command in [
        format!("cat {path}/a.txt"),
        format!("cd {path} && cat a.txt"),
        format!("grep -r total '{path}' | wc -l"),
    ] {
        let (verdict, added, text) = run(&rig, command.clone());
        assert_eq!(verdict, Verdict::Allow { rule: "builtin/looks".into() }, "{command}");
        assert_eq!(added, std::slice::from_ref(&path));
        assert!(text.contains("total 12") || text.starts_with('2'), "{text}");
    }
    let (verdict, added, _) = run(&rig, "cat own.txt".into());
    assert_eq!((verdict, added), (Verdict::Allow { rule: "builtin/looks".into() }, Vec::new()));
    // What only looks isn't let out of it either.
    for command in
        [format!("cat {path}/../canary"), format!("cat {path}-old/canary"), "cat /etc/passwd".into()]
    {
        assert!(
            matches!(rig.judge("run_command", &json!({"command": command})), Verdict::Ask { .. }),
            "{command}"
        );
    }
    // Another repository's settings would be obeyed there.
    for command in [format!("git -C {path} log"), format!("cd {path} && git status")] {
        assert!(
            matches!(rig.judge("run_command", &json!({"command": command})), Verdict::Ask { .. }),
            "{command}"
        );
    }
    // A file with secrets in it makes the cage hide it, or the command ask where it can't.
    fs::write(format!("{path}/.env"), "KEY=sk-CANARY\n").unwrap();
    let args = json!({"command": format!("cat {path}/.env")});
    rig.mode = Mode::Auto;
    assert_eq!(rig.judge("run_command", &args), Verdict::Ask { rule: format!("builtin/secret:{path}/.env") });
    rig.mode = Mode::Ask;
    if rig.ctx.launcher.cage() == Cage::Full {
        let (verdict, _, text) = run(&rig, format!("grep -r CANARY {path}"));
        assert_eq!(verdict, Verdict::Allow { rule: "builtin/looks".into() });
        assert!(!text.contains("CANARY"), "{text}");
    }
}

/// A hard link in one folder to a secret file in the other is that file, whichever of them a call looks into.
#[test]
fn a43_a_secret_of_one_folder_is_one_under_its_name_in_the_other() {
    let (mut rig, path) = rig();
    fs::hard_link(format!("{path}/.env"), rig.path("notes.txt")).unwrap();
    rig.put(".env", b"KEY=sk-CANARY\n");
    fs::hard_link(rig.path(".env"), format!("{path}/notes.txt")).unwrap();
    let reads = |path: &str| {
        [("read_file", json!({"path": path})), ("search_files", json!({"path": path, "pattern": "K"}))]
    };
    for mode in [Mode::Ask, Mode::Auto, Mode::Plan] {
        rig.mode = mode;
        for (name, args) in reads("notes.txt") {
            let rule = format!("builtin/secret:{path}/.env");
            assert_eq!(rig.judge(name, &args), Verdict::Ask { rule }, "{mode:?} {name}");
        }
        for (name, args) in reads(&format!("{path}/notes.txt")) {
            assert_eq!(
                rig.judge(name, &args),
                Verdict::Ask { rule: "builtin/secret:.env".into() },
                "{mode:?} {name}"
            );
        }
        for folder in [".", &path] {
            let found = rig.call("search_files", json!({"path": folder, "pattern": "KEY"})).text;
            assert!(!found.contains("sk-CANARY") && found.contains("notes.txt"), "{mode:?}: {found}");
        }
        // A command that sees only its own folder, and one that sees both.
        for command in ["cat notes.txt; true".to_owned(), format!("cat notes.txt {path}/notes.txt; true")] {
            let args = json!({ "command": command });
            let asked = matches!(rig.judge("run_command", &args), Verdict::Ask { .. });
            assert!(
                asked || !rig.call("run_command", args).text.contains("sk-CANARY"),
                "{mode:?}: {command}"
            );
        }
    }
    rig.mode = Mode::Auto;
    rig.put("run.sh", format!("cat n*.txt {path}/n*.txt; echo looked").as_bytes());
    let args = json!({"command": "bash run.sh"});
    if rig.ctx.launcher.cage() == Cage::Full {
        let text = rig.call("run_command", args).text;
        assert!(text.contains("looked") && !text.contains("sk-CANARY"), "{text}");
    }
}

#[test]
fn a_command_can_read_it_and_change_nothing_there() {
    let (mut rig, path) = rig();
    rig.mode = Mode::Auto;
    let args = json!({"command": format!(
        "cat {path}/a.txt > copy.txt; echo x > {path}/new; echo x >> {path}/a.txt; rm -f {path}/a.txt; \
         mv {path}/sub {path}/gone; mkdir {path}/made; chmod 777 {path}/a.txt; ln -s x {path}/link; rmdir {path}; \
         touch {path}; echo looked"
    )});
    let facts = rig.survey("run_command", &args).unwrap().facts;
    assert_eq!(facts.added, std::slice::from_ref(&path), "the card says what it sees");
    let finished = rig.call("run_command", args);
    assert!(finished.text.contains("looked"), "{}", finished.text);
    assert_eq!(rig.get("copy.txt"), b"total 12\n");
    let mut names: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".env", "a.txt", "sub"]);
    assert_eq!(fs::read_to_string(format!("{path}/a.txt")).unwrap(), "total 12\n");
    // Taken back, it isn't there for a command any more.
    rig.ctx.added = Arc::default();
    let finished = rig.call("run_command", json!({"command": format!("cat {path}/a.txt; echo looked")}));
    assert!(finished.text.contains("looked") && !finished.text.contains("total"), "{}", finished.text);
}

#[test]
fn a_call_that_was_cleared_before_it_was_taken_back_does_not_see_it() {
    let (mut rig, path) = rig();
    let call = rig.check("run_command", &json!({"command": format!("cat {path}/a.txt")}));
    let surveyed = call.survey(&rig.ctx).unwrap();
    let approval = crate::Approval::of(&call, &surveyed.facts, 1_000);
    let cleared = crate::clear(&call, surveyed, &rig.policy(), Some(&approval), 0).unwrap();
    rig.ctx.added = Arc::default();
    let again = call.survey(&rig.ctx).unwrap();
    let refused = crate::clear(&call, again, &rig.policy(), Some(&approval), 0).map(drop);
    assert!(refused.is_err(), "the yes was for something else: {refused:?}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let finished = runtime.block_on(crate::run(cleared, &rig.ctx));
    assert!(matches!(&finished.end, End::Failed(error) if error.code == "folder/removed"), "{finished:?}");
}

#[test]
fn a_grant_for_commands_covers_those_that_look_into_it() {
    let (mut rig, path) = rig();
    (rig.mode, rig.grants) = (Mode::Ask, vec![(GrantId::from_bits(1), Grant::Commands)]);
    let judge = |rig: &Rig, command: String| {
        let call = rig.check("run_command", &json!({"command": command}));
        let facts = call.survey(&rig.ctx).unwrap().facts;
        // The engine works out what can be undone from the folder's tree.
        crate::judge(&domain::call::Facts { undo: domain::call::Undo::Yes, ..facts }, &rig.policy())
    };
    assert!(matches!(judge(&rig, format!("sort -o s.txt {path}/a.txt")), Verdict::Allow { .. }));
    assert!(matches!(judge(&rig, "sort -o s.txt /var/x.txt".into()), Verdict::Ask { .. }));
}

#[test]
fn a40_another_folder_as_a_place_to_work_in_stays_denied() {
    let (rig, path) = rig();
    for field in ["cwd", "workdir", "root"] {
        let refused = rig.visible.check("run_command", &json!({"command": "ls", field: path}).to_string());
        assert!(refused.is_err(), "{field}");
    }
}

#[test]
fn only_a_folder_of_the_persons_own_can_be_added() {
    let rig = Rig::new();
    let base = rig.outside.path().canonicalize().unwrap();
    let home = folder(&rig, "home");
    let data = base.join("data");
    for path in
        ["home/.config/app", "home/.ssh", "home/Invoices", "keys/.ssh/more", "data", "data-too", "project/in"]
    {
        fs::create_dir_all(base.join(path)).unwrap();
    }
    let (root, hide) = (rig.path("."), vec![data.clone()]);
    let walls = Walls { root: &root, home: Some(&home), hide: &hide };
    let check = |path: &Path, expect: Result<&str, Refused>| {
        let found = look(path, &walls).map(|found| found.name);
        assert_eq!(found, expect.map(str::to_owned), "{}", path.display());
    };
    check(&base.join("home/Invoices"), Ok("Invoices"));
    check(&base.join("home/Invoices/../Invoices"), Ok("Invoices"));
    check(&base.join("data-too"), Ok("data-too"));
    check(&base.join("nowhere"), Err(Refused::Missing));
    check(Path::new("/"), Err(Refused::Root));
    check(&home, Err(Refused::Home));
    for private in ["home/.config", "home/.config/app", "home/.ssh", "keys/.ssh", "keys/.ssh/more"] {
        check(&base.join(private), Err(Refused::Private));
    }
    check(&data, Err(Refused::OwnFiles));
    check(&base, Err(Refused::OwnFiles));
    for own in ["project", "project/in"] {
        check(&base.join(own), Err(Refused::Shared));
    }
    for system in ["/etc", "/usr/share", "/proc", "/proc/self", "/dev", "/sys"] {
        check(Path::new(system), Err(Refused::System));
    }
    symlink("/etc", base.join("innocent")).unwrap();
    check(&base.join("innocent"), Err(Refused::System));
    fs::write(base.join("file"), "").unwrap();
    check(&base.join("file"), Err(Refused::Missing));
    fs::create_dir(base.join("a\u{202e}b")).unwrap();
    check(&base.join("a\u{202e}b"), Err(Refused::Name));
    fs::create_dir(base.join("a\nb")).unwrap();
    check(&base.join("a\nb"), Err(Refused::Name));
    let nobody = FolderIdentity { device: 0, inode: 0 };
    assert_eq!(AddedPlace::open(home.to_str().unwrap(), nobody, Vec::new()).gone(), Some(Gone::Other));
}

#[test]
fn a53_a_value_read_there_is_known_again_in_what_would_leave() {
    let (rig, path) = rig();
    let read = vec![format!("{path}/.env")];
    let facts = rig.survey("run_command", &json!({"command": "git commit -m sk-CANARY"})).unwrap().facts;
    assert_eq!(crate::carried::carried(&facts, &rig.ctx, &read), Some(read[0].clone()));
    let facts = rig.survey("run_command", &json!({"command": "git commit -m other"})).unwrap().facts;
    assert_eq!(crate::carried::carried(&facts, &rig.ctx, &read), None);
}
