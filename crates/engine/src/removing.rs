//! Taking something out of records and of what is kept: every session it is of stands still while that is done.
//!
//! A removal is worked out from records as they are. A session **stands still** when its actor has found that nothing of it
//! runs and that its record is still the one that was read; it takes nothing in until the removal is over, and then reads its
//! state again. Invariants: it is all done in one transaction or not at all; one session that can't stand still keeps all of
//! it from being done; no index of a folder from before it is used or saved after it.

use crate::actor::{CommandFailure, Post, Standing};
use crate::engine::{Engine, TRIES, blocking};
use crate::erasing::{self, Erasable, Erase, Erased};
use crate::thinning::{self, Kept, Survey, Thinned};
use domain::ids::SessionId;
use std::sync::Arc;
use store::{Edit, Removal, Removed};
use tokio::sync::oneshot;

impl Engine {
    /// What erasing words from a session's record would touch. Blocks.
    ///
    /// # Errors
    /// When the record can't be read, or the words can't be erased.
    pub fn erasable(&self, session: &SessionId, erase: &Erase) -> Result<Erasable, CommandFailure> {
        erasing::preview(&self.shared.store, session, erase)
    }

    /// Erases words from a session's record, or from that of every session that holds them, and from every blob of the store.
    ///
    /// # Errors
    /// When work is going on in one of these sessions, the words stand nowhere or can't be erased, or it can't be recorded. Nothing
    /// was changed then.
    pub async fn erase(&self, session: &SessionId, erase: Erase) -> Result<Erased, CommandFailure> {
        let mut tries = 0;
        loop {
            tries += 1;
            let (shared, id, what) = (Arc::clone(&self.shared), session.clone(), erase.clone());
            let (removal, mut erased) = blocking(move || erasing::work_out(&shared, &id, &what)).await?;
            match self.remove(removal).await {
                // One of the sessions went on meanwhile.
                Err(CommandFailure::Refused(_)) if tries < TRIES => {}
                Err(failure) => return Err(failure),
                Ok(Removed { copies, unfinished, .. }) => {
                    for queue in self.actors() {
                        // An actor that is gone keeps nothing.
                        drop(queue.send(Post::Forget).await);
                    }
                    (erased.copies, erased.unfinished) = (copies, unfinished);
                    return Ok(erased);
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
        Ok(Survey::of(store, self.shared.ports.clock.now_ms())?.kept(limit))
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
        let looked = store.setting(thinning::LOOKED).map_err(CommandFailure::unreadable)?;
        let looked: u64 = looked.and_then(|text| text.parse().ok()).unwrap_or(0);
        if self.is_busy() || now.saturating_sub(looked) < thinning::DAY_MS {
            return Ok(Thinned::default());
        }
        let done = self.thin().await?;
        let (name, value) = (thinning::LOOKED.to_owned(), now.to_string());
        store.edit(Edit::Set { name, value })?;
        Ok(done)
    }

    /// Lets go of old contents that are kept for undo only, by the rule, of all sessions at once: what one doesn't need any
    /// more another may. What a session at work keeps is left for the next time; while something runs, everything is.
    ///
    /// # Errors
    /// When a record can't be read, or what is needed can't be known; nothing was let go then.
    pub async fn thin(&self) -> Result<Thinned, CommandFailure> {
        let limit = thinning::limit(&self.shared.store)?;
        let mut survey = self.survey().await?;
        for _ in 0..TRIES {
            if survey.over(limit).is_empty() {
                return Ok(Thinned { left: survey.left(limit), ..Thinned::default() });
            }
            if self.is_busy() {
                break;
            }
            // From here on a revision keeps what it needs itself, so that nothing it names can go: looked at once more.
            self.shared.folders.without_contents(&self.shared.ports.private, || ());
            survey = self.survey().await?;
            // Somebody began to work meanwhile: what is needed isn't known any more.
            if self.is_busy() {
                break;
            }
            let going = survey.over(limit);
            if going.is_empty() {
                continue;
            }
            let (removal, done) = survey.removal(going);
            match self.remove(removal).await {
                Ok(_) => return Ok(Thinned { left: survey.left(limit), ..done }),
                // A session can't stand still any more: what the others may let go depends on it.
                Err(CommandFailure::Refused(_)) => survey = self.survey().await?,
                Err(failure) => return Err(failure),
            }
        }
        Ok(Thinned { left: survey.at_work.max(1), ..Thinned::default() })
    }

    async fn survey(&self) -> Result<Survey, CommandFailure> {
        let shared = Arc::clone(&self.shared);
        blocking(move || Survey::of(&shared.store, shared.ports.clock.now_ms())).await
    }

    /// Carries a removal out while its sessions stand still.
    async fn remove(&self, mut removal: Removal) -> Result<Removed, CommandFailure> {
        // In one order for everybody, so that no two removals wait for each other.
        removal.sessions.sort_by(|one, other| one.append.session.cmp(&other.append.session));
        let mut standing = Vec::with_capacity(removal.sessions.len());
        for one in &removal.sessions {
            standing.push(self.stand_still(&one.append.session, one.append.expected_seq).await?);
        }
        let shared = Arc::clone(&self.shared);
        // Whoever asked may be gone before it is done; the sessions stand still until then all the same.
        blocking(move || {
            let store = &shared.store;
            let removed = shared.folders.without_contents(&shared.ports.private, || store.remove(removal));
            drop(standing);
            Ok(removed?)
        })
        .await
    }

    async fn stand_still(&self, session: &SessionId, read_to: u64) -> Result<Standing, CommandFailure> {
        let (answer, answered) = oneshot::channel();
        let post = Post::Stand { read_to, answer };
        self.actor(session)?.send(post).await.map_err(|_| CommandFailure::Closing)?;
        answered.await.map_err(|_| CommandFailure::Closing)?
    }
}
