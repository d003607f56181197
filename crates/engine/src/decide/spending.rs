//! Limits of money: whether a request may be sent, and going on past a limit.
//!
//! A request is sent while what was spent, with what its input is about to cost, stays within each **cap**; what its answer will
//! cost isn't known and not reckoned, so a cap is passed by one answer at most. Invariants: a model that costs nothing is never in
//! the way; one whose price nobody knows is asked about once in a session, where there is a cap at all; going on is bound to what
//! was shown.

use super::command::{CommandError, Taken, no, say};
use super::{Decision, Env};
use crate::ports::Caps;
use domain::event::{Draft, End, ModelChoice, MoneyMet, SpendLimit, SpendRaised, SpendUncounted, Target};
use domain::ids::CommandId;
use domain::model::ModelSnapshot;
use domain::money::{Price, Spent};
use domain::state::{MetLimit, State};
use store::SpentIn;

/// The limit of one session, as the end of a turn names it.
const SESSION: &str = "spend_session";
/// The limit of one day.
const DAY: &str = "spend_day";
/// A price that nobody knows.
const PRICE: &str = "price";
/// The code of what can't be done because no limit can be read.
const UNREADABLE: &str = "spend/unreadable";

/// What a decision about money may look up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// How much may be spent before the person is asked.
    pub caps: Caps,
    /// What all sessions together spent today; only told where there is a cap for it.
    pub today: SpentIn,
}

/// A limit that the person goes on past, as it was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Past {
    /// The session's.
    Session {
        /// Its value, in micro-dollars.
        limit: u64,
    },
    /// The day's.
    Day {
        /// Its value, in micro-dollars.
        limit: u64,
    },
    /// Nobody knows what this model costs.
    Price(ModelChoice),
}

/// Tokens of the input of a request that is about to be sent; none where it isn't built yet.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Next {
    added: u64,
    held: u64,
}

impl Next {
    /// A request of the conversation: where the provider reads from its cache, it holds what the request before held.
    pub(super) fn request(state: &State, tokens: u64, opens: bool) -> Self {
        let caches = !opens && state.usage.tokens.cache_read > 0;
        let held = state.prefix.as_ref().filter(|_| caches).map_or(0, |prefix| prefix.tokens.min(tokens));
        Self { added: tokens - held, held }
    }

    /// A request that has nothing to do with those before it.
    pub(super) fn apart(tokens: u64) -> Self {
        Self { added: tokens, held: 0 }
    }

    fn cost(self, price: Option<&Price>) -> u64 {
        price.map_or(0, |price| price.of_input(self.added, self.held))
    }
}

/// One cap, with what counts against it.
struct Cap {
    name: &'static str,
    /// What one click allows.
    portion: u64,
    /// What may be spent, with all that was allowed beyond the setting.
    limit: u64,
    spent: Spent,
}

impl Spending {
    fn session(&self, state: &State) -> Option<Cap> {
        let portion = self.caps.session?;
        let limit = portion.saturating_add(state.raised);
        Some(Cap { name: SESSION, portion, limit, spent: state.usage.spent })
    }

    fn day(&self) -> Option<Cap> {
        let portion = self.caps.day?;
        let limit = portion.saturating_add(self.today.raised);
        Some(Cap { name: DAY, portion, limit, spent: self.today.spent })
    }
}

/// The end of a turn that may not ask its model now; `None` when it may.
pub(super) fn in_the_way(state: &State, model: &ModelSnapshot, next: Next, env: &Env<'_>) -> Option<End> {
    let price = model.price.as_ref();
    // A connection that is gone asks nobody.
    if price.is_some_and(Price::is_free) || model.dialect.is_empty() {
        return None;
    }
    let spending = match env.knowledge.spending() {
        Ok(spending) => spending,
        Err(why) => return Some(End::failed(UNREADABLE, unreadable(&why))),
    };
    let model = ModelChoice { provider: model.provider.clone(), model: model.model.clone() };
    let caps: Vec<Cap> = [spending.session(state), spending.day()].into_iter().flatten().collect();
    let next = next.cost(price);
    let limit = |cap: &Cap, name: &str, value| {
        let (spent, next) = (cap.spent, Some(next).filter(|next| *next > 0));
        let money = MoneyMet { spent, next, portion: cap.portions(next.unwrap_or(0)), model: model.clone() };
        Some(End::Limit { limit: name.into(), value, money: Some(Box::new(money)) })
    };
    if price.is_none() && !state.uncounted.contains(&model) {
        return limit(caps.first()?, PRICE, 0);
    }
    let cap = caps.iter().find(|cap| cap.is_met(next))?;
    limit(cap, cap.name, cap.limit)
}

impl Cap {
    fn is_met(&self, next: u64) -> bool {
        self.spent.micros >= self.limit || self.beyond(next) > 0
    }

    /// By how much that would pass it.
    fn beyond(&self, next: u64) -> u64 {
        self.spent.micros.saturating_add(next).saturating_sub(self.limit)
    }

    /// As many portions as what comes next needs, and one at least.
    fn portions(&self, next: u64) -> u64 {
        let needed = self.beyond(next).div_ceil(self.portion.max(1)).max(1);
        self.portion.max(1).saturating_mul(needed)
    }
}

/// The person goes on past a limit: what is allowed and the words that go on with the work are one record.
pub(super) fn go_on(
    state: &State,
    past: &Past,
    text: String,
    command: Option<CommandId>,
    env: &Env<'_>,
) -> Taken {
    let (said, reply) = say(state, text, Target::NextStep, command, env)?;
    // A repeat allows nothing more.
    if said.drafts.is_empty() {
        return Ok((said, reply));
    }
    let Some(met) = state.met.as_ref().filter(|met| past.is(met)) else {
        return no(
            "spend/changed",
            "the limit that was shown isn't in the way any more; look at the session",
        );
    };
    let allowed = match past {
        Past::Price(model) => Some(Draft::new(SpendUncounted { model: model.clone() })),
        Past::Session { .. } => more(SpendLimit::Session, met, |spending| spending.session(state), env)?,
        Past::Day { .. } => more(SpendLimit::Day, met, |spending| spending.day(), env)?,
    };
    let drafts = allowed.into_iter().chain(said.drafts).collect();
    Ok((Decision::barrier(drafts), reply))
}

impl Past {
    /// Is it what the last turn ended at?
    fn is(&self, met: &MetLimit) -> bool {
        match self {
            Self::Session { limit } => met.limit == SESSION && met.value == *limit,
            Self::Day { limit } => met.limit == DAY && met.value == *limit,
            Self::Price(model) => met.limit == PRICE && met.money.model == *model,
        }
    }
}

/// The portion that was shown, where the limit is still what it was; none where it isn't in the way any more.
fn more(
    limit: SpendLimit,
    met: &MetLimit,
    cap: impl FnOnce(&Spending) -> Option<Cap>,
    env: &Env<'_>,
) -> Result<Option<Draft>, CommandError> {
    let spending = match env.knowledge.spending() {
        Ok(spending) => spending,
        Err(why) => return no(UNREADABLE, unreadable(&why)),
    };
    // The setting was taken away or is higher now, or another day began.
    let in_the_way = |cap: &Cap| cap.spent.micros >= met.money.spent.micros && cap.limit <= met.value;
    let Some(cap) = cap(&spending).filter(in_the_way) else { return Ok(None) };
    if cap.limit < met.value {
        return no(
            "spend/changed",
            "the limit is lower now than the one that was shown; look at the settings",
        );
    }
    Ok(Some(Draft::new(SpendRaised { limit, from: cap.limit, by: met.money.portion })))
}

fn unreadable(why: &str) -> String {
    format!("nobody can tell how much may be spent: {why}")
}
