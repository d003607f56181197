//! Money: what a session cost, how much may be spent, and what models cost that the person knows the price of.
//!
//! All of it is whole micro-dollars. What nobody knows is null and never 0.

use super::store::ModelChoice;
use domain::money;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What the attempts of a session cost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Spent {
    /// Micro-dollars; null where it isn't known of any of them.
    #[ts(type = "number | null")]
    pub micros: Option<u64>,
    /// How sure that is.
    pub sure: Sure,
    /// How much more than the session's limit the person allowed.
    #[ts(type = "number")]
    pub raised: u64,
}

/// How sure a sum is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Sure {
    /// As counted by the services.
    #[default]
    Exact,
    /// Some of it was reckoned here.
    About,
    /// Of some attempts it isn't known.
    AtLeast,
}

impl Sure {
    /// As facts write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::About => "about",
            Self::AtLeast => "at_least",
        }
    }
}

impl From<&money::Spent> for Sure {
    fn from(spent: &money::Spent) -> Self {
        match (spent.unknown, spent.estimated) {
            (0, 0) => Self::Exact,
            (0, _) => Self::About,
            (_, _) => Self::AtLeast,
        }
    }
}

impl Spent {
    /// What a session cost, and how much more it was allowed.
    #[must_use]
    pub fn of(spent: &money::Spent, raised: u64) -> Self {
        let known = spent.micros > 0 || spent.unknown == 0;
        Self { micros: known.then_some(spent.micros), sure: spent.into(), raised }
    }
}

/// A limit of money that a turn met, as it was shown to the person who goes on past it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PastLimit {
    /// The session's: one more portion may be spent in it.
    Session {
        /// The limit.
        #[ts(type = "number")]
        limit: u64,
    },
    /// The day's: one more portion may be spent today.
    Day {
        /// The limit.
        #[ts(type = "number")]
        limit: u64,
    },
    /// Nobody knows what the model costs: it is asked without being counted, in this session.
    Price {
        /// The model.
        model: ModelChoice,
    },
}

/// How much may be spent before the person is asked; null is without a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SpendLimits {
    /// In one session.
    #[ts(type = "number | null")]
    pub session: Option<u64>,
    /// In one day, over all sessions.
    #[ts(type = "number | null")]
    pub day: Option<u64>,
}

/// What a model costs, as the person says: micro-dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ModelPrice {
    /// The provider.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// Input.
    #[ts(type = "number")]
    pub input: u64,
    /// Input read from the provider's cache.
    #[ts(type = "number")]
    pub cached: u64,
    /// Output.
    #[ts(type = "number")]
    pub output: u64,
}
