//! The way to a room: a seat to work from, or only looking.
//!
//! Invariant: keys of the environment and scripts work only where this process hosts; a guest that has them for its own work
//! is told so and nothing is done.

use crate::exit::{Exit, Failure};
use crate::output;
use api::Room;
use api::wire::ApiError;
use api::wire::command::{Command, Reply};
use api::wire::store::Folder;
use host::door::Client;
use host::{Options, Seat};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Lines of events.
pub(crate) type Events = mpsc::Receiver<Result<String, ApiError>>;

/// Between two looks whether guests are still here.
const PAUSE: Duration = Duration::from_millis(50);
/// Looks after which guests that stay are left.
const FAREWELL_PAUSES: u32 = 10;

/// A way.
pub(crate) enum Way {
    /// To work: as a guest of the Daybook that runs, or as the host; when that one goes, as the host after it.
    Seat(Arc<Seat>),
    /// To look, through an open door.
    Guest(Client),
    /// To look at the store as it is.
    Looking(Room),
}

/// What only a host can give.
#[derive(Debug, Default)]
pub(crate) struct Own {
    pub(crate) script: Option<PathBuf>,
    /// Addresses for presets: provider to address.
    pub(crate) addresses: BTreeMap<String, String>,
    /// Is there somebody to ask?
    pub(crate) attended: bool,
}

impl Way {
    /// A way to work.
    pub(crate) async fn to_work(data: &Path, own: Own) -> Result<Self, Failure> {
        let things = own_things(&own);
        let seat = take(data, own).await?;
        if let Some(closed) = seat.alone() {
            output::diagnose(&format!("no other command can come in while this one works: {closed}"));
        }
        if let (None, Some(what)) = (seat.host(), things) {
            return Err(Failure {
                exit: Exit::Usage,
                message: format!(
                    "{what} works only where this command hosts the work, and another Daybook has this data folder open"
                ),
                hint: Some("Close it, name another --data-dir, or leave that out.".to_owned()),
            });
        }
        Ok(Self::Seat(seat))
    }

    /// A way to be there for others' work; what only a host can give is kept for when this process hosts. Whether others can
    /// come in at all is for whoever asks to say.
    pub(crate) async fn to_serve(data: &Path, own: Own) -> Result<Self, Failure> {
        take(data, own).await.map(Self::Seat)
    }

    /// A way to look: through an open door, else at the store as it is. `None` when nothing was ever recorded.
    pub(crate) async fn to_look(data: &Path) -> Result<Option<Self>, Failure> {
        if let Some(client) = guest(data).await? {
            return Ok(Some(Self::Guest(client)));
        }
        if !data.join("store.db").exists() {
            return Ok(None);
        }
        let failed =
            |why: &dyn std::fmt::Display| Failure { exit: Exit::Store, message: why.to_string(), hint: None };
        host::read(data).map(|room| Some(Self::Looking(room))).map_err(|why| failed(&why))
    }

    pub(crate) async fn call(&self, command: Command) -> Result<Reply, Failure> {
        Ok(match self {
            Self::Seat(seat) => seat.call(command).await?,
            Self::Guest(client) => client.call(command).await?,
            Self::Looking(room) => room.call(command).await?,
        })
    }

    pub(crate) async fn open_folder(&self, path: &Path) -> Result<Folder, Failure> {
        let path = std::path::absolute(path).map_err(Failure::usage)?;
        match self {
            Self::Seat(seat) => Ok(seat.open_folder(&path).await?),
            Self::Guest(_) | Self::Looking(_) => {
                Err(Failure::internal("a folder can't be opened by looking"))
            }
        }
    }

    /// Lets a session look at another folder.
    pub(crate) async fn add_folder(&self, session: &str, path: &Path) -> Result<(), Failure> {
        let path = std::path::absolute(path).map_err(Failure::usage)?;
        let added = match self {
            Self::Seat(seat) => seat.add_folder(session, &path).await,
            Self::Guest(_) | Self::Looking(_) => {
                return Err(Failure::internal("a folder can't be added by looking"));
            }
        };
        match added {
            // Asked for again, and so already.
            Err(refused) if refused.code == "folder/added" => Ok(()),
            done => Ok(done?),
        }
    }

    /// Trusts the certificates of a file for a service.
    pub(crate) async fn set_certificate(&self, provider: &str, from: &Path) -> Result<Reply, Failure> {
        let from = std::path::absolute(from).map_err(Failure::usage)?;
        match self {
            Self::Seat(seat) => Ok(seat.set_certificate(provider, &from).await?),
            Self::Guest(_) | Self::Looking(_) => {
                Err(Failure::internal("a certificate can't be set by looking"))
            }
        }
    }

    pub(crate) async fn events(&self, session: &str, from: u64) -> Result<Events, Failure> {
        Ok(match self {
            Self::Seat(seat) => seat.events(session, from).await?,
            Self::Guest(client) => client.events(session, from).await?,
            Self::Looking(_) => return Err(Failure::internal("events can't be followed by looking")),
        })
    }

    pub(crate) fn is_host(&self) -> bool {
        matches!(self, Self::Seat(seat) if seat.host().is_some())
    }

    /// Comes to rest where this process hosts; work of guests that are still here is waited for.
    pub(crate) async fn close(&self) {
        let Self::Seat(seat) = self else { return };
        if let Some(host) = seat.host() {
            while host.guests() > 0 && host.is_busy() {
                tokio::time::sleep(PAUSE).await;
            }
            // What happened last is still on its way to them; those that only wanted to hear it leave by themselves.
            let mut pauses = 0;
            while host.guests() > 0 && pauses < FAREWELL_PAUSES {
                tokio::time::sleep(PAUSE).await;
                pauses += 1;
            }
        }
        seat.close().await;
    }

    /// Comes to rest now, and hosts no more.
    pub(crate) async fn shut(&self) {
        if let Self::Seat(seat) = self {
            seat.close().await;
        }
    }
}

async fn take(data: &Path, own: Own) -> Result<Arc<Seat>, Failure> {
    is_folder(data)?;
    let usual = Options::new(Some(data.to_owned()));
    let options = Options {
        keys: host::environment(),
        script: own.script,
        addresses: own.addresses,
        attended: own.attended,
        patience: patience().unwrap_or(usual.patience),
        ..usual
    };
    Ok(Seat::take(options).await?)
}

/// How long whoever has the store may take, in seconds, where it is a slow machine.
fn patience() -> Option<Duration> {
    std::env::var("DAYBOOK_PATIENCE").ok()?.parse().ok().map(Duration::from_secs)
}

async fn guest(data: &Path) -> Result<Option<Client>, Failure> {
    is_folder(data)?;
    Client::connect(data).await.map_err(|closed| Failure::from(closed.to_api()))
}

fn is_folder(data: &Path) -> Result<(), Failure> {
    if data.exists() && !data.is_dir() {
        let message = format!("the data folder {} is a file, not a folder", data.display());
        let hint = Some("Name a folder with --data-dir.".to_owned());
        return Err(Failure { exit: Exit::Store, message, hint });
    }
    Ok(())
}

/// What this command has that a guest can't bring.
fn own_things(own: &Own) -> Option<String> {
    if own.script.is_some() {
        return Some("--script".to_owned());
    }
    if let Some(provider) = own.addresses.keys().next() {
        return Some(format!("--base-url for the preset {provider}"));
    }
    host::environment().keys().min().cloned()
}
