//! A guest's side of the door.
//!
//! One task reads what the host says and gives each answer and each delivery to whoever waits for it. Invariant: when the
//! host goes, everybody who waits is told.

use super::DoorError;
use super::words::{Numbered, Request, Said, VERSION};
use crate::data;
use api::wire::ApiError;
use api::wire::command::{Command, Notification, Reply, Topic};
use api::wire::store::Folder;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

/// Deliveries that may wait for whoever listens.
const QUEUE: usize = 256;

type Item = Result<Box<RawValue>, ApiError>;

#[derive(Default)]
struct Waiting {
    answers: HashMap<u64, oneshot::Sender<Result<Value, ApiError>>>,
    /// Requests whose answer begins a subscription; the subscription's queue stands ready before it begins.
    beginning: HashMap<u64, mpsc::Sender<Item>>,
    listening: HashMap<u64, mpsc::Sender<Item>>,
    closed: bool,
}

/// A guest of the Daybook that runs.
pub struct Client {
    write: tokio::sync::Mutex<OwnedWriteHalf>,
    waiting: Arc<Mutex<Waiting>>,
    next: AtomicU64,
}

impl Client {
    /// Comes in, if somebody has opened the door of this data folder.
    ///
    /// # Errors
    /// When there is a door and no way through it.
    pub async fn connect(data: &Path) -> Result<Option<Self>, DoorError> {
        let path = data::door_path(data);
        let stream = match UnixStream::connect(&path).await {
            Ok(stream) => stream,
            Err(io)
                if matches!(
                    io.kind(),
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::ConnectionRefused
                ) =>
            {
                return Ok(None);
            }
            Err(source) => return Err(DoorError::Io { path, source }),
        };
        let (read, write) = stream.into_split();
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        tokio::spawn(hear(read, Arc::clone(&waiting)));
        let client = Self { write: tokio::sync::Mutex::new(write), waiting, next: AtomicU64::new(1) };
        client.ask(Request::Hello { version: VERSION }).await.map_err(|refused| {
            match refused.code.as_str() {
                "app/closing" => DoorError::Closed,
                _ => DoorError::Refused(refused),
            }
        })?;
        Ok(Some(client))
    }

    /// Does one command.
    ///
    /// # Errors
    /// The room's.
    pub async fn call(&self, command: Command) -> Result<Reply, ApiError> {
        self.ask(Request::Call { command }).await.and_then(typed)
    }

    /// Makes a folder known.
    ///
    /// # Errors
    /// When it can't be used.
    pub async fn open_folder(&self, path: &Path) -> Result<Folder, ApiError> {
        let path = path.to_string_lossy().into_owned();
        self.ask(Request::OpenFolder { path }).await.and_then(typed)
    }

    /// Lets a session look at the folder the person named.
    ///
    /// # Errors
    /// When no session may look at it, or this one may not or can already.
    pub async fn add_folder(&self, session: &str, path: &Path) -> Result<(), ApiError> {
        let path = path.to_string_lossy().into_owned();
        self.ask(Request::AddFolder { session: session.to_owned(), path }).await.map(drop)
    }

    /// Listens to a topic.
    ///
    /// # Errors
    /// The room's.
    pub async fn subscribe(&self, topic: Topic) -> Result<mpsc::Receiver<Notification>, ApiError> {
        let mut raw = self.listen(Request::Subscribe { topic }).await?;
        let (to, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
            while let Some(Ok(item)) = raw.recv().await {
                let Ok(notification) = serde_json::from_str(item.get()) else { break };
                if to.send(notification).await.is_err() {
                    break;
                }
            }
        });
        Ok(receiver)
    }

    /// Listens to the events of a session, as lines.
    ///
    /// # Errors
    /// The room's.
    pub async fn events(
        &self,
        session: &str,
        from: u64,
    ) -> Result<mpsc::Receiver<Result<String, ApiError>>, ApiError> {
        let mut raw = self.listen(Request::Events { session: session.to_owned(), from }).await?;
        let (to, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
            while let Some(item) = raw.recv().await {
                if to.send(item.map(|item| item.get().to_owned())).await.is_err() {
                    break;
                }
            }
        });
        Ok(receiver)
    }

    async fn listen(&self, request: Request) -> Result<mpsc::Receiver<Item>, ApiError> {
        let (to, receiver) = mpsc::channel(QUEUE);
        let id = self.number();
        lock(&self.waiting).beginning.insert(id, to);
        self.exchange(id, request).await.map(|_| receiver)
    }

    async fn ask(&self, request: Request) -> Result<Value, ApiError> {
        self.exchange(self.number(), request).await
    }

    async fn exchange(&self, id: u64, request: Request) -> Result<Value, ApiError> {
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = lock(&self.waiting);
            if waiting.closed {
                return Err(DoorError::Closed.to_api());
            }
            waiting.answers.insert(id, answer);
        }
        let numbered = Numbered { jsonrpc: "2.0".to_owned(), id, request };
        let mut line =
            serde_json::to_vec(&numbered).map_err(|bad| api::error("internal", bad.to_string(), ""))?;
        line.push(b'\n');
        let written = self.write.lock().await.write_all(&line).await;
        written.map_err(|_| DoorError::Closed.to_api())?;
        answered.await.unwrap_or_else(|_| Err(DoorError::Closed.to_api()))
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// Hears the host to the end.
async fn hear(read: OwnedReadHalf, waiting: Arc<Mutex<Waiting>>) {
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(said) = serde_json::from_str::<Said>(&line) else { break };
        match (said.id, said.params) {
            (Some(id), _) => answer(&waiting, id, said.result, said.error.map(|refusal| refusal.data)),
            (None, Some(delivered)) => {
                let to = lock(&waiting).listening.get(&delivered.subscription).cloned();
                let over = said.method.as_deref() == Some("over");
                let item = match (delivered.item, delivered.error) {
                    (Some(item), _) => Some(Ok(item)),
                    (None, error) => error.map(Err),
                };
                if let (Some(to), Some(item)) = (to, item)
                    && to.send(item).await.is_err()
                {
                    lock(&waiting).listening.remove(&delivered.subscription);
                }
                if over {
                    lock(&waiting).listening.remove(&delivered.subscription);
                }
            }
            (None, None) => break,
        }
    }
    let mut waiting = lock(&waiting);
    waiting.closed = true;
    // Dropping the senders tells those who wait.
    waiting.answers.clear();
    waiting.beginning.clear();
    waiting.listening.clear();
}

fn answer(waiting: &Mutex<Waiting>, id: u64, result: Option<Value>, error: Option<ApiError>) {
    let mut waiting = lock(waiting);
    let beginning = waiting.beginning.remove(&id);
    let subscription = result.as_ref().and_then(|result| result["subscription"].as_u64());
    if let (Some(to), Some(subscription)) = (beginning, subscription) {
        waiting.listening.insert(subscription, to);
    }
    if let Some(to) = waiting.answers.remove(&id) {
        // Whoever asked may have stopped waiting.
        drop(to.send(match error {
            Some(error) => Err(error),
            None => Ok(result.unwrap_or(Value::Null)),
        }));
    }
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ApiError> {
    serde_json::from_value(value).map_err(|bad| DoorError::Protocol(bad.to_string()).to_api())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
