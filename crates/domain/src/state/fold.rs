//! The fold: State × Event → State, one arm a fact.
//!
//! Arms are one call or a few assignments; what an event *means* for the state stands here and nowhere else. Events that
//! only show something (deltas, output) change nothing but the position.

use super::added::Added;
use super::extended;
use super::types::*;
use super::{job, spend};
use crate::call::{GRANT_RULE, Semantics, Verdict};
use crate::digest::Digest;
use crate::event::*;
use crate::ids::{CallId, GrantId};
use std::collections::BTreeMap;

pub(super) fn fold(state: &mut State, event: &Event) {
    state.next_seq = event.envelope.seq + 1;
    state.time = event.envelope.time;
    let Some(fact) = &event.fact else { return };
    match fact {
        Fact::SessionCreated(e) => state.session = Some(created(e)),
        Fact::SessionRenamed(e) => with_session(state, |s| s.title.clone_from(&e.title)),
        Fact::SessionMode(e) => with_session(state, |s| s.mode = e.mode),
        Fact::SessionModel(e) => session_model(state, e),
        Fact::SessionEffort(e) => with_session(state, |s| s.effort = e.effort),
        Fact::FolderIdentified(e) => {
            with_session(state, |s| s.identity = Some(e.identity));
            judge_open_anew(state);
        }
        Fact::FolderAdded(e) => {
            let added = Added {
                path: e.path.clone(),
                name: e.name.clone(),
                identity: e.identity,
                at: event.envelope.time,
            };
            state.added.insert(e.folder.clone(), added);
            judge_open_anew(state);
        }
        Fact::FolderRemoved(e) => {
            state.added.remove(&e.folder);
            judge_open_anew(state);
        }
        Fact::InboxPosted(e) => posted(state, e, event),
        Fact::InboxReserved(e) => reserved(state, e),
        Fact::InboxReleased(e) => released(state, e),
        Fact::InboxCancelled(e) => state.inbox.retain(|waiting| waiting.message != e.message),
        Fact::TurnStart(e) => turn_start(state, e, event),
        Fact::TurnCancel(e) => turn_cancel(state, e),
        Fact::TurnEnd(e) => turn_end(state, e),
        Fact::TurnExtended(e) => with_turn(state, |turn| extended::extended(turn, e)),
        Fact::ModelSwitched(e) => with_turn(state, |turn| {
            turn.unanswering.push(e.from.clone());
            turn.model = Some(e.to.clone());
            turn.last = None;
        }),
        Fact::StepStart(e) => with_turn(state, |turn| step_start(turn, e, event.envelope.seq)),
        Fact::StepEnd(e) => with_turn(state, |turn| step_end(turn, e)),
        Fact::UserMessage(e) => state.inbox.retain(|waiting| waiting.message != e.message),
        Fact::ContextNote(e) => context_note(state, e),
        Fact::DocumentLoaded(e) => drop(state.documents.insert(e.path.clone(), e.content)),
        Fact::RequestPrepared(e) => prepared(state, e, event),
        Fact::HistoryAsked(_) => state.history.asked = true,
        Fact::ContextOverflowed(e) => state.overflowed(e),
        Fact::SummaryPrepared(e) => state.summary_prepared(e, event.envelope.seq),
        Fact::HistoryShortened(e) => state.shortened(e),
        Fact::CheckpointCommitted(e) => state.checkpointed(e, event.envelope.seq),
        Fact::HistoryRestored(e) => state.restored_in_full(e.generation),
        Fact::AttemptStart(e) => with_step(state, |step| {
            (step.attempts, step.tries) = (e.n, step.tries + 1);
            step.phase = StepPhase::Attempting { attempt: e.attempt.clone() };
        }),
        Fact::AttemptEnd(e) => attempt_end(state, e),
        Fact::AssistantDelta(_) | Fact::ToolOutput(_) | Fact::JobOutput(_) | Fact::CredentialUsed(_) => {}
        Fact::LateIgnored(_) | Fact::NoticeRaised(_) | Fact::RevisionThinned(_) => {}
        Fact::AssistantAccepted(e) => with_step(state, |step| accepted(step, e)),
        Fact::ToolCall(e) => tool_call(state, e),
        Fact::ToolDecision(e) => with_call(state, &e.call, |call| {
            call.decision =
                Some(Decided { verdict: e.decision.clone(), act: e.act, touches: e.touches.clone() });
        }),
        Fact::ApprovalRequested(e) => with_call(state, &e.call, |call| {
            call.approval = Some(Approval {
                id: e.approval.clone(),
                digest: e.digest,
                valid_ms: e.valid_ms,
                asked: event.envelope.time,
                offers: e.offers.clone(),
                state: ApprovalState::Open,
            });
        }),
        Fact::ApprovalGranted(e) => with_approval(state, &e.approval, ApprovalState::Granted),
        Fact::ApprovalRefused(e) => {
            with_approval(
                state,
                &e.approval,
                ApprovalState::Refused { why: e.why.clone(), nobody: e.nobody },
            );
        }
        Fact::ApprovalExpired(e) => with_approval(state, &e.approval, ApprovalState::Expired),
        Fact::ToolStart(e) => tool_start(state, e, event),
        Fact::SecretPrinted(e) => state.secrets.extend(e.files.iter().cloned()),
        Fact::ToolResult(e) => tool_result(state, e),
        Fact::ToolDenied(e) => {
            let by_person = e.by == "refused";
            end_call(state, &e.call, Terminal::Denied { by_person }, &e.text);
        }
        Fact::ToolCancelled(e) => end_call(state, &e.call, Terminal::Cancelled, &e.text),
        Fact::ToolOutcomeUnknown(e) => outcome_unknown(state, e),
        Fact::JobCreated(e) => job::created(state, e),
        Fact::JobStarted(e) => job::started(state, e, event),
        Fact::JobCancel(e) => job::cancel(state, e),
        Fact::JobReconciling(e) => job::reconciling(state, e),
        Fact::JobEnded(e) => job_ended(state, e, event),
        Fact::CallResolved(e) => resolved(state, e),
        Fact::QuestionAsked(e) => with_call(state, &e.call, |call| {
            call.question = Some(Asked { id: e.question.clone(), body: e.body.clone(), answer: None });
        }),
        Fact::QuestionAnswered(e) => answered(state, e),
        Fact::PlanReplaced(e) => {
            state.plan = Some(e.plan.clone());
            with_turn(state, |turn| turn.planned = Some(turn.steps));
        }
        Fact::RevisionRestoring(e) => state.restoring = Some(restoring(e)),
        Fact::RevisionCalledOff(_) => {
            if let Some(open) = &mut state.restoring {
                open.called_off = Some(event.envelope.epoch);
            }
        }
        Fact::RevisionRestored(e) => {
            state.restoring = None;
            forget_gone(state, &e.changed);
        }
        Fact::GrantGiven(e) => {
            let given = Given { what: e.what.clone(), at: event.envelope.time, used: None };
            state.grants.insert(e.grant.clone(), given);
            judge_open_anew(state);
        }
        Fact::GrantRevoked(e) => drop(state.grants.remove(&e.grant)),
        Fact::SpendRaised(e) => spend::raised(state, e),
        Fact::SpendUncounted(e) => spend::uncounted(state, e),
        Fact::RecordErased(_) => state.erased = Some(event.envelope.seq),
        Fact::RecoveryAdopted(_) => with_turn(state, |turn| adopted(turn, event.envelope.epoch)),
        Fact::RecoveryContinuation(e) => state.continuation = Some(e.turn.clone()),
    }
}

/// What was just allowed may cover what is still being asked about, and what can be looked at is part of what is asked.
fn judge_open_anew(state: &mut State) {
    let step = state.turn.as_mut().and_then(|turn| turn.step.as_mut());
    for call in step.into_iter().flat_map(|step| &mut step.calls) {
        if call.approval.as_ref().is_some_and(|approval| approval.state == ApprovalState::Open) {
            call.decision = None;
        }
    }
}

fn created(e: &SessionCreated) -> Session {
    Session {
        folder: e.folder.clone(),
        root: e.root.clone(),
        mode: e.mode,
        model: e.model.clone(),
        effort: None,
        tour: e.tour,
        identity: e.identity,
        title: String::new(),
    }
}

/// The person's choice is asked from the next step on, whatever didn't answer before.
fn session_model(state: &mut State, e: &SessionModel) {
    with_session(state, |session| session.model = Some(e.model.clone()));
    if let Some(turn) = &mut state.turn {
        (turn.model, turn.unanswering) = (None, Vec::new());
    }
}

fn posted(state: &mut State, e: &InboxPosted, event: &Event) {
    if let Some(command) = &e.command {
        if state.commands.len() == REMEMBERED_COMMANDS {
            state.commands.remove(0);
        }
        state.commands.push((command.clone(), e.message.clone(), event.envelope.seq));
    }
    if e.wakeup {
        for waiting in state.inbox.iter_mut().filter(|waiting| waiting.held) {
            (waiting.wakeup, waiting.held) = (true, false);
        }
    }
    state.inbox.push(Waiting {
        message: e.message.clone(),
        text: e.text.clone(),
        target: e.target,
        wakeup: e.wakeup,
        held: false,
        origin: e.origin,
        reserved: None,
        time: event.envelope.time,
    });
}

fn reserved(state: &mut State, e: &InboxReserved) {
    for waiting in state.inbox.iter_mut().filter(|waiting| e.messages.contains(&waiting.message)) {
        waiting.reserved = Some(e.step.clone());
    }
}

fn released(state: &mut State, e: &InboxReleased) {
    for waiting in state.inbox.iter_mut().filter(|waiting| e.messages.contains(&waiting.message)) {
        waiting.reserved = None;
    }
}

fn turn_start(state: &mut State, e: &TurnStart, event: &Event) {
    state.turns += 1;
    state.continuation = None;
    (state.last_failure, state.stopped, state.met) = (None, false, None);
    state.turn = Some(Turn {
        id: e.turn.clone(),
        source: e.source.clone(),
        epoch: event.envelope.epoch,
        started: event.envelope.time,
        cancel: None,
        steps: 0,
        step: None,
        last: None,
        fingerprints: Vec::new(),
        refused_steps: 0,
        model: None,
        unanswering: Vec::new(),
        checkpoints: 0,
        checkpoint_step: 0,
        planned: None,
        reminded: 0,
        extended: Vec::new(),
    });
}

/// A person who stops the work wants quiet: what waits then doesn't start the next turn by itself.
fn turn_cancel(state: &mut State, e: &TurnCancel) {
    with_turn(state, |turn| turn.cancel = turn.cancel.or(Some(e.by)));
    if e.by == CancelBy::User {
        for waiting in state.inbox.iter_mut().filter(|w| w.wakeup && w.reserved.is_none()) {
            (waiting.wakeup, waiting.held) = (false, true);
        }
    }
}

fn turn_end(state: &mut State, e: &TurnEnd) {
    let summary = state.turn.take().is_some_and(|turn| turn.source == Source::Summary);
    // What a dead process left undone is done by the next; anything else was tried, or isn't wanted any more.
    state.history.asked &= !summary || e.end == End::Interrupted;
    state.stopped = matches!(e.end, End::Cancelled { .. } | End::Interrupted);
    state.met = spend::met(&e.end);
    state.last_failure = match &e.end {
        End::Failed { code, .. } => Some(code.clone()),
        End::Limit { limit, .. } => Some(format!("limit/{limit}")),
        End::Length => Some("length".to_owned()),
        End::Refused => Some("refused".to_owned()),
        End::Completed
        | End::Cancelled { .. }
        | End::Rejected
        | End::NothingToDo
        | End::Blocked { .. }
        | End::Interrupted => None,
    };
}

fn step_start(turn: &mut Turn, e: &StepStart, at: u64) {
    turn.steps = e.n;
    turn.step = Some(Step {
        id: e.step.clone(),
        n: e.n,
        at,
        model: e.model.clone(),
        phase: StepPhase::Claimed,
        revisions: 0,
        attempts: 0,
        tries: 0,
        request: None,
        refused: None,
        overflows: 0,
        calls: Vec::new(),
    });
}

fn step_end(turn: &mut Turn, e: &StepEnd) {
    let Some(step) = turn.step.take() else { return };
    turn.last = Some(e.end);
    if e.end != StepEndKind::Tools {
        return;
    }
    let refused = step.calls.iter().all(|call| {
        matches!(call.phase, CallPhase::Ended { terminal: Terminal::Denied { by_person: true }, .. })
    });
    turn.refused_steps = if refused { turn.refused_steps + 1 } else { 0 };
    if turn.fingerprints.len() == REMEMBERED_STEPS {
        turn.fingerprints.remove(0);
    }
    turn.fingerprints.push(fingerprint(&step));
}

/// What a step did and got: names, arguments and results of its calls.
fn fingerprint(step: &Step) -> Digest {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for call in &step.calls {
        parts.push(call.name.clone().into_bytes());
        parts.push(call.good.as_ref().map_or(Vec::new(), |good| good.digest.0.to_vec()));
        if let CallPhase::Ended { text, .. } = &call.phase {
            parts.push(text.0.to_vec());
        }
    }
    Digest::of_parts(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn context_note(state: &mut State, e: &ContextNote) {
    let digest = Some(Digest::of(e.text.as_bytes()));
    match e.topic.as_str() {
        "environment" => state.environment = digest,
        "added_folders" => state.told_added = digest,
        "plan" => with_turn(state, |turn| turn.reminded = turn.steps),
        _ => {}
    }
}

fn prepared(state: &mut State, e: &RequestPrepared, event: &Event) {
    let seq = event.envelope.seq;
    let segments = e.base + u32::try_from(e.added.len()).unwrap_or(u32::MAX);
    let model = state.step().map(|(_, step)| (step.model.provider.clone(), step.model.model.clone()));
    match (&e.head, state.prefix.as_mut(), model) {
        (Some(head), _, Some((provider, model))) => {
            state.prefix = Some(Prefix {
                epoch: e.prefix_epoch,
                provider,
                model,
                dialect: e.dialect.clone(),
                adapter: e.adapter,
                head: *head,
                generation: state.history.generation,
                segments,
                tokens: e.tokens,
                opened: seq,
                last: seq,
            });
        }
        (None, Some(prefix), _) => {
            prefix.segments = segments;
            prefix.tokens = e.tokens;
            prefix.last = seq;
        }
        _ => {}
    }
    state.history.asked = false;
    with_step(state, |step| {
        step.revisions = e.revision;
        step.request = Some(Request { seq, body: e.body, bytes: e.bytes, tokens: e.tokens, about: None });
        (step.phase, step.tries) = (StepPhase::Prepared, 0);
    });
}

fn attempt_end(state: &mut State, e: &AttemptEnd) {
    let cost = e.settled.cost(state.price());
    state.usage.attempts += 1;
    state.usage.spent.add(cost);
    match e.settled {
        Settled::Reported { tokens } | Settled::Estimated { tokens } => {
            let sum = &mut state.usage.tokens;
            sum.input += tokens.input;
            sum.output += tokens.output;
            sum.cache_read += tokens.cache_read;
            sum.cache_write += tokens.cache_write;
        }
        Settled::Unknown => state.usage.unknown += 1,
    }
    let about = state.step().and_then(|(_, step)| step.request.as_ref()?.about);
    let backoff = matches!(e.end, AttemptEndKind::Failed { retry: Some(_), .. });
    if let Some(about) = about.filter(|_| !backoff) {
        return state.summary_ended(&e.attempt, &e.end, about);
    }
    state.measured(e.settled);
    with_step(state, |step| match &e.end {
        AttemptEndKind::Accepted => {
            if let StepPhase::Answered { unsettled, .. } = &mut step.phase {
                *unsettled = None;
            }
        }
        AttemptEndKind::Failed { error, retry: Some(retry) } => {
            step.phase = StepPhase::Backoff { retry: *retry, class: error.class };
        }
        AttemptEndKind::Summarised { .. }
        | AttemptEndKind::Unaccepted { .. }
        | AttemptEndKind::Failed { retry: None, .. }
        | AttemptEndKind::Cancelled
        | AttemptEndKind::Interrupted => step.phase = StepPhase::Exhausted,
    });
}

fn accepted(step: &mut Step, e: &AssistantAccepted) {
    let announced = e
        .blocks
        .iter()
        .filter_map(|block| match block {
            crate::model::Block::Call { provider_call_id, .. } => Some(provider_call_id.clone()),
            crate::model::Block::Text { .. } | crate::model::Block::Reasoning { .. } => None,
        })
        .collect();
    step.phase = StepPhase::Answered { stop: e.stop, announced, unsettled: Some(e.attempt.clone()) };
}

fn tool_call(state: &mut State, e: &ToolCall) {
    if let Some(of) = &e.retry_of {
        state.again.retain(|again| again.call != *of);
    }
    let good = match &e.checked {
        CheckedCall::Good { version, arguments, digest, .. } => {
            Some(Good { version: *version, arguments: arguments.clone(), digest: *digest })
        }
        CheckedCall::Bad { .. } => None,
    };
    with_step(state, |step| {
        step.calls.push(Call {
            id: e.call.clone(),
            provider_call_id: e.provider_call_id.clone(),
            name: e.name.clone(),
            good,
            decision: None,
            approval: None,
            question: None,
            beside: false,
            phase: CallPhase::Proposed,
        });
    });
}

fn tool_start(state: &mut State, e: &ToolStart, event: &Event) {
    let at = event.envelope.time;
    state.secrets.extend(e.secrets.iter().cloned());
    let beside = job::call_started(state, &e.semantics);
    with_call(state, &e.call, |call| {
        call.beside |= beside;
        call.phase = CallPhase::Started { semantics: e.semantics.clone(), at, tree: e.tree };
    });
    let rule = state.call(&e.call).and_then(|call| match &call.decision.as_ref()?.verdict {
        Verdict::Allow { rule } => Some(rule.clone()),
        Verdict::Ask { .. } | Verdict::Deny { .. } => None,
    });
    let grant = rule.and_then(|rule| rule.strip_prefix(GRANT_RULE)?.parse::<GrantId>().ok());
    if let Some(grant) = grant {
        used(state, grant, at);
    }
}

/// A call ran by a permission: one of the session, or one that always holds in its folder.
fn used(state: &mut State, grant: GrantId, at: u64) {
    if let Some(given) = state.grants.get_mut(&grant) {
        given.used = Some(at);
        return;
    }
    state.lasting_used.insert(grant, at);
    if state.lasting_used.len() > REMEMBERED_GRANTS {
        let oldest = state.lasting_used.iter().min_by_key(|(_, at)| **at).map(|(grant, _)| grant.clone());
        oldest.map(|grant| state.lasting_used.remove(&grant));
    }
}

fn tool_result(state: &mut State, e: &ToolResult) {
    saw(state, &e.seen, &e.changed);
    let ok = matches!(e.outcome, ToolOutcome::Ok { .. });
    end_call(state, &e.call, Terminal::Result { ok }, &e.text);
}

fn job_ended(state: &mut State, e: &JobEnded, event: &Event) {
    saw(state, &e.seen, &e.changed);
    job::ended(state, e, event);
}

/// What was seen or left, and what is gone.
fn saw(state: &mut State, seen: &BTreeMap<String, Digest>, changed: &Changed) {
    state.seen.extend(seen.iter().map(|(path, digest)| (path.clone(), *digest)));
    forget_gone(state, changed);
    while state.seen.len() > REMEMBERED_FILES {
        state.seen.pop_first();
    }
}

/// A file that is gone was never seen: one that appears in its place later is no stale one.
fn forget_gone(state: &mut State, changed: &Changed) {
    for effect in changed.effects.iter().filter(|effect| effect.after.is_none()) {
        state.seen.remove(&effect.path);
    }
}

fn restoring(e: &RevisionRestoring) -> Restoring {
    Restoring { revision: e.revision.clone(), steps: e.steps.list, called_off: None }
}

fn end_call(state: &mut State, id: &CallId, terminal: Terminal, text: &str) {
    let text = Digest::of(text.as_bytes());
    with_call(state, id, |call| call.phase = CallPhase::Ended { terminal, text });
}

fn outcome_unknown(state: &mut State, e: &ToolOutcomeUnknown) {
    if let (Some((turn, _)), Some(call)) = (state.step(), state.call(&e.call)) {
        let unknown = UnknownCall {
            call: e.call.clone(),
            turn: turn.id.clone(),
            name: call.name.clone(),
            arguments: call.good.as_ref().map_or(Digest::ZERO, |good| good.digest),
        };
        state.unknown.push(unknown);
    }
    end_call(state, &e.call, Terminal::OutcomeUnknown, &e.text);
}

fn resolved(state: &mut State, e: &CallResolved) {
    let Some(at) = state.unknown.iter().position(|unknown| unknown.call == e.call) else { return };
    let unknown = state.unknown.remove(at);
    if e.resolution == Resolution::Again {
        state.again.push(unknown);
    }
}

fn answered(state: &mut State, e: &QuestionAnswered) {
    with_step(state, |step| {
        for question in step.calls.iter_mut().filter_map(|call| call.question.as_mut()) {
            if question.id == e.question {
                question.answer = Some(e.answer.clone());
            }
        }
    });
}

/// The new process runs the turn now; calls that may run again wait for their turn anew.
fn adopted(turn: &mut Turn, epoch: u64) {
    turn.epoch = epoch;
    let calls = turn.step.iter_mut().flat_map(|step| &mut step.calls);
    // A question that was asked stays asked.
    for call in calls.filter(|call| call.question.is_none()) {
        if let CallPhase::Started { semantics: Semantics::None { retry: true }, .. } = call.phase {
            call.phase = CallPhase::Proposed;
            call.decision = None;
            // A yes was for one execution; that one may have happened.
            call.approval = None;
        }
    }
}

fn with_session(state: &mut State, change: impl FnOnce(&mut Session)) {
    if let Some(session) = &mut state.session {
        change(session);
    }
}

fn with_turn(state: &mut State, change: impl FnOnce(&mut Turn)) {
    if let Some(turn) = &mut state.turn {
        change(turn);
    }
}

fn with_step(state: &mut State, change: impl FnOnce(&mut Step)) {
    with_turn(state, |turn| {
        if let Some(step) = &mut turn.step {
            change(step);
        }
    });
}

fn with_call(state: &mut State, id: &CallId, change: impl FnOnce(&mut Call)) {
    with_step(state, |step| {
        if let Some(call) = step.calls.iter_mut().find(|call| call.id == *id) {
            change(call);
        }
    });
}

fn with_approval(state: &mut State, id: &crate::ids::ApprovalId, to: ApprovalState) {
    with_step(state, |step| {
        for approval in step.calls.iter_mut().filter_map(|call| call.approval.as_mut()) {
            if approval.id == *id {
                approval.state = to.clone();
            }
        }
    });
}
