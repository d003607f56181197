//! Importing: a whole session as another store recorded it, event by event, byte for byte.
//!
//! An imported session is marked: it can be looked at and verified here, and nothing is ever appended to it. Invariants: all of
//! it or nothing; it follows from its own first event, link by link, and no event of it is changed; no session that is here
//! is touched.

use crate::announce::Announcement;
use crate::append::{Durability, MAX_EVENT_BYTES};
use crate::blobs::gone::{self, Gone};
use crate::connection::int;
use crate::error::{AppendError, ReadError};
use crate::folded::{self, Folded};
use crate::projection::Posting;
use crate::rows;
use crate::writer::{BEGINNING, Writer};
use domain::digest::Digest;
use domain::event::Recorded;
use domain::ids::SessionId;
use domain::state::State;
use rusqlite::Connection;
use std::sync::Arc;

/// What the name of a mark begins with, among the settings.
const MARK: &str = "imported/";

/// A session from another store. Its blobs are put before.
#[derive(Debug, Clone)]
pub struct Import {
    /// The session.
    pub session: SessionId,
    /// All its events, from the first.
    pub events: Vec<Recorded>,
    /// Blobs that its events name and that were gone there, with the reason.
    pub gone: Vec<(Digest, Gone)>,
}

/// The name of the mark of a session.
pub(crate) fn mark(session: &SessionId) -> String {
    format!("{MARK}{session}")
}

/// Was the session imported?
pub(crate) fn is_marked(connection: &Connection, session: &SessionId) -> rusqlite::Result<bool> {
    let mut select = connection.prepare_cached("SELECT 1 FROM settings WHERE name = ?1")?;
    select.exists([mark(session)])
}

impl Writer {
    /// Takes a session in.
    pub(crate) fn import(&mut self, import: Import) -> Result<(), AppendError> {
        self.begin(Durability::Barrier)?;
        let taken = self.take(&import);
        let (recorded, folded) = match taken {
            Ok(taken) => taken,
            Err(error) => {
                self.undo(crate::work::Work::default(), &error);
                return Err(error);
            }
        };
        self.kept().put(&import.session, folded);
        self.tell(&Announcement { session: import.session, events: recorded.into() });
        Ok(())
    }

    fn take(&self, import: &Import) -> Result<(Vec<Recorded>, Folded), AppendError> {
        let Import { session, events, gone } = import;
        self.execute("BEGIN IMMEDIATE", BEGINNING)?;
        self.check_epoch()?;
        let actual = rows::next_seq(self.connection(), session).map_err(AppendError::ReadOnly)?;
        if actual > 0 {
            return Err(AppendError::Conflict { session: session.clone(), expected: 0, actual });
        }
        let (mut posting, mut state, mut head) = (Posting::default(), State::default(), Digest::ZERO);
        let mut recorded = Vec::new();
        for (seq, event) in (0..).zip(events) {
            fits(session, seq, head, event)?;
            let mut event = event.clone();
            event.pos =
                rows::insert(self.connection(), &event).map_err(AppendError::sql("inserting an event"))?;
            head = event.hash;
            let event = folded::decode(event).map_err(AppendError::ReadOnly)?;
            posting.note(&state, &event.envelope, event.fact.as_ref());
            state.fold(&event);
            recorded.push(event.envelope);
        }
        let folded = Folded { state: Arc::new(state), head };
        posting.imported();
        posting
            .post(self.connection(), session, &folded)
            .map_err(AppendError::sql("posting to the lists"))?;
        let time = int(self.scope().time);
        // Whatever is here isn't gone here.
        let here = |digest: &Digest| self.blobs().holds(digest).unwrap_or(true);
        gone.iter()
            .filter(|(digest, _)| !here(digest))
            .try_for_each(|(digest, why)| gone::told(self.connection(), digest, *why, time))
            .map_err(AppendError::sql("noting what is gone"))?;
        self.connection()
            .execute(
                "INSERT OR REPLACE INTO settings (name, value) VALUES (?1, ?2)",
                [mark(session), time.to_string()],
            )
            .map_err(AppendError::sql("marking an imported session"))?;
        self.commit()?;
        Ok((recorded, folded))
    }
}

/// Does the event stand where it should, whole, and follow from the one before?
fn fits(session: &SessionId, seq: u64, before: Digest, event: &Recorded) -> Result<(), AppendError> {
    let wrong = |what: &str| {
        let (session, what) = (session.clone(), what.to_owned());
        Err(AppendError::ReadOnly(ReadError::Damaged { session, seq, what }))
    };
    if event.session != *session || event.seq != seq {
        return wrong("it belongs elsewhere");
    }
    if event.prev_hash != before {
        return wrong("it doesn't follow from the event before it");
    }
    if event.hash != event.expected_hash() {
        return wrong("its content doesn't match its hash");
    }
    match event.payload.text() {
        Some(text) if text.len() > MAX_EVENT_BYTES => wrong("it is larger than an event can be"),
        Some(_) | None => Ok(()),
    }
}
