//! What models cost: a short table of families by name, of one day.
//!
//! A price here is a provider's published one in dollars, for its own address and nothing else: a gateway or another address may
//! ask for something else. Where it depends on the hour, the dearer stands here. A model that isn't in the table, or that is sold
//! in another currency, has no price until the person gives one. Invariant: nothing is guessed from a similar name.

use domain::money::{LongRates, Price, PriceFrom, Rates};

use crate::{Connection, Preset, scripted};

/// The day the table was made.
pub const DAY: &str = "2026-11-30";

/// A family of models and what a million tokens of it cost.
struct Family {
    provider: &'static str,
    name: &'static str,
    rates: Rates,
    long: Option<LongRates>,
}

/// Micro-dollars for a million tokens of input, of cached input, of input written to a cache, and of output.
const fn of(provider: &'static str, name: &'static str, rates: [u64; 4]) -> Family {
    Family { provider, name, rates: rates_of(rates), long: None }
}

/// The same where more input than this makes the whole request dearer.
const fn tiered(
    provider: &'static str,
    name: &'static str,
    rates: [u64; 4],
    above: u64,
    long: [u64; 4],
) -> Family {
    let long = Some(LongRates { above, rates: rates_of(long) });
    Family { provider, name, rates: rates_of(rates), long }
}

const fn rates_of([input, cache_read, cache_write, output]: [u64; 4]) -> Rates {
    Rates { input, cache_read, cache_write, output }
}

const ANTHROPIC: &str = "anthropic";
const OPENAI: &str = "openai";
const DEEPSEEK: &str = "deepseek";

/// Where OpenAI's newer models get dearer.
const MUCH: u64 = 272_000;

const OPUS: [u64; 4] = [5_000_000, 500_000, 6_250_000, 25_000_000];
const OPUS_OLD: [u64; 4] = [15_000_000, 1_500_000, 18_750_000, 75_000_000];
const SONNET: [u64; 4] = [3_000_000, 300_000, 3_750_000, 15_000_000];
const GPT_5: [u64; 4] = [1_250_000, 125_000, 1_250_000, 10_000_000];

const FAMILIES: &[Family] = &[
    of(ANTHROPIC, "claude-fable-5-1", [10_000_000, 250_000, 12_500_000, 50_000_000]),
    of(ANTHROPIC, "claude-fable-5", [10_000_000, 1_000_000, 12_500_000, 50_000_000]),
    of(ANTHROPIC, "claude-opus-5-5", [4_000_000, 200_000, 5_000_000, 20_000_000]),
    of(ANTHROPIC, "claude-opus-5", OPUS),
    of(ANTHROPIC, "claude-opus-4-8", OPUS),
    of(ANTHROPIC, "claude-opus-4-7", OPUS),
    of(ANTHROPIC, "claude-opus-4-6", OPUS),
    of(ANTHROPIC, "claude-opus-4-5", OPUS),
    of(ANTHROPIC, "claude-opus-4-1", OPUS_OLD),
    of(ANTHROPIC, "claude-opus-4", OPUS_OLD),
    of(ANTHROPIC, "claude-sonnet-5-5", [2_000_000, 100_000, 2_500_000, 10_000_000]),
    of(ANTHROPIC, "claude-sonnet-5", [2_000_000, 200_000, 2_500_000, 10_000_000]),
    of(ANTHROPIC, "claude-sonnet-4-6", SONNET),
    of(ANTHROPIC, "claude-sonnet-4-5", SONNET),
    of(ANTHROPIC, "claude-sonnet-4", SONNET),
    tiered(
        ANTHROPIC,
        "claude-haiku-5-5",
        [100_000, 10_000, 125_000, 500_000],
        100_000,
        [500_000, 50_000, 625_000, 2_500_000],
    ),
    of(ANTHROPIC, "claude-haiku-4-5", [1_000_000, 100_000, 1_250_000, 5_000_000]),
    tiered(
        OPENAI,
        "gpt-6-sol",
        [2_000_000, 200_000, 2_500_000, 10_000_000],
        MUCH,
        [4_000_000, 400_000, 5_000_000, 15_000_000],
    ),
    tiered(
        OPENAI,
        "gpt-6-luna",
        [100_000, 10_000, 125_000, 500_000],
        MUCH,
        [200_000, 20_000, 250_000, 750_000],
    ),
    tiered(
        OPENAI,
        "gpt-5.6-terra",
        [2_000_000, 200_000, 2_500_000, 12_000_000],
        MUCH,
        [4_000_000, 400_000, 5_000_000, 18_000_000],
    ),
    tiered(
        OPENAI,
        "gpt-5.6-luna",
        [200_000, 20_000, 250_000, 1_200_000],
        MUCH,
        [400_000, 40_000, 500_000, 1_800_000],
    ),
    of(OPENAI, "gpt-5.2", [1_750_000, 175_000, 1_750_000, 14_000_000]),
    of(OPENAI, "gpt-5.1", GPT_5),
    of(OPENAI, "gpt-5", GPT_5),
    of(OPENAI, "gpt-5-mini", [250_000, 25_000, 250_000, 2_000_000]),
    of(OPENAI, "gpt-5-nano", [50_000, 5_000, 50_000, 400_000]),
    of(OPENAI, "gpt-4.1", [2_000_000, 500_000, 2_000_000, 8_000_000]),
    of(OPENAI, "gpt-4.1-mini", [400_000, 100_000, 400_000, 1_600_000]),
    of(OPENAI, "gpt-4.1-nano", [100_000, 25_000, 100_000, 400_000]),
    of(OPENAI, "gpt-4o", [2_500_000, 1_250_000, 2_500_000, 10_000_000]),
    of(OPENAI, "gpt-4o-mini", [150_000, 75_000, 150_000, 600_000]),
    of(OPENAI, "o4-mini", [1_100_000, 275_000, 1_100_000, 4_400_000]),
    of(OPENAI, "o3", [2_000_000, 500_000, 2_000_000, 8_000_000]),
    // At their busy hours.
    of(DEEPSEEK, "deepseek-flash", [300_000, 6_000, 300_000, 1_200_000]),
    of(DEEPSEEK, "deepseek-v4-pro", [1_320_000, 44_000, 1_320_000, 3_960_000]),
];

/// What this model costs on this connection; `None` where nobody knows.
#[must_use]
pub fn price(connection: &Connection, model: &str) -> Option<Price> {
    if connection.dialect == scripted::NAME {
        return Some(Price::local());
    }
    let preset = Preset::of(&connection.provider)?;
    if preset.local {
        // Ollama also passes requests on to models of its own service, which its names tell.
        let elsewhere = model.ends_with("-cloud") || model.ends_with(":cloud");
        return (connection.is_loopback() && !elsewhere).then(Price::local);
    }
    if !connection.is_at(preset.base_url) {
        return None;
    }
    let family =
        FAMILIES.iter().find(|family| family.provider == preset.name && is_of(model, family.name))?;
    Some(Price { rates: family.rates, long: family.long, from: PriceFrom::Table(DAY.to_owned()) })
}

/// The family's own name, or that of one of its states: a date, or `latest`.
fn is_of(model: &str, family: &str) -> bool {
    let Some(rest) = model.strip_prefix(family) else { return false };
    let Some(state) = rest.strip_prefix('-') else { return rest.is_empty() };
    state == "latest" || is_date(state)
}

/// `20270101` or `2027-01-01`. Another version's number before one makes it another family.
fn is_date(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    matches!(shape.as_str(), "00000000" | "0000-00-00")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Proxy, anthropic, chat, presets, responses};

    /// What a million tokens of each kind cost, in dollars.
    #[track_caller]
    fn check(provider: &str, dialect: &str, address: Option<&str>, model: &str, expect: &str) {
        let address = address.or(Preset::of(provider).map(|preset| preset.base_url)).expect("an address");
        let connection = Connection::new(provider, dialect, address, None, Proxy::System).unwrap();
        let dollars = |micros: u64| micros as f64 / 1e6;
        let told = price(&connection, model).map(|Price { rates, from, .. }| match from {
            PriceFrom::Local => "nothing".to_owned(),
            PriceFrom::Person | PriceFrom::Table(_) => format!(
                "{} {} {} {}",
                dollars(rates.input),
                dollars(rates.cache_read),
                dollars(rates.cache_write),
                dollars(rates.output)
            ),
        });
        assert_eq!(told.unwrap_or_default(), expect, "{provider} {model}");
    }

    #[test]
    fn a_price_is_of_a_family_at_its_own_address() {
        let of = |provider, dialect, model, expect| check(provider, dialect, None, model, expect);
        of("anthropic", anthropic::NAME, "claude-sonnet-5-5", "2 0.1 2.5 10");
        of("anthropic", anthropic::NAME, "claude-opus-4-20250514", "15 1.5 18.75 75");
        of("anthropic", anthropic::NAME, "claude-opus-4-5-20251101", "5 0.5 6.25 25");
        of("anthropic", anthropic::NAME, "claude-opus-4-9", "");
        of("anthropic", anthropic::NAME, "claude-opus-4-9-20270101", "");
        of("openai", responses::NAME, "gpt-5-2025-08-07", "1.25 0.125 1.25 10");
        of("openai", responses::NAME, "gpt-5-mini", "0.25 0.025 0.25 2");
        of("openai", responses::NAME, "gpt-5-pro", "");
        of("openai", responses::NAME, "claude-sonnet-5-5", "");
        of("deepseek", chat::NAME, "deepseek-flash", "0.3 0.006 0.3 1.2");
        of("kimi", chat::NAME, "kimi-k2.6", "");
        of("ollama", chat::NAME, "qwen3:8b", "nothing");
        of("ollama", chat::NAME, "gpt-oss:120b-cloud", "");
        check("ollama", chat::NAME, Some("http://192.168.1.4:11434/v1"), "qwen3:8b", "");
        check("openai", responses::NAME, Some("http://127.0.0.1:4000/v1"), "gpt-5", "");
        check("own", chat::NAME, Some("http://127.0.0.1:4000/v1"), "gpt-5", "");
        check("own", scripted::NAME, Some("http://127.0.0.1"), "script", "nothing");
    }

    #[test]
    fn the_table_holds_each_family_once_and_output_is_never_the_cheaper() {
        for (at, family) in FAMILIES.iter().enumerate() {
            let same = |other: &&Family| other.provider == family.provider && is_of(family.name, other.name);
            assert_eq!(FAMILIES.iter().filter(same).count(), 1, "{} at {at}", family.name);
            for rates in [Some(family.rates), family.long.map(|long| long.rates)].into_iter().flatten() {
                assert!(
                    rates.cache_read < rates.input && rates.input <= rates.cache_write,
                    "{}",
                    family.name
                );
                assert!(rates.cache_write < rates.output, "{}", family.name);
            }
        }
        for preset in presets().iter().filter(|preset| ["anthropic", "openai"].contains(&preset.name)) {
            let connection = preset.connect(None, None, Proxy::System).unwrap();
            for known in preset.models {
                assert!(price(&connection, known.name).is_some(), "{} is suggested", known.name);
            }
        }
    }
}
