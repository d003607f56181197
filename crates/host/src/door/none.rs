//! Where there is no local door yet: everything says so.

use super::DoorError;
use crate::host::Host;
use api::wire::ApiError;
use api::wire::command::{Command, Notification, Reply, Topic};
use api::wire::copy::{Copied, CopyOf, Imported};
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
    #[must_use]
    pub fn is_gone(&self) -> bool {
        true
    }

    /// Unreachable without a client.
    pub async fn gone(&self) {}

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
    pub async fn copy_name(&self, _: &str, _: &CopyOf) -> Result<String, ApiError> {
        Err(DoorError::NotHere.to_api())
    }

    /// Unreachable without a client.
    ///
    /// # Errors
    /// Always.
    pub async fn save_copy(&self, _: &str, _: &CopyOf, _: &Path) -> Result<Copied, ApiError> {
        Err(DoorError::NotHere.to_api())
    }

    /// Unreachable without a client.
    ///
    /// # Errors
    /// Always.
    pub async fn import_session(&self, _: &Path) -> Result<Imported, ApiError> {
        Err(DoorError::NotHere.to_api())
    }

    /// Unreachable without a client.
    ///
    /// # Errors
    /// Always.
    pub async fn set_certificate(&self, _: &str, _: &Path) -> Result<Reply, ApiError> {
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

/// No passage.
#[derive(Debug)]
pub struct Passage {}

impl Passage {
    /// There is no door to go through.
    ///
    /// # Errors
    /// Always.
    pub async fn open(_: &Path) -> Result<Option<Self>, DoorError> {
        Err(DoorError::NotHere)
    }

    /// Unreachable without a passage.
    #[must_use]
    pub fn apart(self) -> (Ear, Mouth) {
        (Ear {}, Mouth {})
    }
}

/// Nothing to hear.
#[derive(Debug)]
pub struct Ear {}

impl Ear {
    /// Unreachable without a passage.
    pub async fn hear(&mut self) -> Option<String> {
        None
    }
}

/// Nobody to say anything to.
#[derive(Debug)]
pub struct Mouth {}

impl Mouth {
    /// Unreachable without a passage.
    ///
    /// # Errors
    /// Always.
    pub async fn say(&mut self, _: &str) -> Result<(), DoorError> {
        Err(DoorError::NotHere)
    }
}
