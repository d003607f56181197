//! Money: costs by hand, and the laws of sums.

use super::*;
use proptest::prelude::*;

const DAY: &str = "2026-11-30";

fn price() -> Price {
    let rates = Rates { input: 3_000_000, cache_read: 300_000, cache_write: 3_750_000, output: 15_000_000 };
    let long = LongRates { above: 200_000, rates: Rates { input: 6_000_000, output: 22_500_000, ..rates } };
    Price { rates, long: Some(long), from: PriceFrom::Table(DAY.into()) }
}

fn used(input: u64, cache_read: u64, cache_write: u64, output: u64) -> Usage {
    Usage { input, output, cache_read, cache_write }
}

#[test]
fn an_attempt_costs_what_its_tokens_cost() {
    #[track_caller]
    fn check(settled: Settled, price: Option<Price>, expect: Cost) {
        assert_eq!(settled.cost(price.as_ref()), expect, "{settled:?} at {price:?}");
    }
    let reported = |tokens| Settled::Reported { tokens };
    let estimated = |tokens| Settled::Estimated { tokens };
    check(reported(used(1_000, 0, 0, 100)), Some(price()), Cost::Exact(4_500));
    check(reported(used(10, 90_000, 2_000, 100)), Some(price()), Cost::Exact(30 + 27_000 + 7_500 + 1_500));
    // A part of a micro-dollar is a whole one.
    check(reported(used(0, 1, 0, 0)), Some(price()), Cost::Exact(1));
    // Much input has another price, and what is read from a cache is input, too.
    check(reported(used(200_000, 0, 0, 0)), Some(price()), Cost::Exact(600_000));
    check(reported(used(200_000, 1, 0, 0)), Some(price()), Cost::Exact(1_200_001));
    check(estimated(used(1_000, 0, 0, 100)), Some(price()), Cost::About(4_500));
    // Refused before a model saw it.
    check(estimated(Usage::default()), Some(price()), Cost::Exact(0));
    check(estimated(Usage::default()), None, Cost::Exact(0));
    check(Settled::Unknown, Some(price()), Cost::Unknown);
    check(reported(used(1, 0, 0, 0)), None, Cost::Unknown);
    check(Settled::Unknown, Some(Price::local()), Cost::Exact(0));
    let dear = Rates { input: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX, output: u64::MAX };
    assert_eq!(dear.of(used(u64::MAX, u64::MAX, u64::MAX, u64::MAX)), MOST);
}

#[test]
fn what_a_request_adds_may_be_written_to_a_cache() {
    assert_eq!(price().of_input(1_000, 0), 3_750);
    assert_eq!(price().of_input(1_000, 10_000), 3_750 + 3_000);
}

#[test]
fn a_price_reads_back_as_it_was_written() {
    let there = |price: &Price| {
        let text = serde_json::to_string(price).expect("it serialises");
        (text.clone(), serde_json::from_str::<Price>(&text).expect("it reads back"))
    };
    for one in [price(), Price::local(), Price { from: PriceFrom::Person, ..price() }] {
        assert_eq!(there(&one).1, one);
    }
    insta::assert_snapshot!(there(&Price::local()).0, @r#"{"rates":{"input":0,"cache_read":0,"cache_write":0,"output":0},"from":"local"}"#);
}

fn tokens() -> impl Strategy<Value = Usage> {
    let some = || 0..2_000_000_u64;
    (some(), some(), some(), some()).prop_map(|(a, b, c, d)| used(a, b, c, d))
}

fn cost() -> impl Strategy<Value = Cost> {
    let settled = prop_oneof![
        tokens().prop_map(|tokens| Settled::Reported { tokens }),
        tokens().prop_map(|tokens| Settled::Estimated { tokens }),
        Just(Settled::Unknown),
    ];
    let known = prop_oneof![Just(Some(price())), Just(Some(Price::local())), Just(None)];
    (settled, known).prop_map(|(settled, price)| settled.cost(price.as_ref()))
}

fn sum(costs: &[Cost]) -> Spent {
    let mut spent = Spent::default();
    costs.iter().for_each(|cost| spent.add(*cost));
    spent
}

proptest! {
    /// Whatever order attempts end in and however they are grouped, all of them together are the sum of each.
    #[test]
    fn inv_i8_a_sum_is_the_sum_of_its_attempts(
        costs in proptest::collection::vec(cost(), 0..20),
        at in 0..20_usize,
        shift in 0..20_usize,
    ) {
        let at = at.min(costs.len());
        let mut turned = costs.clone();
        turned.rotate_left(shift.min(costs.len()));
        turned.reverse();
        let whole = sum(&costs);
        prop_assert_eq!(sum(&turned), whole);
        prop_assert_eq!(sum(&costs[..at]).and(sum(&costs[at..])), whole);
        let known: u64 = costs.iter().map(|cost| match cost {
            Cost::Exact(micros) | Cost::About(micros) => *micros,
            Cost::Unknown => 0,
        }).sum();
        let unknown = costs.iter().filter(|cost| **cost == Cost::Unknown).count() as u64;
        prop_assert_eq!((whole.micros, whole.unknown), (known, unknown));
    }

    /// More tokens never cost less, and nothing is lost by rounding.
    #[test]
    fn more_tokens_never_cost_less(one in tokens(), more in tokens()) {
        let price = Price { long: None, ..price() };
        let both = used(
            one.input + more.input,
            one.cache_read + more.cache_read,
            one.cache_write + more.cache_write,
            one.output + more.output,
        );
        let (apart, together) = (price.of(one) + price.of(more), price.of(both));
        prop_assert!(together <= apart && apart <= together + 1, "{together} together, {apart} apart");
        prop_assert!(together >= price.of(one));
    }
}
