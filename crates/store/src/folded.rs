//! Folded states: kept in memory while a session is in use, and in snapshots between starts.
//!
//! Both are shortcuts to what folding the log from its beginning would give. Invariants: a snapshot counts only when
//! its digest, its version and the hash of the event it ends at agree with the log; whatever is kept, the events after
//! it are read from the log, checked and folded in before anybody sees the state.

use crate::connection::{int, nat};
use crate::error::ReadError;
use crate::rows::{self, From};
use domain::digest::Digest;
use domain::event::{Event, Recorded};
use domain::ids::SessionId;
use domain::state::{STATE_VERSION, State};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// How many sessions are kept folded in memory: more than anybody has at work at a time.
pub(crate) const KEPT: usize = 64;

/// Events after which a snapshot is written, beside the end of each turn.
pub(crate) const SNAPSHOT_EVERY: u64 = 1_000;

/// A state and the hash of the last event in it.
#[derive(Debug, Clone)]
pub(crate) struct Folded {
    pub(crate) state: Arc<State>,
    pub(crate) head: Digest,
}

impl Folded {
    fn nothing() -> Self {
        Self { state: Arc::default(), head: Digest::ZERO }
    }
}

/// States kept in memory, the longest unused dropped first.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    inside: Mutex<Uses>,
}

/// Counts uses, and remembers the last one of each state.
#[derive(Debug, Default)]
struct Uses {
    now: u64,
    states: HashMap<SessionId, (u64, Folded)>,
    /// What reads have found wrong: such a session isn't written to any more, even where its state is known.
    damage: BTreeMap<SessionId, ReadError>,
}

impl Kept {
    /// A copy to read.
    pub(crate) fn get(&self, session: &SessionId) -> Option<Folded> {
        self.with(|now, states| {
            let (used, folded) = states.get_mut(session)?;
            *used = now;
            Some(folded.clone())
        })
    }

    /// The state itself, to go on from; a copy would cost as much as the state is large.
    pub(crate) fn take(&self, session: &SessionId) -> Option<Folded> {
        self.with(|_, states| states.remove(session).map(|(_, folded)| folded))
    }

    /// Keeps a state, unless a later one is kept already.
    pub(crate) fn put(&self, session: &SessionId, folded: Folded) {
        self.with(|now, states| {
            if states.get(session).is_some_and(|(_, kept)| kept.state.next_seq > folded.state.next_seq) {
                return;
            }
            states.insert(session.clone(), (now, folded));
            if states.len() > KEPT
                && let Some(oldest) =
                    states.iter().min_by_key(|(_, (used, _))| *used).map(|(id, _)| id.clone())
            {
                states.remove(&oldest);
            }
        });
    }

    /// Remembers damage that a read has found.
    pub(crate) fn note(&self, error: &ReadError) {
        if let ReadError::Damaged { session, .. } = error {
            let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
            inside.damage.entry(session.clone()).or_insert_with(|| error.clone());
        }
    }

    /// The damage that is known of a session.
    pub(crate) fn damage(&self, session: &SessionId) -> Option<ReadError> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner).damage.get(session).cloned()
    }

    pub(crate) fn clear(&self) {
        self.with(|_, states| states.clear());
    }

    fn with<T>(&self, act: impl FnOnce(u64, &mut HashMap<SessionId, (u64, Folded)>) -> T) -> T {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.now += 1;
        let Uses { now, states, .. } = &mut *inside;
        act(*now, states)
    }
}

/// The session's state at its end, going on from the best there is.
pub(crate) fn load(
    connection: &Connection,
    base: Option<Folded>,
    session: &SessionId,
) -> Result<Folded, ReadError> {
    let base = base.or_else(|| snapshot(connection, session, u64::MAX)).unwrap_or_else(Folded::nothing);
    go_on(connection, base, session, usize::MAX)
}

/// The session's state after its first `count` events.
pub(crate) fn load_prefix(
    connection: &Connection,
    session: &SessionId,
    count: u64,
) -> Result<Folded, ReadError> {
    let base = snapshot(connection, session, count).unwrap_or_else(Folded::nothing);
    let missing = count.saturating_sub(base.state.next_seq);
    go_on(connection, base, session, usize::try_from(missing).unwrap_or(usize::MAX))
}

fn go_on(
    connection: &Connection,
    base: Folded,
    session: &SessionId,
    limit: usize,
) -> Result<Folded, ReadError> {
    let Folded { mut state, mut head } = base;
    let from = From { seq: state.next_seq, after: Some(head) };
    rows::scan(connection, session, from, limit, |event| {
        head = event.hash;
        Arc::make_mut(&mut state).fold(&decode(event)?);
        Ok(())
    })?;
    Ok(Folded { state, head })
}

/// A stored event with its fact.
pub(crate) fn decode(event: Recorded) -> Result<Event, ReadError> {
    let (session, seq) = (event.session.clone(), event.seq);
    event.decode().map_err(|why| ReadError::Unknown { session, seq, why })
}

/// The snapshot, when it is one of today's, untouched, true to the log and not beyond `count` events.
fn snapshot(connection: &Connection, session: &SessionId, count: u64) -> Option<Folded> {
    let row = connection
        .prepare_cached("SELECT version, seq, head, digest, state FROM snapshots WHERE session = ?1")
        .and_then(|mut select| {
            select
                .query_row([session.as_str()], |row| {
                    Ok((
                        row.get::<_, u32>(0)?,
                        nat(row.get(1)?),
                        row.get::<_, Vec<u8>>(2)?,
                        row.get::<_, Vec<u8>>(3)?,
                        row.get::<_, String>(4)?,
                    ))
                })
                .optional()
        });
    let (version, seq, head, digest, text) = row.ok()??;
    let head = rows::digest(&head)?;
    let true_to_log = version == STATE_VERSION
        && seq < count
        && rows::digest(&digest)? == seal(session, version, seq, head, &text)
        && rows::hash_at(connection, session, seq)? == head;
    let state: State = true_to_log.then(|| serde_json::from_str(&text).ok()).flatten()?;
    (state.next_seq == seq + 1).then(|| Folded { state: Arc::new(state), head })
}

/// Writes the snapshot of a session, in place of the one before.
pub(crate) fn write_snapshot(
    connection: &Connection,
    session: &SessionId,
    folded: &Folded,
) -> rusqlite::Result<()> {
    let Some(seq) = folded.state.next_seq.checked_sub(1) else { return Ok(()) };
    let text = match serde_json::to_string(folded.state.as_ref()) {
        Ok(text) => text,
        Err(error) => {
            tracing::warn!(%session, %error, "no snapshot was written; the session will be folded from its log");
            return Ok(());
        }
    };
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO snapshots (session, version, seq, head, digest, state) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            session.as_str(),
            STATE_VERSION,
            int(seq),
            folded.head.0.as_slice(),
            seal(session, STATE_VERSION, seq, folded.head, &text).0.as_slice(),
            text
        ])
        .map(drop)
}

fn seal(session: &SessionId, version: u32, seq: u64, head: Digest, text: &str) -> Digest {
    Digest::of_parts(&[
        session.as_str().as_bytes(),
        &version.to_be_bytes(),
        &seq.to_be_bytes(),
        &head.0,
        text.as_bytes(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(next_seq: u64) -> Folded {
        Folded { state: Arc::new(State { next_seq, ..State::default() }), head: Digest::ZERO }
    }

    #[test]
    fn the_longest_unused_state_goes_and_an_older_one_never_replaces_a_newer() {
        let kept = Kept::default();
        let id = |n: usize| SessionId::from_bits(n as u128);
        for n in 0..KEPT {
            kept.put(&id(n), folded(5));
        }
        assert!(kept.get(&id(0)).is_some());
        kept.put(&id(KEPT), folded(5));
        assert!(kept.get(&id(0)).is_some(), "it was just used");
        assert!(kept.get(&id(1)).is_none(), "it was the longest unused");
        kept.put(&id(0), folded(4));
        assert_eq!(kept.take(&id(0)).map(|folded| folded.state.next_seq), Some(5));
        assert!(kept.get(&id(0)).is_none());
    }
}
