//! The bounds of revisions, named once.
//!
//! Sizes are bytes. The numbers are the project's decisions: files to 100 MB, folders to 5 GB.

use serde::{Deserialize, Serialize};

/// What a revision may hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bounds {
    /// Largest file.
    pub file_bytes: u64,
    /// All files together; where there is more, the largest are left out.
    pub folder_bytes: u64,
    /// Files, links and folders together; a folder with more has no revisions.
    pub entries: usize,
    /// Largest single file that is kept although ignore rules name it: settings such as `.env` that nothing else keeps.
    pub ignored_bytes: u64,
    /// Left-out paths that are listed; the others are counted.
    pub listed: usize,
    /// Changes that are listed between two revisions; the others are counted.
    pub changes: usize,
    /// Changed files whose lines are counted.
    pub counted: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            file_bytes: 100_000_000,
            folder_bytes: 5_000_000_000,
            entries: 1_000_000,
            ignored_bytes: 1_000_000,
            listed: 200,
            changes: 100_000,
            counted: 500,
        }
    }
}
