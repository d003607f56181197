//! The words and the laws of Daybook: ids, content, every event, and the pure functions over them.
//!
//! `fold` says what a session is, `check` which event may come next, `audit` what must hold of a whole log. Invariant:
//! no IO, no async, no clock, no randomness and no vendor's name in this crate, so the same log gives the same state
//! on every machine, for ever.

pub mod audit;
pub mod call;
pub mod canonical;
pub mod digest;
pub mod erasure;
pub mod event;
pub mod history;
pub mod ids;
pub mod model;
pub mod money;
pub mod state;

#[cfg(test)]
mod testing;
