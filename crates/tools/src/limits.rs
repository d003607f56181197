//! Every bound of this crate, named once.
//!
//! A **limit** is finite and configurable; the numbers are the project's decisions. Sizes are bytes, times milliseconds.

use serde::{Deserialize, Serialize};

/// The bounds of calls and their results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Longest argument text that is read at all; a whole file has to fit in it.
    pub argument_bytes: usize,
    /// Calls of one answer that run at the same time.
    pub parallel_calls: usize,
    /// Lines `read_file` gives at once.
    pub read_lines: usize,
    /// Bytes of text `read_file` gives at once.
    pub read_bytes: usize,
    /// Largest file that is read, searched as text, or edited.
    pub file_bytes: u64,
    /// Hits `search_files` gives.
    pub search_hits: usize,
    /// Longest line shown of a hit.
    pub hit_bytes: usize,
    /// Entries `list_files` gives.
    pub list_entries: usize,
    /// Entries a walk looks at before it gives up counting.
    pub walk_entries: usize,
    /// Text of any result that goes to the model; the rest goes to a blob.
    pub result_bytes: usize,
    /// Structured result that is kept beside the text; a larger one goes to a blob.
    pub value_bytes: usize,
    /// Output of a command that is kept: half from the head, half from the tail.
    pub spool_bytes: u64,
    /// Output a command may write before it is ended.
    pub output_bytes: u64,
    /// Time a command gets when the call names none.
    pub command_default_ms: u64,
    /// Most time a command can ask for.
    pub command_max_ms: u64,
    /// Time a command in the background gets when the call names none.
    pub job_default_ms: u64,
    /// Most time one in the background can ask for.
    pub job_max_ms: u64,
    /// Longest wait for a job in one call.
    pub job_wait_ms: u64,
    /// Time any other tool gets.
    pub tool_ms: u64,
    /// How long a stopped call may take to end before its outcome is called unknown.
    pub stop_grace_ms: u64,
    /// Least time between two chunks of live output.
    pub output_every_ms: u64,
    /// Files kept one by one as blobs when a folder is deleted.
    pub delete_entries: usize,
    /// How long a difference may be computed.
    pub diff_ms: u64,
    /// Largest text a difference is computed for.
    pub diff_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            argument_bytes: 4 << 20,
            parallel_calls: 8,
            read_lines: 2_000,
            read_bytes: 50 << 10,
            file_bytes: 100 << 20,
            search_hits: 200,
            hit_bytes: 400,
            list_entries: 1_000,
            walk_entries: 200_000,
            result_bytes: 64 << 10,
            value_bytes: 96 << 10,
            spool_bytes: 64 << 20,
            output_bytes: 4 << 30,
            command_default_ms: 120_000,
            command_max_ms: 600_000,
            job_default_ms: 60 * 60 * 1_000,
            job_max_ms: 24 * 60 * 60 * 1_000,
            job_wait_ms: 600_000,
            tool_ms: 60_000,
            stop_grace_ms: 5_000,
            output_every_ms: 100,
            delete_entries: 10_000,
            diff_ms: 500,
            diff_bytes: 2 << 20,
        }
    }
}

/// Output of a command that goes to the model, before cleaning leaves it shorter.
pub const COMMAND_TEXT_BYTES: usize = 30 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_settings_and_a_misspelt_one_is_an_error() {
        let given = serde_json::from_str::<Limits>(r#"{"read_lines": 10}"#).unwrap();
        assert_eq!(given, Limits { read_lines: 10, ..Limits::default() });
        assert!(serde_json::from_str::<Limits>(r#"{"read_linse": 10}"#).is_err());
        let all = serde_json::to_value(Limits::default()).unwrap();
        assert!(
            all.as_object().unwrap().values().all(|one| one.as_u64().is_some_and(|n| n > 0)),
            "finite, none of them off"
        );
    }
}
