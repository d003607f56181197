//! `ask_user` and `update_plan`: calls that the engine answers itself.
//!
//! Here they are only checked and turned into their typed request. Invariant: asking is for information, never for
//! permission, and a plan has at most one item in progress.

use super::object;
use crate::call::{Checked, Interaction, Surveyed};
use crate::clear::Cleared;
use crate::tool::{Concurrency, Ctx, Declared, Raw, Tool, Trouble, View, failed};
use domain::call::{Act, Facts, PlanItem, PlanStatus, Question, Semantics, ToolError, Undo};
use futures_util::future::{BoxFuture, FutureExt};
use serde::Deserialize;
use serde_json::json;

/// Asks the person for information.
pub(crate) struct AskUser(Declared);

/// Replaces the plan.
pub(crate) struct UpdatePlan(Declared);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskArgs {
    question: String,
    #[serde(default)]
    options: Vec<String>,
    free_text: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanArgs {
    items: Vec<PlanItem>,
}

impl Default for AskUser {
    fn default() -> Self {
        Self(Declared {
            name: "ask_user",
            version: 1,
            description: "Ask the person for information only they have. Not for permission: risky calls are approved by themselves.",
            schema: json!({
                "type": "object",
                "properties": {
                    "question": {"type": "string", "minLength": 1},
                    "options": {"type": "array", "items": {"type": "string"}, "maxItems": 8},
                    "free_text": {"type": "boolean", "description": "May they answer in their own words? Default true."}
                },
                "required": ["question"],
                "additionalProperties": false
            }),
            output: object(json!({"answer": {"type": "string"}}), &["answer"]),
            concurrency: Concurrency::Exclusive,
            view: View::Plain,
        })
    }
}

impl Default for UpdatePlan {
    fn default() -> Self {
        Self(Declared {
            name: "update_plan",
            version: 1,
            description: "Show the person the plan for this work. Give the whole plan each time; at most one item in_progress.",
            schema: json!({
                "type": "object",
                "properties": {
                    "items": {
                        "type": "array",
                        "maxItems": 50,
                        "items": {
                            "type": "object",
                            "properties": {
                                "text": {"type": "string", "minLength": 1},
                                "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]}
                            },
                            "required": ["text", "status"],
                            "additionalProperties": false
                        }
                    }
                },
                "required": ["items"],
                "additionalProperties": false
            }),
            output: object(json!({"version": {"type": "integer"}}), &["version"]),
            concurrency: Concurrency::Exclusive,
            view: View::Plain,
        })
    }
}

impl Tool for AskUser {
    fn declared(&self) -> &Declared {
        &self.0
    }

    fn survey(&self, call: &Checked, _: &Ctx) -> Result<Surveyed, ToolError> {
        Ok(talk(call))
    }

    fn interaction(&self, call: &Checked) -> Result<Option<Interaction>, ToolError> {
        let AskArgs { question, options, free_text } = call.typed()?;
        // Without options there is no other way to answer.
        let free_text = free_text.unwrap_or(true) || options.is_empty();
        Ok(Some(Interaction::Ask(Question { text: question, options, free_text, sensitive: false })))
    }

    fn run<'a>(&'a self, _: &'a Cleared, _: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        not_run()
    }
}

impl Tool for UpdatePlan {
    fn declared(&self) -> &Declared {
        &self.0
    }

    fn survey(&self, call: &Checked, _: &Ctx) -> Result<Surveyed, ToolError> {
        Ok(talk(call))
    }

    fn interaction(&self, call: &Checked) -> Result<Option<Interaction>, ToolError> {
        let PlanArgs { items } = call.typed()?;
        match items.iter().filter(|item| item.status == PlanStatus::InProgress).count() {
            0 | 1 => Ok(Some(Interaction::Plan(items))),
            many => Err(failed(
                "plan/in_progress",
                format!("{many} items are in_progress, at most one may be"),
                "Send the whole plan again with one item in_progress.",
            )),
        }
    }

    fn run<'a>(&'a self, _: &'a Cleared, _: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        not_run()
    }
}

pub(super) fn talk(call: &Checked) -> Surveyed {
    Surveyed {
        facts: Facts {
            act: Act::Talk,
            can_touch: Vec::new(),
            cannot_touch: Vec::new(),
            added: Vec::new(),
            reach: Vec::new(),
            undo: Undo::Yes,
            risk: 1,
            exact: call.arguments().to_owned(),
            words: Default::default(),
            depends_on: Default::default(),
            proposed: None,
        },
        semantics: Semantics::None { retry: true },
    }
}

pub(super) fn not_run() -> BoxFuture<'static, Result<Raw, Trouble>> {
    let error = failed("runtime/interactive", "this call is answered by the engine, it can't be run", "");
    std::future::ready(Err(Trouble::Fault(error))).boxed()
}
