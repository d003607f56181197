//! `daybook acp`: an editor works with Daybook through the Agent Client Protocol, on standard input and output.
//!
//! `wire` is the one file that knows the protocol's library; the rest speaks words of ours. Invariants: standard output is the
//! protocol's; the editor is one more client in the room, with the same commands, the same record and the same policy.

mod flow;
mod teller;
mod turn;
mod wire;
mod words;

use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::way::{Own, Way};
use api::wire::ApiError;
use api::wire::command::{Command, Mode, Reply};
use api::wire::store::ModelChoice;
use api::wire::view::SessionView;
use host::Seat;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use words::{Ask, Update, Yes};

/// How an editor's sessions begin.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Acp {
    /// The provider of new sessions; the one in the settings when not given.
    #[arg(long, value_name = "NAME", requires = "model")]
    provider: Option<String>,
    /// The model of new sessions.
    #[arg(long, requires = "provider")]
    model: Option<String>,
    /// What new sessions may do without asking; `ask` when not given.
    #[arg(long, value_enum)]
    mode: Option<crate::args::Mode>,
    /// A scripted model's answers, for the provider `scripted`.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

/// Whoever is at the other end.
pub(crate) trait Editor: Clone + Send + Sync + 'static {
    /// Tells it what happened; waits while it doesn't take what it is told.
    fn tell(&self, session: &str, update: Update) -> impl Future<Output = ()> + Send;
    /// Asks the person there. One that can't be asked says no.
    fn ask(&self, session: &str, ask: Ask) -> impl Future<Output = Yes> + Send;
}

/// What every session of the editor needs.
struct Desk {
    seat: Arc<Seat>,
    model: Option<ModelChoice>,
    mode: Mode,
}

pub(crate) async fn acp(data: PathBuf, acp: Acp) -> Result<Exit, Failure> {
    let mut signals = Signals::new()?;
    let scripted = acp
        .script
        .is_some()
        .then(|| ModelChoice { provider: host::SCRIPTED.to_owned(), model: "script".to_owned() });
    let chosen = acp.provider.zip(acp.model).map(|(provider, model)| ModelChoice { provider, model });
    let own = Own { script: acp.script, attended: true, ..Own::default() };
    let way = Way::to_serve(&data, own).await?;
    let Way::Seat(seat) = &way else { return Err(Failure::internal("an editor needs a seat")) };
    let mode = acp.mode.map_or(Mode::Ask, Mode::from);
    let desk = Desk { seat: Arc::clone(seat), model: chosen.or(scripted), mode };
    let served = tokio::select! {
        served = wire::serve(Arc::new(desk)) => served,
        _ = signals.next() => Ok(()),
    };
    way.shut().await;
    served.map(|()| Exit::Completed).map_err(Failure::internal)
}

impl Desk {
    /// A new session in this folder.
    async fn begin(&self, folder: &Path) -> Result<SessionView, ApiError> {
        let usual = match self.seat.call(Command::Settings).await? {
            Reply::Settings(settings) => settings.model,
            _ => None,
        };
        if self.model.is_none() && usual.is_none() {
            let hint = "Choose one in Daybook's settings, or give --provider and --model.";
            return Err(api::error("model/none", "no model is chosen", hint));
        }
        let folder = self.seat.open_folder(folder).await?;
        let create = Command::CreateSession {
            folder: folder.id,
            mode: self.mode,
            model: self.model.clone(),
            wide: false,
        };
        let Reply::Created { session } = self.seat.call(create).await? else {
            return Err(api::error("internal", "no session was created", ""));
        };
        open(&self.seat, &session).await
    }

    /// A session that is there; the folder the editor has open must be its own.
    async fn load(&self, session: &str, folder: &Path) -> Result<SessionView, ApiError> {
        let view = open(&self.seat, session).await?;
        let folder = self.seat.open_folder(folder).await?;
        if folder.id != view.folder.id {
            let why = format!("this session works in {}, not in {}", view.folder.place, folder.place);
            return Err(api::error("folder/other", why, "Open that folder in the editor."));
        }
        Ok(view)
    }

    /// The modes there are here: Auto needs a cage.
    async fn modes(&self) -> Vec<Mode> {
        let caged = match self.seat.call(Command::App).await {
            Ok(Reply::App(app)) => app.cage != "none",
            Ok(_) | Err(_) => false,
        };
        let mut modes = vec![Mode::Ask, Mode::Edit, Mode::Plan];
        modes.extend(caged.then_some(Mode::Auto));
        modes
    }

    async fn set_mode(&self, session: &str, mode: Mode) -> Result<(), ApiError> {
        self.seat.call(Command::SetMode { session: session.to_owned(), mode }).await.map(drop)
    }

    async fn stop(&self, session: &str) -> Result<(), ApiError> {
        self.seat.call(Command::Interrupt { session: session.to_owned() }).await.map(drop)
    }
}

async fn open(seat: &Seat, session: &str) -> Result<SessionView, ApiError> {
    match seat.call(Command::OpenSession { session: session.to_owned() }).await? {
        Reply::Session(view) => Ok(*view),
        other => Err(api::error("internal", format!("expected a session, got {other:?}"), "")),
    }
}
