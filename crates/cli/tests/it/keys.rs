//! Keys: they reach the provider and stand nowhere else.

use crate::rig::{Rig, call, files, text};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

const CANARY: &str = "sk-canary-7f3a9c2e";

/// A server that refuses every request and repeats the key it was given.
fn echoing() -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a request");
        let mut buffer = [0; 64 * 1024];
        let count = stream.read(&mut buffer).expect("a request");
        let request = String::from_utf8_lossy(&buffer[..count]).into_owned();
        let line =
            request.lines().find(|line| line.to_lowercase().starts_with("authorization")).unwrap_or_default();
        let body = json!({"error": {"message": format!("bad key: {line}")}}).to_string();
        let head = "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:";
        write!(stream, "{head} {}\r\n\r\n{body}", body.len()).expect("an answer");
        request
    });
    (address, served)
}

#[test]
fn i16_a_key_reaches_the_provider_and_no_event_blob_or_line() {
    let rig = Rig::new(json!([text("x")]));
    let (address, served) = echoing();
    let args = [
        "exec",
        "--folder",
        "project",
        "--provider",
        "openai-chat",
        "--base-url",
        &address,
        "--model",
        "m",
        "--json",
        "hi",
    ];
    let output = rig
        .command(&args)
        .env("DAYBOOK_KEY_OPENAI_CHAT", CANARY)
        .env("DAYBOOK_LOG", "trace")
        .output()
        .expect("it runs");
    assert!(served.join().expect("served").contains(CANARY), "the provider gets the key");
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        out.contains(r#""type":"credential/used""#) && out.contains(r#""source":"environment""#),
        "{out}"
    );
    nowhere(&rig, &[&output.stdout, &output.stderr]);
}

#[test]
fn i16_a_key_in_a_file_or_a_command_is_kept_out_of_results() {
    let rig = Rig::new(json!([
        call("read_file", json!({"path": "notes.txt"})),
        call("run_command", json!({"command": "cat notes.txt; env; base64 notes.txt"})),
        text("Done.")
    ]));
    std::fs::write(rig.project().join("notes.txt"), format!("the key is {CANARY}, don't tell\n"))
        .expect("written");
    let output = rig
        .command(&Rig::exec(&["--mode", "auto"]))
        .env("DAYBOOK_KEY_DEEPSEEK", CANARY)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("[secret removed]"));
    nowhere(&rig, &[&output.stdout, &output.stderr]);
}

fn nowhere(rig: &Rig, printed: &[&[u8]]) {
    let holds = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
    for bytes in printed {
        assert!(!holds(bytes), "{}", String::from_utf8_lossy(bytes));
    }
    let found: Vec<_> =
        files(&rig.data()).into_iter().filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect();
    assert!(found.is_empty(), "{found:?}");
}
