//! Verifying a record in the background: begun, looked at, stopped.
//!
//! One run a session at a time and a few in all, on threads for work that blocks. Invariant: a stopped run has found nothing out, and what is
//! said of a record is what was read of it, up to the events that are counted.

use crate::failure::{internal, of_read};
use crate::room::{Inside, lock};
use crate::wire::ApiError;
use crate::wire::record::{Verification, VerifyFinding};
use domain::audit::Finding;
use domain::ids::SessionId;
use engine::prompt::RebuildError;
use engine::show::{ReadError, Reader};
use engine::verify::{Progress, Verdict, watched};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

/// Runs that go on at once.
const AT_ONCE: usize = 4;

/// One verification.
pub(super) struct Run {
    began: Instant,
    stop: AtomicBool,
    progress: Mutex<Progress>,
    end: Mutex<Option<Ended>>,
}

struct Ended {
    at: Instant,
    how: How,
}

enum How {
    Done(Verdict),
    /// An event isn't what was written.
    Damaged(Finding),
    Stopped,
    Failed,
}

impl Run {
    fn new() -> Self {
        let (stop, progress, end) = Default::default();
        Self { began: Instant::now(), stop, progress, end }
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    fn go(&self, reader: &Reader, session: &SessionId, epoch: u64) {
        let how = match watched(reader, session, epoch, &|progress| self.goes_on(progress)) {
            Ok(Some(verdict)) => How::Done(verdict),
            Ok(None) => How::Stopped,
            Err(RebuildError::Read(ReadError::Damaged { seq, what, .. })) => {
                How::Damaged(Finding { law: "I1".to_owned(), seq, detail: what })
            }
            Err(why) => {
                tracing::warn!(%session, %why, "a record can't be verified");
                How::Failed
            }
        };
        *lock(&self.end) = Some(Ended { at: Instant::now(), how });
    }

    fn goes_on(&self, progress: Progress) -> ControlFlow<()> {
        *lock(&self.progress) = progress;
        if self.stop.load(Ordering::Acquire) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Does it look for what there is, and will go on doing so?
    fn runs(&self) -> bool {
        lock(&self.end).is_none() && !self.stop.load(Ordering::Acquire)
    }

    fn view(&self) -> Verification {
        let Progress { events, requests, of } = *lock(&self.progress);
        let mut view = Verification { state: "running".to_owned(), events, requests, of, ..none() };
        let end = lock(&self.end);
        let Some(Ended { at, how }) = end.as_ref() else { return view };
        view.ago = Some(u64::try_from(at.elapsed().as_millis()).unwrap_or(u64::MAX));
        let (state, findings) = match how {
            How::Done(verdict) => {
                (view.events, view.requests, view.of) = (verdict.events, verdict.requests, verdict.requests);
                view.erased = verdict.erased_requests;
                ("done", &verdict.findings[..])
            }
            How::Damaged(finding) => ("done", std::slice::from_ref(finding)),
            How::Stopped => ("stopped", &[][..]),
            How::Failed => ("failed", &[][..]),
        };
        view.state = state.to_owned();
        view.findings = findings.len() as u64;
        view.first = findings.iter().min_by_key(|finding| finding.seq).map(told);
        view
    }
}

pub(super) fn begin(inside: &Arc<Inside>, session: &SessionId) -> Result<Verification, ApiError> {
    let epoch = inside.reader.last_epoch().map_err(|read| of_read(&read))?;
    let mut runs = lock(&inside.record.runs);
    if let Some(run) = runs.get(session)
        && run.runs()
    {
        return Ok(run.view());
    }
    make_room(&mut runs);
    let run = Arc::new(Run::new());
    runs.insert(session.clone(), Arc::clone(&run));
    let (reader, session, view) = (inside.reader.clone(), session.clone(), run.view());
    tokio::runtime::Handle::try_current()
        .map_err(internal)?
        .spawn_blocking(move || run.go(&reader, &session, epoch));
    Ok(view)
}

/// What was found out is dropped where there is too much of it. What runs is stopped by whoever began it; of more than a few,
/// somebody forgot to, and the one that began first makes room.
fn make_room(runs: &mut HashMap<SessionId, Arc<Run>>) {
    if runs.len() >= super::KEPT {
        runs.retain(|_, run| run.runs());
    }
    if runs.values().filter(|run| run.runs()).count() >= AT_ONCE
        && let Some(first) = runs.values().filter(|run| run.runs()).min_by_key(|run| run.began)
    {
        first.stop();
    }
}

pub(super) fn look(inside: &Inside, session: &SessionId) -> Verification {
    lock(&inside.record.runs).get(session).map_or_else(none, |run| run.view())
}

pub(super) fn stop(inside: &Inside, session: &SessionId) -> Verification {
    if let Some(run) = lock(&inside.record.runs).get(session) {
        run.stop();
    }
    look(inside, session)
}

fn none() -> Verification {
    Verification {
        state: "none".to_owned(),
        events: 0,
        requests: 0,
        of: 0,
        erased: 0,
        ago: None,
        findings: 0,
        first: None,
    }
}

fn told(finding: &Finding) -> VerifyFinding {
    let what = match finding.law.as_str() {
        "I9" => "request",
        "I1" => "changed",
        _ => "law",
    };
    VerifyFinding {
        seq: finding.seq,
        what: what.to_owned(),
        detail: format!("{}: {}", finding.law, finding.detail),
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, Run, make_room};
    use domain::ids::SessionId;
    use engine::verify::Progress;
    use std::collections::HashMap;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn a_run_goes_on_until_it_is_stopped_and_is_not_begun_again_as_the_same() {
        let run = Run::new();
        let progress = |events| Progress { events, requests: 0, of: 0 };
        assert!(run.runs() && run.goes_on(progress(7)).is_continue());
        assert_eq!((run.view().state.as_str(), run.view().events), ("running", 7));
        run.stop();
        assert!(!run.runs() && run.goes_on(progress(9)).is_break());
        assert_eq!(run.view().events, 9, "what was read by then");
    }
    #[test]
    fn of_more_than_a_few_runs_the_first_makes_room() {
        let mut runs = HashMap::new();
        for n in 0..AT_ONCE as u128 + 2 {
            make_room(&mut runs);
            let mut run = Run::new();
            run.began += Duration::from_secs(u64::try_from(n).unwrap());
            runs.insert(SessionId::from_bits(n), Arc::new(run));
        }
        let on = |n: usize| runs.get(&SessionId::from_bits(n as u128)).is_some_and(|run| run.runs());
        let on: Vec<usize> = (0..AT_ONCE + 2).filter(|n| on(*n)).collect();
        assert_eq!(on, (2..AT_ONCE + 2).collect::<Vec<_>>());
    }
}
