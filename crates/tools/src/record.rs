//! The session's own record, as something to read: what was shortened or summarised can be looked up whole.
//!
//! A **place** in it is `record:812`, or the name of an output that was kept whole, `output:3fa1c9d27b604e15`, given where a
//! file's path is expected. Invariant: reading it changes nothing, reaches no file, and no other session.

use crate::call::Surveyed;
use crate::tool::failed;
use domain::call::{Act, Facts, Semantics, ToolError, Undo};
use domain::history::{OUTPUT, PLACE};
use std::collections::BTreeMap;
use std::io;

/// Gives what events of this session say.
pub trait Record: Send + Sync {
    /// All that the event at this place says; `None` where there is none, or it says nothing.
    ///
    /// # Errors
    /// When it can't be read.
    fn says(&self, seq: u64) -> io::Result<Option<String>>;

    /// The kept output of this name; `None` where no result of the session has one.
    ///
    /// # Errors
    /// When it can't be read, or was erased.
    fn kept(&self, name: &str) -> io::Result<Option<String>>;
}

/// A record that says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRecord;

impl Record for NoRecord {
    fn says(&self, _: u64) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn kept(&self, _: &str) -> io::Result<Option<String>> {
        Ok(None)
    }
}

/// Something in the record that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// What an event says.
    Event(u64),
    /// An output, by its name.
    Output(String),
}

/// The place that a path names, where it names one.
pub(crate) fn place(path: &str) -> Option<Said> {
    if let Some(seq) = path.strip_prefix(PLACE) {
        return seq.parse().ok().map(Said::Event);
    }
    let digits = path.strip_prefix(OUTPUT)?;
    let is_name = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| Said::Output(path.to_owned()))
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
pub(crate) fn text(record: &dyn Record, what: &Said) -> Result<String, ToolError> {
    let (name, found) = match what {
        Said::Event(seq) => (format!("{PLACE}{seq}"), record.says(*seq)),
        Said::Output(name) => (name.clone(), record.kept(name)),
    };
    match found {
        Ok(text) => text.ok_or_else(|| {
            failed(
                "record/nothing",
                format!("{name} says nothing that could be read"),
                "Read the place that a cut result, a shortened result or a checkpoint names.",
            )
        }),
        Err(error) => Err(failed("record/unreadable", error.to_string(), "Go on without it.")),
    }
}
