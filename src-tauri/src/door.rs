//! The door to the room behind the window: the one file of the shell that knows `host`.
//!
//! The window has a **seat** in the room. Usually its process hosts, and the command line comes in through its local door;
//! where a command line was first, the window is its guest, and hosts when that one goes.

use crate::startup::Start;
use api::wire::ApiError;
use api::wire::command::{Command, Notification, Reply, Topic};
use api::wire::copy::{Copied, CopyOf, Imported};
use api::wire::store::Folder;
use host::{Options, Seat};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The room, as this window has it.
pub(crate) struct Room(Arc<Seat>);

impl Room {
    /// Opens the store, which recovers what was left open, and lets the command line in; or goes through the door of the
    /// process that has it open.
    pub(crate) async fn open(start: &Start) -> Result<Room, ApiError> {
        let seat = Seat::take(Options::new(start.data_dir.clone())).await?;
        if let Some(why) = seat.alone() {
            tracing::warn!(why, "the command line can't come in while this window is open");
        }
        Ok(Room(seat))
    }

    /// Does one command.
    pub(crate) async fn call(&self, command: Command) -> Result<Reply, ApiError> {
        self.0.call(command).await
    }

    /// Listens to a topic.
    pub(crate) async fn subscribe(&self, topic: Topic) -> Result<mpsc::Receiver<Notification>, ApiError> {
        self.0.subscribe(topic).await
    }

    /// Makes a folder the person chose known, and gives it an opaque id.
    pub(crate) async fn open_folder(&self, path: PathBuf) -> Result<Folder, ApiError> {
        self.0.open_folder(&path).await
    }

    /// Lets a session look at the folder the person chose.
    pub(crate) async fn add_folder(&self, session: &str, path: &Path) -> Result<(), ApiError> {
        self.0.add_folder(session, path).await
    }

    /// The name to propose for a copy, where there is something to copy.
    pub(crate) async fn copy_name(&self, session: &str, of: &CopyOf) -> Result<String, ApiError> {
        self.0.copy_name(session, of).await
    }

    /// Saves a copy where the person said.
    pub(crate) async fn save_copy(&self, session: &str, of: &CopyOf, to: &Path) -> Result<Copied, ApiError> {
        self.0.save_copy(session, of, to).await
    }

    /// Takes in a session from where the person said.
    pub(crate) async fn import_session(&self, from: &Path) -> Result<Imported, ApiError> {
        self.0.import_session(from).await
    }

    /// Trusts the certificates of a file for a service.
    pub(crate) async fn set_certificate(&self, provider: &str, from: &Path) -> Result<Reply, ApiError> {
        self.0.set_certificate(provider, from).await
    }

    /// Does work run here, and does the person want it to go on when the window closes?
    pub(crate) fn keep_running_when_closed(&self) -> Result<bool, ApiError> {
        self.0.host().map_or(Ok(false), |host| host.keep_running_when_closed())
    }

    /// Comes to rest: nothing of ours runs any more when this returns.
    pub(crate) async fn close(&self) {
        self.0.close().await;
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
