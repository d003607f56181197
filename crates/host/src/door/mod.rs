//! The local door: other processes of the same person come into the room through a Unix socket.
//!
//! JSON-RPC 2.0, one message a line, the wire types of `api` inside. Invariants: the socket lies in a folder that only its
//! owner can enter; whoever comes is looked at before a word is read (same user, not out of a cage); a slow guest holds up
//! nobody but itself. On Windows there is no door yet, and opening one says so.

pub mod words;

#[cfg(unix)]
mod client;
#[cfg(unix)]
mod passage;
#[cfg(unix)]
mod peer;
#[cfg(unix)]
mod server;

#[cfg(unix)]
pub use client::Client;
#[cfg(unix)]
pub use passage::{Ear, Mouth, Passage};
#[cfg(unix)]
pub use server::Door;

#[cfg(not(unix))]
mod none;
#[cfg(not(unix))]
pub use none::{Client, Door, Ear, Mouth, Passage};

use api::wire::ApiError;
use std::path::PathBuf;

/// Why there is no way through a door.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// This system has none.
    #[error("the local door is not available on this system")]
    NotHere,
    /// The folder of the socket isn't safe.
    #[error("the folder {} of the local door {why}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The socket can't be made or reached.
    #[error("the local door {} can't be used: {source}", path.display())]
    Io {
        /// The socket.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// What was heard through it isn't of our protocol.
    #[error("the Daybook that runs speaks another protocol: {0}")]
    Protocol(String),
    /// The other side said no.
    #[error("{}", .0.message)]
    Refused(ApiError),
    /// The other side is gone.
    #[error("the Daybook that runs has closed the door")]
    Closed,
}

impl DoorError {
    /// As clients see it.
    #[must_use]
    pub fn to_api(&self) -> ApiError {
        match self {
            Self::Refused(refused) => refused.clone(),
            Self::Closed => api::error("app/closing", self.to_string(), "Start Daybook again."),
            other => api::error("door/unusable", other.to_string(), ""),
        }
    }
}
