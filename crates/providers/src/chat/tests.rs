//! Chat Completions both ways: the bytes of requests, and streams of careless servers.
//!
//! Fragments of calls are the largest part, because servers number and name them in the most ways; what isn't certain
//! must be an error and never a guess.

use serde_json::json;

use super::*;
use crate::testing::{call, events, results, snapshot, text, tools};
use domain::model::{ErrorClass, ModelDelta, ModelError, Outcome, StopReason, Usage};

fn bytes(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap()
}

#[test]
fn the_head_follows_the_providers_quirks() {
    let head = Head { system: "Be kind.".into(), tools: tools(), answer: None };
    let single = ModelSnapshot { parallel_calls: false, ..snapshot(NAME) };
    let of = |provider: &str, model: &ModelSnapshot| bytes(Chat::new(provider).head(model, &head));
    insta::assert_snapshot!(of("somebody", &snapshot(NAME)), @r#"{"model":"model-1","max_tokens":1000,"stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"read_file","description":"Reads.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}],"messages":[{"role":"system","content":"Be kind."},"#);
    insta::assert_snapshot!(of("openai", &single), @r#"{"model":"model-1","max_completion_tokens":1000,"stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"read_file","description":"Reads.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}],"parallel_tool_calls":false,"messages":[{"role":"system","content":"Be kind."},"#);
    assert_eq!(of("deepseek", &single), of("somebody", &snapshot(NAME)), "only sent where it is understood");
}

#[test]
fn a_segment_holds_one_tool_message_a_result_and_joined_words() {
    let segment = Chat::new("openai").segment(&[
        Message::Assistant(vec![
            text("I "),
            text("look."),
            call("call_1", "read_file", "{\"path\": \"a\"}"),
            call("", "x y", "{\"q"),
        ]),
        Message::User("also".into()),
        results(&[("call_1", "read_file", "hello\n", false), ("call_2", "x y", "unknown tool", true)]),
        Message::User("and".into()),
        Message::Assistant(vec![call("c", "f", "")]),
    ]);
    insta::assert_snapshot!(bytes(segment), @r#"{"role":"assistant","content":"I look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"path\": \"a\"}"}},{"id":"","type":"function","function":{"name":"x_y","arguments":"{\"invalid_arguments\":\"{\\\"q\"}"}}]},{"role":"tool","tool_call_id":"call_1","content":"hello\n"},{"role":"tool","tool_call_id":"call_2","content":"unknown tool"},{"role":"user","content":"also\n\nand"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#);
}

fn reasoning(provider: &str, fields: serde_json::Value) -> Block {
    let mut opaque = json!({"dialect": NAME, "provider": provider});
    opaque.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Block::Reasoning { text: "hm".into(), opaque: Some(opaque) }
}

#[test]
fn p13_reasoning_goes_back_to_its_provider_only() {
    let thought = reasoning("deepseek", json!({"reasoning_content": "hm"}));
    let with_call = [Message::Assistant(vec![thought.clone(), call("c", "f", "{}")])];
    let bare_call = [Message::Assistant(vec![call("c", "f", "{}")])];
    let segment = |provider: &str, messages: &[Message]| bytes(Chat::new(provider).segment(messages));
    insta::assert_snapshot!(segment("deepseek", &with_call), @r#"{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#);
    insta::assert_snapshot!(segment("deepseek", &bare_call), @r#"{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#);
    for other in ["openai", "qwen", "kimi", "glm", "openrouter", "ollama", "somebody"] {
        assert_eq!(segment(other, &with_call), segment(other, &bare_call), "{other} never gets it");
    }
    let details = reasoning(
        "openrouter",
        json!({"reasoning": "hm", "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}),
    );
    insta::assert_snapshot!(segment("openrouter", &[Message::Assistant(vec![details, text("ok")])]), @r#"{"role":"assistant","content":"ok","reasoning":"hm","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}"#);
    assert_eq!(
        segment("deepseek", &[Message::Assistant(vec![thought])]),
        "",
        "reasoning alone is no message"
    );
}

#[test]
fn p13_reasoning_survives_reading_saving_and_sending() {
    let (outcome, deltas, _) = events(
        Box::new(ChatFold::new("deepseek", &snapshot(NAME))),
        &[
            r#"{"id":"r","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"let "}}]}"#,
            r#"{"id":"r","choices":[{"index":0,"delta":{"reasoning_content":"me"}}]}"#,
            r#"{"id":"r","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}}]}"#,
            r#"{"id":"r","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        ],
    );
    let kept: Vec<Block> =
        serde_json::from_str(&serde_json::to_string(&outcome.unwrap().blocks).unwrap()).unwrap();
    let sent = bytes(Chat::new("deepseek").segment(&[Message::Assistant(kept)]));
    insta::assert_snapshot!(sent, @r#"{"role":"assistant","content":null,"reasoning_content":"let me","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#);
    assert_eq!(deltas[0], ModelDelta::Reasoning { text: "let ".into() });
}

#[test]
fn p15_signatures_of_calls_go_back_and_foreign_calls_of_the_turn_get_a_stand_in() {
    let signed = r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"Sig+/="}}}"#;
    let (outcome, ..) = events(
        Box::new(ChatFold::new("gemini", &snapshot(NAME))),
        &[
            &calls(&format!(
                r#"{signed},{{"index":1,"id":"b","function":{{"name":"g","arguments":"{{}}"}}}}"#
            )),
            FINISH,
        ],
    );
    let kept: Vec<Block> =
        serde_json::from_str(&serde_json::to_string(&outcome.unwrap().blocks).unwrap()).unwrap();
    let segment = |provider: &str, messages: &[Message]| bytes(Chat::new(provider).segment(messages));
    let own = [Message::User("go".into()), Message::Assistant(kept)];
    insta::assert_snapshot!(segment("gemini", &own), @r#"{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"Sig+/="}}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}"#);
    assert!(!segment("openai", &own).contains("Sig"), "others never see it");

    let foreign = |id: &str| Message::Assistant(vec![call(id, "f", "{}"), call("second", "g", "{}")]);
    let history = [
        Message::User("before".into()),
        foreign("old"),
        results(&[("old", "f", "x", false), ("second", "g", "x", false)]),
        Message::User("now".into()),
        foreign("new"),
    ];
    let sent: Value = serde_json::from_str(&format!("[{}]", segment("gemini", &history))).unwrap();
    let marks = |at: usize| -> Vec<bool> {
        sent[at]["tool_calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| !call["extra_content"].is_null())
            .collect()
    };
    assert_eq!((marks(1), marks(5)), (vec![false, false], vec![true, false]), "only the turn's first call");
    assert_eq!(sent[5]["tool_calls"][0]["extra_content"]["google"]["thought_signature"], NO_SIGNATURE);
    assert!(!segment("deepseek", &history).contains("extra_content"));
}

fn read(data: &[&str]) -> (Result<Outcome, ModelError>, Vec<ModelDelta>, u64) {
    events(Box::new(ChatFold::new("test", &snapshot(NAME))), data)
}

/// A chunk with these elements of `tool_calls`.
fn calls(elements: &str) -> String {
    format!(r#"{{"id":"r","choices":[{{"index":0,"delta":{{"tool_calls":[{elements}]}}}}]}}"#)
}

const FINISH: &str = r#"{"id":"r","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;

/// Reads chunks of calls and gives `id name arguments` of each, or the error's class.
#[track_caller]
fn check_calls(chunks: &[&str], expect: Result<&[&str], ErrorClass>) {
    let mut data: Vec<String> = chunks.iter().map(|chunk| calls(chunk)).collect();
    data.extend([FINISH.to_owned(), "[DONE]".to_owned()]);
    let got = read(&data.iter().map(String::as_str).collect::<Vec<_>>()).0;
    let got = got.map_err(|error| error.class).map(|outcome| {
        outcome
            .blocks
            .iter()
            .map(|block| match block {
                Block::Call { provider_call_id, name, arguments } => {
                    let renamed = provider_call_id.len() == "call_".len() + 20;
                    let id = if renamed { "renamed" } else { provider_call_id };
                    format!("{id} {name} {arguments}")
                }
                other => panic!("{other:?}"),
            })
            .collect::<Vec<_>>()
    });
    assert_eq!(got, expect.map(|calls| calls.iter().map(ToString::to_string).collect()), "{chunks:?}");
}

#[test]
fn p03_two_calls_may_share_an_index() {
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"path\":\"a\"}"}}"#,
            r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{\"path\":\"b\"}"}}"#,
        ],
        Ok(&[r#"a f {"path":"a"}"#, r#"b f {"path":"b"}"#]),
    );
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\""}},{"index":0,"id":"b","function":{"name":"f","arguments":"{\"q\""}}"#,
            r#"{"index":0,"function":{"arguments":":2}"}},{"index":0,"id":"a","function":{"arguments":":1}"}}"#,
        ],
        Ok(&[r#"a f {"p":1}"#, r#"b f {"q":2}"#]),
    );
}

#[test]
fn p05_a_continuation_under_a_new_index_is_never_guessed() {
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}"#,
            r#"{"index":1,"function":{"arguments":"1}"}}"#,
        ],
        Ok(&[r#"a f {"x":1}"#]),
    );
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}},{"index":1,"id":"b","function":{"name":"f","arguments":"{\"y\":"}}"#,
            r#"{"index":2,"function":{"arguments":"1}"}}"#,
        ],
        Err(ErrorClass::Protocol),
    );
    check_calls(&[r#"{"index":0,"function":{"arguments":"{}"}}"#], Err(ErrorClass::Protocol));
}

#[test]
fn p02_argument_text_is_kept_as_it_came() {
    check_calls(&[r#"{"index":0,"id":"a","function":{"name":"f","arguments":"  "}}"#], Ok(&["a f   "]));
    check_calls(&[r#"{"index":0,"id":"a","function":{"name":"f"}}"#], Ok(&["a f "]));
    check_calls(&[r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"q"}}"#], Ok(&["a f {\"q"]));
    check_calls(
        &[r#"{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}"#],
        Ok(&["a f {\"x\":1}"]),
    );
}

#[test]
fn calls_of_servers_that_number_and_name_in_their_own_way() {
    // No index at all; empty ids in continuations; the name repeated in every fragment.
    check_calls(
        &[
            r#"{"id":"a","function":{"name":"f","arguments":""}}"#,
            r#"{"id":"","function":{"name":"f","arguments":"{\"x\""}}"#,
            r#"{"id":"","function":{"name":"f","arguments":":1}"}}"#,
            r#"{"id":"","function":{"name":"f","arguments":""}}"#,
        ],
        Ok(&[r#"a f {"x":1}"#]),
    );
    // The id comes after the name.
    check_calls(
        &[
            r#"{"index":0,"function":{"name":"f","arguments":""}}"#,
            r#"{"index":0,"id":"late","function":{"arguments":"{}"}}"#,
        ],
        Ok(&["late f {}"]),
    );
}

#[test]
fn x14_positions_out_of_range_and_repeated_events() {
    check_calls(
        &[r#"{"index":-1,"id":"a","function":{"name":"f","arguments":"{}"}}"#],
        Err(ErrorClass::Protocol),
    );
    check_calls(&[r#"{"index":4000000000,"id":"a","function":{"name":"f"}}"#], Err(ErrorClass::Protocol));
    let whole = r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}"#;
    check_calls(&[whole, whole], Ok(&[r#"a f {"x":1}"#]));
    check_calls(&[r#"{"index":0,"id":"a","function":{"name":"","arguments":"{}"}}"#], Ok(&["a  {}"]));
}

#[test]
fn x14_one_id_for_two_calls_is_two_calls() {
    let second = |index: u32| {
        let one = r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}"#;
        let two =
            format!(r#"{{"index":{index},"id":"a","function":{{"name":"f","arguments":"{{\"x\":2}}"}}}}"#);
        let outcome = read(&[&calls(one), &calls(&two), FINISH]).0.unwrap();
        let arguments = outcome.blocks.iter().map(|block| match block {
            Block::Call { arguments, .. } => arguments.clone(),
            other => panic!("{other:?}"),
        });
        arguments.collect::<Vec<_>>()
    };
    check_calls(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\":"}}"#,
            r#"{"index":2,"id":"a","function":{"name":"h","arguments":"{}"}},{"index":0,"function":{"arguments":"1}"}},{"index":1,"function":{"arguments":"2}"}}"#,
        ],
        Ok(&[r#"a f {"x":1}"#, r#"b g {"y":2}"#, "renamed h {}"]),
    );
    for index in [0, 1] {
        assert_eq!(second(index), [r#"{"x":1}"#, r#"{"x":2}"#], "index {index}");
    }
}

#[test]
fn x14_servers_without_ids_get_ids_of_ours() {
    let data = [calls(
        r#"{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}},{"index":0,"function":{"name":"f","arguments":"{\"x\":2}"}},{"index":0,"function":{"name":"g","arguments":"{}"}}"#,
    )];
    let outcome = read(&[&data[0], FINISH]).0.unwrap();
    let mut ids: Vec<&str> = outcome
        .blocks
        .iter()
        .map(|block| match block {
            Block::Call { provider_call_id, .. } => provider_call_id.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert!(ids.iter().all(|id| id.starts_with("call_")));
}

fn said(content: &str, finish: Option<&str>) -> String {
    json!({"id": "r", "model": "m", "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]}).to_string()
}

#[test]
fn p30_a_chunk_with_usage_only_is_counted() {
    let usage =
        r#""usage":{"prompt_tokens":26,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":20}}"#;
    let expect = Some(Usage { input: 6, output: 4, cache_read: 20, cache_write: 0 });
    for choices in [r#""choices":[],"#, r#""choices":null,"#, r#""choices":[{"index":0,"delta":{}}],"#, ""] {
        let last = format!("{{{choices}{usage}}}");
        let outcome = read(&[&said("hi", None), &said("", Some("stop")), &last, "[DONE]"]).0.unwrap();
        assert_eq!((outcome.usage, outcome.blocks), (expect, vec![text("hi")]), "{choices}");
    }
    let zero = r#"{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}"#;
    assert_eq!(read(&[&said("hi", Some("stop")), zero]).0.unwrap().usage, None, "zero means unknown");
}

#[test]
fn p23_calls_without_a_finish_reason_are_not_run() {
    let whole = calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#);
    assert_eq!(read(&[&whole]).0.unwrap_err().class, ErrorClass::Cut);
    assert_eq!(read(&[&whole, "[DONE]"]).0.unwrap_err().class, ErrorClass::Cut);
    assert!(read(&[&whole, FINISH]).0.is_ok(), "the finish reason is the terminal event");
}

#[test]
fn p16_p17_an_error_in_the_stream_is_an_error() {
    for (data, class) in [
        (r#"{"error":{"message":"quota"}}"#, ErrorClass::Billing),
        (
            r#"{"error":{"code":400,"message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            ErrorClass::ContextOverflow,
        ),
        (r#"{"error":{"code":503,"message":"busy"}}"#, ErrorClass::Overloaded),
        (
            r#"{"id":"r","error":{"code":502,"message":"x"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
            ErrorClass::Server,
        ),
    ] {
        let error = read(&[&said("so far", None), data, "[DONE]"]).0.unwrap_err();
        assert_eq!(error.class, class, "{data}");
    }
}

#[test]
fn x14_breaks_and_repeats_of_a_chat_stream() {
    assert_eq!(read(&[&said("a", None), "{bad"]).0.unwrap_err().class, ErrorClass::Protocol);
    let other = said("b", None).replace("\"r\"", "\"s\"");
    let (outcome, ..) = read(&[&said("a", None), &other, &said("", Some("stop"))]);
    assert_eq!(outcome.unwrap().blocks, vec![text("ab")], "an id for every chunk");
    let other = other.replace("{\"content\"", "{\"role\":\"assistant\",\"content\"");
    assert_eq!(read(&[&said("a", None), &other]).0.unwrap_err().class, ErrorClass::Protocol);
    let end = said("z", Some("stop"));
    let (outcome, deltas, _) = read(&[
        &said("a", None),
        r#"{"object":"unknown"}"#,
        &end,
        &end,
        "[DONE]",
        "[DONE]",
        &said("b", None),
    ]);
    assert_eq!((outcome.unwrap().blocks, deltas.len()), (vec![text("az")], 2));
}

#[test]
fn r_mod_04_reasons_of_chat_are_normalised() {
    for (wire, expect) in [
        ("stop", StopReason::Stop),
        ("length", StopReason::Length),
        ("content_filter", StopReason::ContentFilter),
        ("sensitive", StopReason::ContentFilter),
    ] {
        assert_eq!(read(&[&said("x", Some(wire))]).0.unwrap().stop, expect);
    }
    let refusal =
        r#"{"id":"r","choices":[{"index":0,"delta":{"refusal":"I can't."},"finish_reason":"stop"}]}"#;
    let outcome = read(&[refusal]).0.unwrap();
    assert_eq!((outcome.stop, outcome.blocks), (StopReason::Refusal, vec![text("I can't.")]));
    let unsaid = calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#);
    let stopped = FINISH.replace("tool_calls\"}", "stop\"}");
    assert_eq!(read(&[&unsaid, &stopped]).0.unwrap().stop, StopReason::ToolCalls);
}

#[test]
fn reasoning_of_every_field_is_shown_and_blocks_are_joined() {
    let (outcome, deltas, _) = events(
        Box::new(ChatFold::new("openrouter", &snapshot(NAME))),
        &[
            r#"{"choices":[{"delta":{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","index":0,"text":"a","signature":null}]}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","index":0,"text":"b"}]}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"s"},{"type":"reasoning.encrypted","index":1,"data":"d"}]}}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"ok"}]},"finish_reason":"stop"}]}"#,
        ],
    );
    insta::assert_debug_snapshot!((outcome.unwrap().blocks, deltas.len()), @r#"
    (
        [
            Reasoning {
                text: "ab",
                opaque: Some(
                    Object {
                        "dialect": String("openai-chat"),
                        "provider": String("openrouter"),
                        "reasoning": String("ab"),
                        "reasoning_details": Array [
                            Object {
                                "type": String("reasoning.text"),
                                "index": Number(0),
                                "text": String("ab"),
                                "signature": String("s"),
                            },
                            Object {
                                "type": String("reasoning.encrypted"),
                                "index": Number(1),
                                "data": String("d"),
                            },
                        ],
                    },
                ),
            },
            Text {
                text: "ok",
            },
        ],
        3,
    )
    "#);
}
