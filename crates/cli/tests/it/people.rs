//! A second process that approves, denies, answers and interrupts; and nobody to ask.

use crate::rig::{Rig, call, payloads, text, wait_for};
use serde_json::json;

fn writing() -> Rig {
    let refused = json!({"when": {"contains": "did not allow"}, "say": [{"text": "Then not."}]});
    Rig::new(json!([
        call("write_file", json!({"path": "a.txt", "content": "x\n"})),
        refused,
        text("Written.")
    ]))
}

#[test]
fn with_nobody_to_ask_asking_means_no() {
    let rig = writing();
    let done = rig.run(&Rig::exec(&[]));
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.events("tool/denied")[0]["by"], "nobody");
    assert!(!rig.project().join("a.txt").exists());
}

#[test]
fn r_cli_01_another_process_sees_the_request_and_approves_exactly_that() {
    let rig = writing();
    let mut exec = rig.start(&Rig::exec(&["--wait-approvals"]));
    let asked = exec.until("approval/requested");
    let (id, digest) =
        (asked["approval"].as_str().expect("an id"), asked["digest"].as_str().expect("a digest"));
    let seen = rig.run(&["approvals", "--json"]).json();
    assert_eq!((seen[0]["id"].as_str(), seen[0]["body"]["digest"].as_str()), (Some(id), Some(digest)));
    assert_eq!(rig.run(&["sessions", "--json"]).json()[0]["state"], "needs_you");
    let other = "0".repeat(64);
    let wrong = rig.run(&["approve", id, "--digest", &other]);
    assert_eq!(wrong.code, 3, "{}", wrong.err);
    assert!(!rig.project().join("a.txt").exists());
    assert_eq!(rig.run(&["approve", id, "--digest", digest]).code, 0);
    let (code, lines) = exec.end();
    assert_eq!(code, 0);
    assert_eq!(lines.last().expect("a line")["done"]["answer"], "Written.");
    assert!(rig.project().join("a.txt").exists());
    assert_eq!(rig.run(&["approve", id, "--digest", digest]).code, 3, "it authorises one execution");
    assert_eq!(rig.run(&["verify"]).code, 0);
}

#[test]
fn a_no_reaches_the_model_with_its_reason() {
    let rig = writing();
    let mut exec = rig.start(&Rig::exec(&["--wait-approvals"]));
    let asked = exec.until("approval/requested");
    let id = asked["approval"].as_str().expect("an id");
    assert_eq!(rig.run(&["deny", id, "--why", "wrong file"]).code, 0);
    let (code, lines) = exec.end();
    assert_eq!((code, lines.last().expect("a line")["done"]["answer"].as_str()), (0, Some("Then not.")));
    let denied = &payloads(&lines, "tool/denied")[0];
    assert!(denied["text"].as_str().expect("a text").contains("wrong file"));
}

#[test]
fn a_question_is_answered_from_outside() {
    let rig = Rig::new(json!([call("ask_user", json!({"question": "Which?"})), text("Thanks.")]));
    let mut exec = rig.start(&Rig::exec(&["--wait-approvals"]));
    let asked = exec.until("question/asked");
    let id = asked["question"].as_str().expect("an id");
    assert_eq!(rig.run(&["answer", id, "the blue one"]).code, 0);
    let (code, lines) = exec.end();
    assert_eq!(code, 0);
    assert!(payloads(&lines, "tool/result")[0]["text"].as_str().expect("a text").contains("the blue one"));
}

fn slow() -> Rig {
    Rig::new(
        json!([{"say": [{"text": "wait"}, {"text": " for it", "wait_ms": 600_000}]}, text("Never mind.")]),
    )
}

#[test]
fn a_turn_is_stopped_by_another_process_or_by_a_signal() {
    for how in ["interrupt", "-INT", "-TERM"] {
        let rig = slow();
        let mut exec = rig.start(&Rig::exec(&[]));
        exec.until("attempt/start");
        match how {
            "interrupt" => assert_eq!(rig.run(&["interrupt", &exec.session()]).code, 0),
            signal => exec.signal(signal),
        }
        let (code, lines) = exec.end();
        assert_eq!(
            (code, lines.last().expect("a line")["done"]["end"].as_str()),
            (5, Some("cancelled")),
            "{how}"
        );
        assert_eq!(rig.run(&["verify"]).code, 0, "{how}");
    }
}

/// The host stands still, so what the first signal asks for never comes back.
#[test]
fn told_twice_a_command_ends_whatever_holds_it_up() {
    let rig = slow();
    let mut host = rig.start(&Rig::exec(&[]));
    host.until("attempt/start");
    let mut guest = rig.start(&["resume", &host.session(), "--json"]);
    guest.line("session");
    assert_eq!(rig.run(&["steer", &host.session(), "more"]).code, 0);
    guest.until("inbox/posted");
    host.signal("-STOP");
    let held_up = std::cell::RefCell::new(guest);
    wait_for("the second signal ends it", || {
        let ended = held_up.borrow_mut().child.try_wait().expect("it is ours").is_some();
        if !ended {
            held_up.borrow().signal("-INT");
        }
        ended
    });
    let (code, lines) = held_up.into_inner().end();
    host.signal("-CONT");
    assert_eq!((code, lines.last().expect("a line")["done"]["end"].as_str()), (5, Some("cancelled")));
}

#[test]
fn r_inb_13_a_message_that_a_stop_holds_back_keeps_nobody_waiting() {
    let rig = slow();
    let mut host = rig.start(&Rig::exec(&[]));
    host.until("attempt/start");
    let session = host.session();
    let mut guest = rig.start(&["exec", "--session", &session, "--json", "and this"]);
    guest.until("inbox/posted");
    assert_eq!(rig.run(&["interrupt", &session]).code, 0);
    let (code, lines) = guest.end();
    assert_eq!((code, lines.last().expect("a line")["done"]["end"].as_str()), (5, Some("cancelled")));
    assert_eq!(host.end().0, 5);
    let view = &rig.run(&["show", &session, "--json"]).json()[0];
    let waiting = &view["waiting"][0];
    assert_eq!((waiting["text"].as_str(), waiting["held"].as_bool()), (Some("and this"), Some(true)));
    assert_eq!(rig.run(&["sessions", "--json"]).json()[0]["state"], "stopped");
}

#[test]
fn what_is_said_meanwhile_is_read_before_the_next_step() {
    let waits = json!({"say": [{"call": {"name": "list_files", "arguments": {}}, "wait_ms": 1_500}]});
    let heard = json!({"when": {"contains": "also the other"}, "say": [{"text": "Both."}]});
    let rig = Rig::new(json!([waits, heard, text("One.")]));
    let mut exec = rig.start(&Rig::exec(&[]));
    exec.until("attempt/start");
    assert_eq!(rig.run(&["steer", &exec.session(), "also the other"]).code, 0);
    let (code, lines) = exec.end();
    assert_eq!((code, lines.last().expect("a line")["done"]["answer"].as_str()), (0, Some("Both.")));
}

#[test]
fn a_guest_may_not_bring_a_script_or_keys() {
    let rig = slow();
    let mut exec = rig.start(&Rig::exec(&[]));
    exec.until("attempt/start");
    let script = rig.run(&Rig::exec(&[]));
    assert_eq!(script.code, 2, "{}", script.err);
    assert!(script.err.contains("--script"), "{}", script.err);
    let args = ["exec", "--folder", "project", "--provider", "deepseek", "--model", "m", "task"];
    let keyed = rig.command(&args).env("DAYBOOK_KEY_DEEPSEEK", "sk-something").output().expect("it runs");
    assert_eq!(keyed.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&keyed.stderr).contains("DAYBOOK_KEY_DEEPSEEK"));
}
