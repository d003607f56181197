//! Rows of the log: written once, and read only after they were checked.
//!
//! A row is good when it has the shape of an event, stands where it should, carries the hash of its own content and
//! names the hash of the one before. Invariant: nothing that fails one of these leaves this file as an event.

use crate::connection::{int, nat};
use crate::error::ReadError;
use domain::digest::Digest;
use domain::event::{Payload, Recorded};
use domain::ids::SessionId;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Row, params};
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

const COLUMNS: &str =
    "pos, seq, kind, version, time, epoch, turn, step, ignorable, sources, prev_hash, hash, payload, erased";

/// Writes one event and returns its place in the store: the one `INSERT` there is.
pub(crate) fn insert(connection: &Connection, event: &Recorded) -> rusqlite::Result<u64> {
    let (payload, erased, left) = match &event.payload {
        Payload::Text(text) => (Some(text.as_ref()), None, None),
        Payload::Erased(was) => (None, Some(was.0.to_vec()), None),
        Payload::Redacted { was, left } => {
            (None, Some([was.0, Digest::of(left.as_bytes()).0].concat()), Some(left.as_ref()))
        }
    };
    connection
        .prepare_cached(
            "INSERT INTO events (session, seq, kind, version, time, epoch, turn, step, ignorable, sources, prev_hash, \
             hash, payload, erased) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?
        .execute(params![
            event.session.as_str(),
            int(event.seq),
            event.kind,
            event.version,
            int(event.time),
            int(event.epoch),
            event.turn.as_ref().map(|id| id.as_str()),
            event.step.as_ref().map(|id| id.as_str()),
            event.ignorable,
            pack(&event.sources),
            event.prev_hash.0.as_slice(),
            event.hash.0.as_slice(),
            payload,
            erased,
        ])?;
    let pos = connection.last_insert_rowid();
    if let Some(left) = left {
        connection
            .prepare_cached("INSERT INTO remains (pos, payload) VALUES (?1, ?2)")?
            .execute(params![pos, left])?;
    }
    Ok(nat(pos))
}

/// Takes the payload of an event away and puts what is left of it in its place: the one `UPDATE` there is.
pub(crate) fn erase(
    connection: &Connection,
    session: &SessionId,
    seq: u64,
    left: Option<&str>,
) -> rusqlite::Result<()> {
    let (pos, payload, erased): (i64, Option<String>, Option<Vec<u8>>) = connection
        .prepare_cached("SELECT pos, payload, erased FROM events WHERE session = ?1 AND seq = ?2")?
        .query_row(params![session.as_str(), int(seq)], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut digests = match (payload, erased) {
        (Some(text), _) => Digest::of(text.as_bytes()).0.to_vec(),
        (None, erased) => erased.unwrap_or_default().into_iter().take(32).collect(),
    };
    match left {
        Some(left) => {
            digests.extend_from_slice(&Digest::of(left.as_bytes()).0);
            connection
                .prepare_cached("INSERT OR REPLACE INTO remains (pos, payload) VALUES (?1, ?2)")?
                .execute(params![pos, left])?;
        }
        None => drop(connection.execute("DELETE FROM remains WHERE pos = ?1", [pos])?),
    }
    connection
        .prepare_cached("UPDATE events SET payload = NULL, erased = ?2 WHERE pos = ?1")?
        .execute(params![pos, digests])
        .map(drop)
}

/// The sequence number the session's next event will get.
pub(crate) fn next_seq(connection: &Connection, session: &SessionId) -> Result<u64, ReadError> {
    connection
        .prepare_cached("SELECT max(seq) FROM events WHERE session = ?1")
        .and_then(|mut select| select.query_row([session.as_str()], |row| row.get::<_, Option<i64>>(0)))
        .map(|last| last.map_or(0, |last| nat(last).saturating_add(1)))
        .map_err(ReadError::sql("looking for a session's end"))
}

/// The stored hash of one event.
pub(crate) fn hash_at(connection: &Connection, session: &SessionId, seq: u64) -> Option<Digest> {
    connection
        .prepare_cached("SELECT hash FROM events WHERE session = ?1 AND seq = ?2")
        .and_then(|mut select| {
            select.query_row(params![session.as_str(), int(seq)], |row| row.get::<_, Vec<u8>>(0)).optional()
        })
        .ok()
        .flatten()
        .and_then(|bytes| digest(&bytes))
}

/// Where to begin reading.
#[derive(Debug, Clone, Copy)]
pub(crate) struct From {
    /// The first event wanted.
    pub(crate) seq: u64,
    /// The hash of the one before, where the caller knows it.
    pub(crate) after: Option<Digest>,
}

/// Gives the session's events in order to `visit`, at most `limit`, and stops before the first bad one.
pub(crate) fn scan(
    connection: &Connection,
    session: &SessionId,
    from: From,
    limit: usize,
    mut visit: impl FnMut(Recorded) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut seq = from.seq;
    let mut before = match (seq, from.after) {
        (0, _) => Some(Digest::ZERO),
        (_, Some(hash)) => Some(hash),
        (_, None) => hash_at(connection, session, seq - 1),
    };
    let sql = format!("SELECT {COLUMNS} FROM events WHERE session = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3");
    let mut select = connection.prepare_cached(&sql).map_err(ReadError::sql("reading events"))?;
    let mut rows = select
        .query(params![session.as_str(), int(seq), i64::try_from(limit).unwrap_or(i64::MAX)])
        .map_err(ReadError::sql("reading events"))?;
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(()),
            Err(error) => return Err(unreadable(session, seq, error)),
        };
        let event = good(connection, session, row, seq, before).map_err(|what| ReadError::Damaged {
            session: session.clone(),
            seq,
            what,
        })?;
        before = Some(event.hash);
        seq += 1;
        visit(event)?;
    }
}

/// One event on its own: it must be whole, its neighbours don't matter.
pub(crate) fn alone(connection: &Connection, session: &SessionId, seq: u64) -> Result<Recorded, String> {
    let sql = format!("SELECT {COLUMNS} FROM events WHERE session = ?1 AND seq = ?2");
    let mut select = connection.prepare_cached(&sql).map_err(|error| error.to_string())?;
    let mut rows = select.query(params![session.as_str(), int(seq)]).map_err(|error| error.to_string())?;
    match rows.next() {
        Ok(Some(row)) => whole(connection, session, row, seq),
        Ok(None) => Err("it is missing".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The place of the last event of this type before `before`.
pub(crate) fn last_of(
    connection: &Connection,
    session: &SessionId,
    kind: &str,
    before: u64,
) -> Result<Option<u64>, ReadError> {
    connection
        .prepare_cached(
            "SELECT seq FROM events WHERE session = ?1 AND kind = ?2 AND seq < ?3 ORDER BY seq DESC LIMIT 1",
        )
        .and_then(|mut select| {
            select
                .query_row(params![session.as_str(), kind, int(before)], |row| row.get(0).map(nat))
                .optional()
        })
        .map_err(ReadError::sql("looking for an event"))
}

/// The place of the last event of this type in these places whose payload has this text, or isn't whole any more.
pub(crate) fn last_with(
    connection: &Connection,
    session: &SessionId,
    kind: &str,
    text: &str,
    within: Range<u64>,
) -> Result<Option<u64>, ReadError> {
    let Range { start, end } = within;
    connection
        .prepare_cached(
            "SELECT seq FROM events WHERE session = ?1 AND kind = ?2 AND seq >= ?3 AND seq < ?4 \
             AND (payload IS NULL OR instr(payload, ?5)) ORDER BY seq DESC LIMIT 1",
        )
        .and_then(|mut select| {
            select
                .query_row(params![session.as_str(), kind, int(start), int(end), text], |row| {
                    row.get(0).map(nat)
                })
                .optional()
        })
        .map_err(ReadError::sql("looking for an event"))
}

fn good(
    connection: &Connection,
    session: &SessionId,
    row: &Row<'_>,
    seq: u64,
    before: Option<Digest>,
) -> Result<Recorded, String> {
    let found: i64 = row.get("seq").map_err(|error| error.to_string())?;
    if nat(found) != seq {
        return Err("it is missing".to_owned());
    }
    let event = whole(connection, session, row, seq)?;
    match before {
        Some(hash) if hash == event.prev_hash => Ok(event),
        Some(_) => Err("it doesn't follow from the event before it".to_owned()),
        None => Err("the event before it can't be read".to_owned()),
    }
}

fn whole(connection: &Connection, session: &SessionId, row: &Row<'_>, seq: u64) -> Result<Recorded, String> {
    let event = shaped(connection, session, row)
        .map_err(|error| error.to_string())?
        .ok_or("it doesn't have the shape of an event")?;
    if event.seq == seq && event.hash == event.expected_hash() {
        Ok(event)
    } else {
        Err("its content doesn't match its hash".to_owned())
    }
}

fn shaped(connection: &Connection, session: &SessionId, row: &Row<'_>) -> rusqlite::Result<Option<Recorded>> {
    let payload: Option<Arc<str>> = row.get("payload")?;
    let erased: Option<Vec<u8>> = row.get("erased")?;
    let payload = match (payload, erased) {
        (Some(text), None) => Some(Payload::Text(text)),
        (None, Some(bytes)) => left(connection, row.get("pos")?, &bytes)?,
        (None, None) | (Some(_), Some(_)) => None,
    };
    let turn = id(row.get("turn")?);
    let step = id(row.get("step")?);
    let prev_hash = digest(&row.get::<_, Vec<u8>>("prev_hash")?);
    let hash = digest(&row.get::<_, Vec<u8>>("hash")?);
    let sources = unpack(row.get("sources")?);
    let (Some(payload), Ok(turn), Ok(step), Some(prev_hash), Some(hash), Some(sources)) =
        (payload, turn, step, prev_hash, hash, sources)
    else {
        return Ok(None);
    };
    Ok(Some(Recorded {
        session: session.clone(),
        pos: nat(row.get("pos")?),
        seq: nat(row.get("seq")?),
        kind: row.get("kind")?,
        version: row.get("version")?,
        time: nat(row.get("time")?),
        epoch: nat(row.get("epoch")?),
        turn,
        step,
        ignorable: row.get("ignorable")?,
        sources,
        prev_hash,
        hash,
        payload,
    }))
}

/// What is left of an erased payload, when it is what its erasure left.
fn left(connection: &Connection, pos: i64, erased: &[u8]) -> rusqlite::Result<Option<Payload>> {
    let Some((was, of_left)) = erased.split_at_checked(32) else { return Ok(None) };
    let Some(was) = digest(was) else { return Ok(None) };
    if of_left.is_empty() {
        return Ok(Some(Payload::Erased(was)));
    }
    let left: Option<Arc<str>> = connection
        .prepare_cached("SELECT payload FROM remains WHERE pos = ?1")?
        .query_row([pos], |row| row.get(0))
        .optional()?;
    let left = left.filter(|left| Digest::of(left.as_bytes()).0 == of_left);
    Ok(left.map(|left| Payload::Redacted { was, left }))
}

fn unreadable(session: &SessionId, seq: u64, error: rusqlite::Error) -> ReadError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            ReadError::Damaged { session: session.clone(), seq, what: error.to_string() }
        }
        _ => ReadError::sql("reading events")(error),
    }
}

fn id<T: FromStr>(text: Option<String>) -> Result<Option<T>, T::Err> {
    text.map(|text| text.parse()).transpose()
}

pub(crate) fn digest(bytes: &[u8]) -> Option<Digest> {
    bytes.try_into().ok().map(Digest)
}

/// Sequence numbers as 8 big-endian bytes each; none as no value.
fn pack(sources: &[u64]) -> Option<Vec<u8>> {
    (!sources.is_empty()).then(|| sources.iter().flat_map(|seq| seq.to_be_bytes()).collect())
}

fn unpack(bytes: Option<Vec<u8>>) -> Option<Vec<u64>> {
    let bytes = bytes.unwrap_or_default();
    let (numbers, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| numbers.iter().map(|number| u64::from_be_bytes(*number)).collect())
}
