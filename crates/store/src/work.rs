//! The work of one transaction: the sessions it takes further, from their states before to their states after.
//!
//! It checks and inserts, and knows nothing of beginning, committing or being told. Invariant: each event is checked
//! against the state that the ones before it left, in this transaction too; nothing of it is kept in memory until the
//! commit is done.

use crate::announce::Announcement;
use crate::append::{Ready, ReadyAppend};
use crate::error::{AppendError, ReadError};
use crate::folded::{self, Folded, Kept, SNAPSHOT_EVERY};
use crate::projection::Posting;
use crate::rows;
use domain::digest::Digest;
use domain::event::{Event, Fact, Payload, Recorded};
use domain::ids::SessionId;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// What a transaction works in.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) kept: &'a Kept,
    /// What its events get as their time, UTC ms.
    pub(crate) time: u64,
    pub(crate) epoch: u64,
}

/// What a transaction has made so far.
#[derive(Default)]
pub(crate) struct Work {
    sessions: BTreeMap<SessionId, Going>,
    announcements: Vec<Announcement>,
}

/// A session on its way through a transaction.
struct Going {
    /// Where it stood before.
    from_seq: u64,
    folded: Folded,
    posting: Posting,
    turn_ended: bool,
}

impl Work {
    /// Checks and inserts the events of one session.
    pub(crate) fn take_in(&mut self, scope: Scope<'_>, append: ReadyAppend) -> Result<(), AppendError> {
        let ReadyAppend { session, expected_seq, events } = append;
        if let Some(found) = scope.kept.damage(&session) {
            return Err(AppendError::ReadOnly(found));
        }
        let going = match self.sessions.entry(session.clone()) {
            Entry::Occupied(going) => going.into_mut(),
            Entry::Vacant(place) => place.insert(Going::begin(scope, &session)?),
        };
        let actual = going.folded.state.next_seq;
        if actual != expected_seq {
            return Err(AppendError::Conflict { session, expected: expected_seq, actual });
        }
        let recorded: Vec<Recorded> = events
            .into_iter()
            .map(|ready| going.take_in(scope, &session, ready))
            .collect::<Result<_, _>>()?;
        self.announcements.push(Announcement { session, events: recorded.into() });
        Ok(())
    }

    /// Posts to the lists, and saves the snapshots that are due.
    pub(crate) fn post(&mut self, connection: &Connection) -> Result<(), AppendError> {
        for (session, going) in &mut self.sessions {
            std::mem::take(&mut going.posting)
                .post(connection, session, &going.folded)
                .map_err(AppendError::sql("posting to the lists"))?;
            let next_seq = going.folded.state.next_seq;
            if going.turn_ended || going.from_seq / SNAPSHOT_EVERY != next_seq / SNAPSHOT_EVERY {
                folded::write_snapshot(connection, session, &going.folded)
                    .map_err(AppendError::sql("saving a snapshot"))?;
            }
        }
        Ok(())
    }

    /// The commit is done: the states are kept, and what is to be told comes out.
    pub(crate) fn done(self, kept: &Kept) -> Vec<Announcement> {
        for (session, going) in self.sessions {
            kept.put(&session, going.folded);
        }
        self.announcements
    }

    /// Nothing was committed: states that took nothing in go back, the others are read again when they are wanted.
    pub(crate) fn undone(self, kept: &Kept) {
        for (session, going) in self.sessions {
            if going.folded.state.next_seq == going.from_seq {
                kept.put(&session, going.folded);
            }
        }
    }
}

impl Going {
    fn begin(scope: Scope<'_>, session: &SessionId) -> Result<Self, AppendError> {
        let folded = folded::load(scope.connection, scope.kept.take(session), session).map_err(read_only)?;
        let from_seq = folded.state.next_seq;
        Ok(Self { from_seq, folded, posting: Posting::default(), turn_ended: false })
    }

    fn take_in(
        &mut self,
        scope: Scope<'_>,
        session: &SessionId,
        ready: Ready,
    ) -> Result<Recorded, AppendError> {
        let Ready { draft, payload } = ready;
        let seq = self.folded.state.next_seq;
        self.folded.state.check(&draft).map_err(|violation| AppendError::Refused {
            session: session.clone(),
            seq,
            violation,
        })?;
        let kind = draft.fact.kind();
        let mut envelope = Recorded {
            session: session.clone(),
            pos: 0,
            seq,
            kind: kind.name.to_owned(),
            version: kind.version,
            time: scope.time,
            epoch: scope.epoch,
            turn: draft.turn,
            step: draft.step,
            ignorable: kind.ignorable,
            sources: draft.sources,
            prev_hash: self.folded.head,
            hash: Digest::ZERO,
            payload: Payload::Text(payload),
        };
        envelope.hash = envelope.expected_hash();
        envelope.pos =
            rows::insert(scope.connection, &envelope).map_err(AppendError::sql("inserting an event"))?;
        let event = Event { envelope, fact: Some(draft.fact) };
        self.posting.note(&self.folded.state, &event.envelope, event.fact.as_ref());
        self.turn_ended |= matches!(event.fact, Some(Fact::TurnEnd(_)));
        Arc::make_mut(&mut self.folded.state).fold(&event);
        self.folded.head = event.envelope.hash;
        Ok(event.envelope)
    }
}

fn read_only(error: ReadError) -> AppendError {
    match error {
        ReadError::Sql { doing, why } => AppendError::Sql { doing, why },
        ReadError::Damaged { .. } | ReadError::Unknown { .. } => AppendError::ReadOnly(error),
    }
}
