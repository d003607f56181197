//! What a call did to the folder, told by comparing trees: for commands and whole folders, whose effects no tool can list.
//!
//! A **tree** is a revision's name. Invariants: such a call has a tree from before its start in the log, so that what it
//! did can be told and taken back even after a crash; it runs while its session holds the folder.

use crate::blobs::blobs;
use crate::decide::Look;
use crate::input::Finished;
use crate::own;
use crate::perform::calls::{bounded_changes, told};
use crate::perform::{Ready, jobs};
use crate::shared::Shared;
use domain::call::{Act, Effect, Facts, Mode, Recovery, Semantics, Undo};
use domain::digest::Digest;
use domain::event::{Doubt, Uncovered};
use domain::ids::{CallId, JobId, SessionId};
use domain::state::{CallPhase, State};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tools::clear::NAMES_UNSEEN;
use tools::policy::only_looks;
use tools::revision::{Bounds, Changes, LeftOuts, changes};
use tools::{Ctx, Place, Settled};

/// Uncovered paths that a request names.
const NAMED: usize = 5;
/// Uncovered paths that an event names.
const UNCOVERED: usize = 50;

/// How long an app that closes waits for what a command did.
const CLOSING_WAITS: Duration = Duration::from_secs(1);

/// Does it change more than its own effects can say?
pub(crate) fn wide(facts: &Facts, mode: Mode) -> bool {
    match facts.act {
        Act::Run => mode != Mode::Plan && !only_looks(facts),
        Act::Delete => facts.words.get("kind").is_some_and(|kind| kind == "folder"),
        Act::Read | Act::Write | Act::Edit | Act::Talk => false,
    }
}

/// Takes the tree of the folder as it is, and puts into the facts what undo covers and what it doesn't.
pub(crate) fn cover(
    shared: &Shared,
    place: &Place,
    facts: &mut Facts,
    cancel: &CancellationToken,
) -> Option<Digest> {
    let blobs = blobs(shared);
    match shared.folders.revision(place, &blobs, &shared.ports.private, None, cancel) {
        Ok(taken) => {
            let left_out = taken.left_out;
            // What is sent can't be taken back, nor what the model was shown.
            let sent = !facts.reach.is_empty() || !tools::policy::secrets(facts).is_empty();
            let all = left_out.count == 0 && !sent;
            facts.undo = if all { Undo::Yes } else { Undo::Partly };
            if left_out.count > 0 {
                let named: Vec<&str> =
                    left_out.paths.iter().take(NAMED).map(|one| one.path.as_str()).collect();
                facts.words.insert("not_covered".to_owned(), named.join("\n"));
                facts.words.insert("not_covered_count".to_owned(), left_out.count.to_string());
            }
            if facts.act == Act::Run && !taken.named_elsewhere.is_empty() {
                // No cage can tell a file's names apart.
                facts.cannot_touch.retain(|one| one != "outside_folder");
                let named: Vec<&str> = taken.named_elsewhere.iter().take(NAMED).map(String::as_str).collect();
                facts.words.insert("named_elsewhere".to_owned(), named.join("\n"));
                facts.words.insert(NAMES_UNSEEN.to_owned(), taken.names_unseen.to_string());
            }
            Some(taken.tree)
        }
        Err(error) => {
            tracing::warn!(%error, "no revision of the folder could be taken");
            facts.undo = Undo::No;
            facts.words.insert("not_covered".to_owned(), ".".to_owned());
            None
        }
    }
}

/// What runs, and beside what.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Beside<'a> {
    /// A call, beside others of its answer.
    Calls,
    /// A job, beside whatever the session does since it began.
    Job(Since<'a>),
}

/// A job, and where the log was before its tree was taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Since<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) job: &'a JobId,
    pub(crate) seq: u64,
}

/// Runs a cleared call; `before` is the folder's tree from just before, where its changes are told by comparing.
pub(crate) async fn held(
    shared: &Arc<Shared>,
    before: Option<Digest>,
    ready: Ready,
    ctx: Ctx,
    beside: Beside<'_>,
) -> Finished {
    let Ready { cleared, lease, place } = ready;
    let within = (cleared.facts().act == Act::Delete).then(|| cleared.facts().can_touch.clone());
    let mut done = tools::run(cleared, &ctx).await;
    let (mut doubt, mut uncovered) = (None, None);
    if let Some(before) = before {
        match differs(shared, &ctx.place, before, &ctx.cancel, beside).await {
            Some((mut differs, mixed)) => {
                // Beside the deletion of a folder other calls of the answer may write elsewhere.
                let own = |path: &str| within.as_ref().is_none_or(|within| is_in(path, within));
                differs.effects.retain(|effect| own(&effect.path));
                uncovered = named(differs.uncovered, own);
                doubt = if differs.more > 0 { Some(Doubt::Untold) } else { mixed };
                done.effects = joined(differs.effects, done.effects);
            }
            None => doubt = Some(Doubt::Untold),
        }
    }
    drop((lease, place));
    let mut finished = told(done, &*ctx.blobs);
    finished.changed.doubt = doubt.or(finished.changed.doubt);
    if let Some(uncovered) = uncovered {
        finished.text.push_str(&not_covered(&uncovered));
        finished.changed.uncovered = Some(uncovered);
    }
    finished
}

/// What undo doesn't cover of a call's changes, as events have it.
fn named(found: LeftOuts, own: impl Fn(&str) -> bool) -> Option<Uncovered> {
    let all = found.paths.len();
    let mut paths: Vec<String> =
        found.paths.into_iter().map(|one| one.path).filter(|path| own(path)).collect();
    let count = found.count - (all - paths.len()) as u64;
    paths.truncate(UNCOVERED);
    (count > 0 && !paths.is_empty()).then_some(Uncovered { paths, count })
}

/// The same for whoever reads the result.
fn not_covered(uncovered: &Uncovered) -> String {
    let mut paths: Vec<String> =
        uncovered.paths.iter().take(NAMED).map(|path| tools::path::shown(path)).collect();
    let more = uncovered.count.saturating_sub(paths.len() as u64);
    if more > 0 {
        paths.push(format!("and {more} more"));
    }
    format!("\n[Changed, and not covered by undo: {}]", paths.join(", "))
}

fn is_in(path: &str, within: &[String]) -> bool {
    within.iter().any(|one| path == one || path.strip_prefix(one).is_some_and(|rest| rest.starts_with('/')))
}

/// What the trees tell, and what the tool says of paths they don't cover.
fn joined(mut told: Vec<Effect>, own: Vec<Effect>) -> Vec<Effect> {
    for effect in own {
        match told.iter_mut().find(|known| known.path == effect.path) {
            Some(known) => known.kept_in = effect.kept_in,
            None => told.push(effect),
        }
    }
    told
}

async fn differs(
    shared: &Arc<Shared>,
    place: &Arc<Place>,
    before: Digest,
    stopped: &CancellationToken,
    beside: Beside<'_>,
) -> Option<(Changes, Option<Doubt>)> {
    let job = match beside {
        Beside::Calls => None,
        Beside::Job(Since { session, job, seq }) => Some((session.clone(), job.clone(), seq)),
    };
    let cancel = CancellationToken::new();
    let mut looking = {
        let (shared, place, cancel) = (Arc::clone(shared), Arc::clone(place), cancel.clone());
        let looking = move || {
            let mut found = since(&shared, &place, &before, &cancel)?;
            let mut doubt = None;
            if let Some((session, job, seq)) = &job {
                let began = Since { session, job, seq: *seq };
                (found.effects, doubt) = jobs::own(&shared, began, &before, found.effects);
            }
            Some((found, doubt))
        };
        tokio::task::spawn_blocking(looking)
    };
    tokio::select! {
        found = &mut looking => return found.ok().flatten(),
        () = out_of_time(shared, stopped) => cancel.cancel(),
    }
    looking.await.ok().flatten()
}

/// Whoever stops a command waits until it is known what it did; an app that closes doesn't wait long.
async fn out_of_time(shared: &Shared, stopped: &CancellationToken) {
    stopped.cancelled().await;
    loop {
        tokio::time::sleep(CLOSING_WAITS).await;
        if shared.closing() {
            return;
        }
    }
}

/// What is different in the folder since a tree was taken; `None` where that can't be told.
pub(crate) fn since(
    shared: &Shared,
    place: &Place,
    before: &Digest,
    cancel: &CancellationToken,
) -> Option<Changes> {
    let blobs = blobs(shared);
    let told = shared
        .folders
        .revision(place, &blobs, &shared.ports.private, Some(before), cancel)
        .map_err(|error| error.to_string())
        .and_then(|now| {
            let told = changes(&blobs, before, &now.tree, &Bounds::default(), &shared.tool_limits);
            let mut told = told.map_err(|error| error.to_string())?;
            for effect in told.effects.iter_mut().filter(|effect| effect.content_before().is_some()) {
                effect.parted = now.parted.get(&effect.path).cloned();
            }
            Ok(told)
        });
    match told {
        Ok(changes) => Some(changes),
        Err(error) => {
            tracing::warn!(%error, "what a call changed can't be told");
            None
        }
    }
}

/// Looks at the world for calls and jobs that a dead process had started and whose tools or trees can tell what became of
/// them. Also clears away what their interrupted saves left behind.
pub(crate) async fn look(
    shared: &Arc<Shared>,
    session: &SessionId,
    state: &Arc<State>,
) -> BTreeMap<CallId, Look> {
    let (shared, session, state) = (Arc::clone(shared), session.clone(), Arc::clone(state));
    let looking = move || {
        let place = own::open(&state, shared.ports.hide.clone()).ok()?;
        let calls = state.step().map_or(&[][..], |(_, step)| &step.calls);
        let found = calls.iter().filter_map(|call| {
            let CallPhase::Started { semantics: Semantics::Possible { recovery }, tree, .. } = &call.phase
            else {
                return None;
            };
            let look = match (recovery, tree) {
                (_, Some(tree)) => {
                    let mut differs = since(&shared, &place, tree, &CancellationToken::new())?;
                    let decided = call.decision.as_ref().filter(|decided| decided.act == Act::Delete);
                    let own = |path: &str| decided.is_none_or(|decided| is_in(path, &decided.touches));
                    differs.effects.retain(|effect| own(&effect.path));
                    let mut changed = bounded_changes(differs.effects, &blobs(&shared));
                    changed.uncovered = named(differs.uncovered, own);
                    Look::Differs(changed)
                }
                (Recovery::Reconcile { operation }, None) => asked(&shared, &place, operation)?,
                (Recovery::Manual | Recovery::Idempotent { .. }, None) => return None,
            };
            Some((call.id.clone(), look))
        });
        Some(found.chain(jobs::look(&shared, &session, &state, &place)).collect())
    };
    tokio::task::spawn_blocking(looking).await.ok().flatten().unwrap_or_default()
}

/// Asks the tool that made the operation what became of it.
fn asked(shared: &Shared, place: &Place, operation: &str) -> Option<Look> {
    match tools::reconcile(place, operation, &shared.tool_limits).ok()? {
        Settled::Done => Some(Look::Done(tools::asked_about(operation)?)),
        Settled::NotDone => Some(Look::NotDone),
        Settled::Unclear => None,
    }
}
