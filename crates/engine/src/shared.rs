//! What all sessions of one engine share: the store, the ports, the tools, the fragments, the bounds.

use crate::decide::{InForce, Knowledge, Spending};
use crate::folders::{Folders, Lease, lock};
use crate::limits::Limits;
use crate::ports::Ports;
use context::{Fragments, Registration};
use domain::event::{CheckedCall, ModelChoice};
use domain::ids::{AttemptId, CallId, JobId, SessionId};
use domain::model::{ModelDelta, ModelSnapshot};
use domain::state::State;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use store::{SpentIn, StoreHandle};
use tokio::sync::{Semaphore, broadcast};
use tokio_util::sync::CancellationToken;
use tools::{AddedPlace, Registry, Visibility, Visible};

/// How many live pieces may wait for a slow listener before it misses some; the log has them all.
const LIVE_QUEUE: usize = 1_024;

/// What shows before it is in the log, for typing that doesn't stutter. Everything here is logged soon after; of output only
/// what comes first is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Live {
    /// A piece of a streaming answer.
    Delta {
        /// The session.
        session: SessionId,
        /// The attempt.
        attempt: AttemptId,
        /// Bytes of the same kind of piece that came before it in this attempt, so that a listener joins its pieces to
        /// the logged ones.
        at: usize,
        /// The piece.
        delta: ModelDelta,
    },
    /// Output of a running call.
    Output {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// Bytes of its output before this text.
        at: usize,
        /// The text.
        text: String,
    },
    /// Output of a running job.
    JobOutput {
        /// The session.
        session: SessionId,
        /// The job.
        job: JobId,
        /// Bytes of its output before this text.
        at: usize,
        /// The text.
        text: String,
    },
    /// Work waits for something outside the session, or goes on.
    Waiting {
        /// The session.
        session: SessionId,
        /// What for; nothing when it goes on.
        hold: Option<Hold>,
    },
}

impl Live {
    /// Most output of one call that is logged while it runs; the whole of it is kept with its result.
    pub const CALL_LOGGED: usize = 256 * 1024;
    /// Most output of one job that is logged while it runs; the whole of it is kept with its end.
    pub const JOB_LOGGED: usize = 1024 * 1024;
}

/// What work can wait for outside its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Another session works in the same folder.
    Folder,
    /// The store can't be written for now.
    Store,
}

pub(crate) struct Shared {
    pub(crate) store: StoreHandle,
    pub(crate) ports: Ports,
    pub(crate) limits: Limits,
    pub(crate) tool_limits: Arc<tools::Limits>,
    pub(crate) tools: Visible,
    pub(crate) fragments: Fragments,
    pub(crate) live: broadcast::Sender<Live>,
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) job_slots: Arc<Semaphore>,
    /// The newest output of each running job.
    pub(crate) tails: Mutex<HashMap<JobId, String>>,
    pub(crate) folders: Arc<Folders>,
    pub(crate) attended: AtomicBool,
    pub(crate) closing: AtomicBool,
    /// What sessions wait for just now, the newest last.
    holds: Mutex<Vec<(SessionId, Hold)>>,
    _kept: Vec<Registration>,
}

impl Shared {
    pub(crate) fn new(
        store: StoreHandle,
        ports: Ports,
        limits: Limits,
        tool_limits: tools::Limits,
    ) -> Result<Self, tools::registry::RegistryError> {
        let tools = Registry::builtin(&tool_limits)?.visible(&Visibility::default());
        let fragments = Fragments::default();
        let kept = context::head::builtin(&fragments);
        Ok(Self {
            store,
            ports,
            slots: Arc::new(Semaphore::new(limits.running_turns)),
            job_slots: Arc::new(Semaphore::new(limits.running_jobs)),
            tails: Mutex::default(),
            limits,
            folders: Arc::default(),
            tool_limits: Arc::new(tool_limits),
            tools,
            fragments,
            live: broadcast::channel(LIVE_QUEUE).0,
            attended: AtomicBool::new(true),
            closing: AtomicBool::new(false),
            holds: Mutex::default(),
            _kept: kept,
        })
    }

    pub(crate) fn closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// The added folders of a session, as they are now. Blocks.
    pub(crate) fn added(&self, state: &State) -> Vec<AddedPlace> {
        let hide = &self.ports.hide;
        state.added.values().map(|one| AddedPlace::open(&one.path, one.identity, hide.clone())).collect()
    }

    /// Says that work of a session waits, for as long as what is given back lives.
    pub(crate) fn wait_for(self: &Arc<Self>, session: &SessionId, hold: Hold) -> Waiting {
        lock(&self.holds).push((session.clone(), hold));
        self.tell_hold(session);
        Waiting { shared: Arc::clone(self), session: session.clone(), hold }
    }

    /// What work of a session waits for just now.
    pub(crate) fn hold(&self, session: &SessionId) -> Option<Hold> {
        lock(&self.holds).iter().rev().find(|(other, _)| other == session).map(|(_, hold)| *hold)
    }

    fn tell_hold(&self, session: &SessionId) {
        self.show(Live::Waiting { session: session.clone(), hold: self.hold(session) });
    }

    /// Holds a folder for a session, and says so while another one has it; `None` when told to stop.
    pub(crate) async fn hold_folder(
        self: &Arc<Self>,
        root: &Path,
        session: &SessionId,
        cancel: &CancellationToken,
    ) -> Option<Lease> {
        if let Some(lease) = self.folders.hold_now(root, session) {
            return Some(lease);
        }
        let _waiting = self.wait_for(session, Hold::Folder);
        self.folders.hold(root, session, cancel).await
    }

    pub(crate) fn show(&self, live: Live) {
        // Nobody watching is no error.
        drop(self.live.send(live));
    }
}

/// Work of a session waits.
pub(crate) struct Waiting {
    shared: Arc<Shared>,
    session: SessionId,
    hold: Hold,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut holds = lock(&self.shared.holds);
        if let Some(at) = holds.iter().position(|one| one.0 == self.session && one.1 == self.hold) {
            holds.remove(at);
        }
        drop(holds);
        self.shared.tell_hold(&self.session);
    }
}

/// The session's folder by the one name that all its names lead to: what it is held by.
pub(crate) fn real_root(state: &State) -> PathBuf {
    let root = state.session.as_ref().map_or("", |session| session.root.as_str());
    Path::new(root).canonicalize().unwrap_or_else(|_| root.into())
}

impl Knowledge for Shared {
    fn in_force(&self, state: &State) -> InForce {
        let folder = state.session.as_ref().map(|session| &session.folder);
        let own = state.grants.iter().map(|(id, given)| (id.clone(), given.what.clone()));
        let lasting = folder.map(|folder| (self.ports.lasting)(folder));
        let layers = folder.map(|folder| (self.ports.layers)(folder)).unwrap_or_default();
        InForce { grants: own.chain(lasting.into_iter().flatten()).collect(), layers }
    }

    fn model(&self, choice: &ModelChoice) -> Option<ModelSnapshot> {
        self.ports.models.snapshot(choice)
    }

    fn spending(&self) -> Result<Spending, String> {
        let caps = (self.ports.caps)()?;
        let (from, until) = (self.ports.day)();
        let today = match caps.day {
            Some(_) => self.store.spent(from, until).map_err(|error| error.to_string())?,
            None => SpentIn::default(),
        };
        Ok(Spending { caps, today })
    }

    fn instead(&self) -> Vec<ModelChoice> {
        self.ports.models.instead()
    }

    fn check(&self, name: &str, arguments: &str) -> CheckedCall {
        match self.tools.check(name, arguments) {
            Ok(call) => CheckedCall::Good {
                version: call.version(),
                arguments: call.arguments().to_owned(),
                digest: call.digest(),
                mended: !call.repairs().is_empty(),
            },
            Err(error) => CheckedCall::Bad { error },
        }
    }
}
