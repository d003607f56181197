//! Every bound of the loop, named once; all finite, all configurable.

use serde::{Deserialize, Serialize};

/// Bounds and waits. Times are milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Steps a turn may take before it asks to go on.
    pub steps_per_turn: u32,
    /// Requests sent for one step.
    pub attempts_per_step: u32,
    /// Smaller requests built for one step after its service refused one for its size.
    pub overflows_per_step: u32,
    /// Requests sent for one summary.
    pub attempts_per_summary: u32,
    /// Steps in a row that may each need a checkpoint before the turn asks to go on.
    pub checkpoints_in_a_row: u32,
    /// Calls of one answer that are looked at; later ones get an error result.
    pub calls_per_step: u32,
    /// Calls that run side by side.
    pub parallel_calls: usize,
    /// Jobs that run at once in a store.
    pub running_jobs: usize,
    /// Jobs of a session that may wait to begin.
    pub waiting_jobs: usize,
    /// Turns that run at once in a store.
    pub running_turns: usize,
    /// Steps in a row in which the person refused everything, after which the turn ends as rejected.
    pub refused_steps: u32,
    /// How often a run of one to three steps may repeat with the same results.
    pub repeats: usize,
    /// First wait before the same request is sent again; it doubles.
    pub backoff_first_ms: u64,
    /// Longest wait.
    pub backoff_max_ms: u64,
    /// Longest wait a provider may ask for before the turn ends instead.
    pub retry_after_max_ms: u64,
    /// How long an approval stays open.
    pub approval_valid_ms: u64,
    /// Streamed pieces are logged at most this often.
    pub delta_every_ms: u64,
    /// Most bytes of one message of the person.
    pub message_bytes: usize,
    /// Most messages that may wait in one inbox.
    pub inbox_messages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps_per_turn: 100,
            attempts_per_step: 5,
            overflows_per_step: 3,
            attempts_per_summary: 2,
            checkpoints_in_a_row: 3,
            calls_per_step: 32,
            parallel_calls: 8,
            running_jobs: 4,
            waiting_jobs: 8,
            running_turns: 4,
            refused_steps: 3,
            repeats: 4,
            backoff_first_ms: 500,
            backoff_max_ms: 30_000,
            retry_after_max_ms: 120_000,
            approval_valid_ms: 24 * 60 * 60 * 1_000,
            delta_every_ms: 250,
            // An event holds at most 256 KB; escaping can double the text.
            message_bytes: 100 * 1_024,
            inbox_messages: 200,
        }
    }
}
