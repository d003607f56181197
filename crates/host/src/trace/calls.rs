//! Calls and jobs as spans: what was asked for in outline, what the policy and the person said, and how it ended.
//!
//! The outline of arguments is their names and sizes, so that it tells what was asked without a word of it. Invariant: a call's
//! span ends with its one terminal, a job's with its one end, also after its turn.

use super::content::Contents;
use super::otlp::{Attributes, Kind, Span};
use super::turns::Turns;
use super::word;
use domain::call::Verdict;
use domain::event::{
    Changed, CheckedCall, Fact, JobCreated, JobEnd, JobEnded, ToolCall, ToolDecision, ToolOutcome,
    ToolResult, ToolStart,
};
use domain::ids::{ApprovalId, CallId, JobId};
use serde_json::Value;
use std::collections::BTreeMap;

/// A call that hasn't ended.
struct Open {
    span: Span,
    provider_call_id: String,
}

/// What is open of them.
#[derive(Default)]
pub(super) struct Calls {
    open: BTreeMap<CallId, Open>,
    asked: BTreeMap<ApprovalId, CallId>,
    jobs: BTreeMap<JobId, Span>,
}

impl Calls {
    pub(super) fn left(&mut self) -> Vec<Span> {
        let calls = std::mem::take(&mut self.open).into_values().map(|open| open.span);
        calls.chain(std::mem::take(&mut self.jobs).into_values()).collect()
    }
}

impl Turns<'_> {
    pub(super) fn call(&mut self, fact: &Fact) {
        match fact {
            Fact::ToolCall(e) => self.proposed(e),
            Fact::ToolDecision(e) => self.decided(e),
            Fact::ApprovalRequested(e) => {
                self.calls.asked.insert(e.approval.clone(), e.call.clone());
                self.about(&e.call, "daybook.approval.requested", Vec::new());
            }
            Fact::ApprovalGranted(e) => self.answered(&e.approval, "granted"),
            Fact::ApprovalRefused(e) => {
                self.answered(&e.approval, if e.nobody { "nobody_there" } else { "refused" });
            }
            Fact::ApprovalExpired(e) => self.answered(&e.approval, "expired"),
            Fact::ToolStart(e) => self.started(e),
            Fact::SecretPrinted(e) => self.withhold(&e.call),
            Fact::ToolResult(e) => self.result(e),
            Fact::ToolDenied(e) => {
                let by = e.by.clone();
                self.ended(&e.call, "denied", &e.text, None, |span| {
                    span.say("daybook.call.denied_by", by);
                });
            }
            Fact::ToolCancelled(e) => self.ended(&e.call, "cancelled", &e.text, Some(&e.changed), |_| {}),
            Fact::ToolOutcomeUnknown(e) => {
                self.ended(&e.call, "outcome_unknown", &e.text, Some(&e.changed), |span| {
                    span.fail("outcome_unknown");
                });
            }
            Fact::JobCreated(e) => self.job_made(e),
            Fact::JobStarted(e) => self.job_happened(&e.job, "daybook.job.started", Vec::new()),
            Fact::JobCancel(e) => {
                self.job_happened(&e.job, "daybook.job.cancel", vec![("daybook.by", word(&e.by).into())]);
            }
            Fact::JobReconciling(e) => self.job_happened(&e.job, "daybook.job.reconciling", Vec::new()),
            Fact::JobEnded(e) => self.job_ended(e),
            _ => {}
        }
    }

    fn proposed(&mut self, e: &ToolCall) {
        let tool = tools::path::shown(&e.name).trim_matches('"').to_owned();
        let name = format!("execute_tool {tool}");
        let Some(mut span) = self.span(e.call.as_str(), name, Kind::Internal) else { return };
        span.say("gen_ai.operation.name", "execute_tool");
        span.say("gen_ai.tool.name", tool);
        span.say("gen_ai.tool.type", "function");
        span.say("gen_ai.tool.call.id", e.provider_call_id.clone());
        span.say("daybook.call.id", e.call.to_string());
        if let Some(before) = &e.retry_of {
            span.say("daybook.call.retry_of", before.to_string());
        }
        match &e.checked {
            CheckedCall::Good { version, arguments, .. } => {
                span.say("daybook.tool.version", *version);
                span.say("daybook.call.arguments", outline(arguments));
                if let Some(contents) = &mut self.contents {
                    span.say("gen_ai.tool.call.arguments", contents.redact(arguments));
                    if contents.hides() && Contents::reads_again(arguments) {
                        contents.withhold(&e.provider_call_id);
                    }
                }
            }
            CheckedCall::Bad { .. } => span.say("daybook.call.arguments", "not valid"),
        }
        let provider_call_id = e.provider_call_id.clone();
        self.calls.open.insert(e.call.clone(), Open { span, provider_call_id });
    }

    fn decided(&mut self, e: &ToolDecision) {
        let (verdict, rule) = match &e.decision {
            Verdict::Allow { rule } => ("allow", rule),
            Verdict::Ask { rule } => ("ask", rule),
            Verdict::Deny { rule, .. } => ("deny", rule),
        };
        // The rest of a rule's name may be the person's own words.
        let of = rule.split('/').next().unwrap_or_default();
        let said: Attributes = vec![
            ("daybook.policy.verdict", verdict.into()),
            ("daybook.policy.rule", of.into()),
            ("daybook.policy.act", word(&e.act).into()),
            ("daybook.policy.touches", (e.touches.len() as u64).into()),
        ];
        self.about(&e.call, "daybook.policy.decision", said);
    }

    fn answered(&mut self, approval: &ApprovalId, how: &str) {
        if let Some(call) = self.calls.asked.remove(approval) {
            self.about(&call, "daybook.approval.answered", vec![("daybook.approval", how.into())]);
        }
    }

    fn started(&mut self, e: &ToolStart) {
        self.about(&e.call, "daybook.call.started", Vec::new());
        if !e.secrets.is_empty() {
            self.withhold(&e.call);
        }
    }

    fn withhold(&mut self, call: &CallId) {
        if let (Some(open), Some(contents)) = (self.calls.open.get(call), &mut self.contents) {
            contents.withhold(&open.provider_call_id);
        }
    }

    fn about(&mut self, call: &CallId, what: &'static str, said: Attributes) {
        let now = self.now();
        if let Some(open) = self.calls.open.get_mut(call) {
            open.span.events.push((now, what, said));
        }
    }

    fn result(&mut self, e: &ToolResult) {
        self.ended(&e.call, "result", &e.text, Some(&e.changed), |span| {
            span.say("daybook.call.ran_ms", e.ms);
            if let ToolOutcome::Error { error } = &e.outcome {
                span.fail(error.code.clone());
            }
        });
    }

    fn ended(
        &mut self,
        call: &CallId,
        how: &'static str,
        text: &str,
        changed: Option<&Changed>,
        more: impl FnOnce(&mut Span),
    ) {
        let Some(Open { mut span, provider_call_id }) = self.calls.open.remove(call) else { return };
        span.say("daybook.call.end", how);
        if let Some(changed) = changed.filter(|changed| !changed.is_empty()) {
            span.say("daybook.call.changed_paths", changed.count());
        }
        more(&mut span);
        if let Some(contents) = &self.contents {
            span.say("gen_ai.tool.call.result", contents.result(&provider_call_id, text));
        }
        self.close(span);
    }

    fn job_made(&mut self, e: &JobCreated) {
        let Some(mut span) = self.span(e.job.as_str(), "daybook.job".to_owned(), Kind::Internal) else {
            return;
        };
        span.parent = Some(e.call.to_string());
        span.say("daybook.job.id", e.job.to_string());
        span.say("daybook.call.id", e.call.to_string());
        if let Some(contents) = &self.contents {
            span.say("daybook.job.command", contents.redact(&e.command));
        }
        self.calls.jobs.insert(e.job.clone(), span);
    }

    fn job_happened(&mut self, job: &JobId, what: &'static str, said: Attributes) {
        let now = self.now();
        if let Some(span) = self.calls.jobs.get_mut(job) {
            span.events.push((now, what, said));
        }
    }

    fn job_ended(&mut self, e: &JobEnded) {
        let Some(mut span) = self.calls.jobs.remove(&e.job) else { return };
        span.say("daybook.job.end", e.end.name());
        span.say("daybook.job.ran_ms", e.ms);
        if !e.changed.is_empty() {
            span.say("daybook.call.changed_paths", e.changed.count());
        }
        match &e.end {
            JobEnd::Failed { error } => span.fail(error.code.clone()),
            JobEnd::Interrupted => span.fail("interrupted"),
            JobEnd::Completed { .. } | JobEnd::Cancelled { .. } => {}
        }
        if let Some(contents) = self.contents.as_ref().filter(|_| e.secrets.is_empty()) {
            span.say("daybook.job.result", contents.redact(&e.text));
        }
        self.close(span);
    }
}

/// Names and sizes of arguments.
fn outline(arguments: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(arguments) else { return String::new() };
    let size = |value: &Value| match value {
        Value::String(text) => format!("{} bytes", text.len()),
        Value::Array(items) => format!("{} items", items.len()),
        Value::Object(fields) => format!("{} fields", fields.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    let told: Vec<String> = fields.iter().map(|(name, value)| format!("{name}: {}", size(value))).collect();
    told.join(", ")
}
