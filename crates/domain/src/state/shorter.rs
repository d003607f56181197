//! The history's state: which generation of it the model reads, what stands for older parts, and what was asked for.
//!
//! The **generation** counts replacements, so that a cached prompt is keyed by it and not by a length. Laws: a replacement is
//! made from the generation that is there and makes the next; it ends between two steps; after a refusal for size only a
//! smaller request of a newer generation goes out.

use super::check::{Violation, require};
use super::types::{Prefix, State, Step, StepPhase};
use crate::event::{
    AttemptEndKind, CheckpointCommitted, ContextOverflowed, HistoryShortened, Purpose, RequestPrepared,
    Settled, Shrunk, SummaryPrepared,
};
use crate::ids::AttemptId;
use crate::model::Usage;
use serde::{Deserialize, Serialize};

type Verdict = Result<(), Violation>;

/// What the model reads instead of older parts of the history.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// Replacements so far.
    pub generation: u64,
    /// The checkpoint in force.
    pub checkpoint: Option<Standing>,
    /// Long results before this event are references.
    pub references: u64,
    /// A summary that waits to be part of a checkpoint.
    pub summary: Option<Summary>,
    /// Did the person ask for earlier work to be summarised?
    pub asked: bool,
    /// What a refusal for size taught about a model's window.
    pub window: Option<Window>,
    /// How the estimate of a request compares with what its service counted.
    pub measured: Option<Measured>,
}

/// A checkpoint in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Where it was committed.
    pub seq: u64,
    /// It stands for what lies before this event.
    pub upto: u64,
    /// Estimated tokens of the full history's request, as it was then.
    pub before: u64,
    /// Estimated tokens of the request with it.
    pub after: u64,
}

impl Standing {
    /// Estimated tokens of the full history's request, where the request with the checkpoint in it has this many.
    #[must_use]
    pub fn full(&self, tokens: u64) -> u64 {
        self.before + tokens.saturating_sub(self.after)
    }
}

/// A summary that a model gave, or didn't.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The generation it was made from.
    pub from: u64,
    /// It is about what lies before this event.
    pub upto: u64,
    /// The attempt and its words; `None` when it failed: then what the record knows stands alone.
    pub text: Option<(AttemptId, String)>,
}

/// What is known of a model's window because a request didn't fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The size in tokens that the service told.
    pub told: Option<u64>,
    /// Estimated tokens of the smallest request that was refused.
    pub refused: u64,
}

/// One request, estimated by us and counted by its service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// As estimated.
    pub estimated: u64,
    /// As counted.
    pub counted: u64,
}

/// What a prepared summary is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The generation it is made from.
    pub from: u64,
    /// It is about what lies before this event.
    pub upto: u64,
}

/// A request of the open step that was refused for its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooLarge {
    /// Its bytes.
    pub bytes: u64,
    /// Its estimated tokens.
    pub tokens: u64,
}

impl State {
    /// The state once this shortening is recorded.
    pub(super) fn shortened(&mut self, e: &HistoryShortened) {
        self.history.references = e.upto;
        self.replaced(e.generation);
    }

    /// The state once this checkpoint is recorded at `seq`. What the model was told of the surroundings may be among what it
    /// stands for, so it is told again.
    pub fn checkpointed(&mut self, e: &CheckpointCommitted, seq: u64) {
        // What an earlier checkpoint left out is missing in the request before this one, too.
        let Shrunk { before, after } = e.tokens;
        let before = self.history.checkpoint.map_or(before, |standing| standing.full(before));
        self.history.checkpoint = Some(Standing { seq, upto: e.upto, before, after });
        self.replaced(e.generation);
        (self.environment, self.told_added) = (None, None);
        self.documents.clear();
        if let Some(turn) = &mut self.turn
            && let Some(step) = &turn.step
            && turn.checkpoint_step != step.n
        {
            turn.checkpoints = if turn.checkpoint_step + 1 == step.n { turn.checkpoints + 1 } else { 1 };
            turn.checkpoint_step = step.n;
        }
    }

    /// Nothing stands for anything any more.
    pub(super) fn restored_in_full(&mut self, generation: u64) {
        (self.history.checkpoint, self.history.references) = (None, 0);
        self.replaced(generation);
    }

    fn replaced(&mut self, generation: u64) {
        (self.history.generation, self.history.summary) = (generation, None);
        self.history.asked = false;
    }

    /// A summary is about to be asked for.
    pub(super) fn summary_prepared(&mut self, e: &SummaryPrepared, seq: u64) {
        self.history.summary = None;
        if let Some(step) = self.open_step() {
            let about = Some(About { from: e.from, upto: e.upto });
            step.request =
                Some(super::Request { seq, body: e.body, bytes: e.bytes, tokens: e.tokens, about });
            (step.phase, step.tries) = (StepPhase::Prepared, 0);
        }
    }

    /// The open step's request didn't fit: a smaller one is to be built.
    pub(super) fn overflowed(&mut self, e: &ContextOverflowed) {
        let Some(step) = self.open_step() else { return };
        let Some(request) = &step.request else { return };
        let refused = TooLarge { bytes: request.bytes, tokens: request.tokens };
        (step.phase, step.refused, step.overflows) = (StepPhase::Claimed, Some(refused), step.overflows + 1);
        let (provider, model) = (step.model.provider.clone(), step.model.model.clone());
        let same = |window: &Window| window.provider == provider && window.model == model;
        let known = self.history.window.take().filter(same);
        let told = e.window.or(known.as_ref().and_then(|known| known.told));
        let refused = known.map_or(refused.tokens, |known| known.refused.min(refused.tokens));
        self.history.window = Some(Window { provider, model, told, refused });
    }

    /// An attempt at a summary ended.
    pub(super) fn summary_ended(&mut self, attempt: &AttemptId, end: &AttemptEndKind, about: About) {
        let text = match end {
            AttemptEndKind::Summarised { text } => Some((attempt.clone(), text.clone())),
            _ => None,
        };
        let again = match end {
            AttemptEndKind::Summarised { .. }
            | AttemptEndKind::Failed { .. }
            | AttemptEndKind::Unaccepted { .. } => true,
            AttemptEndKind::Accepted | AttemptEndKind::Cancelled | AttemptEndKind::Interrupted => false,
        };
        if again {
            self.history.summary = Some(Summary { from: about.from, upto: about.upto, text });
        }
        if let Some(step) = self.open_step() {
            step.phase = if again { StepPhase::Claimed } else { StepPhase::Exhausted };
        }
    }

    /// How a request was counted by its service.
    pub(super) fn measured(&mut self, settled: Settled) {
        let (Settled::Reported { tokens }, Some((_, step))) = (settled, self.step()) else { return };
        let Usage { input, cache_read, cache_write, .. } = tokens;
        let counted = input + cache_read + cache_write;
        let Some(request) = step.request.as_ref().filter(|_| counted > 0) else { return };
        let measured = Measured {
            provider: step.model.provider.clone(),
            model: step.model.model.clone(),
            estimated: request.tokens,
            counted,
        };
        self.history.measured = Some(measured);
    }

    fn open_step(&mut self) -> Option<&mut Step> {
        self.turn.as_mut().and_then(|turn| turn.step.as_mut())
    }
}

/// The generation that is there, and the next.
pub(super) fn generation(state: &State, from: u64, made: u64) -> Verdict {
    let now = state.history.generation;
    require(from == now && made == now + 1, "history/generation", || {
        format!("{made} from {from}, where {now} is")
    })
}

/// Ends between two steps, before the open one.
pub(super) fn between_steps(state: &State, upto: u64) -> Verdict {
    let open = state.step().map_or(state.next_seq, |(_, step)| step.at);
    require(upto <= open, "history/closed_steps", || {
        format!("{upto} is beyond {open}, where a step is open")
    })?;
    let standing = state.history.checkpoint.map_or(0, |standing| standing.upto);
    require(upto >= standing, "history/grows", || format!("{upto} is before {standing}"))
}

/// Nothing is replaced under a request that is out, nor after the step's answer.
pub(super) fn unsent(state: &State) -> Verdict {
    let phase = state.step().map(|(_, step)| &step.phase);
    require(matches!(phase, Some(StepPhase::Claimed)), "history/phase", || format!("the step is {phase:?}"))
}

pub(super) fn checkpoint(state: &State, e: &CheckpointCommitted) -> Verdict {
    generation(state, e.from, e.generation)?;
    between_steps(state, e.upto)?;
    unsent(state)?;
    require(!e.text.is_empty(), "checkpoint/text", || "it says nothing".into())?;
    let named = state.history.summary.as_ref().and_then(|summary| summary.text.as_ref());
    let named = named.map(|(attempt, _)| attempt);
    let fits = e.summary.is_none() || e.summary.as_ref() == named;
    require(fits, "checkpoint/summary", || format!("{:?}, where {named:?} waits", e.summary))
}

pub(super) fn shortening(state: &State, e: &HistoryShortened) -> Verdict {
    generation(state, e.from, e.generation)?;
    between_steps(state, e.upto)?;
    unsent(state)?;
    require(e.upto > state.history.references, "history/grows", || {
        format!("{} isn't beyond {}", e.upto, state.history.references)
    })
}

pub(super) fn summary(state: &State, e: &SummaryPrepared) -> Verdict {
    let now = state.history.generation;
    require(e.from == now, "history/generation", || format!("from {}, where {now} is", e.from))?;
    between_steps(state, e.upto)?;
    unsent(state)
}

/// A refusal for size is of the request that was just sent.
pub(super) fn overflow(state: &State, e: &ContextOverflowed) -> Verdict {
    let step = state.step().map(|(_, step)| step);
    let sent = step.filter(|step| step.phase == StepPhase::Exhausted).and_then(|step| step.request.as_ref());
    let fits = sent.is_some_and(|request| request.body == e.body && request.about.is_none());
    require(fits, "context/refused", || "not the body that was refused".into())
}

/// After a refusal for size, and after a replacement.
pub(super) fn request(state: &State, e: &RequestPrepared) -> Verdict {
    let generation = state.history.generation;
    let of = |prefix: &Prefix| e.opened.is_some() || prefix.generation == generation;
    require(state.prefix.as_ref().is_none_or(of), "prefix/generation", || {
        format!("it grows an epoch of another generation than {generation}")
    })?;
    let refused = state.step().and_then(|(_, step)| step.refused);
    require(refused.is_none_or(|refused| e.bytes < refused.bytes), "request/shrinks", || {
        format!("{} bytes after {refused:?} didn't fit", e.bytes)
    })
}

/// An attempt is for what its request is for.
pub(super) fn purpose(step: &Step, purpose: Purpose) -> Verdict {
    let summary = step.request.as_ref().is_some_and(|request| request.about.is_some());
    require(summary != purpose.is_answer(), "attempt/purpose", || format!("{purpose:?}"))
}
