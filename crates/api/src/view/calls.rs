//! Calls as shown: one entry a step, in the model's order, each call from proposed to its one end.

use super::answer::Seen;
use super::facts;
use super::patch::bounded;
use super::{Fold, words};
use crate::wire::view::{CallState, CallView, EntryBody, Halt, Patch};
use domain::call::{Effect, Verdict};
use domain::event::{
    CallResolved, CheckedCall, Event, ToolCall, ToolCancelled, ToolDenied, ToolOutcome, ToolOutcomeUnknown,
    ToolOutput, ToolResult,
};
use domain::ids::CallId;
use domain::state::ApprovalState;
use engine::Live;
use engine::show::own_result;

impl Fold {
    pub(super) fn proposed(&mut self, e: &ToolCall, event: &Event, out: &mut Vec<Patch>) {
        let (mut shown, error) = match &e.checked {
            CheckedCall::Good { arguments, .. } => (facts::of_arguments(arguments), None),
            CheckedCall::Bad { error } => (Default::default(), Some(error.code.clone())),
        };
        if let Some(before) = &e.retry_of {
            shown.insert("retry_of".to_owned(), before.to_string());
        }
        let call = CallView {
            id: e.call.to_string(),
            tool: facts::shown(&e.name),
            facts: shown,
            state: if error.is_some() { CallState::Failed } else { CallState::Proposed },
            started: false,
            ms: None,
            added: None,
            removed: None,
            output: String::new(),
            error,
            halt: None,
        };
        let key = event.envelope.step.as_ref().map_or_else(|| e.call.to_string(), ToString::to_string);
        let mut calls = match self.shown.entry(&key).map(|entry| &entry.body) {
            Some(EntryBody::Calls { calls }) => calls.clone(),
            _ => Vec::new(),
        };
        calls.push(call);
        self.put(event, key, EntryBody::Calls { calls }, out);
    }

    pub(super) fn started(&mut self, call: &CallId, out: &mut Vec<Patch>) {
        self.outputs.insert(call.clone(), Seen::up_to(Live::CALL_LOGGED));
        self.change(
            call,
            |call| {
                call.state = CallState::Running;
                call.started = true;
            },
            out,
        );
    }

    /// Waits for the person, or no longer.
    pub(super) fn wait(&mut self, call: &CallId, waits: bool, out: &mut Vec<Patch>) {
        let state = if waits { CallState::Waiting } else { CallState::Proposed };
        self.change(call, |call| call.state = state, out);
    }

    pub(super) fn live_output(&mut self, call: &CallId, at: usize, text: &str, out: &mut Vec<Patch>) {
        let Some(seen) = self.outputs.get_mut(call) else { return };
        let fresh = seen.live(at, text);
        self.more(call, fresh, out);
    }

    pub(super) fn logged_output(&mut self, e: &ToolOutput, out: &mut Vec<Patch>) {
        let Some(seen) = self.outputs.get_mut(&e.call) else { return };
        let fresh = seen.logged(&e.text);
        self.more(&e.call, fresh, out);
    }

    fn more(&mut self, call: &CallId, text: String, out: &mut Vec<Patch>) {
        if !text.is_empty() {
            self.push(Patch::Output { call: call.to_string(), text }, out);
        }
    }

    pub(super) fn result(&mut self, e: &ToolResult, out: &mut Vec<Patch>) {
        self.outputs.remove(&e.call);
        self.changed(&e.changed);
        let (added, removed) = lines(&e.changed.effects);
        let output = bounded(own_result(e));
        self.change(
            &e.call,
            |call| {
                call.ms = Some(e.ms);
                (call.added, call.removed) = (added, removed);
                call.output = output;
                match &e.outcome {
                    ToolOutcome::Ok { value } => {
                        call.state = CallState::Done;
                        call.facts.extend(facts::of_result(value));
                    }
                    ToolOutcome::Error { error } => {
                        call.state = CallState::Failed;
                        call.error = Some(error.code.clone());
                    }
                }
            },
            out,
        );
    }

    pub(super) fn denied(&mut self, e: &ToolDenied, out: &mut Vec<Patch>) {
        let halt = self.halt(&e.call, &e.by);
        self.end(&e.call, CallState::Denied, Some(halt), out);
    }

    pub(super) fn cancelled(&mut self, e: &ToolCancelled, out: &mut Vec<Patch>) {
        self.changed(&e.changed);
        let by = self.state.turn.as_ref().and_then(|turn| turn.cancel);
        let by = by.map_or("turn", words::by_name).to_owned();
        self.end(&e.call, CallState::Cancelled, Some(Halt::Stopped { by }), out);
    }

    pub(super) fn unknown(&mut self, e: &ToolOutcomeUnknown, event: &Event, out: &mut Vec<Patch>) {
        self.changed(&e.changed);
        self.end(&e.call, CallState::Unknown, None, out);
        let Some(call) = self.shown.call(e.call.as_str()).map(|(call, _)| call.clone()) else { return };
        let mut evidence = e.evidence.clone();
        if !call.output.is_empty() {
            evidence.entry("output_tail".to_owned()).or_insert_with(|| call.output.clone());
        }
        self.put(event, unknown_key(&e.call), EntryBody::Unknown { call, evidence, resolution: None }, out);
    }

    pub(super) fn resolved(&mut self, e: &CallResolved, event: &Event, out: &mut Vec<Patch>) {
        let key = unknown_key(&e.call);
        let Some(EntryBody::Unknown { call, evidence, .. }) =
            self.shown.entry(&key).map(|entry| entry.body.clone())
        else {
            return;
        };
        let resolution = Some(words::resolution(e.resolution));
        self.put(event, key, EntryBody::Unknown { call, evidence, resolution }, out);
    }

    /// Who denied a call, from what the record says of it.
    fn halt(&self, call: &CallId, by: &str) -> Halt {
        let call = self.state.call(call);
        match by {
            "refused" => {
                let approval = call.and_then(|call| call.approval.as_ref());
                let why = approval.and_then(|approval| match &approval.state {
                    ApprovalState::Refused { why, .. } => why.clone(),
                    ApprovalState::Open | ApprovalState::Granted | ApprovalState::Expired => None,
                });
                Halt::Refused { why }
            }
            "nobody" => Halt::Nobody,
            "expired" => Halt::Expired,
            _ => match call.and_then(|call| call.decision.as_ref()).map(|decided| &decided.verdict) {
                Some(Verdict::Deny { rule, .. }) => words::rule(rule),
                Some(Verdict::Allow { .. } | Verdict::Ask { .. }) | None => {
                    Halt::Rule { rule: String::new() }
                }
            },
        }
    }

    fn end(&mut self, call: &CallId, state: CallState, halt: Option<Halt>, out: &mut Vec<Patch>) {
        self.outputs.remove(call);
        self.change(
            call,
            |call| {
                call.state = state;
                call.halt = halt;
            },
            out,
        );
    }

    fn change(&mut self, id: &CallId, change: impl FnOnce(&mut CallView), out: &mut Vec<Patch>) {
        let Some((_, entry)) = self.shown.call(id.as_str()) else { return };
        let mut entry = entry.clone();
        if let EntryBody::Calls { calls } = &mut entry.body
            && let Some(call) = calls.iter_mut().find(|call| call.id == id.as_str())
        {
            change(call);
        }
        self.push(Patch::Entry { entry }, out);
    }
}

pub(crate) fn unknown_key(call: &CallId) -> String {
    format!("unknown_{call}")
}

/// Lines added and removed by all effects; `None` where one of them can't say.
fn lines(effects: &[Effect]) -> (Option<u32>, Option<u32>) {
    if effects.is_empty() {
        return (None, None);
    }
    let counted: Option<Vec<_>> = effects.iter().map(|effect| effect.lines).collect();
    let Some(counted) = counted else { return (None, None) };
    let sum = |of: fn(&domain::call::LineCount) -> u32| counted.iter().map(of).fold(0, u32::saturating_add);
    (Some(sum(|lines| lines.added)), Some(sum(|lines| lines.removed)))
}
