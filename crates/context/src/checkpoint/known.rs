//! What the record knows of the steps that a checkpoint stands for, without any model.
//!
//! The person's words, the plan, changed files, how commands ended, the newest errors, what was refused, what nobody knows,
//! and exact identifiers. It is read from the whole log each time, so a second checkpoint loses nothing to the first.

use super::Room;
use super::names::{self, Names};
use domain::call::{Entry, PlanStatus};
use domain::event::{
    Changed, CheckedCall, Fact, HostNotes, JobEnd, JobEnded, ToolCancelled, ToolOutcome, ToolOutcomeUnknown,
};
use domain::ids::{ApprovalId, CallId, JobId};
use domain::model::Block;
use domain::state::{JobPhase, State};
use std::collections::BTreeMap;

/// Most errors that are kept whole.
const ERRORS: usize = 3;

/// What the record knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    /// It is about what lies before this event.
    pub upto: u64,
    /// Closed steps it is about.
    pub steps: u64,
    words: Vec<String>,
    plan: Vec<String>,
    jobs: Vec<String>,
    files: Vec<String>,
    commands: Vec<String>,
    errors: Vec<String>,
    refused: Vec<String>,
    unknown: Vec<String>,
    names: Names,
}

/// What the record knows of what lies before `upto`, where `steps` steps closed.
#[must_use]
pub fn known(state: &State, facts: &[(u64, Fact)], upto: u64, steps: u64) -> Known {
    let before = facts.partition_point(|(seq, _)| *seq < upto);
    let mut reading = Reading::default();
    facts[..before].iter().for_each(|(seq, fact)| reading.take(*seq, fact));
    reading.known(state, upto, steps)
}

impl Known {
    /// What the person said, the beginning first, then the newest before the older.
    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// The other parts in their order, each with its title and its lines, the most worth keeping first.
    pub(super) fn parts(&self) -> [(&'static str, &[String]); 7] {
        [
            ("The plan as it stands", &self.plan),
            ("Background jobs that are open", &self.jobs),
            ("Files changed so far", &self.files),
            ("Commands and how each last ended", &self.commands),
            ("The newest errors", &self.errors),
            ("Refused or not allowed", &self.refused),
            ("Begun, and nobody knows the outcome", &self.unknown),
        ]
    }

    /// Exact names and numbers that don't stand in `said`, within this room.
    pub(super) fn names(&self, title: &str, said: &str, room: Room) -> Option<String> {
        self.names.part(title, said, room)
    }
}

/// Reading the facts, one after the other.
#[derive(Default)]
struct Reading<'a> {
    notes: HostNotes,
    words: Vec<(u64, String)>,
    questions: BTreeMap<String, &'a str>,
    calls: BTreeMap<&'a CallId, (&'a str, &'a str)>,
    asked: BTreeMap<&'a ApprovalId, &'a CallId>,
    jobs: BTreeMap<&'a JobId, &'a str>,
    files: BTreeMap<&'a str, (Option<&'a Entry>, Option<&'a Entry>, u64)>,
    /// Changed paths that no event names, and where.
    unnamed: Vec<(u64, u64)>,
    commands: BTreeMap<String, (String, u64)>,
    errors: Vec<(u64, String)>,
    refused: Vec<(u64, String)>,
    names: names::Reading<'a>,
}

impl<'a> Reading<'a> {
    fn take(&mut self, seq: u64, fact: &'a Fact) {
        if let Some(changed) = fact.changed() {
            self.changed(seq, changed);
        }
        match fact {
            // Notes of the runtime aren't the person's words.
            Fact::InboxPosted(_) | Fact::UserMessage(_) if self.notes.take(fact) => {}
            Fact::UserMessage(e) => {
                self.exact(seq, &e.text);
                self.words.push((seq, e.text.clone()));
            }
            Fact::QuestionAsked(e) => drop(self.questions.insert(e.question.to_string(), &e.body.text)),
            Fact::QuestionAnswered(e) => {
                self.exact(seq, &e.answer);
                let asked = self.questions.get(&e.question.to_string()).copied().unwrap_or_default();
                self.words.push((seq, format!("(asked: {asked}) {}", e.answer)));
            }
            Fact::AssistantAccepted(e) => {
                for block in &e.blocks {
                    match block {
                        Block::Text { text } => self.exact(seq, text),
                        Block::Call { arguments, .. } => self.names.take(seq, arguments, true),
                        Block::Reasoning { .. } => {}
                    }
                }
            }
            Fact::ToolCall(e) => {
                let arguments = match &e.checked {
                    CheckedCall::Good { arguments, .. } => arguments.as_str(),
                    CheckedCall::Bad { .. } => "",
                };
                self.calls.insert(&e.call, (&e.name, arguments));
            }
            Fact::ApprovalRequested(e) => drop(self.asked.insert(&e.approval, &e.call)),
            Fact::ApprovalRefused(e) if !e.nobody => {
                self.exact(seq, e.why.as_deref().unwrap_or_default());
                let call = self.asked.get(&e.approval).copied();
                let why = e.why.as_deref().unwrap_or("no reason given");
                self.refused.push((seq, format!("The person refused {}: {why}", self.call(call))));
            }
            Fact::ToolDenied(e) if e.by != "refused" => {
                self.exact(seq, &e.text);
                self.refused.push((seq, format!("{}: {}", self.call(Some(&e.call)), first_line(&e.text))));
            }
            Fact::ToolCancelled(ToolCancelled { text, .. })
            | Fact::ToolOutcomeUnknown(ToolOutcomeUnknown { text, .. }) => self.exact(seq, text),
            Fact::ToolResult(e) => self.result(seq, e),
            Fact::JobCreated(e) => drop(self.jobs.insert(&e.job, &e.command)),
            Fact::JobEnded(e) => self.job_ended(seq, e),
            _ => {}
        }
    }

    fn result(&mut self, seq: u64, e: &'a domain::event::ToolResult) {
        self.exact(seq, &e.text);
        let (name, arguments) = self.calls.get(&e.call).copied().unwrap_or_default();
        let ended = match &e.outcome {
            ToolOutcome::Ok { value } => with_code(value),
            ToolOutcome::Error { error } => Some(format!("failed: {}", first_line(&error.message))),
        };
        if let (Some(command), Some(ended)) = (command(arguments), &ended) {
            self.commands.insert(command, (ended.clone(), seq));
        }
        let failed = matches!(e.outcome, ToolOutcome::Error { .. })
            || ended.as_ref().is_some_and(|ended| ended.starts_with("FAILED"));
        if failed {
            self.errors.push((seq, format!("{name} {arguments} (event {seq}):\n{}", e.text)));
        }
    }

    fn job_ended(&mut self, seq: u64, e: &'a JobEnded) {
        self.exact(seq, &e.text);
        let command = self.jobs.get(&e.job).copied().unwrap_or_default();
        let ended = match &e.end {
            JobEnd::Completed { value } => with_code(value).unwrap_or_else(|| "completed".to_owned()),
            JobEnd::Failed { error } => format!("failed: {}", first_line(&error.message)),
            JobEnd::Cancelled { .. } => "stopped before its end".to_owned(),
            JobEnd::Interrupted => "interrupted, not run again".to_owned(),
        };
        let failed = ended.starts_with("FAILED") || matches!(e.end, JobEnd::Failed { .. });
        if failed {
            self.errors.push((seq, format!("background job `{command}` (event {seq}):\n{}", e.text)));
        }
        self.commands.insert(command.to_owned(), (format!("{ended}, in the background"), seq));
    }

    fn changed(&mut self, seq: u64, changed: &'a Changed) {
        let unnamed = changed.count().saturating_sub(changed.effects.len() as u64);
        if unnamed > 0 {
            self.unnamed.push((seq, unnamed));
        }
        for effect in &changed.effects {
            let entry = self.files.entry(&effect.path).or_insert((
                effect.before.as_ref(),
                effect.after.as_ref(),
                seq,
            ));
            (entry.1, entry.2) = (effect.after.as_ref(), seq);
        }
    }

    fn exact(&mut self, seq: u64, text: &'a str) {
        self.names.take(seq, text, false);
    }

    fn call(&self, call: Option<&CallId>) -> String {
        let known = call.and_then(|call| self.calls.get(call));
        known.map_or_else(|| "a call".to_owned(), |(name, arguments)| format!("{name} {arguments}"))
    }

    fn known(self, state: &State, upto: u64, steps: u64) -> Known {
        let words = beginning_then_newest(self.words);
        let mut commands: Vec<_> = self.commands.into_iter().collect();
        commands.sort_by_key(|(_, (_, seq))| std::cmp::Reverse(*seq));
        let names = self.names.names(self.files.keys().copied());
        let mut files: Vec<_> =
            self.files.into_iter().filter(|(_, (before, after, _))| before != after).collect();
        files.sort_by_key(|(_, (.., seq))| std::cmp::Reverse(*seq));
        let mut files: Vec<String> =
            files.into_iter().map(|(path, (before, after, _))| changed(path, before, after)).collect();
        let unnamed = self.unnamed.iter().rev();
        files.extend(unnamed.map(|(seq, count)| format!("- {count} more that event {seq} changed")));
        let refused = self.refused.iter().rev().map(|(seq, text)| format!("- {text} (event {seq})"));
        Known {
            upto,
            steps,
            words,
            plan: plan(state),
            jobs: jobs(state),
            files,
            commands: commands
                .into_iter()
                .map(|(command, (ended, seq))| format!("- `{command}`: {ended} (event {seq})"))
                .collect(),
            errors: self.errors.into_iter().rev().take(ERRORS).map(|(_, text)| text).collect(),
            refused: refused.collect(),
            unknown: state.unknown.iter().map(|one| format!("- {} (call {})", one.name, one.call)).collect(),
            names,
        }
    }
}

/// The first words, which are what it is all about, then the newest before the older.
fn beginning_then_newest(words: Vec<(u64, String)>) -> Vec<String> {
    let line = |(seq, text): &(u64, String)| format!("- (event {seq}) {text}");
    let mut lines: Vec<String> = words.iter().skip(1).rev().map(line).collect();
    if let Some(first) = words.first() {
        lines.insert(0, line(first));
    }
    lines
}

fn plan(state: &State) -> Vec<String> {
    let items = state.plan.iter().flat_map(|plan| &plan.items);
    let line = |item: &domain::call::PlanItem| {
        let mark = match item.status {
            PlanStatus::Completed => "[done]",
            PlanStatus::InProgress => "[being done]",
            PlanStatus::Pending => "[open]",
        };
        format!("- {mark} {}", item.text)
    };
    items.map(line).collect()
}

fn jobs(state: &State) -> Vec<String> {
    let line = |job: &domain::state::Job| {
        let phase = match job.phase {
            JobPhase::Pending => "waits to begin",
            JobPhase::Running(_) => "runs",
            JobPhase::Reconciling(_) => "was lost sight of",
        };
        format!("- {} {phase}: `{}`", job.id, job.command)
    };
    state.jobs.iter().map(line).collect()
}

/// How a command ended that has an exit code.
fn with_code(value: &serde_json::Value) -> Option<String> {
    let code = value.get("exit_code")?.as_i64()?;
    Some(if code == 0 { "passed, exit code 0".to_owned() } else { format!("FAILED, exit code {code}") })
}

fn changed(path: &str, before: Option<&Entry>, after: Option<&Entry>) -> String {
    match (before, after) {
        (None, _) => format!("- made {path}"),
        (Some(_), None) => format!("- deleted {path}"),
        (Some(_), Some(_)) => format!("- changed {path}"),
    }
}

/// The command of a call's arguments, where there is one.
fn command(arguments: &str) -> Option<String> {
    let arguments: serde_json::Value = serde_json::from_str(arguments).ok()?;
    Some(arguments.get("command")?.as_str()?.to_owned())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
