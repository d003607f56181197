//! Coming in again and again, less and less often, for whoever lives as long as the seat.
//!
//! Invariants: it ends only when the seat closes or is gone, or when whoever wants it has enough; when one has come in, nobody
//! else rests any longer.

use super::{At, Seat};
use api::wire::ApiError;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How long it waits before it tries again, at first and at most.
const FIRST: Duration = Duration::from_millis(100);
const LAST: Duration = Duration::from_secs(30);

/// Attempts to come in.
pub(super) struct Tries {
    seat: Weak<Seat>,
    closing: CancellationToken,
    moves: watch::Receiver<()>,
    /// Before the next one, where the last one came to nothing.
    pause: Option<Duration>,
}

impl Tries {
    pub(super) fn of(seat: &Arc<Seat>) -> Self {
        let (closing, moves) = (seat.closing.clone(), seat.moved.subscribe());
        Self { seat: Arc::downgrade(seat), closing, moves, pause: None }
    }

    /// One attempt; `None` when the seat closes or is gone.
    pub(super) async fn once(&self, old: &At) -> Option<Result<At, ApiError>> {
        let moved = self.seat.upgrade()?.again(old).await;
        (moved.is_ok() || !self.closing.is_cancelled()).then_some(moved)
    }

    /// As many as it takes; `None` when the seat closes or is gone, or there is enough of it.
    pub(super) async fn until_in(&mut self, old: &At, enough: impl Future<Output = ()>) -> Option<At> {
        let mut enough = std::pin::pin!(enough);
        loop {
            self.rest(old, &mut enough).await?;
            match self.once(old).await? {
                Ok(new) => return Some(new),
                Err(failed) => {
                    tracing::warn!(message = failed.message, "there is no way in just now");
                    self.came_to_nothing();
                }
            }
        }
    }

    /// What lies before the next attempt: nothing where the host has just gone, or the seat is elsewhere already. `None` when the seat closes, or there is
    /// enough of it.
    pub(super) async fn rest(&mut self, at: &At, enough: impl Future<Output = ()>) -> Option<()> {
        let pause = match self.pause {
            None if at.is_gone() => Duration::ZERO,
            pause => pause.unwrap_or(FIRST),
        };
        tokio::select! {
            biased;
            () = self.closing.cancelled() => None,
            () = enough => None,
            () = elsewhere(&self.seat, &mut self.moves, at) => Some(()),
            () = tokio::time::sleep(pause) => Some(()),
        }
    }

    /// The next pause is longer.
    pub(super) fn came_to_nothing(&mut self) {
        self.pause = Some(self.pause.map_or(FIRST, |pause| (pause * 2).min(LAST)));
    }

    /// The next pause is short again.
    pub(super) fn came_to_something(&mut self) {
        self.pause = None;
    }
}

/// Until the seat is no longer where it was, or is gone.
async fn elsewhere(seat: &Weak<Seat>, moves: &mut watch::Receiver<()>, was: &At) {
    loop {
        // Before it is looked at, so that no move falls between.
        moves.mark_unchanged();
        if seat.upgrade().is_none_or(|seat| !seat.at().is(was)) || moves.changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
