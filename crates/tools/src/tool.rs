//! What a tool is, what it gets, and what it gives back.
//!
//! A **tool** declares its words for the model, says what one call would touch and how it can be recovered, and runs
//! cleared calls. [`Raw`] is its bare result; the pipeline limits, redacts and words it. Invariant: a tool decides
//! nothing about permission, time, truncation or redaction: those are in the pipeline, once for all.

use crate::added::AddedPlace;
use crate::blob::BlobSink;
use crate::call::{Checked, Interaction, Surveyed};
use crate::clear::Cleared;
use crate::launch::Launcher;
use crate::limits::Limits;
use crate::place::Place;
use crate::record::Record;
use domain::call::{Effect, ToolError};
use domain::digest::Digest;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Declares and runs one kind of call.
pub trait Tool: Send + Sync {
    /// What this tool says of itself.
    fn declared(&self) -> &Declared;

    /// What this call would touch and how it is recovered, from its arguments and the world as it is now. Changes
    /// nothing but blobs.
    ///
    /// # Errors
    /// When the call can't work: no such file, text not found, a path out of the folder.
    fn survey(&self, call: &Checked, ctx: &Ctx) -> Result<Surveyed, ToolError>;

    /// The typed request of an interactive call; such calls are answered by the engine and never run.
    ///
    /// # Errors
    /// When the arguments fit the schema but make no sense, e.g. two items in progress.
    fn interaction(&self, call: &Checked) -> Result<Option<Interaction>, ToolError> {
        let _ = call;
        Ok(None)
    }

    /// How long this call may take, in milliseconds.
    fn time_ms(&self, call: &Checked, limits: &Limits) -> u64 {
        let _ = call;
        limits.tool_ms
    }

    /// Does it. Must end soon after `ctx.cancel` fires, with [`Trouble::Stopped`] once nothing of it runs any more.
    fn run<'a>(&'a self, call: &'a Cleared, ctx: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>>;
}

/// What a tool says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// Unique, `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: &'static str,
    /// Counts up when the meaning of its arguments changes; approvals are bound to it.
    pub version: u32,
    /// For the model: what it does, what it isn't for.
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub schema: Value,
    /// JSON Schema of the structured result of a call that ended well.
    pub output: Value,
    /// May it run beside other calls that touch other things?
    pub concurrency: Concurrency,
    /// How a window shows its calls.
    pub view: View,
}

impl Declared {
    /// Is this a structured result that its tool declares?
    #[must_use]
    pub fn gives(&self, value: &Value) -> bool {
        jsonschema::is_valid(&self.output, value)
    }
}

/// May a call run beside others?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// Beside calls that touch other things.
    Parallel,
    /// Only alone.
    Exclusive,
}

/// How a window shows a call and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// As text.
    Plain,
    /// As a terminal: command, live output, exit code.
    Terminal,
    /// As a difference.
    Diff,
}

/// What a call gets to work with. Cheap to clone.
#[derive(Clone)]
pub struct Ctx {
    /// The folder, by handle.
    pub place: Arc<Place>,
    /// Other folders the person lets it look at.
    pub added: Arc<Vec<AddedPlace>>,
    /// Where big bytes go.
    pub blobs: Arc<dyn BlobSink>,
    /// The session's own record.
    pub record: Arc<dyn Record>,
    /// How commands are started.
    pub launcher: Arc<dyn Launcher>,
    /// Where deleted things go.
    pub bin: Bin,
    /// Private folder of the host for spools and things on their way to the trash; never inside the folder.
    pub private: PathBuf,
    /// What this session last read or wrote: path to digest of the whole file. A file that differs is stale.
    pub seen: Arc<BTreeMap<String, Digest>>,
    /// Registered secret values, never shown.
    pub secrets: Arc<crate::redact::Needles>,
    /// The bounds.
    pub limits: Arc<Limits>,
    /// Fires when the call shall stop.
    pub cancel: CancellationToken,
    /// Takes live output, throttled; called from any thread, must not block.
    pub output: Output,
}

/// Where live output goes.
#[derive(Clone, Default)]
pub enum Output {
    /// Nobody watches.
    #[default]
    None,
    /// This function takes each chunk: cleaned, redacted text.
    To(Arc<dyn Fn(&str) + Send + Sync>),
}

/// Where deleted things go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bin {
    /// Nowhere: content is kept in blobs.
    Blobs,
    /// A freedesktop trash folder, e.g. `~/.local/share/Trash`; made when missing.
    Folder(PathBuf),
    /// The trash of the system, through its own interface (macOS, Windows).
    System,
}

/// A tool's bare result.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Raw {
    /// The structured result.
    pub value: Value,
    /// The same in words for the model.
    pub text: String,
    /// What it changed.
    pub effects: Vec<Effect>,
    /// Blobs the result stands on, e.g. the whole output.
    pub blobs: Vec<Digest>,
    /// Whole-file digests it read or left behind, by path.
    pub seen: BTreeMap<String, Digest>,
    /// Files with secrets whose content it printed, as far as that can be told.
    pub secrets: Vec<String>,
}

/// Why a run gave no plain result.
#[derive(Debug, Clone, PartialEq)]
pub enum Trouble {
    /// The tool's own failure: the model can act on it. What it changed before is in `effects`.
    Failed {
        /// What went wrong.
        error: ToolError,
        /// What there is besides.
        raw: Raw,
    },
    /// Our own failure (storage, a broken process), kept apart from the tool's.
    Fault(ToolError),
    /// It stopped because it was told to, and nothing of it runs any more.
    Stopped(Raw),
    /// It was told to stop, and whether it did isn't known.
    Unconfirmed(Raw),
}

impl From<ToolError> for Trouble {
    fn from(error: ToolError) -> Self {
        Self::Failed { error, raw: Raw::default() }
    }
}

/// A tool error in one line.
pub(crate) fn failed(code: &str, message: impl Into<String>, suggestion: &str) -> ToolError {
    ToolError {
        code: code.to_owned(),
        message: message.into(),
        suggestion: (!suggestion.is_empty()).then(|| suggestion.to_owned()),
    }
}

/// An IO error without paths: the system's words for its kind.
pub(crate) fn bare(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => std::io::Error::from_raw_os_error(number).to_string(),
        None => error.kind().to_string(),
    }
}

/// A fault of ours: storage, a broken process.
pub(crate) fn fault(doing: &str, error: &std::io::Error) -> Trouble {
    Trouble::Fault(failed("runtime/io", format!("{doing} failed: {}", bare(error)), ""))
}
