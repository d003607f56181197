//! Jobs: getting a place and the folder, running, and answering a model that asks about one.
//!
//! A **tail** is the newest output of a running job, kept in memory for whoever asks; the record has all of it at the end.
//! Invariants: a job is judged after it got its place and its folder, and runs by the clearance that this gave; what other
//! work of the session did to the folder meanwhile isn't counted as the job's.

use crate::blobs::blobs;
use crate::decide::Op;
use crate::folders::{Lease, lock};
use crate::input::{Finished, FinishedEnd, Input};
use crate::ledger::effects;
use crate::perform::calls::{self, For, live};
use crate::perform::standing::standing;
use crate::perform::{Done, Pieces, Ready, trees};
use crate::shared::{Live, Shared, real_root};
use domain::call::{Effect, Entry, ToolError};
use domain::digest::Digest;
use domain::event::{Changed, Doubt, Fact, JobEnded};
use domain::ids::{JobId, SessionId};
use domain::state::{Call, EndedJob, Job, JobPhase, State};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::Notice;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::Ctx;
use tools::call::{JobAction, OfJob};
use tools::revision::{same, standing_in};

/// Most bytes of the newest output that are kept of a running job.
const TAIL_BYTES: usize = 8 * 1024;
/// How long a job that was told to stop is waited for.
const STOPS_MS: u64 = 15_000;
/// Events read at once.
const PAGE: usize = 500;

/// Waits for a place among the running jobs and for the folder, and judges the job as things are then.
pub(crate) async fn begin(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    id: JobId,
    cancel: CancellationToken,
) -> Done {
    let op = Op::BeginJob(id.clone());
    let Some(job) = state.job(&id) else { return Done::with(op, None) };
    let room = tokio::select! {
        room = room(&shared, &session, &state, &job.call) => room,
        () = cancel.cancelled() => None,
    };
    let Some((place, lease)) = room else { return Done::with(op, None) };
    let asked = vec![job.call.clone()];
    let (judged, mut cleared) = calls::look(&shared, &session, &state, asked, lease, For::Job, &cancel).await;
    if cancel.is_cancelled() {
        return Done::with(op, None);
    }
    let Some(judged) = judged.into_iter().next().map(Box::new) else { return Done::with(op, None) };
    if let Some((_, ready)) = cleared.first_mut() {
        ready.place = Some(place);
    }
    Done { op, input: Some(Input::JobJudged { job: id, judged }), cleared, slot: None }
}

/// A place and the folder, where it is needed. Nobody waits for the one while keeping the other from those who need it.
async fn room(
    shared: &Arc<Shared>,
    session: &SessionId,
    state: &Arc<State>,
    call: &Call,
) -> Option<(OwnedSemaphorePermit, Option<Lease>)> {
    let (root, never) = (real_root(state), CancellationToken::new());
    loop {
        let place = Arc::clone(&shared.job_slots).acquire_owned().await.ok()?;
        let lease = shared.folders.hold_now(&root, session);
        if lease.is_some() || !calls::changes(shared, session, state, call, For::Job).await {
            return Some((place, lease));
        }
        drop(place);
        let lease = shared.folders.hold(&root, session, &never).await?;
        if let Ok(place) = Arc::clone(&shared.job_slots).try_acquire_owned() {
            return Some((place, Some(lease)));
        }
    }
}

/// Runs a job that has begun, to its end.
pub(crate) async fn run(
    shared: Arc<Shared>,
    session: SessionId,
    state: Arc<State>,
    id: JobId,
    ready: Option<Ready>,
    pieces: Pieces,
    cancel: CancellationToken,
) -> Done {
    let op = Op::RunJob(id.clone());
    let Some((job, run)) = state.job(&id).and_then(|job| Some((job, job.running()?))) else {
        return Done::with(op, None);
    };
    let began = Instant::now();
    let show = {
        let (shared, session, job) = (Arc::clone(&shared), session.clone(), id.clone());
        move |at, text: &str| {
            keep_tail(&shared, &job, text);
            shared.show(Live::JobOutput {
                session: session.clone(),
                job: job.clone(),
                at,
                text: text.into(),
            });
        }
    };
    let job_id = id.clone();
    let logged = move |text| Input::JobOutput { job: job_id.clone(), text };
    let (output, ended, forwarding) = live(pieces, Live::JOB_LOGGED, show, logged);
    let standing = standing(&shared, &session, &state, &job.call.id);
    let finished = match (ready, standing.map(|standing| Ctx { cancel, output, ..standing.ctx })) {
        (Some(ready), Ok(ctx)) => {
            let beside = trees::Beside::Job(trees::Since { session: &session, job: &id, seq: run.seq });
            trees::held(&shared, run.tree, ready, ctx, beside).await
        }
        // Nothing of it ran: it begins only with the clearance that this process made.
        (None, _) => calls::failed(calls::internal("the clearance of this job is gone")),
        (_, Err(error)) => calls::failed(error),
    };
    // The last output is in the queue before the end is.
    drop(ended.send(None));
    drop(forwarding.await);
    lock(&shared.tails).remove(&id);
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Done::with(op, Some(Input::JobFinished { job: id, finished, ms }))
}

fn keep_tail(shared: &Shared, job: &JobId, text: &str) {
    let mut tails = lock(&shared.tails);
    let tail = tails.entry(job.clone()).or_default();
    tail.push_str(text);
    if tail.len() > TAIL_BYTES {
        let from = tail.ceil_char_boundary(tail.len() - TAIL_BYTES);
        tail.drain(..from);
    }
}

/// Answers a model that asks about a job, as things are, or once they are as it waits for.
pub(crate) async fn answer(
    shared: &Arc<Shared>,
    session: &SessionId,
    asked: &OfJob,
    pieces: &Pieces,
    cancel: &CancellationToken,
) -> Finished {
    let state = shared.store.state(session);
    let Some(id) = state.ok().and_then(|state| known(&state, &asked.job)) else {
        return calls::failed(unknown(&asked.job));
    };
    let wait_ms = match asked.action {
        JobAction::Status => 0,
        JobAction::Wait => asked.wait_ms.min(shared.tool_limits.job_wait_ms),
        JobAction::Cancel => {
            pieces.send(Input::StopJob { job: id.clone() }).await;
            STOPS_MS
        }
    };
    tokio::select! {
        () = at_rest(shared, session, &id) => {}
        () = tokio::time::sleep(Duration::from_millis(wait_ms)) => {}
        () = cancel.cancelled() => return stopped(),
    }
    let (shared, session, wanted) = (Arc::clone(shared), session.clone(), asked.job.clone());
    let telling = tokio::task::spawn_blocking(move || tell(&shared, &session, &id));
    telling.await.ok().flatten().unwrap_or_else(|| calls::failed(unknown(&wanted)))
}

fn known(state: &State, named: &str) -> Option<JobId> {
    let open = state.jobs.iter().map(|job| &job.id);
    open.chain(state.ended_jobs.iter().map(|job| &job.id)).find(|id| id.as_str() == named).cloned()
}

fn unknown(named: &str) -> ToolError {
    ToolError {
        code: "job/unknown".into(),
        message: format!("there is no job called {}, or it ended long ago", tools::path::shown(named)),
        suggestion: Some("Give the id that run_command returned.".into()),
    }
}

/// Returns once nothing of the job goes on.
async fn at_rest(shared: &Arc<Shared>, session: &SessionId, id: &JobId) {
    // Listening begins before looking, so that nothing is missed in between.
    let mut news = shared.store.subscribe();
    loop {
        let (reader, session_id, job) = (Arc::clone(shared), session.clone(), id.clone());
        let looking = tokio::task::spawn_blocking(move || {
            let goes_on = |state: Arc<State>| state.job(&job).is_some_and(|job| !lost(job));
            reader.store.state(&session_id).is_ok_and(goes_on)
        });
        if !looking.await.unwrap_or(false) {
            return;
        }
        while !is_of_jobs(&news.next().await, session) {}
    }
}

/// May it say that a job of this session stands elsewhere now?
fn is_of_jobs(notice: &Notice, session: &SessionId) -> bool {
    let of_job = |kind: &str| kind.starts_with("job/") && kind != "job/output";
    match notice {
        Notice::Committed(news) => {
            news.session == *session && news.events.iter().any(|event| of_job(&event.kind))
        }
        Notice::Resync => true,
    }
}

fn lost(job: &Job) -> bool {
    matches!(job.phase, JobPhase::Reconciling(_))
}

/// Where it stands, in words. Blocks.
fn tell(shared: &Shared, session: &SessionId, id: &JobId) -> Option<Finished> {
    let state = shared.store.state(session).ok()?;
    if let Some(ended) = state.ended_jobs.iter().find(|job| job.id == *id) {
        return Some(told_end(ended, end_of(shared, session, ended)?));
    }
    let job = state.job(id)?;
    let (phase, words) = match &job.phase {
        JobPhase::Pending => ("pending", "waits to begin; nothing of it ran yet."),
        JobPhase::Running(_) if job.cancel.is_some() => ("running", "was told to stop and hasn't ended yet."),
        JobPhase::Running(_) => ("running", "still runs."),
        JobPhase::Reconciling(_) => {
            ("reconciling", "was lost sight of: whether it still runs isn't known. Ask the person.")
        }
    };
    let tail = lock(&shared.tails).get(id).cloned().unwrap_or_default();
    let output = match tail.trim_end() {
        "" => String::new(),
        tail => format!("\nIts newest output:\n{tail}"),
    };
    Some(good(id, phase, format!("Job {id} {words}{output}")))
}

/// What stands in the record of its end.
fn end_of(shared: &Shared, session: &SessionId, ended: &EndedJob) -> Option<JobEnded> {
    let page = shared.store.events(session, ended.seq, 1).ok()?;
    match page.into_iter().next()?.decode().ok()?.fact? {
        Fact::JobEnded(e) if e.job == ended.id => Some(e),
        _ => None,
    }
}

fn told_end(ended: &EndedJob, e: JobEnded) -> Finished {
    let name = ended.end.name();
    good(&ended.id, name, format!("Job {} ended: {name}.\n{}", ended.id, e.text))
}

fn good(id: &JobId, phase: &str, text: String) -> Finished {
    let end = FinishedEnd::Ok(json!({ "job": id.as_str(), "phase": phase }));
    Finished { end, text, ..calls::nothing() }
}

fn stopped() -> Finished {
    Finished { end: FinishedEnd::Stopped, text: "Not waited for any longer.".to_owned(), ..calls::nothing() }
}

/// The end of a job that broke off inside Daybook: it may have done anything.
pub(crate) fn broken(text: String) -> Finished {
    let end = FinishedEnd::Unknown([("reason".to_owned(), "internal".to_owned())].into());
    Finished { end, text, ..calls::nothing() }
}

/// What is recorded instead of an end that can't be.
pub(crate) fn unrecorded(finished: Finished, message: String) -> Finished {
    let told = calls::failed(ToolError { code: "result/too_large".into(), message, suggestion: None });
    let changed = match finished.changed.is_empty() {
        true => Changed::default(),
        false => Changed::default().doubted(Doubt::Untold),
    };
    Finished { changed, secrets: finished.secrets, ..told }
}

/// What a job changed, from what is different since it began: without what other work of the session is on record with.
/// Where it changed something after that, it is from what the other left. Where that can't be told, it says so. Blocks.
pub(crate) fn own(
    shared: &Shared,
    since: trees::Since<'_>,
    tree: &Digest,
    differs: Vec<Effect>,
) -> (Vec<Effect>, Option<Doubt>) {
    let Some(others) = others(shared, since) else { return (differs, Some(Doubt::Mixed)) };
    let blobs = blobs(shared);
    match without(differs.clone(), others, |path| standing_in(&blobs, tree, path)) {
        Ok(own) => (own, None),
        Err(error) => {
            tracing::warn!(%error, "what other work did beside a job can't be told");
            (differs, Some(Doubt::Mixed))
        }
    }
}

/// What is left of a difference without the others' part of it; `stood` is what stood at a path when it began.
fn without<E>(
    mut differs: Vec<Effect>,
    others: BTreeMap<String, Effect>,
    stood: impl Fn(&str) -> Result<Option<Entry>, E>,
) -> Result<Vec<Effect>, E> {
    for other in others.into_values() {
        let at = differs.iter().position(|one| one.path == other.path);
        match at.and_then(|at| differs.get_mut(at)) {
            Some(own) => own.before = other.after,
            None => {
                let now = stood(&other.path)?;
                // Where the same stood there, the other had put it there before this began. What no tree covers can't be told.
                let known = !matches!(now, Some(Entry::Uncovered { .. }));
                if known && !same(now.as_ref(), other.after.as_ref()) {
                    // Something else was put there, and it stands there as it did before: that was taken away again.
                    let (path, before) = (other.path, other.after);
                    differs.push(Effect {
                        path,
                        before,
                        after: now,
                        lines: None,
                        kept_in: None,
                        parted: None,
                    });
                }
            }
        }
    }
    differs.retain(|effect| !same(effect.before.as_ref(), effect.after.as_ref()));
    Ok(differs)
}

/// The last change of each path by everything else that the session has on record since then.
fn others(shared: &Shared, since: trees::Since<'_>) -> Option<BTreeMap<String, Effect>> {
    let (mut last_of, mut next) = (BTreeMap::new(), since.seq);
    loop {
        let page = shared.store.events(since.session, next, PAGE).ok()?;
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        for event in page.into_iter().filter(|event| Fact::changes(&event.kind)) {
            let fact = event.decode().ok()?.fact?;
            if matches!(&fact, Fact::JobEnded(e) if e.job == *since.job) {
                continue;
            }
            if let Some(changed) = fact.changed() {
                let (effects, _) = effects(changed, &shared.store).ok()?;
                last_of.extend(effects.into_iter().map(|effect| (effect.path.clone(), effect)));
            }
        }
    }
    Some(last_of)
}

/// What is different since the jobs of a dead process began, for those whose trees can tell. Blocks.
pub(crate) fn look(
    shared: &Shared,
    session: &SessionId,
    state: &State,
    place: &tools::Place,
) -> Vec<(domain::ids::CallId, crate::decide::Look)> {
    let found = state.jobs.iter().filter_map(|job| {
        let run = job.running().filter(|run| !run.uncaged && run.epoch != shared.store.epoch())?;
        let tree = run.tree.as_ref()?;
        let differs = trees::since(shared, place, tree, &CancellationToken::new())?;
        let (own, doubt) =
            own(shared, trees::Since { session, job: &job.id, seq: run.seq }, tree, differs.effects);
        let changed = calls::bounded_changes(own, &blobs(shared));
        let changed = doubt.into_iter().fold(changed, Changed::doubted);
        Some((job.call.id.clone(), crate::decide::Look::Differs(changed)))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn entry(content: Option<&str>) -> Option<Entry> {
        content.map(|content| Entry::File { content: Digest::of(content.as_bytes()), bytes: 1, mode: None })
    }

    fn effect((before, after): (Option<&str>, Option<&str>)) -> Effect {
        let (before, after) = (entry(before), entry(after));
        Effect { path: "a".into(), before, after, lines: None, kept_in: None, parted: None }
    }

    type Change<'a> = (Option<&'a str>, Option<&'a str>);

    /// What stood there when the job began and at its end, what another recorded meanwhile, and what is the job's.
    #[track_caller]
    fn check(stood: Option<&str>, now: Option<&str>, other: Change<'_>, expect: Option<Change<'_>>) {
        let differs = if stood == now { vec![] } else { vec![effect((stood, now))] };
        let others = BTreeMap::from([("a".to_owned(), effect(other))]);
        let own = without(differs, others, |_| Ok::<_, Infallible>(entry(stood))).unwrap();
        assert_eq!(own, expect.map(effect).into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_jobs_change_is_from_what_others_left_whenever_they_recorded_it() {
        let (one, two, three) = (Some("1"), Some("2"), Some("3"));
        check(None, one, (None, one), None);
        // It was there before the job began, and recorded only after.
        check(one, one, (None, one), None);
        check(one, two, (None, one), Some((one, two)));
        // The job changed it after the other.
        check(None, two, (None, one), Some((one, two)));
        check(None, None, (None, one), Some((one, None)));
        // The other's last word was what stood there before all.
        check(two, one, (two, one), None);
        check(one, three, (two, one), Some((one, three)));
    }
}
