//! A guest's side of the door.
//!
//! What is asked and what is listened to go through connections of their own, so a listener that is slow holds up no answer.
//! Invariants: when the host goes, everybody who waits is told; what was listened to ends then, and never before in silence.

use super::DoorError;
use super::words::{Delivered, Numbered, REQUEST_BYTES, Request, Said, VERSION};
use crate::data;
use api::wire::ApiError;
use api::wire::command::{Command, Notification, Reply, Topic};
use api::wire::copy::{Copied, CopyOf, Imported};
use api::wire::store::Folder;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot, watch};

/// Deliveries that may wait for whoever listens.
const QUEUE: usize = 256;

type Answer = Result<Value, ApiError>;

#[derive(Default)]
struct Waiting {
    answers: HashMap<u64, oneshot::Sender<Answer>>,
    closed: bool,
}

/// What a delivery says.
enum Heard<T> {
    Item(T),
    Nothing,
    Over,
}

/// A guest of the Daybook that runs.
pub struct Client {
    path: PathBuf,
    write: tokio::sync::Mutex<OwnedWriteHalf>,
    waiting: Arc<Mutex<Waiting>>,
    next: AtomicU64,
    gone: watch::Receiver<bool>,
}

impl Client {
    /// Comes in, if somebody has opened the door of this data folder.
    ///
    /// # Errors
    /// When there is a door and no way through it.
    pub async fn connect(data: &Path) -> Result<Option<Self>, DoorError> {
        let path = data::door_path(data);
        let Some(Line { read, write }) = Line::open(&path).await? else { return Ok(None) };
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let (over, gone) = watch::channel(false);
        tokio::spawn(hear(read, Arc::clone(&waiting), over));
        Ok(Some(Self { path, write: tokio::sync::Mutex::new(write), waiting, next: AtomicU64::new(2), gone }))
    }

    /// Has the host gone?
    #[must_use]
    pub fn is_gone(&self) -> bool {
        *self.gone.borrow() || self.gone.has_changed().is_err()
    }

    /// Waits until the host has gone.
    pub async fn gone(&self) {
        // Whoever would say so is gone as well where this is an error.
        drop(self.gone.clone().wait_for(|gone| *gone).await);
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

    /// The name to propose for a copy.
    ///
    /// # Errors
    /// When there is nothing to copy.
    pub async fn copy_name(&self, session: &str, of: &CopyOf) -> Result<String, ApiError> {
        let (session, of) = (session.to_owned(), of.clone());
        self.ask(Request::CopyName { session, of }).await.and_then(typed)
    }

    /// Saves a copy where the person said.
    ///
    /// # Errors
    /// When there is nothing to copy, or it can't be written.
    pub async fn save_copy(&self, session: &str, of: &CopyOf, to: &Path) -> Result<Copied, ApiError> {
        let (session, of, path) = (session.to_owned(), of.clone(), to.to_string_lossy().into_owned());
        self.ask(Request::SaveCopy { session, of, path }).await.and_then(typed)
    }

    /// Takes in a session from where the person said.
    ///
    /// # Errors
    /// When it isn't whole, or is here already.
    pub async fn import_session(&self, from: &Path) -> Result<Imported, ApiError> {
        let path = from.to_string_lossy().into_owned();
        self.ask(Request::ImportSession { path }).await.and_then(typed)
    }

    /// Trusts the certificates of a file for a service.
    ///
    /// # Errors
    /// When there is no such service, or the file holds nothing that could be trusted.
    pub async fn set_certificate(&self, provider: &str, from: &Path) -> Result<Reply, ApiError> {
        let (provider, path) = (provider.to_owned(), from.to_string_lossy().into_owned());
        self.ask(Request::SetCertificate { provider, path }).await.and_then(typed)
    }

    /// Listens to a topic. What a newer host says and this one doesn't know is passed over; where it may be a change of a
    /// session, that is told to be opened again.
    ///
    /// # Errors
    /// The room's.
    pub async fn subscribe(&self, topic: Topic) -> Result<mpsc::Receiver<Notification>, ApiError> {
        let of = topic.clone();
        let read = move |delivered: Delivered| match delivered.item {
            None => Heard::Over,
            Some(item) => match (serde_json::from_str(item.get()), &of) {
                (Ok(told), _) => Heard::Item(told),
                (Err(_), Topic::Session { session, .. }) => {
                    Heard::Item(Notification::Resync { session: session.clone() })
                }
                (Err(unknown), Topic::Store) => {
                    tracing::warn!(%unknown, "something the host says isn't understood");
                    Heard::Nothing
                }
            },
        };
        self.listen(Request::Subscribe { topic }, read).await
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
        let read = |delivered: Delivered| match (delivered.item, delivered.error) {
            (Some(item), _) => Heard::Item(Ok(item.get().to_owned())),
            (None, Some(error)) => Heard::Item(Err(error)),
            (None, None) => Heard::Over,
        };
        self.listen(Request::Events { session: session.to_owned(), from }, read).await
    }

    /// A connection of its own, and what comes through it.
    async fn listen<T: Send + 'static>(
        &self,
        request: Request,
        read: impl Fn(Delivered) -> Heard<T> + Send + 'static,
    ) -> Result<mpsc::Receiver<T>, ApiError> {
        let line = Line::open(&self.path).await.map_err(|closed| closed.to_api())?;
        let mut line = line.ok_or_else(|| DoorError::Closed.to_api())?;
        line.ask(2, request).await?;
        let (to, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
            loop {
                // Whoever stops listening closes the connection with it.
                let said = tokio::select! {
                    () = to.closed() => return,
                    said = line.hear() => said,
                };
                let Some(delivered) = said.and_then(|said| said.params) else { return };
                match read(delivered) {
                    Heard::Item(item) => {
                        if to.send(item).await.is_err() {
                            return;
                        }
                    }
                    Heard::Nothing => {}
                    Heard::Over => return,
                }
            }
        });
        Ok(receiver)
    }

    async fn ask(&self, request: Request) -> Answer {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = lock(&self.waiting);
            if waiting.closed {
                return Err(DoorError::Closed.to_api());
            }
            waiting.answers.insert(id, answer);
        }
        if let Err(unsaid) = say(&mut *self.write.lock().await, id, request).await {
            lock(&self.waiting).answers.remove(&id);
            return Err(unsaid);
        }
        answered.await.unwrap_or_else(|_| Err(DoorError::Closed.to_api()))
    }
}

/// One connection, greeted.
struct Line {
    read: tokio::io::Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Line {
    async fn open(path: &Path) -> Result<Option<Self>, DoorError> {
        let Some(stream) = reach(path).await? else { return Ok(None) };
        let (read, write) = stream.into_split();
        let mut line = Self { read: BufReader::new(read).lines(), write };
        line.ask(1, Request::Hello { version: VERSION }).await.map_err(|refused| {
            match refused.code.as_str() {
                "app/closing" => DoorError::Closed,
                _ => DoorError::Refused(refused),
            }
        })?;
        Ok(Some(line))
    }

    /// Asks while nothing else is under way.
    async fn ask(&mut self, id: u64, request: Request) -> Answer {
        say(&mut self.write, id, request).await?;
        match self.hear().await {
            Some(Said { error: Some(refusal), .. }) => Err(refusal.data),
            Some(Said { id: Some(answered), result, .. }) if answered == id => {
                Ok(result.unwrap_or(Value::Null))
            }
            Some(_) | None => Err(DoorError::Closed.to_api()),
        }
    }

    async fn hear(&mut self) -> Option<Said> {
        serde_json::from_str(&self.read.next_line().await.ok()??).ok()
    }
}

pub(super) async fn reach(path: &Path) -> Result<Option<UnixStream>, DoorError> {
    match UnixStream::connect(path).await {
        Ok(stream) => Ok(Some(stream)),
        Err(source) => unreached(path, source).map(|()| None),
    }
}

/// Nobody is there, or somebody who can't be reached.
fn unreached(path: &Path, source: std::io::Error) -> Result<(), DoorError> {
    match source.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::ConnectionRefused => Ok(()),
        // It was there, and went before it let us in.
        ErrorKind::ConnectionReset => Err(DoorError::Closed),
        _ => Err(DoorError::Io { path: path.to_owned(), source }),
    }
}

async fn say(write: &mut OwnedWriteHalf, id: u64, request: Request) -> Result<(), ApiError> {
    let numbered = Numbered { jsonrpc: "2.0".to_owned(), id, request };
    let mut line =
        serde_json::to_vec(&numbered).map_err(|bad| api::error("internal", bad.to_string(), ""))?;
    line.push(b'\n');
    if line.len() > REQUEST_BYTES {
        // The door would shut on it, and on everything else that is asked through this connection.
        let message = format!("this is longer than the {REQUEST_BYTES} bytes that can be asked for at once");
        return Err(api::error("door/long", message, "Say it in parts, or put it into a file."));
    }
    write.write_all(&line).await.map_err(|_| DoorError::Closed.to_api())
}

/// Hears answers to the end.
async fn hear(
    mut read: tokio::io::Lines<BufReader<OwnedReadHalf>>,
    waiting: Arc<Mutex<Waiting>>,
    over: watch::Sender<bool>,
) {
    while let Ok(Some(line)) = read.next_line().await {
        let Ok(Said { id: Some(id), result, error, .. }) = serde_json::from_str::<Said>(&line) else { break };
        if let Some(to) = lock(&waiting).answers.remove(&id) {
            // Whoever asked may have stopped waiting.
            drop(to.send(match error {
                Some(refusal) => Err(refusal.data),
                None => Ok(result.unwrap_or(Value::Null)),
            }));
        }
    }
    {
        let mut waiting = lock(&waiting);
        waiting.closed = true;
        // Dropping the senders tells those who wait.
        waiting.answers.clear();
    }
    over.send_replace(true);
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ApiError> {
    serde_json::from_value(value).map_err(|bad| DoorError::Protocol(bad.to_string()).to_api())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_goes_before_it_lets_somebody_in_has_gone_and_the_door_is_not_unusable() {
        let of = |kind: ErrorKind| unreached(Path::new("/door"), kind.into());
        assert!(matches!(of(ErrorKind::NotFound), Ok(())));
        assert!(matches!(of(ErrorKind::ConnectionRefused), Ok(())), "it went before");
        assert!(matches!(of(ErrorKind::ConnectionReset), Err(DoorError::Closed)));
        assert!(matches!(of(ErrorKind::PermissionDenied), Err(DoorError::Io { .. })));
    }
}
