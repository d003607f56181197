//! A call that was checked, and what is known of it before it runs.
//!
//! **Checked** is a call whose tool is visible and whose arguments fit the schema; it is frozen: private fields, one
//! canonical text, one digest. **Surveyed** adds the facts and the semantics, computed by us from the arguments and the
//! world. Invariant: what is shown, approved, run and logged is this one value.

use crate::tool::{Ctx, Tool};
use domain::call::{Facts, PlanItem, Question, Semantics, ToolError};
use domain::digest::Digest;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// A checked, frozen call. Cheap to clone.
#[derive(Clone)]
pub struct Checked {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) frozen: Arc<Frozen>,
}

pub(crate) struct Frozen {
    pub(crate) canonical: String,
    pub(crate) value: Value,
    pub(crate) digest: Digest,
    pub(crate) repairs: Vec<crate::parse::Repair>,
    pub(crate) interaction: Option<Interaction>,
}

/// What an interactive call asks of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interaction {
    /// Ask the person.
    Ask(Question),
    /// Replace the plan by these items.
    Plan(Vec<PlanItem>),
    /// Let this command go on in the background.
    Background {
        /// The command.
        command: String,
        /// Does its end wake the session?
        notify: bool,
    },
    /// Look at a job, wait for it, or stop it.
    Job(OfJob),
}

/// What is wanted of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfJob {
    /// The job, as the model names it.
    pub job: String,
    /// What.
    pub action: JobAction,
    /// How long to wait for its end, in milliseconds.
    pub wait_ms: u64,
}

/// What can be wanted of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobAction {
    /// Where it stands, and its newest output.
    Status,
    /// The same once it ended, or the time is over.
    Wait,
    /// Stop it.
    Cancel,
}

/// What a call would do: the engine's facts, never the model's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surveyed {
    /// What it would touch.
    pub facts: Facts,
    /// What recovery may do about it.
    pub semantics: Semantics,
}

impl Checked {
    /// The tool's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.tool.declared().name
    }

    /// The tool's version.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.tool.declared().version
    }

    /// What the tool declares.
    #[must_use]
    pub fn declared(&self) -> &crate::tool::Declared {
        self.tool.declared()
    }

    /// The arguments' canonical text.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.frozen.canonical
    }

    /// The arguments as a value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.frozen.value
    }

    /// The digest of the canonical text.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.frozen.digest
    }

    /// What had to be mended in the argument text; empty when nothing.
    #[must_use]
    pub fn repairs(&self) -> &[crate::parse::Repair] {
        &self.frozen.repairs
    }

    /// The typed request, for calls that the engine answers itself instead of running them.
    #[must_use]
    pub fn interaction(&self) -> Option<&Interaction> {
        self.frozen.interaction.as_ref()
    }

    /// Facts and semantics as of now. Reads the folder, so call it off the async threads.
    ///
    /// # Errors
    /// When the call can't work; the model reads why.
    pub fn survey(&self, ctx: &Ctx) -> Result<Surveyed, ToolError> {
        // An error may quote lines of a file.
        self.tool.survey(self, ctx).map_err(|error| crate::run::without_secrets(error, ctx))
    }

    /// The arguments as the tool's own type.
    pub(crate) fn typed<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        T::deserialize(&self.frozen.value)
            .map_err(|error| crate::tool::failed("arguments/invalid", error.to_string(), ""))
    }
}

impl std::fmt::Debug for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{} {}", self.name(), self.version(), self.frozen.canonical)
    }
}
