//! Money in the view: what attempts cost, a limit that was met, and going on past it.

use super::*;
use crate::wire::spend::{Spent, Sure};
use domain::money::{self, Price, PriceFrom, Rates};

/// A model that costs a micro-dollar for each token of input.
fn begin_at(input: u64) -> Vec<Fact> {
    let mut facts = begin();
    for fact in &mut facts {
        if let Fact::StepStart(e) = fact {
            let rates = Rates { input, ..Rates::default() };
            e.model.price = Some(Price { rates, long: None, from: PriceFrom::Person });
        }
    }
    facts
}

fn spent(facts: Vec<Fact>) -> Spent {
    folded(facts, &Blobs::default()).view().spent
}

#[test]
fn a_view_says_what_was_spent_and_how_sure_that_is() {
    let with = |mut facts: Vec<Fact>, settled: Settled| {
        let end = AttemptEnd { attempt: attempt(1), end: AttemptEndKind::Cancelled, settled, raw: None };
        facts.extend([start(1), end.into()]);
        spent(facts)
    };
    let tokens = Usage { input: 900, ..Usage::default() };
    let exact = |micros, sure| Spent { micros, sure, raised: 0 };
    assert_eq!(spent(begin()), exact(Some(0), Sure::Exact));
    assert_eq!(with(begin_at(1_000_000), Settled::Reported { tokens }), exact(Some(900), Sure::Exact));
    assert_eq!(with(begin_at(1_000_000), Settled::Estimated { tokens }), exact(Some(900), Sure::About));
    assert_eq!(with(begin_at(1_000_000), Settled::Unknown), exact(None, Sure::AtLeast));
    assert_eq!(with(begin(), Settled::Reported { tokens }), exact(None, Sure::AtLeast));
}

#[test]
fn a_limit_that_was_met_and_what_was_allowed_are_in_the_conversation() {
    let spent = money::Spent { micros: 2_900_000, estimated: 1, unknown: 0 };
    let model = event::ModelChoice { provider: "ollama".into(), model: "m".into() };
    let money = MoneyMet { spent, next: Some(200_000), portion: 3_000_000, model: model.clone() };
    let mut facts = begin();
    let end = End::Limit { limit: "spend_session".into(), value: 3_000_000, money: Some(Box::new(money)) };
    facts.push(TurnEnd { end }.into());
    facts.push(SpendRaised { limit: SpendLimit::Session, from: 3_000_000, by: 3_000_000 }.into());
    facts.push(SpendUncounted { model }.into());
    let fold = folded(facts, &Blobs::default());
    let shown = fold.view().entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::TurnEnd { end, facts, .. } => Some(format!("{end} {facts:?}")),
        EntryBody::Notice { code, facts, .. } => Some(format!("{code} {facts:?}")),
        _ => None,
    });
    insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r#"
    limit {"limit": "spend_session", "model": "m", "next": "200000", "portion": "3000000", "provider": "ollama", "spent": "2900000", "sure": "about", "value": "3000000"}
    spend/raised {"by": "3000000", "limit": "session"}
    spend/uncounted {"model": "m", "provider": "ollama"}
    "#);
    assert_eq!(fold.view().spent.raised, 3_000_000);
}
