//! The way to a room: as a guest of the Daybook that runs, as the host, or only looking.
//!
//! Invariant: keys of the environment and scripts work only where this process hosts; a guest that has them is told so and
//! nothing is done.

use crate::exit::{Exit, Failure};
use crate::output;
use api::Room;
use api::wire::ApiError;
use api::wire::command::{Command, Reply};
use api::wire::store::Folder;
use host::door::Client;
use host::{Host, Options};
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
    Guest(Client),
    Host(Arc<Host>),
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
    /// A way to work: through an open door, else by hosting.
    pub(crate) async fn to_work(data: &Path, own: Own) -> Result<Self, Failure> {
        if let Some(client) = guest(data).await? {
            return match own_things(&own) {
                Some(what) => Err(Failure {
                    exit: Exit::Usage,
                    message: format!(
                        "{what} works only where this command hosts the work, and another Daybook has this data folder open"
                    ),
                    hint: Some("Close it, name another --data-dir, or leave that out.".to_owned()),
                }),
                None => Ok(Self::Guest(client)),
            };
        }
        let options = Options {
            keys: host::environment(),
            script: own.script,
            addresses: own.addresses,
            attended: own.attended,
            ..Options::new(Some(data.to_owned()))
        };
        let host = match Host::open(options).await {
            Ok(host) => Arc::new(host),
            // It may have opened its door since.
            Err(failure) if failure.in_use() => {
                return match guest(data).await? {
                    Some(client) => Ok(Self::Guest(client)),
                    None => Err(failure.to_api().into()),
                };
            }
            Err(failure) => return Err(failure.to_api().into()),
        };
        if let Err(closed) = host.open_door() {
            output::diagnose(&format!("no other command can come in while this one works: {closed}"));
        }
        Ok(Self::Host(host))
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
            Self::Guest(client) => client.call(command).await?,
            Self::Host(host) => host.room().call(command).await?,
            Self::Looking(room) => room.call(command).await?,
        })
    }

    pub(crate) async fn open_folder(&self, path: &Path) -> Result<Folder, Failure> {
        let path = std::path::absolute(path).map_err(Failure::usage)?;
        Ok(match self {
            Self::Guest(client) => client.open_folder(&path).await?,
            Self::Host(host) => host.open_folder(&path)?,
            Self::Looking(_) => return Err(Failure::internal("a folder can't be opened by looking")),
        })
    }

    /// Lets a session look at another folder.
    pub(crate) async fn add_folder(&self, session: &str, path: &Path) -> Result<(), Failure> {
        let path = std::path::absolute(path).map_err(Failure::usage)?;
        let added = match self {
            Self::Guest(client) => client.add_folder(session, &path).await,
            Self::Host(host) => host.add_folder(session, &path).await,
            Self::Looking(_) => return Err(Failure::internal("a folder can't be added by looking")),
        };
        match added {
            // Asked for again, and so already.
            Err(refused) if refused.code == "folder/added" => Ok(()),
            done => Ok(done?),
        }
    }

    pub(crate) async fn events(&self, session: &str, from: u64) -> Result<Events, Failure> {
        Ok(match self {
            Self::Guest(client) => client.events(session, from).await?,
            Self::Host(host) => host.room().events(session, from)?,
            Self::Looking(_) => return Err(Failure::internal("events can't be followed by looking")),
        })
    }

    pub(crate) fn is_host(&self) -> bool {
        matches!(self, Self::Host(_))
    }

    /// Comes to rest where this process hosts; work of guests that are still here is waited for.
    pub(crate) async fn close(&self) {
        if let Self::Host(host) = self {
            while host.guests() > 0 && host.is_busy() {
                tokio::time::sleep(PAUSE).await;
            }
            // What happened last is still on its way to them; those that only wanted to hear it leave by themselves.
            let mut pauses = 0;
            while host.guests() > 0 && pauses < FAREWELL_PAUSES {
                tokio::time::sleep(PAUSE).await;
                pauses += 1;
            }
            host.close().await;
        }
    }

    /// Comes to rest now.
    #[cfg(unix)]
    pub(crate) async fn shut(&self) {
        if let Self::Host(host) = self {
            host.close().await;
        }
    }
}

async fn guest(data: &Path) -> Result<Option<Client>, Failure> {
    if data.exists() && !data.is_dir() {
        let message = format!("the data folder {} is a file, not a folder", data.display());
        let hint = Some("Name a folder with --data-dir.".to_owned());
        return Err(Failure { exit: Exit::Store, message, hint });
    }
    Client::connect(data).await.map_err(|closed| Failure::from(closed.to_api()))
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
