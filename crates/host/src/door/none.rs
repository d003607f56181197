//! Where there is no local door yet: everything says so.

use super::DoorError;
use crate::host::Host;
use api::wire::ApiError;
use api::wire::command::{Command, Notification, Reply, Topic};
use api::wire::store::Folder;
use std::path::Path;
use tokio::sync::mpsc;

/// No door.
#[derive(Debug)]
pub struct Door {}

impl Door {
    pub(crate) fn open(_: &Host) -> Result<Self, DoorError> {
        Err(DoorError::NotHere)
    }

    pub(crate) fn guests(&self) -> usize {
        0
    }
}

/// No client.
#[derive(Debug)]
pub struct Client {}

impl Client {
    /// There is never a door to find.
    ///
    /// # Errors
    /// Never.
    pub async fn connect(_: &Path) -> Result<Option<Self>, DoorError> {
        Ok(None)
    }

    /// Unreachable without a client.
    ///
    /// # Errors
    /// Always.
    pub async fn call(&self, _: Command) -> Result<Reply, ApiError> {
        Err(DoorError::NotHere.to_api())
    }

    /// Unreachable without a client.
    ///
    /// # Errors
    /// Always.
    pub async fn open_folder(&self, _: &Path) -> Result<Folder, ApiError> {
        Err(DoorError::NotHere.to_api())
    }

    /// Unreachable without a client.
    ///
    /// # Errors
    /// Always.
    pub async fn add_folder(&self, _: &str, _: &Path) -> Result<(), ApiError> {
        Err(DoorError::NotHere.to_api())
    }

    /// Unreachable without a client.
    ///
    /// # Errors
    /// Always.
    pub async fn subscribe(&self, _: Topic) -> Result<mpsc::Receiver<Notification>, ApiError> {
        Err(DoorError::NotHere.to_api())
    }

    /// Unreachable without a client.
    ///
    /// # Errors
    /// Always.
    pub async fn events(
        &self,
        _: &str,
        _: u64,
    ) -> Result<mpsc::Receiver<Result<String, ApiError>>, ApiError> {
        Err(DoorError::NotHere.to_api())
    }
}
