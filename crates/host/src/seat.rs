//! A client's place in the room, whoever hosts.
//!
//! A **seat** comes in as a guest of the process that hosts, or hosts itself; when that host goes, it comes in again, or
//! hosts. Invariants: one process hosts at a time; what a seat listens to goes on where it was, or is told to be opened
//! again; a command whose fate nobody knows is done again only where twice is once.

use crate::data;
use crate::door::{Client, DoorError};
use crate::host::{Host, Options};
use api::error;
use api::wire::ApiError;
use api::wire::command::{Command, Notification, Reply, Topic};
use api::wire::copy::{Copied, CopyOf, Imported};
use api::wire::store::Folder;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

mod carried;
mod tries;
mod twice;

use tries::Tries;

/// Between two attempts to come in.
const PAUSE: Duration = Duration::from_millis(25);
/// How often a command is tried with another host.
const TRIES: u32 = 5;
/// Deliveries that may wait for whoever listens.
const QUEUE: usize = 256;

/// A place in the room.
pub struct Seat {
    options: Options,
    data: PathBuf,
    at: Mutex<At>,
    /// Held while it moves; how that failed last, since it moved.
    moving: tokio::sync::Mutex<Option<Missed>>,
    closing: CancellationToken,
    alone: Mutex<Option<String>>,
    /// Told each time it has moved.
    moved: watch::Sender<()>,
}

/// There was no way in.
struct Missed {
    when: Instant,
    why: ApiError,
}

/// Where a seat is now.
#[derive(Clone)]
enum At {
    Host(Arc<Host>),
    Guest(Arc<Client>),
}

impl Seat {
    /// Comes in, or hosts with these options. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When there is no way in and the store can't be opened.
    pub async fn take(options: Options) -> Result<Arc<Self>, ApiError> {
        let data = data::data_folder(options.data.as_deref())
            .map_err(|home| crate::host::OpenFailure::NoHome(home).to_api())?;
        let closing = CancellationToken::new();
        let (at, alone) = come_in(&options, &data, &closing).await?;
        let seat = Arc::new(Self {
            options,
            data,
            at: Mutex::new(at.clone()),
            moving: tokio::sync::Mutex::default(),
            closing,
            alone: Mutex::new(alone),
            moved: watch::Sender::new(()),
        });
        tokio::spawn(keep(Tries::of(&seat), at));
        Ok(seat)
    }

    /// The host, where this process is it.
    #[must_use]
    pub fn host(&self) -> Option<Arc<Host>> {
        match self.at() {
            At::Host(host) => Some(host),
            At::Guest(_) => None,
        }
    }

    /// Why nobody else can come in while this process hosts, where that is so.
    #[must_use]
    pub fn alone(&self) -> Option<String> {
        lock(&self.alone).clone()
    }

    /// The data folder.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Does one command.
    ///
    /// # Errors
    /// The room's; `door/moved` when the host went and nobody knows whether it was done.
    pub async fn call(&self, command: Command) -> Result<Reply, ApiError> {
        let again = twice::is_once(&command);
        self.ask(again, |at| {
            let command = command.clone();
            async move { at.call(command).await }
        })
        .await
    }

    /// Makes a folder known.
    ///
    /// # Errors
    /// When it can't be used.
    pub async fn open_folder(&self, path: &Path) -> Result<Folder, ApiError> {
        self.ask(true, |at| {
            let path = path.to_owned();
            async move { at.open_folder(&path).await }
        })
        .await
    }

    /// Lets a session look at the folder the person named.
    ///
    /// # Errors
    /// When no session may look at it, or this one may not or can already.
    pub async fn add_folder(&self, session: &str, path: &Path) -> Result<(), ApiError> {
        self.ask(false, |at| {
            let (session, path) = (session.to_owned(), path.to_owned());
            async move { at.add_folder(&session, &path).await }
        })
        .await
    }

    /// The name to propose for a copy, where there is something to copy.
    ///
    /// # Errors
    /// When there isn't.
    pub async fn copy_name(&self, session: &str, of: &CopyOf) -> Result<String, ApiError> {
        self.ask(true, |at| {
            let (session, of) = (session.to_owned(), of.clone());
            async move {
                match at {
                    At::Host(host) => host.room().copy_name(&session, &of).await,
                    At::Guest(client) => client.copy_name(&session, &of).await,
                }
            }
        })
        .await
    }

    /// Saves a copy where the person said.
    ///
    /// # Errors
    /// When there is nothing to copy, or it can't be written.
    pub async fn save_copy(&self, session: &str, of: &CopyOf, to: &Path) -> Result<Copied, ApiError> {
        self.ask(false, |at| {
            let (session, of, to) = (session.to_owned(), of.clone(), to.to_owned());
            async move {
                match at {
                    At::Host(host) => host.room().save_copy(&session, &of, &to).await,
                    At::Guest(client) => client.save_copy(&session, &of, &to).await,
                }
            }
        })
        .await
    }

    /// Takes in a session from where the person said.
    ///
    /// # Errors
    /// When it isn't whole, or is here already.
    pub async fn import_session(&self, from: &Path) -> Result<Imported, ApiError> {
        self.ask(false, |at| {
            let from = from.to_owned();
            async move {
                match at {
                    At::Host(host) => host.room().import_session(&from).await,
                    At::Guest(client) => client.import_session(&from).await,
                }
            }
        })
        .await
    }

    /// Trusts the certificates of a file for a service, instead of those that were.
    ///
    /// # Errors
    /// When there is no such service, or the file holds nothing that could be trusted; all stays as it was then.
    pub async fn set_certificate(&self, provider: &str, from: &Path) -> Result<Reply, ApiError> {
        self.ask(true, |at| {
            let (provider, from) = (provider.to_owned(), from.to_owned());
            async move {
                match at {
                    At::Host(host) => host.room().set_certificate(&provider, &from).await,
                    At::Guest(client) => client.set_certificate(&provider, &from).await,
                }
            }
        })
        .await
    }

    /// Listens to a topic. Where the host goes, a session is told to be opened again, and the lists go on with all lines.
    ///
    /// # Errors
    /// The room's.
    pub async fn subscribe(self: &Arc<Self>, topic: Topic) -> Result<mpsc::Receiver<Notification>, ApiError> {
        let begun = self.ask(true, |at| {
            let topic = topic.clone();
            async move { at.subscribe(topic).await.map(|source| (at, source)) }
        });
        let (at, source) = begun.await?;
        if matches!(at, At::Host(_)) {
            return Ok(source);
        }
        let (to, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(carried::topic(Tries::of(self), at, topic, source, to));
        Ok(receiver)
    }

    /// Events of a session as lines, from this sequence number on, and as they come, whoever hosts.
    ///
    /// # Errors
    /// The room's.
    pub async fn events(
        self: &Arc<Self>,
        session: &str,
        from: u64,
    ) -> Result<mpsc::Receiver<Result<String, ApiError>>, ApiError> {
        let begun = self.ask(true, |at| {
            let session = session.to_owned();
            async move { at.events(&session, from).await.map(|source| (at, source)) }
        });
        let (at, source) = begun.await?;
        if matches!(at, At::Host(_)) {
            return Ok(source);
        }
        let (to, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(carried::events(Tries::of(self), at, session.to_owned(), from, source, to));
        Ok(receiver)
    }

    /// Comes to rest where this process hosts, and moves no more; the store closes when the seat is dropped.
    pub async fn close(&self) {
        self.closing.cancel();
        // One that is just moving ends where it may host.
        let _still = self.moving.lock().await;
        if let Some(host) = self.host() {
            host.close().await;
        }
    }

    async fn ask<T, F: Future<Output = Result<T, ApiError>> + Send>(
        &self,
        again: bool,
        ask: impl Fn(At) -> F + Send + Sync,
    ) -> Result<T, ApiError> {
        let mut at = self.at();
        if at.is_gone() {
            // Nothing was said yet, so nothing can happen twice.
            at = self.again(&at).await?;
        }
        let mut tries = 0;
        loop {
            let failed = match ask(at.clone()).await {
                Err(failed) if failed.code == "app/closing" && matches!(at, At::Guest(_)) => failed,
                done => return done,
            };
            tries += 1;
            if tries > TRIES || self.closing.is_cancelled() {
                return Err(failed);
            }
            at = self.again(&at).await?;
            if !again {
                let message = "the Daybook that hosted the work went while this was asked for, so it may have been done or not";
                return Err(error("door/moved", message, "Look, and ask again if it wasn't."));
            }
        }
    }

    fn at(&self) -> At {
        lock(&self.at).clone()
    }

    /// Comes in again, unless somebody has since. Who waited while another found no way is told the same.
    async fn again(&self, old: &At) -> Result<At, ApiError> {
        let since = Instant::now();
        let mut missed = self.moving.lock().await;
        let now = self.at();
        if !now.is(old) || matches!(now, At::Host(_)) {
            return Ok(now);
        }
        if let Some(missed) = missed.as_ref().filter(|missed| missed.when > since) {
            return Err(missed.why.clone());
        }
        match come_in(&self.options, &self.data, &self.closing).await {
            Ok((new, alone)) => {
                *lock(&self.at) = new.clone();
                *lock(&self.alone) = alone;
                *missed = None;
                self.moved.send_replace(());
                Ok(new)
            }
            Err(why) => {
                *missed = Some(Missed { when: Instant::now(), why: why.clone() });
                Err(why)
            }
        }
    }
}

impl At {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Host(one), Self::Host(other)) => Arc::ptr_eq(one, other),
            (Self::Guest(one), Self::Guest(other)) => Arc::ptr_eq(one, other),
            (Self::Host(_), Self::Guest(_)) | (Self::Guest(_), Self::Host(_)) => false,
        }
    }

    fn is_gone(&self) -> bool {
        match self {
            Self::Host(_) => false,
            Self::Guest(client) => client.is_gone(),
        }
    }

    async fn call(&self, command: Command) -> Result<Reply, ApiError> {
        match self {
            Self::Host(host) => host.room().call(command).await,
            Self::Guest(client) => client.call(command).await,
        }
    }

    async fn open_folder(&self, path: &Path) -> Result<Folder, ApiError> {
        match self {
            Self::Host(host) => host.open_folder(path).await,
            Self::Guest(client) => client.open_folder(path).await,
        }
    }

    async fn add_folder(&self, session: &str, path: &Path) -> Result<(), ApiError> {
        match self {
            Self::Host(host) => host.add_folder(session, path).await,
            Self::Guest(client) => client.add_folder(session, path).await,
        }
    }

    async fn subscribe(&self, topic: Topic) -> Result<mpsc::Receiver<Notification>, ApiError> {
        match self {
            Self::Host(host) => host.room().subscribe(topic).await,
            Self::Guest(client) => client.subscribe(topic).await,
        }
    }

    async fn events(
        &self,
        session: &str,
        from: u64,
    ) -> Result<mpsc::Receiver<Result<String, ApiError>>, ApiError> {
        match self {
            Self::Host(host) => host.room().events(session, from),
            Self::Guest(client) => client.events(session, from).await,
        }
    }
}

/// Through an open door, else by hosting, else after a while: whoever has the store opens its door, or closes.
async fn come_in(
    options: &Options,
    data: &Path,
    closing: &CancellationToken,
) -> Result<(At, Option<String>), ApiError> {
    let until = Instant::now() + options.patience;
    loop {
        if closing.is_cancelled() {
            return Err(DoorError::Closed.to_api());
        }
        let refused = match Client::connect(data).await {
            Ok(Some(client)) => return Ok((At::Guest(Arc::new(client)), None)),
            Ok(None) => match Host::open(Options { data: Some(data.to_owned()), ..options.clone() }).await {
                Ok(host) => {
                    let alone = host.open_door().err().map(|closed| closed.to_string());
                    return Ok((At::Host(Arc::new(host)), alone));
                }
                Err(failure) if failure.in_use() => failure.to_api(),
                Err(failure) => return Err(failure.to_api()),
            },
            Err(DoorError::Closed) => DoorError::Closed.to_api(),
            Err(refused) => return Err(refused.to_api()),
        };
        if Instant::now() >= until {
            return Err(refused);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Keeps a seat as long as there is one: work that a host left open is recovered without anybody asking for anything.
async fn keep(mut tries: Tries, mut at: At) {
    while let At::Guest(client) = &at {
        client.gone().await;
        let Some(new) = tries.until_in(&at, std::future::pending()).await else { return };
        at = new;
        tries.came_to_something();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
