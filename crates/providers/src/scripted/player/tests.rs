//! Scripts played in virtual time: order, conditions, pacing, failures, cancelling.
//!
//! A script must behave the same in every process, so continuing in a fresh one is part of the cases.

use super::*;
use crate::dialect::{Body, Dialect, Markers};
use crate::scripted::{NAME, Scripted};
use crate::testing::{call, results, snapshot, text};
use crate::{Connection, Proxy};
use domain::model::{Head, Message, Usage};

fn body(messages: &[Message]) -> Body {
    let head = Bytes::from(
        Scripted.head(&snapshot(NAME), &Head { system: "s".into(), tools: Vec::new(), answer: None }),
    );
    Body::assemble(&Scripted, &head, &[Bytes::from(Scripted.segment(messages))], &Markers::default())
}

async fn ask(player: &Player, conversation: &str, messages: &[Message]) -> (SendResult, Vec<ModelDelta>) {
    let connection = Connection::new("scripted", NAME, "http://localhost", None, Proxy::Direct).unwrap();
    let (model, body, mut deltas) = (snapshot(NAME), body(messages), Vec::new());
    let request = Request { connection: &connection, model: &model, body: &body, conversation };
    let result = player.send(request, &mut deltas, &CancellationToken::new()).await;
    (result, deltas)
}

fn player(script: &str) -> Player {
    Player::new(Script::parse(script).unwrap())
}

fn user(text: &str) -> Message {
    Message::User(text.into())
}

#[tokio::test(start_paused = true)]
async fn answers_come_in_order_with_calls_reasoning_and_usage() {
    let player = player(
        r#"{"answers": [
            {"say": [{"reasoning": "hm"}, {"text": "I look ", "pace_ms": 40}, {"text": "now."},
                     {"call": {"name": "list_files", "arguments": {"path": "."}}, "wait_ms": 100},
                     {"call": {"id": "own", "name": "x", "arguments": "{broken"}}],
             "usage": {"input": 9, "output": 4}},
            {"error": {"class": "rate_limited", "retry_after_ms": 1000}},
            {"say": [{"text": "Done."}]}
        ]}"#,
    );
    let began = Instant::now();
    let (first, deltas) = ask(&player, "s", &[user("go")]).await;
    insta::assert_debug_snapshot!((first.unwrap(), deltas), @r#"
    (
        Outcome {
            blocks: [
                Reasoning {
                    text: "hm",
                    opaque: None,
                },
                Text {
                    text: "I look now.",
                },
                Call {
                    provider_call_id: "call_1_4",
                    name: "list_files",
                    arguments: "{\"path\":\".\"}",
                },
                Call {
                    provider_call_id: "own",
                    name: "x",
                    arguments: "{broken",
                },
            ],
            stop: ToolCalls,
            usage: Some(
                Usage {
                    input: 9,
                    output: 4,
                    cache_read: 0,
                    cache_write: 0,
                },
            ),
            response_id: None,
            model: None,
        },
        [
            Reasoning {
                text: "hm",
            },
            Text {
                text: "I ",
            },
            Text {
                text: "look ",
            },
            Text {
                text: "now.",
            },
            Arguments {
                index: 0,
                name: Some(
                    "list_files",
                ),
                text: "{\"path\":\".\"}",
            },
            Arguments {
                index: 1,
                name: Some(
                    "x",
                ),
                text: "{broken",
            },
        ],
    )
    "#);
    assert_eq!(began.elapsed().as_millis(), 140);
    let history = [
        user("go"),
        Message::Assistant(vec![text("I look now."), call("own", "x", "{broken")]),
        results(&[("own", "x", "bad arguments", true)]),
    ];
    let SendError::Failed(error) = ask(&player, "s", &history).await.0.unwrap_err() else { panic!() };
    assert_eq!((error.class, error.retry_after_ms), (ErrorClass::RateLimited, Some(1000)));
    assert_eq!(ask(&player, "s", &history).await.0.unwrap().blocks, vec![text("Done.")]);
    let SendError::Failed(error) = ask(&player, "s", &history).await.0.unwrap_err() else { panic!() };
    insta::assert_snapshot!(error.message, @r#"the script has no answer left for: "bad arguments" (3 of 3 used)"#);
    assert_eq!(player.recorded().len(), 4);
    assert_eq!(player.recorded()[0].body, body(&[user("go")]).to_bytes());
}

#[tokio::test]
async fn conditions_choose_and_conversations_have_their_own_place() {
    let script = r#"{"answers": [
        {"when": {"contains": "denied", "results": true}, "repeat": true, "say": [{"text": "Then not."}]},
        {"say": [{"text": "one"}]},
        {"when": {"answers": 1}, "say": [{"text": "two"}]}
    ]}"#;
    let player = player(script);
    let said = async |conversation: &str, messages: &[Message]| {
        ask(&player, conversation, messages).await.0.map(|o| o.blocks)
    };
    let denied = [
        user("go"),
        Message::Assistant(vec![call("c", "f", "{}")]),
        results(&[("c", "f", "denied by you", true)]),
    ];
    assert_eq!(said("a", &denied[..1]).await, Ok(vec![text("one")]));
    assert_eq!(said("b", &denied[..1]).await, Ok(vec![text("one")]));
    assert_eq!(said("a", &denied).await, Ok(vec![text("Then not.")]));
    assert_eq!(said("a", &denied).await, Ok(vec![text("Then not.")]));
    let told = [user("go"), Message::Assistant(vec![text("one")]), user("more")];
    assert_eq!(said("a", &told).await, Ok(vec![text("two")]));
    assert!(said("a", &told).await.is_err());
    // A fresh process continues where the history stands.
    let fresh = Player::new(Script::parse(script).unwrap());
    assert_eq!(ask(&fresh, "a", &told).await.0.unwrap().blocks, vec![text("two")]);
}

#[tokio::test]
async fn a_stream_is_read_like_a_real_one() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"你好\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let script = serde_json::json!({"answers": [
        {"stream": {"dialect": "openai-chat", "body": body, "chunk_bytes": 1}},
        {"stream": {"dialect": "openai-chat", "body": "data: {\"choices\":", "chunk_bytes": 1}},
        {"say": [{"text": "so "}], "error": {"class": "cut"}, "usage": {"input": 1, "output": 1}}
    ]});
    let player = player(&script.to_string());
    assert_eq!(ask(&player, "s", &[user("go")]).await.0.unwrap().blocks, vec![text("你好")]);
    for (text, usage) in [("", None), ("so ", Some(Usage { input: 1, output: 1, ..Usage::default() }))] {
        let SendError::Failed(error) = ask(&player, "s", &[user("go")]).await.0.unwrap_err() else {
            panic!()
        };
        assert_eq!((error.class, error.partial_text.as_str(), error.usage), (ErrorClass::Cut, text, usage));
    }
}

#[tokio::test(start_paused = true)]
async fn r_mod_18_cancelling_ends_a_waiting_answer_at_once() {
    let player = player(r#"{"answers": [{"say": [{"text": "a"}, {"text": "b", "wait_ms": 60000}]}]}"#);
    let connection = Connection::new("scripted", NAME, "http://localhost", None, Proxy::Direct).unwrap();
    let (model, body, cancel) = (snapshot(NAME), body(&[user("go")]), CancellationToken::new());
    let request = Request { connection: &connection, model: &model, body: &body, conversation: "s" };
    let mut deltas = Vec::new();
    let began = Instant::now();
    let (result, ()) = tokio::join!(player.send(request, &mut deltas, &cancel), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    assert_eq!(result, Err(SendError::Cancelled(Partial { text: "a".into(), usage: None })));
    assert_eq!(began.elapsed(), Duration::from_secs(1));
}

#[test]
fn scripts_with_mistakes_say_where() {
    let said = |script: &str| Script::parse(script).unwrap_err().to_string();
    insta::assert_snapshot!(said(r#"{"answers": []}"#), @"the script has no answers");
    insta::assert_snapshot!(said(r#"{"answers": [{"say": []}, {}]}"#), @"answer 2 of the script must have exactly one of say, error and stream (an error may follow a say)");
    insta::assert_snapshot!(said(r#"{"answers": [{"say": [{"text": "a"}, {"wait_ms": 1}]}]}"#), @"piece 2 of answer 1 must have exactly one of text, reasoning and call");
    insta::assert_snapshot!(said(r#"{"answers": [{"sya": []}]}"#), @"the script isn't valid: unknown field `sya`, expected one of `when`, `repeat`, `say`, `stop`, `usage`, `error`, `stream` at line 1 column 19");
    insta::assert_snapshot!(said(r#"{"answers": [{"stream": {"dialect": "openai-chat", "body": ""}, "stop": "stop"}]}"#), @"answer 1 of the script must have exactly one of say, error and stream (an error may follow a say)");
}
