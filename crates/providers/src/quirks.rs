//! *Quirks*: what one provider does differently inside a dialect, as data.
//!
//! The encoder and the folds ask these fields and never look at a model's name. Invariant: quirks follow from the
//! provider's name alone ([`Quirks::of`]), which a step's frozen snapshot holds, so bytes can be made again later.

/// How the answer's length limit is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitField {
    /// `max_tokens`, understood nearly everywhere.
    MaxTokens,
    /// `max_completion_tokens`, the only one OpenAI's reasoning models take.
    MaxCompletionTokens,
}

/// What of its reasoning a provider wants back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningEcho {
    /// Nothing; it may even refuse the field.
    Never,
    /// `reasoning_content` as it came.
    Content,
    /// `reasoning_content` as it came, and an empty one on calls that came without (DeepSeek answers 400 otherwise).
    ContentOnEveryCall,
    /// `reasoning` text and the `reasoning_details` blocks (OpenRouter).
    Details,
}

/// One provider's deviations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// Name of the output limit.
    pub limit: LimitField,
    /// Does it take `stream_options: {include_usage: true}`?
    pub stream_options: bool,
    /// What reasoning goes back.
    pub reasoning: ReasoningEcho,
    /// Does it know `parallel_tool_calls`? It is only sent to forbid several calls.
    pub parallel_tool_calls: bool,
    /// Does it take a `prompt_cache_key`, which leads requests with one beginning to one machine?
    pub cache_key: bool,
    /// Does it hold an answer to a JSON Schema (`response_format`)?
    pub schema: bool,
    /// Does it refuse a call of the current turn that comes back without the signature it gave, or a stand-in for one?
    pub signed_calls: bool,
}

impl Quirks {
    /// What is safest with a server nobody told us about.
    pub const PLAIN: Self = Self {
        limit: LimitField::MaxTokens,
        stream_options: true,
        reasoning: ReasoningEcho::Never,
        parallel_tool_calls: false,
        cache_key: false,
        schema: false,
        signed_calls: false,
    };

    const OPENAI: Self = Self {
        limit: LimitField::MaxCompletionTokens,
        parallel_tool_calls: true,
        cache_key: true,
        schema: true,
        ..Self::PLAIN
    };
    const DEEPSEEK: Self = Self { reasoning: ReasoningEcho::ContentOnEveryCall, ..Self::PLAIN };
    const CONTENT: Self = Self { reasoning: ReasoningEcho::Content, ..Self::PLAIN };
    const OPENROUTER: Self =
        Self { reasoning: ReasoningEcho::Details, parallel_tool_calls: true, ..Self::PLAIN };
    const LLAMACPP: Self = Self { parallel_tool_calls: true, schema: true, ..Self::PLAIN };
    const GEMINI: Self = Self { signed_calls: true, ..Self::PLAIN };
    const LOCAL: Self = Self { schema: true, ..Self::PLAIN };

    /// The quirks of a provider by its name: a preset's, or an own one that begins with a preset's, such as
    /// `deepseek-work`. Any other is [`Quirks::PLAIN`].
    #[must_use]
    pub fn of(provider: &str) -> Self {
        if crate::dialect::WIRES.contains(&provider) {
            return Self::PLAIN;
        }
        match provider.split('-').next().unwrap_or_default() {
            "openai" => Self::OPENAI,
            "deepseek" => Self::DEEPSEEK,
            "kimi" | "glm" => Self::CONTENT,
            "openrouter" => Self::OPENROUTER,
            "llamacpp" | "vllm" => Self::LLAMACPP,
            "gemini" => Self::GEMINI,
            "ollama" | "lmstudio" => Self::LOCAL,
            _ => Self::PLAIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_mod_19_quirks_follow_from_the_providers_name() {
        for (given, expect) in [
            ("openai", Quirks::OPENAI),
            ("openai-chat", Quirks::PLAIN),
            ("openai-responses", Quirks::PLAIN),
            ("deepseek", Quirks::DEEPSEEK),
            ("deepseek-work", Quirks::DEEPSEEK),
            ("openrouter", Quirks::OPENROUTER),
            ("ollama", Quirks::LOCAL),
            ("gemini-work", Quirks::GEMINI),
            ("deepseeker", Quirks::PLAIN),
            ("", Quirks::PLAIN),
        ] {
            assert_eq!(Quirks::of(given), expect, "{given}");
        }
    }
}
