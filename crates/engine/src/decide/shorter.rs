//! Making the history shorter: recording a replacement, asking for a summary, going on after a refusal for size.
//!
//! A summary is an attempt of the step like any other, with a purpose of its own; when it has ended, well or badly, the step is
//! prepared again and finds it. Invariants: no replacement is recorded from a generation that has passed; refusals for size
//! and checkpoints are bounded, and then the turn ends in words that say what to do.

use super::answer::{attempt_end, estimated, open_step};
use super::command::{Taken, done, no};
use super::spending::{self, Next};
use super::{Decision, Env, finish};
use crate::input::Shorter;
use domain::digest::Digest;
use domain::event::{
    AttemptEndKind, AttemptStart, CredentialUsed, Draft, End, Fact, HistoryAsked, HistoryRestored, Purpose,
    Settled, StepEnd, StepEndKind, SummaryPrepared, TurnEnd,
};
use domain::ids::{AttemptId, StepId};
use domain::model::{Block, ErrorClass, Outcome, StopReason};
use domain::state::{State, Step, StepPhase, Turn};

/// The code of the end of a turn whose request can't be made to fit.
pub const CANNOT_FIT: &str = "context/cannot_fit";

/// Fewest tokens of a request that are worth a summary.
const LITTLE: u64 = 2_000;

/// What preparing found instead of a request that fits.
pub(super) fn shorter(state: &State, step: &StepId, shorter: Shorter, env: &Env<'_>) -> Decision {
    let Some((turn, open)) = open_step(state, step) else { return finish::late(step.as_str(), "a request") };
    if turn.cancel.is_some() || open.phase != StepPhase::Claimed {
        return finish::late(step.as_str(), "a request");
    }
    let of_step = |fact: Fact| Draft::of_step(&turn.id, &open.id, fact);
    let now = state.history.generation;
    match shorter {
        // The history was replaced meanwhile: the step is prepared again from what there is.
        Shorter::References(e) if e.from != now => Decision::plain(Vec::new()),
        Shorter::Checkpoint(e) if e.from != now => Decision::plain(Vec::new()),
        Shorter::Ask { summary, .. } if summary.from != now => Decision::plain(Vec::new()),
        Shorter::References(e) => Decision::plain(vec![of_step(e.into())]),
        // A summary is asked for only where its checkpoint may follow.
        Shorter::Checkpoint(_) | Shorter::Ask { .. } if runs_over(turn, open, env) => {
            let value = u64::from(env.limits.checkpoints_in_a_row);
            finish::failed(state, turn, open, End::limit("checkpoints", value))
        }
        Shorter::Checkpoint(e) => Decision::barrier(vec![of_step((*e).into())]),
        Shorter::Ask { summary, credential } => {
            let next = Next::apart(summary.tokens);
            match spending::in_the_way(state, &open.model, next, env) {
                Some(met) => finish::failed(state, turn, open, met),
                None => ask(turn, open, summary, credential, env),
            }
        }
        Shorter::Nothing => Decision::plain(vec![
            of_step(StepEnd { step: open.id.clone(), end: StepEndKind::Summarised }.into()),
            Draft::of_turn(&turn.id, TurnEnd { end: End::NothingToDo }),
        ]),
        Shorter::CannotFit { needs, room } => cannot_fit(state, turn, open, needs, Some(room)),
    }
}

/// Did each of the last steps need a checkpoint, without one that didn't?
fn runs_over(turn: &Turn, step: &Step, env: &Env<'_>) -> bool {
    turn.checkpoints >= env.limits.checkpoints_in_a_row && turn.checkpoint_step + 1 == step.n
}

fn ask(
    turn: &Turn,
    step: &Step,
    summary: SummaryPrepared,
    credential: Option<(String, String)>,
    env: &Env<'_>,
) -> Decision {
    let of_step = |fact: Fact| Draft::of_step(&turn.id, &step.id, fact);
    let body = summary.body;
    let mut drafts = vec![of_step(summary.into())];
    if let Some((provider, source)) = credential {
        drafts.push(of_step(CredentialUsed { provider, source }.into()));
    }
    let (attempt, n) = (AttemptId::new(env.ids), step.attempts + 1);
    drafts.push(of_step(AttemptStart { attempt, n, body, purpose: Purpose::Summary }.into()));
    Decision::barrier(drafts)
}

/// The end of a turn whose request can't be made to fit.
fn cannot_fit(state: &State, turn: &Turn, step: &Step, needs: u64, room: Option<u64>) -> Decision {
    let room = match room {
        Some(room) => format!("at most {room} fit beside the answer"),
        None => "that is more than the service takes".to_owned(),
    };
    let message = format!(
        "the request needs about {needs} tokens and {room}; say it in fewer words, put long text into a file, or choose a \
         model that reads more"
    );
    finish::failed(state, turn, step, End::failed(CANNOT_FIT, message))
}

/// What an attempt at a summary gave.
pub(super) fn summarised(
    turn: &Turn,
    step: &Step,
    attempt: &AttemptId,
    outcome: &Outcome,
    raw: Option<Digest>,
) -> Decision {
    let texts = outcome.blocks.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        Block::Reasoning { .. } | Block::Call { .. } => None,
    });
    let text: String = texts.collect();
    let settled = match outcome.usage {
        Some(tokens) => Settled::Reported { tokens },
        None => estimated(step, &text),
    };
    let end = match (turn.cancel, outcome.stop, context::checkpoint::usable(&text)) {
        (Some(_), ..) => AttemptEndKind::Cancelled,
        (None, StopReason::Stop, Some(text)) => AttemptEndKind::Summarised { text },
        (None, stop, _) => AttemptEndKind::Unaccepted { stop, text },
    };
    Decision::barrier(vec![attempt_end(turn, step, attempt, end, settled, raw)])
}

/// Is it a refusal for size?
pub(super) fn is_size(class: ErrorClass) -> bool {
    matches!(class, ErrorClass::ContextOverflow | ErrorClass::TooLarge)
}

/// The service refused every size that was tried.
pub(super) fn refused(state: &State, turn: &Turn, step: &Step, window: Option<u64>) -> Decision {
    let needs = step.request.as_ref().map_or(0, |request| request.tokens);
    cannot_fit(state, turn, step, needs, window.filter(|window| *window < needs))
}

/// A step that was only there for a summary ends when that is done.
pub(super) fn only_summary(state: &State, turn: &Turn, step: &Step) -> Option<Decision> {
    let done = turn.source == domain::event::Source::Summary
        && step.phase == StepPhase::Claimed
        && !state.history.asked;
    let end = StepEnd { step: step.id.clone(), end: StepEndKind::Summarised };
    done.then(|| Decision::plain(vec![Draft::of_step(&turn.id, &step.id, end)]))
}

/// The person asks for a summary of earlier work.
pub(super) fn summarise(state: &State) -> Taken {
    if state.history.asked {
        return done(Vec::new());
    }
    if state.prefix.as_ref().is_none_or(|prefix| prefix.tokens < LITTLE) {
        return no("history/little", "there is little to summarise yet");
    }
    done(vec![Draft::new(HistoryAsked { from: state.history.generation })])
}

/// The person wants the model to read the full history again.
pub(super) fn in_full(state: &State, env: &Env<'_>) -> Taken {
    let history = &state.history;
    if history.checkpoint.is_none() && history.references == 0 {
        return no("history/full", "the model reads the full history already");
    }
    let choice = state.session.as_ref().and_then(|session| session.model.as_ref());
    let model = choice.and_then(|choice| env.knowledge.model(choice));
    let room = model.and_then(|model| context::budget::in_general(state, &model));
    let now = state.prefix.as_ref().map_or(0, |prefix| prefix.tokens);
    let needs = history.checkpoint.map_or(0, |standing| standing.full(now));
    if let Some(room) = room.filter(|room| needs > *room) {
        return no(
            "history/too_long",
            format!(
                "the full history needs about {needs} tokens, and this model has room for {room}; choose one that reads more"
            ),
        );
    }
    let (generation, from) = (history.generation + 1, history.generation);
    done(vec![Draft::new(HistoryRestored { generation, from })])
}
