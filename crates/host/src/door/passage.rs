//! A way through the door for words that somebody else speaks.
//!
//! A **passage** carries lines as they are, in both directions, for a guest of another kind behind it. Invariant: what is
//! said in it is one line at a time; the host judges it like the words of any guest.

use super::DoorError;
use super::client::reach;
use crate::data;
use std::path::Path;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// A way through the door for words that somebody else speaks: lines, as they are, in both directions.
pub struct Passage {
    read: tokio::io::Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Passage {
    /// Opens one, if somebody has opened the door of this data folder.
    ///
    /// # Errors
    /// When there is a door and no way through it.
    pub async fn open(data: &Path) -> Result<Option<Self>, DoorError> {
        let Some(stream) = reach(&data::door_path(data)).await? else { return Ok(None) };
        let (read, write) = stream.into_split();
        Ok(Some(Self { read: BufReader::new(read).lines(), write }))
    }

    /// Its two directions.
    #[must_use]
    pub fn apart(self) -> (Ear, Mouth) {
        (Ear(self.read), Mouth(self.write))
    }
}

/// What the host says in a [`Passage`].
pub struct Ear(tokio::io::Lines<BufReader<OwnedReadHalf>>);

impl Ear {
    /// The next line; nothing when the host has gone, or closed the door on us.
    pub async fn hear(&mut self) -> Option<String> {
        self.0.next_line().await.ok().flatten()
    }
}

/// What is said to the host in a [`Passage`].
pub struct Mouth(OwnedWriteHalf);

impl Mouth {
    /// Says one line.
    ///
    /// # Errors
    /// When it isn't one line, or the host has gone.
    pub async fn say(&mut self, line: &str) -> Result<(), DoorError> {
        if line.contains(['\n', '\r']) {
            return Err(DoorError::Protocol("a request is one line".to_owned()));
        }
        let line = format!("{line}\n");
        self.0.write_all(line.as_bytes()).await.map_err(|_| DoorError::Closed)
    }
}
