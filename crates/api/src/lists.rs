//! Lines of the session list, from the store's own list.
//!
//! Invariant: where nobody hosts, nothing runs, and nothing is shown as if it did.

use crate::desk::Desk;
use crate::wire::job::JobPhase;
use crate::wire::store::SessionSummary;
use crate::wire::view;
use engine::show::{Activity, SessionRow};

/// One session as a line; `damaged` where reading it met damage, `hosted` where its work can run.
pub(crate) fn summary(row: &SessionRow, damaged: bool, hosted: bool, desk: &dyn Desk) -> SessionSummary {
    let state = match row.activity {
        _ if damaged => "damaged",
        Activity::Working | Activity::Background if !hosted => "interrupted",
        Activity::Working => "working",
        Activity::Background => "background",
        Activity::NeedsYou => "needs_you",
        Activity::Idle => "idle",
        Activity::Failed => "failed",
        Activity::Stopped => "stopped",
    };
    SessionSummary {
        id: row.session.to_string(),
        title: row.title.clone(),
        folder: desk.folder(&row.folder, &row.root),
        updated: row.updated,
        state: state.to_owned(),
        needs_you: u32::try_from(row.waiting).unwrap_or(u32::MAX),
        tour: row.tour,
    }
}

/// A session as it is shown where nobody hosts: its work is held, and its jobs are out of sight.
pub(crate) fn unhosted(view: &mut view::SessionView) {
    if runs(&view.activity) {
        view.activity = view::Activity::Held { by: "host".to_owned() };
    }
    for job in view.jobs.iter_mut().filter(|job| job.phase == JobPhase::Running) {
        (job.phase, job.stopping) = (JobPhase::Reconciling, false);
    }
}

/// Does this say that something runs?
fn runs(activity: &view::Activity) -> bool {
    match activity {
        view::Activity::Working { .. }
        | view::Activity::Summarising { .. }
        | view::Activity::Retrying { .. }
        | view::Activity::Stopping => true,
        view::Activity::Idle | view::Activity::Held { .. } | view::Activity::NeedsYou { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Fold;
    use crate::wire::job::JobView;
    use domain::ids::{CallId, JobId, SessionId};

    fn job(n: u128, phase: JobPhase, stopping: bool) -> JobView {
        JobView {
            id: JobId::from_bits(n).to_string(),
            call: CallId::from_bits(n).to_string(),
            command: "serve".into(),
            notify: false,
            created: 1,
            started: Some(2),
            phase,
            stopping,
            effects: true,
            output: String::new(),
            changed: 0,
            doubt: None,
        }
    }

    #[test]
    fn where_nobody_hosts_nothing_is_shown_as_running() {
        let mut view = Fold::new(&SessionId::from_bits(1)).view().clone();
        view.activity = view::Activity::Stopping;
        view.jobs = vec![
            job(1, JobPhase::Running, true),
            job(2, JobPhase::Pending, false),
            job(3, JobPhase::Interrupted { ms: 7 }, false),
        ];
        unhosted(&mut view);
        assert_eq!(view.activity, view::Activity::Held { by: "host".into() });
        let shown: Vec<_> = view.jobs.into_iter().map(|job| (job.phase, job.stopping)).collect();
        let expect = [JobPhase::Reconciling, JobPhase::Pending, JobPhase::Interrupted { ms: 7 }];
        assert_eq!(shown, expect.map(|phase| (phase, false)));
    }
}
