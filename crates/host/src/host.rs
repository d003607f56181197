//! The host: opens a store for writing, starts the engine over it, and shares the room with every client.
//!
//! Invariants: opening is recovery; closing is orderly (no more work is claimed, what runs is stopped, and it returns when
//! nothing runs any more); the store is the last thing to go.

use crate::certificates::Certificates;
use crate::data::{self, NoHome};
use crate::desk::HostDesk;
use crate::door::Door;
use crate::folders::Folders;
use crate::keychain::{Keychain, SystemKeychain};
use crate::models::{Ways, players};
use crate::ports::{self, SystemClock, SystemIds};
use crate::services::Services;
use crate::vault::Vault;
use crate::{permissions, rules, settings};
use api::wire::ApiError;
use api::wire::store::Folder;
use api::{Desk as _, Room, error};
use engine::{Engine, Limits, Ports};
use secrecy::SecretString;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use store::{OpenError, Store, StoreHandle};

/// How long after the start it is first looked whether old contents can go.
const FIRST_LOOK: Duration = Duration::from_secs(5 * 60);
/// How long until it is looked again whether a day has passed.
const BETWEEN_LOOKS: Duration = Duration::from_secs(60 * 60);

/// How long others may take, where nothing else is asked for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a host is opened.
#[derive(Clone)]
pub struct Options {
    /// The data folder; the platform's where none is named.
    pub data: Option<PathBuf>,
    /// Keys by the name of their variable, see [`crate::environment`].
    pub keys: HashMap<String, SecretString>,
    /// A script of the person for the provider `scripted`.
    pub script: Option<PathBuf>,
    /// Addresses for this run: provider to address.
    pub addresses: BTreeMap<String, String>,
    /// Is there somebody who can be asked?
    pub attended: bool,
    /// Where keys are kept.
    pub keychain: Arc<dyn Keychain>,
    /// How long whoever has the store may take to open its door, or to come to rest and close.
    pub patience: Duration,
}

impl Options {
    /// What the app uses: the platform's folder and keychain, and a person who can be asked.
    #[must_use]
    pub fn new(data: Option<PathBuf>) -> Self {
        Self {
            data,
            keys: HashMap::new(),
            script: None,
            addresses: BTreeMap::new(),
            attended: true,
            keychain: Arc::new(SystemKeychain),
            patience: PATIENCE,
        }
    }
}

/// Why a host can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenFailure {
    /// No place for the data.
    #[error(transparent)]
    NoHome(#[from] NoHome),
    /// The store.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// A script.
    #[error(transparent)]
    Script(#[from] providers::ScriptError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] engine::StartError),
    /// Settings.
    #[error("{}", .0.message)]
    Settings(ApiError),
    /// The thread that opened it is gone.
    #[error("opening the store ended in a panic")]
    Gone,
}

impl OpenFailure {
    /// Has another process the store open?
    #[must_use]
    pub fn in_use(&self) -> bool {
        matches!(self, Self::Store(OpenError::Locked { .. }))
    }

    /// As clients see it.
    #[must_use]
    pub fn to_api(&self) -> ApiError {
        let code = match self {
            Self::NoHome(_) => "data/no_home",
            Self::Store(OpenError::Locked { .. }) => "store/in_use",
            Self::Store(OpenError::Newer { .. }) => "store/newer",
            Self::Store(OpenError::Damaged { .. }) => "store/damaged",
            Self::Store(OpenError::NotWritable { .. }) => "store/not_writable",
            Self::Store(OpenError::Network { .. }) => "store/network",
            Self::Store(_) => "store/unusable",
            Self::Script(_) => "script/unfit",
            Self::Settings(failed) => return failed.clone(),
            Self::Engine(_) | Self::Gone => "internal",
        };
        error(code, self.to_string(), "")
    }
}

/// A host.
pub struct Host {
    room: Room,
    desk: Arc<HostDesk>,
    engine: Arc<Engine>,
    door: Mutex<Option<Door>>,
    data: PathBuf,
    // The last field: the store closes after everything that writes it.
    store: Store,
}

impl Host {
    /// Opens it. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// See [`OpenFailure`]; nothing was changed then.
    pub async fn open(options: Options) -> Result<Self, OpenFailure> {
        let data = data::data_folder(options.data.as_deref())?;
        let script = options.script.as_deref().map(providers::Script::read).transpose()?;
        let store = open_store(data).await?;
        let data = store.folder().to_owned();
        let vault = Arc::new(Vault::new(options.keychain, store.handle(), options.keys));
        let certificates = Certificates::open(&data);
        let services = Services::new(store.handle(), Arc::clone(&vault), options.addresses, certificates);
        let services = Arc::new(services.map_err(OpenFailure::Settings)?);
        let http = providers::Http::new(providers::Timers::default(), Arc::new(ports::now));
        let ways = Ways { services: Arc::clone(&services), vault, http, players: players(script)? };
        let ways = Arc::new(ways);
        let engine = start(store.handle(), &data, Arc::clone(&ways), options.attended)?;
        tokio::spawn(thin_now_and_then(Arc::downgrade(&engine)));
        let folders = Folders { store: store.handle(), data: data.clone() };
        let desk = Arc::new(HostDesk { folders, ways, services });
        let room = Room::new(Arc::clone(&engine), Arc::<HostDesk>::clone(&desk));
        Ok(Self { room, desk, engine, door: Mutex::default(), data, store })
    }

    /// The room every client is in.
    #[must_use]
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// The data folder.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Makes a folder the person named known.
    ///
    /// # Errors
    /// When it isn't a folder, can't be opened, or is our own.
    pub async fn open_folder(&self, path: &Path) -> Result<Folder, ApiError> {
        self.desk.open(path.to_owned()).await
    }

    /// Lets a session look at the folder the person named.
    ///
    /// # Errors
    /// When no session may look at it, or this one may not or can already.
    pub async fn add_folder(&self, session: &str, path: &Path) -> Result<(), ApiError> {
        self.room.add_folder(session, path).await
    }

    /// Opens the local door, so that other processes of this person can come in.
    ///
    /// # Errors
    /// When this system has none, or its socket can't be made.
    pub fn open_door(&self) -> Result<(), crate::door::DoorError> {
        let door = Door::open(self)?;
        *self.door.lock().unwrap_or_else(PoisonError::into_inner) = Some(door);
        Ok(())
    }

    /// For who comes in through the local door.
    #[cfg(unix)]
    pub(crate) fn desk(&self) -> Arc<HostDesk> {
        Arc::clone(&self.desk)
    }

    /// Connections through the local door now: one for what a client asks, and one for each thing it listens to.
    #[must_use]
    pub fn guests(&self) -> usize {
        self.door.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, Door::guests)
    }

    /// How often the store was made durable since it was opened.
    #[must_use]
    pub fn counts(&self) -> store::Counts {
        self.store.counts()
    }

    /// Does any session work right now?
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.engine.is_busy()
    }

    /// Does work run, and does the person want it to go on when the window closes?
    ///
    /// # Errors
    /// When the settings can't be read.
    pub fn keep_running_when_closed(&self) -> Result<bool, ApiError> {
        Ok(self.is_busy() && self.desk.settings()?.close == "hide")
    }

    /// Is there somebody who can be asked? Where not, asking means no.
    pub fn set_attended(&self, attended: bool) {
        self.engine.set_attended(attended);
    }

    /// Comes to rest; the store closes when the host is dropped.
    pub async fn close(&self) {
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(door);
        self.engine.close().await;
    }
}

/// Old contents kept for undo go once a day, while nothing runs, for as long as the engine lives.
async fn thin_now_and_then(engine: Weak<Engine>) {
    // Not while somebody waits for the first picture.
    tokio::time::sleep(FIRST_LOOK).await;
    while let Some(engine) = engine.upgrade() {
        if let Err(error) = engine.thin_daily().await {
            tracing::warn!(%error, "old contents kept for undo couldn't be let go");
        }
        drop(engine);
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

async fn open_store(data: PathBuf) -> Result<Store, OpenFailure> {
    let opening = tokio::task::spawn_blocking(move || {
        store::create_folder(&data)?;
        Store::open(&data, store::Options::new(Arc::new(SystemClock)))
    });
    opening.await.map_err(|_| OpenFailure::Gone)?.map_err(OpenFailure::Store)
}

fn start(
    store: StoreHandle,
    data: &Path,
    ways: Arc<Ways>,
    attended: bool,
) -> Result<Arc<Engine>, OpenFailure> {
    let private = data.join("private");
    let hide = std::iter::once(data.to_owned()).chain(data::runtime_folder()).collect();
    let vault = Arc::clone(&ways.vault);
    let ports = Ports {
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        jitter: Arc::new(ports::jitter),
        today: Arc::new(ports::today),
        day: Arc::new(ports::day),
        caps: {
            let store = store.clone();
            Arc::new(move || settings::caps(&store))
        },
        models: ways,
        launcher: Arc::new(tools::Cages),
        bin: data::bin(),
        private,
        hide,
        home: data::home(),
        lasting: {
            let store = store.clone();
            Arc::new(move |folder| permissions::of_folder(&store, folder))
        },
        layers: {
            let store = store.clone();
            Arc::new(move |folder| rules::of_folder(&store, folder))
        },
        secrets: Arc::new(move || vault.needles()),
    };
    let engine = Engine::start(store, ports, Limits::default(), tools::Limits::default())?;
    engine.set_attended(attended);
    Ok(engine)
}
