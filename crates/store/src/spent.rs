//! What was spent when: one row for each session and each quarter of an hour in which attempts of it were settled.
//!
//! The log knows no time zones, so a person's day is a range of **slots**: every zone's midnight falls on a quarter of an hour.
//! Rows are posted in the append's own transaction, like every list. Invariants: an attempt is counted once, where it was
//! settled; what was paid for in another store isn't counted here; a look at a day reads no events.

use crate::connection::{int, nat};
use crate::error::ReadError;
use crate::reader::Reader;
use domain::event::{Fact, SpendLimit};
use domain::ids::SessionId;
use domain::money::Spent;
use domain::state::State;
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// A slot's length.
const SLOT_MS: u64 = 15 * 60 * 1_000;

/// What all sessions together spent in some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpentIn {
    /// What attempts cost.
    pub spent: Spent,
    /// How much more than the day's limit was allowed, in micro-dollars.
    pub raised: u64,
}

/// What one append (or a whole log) adds to the rows of one session.
#[derive(Default)]
pub(crate) struct Spending(BTreeMap<u64, SpentIn>);

impl Spending {
    /// Takes note of a fact; `before` is the state that it finds.
    pub(crate) fn note(&mut self, before: &State, time: u64, fact: &Fact) {
        match fact {
            Fact::AttemptEnd(e) => self.at(time).spent.add(e.settled.cost(before.price())),
            Fact::SpendRaised(e) if e.limit == SpendLimit::Day => {
                let raised = &mut self.at(time).raised;
                *raised = raised.saturating_add(e.by);
            }
            _ => {}
        }
    }

    fn at(&mut self, time: u64) -> &mut SpentIn {
        self.0.entry(time / SLOT_MS).or_default()
    }

    pub(crate) fn post(&self, to: &Connection, session: &SessionId) -> rusqlite::Result<()> {
        for (slot, SpentIn { spent, raised }) in self.0.iter().filter(|(_, one)| **one != SpentIn::default())
        {
            to.prepare_cached(
                "INSERT INTO spent (slot, session, micros, estimated, unknown, raised) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                 ON CONFLICT (slot, session) DO UPDATE SET micros = micros + ?3, estimated = estimated + ?4, \
                 unknown = unknown + ?5, raised = raised + ?6",
            )?
            .execute(params![
                int(*slot),
                session.as_str(),
                int(spent.micros),
                int(spent.estimated),
                int(spent.unknown),
                int(*raised),
            ])?;
        }
        Ok(())
    }
}

impl Reader {
    /// What all sessions together spent from one moment to before another, both UTC ms at a quarter of an hour.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn spent(&self, from: u64, until: u64) -> Result<SpentIn, ReadError> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT sum(micros), sum(estimated), sum(unknown), sum(raised) FROM spent \
                     WHERE slot >= ?1 AND slot < ?2",
                )
                .and_then(|mut select| {
                    select.query_row([int(from / SLOT_MS), int(until.div_ceil(SLOT_MS))], |row| {
                        let sum = |at| row.get::<_, Option<i64>>(at).map(|sum| nat(sum.unwrap_or(0)));
                        let spent = Spent { micros: sum(0)?, estimated: sum(1)?, unknown: sum(2)? };
                        Ok(SpentIn { spent, raised: sum(3)? })
                    })
                })
                .map_err(ReadError::sql("adding up what was spent"))
        })
    }
}
