//! The built-in tools, one file each.
//!
//! What a model reads of them is short on purpose: all schemas and the system text together stay under 2,500 tokens.
//! Invariant: each declares its arguments once as a schema and once as a struct that refuses unknown fields, side by
//! side in its file, and a test holds the two together.

use crate::added::Spot;
use crate::call::Surveyed;
use crate::tool::{Ctx, Raw, Tool, Trouble, failed};
use domain::call::{Act, Facts, Semantics, Undo};
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

mod delete_path;
pub(crate) mod depends;
mod edit_file;
mod job;
mod list_files;
mod read_file;
mod run_command;
mod search_files;
mod talk;
mod write_file;

mod change;
mod near;
mod sight;
mod splice;
mod trash;

pub use change::{Settled, asked_about, reconcile};

/// All of them.
pub(crate) fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(list_files::ListFiles::default()),
        Arc::new(read_file::ReadFile::default()),
        Arc::new(search_files::SearchFiles::default()),
        Arc::new(write_file::WriteFile::default()),
        Arc::new(edit_file::EditFile::default()),
        Arc::new(delete_path::DeletePath::default()),
        Arc::new(run_command::RunCommand::default()),
        Arc::new(job::Job::default()),
        Arc::new(talk::AskUser::default()),
        Arc::new(talk::UpdatePlan::default()),
    ]
}

/// An object schema in which exactly these fields are known.
fn object(properties: Value, required: &[&str]) -> Value {
    serde_json::json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false
    })
}

/// The result of a call that changes one file; `found_done` where a look after a crash showed that it had.
fn changed() -> Value {
    let lines = object(
        serde_json::json!({"added": {"type": "integer"}, "removed": {"type": "integer"}}),
        &["added", "removed"],
    );
    object(
        serde_json::json!({
            "path": {"type": "string"}, "created": {"type": "boolean"}, "changed": {"type": "boolean"},
            "lines": {"anyOf": [lines, {"type": "null"}]}, "bytes": {"type": "integer"}, "found_done": {"const": true}
        }),
        &["path"],
    )
}

/// Facts of a call that only reads a path; `also` is another name of the file that says it holds secrets. What is read goes
/// to the model's service: of what may hold passwords or keys that is a harm that lasts.
fn reads(spot: &Spot, exact: String, also: Option<String>) -> Surveyed {
    let names: Vec<String> = spot.names().into_iter().chain(also).collect();
    let secret = names.iter().any(|name| crate::path::is_secret(name));
    let outside = spot.added().is_none().then_some("outside_folder");
    Surveyed {
        facts: Facts {
            act: Act::Read,
            can_touch: names,
            cannot_touch: outside.into_iter().chain(["network", "writing"]).map(str::to_owned).collect(),
            added: spot.added().map(str::to_owned).into_iter().collect(),
            reach: Vec::new(),
            undo: if secret { Undo::No } else { Undo::Yes },
            risk: if secret { 3 } else { 1 },
            exact,
            words: BTreeMap::from([("path".to_owned(), spot.said())]),
            depends_on: BTreeMap::new(),
            proposed: None,
        },
        semantics: Semantics::None { retry: true },
    }
}

/// Runs file work on a thread that may block. It looks at `ctx.cancel` itself and answers [`Trouble::Stopped`].
fn blocking<'a>(
    ctx: &Ctx,
    work: impl FnOnce(Ctx) -> Result<Raw, Trouble> + Send + 'static,
) -> BoxFuture<'a, Result<Raw, Trouble>> {
    let ctx = ctx.clone();
    async move {
        tokio::task::spawn_blocking(move || work(ctx)).await.unwrap_or_else(|_| {
            Err(Trouble::Fault(failed(
                "runtime/crashed",
                "the tool broke off in the middle; this is a fault of Daybook",
                "",
            )))
        })
    }
    .boxed()
}
