//! Erasing words from a session's record: finding every place they stand in, and taking them out of all of them at once.
//!
//! The person chooses an event, and the exact words in it or all it says. The words go from every event of the session, in
//! every form they may be written in, and from every blob of the store; pieces that were only streamed go whole with
//! their turn. Invariants: nothing is changed unless what is left still obeys every law; it is worked out from the record as
//! it is, and refused when that has moved on.

use crate::actor::CommandFailure;
use crate::decide::{CommandError, may_erase};
use crate::shared::Shared;
use domain::audit::audit;
use domain::digest::Digest;
use domain::erasure::{Left, MARK, Words};
use domain::event::{Draft, ErasedBy, ErasedEvent, ErasedWhy, Event, Fact, Payload, RecordErased, Recorded};
use domain::ids::{SessionId, TurnId};
use domain::model::Block;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{Append, Gone, OfSession, Reader, Removal};
use tools::redact::{Needles, forms};

/// Fewest characters that can be erased: fewer stand in too many words that aren't meant.
pub const LEAST_CHARS: usize = 4;
/// A line of several is looked for by itself from this many characters on.
const LINE_CHARS: usize = 12;
/// Places that one event names.
const NAMED: usize = 1_000;

/// What is to be erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erase {
    /// The event that was chosen.
    pub chosen: u64,
    /// The exact words; all that the event says, where there are none.
    pub text: Option<String>,
    /// Why.
    pub why: ErasedWhy,
}

/// What an erasure would touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasable {
    /// All that the chosen event says.
    pub says: String,
    /// Events that hold the words, with their types; the chosen one is among them.
    pub places: Vec<(u64, String)>,
}

/// What an erasure did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased {
    /// Where it is on record.
    pub seq: u64,
    /// Events it took words out of.
    pub events: u64,
    /// Blobs that went: parts of requests, results, and contents kept for undo.
    pub blobs: u64,
    /// Copies of the store kept from before updates that went.
    pub copies: u64,
    /// Why old bytes may still be on the disk; the next start tries again.
    pub unfinished: Option<String>,
}

/// What erasing would touch. Blocks.
pub(crate) fn preview(
    reader: &Reader,
    session: &SessionId,
    erase: &Erase,
) -> Result<Erasable, CommandFailure> {
    let events = all(reader, session)?;
    let (says, words) = words(&events, erase)?;
    let places = places(&events, &Words::new(words))?;
    let held = events.into_iter().filter(|event| places.contains_key(&event.seq));
    Ok(Erasable { says, places: held.map(|event| (event.seq, event.kind)).collect() })
}

/// What is taken out with the events that say so, and what that does. Blocks: every blob is read.
pub(crate) fn work_out(
    shared: &Shared,
    session: &SessionId,
    erase: &Erase,
) -> Result<(Removal, Erased), CommandFailure> {
    let events = all(&shared.store, session)?;
    let read_to = events.len() as u64;
    let state = shared.store.state(session).map_err(CommandFailure::unreadable)?;
    may_erase(&state, read_to)?;
    let (_, words) = words(&events, erase)?;
    let places = places(&events, &Words::new(words.iter().cloned()))?;
    lawful(&events, &places, shared.store.epoch())?;
    let needles = Needles::of_forms(&words);
    let blobs =
        shared.store.blobs_that(&|bytes| needles.within(bytes)).map_err(CommandFailure::unreadable)?;
    let drafts = record(erase, &places, &blobs);
    let erased = Erased {
        seq: read_to + drafts.len() as u64 - 1,
        events: places.len() as u64,
        blobs: blobs.len() as u64,
        copies: 0,
        unfinished: None,
    };
    let append = Append { session: session.clone(), expected_seq: read_to, drafts };
    let payloads = places.into_iter().map(|(seq, left)| (seq, text(left))).collect();
    let sessions = vec![OfSession { append, payloads }];
    Ok((Removal { sessions, blobs, why: Gone::Erased }, erased))
}

/// The chosen event's words, and all forms of what is to be erased.
fn words(events: &[Recorded], erase: &Erase) -> Result<(String, Vec<String>), CommandError> {
    let chosen = events.iter().find(|event| event.seq == erase.chosen);
    let Some(chosen) = chosen.and_then(|event| event.clone().decode().ok()) else {
        return refused("erase/unknown", "there is no such event in this session");
    };
    let says = chosen.fact.as_ref().map(says).unwrap_or_default();
    let wanted = erase.text.as_deref().unwrap_or(&says).trim();
    if wanted.is_empty() {
        return refused("erase/words", "this event says nothing by itself; name the exact words to erase");
    }
    if wanted.chars().count() < LEAST_CHARS {
        return refused("erase/short", format!("at least {LEAST_CHARS} characters can be erased"));
    }
    let mut all = vec![wanted.to_owned()];
    if wanted.lines().count() > 1 {
        let lines = wanted.lines().map(str::trim).filter(|line| line.chars().count() >= LINE_CHARS);
        all.extend(lines.map(str::to_owned));
    }
    // The session's name is the beginning of its first message, cut.
    let titles = events.iter().filter(|event| event.kind == "session/renamed");
    for title in titles.filter_map(|event| event.clone().decode().ok()) {
        if let Some(Fact::SessionRenamed(named)) = title.fact {
            all.extend(cut_off(&named.title, wanted));
        }
    }
    let forms: Vec<String> = all.iter().flat_map(|one| forms(one)).collect();
    if forms.iter().any(|form| MARK.contains(form.as_str())) {
        return refused("erase/mark", "these words are part of what stands where words were erased");
    }
    Ok((says, forms))
}

/// The end of a title, where the title was cut within the words: `Use sk-ant-api03-8fK…`.
fn cut_off(title: &str, wanted: &str) -> Option<String> {
    let cut = title.strip_suffix('…')?.trim_end();
    let mut tails = cut.char_indices().map(|(at, _)| &cut[at..]);
    let tail = tails.find(|tail| wanted.starts_with(tail) && *tail != wanted)?;
    (tail.chars().count() >= LEAST_CHARS).then(|| tail.to_owned())
}

/// What an event says in words of its own.
fn says(fact: &Fact) -> String {
    match fact {
        Fact::InboxPosted(e) => e.text.clone(),
        Fact::UserMessage(e) => e.text.clone(),
        Fact::ContextNote(e) => e.text.clone(),
        Fact::SessionRenamed(e) => e.title.clone(),
        Fact::QuestionAnswered(e) => e.answer.clone(),
        Fact::ApprovalRefused(e) => e.why.clone().unwrap_or_default(),
        Fact::ToolResult(e) => e.text.clone(),
        Fact::ToolCancelled(e) => e.text.clone(),
        Fact::ToolOutcomeUnknown(e) => e.text.clone(),
        Fact::AssistantAccepted(e) => {
            let texts = e.blocks.iter().filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                Block::Reasoning { .. } | Block::Call { .. } => None,
            });
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}

/// Every event that holds the words, with what is left of it.
fn places(events: &[Recorded], words: &Words) -> Result<BTreeMap<u64, Left>, CommandError> {
    let mut places: BTreeMap<u64, Left> = BTreeMap::new();
    let mut turns: BTreeSet<&TurnId> = BTreeSet::new();
    let mut streamed: BTreeMap<&TurnId, String> = BTreeMap::new();
    for event in events {
        let left = words.out_of(event).map_err(|needed| CommandError {
            code: "erase/needed",
            message: format!("{needed}; choose more of the words around them"),
        })?;
        if let (true, Some(turn)) = (event.ignorable, &event.turn) {
            streamed.entry(turn).or_default().push_str(&piece(event));
        }
        if let Some(left) = left {
            turns.extend(&event.turn);
            places.insert(event.seq, left);
        }
    }
    if places.is_empty() && streamed.values().all(|text| !words.within(text)) {
        return refused("erase/nothing", "these words stand nowhere in this session");
    }
    // Pieces are cut anywhere, so where the words may stand in one, all of the turn's go.
    turns.extend(streamed.iter().filter(|(_, text)| words.within(text)).map(|(turn, _)| *turn));
    for event in events.iter().filter(|event| event.ignorable && event.payload.text().is_some()) {
        if event.turn.as_ref().is_some_and(|turn| turns.contains(turn)) {
            places.insert(event.seq, Left::Nothing);
        }
    }
    Ok(places)
}

/// The text of a streamed piece.
fn piece(event: &Recorded) -> String {
    match event.clone().decode().map(|event: Event| event.fact) {
        Ok(Some(Fact::AssistantDelta(e))) => e.deltas.iter().map(|delta| delta.text()).collect(),
        Ok(Some(Fact::ToolOutput(e))) => e.text,
        _ => String::new(),
    }
}

/// The laws hold without the words as they did with them.
fn lawful(events: &[Recorded], places: &BTreeMap<u64, Left>, epoch: u64) -> Result<(), CommandError> {
    let mut left = events.to_vec();
    for event in &mut left {
        let was = event.payload.digest();
        match places.get(&event.seq) {
            Some(Left::Text(text)) => event.payload = Payload::Redacted { was, left: text.as_str().into() },
            Some(Left::Nothing) => event.payload = Payload::Erased(was),
            None => {}
        }
    }
    let found = |events: &[Recorded]| {
        let findings = audit(events, epoch).into_iter().filter(|finding| finding.law != "erased");
        findings.map(|finding| (finding.law, finding.seq)).collect::<BTreeSet<_>>()
    };
    match found(&left).difference(&found(events)).next() {
        None => Ok(()),
        Some((law, seq)) => refused(
            "erase/needed",
            format!(
                "event {seq} doesn't hold without these words ({law}); choose more of the words around them"
            ),
        ),
    }
}

fn record(erase: &Erase, places: &BTreeMap<u64, Left>, blobs: &[Digest]) -> Vec<Draft> {
    let of = |left: &Left| match left {
        Left::Text(text) => Some(Digest::of(text.as_bytes())),
        Left::Nothing => None,
    };
    let events: Vec<ErasedEvent> =
        places.iter().map(|(seq, left)| ErasedEvent { seq: *seq, left: of(left) }).collect();
    let parts = events.len().div_ceil(NAMED).max(blobs.len().div_ceil(NAMED)).max(1);
    let part = |n: usize| RecordErased {
        by: ErasedBy::User,
        why: erase.why,
        chosen: erase.chosen,
        events: events.chunks(NAMED).nth(n).unwrap_or_default().to_vec(),
        blobs: blobs.chunks(NAMED).nth(n).unwrap_or_default().to_vec(),
    };
    (0..parts).map(|n| Draft::new(part(n))).collect()
}

fn text(left: Left) -> Option<Arc<str>> {
    match left {
        Left::Text(text) => Some(text.into()),
        Left::Nothing => None,
    }
}

fn all(reader: &Reader, session: &SessionId) -> Result<Vec<Recorded>, CommandFailure> {
    crate::verify::all(reader, session).map_err(CommandFailure::unreadable)
}

fn refused<T>(code: &'static str, message: impl Into<String>) -> Result<T, CommandError> {
    Err(CommandError { code, message: message.into() })
}
