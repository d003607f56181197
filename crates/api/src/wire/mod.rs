//! Wire types: what a client sends and sees. They stop at this crate; their TypeScript twins are generated.
//!
//! The parts: [`command`] (what a client asks for and listens to), [`copy`] (what leaves the store and comes into it), [`view`] (what a session looks like), [`job`] (what goes on in the
//! background), [`need`] (what waits over all sessions), [`undo`] (what it changed, and taking that back), [`permission`]
//! (what is allowed), [`record`] (what was recorded), [`spend`] (what it cost), [`storage`] (taking words out of the record) and [`store`] (lists,
//! models, settings). A client folds [`view::Patch`]es by sequence number and computes no truth of its own: facts and codes come
//! from here, words are the client's. Numbers that count things are JSON numbers.

pub mod command;
pub mod copy;
pub mod job;
mod listen;
pub mod need;
pub mod permission;
pub mod record;
pub mod spend;
pub mod storage;
pub mod store;
pub mod undo;
pub mod view;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// An error a client can show and branch on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ApiError {
    /// Stable code, `noun/problem`, for branching and for wording.
    pub code: String,
    /// What was attempted, on what, why not; English, for the log and the CLI.
    pub message: String,
    /// What can be done next, where known.
    pub hint: Option<String>,
}
