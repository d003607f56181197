//! A **model server** on the loopback, which speaks Chat Completions and says what the test tells it to, in order.
//!
//! Invariant: every request's body is kept, so that a test can see exactly what the model was shown.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the server says to one request.
pub(crate) enum Say {
    /// A whole answer.
    Text(&'static str),
    /// A call of a tool.
    Call(&'static str, Value),
    /// The beginning of an answer, and then nothing more for as long as anybody listens.
    Begin(&'static str),
}

/// A running server.
pub(crate) struct Model {
    port: u16,
    seen: Arc<Mutex<Vec<Value>>>,
    script: Arc<Mutex<VecDeque<Say>>>,
}

impl Model {
    /// Starts one that will say these things; asked more often, it says that it is done.
    pub(crate) fn start(script: impl IntoIterator<Item = Say>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback has a free port");
        let port = listener.local_addr().expect("a listener has an address").port();
        let model =
            Self { port, seen: Arc::default(), script: Arc::new(Mutex::new(script.into_iter().collect())) };
        let (seen, script) = (model.seen.clone(), model.script.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, script) = (seen.clone(), script.clone());
                std::thread::spawn(move || serve(stream, &seen, &script));
            }
        });
        model
    }

    /// Its address, as a person would type it.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The bodies of the requests so far.
    pub(crate) fn seen(&self) -> Vec<Value> {
        self.seen.lock().expect("no thread of the server panics").clone()
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Value>>, script: &Mutex<VecDeque<Say>>) {
    let Some((line, body)) = read_request(&stream) else { return };
    if !line.starts_with("POST") {
        let list = json!({"object": "list", "data": [{"id": "plain", "object": "model"}]}).to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            list.len()
        );
        let _ = stream.write_all((head + &list).as_bytes());
        return;
    }
    seen.lock()
        .expect("no thread of the server panics")
        .push(serde_json::from_slice(&body).unwrap_or(Value::Null));
    let say =
        script.lock().expect("no thread of the server panics").pop_front().unwrap_or(Say::Text("Done."));
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let mut events = vec![];
    let end = match say {
        Say::Text(text) => {
            events.push(json!({"role": "assistant", "content": text}));
            Some("stop")
        }
        Say::Begin(text) => {
            events.push(json!({"role": "assistant", "content": text}));
            None
        }
        Say::Call(name, arguments) => {
            events.push(json!({"role": "assistant", "content": null, "tool_calls": [
                {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}
            ]}));
            Some("tool_calls")
        }
    };
    let chunk = |delta: &Value, end: Option<&str>| {
        let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "plain",
            "choices": [{"index": 0, "delta": delta, "finish_reason": end}]});
        format!("data: {chunk}\n\n")
    };
    let mut text = String::from(head);
    events.iter().for_each(|delta| text.push_str(&chunk(delta, None)));
    if end.is_some() {
        text.push_str(&chunk(&json!({}), end));
        text.push_str("data: [DONE]\n\n");
    }
    let _ = stream.write_all(text.as_bytes());
    if end.is_none() {
        // Until the other side goes away.
        let _ = stream.set_read_timeout(Some(Duration::from_secs(120)));
        let _ = stream.read(&mut [0; 1]);
    }
}

fn read_request(stream: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first, body))
}
