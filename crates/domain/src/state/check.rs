//! The law: State × Event → allowed, or the violation by name.
//!
//! Every append passes here, so whatever writer has a mistake in it fails loudly before anything is written. One arm a
//! fact, each a call to a small law. Invariant: `check` accepts exactly what the state machines allow; `audit` relies
//! on it for whole logs.

use super::types::*;
use super::{extended, job, shorter};
use crate::event::*;
use crate::ids::{CallId, MessageId, StepId, TurnId};

/// A law that an event would break.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{law}: {detail}")]
pub struct Violation {
    /// Which law: `session/first`, `turn/one_open`, `call/one_terminal`, …
    pub law: &'static str,
    /// What exactly.
    pub detail: String,
}

pub(super) type Verdict = Result<(), Violation>;

fn violation(law: &'static str, detail: impl Into<String>) -> Verdict {
    Err(Violation { law, detail: detail.into() })
}

pub(super) fn require(holds: bool, law: &'static str, detail: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { violation(law, detail()) }
}

pub(super) fn check(state: &State, draft: &Draft) -> Verdict {
    let fact = &draft.fact;
    match (&state.session, fact) {
        (None, Fact::SessionCreated(_)) => {
            return require(state.next_seq == 0, "session/first", || "not at 0".into());
        }
        (None, _) => {
            return violation("session/first", format!("{} before session/created", fact.kind().name));
        }
        (Some(_), _) => {}
    }
    sources(state, draft)?;
    scope(state, draft)?;
    match fact {
        Fact::SessionCreated(_) => violation("session/first", "created twice"),
        Fact::SessionRenamed(e) => require(!e.title.trim().is_empty(), "session/title", || "empty".into()),
        Fact::SessionMode(_) | Fact::SessionModel(_) | Fact::SessionEffort(_) => Ok(()),
        Fact::FolderIdentified(_) => Ok(()),
        Fact::FolderAdded(e) => state.may_add(e).map_err(|unfit| unfit.violation()),
        Fact::FolderRemoved(e) => require(state.added.contains_key(&e.folder), "folder/known", || {
            format!("{} isn't added", e.folder)
        }),
        Fact::InboxPosted(e) => posted(state, e),
        Fact::InboxReserved(e) => reserved(state, e),
        Fact::InboxReleased(e) => each_waiting(state, &e.messages, "inbox/release", |w| w.reserved.is_some()),
        Fact::InboxCancelled(e) => {
            each_waiting(state, std::slice::from_ref(&e.message), "inbox/cancel", |w| w.reserved.is_none())
        }
        Fact::TurnStart(e) => turn_start(state, e),
        Fact::TurnCancel(_) => open_turn(state).map(drop),
        Fact::TurnEnd(e) => turn_end(state, e),
        Fact::TurnExtended(e) => extended::check(state, e),
        Fact::ModelSwitched(e) => model_switched(state, e),
        Fact::StepStart(e) => step_start(state, e),
        Fact::StepEnd(e) => step_end(state, e),
        Fact::UserMessage(e) => user_message(state, e),
        Fact::ContextNote(_) | Fact::DocumentLoaded(_) => unanswered(state),
        Fact::RequestPrepared(e) => prepared(state, e),
        Fact::HistoryAsked(_) => {
            require(!state.history.asked, "history/asked_once", || "asked already".into())
        }
        Fact::ContextOverflowed(e) => shorter::overflow(state, e),
        Fact::SummaryPrepared(e) => shorter::summary(state, e),
        Fact::HistoryShortened(e) => shorter::shortening(state, e),
        Fact::CheckpointCommitted(e) => shorter::checkpoint(state, e),
        Fact::HistoryRestored(e) => shorter::generation(state, e.from, e.generation),
        Fact::AttemptStart(e) => attempt_start(state, e),
        Fact::AttemptEnd(e) => attempt_end(state, e),
        Fact::AssistantDelta(e) => attempting(state, &e.attempt),
        Fact::AssistantAccepted(e) => accepted(state, e),
        Fact::ToolCall(e) => tool_call(state, e),
        Fact::ToolDecision(e) => unstarted(state, &e.call),
        Fact::ApprovalRequested(e) => approval_requested(state, e),
        Fact::ApprovalGranted(e) => approval_granted(state, e),
        Fact::ApprovalRefused(e) => {
            approval_is(state, &e.approval, "approval/refuse", |a| a == &ApprovalState::Open)
        }
        Fact::ApprovalExpired(e) => approval_is(state, &e.approval, "approval/expire", |a| {
            matches!(a, ApprovalState::Open | ApprovalState::Granted)
        }),
        Fact::ToolStart(e) => tool_start(state, e),
        Fact::ToolOutput(e) => started(state, &e.call).map(drop),
        Fact::SecretPrinted(e) => started(state, &e.call).map(drop),
        Fact::ToolResult(e) => tool_result(state, e),
        Fact::ToolDenied(e) => unstarted(state, &e.call),
        Fact::ToolCancelled(e) => {
            unended(state, &e.call)?;
            changed_after_start(state, &e.call, &e.changed)
        }
        Fact::ToolOutcomeUnknown(e) => started(state, &e.call).map(drop),
        Fact::JobCreated(e) => job::check_created(state, e),
        Fact::JobStarted(e) => job::check_started(state, e),
        Fact::JobOutput(e) => job::check_running(state, &e.job),
        Fact::JobCancel(e) => job::check_open(state, &e.job),
        Fact::JobReconciling(e) => job::check_running(state, &e.job),
        Fact::JobEnded(e) => job::check_ended(state, e),
        Fact::CallResolved(e) => {
            require(state.unknown.iter().any(|u| u.call == e.call), "call/resolved", || {
                format!("{} isn't unknown", e.call)
            })
        }
        Fact::QuestionAsked(e) => question_asked(state, e),
        Fact::QuestionAnswered(e) => question_answered(state, e),
        Fact::PlanReplaced(e) => plan_replaced(state, e),
        Fact::RevisionRestoring(_) | Fact::RevisionThinned(_) => restoring(state),
        Fact::RevisionCalledOff(e) => {
            let open = state.restoring.as_ref().filter(|open| open.revision == e.revision);
            require(open.is_some(), "revision/open", || format!("{} isn't being restored", e.revision))?;
            let once = open.is_some_and(|open| open.called_off.is_none());
            require(once, "revision/called_off_once", || format!("{} was called off already", e.revision))
        }
        Fact::RevisionRestored(e) => {
            let open = state.restoring.as_ref().is_some_and(|open| open.revision == e.revision);
            require(open, "revision/open", || format!("{} isn't being restored", e.revision))
        }
        Fact::GrantGiven(e) => grant_given(state, e),
        Fact::GrantRevoked(e) => require(state.grants.contains_key(&e.grant), "grant/known", || {
            format!("{} isn't in force", e.grant)
        }),
        Fact::SpendRaised(e) => spend_raised(state, e),
        Fact::SpendUncounted(e) => require(!state.uncounted.contains(&e.model), "spend/once", || {
            format!("{} of {} isn't counted already", e.model.model, e.model.provider)
        }),
        Fact::CredentialUsed(_) | Fact::LateIgnored(_) | Fact::NoticeRaised(_) => Ok(()),
        Fact::RecordErased(e) => erased(state, e),
        Fact::RecoveryAdopted(e) => named_turn(state, &e.turn),
        Fact::RecoveryContinuation(_) => {
            require(state.turn.is_none(), "recovery/continuation", || "a turn is open".into())
        }
    }
}

/// Sources lie before the event.
fn sources(state: &State, draft: &Draft) -> Verdict {
    require(draft.sources.iter().all(|seq| *seq < state.next_seq), "event/sources", || {
        format!("{:?} name events that don't exist before {}", draft.sources, state.next_seq)
    })
}

/// The envelope names the open turn and step, or the one that begins here.
fn scope(state: &State, draft: &Draft) -> Verdict {
    let turn = match &draft.fact {
        Fact::TurnStart(e) => Some(&e.turn),
        _ => state.turn.as_ref().map(|turn| &turn.id),
    };
    let step = match &draft.fact {
        Fact::StepStart(e) => Some(&e.step),
        _ => state.step().map(|(_, step)| &step.id),
    };
    let turn_fits = draft.turn.is_none() || draft.turn.as_ref() == turn;
    let step_fits = draft.step.is_none() || draft.step.as_ref() == step;
    require(turn_fits && step_fits, "event/scope", || {
        format!(
            "{} names {:?} {:?}, open are {turn:?} {step:?}",
            draft.fact.kind().name,
            draft.turn,
            draft.step
        )
    })
}

fn open_turn(state: &State) -> Result<&Turn, Violation> {
    state.turn.as_ref().ok_or(Violation { law: "turn/open", detail: "no turn is open".into() })
}

fn open_step(state: &State) -> Result<&Step, Violation> {
    state.step().map(|(_, step)| step).ok_or(Violation { law: "step/open", detail: "no step is open".into() })
}

fn named_turn(state: &State, turn: &TurnId) -> Verdict {
    let open = open_turn(state)?;
    require(open.id == *turn, "turn/open", || format!("{turn} isn't the open turn"))
}

fn named_step(state: &State, step: &StepId) -> Verdict {
    let open = open_step(state)?;
    require(open.id == *step, "step/open", || format!("{step} isn't the open step"))
}

fn posted(state: &State, e: &InboxPosted) -> Verdict {
    require(!state.inbox.iter().any(|w| w.message == e.message), "inbox/unique", || {
        format!("{} waits already", e.message)
    })?;
    let repeated = e.command.as_ref().is_some_and(|c| state.commands.iter().any(|(known, ..)| known == c));
    require(!repeated, "command/once", || "the command was taken before".into())
}

fn each_waiting(
    state: &State,
    messages: &[MessageId],
    law: &'static str,
    fits: impl Fn(&Waiting) -> bool,
) -> Verdict {
    messages.iter().try_for_each(|message| {
        let waiting = state.inbox.iter().find(|w| w.message == *message);
        require(waiting.is_some_and(&fits), law, || format!("{message} isn't in that state"))
    })
}

fn reserved(state: &State, e: &InboxReserved) -> Verdict {
    named_step(state, &e.step)?;
    each_waiting(state, &e.messages, "inbox/reserve", |w| w.reserved.is_none())
}

fn turn_start(state: &State, e: &TurnStart) -> Verdict {
    require(state.turn.is_none(), "turn/one_open", || "a turn is open".into())?;
    require(state.restoring.is_none(), "revision/idle", || "changes are being taken back".into())?;
    match &e.source {
        Source::Message { message } => {
            each_waiting(state, std::slice::from_ref(message), "turn/claims_work", |w| w.reserved.is_none())
        }
        Source::Recovery { of } => {
            require(state.continuation.as_ref() == Some(of), "turn/claims_work", || {
                format!("{of} isn't to be continued")
            })
        }
        Source::Summary => require(state.history.asked, "turn/claims_work", || "nobody asked".into()),
    }
}

fn turn_end(state: &State, e: &TurnEnd) -> Verdict {
    let turn = open_turn(state)?;
    require(turn.step.is_none(), "turn/children_first", || "a step is open".into())?;
    match &e.end {
        End::Completed => {
            let done = matches!(turn.last, Some(StepEndKind::Answer | StepEndKind::Summarised));
            require(done, "turn/completed", || {
                format!("its last step ended as {:?}, not with an accepted answer", turn.last)
            })
        }
        End::Cancelled { by } => {
            require(turn.cancel == Some(*by), "turn/cancelled", || format!("asked for by {:?}", turn.cancel))
        }
        End::Rejected
        | End::NothingToDo
        | End::Failed { .. }
        | End::Length
        | End::Refused
        | End::Blocked { .. }
        | End::Limit { .. }
        | End::Interrupted => Ok(()),
    }
}

fn step_start(state: &State, e: &StepStart) -> Verdict {
    let turn = open_turn(state)?;
    require(turn.step.is_none(), "step/one_open", || "a step is open".into())?;
    require(turn.cancel.is_none(), "turn/cancel", || "the turn is being stopped".into())?;
    require(e.n == turn.steps + 1, "step/number", || format!("{} after {}", e.n, turn.steps))?;
    let goes_on = matches!(turn.last, None | Some(StepEndKind::Tools | StepEndKind::Answer));
    require(goes_on, "step/follows", || format!("the last step ended as {:?}", turn.last))
}

/// Only where a step failed, and never back to what didn't answer.
fn model_switched(state: &State, e: &ModelSwitched) -> Verdict {
    let turn = open_turn(state)?;
    let failed = turn.step.is_none() && turn.last == Some(StepEndKind::Failed);
    require(failed, "model/switched", || format!("the last step ended as {:?}", turn.last))?;
    let fresh = e.to != e.from && !turn.unanswering.contains(&e.to);
    require(fresh, "model/once", || format!("{} of {} didn't answer", e.to.model, e.to.provider))
}

fn step_end(state: &State, e: &StepEnd) -> Verdict {
    named_step(state, &e.step)?;
    let step = open_step(state)?;
    let attempting = matches!(step.phase, StepPhase::Attempting { .. });
    require(!attempting, "step/children_first", || "an attempt is open".into())?;
    require(step.calls.iter().all(Call::ended), "step/children_first", || "a call is open".into())?;
    let kept = state.inbox.iter().find(|waiting| waiting.reserved.as_ref() == Some(&step.id));
    require(kept.is_none(), "inbox/owned", || {
        "a message it claimed is neither included nor released".into()
    })?;
    let answered = match &step.phase {
        StepPhase::Answered { announced, unsettled, .. } => {
            require(unsettled.is_none(), "step/children_first", || "the attempt isn't settled".into())?;
            require(announced.len() == step.calls.len(), "call/all_proposed", || {
                "a call was never proposed".into()
            })?;
            true
        }
        _ => false,
    };
    let fits = match e.end {
        StepEndKind::Tools => answered && !step.calls.is_empty(),
        StepEndKind::Answer => answered && step.calls.is_empty(),
        StepEndKind::Summarised => {
            let summary = state.turn.as_ref().is_some_and(|turn| turn.source == Source::Summary);
            summary && step.phase == StepPhase::Claimed
        }
        StepEndKind::Failed => !answered,
        StepEndKind::Cancelled | StepEndKind::Interrupted => true,
    };
    require(fits, "step/end", || format!("{:?} doesn't fit {:?}", e.end, step.phase))
}

fn user_message(state: &State, e: &UserMessage) -> Verdict {
    let step = open_step(state)?;
    each_waiting(state, std::slice::from_ref(&e.message), "inbox/include", |w| {
        w.reserved.as_ref() == Some(&step.id)
    })?;
    unanswered(state)
}

/// History grows only before the step's answer: what a sent request holds never changes.
fn unanswered(state: &State) -> Verdict {
    let step = open_step(state)?;
    let fits = !matches!(step.phase, StepPhase::Answered { .. } | StepPhase::Attempting { .. });
    require(fits, "history/frozen", || format!("the step is {:?}", step.phase))
}

fn prepared(state: &State, e: &RequestPrepared) -> Verdict {
    let step = open_step(state)?;
    let fits = matches!(step.phase, StepPhase::Claimed | StepPhase::Prepared | StepPhase::Exhausted);
    require(fits, "request/phase", || format!("the step is {:?}", step.phase))?;
    require(e.revision == step.revisions + 1, "request/revision", || {
        format!("{} after {}", e.revision, step.revisions)
    })?;
    require(state.results_paired(), "history/paired", || "a call has no result".into())?;
    shorter::request(state, e)?;
    match (&state.prefix, &e.opened) {
        (None, Some(_)) => {
            require(e.prefix_epoch == 1 && e.base == 0 && e.head.is_some(), "prefix/first", || "not 1".into())
        }
        (Some(prefix), Some(_)) => require(
            e.prefix_epoch == prefix.epoch + 1 && e.base == 0 && e.head.is_some(),
            "prefix/next",
            || format!("{} after {}", e.prefix_epoch, prefix.epoch),
        ),
        (Some(prefix), None) => require(
            e.prefix_epoch == prefix.epoch && e.base == prefix.segments && e.head.is_none(),
            "prefix/grows",
            || format!("base {} where {} segments are", e.base, prefix.segments),
        ),
        (None, None) => violation("prefix/first", "no prefix epoch is open"),
    }
}

fn attempt_start(state: &State, e: &AttemptStart) -> Verdict {
    let (turn, step) =
        state.step().ok_or(Violation { law: "step/open", detail: "no step is open".into() })?;
    require(turn.cancel.is_none(), "turn/cancel", || "the turn is being stopped".into())?;
    let fits = matches!(step.phase, StepPhase::Prepared | StepPhase::Backoff { .. });
    require(fits, "attempt/phase", || format!("the step is {:?}", step.phase))?;
    require(e.n == step.attempts + 1, "attempt/number", || format!("{} after {}", e.n, step.attempts))?;
    let body = step.request.as_ref().map(|request| request.body);
    require(body == Some(e.body), "attempt/same_request", || "not the prepared body".into())?;
    shorter::purpose(step, e.purpose)
}

fn attempting(state: &State, attempt: &crate::ids::AttemptId) -> Verdict {
    let step = open_step(state)?;
    let fits = matches!(&step.phase, StepPhase::Attempting { attempt: open } if open == attempt);
    require(fits, "attempt/open", || format!("{attempt} isn't the open attempt"))
}

fn attempt_end(state: &State, e: &AttemptEnd) -> Verdict {
    match e.end {
        // `assistant/accepted` comes first in the same transaction.
        AttemptEndKind::Accepted => {
            let step = open_step(state)?;
            let fits = matches!(&step.phase, StepPhase::Answered { unsettled: Some(open), .. } if *open == e.attempt);
            require(fits, "attempt/accepted", || format!("{} has no accepted answer to settle", e.attempt))
        }
        AttemptEndKind::Summarised { .. } => {
            attempting(state, &e.attempt)?;
            shorter::purpose(open_step(state)?, Purpose::Summary)
        }
        AttemptEndKind::Unaccepted { .. }
        | AttemptEndKind::Failed { .. }
        | AttemptEndKind::Cancelled
        | AttemptEndKind::Interrupted => attempting(state, &e.attempt),
    }
}

fn accepted(state: &State, e: &AssistantAccepted) -> Verdict {
    attempting(state, &e.attempt)?;
    shorter::purpose(open_step(state)?, Purpose::Answer)?;
    let fits = matches!(e.stop, crate::model::StopReason::Stop | crate::model::StopReason::ToolCalls);
    require(fits, "answer/stop", || format!("{:?} is never accepted", e.stop))?;
    let problem = crate::history::unfit(&e.blocks);
    require(problem.is_none(), "answer/shape", || problem.unwrap_or_default())
}

fn tool_call(state: &State, e: &ToolCall) -> Verdict {
    let step = open_step(state)?;
    let StepPhase::Answered { announced, unsettled: None, .. } = &step.phase else {
        return violation("call/announced", "no answer was accepted and settled");
    };
    let at = step.calls.len();
    require(usize::try_from(e.index) == Ok(at), "call/order", || format!("{} after {at}", e.index))?;
    require(announced.get(at) == Some(&e.provider_call_id), "call/announced", || {
        format!("{} wasn't announced", e.provider_call_id)
    })?;
    require(step.calls.iter().all(|call| call.id != e.call), "call/unique", || format!("{} exists", e.call))
}

fn unended<'a>(state: &'a State, id: &CallId) -> Result<&'a Call, Violation> {
    let call = state.call(id).ok_or_else(|| Violation {
        law: "call/known",
        detail: format!("{id} isn't a call of the open step"),
    })?;
    require(!call.ended(), "call/one_terminal", || format!("{id} has ended"))?;
    Ok(call)
}

fn unstarted(state: &State, id: &CallId) -> Verdict {
    let call = unended(state, id)?;
    require(call.phase == CallPhase::Proposed, "call/phase", || format!("{id} has started"))
}

fn started<'a>(state: &'a State, id: &CallId) -> Result<&'a Call, Violation> {
    let call = unended(state, id)?;
    require(matches!(call.phase, CallPhase::Started { .. }), "call/phase", || {
        format!("{id} hasn't started")
    })?;
    Ok(call)
}

fn approval_requested(state: &State, e: &ApprovalRequested) -> Verdict {
    unstarted(state, &e.call)?;
    let call = unended(state, &e.call)?;
    let asked = call.approval.as_ref().is_some_and(|a| a.state == ApprovalState::Open);
    require(!asked, "approval/one_open", || format!("{} is being asked about", e.call))?;
    let asks = call.decision.as_ref().is_some_and(|d| matches!(d.verdict, crate::call::Verdict::Ask { .. }));
    require(asks, "approval/asked_by_policy", || "the policy didn't ask".into())
}

fn approval_granted(state: &State, e: &ApprovalGranted) -> Verdict {
    approval_is(state, &e.approval, "approval/grant", |a| a == &ApprovalState::Open)?;
    let shown = state.approval(&e.approval).map(|(_, approval)| approval.digest);
    require(shown == Some(e.digest), "approval/digest", || "not what was asked".into())
}

fn approval_is(
    state: &State,
    id: &crate::ids::ApprovalId,
    law: &'static str,
    fits: impl Fn(&ApprovalState) -> bool,
) -> Verdict {
    let found = state.approval(id).filter(|(call, _)| !call.ended());
    require(found.is_some_and(|(_, a)| fits(&a.state)), law, || format!("{id} isn't in that state"))
}

/// Nothing runs but what the policy allows, or what it asked about and the person said yes to, with these arguments.
fn tool_start(state: &State, e: &ToolStart) -> Verdict {
    unstarted(state, &e.call)?;
    let (turn, _) = state.step().ok_or(Violation { law: "step/open", detail: "no step is open".into() })?;
    require(turn.cancel.is_none(), "turn/cancel", || "the turn is being stopped".into())?;
    let call = unended(state, &e.call)?;
    let arguments = call.good.as_ref().map(|good| good.digest);
    require(arguments == Some(e.arguments), "call/arguments", || "not the checked arguments".into())?;
    let granted = call.approval.as_ref().is_some_and(|a| a.state == ApprovalState::Granted);
    let cleared = match call.decision.as_ref().map(|decided| &decided.verdict) {
        Some(crate::call::Verdict::Allow { .. }) => true,
        Some(crate::call::Verdict::Ask { .. }) => granted,
        Some(crate::call::Verdict::Deny { .. }) | None => false,
    };
    require(cleared, "call/cleared", || format!("{} is not cleared to run", e.call))
}

/// A result ends a call that ran; an error may also end one that couldn't be checked or surveyed and never started.
fn tool_result(state: &State, e: &ToolResult) -> Verdict {
    let call = unended(state, &e.call)?;
    let failed = matches!(e.outcome, ToolOutcome::Error { .. });
    let fits = matches!(call.phase, CallPhase::Started { .. }) || failed;
    require(fits, "call/phase", || format!("{} hasn't started", e.call))?;
    changed_after_start(state, &e.call, &e.changed)
}

/// Only what has started can have changed anything.
fn changed_after_start(state: &State, id: &CallId, changed: &Changed) -> Verdict {
    let started = state.call(id).is_some_and(|call| call.phase != CallPhase::Proposed);
    require(started || changed.is_empty(), "call/effects", || {
        format!("{id} changed something without having started")
    })
}

/// Nothing runs while changes are taken back, and one return at a time.
fn restoring(state: &State) -> Verdict {
    require(state.turn.is_none(), "revision/idle", || "a turn is open".into())?;
    job::at_rest(state, "revision/idle")?;
    require(state.restoring.is_none(), "revision/one_open", || "changes are being taken back".into())
}

/// Words are erased while nothing runs, from events that are there.
fn erased(state: &State, e: &RecordErased) -> Verdict {
    require(state.turn.is_none(), "record/idle", || "a turn is open".into())?;
    job::at_rest(state, "record/idle")?;
    require(state.restoring.is_none(), "record/idle", || "changes are being taken back".into())?;
    let beyond = e.events.iter().map(|one| one.seq).chain([e.chosen]).find(|seq| *seq >= state.next_seq);
    require(beyond.is_none(), "record/places", || format!("{beyond:?} isn't before {}", state.next_seq))
}

/// Something is allowed beyond what was allowed before, and no limit is without end.
fn spend_raised(state: &State, e: &SpendRaised) -> Verdict {
    require(e.by > 0, "spend/portion", || "it allows nothing".into())?;
    let allowed = e.from.checked_add(e.by);
    require(allowed.is_some(), "spend/portion", || format!("{} beyond {}", e.by, e.from))?;
    let grows = e.limit == SpendLimit::Day || e.from >= state.raised;
    require(grows, "spend/limit", || format!("{} was raised by {} already", e.from, state.raised))
}

fn grant_given(state: &State, e: &GrantGiven) -> Verdict {
    require(!state.grants.contains_key(&e.grant), "grant/unique", || format!("{} exists", e.grant))?;
    require(state.grants.len() < MOST_GRANTS, "grant/count", || format!("{MOST_GRANTS} are in force"))
}

fn question_asked(state: &State, e: &QuestionAsked) -> Verdict {
    let call = started(state, &e.call)?;
    require(call.question.is_none(), "question/once", || "asked already".into())
}

fn question_answered(state: &State, e: &QuestionAnswered) -> Verdict {
    let step = open_step(state)?;
    let open = step.calls.iter().any(|call| {
        !call.ended() && call.question.as_ref().is_some_and(|q| q.id == e.question && q.answer.is_none())
    });
    require(open, "question/open", || format!("{} isn't open", e.question))
}

fn plan_replaced(state: &State, e: &PlanReplaced) -> Verdict {
    let last = state.plan.as_ref().map_or(0, |plan| plan.version);
    require(e.plan.version == last + 1, "plan/version", || format!("{} after {last}", e.plan.version))?;
    let doing = e.plan.items.iter().filter(|item| item.status == crate::call::PlanStatus::InProgress).count();
    require(doing <= 1, "plan/one_in_progress", || format!("{doing} items in progress"))
}

impl State {
    /// Every call of the open step has ended, so the history can be sent.
    fn results_paired(&self) -> bool {
        self.step().is_none_or(|(_, step)| step.calls.iter().all(Call::ended))
    }
}
