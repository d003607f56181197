//! The Responses API both ways: the bytes of requests, and streams of OpenAI and of careless servers.
//!
//! What an answer's end says decides: whole, cut short, failed, or nothing at all.

use serde_json::json;

use super::*;
use crate::testing::{call, events, results, snapshot, text, tools};
use domain::model::{Abilities, Effort, ErrorClass, ModelDelta, ModelError, Outcome, StopReason, Usage};

fn bytes(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap()
}

fn thinking() -> ModelSnapshot {
    let abilities = Abilities { efforts: vec![Effort::Low, Effort::Max], ..Abilities::default() };
    ModelSnapshot { abilities, effort: Some(Effort::Max), ..snapshot(NAME) }
}

#[test]
fn the_head_follows_quirks_and_abilities() {
    let head = Head { system: "Be kind.".into(), tools: tools(), answer: None };
    let of = |provider: &str, model: &ModelSnapshot| bytes(Responses::new(provider).head(model, &head));
    insta::assert_snapshot!(of("somebody", &snapshot(NAME)), @r#"{"model":"model-1","max_output_tokens":1000,"stream":true,"store":false,"tools":[{"type":"function","name":"read_file","description":"Reads.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},"strict":false}],"instructions":"Be kind.","input":["#);
    let single = ModelSnapshot { parallel_calls: false, ..thinking() };
    insta::assert_snapshot!(of("openai", &single), @r#"{"model":"model-1","max_output_tokens":1000,"stream":true,"store":false,"reasoning":{"effort":"xhigh"},"include":["reasoning.encrypted_content"],"prompt_cache_key":"daybook-49dac801a58c7efc","tools":[{"type":"function","name":"read_file","description":"Reads.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},"strict":false}],"parallel_tool_calls":false,"instructions":"Be kind.","input":["#);
    let bare = Head { system: "Be kind.".into(), tools: Vec::new(), answer: None };
    insta::assert_snapshot!(bytes(Responses::new("somebody").head(&snapshot(NAME), &bare)), @r#"{"model":"model-1","max_output_tokens":1000,"stream":true,"store":false,"instructions":"Be kind.","input":["#);
}

#[test]
fn the_cache_marker_stands_at_the_end_of_what_sessions_share() {
    let dialect = Responses::new("openai");
    let head = Head { system: "Be kind.".into(), tools: Vec::new(), answer: None };
    assert_eq!(dialect.mark_head(&dialect.head(&snapshot(NAME), &head)), None, "not every model takes one");
    let abilities = Abilities { cache_marks: true, ..Abilities::default() };
    let marking = dialect.head(&ModelSnapshot { abilities, ..snapshot(NAME) }, &head);
    let marked = bytes(dialect.mark_head(&marking).unwrap());
    insta::assert_snapshot!(marked, @r#"{"model":"model-1","max_output_tokens":1000,"stream":true,"store":false,"prompt_cache_key":"daybook-1b9e6ef394512091","input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be kind.","prompt_cache_breakpoint":{"mode":"explicit"}}]},"#);
    let body =
        format!("{marked}{}{}", bytes(dialect.segment(&[Message::User("hi".into())])), bytes(dialect.tail()));
    assert!(serde_json::from_str::<Value>(&body).is_ok(), "{body}");
}

#[test]
fn one_beginning_has_one_cache_key() {
    let key = |system: &str| cache_key(&Head { system: system.into(), tools: tools(), answer: None });
    assert_eq!(key("a"), key("a"));
    assert_ne!(key("a"), key("b"));
    assert_ne!(key("a"), cache_key(&Head { system: "a".into(), tools: Vec::new(), answer: None }));
}

#[test]
fn a_segment_is_a_flat_list_of_items() {
    let segment = Responses::new("openai").segment(&[
        Message::Assistant(vec![
            text("I look."),
            call("call_1", "read_file", "{\"path\": \"a\"}"),
            call(&"x".repeat(70), "x y", "{\"q"),
        ]),
        Message::User("also".into()),
        results(&[("call_1", "read_file", "hello\n", false), (&"x".repeat(70), "x y", "unknown tool", true)]),
        Message::User("and".into()),
        Message::Assistant(vec![text(""), call("c", "f", "")]),
    ]);
    insta::assert_snapshot!(bytes(segment), @r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"call_1","name":"read_file","arguments":"{\"path\": \"a\"}"},{"type":"function_call","call_id":"call_c71bd109227e23434ecf71fd0a344a20","name":"x_y","arguments":"{\"invalid_arguments\":\"{\\\"q\"}"},{"type":"function_call_output","call_id":"call_1","output":"hello\n"},{"type":"function_call_output","call_id":"call_c71bd109227e23434ecf71fd0a344a20","output":"unknown tool"},{"type":"message","role":"user","content":[{"type":"input_text","text":"also\n\nand"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#);
}

fn reasoning(provider: &str) -> Block {
    let item = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA+/=="});
    Block::Reasoning {
        text: String::new(),
        opaque: Some(json!({"dialect": NAME, "provider": provider, "item": item})),
    }
}

#[test]
fn p13_reasoning_goes_back_to_its_provider_only_and_never_alone() {
    let segment = |provider: &str, blocks: &[Block]| {
        bytes(Responses::new(provider).segment(&[Message::Assistant(blocks.to_vec())]))
    };
    let bare = segment("openai", &[call("c", "f", "{}")]);
    let own = segment("openai", &[reasoning("openai"), call("c", "f", "{}")]);
    insta::assert_snapshot!(own, @r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA+/=="},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#);
    assert!(own.ends_with(&bare));
    for blocks in [
        vec![reasoning("azure"), call("c", "f", "{}")],
        vec![call("c", "f", "{}"), reasoning("openai")],
        vec![Block::Reasoning { text: "hm".into(), opaque: None }, call("c", "f", "{}")],
    ] {
        assert_eq!(segment("openai", &blocks), bare, "{blocks:?}");
    }
    assert_eq!(segment("openai", &[reasoning("openai")]), "", "it led to nothing");
}

/// An answer as OpenAI streams it: reasoning, words, two calls whose arguments come interleaved.
const STREAM: [&str; 21] = [
    r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","model":"gpt-x","output":[]}}"#,
    r#"{"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1","status":"in_progress"}}"#,
    r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
    r#"{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}"#,
    r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"One."}"#,
    r#"{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}}"#,
    r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"Two."}"#,
    r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","status":null,"summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}],"encrypted_content":"gAAA+/=="}}"#,
    r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}"#,
    r#"{"type":"response.content_part.added","item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":""}}"#,
    r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"I "}"#,
    r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"look."}"#,
    r#"{"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]}}"#,
    r#"{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_a","name":"f","arguments":"","status":"in_progress"}}"#,
    r#"{"type":"response.output_item.added","output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"call_b","name":"g","arguments":"","status":"in_progress"}}"#,
    r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{\"x\""}"#,
    r#"{"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":3,"delta":"{\"y\":2}"}"#,
    r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":":1}"}"#,
    r#"{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":2,"arguments":"{\"x\":1}"}"#,
    r#"{"type":"response.output_item.done","output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"call_b","name":"g","arguments":"{\"y\":2}","status":"completed"}}"#,
    r#"{"type":"response.completed","response":{"id":"resp_1","status":"completed","model":"gpt-x-1","output":[],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":64,"cache_write_tokens":6},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":109}}}"#,
];

fn read(data: &[&str]) -> (Result<Outcome, ModelError>, Vec<ModelDelta>, u64) {
    events(Box::new(ResponsesFold::new("openai", &snapshot(NAME))), data)
}

#[test]
fn r_mod_03_a_stream_becomes_blocks_usage_and_deltas() {
    let (outcome, deltas, ignored) = read(&STREAM);
    let outcome = outcome.unwrap();
    assert_eq!((outcome.stop, ignored), (StopReason::ToolCalls, 0));
    assert_eq!(outcome.usage, Some(Usage { input: 30, output: 9, cache_read: 64, cache_write: 6 }));
    assert_eq!((outcome.response_id.as_deref(), outcome.model.as_deref()), (Some("resp_1"), Some("gpt-x-1")));
    let shown: Vec<String> = deltas
        .iter()
        .map(|delta| match delta {
            ModelDelta::Text { text } => format!("text {text}"),
            ModelDelta::Reasoning { text } => format!("reasoning {text:?}"),
            ModelDelta::Arguments { index, name, text } => format!("{index} {name:?} {text}"),
        })
        .collect();
    insta::assert_debug_snapshot!((outcome.blocks.clone(), shown), @r#"
    (
        [
            Reasoning {
                text: "One.\n\nTwo.",
                opaque: Some(
                    Object {
                        "dialect": String("openai-responses"),
                        "provider": String("openai"),
                        "item": Object {
                            "type": String("reasoning"),
                            "id": String("rs_1"),
                            "summary": Array [
                                Object {
                                    "type": String("summary_text"),
                                    "text": String("One."),
                                },
                                Object {
                                    "type": String("summary_text"),
                                    "text": String("Two."),
                                },
                            ],
                            "encrypted_content": String("gAAA+/=="),
                        },
                    },
                ),
            },
            Text {
                text: "I look.",
            },
            Call {
                provider_call_id: "call_a",
                name: "f",
                arguments: "{\"x\":1}",
            },
            Call {
                provider_call_id: "call_b",
                name: "g",
                arguments: "{\"y\":2}",
            },
        ],
        [
            "reasoning \"One.\"",
            "reasoning \"\\n\\n\"",
            "reasoning \"Two.\"",
            "text I ",
            "text look.",
            "0 Some(\"f\") ",
            "1 Some(\"g\") ",
            "0 None {\"x\"",
            "1 None {\"y\":2}",
            "0 None :1}",
        ],
    )
    "#);
    let kept: Vec<Block> = serde_json::from_str(&serde_json::to_string(&outcome.blocks).unwrap()).unwrap();
    let sent = bytes(Responses::new("openai").segment(&[Message::Assistant(kept)]));
    assert!(sent.starts_with(r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}],"encrypted_content":"gAAA+/=="},{"type":"message""#), "{sent}");
}

#[test]
fn p25_only_a_completed_answer_is_one() {
    for cut in 0..STREAM.len() - 1 {
        let error = read(&STREAM[..cut]).0.unwrap_err();
        assert_eq!(error.class, ErrorClass::Cut, "after {cut} events");
        let mut done = STREAM[..cut].to_vec();
        done.push("[DONE]");
        assert_eq!(read(&done).0.unwrap_err().class, ErrorClass::Cut, "after {cut} events and [DONE]");
    }
}

/// The stream up to its end, with this end in its place.
#[track_caller]
fn check_end(end: &str, expect: Result<StopReason, ErrorClass>) {
    let mut data = STREAM[..13].to_vec();
    data.push(end);
    let (got, ..) = read(&data);
    assert_eq!(got.map(|outcome| outcome.stop).map_err(|error| error.class), expect, "{end}");
}

#[test]
fn p25_incomplete_and_failed_are_what_they_say() {
    let incomplete = |details: &str| {
        format!(
            r#"{{"type":"response.incomplete","response":{{"status":"incomplete","incomplete_details":{details}}}}}"#
        )
    };
    check_end(&incomplete(r#"{"reason":"max_output_tokens"}"#), Ok(StopReason::Length));
    check_end(&incomplete(r#"{"reason":"content_filter"}"#), Ok(StopReason::ContentFilter));
    check_end(&incomplete("null"), Ok(StopReason::Length));
    check_end(&incomplete(r#"{"reason":"moon"}"#), Err(ErrorClass::Protocol));
    // The state of the answer wins over the name of the event: some servers only know one name.
    for (status, expect) in [
        ("completed", Ok(StopReason::Stop)),
        ("incomplete", Ok(StopReason::Length)),
        ("failed", Err(ErrorClass::Server)),
        ("cancelled", Err(ErrorClass::Cut)),
    ] {
        check_end(&format!(r#"{{"type":"response.completed","response":{{"status":"{status}"}}}}"#), expect);
    }
    check_end(r#"{"type":"response.cancelled","response":{}}"#, Err(ErrorClass::Cut));
    for (code, class) in [
        ("server_error", ErrorClass::Server),
        ("rate_limit_exceeded", ErrorClass::RateLimited),
        ("context_length_exceeded", ErrorClass::ContextOverflow),
        ("insufficient_quota", ErrorClass::Billing),
        ("invalid_prompt", ErrorClass::BadRequest),
    ] {
        let error = format!(r#"{{"code":"{code}","message":"so it is"}}"#);
        let failed =
            format!(r#"{{"type":"response.failed","response":{{"status":"failed","error":{error}}}}}"#);
        check_end(&failed, Err(class));
        check_end(&format!(r#"{{"type":"error","code":"{code}","message":"so it is"}}"#), Err(class));
        check_end(&format!(r#"{{"type":"error","error":{error}}}"#), Err(class));
    }
    check_end(
        r#"{"type":"response.failed","response":{"status":"failed","error":null}}"#,
        Err(ErrorClass::Server),
    );
}

#[test]
fn r_mod_16_a_failed_answer_still_tells_what_it_cost() {
    let mut fold = ResponsesFold::new("openai", &snapshot(NAME));
    let failed = r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"x"},"usage":{"input_tokens":7,"output_tokens":1}}}"#;
    let event = crate::sse::Event { name: String::new(), data: failed.into(), lossy: false };
    assert!(fold.event(&event, &mut Vec::new()).is_err());
    assert_eq!(fold.usage(), Some(Usage { input: 7, output: 1, ..Usage::default() }));
}

#[test]
fn r_mod_04_refusals_are_refusals() {
    let (outcome, deltas, _) = read(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"message","content":[]}}"#,
        r#"{"type":"response.refusal.delta","item_id":"m","output_index":0,"delta":"I can't."}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"m","type":"message","content":[{"type":"refusal","refusal":"I can't."}]}}"#,
        r#"{"type":"response.completed","response":{"status":"completed"}}"#,
    ]);
    let outcome = outcome.unwrap();
    assert_eq!((outcome.stop, outcome.blocks), (StopReason::Refusal, vec![text("I can't.")]));
    assert_eq!(deltas.len(), 1);
}

const END: &str = r#"{"type":"response.completed","response":{"id":"r"}}"#;

/// Reads events and gives `words` or `id name arguments` of each block, or the error's class.
#[track_caller]
fn check_blocks(data: &[&str], expect: Result<&[&str], ErrorClass>) {
    let got = read(data).0.map_err(|error| error.class).map(|outcome| {
        let told = outcome.blocks.iter().map(|block| match block {
            Block::Text { text } => text.clone(),
            Block::Call { provider_call_id, name, arguments } => {
                let renamed = provider_call_id.len() == "call_".len() + 20;
                format!("{} {name} {arguments}", if renamed { "renamed" } else { provider_call_id })
            }
            other => panic!("{other:?}"),
        });
        told.collect::<Vec<_>>()
    });
    assert_eq!(got, expect.map(|told| told.iter().map(ToString::to_string).collect()), "{data:#?}");
}

#[test]
fn p25_servers_that_leave_things_out_are_read_all_the_same() {
    // Words without the item they belong to, and content as a text.
    check_blocks(&[r#"{"type":"response.output_text.delta","delta":"hi"}"#, END], Ok(&["hi"]));
    check_blocks(
        &[r#"{"type":"response.output_item.done","item":{"type":"message","content":"hi"}}"#, END],
        Ok(&["hi"]),
    );
    // A call without pieces, without ids, with its arguments as an object.
    let whole = r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"f","arguments":{"x":1}}}"#;
    check_blocks(&[whole, END], Ok(&[r#"a f {"x":1}"#]));
    check_blocks(&[&whole.replace(r#""call_id":"a","#, ""), END], Ok(&[r#"renamed f {"x":1}"#]));
    // Nothing but the end.
    let output = r#"[{"type":"message","id":"m","content":[{"type":"output_text","text":"hi"}]},{"type":"function_call","id":"fc","call_id":"a","name":"f","arguments":"{}"}]"#;
    let end = format!(r#"{{"type":"response.completed","response":{{"output":{output}}}}}"#);
    check_blocks(&[&end], Ok(&["hi", "a f {}"]));
    // Pieces name another item each, but the place is right.
    check_blocks(
        &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"a","name":"f"}}"#,
            r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_2","type":"function_call","call_id":"b","name":"g"}}"#,
            r#"{"type":"response.function_call_arguments.delta","item_id":"zz","output_index":1,"delta":"{\"y\":2}"}"#,
            r#"{"type":"response.function_call_arguments.delta","item_id":"zy","output_index":0,"delta":"{\"x\":1}"}"#,
            END,
        ],
        Ok(&[r#"a f {"x":1}"#, r#"b g {"y":2}"#]),
    );
    // The end repeats the items under other ids, and adds nothing.
    let mut data = STREAM[8..13].to_vec();
    let other = r#"{"type":"response.completed","response":{"output":[{"type":"message","id":"other","content":[{"type":"output_text","text":"I look."}]}]}}"#;
    data.push(other);
    check_blocks(&data, Ok(&["I look."]));
    // What the provider says of the whole item wins over a piece that came twice.
    let twice = [STREAM[8], STREAM[10], STREAM[10], STREAM[11], STREAM[12], END];
    check_blocks(&twice, Ok(&["I look."]));
}

#[test]
fn p03_arguments_of_two_calls_are_never_mixed() {
    let added = |id: &str| {
        format!(
            r#"{{"type":"response.output_item.added","item":{{"id":"{id}","type":"function_call","call_id":"{id}","name":"f"}}}}"#
        )
    };
    let delta = |id: &str, text: &str| {
        json!({"type": "response.function_call_arguments.delta", "item_id": id, "delta": text}).to_string()
    };
    let (one, two) = (added("a"), added("b"));
    check_blocks(&[&one, &delta("", "{\"x\":1}"), END], Ok(&[r#"a f {"x":1}"#]));
    check_blocks(&[&one, &two, &delta("", "{}"), END], Err(ErrorClass::Protocol));
    check_blocks(&[&one, &delta("zz", "{}"), END], Err(ErrorClass::Protocol));
    check_blocks(&[&delta("a", "{}"), END], Err(ErrorClass::Protocol));
    check_blocks(&[&one, &delta("a", "{\"x\":"), END], Err(ErrorClass::Protocol));
    check_blocks(&[&one, &one, &delta("a", "{}"), END], Ok(&["a f {}"]));
    let done = |arguments: &str| {
        json!({"type": "response.output_item.done", "item":
            {"id": "a", "type": "function_call", "call_id": "a", "name": "f", "arguments": arguments}})
        .to_string()
    };
    check_blocks(&[&one, &delta("a", "{\"x\":1}"), &done("{\"x\": 1}"), END], Ok(&[r#"a f {"x":1}"#]));
    check_blocks(&[&one, &delta("a", "{\"x\":1}"), &done("{\"x\":2}"), END], Err(ErrorClass::Protocol));
    check_blocks(&[&one, &done("{}"), &delta("a", "{}"), END], Err(ErrorClass::Protocol));
    check_blocks(&[&one, &done("{}"), &one, END], Err(ErrorClass::Protocol));
    let late = r#"{"type":"response.completed","response":{"output":[{"type":"function_call","id":"a"},{"type":"function_call","id":"q"}]}}"#;
    check_blocks(&[&one, &done("{}"), late], Err(ErrorClass::Protocol));
    let unfinished = done("{\"x\":").replace(r#""name""#, r#""status":"incomplete","name""#);
    check_blocks(&[&one, &unfinished, END], Err(ErrorClass::Protocol));
}

#[test]
fn x14_breaks_and_repeats_of_a_stream() {
    let second = STREAM[0].replace("resp_1", "resp_2");
    assert_eq!(read(&[STREAM[0], &second]).0.unwrap_err().class, ErrorClass::Protocol);
    assert_eq!(read(&[STREAM[0], "{bad"]).0.unwrap_err().class, ErrorClass::Protocol);
    let mut data = STREAM.to_vec();
    data.extend([STREAM[20], "[DONE]", STREAM[10]]);
    data.insert(1, r#"{"type":"response.web_search_call.searching","item_id":"ws"}"#);
    let (outcome, _, ignored) = read(&data);
    assert_eq!((outcome.unwrap().blocks.len(), ignored), (4, 4), "after the end nothing counts");
}

#[test]
fn a_whole_answer_instead_of_a_stream() {
    let plain = |body: &str| {
        let mut fold = ResponsesFold::new("openai", &snapshot(NAME));
        let mut deltas = Vec::new();
        fold.plain(body.as_bytes(), &mut deltas).and_then(|()| fold.finish()).map_err(|error| error.class)
    };
    let body = r#"{"id":"r","object":"response","error":null,"status":"completed","output":[{"type":"message","id":"m","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":3,"output_tokens":1}}"#;
    assert_eq!(plain(body).unwrap().blocks, vec![text("hi")]);
    assert_eq!(plain(&body.replace("completed", "incomplete")).unwrap().stop, StopReason::Length);
    assert_eq!(plain(&body.replace("completed", "in_progress")).unwrap_err(), ErrorClass::Protocol);
    assert_eq!(plain(r#"{"id":"r","choices":[]}"#).unwrap_err(), ErrorClass::Protocol);
    assert_eq!(
        plain(r#"{"error":{"message":"no","code":"invalid_api_key"}}"#).unwrap_err(),
        ErrorClass::Auth
    );
}
