//! Making the history shorter: references for long results first, then a checkpoint, with a summary where a model gives one.
//!
//! Each candidate is measured as the very request it would lead to. Invariants: only closed steps are replaced; what doesn't
//! save a fifth isn't done; a summary is asked for in a request of its own that is bounded and never leads back here.

use super::prepare::{Ground, Whole, tokens_of};
use crate::input::Shorter;
use crate::ports::Problem;
use bytes::Bytes;
use context::checkpoint::{self, Cut, Known, Rooms};
use context::documents::{Documents as _, NAME};
use domain::digest::Digest;
use domain::event::{CheckpointCommitted, Fact, HistoryShortened, ShortenWhy, Shrunk, SummaryPrepared};
use domain::state::{Standing, State, Summary};
use providers::{Body, Markers};

/// Most tokens of what the record knows, in a checkpoint.
const KNOWN: u64 = 12_000;
/// Most tokens of a model's summary in it.
const SUMMARY: u64 = 6_000;
/// Most tokens that are given to a model to summarise.
const MATERIAL: u64 = 100_000;
/// What a request must save to be worth replacing anything, in hundredths.
const LEAST_GAIN: u64 = 20;

/// How a checkpoint is laid out: shares of the room, tried one after the other until one fits.
struct Layout {
    /// Newest steps that stay word for word.
    tail: u64,
    /// The parts of the text.
    rooms: Rooms,
}

/// What to do so that the open step's request fits `room`, or because the person asked.
pub(super) fn shorter(
    ground: &Ground<'_>,
    whole: &Whole,
    room: Option<u64>,
    credential: &Option<(String, String)>,
) -> Result<Shorter, Problem> {
    let facts = ground.facts(0)?;
    let mut work = Work::new(ground, whole.tokens, room, facts);
    let history = &ground.state.history;
    let summary = history.summary.as_ref().filter(|summary| summary.from == history.generation);
    if let Some(summary) = summary
        && let Some(checkpoint) = work.commit(summary)?
    {
        return Ok(checkpoint);
    }
    if work.why != ShortenWhy::Asked
        && let Some(references) = work.references()?
    {
        return Ok(Shorter::References(references));
    }
    for layout in work.layouts() {
        let Some(cut) = checkpoint::cut(&work.facts, work.standing(), work.ground.step.at, layout.tail)
        else {
            continue;
        };
        // The summary that is there was of no use for as much.
        if summary.is_some_and(|summary| cut.upto <= summary.upto) {
            continue;
        }
        let base = work.base(&cut)?;
        let alone = work.candidate(&base, None, &layout)?;
        if work.worth(alone.tokens.after + layout.rooms.summary) {
            return work.ask(&cut, &layout, credential.clone());
        }
    }
    work.cannot()
}

/// A cut, and what is the same of every checkpoint there.
struct Base {
    cut: Cut,
    known: Known,
    chain: Digest,
}

struct Work<'a> {
    ground: &'a Ground<'a>,
    facts: Vec<(u64, Fact)>,
    /// Estimated tokens of the request without any of this.
    before: u64,
    /// Most it may have.
    room: u64,
    why: ShortenWhy,
}

impl<'a> Work<'a> {
    fn new(ground: &'a Ground<'a>, before: u64, room: Option<u64>, facts: Vec<(u64, Fact)>) -> Self {
        let why = match room {
            _ if ground.step.refused.is_some() => ShortenWhy::Overflow,
            Some(room) if before > room => ShortenWhy::Budget,
            Some(_) | None => ShortenWhy::Asked,
        };
        Self { ground, facts, before, room: room.unwrap_or(before).min(before.max(1)), why }
    }

    fn state(&self) -> &State {
        self.ground.state
    }

    fn standing(&self) -> u64 {
        self.state().history.checkpoint.map_or(0, |standing| standing.upto)
    }

    /// Generous first; the last one keeps next to nothing. Who asks for a summary isn't in need of the meagre ones.
    fn layouts(&self) -> impl Iterator<Item = Layout> + use<> {
        let room = self.room;
        let (words, tries) = if self.why == ShortenWhy::Asked { (1, 1) } else { (2, 3) };
        let layouts = [(4, words, 6, 8), (10, 4, 8, 12), (room + 1, 12, 16, 24)];
        layouts.into_iter().take(tries).map(move |(tail, words, known, summary)| Layout {
            tail: room / tail,
            rooms: Rooms {
                words: room / words,
                known: (room / known).min(KNOWN),
                summary: (room / summary).min(SUMMARY),
            },
        })
    }

    /// Does a request of this size fit, and save enough?
    fn worth(&self, after: u64) -> bool {
        after <= self.room && after * 100 <= self.before * (100 - LEAST_GAIN)
    }

    /// Estimated tokens once this fact is recorded.
    fn after(&mut self, fact: Fact, change: impl FnOnce(&mut State, u64)) -> Result<u64, Problem> {
        let mut state = self.state().clone();
        let seq = state.next_seq;
        change(&mut state, seq);
        state.next_seq += 1;
        self.facts.push((seq, fact));
        let measured = self.ground.measure(&state, &self.facts);
        self.facts.pop();
        measured
    }

    /// References for long results, where that alone is enough for a while.
    fn references(&mut self) -> Result<Option<HistoryShortened>, Problem> {
        let history = &self.state().history;
        let since = history.references.max(self.standing());
        let (upto, results) = checkpoint::references(&self.facts, since, self.ground.step.at);
        if results == 0 || upto <= history.references {
            return Ok(None);
        }
        let tokens = Shrunk { before: self.before, after: 0 };
        let (generation, from) = (history.generation + 1, history.generation);
        let mut shortened = HistoryShortened { generation, from, upto, results, tokens, why: self.why };
        let after = self.after(shortened.clone().into(), |_, _| {})?;
        shortened.tokens.after = after;
        // What fits only just would be too much again with the next results.
        let lasting = after <= self.room * 85 / 100;
        Ok((lasting && self.worth(after)).then_some(shortened))
    }

    /// What doesn't depend on the layout; it takes the whole log.
    fn base(&self, cut: &Cut) -> Result<Base, Problem> {
        let known = checkpoint::known(self.state(), &self.facts, cut.upto, cut.steps);
        Ok(Base { cut: *cut, known, chain: self.chain(cut.upto)? })
    }

    /// The checkpoint at this cut.
    fn candidate(
        &mut self,
        base: &Base,
        summary: Option<&Summary>,
        layout: &Layout,
    ) -> Result<CheckpointCommitted, Problem> {
        let history = &self.state().history;
        let Base { cut, known, chain } = base;
        let words = summary.and_then(|summary| summary.text.as_ref());
        let text = checkpoint::text(known, words.map(|(_, text)| text.as_str()), layout.rooms);
        let mut checkpoint = CheckpointCommitted {
            generation: history.generation + 1,
            from: history.generation,
            upto: cut.upto,
            chain: *chain,
            steps: cut.steps,
            kept: cut.kept,
            text,
            summary: words.map(|(attempt, _)| attempt.clone()),
            tokens: Shrunk { before: self.before, after: 0 },
            why: self.why,
        };
        let supposed = checkpoint.clone();
        checkpoint.tokens.after =
            self.after(checkpoint.clone().into(), |state, seq| state.checkpointed(&supposed, seq))?;
        Ok(checkpoint)
    }

    /// The hash of the last event before this one.
    fn chain(&self, upto: u64) -> Result<Digest, Problem> {
        let before = self.ground.shared.store.events(self.ground.session, upto.saturating_sub(1), 1);
        let before = before.map_err(|error| {
            let error = crate::prompt::RebuildError::Read(error);
            trouble(super::prepare::unread(&error), &error)
        })?;
        before.first().map(|event| event.hash).ok_or_else(|| trouble("store/read", &"an event is missing"))
    }

    /// The request for a summary of what lies before the cut.
    fn ask(
        &self,
        cut: &Cut,
        layout: &Layout,
        credential: Option<(String, String)>,
    ) -> Result<Shorter, Problem> {
        let Ground { dialect, step, folder, .. } = self.ground;
        let standing = self.state().history.checkpoint;
        let earlier = standing.and_then(|standing| self.text_of(standing)).and_then(checkpoint::summary_of);
        let priorities = folder.read(NAME).and_then(|document| checkpoint::priorities(&document.text));
        let room = self.room.min(MATERIAL).saturating_sub(layout.rooms.summary);
        // A token is about three quarters of a word.
        let words = layout.rooms.summary * 3 / 4;
        let asked = checkpoint::ask(
            &self.facts,
            (self.standing(), cut.upto),
            earlier,
            priorities.as_deref(),
            room,
            words,
        );
        let head = Bytes::from(dialect.head(&step.model, &asked.head));
        let segment = Bytes::from(dialect.segment(&asked.messages));
        let body = Body::assemble(&**dialect, &head, std::slice::from_ref(&segment), &Markers::default());
        let summary = SummaryPrepared {
            from: self.state().history.generation,
            upto: cut.upto,
            dialect: dialect.name().to_owned(),
            adapter: dialect.adapter_version(),
            head: self.ground.keep_head(&head)?,
            segment: self.ground.attach(&segment)?,
            body: body.digest(),
            bytes: body.len() as u64,
            tokens: tokens_of(&head) + tokens_of(&segment),
        };
        Ok(Shorter::Ask { summary, credential })
    }

    fn text_of(&self, standing: Standing) -> Option<&str> {
        let found = self.facts.iter().find(|(seq, _)| *seq == standing.seq);
        match found {
            Some((_, Fact::CheckpointCommitted(e))) => Some(&e.text),
            Some(_) | None => None,
        }
    }

    /// The checkpoint whose summary is there, or failed; `None` where it wouldn't be worth it.
    fn commit(&mut self, summary: &Summary) -> Result<Option<Shorter>, Problem> {
        let base = self.base(&checkpoint::cut_at(&self.facts, summary.upto, self.ground.step.at))?;
        for layout in self.layouts() {
            let candidate = self.candidate(&base, Some(summary), &layout)?;
            if self.worth(candidate.tokens.after) {
                return Ok(Some(Shorter::Checkpoint(Box::new(candidate))));
            }
        }
        Ok(None)
    }

    /// Nothing helps: the smallest request there could be is still too large, or nothing is worth it.
    fn cannot(&self) -> Result<Shorter, Problem> {
        if self.why == ShortenWhy::Asked {
            return Ok(Shorter::Nothing);
        }
        Ok(Shorter::CannotFit { needs: self.before, room: self.room })
    }
}

fn trouble(code: &str, error: &dyn std::fmt::Display) -> Problem {
    Problem { code: code.to_owned(), message: error.to_string() }
}
