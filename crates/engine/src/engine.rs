//! The engine: the sessions' actors, and the way in.
//!
//! Opening it is recovery: every session with open work gets its actor, which first appends what a dead process left to
//! be written. Invariant: at most one actor a session, and only actors append.

use crate::actor::{Actor, CommandFailure, Post, QUEUE, Recorded};
use crate::decide::{Command, CommandError, Restore};
use crate::limits::Limits;
use crate::own;
use crate::perform::would::{self, Try, Would};
use crate::ports::Ports;
use crate::restoring;
use crate::shared::{Hold, Live, Shared, real_root};
use domain::call::ToolError;
use domain::digest::Digest;
use domain::event::{CancelBy, RestoreScope, SessionCreated};
use domain::ids::SessionId;
use domain::state::State;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use store::{Activity, StoreHandle};
use tokio::sync::{broadcast, mpsc, oneshot};
use tools::added::{Found, Walls, look};
use tools::redact::Needles;

/// Why nothing is done in a session that came from another store: what it allows was allowed elsewhere.
pub const IMPORTED: &str = "it was imported, so it can be looked at and nothing runs in it";

/// How often the record may have moved on while it was read.
pub(crate) const TRIES: usize = 3;

/// Why an engine can't start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The built-in tools don't fit together.
    #[error(transparent)]
    Tools(#[from] tools::registry::RegistryError),
    /// The list of sessions can't be read.
    #[error(transparent)]
    Read(#[from] store::ReadError),
}

/// All sessions of one store.
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
    actors: Mutex<HashMap<SessionId, mpsc::Sender<Post>>>,
}

impl Engine {
    /// Starts over a store, and recovers what a dead process left open. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When the tools don't fit together or the session list can't be read.
    pub fn start(
        store: StoreHandle,
        ports: Ports,
        limits: Limits,
        hands: tools::Limits,
    ) -> Result<Arc<Self>, StartError> {
        let shared = Arc::new(Shared::new(store, ports, limits, hands)?);
        let engine = Arc::new(Self { shared, actors: Mutex::default() });
        for row in engine.shared.store.sessions()? {
            let open = !matches!(row.activity, Activity::Idle | Activity::Failed | Activity::Stopped);
            if open && let Err(error) = engine.actor(&row.session) {
                tracing::error!(session = %row.session, %error, "a session with open work can't be opened");
            }
        }
        Ok(engine)
    }

    /// Begins a session.
    ///
    /// # Errors
    /// When it can't be recorded.
    pub async fn create(&self, mut created: SessionCreated) -> Result<SessionId, CommandFailure> {
        created.identity = created.identity.or_else(|| own::identity(&created.root));
        let session = SessionId::new(&*self.shared.ports.ids);
        self.command(&session, Command::Create(created)).await?;
        Ok(session)
    }

    /// Records a command; what comes of it arrives by subscription.
    ///
    /// # Errors
    /// When it doesn't fit the session's state, or can't be recorded.
    pub async fn command(&self, session: &SessionId, command: Command) -> Result<Recorded, CommandFailure> {
        let (answer, answered) = oneshot::channel();
        let queue = self.actor(session)?;
        queue.send(Post::Command(command, answer)).await.map_err(|_| CommandFailure::Closing)?;
        answered.await.map_err(|_| CommandFailure::Closing)?
    }

    /// Takes changes back: what a scope changed, as the record has it. Paths that somebody changed since stay, unless they
    /// are in `overwrite`. What comes of it arrives by subscription.
    ///
    /// # Errors
    /// When the record can't be read, there is nothing to take back, or work is going on.
    pub async fn restore(
        &self,
        session: &SessionId,
        scope: RestoreScope,
        overwrite: Vec<String>,
    ) -> Result<Recorded, CommandFailure> {
        self.restore_seen(session, scope, overwrite, &BTreeMap::new()).await
    }

    /// The same, where of paths in `overwrite` only what was [seen](crate::show::standing) there is replaced.
    ///
    /// # Errors
    /// As of [`Self::restore`], and when something else stands at such a path now.
    pub async fn restore_seen(
        &self,
        session: &SessionId,
        scope: RestoreScope,
        overwrite: Vec<String>,
        seen: &BTreeMap<String, Digest>,
    ) -> Result<Recorded, CommandFailure> {
        let mut tries = 0;
        loop {
            tries += 1;
            let restore = self.restorable(session, &scope, &overwrite, seen).await?;
            match self.command(session, Command::Restore(restore)).await {
                Err(CommandFailure::Refused(error)) if error.code == "restore/moved_on" && tries < TRIES => {}
                done => return done,
            }
        }
    }

    async fn restorable(
        &self,
        session: &SessionId,
        scope: &RestoreScope,
        overwrite: &[String],
        seen: &BTreeMap<String, Digest>,
    ) -> Result<Restore, CommandFailure> {
        let (shared, session, scope) = (self.shared.clone(), session.clone(), scope.clone());
        let (overwrite, seen) = (overwrite.to_vec(), seen.clone());
        blocking(move || restoring::work_out(&shared, &session, scope, overwrite, &seen)).await
    }

    /// Lets a session look at another folder, which the person chose.
    ///
    /// # Errors
    /// When no session may look at it, this one may not or can already, or it can't be recorded.
    pub async fn add_folder(&self, session: &SessionId, path: &Path) -> Result<Recorded, CommandFailure> {
        let (shared, path) = (self.shared.clone(), path.to_owned());
        let state = self.state(session).map_err(CommandFailure::unreadable)?;
        let looking = tokio::task::spawn_blocking(move || {
            let root = real_root(&state);
            let walls = Walls { root: &root, home: shared.ports.home.as_deref(), hide: &shared.ports.hide };
            look(&path, &walls).map_err(|refused| {
                let message = format!("{} can't be added to look at: {refused}", path.display());
                CommandError { code: refused.code(), message }
            })
        });
        let found = looking.await.map_err(CommandFailure::unreadable)??;
        let Found { path, name, identity } = found;
        self.command(session, Command::AddFolder { path, name, identity }).await
    }

    /// Goes on in the folder that stands at a session's path now, which the person says is its own.
    ///
    /// # Errors
    /// When none stands there, or it can't be recorded.
    pub async fn use_folder(&self, session: &SessionId) -> Result<Recorded, CommandFailure> {
        let state = self.state(session).map_err(|error| CommandFailure::Unreadable(error.to_string()))?;
        let root = state.session.as_ref().map_or("", |session| session.root.as_str());
        let Some(identity) = own::identity(root) else {
            let message = format!("the folder {root} can't be opened");
            return Err(CommandError { code: "folder/missing", message }.into());
        };
        self.command(session, Command::UseFolder(identity)).await
    }

    /// Can commands be let onto the network host by host on this machine?
    #[must_use]
    pub fn can_reach_hosts(&self) -> bool {
        self.shared.ports.launcher.can_reach_hosts()
    }

    /// What would happen in a session as things are now; nothing runs and nothing is recorded. Blocks.
    ///
    /// # Errors
    /// When the session can't be read. The inner error is what the model would read of a call that can't work.
    pub fn would(&self, session: &SessionId, what: &Try) -> Result<Result<Would, ToolError>, CommandFailure> {
        let state = self.state(session).map_err(CommandFailure::unreadable)?;
        Ok(would::would(&self.shared, session, &state, what))
    }

    /// What work of a session waits for outside it just now.
    #[must_use]
    pub fn hold(&self, session: &SessionId) -> Option<Hold> {
        self.shared.hold(session)
    }

    /// What shows before it is logged.
    #[must_use]
    pub fn live(&self) -> broadcast::Receiver<Live> {
        self.shared.live.subscribe()
    }

    /// The registered keys as they are now.
    pub(crate) fn secrets(&self) -> Arc<Needles> {
        (self.shared.ports.secrets)()
    }

    /// The store, for reading and for subscribing.
    #[must_use]
    pub fn store(&self) -> &StoreHandle {
        &self.shared.store
    }

    /// The state of a session now.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn state(&self, session: &SessionId) -> Result<Arc<State>, store::ReadError> {
        self.shared.store.state(session)
    }

    /// Is there somebody who can be asked? Where not, asking means no.
    pub fn set_attended(&self, attended: bool) {
        self.shared.attended.store(attended, Ordering::Release);
    }

    /// Does any session work or stop right now, or a job run?
    #[must_use]
    pub fn is_busy(&self) -> bool {
        let Shared { slots, job_slots, limits, .. } = &*self.shared;
        slots.available_permits() < limits.running_turns
            || job_slots.available_permits() < limits.running_jobs
    }

    /// Stops in order: no more work is claimed, what runs is stopped, jobs too, and this returns when nothing runs any more.
    /// A turn that waits for the person waits on in the next process, and so does a job that hasn't begun.
    pub async fn close(&self) {
        self.shared.closing.store(true, Ordering::Release);
        let queues: Vec<_> = self.lock().drain().map(|(_, queue)| queue).collect();
        let mut waiting = Vec::new();
        for queue in queues {
            let (answer, answered) = oneshot::channel();
            if queue.send(Post::Close(answer)).await.is_ok() {
                waiting.push(answered);
            }
        }
        for answered in waiting {
            // An actor that is gone has nothing running.
            drop(answered.await);
        }
    }

    /// Stops a session's running turn, for `interrupt`.
    ///
    /// # Errors
    /// When it can't be recorded.
    pub async fn interrupt(&self, session: &SessionId) -> Result<Recorded, CommandFailure> {
        self.command(session, Command::Stop(CancelBy::User)).await
    }

    pub(crate) fn actor(&self, session: &SessionId) -> Result<mpsc::Sender<Post>, CommandFailure> {
        let mut actors = self.lock();
        // Looked at under the lock: an actor made after closing began would never be told.
        if self.shared.closing() {
            return Err(CommandFailure::Closing);
        }
        if let Some(queue) = actors.get(session).filter(|queue| !queue.is_closed()) {
            return Ok(queue.clone());
        }
        if self.shared.store.is_imported(session).map_err(CommandFailure::unreadable)? {
            return Err(CommandFailure::Unreadable(IMPORTED.to_owned()));
        }
        let state = self.shared.store.state(session).map_err(CommandFailure::unreadable)?;
        let (back, queue) = mpsc::channel(QUEUE);
        let actor = Actor::new(session.clone(), Arc::clone(&self.shared), state, queue, back.clone());
        tokio::spawn(actor.run());
        actors.insert(session.clone(), back.clone());
        Ok(back)
    }

    /// The queues of all actors there are.
    pub(crate) fn actors(&self) -> Vec<mpsc::Sender<Post>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, mpsc::Sender<Post>>> {
        self.actors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does what reads the disk for long on a thread that may wait.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandFailure> + Send + 'static,
) -> Result<T, CommandFailure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(CommandFailure::unreadable(error)))
}
