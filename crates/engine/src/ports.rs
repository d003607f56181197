//! The engine's ports: everything it takes from outside, so that a simulation can hand it other ones.
//!
//! Time, ids, chance, models, commands, documents' folder and secrets come in here; nothing in this crate reads a clock
//! or makes an id by itself.

use domain::call::Grant;
use domain::event::ModelChoice;
use domain::ids::{FolderId, GrantId, Ids};
use domain::model::ModelSnapshot;
use futures_util::future::BoxFuture;
use providers::{Body, SendResult, Sink};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tools::launch::Launcher;
use tools::redact::Needles;
use tools::rules::Layer;

/// The rules that hold in a folder, between those built in and the mode: the person's own.
pub type Layers = Arc<dyn Fn(&FolderId) -> Vec<Layer> + Send + Sync>;

/// What the person allowed for good in a folder.
pub type Lasting = Arc<dyn Fn(&FolderId) -> Vec<(GrantId, Grant)> + Send + Sync>;

/// How much may be spent before the person is asked, in micro-dollars; nothing is without a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// In one session.
    pub session: Option<u64>,
    /// In one day, over all sessions.
    pub day: Option<u64>,
}

/// All of them.
#[derive(Clone)]
pub struct Ports {
    /// UTC time, for showing and for waits that survive a restart.
    pub clock: Arc<dyn store::Clock>,
    /// New ids.
    pub ids: Arc<dyn Ids>,
    /// A number from 0 to 999, for spreading waits.
    pub jitter: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Today's date in the person's zone, `2026-11-29`.
    pub today: Arc<dyn Fn() -> String + Send + Sync>,
    /// When the person's today began and when it ends, UTC ms.
    pub day: Arc<dyn Fn() -> (u64, u64) + Send + Sync>,
    /// How much may be spent before the person is asked; an error where nobody can tell.
    pub caps: Arc<dyn Fn() -> Result<Caps, String> + Send + Sync>,
    /// Models and the way to them.
    pub models: Arc<dyn Models>,
    /// How commands are started.
    pub launcher: Arc<dyn Launcher>,
    /// Where deleted things go.
    pub bin: tools::Bin,
    /// Private folder of the host for spools.
    pub private: PathBuf,
    /// Folders no command may see: the data folder, the runtime folder.
    pub hide: Vec<PathBuf>,
    /// The person's home, which no session may be shown whole.
    pub home: Option<PathBuf>,
    /// What the person allowed for good in a folder.
    pub lasting: Lasting,
    /// The rules that hold in a folder; asked for each verdict.
    pub layers: Layers,
    /// Values that may stand in no event.
    pub secrets: Arc<dyn Fn() -> Arc<Needles> + Send + Sync>,
}

/// Why a model can't be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// `model/none`, `provider/unknown`, `key/missing`, `keychain/locked`, …
    pub code: String,
    /// For the record.
    pub message: String,
}

/// One attempt's request.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The step's frozen model.
    pub model: &'a ModelSnapshot,
    /// The whole body.
    pub body: &'a Body,
    /// The session's id.
    pub conversation: &'a str,
}

/// Models and the way to them.
pub trait Models: Send + Sync {
    /// The capabilities of a chosen model; `None` when there is no such connection.
    fn snapshot(&self, choice: &ModelChoice) -> Option<ModelSnapshot>;

    /// Models that may go on where the chosen one doesn't answer, in the person's order.
    fn instead(&self) -> Vec<ModelChoice>;

    /// Is there all it takes to ask this model? Gives the provider whose key will be used and where the key comes from;
    /// `None` when none is needed.
    fn ready<'a>(
        &'a self,
        model: &'a ModelSnapshot,
    ) -> BoxFuture<'a, Result<Option<(String, String)>, Problem>>;

    /// Sends one request and reads its answer to the end.
    fn send<'a>(
        &'a self,
        request: ModelRequest<'a>,
        sink: &'a mut dyn Sink,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, SendResult>;
}
