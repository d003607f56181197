//! The lists: every session with what it is doing, everything that waits for the person, and what was spent when.
//!
//! They are posted from the log in the append's own transaction, so they are never behind it and never ahead.
//! Invariant: one function posts, for an append, a rebuild and a comparison alike; dropping the tables and rebuilding
//! them gives the same rows.

use crate::connection::int;
use crate::error::ReadError;
use crate::folded::{self, Folded};
use crate::import;
use crate::rows::{self, From};
use crate::spent::Spending;
use domain::event::{Fact, Recorded};
use domain::ids::{CallId, SessionId};
use domain::state::{ApprovalState, State};
use rusqlite::{Connection, params};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Version of the tables below; another one found means they are rebuilt.
pub(crate) const VERSION: i64 = 6;

const TABLES: &str = include_str!("schema/projections.sql");

/// Something that may wait for the person, found in an event.
struct Candidate {
    id: String,
    kind: &'static str,
    call: CallId,
}

/// What one append (or a whole log) adds to the lists of one session.
#[derive(Default)]
pub(crate) struct Posting {
    candidates: Vec<(Candidate, u64, u64, u64)>,
    calls: u64,
    first_time: Option<u64>,
    last_pos: u64,
    spending: Spending,
}

impl Posting {
    /// Takes note of an event; `before` is the state that it finds.
    pub(crate) fn note(&mut self, before: &State, event: &Recorded, fact: Option<&Fact>) {
        if let Some(fact) = fact {
            self.spending.note(before, event.time, fact);
        }
        self.last_pos = event.pos;
        self.first_time.get_or_insert(event.time);
        self.calls += u64::from(matches!(fact, Some(Fact::ToolCall(_))));
        if let Some(candidate) = fact.and_then(candidate) {
            self.candidates.push((candidate, event.pos, event.seq, event.time));
        }
    }

    /// Nothing of it was paid for here: it is of another store.
    pub(crate) fn imported(&mut self) {
        self.spending = Spending::default();
    }

    /// Posts what was noted.
    pub(crate) fn post(self, to: &Connection, session: &SessionId, folded: &Folded) -> rusqlite::Result<()> {
        let state = folded.state.as_ref();
        let waiting = waiting(state);
        for (candidate, pos, seq, since) in &self.candidates {
            if waiting.contains(candidate.id.as_str()) {
                to.prepare_cached(
                    "INSERT OR REPLACE INTO needs_you (session, id, kind, call, pos, seq, since) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    session.as_str(),
                    candidate.id,
                    candidate.kind,
                    candidate.call.as_str(),
                    int(*pos),
                    int(*seq),
                    int(*since)
                ])?;
            }
        }
        let listed: Vec<String> = to
            .prepare_cached("SELECT id FROM needs_you WHERE session = ?1")?
            .query_map([session.as_str()], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for id in listed.iter().filter(|id| !waiting.contains(id.as_str())) {
            to.prepare_cached("DELETE FROM needs_you WHERE session = ?1 AND id = ?2")?
                .execute([session.as_str(), id])?;
        }
        self.spending.post(to, session)?;
        self.post_session(to, session, folded, waiting.len())
    }

    fn post_session(
        &self,
        to: &Connection,
        session: &SessionId,
        folded: &Folded,
        waiting: usize,
    ) -> rusqlite::Result<()> {
        let state = folded.state.as_ref();
        let Some(about) = &state.session else { return Ok(()) };
        to.prepare_cached(
            "INSERT INTO sessions (session, events, head, last_pos, created, updated, folder, root, title, mode, \
             provider, model, tour, activity, waiting, turns, calls) \
             VALUES (?1, ?2, ?3, ?4, ?17, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) \
             ON CONFLICT (session) DO UPDATE SET events = ?2, head = ?3, last_pos = ?4, updated = ?5, folder = ?6, \
             root = ?7, title = ?8, mode = ?9, provider = ?10, model = ?11, tour = ?12, activity = ?13, \
             waiting = ?14, turns = ?15, calls = calls + ?16",
        )?
        .execute(params![
            session.as_str(),
            int(state.next_seq),
            folded.head.0.as_slice(),
            int(self.last_pos),
            int(state.time),
            about.folder.as_str(),
            about.root,
            about.title,
            word(&about.mode),
            about.model.as_ref().map(|choice| choice.provider.as_str()),
            about.model.as_ref().map(|choice| choice.model.as_str()),
            about.tour,
            activity(state, waiting),
            i64::try_from(waiting).unwrap_or(i64::MAX),
            int(state.turns),
            int(self.calls),
            int(self.first_time.unwrap_or(state.time)),
        ])
        .map(drop)
    }
}

/// What the session is doing, as stored.
fn activity(state: &State, waiting: usize) -> &'static str {
    // Work that no turn has claimed yet is work: a process that starts must find it.
    let wakes = state.inbox.iter().any(|message| message.wakeup);
    if waiting > 0 {
        "needs_you"
    } else if state.turn.is_some()
        || state.continuation.is_some()
        || state.restoring.is_some()
        || state.history.asked
        || wakes
    {
        "working"
    } else if !state.jobs.is_empty() {
        // A process that starts must find these, too.
        "background"
    } else if state.last_failure.is_some() {
        "failed"
    } else if state.stopped {
        "stopped"
    } else {
        "idle"
    }
}

fn candidate(fact: &Fact) -> Option<Candidate> {
    let (id, kind, call) = match fact {
        Fact::ApprovalRequested(e) => (e.approval.as_str(), "approval", &e.call),
        Fact::QuestionAsked(e) => (e.question.as_str(), "question", &e.call),
        Fact::ToolOutcomeUnknown(e) => (e.call.as_str(), "outcome", &e.call),
        _ => return None,
    };
    Some(Candidate { id: id.to_owned(), kind, call: call.clone() })
}

/// The ids of what waits for the person: open approvals and questions, and unknown outcomes.
fn waiting(state: &State) -> BTreeSet<&str> {
    let calls =
        state.step().map_or(&[][..], |(_, step)| &step.calls).iter().filter(|call| call.waits_for_person());
    let asked = calls.flat_map(|call| {
        let approval =
            call.approval.as_ref().filter(|a| a.state == ApprovalState::Open).map(|a| a.id.as_str());
        let question = call.question.as_ref().filter(|q| q.answer.is_none()).map(|q| q.id.as_str());
        [approval, question]
    });
    asked.flatten().chain(state.unknown.iter().map(|unknown| unknown.call.as_str())).collect()
}

/// A word of a closed set as it is written in events.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default().trim_matches('"').to_owned()
}

/// Drops the lists and posts them again from the log.
pub(crate) fn rebuild(from: &Connection, to: &Connection) -> Result<(), ReadError> {
    let sql = ReadError::sql;
    to.execute_batch(TABLES).map_err(sql("making the lists"))?;
    let sessions: Vec<String> = from
        .prepare("SELECT DISTINCT session FROM events ORDER BY session")
        .and_then(|mut select| select.query_map([], |row| row.get(0))?.collect())
        .map_err(sql("listing the sessions"))?;
    for session in sessions.iter().filter_map(|text| text.parse().ok()) {
        let (mut posting, folded) = read(from, &session)?;
        if import::is_marked(from, &session).map_err(sql("looking for imported sessions"))? {
            posting.imported();
        }
        posting.post(to, &session, &folded).map_err(sql("posting a session"))?;
    }
    Ok(())
}

/// A whole session; what lies behind a bad event stays out of the lists.
fn read(from: &Connection, session: &SessionId) -> Result<(Posting, Folded), ReadError> {
    let mut posting = Posting::default();
    let mut state = State::default();
    let mut head = domain::digest::Digest::ZERO;
    let read = rows::scan(from, session, From { seq: 0, after: None }, usize::MAX, |event| {
        let event = folded::decode(event)?;
        posting.note(&state, &event.envelope, event.fact.as_ref());
        state.fold(&event);
        head = event.envelope.hash;
        Ok(())
    });
    match read {
        Ok(()) => {}
        Err(error @ (ReadError::Damaged { .. } | ReadError::Unknown { .. })) => {
            tracing::warn!(%session, %error, "listed as far as it can be read");
        }
        Err(error @ ReadError::Sql { .. }) => return Err(error),
    }
    Ok((posting, Folded { state: Arc::new(state), head }))
}

/// The first difference between the lists as stored and as the log gives them.
pub(crate) fn compare(stored: &Connection) -> Result<Option<String>, ReadError> {
    let fresh = Connection::open_in_memory().map_err(ReadError::sql("comparing the lists"))?;
    rebuild(stored, &fresh)?;
    for table in ["sessions", "needs_you", "spent"] {
        let (found, expected) = (dump(stored, table)?, dump(&fresh, table)?);
        if let Some(row) = expected.symmetric_difference(&found).next() {
            let side =
                if found.contains(row) { "has a row the log doesn't give" } else { "lacks or differs in" };
            return Ok(Some(format!("the list `{table}` {side}: {row}")));
        }
    }
    Ok(None)
}

fn dump(connection: &Connection, table: &'static str) -> Result<BTreeSet<String>, ReadError> {
    let read = |connection: &Connection| -> rusqlite::Result<BTreeSet<String>> {
        let mut select = connection.prepare(&format!("SELECT * FROM {table}"))?;
        let columns = select.column_count();
        select
            .query_map([], |row| {
                (0..columns)
                    .map(|i| row.get::<_, rusqlite::types::Value>(i).map(|v| format!("{v:?}")))
                    .collect()
            })?
            .map(|row: rusqlite::Result<Vec<String>>| row.map(|values| values.join(", ")))
            .collect()
    };
    read(connection).map_err(ReadError::sql("comparing the lists"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_that_was_asked_for_is_work_that_a_process_finds() {
        let mut state = State::default();
        assert_eq!(activity(&state, 0), "idle");
        state.history.asked = true;
        assert_eq!(activity(&state, 0), "working");
    }
}
