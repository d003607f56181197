//! The transport against a server that misbehaves in every way that was met.
//!
//! Each failure must have its class, keep the text that had arrived, and show nothing of the key.

use domain::model::{Block, ErrorClass, ModelDelta, ModelError};
use providers::{Partial, Request, SendError, Sink, capabilities};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::net::{KEY, body, connection, http, send, send_over};
use crate::server::{Act, CHUNKED, EVENT_STREAM, PATIENCE, Server, answer, chunk};

const CHAT: &str = "openai-chat";

fn hello() -> String {
    let chunk = |text: &str| {
        format!("data: {{\"id\":\"r\",\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    let end =
        "data: {\"id\":\"r\",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    format!("{}{}{end}", chunk("你好，"), chunk("🌍!"))
}

async fn against(scripts: Vec<Vec<Act>>) -> (Server, String) {
    let server = Server::start(scripts).await;
    let base = format!("http://127.0.0.1:{}", server.port);
    (server, base)
}

/// The error of one request that is answered so.
#[track_caller]
fn error_of(result: providers::SendResult) -> ModelError {
    match result {
        Err(SendError::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

async fn check(acts: Vec<Act>, class: ErrorClass) -> ModelError {
    let (_server, base) = against(vec![acts.clone()]).await;
    let (result, kept) =
        timeout(PATIENCE, send(CHAT, &base)).await.unwrap_or_else(|_| panic!("no end of {acts:?}"));
    let error = error_of(result);
    assert_eq!(error.class, class, "{acts:?}: {error:?}");
    assert_eq!(error.partial_text, kept.text(), "what was shown is what is kept of a failure");
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    error
}

#[tokio::test]
async fn x11_p08_an_answer_in_one_byte_packets_is_whole() {
    let mut bytes = EVENT_STREAM.as_bytes().to_vec();
    bytes.extend_from_slice(hello().as_bytes());
    let (server, base) = against(vec![vec![Act::Drip(bytes)]]).await;
    let (result, kept) = timeout(PATIENCE, send(CHAT, &base)).await.unwrap();
    assert_eq!(result.unwrap().blocks, vec![Block::Text { text: "你好，🌍!".into() }]);
    assert_eq!(kept.text(), "你好，🌍!");
    assert_eq!(kept.raw, hello().into_bytes(), "the record gets the bytes as they came");
    let request = &server.requests()[0];
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("accept-encoding: identity\r\n"), "{request}");
    assert!(request.contains(&format!("authorization: Bearer {KEY}\r\n")), "{request}");
}

#[tokio::test]
async fn p37_every_way_to_write_the_address_reaches_the_endpoint() {
    let ok = [EVENT_STREAM.as_bytes(), hello().as_bytes()].concat();
    let (server, base) = against(vec![vec![Act::Send(ok)]]).await;
    for end in ["/v1", "", "/v1/", "/", "/v1/chat/completions"] {
        send(CHAT, &format!("{base}{end}")).await.0.unwrap();
    }
    for request in server.requests() {
        assert!(request.starts_with("POST /v1/chat/completions "), "{request}");
    }
    let (_server, base) = against(vec![vec![Act::Send(answer("404 Not Found", "", "no such page"))]]).await;
    let error = error_of(send(CHAT, &format!("{base}/wrong?key=hidden")).await.0);
    assert_eq!(error.class, ErrorClass::NotFound);
    assert_eq!(error.to_string(), format!("no such page (HTTP 404 from {base}/wrong/v1/chat/completions)"));
}

#[tokio::test]
async fn one_connection_is_used_again() {
    let whole = [CHUNKED.as_bytes(), &chunk(hello().as_bytes()), b"0\r\n\r\n"].concat();
    let busy = answer("429 Too Many Requests", "", "{}");
    let (server, base) = against(vec![
        vec![Act::Send(whole.clone()), Act::Again],
        vec![Act::Send(busy), Act::Again],
        vec![Act::Send(whole), Act::Again],
    ])
    .await;
    let (http, connection, cancel) = (http(), connection(CHAT, &base), CancellationToken::new());
    for expect in [true, false, true] {
        assert_eq!(send_over(&http, &connection, &cancel).await.0.is_ok(), expect);
    }
    assert_eq!((server.requests().len(), server.connections()), (3, 1));
    let bodies: Vec<String> =
        server.requests().into_iter().map(|r| r.split_once("\r\n\r\n").unwrap().1.into()).collect();
    assert_eq!(bodies[0], bodies[2], "the same request is the same bytes");
}

#[tokio::test]
async fn x13_no_broken_stream_is_a_complete_answer() {
    let hello = hello();
    let begun = &hello.as_bytes()[..hello.find("data: {\"id\":\"r\",\"choices\":[{\"delta\":{},").unwrap()];
    let unclosed = [EVENT_STREAM.as_bytes(), begun].concat();
    let mid_json = [EVENT_STREAM.as_bytes(), &begun[..begun.len() - 9]].concat();
    let in_chunks = [CHUNKED.as_bytes(), &chunk(begun)].concat();
    let ended_chunks = [in_chunks.as_slice(), b"0\r\n\r\n"].concat();
    for acts in [
        vec![Act::Send(unclosed.clone())],
        vec![Act::Send(unclosed), Act::Reset],
        vec![Act::Send(mid_json.clone())],
        vec![Act::Send(mid_json), Act::Reset],
        vec![Act::Send(in_chunks.clone())],
        vec![Act::Send(in_chunks), Act::Reset],
        vec![Act::Send(ended_chunks)],
    ] {
        // A reset may overtake the bytes before it, so only the class is certain.
        let error = check(acts, ErrorClass::Cut).await;
        assert!("你好，🌍!".starts_with(&error.partial_text), "{error:?}");
    }
    // Whole but for the terminal marker, and then broken: what follows could have been an error.
    let finished = hello.replace("data: [DONE]\n\n", "");
    let whole = [CHUNKED.as_bytes(), &chunk(finished.as_bytes())].concat();
    check(vec![Act::Send(whole)], ErrorClass::Cut).await;
    check(vec![Act::Reset], ErrorClass::Network).await;
    check(vec![], ErrorClass::Network).await;
    check(vec![Act::Send(EVENT_STREAM.as_bytes().to_vec())], ErrorClass::Cut).await;
    check(vec![Act::Send(answer("200 OK", "content-type: application/json\r\n", ""))], ErrorClass::Cut).await;
}

#[tokio::test]
async fn x13_compressed_bytes_that_break_off_are_no_answer() {
    // The first bytes of a gzip stream, though identity was asked for.
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n\r\n";
    let gzip = [head.as_bytes(), b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4a\x49"].concat();
    let (_server, base) = against(vec![vec![Act::Send(gzip)]]).await;
    let error = error_of(timeout(PATIENCE, send(CHAT, &base)).await.unwrap().0);
    assert!(matches!(error.class, ErrorClass::Cut | ErrorClass::Network), "{error:?}");
}

#[tokio::test]
async fn p23_calls_of_a_cut_stream_are_not_there_to_run() {
    let call = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"delete_path\",\"arguments\":\"{}\"}}]}}]}\n\n";
    let error = check(vec![Act::Send([EVENT_STREAM, call].concat().into_bytes())], ErrorClass::Cut).await;
    assert!(error.class.is_transient(), "a retry is offered");
}

#[tokio::test]
async fn x15_errors_pages_and_redirects_are_classified() {
    let page = answer("200 OK", "content-type: text/html\r\n", "<html><title>Hotel Wi-Fi</title>");
    let error = check(vec![Act::Send(page)], ErrorClass::Protocol).await;
    assert!(error.message.contains("Hotel Wi-Fi"), "{}", error.message);

    let hello = hello();
    let begun = &hello[..hello.find("data: {\"id\":\"r\",\"choices\":[{\"delta\":{},").unwrap()];
    let overloaded = "data: {\"error\":{\"code\":529,\"message\":\"Overloaded\"}}\n\n";
    let stream = [EVENT_STREAM, begun, overloaded].concat().into_bytes();
    let error = check(vec![Act::Send(stream)], ErrorClass::Overloaded).await;
    assert_eq!((error.partial_text.as_str(), error.answered.status), ("你好，🌍!", Some(529)));

    let (other, target) = against(vec![vec![Act::Hang]]).await;
    let moved = answer("307 Temporary Redirect", &format!("location: {target}/v1/chat/completions\r\n"), "");
    let error = check(vec![Act::Send(moved)], ErrorClass::NotFound).await;
    assert!(error.message.contains(&target), "{}", error.message);
    assert_eq!(other.connections(), 0, "the key didn't follow");
}

#[tokio::test]
async fn x16_what_the_server_asks_to_wait_is_handed_on() {
    for (header, expect) in [
        ("retry-after: 7\r\n", Some(7_000)),
        ("retry-after: 0\r\n", Some(0)),
        ("retry-after: -1\r\n", None),
        ("retry-after: 1e9\r\n", Some(1_000_000_000_000)),
        (
            "date: Sun, 29 Nov 2026 10:00:00 GMT\r\nretry-after: Sun, 29 Nov 2026 10:00:09 GMT\r\n",
            Some(9_000),
        ),
        ("", None),
    ] {
        let error =
            check(vec![Act::Send(answer("429 Too Many Requests", header, "{}"))], ErrorClass::RateLimited)
                .await;
        assert_eq!((error.retry_after_ms, error.answered.status), (expect, Some(429)), "{header}");
    }
    check(vec![Act::Send(answer("529 Overloaded", "", ""))], ErrorClass::Overloaded).await;
    check(vec![Act::Send(answer("502 Bad Gateway", "", "<html>"))], ErrorClass::Server).await;
    let refused = { against(vec![]).await.1.replace("127.0.0.1", "127.0.0.2") };
    let error = error_of(send(CHAT, &refused).await.0);
    assert_eq!(error.class, ErrorClass::Network);
    assert!(error.message.starts_with("couldn't connect to http://127.0.0.2:"), "{}", error.message);
}

#[tokio::test]
async fn r_mod_18_cancelling_ends_a_request_at_once() {
    let begun = [EVENT_STREAM, &hello()[..hello().find("data: [DONE]").unwrap() - 80]].concat();
    for acts in [vec![Act::Hang], vec![Act::Send(begun.into_bytes()), Act::Hang]] {
        let (server, base) = against(vec![acts]).await;
        let (http, connection, cancel) = (http(), connection(CHAT, &base), CancellationToken::new());
        let waiting = async {
            while server.requests().is_empty() {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
        };
        let ((result, _kept), ()) =
            timeout(PATIENCE, async { tokio::join!(send_over(&http, &connection, &cancel), waiting) })
                .await
                .unwrap();
        assert!(matches!(result, Err(SendError::Cancelled(_))), "{result:?}");
    }
    let (server, base) = against(vec![vec![Act::Hang]]).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let (result, _) = send_over(&http(), &connection(CHAT, &base), &cancel).await;
    assert!(matches!(result, Err(SendError::Cancelled(_))));
    assert_eq!(server.requests().len(), 0, "nothing is sent after a cancel");
}

/// Cancels as soon as something is shown, as a person would.
struct Impatient(CancellationToken);

impl Sink for Impatient {
    fn delta(&mut self, _delta: ModelDelta) {
        self.0.cancel();
    }
}

#[tokio::test]
async fn r_mod_18_cancelling_in_mid_answer_keeps_what_had_arrived() {
    let begun = [EVENT_STREAM, "data: {\"choices\":[{\"delta\":{\"content\":\"so far\"}}]}\n\n"].concat();
    let (_server, base) = against(vec![vec![Act::Send(begun.into_bytes()), Act::Hang]]).await;
    let (connection, cancel) = (connection(CHAT, &base), CancellationToken::new());
    let model = capabilities(&connection, "model-1", None);
    let body = body(&model);
    let request = Request { connection: &connection, model: &model, body: &body, conversation: "ses" };
    let (http, mut sink) = (http(), Impatient(cancel.clone()));
    let result = timeout(PATIENCE, http.send(request, &mut sink, &cancel)).await.unwrap();
    assert_eq!(result, Err(SendError::Cancelled(Partial { text: "so far".into(), usage: None })));
}

#[tokio::test]
async fn x12_an_answer_that_never_ends_is_bounded() {
    let mut stream = EVENT_STREAM.as_bytes().to_vec();
    let piece =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "x".repeat(1 << 20));
    for _ in 0..20 {
        stream.extend_from_slice(piece.as_bytes());
    }
    let (_server, base) = against(vec![vec![Act::Send(stream), Act::Hang]]).await;
    let (result, kept) = timeout(PATIENCE, send(CHAT, &base)).await.unwrap();
    assert_eq!(error_of(result).class, ErrorClass::Protocol);
    assert!(kept.raw.len() <= providers::send::RAW_LIMIT);
    let line = [EVENT_STREAM.as_bytes(), b"data: ", &vec![b'x'; 5 << 20]].concat();
    check(vec![Act::Send(line), Act::Hang], ErrorClass::Protocol).await;
}

#[tokio::test]
async fn x14_arguments_of_50_mb_break_the_attempt_only() {
    let start = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n";
    let piece = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"function\":{{\"arguments\":\"{}\"}}}}]}}}}]}}\n\n",
        "x".repeat(1 << 20)
    );
    let stream = [EVENT_STREAM, start, &piece.repeat(50)].concat();
    check(vec![Act::Send(stream.into_bytes()), Act::Hang], ErrorClass::Protocol).await;
}

#[tokio::test]
async fn no_key_means_no_header_and_anthropic_has_its_own() {
    let refused = format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}");
    let (server, base) = against(vec![vec![Act::Send(answer("401 Unauthorized", "", &refused))]]).await;
    let mut connection = connection("anthropic-messages", &base);
    let cancel = CancellationToken::new();
    let error = error_of(send_over(&http(), &connection, &cancel).await.0);
    assert_eq!((error.class, error.to_string().as_str()), (ErrorClass::Auth, "bad key [key] (HTTP 401)"));
    connection.key = None;
    drop(send_over(&http(), &connection, &cancel).await);
    let requests = server.requests();
    assert!(
        requests[0].contains(&format!("x-api-key: {KEY}\r\n")) && !requests[0].contains("authorization:")
    );
    assert!(requests[0].contains("anthropic-version: 2023-06-01\r\n"));
    assert!(requests[0].starts_with("POST /v1/messages "));
    assert!(!requests[1].contains("x-api-key") && !requests[1].contains("authorization"));
}

#[tokio::test]
async fn models_are_listed_and_a_page_is_not_a_list() {
    let list =
        answer("200 OK", "content-type: application/json\r\n", r#"{"data":[{"id":"a","context_length":9}]}"#);
    let page = answer("200 OK", "", "<html><title>Sign in</title>");
    let wrong = answer("401 Unauthorized", "", &format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}"));
    let (server, base) =
        against(vec![vec![Act::Send(list)], vec![Act::Send(page)], vec![Act::Send(wrong)]]).await;
    let (http, connection) = (http(), connection(CHAT, &base));
    let models = http.list_models(&connection).await.unwrap();
    assert_eq!((models[0].name.as_str(), models[0].context_tokens), ("a", Some(9)));
    assert_eq!(http.list_models(&connection).await.unwrap_err().class, ErrorClass::Protocol);
    let error = http.list_models(&connection).await.unwrap_err();
    assert_eq!((error.class, error.to_string().as_str()), (ErrorClass::Auth, "bad key [key] (HTTP 401)"));
    assert!(server.requests()[0].starts_with("GET /v1/models "));
}

#[tokio::test]
async fn only_servers_that_answer_with_models_are_found() {
    let list = answer("200 OK", "", r#"{"data":[{"id":"a"}]}"#);
    let (_llama, there) = against(vec![vec![Act::Send(list)]]).await;
    let (_other, page) = against(vec![vec![Act::Send(answer("200 OK", "", "<html>"))]]).await;
    let absent = there.replace("127.0.0.1", "127.0.0.2");
    let places = [("there", &there), ("page", &page), ("absent", &absent)];
    let places = places.into_iter().map(|(name, base)| (name, connection(CHAT, base))).collect();
    let found: Vec<&str> = http().answering(places).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(found, ["there"]);
}

/// The same words in each dialect's own stream.
fn spoken(dialect: &str) -> Vec<String> {
    let data: &[&str] = match dialect {
        "openai-chat" => &[
            r#"{"id":"r","model":"model-1","choices":[{"delta":{"content":"你好"}}]}"#,
            r#"{"id":"r","choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}"#,
        ],
        "openai-responses" => &[
            r#"{"type":"response.created","response":{"id":"r","model":"model-1"}}"#,
            r#"{"type":"response.output_text.delta","delta":"你好"}"#,
            r#"{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"你好"}]}}"#,
            r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}"#,
            r#"{"type":"response.completed","response":{"usage":{"input_tokens":10,"output_tokens":2,"input_tokens_details":{"cached_tokens":4}}}}"#,
        ],
        "anthropic-messages" => &[
            r#"{"type":"message_start","message":{"id":"r","model":"model-1","usage":{"input_tokens":6,"cache_read_input_tokens":4}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"你好"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c","name":"f","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}"#,
            r#"{"type":"message_stop"}"#,
        ],
        other => panic!("a dialect nobody thought of: {other}"),
    };
    data.iter().map(|data| format!("data: {data}\n\n")).collect()
}

/// Capabilities, request, stream and errors of every dialect have one shape: who asks sees no provider in them.
#[tokio::test]
async fn r_mod_01_every_dialect_goes_the_same_way() {
    let refused =
        r#"{"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"too long"}}"#;
    let mut seen = Vec::new();
    for dialect in providers::dialect::WIRES {
        let model = capabilities(&connection(dialect, "http://127.0.0.1:1"), "model-1", None);
        assert_eq!((model.dialect.as_str(), model.model.as_str()), (dialect, "model-1"));
        let whole: String = spoken(dialect).concat();
        let (_server, base) = against(vec![
            vec![Act::Send(format!("{EVENT_STREAM}{whole}").into_bytes())],
            vec![Act::Send(answer("400 Bad Request", "content-type: application/json\r\n", refused))],
        ])
        .await;
        let (spoke, kept) = timeout(PATIENCE, send(dialect, &base)).await.unwrap();
        let error = error_of(timeout(PATIENCE, send(dialect, &base)).await.unwrap().0);
        seen.push((spoke.unwrap(), kept.text(), error.class));
    }
    assert!(seen.iter().all(|one| one == &seen[0]), "{seen:#?}");
    assert_eq!(seen[0].1, "你好");
    assert_eq!(seen[0].2, ErrorClass::ContextOverflow);
}
