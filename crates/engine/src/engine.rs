//! The engine: the sessions' actors, and the way in.
//!
//! Opening it is recovery: every session with open work gets its actor, which first appends what a dead process left to
//! be written. Invariant: at most one actor a session, and only actors append.

use crate::actor::{Actor, CommandFailure, Post, QUEUE, Recorded};
use crate::decide::{Command, CommandError, Restore};
use crate::erasing::{self, Erasable, Erase, Erased};
use crate::limits::Limits;
use crate::perform::would::{self, Try, Would};
use crate::ports::Ports;
use crate::restoring;
use crate::shared::{Hold, Live, Shared, real_root};
use crate::thinning::{self, Kept, Thinned};
use domain::call::ToolError;
use domain::event::{CancelBy, RestoreScope, SessionCreated};
use domain::ids::SessionId;
use domain::state::State;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use store::{Activity, Edit, Removal, Removed, StoreHandle};
use tokio::sync::{broadcast, mpsc, oneshot};
use tools::added::{Found, Walls, look};
use tools::redact::Needles;

/// How often the record may have moved on while it was read.
const TRIES: usize = 3;

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
    shared: Arc<Shared>,
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
    pub async fn create(&self, created: SessionCreated) -> Result<SessionId, CommandFailure> {
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
        let mut tries = 0;
        loop {
            tries += 1;
            let restore = self.restorable(session, &scope, &overwrite).await?;
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
    ) -> Result<Restore, CommandFailure> {
        let (shared, session, scope) = (self.shared.clone(), session.clone(), scope.clone());
        let overwrite = overwrite.to_vec();
        blocking(move || restoring::work_out(&shared, &session, scope, overwrite)).await
    }

    /// What erasing words from a session's record would touch. Blocks.
    ///
    /// # Errors
    /// When the record can't be read, or the words can't be erased.
    pub fn erasable(&self, session: &SessionId, erase: &Erase) -> Result<Erasable, CommandFailure> {
        erasing::preview(&self.shared.store, session, erase)
    }

    /// Erases words from a session's record, and from every blob of the store.
    ///
    /// # Errors
    /// When work is going on in the session, the words stand nowhere or can't be erased, or it can't be recorded. Nothing
    /// was changed then.
    pub async fn erase(&self, session: &SessionId, erase: Erase) -> Result<Erased, CommandFailure> {
        let mut tries = 0;
        loop {
            tries += 1;
            let (shared, id, what) = (Arc::clone(&self.shared), session.clone(), erase.clone());
            let removal = blocking(move || erasing::work_out(&shared, &id, &what)).await?;
            let (events, blobs) = (removal.payloads.len() as u64, removal.blobs.len() as u64);
            let seq = removal.append.expected_seq + removal.append.drafts.len() as u64 - 1;
            // Before it, so that a crash after it leaves no index that knows contents which are gone; after it, for what was
            // noted meanwhile.
            self.shared.folders.forget_contents(&self.shared.ports.private);
            let removed = self.post_removal(session, removal).await;
            self.shared.folders.forget_contents(&self.shared.ports.private);
            match removed {
                Err(CommandFailure::Refused(error)) if error.code == "erase/moved_on" && tries < TRIES => {}
                Err(failure) => return Err(failure),
                Ok(Removed { copies, unfinished, .. }) => {
                    return Ok(Erased { seq, events, blobs, copies, unfinished });
                }
            }
        }
    }

    /// What is kept for undo. Blocks.
    ///
    /// # Errors
    /// When a record can't be read.
    pub fn kept_for_undo(&self) -> Result<Kept, CommandFailure> {
        let store = &self.shared.store;
        let limit = thinning::limit(store)?;
        Ok(thinning::Survey::of(store, self.shared.ports.clock.now_ms())?.kept(limit))
    }

    /// Sets how much may be kept for undo. Blocks.
    ///
    /// # Errors
    /// When it can't be saved.
    pub fn set_undo_limit(&self, bytes: u64) -> Result<(), CommandFailure> {
        let (name, value) = (thinning::LIMIT.to_owned(), bytes.to_string());
        Ok(self.shared.store.edit(Edit::Set { name, value })?)
    }

    /// Lets old contents go when a day has passed since the last time and nothing runs.
    ///
    /// # Errors
    /// As for [`Engine::thin`].
    pub async fn thin_daily(&self) -> Result<Thinned, CommandFailure> {
        let store = &self.shared.store;
        let now = self.shared.ports.clock.now_ms();
        let looked =
            store.setting(thinning::LOOKED).map_err(|error| CommandFailure::Unreadable(error.to_string()))?;
        let looked: u64 = looked.and_then(|text| text.parse().ok()).unwrap_or(0);
        if self.is_busy() || now.saturating_sub(looked) < thinning::DAY_MS {
            return Ok(Thinned::default());
        }
        let done = self.thin().await?;
        let (name, value) = (thinning::LOOKED.to_owned(), now.to_string());
        store.edit(Edit::Set { name, value })?;
        Ok(done)
    }

    /// Lets go of old contents that are kept for undo only, by the rule. Sessions that are at work are left for the next time.
    ///
    /// # Errors
    /// When a record can't be read, or what is needed can't be known; nothing was let go then.
    pub async fn thin(&self) -> Result<Thinned, CommandFailure> {
        if self.is_busy() {
            return Ok(Thinned::default());
        }
        let limit = thinning::limit(&self.shared.store)?;
        if self.survey().await?.over(limit).is_empty() {
            return Ok(Thinned::default());
        }
        // From here on a revision keeps what it needs itself, so that nothing it names can go: looked at once more.
        self.shared.folders.forget_contents(&self.shared.ports.private);
        let survey = self.survey().await?;
        let going = survey.over(limit);
        let mut done = Thinned::default();
        for (session, (record, blobs)) in going {
            let (turns, bytes) = (record.turns.len() + record.restores.len(), record.bytes);
            // Somebody began to work meanwhile: what is needed isn't known any more.
            if self.is_busy() {
                return Ok(done);
            }
            let read_to = survey.read_to.get(&session).copied().unwrap_or_default();
            let removed =
                self.post_removal(&session, thinning::removal(&session, read_to, record, blobs)).await;
            self.shared.folders.forget_contents(&self.shared.ports.private);
            match removed {
                Ok(_) => {
                    done.turns += turns as u64;
                    done.bytes += bytes;
                }
                Err(CommandFailure::Refused(_)) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(done)
    }

    async fn survey(&self) -> Result<thinning::Survey, CommandFailure> {
        let shared = Arc::clone(&self.shared);
        blocking(move || thinning::Survey::of(&shared.store, shared.ports.clock.now_ms())).await
    }

    async fn post_removal(&self, session: &SessionId, removal: Removal) -> Result<Removed, CommandFailure> {
        let (answer, answered) = oneshot::channel();
        let post = Post::Remove(Box::new(removal), answer);
        self.actor(session)?.send(post).await.map_err(|_| CommandFailure::Closing)?;
        answered.await.map_err(|_| CommandFailure::Closing)?
    }

    /// Lets a session look at another folder, which the person chose.
    ///
    /// # Errors
    /// When no session may look at it, this one may not or can already, or it can't be recorded.
    pub async fn add_folder(&self, session: &SessionId, path: &Path) -> Result<Recorded, CommandFailure> {
        let (shared, path) = (self.shared.clone(), path.to_owned());
        let state = self.state(session).map_err(|error| CommandFailure::Unreadable(error.to_string()))?;
        let looking = tokio::task::spawn_blocking(move || {
            let root = real_root(&state);
            let walls = Walls { root: &root, home: shared.ports.home.as_deref(), hide: &shared.ports.hide };
            look(&path, &walls).map_err(|refused| {
                let message = format!("{} can't be added to look at: {refused}", path.display());
                CommandError { code: refused.code(), message }
            })
        });
        let found = looking.await.map_err(|error| CommandFailure::Unreadable(error.to_string()))??;
        let Found { path, name, identity } = found;
        self.command(session, Command::AddFolder { path, name, identity }).await
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
        let state = self.state(session).map_err(|error| CommandFailure::Unreadable(error.to_string()))?;
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

    /// Does any session work or stop right now?
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.shared.slots.available_permits() < self.shared.limits.running_turns
    }

    /// Stops in order: no more work is claimed, what runs is stopped, and this returns when nothing runs any more. A turn
    /// that waits for the person waits on in the next process.
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

    fn actor(&self, session: &SessionId) -> Result<mpsc::Sender<Post>, CommandFailure> {
        let mut actors = self.lock();
        // Looked at under the lock: an actor made after closing began would never be told.
        if self.shared.closing() {
            return Err(CommandFailure::Closing);
        }
        if let Some(queue) = actors.get(session).filter(|queue| !queue.is_closed()) {
            return Ok(queue.clone());
        }
        let state = self
            .shared
            .store
            .state(session)
            .map_err(|error| CommandFailure::Unreadable(error.to_string()))?;
        let (back, queue) = mpsc::channel(QUEUE);
        let actor = Actor::new(session.clone(), Arc::clone(&self.shared), state, queue, back.clone());
        tokio::spawn(actor.run());
        actors.insert(session.clone(), back.clone());
        Ok(back)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, mpsc::Sender<Post>>> {
        self.actors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does what reads the disk for long on a thread that may wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandFailure> + Send + 'static,
) -> Result<T, CommandFailure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(CommandFailure::Unreadable(error.to_string())))
}
