//! `job`: looking at a command in the background, waiting for it, stopping it.
//!
//! Here a call is only checked and turned into its typed request; the engine answers it, since only it knows its jobs.
//! Invariant: it touches nothing by itself, so it runs beside anything and is never asked about.

use super::object;
use super::talk::{not_run, talk};
use crate::call::{Checked, Interaction, JobAction, OfJob, Surveyed};
use crate::clear::Cleared;
use crate::tool::{Concurrency, Ctx, Declared, Raw, Tool, Trouble, View};
use domain::call::ToolError;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

/// How long a call waits that names no time.
const WAIT_MS: u64 = 60_000;

/// Looks at a job, waits for it, or stops it.
pub(crate) struct Job(Declared);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    id: String,
    action: JobAction,
    timeout_ms: Option<u64>,
}

impl Default for Job {
    fn default() -> Self {
        let properties = json!({
            "action": {"type": "string", "enum": ["status", "wait", "cancel"]},
            "id": {"type": "string"},
            "timeout_ms": {"type": "integer", "minimum": 1, "description": "To wait: default 60000, at most 600000."}
        });
        Self(Declared {
            name: "job",
            version: 1,
            description: "See, await or stop a background command.",
            schema: object(properties, &["action", "id"]),
            output: object(
                json!({"job": {"type": "string"}, "phase": {"type": "string"}}),
                &["job", "phase"],
            ),
            concurrency: Concurrency::Parallel,
            view: View::Terminal,
        })
    }
}

impl Tool for Job {
    fn declared(&self) -> &Declared {
        &self.0
    }

    fn survey(&self, call: &Checked, _: &Ctx) -> Result<Surveyed, ToolError> {
        Ok(talk(call))
    }

    fn interaction(&self, call: &Checked) -> Result<Option<Interaction>, ToolError> {
        let Args { id, action, timeout_ms } = call.typed()?;
        Ok(Some(Interaction::Job(OfJob { job: id, action, wait_ms: timeout_ms.unwrap_or(WAIT_MS) })))
    }

    fn run<'a>(&'a self, _: &'a Cleared, _: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        not_run()
    }
}
