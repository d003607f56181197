//! What was spent when: over all sessions, by quarters of an hour, once each; and not what was paid for elsewhere.

use crate::rig::*;
use domain::event::{AttemptEnd, AttemptEndKind, Draft, Fact, Settled, SpendLimit, SpendRaised, StepStart};
use domain::model::Usage;
use domain::money::{Price, PriceFrom, Rates, Spent};
use std::sync::Arc;
use store::{Durability, Import, Options, SpentIn, Store};

const QUARTER: u64 = 15 * 60 * 1_000;
const MONEY: Rates = Rates { input: 1_000_000, cache_read: 0, cache_write: 0, output: 0 };

/// A turn up to its question, whose one attempt read so many tokens, at a micro-dollar each.
fn turn(n: u128, tokens: u64) -> Vec<Draft> {
    let mut drafts = turn_until_asked(n);
    for draft in &mut drafts {
        match &mut draft.fact {
            Fact::StepStart(StepStart { model, .. }) => {
                model.price = Some(Price { rates: MONEY, long: None, from: PriceFrom::Person });
            }
            Fact::AttemptEnd(AttemptEnd { end: AttemptEndKind::Accepted, settled, .. }) => {
                *settled = Settled::Reported { tokens: Usage { input: tokens, ..Usage::default() } };
            }
            _ => {}
        }
    }
    drafts
}

fn exactly(micros: u64) -> SpentIn {
    SpentIn { spent: Spent { micros, ..Spent::default() }, raised: 0 }
}

#[test]
fn a_time_is_added_up_over_all_sessions_and_rebuilt_from_the_log() {
    let dir = tempfile::tempdir().expect("a folder");
    let clock = Hand::at(10 * QUARTER - 1);
    let store = Store::open(dir.path(), Options::inline(Arc::clone(&clock) as _)).expect("opens");
    let append = |n: u128, drafts| {
        let at = store.next_seq(&session(n)).expect("reads");
        store.append(&session(n), at, drafts, Durability::Normal).expect("appends");
    };
    append(1, [vec![created()], turn(1, 5)].concat());
    clock.set(10 * QUARTER);
    append(2, [vec![created()], turn(1, 7)].concat());
    clock.set(11 * QUARTER - 1);
    append(3, [vec![created()], turn(1, 11)].concat());
    let more = |limit| vec![Draft::new(SpendRaised { limit, from: 0, by: 100 })];
    append(3, more(SpendLimit::Day));
    append(3, more(SpendLimit::Session));
    let check = |from: u64, until: u64, expect: SpentIn| {
        assert_eq!(store.spent(from, until).expect("adds up"), expect, "from {from} until {until}");
    };
    for _ in 0..2 {
        check(0, u64::MAX, SpentIn { raised: 100, ..exactly(23) });
        check(9 * QUARTER, 10 * QUARTER, exactly(5));
        check(10 * QUARTER, 11 * QUARTER, SpentIn { raised: 100, ..exactly(18) });
        check(11 * QUARTER, 12 * QUARTER, exactly(0));
        raw(dir.path()).execute_batch("DELETE FROM spent").expect("changes");
        assert!(store.verify_projections().expect("compares").is_some_and(|found| found.contains("spent")));
        store.rebuild().expect("rebuilds");
        assert_eq!(store.verify_projections(), Ok(None));
    }
}

#[test]
fn what_was_paid_for_elsewhere_is_not_counted_here() {
    let dirs = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    let (there, here) = (open(dirs[0].path()), open(dirs[1].path()));
    let drafts = [vec![created()], turn(1, 5)].concat();
    there.append(&session(1), 0, drafts, Durability::Normal).expect("appends");
    let events = there.events(&session(1), 0, 1_000).expect("reads");
    here.import(Import { session: session(1), events, gone: Vec::new() }).expect("it is taken in");
    assert_eq!(here.state(&session(1)).expect("reads").usage.spent.micros, 5, "its own total stays");
    for _ in 0..2 {
        assert_eq!(here.spent(0, u64::MAX).expect("adds up"), SpentIn::default());
        assert_eq!(here.verify_projections(), Ok(None));
        here.rebuild().expect("rebuilds");
    }
}
