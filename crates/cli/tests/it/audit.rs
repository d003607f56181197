//! `cache-audit` and `trace` over a store made by a scripted run, and what `bench` prints; nothing here is timed.

use crate::rig::{Rig, call, text};
use serde_json::{Value, json};

/// A session of two turns and three tool steps.
fn recorded() -> (Rig, String) {
    let rig = Rig::new(json!([
        call("list_files", json!({"path": "."})),
        call("read_file", json!({"path": "notes.txt"})),
        call("read_file", json!({"path": "notes.txt", "limit": 1})),
        text("Read."),
        text("Again."),
    ]));
    std::fs::write(rig.project().join("notes.txt"), "Grüße\n你好\n").expect("a file");
    let first = rig.run(&Rig::exec(&["--mode", "edit"]));
    assert_eq!(first.code, 0, "{}", first.err);
    let session = first.session();
    let again = rig.run(&["exec", "--session", &session, "--script", "script.json", "--json", "and again"]);
    assert_eq!(again.code, 0, "{}", again.err);
    (rig, session)
}

fn lines(rig: &Rig, args: &[&str]) -> (Vec<Value>, Value) {
    let done = rig.run(args);
    assert_eq!(done.code, 0, "{}", done.err);
    let mut lines = done.json();
    let goals = lines.pop().expect("the goals")["goals"].clone();
    (lines, goals)
}

#[test]
fn every_attempt_is_rebuilt_and_compared_with_the_one_before() {
    let (rig, session) = recorded();
    let (lines, goals) = lines(&rig, &["cache-audit", &session, "--json"]);
    assert_eq!(lines.len(), 5, "{lines:#?}");
    for (n, line) in lines.iter().enumerate() {
        assert_eq!(line["session"], session.as_str());
        assert_eq!(line["i"], n as u64 + 1);
        assert_eq!(
            (&line["exact"], &line["epoch"], &line["retry"]),
            (&json!(true), &json!(1), &json!(false))
        );
        // Scripts count no tokens of a cache, so nothing is said of one.
        assert!(
            ["first", "not_reported", "below_minimum"].contains(&line["class"].as_str().expect("a word")),
            "{line}"
        );
    }
    assert_eq!(
        (&lines[0]["opened"], &lines[0]["grows"], &lines[0]["lcp"]),
        (&json!("first"), &Value::Null, &json!(0))
    );
    for pair in lines.windows(2) {
        let bytes = |line: &Value| line["bytes"].as_u64().expect("a number");
        assert_eq!(pair[1]["grows"], true);
        // All but its end, which is two bytes.
        assert_eq!(pair[1]["lcp"].as_u64(), Some(bytes(&pair[0]) - 2));
        assert!(bytes(&pair[1]) > bytes(&pair[0]) && pair[1]["blocks"].as_u64() > Some(0));
    }
    let counts = ["attempts", "exact", "pairs", "grown", "epochs", "retries"].map(|name| goals[name].clone());
    assert_eq!(counts, [5, 5, 4, 4, 0, 0].map(Value::from));
    let table = rig.run(&["cache-audit"]);
    assert_eq!(table.code, 0);
    assert!(table.out.contains("4 of 4 requests begin with all of the one before"), "{}", table.out);
}

#[test]
fn what_is_not_there_is_asked_wrong_and_nothing_recorded_is_no_trouble() {
    let rig = Rig::new(json!([]));
    assert_eq!(rig.run(&["cache-audit"]).code, 0);
    let (rig, _) = recorded();
    for unknown in ["ses_00000000000000000000000000000001", "nonsense"] {
        assert_eq!(rig.run(&["cache-audit", unknown]).code, 2, "{unknown}");
    }
    let unknown = rig.run(&["bench", "--only", "P99"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("P5"), "it says which there are: {}", unknown.err);
}

/// The counts are exact, so they are gates wherever they run.
#[test]
fn perf_p2_c5_counts_are_gates_that_hold_and_each_has_its_row() {
    let rig = Rig::new(json!([]));
    let done = rig.run(&["bench", "--quick", "--json", "--only", "P2,P15,C1,C5"]);
    let rows = done.json();
    assert_eq!(done.code, 0, "{rows:#?} {}", done.err);
    let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().expect("an id")).collect();
    for id in ["P2", "P15", "C1", "C5"] {
        assert!(ids.contains(&id), "{id} is missing: {ids:?}");
    }
    for row in &rows {
        let fields: Vec<&String> = row.as_object().expect("an object").keys().collect();
        assert_eq!(fields, ["id", "goal", "value", "baseline", "unit", "kind", "holds", "note"], "{row}");
        let gate = row["id"] != "P15";
        assert_eq!(row["kind"], if gate { "gate" } else { "reported" }, "{row}");
        assert_eq!(row["holds"], if gate { json!(true) } else { Value::Null }, "{row}");
    }
    assert!(!rig.data().join("store.db").exists(), "nothing of the person's store is touched");
}

/// A trace goes to standard output or into a new file of the owner's, and never over one that is there.
#[test]
fn r_obs_01_a_trace_is_printed_or_written_into_a_new_file() {
    let (rig, session) = recorded();
    let printed = rig.run(&["trace", &session]);
    assert_eq!(printed.code, 0, "{}", printed.err);
    let spans = |line: &Value| {
        let spans = line["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans");
        spans.iter().map(|span| span["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    let turns: Vec<Vec<String>> = printed.json().iter().map(spans).collect();
    assert_eq!(turns.iter().map(Vec::len).collect::<Vec<_>>(), [8, 2], "{turns:?}");
    assert_eq!(turns[1], ["chat script", "invoke_agent Daybook"]);
    assert!(!printed.out.contains("notes.txt"), "no words unless asked");
    let file = rig.project().join("trace.jsonl");
    let path = file.to_str().expect("text");
    let written = rig.run(&["trace", &session, "--content", "--out", path]);
    assert_eq!(written.code, 0, "{}", written.err);
    let kept = std::fs::read_to_string(&file).expect("written");
    assert!(kept.contains("Grüße") && kept.lines().count() == 2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(rig.run(&["trace", &session, "--out", path]).code, 2);
    assert_eq!(std::fs::read_to_string(&file).expect("there"), kept);
    assert_eq!(rig.run(&["trace", "ses_00000000000000000000000000000009"]).code, 2);
}
