//! Settings of the app, as one text in the store.
//!
//! Invariants: words outside their closed sets are refused when saved and replaced by the usual ones when read; settings
//! that can't be understood are kept as they are and hold nothing up but themselves: no reader takes the usual ones for
//! them, and nothing is written over them, since limits of money may be among them.

use api::error;
use api::wire::ApiError;
use api::wire::command::Mode;
use api::wire::spend::{ModelPrice, SpendLimits};
use api::wire::store::Settings;
use domain::money::{Price, PriceFrom, Rates};
use engine::Caps;
use store::{Edit, StoreHandle};

const NAME: &str = "settings";

/// What holds until something is set.
#[must_use]
pub fn usual() -> Settings {
    Settings {
        language: "system".to_owned(),
        theme: "system".to_owned(),
        text_size: "normal".to_owned(),
        mode: Mode::Ask,
        model: None,
        instead: Vec::new(),
        spend: SpendLimits::default(),
        prices: Vec::new(),
        close: "hide".to_owned(),
    }
}

pub(crate) fn read(store: &StoreHandle) -> Result<Settings, ApiError> {
    let text = store.setting(NAME).map_err(|read| api::of_read(&read))?;
    text.map_or_else(|| Ok(usual()), |text| understood(&text))
}

/// Settings from the kept text. A word that means nothing is the usual one.
fn understood(text: &str) -> Result<Settings, ApiError> {
    let mut settings: Settings = serde_json::from_str(text).map_err(|bad| {
        error(
            "settings/unreadable",
            format!("the settings can't be understood: {bad}"),
            "They are kept as they are. A newer Daybook may have written them: use that one.",
        )
    })?;
    let usual = usual();
    while let Some((name, _)) = unknown(&settings) {
        match name {
            "language" => settings.language.clone_from(&usual.language),
            "theme" => settings.theme.clone_from(&usual.theme),
            "text_size" => settings.text_size.clone_from(&usual.text_size),
            _ => settings.close.clone_from(&usual.close),
        }
    }
    Ok(settings)
}

/// Keeps new ones over those that can be understood.
pub(crate) fn save(store: &StoreHandle, settings: &Settings) -> Result<(), ApiError> {
    if let Some((name, word)) = unknown(settings) {
        return Err(error(
            "settings/unknown",
            format!("`{word}` is no choice for {name}"),
            "Choose one of those offered.",
        ));
    }
    if let Some(why) = unfit(settings) {
        return Err(error("settings/money", why, "Correct the amount."));
    }
    read(store)?;
    let value = serde_json::to_string(settings).map_err(|bad| error("internal", bad.to_string(), ""))?;
    set(store, NAME, value)
}

pub(crate) fn set(store: &StoreHandle, name: &str, value: String) -> Result<(), ApiError> {
    store.edit(Edit::Set { name: name.to_owned(), value }).map_err(|failed| unsaved(&failed))
}

pub(crate) fn unsaved(failed: &store::AppendError) -> ApiError {
    error(
        "store/read_only",
        format!("it couldn't be saved: {failed}"),
        "Look at the disk and the data folder.",
    )
}

/// How much may be spent before the person is asked. What is kept and can't be understood is no leave to spend.
pub(crate) fn caps(store: &StoreHandle) -> Result<Caps, String> {
    let SpendLimits { session, day } = read(store).map_err(|error| error.message)?.spend;
    Ok(Caps { session, day })
}

/// What the person says that a model costs. Where that can't be understood nothing is spent: see [`caps`].
pub(crate) fn price(store: &StoreHandle, provider: &str, model: &str) -> Option<Price> {
    let settings = read(store).ok()?;
    let known = settings.prices.iter().find(|one| one.provider == provider && one.model == model)?;
    let ModelPrice { input, cached, output, .. } = *known;
    let rates = Rates { input, cache_read: cached, cache_write: input, output };
    Some(Price { rates, long: None, from: PriceFrom::Person })
}

/// Limits that can be set, in micro-dollars: from a cent to more than a slip of the hand should cost.
const LIMITS: std::ops::RangeInclusive<u64> = 10_000..=1_000_000_000_000;
/// Most that a million tokens may be said to cost.
const DEAREST: u64 = 100_000_000_000;
/// Most models with a price of the person's.
const MOST_PRICES: usize = 200;

/// What is wrong with the amounts of money.
fn unfit(settings: &Settings) -> Option<String> {
    let SpendLimits { session, day } = settings.spend;
    let limits = [session, day].into_iter().flatten();
    if limits.into_iter().any(|limit| !LIMITS.contains(&limit)) {
        return Some("a limit is from 1 cent to 1,000,000 dollars".to_owned());
    }
    if settings.prices.len() > MOST_PRICES {
        return Some(format!("{MOST_PRICES} models can have a price"));
    }
    let dear = settings.prices.iter().find(|one| one.input.max(one.cached).max(one.output) > DEAREST);
    if let Some(one) = dear {
        return Some(format!("a million tokens of {} can't cost so much", one.model));
    }
    let name = |one: &ModelPrice| (one.provider.clone(), one.model.clone());
    let names: std::collections::BTreeSet<_> = settings.prices.iter().map(name).collect();
    (names.len() < settings.prices.len()).then(|| "a model has one price".to_owned())
}

/// The first word outside its set.
fn unknown(settings: &Settings) -> Option<(&'static str, String)> {
    let sets: [(&'static str, &String, &[&str]); 4] = [
        ("language", &settings.language, &["system", "en", "zh-CN"]),
        ("theme", &settings.theme, &["system", "light", "dark"]),
        ("text_size", &settings.text_size, &["small", "normal", "large"]),
        ("close", &settings.close, &["hide", "quit"]),
    ];
    let bad = sets.into_iter().find(|(_, word, set)| !set.contains(&word.as_str()));
    bad.map(|(name, word, _)| (name, word.chars().take(40).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_outside_their_set_are_named() {
        assert_eq!(unknown(&usual()), None);
        let odd = Settings { theme: "<script>".to_owned(), ..usual() };
        assert_eq!(unknown(&odd), Some(("theme", "<script>".to_owned())));
    }

    #[test]
    fn a_word_that_means_nothing_costs_no_other_setting() {
        let spend = SpendLimits { session: Some(50_000), day: None };
        let odd = Settings { theme: "sepia".to_owned(), close: "?".to_owned(), spend, ..usual() };
        let text = serde_json::to_string(&odd).expect("JSON");
        let read = understood(&text).expect("understood");
        assert_eq!(read, Settings { spend, ..usual() });
    }

    #[test]
    fn amounts_of_money_are_bounded_and_a_model_has_one_price() {
        #[track_caller]
        fn check(change: impl FnOnce(&mut Settings), fits: bool) {
            let mut settings = usual();
            change(&mut settings);
            assert_eq!(unfit(&settings).is_none(), fits, "{settings:?}");
        }
        let price = |model: &str, output| {
            let (provider, model) = ("own".to_owned(), model.to_owned());
            ModelPrice { provider, model, input: 0, cached: 0, output }
        };
        check(|_| (), true);
        check(|s| s.spend = SpendLimits { session: Some(10_000), day: Some(1_000_000_000_000) }, true);
        check(|s| s.spend.session = Some(0), false);
        check(|s| s.spend.day = Some(1_000_000_000_001), false);
        check(|s| s.prices = vec![price("a", DEAREST), price("b", 0)], true);
        check(|s| s.prices = vec![price("a", DEAREST + 1)], false);
        check(|s| s.prices = vec![price("a", 1), price("a", 2)], false);
    }
}
