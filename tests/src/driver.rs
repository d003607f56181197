//! The person at the desk: answers what comes up until the session rests, or its process is dead.

use crate::rig::Process;
use domain::call::{Facts, Question};
use domain::event::{Fact, Resolution};
use domain::ids::SessionId;
use domain::state::{ApprovalState, Job, JobPhase, State};
use engine::{Command, CommandFailure};
use std::time::Duration;

/// How the person answers.
#[derive(Clone)]
pub struct Answers {
    /// Yes to this act? A refusal with a reason otherwise.
    pub allow: fn(&Facts) -> Result<(), String>,
    /// What to say to a question.
    pub say: fn(&Question) -> String,
    /// What became of a call whose outcome is unknown; `None` leaves it open.
    pub resolve: Option<Resolution>,
}

impl Default for Answers {
    fn default() -> Self {
        Self { allow: |_| Ok(()), say: |_| "yes".to_owned(), resolve: Some(Resolution::Done) }
    }
}

/// How a drive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Nothing more to do.
    Resting,
    /// Only the person could go on, and says nothing.
    Waiting,
    /// The process died.
    Dead,
}

/// Longest time, on the paused clock, that a run may take.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Answers until the session rests.
///
/// # Panics
/// When the session neither rests nor waits for the person within a day of simulated time.
pub async fn drive(process: &Process, session: &SessionId, answers: &Answers) -> Ended {
    let mut news = process.engine.store().subscribe();
    let started = tokio::time::Instant::now();
    let mut refused = 0;
    loop {
        if process.faults.is_dead() {
            return Ended::Dead;
        }
        let state = match process.engine.state(session) {
            Ok(state) => state,
            // A disk that fails for now: looked at again, like a person would.
            Err(store::ReadError::Sql { .. }) if refused < 100 => {
                refused += 1;
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
            Err(error) => panic!("the session can't be read: {error}"),
        };
        if rests(&state) {
            return Ended::Resting;
        }
        if let Some(command) = answer(&process.engine, session, &state, answers) {
            // A command that came too late is answered by the next look; one that is always refused is a mistake.
            let taken = process.engine.command(session, command.clone()).await;
            refused = if taken.is_err() { refused + 1 } else { 0 };
            assert!(refused < 100 || process.faults.is_dead(), "{command:?} is always refused: {taken:?}");
            if matches!(taken, Err(CommandFailure::Store(_))) {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            continue;
        }
        assert!(started.elapsed() < PATIENCE, "the session doesn't come to rest: {state:#?}");
        let heard = tokio::time::timeout(Duration::from_secs(3_600), news.next()).await;
        if heard.is_err() && state.needs_you() > 0 {
            return Ended::Waiting;
        }
    }
}

/// No turn is open, nothing would start one, and no job goes on.
fn rests(state: &State) -> bool {
    let wakes = state.inbox.iter().any(|waiting| waiting.wakeup);
    let going = |job: &Job| !matches!(job.phase, JobPhase::Reconciling(_));
    let at_work = state.turn.is_some() || state.jobs.iter().any(going);
    !at_work && !wakes && state.continuation.is_none() && state.unknown.is_empty()
}

fn answer(engine: &engine::Engine, session: &SessionId, state: &State, answers: &Answers) -> Option<Command> {
    if let (Some(unknown), Some(resolution)) = (state.unknown.first(), answers.resolve) {
        return Some(Command::Resolve { call: unknown.call.clone(), resolution });
    }
    let (_, step) = state.step()?;
    for call in step.calls.iter().filter(|call| !call.ended()) {
        if let Some(approval) =
            call.approval.as_ref().filter(|approval| approval.state == ApprovalState::Open)
        {
            let facts = facts_of(engine, session, &approval.id)?;
            return Some(match (answers.allow)(&facts) {
                Ok(()) => {
                    Command::Grant { approval: approval.id.clone(), digest: approval.digest, offer: None }
                }
                Err(why) => Command::Refuse { approval: approval.id.clone(), why: Some(why) },
            });
        }
        if let Some(question) = call.question.as_ref().filter(|question| question.answer.is_none()) {
            return Some(Command::Answer {
                question: question.id.clone(),
                text: (answers.say)(&question.body),
            });
        }
    }
    None
}

/// What the card shows: the facts recorded with the request.
fn facts_of(engine: &engine::Engine, session: &SessionId, id: &domain::ids::ApprovalId) -> Option<Facts> {
    let events = engine.store().events(session, 0, usize::MAX >> 1).ok()?;
    events.into_iter().rev().find_map(|event| match event.decode().ok()?.fact? {
        Fact::ApprovalRequested(asked) if asked.approval == *id => Some(asked.facts),
        _ => None,
    })
}
