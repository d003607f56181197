//! Money: what a million tokens cost, and what attempts came to, in whole micro-dollars.
//!
//! A **price** is frozen with a step's snapshot, and a **cost** follows from it and from how an attempt was settled, from nothing
//! else. Invariants: an unknown price stays unknown and is never taken for nothing; each attempt is rounded up by itself, so a
//! sum doesn't depend on the order or the grouping of what it adds.

use crate::event::Settled;
use crate::model::Usage;
use serde::{Deserialize, Serialize};

/// Micro-dollars in a dollar, and tokens that a rate is for.
pub const MILLION: u64 = 1_000_000;

/// Micro-dollars that an attempt can come to: a billion dollars. A service that counts nonsense breaks no sum.
pub const MOST: u64 = 1_000_000_000 * MILLION;

/// What a million tokens of each kind cost, in micro-dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    /// Input that is neither read from nor written to a cache.
    pub input: u64,
    /// Input read from the provider's cache.
    pub cache_read: u64,
    /// Input written to the provider's cache.
    pub cache_write: u64,
    /// Output, reasoning included.
    pub output: u64,
}

impl Rates {
    /// What these tokens cost, rounded up to a micro-dollar.
    #[must_use]
    pub fn of(&self, tokens: Usage) -> u64 {
        let each = [
            (tokens.input, self.input),
            (tokens.cache_read, self.cache_read),
            (tokens.cache_write, self.cache_write),
            (tokens.output, self.output),
        ];
        let sum = each.into_iter().map(|(tokens, rate)| u128::from(tokens) * u128::from(rate));
        let micros = sum.fold(0, u128::saturating_add).div_ceil(u128::from(MILLION));
        u64::try_from(micros).unwrap_or(u64::MAX).min(MOST)
    }
}

/// A model's price, as it was when a step began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// What it usually is.
    pub rates: Rates,
    /// What it is for the whole of a request with much input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongRates>,
    /// Who says so.
    pub from: PriceFrom,
}

/// Other rates from some size of the input on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongRates {
    /// They hold where the input has more tokens than this, cached ones counted.
    pub above: u64,
    /// The rates.
    pub rates: Rates,
}

/// Who says what a model costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriceFrom {
    /// It runs on this machine, so nobody is paid.
    Local,
    /// The person.
    Person,
    /// Our table of this day, `2026-11-30`.
    Table(String),
}

impl Price {
    /// Of a model that runs on this machine.
    #[must_use]
    pub fn local() -> Self {
        Self { rates: Rates::default(), long: None, from: PriceFrom::Local }
    }

    /// Does nothing ever cost anything?
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.rates == Rates::default() && self.long.is_none_or(|long| long.rates == Rates::default())
    }

    /// What these tokens of one request cost.
    #[must_use]
    pub fn of(&self, tokens: Usage) -> u64 {
        let input = tokens.input.saturating_add(tokens.cache_read).saturating_add(tokens.cache_write);
        let rates = self.long.filter(|long| input > long.above).map_or(self.rates, |long| long.rates);
        rates.of(tokens)
    }

    /// What a request's input is going to cost, where it adds some tokens to others that the provider holds already.
    #[must_use]
    pub fn of_input(&self, added: u64, held: u64) -> u64 {
        let plain = Usage { input: added, cache_read: held, ..Usage::default() };
        let written = Usage { cache_write: added, cache_read: held, ..Usage::default() };
        self.of(plain).max(self.of(written))
    }
}

/// What one attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// So much.
    Exact(u64),
    /// About so much: its tokens were reckoned by us.
    About(u64),
    /// Nobody knows: its price isn't known, or what it used isn't.
    Unknown,
}

impl Settled {
    /// What an attempt came to that was settled so, at this price.
    #[must_use]
    pub fn cost(&self, price: Option<&Price>) -> Cost {
        if price.is_some_and(Price::is_free) {
            return Cost::Exact(0);
        }
        match (self, price) {
            (Self::Reported { tokens } | Self::Estimated { tokens }, _) if *tokens == Usage::default() => {
                Cost::Exact(0)
            }
            (Self::Reported { tokens }, Some(price)) => Cost::Exact(price.of(*tokens)),
            (Self::Estimated { tokens }, Some(price)) => Cost::About(price.of(*tokens)),
            (Self::Unknown, _) | (_, None) => Cost::Unknown,
        }
    }
}

/// What attempts came to, summed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Micro-dollars, as far as they are known.
    pub micros: u64,
    /// Attempts of which only about is known what they cost.
    #[serde(default, skip_serializing_if = "is_none")]
    pub estimated: u64,
    /// Attempts of which it isn't known at all, so that it was more than this.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unknown: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde asks for")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Spent {
    /// One more attempt.
    pub fn add(&mut self, cost: Cost) {
        match cost {
            Cost::Exact(micros) => self.micros = self.micros.saturating_add(micros),
            Cost::About(micros) => {
                self.micros = self.micros.saturating_add(micros);
                self.estimated += 1;
            }
            Cost::Unknown => self.unknown += 1,
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            micros: self.micros.saturating_add(other.micros),
            estimated: self.estimated + other.estimated,
            unknown: self.unknown + other.unknown,
        }
    }
}

#[cfg(test)]
mod tests;
