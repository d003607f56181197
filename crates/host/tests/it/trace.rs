//! A session's trace: every span with its times, model, cost, decisions and ends, and not a word more than was asked for.
//!
//! Times are counted from the first event on and ids named in order, so that a trace reads the same in every run.

use crate::rig::{Rig, call, text};
use api::wire::command::{Command, Mode};
use api::wire::view::{Activity, EntryBody, SessionView};
use host::Words;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const ASKED: &str = "Write the menu, PLEASE-CANARY";

/// A session that looked, wrote a file after a yes, was refused a command, and answered after one failed attempt.
async fn worked() -> (Rig, String) {
    let answers = json!([
        {"error": {"class": "overloaded", "message": "BUSY-CANARY", "retry_after_ms": 1}},
        {"say": [{"reasoning": "THOUGHT-CANARY"},
            {"call": {"name": "read_file", "arguments": {"path": "notes-canary.txt"}}}],
            "usage": {"input": 900, "output": 40, "cache_read": 100}},
        call("write_file", json!({"path": "menu.txt", "content": "CAKE-CANARY\n"})),
        call("run_command", json!({"command": "touch RUN-CANARY"})),
        text("DONE-CANARY"),
    ]);
    let rig = Rig::new(answers).await;
    std::fs::write(rig.root.path().join("project/notes-canary.txt"), "NOTES-CANARY\n").expect("a file");
    let session = rig.session(Mode::Ask).await;
    let mut client = rig.client(&session).await;
    rig.say(&session, ASKED).await;
    for yes in [true, false] {
        client.until(|view| open(view).is_some()).await;
        let (approval, digest) = open(&client.view).expect("it is asked");
        let session = session.clone();
        let seen = approval.clone();
        let answer = match yes {
            true => Command::Approve { session, approval, digest, offer: None, lasting: false },
            false => Command::Refuse { session, approval, why: Some("NO-CANARY".to_owned()) },
        };
        rig.call(answer).await;
        client.until(|view| open(view).is_none_or(|(next, _)| next != seen)).await;
    }
    client.until(|view| view.activity == Activity::Idle).await;
    (rig, session)
}

fn open(view: &SessionView) -> Option<(String, String)> {
    view.entries.iter().find_map(|entry| match &entry.body {
        EntryBody::Approval { approval } if approval.state == api::wire::view::ApprovalState::Open => {
            Some((approval.id.clone(), approval.digest.clone()))
        }
        _ => None,
    })
}

fn traced(rig: &Rig, session: &str, words: Words) -> (String, usize) {
    let mut out = Vec::new();
    let spans = host::trace(rig.host.data(), session, words, &mut out).expect("a trace");
    (String::from_utf8(out).expect("text"), spans)
}

fn spans(trace: &str) -> Vec<Value> {
    let lines = trace.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let spans = lines.flat_map(|line| {
        line["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans").clone()
    });
    spans.collect()
}

fn attributes(of: &Value) -> BTreeMap<String, String> {
    let all = of["attributes"].as_array().expect("attributes").iter();
    let said = |value: &Value| {
        let only = value.as_object().and_then(|object| object.values().next()).cloned().unwrap_or_default();
        only.as_str().map_or_else(|| only.to_string(), str::to_owned)
    };
    all.map(|one| (one["key"].as_str().expect("a key").to_owned(), said(&one["value"]))).collect()
}

/// Spans in words, without ids, digests, sizes of requests and times, which differ from run to run.
fn worded(spans: &[Value]) -> String {
    let different = ["digest", "bytes", ".id", "_ms", "estimated_tokens"];
    let mut told = String::new();
    for span in spans {
        let failed = if span["status"]["code"] == 2 { " FAILED" } else { "" };
        let under = if span["parentSpanId"].is_null() { "" } else { "  " };
        let _ =
            writeln!(told, "{under}{} kind {}{failed}", span["name"].as_str().expect("a name"), span["kind"]);
        let said = attributes(span);
        // What is reckoned by us follows every word of the instructions.
        let reckoned = said.get("daybook.usage").is_none_or(|usage| usage == "estimated");
        for (name, said) in said {
            let counted = !(reckoned && name == "gen_ai.usage.input_tokens");
            if counted && !different.iter().any(|end| name.ends_with(end)) {
                let _ = writeln!(told, "{under}    {name} = {said}");
            }
        }
        for event in span["events"].as_array().into_iter().flatten() {
            let said: Vec<String> =
                attributes(event).into_iter().map(|(name, said)| format!("{name}={said}")).collect();
            let line = format!("{under}    * {} {}", event["name"].as_str().expect("a name"), said.join(" "));
            let _ = writeln!(told, "{}", line.trim_end());
        }
    }
    told
}

/// A turn is a trace: its attempts and calls lie in it in time, each with what it was, cost and came to.
#[tokio::test(flavor = "multi_thread")]
async fn r_obs_01_a_turn_is_a_trace_with_times_usage_decisions_and_errors() {
    let (rig, session) = worked().await;
    let (trace, count) = traced(&rig, &session, Words::Left);
    let spans = spans(&trace);
    assert_eq!((trace.lines().count(), spans.len()), (1, count), "a line a turn");
    insta::assert_snapshot!(worded(&spans), @r#"
      chat script kind 3 FAILED
          daybook.attempt.end = failed
          daybook.attempt.number = 1
          daybook.attempt.purpose = answer
          daybook.dialect = scripted
          daybook.request.prefix_epoch = 1
          daybook.request.prefix_opened = first
          daybook.step.number = 1
          daybook.usage = estimated
          error.type = overloaded
          gen_ai.operation.name = chat
          gen_ai.provider.name = scripted
          gen_ai.request.max_tokens = 8192
          gen_ai.request.model = script
          gen_ai.usage.cache_creation.input_tokens = 0
          gen_ai.usage.cache_read.input_tokens = 0
          gen_ai.usage.output_tokens = 0
      chat script kind 3
          daybook.attempt.end = accepted
          daybook.attempt.number = 2
          daybook.attempt.purpose = answer
          daybook.dialect = scripted
          daybook.request.prefix_epoch = 1
          daybook.request.prefix_opened = first
          daybook.step.number = 1
          daybook.usage = reported
          gen_ai.operation.name = chat
          gen_ai.provider.name = scripted
          gen_ai.request.max_tokens = 8192
          gen_ai.request.model = script
          gen_ai.response.finish_reasons = {"values":[{"stringValue":"tool_calls"}]}
          gen_ai.usage.cache_creation.input_tokens = 0
          gen_ai.usage.cache_read.input_tokens = 100
          gen_ai.usage.input_tokens = 1000
          gen_ai.usage.output_tokens = 40
      execute_tool read_file kind 1
          daybook.call.arguments = path: 16 bytes
          daybook.call.end = result
          daybook.tool.version = 1
          gen_ai.operation.name = execute_tool
          gen_ai.tool.name = read_file
          gen_ai.tool.type = function
          * daybook.policy.decision daybook.policy.act=read daybook.policy.rule=builtin daybook.policy.touches=1 daybook.policy.verdict=allow
          * daybook.call.started
      chat script kind 3
          daybook.attempt.end = accepted
          daybook.attempt.number = 1
          daybook.attempt.purpose = answer
          daybook.dialect = scripted
          daybook.request.prefix_epoch = 1
          daybook.step.number = 2
          daybook.usage = estimated
          gen_ai.operation.name = chat
          gen_ai.provider.name = scripted
          gen_ai.request.max_tokens = 8192
          gen_ai.request.model = script
          gen_ai.response.finish_reasons = {"values":[{"stringValue":"tool_calls"}]}
          gen_ai.usage.cache_creation.input_tokens = 0
          gen_ai.usage.cache_read.input_tokens = 0
          gen_ai.usage.output_tokens = 0
      execute_tool write_file kind 1
          daybook.call.arguments = content: 12 bytes, path: 8 bytes
          daybook.call.changed_paths = 1
          daybook.call.end = result
          daybook.tool.version = 1
          gen_ai.operation.name = execute_tool
          gen_ai.tool.name = write_file
          gen_ai.tool.type = function
          * daybook.policy.decision daybook.policy.act=write daybook.policy.rule=mode daybook.policy.touches=1 daybook.policy.verdict=ask
          * daybook.approval.requested
          * daybook.approval.answered daybook.approval=granted
          * daybook.policy.decision daybook.policy.act=write daybook.policy.rule=mode daybook.policy.touches=1 daybook.policy.verdict=ask
          * daybook.call.started
      chat script kind 3
          daybook.attempt.end = accepted
          daybook.attempt.number = 1
          daybook.attempt.purpose = answer
          daybook.dialect = scripted
          daybook.request.prefix_epoch = 1
          daybook.step.number = 3
          daybook.usage = estimated
          gen_ai.operation.name = chat
          gen_ai.provider.name = scripted
          gen_ai.request.max_tokens = 8192
          gen_ai.request.model = script
          gen_ai.response.finish_reasons = {"values":[{"stringValue":"tool_calls"}]}
          gen_ai.usage.cache_creation.input_tokens = 0
          gen_ai.usage.cache_read.input_tokens = 0
          gen_ai.usage.output_tokens = 0
      execute_tool run_command kind 1
          daybook.call.arguments = command: 16 bytes
          daybook.call.denied_by = refused
          daybook.call.end = denied
          daybook.tool.version = 2
          gen_ai.operation.name = execute_tool
          gen_ai.tool.name = run_command
          gen_ai.tool.type = function
          * daybook.policy.decision daybook.policy.act=run daybook.policy.rule=mode daybook.policy.touches=1 daybook.policy.verdict=ask
          * daybook.approval.requested
          * daybook.approval.answered daybook.approval=refused
      chat script kind 3
          daybook.attempt.end = accepted
          daybook.attempt.number = 1
          daybook.attempt.purpose = answer
          daybook.dialect = scripted
          daybook.request.prefix_epoch = 1
          daybook.step.number = 4
          daybook.usage = estimated
          gen_ai.operation.name = chat
          gen_ai.provider.name = scripted
          gen_ai.request.max_tokens = 8192
          gen_ai.request.model = script
          gen_ai.response.finish_reasons = {"values":[{"stringValue":"stop"}]}
          gen_ai.usage.cache_creation.input_tokens = 0
          gen_ai.usage.cache_read.input_tokens = 0
          gen_ai.usage.output_tokens = 3
    invoke_agent Daybook kind 1
        daybook.mode = ask
        daybook.turn.end = completed
        daybook.turn.number = 1
        daybook.turn.source = message
        daybook.turn.steps = 4
        gen_ai.agent.name = Daybook
        gen_ai.operation.name = invoke_agent
        gen_ai.provider.name = scripted
        gen_ai.request.model = script
        gen_ai.usage.cache_creation.input_tokens = 0
        gen_ai.usage.cache_read.input_tokens = 100
        gen_ai.usage.output_tokens = 43
    "#);
    let root = spans.last().expect("a turn");
    let input = |span: &Value| {
        attributes(span).get("gen_ai.usage.input_tokens").map(|n| n.parse().expect("a number"))
    };
    let sum: u64 = spans[..spans.len() - 1].iter().filter_map(input).sum();
    assert_eq!(input(root), Some(sum), "a turn costs what its attempts do");
    let time =
        |span: &Value, name: &str| span[name].as_str().expect("text").parse::<u128>().expect("a number");
    for span in &spans {
        assert_eq!(span["traceId"], root["traceId"]);
        let (from, to) = (time(span, "startTimeUnixNano"), time(span, "endTimeUnixNano"));
        assert!(from <= to && from >= time(root, "startTimeUnixNano") && to <= time(root, "endTimeUnixNano"));
        let of_root = span["parentSpanId"] == root["spanId"];
        assert_eq!(of_root, span != root);
        assert_eq!(span["spanId"].as_str().map(str::len), Some(16));
    }
    assert_eq!(root["traceId"].as_str().map(str::len), Some(32));
    assert_eq!(traced(&rig, &session, Words::Left).0, trace, "the same log gives the same trace");
    rig.host.close().await;
}

/// Nothing anybody said is in a trace unless it was asked for; then all of it is, but for what came of files with secrets.
#[tokio::test(flavor = "multi_thread")]
async fn r_obs_03_words_are_in_a_trace_only_on_request() {
    let (rig, session) = worked().await;
    let plain = traced(&rig, &session, Words::Left).0;
    for word in ["CANARY", "canary", "menu.txt"] {
        assert!(!plain.contains(word), "{word}: {plain}");
    }
    let (trace, _) = traced(&rig, &session, Words::Taken);
    let all = ["PLEASE", "BUSY", "THOUGHT", "NOTES", "CAKE", "RUN", "NO", "DONE"];
    for word in all {
        assert!(trace.contains(&format!("{word}-CANARY")), "{word}");
    }
    let chats: Vec<_> = spans(&trace)
        .iter()
        .map(attributes)
        .filter(|said| said.get("gen_ai.operation.name").is_some_and(|name| name == "chat"))
        .collect();
    assert_eq!(chats.len(), 5);
    assert!(chats[0]["daybook.request.head"].contains("You are Daybook"), "the instructions and tools");
    let asked: Vec<Value> = serde_json::from_str(&chats[0]["gen_ai.input.messages"]).expect("messages");
    let last = asked.last().expect("a message");
    assert_eq!((&last["role"], &last["parts"][0]["content"]), (&json!("user"), &json!(ASKED)));
    let then: Vec<Value> = serde_json::from_str(&chats[2]["gen_ai.input.messages"]).expect("messages");
    let parts: Vec<&Value> = then.iter().map(|message| &message["parts"][0]["type"]).collect();
    assert_eq!(parts, ["reasoning", "tool_call_response"], "what a request adds is told once: {then:?}");
    let answered: Value = serde_json::from_str(&chats[4]["gen_ai.output.messages"]).expect("a message");
    assert_eq!(answered[0]["parts"][0]["content"], "DONE-CANARY");
    rig.host.close().await;
}

/// A call that reads a file with secrets: what it gave back stays out, wherever it was said again to the model.
#[tokio::test(flavor = "multi_thread")]
async fn r_obs_03_what_came_of_a_file_with_secrets_stays_out() {
    let rig =
        Rig::new(json!([call("read_file", json!({"path": ".env"})), text("Read."), text("Yes.")])).await;
    std::fs::write(rig.root.path().join("project/.env"), "TOKEN=ENV-CANARY\n").expect("a file");
    let session = rig.session(Mode::Ask).await;
    let mut client = rig.client(&session).await;
    rig.say(&session, "What is in .env?").await;
    client
        .until(|view| open(view).is_some() || view.entries.len() > 2 && view.activity == Activity::Idle)
        .await;
    if let Some((approval, digest)) = open(&client.view) {
        let session = session.clone();
        rig.call(Command::Approve { session, approval, digest, offer: None, lasting: false }).await;
    }
    client.until(|view| open(view).is_none() && view.activity == Activity::Idle).await;
    let recorded = std::fs::read(rig.host.data().join("store.db")).map(|bytes| bytes.len());
    assert!(recorded.is_ok());
    let trace = traced(&rig, &session, Words::Taken).0;
    assert!(!trace.contains("ENV-CANARY"), "{trace}");
    assert_eq!(trace.matches("[withheld: it comes from a file with secrets]").count(), 2);
    rig.host.close().await;
}
