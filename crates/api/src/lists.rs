//! Lines of the session list, from the store's own list.
//!
//! Invariant: where nobody hosts, nothing runs, and nothing is shown as if it did.

use crate::desk::Desk;
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

/// Does this say that something runs?
pub(crate) fn runs(activity: &view::Activity) -> bool {
    match activity {
        view::Activity::Working { .. }
        | view::Activity::Summarising { .. }
        | view::Activity::Retrying { .. }
        | view::Activity::Stopping => true,
        view::Activity::Idle | view::Activity::Held { .. } | view::Activity::NeedsYou { .. } => false,
    }
}
