//! The server: accepts connections, keeps them, and answers one request after the other.

use super::cache::{ANTHROPIC, Cache, Counted};
use super::words::{self, Answer, PIECE};
use bytes::Bytes;
use serde_json::Value;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Longest head of a request.
const HEAD_BYTES: usize = 64 * 1024;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    /// Its number, from 0.
    pub(crate) n: usize,
    /// When its head was there.
    pub(crate) at: Instant,
    /// Its body, byte for byte.
    pub(crate) body: Bytes,
}

type Plan = dyn Fn(&Heard) -> Answer + Send + Sync;

struct Inside {
    plan: Box<Plan>,
    began: Instant,
    connections: AtomicU64,
    heard: Mutex<Vec<Heard>>,
    /// When the last piece of a paced answer was handed to the socket, by number.
    sent: Mutex<Vec<Instant>>,
    /// When a client went away in the middle of an answer.
    left: Mutex<Option<Instant>>,
    cache: Option<Mutex<Cache>>,
    /// Remember bodies?
    remembers: bool,
}

/// A server. Dropping it ends it.
pub(crate) struct Server {
    inside: Arc<Inside>,
    address: std::net::SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// One that remembers everything and counts as a provider with a prompt cache does.
    pub(crate) async fn new(plan: impl Fn(&Heard) -> Answer + Send + Sync + 'static) -> io::Result<Self> {
        Self::start(Box::new(plan), Some(Mutex::new(Cache::new(ANTHROPIC))), true).await
    }

    /// One that does as little as it can, where its own work would be measured along.
    pub(crate) async fn plain(plan: impl Fn(&Heard) -> Answer + Send + Sync + 'static) -> io::Result<Self> {
        Self::start(Box::new(plan), None, false).await
    }

    async fn start(plan: Box<Plan>, cache: Option<Mutex<Cache>>, remembers: bool) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let inside = Arc::new(Inside {
            plan,
            began: Instant::now(),
            connections: AtomicU64::new(0),
            heard: Mutex::default(),
            sent: Mutex::default(),
            left: Mutex::default(),
            cache,
            remembers,
        });
        let shared = Arc::clone(&inside);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::Relaxed);
                // A client that goes away is noted where it matters.
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Ok(Self { inside, address, task })
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Connections that were made.
    pub(crate) fn connections(&self) -> u64 {
        self.inside.connections.load(Ordering::Relaxed)
    }

    /// Everything heard so far.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        locked(&self.inside.heard).clone()
    }

    /// When pieces of paced answers were handed to the socket.
    pub(crate) fn sent(&self) -> Vec<Instant> {
        locked(&self.inside.sent).clone()
    }

    /// When a client last went away in the middle of an answer.
    pub(crate) fn left(&self) -> Option<Instant> {
        *locked(&self.inside.left)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(mut stream: TcpStream, inside: Arc<Inside>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    loop {
        let Some((at, body)) = request(&mut stream, &mut buffer).await? else { return Ok(()) };
        let heard = {
            let mut all = locked(&inside.heard);
            let n = all.len();
            let heard = Heard { n, at, body };
            all.push(if inside.remembers { heard.clone() } else { Heard { body: Bytes::new(), ..heard } });
            heard
        };
        let answer = (inside.plan)(&heard);
        if let Err(gone) = say(&mut stream, &inside, &heard, answer).await {
            *locked(&inside.left) = Some(Instant::now());
            return Err(gone);
        }
    }
}

/// The next request on a connection; `None` when the client is done with it.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<(Instant, Bytes)>> {
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if buffer.len() > HEAD_BYTES {
            return Err(io::Error::other("the head of a request is too long"));
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let at = Instant::now();
    let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
    buffer.drain(..end);
    buffer.reserve(length.saturating_sub(buffer.len()));
    while buffer.len() < length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let rest = buffer.split_off(length);
    Ok(Some((at, Bytes::from(std::mem::replace(buffer, rest)))))
}

async fn say(stream: &mut TcpStream, inside: &Inside, heard: &Heard, answer: Answer) -> io::Result<()> {
    match answer {
        Answer::Refuses(status) => {
            let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
            let head = format!(
                "HTTP/1.1 {status} No\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(format!("{head}{body}").as_bytes()).await
        }
        Answer::Says(said) => {
            let body = words::whole(heard.n, &said, inside.counted(heard));
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(format!("{head}{body}").as_bytes()).await
        }
        Answer::Paced { pieces, every } => {
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            stream.write_all(head.as_bytes()).await?;
            let opening = words::opening(heard.n, inside.counted(heard)) + &words::text_begins(0);
            chunk(stream, &opening).await?;
            let mut clock = tokio::time::interval(every);
            let mut said = 0;
            while pieces.is_none_or(|pieces| said < pieces) {
                // A client that goes away is seen while waiting, not only at the next write.
                tokio::select! {
                    _ = clock.tick() => {}
                    ready = stream.readable() => {
                        ready?;
                        let mut byte = [0];
                        match stream.try_read(&mut byte) {
                            Ok(0) => return Err(io::ErrorKind::ConnectionReset.into()),
                            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                            _ => {}
                        }
                        continue;
                    }
                }
                locked(&inside.sent).push(Instant::now());
                chunk(stream, &words::text_goes_on(0, PIECE)).await?;
                said += 1;
            }
            chunk(stream, &(words::block_ends(0) + &words::closing("end_turn", said as u64))).await?;
            stream.write_all(b"0\r\n\r\n").await
        }
    }
}

async fn chunk(stream: &mut TcpStream, text: &str) -> io::Result<()> {
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).await
}

impl Inside {
    fn counted(&self, heard: &Heard) -> Counted {
        let Some(cache) = &self.cache else {
            return Counted { uncached: (heard.body.len() as u64).div_ceil(4), ..Counted::default() };
        };
        let Ok(body) = serde_json::from_slice::<Value>(&heard.body) else { return Counted::default() };
        let now = heard.at.saturating_duration_since(self.began).as_millis();
        locked(cache).take(&body, u64::try_from(now).unwrap_or(u64::MAX))
    }
}
