//! Erasing words from records: finding every place they stand in, and taking them out of all of them at once.
//!
//! The person chooses an event, and the exact words in it or all it says. The words go from every event of the session, or of
//! all that hold them, in every form they may be written in, and from every blob of the store; pieces that were only
//! streamed go whole with their turn. Invariants: nothing is changed unless what is left still obeys every law; it is worked
//! out from the records as they are, and refused when one has moved on.

mod elsewhere;
mod says;

use crate::actor::CommandFailure;
use crate::decide::{CommandError, may_erase};
use crate::shared::Shared;
use domain::audit::audit;
use domain::digest::Digest;
use domain::erasure::{Left, Words};
use domain::event::{Draft, ErasedBy, ErasedEvent, ErasedWhy, Event, Fact, Payload, RecordErased, Recorded};
use domain::ids::SessionId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{Append, Gone, OfSession, Reader, Removal};
use tools::redact::Written;

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
    /// From where.
    pub reach: Reach,
}

/// Whose events words are erased from. Contents go whoever named them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The chosen event's session.
    Session,
    /// Every session that holds them.
    Everywhere,
}

/// What an erasure would touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasable {
    /// All that the chosen event says.
    pub says: String,
    /// Events that hold the words, with their types; the chosen one is among them.
    pub places: Vec<(u64, String)>,
    /// Other sessions whose events hold them.
    pub elsewhere: Vec<SessionId>,
    /// The words in all their forms, to look for them in what isn't in any record.
    pub words: Words,
}

/// What an erasure did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased {
    /// Where it is on record.
    pub seq: u64,
    /// Events it took words out of, in all sessions.
    pub events: u64,
    /// Other sessions among them.
    pub sessions: u64,
    /// Blobs that went: parts of requests, results, and contents kept for undo.
    pub blobs: u64,
    /// Copies of the store kept from before updates that went.
    pub copies: u64,
    /// Why old bytes may still be on the disk; the next start tries again.
    pub unfinished: Option<String>,
}

/// What erasing would touch. Blocks: every record is read.
pub(crate) fn preview(
    reader: &Reader,
    session: &SessionId,
    erase: &Erase,
) -> Result<Erasable, CommandFailure> {
    let events = all(reader, session)?;
    let (says, wanted) = says::wanted(&events, erase)?;
    let others = elsewhere::holding(reader, session, &wanted)?;
    let own = Held::of(session, events, &wanted)?;
    let held = own.events.into_iter().filter(|event| own.places.contains_key(&event.seq));
    Ok(Erasable {
        says,
        places: held.map(|event| (event.seq, event.kind)).collect(),
        elsewhere: others.into_iter().map(|other| other.session).collect(),
        words: Words::new(own.forms),
    })
}

/// What is taken out with the events that say so, and what that does. Blocks: every blob is read.
pub(crate) fn work_out(
    shared: &Shared,
    session: &SessionId,
    erase: &Erase,
) -> Result<(Removal, Erased), CommandFailure> {
    let events = all(&shared.store, session)?;
    let state = shared.store.state(session).map_err(CommandFailure::unreadable)?;
    may_erase(&state, events.len() as u64)?;
    let (_, wanted) = says::wanted(&events, erase)?;
    let mut held = vec![Held::of(session, events, &wanted)?];
    if erase.reach == Reach::Everywhere {
        for other in elsewhere::holding(&shared.store, session, &wanted)? {
            held.push(elsewhere::erasable(&shared.store, other)?);
        }
    }
    held.iter().try_for_each(|one| lawful(&one.events, &one.places, shared.store.epoch()))?;
    let written = Written::new(&held.iter().flat_map(|one| one.forms.clone()).collect::<Vec<_>>());
    let blobs =
        shared.store.blobs_that(&|bytes| written.within(bytes)).map_err(CommandFailure::unreadable)?;
    let mut erased = Erased {
        seq: 0,
        events: held.iter().map(|one| one.places.len() as u64).sum(),
        sessions: held.len() as u64 - 1,
        blobs: blobs.len() as u64,
        copies: 0,
        unfinished: None,
    };
    let sessions = held.into_iter().map(|one| match one.session == *session {
        true => {
            let own = one.taken_out(erase.why, erase.chosen, &blobs);
            erased.seq = own.append.expected_seq + own.append.drafts.len() as u64 - 1;
            own
        }
        // What went of the blobs is named once.
        false => {
            let first = one.places.keys().next().copied().unwrap_or_default();
            one.taken_out(erase.why, first, &[])
        }
    });
    let sessions = sessions.collect();
    Ok((Removal { sessions, blobs, why: Gone::Erased }, erased))
}

/// A session that holds the words.
struct Held {
    session: SessionId,
    /// Its whole record.
    events: Vec<Recorded>,
    /// All forms that are looked for in it.
    forms: Vec<String>,
    /// What is left of each event that holds one.
    places: BTreeMap<u64, Left>,
}

impl Held {
    fn of(session: &SessionId, events: Vec<Recorded>, wanted: &[String]) -> Result<Self, CommandError> {
        let forms = says::forms_in(&events, wanted)?;
        let places = places(&events, &Words::new(forms.iter().cloned()))?;
        Ok(Self { session: session.clone(), events, forms, places })
    }

    /// What goes of it, with the events that say so.
    fn taken_out(self, why: ErasedWhy, chosen: u64, blobs: &[Digest]) -> OfSession {
        let append = Append {
            session: self.session,
            expected_seq: self.events.len() as u64,
            drafts: record(why, chosen, &self.places, blobs),
        };
        OfSession { append, payloads: self.places.into_iter().map(|(seq, left)| (seq, text(left))).collect() }
    }
}

/// Every event that holds the words, with what is left of it.
fn places(events: &[Recorded], words: &Words) -> Result<BTreeMap<u64, Left>, CommandError> {
    let mut places: BTreeMap<u64, Left> = BTreeMap::new();
    let mut streams: BTreeSet<String> = BTreeSet::new();
    let streamed = streamed(events);
    for event in events {
        let left = words.out_of(event).map_err(|needed| CommandError {
            code: "erase/needed",
            message: format!("{needed}; choose more of the words around them"),
        })?;
        if let Some(left) = left {
            streams.extend(stream(event));
            places.insert(event.seq, left);
        }
    }
    if places.is_empty() && streamed.values().all(|text| !words.within(text)) {
        return refused("erase/nothing", "these words stand nowhere in this session");
    }
    // Pieces are cut anywhere, so where the words may stand in one, all of the turn's or of the job's go.
    streams.extend(streamed.into_iter().filter(|(_, text)| words.within(text)).map(|(stream, _)| stream));
    for event in events.iter().filter(|event| event.ignorable && event.payload.text().is_some()) {
        if stream(event).is_some_and(|stream| streams.contains(&stream)) {
            places.insert(event.seq, Left::Nothing);
        }
    }
    Ok(places)
}

/// All that was streamed in each turn and of each job, joined.
fn streamed(events: &[Recorded]) -> BTreeMap<String, String> {
    let mut streamed: BTreeMap<String, String> = BTreeMap::new();
    for event in events.iter().filter(|event| event.ignorable) {
        if let Some(stream) = stream(event) {
            streamed.entry(stream).or_default().push_str(&piece(event));
        }
    }
    streamed
}

/// What an event's pieces stream with: the job it is about, or its turn.
fn stream(event: &Recorded) -> Option<String> {
    let job = match event.kind.starts_with("job/").then(|| event.clone().decode()) {
        Some(Ok(Event { fact: Some(Fact::JobOutput(e)), .. })) => Some(e.job.to_string()),
        Some(Ok(Event { fact: Some(Fact::JobEnded(e)), .. })) => Some(e.job.to_string()),
        Some(_) | None => None,
    };
    job.or_else(|| event.turn.as_ref().map(ToString::to_string))
}

/// The text of a streamed piece.
fn piece(event: &Recorded) -> String {
    match event.clone().decode().map(|event: Event| event.fact) {
        Ok(Some(Fact::AssistantDelta(e))) => e.deltas.iter().map(|delta| delta.text()).collect(),
        Ok(Some(Fact::ToolOutput(e))) => e.text,
        Ok(Some(Fact::JobOutput(e))) => e.text,
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

fn record(why: ErasedWhy, chosen: u64, places: &BTreeMap<u64, Left>, blobs: &[Digest]) -> Vec<Draft> {
    let of = |left: &Left| match left {
        Left::Text(text) => Some(Digest::of(text.as_bytes())),
        Left::Nothing => None,
    };
    let events: Vec<ErasedEvent> =
        places.iter().map(|(seq, left)| ErasedEvent { seq: *seq, left: of(left) }).collect();
    let parts = events.len().div_ceil(NAMED).max(blobs.len().div_ceil(NAMED)).max(1);
    let part = |n: usize| RecordErased {
        by: ErasedBy::User,
        why,
        chosen,
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
