//! The file format of a script.
//!
//! Invariant: a script is checked whole when it is read; unknown fields are errors that name themselves, so that a
//! mistyped script doesn't silently behave like another.

use std::path::{Path, PathBuf};

use domain::model::{ErrorClass, StopReason, Usage};
use serde::Deserialize;
use serde_json::Value;

/// A script: answers that are given in order.
///
/// ```json
/// {
///   "answers": [
///     { "say": [
///         { "reasoning": "The user wants a list." },
///         { "text": "I'll look at the folder first.", "pace_ms": 40 },
///         { "call": { "name": "list_files", "arguments": { "path": "." } } }
///       ],
///       "usage": { "input": 900, "output": 40 } },
///     { "error": { "class": "rate_limited", "message": "slow down", "retry_after_ms": 1000 } },
///     { "when": { "contains": "denied" }, "say": [ { "text": "Then I won't." } ] },
///     { "stream": { "dialect": "openai-chat", "body": "data: {…}\n\ndata: [DONE]\n\n", "chunk_bytes": 1 } }
///   ]
/// }
/// ```
///
/// Each request takes the first unused answer whose `when` fits; an answer without `when` always fits. A conversation
/// that a fresh process continues skips as many whole answers as its request already holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The answers in order; at least one.
    pub answers: Vec<Answer>,
}

/// One answer: exactly one of `say`, `error` and `stream`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// When it may be used.
    #[serde(default)]
    pub when: Option<When>,
    /// Is it kept for further requests instead of being used up?
    #[serde(default)]
    pub repeat: bool,
    /// Pieces in order; text pieces that follow each other are one text.
    #[serde(default)]
    pub say: Option<Vec<Piece>>,
    /// Why it stopped; by default `tool_calls` where something is called, else `stop`.
    #[serde(default)]
    pub stop: Option<StopReason>,
    /// Tokens to report.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// A failure in place of an answer. With `say` before it in the same answer the failure comes after those pieces.
    #[serde(default)]
    pub error: Option<Failure>,
    /// Bytes of a real dialect, read by the real reader.
    #[serde(default)]
    pub stream: Option<RawStream>,
}

/// A condition on the request. All given parts must hold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// A part of the newest message: the user's words or any of the results.
    #[serde(default)]
    pub contains: Option<String>,
    /// Does the newest message hold results?
    #[serde(default)]
    pub results: Option<bool>,
    /// How many answers the request's history holds.
    #[serde(default)]
    pub answers: Option<usize>,
    /// The model that is asked.
    #[serde(default)]
    pub model: Option<String>,
}

/// One piece: exactly one of `text`, `reasoning` and `call`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    /// Words for the user.
    #[serde(default)]
    pub text: Option<String>,
    /// Words of reasoning.
    #[serde(default)]
    pub reasoning: Option<String>,
    /// A tool call.
    #[serde(default)]
    pub call: Option<ScriptedCall>,
    /// Milliseconds to wait before the piece.
    #[serde(default)]
    pub wait_ms: u64,
    /// Milliseconds between two words of a text; 0 gives the text at once.
    #[serde(default)]
    pub pace_ms: u64,
}

/// A call a script makes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// Its id; by default `call_<answer>_<piece>`, counted from 1.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// An object, or a string that is sent as it is, however broken.
    #[serde(default)]
    pub arguments: Value,
}

/// A failure a script plays.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Its class: `rate_limited`, `overloaded`, `cut`, `auth`, …
    pub class: ErrorClass,
    /// What to say.
    #[serde(default)]
    pub message: Option<String>,
    /// What the provider asks to wait.
    #[serde(default)]
    pub retry_after_ms: Option<u64>,
    /// The window, for `context_overflow`.
    #[serde(default)]
    pub context_tokens: Option<u64>,
}

/// Bytes as a provider would send them, with status 200.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawStream {
    /// Whose reader reads them: `anthropic-messages` or `openai-chat`.
    pub dialect: String,
    /// The body.
    pub body: String,
    /// Bytes a chunk; 0 gives the body whole.
    #[serde(default)]
    pub chunk_bytes: usize,
}

/// A script can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file couldn't be read.
    #[error("couldn't read the script {path}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It isn't a script.
    #[error("the script isn't valid: {0}")]
    Parse(#[from] serde_json::Error),
    /// An answer says nothing, or more than one thing.
    #[error(
        "answer {0} of the script must have exactly one of say, error and stream (an error may follow a say)"
    )]
    Answer(usize),
    /// A piece says nothing, or more than one thing.
    #[error("piece {piece} of answer {answer} must have exactly one of text, reasoning and call")]
    Piece {
        /// Which answer, from 1.
        answer: usize,
        /// Which piece, from 1.
        piece: usize,
    },
    /// There are no answers.
    #[error("the script has no answers")]
    Empty,
}

impl Script {
    /// Reads a script's text.
    ///
    /// # Errors
    /// When it isn't JSON of this format or an answer is ambiguous.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let script: Self = serde_json::from_str(text)?;
        if script.answers.is_empty() {
            return Err(ScriptError::Empty);
        }
        for (at, answer) in script.answers.iter().enumerate() {
            answer.check(at + 1)?;
        }
        Ok(script)
    }

    /// Reads a script's file.
    ///
    /// # Errors
    /// As [`Script::parse`], or when the file can't be read.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Read { path: path.into(), source })?;
        Self::parse(&text)
    }
}

impl Answer {
    /// Would the engine keep this answer in the history?
    pub(super) fn is_whole(&self) -> bool {
        self.error.is_none() && matches!(self.stop, None | Some(StopReason::Stop | StopReason::ToolCalls))
    }

    fn check(&self, number: usize) -> Result<(), ScriptError> {
        let clear = match (&self.say, &self.error, &self.stream) {
            (Some(_), _, None) | (None, Some(_), None) => true,
            (None, None, Some(_)) => self.stop.is_none() && self.usage.is_none(),
            _ => false,
        };
        if !clear {
            return Err(ScriptError::Answer(number));
        }
        for (at, piece) in self.say.iter().flatten().enumerate() {
            let kinds = [piece.text.is_some(), piece.reasoning.is_some(), piece.call.is_some()];
            if kinds.iter().filter(|given| **given).count() != 1 {
                return Err(ScriptError::Piece { answer: number, piece: at + 1 });
            }
        }
        Ok(())
    }
}
