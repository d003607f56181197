//! The neutral shape of what is said to a model and what it says back.
//!
//! Providers turn [`Head`] and [`Message`]s into their dialect's bytes and their streams into [`ModelDelta`]s, one
//! [`Outcome`] or one [`ModelError`]; nothing here names a vendor, and vendor JSON goes no further than the
//! `opaque` field of a reasoning block, which is carried back unchanged.

use crate::money::Price;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which model a step uses, frozen at the step's start (also the capability snapshot).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSnapshot {
    /// The connection's name as the user chose it: a preset such as `anthropic`, or an own one.
    pub provider: String,
    /// The wire dialect: `anthropic-messages`, `openai-chat`, `openai-responses` or `scripted`.
    pub dialect: String,
    /// The model's name for the provider.
    pub model: String,
    /// Input plus output tokens the model can take; `None` when not known.
    pub context_tokens: Option<u64>,
    /// Most output tokens asked for in one answer.
    pub max_output_tokens: u64,
    /// May one answer hold several calls?
    pub parallel_calls: bool,
    /// Does this model only write its calls as text (the whole message must then be the call)?
    pub calls_as_text: bool,
    /// What else it can do. Logs of an earlier version don't have it, which means: nothing of it.
    #[serde(default, skip_serializing_if = "Abilities::is_plain")]
    pub abilities: Abilities,
    /// How much it is asked to think; `None` leaves it to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// What it costs; `None` where nobody knows. Logs of an earlier version don't have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// What a model can do beside words and calls. What isn't known to work is off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abilities {
    /// Can it be shown pictures?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub images: bool,
    /// Does its provider itself hold an answer to a JSON Schema? Otherwise a tool that must be called does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub structured: bool,
    /// Does its provider take marks of where a cached beginning ends, where that isn't told by the dialect alone?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cache_marks: bool,
    /// How much it can be asked to think, least first; empty for a model that can't be asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<Effort>,
}

impl Abilities {
    /// The wished effort as far as the model can be asked for it: a lower one where it goes no higher.
    #[must_use]
    pub fn effort(&self, wished: Option<Effort>) -> Option<Effort> {
        let wished = wished?;
        self.efforts.iter().rev().find(|effort| **effort <= wished).or(self.efforts.first()).copied()
    }

    /// Nothing beside words and calls?
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// How much a model is asked to think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Little.
    Low,
    /// As its maker means it.
    Medium,
    /// Much.
    High,
    /// As much as it can.
    Max,
}

/// What a tool says of itself to the model, and nothing else of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Unique name, `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// What it does, what it is not for.
    pub description: String,
    /// JSON Schema of the arguments, an object schema.
    pub schema: Value,
}

/// The stable beginning of a request: instructions and tools. Equal heads give equal bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// The whole system text.
    pub system: String,
    /// Tools sorted by name.
    pub tools: Vec<ToolSpec>,
    /// The value the answer must be, where it isn't to be words.
    pub answer: Option<AnswerShape>,
}

/// A value that is asked for instead of words.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerShape {
    /// What it is, `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// JSON Schema of it, an object schema.
    pub schema: Value,
}

/// One entry of the history the model sees, three kinds only.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Words of the user, or a host note that stands with them (marked as such in its text).
    User(String),
    /// An accepted answer of the model.
    Assistant(Vec<Block>),
    /// Results of calls of the answer before, in the model's order.
    Results(Vec<CallResult>),
}

/// A result as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    /// The provider's own id of the call, echoed unchanged.
    pub provider_call_id: String,
    /// The name of the tool, as the model wrote it.
    pub name: String,
    /// The text shown to the model.
    pub text: String,
    /// Was it an error?
    pub is_error: bool,
}

/// A block of an assistant message, in the model's order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Block {
    /// Words for the user.
    Text {
        /// The words.
        text: String,
    },
    /// The model's reasoning, shown folded, and given back to the same dialect unchanged.
    Reasoning {
        /// Readable part, may be empty.
        text: String,
        /// The provider's own block, byte for byte where it is signed; `None` where it needn't go back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    /// A request to run a tool.
    Call {
        /// The provider's id, or one made by the adapter where it sent none.
        provider_call_id: String,
        /// The tool's name as written by the model; may be unknown to us.
        name: String,
        /// The argument text exactly as it arrived.
        arguments: String,
    },
}

/// Why a model stopped, normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It said all it wanted to.
    Stop,
    /// It wants calls to be run.
    ToolCalls,
    /// It met its output limit.
    Length,
    /// It refused.
    Refusal,
    /// The provider's filter cut it off.
    ContentFilter,
}

/// Tokens of one attempt as reported; what they cost is told by the price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Input tokens read from the provider's cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    #[serde(default)]
    pub cache_write: u64,
}

/// A piece of a streamed answer, for showing; the [`Outcome`] alone counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelDelta {
    /// More words.
    Text {
        /// The words.
        text: String,
    },
    /// More reasoning.
    Reasoning {
        /// The words.
        text: String,
    },
    /// More of a call's arguments.
    Arguments {
        /// Position of the call in the answer, from 0.
        index: u32,
        /// The tool's name, once, with the first piece.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// More argument text.
        text: String,
    },
}

impl ModelDelta {
    /// The piece's text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Text { text } | Self::Reasoning { text } | Self::Arguments { text, .. } => text,
        }
    }
}

/// A structurally whole answer. Whether it is accepted is the engine's decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Blocks in order; a text block is never empty.
    pub blocks: Vec<Block>,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost, where reported.
    pub usage: Option<Usage>,
    /// The provider's id of the answer.
    pub response_id: Option<String>,
    /// The model that really answered, where reported.
    pub model: Option<String>,
}

/// What kind of trouble a request met; recovery branches on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// Couldn't connect, or the connection broke before an answer began.
    Network,
    /// No bytes, or no content, for too long.
    Timeout,
    /// The stream ended or broke before the answer was whole.
    Cut,
    /// 429 or its like: slow down.
    RateLimited,
    /// 529, 503: busy or still loading.
    Overloaded,
    /// 500, 502, 504 and other server trouble.
    Server,
    /// The key is missing, wrong or not allowed.
    Auth,
    /// Out of credit.
    Billing,
    /// No such model or address.
    NotFound,
    /// The request doesn't fit the model's window.
    ContextOverflow,
    /// The request is too large in bytes.
    TooLarge,
    /// The provider calls the request wrong.
    BadRequest,
    /// The answer doesn't follow the protocol.
    Protocol,
}

impl ErrorClass {
    /// May the very same request be sent again?
    #[must_use]
    pub fn is_transient(self) -> bool {
        match self {
            Self::Network
            | Self::Timeout
            | Self::Cut
            | Self::RateLimited
            | Self::Overloaded
            | Self::Server => true,
            Self::Auth
            | Self::Billing
            | Self::NotFound
            | Self::ContextOverflow
            | Self::TooLarge
            | Self::BadRequest
            | Self::Protocol => false,
        }
    }
}

/// What is known of the answer that a failure came with; its fields stand beside the failure's own. Nobody answered:
/// nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The address that was asked, without its query, where it may be the wrong one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Is the message the provider's own words, not ours?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quoted: bool,
    /// What is wrong with the certificate that the server showed, where that was it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateProblem>,
}

/// Why the certificate of a server wasn't taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CertificateProblem {
    /// Nobody signed it whom this computer trusts.
    Untrusted,
    /// It holds no more.
    Expired,
    /// It doesn't hold yet.
    NotYet,
    /// It is another server's.
    Name,
    /// It was taken back.
    Revoked,
    /// It is an authority's, which may sign others but not speak for a server.
    Authority,
    /// Anything else.
    Other,
}

impl std::fmt::Display for Answered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.status, &self.address) {
            (Some(status), Some(address)) => write!(f, " (HTTP {status} from {address})"),
            (Some(status), None) => write!(f, " (HTTP {status})"),
            (None, _) => Ok(()),
        }
    }
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}{answered}")]
pub struct ModelError {
    /// What kind.
    pub class: ErrorClass,
    /// The provider's words (bounded, secrets removed) or ours: attempted what, on what, why not.
    pub message: String,
    /// What is known of the answer.
    #[serde(flatten)]
    pub answered: Answered,
    /// How long the provider asked us to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The window's size in tokens, where an overflow told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Usage known before it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Text that had arrived, kept for the record, never for the history.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub partial_text: String,
}

impl ModelError {
    /// One of which only the class and our words are known.
    #[must_use]
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            answered: Answered::default(),
            retry_after_ms: None,
            context_tokens: None,
            usage: None,
            partial_text: String::new(),
        }
    }
}
