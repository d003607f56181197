//! The door to the room behind the window: the one file of the shell that knows `host`.

use crate::startup::Start;
use api::wire::ApiError;
use api::wire::command::{Command, Notification, Reply, Topic};
use api::wire::store::Folder;
use std::path::PathBuf;
use tokio::sync::mpsc;

/// The room: the engine and its store, or why they can't be reached.
pub(crate) struct Room {}

impl Room {
    /// Opens the store and starts the engine.
    pub(crate) async fn open(_start: &Start) -> Result<Room, ApiError> {
        Err(gone())
    }

    /// Does one command.
    pub(crate) async fn call(&self, _command: Command) -> Result<Reply, ApiError> {
        Err(gone())
    }

    /// Listens to a topic.
    pub(crate) async fn subscribe(&self, _topic: Topic) -> Result<mpsc::Receiver<Notification>, ApiError> {
        Err(gone())
    }

    /// Makes a folder the person chose known, and gives it an opaque id.
    pub(crate) async fn open_folder(&self, _path: PathBuf) -> Result<Folder, ApiError> {
        Err(gone())
    }

    /// Does work run, and did the person leave the setting at hiding?
    pub(crate) async fn keep_running_when_closed(&self) -> Result<bool, ApiError> {
        Err(gone())
    }

    /// Comes to rest: nothing runs any more when this returns.
    pub(crate) async fn close(&self) {}
}

/// A name for the data folder, the same for every start with it.
pub(crate) fn store_name(_start: &Start) -> String {
    "0".into()
}

/// The room can't be reached any more.
pub(crate) fn gone() -> ApiError {
    ApiError {
        code: "app/closing".into(),
        message: "the store is closed".into(),
        hint: Some("Start Daybook again.".into()),
    }
}
