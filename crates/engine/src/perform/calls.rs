//! Judging and running calls: the pipeline's steps that look at the world.
//!
//! A clearance made by judging stays in memory until its call starts; a process that dies takes it along, and the call is
//! judged again.

use crate::decide::{Found, Judged, Look, Op};
use crate::input::{Finished, FinishedEnd, Input};
use crate::perform::{Done, Pieces};
use crate::shared::{Live, Shared};
use domain::call::{Recovery, Semantics, ToolError};
use domain::digest::Digest;
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
use tools::{Approval, BlobSink, Cleared, Ctx, End, Output, Place, PolicyInput, Refusal, Settled};

/// Most bytes of a structured result kept in its event; the text for the model has bounds of its own.
const VALUE_BYTES: usize = 32 * 1024;

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

/// Looks at the world for calls that a dead process had started and whose tools can tell what became of them. Also clears
/// away what their interrupted saves left behind.
pub(crate) async fn look(shared: &Arc<Shared>, state: &Arc<State>) -> Found {
    let (shared, state) = (Arc::clone(shared), Arc::clone(state));
    let looking = move || {
        let root = state.session.as_ref().map_or("", |session| session.root.as_str());
        let place = Place::open(Path::new(root), shared.ports.hide.clone()).ok()?;
        let (_, step) = state.step()?;
        let asked = step.calls.iter().filter_map(|call| match &call.phase {
            CallPhase::Started {
                semantics: Semantics::Possible { recovery: Recovery::Reconcile { operation } },
                ..
            } => Some((call.id.clone(), operation)),
            _ => None,
        });
        let found = asked.filter_map(|(call, operation)| {
            match tools::reconcile(&place, operation, &shared.tool_limits).ok()? {
                Settled::Done => Some((call, Look::Done(tools::asked_about(operation)?))),
                Settled::NotDone => Some((call, Look::NotDone)),
                Settled::Unclear => None,
            }
        });
        Some(found.collect())
    };
    tokio::task::spawn_blocking(looking).await.ok().flatten().unwrap_or_default()
}

type Looked = (crate::decide::Judgement, Option<Cleared>);

fn one(shared: &Arc<Shared>, session: &SessionId, state: &State, call: &Call) -> Result<Looked, ToolError> {
    let Some(good) = &call.good else { return Err(internal("the call was never checked")) };
    let checked = shared.tools.check(&call.name, &good.arguments)?;
    let ctx = ctx(shared, session, state, &call.id, CancellationToken::new(), Output::None)?;
    let surveyed = checked.survey(&ctx)?;
    let mode = state.session.as_ref().map_or(domain::call::Mode::Plan, |session| session.mode);
    let policy = PolicyInput { mode, cage: shared.ports.launcher.cage(), layers: &[] };
    let verdict = tools::judge(&checked, &surveyed.facts, &policy);
    // The expiry is the engine's business: a granted approval in the state is one that hasn't lapsed.
    let fresh = Approval::of(&checked, &surveyed.facts, u64::MAX);
    let granted = call.approval.as_ref().is_some_and(|approval| {
        approval.state == ApprovalState::Granted && approval.digest == fresh.digest()
    });
    let judgement = |cleared: bool| crate::decide::Judgement {
        mode,
        verdict: verdict.clone(),
        facts: surveyed.facts.clone(),
        facts_digest: tools::clear::facts_digest(&surveyed.facts),
        semantics: surveyed.semantics.clone(),
        approval_digest: fresh.digest(),
        cleared,
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
        (Some(cleared), Ok(ctx)) => told(tools::run(cleared, &ctx).await),
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

fn told(done: tools::Finished) -> Finished {
    let tools::Finished { end, text, value, effects, blobs, seen } = done;
    let end = match end {
        End::Ok => FinishedEnd::Ok(bounded(value.get("value").cloned().unwrap_or_default())),
        End::Failed(error) | End::Fault(error) => FinishedEnd::Failed(error),
        End::Cancelled => FinishedEnd::Stopped,
        End::Unknown(why) => FinishedEnd::Unknown(BTreeMap::from([("reason".to_owned(), why)])),
    };
    let kept =
        blobs.into_iter().enumerate().map(|(at, digest)| (format!("output-{}", at + 1), digest)).collect();
    Finished { end, text, effects, kept, seen }
}

fn bounded(value: serde_json::Value) -> serde_json::Value {
    let bytes = value.to_string().len();
    if bytes <= VALUE_BYTES { value } else { serde_json::json!({ "left_out_bytes": bytes }) }
}

fn failed(error: ToolError) -> Finished {
    let text = tools::run::error_text(&error);
    let (effects, kept, seen) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    Finished { end: FinishedEnd::Failed(error), text, effects, kept, seen }
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

/// Blobs of the store behind the hands' port.
struct Blobs(store::StoreHandle);

impl BlobSink for Blobs {
    fn put(&self, bytes: &[u8]) -> io::Result<Digest> {
        self.0.put_blob(bytes).map_err(io::Error::other)
    }

    fn put_stream(&self, from: &mut dyn io::Read) -> io::Result<Digest> {
        // Spools are bounded by the hands' limits; the store writes a blob in one piece.
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        self.put(&bytes)
    }

    fn get(&self, digest: &Digest) -> io::Result<Vec<u8>> {
        self.0.blob(digest).map_err(io::Error::other)
    }
}
