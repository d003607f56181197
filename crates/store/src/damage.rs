//! Damaged sessions: what of them can still be read, and what is wrong.
//!
//! A bad event ends what can be built on, not what can be shown: everything before it is good, and whatever after it is
//! whole in itself is still readable. Invariant: one bad row hides no other, and nothing damaged is handed out as an
//! event.

use crate::error::ReadError;
use crate::rows::{self, From};
use domain::event::Recorded;
use domain::ids::SessionId;
use rusqlite::{Connection, OptionalExtension as _};

/// Something that is wrong with a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The place of the bad event.
    pub seq: u64,
    /// What is wrong with it, for a person.
    pub what: String,
}

/// What can be read of a session, damaged or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Salvage {
    /// How many events from the beginning are good: what can be built on.
    pub good: u64,
    /// Every event that can be read, in order; with damage there are gaps.
    pub events: Vec<Recorded>,
    /// What is wrong; empty for a whole session.
    pub damage: Vec<Damage>,
}

/// Reads what can be read.
pub(crate) fn salvage(connection: &Connection, session: &SessionId) -> Result<Salvage, ReadError> {
    let mut found = Salvage::default();
    match verify(connection, session, |event| found.events.push(event)) {
        Ok(()) => {
            found.good = found.events.len() as u64;
            return Ok(found);
        }
        Err(ReadError::Damaged { seq, what, .. }) => {
            found.good = seq;
            found.damage.push(Damage { seq, what });
        }
        Err(error) => return Err(error),
    }
    // From here on each row is read on its own: where a page is gone, a scan would stop at it.
    for seq in found.good + 1..end(connection, session) {
        match rows::alone(connection, session, seq) {
            Ok(event) => found.events.push(event),
            Err(what) => found.damage.push(Damage { seq, what }),
        }
    }
    // The first bad one may be whole itself and only not follow from the one before.
    if let Ok(event) = rows::alone(connection, session, found.good) {
        let place = found.events.partition_point(|other| other.seq < event.seq);
        found.events.insert(place, event);
    }
    Ok(found)
}

/// Reads the whole chain, and compares its end with the lists, which know how far it went.
pub(crate) fn verify(
    connection: &Connection,
    session: &SessionId,
    mut visit: impl FnMut(Recorded),
) -> Result<(), ReadError> {
    let mut next = 0;
    let mut head = None;
    rows::scan(connection, session, From { seq: 0, after: None }, usize::MAX, |event| {
        next = event.seq + 1;
        head = Some(event.hash);
        visit(event);
        Ok(())
    })?;
    let listed = listed(connection, session);
    let (expected, what) = match listed {
        Some((events, _)) if events > next => (next, "it is missing, with everything after it"),
        Some((events, listed)) if events == next && listed != head => {
            (next - 1, "it isn't the one that was listed")
        }
        Some(_) | None => return Ok(()),
    };
    Err(ReadError::Damaged { session: session.clone(), seq: expected, what: what.to_owned() })
}

/// One past the last place anything knows of.
fn end(connection: &Connection, session: &SessionId) -> u64 {
    let stored = rows::next_seq(connection, session).unwrap_or(0);
    stored.max(listed(connection, session).map_or(0, |(events, _)| events))
}

fn listed(connection: &Connection, session: &SessionId) -> Option<(u64, Option<domain::digest::Digest>)> {
    connection
        .prepare_cached("SELECT events, head FROM sessions WHERE session = ?1")
        .and_then(|mut select| {
            select
                .query_row([session.as_str()], |row| {
                    Ok((crate::connection::nat(row.get(0)?), rows::digest(&row.get::<_, Vec<u8>>(1)?)))
                })
                .optional()
        })
        .ok()
        .flatten()
}
