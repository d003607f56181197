//! What the lists hand out: sessions, what waits for the person, folders and settings.
//!
//! Sessions and waiting things are projections of the log. Folders and settings are facts of this machine, not of a
//! session, and are the only rows that are changed in place.

use crate::error::ReadError;
use crate::reader::{Reader, count};
use domain::call::Mode;
use domain::event::ModelChoice;
use domain::ids::{CallId, FolderId, SessionId};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension as _, Row};
use serde::de::DeserializeOwned;
use std::str::FromStr;

/// A line of the list of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The session.
    pub session: SessionId,
    /// Its folder.
    pub folder: FolderId,
    /// The folder's path when the session began.
    pub root: String,
    /// Its name; may be empty.
    pub title: String,
    /// Its mode.
    pub mode: Mode,
    /// Its model.
    pub model: Option<ModelChoice>,
    /// Is it the guided tour?
    pub tour: bool,
    /// UTC ms of its first event.
    pub created: u64,
    /// UTC ms of its last event, for showing; the list's order is `last_pos`.
    pub updated: u64,
    /// Store-wide position of its last event.
    pub last_pos: u64,
    /// How many events it has.
    pub events: u64,
    /// What it is doing.
    pub activity: Activity,
    /// How many things wait for the person.
    pub waiting: u64,
    /// Turns begun.
    pub turns: u64,
    /// Calls proposed.
    pub calls: u64,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// A turn is open, or work waits for one, and it needs nobody.
    Working,
    /// No turn is open, and a job is.
    Background,
    /// Something waits for the person.
    NeedsYou,
    /// Nothing is open.
    Idle,
    /// Nothing is open, and the last turn ended badly.
    Failed,
    /// Nothing is open, and the last turn was stopped.
    Stopped,
}

/// Something that waits for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The session.
    pub session: SessionId,
    /// What it is.
    pub kind: NeedKind,
    /// The approval's, the question's or the call's id.
    pub id: String,
    /// The call it is about.
    pub call: CallId,
    /// Where the event that says so is; its payload has the rest.
    pub seq: u64,
    /// UTC ms since when.
    pub since: u64,
}

/// What waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeedKind {
    /// A call wants to be allowed.
    Approval,
    /// A question wants an answer.
    Question,
    /// Nobody knows what a call did.
    Outcome,
}

/// A folder the person opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Its id.
    pub folder: FolderId,
    /// Its path.
    pub path: String,
    /// UTC ms of its last use.
    pub last_used: u64,
}

impl Reader {
    /// All sessions, the last changed first.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, ReadError> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT * FROM sessions ORDER BY last_pos DESC")
                .and_then(|mut select| select.query_map([], session_row)?.collect())
                .map_err(ReadError::sql("listing the sessions"))
        })
    }

    /// One line of that list.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, ReadError> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT * FROM sessions WHERE session = ?1")
                .and_then(|mut select| select.query_row([session.as_str()], session_row).optional())
                .map_err(ReadError::sql("looking for a session"))
        })
    }

    /// Everything that waits for the person, the oldest first.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn needs_you(&self) -> Result<Vec<Need>, ReadError> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT * FROM needs_you ORDER BY pos")
                .and_then(|mut select| select.query_map([], need)?.collect())
                .map_err(ReadError::sql("listing what waits"))
        })
    }

    /// What waits for the person in one session, the oldest first.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn needs_of(&self, session: &SessionId) -> Result<Vec<Need>, ReadError> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT * FROM needs_you WHERE session = ?1 ORDER BY pos")
                .and_then(|mut select| select.query_map([session.as_str()], need)?.collect())
                .map_err(ReadError::sql("listing what waits in a session"))
        })
    }

    /// The folders, the last used first.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn folders(&self) -> Result<Vec<Folder>, ReadError> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT * FROM folders ORDER BY last_used DESC, folder")
                .and_then(|mut select| {
                    select
                        .query_map([], |row| {
                            Ok(Folder {
                                folder: parsed(row, "folder")?,
                                path: row.get("path")?,
                                last_used: count(row, "last_used")?,
                            })
                        })?
                        .collect()
                })
                .map_err(ReadError::sql("listing the folders"))
        })
    }

    /// What was set under this name.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn setting(&self, name: &str) -> Result<Option<String>, ReadError> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT value FROM settings WHERE name = ?1")
                .and_then(|mut select| select.query_row([name], |row| row.get(0)).optional())
                .map_err(ReadError::sql("reading a setting"))
        })
    }
}

fn session_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let provider: Option<String> = row.get("provider")?;
    let model: Option<String> = row.get("model")?;
    Ok(SessionRow {
        session: parsed(row, "session")?,
        folder: parsed(row, "folder")?,
        root: row.get("root")?,
        title: row.get("title")?,
        mode: word(row, "mode")?,
        model: provider.zip(model).map(|(provider, model)| ModelChoice { provider, model }),
        tour: row.get("tour")?,
        created: count(row, "created")?,
        updated: count(row, "updated")?,
        last_pos: count(row, "last_pos")?,
        events: count(row, "events")?,
        activity: match row.get::<_, String>("activity")?.as_str() {
            "working" => Activity::Working,
            "background" => Activity::Background,
            "needs_you" => Activity::NeedsYou,
            "failed" => Activity::Failed,
            "stopped" => Activity::Stopped,
            _ => Activity::Idle,
        },
        waiting: count(row, "waiting")?,
        turns: count(row, "turns")?,
        calls: count(row, "calls")?,
    })
}

fn need(row: &Row<'_>) -> rusqlite::Result<Need> {
    Ok(Need {
        session: parsed(row, "session")?,
        kind: match row.get::<_, String>("kind")?.as_str() {
            "approval" => NeedKind::Approval,
            "question" => NeedKind::Question,
            _ => NeedKind::Outcome,
        },
        id: row.get("id")?,
        call: parsed(row, "call")?,
        seq: count(row, "seq")?,
        since: count(row, "since")?,
    })
}

fn parsed<T: FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    row: &Row<'_>,
    column: &str,
) -> rusqlite::Result<T> {
    row.get::<_, String>(column)?
        .parse()
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))
}

fn word<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_value(serde_json::Value::String(text))
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))
}
