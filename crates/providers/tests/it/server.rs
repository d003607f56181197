//! A server that answers each connection as told: bytes in any cut, a reset, a close, silence.
//!
//! It speaks no HTTP of its own, so that a test can send what no HTTP library would.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What happens on a connection once its request was read.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// These bytes at once.
    Send(Vec<u8>),
    /// These bytes one by one, each in its own packet.
    Drip(Vec<u8>),
    /// Nothing, until the client goes away.
    Hang,
    /// A TCP reset.
    Reset,
    /// Waits for the next request on the same connection and answers it with the next connection's acts.
    Again,
}

/// A running server; it stops with the test's runtime.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<usize>>,
}

impl Server {
    /// Serves these scripts, one a request, in order; the last one again and again.
    pub(crate) async fn start(scripts: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (requests, connections) = (Arc::default(), Arc::default());
        let server = Self { port, requests: Arc::clone(&requests), connections: Arc::clone(&connections) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *connections.lock().unwrap() += 1;
                tokio::spawn(serve(stream, scripts.clone(), Arc::clone(&requests)));
            }
        });
        server
    }

    /// The requests so far: head and body as text.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// How many connections were opened.
    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

async fn serve(mut stream: TcpStream, scripts: Vec<Vec<Act>>, requests: Arc<Mutex<Vec<String>>>) {
    loop {
        let Some(request) = read_request(&mut stream).await else { return };
        let number = {
            let mut requests = requests.lock().unwrap();
            requests.push(request);
            requests.len() - 1
        };
        let mut again = false;
        for act in &scripts[number.min(scripts.len() - 1)] {
            match act {
                Act::Send(bytes) => drop(stream.write_all(bytes).await),
                Act::Drip(bytes) => drip(&mut stream, bytes).await,
                Act::Hang => drop(stream.read(&mut [0]).await),
                Act::Reset => {
                    stream.set_zero_linger().unwrap();
                    return;
                }
                Act::Again => again = true,
            }
        }
        if !again {
            return;
        }
    }
}

async fn drip(stream: &mut TcpStream, bytes: &[u8]) {
    stream.set_nodelay(true).unwrap();
    for byte in bytes {
        if stream.write_all(&[*byte]).await.is_err() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
        }
    }
}

/// A whole answer with its length.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n{body}").into_bytes()
}

/// The head of an event stream that ends with the connection.
pub(crate) const EVENT_STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// The head of an event stream in chunks.
pub(crate) const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// One chunk of a chunked body.
pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", bytes.len()).into_bytes();
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
    out
}

/// Long enough for anything on loopback; a test that reaches it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
