//! Judging and running calls: the pipeline's steps that look at the world.
//!
//! A clearance made by judging stays in memory until its call starts; a process that dies takes it along, and the call is
//! judged again.

use crate::decide::{Judged, Op};
use crate::folders::Lease;
use crate::input::{Finished, FinishedEnd, Input};
use crate::perform::standing::standing;
use crate::perform::{Done, Pieces, Ready, jobs, trees};
use crate::shared::{Live, Shared, real_root};
use domain::call::{Effect, Mode, ToolError, Verdict};
use domain::digest::Digest;
use domain::event::{Changed, Doubt, EffectList};
use domain::ids::{CallId, SessionId, StepId};
use domain::state::{ApprovalState, Call, CallPhase, State};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::call::Surveyed;
use tools::launch::Hold;
use tools::{Approval, BlobSink, Ctx, End, Interaction, Output};

/// Most bytes of a structured result kept in its event; the text for the model has bounds of its own.
const VALUE_BYTES: usize = 32 * 1024;
/// Most bytes of effects in one event; a list of more is a blob.
const EFFECTS_BYTES: usize = 64 * 1024;

/// What a call is looked at for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// To run it.
    Call,
    /// To begin the job that it made.
    Job,
}

/// Judges calls as things are now. Those that may start at once and change something hold the folder from before they were
/// looked at.
pub(crate) async fn judge(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    step: StepId,
    calls: Vec<CallId>,
    cancel: CancellationToken,
) -> Done {
    let op = Op::Judge { step: step.clone(), calls: calls.clone() };
    let lease = shared.folders.hold_now(&real_root(&state), &session);
    let asked = calls.iter().filter_map(|call| state.call(call).cloned()).collect();
    let (judged, cleared) = look(&shared, &session, &state, asked, lease, For::Call, &cancel).await;
    if cancel.is_cancelled() {
        return Done::with(op, None);
    }
    Done { op, input: Some(Input::Judged { step, calls: judged }), cleared, slot: None }
}

/// Judges a call whose turn has come, once no other session works in the folder.
pub(crate) async fn begin(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    call: CallId,
    cancel: CancellationToken,
) -> Done {
    let op = Op::Begin(call.clone());
    let Some(((_, step), call)) = state.step().zip(state.call(&call).cloned()) else {
        return Done::with(op, None);
    };
    let (step, root) = (step.id.clone(), real_root(&state));
    let mut lease = shared.folders.hold_now(&root, &session);
    if lease.is_none() && changes(&shared, &session, &state, &call, For::Call).await {
        lease = shared.hold_folder(&root, &session, &cancel).await;
        if lease.is_none() {
            return Done::with(op, None);
        }
    }
    let (judged, cleared) = look(&shared, &session, &state, vec![call], lease, For::Call, &cancel).await;
    if cancel.is_cancelled() {
        return Done::with(op, None);
    }
    Done { op, input: Some(Input::Judged { step, calls: judged }), cleared, slot: None }
}

/// Would the call change something? One that can't be looked at doesn't.
pub(crate) async fn changes(
    shared: &Arc<Shared>,
    session: &SessionId,
    state: &Arc<State>,
    call: &Call,
    what: For,
) -> bool {
    let (shared, session, state, call) =
        (Arc::clone(shared), session.clone(), Arc::clone(state), call.clone());
    let looking = move || {
        let checked = shared.tools.check(&call.name, &call.good.as_ref()?.arguments).ok()?;
        let standing = standing(&shared, &session, &state, &call.id).ok()?;
        let surveyed = checked.survey(&standing.ctx).ok()?;
        Some(changes_now(standing.mode, &surveyed, checked.interaction(), what))
    };
    tokio::task::spawn_blocking(looking).await.ok().flatten().unwrap_or(false)
}

/// Does what is done now change something? Making a job doesn't.
fn changes_now(mode: Mode, surveyed: &Surveyed, asks: Option<&Interaction>, what: For) -> bool {
    let makes_job = what == For::Call && matches!(asks, Some(Interaction::Background { .. }));
    mode != Mode::Plan && surveyed.semantics.has_effects() && !makes_job
}

type Looked = (Vec<Judged>, Vec<(CallId, Ready)>);

pub(crate) async fn look(
    shared: &Arc<Shared>,
    session: &SessionId,
    state: &Arc<State>,
    asked: Vec<Call>,
    lease: Option<Lease>,
    what: For,
    cancel: &CancellationToken,
) -> Looked {
    let cancel = cancel.clone();
    let (shared, session, state) = (Arc::clone(shared), session.clone(), Arc::clone(state));
    let calls: Vec<CallId> = asked.iter().map(|call| call.id.clone()).collect();
    let looking = move || {
        let mut cleared = Vec::new();
        let mut judged = Vec::new();
        for call in asked {
            let looked = one(&shared, &session, &state, &call, lease.as_ref(), what, &cancel);
            let result = looked.map(|(judgement, ready)| {
                cleared.extend(ready.map(|ready| (call.id.clone(), ready)));
                judgement
            });
            judged.push(Judged { call: call.id, result });
        }
        (judged, cleared)
    };
    tokio::task::spawn_blocking(looking).await.unwrap_or_else(|error| {
        tracing::error!(%error, "judging failed");
        let failed =
            |call| Judged { call, result: Err(internal("looking at this call failed inside Daybook")) };
        (calls.into_iter().map(failed).collect(), Vec::new())
    })
}

fn one(
    shared: &Arc<Shared>,
    session: &SessionId,
    state: &State,
    call: &Call,
    lease: Option<&Lease>,
    what: For,
    cancel: &CancellationToken,
) -> Result<(crate::decide::Judgement, Option<Ready>), ToolError> {
    let Some(good) = &call.good else { return Err(internal("the call was never checked")) };
    let checked = shared.tools.check(&call.name, &good.arguments)?;
    let standing = standing(shared, session, state, &call.id)?;
    let (ctx, mode) = (&standing.ctx, standing.mode);
    let mut surveyed = checked.survey(ctx)?;
    // What is recorded before this is in the tree; what is recorded after it may be.
    let since = shared.store.state(session).map_or(state.next_seq, |now| now.next_seq);
    let tree = match trees::wide(&surveyed.facts, mode) {
        true => trees::cover(shared, &ctx.place, &mut surveyed.facts, cancel),
        false => None,
    };
    let verdict = standing.judge(&mut surveyed.facts);
    let policy = standing.policy();
    if let Verdict::Ask { rule } = &verdict {
        surveyed.facts.words.insert("rule".to_owned(), rule.clone());
    }
    // The expiry is the engine's business: a granted approval in the state is one that hasn't lapsed.
    let fresh = Approval::of(&checked, &surveyed.facts, u64::MAX);
    let granted = call.approval.as_ref().is_some_and(|approval| {
        approval.state == ApprovalState::Granted && approval.digest == fresh.digest()
    });
    let now = shared.ports.clock.now_ms();
    let cleared = tools::clear(&checked, surveyed.clone(), &policy, granted.then_some(&fresh), now).ok();
    // What changes something starts only while its session holds the folder.
    let changes = changes_now(mode, &surveyed, checked.interaction(), what);
    let held = lease.filter(|_| changes).and_then(Lease::again);
    let waits = cleared.is_some() && changes && held.is_none();
    let judgement = crate::decide::Judgement {
        mode,
        added: state.added.keys().cloned().collect(),
        verdict,
        facts_digest: tools::clear::facts_digest(&surveyed.facts),
        semantics: surveyed.semantics,
        approval_digest: fresh.digest(),
        offers: tools::policy::offers(&surveyed.facts, &policy),
        facts: surveyed.facts,
        cleared: cleared.is_some(),
        waits,
        tree,
        since,
        uncaged: cleared.as_ref().is_some_and(|cleared| cleared.hold() == Hold::Uncaged),
        interaction: checked.interaction().cloned(),
        in_force: standing.in_force,
    };
    Ok((judgement, cleared.filter(|_| !waits).map(|cleared| Ready { cleared, lease: held, place: None })))
}

pub(crate) async fn run(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    call: CallId,
    ready: Option<Ready>,
    pieces: Pieces,
    cancel: CancellationToken,
) -> Done {
    let op = Op::Run(call.clone());
    let began = Instant::now();
    let of_job = ready.as_ref().and_then(|ready| match ready.cleared.call().interaction() {
        Some(Interaction::Job(of_job)) => Some(of_job.clone()),
        Some(_) | None => None,
    });
    if let Some(of_job) = of_job {
        let finished = jobs::answer(&shared, &session, &of_job, &pieces, &cancel).await;
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        return Done::with(op, Some(Input::Finished { call, finished, ms }));
    }
    let show = {
        let (shared, session, call) = (Arc::clone(&shared), session.clone(), call.clone());
        move |at, text: &str| {
            shared.show(Live::Output { session: session.clone(), call: call.clone(), at, text: text.into() });
        }
    };
    let of_call = call.clone();
    let logged = move |text| Input::Output { call: of_call.clone(), text };
    let (output, ended, forwarding) = live(pieces, Live::CALL_LOGGED, show, logged);
    let standing = standing(&shared, &session, &state, &call);
    let finished = match (ready, standing.map(|standing| Ctx { cancel, output, ..standing.ctx })) {
        (Some(ready), Ok(ctx)) => {
            trees::held(&shared, tree(&state, &call), ready, ctx, trees::Beside::Calls).await
        }
        (None, _) => lost(&state, &call),
        (_, Err(error)) => failed(error),
    };
    // The last output is in the queue before the end is.
    drop(ended.send(None));
    drop(forwarding.await);
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Done::with(op, Some(Input::Finished { call, finished, ms }))
}

/// `None` says that no more output comes.
pub(crate) type Line = mpsc::UnboundedSender<Option<String>>;

/// Live output: shown at once, and the first `most` bytes of it logged through a bounded queue in order. What is only shown
/// waits nowhere.
pub(crate) fn live(
    pieces: Pieces,
    most: usize,
    show: impl Fn(usize, &str) + Send + Sync + 'static,
    logged: impl Fn(String) -> Input + Send + Sync + 'static,
) -> (Output, Line, tokio::task::JoinHandle<()>) {
    let (line, mut texts) = mpsc::unbounded_channel::<Option<String>>();
    let end = line.clone();
    let bytes = AtomicUsize::new(0);
    let forward = Output::To(Arc::new(move |text: &str| {
        let at = bytes.fetch_add(text.len(), Ordering::Relaxed);
        show(at, text);
        // Full to the last character that fits: whoever knows the limit knows when no more of it comes.
        let fits = text.floor_char_boundary(most.saturating_sub(at));
        if fits > 0 {
            drop(line.send(Some(text[..fits].to_owned())));
        }
    }));
    let forwarding = tokio::spawn(async move {
        while let Some(Some(text)) = texts.recv().await {
            if !pieces.send(logged(text)).await {
                break;
            }
        }
    });
    (forward, end, forwarding)
}

/// Started here before, and lost sight of: what may have had effects may have happened.
fn lost(state: &State, call: &CallId) -> Finished {
    let mut finished = failed(internal("the clearance of this call is gone"));
    if let Some(CallPhase::Started { semantics, .. }) = state.call(call).map(|call| &call.phase)
        && semantics.has_effects()
    {
        finished.end = FinishedEnd::Unknown(BTreeMap::from([("reason".to_owned(), "lost".to_owned())]));
        finished.text = "Outcome unknown: it may have happened. Look before doing it again.".to_owned();
    }
    finished
}

pub(crate) fn told(done: tools::Finished, sink: &dyn BlobSink) -> Finished {
    let tools::Finished { end, text, value, effects, blobs, seen, secrets } = done;
    let changed = bounded_changes(effects, sink);
    let end = match end {
        End::Ok => FinishedEnd::Ok(bounded(value.get("value").cloned().unwrap_or_default())),
        End::Failed(error) | End::Fault(error) => FinishedEnd::Failed(error),
        End::Cancelled => FinishedEnd::Stopped,
        End::Unknown(why) => FinishedEnd::Unknown(BTreeMap::from([("reason".to_owned(), why)])),
    };
    let kept =
        blobs.into_iter().enumerate().map(|(at, digest)| (format!("output-{}", at + 1), digest)).collect();
    Finished { end, text, changed, kept, seen, secrets }
}

fn bounded(value: serde_json::Value) -> serde_json::Value {
    let bytes = value.to_string().len();
    if bytes <= VALUE_BYTES { value } else { serde_json::json!({ "left_out_bytes": bytes }) }
}

/// Effects as they stand in an event: all of them, or the first ones and a blob with all.
pub(crate) fn bounded_changes(mut effects: Vec<Effect>, sink: &dyn BlobSink) -> Changed {
    let sizes = effects.iter().map(|effect| serde_json::to_string(effect).map_or(0, |text| text.len() + 1));
    let mut sum = 0;
    let fit = sizes
        .take_while(|size| {
            sum += size;
            sum <= EFFECTS_BYTES
        })
        .count();
    if fit == effects.len() {
        return Changed { effects, ..Changed::default() };
    }
    let list =
        serde_json::to_vec(&effects).map_err(io::Error::other).and_then(|all| sink.attach(&mut &all[..]));
    let count = effects.len() as u64;
    effects.truncate(fit);
    match list {
        Ok(list) => Changed { effects, all: Some(EffectList { list, count }), ..Changed::default() },
        Err(error) => {
            tracing::error!(%error, "the whole list of changes couldn't be kept");
            Changed { effects, ..Changed::default() }.doubted(Doubt::Untold)
        }
    }
}

pub(crate) fn failed(error: ToolError) -> Finished {
    let text = tools::run::error_text(&error);
    Finished { end: FinishedEnd::Failed(error), text, ..nothing() }
}

/// An end with nothing to it.
pub(crate) fn nothing() -> Finished {
    let (changed, kept, seen) = (Changed::default(), BTreeMap::new(), BTreeMap::new());
    Finished { end: FinishedEnd::Stopped, text: String::new(), changed, kept, seen, secrets: Vec::new() }
}

/// The folder's tree from before a call, where its changes are told by comparing.
fn tree(state: &State, call: &CallId) -> Option<Digest> {
    match state.call(call).map(|call| &call.phase) {
        Some(CallPhase::Started { tree, .. }) => *tree,
        Some(_) | None => None,
    }
}

pub(crate) fn internal(message: &str) -> ToolError {
    ToolError { code: "internal".into(), message: message.into(), suggestion: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Post;

    #[tokio::test]
    async fn output_is_logged_to_the_last_character_that_fits() {
        let (queue, mut posts) = mpsc::channel(8);
        let logged = |text| Input::Output { call: CallId::from_bits(1), text };
        let (output, ended, forwarding) = live(Pieces::new(queue), 8, |_, _| {}, logged);
        let Output::To(take) = output else { panic!() };
        ["abc", "def", "géh", "i"].into_iter().for_each(|piece| take(piece));
        drop(ended.send(None));
        forwarding.await.unwrap();
        let mut texts = Vec::new();
        while let Ok(Post::Input(Input::Output { text, .. })) = posts.try_recv() {
            texts.push(text);
        }
        assert_eq!(texts, ["abc", "def", "g"]);
    }
}
