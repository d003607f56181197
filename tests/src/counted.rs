//! Counting money by hand: every attempt once, at the price that its step froze, beside what state and lists say.
//!
//! It takes nothing from the fold: attempts and prices come from the events alone, so whatever counts twice or not at all
//! differs from it.

use domain::event::{Fact, SpendLimit};
use domain::money::{Price, Spent};
use std::collections::BTreeSet;
use store::{Reader, SpentIn};

/// What a session's events come to, each attempt once.
#[expect(clippy::expect_used, reason = "an unreadable log ends the test")]
fn of_session(reader: &Reader, session: &domain::ids::SessionId) -> SpentIn {
    let events = reader.events(session, 0, usize::MAX >> 1).expect("the log is readable");
    let (mut price, mut seen, mut sum): (Option<Price>, BTreeSet<_>, SpentIn) = Default::default();
    for event in events {
        match event.decode().expect("every event decodes").fact {
            Some(Fact::StepStart(e)) => price = e.model.price,
            Some(Fact::AttemptEnd(e)) if seen.insert(e.attempt.clone()) => {
                let mut one = Spent::default();
                one.add(e.settled.cost(price.as_ref()));
                sum.spent = sum.spent.and(one);
            }
            Some(Fact::SpendRaised(e)) if e.limit == SpendLimit::Day => sum.raised += e.by,
            _ => {}
        }
    }
    sum
}

/// Where state or lists say something else; empty when all is well.
#[expect(clippy::expect_used, reason = "an unreadable store ends the test")]
pub(crate) fn miscounted(reader: &Reader) -> Vec<String> {
    let (mut all, mut wrong) = (SpentIn::default(), Vec::new());
    for row in reader.sessions().expect("the lists are readable") {
        let (session, by_hand) = (row.session.clone(), of_session(reader, &row.session));
        let state = reader.state(&session).expect("the session is readable");
        if state.usage.spent != by_hand.spent {
            wrong.push(format!("{session} spent {:?}, its state says {:?}", by_hand, state.usage.spent));
        }
        if !reader.is_imported(&session).expect("the settings are readable") {
            all.spent = all.spent.and(by_hand.spent);
            all.raised += by_hand.raised;
        }
    }
    let listed = reader.spent(0, u64::MAX).expect("the lists are readable");
    if listed != all {
        wrong.push(format!("all sessions spent {all:?}, the list says {listed:?}"));
    }
    wrong
}
