//! A process killed in the middle: nothing runs twice, and it is said plainly what isn't known.

use crate::rig::{Rig, call, payloads, text, wait_for};
use serde_json::json;

#[test]
fn a_command_cut_off_by_a_kill_is_unknown_asked_about_and_not_run_again() {
    let command = "echo ran >> ran.txt; while :; do :; done";
    let rig = Rig::new(json!([call("run_command", json!({"command": command})), text("I see.")]));
    let mut exec = rig.start(&Rig::exec(&["--mode", "auto"]));
    exec.until("tool/start");
    let ran = rig.project().join("ran.txt");
    wait_for("the command runs", || ran.exists());
    let session = exec.session();
    exec.signal("-KILL");
    drop(exec);

    let resumed = rig.run(&["resume", &session, "--json"]);
    assert_eq!(
        (resumed.code, resumed.done()["end"].as_str()),
        (3, Some("waiting")),
        "{} {}",
        resumed.out,
        resumed.err
    );
    let unknown = resumed.events("tool/outcome_unknown");
    assert_eq!(unknown[0]["evidence"]["reason"], "crash");
    let id = unknown[0]["call"].as_str().expect("a call").to_owned();
    let waiting = rig.run(&["approvals", "--json"]).json();
    assert_eq!(
        (waiting[0]["kind"].as_str(), waiting[0]["id"].as_str()),
        (Some("outcome"), Some(id.as_str()))
    );
    assert_eq!(rig.run(&["answer", &id, "perhaps"]).code, 2);

    // The script is the host's, so the process that goes on needs none of it: its model is gone, and it says so.
    let settled = rig.run(&["answer", &id, "skip"]);
    assert_eq!(settled.code, 4, "{} {}", settled.out, settled.err);
    let log = rig.run(&["log", &session, "--json"]).json();
    assert_eq!(payloads(&log, "call/resolved").len(), 1);
    assert_eq!(std::fs::read_to_string(&ran).expect("a file"), "ran\n");
    let more = rig.run(&["exec", "--session", &session, "--script", "script.json", "--json", "go on"]);
    assert_eq!((more.code, more.done()["answer"].as_str()), (0, Some("I see.")), "{} {}", more.out, more.err);
    assert_eq!(std::fs::read_to_string(&ran).expect("a file"), "ran\n");
    let verified = rig.run(&["verify"]);
    assert_eq!(verified.code, 0, "{}", verified.out);
}

#[test]
fn a_turn_cut_off_while_the_model_spoke_goes_on_when_resumed() {
    let slow = json!({"say": [{"text": "a"}, {"text": "b", "wait_ms": 600_000}]});
    let rig = Rig::new(json!([slow]));
    let mut exec = rig.start(&Rig::exec(&[]));
    exec.until("attempt/start");
    let session = exec.session();
    exec.signal("-KILL");
    drop(exec);
    // Looking recovers nothing.
    let before = rig.run(&["log", &session, "--json"]).json().len();
    assert_eq!(rig.run(&["show", &session]).code, 0);
    assert_eq!(rig.run(&["log", &session, "--json"]).json().len(), before);
    // It goes on by itself; the script isn't there any more, and that is what it ends with.
    let resumed = rig.run(&["resume", &session, "--json"]);
    assert_eq!((resumed.code, resumed.done()["end"].as_str()), (4, Some("failed")), "{}", resumed.out);
    assert_eq!(resumed.events("recovery/continuation").len(), 1);
    rig.script(json!([text("Whole.")]));
    let more = rig.run(&["exec", "--session", &session, "--script", "script.json", "--json", "go on"]);
    assert_eq!(more.code, 0, "{} {}", more.out, more.err);
    let log = rig.run(&["log", &session, "--json"]).json();
    assert_eq!(payloads(&log, "attempt/end")[0]["end"]["end"], "interrupted");
    assert_eq!(rig.run(&["verify"]).code, 0);
}

/// Commands in the background end with the program that hosts them, and those that had no place yet begin with the next: it
/// says so, once.
#[test]
fn commands_in_the_background_that_end_with_the_program_are_named() {
    let background = |n: u32| {
        let command = format!("echo on > {n}.on; sleep 600");
        call("run_command", json!({"command": command, "background": true}))
    };
    let begun = json!({"command": "until [ \"$(ls | grep -c on$)\" = 4 ]; do :; done"});
    let mut answers: Vec<_> = (0..5).map(background).collect();
    answers.extend([call("run_command", begun), text("They go on.")]);
    let rig = Rig::new(json!(answers));
    let done = rig.run(&Rig::exec(&["--mode", "auto"]));
    assert_eq!((done.code, done.done()["answer"].as_str()), (0, Some("They go on.")), "{}", done.err);
    let said = |words: &str| done.err.lines().filter(|line| line.starts_with(words)).count();
    let named = |n: &u32| done.err.lines().filter(|line| line.contains(&format!("echo on > {n}.on"))).count();
    let stopped = said("stopped with this program, before its end, in the background: echo on > ");
    let waits = said("begins in the background when Daybook is opened next: echo on > ");
    assert_eq!((stopped, waits), (4, 1), "{}", done.err);
    assert!((0..5).all(|n| named(&n) == 1), "{}", done.err);
}

#[test]
fn d31_what_a_killed_process_left_open_is_never_shown_as_running() {
    let slow = json!({"say": [{"text": "a"}, {"text": "b", "wait_ms": 600_000}]});
    let rig = Rig::new(json!([slow]));
    let mut exec = rig.start(&Rig::exec(&[]));
    exec.until("attempt/start");
    let session = exec.session();
    assert_eq!(rig.run(&["sessions", "--json"]).json()[0]["state"], "working", "it is");
    exec.signal("-KILL");
    drop(exec);
    assert_eq!(rig.run(&["sessions", "--json"]).json()[0]["state"], "interrupted");
    let activity = rig.run(&["show", &session, "--json"]).json()[0]["activity"].clone();
    assert_eq!(activity, json!({"kind": "held", "by": "host"}));
    // Whoever opens the store next goes on with it, and then it rests.
    rig.script(json!([text("Whole."), text("Whole."), text("Whole.")]));
    let more = rig.run(&["exec", "--session", &session, "--script", "script.json", "--json", "go on"]);
    assert_eq!(more.code, 0, "{} {}", more.out, more.err);
    assert_eq!(rig.run(&["sessions", "--json"]).json()[0]["state"], "idle");
}
