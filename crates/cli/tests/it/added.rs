//! `--also-read`: other folders to look at, named by the person on the command line.

use crate::rig::{Rig, call, text};
use serde_json::json;

#[test]
fn also_read_lets_a_run_look_at_other_folders_and_change_nothing_there() {
    let rig = Rig::new(json!([]));
    let root = rig.root.path().canonicalize().expect("there");
    for name in ["one", "two"] {
        std::fs::create_dir(root.join(name)).expect("a folder");
        std::fs::write(root.join(name).join("a.txt"), format!("in {name}\n")).expect("a file");
    }
    let command = format!("cat {0}/a.txt; echo x > {0}/b.txt; echo tried", root.join("two").display());
    rig.script(json!([
        call("read_file", json!({"path": root.join("one/a.txt")})),
        call("write_file", json!({"path": root.join("one/b.txt"), "content": "x"})),
        call("run_command", json!({ "command": command })),
        text("Done."),
        text("Hello.")
    ]));
    let extra = ["--mode", "auto", "--also-read", "one", "--also-read", "two"];
    let done = rig.run(&Rig::exec(&extra));
    assert_eq!(done.code, 0, "{}", done.err);
    let added: Vec<_> = done.events("folder/added").iter().map(|event| event["name"].clone()).collect();
    assert_eq!(added, ["one", "two"]);
    let results: Vec<String> = done
        .events("tool/result")
        .iter()
        .map(|event| event["text"].as_str().unwrap_or_default().into())
        .collect();
    assert_eq!(results[0], "in one\n");
    assert!(results[1].contains("folder/look_only"), "{}", results[1]);
    assert!(results[2].contains("in two") && results[2].contains("tried"), "{}", results[2]);
    assert!(!root.join("one/b.txt").exists() && !root.join("two/b.txt").exists());
    // Named again, it is there already; shown, it is named.
    let again = [
        "exec",
        "--session",
        &done.session(),
        "--script",
        "script.json",
        "--json",
        "--also-read",
        "one",
        "hi",
    ];
    let again = rig.run(&again);
    assert_eq!(again.code, 0, "{} {}", again.out, again.err);
    let shown = rig.run(&["show", &done.session()]);
    assert!(shown.out.contains("also reads") && shown.out.contains("one (here)"), "{}", shown.out);
    assert_eq!(rig.run(&["verify"]).code, 0);
}

#[test]
fn a_folder_that_may_not_be_looked_at_is_a_mistake_in_the_words() {
    let rig = Rig::new(json!([text("Hello.")]));
    for (folder, says) in
        [("nowhere", "no folder"), ("project", "session's own"), ("home", "home"), ("/etc", "system")]
    {
        let done = rig.run(&Rig::exec(&["--also-read", folder]));
        assert_eq!(done.code, 2, "{folder}: {} {}", done.out, done.err);
        assert!(done.err.contains(says), "{folder}: {}", done.err);
        assert!(done.events("user/message").is_empty());
    }
}
