//! Anthropic Messages both ways: the bytes of requests with their markers, and streams that break the rules.
//!
//! Signed thinking must come back byte for byte; repeats must change nothing; breaks must fail the attempt.

use serde_json::json;

use super::*;
use crate::dialect::{Body, Markers};
use crate::testing::{call, events, results, snapshot, text, tools};
use bytes::Bytes;
use domain::model::{ErrorClass, ModelDelta, ModelError, Outcome, StopReason};

fn dialect() -> Anthropic {
    Anthropic::new("anthropic")
}

fn bytes(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap()
}

fn thinking(provider: &str) -> Block {
    Block::Reasoning {
        text: "let me see".into(),
        opaque: Some(json!({"dialect": NAME, "provider": provider,
            "block": {"type": "thinking", "thinking": "let me see", "signature": "c2ln/+=="}})),
    }
}

fn redacted() -> Block {
    Block::Reasoning {
        text: String::new(),
        opaque: Some(json!({"dialect": NAME, "provider": "anthropic",
            "block": {"type": "redacted_thinking", "data": "AbC=="}})),
    }
}

#[test]
fn the_head_ends_where_the_messages_begin() {
    let model = snapshot(NAME);
    let head = Head { system: "Be \"kind\".\n".into(), tools: tools(), answer: None };
    insta::assert_snapshot!(bytes(dialect().head(&model, &head)), @r#"{"model":"model-1","max_tokens":1000,"stream":true,"tools":[{"name":"read_file","description":"Reads.","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}],"system":[{"type":"text","text":"Be \"kind\".\n"}],"messages":["#);
    let single = ModelSnapshot { parallel_calls: false, ..model };
    insta::assert_snapshot!(bytes(dialect().head(&single, &head)), @r#"{"model":"model-1","max_tokens":1000,"stream":true,"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"tools":[{"name":"read_file","description":"Reads.","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}],"system":[{"type":"text","text":"Be \"kind\".\n"}],"messages":["#);
}

#[test]
fn a_segment_holds_results_before_words_and_reasoning_in_its_place() {
    let segment = dialect().segment(&[
        Message::Assistant(vec![
            thinking("anthropic"),
            text("I look."),
            call("toolu_1", "read_file", "{\"path\": \"a\"}"),
            redacted(),
            call("x.y:0", "list files", "  "),
        ]),
        Message::User("also this".into()),
        results(&[("toolu_1", "read_file", "hello\n", false), ("x.y:0", "list files", "no such tool", true)]),
        Message::User("and that".into()),
    ]);
    insta::assert_snapshot!(bytes(segment), @r#"{"role":"assistant","content":[{"type":"thinking","thinking":"let me see","signature":"c2ln/+=="},{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"read_file","input":{"path": "a"}},{"type":"redacted_thinking","data":"AbC=="},{"type":"tool_use","id":"x-x2ey-x3a0","name":"list_files","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"hello\n"},{"type":"tool_result","tool_use_id":"x-x2ey-x3a0","content":"no such tool","is_error":true},{"type":"text","text":"also this"},{"type":"text","text":"and that"}]}"#);
}

#[test]
fn p13_reasoning_of_another_dialect_or_provider_is_left_out() {
    let foreign = Block::Reasoning {
        text: "hm".into(),
        opaque: Some(json!({"dialect": "openai-chat", "provider": "deepseek", "reasoning_content": "hm"})),
    };
    let plain = Block::Reasoning { text: "hm".into(), opaque: None };
    let segment =
        dialect().segment(&[Message::Assistant(vec![foreign, plain, thinking("deepseek"), text("ok")])]);
    insta::assert_snapshot!(bytes(segment), @r#"{"role":"assistant","content":[{"type":"text","text":"ok"}]}"#);
}

#[test]
fn markers_stand_at_the_end_of_head_and_user_segments() {
    let d = dialect();
    let marked = |segment: &[Message]| d.mark(&d.segment(segment)).map(bytes);
    insta::assert_snapshot!(marked(&[Message::User("hi".into())]).unwrap(), @r#"{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}"#);
    insta::assert_snapshot!(marked(&[results(&[("a", "f", "x", false)])]).unwrap(), @r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x","cache_control":{"type":"ephemeral"}}]}"#);
    assert_eq!(marked(&[Message::Assistant(vec![thinking("anthropic")])]), None, "thinking takes no marker");
    assert_eq!(marked(&[]), None);
    let empty = Head { system: String::new(), tools: Vec::new(), answer: None };
    assert_eq!(d.mark_head(&d.head(&snapshot(NAME), &empty)), None);
    let head = Head { system: "s".into(), tools: Vec::new(), answer: None };
    insta::assert_snapshot!(bytes(d.mark_head(&d.head(&snapshot(NAME), &head)).unwrap()), @r#"{"model":"model-1","max_tokens":1000,"stream":true,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":["#);
}

#[test]
fn a_body_is_valid_json_and_grows_at_its_end_only() {
    let d = dialect();
    let head =
        Bytes::from(d.head(&snapshot(NAME), &Head { system: "s".into(), tools: tools(), answer: None }));
    let parts: Vec<Bytes> = [
        vec![Message::User("one".into())],
        vec![
            Message::Assistant(vec![call("a", "read_file", "{}")]),
            results(&[("a", "read_file", "x", false)]),
        ],
        vec![],
        vec![Message::User("two".into())],
    ]
    .iter()
    .map(|messages| Bytes::from(d.segment(messages)))
    .collect();
    let none = Markers::default();
    let short = Body::assemble(&d, &head, &parts[..2], &none).to_bytes();
    let long = Body::assemble(&d, &head, &parts, &none);
    assert!(long.to_bytes().starts_with(&short[..short.len() - d.tail().len()]));
    assert_eq!(long.digest(), Body::assemble(&d, &head, &parts, &none).digest());
    assert_eq!(long.digest(), domain::digest::Digest::of(&long.to_bytes()));
    let marked = Body::assemble(&d, &head, &parts, &Markers { head: true, segments: vec![1] }).to_bytes();
    let json: serde_json::Value = serde_json::from_slice(&marked).unwrap();
    assert_eq!(json["system"][0]["cache_control"]["type"], "ephemeral");
    assert_eq!(json["messages"][2]["content"][0]["cache_control"]["type"], "ephemeral");
    assert_eq!(json["messages"].as_array().unwrap().len(), 4);
    assert_eq!(marked.windows(13).filter(|w| w == b"cache_control").count(), 2);
}

/// Reads events, each given as its data.
fn read(data: &[&str]) -> (Result<Outcome, ModelError>, Vec<ModelDelta>, u64) {
    events(dialect().fold(&snapshot(NAME)), data)
}

const START: &str = r#"{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","content":[],"model":"claude","usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":4,"cache_creation_input_tokens":2}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn ended(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":9}}}}"#
    )
}

#[test]
fn p14_interleaved_thinking_keeps_its_order_and_goes_back_byte_for_byte() {
    let wire = [
        r#"{"type":"thinking","thinking":"one\n\u4f60","signature":"c2lnMQ=="}"#,
        r#"{"type":"tool_use","id":"toolu_1","name":"read_file","input":{}}"#,
        r#"{"type":"redacted_thinking","data":"EncRyp/+=="}"#,
        r#"{"type":"thinking","thinking":"","signature":"c2lnMg=="}"#,
        r#"{"type":"tool_use","id":"toolu_2","name":"read_file","input":{}}"#,
    ];
    let mut data = vec![START.to_owned()];
    for (index, block) in wire.iter().enumerate() {
        let json: serde_json::Value = serde_json::from_str(block).unwrap();
        let (start, deltas) = match json["type"].as_str().unwrap() {
            "thinking" => (
                r#"{"type":"thinking","thinking":"","signature":""}"#.to_owned(),
                vec![
                    json!({"type": "thinking_delta", "thinking": json["thinking"]}),
                    json!({"type": "signature_delta", "signature": json["signature"]}),
                ],
            ),
            "tool_use" => {
                (block.to_string(), vec![json!({"type": "input_json_delta", "partial_json": "{\"a\": 1}"})])
            }
            _ => (block.to_string(), vec![]),
        };
        data.push(format!(r#"{{"type":"content_block_start","index":{index},"content_block":{start}}}"#));
        for delta in deltas {
            data.push(json!({"type": "content_block_delta", "index": index, "delta": delta}).to_string());
        }
        data.push(format!(r#"{{"type":"content_block_stop","index":{index}}}"#));
    }
    data.extend([ended("tool_use"), STOP.into()]);
    let outcome = read(&data.iter().map(String::as_str).collect::<Vec<_>>()).0.unwrap();
    // What a store does to it between two requests.
    let kept: Vec<Block> = serde_json::from_str(&serde_json::to_string(&outcome.blocks).unwrap()).unwrap();
    let sent = bytes(dialect().segment(&[Message::Assistant(kept)]));
    let expect: Vec<String> = wire
        .iter()
        .map(|block| block.replace(r#""input":{}"#, r#""input":{"a": 1}"#).replace(r"\u4f60", "你"))
        .collect();
    assert_eq!(sent, format!(r#"{{"role":"assistant","content":[{}]}}"#, expect.join(",")));
}

#[test]
fn parallel_calls_usage_and_deltas_of_a_stream() {
    let (outcome, deltas, ignored) = read(&[
        START,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"b","name":"g","input":{"z":1}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":" 1.0}"}}"#,
        r#"{"type":"something_new","index":9}"#,
        &ended("tool_use"),
        STOP,
    ]);
    insta::assert_debug_snapshot!((outcome, deltas, ignored), @r#"
    (
        Ok(
            Outcome {
                blocks: [
                    Text {
                        text: "ok",
                    },
                    Call {
                        provider_call_id: "a",
                        name: "f",
                        arguments: "{\"x\": 1.0}",
                    },
                    Call {
                        provider_call_id: "b",
                        name: "g",
                        arguments: "{\"z\":1}",
                    },
                ],
                stop: ToolCalls,
                usage: Some(
                    Usage {
                        input: 10,
                        output: 9,
                        cache_read: 4,
                        cache_write: 2,
                    },
                ),
                response_id: Some(
                    "m1",
                ),
                model: Some(
                    "claude",
                ),
            },
        ),
        [
            Text {
                text: "ok",
            },
            Arguments {
                index: 0,
                name: Some(
                    "f",
                ),
                text: "",
            },
            Arguments {
                index: 1,
                name: Some(
                    "g",
                ),
                text: "",
            },
            Arguments {
                index: 0,
                name: None,
                text: "{\"x\":",
            },
            Arguments {
                index: 0,
                name: None,
                text: " 1.0}",
            },
        ],
        1,
    )
    "#);
}

#[track_caller]
fn check_error(data: &[&str], class: ErrorClass) {
    let error = read(data).0.unwrap_err();
    assert_eq!(error.class, class, "{data:?}: {error:?}");
}

const TEXT: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const HI: &str = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}"#;
const CLOSE: &str = r#"{"type":"content_block_stop","index":0}"#;

#[test]
fn x14_breaks_of_the_protocol_fail_the_attempt() {
    let protocol = ErrorClass::Protocol;
    check_error(&[START, "{not json"], protocol);
    check_error(
        &[START, r#"{"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":"x"}}"#],
        protocol,
    );
    check_error(
        &[START, r#"{"type":"content_block_start","index":99999999999,"content_block":{"type":"text"}}"#],
        protocol,
    );
    check_error(
        &[START, r#"{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"x"}}"#],
        protocol,
    );
    check_error(&[START, TEXT, HI, CLOSE, HI], protocol);
    check_error(&[START, TEXT, HI, TEXT], protocol);
    check_error(
        &[
            START,
            TEXT,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"x"}}"#,
        ],
        protocol,
    );
    check_error(&[START, TEXT, &START.replace("m1", "m2")], protocol);
    check_error(&[START, TEXT, HI, CLOSE, STOP], protocol);
    check_error(&[START, TEXT, HI, CLOSE, &ended("tool_use"), STOP], protocol);
    let deep = format!(r#"{{"type":"x","a":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    check_error(&[START, &deep], protocol);
}

#[test]
fn x14_repeated_events_double_nothing() {
    let end = ended("end_turn");
    let data = [START, START, TEXT, TEXT, HI, CLOSE, CLOSE, &end, &end, STOP, STOP, HI, "{not even json"];
    let (outcome, deltas, ignored) = read(&data);
    assert_eq!(outcome.unwrap().blocks, vec![text("hi")]);
    assert_eq!(deltas.len(), 1);
    assert_eq!(ignored, 6);
}

#[test]
fn x13_without_its_end_an_answer_is_cut() {
    check_error(&[], ErrorClass::Cut);
    check_error(&[START, TEXT, HI], ErrorClass::Cut);
    check_error(&[START, TEXT, HI, CLOSE, &ended("end_turn")], ErrorClass::Cut);
}

#[test]
fn x15_an_error_inside_the_stream_ends_it_with_its_class() {
    check_error(
        &[START, TEXT, HI, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#],
        ErrorClass::Overloaded,
    );
    check_error(&[r#"{"error":{"message":"quota"}}"#, "[DONE]"], ErrorClass::Billing);
}

#[test]
fn x14_an_answer_of_50_mb_breaks_off() {
    let big = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x".repeat(1 << 20)}});
    let big = big.to_string();
    let mut data = vec![START, TEXT];
    data.extend(std::iter::repeat_n(big.as_str(), 50));
    check_error(&data, ErrorClass::Protocol);
}

#[test]
fn counts_of_zero_are_counts_not_known_yet() {
    let (mut begin, mut end) = (START.to_owned(), ended("end_turn"));
    let usage = |begin: &str, end: &str| {
        let usage = read(&[begin, TEXT, HI, CLOSE, end, STOP]).0.unwrap().usage;
        usage.map(|usage| (usage.input, usage.output, usage.cache_read))
    };
    end = end.replace(
        "\"output_tokens\":9",
        "\"output_tokens\":9,\"input_tokens\":0,\"cache_read_input_tokens\":0",
    );
    assert_eq!(usage(&begin, &end), Some((10, 9, 4)), "later zeros take nothing away");
    begin =
        begin.replace("\"input_tokens\":10,\"output_tokens\":1", "\"input_tokens\":0,\"output_tokens\":0");
    end = end.replace("\"input_tokens\":0,", "\"input_tokens\":7,");
    assert_eq!(usage(&begin, &end), Some((7, 9, 4)), "first 0/0, then the real counts");
}

#[test]
fn r_mod_04_reasons_are_normalised() {
    for (wire, expect) in [
        ("end_turn", StopReason::Stop),
        ("max_tokens", StopReason::Length),
        ("refusal", StopReason::Refusal),
        ("model_context_window_exceeded", StopReason::Length),
    ] {
        let outcome = read(&[START, TEXT, HI, CLOSE, &ended(wire), STOP]).0.unwrap();
        assert_eq!(outcome.stop, expect, "{wire}");
    }
}
