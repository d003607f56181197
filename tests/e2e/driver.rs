//! A **driver** of the real window: the few WebDriver calls the tests need, over one plain connection a call.
//!
//! Invariant: a call either gives its value or fails the test with what the driver answered.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the window may take for anything a person would wait for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// The key WebDriver names elements by.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A running driver process and, once begun, its session with one window.
pub(crate) struct Driver {
    process: Child,
    port: u16,
    session: String,
}

impl Driver {
    /// Starts a driver and lets it start `program` with `arguments`; both get `environment` on top of ours.
    pub(crate) fn start(program: &str, arguments: &[String], environment: &[(String, String)]) -> Self {
        let port = free_port();
        let process = Command::new("WebKitWebDriver")
            .args([format!("--port={port}"), "--host=127.0.0.1".to_owned()])
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .envs(environment.iter().cloned())
            .stdin(Stdio::null())
            .spawn()
            .expect("WebKitWebDriver is installed (package webkit2gtk-driver)");
        let mut driver = Self { process, port, session: String::new() };
        wait_until("the driver listens", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "webkitgtk:browserOptions": {"binary": program, "args": arguments}
        }}});
        let begun = driver.send("POST", "/session", Some(&wanted));
        driver.session = begun["sessionId"].as_str().expect("a session has an id").to_owned();
        driver
    }

    /// Process id of the driver, whose child the window's process is.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Runs a function body in the page and gives what it returns.
    pub(crate) fn run(&self, body: &str, arguments: &[Value]) -> Value {
        self.call("POST", "/execute/sync", Some(&json!({"script": body, "args": arguments})))
    }

    /// Runs a function body in the page; the promise it returns is waited for.
    pub(crate) fn run_async(&self, body: &str, arguments: &[Value]) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];\
             (async (...args) => {{ {body} }})(...Array.prototype.slice.call(arguments, 0, -1))\
             .then((value) => done({{ value }}), (error) => done({{ error: String(error && error.message || error) }}));"
        );
        let answer = self.call("POST", "/execute/async", Some(&json!({"script": script, "args": arguments})));
        assert!(answer.get("error").is_none(), "the page answered {answer}");
        answer["value"].clone()
    }

    /// Clicks an element as a person does, in its middle; says whether it could be clicked. One that just moved can't.
    pub(crate) fn click(&self, element: &Value) -> bool {
        let path = format!("/session/{}/element/{}/click", self.session, id_of(element));
        let (status, text) = request(self.port, "POST", &path, Some(&json!({})));
        let moved = ["element not interactable", "stale element reference", "element click intercepted"];
        assert!(status == 200 || moved.iter().any(|why| text.contains(why)), "{text}");
        status == 200
    }

    /// Types into an element.
    pub(crate) fn type_into(&self, element: &Value, text: &str) {
        self.call("POST", &format!("/element/{}/value", id_of(element)), Some(&json!({"text": text})));
    }

    /// A picture of the page as PNG bytes, base64.
    pub(crate) fn picture(&self) -> String {
        self.call("GET", "/screenshot", None).as_str().expect("a picture is text").to_owned()
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        self.send(method, &format!("/session/{}{path}", self.session), body)
    }

    #[track_caller]
    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let (status, text) = request(self.port, method, path, body);
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
        assert_eq!(status, 200, "{method} {path}: {answer}");
        answer["value"].clone()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Ends the window in an orderly way; a window that was killed has no session to end any more.
        if !self.session.is_empty() && TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
            let _ = request(self.port, "DELETE", &format!("/session/{}", self.session), None);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Looks until `look` gives something; fails with `what` when that takes too long.
#[track_caller]
pub(crate) fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited {PATIENCE:?} for: {what}");
        std::thread::sleep(LOOK);
    }
}

/// A port of the loopback that nothing listens on.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback has a free port");
    listener.local_addr().expect("a listener has an address").port()
}

fn id_of(element: &Value) -> &str {
    element[ELEMENT].as_str().unwrap_or_else(|| panic!("no element: {element}"))
}

/// One request on a connection of its own; the status and the body.
fn request(port: u16, method: &str, path: &str, body: Option<&Value>) -> (u16, String) {
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the driver listens");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body.as_bytes()))
        .expect("the driver reads");
    let mut answer = Vec::new();
    let mut chunk = [0; 65_536];
    // The driver keeps the connection open: the length in its head says where the answer ends.
    while whole(&answer).is_none() {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => break,
            Ok(read) => answer.extend_from_slice(&chunk[..read]),
        }
    }
    whole(&answer)
        .unwrap_or_else(|| panic!("{method} {path}: half an answer: {}", String::from_utf8_lossy(&answer)))
}

/// Status and body, once all of it has arrived.
fn whole(answer: &[u8]) -> Option<(u16, String)> {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    })?;
    (body.len() >= length).then(|| (status, body.to_owned()))
}
