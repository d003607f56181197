//! Claiming: choosing work and starting its turn, and the next step of an open turn, each in one transaction.
//!
//! Order of work: recovery, the person's message, follow-up, notices of jobs and other notes of ours, a summary that was asked
//! for. Invariant: a turn begins by claiming one piece of work, and
//! the messages of a step are reserved in the transaction that starts it, so no crash falls in between.

use super::closing::{self, Closing};
use super::spending::{self, Next};
use super::{Decision, Env};
use domain::event::{
    Draft, End, InboxReserved, ModelChoice, Origin, Source, StepEndKind, StepStart, Target, TurnEnd,
    TurnStart,
};
use domain::ids::{MessageId, StepId, TurnId};
use domain::model::ModelSnapshot;
use domain::state::{State, Turn, Waiting};

/// The next turn, when there is work, nobody else's turn is in the way, and the app isn't closing.
pub(super) fn turn(state: &State, env: &Env<'_>) -> Option<Decision> {
    if env.closing || !env.slot {
        return None;
    }
    let source = runnable(state)?;
    let turn = TurnId::new(env.ids);
    let mut messages: Vec<MessageId> = Vec::new();
    if let Source::Message { message } = &source {
        messages.push(message.clone());
    }
    // A turn for a summary sends no words of the person.
    let reads = source != Source::Summary;
    messages.extend(
        next_step(state)
            .map(|waiting| waiting.message.clone())
            .filter(|m| reads && !messages.contains(m))
            .collect::<Vec<_>>(),
    );
    let mut drafts = vec![Draft::of_turn(&turn, TurnStart { turn: turn.clone(), source })];
    drafts.extend(begin(state, &turn, 1, messages, env));
    Some(Decision::plain(drafts))
}

/// What a new turn would claim, in the scheduler's order.
pub(super) fn runnable(state: &State) -> Option<Source> {
    state.session.as_ref()?;
    if state.restoring.is_some() {
        return None;
    }
    if let Some(of) = &state.continuation
        && state.unknown_of(of).next().is_none()
    {
        return Some(Source::Recovery { of: of.clone() });
    }
    let wakes = |fits: &dyn Fn(&Waiting) -> bool| {
        state.inbox.iter().find(|waiting| waiting.wakeup && waiting.reserved.is_none() && fits(waiting))
    };
    let said = |target| wakes(&|waiting| waiting.origin == Origin::User && waiting.target == target);
    match said(Target::NextStep).or_else(|| said(Target::NextTurn)).or_else(|| wakes(&|_| true)) {
        Some(first) => Some(Source::Message { message: first.message.clone() }),
        None => state.history.asked.then_some(Source::Summary),
    }
}

/// Between steps: the next step, or the end of the turn.
pub(super) fn step(state: &State, turn: &Turn, env: &Env<'_>) -> Option<Decision> {
    let end = |end| Some(Decision::plain(vec![Draft::of_turn(&turn.id, TurnEnd { end })]));
    if let Some(by) = turn.cancel {
        return end(End::Cancelled { by });
    }
    let waiting: Vec<MessageId> = next_step(state).map(|waiting| waiting.message.clone()).collect();
    match turn.last {
        None if turn.steps == 0 => return end(End::NothingToDo),
        // Another model goes on, or the same one with a note of ours.
        None => {}
        Some(StepEndKind::Answer) if waiting.is_empty() => {
            let closing = Closing { state, turn, end: &End::Completed, unaccepted: &[] };
            let goes_on = closing::extended(&closing, env).map(Decision::plain);
            return goes_on.or_else(|| end(End::Completed));
        }
        Some(StepEndKind::Summarised) => return end(End::Completed),
        Some(StepEndKind::Answer) => {}
        Some(StepEndKind::Tools) => {
            if state.unknown_of(&turn.id).next().is_some() {
                let spoken = state.inbox.iter().any(|w| w.wakeup && w.origin == Origin::User);
                return if spoken { end(End::Blocked { why: "outcome_unknown".into() }) } else { None };
            }
            if turn.refused_steps >= env.limits.refused_steps {
                return end(End::Rejected);
            }
            if let Some(length) = cycle(turn, env.limits.repeats) {
                return end(End::limit("repeats", length as u64));
            }
        }
        Some(StepEndKind::Failed | StepEndKind::Cancelled | StepEndKind::Interrupted) => {
            let message = "the last step ended without the turn's end".to_owned();
            return end(End::failed("internal", message));
        }
    }
    if turn.steps >= env.limits.steps_per_turn {
        return end(End::limit("steps", u64::from(turn.steps)));
    }
    if let Some(met) = spending::in_the_way(state, &snapshot(chosen(state), env), Next::default(), env) {
        return end(met);
    }
    Some(Decision::plain(begin(state, &turn.id, turn.steps + 1, waiting, env)))
}

/// Starts a step and reserves its messages.
fn begin(state: &State, turn: &TurnId, n: u32, messages: Vec<MessageId>, env: &Env<'_>) -> Vec<Draft> {
    let step = StepId::new(env.ids);
    let mut model = snapshot(chosen(state), env);
    model.effort = model.abilities.effort(state.session.as_ref().and_then(|session| session.effort));
    let start = StepStart { step: step.clone(), n, model };
    let mut drafts = vec![Draft::of_step(turn, &step, start)];
    if !messages.is_empty() {
        drafts.push(Draft::of_step(turn, &step, InboxReserved { messages, step: step.clone() }));
    }
    drafts
}

/// The model to ask: the session's, or the one that goes on for it in this turn.
fn chosen(state: &State) -> ModelChoice {
    let instead = state.turn.as_ref().and_then(|turn| turn.model.clone());
    let chosen = instead.or_else(|| state.session.as_ref()?.model.clone());
    chosen.unwrap_or(ModelChoice { provider: String::new(), model: String::new() })
}

/// A model's capabilities; a connection that is gone gives a snapshot without a dialect, and preparing says so.
fn snapshot(choice: ModelChoice, env: &Env<'_>) -> ModelSnapshot {
    env.knowledge.model(&choice).unwrap_or(ModelSnapshot {
        provider: choice.provider,
        dialect: String::new(),
        model: choice.model,
        context_tokens: None,
        max_output_tokens: 0,
        parallel_calls: false,
        calls_as_text: false,
        abilities: Default::default(),
        effort: None,
        price: None,
    })
}

/// Messages that the next step of any turn reads.
fn next_step(state: &State) -> impl Iterator<Item = &Waiting> {
    state.inbox.iter().filter(|waiting| waiting.reserved.is_none() && waiting.target == Target::NextStep)
}

/// The length of a run of steps that repeats with the same results at the end of the turn, if one does.
fn cycle(turn: &Turn, times: usize) -> Option<usize> {
    let prints = &turn.fingerprints;
    (1..=3).find(|length| {
        let needed = length * times;
        prints.len() >= needed && {
            let tail = &prints[prints.len() - needed..];
            tail.iter().zip(tail.iter().skip(*length)).all(|(one, next)| one == next)
        }
    })
}
