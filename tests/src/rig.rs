//! The rig and its processes: one store folder, one project folder, one world; processes come and go.

use crate::faults::DieAt;
use crate::world::{CountedClock, CountedIds, CountingShell, World};
use domain::call::Mode;
use domain::event::{Event, ModelChoice, Recorded, SessionCreated};
use domain::ids::{FolderId, SessionId};
use domain::model::ModelSnapshot;
use domain::money::{Price, PriceFrom, Rates};
use engine::{Caps, Engine, Limits, ModelRequest, Models, Ports, Problem};
use futures_util::future::BoxFuture;
use providers::{Connection, Player, Proxy, Request, Script, SendResult, Sink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use store::{Options, Reader, Store};
use tokio_util::sync::CancellationToken;
use tools::Cage;
use tools::rules::{About, Layer, Rule};

/// A service that thinks: of a request's body it makes an answer as a script has it.
pub type Mind = Arc<dyn Fn(&[u8]) -> serde_json::Value + Send + Sync>;

/// Everything that outlives a process.
pub struct Rig {
    _homes: Vec<tempfile::TempDir>,
    data: PathBuf,
    folder: PathBuf,
    script: Script,
    /// What happened outside.
    pub world: Arc<World>,
    /// The mode of the session.
    pub mode: Mode,
    /// How strong the cage claims to be.
    pub cage: Cage,
    /// What starts commands instead of the shell that only counts them.
    pub launcher: Option<Arc<dyn tools::launch::Launcher>>,
    /// Where deleted things go.
    pub bin: tools::Bin,
    /// Keys that are registered.
    pub keys: Vec<String>,
    /// The person's rules, which a test may change while a process runs.
    pub rules: Arc<Rules>,
    /// Is there somebody to ask?
    pub attended: bool,
    /// The model's window; `None` where nobody knows it.
    pub window: Option<u64>,
    /// The loop's bounds.
    pub limits: Limits,
    /// Models that may go on where the chosen one doesn't answer.
    pub instead: Vec<ModelChoice>,
    /// What answers in the script's place.
    pub mind: Option<Mind>,
    /// What its model costs, and how much may be spent.
    pub money: Money,
}

/// What a rig's model costs, and how much may be spent; a test may change the caps while a process runs.
pub struct Money {
    /// The model's price; `None` where nobody knows it.
    pub price: Option<Price>,
    /// The caps.
    pub caps: Arc<Mutex<Caps>>,
}

impl Default for Money {
    /// A model with a price, and no caps.
    fn default() -> Self {
        let rates =
            Rates { input: 3_000_000, cache_read: 300_000, cache_write: 3_750_000, output: 15_000_000 };
        let price = Price { rates, long: None, from: PriceFrom::Person };
        Self { price: Some(price), caps: Arc::default() }
    }
}

impl Money {
    /// Sets the caps, in micro-dollars.
    pub fn cap(&self, session: Option<u64>, day: Option<u64>) {
        *self.caps.lock().unwrap_or_else(PoisonError::into_inner) = Caps { session, day };
    }

    fn caps(&self) -> Arc<dyn Fn() -> Result<Caps, String> + Send + Sync> {
        let caps = Arc::clone(&self.caps);
        Arc::new(move || Ok(*caps.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// The person's rules: each is about something, and never or asked.
#[derive(Default)]
pub struct Rules(Mutex<Vec<(About, bool)>>);

impl Rules {
    /// Sets a rule; `never` or asked.
    pub fn set(&self, about: About, never: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((about, never));
    }

    fn layers(&self) -> Vec<Layer> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let rules = all.into_iter().map(|(about, never)| Rule::of(about, never)).collect();
        vec![Layer { origin: "user".to_owned(), rules }]
    }
}

/// One process over a rig.
pub struct Process {
    /// The engine.
    pub engine: Arc<Engine>,
    /// The model.
    pub player: Arc<Player>,
    /// The faults it runs under.
    pub faults: Arc<DieAt>,
    _store: Store,
}

/// The one session every rig has.
#[must_use]
pub fn session() -> SessionId {
    SessionId::from_bits((1 << 64) | 0x7000_8000_0000_0000)
}

impl Rig {
    /// A rig whose model plays this script; the folder holds `notes.txt` and `AGENTS.md`.
    ///
    /// # Panics
    /// When the script can't be read or the folders can't be made.
    #[must_use]
    pub fn new(script: &str) -> Self {
        let home = in_memory();
        let data = home.path().join("data");
        Self::at_home(script, vec![home], data)
    }

    /// A rig over folders that somebody else keeps: for a process that others look at, and for what a dead one left.
    ///
    /// # Panics
    /// As [`Rig::new`].
    #[must_use]
    pub fn over(script: &str, data: &Path, project: &Path) -> Self {
        Self::in_folders(script, Vec::new(), data.to_owned(), project.to_owned())
    }

    /// A rig with the real cage, on a disk: what lies in memory belongs to the system and can't be caged.
    ///
    /// # Panics
    /// As [`Rig::new`].
    #[must_use]
    #[expect(clippy::expect_used, reason = "a rig that can't be made ends the test")]
    pub fn caged(script: &str) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        let data = home.path().join("data");
        let mut rig = Self::at_home(script, vec![home], data);
        rig.launcher = Some(Arc::new(tools::Cages));
        rig
    }

    /// The same with the project at a place of the test's choice, e.g. away from the `/tmp` that each cage has of its own,
    /// and our data in memory, where there is some.
    ///
    /// # Panics
    /// As [`Rig::new`].
    #[must_use]
    pub fn caged_at(script: &str, home: tempfile::TempDir) -> Self {
        let memory = in_memory();
        let data = memory.path().join("data");
        let mut rig = Self::at_home(script, vec![home, memory], data);
        rig.launcher = Some(Arc::new(tools::Cages));
        rig
    }

    /// The project lies in the first of the homes.
    #[expect(clippy::expect_used, reason = "a rig that can't be made ends the test")]
    fn at_home(script: &str, homes: Vec<tempfile::TempDir>, data: PathBuf) -> Self {
        let folder = homes.first().expect("a home").path().join("project");
        Self::in_folders(script, homes, data, folder)
    }

    #[expect(clippy::expect_used, reason = "a rig that can't be made ends the test")]
    fn in_folders(script: &str, homes: Vec<tempfile::TempDir>, data: PathBuf, folder: PathBuf) -> Self {
        std::fs::create_dir_all(&data).expect("the data folder");
        std::fs::create_dir_all(&folder).expect("the project folder");
        std::fs::write(folder.join("notes.txt"), "one\ntwo\nthree\n").expect("a file");
        std::fs::write(folder.join("AGENTS.md"), "Keep notes in English.\n").expect("a file");
        Self {
            _homes: homes,
            data,
            folder,
            script: Script::parse(script).expect("a script"),
            world: Arc::default(),
            mode: Mode::Ask,
            cage: Cage::Full,
            launcher: None,
            bin: tools::Bin::Blobs,
            keys: Vec::new(),
            rules: Arc::default(),
            attended: true,
            window: Some(100_000),
            limits: Limits::default(),
            instead: Vec::new(),
            mind: None,
            money: Money::default(),
        }
    }

    /// The data folder.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The project folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file of the project folder; empty when it isn't there.
    #[must_use]
    pub fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    /// Starts a process. Must be called inside a current-thread runtime.
    ///
    /// # Panics
    /// When the store can't be opened.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a rig that can't start ends the test")]
    pub fn start(&self, faults: DieAt) -> Process {
        let faults = Arc::new(faults);
        let clock = Arc::new(CountedClock::of(Arc::clone(&self.world)));
        let injected: Arc<dyn store::Faults> = Arc::clone(&faults) as _;
        let options = Options::inline(Arc::clone(&clock) as _).with_faults(injected);
        let store = Store::open(&self.data, options).expect("the store opens");
        let player = Arc::new(Player::new(self.script.clone()));
        let ports = Ports {
            clock,
            ids: Arc::new(CountedIds(Arc::clone(&self.world))),
            jitter: Arc::new(|| 500),
            today: Arc::new(|| "2026-11-29".to_owned()),
            day: self.world.day(),
            caps: self.money.caps(),
            models: Arc::new(Played {
                player: Arc::clone(&player),
                window: self.window,
                instead: self.instead.clone(),
                mind: self.mind.clone(),
                price: self.money.price.clone(),
            }),
            launcher: self.launcher.clone().unwrap_or_else(|| {
                Arc::new(CountingShell { world: Arc::clone(&self.world), cage: self.cage })
            }),
            bin: self.bin.clone(),
            private: self.data.join("private"),
            hide: vec![self.data.clone()],
            home: None,
            lasting: Arc::new(|_| Vec::new()),
            layers: {
                let rules = Arc::clone(&self.rules);
                Arc::new(move |_| rules.layers())
            },
            secrets: {
                let none = Arc::new(tools::redact::Needles::new(&self.keys));
                Arc::new(move || Arc::clone(&none))
            },
        };
        let engine = Engine::start(store.handle(), ports, self.limits.clone(), tools::Limits::default())
            .expect("the engine starts");
        engine.set_attended(self.attended);
        Process { engine, player, faults, _store: store }
    }

    /// The session as it is created.
    #[must_use]
    pub fn created(&self) -> SessionCreated {
        SessionCreated {
            folder: FolderId::from_bits(1),
            root: self.folder.to_string_lossy().into_owned(),
            mode: self.mode,
            model: Some(ModelChoice { provider: "scripted".into(), model: "script".into() }),
            tour: false,
            identity: None,
        }
    }

    /// Everything recorded of the session.
    ///
    /// # Panics
    /// When it can't be read.
    #[must_use]
    #[expect(clippy::expect_used, reason = "an unreadable log ends the test")]
    pub fn log(&self, session: &SessionId) -> Vec<Recorded> {
        let reader = Reader::open(&self.data).expect("the store is readable");
        reader.events(session, 0, usize::MAX >> 1).expect("the log is readable")
    }

    /// The same, decoded.
    ///
    /// # Panics
    /// When an event can't be decoded.
    #[must_use]
    #[expect(clippy::expect_used, reason = "an unreadable log ends the test")]
    pub fn events(&self, session: &SessionId) -> Vec<Event> {
        self.log(session).into_iter().map(|event| event.decode().expect("every event decodes")).collect()
    }

    /// What audit and verification find wrong, and what events name that can't be read; empty when all is well.
    ///
    /// # Panics
    /// When the log can't be read.
    #[must_use]
    #[expect(clippy::expect_used, reason = "an unreadable log ends the test")]
    pub fn findings(&self, session: &SessionId, epoch: u64) -> Vec<String> {
        let reader = Reader::open(&self.data).expect("the store is readable");
        let verdict = engine::verify::verify(&reader, session, epoch).expect("the log is readable");
        let mut findings: Vec<String> = verdict.findings.iter().map(|f| format!("{f:?}")).collect();
        findings.extend(reader.verify_projections().expect("the lists are readable"));
        findings.extend(crate::counted::miscounted(&reader));
        findings.extend(crate::named::unread(&reader, &self.events(session)));
        findings
    }
}

/// Memory instead of a disk where there is some: a kill of the process is simulated, not of the machine.
#[expect(clippy::expect_used, reason = "a rig that can't be made ends the test")]
fn in_memory() -> tempfile::TempDir {
    let shared_memory = Path::new("/dev/shm");
    let made = if shared_memory.is_dir() { tempfile::tempdir_in(shared_memory) } else { tempfile::tempdir() };
    made.expect("a temporary folder")
}

/// The script as the engine's models.
struct Played {
    player: Arc<Player>,
    instead: Vec<ModelChoice>,
    window: Option<u64>,
    mind: Option<Mind>,
    price: Option<Price>,
}

impl Models for Played {
    fn snapshot(&self, choice: &ModelChoice) -> Option<ModelSnapshot> {
        (choice.provider == "scripted").then(|| ModelSnapshot {
            provider: choice.provider.clone(),
            dialect: "scripted".into(),
            model: choice.model.clone(),
            context_tokens: self.window,
            max_output_tokens: 4_096,
            parallel_calls: true,
            calls_as_text: false,
            abilities: Default::default(),
            effort: None,
            price: self.price.clone(),
        })
    }

    fn instead(&self) -> Vec<ModelChoice> {
        self.instead.clone()
    }

    fn ready<'a>(&'a self, _: &'a ModelSnapshot) -> BoxFuture<'a, Result<Option<(String, String)>, Problem>> {
        Box::pin(async { Ok(None) })
    }

    fn send<'a>(
        &'a self,
        request: ModelRequest<'a>,
        sink: &'a mut dyn Sink,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, SendResult> {
        Box::pin(async move {
            let nowhere = Connection::new("scripted", "scripted", "http://127.0.0.1:9", None, Proxy::System);
            let Ok(connection) = nowhere else { unreachable!("the address is a good one") };
            let request = Request {
                connection: &connection,
                model: request.model,
                body: request.body,
                conversation: request.conversation,
            };
            let Some(mind) = &self.mind else { return self.player.send(request, sink, cancel).await };
            let mut answer = mind(&request.body.to_bytes());
            // A player of its own: it has nothing to skip.
            answer["repeat"] = true.into();
            let thought = Script::parse(&serde_json::json!({ "answers": [answer] }).to_string());
            let thought = thought.unwrap_or_else(|error| panic!("no answer of a script: {error}"));
            Player::new(thought).send(request, sink, cancel).await
        })
    }
}
