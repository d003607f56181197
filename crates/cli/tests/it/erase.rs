//! Erasing from the command line: the words come by standard input, and afterwards no file of the data folder holds them.

use crate::rig::{Done, Rig, call, files, text};
use serde_json::json;
use std::path::PathBuf;

/// Made up for these tests; nothing in the world is opened by it.
const CANARY: &str = "kanarie-7f3e-zingt";

fn holding(rig: &Rig) -> Vec<PathBuf> {
    let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
    files(&rig.data()).into_iter().filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect()
}

/// A session that was told it, looked at it and said it; and the number of the message.
fn planted() -> (Rig, Done, String) {
    let told = format!("I see {CANARY} there.");
    let rig = Rig::new(json!([call("read_file", json!({"path": "keys.txt"})), text(&told)]));
    std::fs::write(rig.project().join("keys.txt"), format!("key = {CANARY}\n")).expect("writes");
    let said = format!("Use {CANARY} for it.");
    let args = ["exec", "--folder", "project", "--script", "script.json", "--json", &said];
    let done = rig.run(&args);
    assert_eq!(done.code, 0, "{} {}", done.out, done.err);
    let message = done.json().into_iter().find(|line| line["event"]["type"] == "user/message");
    let seq = message.expect("it was read")["event"]["seq"].to_string();
    (rig, done, seq)
}

#[test]
fn words_on_standard_input_are_erased_from_every_byte_of_the_data_folder() {
    let (rig, done, seq) = planted();
    assert_ne!(holding(&rig), Vec::<PathBuf>::new(), "it was planted");
    let session = done.session();
    let erased = rig.run_with(&["erase", &session, &seq, "--text-from-stdin"], &format!("{CANARY}\n"));
    assert_eq!(erased.code, 0, "{} {}", erased.out, erased.err);
    assert!(erased.out.starts_with("erased from ") && erased.err.is_empty(), "{} {}", erased.out, erased.err);
    assert_eq!(holding(&rig), Vec::<PathBuf>::new());
    let log = rig.run(&["log", &session, "--json"]);
    assert!(log.out.contains("Use [erased by the person] for it.") && !log.out.contains(CANARY));
    assert_eq!(log.events("record/erased").len(), 1);
    let verified = rig.run(&["verify"]);
    assert_eq!(verified.code, 0, "{} {}", verified.out, verified.err);
    // The folder is the person's.
    let file = std::fs::read_to_string(rig.project().join("keys.txt")).expect("it is there");
    assert!(file.contains(CANARY));
}

#[test]
fn with_everywhere_they_go_from_other_sessions_too() {
    let (rig, first, seq) = planted();
    rig.script(json!([text("Fine.")]));
    let said = format!("I have {CANARY} as well.");
    let second = rig.run(&["exec", "--folder", "project", "--script", "script.json", "--json", &said]);
    assert_eq!(second.code, 0, "{} {}", second.out, second.err);
    let args = ["erase", &first.session(), &seq, "--text-from-stdin", "--everywhere"];
    let erased = rig.run_with(&args, CANARY);
    assert_eq!(erased.code, 0, "{} {}", erased.out, erased.err);
    assert!(erased.out.contains(" of 2 sessions, "), "{}", erased.out);
    assert_eq!(holding(&rig), Vec::<PathBuf>::new());
}

#[test]
fn without_words_all_that_the_event_says_goes() {
    let (rig, done, seq) = planted();
    let erased = rig.run(&["erase", &done.session(), &seq]);
    assert_eq!(erased.code, 0, "{} {}", erased.out, erased.err);
    let log = rig.run(&["log", &done.session(), "--json"]);
    assert_eq!(log.events("user/message")[0]["text"], "[erased by the person]");
    assert!(log.out.contains(CANARY), "what others say stays");
}

#[test]
fn what_can_not_be_erased_is_said_with_its_exit_code_and_changes_nothing() {
    let (rig, done, seq) = planted();
    let session = done.session();
    let before = rig.run(&["log", &session, "--json"]).out;
    let nowhere = "ses_00000000000000000000000000000001";
    for (session, seq, input) in [
        (&*session, &*seq, ""),
        (&session, &seq, "\n"),
        (&session, &seq, "abc"),
        (&session, &seq, "nowhere to be seen"),
        (&session, "9999", CANARY),
        (nowhere, &seq, CANARY),
    ] {
        let refused = rig.run_with(&["erase", session, seq, "--text-from-stdin"], input);
        assert_eq!(refused.code, 2, "{input:?}: {} {}", refused.out, refused.err);
        assert!(refused.out.is_empty() && !refused.err.is_empty(), "{input:?}");
    }
    assert_eq!(rig.run(&["log", &session, "--json"]).out, before);
    // There is no way to name the words among the arguments.
    assert_eq!(rig.run(&["erase", &session, &seq, CANARY]).code, 2);
}
