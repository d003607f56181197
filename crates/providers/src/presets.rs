//! The table of providers people choose from: address, key, models to begin with.
//!
//! A *preset* is a starting point; every value can be changed in the settings. Suggested models are a short list for
//! the first run, the whole list comes from the provider itself. Invariant: names are stable, because they stand in
//! logs and in `DAYBOOK_KEY_<NAME>`, and the quirks of a dialect follow from them.

use secrecy::SecretString;

use crate::dialect::WIRES;
use crate::{Connection, ConnectionError, Proxy, anthropic, chat, responses};

/// A provider that is known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Stable name: `deepseek`.
    pub name: &'static str,
    /// As people know it.
    pub title: &'static str,
    /// The wire dialect it is spoken to in.
    pub dialect: &'static str,
    /// Where it is; local servers at their default port.
    pub base_url: &'static str,
    /// Does it answer only with a key?
    pub needs_key: bool,
    /// Does it run on this machine?
    pub local: bool,
    /// A few models to begin with, the best one first; empty where the list must be asked for.
    pub models: &'static [SuggestedModel],
}

/// A model worth suggesting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuggestedModel {
    /// The provider's name for it.
    pub name: &'static str,
    /// Input plus output tokens.
    pub context_tokens: u64,
    /// Output tokens to ask for.
    pub max_output_tokens: u64,
}

const fn model(name: &'static str, context_tokens: u64, max_output_tokens: u64) -> SuggestedModel {
    SuggestedModel { name, context_tokens, max_output_tokens }
}

const fn remote(
    name: &'static str,
    title: &'static str,
    dialect: &'static str,
    base_url: &'static str,
    models: &'static [SuggestedModel],
) -> Preset {
    Preset { name, title, dialect, base_url, needs_key: true, local: false, models }
}

const fn local(name: &'static str, title: &'static str, base_url: &'static str) -> Preset {
    Preset { name, title, dialect: chat::NAME, base_url, needs_key: false, local: true, models: &[] }
}

const PRESETS: [Preset; 11] = [
    remote(
        "anthropic",
        "Anthropic",
        anthropic::NAME,
        "https://api.anthropic.com",
        &[
            model("claude-sonnet-5-5", 1_000_000, 32_000),
            model("claude-opus-5-5", 1_000_000, 32_000),
            model("claude-haiku-4-5", 200_000, 32_000),
        ],
    ),
    remote(
        "openai",
        "OpenAI",
        responses::NAME,
        "https://api.openai.com/v1",
        &[model("gpt-5.2", 400_000, 32_000)],
    ),
    remote(
        "deepseek",
        "DeepSeek",
        chat::NAME,
        "https://api.deepseek.com",
        &[model("deepseek-v4-pro", 1_000_000, 32_000), model("deepseek-flash", 1_000_000, 32_000)],
    ),
    remote(
        "qwen",
        "Qwen",
        chat::NAME,
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        &[model("qwen3.7-max", 991_000, 32_000), model("qwen-plus", 131_072, 8_192)],
    ),
    remote("kimi", "Kimi", chat::NAME, "https://api.moonshot.cn/v1", &[model("kimi-k2.6", 262_144, 32_000)]),
    remote(
        "glm",
        "GLM",
        chat::NAME,
        "https://open.bigmodel.cn/api/paas/v4",
        &[model("glm-5.2", 1_000_000, 32_000), model("glm-5", 200_000, 32_000)],
    ),
    remote("openrouter", "OpenRouter", chat::NAME, "https://openrouter.ai/api/v1", &[]),
    local("ollama", "Ollama", "http://127.0.0.1:11434/v1"),
    local("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1"),
    local("llamacpp", "llama.cpp", "http://127.0.0.1:8080/v1"),
    local("vllm", "vLLM", "http://127.0.0.1:8000/v1"),
];

/// All presets, in the order they are shown.
#[must_use]
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

impl Preset {
    /// The preset of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// A connection to this provider at its own address or another.
    ///
    /// # Errors
    /// When `base_url` isn't a usable address.
    pub fn connect(
        &self,
        base_url: Option<&str>,
        key: Option<SecretString>,
        proxy: Proxy,
    ) -> Result<Connection, ConnectionError> {
        Connection::new(self.name, self.dialect, base_url.unwrap_or(self.base_url), key, proxy)
    }
}

/// The connection that a person names: a preset, at its own address or another, or a dialect with an address.
///
/// # Errors
/// When the name is neither, the dialect has no address, or the address can't be used.
pub fn connect(
    provider: &str,
    base_url: Option<&str>,
    key: Option<SecretString>,
    proxy: Proxy,
) -> Result<Connection, ConnectionError> {
    if let Some(preset) = Preset::of(provider) {
        return preset.connect(base_url, key, proxy);
    }
    if !WIRES.contains(&provider) {
        return Err(ConnectionError::UnknownProvider(provider.into()));
    }
    let base_url = base_url.ok_or_else(|| ConnectionError::NoAddress(provider.into()))?;
    Connection::new(provider, provider, base_url, key, proxy)
}

/// The environment variable that may hold a provider's key: `DAYBOOK_KEY_DEEPSEEK`.
#[must_use]
pub fn key_variable(provider: &str) -> String {
    let name: String =
        provider.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_uppercase() }).collect();
    format!("DAYBOOK_KEY_{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_presets_or_dialects_with_an_address() {
        let to = |provider: &str, base: Option<&str>| {
            connect(provider, base, None, Proxy::System).map(|c| (c.dialect, c.base_url.to_string()))
        };
        let chat = |url: &str| Ok((chat::NAME.to_owned(), url.to_owned()));
        assert_eq!(to("deepseek", None), chat("https://api.deepseek.com/"));
        assert_eq!(to("deepseek", Some("http://localhost:1")), chat("http://localhost:1/"));
        assert_eq!(to("openai-chat", Some("http://localhost:1")), chat("http://localhost:1/"));
        assert_eq!(to("openai-chat", None), Err(ConnectionError::NoAddress("openai-chat".into())));
        assert_eq!(to("nobody", Some("http://a.b")), Err(ConnectionError::UnknownProvider("nobody".into())));
        assert_eq!(key_variable("anthropic-messages"), "DAYBOOK_KEY_ANTHROPIC_MESSAGES");
    }
}
