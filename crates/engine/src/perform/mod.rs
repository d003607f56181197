//! Performing: all the IO, one file an operation.
//!
//! An operation gets what it needs by value, sends what happens back into the session's queue, and ends soon after its
//! token is cancelled. Invariant: it decides nothing and remembers nothing; what it found is in the input it sends.

pub(crate) mod calls;
pub(crate) mod jobs;
pub(crate) mod prepare;
pub(crate) mod restore;
pub(crate) mod send;
mod shorter;
mod standing;
pub(crate) mod trees;
pub(crate) mod would;

use crate::actor::Post;
use crate::decide::Op;
use crate::folders::Lease;
use crate::input::Input;
use domain::ids::CallId;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tools::Cleared;

/// Where an operation's pieces go: the session's queue itself, so that they are there before its end is.
#[derive(Debug, Clone)]
pub(crate) struct Pieces(mpsc::Sender<Post>);

impl Pieces {
    pub(crate) fn new(queue: mpsc::Sender<Post>) -> Self {
        Self(queue)
    }

    /// Puts a piece into the queue, waiting for room; false when the session has ended.
    pub(crate) async fn send(&self, piece: Input) -> bool {
        self.0.send(Post::Input(piece)).await.is_ok()
    }
}

/// What a call needs to run: made by judging, used at once or never.
#[derive(Debug)]
pub(crate) struct Ready {
    /// Its clearance.
    pub(crate) cleared: Cleared,
    /// The folder, held from before it was judged until it has ended; nothing for a call that changes nothing.
    pub(crate) lease: Option<Lease>,
    /// A place among the running jobs, for a job.
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

/// What an operation gives back when it ends.
#[derive(Debug)]
pub(crate) struct Done {
    /// Which.
    pub(crate) op: Op,
    /// What happened; nothing when it was cancelled before anything did.
    pub(crate) input: Option<Input>,
    /// Clearances it obtained.
    pub(crate) cleared: Vec<(CallId, Ready)>,
    /// The running turn it obtained.
    pub(crate) slot: Option<OwnedSemaphorePermit>,
}

impl Done {
    pub(crate) fn with(op: Op, input: Option<Input>) -> Self {
        Self { op, input, cleared: Vec::new(), slot: None }
    }
}
