//! The door to the room behind the window: the one file of the shell that knows `host`.
//!
//! The **host** is the one process that has the store open. Usually it is this one, and the command line comes in through
//! its local door; where a command line was first, this window is the **guest** that goes through the other's door.

use crate::startup::Start;
use api::wire::ApiError;
use api::wire::command::{Command, Notification, Reply, Topic};
use api::wire::store::Folder;
use host::door::Client;
use host::{Host, Options};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The room, and whose it is.
pub(crate) enum Room {
    /// Ours.
    Host(Arc<Host>),
    /// Another process's.
    Guest(Client),
}

impl Room {
    /// Opens the store, which recovers what was left open, and lets the command line in; or goes through the door of the
    /// process that has it open.
    pub(crate) async fn open(start: &Start) -> Result<Room, ApiError> {
        match Host::open(Options::new(start.data_dir.clone())).await {
            Ok(host) => {
                if let Err(error) = host.open_door() {
                    tracing::warn!(%error, "the command line can't come in while this window is open");
                }
                Ok(Room::Host(Arc::new(host)))
            }
            Err(failure) if failure.in_use() => match Self::beside(start).await {
                Some(client) => Ok(Room::Guest(client)),
                None => Err(failure.to_api()),
            },
            Err(failure) => Err(failure.to_api()),
        }
    }

    async fn beside(start: &Start) -> Option<Client> {
        let data = host::data_folder(start.data_dir.as_deref()).ok()?;
        match Client::connect(&data).await {
            Ok(client) => client,
            Err(error) => {
                tracing::warn!(%error, "the process that has the store open doesn't let this window in");
                None
            }
        }
    }

    /// Does one command.
    pub(crate) async fn call(&self, command: Command) -> Result<Reply, ApiError> {
        match self {
            Room::Host(host) => host.room().call(command).await,
            Room::Guest(client) => client.call(command).await,
        }
    }

    /// Listens to a topic.
    pub(crate) async fn subscribe(&self, topic: Topic) -> Result<mpsc::Receiver<Notification>, ApiError> {
        match self {
            Room::Host(host) => host.room().subscribe(topic).await,
            Room::Guest(client) => client.subscribe(topic).await,
        }
    }

    /// Makes a folder the person chose known, and gives it an opaque id.
    pub(crate) async fn open_folder(&self, path: PathBuf) -> Result<Folder, ApiError> {
        match self {
            Room::Host(host) => {
                let host = host.clone();
                // A folder on a slow disk must hold up nothing else.
                tokio::task::spawn_blocking(move || host.open_folder(&path))
                    .await
                    .unwrap_or_else(|_| Err(gone()))
            }
            Room::Guest(client) => client.open_folder(&path).await,
        }
    }

    /// Lets a session look at the folder the person chose.
    pub(crate) async fn add_folder(&self, session: &str, path: &Path) -> Result<(), ApiError> {
        match self {
            Room::Host(host) => host.add_folder(session, path).await,
            Room::Guest(client) => client.add_folder(session, path).await,
        }
    }

    /// Does work run here, and does the person want it to go on when the window closes?
    pub(crate) fn keep_running_when_closed(&self) -> Result<bool, ApiError> {
        match self {
            Room::Host(host) => host.keep_running_when_closed(),
            Room::Guest(_) => Ok(false),
        }
    }

    /// Comes to rest: nothing of ours runs any more when this returns.
    pub(crate) async fn close(&self) {
        if let Room::Host(host) = self {
            host.close().await;
        }
    }
}

/// A short name for the data folder, the same for every start with it.
pub(crate) fn store_name(start: &Start) -> String {
    match host::data_folder(start.data_dir.as_deref()) {
        Ok(folder) => host::store_name(&folder),
        Err(_) => "nowhere".into(),
    }
}

/// The room can't be reached any more.
pub(crate) fn gone() -> ApiError {
    ApiError {
        code: "app/closing".into(),
        message: "the store is closed".into(),
        hint: Some("Start Daybook again.".into()),
    }
}
