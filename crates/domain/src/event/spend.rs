//! Payloads of spending: going on past a limit of money.
//!
//! A limit is a setting of the machine; what a person allows beyond it is a fact of a session. Invariant: each names what was
//! shown to the person who allowed it.

use crate::event::ModelChoice;
use crate::money::Spent;
use serde::{Deserialize, Serialize};

/// `spend/raised`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendRaised {
    /// Which limit.
    pub limit: SpendLimit,
    /// The limit that was shown as reached, in micro-dollars.
    pub from: u64,
    /// How much more may be spent.
    pub by: u64,
}

/// A limit of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpendLimit {
    /// Of one session.
    Session,
    /// Of one day, over all sessions.
    Day,
}

/// `spend/uncounted`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendUncounted {
    /// The model.
    pub model: ModelChoice,
}

/// What was known of money when a turn met a limit of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoneyMet {
    /// What was spent.
    pub spent: Spent,
    /// What the request that wasn't sent would about have cost, its answer not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// How much more one click allows.
    pub portion: u64,
    /// The model that was to be asked.
    pub model: ModelChoice,
}
