//! Jobs as shown: commands that go on in the background.
//!
//! A job keeps its line from the moment it was made; the newest output comes by patches like that of a call.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A job as shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct JobView {
    /// The job.
    pub id: String,
    /// The call that made it.
    pub call: String,
    /// Its command, what hides made visible.
    pub command: String,
    /// Does its end wake the session?
    pub notify: bool,
    /// When it was made, UTC ms.
    #[ts(type = "number")]
    pub created: u64,
    /// When it began, UTC ms.
    #[ts(type = "number | null")]
    pub started: Option<u64>,
    /// Where it stands.
    pub phase: JobPhase,
    /// Was it told to stop?
    pub stopping: bool,
    /// May it have changed something?
    pub effects: bool,
    /// Its newest output, cleaned; bounded by the client to its last 200 lines.
    pub output: String,
    /// How many paths it changed, once it ended.
    #[ts(type = "number")]
    pub changed: u64,
    /// May some of these changes be somebody else's, or are there more? `mixed`, `untold`.
    pub doubt: Option<String>,
}

impl JobView {
    /// When it ended, UTC ms.
    #[must_use]
    pub fn ended_at(&self) -> Option<u64> {
        let (JobPhase::Completed { ms, .. }
        | JobPhase::Failed { ms, .. }
        | JobPhase::Cancelled { ms, .. }
        | JobPhase::Interrupted { ms }) = self.phase
        else {
            return None;
        };
        Some(self.started.unwrap_or(self.created) + ms)
    }
}

/// Where a job stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobPhase {
    /// It waits to begin.
    Pending,
    /// It runs.
    Running,
    /// It was lost sight of: whether it ended isn't known.
    Reconciling,
    /// It ended by itself.
    Completed {
        /// The exit code, where there is one.
        #[ts(type = "number | null")]
        code: Option<i64>,
        /// Milliseconds it ran.
        #[ts(type = "number")]
        ms: u64,
    },
    /// It couldn't run, or not to its end.
    Failed {
        /// Error code: `job/not_allowed`, `call/timeout`, …
        error: String,
        /// Milliseconds it ran.
        #[ts(type = "number")]
        ms: u64,
    },
    /// It was stopped.
    Cancelled {
        /// `user` or `model`.
        by: String,
        /// Milliseconds it ran.
        #[ts(type = "number")]
        ms: u64,
    },
    /// Daybook was closed, or died, while it ran.
    Interrupted {
        /// Milliseconds it ran.
        #[ts(type = "number")]
        ms: u64,
    },
}

impl JobPhase {
    /// Has it ended?
    #[must_use]
    pub fn ended(&self) -> bool {
        !matches!(self, Self::Pending | Self::Running | Self::Reconciling)
    }
}
