//! What would happen if: a call that nobody asked for, judged as things are now.
//!
//! Invariant: it is checked, surveyed and judged exactly as a call of the model would be; nothing runs, nothing is recorded.

use crate::perform::standing::standing;
use crate::shared::Shared;
use domain::call::{Act, Facts, ToolError, Undo, Verdict};
use domain::ids::{CallId, SessionId};
use domain::state::State;
use serde_json::{Value, json};
use std::sync::Arc;
use tools::rules::kept_out;

/// What to try out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Try {
    /// Running a command, with the sites it names.
    Run(String),
    /// Reading a file.
    Read(String),
    /// Creating or changing a file.
    Change(String),
    /// Deleting.
    Delete(String),
}

/// What would happen with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Would {
    /// The policy's word.
    pub verdict: Verdict,
    /// What it would touch.
    pub facts: Facts,
    /// Paths that a rule of the person keeps from it.
    pub kept_out: Vec<String>,
}

/// Judges without running.
pub(crate) fn would(
    shared: &Arc<Shared>,
    session: &SessionId,
    state: &State,
    what: &Try,
) -> Result<Would, ToolError> {
    let plain = |name, arguments| judged(shared, session, state, name, &arguments);
    match what {
        Try::Read(path) => plain("read_file", json!({ "path": path })),
        Try::Change(path) => plain("write_file", json!({ "path": path, "content": "" })),
        Try::Delete(path) => plain("delete_path", json!({ "path": path })),
        Try::Run(command) => {
            let without = plain("run_command", json!({ "command": command }))?;
            let hosts: Vec<&str> =
                without.facts.words.get("hosts").map_or("", String::as_str).lines().collect();
            // A model would name the sites that its command names, else it couldn't reach them.
            match hosts.is_empty() || !shared.ports.launcher.can_reach_hosts() {
                true => Ok(without),
                false => {
                    Ok(plain("run_command", json!({ "command": command, "sites": hosts })).unwrap_or(without))
                }
            }
        }
    }
}

fn judged(
    shared: &Arc<Shared>,
    session: &SessionId,
    state: &State,
    name: &str,
    arguments: &Value,
) -> Result<Would, ToolError> {
    let checked = shared.tools.check(name, &arguments.to_string())?;
    let standing = standing(shared, session, state, &CallId::from_bits(0))?;
    let mut facts = checked.survey(&standing.ctx)?.facts;
    if facts.undo == Undo::No && facts.act != Act::Read {
        // Whether all of it could be undone takes a look at the whole folder; that isn't what is asked.
        facts.undo = Undo::Partly;
    }
    let verdict = standing.judge(&mut facts);
    Ok(Would { verdict, facts, kept_out: kept_out(&standing.in_force.layers) })
}
