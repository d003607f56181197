//! Reading: events, states and lists, beside the writer and without waiting for it.
//!
//! Each read takes a read-only connection from a small pool and gives it back at once, so no reader holds the
//! write-ahead log open. Invariants: events come out checked or not at all; a state is always the fold of everything
//! committed before the call; lists come from the projections, never from a scan of the log.

use crate::blobs::{self, BlobError, Blobs, attached, gone};
use crate::connection::{self, Role, nat};
use crate::damage::{self, Salvage};
use crate::error::{OpenError, ReadError};
use crate::folded::{self, Kept};
use crate::folder::DataFolder;
use crate::projection;
use crate::rows::{self, From};
use crate::schema::{self, open_failed};
use domain::digest::Digest;
use domain::event::{Fact, Recorded};
use domain::ids::SessionId;
use domain::state::State;
use rusqlite::Connection;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Connections kept for reading; more are opened when more read at once.
const POOLED: usize = 4;

/// What is being done, where a row of attached content is wanted.
const BLOB: &str = "reading a blob";

/// Reads a store. Cheap to clone; works while another process writes.
#[derive(Clone)]
pub struct Reader {
    inside: Arc<Inside>,
}

struct Inside {
    folder: DataFolder,
    pool: Mutex<Vec<Connection>>,
    kept: Arc<Kept>,
    blobs: Arc<Blobs>,
}

impl Reader {
    /// Opens a store for looking only: takes no lock and changes nothing.
    ///
    /// # Errors
    /// As for opening a store, but for the lock and the right to write.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        let folder = DataFolder::to_read(folder)?;
        schema::check_layout(&folder, schema::MIGRATIONS.len())?;
        let reader = Self::new(folder, Arc::default());
        let first = connection::open(&reader.inside.folder.database(), Role::Read)
            .map_err(|unfit| open_failed(&reader.inside.folder, "opening the database", unfit))?;
        reader.give_back(first);
        Ok(reader)
    }

    pub(crate) fn new(folder: DataFolder, kept: Arc<Kept>) -> Self {
        let blobs = Arc::new(Blobs::new(folder.blobs()));
        Self { inside: Arc::new(Inside { folder, pool: Mutex::default(), kept, blobs }) }
    }

    /// Events of a session in order, from this sequence number on, at most `limit`.
    ///
    /// # Errors
    /// When one of them is damaged: use [`Reader::salvage`] to show what is left.
    pub fn events(
        &self,
        session: &SessionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Recorded>, ReadError> {
        let mut events = Vec::new();
        self.with(|connection| {
            rows::scan(connection, session, From { seq: from_seq, after: None }, limit, |event| {
                events.push(event);
                Ok(())
            })
        })?;
        Ok(events)
    }

    /// One event by its place, where the session has that many; it is checked by itself, its neighbours aren't.
    ///
    /// # Errors
    /// When it isn't what was written.
    pub fn event(&self, session: &SessionId, seq: u64) -> Result<Option<Recorded>, ReadError> {
        self.with(|connection| {
            if seq >= rows::next_seq(connection, session)? {
                return Ok(None);
            }
            let damaged = |what| ReadError::Damaged { session: session.clone(), seq, what };
            rows::alone(connection, session, seq).map(Some).map_err(damaged)
        })
    }

    /// What one event says; `None` where it was erased, or nobody need know it, or the session hasn't that many.
    ///
    /// # Errors
    /// When it isn't what was written, or isn't known to this build.
    pub fn fact(&self, session: &SessionId, seq: u64) -> Result<Option<Fact>, ReadError> {
        Ok(self.event(session, seq)?.map(folded::decode).transpose()?.and_then(|event| event.fact))
    }

    /// Where the last event of this type before a sequence number stands.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn last_of(&self, session: &SessionId, kind: &str, before: u64) -> Result<Option<u64>, ReadError> {
        self.with(|connection| rows::last_of(connection, session, kind, before))
    }

    /// Where the last event of this type in these places stands that has this text in its payload, as it stands there, or isn't
    /// whole any more. The payloads of those after it are looked through, and none of them is decoded.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn last_with(
        &self,
        session: &SessionId,
        kind: &str,
        text: &str,
        within: Range<u64>,
    ) -> Result<Option<u64>, ReadError> {
        self.with(|connection| rows::last_with(connection, session, kind, text, within))
    }

    /// What `of` gives for the newest event of this type with this text in its payload, as it stands there, for which it gives
    /// anything. Only those are decoded; the payloads of the others after it are looked through.
    ///
    /// # Errors
    /// When one of them isn't what was written, or isn't known to this build.
    pub fn newest_with<T>(
        &self,
        session: &SessionId,
        kind: &str,
        text: &str,
        of: impl Fn(&Fact) -> Option<T>,
    ) -> Result<Option<T>, ReadError> {
        let mut before = u64::MAX >> 1;
        while let Some(seq) = self.last_with(session, kind, text, 0..before)? {
            if let Some(found) = self.fact(session, seq)?.as_ref().and_then(&of) {
                return Ok(Some(found));
            }
            before = seq;
        }
        Ok(None)
    }

    /// The session's state now; the empty state for a session that doesn't exist. Let go of it before the next append:
    /// a state that somebody still looks at is copied then, as large as it is.
    ///
    /// # Errors
    /// When an event can't be read or isn't known to this build.
    pub fn state(&self, session: &SessionId) -> Result<Arc<State>, ReadError> {
        let kept = self.inside.kept.get(session);
        let folded = self.with(|connection| folded::load(connection, kept, session))?;
        if folded.state.next_seq > 0 {
            self.inside.kept.put(session, folded.clone());
        }
        Ok(folded.state)
    }

    /// The session's state after its first `count` events.
    ///
    /// # Errors
    /// When one of them can't be read or isn't known to this build.
    pub fn state_after(&self, session: &SessionId, count: u64) -> Result<Arc<State>, ReadError> {
        self.with(|connection| folded::load_prefix(connection, session, count)).map(|folded| folded.state)
    }

    /// The sequence number the session's next event gets; 0 for a session that doesn't exist.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn next_seq(&self, session: &SessionId) -> Result<u64, ReadError> {
        self.with(|connection| rows::next_seq(connection, session))
    }

    /// Did the session come from another store? Then it can be looked at and nothing is added to it.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn is_imported(&self, session: &SessionId) -> Result<bool, ReadError> {
        self.setting(&crate::import::mark(session)).map(|mark| mark.is_some())
    }

    /// The sequence number of the session's last event.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn last_seq(&self, session: &SessionId) -> Result<Option<u64>, ReadError> {
        self.next_seq(session).map(|next| next.checked_sub(1))
    }

    /// The number of the process that has the store open for writing, or of the last one that had.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn last_epoch(&self) -> Result<u64, ReadError> {
        self.with(|connection| {
            connection
                .query_row("SELECT value FROM facts_of_store WHERE name = 'epoch'", [], |row| {
                    row.get(0).map(nat)
                })
                .map_err(ReadError::sql("reading the epoch"))
        })
    }

    /// Everything that can be read of a session, and what is wrong with it.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn salvage(&self, session: &SessionId) -> Result<Salvage, ReadError> {
        let found = self.with(|connection| damage::salvage(connection, session))?;
        if let Some(first) = found.damage.first() {
            let (seq, what) = (first.seq, first.what.clone());
            self.inside.kept.note(&ReadError::Damaged { session: session.clone(), seq, what });
        }
        Ok(found)
    }

    /// Checks a session's chain from its first to its last event.
    ///
    /// # Errors
    /// The first bad event.
    pub fn verify_chain(&self, session: &SessionId) -> Result<(), ReadError> {
        self.with(|connection| damage::verify(connection, session, drop))
    }

    /// Compares the lists with what the log gives; the first difference, in words.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn verify_projections(&self) -> Result<Option<String>, ReadError> {
        self.with(projection::compare)
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// When it is gone or something else is in its place.
    pub fn blob(&self, digest: &Digest) -> Result<Vec<u8>, BlobError> {
        if let Some(waiting) = self.inside.blobs.attached().get(digest) {
            return Ok(waiting.to_vec());
        }
        let of_file = match self.inside.blobs.get(digest) {
            Ok(bytes) => return Ok(bytes),
            Err(error) => error,
        };
        match self.with(|connection| attached::read(connection, digest).map_err(ReadError::sql(BLOB))) {
            Ok(Some(bytes)) => blobs::compared(digest, bytes),
            Ok(None) => Err(self.gone(digest)?.unwrap_or(of_file)),
            Err(error) => Err(of_row(&error)),
        }
    }

    /// Bytes that a blob takes in the data folder; none where there is no such blob.
    #[must_use]
    pub fn blob_bytes(&self, digest: &Digest) -> u64 {
        let row = || self.with(|connection| attached::size(connection, digest).map_err(ReadError::sql(BLOB)));
        self.inside.blobs.size(digest).or_else(|| row().ok().flatten()).unwrap_or(0)
    }

    /// Can this blob be had? Its content isn't compared.
    ///
    /// # Errors
    /// Why it can't.
    pub fn check_blob(&self, digest: &Digest) -> Result<(), BlobError> {
        match self.holds_blob(digest)? {
            true => Ok(()),
            false => Err(self.gone(digest)?.unwrap_or(BlobError::Missing { digest: *digest })),
        }
    }

    /// That a blob was taken out on purpose, if it was.
    fn gone(&self, digest: &Digest) -> Result<Option<BlobError>, BlobError> {
        let found = self.with(|connection| gone::why(connection, digest).map_err(ReadError::sql(BLOB)));
        let said = |why| BlobError::Gone { digest: *digest, why };
        found.map(|found| found.map(said)).map_err(|error| of_row(&error))
    }

    /// Names of all blobs whose content `holds`, wherever they are kept. Reads every one of them.
    ///
    /// # Errors
    /// When one can't be read.
    pub fn blobs_that(&self, holds: &dyn Fn(&[u8]) -> bool) -> Result<Vec<Digest>, BlobError> {
        let mut found = self.inside.blobs.that(holds)?;
        self.with(|connection| attached::that(connection, holds, &mut found).map_err(ReadError::sql(BLOB)))
            .map_err(|error| of_row(&error))?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Keeps bytes as a blob, once, and gives their name. It is durable before this returns.
    ///
    /// # Errors
    /// When the file can't be written.
    pub(crate) fn put_blob(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        self.inside.blobs.put(bytes)
    }

    /// Is there a blob of this name? Its content is compared only when it is read.
    ///
    /// # Errors
    /// When its folder or the store can't be looked at.
    pub fn holds_blob(&self, digest: &Digest) -> Result<bool, BlobError> {
        if self.inside.blobs.attached().get(digest).is_some() || self.inside.blobs.holds(digest)? {
            return Ok(true);
        }
        self.with(|connection| attached::holds(connection, digest).map_err(ReadError::sql(BLOB)))
            .map_err(|error| of_row(&error))
    }

    /// Names of the rows of attached content written before this time, UTC ms.
    pub(crate) fn attached_before(&self, time: u64) -> Result<Vec<Digest>, BlobError> {
        self.with(|connection| attached::before(connection, time).map_err(ReadError::sql(BLOB)))
            .map_err(|error| of_row(&error))
    }

    pub(crate) fn blobs(&self) -> &Arc<Blobs> {
        &self.inside.blobs
    }

    /// The data folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.inside.folder.path()
    }

    /// Bytes of the write-ahead log now; above [`WAL_ALARM_BYTES`](crate::WAL_ALARM_BYTES) something reads without end.
    #[must_use]
    pub fn wal_bytes(&self) -> u64 {
        std::fs::metadata(self.inside.folder.wal()).map_or(0, |found| found.len())
    }

    pub(crate) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let pooled = self.inside.pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match pooled {
            Some(connection) => connection,
            None => connection::open(&self.inside.folder.database(), Role::Read)
                .map_err(|unfit| ReadError::Sql { doing: "opening the database", why: unfit.to_string() })?,
        };
        let result = read(&connection);
        // A connection that met trouble may hold a bad page; the next read gets a fresh one.
        match &result {
            Ok(_) => self.give_back(connection),
            Err(error) => self.inside.kept.note(error),
        }
        result
    }

    fn give_back(&self, connection: Connection) {
        let mut pool = self.inside.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.len() < POOLED {
            pool.push(connection);
        }
    }
}

fn of_row(error: &ReadError) -> BlobError {
    BlobError::Store { why: error.to_string() }
}

/// A count column.
pub(crate) fn count(row: &rusqlite::Row<'_>, column: &str) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(nat)
}
