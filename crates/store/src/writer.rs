//! The writer: the one place where events come to be.
//!
//! An append goes: encodable and small enough → attached content → right place → lawful → inserted with its hash → lists →
//! commit → told.
//! Invariants: all of it or nothing; one writer, whose epoch is compared inside each transaction; after a write that
//! failed the handle is **lost**: it is never used again, because a second try may report success for bytes that are gone,
//! and nothing is written before [`crate::mending`] has a fresh one.

use crate::announce::{Announcement, Announcer};
use crate::append::{Append, Durability, ReadyAppend, ready};
use crate::blobs::attached::{self, Carried};
use crate::blobs::{Blobs, Collected};
use crate::connection::{self, CHECKPOINT_PAGES, Logged, SYNC_FULL, SYNC_NORMAL, WAL_ALARM_BYTES, int, nat};
use crate::error::{AppendError, OpenError, ReadError};
use crate::folded::Kept;
use crate::folder::{DataFolder, Lock};
use crate::mending;
use crate::ports::{Clock, Fate, Faults, Point};
use crate::projection;
use crate::schema::open_failed;
use crate::work::{Scope, Work};
use domain::digest::Digest;
use domain::event::Recorded;
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::cell::Cell;
use std::sync::Arc;

/// The highest page number SQLite allows: no bound.
const NO_BOUND: u32 = u32::MAX - 1;

/// Requests without a full disk before its reserve is put back, or before that is tried again.
const RESERVE_AFTER: u32 = 8;

/// What is being done before anything is written.
pub(crate) const BEGINNING: &str = "beginning to save";

/// What the writer is made of.
pub(crate) struct Writer {
    folder: DataFolder,
    connection: Connection,
    epoch: u64,
    kept: Arc<Kept>,
    blobs: Arc<Blobs>,
    announcer: Arc<Announcer>,
    clock: Arc<dyn Clock>,
    faults: Arc<dyn Faults>,
    /// The bound on the database's pages that this connection has.
    bound: u32,
    /// How far its commits are carried now.
    durability: Durability,
    /// Was the write-ahead log too long after the last commit?
    starved: bool,
    /// Pages in the write-ahead log after the last commit.
    logged: Logged,
    /// Did a write fail, so that the handle may not be used again?
    lost: Cell<bool>,
    why_lost: String,
    /// Is the reserve missing, and after how many requests it is put back, if there is room.
    reserve_due: Option<u32>,
    /// Why nothing more is written from here, once that is so.
    over: Option<AppendError>,
    _lock: Lock,
}

impl Writer {
    /// Opens the prepared database for writing and begins a new epoch.
    pub(crate) fn open(
        folder: DataFolder,
        lock: Lock,
        kept: Arc<Kept>,
        blobs: Arc<Blobs>,
        announcer: Arc<Announcer>,
        clock: Arc<dyn Clock>,
        faults: Arc<dyn Faults>,
    ) -> Result<Self, OpenError> {
        let (connection, logged) = connection::open_counting(&folder.database())
            .map_err(|unfit| open_failed(&folder, "opening the database", unfit))?;
        let epoch =
            begin_epoch(&connection).map_err(|unfit| open_failed(&folder, "beginning an epoch", unfit))?;
        let mut writer = Self {
            folder,
            connection,
            epoch,
            kept,
            blobs,
            announcer,
            clock,
            faults,
            bound: NO_BOUND,
            durability: Durability::Normal,
            starved: false,
            logged,
            lost: Cell::new(false),
            why_lost: String::new(),
            reserve_due: Some(0),
            over: None,
            _lock: lock,
        };
        if !writer.keep_reserve() {
            tracing::warn!("there is no room for the disk reserve");
        }
        if writer.number("projections").is_ok_and(|version| version != projection::VERSION) {
            writer.rebuild().map_err(|error| OpenError::Sql {
                path: writer.folder.path().to_owned(),
                doing: "rebuilding the lists",
                why: error.to_string(),
            })?;
        }
        writer.blobs.sweep();
        if let Err(error) = writer.finish_removals() {
            writer.lose();
            tracing::warn!(%error, "what was taken out isn't gone from the disk yet");
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
        let batch = ready(batch)?;
        self.begin(durability)?;
        let mut work = Work::default();
        let carried = self.blobs.attached().waiting();
        let committed = self.transact(batch, &carried, &mut work);
        if let Err(error) = committed {
            self.undo(work, &error);
            return Err(error);
        }
        self.blobs.attached().committed(&carried);
        self.reach(Point::AfterCommit)?;
        Ok(self.announce(work))
    }

    /// Makes the handle ready for a transaction.
    pub(crate) fn begin(&mut self, durability: Durability) -> Result<(), AppendError> {
        self.usable()?;
        self.reach(Point::BeforeBegin)?;
        self.set_durability(durability)?;
        self.set_bound()
    }

    /// Tells what a committed transaction has made.
    pub(crate) fn announce(&self, work: Work) -> Vec<Recorded> {
        let announcements = work.done(&self.kept);
        announcements.iter().for_each(|announcement| self.announcer.announce(announcement));
        announcements.iter().flat_map(|announcement| announcement.events.iter().cloned()).collect()
    }

    /// Tells of events that were committed.
    pub(crate) fn tell(&self, announcement: &Announcement) {
        self.announcer.announce(announcement);
    }

    fn transact(
        &self,
        batch: Vec<ReadyAppend>,
        carried: &Carried,
        work: &mut Work,
    ) -> Result<(), AppendError> {
        self.execute("BEGIN IMMEDIATE", BEGINNING)?;
        self.check_epoch()?;
        let scope = self.scope();
        attached::write(&self.connection, carried, scope.time)
            .map_err(AppendError::sql("keeping attached content"))?;
        for append in batch {
            work.take_in(scope, append)?;
        }
        work.post(&self.connection)?;
        self.commit()
    }

    pub(crate) fn scope(&self) -> Scope<'_> {
        let (time, epoch) = (self.clock.now_ms(), self.epoch);
        Scope { connection: &self.connection, kept: &self.kept, time, epoch }
    }

    pub(crate) fn commit(&self) -> Result<(), AppendError> {
        match self.faults.reach(Point::BeforeCommit) {
            Fate::Go => {
                self.execute("COMMIT", "committing").map_err(|error| match error {
                    AppendError::Sql { why, .. } => AppendError::Unsure { why },
                    error => error,
                })?;
                self.blobs.counter().commit(self.durability == Durability::Barrier);
                Ok(())
            }
            Fate::Die => Err(AppendError::Crashed),
            Fate::FailSync => {
                Err(AppendError::Unsure { why: "the disk refused to sync (injected)".to_owned() })
            }
        }
    }

    /// Leaves the log as it was; what was carried goes on waiting.
    pub(crate) fn undo(&mut self, work: Work, error: &AppendError) {
        work.undone(&self.kept);
        match error {
            AppendError::Crashed => {
                self.roll_back();
                self.over = Some(AppendError::Crashed);
            }
            // Nothing was written; somebody may only be holding the store.
            AppendError::Sql { doing: BEGINNING, .. } => self.lose(),
            AppendError::Unsure { .. } | AppendError::Sql { .. } => {
                self.lose();
                self.mend();
            }
            AppendError::Full => {
                self.roll_back();
                self.folder.give_up_reserve();
                self.reserve_due = Some(RESERVE_AFTER);
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
            self.lose();
            self.mend();
        }
    }

    /// Before each request: gets a fresh handle where the last one was lost.
    pub(crate) fn mend(&mut self) {
        if !self.lost.get() || self.over.is_some() {
            return;
        }
        self.kept.clear();
        // It may still hold the lock of its transaction; nothing else is ever asked of it.
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        let mended = connection::open_counting(&self.folder.database())
            .map_err(|unfit| unfit.to_string())
            .and_then(|(fresh, logged)| {
                (self.connection, self.logged, self.bound) = (fresh, logged, NO_BOUND);
                mending::make_sure(&self.connection, &self.folder)
            });
        self.lost.set(mended.is_err());
        if let Err(why) = mended {
            tracing::error!(%why, "the store could not be opened again");
            self.why_lost = why;
        }
    }

    /// After each request: carries a long write-ahead log over, and says so, once each time it begins, when a reader that
    /// never ends keeps it from being emptied. SQLite would do it by itself and keep a failure to itself.
    pub(crate) fn tidy(&mut self) {
        if self.lost.get() || self.over.is_some() {
            return;
        }
        if self.logged.pages() >= CHECKPOINT_PAGES
            && let Err(error) = self.execute("PRAGMA wal_checkpoint(PASSIVE)", "carrying the log over")
        {
            tracing::error!(%error, "the write-ahead log could not be carried over");
            self.lose();
        }
        let starved = std::fs::metadata(self.folder.wal()).is_ok_and(|found| found.len() > WAL_ALARM_BYTES);
        if starved && !self.starved {
            tracing::warn!("the write-ahead log grows because something reads the store without end");
            self.blobs.counter().starved();
        }
        self.starved = starved;
        // While the disk is full every request sets it anew.
        match self.reserve_due {
            Some(0) => drop(self.keep_reserve()),
            due => self.reserve_due = due.map(|left| left - 1),
        }
    }

    /// Puts the reserve back; where there is no room for it, that is tried again later.
    pub(crate) fn keep_reserve(&mut self) -> bool {
        let kept = self.folder.keep_reserve();
        self.reserve_due = if kept { None } else { Some(RESERVE_AFTER) };
        kept
    }

    /// The handle isn't used again.
    pub(crate) fn lose(&self) {
        self.lost.set(true);
    }

    /// Nothing is written through a handle that was lost, or by a process that may not.
    fn usable(&self) -> Result<(), AppendError> {
        match &self.over {
            Some(over) => Err(over.clone()),
            None if self.lost.get() => {
                Err(AppendError::Sql { doing: "opening it again", why: self.why_lost.clone() })
            }
            None => Ok(()),
        }
    }

    pub(crate) fn reach(&mut self, point: Point) -> Result<(), AppendError> {
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
        self.durability = durability;
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

    pub(crate) fn execute(&self, sql: &str, doing: &'static str) -> Result<(), AppendError> {
        self.connection.execute_batch(sql).map_err(AppendError::sql(doing))
    }

    pub(crate) fn check_epoch(&self) -> Result<(), AppendError> {
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
        let whole = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(sql("rebuilding the lists"))?;
        self.check_epoch()
            .map_err(|error| ReadError::Sql { doing: "rebuilding the lists", why: error.to_string() })?;
        projection::rebuild(&whole, &whole)?;
        whole
            .execute("UPDATE facts_of_store SET value = ?1 WHERE name = 'projections'", [projection::VERSION])
            .map_err(sql("rebuilding the lists"))?;
        whole.commit().map_err(sql("rebuilding the lists"))
    }

    /// Changes something that is no event, in a transaction of its own.
    pub(crate) fn change<T>(
        &self,
        doing: &'static str,
        act: impl FnOnce(&Connection, i64) -> rusqlite::Result<T>,
    ) -> Result<T, AppendError> {
        self.usable()?;
        let changed = self.changed(doing, act);
        if matches!(changed, Err(AppendError::Sql { .. })) {
            self.lose();
        }
        changed
    }

    fn changed<T>(
        &self,
        doing: &'static str,
        act: impl FnOnce(&Connection, i64) -> rusqlite::Result<T>,
    ) -> Result<T, AppendError> {
        let whole = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(AppendError::sql(doing))?;
        self.check_epoch()?;
        let done = act(&whole, int(self.clock.now_ms())).map_err(AppendError::sql(doing))?;
        whole.commit().map_err(AppendError::sql(doing))?;
        Ok(done)
    }

    /// Removes rows of attached content, but for what this process refers to.
    pub(crate) fn collect(&self, names: &[Digest]) -> Result<Collected, AppendError> {
        let referred = self.blobs.referred();
        self.change("collecting attached content", |connection, _| {
            let mut collected = Collected::default();
            for name in names.iter().filter(|name| !referred.contains(name)) {
                if let Some(bytes) = attached::remove(connection, name)? {
                    collected.blobs += 1;
                    collected.bytes += bytes;
                }
            }
            Ok(collected)
        })
    }

    pub(crate) fn folder(&self) -> &DataFolder {
        &self.folder
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }

    pub(crate) fn blobs(&self) -> &Blobs {
        &self.blobs
    }
}

/// Takes the next epoch, durably: from here on an older writer's append fails. In a transaction of its own, because the
/// commit of a statement that also answers happens where its failure is kept quiet: when the statement is put away.
fn begin_epoch(connection: &Connection) -> Result<u64, connection::Unfit> {
    connection::set(connection, "synchronous", &Value::Integer(SYNC_FULL))?;
    let whole = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    whole.execute("UPDATE facts_of_store SET value = value + 1 WHERE name = 'epoch'", [])?;
    let epoch =
        whole.query_row("SELECT value FROM facts_of_store WHERE name = 'epoch'", [], |row| row.get(0))?;
    whole.commit()?;
    connection::set(connection, "synchronous", &Value::Integer(SYNC_NORMAL))?;
    Ok(nat(epoch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::NoFaults;
    use crate::schema::{MIGRATIONS, prepare};
    use domain::call::Mode;
    use domain::event::{Draft, SessionCreated};
    use domain::ids::{FolderId, SessionId};

    struct Still;
    impl Clock for Still {
        fn now_ms(&self) -> u64 {
            0
        }
    }

    /// A disk that refuses every sync.
    struct Refusing;
    impl Faults for Refusing {
        fn reach(&self, _: Point) -> Fate {
            Fate::FailSync
        }
    }

    fn writer(faults: Arc<dyn Faults>) -> (tempfile::TempDir, Writer) {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = DataFolder::to_write(dir.path()).expect("fits");
        let lock = folder.lock().expect("free");
        prepare(&folder, MIGRATIONS).expect("makes");
        let blobs = Arc::new(Blobs::new(folder.blobs()));
        let writer =
            Writer::open(folder, lock, Arc::default(), blobs, Arc::default(), Arc::new(Still), faults);
        (dir, writer.expect("opens"))
    }

    fn created(n: u128) -> Vec<Append> {
        let created = Draft::new(SessionCreated {
            folder: FolderId::from_bits(1),
            root: "/home/ann".into(),
            mode: Mode::Ask,
            model: None,
            tour: false,
            identity: None,
        });
        vec![Append { session: SessionId::from_bits(n), expected_seq: 0, drafts: vec![created] }]
    }

    /// A mark that lives as long as the handle tells whether it is still the same one.
    #[test]
    fn a_handle_whose_sync_failed_is_not_used_again() {
        let (_dir, mut writer) = writer(Arc::new(Refusing));
        writer.connection.execute_batch("CREATE TEMP TABLE mark (x)").expect("marks");
        let error = writer.append(created(1), Durability::Barrier).unwrap_err();
        assert!(matches!(error, AppendError::Unsure { .. }), "{error}");
        assert!(writer.connection.execute_batch("SELECT * FROM mark").is_err(), "it is another handle");
        writer.faults = Arc::new(NoFaults);
        writer.append(created(1), Durability::Barrier).expect("the fresh one works");
    }

    /// With this a power cut is survived: SQLite syncs the log in such a commit, and everything before it lies in it.
    #[test]
    fn a_barrier_commits_in_full_and_only_a_barrier() {
        let (_dir, mut writer) = writer(Arc::new(NoFaults));
        for (n, durability, expect) in [
            (1, Durability::Normal, SYNC_NORMAL),
            (2, Durability::Barrier, SYNC_FULL),
            (3, Durability::Barrier, SYNC_FULL),
            (4, Durability::Normal, SYNC_NORMAL),
        ] {
            writer.append(created(n), durability).expect("appends");
            let level: i64 =
                writer.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).expect("answers");
            assert_eq!(level, expect, "append {n}");
        }
    }
}
