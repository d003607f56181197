//! What a model can do: the *capability snapshot* that a step freezes.
//!
//! It is put together from what the person said of the service, what the service lists, the preset, and a short table of
//! families by name. This is the one place that looks at a model's name: everything behind it asks the snapshot.
//! Invariant: what isn't known to work is off, so an unknown model is asked for words and calls and nothing else.

use domain::model::{Abilities, Effort, ModelSnapshot};

use crate::quirks::Quirks;
use crate::{Connection, Preset, anthropic, chat, prices, responses};

/// Output tokens asked for from a model nobody told us about.
pub const DEFAULT_MAX_OUTPUT_TOKENS: u64 = 8192;

/// The capabilities of a model on a connection, to be frozen in a step. A window that is told (`context_tokens`) wins over
/// the preset's suggestion; the output asked for is never more than a quarter of a known window, since some servers refuse
/// a request whose input and output don't fit together.
#[must_use]
pub fn capabilities(connection: &Connection, model: &str, context_tokens: Option<u64>) -> ModelSnapshot {
    let preset = Preset::of(&connection.provider);
    let known = preset.and_then(|preset| preset.models.iter().find(|known| known.name == model));
    let window = context_tokens.or_else(|| known.map(|known| known.context_tokens));
    let output = known.map_or(DEFAULT_MAX_OUTPUT_TOKENS, |known| known.max_output_tokens);
    ModelSnapshot {
        provider: connection.provider.clone(),
        dialect: connection.dialect.clone(),
        model: model.into(),
        context_tokens: window,
        max_output_tokens: window.map_or(output, |window| output.min((window / 4).max(1))),
        parallel_calls: true,
        calls_as_text: false,
        abilities: abilities(connection, model),
        effort: None,
        price: prices::price(connection, model),
    }
}

fn abilities(connection: &Connection, model: &str) -> Abilities {
    match connection.dialect.as_str() {
        anthropic::NAME => claude(model),
        responses::NAME => gpt(model, connection.provider == "openai"),
        chat::NAME => {
            Abilities { structured: Quirks::of(&connection.provider).schema, ..Abilities::default() }
        }
        _ => Abilities::default(),
    }
}

/// Claude since version 4; what stands between `claude` and the version is the size.
fn claude(model: &str) -> Abilities {
    let mut parts = model.strip_prefix("claude-").unwrap_or_default().split('-');
    let (Some(size @ ("opus" | "sonnet" | "haiku")), Some(Ok(major))) =
        (parts.next(), parts.next().map(str::parse::<u32>))
    else {
        return Abilities::default();
    };
    let minor = parts.next().and_then(|n| n.parse::<u32>().ok()).filter(|n| *n < 100).unwrap_or(0);
    let version = (major, minor);
    let efforts = match size {
        "opus" | "sonnet" if version >= (4, 6) => {
            vec![Effort::Low, Effort::Medium, Effort::High, Effort::Max]
        }
        _ => Vec::new(),
    };
    Abilities { images: true, structured: version >= (4, 5), cache_marks: false, efforts }
}

/// The families that reason: `gpt-5` and later, `o1` and later. A chat variant doesn't.
fn gpt(model: &str, at_openai: bool) -> Abilities {
    let version = |text: &str| {
        let number = text.split('-').next().unwrap_or_default();
        let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    };
    let o_series = model.strip_prefix('o').is_some_and(|rest| version(rest).is_some());
    let family = model.strip_prefix("gpt-").and_then(version).filter(|_| !model.contains("-chat"));
    let efforts = match family {
        Some(version) if version >= (5, 2) => {
            vec![Effort::Low, Effort::Medium, Effort::High, Effort::Max]
        }
        Some(version) if version >= (5, 0) => vec![Effort::Low, Effort::Medium, Effort::High],
        _ if o_series => vec![Effort::Low, Effort::Medium, Effort::High],
        _ => Vec::new(),
    };
    let known = family.is_some() || o_series;
    let cache_marks = at_openai && family.is_some_and(|version| version >= (5, 6));
    Abilities { images: known, structured: known, cache_marks, efforts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Proxy, presets};

    #[test]
    fn r_mod_19_every_preset_gives_a_connection_and_capabilities() {
        for preset in presets() {
            let connection = preset.connect(None, None, Proxy::System).unwrap();
            assert_eq!(connection.is_loopback(), preset.local, "{}", preset.name);
            assert_eq!(Preset::of(preset.name), Some(preset));
            for known in preset.models {
                let snapshot = capabilities(&connection, known.name, None);
                assert_eq!(snapshot.context_tokens, Some(known.context_tokens));
                assert_eq!(snapshot.max_output_tokens, known.max_output_tokens, "{}", known.name);
            }
            let given = |window| {
                let snapshot = capabilities(&connection, "somebody-else", window);
                (snapshot.context_tokens, snapshot.max_output_tokens)
            };
            assert_eq!(given(None), (None, DEFAULT_MAX_OUTPUT_TOKENS));
            assert_eq!(given(Some(4096)), (Some(4096), 1024));
            assert_eq!(given(Some(1_000_000)), (Some(1_000_000), DEFAULT_MAX_OUTPUT_TOKENS));
        }
        assert_eq!(Preset::of("nobody"), None);
    }

    /// What a model of a provider can do, in a few words.
    #[track_caller]
    fn check(provider: &str, dialect: &str, model: &str, expect: &str) {
        let connection = Connection::new(provider, dialect, "https://a.b", None, Proxy::System).unwrap();
        let able = capabilities(&connection, model, None).abilities;
        let on = [(able.images, "images"), (able.structured, "schema"), (able.cache_marks, "marks")];
        let mut told: Vec<String> =
            on.iter().filter(|(on, _)| *on).map(|(_, word)| (*word).to_owned()).collect();
        told.extend(able.efforts.iter().map(|effort| format!("{effort:?}").to_lowercase()));
        assert_eq!(told.join(" "), expect, "{provider} {model}");
    }

    #[test]
    fn r_mod_19_what_is_not_known_to_work_is_off() {
        check("openai", responses::NAME, "gpt-5.2", "images schema low medium high max");
        check("openai", responses::NAME, "gpt-5-mini", "images schema low medium high");
        check("openai", responses::NAME, "gpt-5.6-sol", "images schema marks low medium high max");
        check("own", responses::NAME, "gpt-5.6-sol", "images schema low medium high max");
        check("openai", responses::NAME, "gpt-5-chat-latest", "");
        check("openai", responses::NAME, "gpt-4.1", "images schema");
        check("openai", responses::NAME, "o4-mini", "images schema low medium high");
        check("own", responses::NAME, "qwen-coder", "");
        check("own", responses::NAME, "omni", "");
        check("anthropic", anthropic::NAME, "claude-sonnet-5-5", "images schema low medium high max");
        check("anthropic", anthropic::NAME, "claude-haiku-4-5", "images schema");
        check("anthropic", anthropic::NAME, "claude-opus-4-20250514", "images");
        check("anthropic", anthropic::NAME, "claude-3-5-haiku-latest", "");
        check("own", anthropic::NAME, "glm-5", "");
        check("llamacpp", chat::NAME, "gpt-5.2", "schema");
        check("deepseek", chat::NAME, "deepseek-flash", "");
    }
}
