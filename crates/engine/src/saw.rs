//! What the model saw: one request, part by part, and its exact bytes.
//!
//! A **part** is what one fact contributed: instructions, tools, what was there before, and each new thing with where it came
//! from. Invariant: nothing here is kept beside the log; parts are told from its facts, bytes from its blobs, and whether the
//! bytes are those that were sent is found out, not assumed.

use crate::prompt::{PAGE, PREPARED, Prompt, RebuildError, SUMMARY, one};
use crate::show::up_to_break;
use bytes::Bytes;
use context::estimate::tokens;
use domain::call::Act;
use domain::event::{CheckedCall, Event, Fact, HostNotes, RequestPrepared, Settled, ToolOutcome, Trust};
use domain::ids::{CallId, SessionId, StepId};
use domain::model::{Block, ModelSnapshot};
use providers::Dialect;
use std::collections::{BTreeMap, BTreeSet};
use store::{BlobError, Gone, Reader};

/// Most new parts that are told one by one.
const TOLD: usize = 200;

/// One request, as the model saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Saw {
    /// Where it is recorded.
    pub seq: u64,
    /// When, UTC ms.
    pub time: u64,
    /// The step's number in its turn.
    pub step: u32,
    /// The model.
    pub model: ModelSnapshot,
    /// The request.
    pub prepared: RequestPrepared,
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// New parts that aren't told one by one.
    pub more: u64,
    /// Attempts that sent it.
    pub attempts: u32,
    /// What the provider counted for the last of them, where it did.
    pub settled: Option<Settled>,
    /// Are the bytes that can be put together those that were sent?
    pub rebuilt: Rebuilt,
}

/// Can a request be put together again?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rebuilt {
    /// To the byte.
    Exactly,
    /// No: words were erased from it.
    Erased,
    /// No: other bytes come out, or a part of it can't be read.
    No,
}

/// A part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub what: What,
    /// Where its content came from.
    pub source: Source,
    /// Its estimated tokens.
    pub tokens: u64,
    /// Was it in the request before, in the same place?
    pub same: bool,
    /// The event it comes from, where it is one.
    pub seq: Option<u64>,
}

/// What a part is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The instructions.
    Instructions,
    /// What the tools say of themselves.
    Tools,
    /// All that the request before held, instructions and tools aside.
    Before,
    /// Words of the person.
    Said,
    /// A note of the runtime: its topic, and the document it gives.
    Note {
        /// The topic.
        topic: String,
        /// The document's path.
        path: Option<String>,
    },
    /// An answer of the model.
    Answer,
    /// What came of a call: the tool and its checked arguments.
    Result {
        /// The tool.
        tool: String,
        /// Canonical arguments; empty where they couldn't be checked.
        arguments: String,
        /// Did it go well?
        ok: bool,
    },
}

/// Where content came from, which says how far it is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The runtime.
    Host,
    /// The person.
    User,
    /// The person and the model, and what calls gave back.
    Both,
    /// The model.
    Model,
    /// The folder.
    Folder,
    /// A command.
    Command,
    /// Anything else from outside.
    Outside,
}

/// The request that was last prepared for the step of this event, at or before it or, where the step began before its request,
/// after it; and what the model saw in it.
///
/// # Errors
/// When there is none, or the record can't be read.
pub fn saw(reader: &Reader, session: &SessionId, seq: u64) -> Result<Saw, RebuildError> {
    let seq = request_at(reader, session, seq)?;
    let event = one(reader, session, seq)?;
    let Some(Fact::RequestPrepared(prepared)) = &event.fact else { return Err(RebuildError::None { seq }) };
    let (step, model) = step_of(reader, session, &event)?;
    let before = reader.last_of(session, PREPARED, seq)?;
    let since = events(reader, session, before.map_or(0, |before| before + 1), seq)?;
    let earlier = match before {
        Some(before) => match one(reader, session, before)?.fact {
            Some(Fact::RequestPrepared(earlier)) => Some(earlier),
            _ => None,
        },
        None => None,
    };
    let dialect = providers::dialect_of(&model).ok();
    let prompt = Prompt::at(reader, session, seq);
    let head = prompt.as_ref().map(|prompt| prompt.head.clone()).unwrap_or_default();
    let mut parts = head_parts(dialect.as_deref(), &head, prepared.opened.is_none());
    let of_head: u64 = parts.iter().map(|part| part.tokens).sum();
    let mut new = new_parts(&since, notes(reader, session, seq, &since)?);
    let of_new: u64 = new.iter().map(|part| part.tokens).sum();
    // In an epoch that opens nothing stands where it stood; what was there before is in it all the same.
    let of_before = match (&earlier, &prepared.opened) {
        (Some(earlier), None) => earlier.tokens.saturating_sub(of_head),
        (Some(_), Some(_)) => prepared.tokens.saturating_sub(of_head).saturating_sub(of_new),
        (None, _) => 0,
    };
    if of_before > 0 {
        let same = prepared.opened.is_none();
        parts.push(Part { what: What::Before, source: Source::Both, tokens: of_before, same, seq: None });
    }
    let more = new.len().saturating_sub(TOLD) as u64;
    new.truncate(TOLD);
    parts.extend(new);
    let (attempts, settled) = sent(reader, session, seq, &event)?;
    let rebuilt = match (&prompt, dialect) {
        (Ok(prompt), Some(dialect)) => {
            let body = prompt.body(&*dialect, &prepared.markers);
            if body.digest() == prepared.body { Rebuilt::Exactly } else { Rebuilt::No }
        }
        (Err(RebuildError::Part(BlobError::Gone { why: Gone::Erased, .. })), _) => Rebuilt::Erased,
        (Ok(_) | Err(_), _) => Rebuilt::No,
    };
    let (time, prepared) = (event.envelope.time, prepared.clone());
    Ok(Saw { seq, time, step, model, prepared, parts, more, attempts, settled, rebuilt })
}

/// The exact bytes of the request recorded at `seq`.
///
/// # Errors
/// When there is none, or a part of it can't be read.
pub fn body(reader: &Reader, session: &SessionId, seq: u64) -> Result<Bytes, RebuildError> {
    let event = one(reader, session, seq)?;
    let Some(Fact::RequestPrepared(prepared)) = &event.fact else { return Err(RebuildError::None { seq }) };
    let (_, model) = step_of(reader, session, &event)?;
    let dialect = providers::dialect_of(&model).map_err(|_| RebuildError::None { seq })?;
    Ok(Prompt::at(reader, session, seq)?.body(&*dialect, &prepared.markers).to_bytes())
}

fn request_at(reader: &Reader, session: &SessionId, seq: u64) -> Result<u64, RebuildError> {
    let step = one(reader, session, seq)?.envelope.step;
    let none = RebuildError::None { seq };
    let Some(step) = step else { return Err(none) };
    let of_step =
        |at: u64| Ok::<_, RebuildError>(one(reader, session, at)?.envelope.step.as_ref() == Some(&step));
    if let Some(at) = reader.last_of(session, PREPARED, seq + 1)?
        && of_step(at)?
    {
        return Ok(at);
    }
    // A step's first events stand before its request, and there are few of them.
    let (after, _) = up_to_break(reader, session, seq + 1, TOLD)?;
    let own = after.iter().find(|event| event.kind == PREPARED && event.step.as_ref() == Some(&step));
    own.map(|event| event.seq).ok_or(none)
}

fn step_of(
    reader: &Reader,
    session: &SessionId,
    request: &Event,
) -> Result<(u32, ModelSnapshot), RebuildError> {
    let seq = request.envelope.seq;
    let none = RebuildError::None { seq };
    let Some(at) = reader.last_of(session, "step/start", seq)? else { return Err(none) };
    match one(reader, session, at)?.fact {
        Some(Fact::StepStart(start)) => Ok((start.n, start.model)),
        _ => Err(none),
    }
}

/// The attempts that sent a request, and what the last one cost.
fn sent(
    reader: &Reader,
    session: &SessionId,
    seq: u64,
    request: &Event,
) -> Result<(u32, Option<Settled>), RebuildError> {
    let step: Option<&StepId> = request.envelope.step.as_ref();
    let (mut attempts, mut settled, mut next) = (0, None, seq + 1);
    loop {
        let (page, _) = up_to_break(reader, session, next, TOLD)?;
        let Some(last) = page.last() else { return Ok((attempts, settled)) };
        next = last.seq + 1;
        for recorded in page {
            let over = recorded.step.as_ref() != step
                || [PREPARED, SUMMARY, "tool/call"].contains(&recorded.kind.as_str());
            if over {
                return Ok((attempts, settled));
            }
            match recorded.kind.as_str() {
                "attempt/start" => attempts += 1,
                "attempt/end" => {
                    if let Some(Fact::AttemptEnd(end)) = recorded.decode()?.fact {
                        settled = Some(end.settled);
                    }
                }
                _ => {}
            }
        }
    }
}

fn head_parts(dialect: Option<&dyn Dialect>, head: &Bytes, same: bool) -> Vec<Part> {
    if head.is_empty() {
        return Vec::new();
    }
    let of_tools = dialect.and_then(|dialect| dialect.tools_of(head)).map_or(0, |tools| tokens(&tools));
    let of_all = tokens(&String::from_utf8_lossy(head));
    let part = |what, tokens| Part { what, source: Source::Host, tokens, same, seq: None };
    [part(What::Instructions, of_all.saturating_sub(of_tools)), part(What::Tools, of_tools)]
        .into_iter()
        .filter(|part| part.tokens > 0)
        .collect()
}

fn events(reader: &Reader, session: &SessionId, from: u64, to: u64) -> Result<Vec<Event>, RebuildError> {
    let mut events = Vec::new();
    let mut at = from;
    while at < to {
        let page = reader.events(session, at, PAGE.min(usize::try_from(to - at).unwrap_or(usize::MAX)))?;
        let Some(last) = page.last() else { break };
        at = last.seq + 1;
        for recorded in page {
            events.push(recorded.decode()?);
        }
    }
    Ok(events)
}

/// What is known of a call before its result.
struct Called {
    tool: String,
    arguments: String,
    act: Option<Act>,
}

/// The notes of ours among the messages of these events, whenever they were posted.
fn notes(
    reader: &Reader,
    session: &SessionId,
    seq: u64,
    events: &[Event],
) -> Result<HostNotes, RebuildError> {
    let messages = events.iter().filter_map(|event| match &event.fact {
        Some(Fact::UserMessage(e)) => Some(&e.message),
        _ => None,
    });
    let mut unknown: BTreeSet<_> = messages.collect();
    let (mut notes, mut at) = (HostNotes::default(), seq);
    while !unknown.is_empty()
        && let Some(posted) = reader.last_of(session, "inbox/posted", at)?
    {
        at = posted;
        if let Some(fact @ Fact::InboxPosted(e)) = &one(reader, session, at)?.fact
            && unknown.remove(&e.message)
        {
            notes.take(fact);
        }
    }
    Ok(notes)
}

fn new_parts(events: &[Event], mut notes: HostNotes) -> Vec<Part> {
    let mut calls: BTreeMap<CallId, Called> = BTreeMap::new();
    let mut document = None;
    let mut parts = Vec::new();
    for event in events {
        let Some(fact) = &event.fact else { continue };
        let mut push = |what, source, text: &str| {
            let (tokens, seq) = (tokens(text), Some(event.envelope.seq));
            parts.push(Part { what, source, tokens, same: false, seq });
        };
        let mut result = |call: &CallId, text: &str, ok: bool| {
            let called = calls.get(call);
            let source = called.map_or(Source::Outside, |called| match called.act {
                Some(Act::Run) => Source::Command,
                Some(Act::Talk) => Source::User,
                Some(Act::Read | Act::Write | Act::Edit | Act::Delete) => Source::Folder,
                None => Source::Host,
            });
            let (tool, arguments) =
                called.map(|called| (called.tool.clone(), called.arguments.clone())).unwrap_or_default();
            push(What::Result { tool, arguments, ok }, source, text);
        };
        match fact {
            Fact::ToolCall(e) => {
                let arguments = match &e.checked {
                    CheckedCall::Good { arguments, .. } => arguments.clone(),
                    CheckedCall::Bad { .. } => String::new(),
                };
                calls.insert(e.call.clone(), Called { tool: e.name.clone(), arguments, act: None });
            }
            Fact::ToolDecision(e) => {
                if let Some(called) = calls.get_mut(&e.call) {
                    called.act = Some(e.act);
                }
            }
            Fact::ToolResult(e) => result(&e.call, &e.text, matches!(e.outcome, ToolOutcome::Ok { .. })),
            Fact::ToolDenied(e) => result(&e.call, &e.text, false),
            Fact::ToolCancelled(e) => result(&e.call, &e.text, false),
            Fact::ToolOutcomeUnknown(e) => result(&e.call, &e.text, false),
            Fact::AssistantAccepted(e) => push(What::Answer, Source::Model, &said(&e.blocks)),
            Fact::DocumentLoaded(e) => document = Some(e.path.clone()),
            Fact::ContextNote(e) => {
                let path = if e.topic == "document" { document.take() } else { None };
                push(What::Note { topic: e.topic.clone(), path }, trusted(e.trust), &e.text);
            }
            Fact::UserMessage(e) => {
                let host = notes.take(fact);
                push(What::Said, if host { Source::Host } else { Source::User }, &e.text);
            }
            _ => {}
        }
    }
    parts
}

fn trusted(trust: Trust) -> Source {
    match trust {
        Trust::Host => Source::Host,
        Trust::User => Source::User,
        Trust::Folder => Source::Folder,
        Trust::Outside => Source::Outside,
    }
}

/// All text of an answer that goes back to the model.
fn said(blocks: &[Block]) -> String {
    let texts = blocks.iter().map(|block| match block {
        Block::Text { text } | Block::Reasoning { text, .. } => text.as_str(),
        Block::Call { arguments, .. } => arguments.as_str(),
    });
    texts.collect::<Vec<_>>().join("\n")
}
