//! Streams as vendors send them, through the real readers and the whole engine: each ends as specified, no text stands
//! twice, and the session stays usable.

use crate::play::{Play, read, script, text};
use domain::event::{AttemptEndKind, End, Fact};
use domain::model::{Block, ErrorClass, StopReason};
use serde_json::{Value, json};

fn chat(events: &[Value]) -> String {
    let lines: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    format!("{lines}data: [DONE]\n\n")
}

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

fn words(text: &str) -> Value {
    chunk(json!({"content": text}), None)
}

fn stop() -> Value {
    chunk(json!({}), Some("stop"))
}

fn call(index: u32, id: &str, name: &str, arguments: &str) -> Value {
    let function = json!({"name": name, "arguments": arguments});
    chunk(json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}), None)
}

fn claude(events: &[Value]) -> String {
    let line =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(line).collect()
}

fn claude_start() -> Value {
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    json!({"type": "message_start", "message": {"id": "m1", "type": "message", "role": "assistant", "content": [],
        "model": "m", "usage": usage}})
}

fn claude_text(text: &str, stop: &str) -> Vec<Value> {
    vec![
        claude_start(),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ]
}

/// A Responses answer that says this and ends with this event.
fn responses(text: &str, end: Option<Value>) -> String {
    let item = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []});
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "r1", "status": "in_progress", "model": "m"}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "delta": text}),
    ];
    events.extend(end);
    claude(&events)
}

/// Plays these raw bodies one after the other, then a plain answer; gives the play after the first message.
async fn play(dialect: &str, bodies: &[String], chunk_bytes: usize) -> Play {
    let mut answers: Vec<Value> = bodies
        .iter()
        .map(|body| json!({"stream": {"dialect": dialect, "body": body, "chunk_bytes": chunk_bytes}}))
        .collect();
    answers.push(json!({"say": [{"text": "Still here."}]}));
    answers.push(json!({"say": [{"text": "Still here, again."}]}));
    let play = Play::of(&json!({"answers": answers}).to_string()).await;
    play.say("Begin.").await;
    play.idle().await;
    play
}

/// Texts of the accepted answers.
fn accepted(play: &Play) -> Vec<String> {
    let answers = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::AssistantAccepted(answer) => Some(answer.blocks),
        _ => None,
    });
    let text = |blocks: Vec<Block>| {
        let texts = blocks.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<String>()
    };
    answers.map(text).collect()
}

/// Classes of the failed attempts.
fn failures(play: &Play) -> Vec<ErrorClass> {
    let ends = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::AttemptEnd(end) => match end.end {
            AttemptEndKind::Failed { error, .. } => Some(error.class),
            _ => None,
        },
        _ => None,
    });
    ends.collect()
}

/// The session takes the next message, and everything holds.
async fn usable(play: &Play) {
    play.say("And now?").await;
    play.idle().await;
    assert_eq!(play.ends().last(), Some(&End::Completed));
    play.clean();
}

const WORDS: &str = "那个🌍 é";

#[tokio::test(start_paused = true)]
async fn case_p08_one_byte_at_a_time_is_the_same_text() {
    for chunk_bytes in [1, 2, 3, 7, 0] {
        let body = chat(&[words(WORDS), words("!"), stop()]);
        let one = play("openai-chat", &[body], chunk_bytes).await;
        assert_eq!(accepted(&one), [format!("{WORDS}!")], "{chunk_bytes}");
        usable(&one).await;
        let body = claude(&claude_text(WORDS, "end_turn"));
        let other = play("anthropic-messages", &[body], chunk_bytes).await;
        assert_eq!(accepted(&other), [WORDS], "{chunk_bytes}");
        usable(&other).await;
    }
}

/// What was typed is replayed from the log, and equals what was accepted: no piece doubled, none lost.
#[tokio::test(start_paused = true)]
async fn r_proj_04_logged_pieces_add_up_to_the_answer_and_stay_out_of_requests() {
    let play = play("openai-chat", &[chat(&[words("One "), words("two "), words(WORDS), stop()])], 1).await;
    let pieces = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::AssistantDelta(delta) => Some(delta.deltas),
        _ => None,
    });
    let typed: String = pieces
        .flatten()
        .map(|piece| match piece {
            domain::model::ModelDelta::Text { text } => text,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(vec![typed], accepted(&play));
    usable(&play).await;
    let body = play.requests().pop().expect("a request").to_string();
    assert_eq!(body.matches("One two ").count(), 1);
}

/// Cut in the middle, or without its end mark: nothing of it is accepted, no call of it runs, and it is tried again.
#[tokio::test(start_paused = true)]
async fn case_p23_a_cut_stream_is_never_an_answer() {
    let whole = chat(&[words("Half"), stop()]);
    let calls = chat(&[call(0, "a", "write_file", r#"{"path":"new.txt","content":"x"}"#)]);
    let cut = |body: &str, at: &str| body[..body.rfind(at).expect("it is there")].to_owned();
    let claude_cut = cut(&claude(&claude_text("Half", "end_turn")), "event: content_block_stop");
    let rows = [
        ("openai-chat", cut(&whole, "data: {")),
        ("openai-chat", cut(&calls, "data: [DONE]")),
        ("openai-chat", whole[..40].to_owned()),
        ("openai-chat", String::new()),
        ("anthropic-messages", claude_cut),
    ];
    for (dialect, body) in rows {
        let play = play(dialect, std::slice::from_ref(&body), 1).await;
        assert_eq!(accepted(&play), ["Still here."], "{body}");
        assert_eq!(failures(&play), [ErrorClass::Cut], "{body}");
        assert!(!play.rig.folder().join("new.txt").exists());
        assert_eq!(play.count("step/start"), 1, "the same step tries again");
        usable(&play).await;
    }
}

#[tokio::test(start_paused = true)]
async fn rel_x14_a_malformed_line_fails_the_attempt_not_the_session() {
    let body = format!("data: {}\n\ndata: {{broken\n\n{}", words("Half"), chat(&[stop()]));
    let play = play("openai-chat", &[body], 1).await;
    assert_eq!(accepted(&play), [""; 0]);
    assert!(
        matches!(&play.ends()[..], [End::Failed { code, .. }] if code == "protocol"),
        "{:?}",
        play.ends()
    );
    usable(&play).await;
}

/// An event of a type that nobody knows is passed over, and the record has it as it came.
#[tokio::test(start_paused = true)]
async fn rel_x14_an_event_of_an_unknown_type_is_passed_over_and_recorded() {
    let odd = json!({"type": "sparkle", "of": "an unknown kind"});
    let mut anthropic = claude_text("Fine.", "end_turn");
    anthropic.insert(2, odd.clone());
    let completed = json!({"type": "response.completed", "response": {"id": "r1", "status": "completed"}});
    let body = responses("Fine.", Some(odd.clone())) + &claude(&[completed]);
    for (dialect, body) in [
        ("anthropic-messages", claude(&anthropic)),
        ("openai-responses", body),
        ("openai-chat", chat(&[odd.clone(), words("Fine."), stop()])),
    ] {
        let play = play(dialect, &[body], 7).await;
        assert_eq!((accepted(&play), failures(&play)), (vec!["Fine.".to_owned()], Vec::new()), "{dialect}");
        let raw = play.facts().into_iter().find_map(|fact| match fact {
            Fact::AttemptEnd(end) => end.raw,
            _ => None,
        });
        let kept = play.process.engine.store().blob(&raw.expect("kept")).expect("readable");
        let kept = String::from_utf8(kept).expect("text");
        assert!(kept.contains(&format!("data: {odd}")), "{dialect}: {kept}");
        usable(&play).await;
    }
}

#[tokio::test(start_paused = true)]
async fn case_p16_p17_an_error_inside_a_200_counts_as_what_it_is() {
    let error = |code: u32, message: &str| {
        let error = json!({"error": {"code": code, "message": message}});
        format!("data: {}\n\ndata: {error}\n\ndata: [DONE]\n\n", words("Half"))
    };
    let passing = play("openai-chat", &[error(503, "overloaded")], 1).await;
    assert_eq!(accepted(&passing), ["Still here."]);
    assert_eq!(failures(&passing).len(), 1);
    usable(&passing).await;

    let lasting = play("openai-chat", &[error(400, "prompt is too long")], 1).await;
    assert_eq!(lasting.process.player.recorded().len(), 1, "once");
    assert!(matches!(&lasting.ends()[..], [End::Failed { .. }]), "{:?}", lasting.ends());
    usable(&lasting).await;

    let mut overloaded = claude_text("Half", "end_turn");
    overloaded.truncate(3);
    overloaded.push(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}));
    let play = play("anthropic-messages", &[claude(&overloaded)], 1).await;
    assert_eq!(
        (accepted(&play), failures(&play)),
        (vec!["Still here.".to_owned()], vec![ErrorClass::Overloaded])
    );
    usable(&play).await;
}

/// An answer that met its limit is kept for the record only; its calls don't run and it isn't asked for again by itself.
#[tokio::test(start_paused = true)]
async fn case_p12_length_ends_the_turn_and_runs_nothing() {
    let rows = [
        ("openai-chat", chat(&[words("So long"), chunk(json!({}), Some("length"))])),
        ("anthropic-messages", claude(&claude_text("So long", "max_tokens"))),
    ];
    for (dialect, body) in rows {
        let play = play(dialect, std::slice::from_ref(&body), 1).await;
        assert_eq!(play.ends(), [End::Length], "{body}");
        assert_eq!((play.count("attempt/start"), play.count("assistant/accepted")), (1, 0));
        let kept = play.facts().into_iter().any(|fact| {
            matches!(fact, Fact::AttemptEnd(end)
                if matches!(end.end, AttemptEndKind::Unaccepted { stop: StopReason::Length, .. }))
        });
        assert!(kept && !play.rig.folder().join("new.txt").exists());
        usable(&play).await;
        let body = play.requests().pop().expect("a request").to_string();
        assert!(!body.contains("So long"), "what wasn't accepted isn't history");
    }
}

/// Cut in the middle of a call: the model is told once to go on in smaller parts, and cut again it's the end.
#[tokio::test(start_paused = true)]
async fn case_p12_a_call_cut_by_its_limit_is_corrected_once() {
    let cut = chat(&[
        words("So long"),
        call(0, "a", "write_file", r#"{"path":"new.txt","content":"x"#),
        chunk(json!({}), Some("length")),
    ]);
    let play = play("openai-chat", &[cut.clone(), cut.clone()], 1).await;
    assert_eq!((play.ends(), play.count("attempt/start")), (vec![End::Length], 2), "{:?}", play.kinds());
    assert_eq!((play.count("turn/extended"), play.count("assistant/accepted")), (1, 0));
    let told = play.heard();
    assert!(
        told.last().is_some_and(|note| note.contains("in the middle of a call of \"write_file\"")),
        "{told:#?}"
    );
    assert!(!play.rig.folder().join("new.txt").exists());
    usable(&play).await;
    assert!(!play.heard().concat().contains("So long"), "what wasn't accepted isn't history");

    let small = call(0, "a", "write_file", r#"{"path":"new.txt","content":"x"}"#);
    let whole = chat(&[small, chunk(json!({}), Some("tool_calls"))]);
    let streamed = |body: String| json!({"stream": {"dialect": "openai-chat", "body": body}});
    let answers = [streamed(cut), streamed(whole), json!({"say": [{"text": "Written."}]})];
    let play = Play::of(&json!({ "answers": answers }).to_string()).await;
    play.through("Begin.").await;
    assert_eq!((play.ends(), play.rig.file("new.txt")), (vec![End::Completed], "x".to_owned()));
}

/// A Responses answer is only whole when it says so: cut short by its limit, failed, or simply over are three other things.
#[tokio::test(start_paused = true)]
async fn case_p25_only_a_completed_response_is_an_answer() {
    let details = json!({"reason": "max_output_tokens"});
    let incomplete = json!({"type": "response.incomplete",
        "response": {"id": "r1", "status": "incomplete", "incomplete_details": details}});
    let error = json!({"code": "server_error", "message": "broken"});
    let failed =
        json!({"type": "response.failed", "response": {"id": "r1", "status": "failed", "error": error}});
    let completed = json!({"type": "response.completed", "response": {"id": "r1", "status": "completed"}});

    let limited = play("openai-responses", &[responses("So long", Some(incomplete))], 1).await;
    assert_eq!((limited.ends(), limited.count("attempt/start")), (vec![End::Length], 1));
    assert_eq!(limited.count("assistant/accepted"), 0);
    usable(&limited).await;

    for (end, class) in [(Some(failed), ErrorClass::Server), (None, ErrorClass::Cut)] {
        let retried = play("openai-responses", &[responses("So far", end)], 1).await;
        assert_eq!((accepted(&retried), failures(&retried)), (vec!["Still here.".to_owned()], vec![class]));
        usable(&retried).await;
    }

    let whole = play("openai-responses", &[responses("All of it.", Some(completed))], 1).await;
    assert_eq!((accepted(&whole), failures(&whole)), (vec!["All of it.".to_owned()], Vec::new()));
    usable(&whole).await;
}

/// Blank arguments are none; broken ones, unknown tools and wrong types are results that the model reads.
#[tokio::test(start_paused = true)]
async fn case_p02_p03_calls_are_read_leniently_and_checked_strictly() {
    let body = chat(&[
        call(0, "a", "list_files", "  "),
        call(1, "b", "read_file", "{\"path\""),
        call(2, "c", "no_such_tool", "{}"),
        call(3, "d", "read_file", "{\"path\":7}"),
        call(4, "e", "read_file", "{\"path\":\"notes.txt\"}"),
        chunk(json!({}), Some("tool_calls")),
    ]);
    let play = play("openai-chat", &[body], 1).await;
    let request = play.requests().pop().expect("a second request");
    let results = request["messages"].as_array().and_then(|m| m.last()).map(|m| m["results"].clone());
    let outline: Vec<(String, bool)> = results
        .as_ref()
        .and_then(Value::as_array)
        .expect("results last")
        .iter()
        .map(|r| (r["id"].as_str().unwrap_or_default().to_owned(), r["is_error"] == true))
        .collect();
    let expect = [("a", false), ("b", true), ("c", true), ("d", true), ("e", false)];
    assert_eq!(outline, expect.map(|(id, bad)| (id.to_owned(), bad)));
    usable(&play).await;
}

#[tokio::test(start_paused = true)]
async fn rel_x14_events_sent_twice_double_no_text() {
    let mut events = claude_text("Once.", "end_turn");
    events.insert(1, claude_start());
    events.push(json!({"type": "message_stop"}));
    let play = play("anthropic-messages", &[claude(&events)], 1).await;
    let said: String = accepted(&play).concat();
    assert!(said.matches("Once.").count() <= 1, "{said}");
    usable(&play).await;
}

/// The same stream in other pieces leaves the same record.
#[tokio::test(start_paused = true)]
async fn rel_x11_the_record_does_not_depend_on_the_chunks() {
    let body = chat(&[
        words("One "),
        words(WORDS),
        call(0, "a", "list_files", "{}"),
        chunk(json!({}), Some("tool_calls")),
    ])
    .replace('\n', "\r\n");
    let mut records = Vec::new();
    for chunk_bytes in [1, 7, 1024, 0] {
        let play = play("openai-chat", std::slice::from_ref(&body), chunk_bytes).await;
        let facts: Vec<String> = play
            .facts()
            .into_iter()
            .filter(|fact| !fact.kind().ignorable)
            .filter(|fact| {
                matches!(
                    fact,
                    Fact::AssistantAccepted(_)
                        | Fact::ToolCall(_)
                        | Fact::RequestPrepared(_)
                        | Fact::TurnEnd(_)
                )
            })
            .map(|fact| match fact {
                Fact::ToolCall(call) => format!("{} {}", call.provider_call_id, call.name),
                Fact::AssistantAccepted(answer) => format!("{:?}", answer.blocks),
                Fact::RequestPrepared(request) => request.body.to_string(),
                other => format!("{other:?}"),
            })
            .collect();
        records.push(facts);
    }
    assert!(records.windows(2).all(|pair| pair[0] == pair[1]), "{records:#?}");
}

/// The loop knows no provider: the same conversation leaves the same record, whoever answers.
#[tokio::test(start_paused = true)]
async fn r_loop_27_a_script_and_real_adapters_run_through_the_same_loop() {
    let path = r#"{"path":"notes.txt"}"#;
    let scripted = Play::of(&script(&[&read("notes.txt"), &text("Done.")])).await;
    scripted.say("Begin.").await;
    scripted.idle().await;
    let expect: Vec<String> = scripted.kinds();
    assert_eq!(scripted.count("tool/result"), 1);
    let use_tool = [
        claude_start(),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "c1", "name": "read_file", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": path}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    let called = chat(&[call(0, "c1", "read_file", path), chunk(json!({}), Some("tool_calls"))]);
    let item = |arguments: &str| json!({"id": "f1", "type": "function_call", "call_id": "c1", "name": "read_file", "arguments": arguments});
    let completed = json!({"type": "response.completed", "response": {"id": "r1", "status": "completed"}});
    let function_call = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("")}),
        json!({"type": "response.function_call_arguments.delta", "item_id": "f1", "output_index": 0, "delta": path}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item(path)}),
        completed.clone(),
    ];
    for (dialect, bodies) in [
        ("openai-responses", [claude(&function_call), responses("Done.", Some(completed))]),
        ("openai-chat", [called, chat(&[words("Done."), stop()])]),
        ("anthropic-messages", [claude(&use_tool), claude(&claude_text("Done.", "end_turn"))]),
    ] {
        let real = play(dialect, &bodies, 7).await;
        assert_eq!(real.kinds(), expect, "{dialect}");
        assert_eq!(accepted(&real), accepted(&scripted), "{dialect}");
        real.clean();
    }
}
