//! Lines of the session list, from the store's own list.

use crate::desk::Desk;
use crate::wire::store::SessionSummary;
use engine::show::{Activity, SessionRow};

/// One session as a line; `damaged` where reading it met damage.
pub(crate) fn summary(row: &SessionRow, damaged: bool, desk: &dyn Desk) -> SessionSummary {
    let state = match row.activity {
        _ if damaged => "damaged",
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
