//! The writer: the one place where events come to be.
//!
//! An append goes: encodable and small enough → right place → lawful → inserted with its hash → lists → commit → told.
//! Invariants: all of it or nothing; one writer, whose epoch is compared inside each transaction; after a commit that
//! failed the handle is never used again, because a second try may report success for bytes that are lost.

use crate::announce::{Announcement, Announcer};
use crate::append::{Append, Durability, Ready, ReadyAppend, ready};
use crate::connection::{self, Role, SYNC_FULL, SYNC_NORMAL, WAL_ALARM_BYTES, int, nat};
use crate::error::{AppendError, OpenError, ReadError};
use crate::folded::{self, Folded, Kept, SNAPSHOT_EVERY};
use crate::folder::{DataFolder, Lock};
use crate::ports::{Clock, Fate, Faults, Point};
use crate::projection::{self, Posting};
use crate::rows;
use crate::schema::open_failed;
use domain::digest::Digest;
use domain::event::{Event, Fact, Payload, Recorded};
use domain::ids::SessionId;
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// The highest page number SQLite allows: no bound.
const NO_BOUND: u32 = u32::MAX - 1;

/// What the writer is made of.
pub(crate) struct Writer {
    folder: DataFolder,
    connection: Connection,
    epoch: u64,
    kept: Arc<Kept>,
    announcer: Arc<Announcer>,
    clock: Arc<dyn Clock>,
    faults: Arc<dyn Faults>,
    /// The bound on the database's pages that this connection has.
    bound: u32,
    /// Was the write-ahead log too long after the last commit?
    starved: bool,
    /// Why nothing more is written from here, once that is so.
    over: Option<AppendError>,
    _lock: Lock,
}

/// A session on its way through a transaction.
struct Going {
    /// Where it stood before.
    from_seq: u64,
    folded: Folded,
    posting: Posting,
}

/// What a transaction has made so far.
#[derive(Default)]
struct Work {
    sessions: BTreeMap<SessionId, Going>,
    announcements: Vec<Announcement>,
    snapshots: Vec<SessionId>,
}

impl Writer {
    /// Opens the prepared database for writing and begins a new epoch.
    pub(crate) fn open(
        folder: DataFolder,
        lock: Lock,
        kept: Arc<Kept>,
        announcer: Arc<Announcer>,
        clock: Arc<dyn Clock>,
        faults: Arc<dyn Faults>,
    ) -> Result<Self, OpenError> {
        let connection = connection::open(&folder.database(), Role::Write)
            .map_err(|unfit| open_failed(&folder, "opening the database", unfit))?;
        let epoch =
            begin_epoch(&connection).map_err(|unfit| open_failed(&folder, "beginning an epoch", unfit))?;
        let writer = Self {
            folder,
            connection,
            epoch,
            kept,
            announcer,
            clock,
            faults,
            bound: NO_BOUND,
            starved: false,
            over: None,
            _lock: lock,
        };
        if writer.number("projections").is_ok_and(|version| version != projection::VERSION) {
            writer.rebuild().map_err(|error| OpenError::Sql {
                path: writer.folder.path().to_owned(),
                doing: "rebuilding the lists",
                why: error.to_string(),
            })?;
        }
        Ok(writer)
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Appends to all of these sessions or to none, and announces.
    pub(crate) fn append(
        &mut self,
        batch: Vec<Append>,
        durability: Durability,
    ) -> Result<Vec<Recorded>, AppendError> {
        if let Some(over) = &self.over {
            return Err(over.clone());
        }
        let batch = ready(batch)?;
        self.reach(Point::BeforeBegin)?;
        self.set_durability(durability)?;
        self.set_bound()?;
        let mut work = Work::default();
        let committed = self.transact(batch, &mut work);
        if let Err(error) = committed {
            self.undo(work, &error);
            return Err(error);
        }
        self.reach(Point::AfterCommit)?;
        for (session, going) in work.sessions {
            self.kept.put(&session, going.folded);
        }
        work.announcements.iter().for_each(|announcement| self.announcer.announce(announcement));
        self.watch_log();
        Ok(work.announcements.iter().flat_map(|announcement| announcement.events.iter().cloned()).collect())
    }

    fn transact(&mut self, batch: Vec<ReadyAppend>, work: &mut Work) -> Result<(), AppendError> {
        self.execute("BEGIN IMMEDIATE", "beginning to save")?;
        self.check_epoch()?;
        let time = self.clock.now_ms();
        for append in batch {
            let events = self.append_one(append, time, work)?;
            work.announcements.push(events);
        }
        for (session, going) in &mut work.sessions {
            std::mem::take(&mut going.posting)
                .post(&self.connection, session, &going.folded)
                .map_err(AppendError::sql("posting to the lists"))?;
        }
        for session in &work.snapshots {
            if let Some(going) = work.sessions.get(session) {
                folded::write_snapshot(&self.connection, session, &going.folded)
                    .map_err(AppendError::sql("saving a snapshot"))?;
            }
        }
        match self.faults.reach(Point::BeforeCommit) {
            Fate::Go => self.execute("COMMIT", "committing").map_err(|error| match error {
                AppendError::Sql { why, .. } => AppendError::Unsure { why },
                error => error,
            }),
            Fate::Die => Err(AppendError::Crashed),
            Fate::FailSync => {
                Err(AppendError::Unsure { why: "the disk refused to sync (injected)".to_owned() })
            }
        }
    }

    fn append_one(
        &self,
        append: ReadyAppend,
        time: u64,
        work: &mut Work,
    ) -> Result<Announcement, AppendError> {
        let ReadyAppend { session, expected_seq, events } = append;
        if let Some(found) = self.kept.damage(&session) {
            return Err(AppendError::ReadOnly(found));
        }
        let Going { folded, posting, .. } = match work.sessions.entry(session.clone()) {
            Entry::Occupied(going) => going.into_mut(),
            Entry::Vacant(place) => {
                let folded =
                    folded::load(&self.connection, self.kept.take(&session), &session).map_err(read_only)?;
                place.insert(Going { from_seq: folded.state.next_seq, folded, posting: Posting::default() })
            }
        };
        let first = folded.state.next_seq;
        if first != expected_seq {
            return Err(AppendError::Conflict { session, expected: expected_seq, actual: first });
        }
        let mut recorded = Vec::with_capacity(events.len());
        let mut turn_ended = false;
        for ready in events {
            turn_ended |= matches!(ready.draft.fact, Fact::TurnEnd(_));
            recorded.push(self.append_event(&session, folded, posting, ready, time)?);
        }
        if turn_ended || first / SNAPSHOT_EVERY != folded.state.next_seq / SNAPSHOT_EVERY {
            work.snapshots.push(session.clone());
        }
        Ok(Announcement { session, events: recorded.into() })
    }

    fn append_event(
        &self,
        session: &SessionId,
        folded: &mut Folded,
        posting: &mut Posting,
        ready: Ready,
        time: u64,
    ) -> Result<Recorded, AppendError> {
        let Ready { draft, payload } = ready;
        let seq = folded.state.next_seq;
        folded.state.check(&draft).map_err(|violation| AppendError::Refused {
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
            time,
            epoch: self.epoch,
            turn: draft.turn,
            step: draft.step,
            ignorable: kind.ignorable,
            sources: draft.sources,
            prev_hash: folded.head,
            hash: Digest::ZERO,
            payload: Payload::Text(payload),
        };
        envelope.hash = envelope.expected_hash();
        envelope.pos =
            rows::insert(&self.connection, &envelope).map_err(AppendError::sql("inserting an event"))?;
        let event = Event { envelope, fact: Some(draft.fact) };
        posting.note(&event.envelope, event.fact.as_ref());
        Arc::make_mut(&mut folded.state).fold(&event);
        folded.head = event.envelope.hash;
        Ok(event.envelope)
    }

    /// Leaves the log as it was. States that took nothing in are kept, the others are read again when they're wanted.
    fn undo(&mut self, work: Work, error: &AppendError) {
        for (session, going) in work.sessions {
            if going.folded.state.next_seq == going.from_seq {
                self.kept.put(&session, going.folded);
            }
        }
        match error {
            AppendError::Crashed => {
                self.roll_back();
                self.over = Some(AppendError::Crashed);
            }
            AppendError::Unsure { .. } | AppendError::Sql { .. } => self.reopen(),
            AppendError::Full => {
                self.roll_back();
                self.folder.give_up_reserve();
            }
            AppendError::Fenced { .. } => {
                self.roll_back();
                self.kept.clear();
                self.over = Some(error.clone());
            }
            AppendError::Reentrant
            | AppendError::Conflict { .. }
            | AppendError::TooLarge { .. }
            | AppendError::TooMany { .. }
            | AppendError::Unserialisable { .. }
            | AppendError::Refused { .. }
            | AppendError::ReadOnly(_)
            | AppendError::Closed => self.roll_back(),
        }
    }

    fn roll_back(&mut self) {
        if !self.connection.is_autocommit() && self.connection.execute_batch("ROLLBACK").is_err() {
            self.reopen();
        }
    }

    /// Throws the handle and everything folded away, and begins again from what the disk holds.
    fn reopen(&mut self) {
        self.kept.clear();
        match connection::open(&self.folder.database(), Role::Write) {
            Ok(fresh) => {
                self.connection = fresh;
                self.bound = NO_BOUND;
            }
            Err(unfit) => {
                tracing::error!(%unfit, "the store could not be opened again");
                self.over =
                    Some(AppendError::Sql { doing: "opening the store again", why: unfit.to_string() });
            }
        }
    }

    /// Says so, once each time it begins, when a reader that never ends keeps the write-ahead log from being emptied.
    fn watch_log(&mut self) {
        let starved = std::fs::metadata(self.folder.wal()).is_ok_and(|found| found.len() > WAL_ALARM_BYTES);
        if starved && !self.starved {
            tracing::warn!("the write-ahead log grows because something reads the store without end");
        }
        self.starved = starved;
    }

    fn reach(&mut self, point: Point) -> Result<(), AppendError> {
        match self.faults.reach(point) {
            Fate::Go | Fate::FailSync => Ok(()),
            Fate::Die => {
                self.over = Some(AppendError::Crashed);
                Err(AppendError::Crashed)
            }
        }
    }

    fn set_durability(&mut self, durability: Durability) -> Result<(), AppendError> {
        let level = match durability {
            Durability::Normal => SYNC_NORMAL,
            Durability::Barrier => SYNC_FULL,
        };
        self.set("synchronous", level)
    }

    fn set_bound(&mut self) -> Result<(), AppendError> {
        let bound = self.faults.max_pages().unwrap_or(NO_BOUND);
        if bound == self.bound {
            return Ok(());
        }
        self.bound = bound;
        self.connection
            .pragma_update_and_check(None, "max_page_count", bound, |row| row.get::<_, i64>(0))
            .map(drop)
            .map_err(AppendError::sql("setting the largest size"))
    }

    fn set(&mut self, name: &'static str, value: i64) -> Result<(), AppendError> {
        connection::set(&self.connection, name, &Value::Integer(value)).map_err(|unfit| AppendError::Sql {
            doing: "setting how far a commit is carried",
            why: unfit.to_string(),
        })
    }

    fn execute(&self, sql: &str, doing: &'static str) -> Result<(), AppendError> {
        self.connection.execute_batch(sql).map_err(AppendError::sql(doing))
    }

    fn check_epoch(&self) -> Result<(), AppendError> {
        let current = self.number("epoch").map(nat).map_err(AppendError::sql("comparing epochs"))?;
        if current == self.epoch { Ok(()) } else { Err(AppendError::Fenced { mine: self.epoch, current }) }
    }

    fn number(&self, name: &str) -> rusqlite::Result<i64> {
        self.connection
            .prepare_cached("SELECT value FROM facts_of_store WHERE name = ?1")?
            .query_row([name], |row| row.get(0))
    }

    /// Posts all lists again from the log, in one transaction.
    pub(crate) fn rebuild(&self) -> Result<(), ReadError> {
        let sql = |doing| ReadError::sql(doing);
        let whole = self.connection.unchecked_transaction().map_err(sql("rebuilding the lists"))?;
        projection::rebuild(&whole, &whole)?;
        whole
            .execute("UPDATE facts_of_store SET value = ?1 WHERE name = 'projections'", [projection::VERSION])
            .map_err(sql("rebuilding the lists"))?;
        whole.commit().map_err(sql("rebuilding the lists"))
    }

    /// Changes something that is no event, in a transaction of its own.
    pub(crate) fn change(
        &self,
        act: impl FnOnce(&Connection, i64) -> rusqlite::Result<usize>,
    ) -> Result<(), AppendError> {
        const DOING: &str = "saving a setting";
        if let Some(over) = &self.over {
            return Err(over.clone());
        }
        let whole = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(AppendError::sql(DOING))?;
        self.check_epoch()?;
        act(&whole, int(self.clock.now_ms())).map_err(AppendError::sql(DOING))?;
        whole.commit().map_err(AppendError::sql(DOING))
    }

    pub(crate) fn folder(&self) -> &DataFolder {
        &self.folder
    }
}

/// Takes the next epoch, durably: from here on an older writer's append fails.
fn begin_epoch(connection: &Connection) -> Result<u64, connection::Unfit> {
    connection::set(connection, "synchronous", &Value::Integer(SYNC_FULL))?;
    let epoch: i64 = connection.query_row(
        "UPDATE facts_of_store SET value = value + 1 WHERE name = 'epoch' RETURNING value",
        [],
        |row| row.get(0),
    )?;
    connection::set(connection, "synchronous", &Value::Integer(SYNC_NORMAL))?;
    Ok(nat(epoch))
}

fn read_only(error: ReadError) -> AppendError {
    match error {
        ReadError::Sql { doing, why } => AppendError::Sql { doing, why },
        ReadError::Damaged { .. } | ReadError::Unknown { .. } => AppendError::ReadOnly(error),
    }
}
