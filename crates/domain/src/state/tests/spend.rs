//! Limits of money: what may be allowed beyond them, and the question that waits until then.

use super::*;
use crate::money::{Price, PriceFrom, Rates, Spent};

fn raised(limit: SpendLimit, from: u64, by: u64) -> SpendRaised {
    SpendRaised { limit, from, by }
}

fn model() -> ModelChoice {
    ModelChoice { provider: "p".into(), model: "m".into() }
}

fn met() -> End {
    let money = MoneyMet { spent: Spent::default(), next: Some(7), portion: 5, model: model() };
    End::Limit { limit: "spend_session".into(), value: 5, money: Some(Box::new(money)) }
}

#[test]
fn what_is_allowed_beyond_a_limit_is_something_and_has_an_end() {
    let log = Log::created();
    check(&log, raised(SpendLimit::Session, 5, 5), Ok(()));
    check(&log, raised(SpendLimit::Session, 5, 0), Err("spend/portion"));
    check(&log, raised(SpendLimit::Session, u64::MAX, 1), Err("spend/portion"));
    let once = with(log, |log| log.lawful(raised(SpendLimit::Session, 5, 5)));
    check(&once, raised(SpendLimit::Session, 4, 5), Err("spend/limit"));
    check(&once, raised(SpendLimit::Session, 10, 5), Ok(()));
    check(&once, raised(SpendLimit::Day, 1, 5), Ok(()));
    let uncounted = with(once, |log| log.lawful(SpendUncounted { model: model() }));
    check(&uncounted, SpendUncounted { model: model() }, Err("spend/once"));
}

#[test]
fn the_question_of_a_limit_waits_until_it_is_answered_or_work_goes_on() {
    let at_limit = || {
        with(Log::stepping(), |log| {
            log.lawful(said(1));
            log.lawful(step_end(1, StepEndKind::Failed));
            log.lawful(turn_end(met()));
        })
    };
    let asks = |log: &Log| log.state.met.as_ref().map(|met| (met.limit.clone(), met.value));
    let log = at_limit();
    assert_eq!(asks(&log), Some(("spend_session".to_owned(), 5)));
    assert_eq!(log.state.last_failure.as_deref(), Some("limit/spend_session"));
    let allowed = with(log, |log| log.lawful(raised(SpendLimit::Session, 5, 5)));
    assert_eq!((asks(&allowed), allowed.state.raised), (None, 5));
    let day = with(at_limit(), |log| log.lawful(raised(SpendLimit::Day, 5, 5)));
    assert_eq!((asks(&day), day.state.raised), (None, 0), "a day's is counted over all sessions");
    let anew = with(at_limit(), |log| {
        log.lawful(posted(2));
        log.lawful(TurnStart { turn: turn(2), source: Source::Message { message: message(2) } });
    });
    assert_eq!(asks(&anew), None);
}

/// What an attempt costs is fixed by the price that its step froze.
#[test]
fn inv_i8_a_settlement_costs_what_its_step_froze() {
    let price = |input: u64| {
        let rates = Rates { input: input * 1_000_000, ..Rates::default() };
        Some(Price { rates, long: None, from: PriceFrom::Person })
    };
    let tokens = crate::model::Usage { input: 10, ..Default::default() };
    for (price, expect) in [
        (price(3), Spent { micros: 30, ..Spent::default() }),
        (price(0), Spent::default()),
        (None, Spent { unknown: 1, ..Spent::default() }),
    ] {
        let mut log = Log::attempting();
        if let Some(step) = log.state.turn.as_mut().and_then(|turn| turn.step.as_mut()) {
            step.model.price.clone_from(&price);
        }
        let settled = Settled::Reported { tokens };
        log.lawful(AttemptEnd { settled, ..ended(attempt(1), AttemptEndKind::Cancelled) });
        assert_eq!(log.state.usage.spent, expect, "{price:?}");
    }
}
