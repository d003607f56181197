//! A place to measure in: a temporary data folder, a temporary project, and a host over them that asks our own server.
//!
//! Invariant: nothing of the person's is touched: no data folder, no keychain, no project, and no network but 127.0.0.1.

use crate::Done;
use api::wire::command::{Command, Intent, Mode, Reply};
use api::wire::store::{ModelChoice, ProviderDraft};
use domain::model::ModelSnapshot;
use host::{Host, Ids as _, NoKeychain, Options};
use providers::{Connection, Proxy};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The name our server goes by.
pub(crate) const PROVIDER: &str = "bench";
/// The name of its model.
pub(crate) const MODEL: &str = "bench-1";

/// The words it speaks.
const DIALECT: &str = "anthropic-messages";

/// The way to our server at this address.
pub(crate) fn connection(url: &str) -> Done<Connection> {
    Ok(Connection::new(PROVIDER, DIALECT, url, None, Proxy::Direct)?)
}

/// Its model as a step records it, which is the same wherever the server is.
pub(crate) fn model() -> Done<ModelSnapshot> {
    Ok(providers::capabilities(&connection("http://127.0.0.1")?, MODEL, None))
}

/// The place.
pub(crate) struct Place {
    pub(crate) host: Host,
    // After the host: its files are there until it has closed.
    folder: Folder,
}

/// Its folders.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    /// With a small project in it.
    pub(crate) fn new() -> Done<Self> {
        let folder = Self(tempfile::Builder::new().prefix("daybook-bench-").tempdir()?);
        std::fs::create_dir(folder.project())?;
        std::fs::write(folder.project().join("notes.txt"), "one\ntwo\nthree\n")?;
        Ok(folder)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.0.path().join("project")
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Place {
    /// A host whose only model is at this address.
    pub(crate) async fn new(url: &str) -> Done<Self> {
        let place = Self::over(Folder::new()?).await?;
        let provider = ProviderDraft {
            id: Some(PROVIDER.to_owned()),
            name: PROVIDER.to_owned(),
            dialect: DIALECT.to_owned(),
            base_url: url.to_owned(),
            models: vec![MODEL.to_owned()],
            context_tokens: None,
        };
        place.call(Command::SaveProvider { provider }).await?;
        Ok(place)
    }

    /// A host over folders that are there already.
    pub(crate) async fn over(folder: Folder) -> Done<Self> {
        let options = Options { keychain: Arc::new(NoKeychain), ..Options::new(Some(folder.data())) };
        Ok(Self { host: Host::open(options).await?, folder })
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Closes the host and keeps the folders.
    pub(crate) async fn close(self) -> Folder {
        self.host.close().await;
        drop(self.host);
        self.folder
    }

    pub(crate) async fn call(&self, command: Command) -> Done<Reply> {
        self.host.room().call(command).await.map_err(|refused| refused.message.into())
    }

    /// A new session that asks our server.
    pub(crate) async fn session(&self, mode: Mode) -> Done<Talk<'_>> {
        let folder =
            self.host.open_folder(&self.folder.project()).await.map_err(|refused| refused.message)?;
        let model = ModelChoice { provider: PROVIDER.to_owned(), model: MODEL.to_owned() };
        let created = Command::CreateSession { folder: folder.id, mode, model: Some(model), wide: false };
        let Reply::Created { session } = self.call(created).await? else { return Err("no session".into()) };
        let events = self.host.room().events(&session, 0).map_err(|refused| refused.message)?;
        Ok(Talk { place: self, session, events })
    }
}

/// A conversation in a session, followed as the command line does.
pub(crate) struct Talk<'a> {
    place: &'a Place,
    pub(crate) session: String,
    events: mpsc::Receiver<Result<String, api::wire::ApiError>>,
}

impl Talk<'_> {
    /// Says something and waits for the end of its turn: the events that went by.
    pub(crate) async fn turn(&mut self, text: &str) -> Done<Vec<String>> {
        self.say(text).await?;
        self.until("turn/end").await
    }

    pub(crate) async fn say(&self, text: &str) -> Done<()> {
        let (session, text) = (self.session.clone(), text.to_owned());
        let command = format!("cmd_{:032x}", host::SystemIds.next());
        self.place.call(Command::Send { session, text, intent: Intent::Steer, command }).await.map(drop)
    }

    /// The events up to the next one of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Done<Vec<String>> {
        let wanted = format!("\"type\":\"{kind}\"");
        let mut seen = Vec::new();
        while let Some(line) = self.events.recv().await {
            let line = line.map_err(|refused| refused.message)?;
            let last = line.contains(&wanted);
            seen.push(line);
            if last {
                return Ok(seen);
            }
        }
        Err("the session's events ended".into())
    }
}
