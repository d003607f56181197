//! The session's own record, as something to read: what was shortened or summarised can be looked up whole.
//!
//! A **place** in it is `record:812`, given where a file's path is expected. Invariant: reading it changes nothing, reaches no
//! file, and no other session.

use crate::call::Surveyed;
use crate::tool::failed;
use domain::call::{Act, Facts, Semantics, ToolError, Undo};
use domain::history::PLACE;
use std::collections::BTreeMap;
use std::io;

/// Gives what events of this session say.
pub trait Record: Send + Sync {
    /// All that the event at this place says; `None` where there is none, or it says nothing.
    ///
    /// # Errors
    /// When it can't be read.
    fn says(&self, seq: u64) -> io::Result<Option<String>>;
}

/// A record that says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRecord;

impl Record for NoRecord {
    fn says(&self, _: u64) -> io::Result<Option<String>> {
        Ok(None)
    }
}

/// The place that a path names, where it names one.
pub(crate) fn place(path: &str) -> Option<u64> {
    path.strip_prefix(PLACE)?.parse().ok()
}

/// Facts of a call that reads there.
pub(crate) fn reads(path: &str) -> Surveyed {
    let cannot = ["outside_folder", "network", "writing"];
    Surveyed {
        facts: Facts {
            act: Act::Read,
            can_touch: Vec::new(),
            cannot_touch: cannot.map(str::to_owned).into(),
            added: Vec::new(),
            reach: Vec::new(),
            undo: Undo::Yes,
            risk: 1,
            exact: path.to_owned(),
            words: BTreeMap::from([("path".to_owned(), path.to_owned())]),
            depends_on: BTreeMap::new(),
            proposed: None,
        },
        semantics: Semantics::None { retry: true },
    }
}

/// What stands there.
pub(crate) fn text(record: &dyn Record, seq: u64) -> Result<String, ToolError> {
    let none = || {
        failed(
            "record/nothing",
            format!("{PLACE}{seq} says nothing that could be read"),
            "Read the place that a shortened result or a checkpoint names.",
        )
    };
    match record.says(seq) {
        Ok(text) => text.ok_or_else(none),
        Err(error) => Err(failed("record/unreadable", error.to_string(), "Go on without it.")),
    }
}
