//! An event as a line: its depth, its letter, and the facts that a sentence about it needs.
//!
//! What a call was isn't said again by the events that follow it, so the lines of a page know the calls of the page before.
//! Invariant: facts are bounded and made visible; a type nobody worded has none, and is a line all the same.

use super::outline::letter;
use super::up_to_break;
use crate::view::{facts, words};
use crate::wire::ApiError;
use crate::wire::record::RecordLine;
use domain::call::Verdict;
use domain::event::{
    ApprovalRequested, AssistantAccepted, AttemptEnd, AttemptEndKind, Changed, CheckedCall, EpochReason,
    Fact, Origin, Payload, Recorded, RequestPrepared, Settled, Source, StepEndKind, ToolCall, ToolOutcome,
    ToolResult,
};
use domain::ids::{CallId, SessionId};
use domain::model::Block;
use engine::show::Reader;
use std::collections::{BTreeMap, HashMap};

/// Most lines at once.
const MOST: u32 = 200;
/// Events before a page that are looked at for what its calls are.
const BEFORE: u64 = 300;

type Facts = BTreeMap<String, String>;

pub(super) fn lines(
    reader: &Reader,
    session: &SessionId,
    from: u64,
    count: u32,
) -> Result<Vec<RecordLine>, ApiError> {
    let begin = from.saturating_sub(BEFORE);
    let limit = usize::try_from(from - begin).unwrap_or(0) + count.min(MOST) as usize;
    let (events, _) = up_to_break(reader, session, begin, limit)?;
    let mut calls = HashMap::new();
    let mut lines = Vec::new();
    for recorded in events {
        let fact = recorded.clone().decode().ok().and_then(|event| event.fact);
        if let Some(Fact::ToolCall(call)) = &fact {
            calls.insert(call.call.clone(), of_call(call));
        }
        if recorded.seq >= from {
            lines.push(line(&recorded, fact.as_ref(), &calls));
        }
    }
    Ok(lines)
}

fn line(recorded: &Recorded, fact: Option<&Fact>, calls: &HashMap<CallId, Facts>) -> RecordLine {
    let mut facts = fact.map(said).unwrap_or_default();
    if let Some(of) = fact.and_then(Fact::call).and_then(|call| calls.get(call)) {
        for (name, value) in of {
            facts.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    RecordLine {
        seq: recorded.seq,
        time: recorded.time,
        kind: facts::shown(&recorded.kind),
        letter: letter(recorded, fact).to_string(),
        depth: depth(recorded),
        facts,
        erased: !matches!(recorded.payload, Payload::Text(_)),
    }
}

fn depth(recorded: &Recorded) -> u8 {
    let (noun, verb) = recorded.kind.split_once('/').unwrap_or((recorded.kind.as_str(), ""));
    match (noun, verb) {
        ("step" | "user" | "turn" | "approval" | "recovery", _) => 0,
        ("tool", "call") => 1,
        ("tool" | "plan" | "secret", _) | ("assistant", "delta") => 2,
        _ => u8::from(recorded.step.is_some()),
    }
}

fn of_call(call: &ToolCall) -> Facts {
    let mut facts = match &call.checked {
        CheckedCall::Good { arguments, .. } => facts::of_arguments(arguments),
        CheckedCall::Bad { error } => one("error", &error.code),
    };
    facts.insert("tool".to_owned(), facts::shown(&call.name));
    facts
}

/// What an event says, as facts.
fn said(fact: &Fact) -> Facts {
    match fact {
        Fact::SessionRenamed(e) => one("title", &e.title),
        Fact::SessionMode(e) => one("mode", words::mode_name(e.mode)),
        Fact::SessionModel(e) => one("model", &e.model.model),
        Fact::FolderAdded(e) => one("name", &e.name),
        Fact::InboxPosted(e) => {
            let origin = if e.origin == Origin::Host { "host" } else { "user" };
            some([("text", e.text.clone()), ("origin", origin.into())])
        }
        Fact::TurnStart(e) => one(
            "source",
            match e.source {
                Source::Recovery { .. } => "recovery",
                Source::Message { .. } => "message",
                Source::Summary => "summary",
            },
        ),
        Fact::TurnCancel(e) => one("by", words::by_name(e.by)),
        Fact::TurnEnd(e) => {
            let (end, facts) = words::end(&e.end);
            some(facts.into_iter().chain([("end", end.to_owned())]))
        }
        Fact::TurnExtended(e) => one("why", words::extended(e.why)),
        Fact::StepStart(e) => one("n", &e.n.to_string()),
        Fact::StepEnd(e) => one("end", step_end(e.end)),
        Fact::UserMessage(e) => one("text", &e.text),
        Fact::DocumentLoaded(e) => one("path", &e.path),
        Fact::RequestPrepared(e) => prepared(e),
        Fact::SummaryPrepared(e) => one("tokens", &e.tokens.to_string()),
        Fact::HistoryShortened(e) => one("results", &e.results.to_string()),
        Fact::CheckpointCommitted(e) => one("steps", &e.steps.to_string()),
        Fact::AttemptStart(e) => one("n", &e.n.to_string()),
        Fact::AttemptEnd(e) => attempt_end(e),
        Fact::AssistantAccepted(e) => answer(e),
        Fact::ToolCall(e) => of_call(e),
        Fact::ToolDecision(e) => match &e.decision {
            Verdict::Allow { .. } => one("verdict", "allow"),
            Verdict::Ask { .. } => one("verdict", "ask"),
            Verdict::Deny { .. } => one("verdict", "deny"),
        },
        Fact::ApprovalRequested(e) => asked(e),
        Fact::ApprovalRefused(e) if e.nobody => one("nobody", "true"),
        Fact::ApprovalExpired(e) => one("why", &e.why),
        Fact::ToolResult(e) => result(e),
        Fact::JobCreated(e) => one("command", &e.command),
        Fact::JobEnded(e) => {
            let mut facts = changed(&e.changed);
            facts.extend(some([("end", e.end.name().to_owned()), ("ms", e.ms.to_string())]));
            facts
        }
        Fact::CallResolved(e) => one("resolution", resolution(e.resolution)),
        Fact::QuestionAsked(e) => one("text", &e.body.text),
        Fact::PlanReplaced(e) => one("items", &e.plan.items.len().to_string()),
        Fact::RevisionRestored(e) => one("changed", &e.changed.count().to_string()),
        Fact::RecordErased(e) => one("events", &e.events.len().to_string()),
        Fact::SpendRaised(e) => some(words::raised(e)),
        Fact::SpendUncounted(e) => some(words::asked(&e.model)),
        Fact::CredentialUsed(e) => one("provider", &e.provider),
        Fact::NoticeRaised(e) => one("code", &e.code),
        // What else there is needs no facts, or isn't worded yet.
        _ => Facts::new(),
    }
}

fn prepared(e: &RequestPrepared) -> Facts {
    let opened = e.opened.filter(|reason| *reason != EpochReason::First).map(super::saw::opened);
    let facts = [("tokens", e.tokens.to_string())];
    some(facts.into_iter().chain(opened.map(|reason| ("opened", reason))))
}

fn attempt_end(e: &AttemptEnd) -> Facts {
    let (end, class) = match &e.end {
        AttemptEndKind::Accepted => ("accepted", None),
        AttemptEndKind::Summarised { .. } => ("summarised", None),
        AttemptEndKind::Unaccepted { .. } => ("unaccepted", None),
        AttemptEndKind::Failed { error, .. } => ("failed", Some(words::class(error.class))),
        AttemptEndKind::Cancelled => ("cancelled", None),
        AttemptEndKind::Interrupted => ("interrupted", None),
    };
    let tokens = match e.settled {
        Settled::Reported { tokens } | Settled::Estimated { tokens } => {
            Some(tokens.input + tokens.cache_read + tokens.cache_write + tokens.output)
        }
        Settled::Unknown => None,
    };
    let class = class.map(|class| ("class", class.to_owned()));
    let tokens = tokens.map(|tokens| ("tokens", tokens.to_string()));
    some([("end", end.to_owned())].into_iter().chain(class).chain(tokens))
}

fn answer(e: &AssistantAccepted) -> Facts {
    let text = e.blocks.iter().find_map(|block| match block {
        Block::Text { text } => Some(text.clone()),
        Block::Reasoning { .. } | Block::Call { .. } => None,
    });
    let calls = e.blocks.iter().filter(|block| matches!(block, Block::Call { .. })).count();
    some([("calls", calls.to_string())].into_iter().chain(text.map(|text| ("text", text))))
}

fn asked(e: &ApprovalRequested) -> Facts {
    let words = e.facts.words.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let mut facts = some(words.filter(|(name, _)| ["path", "command"].contains(name)));
    facts.insert("tool".to_owned(), facts::shown(&e.tool));
    facts
}

fn result(e: &ToolResult) -> Facts {
    let mut facts = some([("ms", e.ms.to_string())]);
    match &e.outcome {
        ToolOutcome::Ok { value } => facts.extend(facts::of_result(value)),
        ToolOutcome::Error { error } => facts.extend(one("error", &error.code)),
    }
    facts.extend(changed(&e.changed));
    facts
}

/// How many files were changed, and lines, where any were counted: of files that aren't text none are.
fn changed(changed: &Changed) -> Facts {
    if changed.is_empty() {
        return Facts::new();
    }
    let mut facts = one("changed", &changed.count().to_string());
    let counted = changed.effects.iter().filter_map(|effect| effect.lines);
    let lines = counted.fold(None, |sum: Option<(u64, u64)>, lines| {
        let (added, removed) = sum.unwrap_or_default();
        Some((added + u64::from(lines.added), removed + u64::from(lines.removed)))
    });
    if let Some((added, removed)) = lines {
        facts.extend(some([("added", added.to_string()), ("removed", removed.to_string())]));
    }
    facts
}

fn step_end(end: StepEndKind) -> &'static str {
    match end {
        StepEndKind::Tools => "tools",
        StepEndKind::Answer => "answer",
        StepEndKind::Summarised => "summarised",
        StepEndKind::Failed => "failed",
        StepEndKind::Cancelled => "cancelled",
        StepEndKind::Interrupted => "interrupted",
    }
}

fn resolution(resolution: domain::event::Resolution) -> &'static str {
    match resolution {
        domain::event::Resolution::Done => "done",
        domain::event::Resolution::Again => "again",
        domain::event::Resolution::Skip => "skip",
    }
}

fn one(name: &str, value: &str) -> Facts {
    Facts::from([(name.to_owned(), facts::shown(value))])
}

fn some<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> Facts {
    facts.into_iter().map(|(name, value)| (name.to_owned(), facts::shown(&value))).collect()
}
