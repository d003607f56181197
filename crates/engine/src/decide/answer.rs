//! Requests and answers: preparing, sending, accepting, failing, sending again.
//!
//! One chain of remedies: a passing failure sends exactly the same request again after a wait, within its attempts; a refusal
//! for size is followed by a smaller one; then the next model of the person's list goes on; anything else ends step and turn with its
//! class. Invariant: an answer enters the history only through [`answered`], in one transaction with the attempt's end and the
//! calls it announced.

use super::closing::{self, Closing};
use super::spending::{self, Next};
use super::{Decision, Env, finish, shorter};
use crate::input::PreparedRequest;
use domain::digest::Digest;
use domain::event::{
    AssistantAccepted, AssistantDelta, AttemptEnd, AttemptEndKind, AttemptStart, CheckedCall,
    ContextOverflowed, CredentialUsed, Draft, End, Fact, ModelChoice, ModelSwitched, Purpose,
    RequestPrepared, Retry, Settled, StepEnd, StepEndKind, ToolCall, ToolOutcome,
};
use domain::ids::{AttemptId, CallId, StepId};
use domain::model::{Block, ErrorClass, ModelDelta, ModelError, Outcome, StopReason, Usage};
use domain::state::{State, Step, StepPhase, Turn};

/// The request is built: record what it adds and start the first attempt.
pub(super) fn prepared(
    state: &State,
    step: &StepId,
    request: Box<PreparedRequest>,
    env: &Env<'_>,
) -> Decision {
    let Some((turn, open)) = open_step(state, step) else { return finish::late(step.as_str(), "a request") };
    if turn.cancel.is_some() || open.phase != StepPhase::Claimed {
        return finish::late(step.as_str(), "a request");
    }
    // The person asked for another history meanwhile: the step is prepared again from that.
    if (request.generation, request.asked) != (state.history.generation, state.history.asked) {
        return Decision::plain(Vec::new());
    }
    let next = Next::request(state, request.tokens, request.opened.is_some());
    if let Some(met) = spending::in_the_way(state, &open.model, next, env) {
        return finish::failed(state, turn, open, met);
    }
    let of_step = |fact: Fact| Draft::of_step(&turn.id, &open.id, fact);
    let PreparedRequest {
        facts,
        included,
        opened,
        dialect,
        added,
        markers,
        body,
        bytes,
        tokens,
        credential,
        ..
    } = *request;
    let (epoch, base) = match (&state.prefix, &opened) {
        (Some(prefix), None) => (prefix.epoch, prefix.segments),
        (Some(prefix), Some(_)) => (prefix.epoch + 1, 0),
        (None, _) => (1, 0),
    };
    let mut drafts: Vec<Draft> = facts.into_iter().map(of_step).collect();
    drafts.push(of_step(
        RequestPrepared {
            prefix_epoch: epoch,
            opened: opened.map(|(reason, _)| reason),
            revision: open.revisions + 1,
            dialect: dialect.0,
            adapter: dialect.1,
            head: opened.map(|(_, head)| head),
            added,
            base,
            markers,
            body,
            bytes,
            included,
            tokens,
        }
        .into(),
    ));
    if let Some((provider, source)) = credential {
        drafts.push(of_step(CredentialUsed { provider, source }.into()));
    }
    drafts.push(of_step(start(open, body, Purpose::Answer, env).into()));
    // A later request tells the model what calls gave back, which stays so whatever happens; a turn's first one follows from
    // words that are on the disk already, and asking again after a power cut does nothing twice.
    if open.n > 1 { Decision::barrier(drafts) } else { Decision::plain(drafts) }
}

/// The request can't be built: step and turn end, and the person's words stay in the history.
pub(super) fn not_prepared(state: &State, step: &StepId, code: String, message: String) -> Decision {
    match open_step(state, step) {
        Some((turn, open)) => finish::failed(state, turn, open, End::failed(code, message)),
        None => finish::late(step.as_str(), "a request"),
    }
}

/// Streamed pieces, for showing.
pub(super) fn deltas(state: &State, attempt: AttemptId, deltas: Vec<ModelDelta>) -> Decision {
    match attempting(state, &attempt) {
        Some((turn, step)) if !deltas.is_empty() => {
            Decision::plain(vec![Draft::of_step(&turn.id, &step.id, AssistantDelta { attempt, deltas })])
        }
        Some(_) | None => Decision::plain(Vec::new()),
    }
}

/// A whole answer: accepted, or kept as what it is.
pub(super) fn answered(
    state: &State,
    attempt: &AttemptId,
    outcome: Outcome,
    raw: Option<Digest>,
    env: &Env<'_>,
) -> Decision {
    let Some((turn, step)) = attempting(state, attempt) else {
        return finish::late(attempt.as_str(), "an answer");
    };
    if is_summary(step) {
        return shorter::summarised(turn, step, attempt, &outcome, raw);
    }
    let text = text_of(&outcome.blocks);
    let settled = match outcome.usage {
        Some(tokens) => Settled::Reported { tokens },
        None => estimated(step, &text),
    };
    if turn.cancel.is_some() {
        return Decision::plain(vec![attempt_end(
            turn,
            step,
            attempt,
            AttemptEndKind::Cancelled,
            settled,
            raw,
        )]);
    }
    let has_calls = outcome.blocks.iter().any(|block| matches!(block, Block::Call { .. }));
    let end = match outcome.stop {
        StopReason::Stop | StopReason::ToolCalls if has_calls || !text.trim().is_empty() => {
            return accept(state, turn, step, attempt, outcome, settled, raw, env);
        }
        StopReason::Stop | StopReason::ToolCalls => {
            let message = "the model gave an empty answer".to_owned();
            return fail(
                state,
                turn,
                step,
                attempt,
                ModelError::new(ErrorClass::Cut, message),
                settled,
                raw,
                env,
            );
        }
        StopReason::Length => End::Length,
        StopReason::Refusal | StopReason::ContentFilter => End::Refused,
    };
    let unaccepted = AttemptEndKind::Unaccepted { stop: outcome.stop, text };
    let mut drafts = vec![attempt_end(turn, step, attempt, unaccepted, settled, raw)];
    let closing = Closing { state, turn, end: &end, unaccepted: &outcome.blocks };
    match closing::extended(&closing, env) {
        Some(goes_on) => {
            let ended = StepEnd { step: step.id.clone(), end: StepEndKind::Failed };
            drafts.push(Draft::of_step(&turn.id, &step.id, ended));
            drafts.extend(goes_on);
        }
        None => drafts.extend(finish::failed(state, turn, step, end).drafts),
    }
    Decision::barrier(drafts)
}

#[expect(clippy::too_many_arguments, reason = "one transaction from all parts of one answer")]
fn accept(
    state: &State,
    turn: &Turn,
    step: &Step,
    attempt: &AttemptId,
    outcome: Outcome,
    settled: Settled,
    raw: Option<Digest>,
    env: &Env<'_>,
) -> Decision {
    let of_step = |fact: Fact| Draft::of_step(&turn.id, &step.id, fact);
    let mut calls: Vec<Draft> = Vec::new();
    let mut index = 0;
    for block in &outcome.blocks {
        let Block::Call { provider_call_id, name, arguments } = block else { continue };
        let checked = if index < env.limits.calls_per_step {
            env.knowledge.check(name, arguments)
        } else {
            too_many(env.limits.calls_per_step)
        };
        let call = CallId::new(env.ids);
        let retry_of = retry_of(state, name, &checked);
        let error = match &checked {
            CheckedCall::Bad { error } => Some(error.clone()),
            CheckedCall::Good { .. } => None,
        };
        let (provider_call_id, name) = (provider_call_id.clone(), name.clone());
        calls.push(of_step(
            ToolCall { call: call.clone(), index, provider_call_id, name, checked, retry_of }.into(),
        ));
        if let Some(error) = error {
            let text = tools::run::error_text(&error);
            calls.push(of_step(super::judged::result(&call, ToolOutcome::Error { error }, text).into()));
        }
        index += 1;
    }
    let accepted = AssistantAccepted { attempt: attempt.clone(), blocks: outcome.blocks, stop: outcome.stop };
    let mut drafts = vec![of_step(accepted.into())];
    drafts.push(attempt_end(turn, step, attempt, AttemptEndKind::Accepted, settled, raw));
    drafts.extend(calls);
    Decision::barrier(drafts)
}

/// The call that this one runs again: settled as "again", with the same tool and arguments.
fn retry_of(state: &State, name: &str, checked: &CheckedCall) -> Option<CallId> {
    let CheckedCall::Good { digest, .. } = checked else { return None };
    let again = state.again.iter().find(|again| again.name == name && again.arguments == *digest);
    again.map(|again| again.call.clone())
}

fn too_many(limit: u32) -> CheckedCall {
    let message = format!("more than {limit} calls in one answer; this one was not looked at");
    let suggestion = Some("Make fewer calls at once and repeat the ones that are still wanted.".to_owned());
    CheckedCall::Bad { error: domain::call::ToolError { code: "calls/too_many".into(), message, suggestion } }
}

/// The attempt failed: the same request again after a wait, or the end.
pub(super) fn failed(
    state: &State,
    attempt: &AttemptId,
    error: ModelError,
    raw: Option<Digest>,
    env: &Env<'_>,
) -> Decision {
    let Some((turn, step)) = attempting(state, attempt) else {
        return finish::late(attempt.as_str(), "a failure");
    };
    let settled = settle_failure(step, &error);
    if turn.cancel.is_some() {
        return Decision::plain(vec![attempt_end(
            turn,
            step,
            attempt,
            AttemptEndKind::Cancelled,
            settled,
            raw,
        )]);
    }
    fail(state, turn, step, attempt, error, settled, raw, env)
}

#[expect(clippy::too_many_arguments, reason = "one transaction from all parts of one failure")]
fn fail(
    state: &State,
    turn: &Turn,
    step: &Step,
    attempt: &AttemptId,
    error: ModelError,
    settled: Settled,
    raw: Option<Digest>,
    env: &Env<'_>,
) -> Decision {
    let failure = Failure { turn, step, error: &error, env };
    let remedy = REMEDIES.iter().find_map(|remedy| remedy(&failure));
    let retry = match &remedy {
        Some(Remedy::Again(retry)) => Some(*retry),
        Some(Remedy::Without | Remedy::Smaller(_) | Remedy::Switch(_)) | None => None,
    };
    let (class, window) = (error.class, error.context_tokens);
    let end =
        End::Failed { code: code(class), message: error.message.clone(), answered: error.answered.clone() };
    let mut drafts =
        vec![attempt_end(turn, step, attempt, AttemptEndKind::Failed { error, retry }, settled, raw)];
    match remedy {
        // Without a summary the checkpoint holds what the record knows.
        Some(Remedy::Again(_) | Remedy::Without) => {}
        Some(Remedy::Smaller(overflowed)) => drafts.push(Draft::of_step(&turn.id, &step.id, overflowed)),
        Some(Remedy::Switch(to)) => {
            drafts.push(Draft::of_step(
                &turn.id,
                &step.id,
                StepEnd { step: step.id.clone(), end: StepEndKind::Failed },
            ));
            drafts.push(Draft::of_turn(
                &turn.id,
                ModelSwitched { from: model_of(step), to, attempt: attempt.clone(), class },
            ));
        }
        None if shorter::is_size(class) => drafts.extend(shorter::refused(state, turn, step, window).drafts),
        None => drafts.extend(finish::failed(state, turn, step, end).drafts),
    }
    Decision::barrier(drafts)
}

/// A request that failed, and all that a remedy may look at.
struct Failure<'a> {
    turn: &'a Turn,
    step: &'a Step,
    error: &'a ModelError,
    env: &'a Env<'a>,
}

/// What is done about a failed request.
enum Remedy {
    /// The same request once more, after a wait.
    Again(Retry),
    /// The step goes on without the summary that was asked for.
    Without,
    /// A smaller request is built in the same step.
    Smaller(ContextOverflowed),
    /// The step ends, and the next one asks this model.
    Switch(ModelChoice),
}

/// The chain: the first that knows a remedy decides. None of them repeats anything that had an effect: a step whose
/// request failed has no calls.
const REMEDIES: &[fn(&Failure<'_>) -> Option<Remedy>] = &[again_later, without_summary, smaller, next_model];

fn again_later(failure: &Failure<'_>) -> Option<Remedy> {
    let wait_ms = wait(failure.step, failure.error, failure.env)?;
    Some(Remedy::Again(Retry { wait_ms, until: failure.env.now + wait_ms }))
}

fn without_summary(failure: &Failure<'_>) -> Option<Remedy> {
    is_summary(failure.step).then_some(Remedy::Without)
}

/// A refusal for size is answered by a shorter history, a bounded number of times.
fn smaller(failure: &Failure<'_>) -> Option<Remedy> {
    let (step, error) = (failure.step, failure.error);
    let helps = shorter::is_size(error.class) && step.overflows < failure.env.limits.overflows_per_step;
    let body = step.request.as_ref().filter(|_| helps)?.body;
    Some(Remedy::Smaller(ContextOverflowed { body, window: error.context_tokens }))
}

/// The first of the person's list that hasn't failed in this turn, where another service may do better.
fn next_model(failure: &Failure<'_>) -> Option<Remedy> {
    let elsewhere = match failure.error.class {
        ErrorClass::Billing | ErrorClass::NotFound => true,
        class => class.is_transient(),
    };
    let (knowledge, from) = (failure.env.knowledge, model_of(failure.step));
    let fresh = |choice: &ModelChoice| {
        *choice != from && !failure.turn.unanswering.contains(choice) && knowledge.model(choice).is_some()
    };
    let next = elsewhere.then(|| knowledge.instead()).into_iter().flatten().find(fresh)?;
    Some(Remedy::Switch(next))
}

fn model_of(step: &Step) -> ModelChoice {
    ModelChoice { provider: step.model.provider.clone(), model: step.model.model.clone() }
}

/// How long to wait before the same request goes out again; `None` when it doesn't.
fn wait(step: &Step, error: &ModelError, env: &Env<'_>) -> Option<u64> {
    let limits = env.limits;
    let most = if is_summary(step) { limits.attempts_per_summary } else { limits.attempts_per_step };
    // A certificate that was refused is the same a moment later.
    let transient = error.class.is_transient() && error.answered.certificate.is_none();
    if !transient || step.tries >= most {
        return None;
    }
    let doubled = limits.backoff_first_ms.saturating_mul(1 << step.tries.saturating_sub(1).min(20));
    let longest = doubled.min(limits.backoff_max_ms);
    let spread = longest / 2 + longest / 2 * env.jitter / 999;
    match error.retry_after_ms {
        Some(asked) if asked > limits.retry_after_max_ms => None,
        Some(asked) => Some(asked.max(spread)),
        None => Some(spread),
    }
}

/// The attempt was stopped by us.
pub(super) fn stopped(state: &State, attempt: &AttemptId, text: &str, usage: Option<Usage>) -> Decision {
    let Some((turn, step)) = attempting(state, attempt) else {
        return finish::late(attempt.as_str(), "a stop");
    };
    let settled = cut_off(step, text, usage);
    Decision::plain(vec![attempt_end(turn, step, attempt, AttemptEndKind::Cancelled, settled, None)])
}

/// The wait is over: the same request once more.
pub(super) fn again(state: &State, step: &StepId, env: &Env<'_>) -> Decision {
    let Some((turn, open)) = open_step(state, step) else { return Decision::plain(Vec::new()) };
    let (StepPhase::Backoff { .. }, Some(request), None) = (&open.phase, &open.request, turn.cancel) else {
        return Decision::plain(Vec::new());
    };
    // The same request isn't reckoned anew.
    if let Some(met) = spending::in_the_way(state, &open.model, Next::default(), env) {
        return finish::failed(state, turn, open, met);
    }
    let purpose = if is_summary(open) { Purpose::Summary } else { Purpose::Answer };
    let start = start(open, request.body, purpose, env);
    Decision::barrier(vec![Draft::of_step(&turn.id, &open.id, start)])
}

fn start(step: &Step, body: Digest, purpose: Purpose, env: &Env<'_>) -> AttemptStart {
    AttemptStart { attempt: AttemptId::new(env.ids), n: step.attempts + 1, body, purpose }
}

/// Is what goes out a request for a summary?
fn is_summary(step: &Step) -> bool {
    step.request.as_ref().is_some_and(|request| request.about.is_some())
}

pub(super) fn open_step<'a>(state: &'a State, step: &StepId) -> Option<(&'a Turn, &'a Step)> {
    state.step().filter(|(_, open)| open.id == *step)
}

fn attempting<'a>(state: &'a State, attempt: &AttemptId) -> Option<(&'a Turn, &'a Step)> {
    state
        .step()
        .filter(|(_, step)| matches!(&step.phase, StepPhase::Attempting { attempt: open } if open == attempt))
}

pub(super) fn attempt_end(
    turn: &Turn,
    step: &Step,
    attempt: &AttemptId,
    end: AttemptEndKind,
    settled: Settled,
    raw: Option<Digest>,
) -> Draft {
    Draft::of_step(&turn.id, &step.id, AttemptEnd { attempt: attempt.clone(), end, settled, raw })
}

/// What a cut-off attempt probably cost: its whole input, and the text that arrived.
pub(super) fn estimated(step: &Step, text: &str) -> Settled {
    let input = step.request.as_ref().map_or(0, |request| request.tokens);
    Settled::Estimated {
        tokens: Usage { input, output: context::estimate::tokens(text), ..Usage::default() },
    }
}

/// What it probably cost where some was reported before it was cut off: some services tell the output at its beginning, and
/// what arrived since counts, too.
fn cut_off(step: &Step, text: &str, reported: Option<Usage>) -> Settled {
    let Some(tokens) = reported else { return estimated(step, text) };
    let output = tokens.output.max(context::estimate::tokens(text));
    Settled::Estimated { tokens: Usage { output, ..tokens } }
}

/// Refused before a model saw it costs nothing; cut off costs what arrived; otherwise nobody knows.
fn settle_failure(step: &Step, error: &ModelError) -> Settled {
    match (error.usage, error.answered.status, error.class) {
        (Some(_), ..) => cut_off(step, &error.partial_text, error.usage),
        (None, Some(status), _) if status >= 400 && error.partial_text.is_empty() => {
            Settled::Estimated { tokens: Usage::default() }
        }
        (None, _, ErrorClass::Network) => Settled::Unknown,
        (None, ..) => estimated(step, &error.partial_text),
    }
}

/// The class as events and windows name it.
fn code(class: ErrorClass) -> String {
    serde_json::to_value(class).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn text_of(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text.as_str()),
        Block::Reasoning { .. } | Block::Call { .. } => None,
    });
    texts.collect()
}
