//! Lines and exit codes.

use crate::rig::{Rig, call, files, text};
use serde_json::{Value, json};

#[track_caller]
fn check(answers: Value, extra: &[&str], code: i32, end: &str) {
    let done = Rig::new(answers).run(&Rig::exec(extra));
    assert_eq!((done.code, done.done()["end"].as_str()), (code, Some(end)), "{} {}", done.out, done.err);
}

#[test]
fn exec_ends_with_its_word_and_its_code() {
    check(json!([text("Done.")]), &[], 0, "completed");
    check(json!([{"error": {"class": "bad_request", "message": "no"}}]), &[], 4, "failed");
    check(json!([{"say": [{"text": "and then"}], "stop": "length"}]), &[], 3, "length");
    check(json!([{"say": [{"text": "no"}], "stop": "refusal"}]), &[], 4, "refused");
}

#[test]
fn exec_is_asked_wrong() {
    let rig = Rig::new(json!([text("x")]));
    for args in [
        &["exec", "task"][..],
        &["exec", "--folder", "nowhere", "--script", "script.json", "task"],
        &["exec", "--folder", "project", "--provider", "scripted", "task"],
        &["exec", "--folder", "project", "--provider", "openai-chat", "task"],
        &["exec", "--folder", "project", "task"],
        &["exec", "--folder", "project", "--script", "missing.json", "task"],
        &["exec", "--folder", "project", "--script", "script.json", "  "],
        &["exec", "--folder", "project", "--script", "script.json", "--session", "ses_1", "task"],
        &["show", "ses_00000000000000000000000000000001"],
        &["verify", "nonsense"],
        &["nonsense"],
    ] {
        let done = rig.run(args);
        assert_eq!(done.code, 2, "{args:?}: {} {}", done.out, done.err);
        assert_eq!(done.out, "", "{args:?}");
        assert!(!done.err.is_empty(), "{args:?}");
    }
}

#[test]
fn r_cli_03_json_lines_are_the_events_in_order_and_then_one_last_word() {
    let rig = Rig::new(json!([call("list_files", json!({})), text("Empty.")]));
    let done = rig.run(&Rig::exec(&[]));
    let lines = done.json();
    let numbers: Vec<u64> = lines.iter().filter_map(|line| line["event"]["seq"].as_u64()).collect();
    assert_eq!(numbers, (0..lines.len() as u64 - 2).collect::<Vec<_>>());
    assert_eq!(done.done()["answer"], "Empty.");
    assert_eq!(done.done()["session_id"], lines[0]["session_id"]);
    assert_eq!(done.done()["turn"], done.events("turn/start")[0]["turn"]);
    // The record, read later, is the same lines.
    let log = rig.run(&["log", &done.session(), "--json"]);
    let events: Vec<Value> = lines[1..lines.len() - 1].to_vec();
    assert_eq!((log.code, log.json()), (0, events.clone()));
    let tail = rig.run(&["log", &done.session(), "--json", "--from", "3"]);
    assert_eq!(tail.json(), events[3..]);
}

#[test]
fn a_session_is_continued_listed_shown_and_its_changes_counted() {
    let write = |text: &str| call("write_file", json!({"path": "a.txt", "content": text}));
    let rig = Rig::new(json!([write("one\n"), text("First."), write("one\ntwo\n"), text("Second.")]));
    let first = rig.run(&Rig::exec(&["--mode", "edit"]));
    let session = first.session();
    let second = rig.run(&["exec", "--session", &session, "--script", "script.json", "--json", "more"]);
    assert_eq!((second.code, second.done()["answer"].as_str()), (0, Some("Second.")), "{}", second.err);
    assert_eq!(second.session(), session);
    let changes = rig.run(&["changes", &session, "--json"]).json();
    assert_eq!(
        changes,
        [
            json!({"path": "a.txt", "change": "created", "kind": "file", "added": 2, "removed": 0, "changed_since": false, "undone": false})
        ]
    );
    std::fs::write(rig.project().join("a.txt"), "mine\n").expect("written");
    assert_eq!(rig.run(&["changes", &session, "--json"]).json()[0]["changed_since"], true);
    let sessions = rig.run(&["sessions", "--json"]).json();
    assert_eq!((sessions.len(), sessions[0]["state"].as_str()), (1, Some("idle")));
    let shown = rig.run(&["show", &session]);
    assert!(shown.out.contains("First.") && shown.out.contains("Second."), "{}", shown.out);
    assert_eq!(
        rig.run(&["show", &session, "--json"]).json()[0]["tokens"]["output"].as_u64().map(|n| n > 0),
        Some(true)
    );
}

#[test]
fn verify_is_clean_and_finds_a_changed_blob() {
    let rig = Rig::new(json!([text("Done.")]));
    rig.run(&Rig::exec(&[]));
    let clean = rig.run(&["verify"]);
    assert_eq!(clean.code, 0, "{} {}", clean.out, clean.err);
    assert!(clean.out.contains("1 requests rebuilt, 1 encoded again"), "{}", clean.out);
    let (path, mut bytes) = files(&rig.data().join("blobs")).into_iter().next().expect("a blob");
    bytes[0] ^= 1;
    std::fs::write(path, bytes).expect("written");
    assert_eq!(rig.run(&["verify"]).code, 6);
}

#[test]
fn a_data_folder_that_is_a_file_is_store_trouble_and_named() {
    let rig = Rig::new(json!([text("x")]));
    std::fs::write(rig.data(), "not a folder").expect("written");
    let below = rig.data().join("below");
    let exec = Rig::exec(&[]);
    // With a place for the door in the runtime folder, and without one; the named folder, and one below it.
    for runtime in [true, false] {
        for (args, data) in [(&exec[..], &rig.data()), (&["sessions"], &rig.data()), (&exec, &below)] {
            let mut command = rig.command_in(data, args);
            if !runtime {
                command.env_remove("XDG_RUNTIME_DIR");
            }
            let done = command.output().expect("it runs");
            let said = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(6), "{runtime} {args:?} {data:?}: {said}");
            assert!(said.contains("data"), "{said}");
        }
    }
}

#[test]
fn doctor_tells_without_a_store() {
    let rig = Rig::new(json!([text("x")]));
    let done = rig.run(&["doctor", "--json"]);
    let found = &done.json()[0];
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(found["store"][0]["state"], "missing");
    assert_eq!(found["keychain"][0]["state"], "missing");
    assert!(["ok", "partial", "none"].contains(&found["cage"][0]["state"].as_str().expect("a word")));
    assert!(!rig.data().exists(), "looking makes nothing");
}

#[test]
fn a_whole_home_folder_is_worked_in_only_with_a_flag() {
    let rig = Rig::new(json!([{ "say": [{ "text": "Done." }] }]));
    let exec = |extra: &[&str]| {
        let mut args = vec!["exec", "--folder", "home", "--script", "script.json"];
        args.extend(extra);
        rig.run(&[&args[..], &["do it"]].concat())
    };
    let refused = exec(&[]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("~ is the whole home folder"), "{}", refused.err);
    assert!(refused.err.contains("--wide-folder"), "{}", refused.err);
    assert_eq!(exec(&["--wide-folder"]).code, 0);
}
