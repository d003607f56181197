//! Judging and running calls: the pipeline's steps that look at the world.
//!
//! A clearance made by judging stays in memory until its call starts; a process that dies takes it along, and the call is
//! judged again.

use crate::blobs::Blobs;
use crate::decide::{Judged, Op};
use crate::input::{Finished, FinishedEnd, Input};
use crate::perform::{Done, Pieces, trees};
use crate::shared::{Live, Shared};
use domain::call::{Effect, Facts, Mode, ToolError, Undo, Verdict};
use domain::event::{Changed, EffectList};
use domain::ids::{CallId, SessionId, StepId};
use domain::state::{ApprovalState, Call, CallPhase, State};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::{Approval, BlobSink, Cleared, Ctx, End, Output, Place, PolicyInput, Refusal};

/// Most bytes of a structured result kept in its event; the text for the model has bounds of its own.
const VALUE_BYTES: usize = 32 * 1024;
/// Most bytes of effects in one event; a list of more is a blob.
const EFFECTS_BYTES: usize = 64 * 1024;

pub(crate) async fn judge(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    step: StepId,
    calls: Vec<CallId>,
) -> Done {
    let op = Op::Judge { step: step.clone(), calls: calls.clone() };
    let looking = move || {
        let mut cleared = Vec::new();
        let mut judged = Vec::new();
        for id in calls {
            let result = match state.call(&id) {
                Some(call) => one(&shared, &session, &state, call).map(|(judgement, clearance)| {
                    cleared.extend(clearance.map(|clearance| (id.clone(), clearance)));
                    judgement
                }),
                None => Err(internal("the call is gone")),
            };
            judged.push(Judged { call: id, result });
        }
        (judged, cleared)
    };
    match tokio::task::spawn_blocking(looking).await {
        Ok((calls, cleared)) => Done { op, input: Some(Input::Judged { step, calls }), cleared, slot: None },
        Err(error) => {
            tracing::error!(%error, "judging failed");
            let calls = match &op {
                Op::Judge { calls, .. } => calls.clone(),
                _ => Vec::new(),
            };
            let failed =
                |call| Judged { call, result: Err(internal("looking at this call failed inside Daybook")) };
            Done::with(op, Some(Input::Judged { step, calls: calls.into_iter().map(failed).collect() }))
        }
    }
}

type Looked = (crate::decide::Judgement, Option<Cleared>);

fn one(shared: &Arc<Shared>, session: &SessionId, state: &State, call: &Call) -> Result<Looked, ToolError> {
    let Some(good) = &call.good else { return Err(internal("the call was never checked")) };
    let checked = shared.tools.check(&call.name, &good.arguments)?;
    let ctx = ctx(shared, session, state, &call.id, CancellationToken::new(), Output::None)?;
    let mut surveyed = checked.survey(&ctx)?;
    let mode = mode(state);
    let tree = match trees::wide(&surveyed.facts, mode) {
        true => trees::cover(shared, &ctx.place, &mut surveyed.facts, &ctx.cancel),
        false => None,
    };
    let cage = shared.ports.launcher.cage();
    let (grants, read_secrets) = (shared.grants(state), read_secrets(state));
    let policy = PolicyInput { mode, cage, layers: &[], grants: &grants, read_secrets: &read_secrets };
    let verdict = tools::judge(&checked, &surveyed.facts, &policy);
    // The expiry is the engine's business: a granted approval in the state is one that hasn't lapsed.
    let fresh = Approval::of(&checked, &surveyed.facts, u64::MAX);
    let granted = call.approval.as_ref().is_some_and(|approval| {
        approval.state == ApprovalState::Granted && approval.digest == fresh.digest()
    });
    let judgement = |cleared: bool| crate::decide::Judgement {
        mode,
        grants: state.grants.keys().cloned().collect(),
        verdict: verdict.clone(),
        facts: surveyed.facts.clone(),
        facts_digest: tools::clear::facts_digest(&surveyed.facts),
        semantics: surveyed.semantics.clone(),
        approval_digest: fresh.digest(),
        offers: tools::policy::offers(&checked, &surveyed.facts, &policy),
        cleared,
        tree,
        interaction: checked.interaction().cloned(),
    };
    let now = shared.ports.clock.now_ms();
    match tools::clear(&checked, surveyed.clone(), &policy, granted.then_some(&fresh), now) {
        Ok(clearance) => Ok((judgement(true), Some(clearance))),
        Err(
            Refusal::Denied { .. } | Refusal::NeedsApproval { .. } | Refusal::Mismatch(_) | Refusal::Expired,
        ) => Ok((judgement(false), None)),
    }
}

/// What would happen with a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Would {
    /// The policy's word.
    pub verdict: Verdict,
    /// What it would touch.
    pub facts: Facts,
}

/// Judges a command without running it.
pub(crate) fn would(
    shared: &Arc<Shared>,
    session: &SessionId,
    state: &State,
    command: &str,
) -> Result<Would, ToolError> {
    let checked =
        shared.tools.check("run_command", &serde_json::json!({ "command": command }).to_string())?;
    let call = CallId::from_bits(0);
    let ctx = ctx(shared, session, state, &call, CancellationToken::new(), Output::None)?;
    let mut facts = checked.survey(&ctx)?.facts;
    if facts.undo == Undo::No {
        // Whether all of it could be undone takes a look at the whole folder; that isn't what is asked.
        facts.undo = Undo::Partly;
    }
    let (grants, read_secrets) = (shared.grants(state), read_secrets(state));
    let (mode, cage) = (mode(state), shared.ports.launcher.cage());
    let policy = PolicyInput { mode, cage, layers: &[], grants: &grants, read_secrets: &read_secrets };
    Ok(Would { verdict: tools::judge(&checked, &facts, &policy), facts })
}

pub(crate) async fn run(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    call: CallId,
    cleared: Option<Cleared>,
    pieces: Pieces,
    cancel: CancellationToken,
) -> Done {
    let op = Op::Run(call.clone());
    let began = Instant::now();
    let (output, ended, forwarding) = output(&shared, &session, &call, pieces);
    let finished = match (cleared, ctx(&shared, &session, &state, &call, cancel, output)) {
        (Some(cleared), Ok(ctx)) => trees::held(&shared, &session, mode(&state), cleared, ctx).await,
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
type Line = mpsc::UnboundedSender<Option<String>>;

/// Live output: shown at once, and logged through a bounded queue in order.
fn output(
    shared: &Arc<Shared>,
    session: &SessionId,
    call: &CallId,
    pieces: Pieces,
) -> (Output, Line, tokio::task::JoinHandle<()>) {
    let (line, mut texts) = mpsc::unbounded_channel::<Option<String>>();
    let (shared, session, shown, end) = (Arc::clone(shared), session.clone(), call.clone(), line.clone());
    let bytes = AtomicUsize::new(0);
    let forward = Output::To(Arc::new(move |text: &str| {
        let (session, call, text) = (session.clone(), shown.clone(), text.to_owned());
        let at = bytes.fetch_add(text.len(), Ordering::Relaxed);
        shared.show(Live::Output { session, call, at, text: text.clone() });
        drop(line.send(Some(text)));
    }));
    let call = call.clone();
    let forwarding = tokio::spawn(async move {
        /// Most output of one call that is logged while it runs; the whole of it is kept with its result.
        const MOST: usize = 256 * 1024;
        let mut logged = 0;
        while let Some(Some(text)) = texts.recv().await {
            logged += text.len();
            if logged <= MOST && !pieces.send(Input::Output { call: call.clone(), text }).await {
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
    let tools::Finished { end, text, value, effects, blobs, seen } = done;
    let changed = bounded_changes(effects, sink);
    let end = match end {
        End::Ok => FinishedEnd::Ok(bounded(value.get("value").cloned().unwrap_or_default())),
        End::Failed(error) | End::Fault(error) => FinishedEnd::Failed(error),
        End::Cancelled => FinishedEnd::Stopped,
        End::Unknown(why) => FinishedEnd::Unknown(BTreeMap::from([("reason".to_owned(), why)])),
    };
    let kept =
        blobs.into_iter().enumerate().map(|(at, digest)| (format!("output-{}", at + 1), digest)).collect();
    Finished { end, text, changed, kept, seen }
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
        return Changed { effects, all: None };
    }
    let list = serde_json::to_vec(&effects).map_err(io::Error::other).and_then(|bytes| sink.put(&bytes));
    let count = effects.len() as u64;
    effects.truncate(fit);
    match list {
        Ok(list) => Changed { effects, all: Some(EffectList { list, count }) },
        Err(error) => {
            tracing::error!(%error, "the whole list of changes couldn't be kept");
            Changed { effects, all: None }
        }
    }
}

fn failed(error: ToolError) -> Finished {
    let text = tools::run::error_text(&error);
    let (changed, kept, seen) = (Changed::default(), BTreeMap::new(), BTreeMap::new());
    Finished { end: FinishedEnd::Failed(error), text, changed, kept, seen }
}

/// Files with secrets that the session's calls read or named.
fn read_secrets(state: &State) -> Vec<String> {
    state.secrets.iter().cloned().collect()
}

/// The session's mode; the strictest where there is none yet.
fn mode(state: &State) -> Mode {
    state.session.as_ref().map_or(Mode::Plan, |session| session.mode)
}

/// What a call works with.
fn ctx(
    shared: &Arc<Shared>,
    session: &SessionId,
    state: &State,
    call: &CallId,
    cancel: CancellationToken,
    output: Output,
) -> Result<Ctx, ToolError> {
    let root = state.session.as_ref().map_or("", |session| session.root.as_str());
    let place = Place::open(Path::new(root), shared.ports.hide.clone()).map_err(|error| ToolError {
        code: "folder/missing".into(),
        message: error.to_string(),
        suggestion: Some("Tell the person that the folder can't be opened.".into()),
    })?;
    Ok(Ctx {
        place: Arc::new(place),
        blobs: Arc::new(Blobs(shared.store.clone())),
        launcher: Arc::clone(&shared.ports.launcher),
        bin: shared.ports.bin.clone(),
        private: shared.ports.private.join(session.as_str()).join(call.as_str()),
        seen: Arc::new(state.seen.clone()),
        secrets: (shared.ports.secrets)(),
        limits: Arc::clone(&shared.tool_limits),
        cancel,
        output,
    })
}

fn internal(message: &str) -> ToolError {
    ToolError { code: "internal".into(), message: message.into(), suggestion: None }
}
