//! Limits of money: what may be sent, what stops it, and what goes on past it.
//!
//! The bench's requests have 7 tokens and report nothing unless they are said to; a dollar a token makes sums easy to see.

use super::*;
use crate::ports::Caps;
use domain::model::Usage;
use domain::money::{MILLION, Price, PriceFrom, Rates, Spent};
use store::SpentIn;

/// A dollar, in micro-dollars.
const DOLLAR: u64 = MILLION;

/// What the bench's model costs, and how much may be spent.
pub(super) struct Purse {
    pub(super) spending: Result<Spending, String>,
    price: Option<Price>,
}

impl Default for Purse {
    fn default() -> Self {
        Self { spending: Ok(Spending::default()), price: None }
    }
}

impl Purse {
    pub(super) fn price(&self, _: &ModelChoice) -> Option<Price> {
        self.price.clone()
    }
}

/// A dollar for each token of input and of output, and ten cents where it is read from a cache.
fn price() -> Price {
    let a_token = DOLLAR * MILLION;
    let rates = Rates { input: a_token, cache_read: a_token / 10, cache_write: a_token, output: a_token };
    Price { rates, long: None, from: PriceFrom::Person }
}

fn caps(session: Option<u64>, day: Option<u64>) -> Result<Spending, String> {
    let dollars = |n: u64| n * DOLLAR;
    let caps = Caps { session: session.map(dollars), day: day.map(dollars) };
    Ok(Spending { caps, today: SpentIn::default() })
}

/// A bench with these caps in dollars, at the point where its first request is built.
fn bench(price: Option<Price>, session: Option<u64>, day: Option<u64>) -> Bench {
    let mut bench = Bench::new();
    bench.known.2 = Purse { spending: caps(session, day), price };
    begin(&mut bench, "Go.");
    bench
}

fn begin(bench: &mut Bench, words: &str) {
    bench.say(words, Target::NextStep);
    bench.advance();
}

/// An answer with a call, which reports these tokens, and the call's end.
fn works(bench: &mut Bench, input: u64, cache_read: u64, output: u64) {
    let blocks = vec![Block::Call {
        provider_call_id: format!("p{}", bench.state.next_seq),
        name: "bad".into(),
        arguments: format!("{{\"n\":{}}}", bench.state.next_seq),
    }];
    let usage = Some(Usage { input, output, cache_read, cache_write: 0 });
    let outcome = Outcome { blocks, stop: StopReason::ToolCalls, usage, response_id: None, model: None };
    bench.take(Input::Answered { attempt: bench.attempt(), outcome, raw: None });
}

/// Which limit the last turn met, its value and what was spent, in dollars; `next` and the portion after it.
fn met(bench: &Bench) -> Option<(String, u64, u64, Option<u64>, u64)> {
    let met = bench.state.met.as_ref()?;
    let money = &met.money;
    let dollars = |micros: u64| micros / DOLLAR;
    Some((
        met.limit.clone(),
        dollars(met.value),
        dollars(money.spent.micros),
        money.next.map(dollars),
        dollars(money.portion),
    ))
}

const REFUSED: &str = "user/message step/end turn/end";
const SENT: &str = "user/message request/prepared attempt/start";

#[test]
fn what_would_pass_a_limit_is_not_sent() {
    #[track_caller]
    fn check(price: Option<Price>, session: Option<u64>, day: Option<u64>, expect: Option<&str>) {
        let mut bench = bench(price, session, day);
        assert_eq!(bench.prepare(), if expect.is_some() { REFUSED } else { SENT });
        assert_eq!(met(&bench).map(|(limit, ..)| limit).as_deref(), expect);
    }
    check(Some(price()), None, None, None);
    check(Some(price()), Some(7), None, None);
    check(Some(price()), Some(6), None, Some("spend_session"));
    check(Some(price()), None, Some(7), None);
    check(Some(price()), None, Some(6), Some("spend_day"));
    check(Some(price()), Some(6), Some(6), Some("spend_session"));
    // Nobody knows what it costs: asked about where there is a limit.
    check(None, None, None, None);
    check(None, Some(1_000), None, Some("price"));
    check(None, None, Some(1_000), Some("price"));
    check(Some(Price::local()), Some(0), Some(0), None);
}

#[test]
fn no_step_begins_once_a_limit_is_reached() {
    let mut bench = bench(Some(price()), Some(20), None);
    bench.prepare();
    works(&mut bench, 7, 0, 5);
    assert_eq!(bench.advance(), "step/end step/start", "12 of 20 are spent");
    // The next request's 7 would still fit.
    bench.prepare();
    works(&mut bench, 7, 0, 5);
    assert_eq!(bench.advance(), "step/end turn/end", "an answer's cost isn't known before");
    assert_eq!(met(&bench), Some(("spend_session".into(), 20, 24, None, 20)));
}

#[test]
fn what_a_service_reads_from_its_cache_is_reckoned_at_its_price() {
    let mut bench = bench(Some(price()), Some(12), None);
    bench.prepare();
    works(&mut bench, 4, 0, 0);
    bench.advance();
    // Nothing was read from a cache so far, so all 7 tokens count in full: 4 + 7 of 12.
    bench.prepare();
    works(&mut bench, 2, 10, 0);
    bench.advance();
    assert_eq!(bench.state.usage.spent.micros, 7 * DOLLAR);
    // All 7 are held since the request before: 70 cents.
    assert_eq!(bench.prepare(), "request/prepared attempt/start");
}

#[test]
fn a_request_that_failed_is_not_sent_again_past_a_limit() {
    let mut bench = bench(Some(price()), Some(7), None);
    bench.prepare();
    let usage = Some(Usage { input: 7, ..Usage::default() });
    let error = ModelError { usage, ..ModelError::new(ErrorClass::Overloaded, "busy") };
    bench.take(Input::SendFailed { attempt: bench.attempt(), error, raw: None });
    assert!(bench.wait_ms().is_some(), "it would be sent again");
    let step = bench.step_id();
    assert_eq!(bench.take(Input::BackoffOver { step }), "step/end turn/end");
    assert_eq!(met(&bench), Some(("spend_session".into(), 7, 7, None, 7)));
}

#[test]
fn one_click_goes_on_and_allows_what_was_shown_once() {
    let mut bench = bench(Some(price()), Some(5), None);
    bench.prepare();
    assert_eq!(met(&bench), Some(("spend_session".into(), 5, 0, Some(7), 5)));
    let on = |limit: u64, command: u128| Command::GoOn {
        past: Past::Session { limit: limit * DOLLAR },
        text: "Go on.".into(),
        command: Some(CommandId::from_bits(command)),
    };
    assert_eq!(bench.refuses(on(6, 1)), "spend/changed", "not what was shown");
    assert_eq!(bench.tell(on(5, 2)), "spend/raised inbox/posted");
    assert_eq!(bench.tell(on(5, 2)), "", "the same click");
    assert_eq!(bench.refuses(on(5, 3)), "spend/changed", "another click");
    assert_eq!(bench.state.raised, 5 * DOLLAR);
    bench.advance();
    assert_eq!(bench.prepare(), SENT, "7 of 10");
    works(&mut bench, 7, 0, 4);
    bench.advance();
    assert_eq!(met(&bench), Some(("spend_session".into(), 10, 11, None, 5)));
}

#[test]
fn as_many_portions_are_allowed_as_the_next_request_needs() {
    let mut bench = bench(Some(price()), Some(2), None);
    bench.prepare();
    assert_eq!(met(&bench), Some(("spend_session".into(), 2, 0, Some(7), 6)));
    let past = Past::Session { limit: 2 * DOLLAR };
    bench.tell(Command::GoOn { past, text: "Go on.".into(), command: None });
    bench.advance();
    assert_eq!(bench.prepare(), SENT);
}

#[test]
fn a_limit_that_changed_meanwhile_allows_nothing_more() {
    #[track_caller]
    fn check(to: Result<Spending, String>, expect: Result<&str, &str>) {
        let mut bench = bench(Some(price()), Some(5), None);
        bench.prepare();
        bench.known.2.spending = to;
        let on =
            Command::GoOn { past: Past::Session { limit: 5 * DOLLAR }, text: "Go on.".into(), command: None };
        match expect {
            Ok(kinds) => assert_eq!(bench.tell(on), kinds),
            Err(code) => assert_eq!(bench.refuses(on), code),
        }
    }
    check(caps(Some(5), None), Ok("spend/raised inbox/posted"));
    check(caps(Some(50), None), Ok("inbox/posted"));
    check(caps(None, None), Ok("inbox/posted"));
    check(caps(Some(4), None), Err("spend/changed"));
    check(Err("gone".into()), Err("spend/unreadable"));
}

#[test]
fn a_day_has_its_own_limit_and_another_day_needs_no_more() {
    let spent = |dollars: u64, raised: u64| SpentIn {
        spent: Spent { micros: dollars * DOLLAR, ..Spent::default() },
        raised: raised * DOLLAR,
    };
    let today = |spent| caps(None, Some(10)).map(|known| Spending { today: spent, ..known });
    let on =
        || Command::GoOn { past: Past::Day { limit: 10 * DOLLAR }, text: "Go on.".into(), command: None };
    let begun = || {
        let mut bench = bench(Some(price()), None, Some(10));
        bench.known.2.spending = today(spent(10, 0));
        bench.prepare();
        assert_eq!(met(&bench), Some(("spend_day".into(), 10, 10, Some(7), 10)));
        bench
    };
    let mut bench = begun();
    assert_eq!(bench.tell(on()), "spend/raised inbox/posted");
    assert_eq!(bench.state.raised, 0, "the session's own limit stays");
    bench.known.2.spending = today(spent(10, 10));
    bench.advance();
    assert_eq!(bench.prepare(), SENT, "17 of 20");
    // Clicked on the next morning.
    let mut bench = begun();
    bench.known.2.spending = today(spent(0, 0));
    assert_eq!(bench.tell(on()), "inbox/posted");
}

#[test]
fn a_model_whose_price_nobody_knows_is_asked_about_once() {
    let mut bench = bench(None, Some(5), None);
    bench.prepare();
    assert_eq!(met(&bench).map(|(limit, ..)| limit).as_deref(), Some("price"));
    let on = |model: &str| Command::GoOn {
        past: Past::Price(ModelChoice { provider: "scripted".into(), model: model.into() }),
        text: "Go on.".into(),
        command: None,
    };
    assert_eq!(bench.refuses(on("another")), "spend/changed");
    assert_eq!(bench.tell(on("script")), "spend/uncounted inbox/posted");
    bench.advance();
    assert_eq!(bench.prepare(), SENT);
    works(&mut bench, 7, 0, 4);
    bench.advance();
    assert_eq!(bench.prepare(), "request/prepared attempt/start");
    assert_eq!(bench.state.usage.spent, Spent { micros: 0, estimated: 0, unknown: 1 });
    works(&mut bench, 7, 0, 4);
    bench.tell(Command::SetModel(ModelChoice { provider: "scripted".into(), model: "another".into() }));
    bench.advance();
    assert_eq!(
        met(&bench).map(|(limit, ..)| limit).as_deref(),
        Some("price"),
        "another one is another question"
    );
}

#[test]
fn where_no_limit_can_be_read_nothing_is_spent() {
    let mut bench = bench(Some(price()), None, None);
    bench.known.2.spending = Err("gone".into());
    assert_eq!(bench.prepare(), REFUSED);
    assert_eq!(bench.state.last_failure.as_deref(), Some("spend/unreadable"));
}

/// Some services tell one token of output at the beginning of an answer: what came until it was cut off counts as well.
#[test]
fn r_mod_16_what_arrived_before_a_cut_counts_beside_what_was_reported() {
    let usage = Some(Usage { input: 7, output: 1, ..Usage::default() });
    let came = "word ".repeat(100);
    let spent = |ends: &dyn Fn(&mut Bench)| {
        let mut bench = bench(Some(price()), None, None);
        bench.prepare();
        ends(&mut bench);
        bench.state.usage.spent
    };
    let stopped = spent(&|bench| {
        bench.tell(Command::Stop(CancelBy::User));
        let (attempt, text) = (bench.attempt(), came.clone());
        bench.take(Input::SendStopped { attempt, text, usage });
    });
    let broken = spent(&|bench| {
        let error =
            ModelError { usage, partial_text: came.clone(), ..ModelError::new(ErrorClass::Cut, "cut") };
        let attempt = bench.attempt();
        bench.take(Input::SendFailed { attempt, error, raw: None });
    });
    for spent in [stopped, broken] {
        assert_eq!((spent.estimated, spent.unknown), (1, 0), "it is reckoned: {spent:?}");
        assert!(spent.micros > 50 * DOLLAR, "a hundred words are more than one token: {spent:?}");
    }
}
