//! Connections: how each one is set up, and that it really is.
//!
//! Settings of a connection don't outlive it and can be ignored silently, so each is set and read back on every one that
//! is opened. Invariants: a connection with another value than asked for is never used; `synchronous` is switched
//! outside a transaction only, because inside one the switch does nothing.

use rusqlite::hooks::Wal;
use rusqlite::types::Value;
use rusqlite::{Connection, Error, OpenFlags};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The oldest SQLite without the bug that can lose a write-ahead log being reset while two connections are open.
pub(crate) const OLDEST_SQLITE: i32 = 3_051_003;

/// How long a connection waits for another one, and then says so.
const BUSY: Duration = Duration::from_secs(5);

/// Pages (of 4 KB) in the write-ahead log before it is carried over.
pub(crate) const CHECKPOINT_PAGES: u32 = 1000;

/// Bytes the write-ahead log is cut back to after it was carried over.
const WAL_KEPT_BYTES: i64 = 16 * 1024 * 1024;

/// Bytes of write-ahead log that only a reader that never ends can explain: several times what a checkpoint leaves.
pub const WAL_ALARM_BYTES: u64 = 32 * 1024 * 1024;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The one that writes.
    Write,
    /// One of those that read.
    Read,
}

/// Why a connection isn't fit.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("SQLite {found} is too old, {OLDEST_SQLITE} or later is needed")]
    OldSqlite { found: i32 },
    #[error("`{name}` is {found:?} where {wanted:?} was asked for")]
    Drifted { name: &'static str, wanted: Value, found: Value },
    #[error(transparent)]
    Sql(#[from] Error),
}

/// Opens an existing database.
pub(crate) fn open(path: &Path, role: Role) -> Result<Connection, Unfit> {
    let found = rusqlite::version_number();
    if found < OLDEST_SQLITE {
        return Err(Unfit::OldSqlite { found });
    }
    let access = match role {
        Role::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Role::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    for (name, wanted) in settings(role) {
        set(&connection, name, &wanted)?;
    }
    Ok(connection)
}

/// How many pages the write-ahead log had after a connection's last commit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Logged(Arc<AtomicU32>);

impl Logged {
    pub(crate) fn pages(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Opens an existing database to be written, with what counts the pages of its log.
pub(crate) fn open_counting(path: &Path) -> Result<(Connection, Logged), Unfit> {
    let mut connection = open(path, Role::Write)?;
    let logged = Logged::default();
    let count = Arc::clone(&logged.0);
    connection.wal_hook(Some(move |_: &mut Wal, pages| {
        count.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
        Ok(())
    }))?;
    Ok((connection, logged))
}

/// Sets one value and reads it back.
pub(crate) fn set(connection: &Connection, name: &'static str, wanted: &Value) -> Result<(), Unfit> {
    // Some pragmas answer when set and some don't; the answer that counts is the one read back.
    connection.pragma(None, name, wanted, |_| Ok(()))?;
    let found: Value = connection.pragma_query_value(None, name, |row| row.get(0))?;
    if &found == wanted { Ok(()) } else { Err(Unfit::Drifted { name, wanted: wanted.clone(), found }) }
}

/// `synchronous` as numbers: commits survive the process, or also a power cut.
pub(crate) const SYNC_NORMAL: i64 = 1;
pub(crate) const SYNC_FULL: i64 = 2;

fn settings(role: Role) -> Vec<(&'static str, Value)> {
    let common = vec![
        ("trusted_schema", Value::Integer(0)),
        ("cell_size_check", Value::Integer(1)),
        ("mmap_size", Value::Integer(0)),
        ("temp_store", Value::Integer(2)),
    ];
    let own = match role {
        Role::Write => vec![
            ("journal_mode", Value::Text("wal".to_owned())),
            ("synchronous", Value::Integer(SYNC_NORMAL)),
            // On macOS an ordinary sync stops in the drive's cache; elsewhere these two mean nothing.
            ("fullfsync", Value::Integer(1)),
            ("checkpoint_fullfsync", Value::Integer(1)),
            // What is deleted is overwritten, so that erased words don't lie in free pages.
            ("secure_delete", Value::Integer(1)),
            // The writer carries the log over itself, to see when that fails.
            ("wal_autocheckpoint", Value::Integer(0)),
            ("journal_size_limit", Value::Integer(WAL_KEPT_BYTES)),
        ],
        Role::Read => vec![("query_only", Value::Integer(1))],
    };
    common.into_iter().chain(own).collect()
}

/// A number for a column; positions and times stay far below 2^63.
pub(crate) fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A number from a column; a negative one can only come from damage and reads as a place nothing has.
pub(crate) fn nat(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("store.db");
        Connection::open(&path).and_then(|c| c.execute_batch("CREATE TABLE t (x)")).expect("makes");
        (dir, path)
    }

    fn value(connection: &Connection, name: &str) -> Value {
        connection.pragma_query_value(None, name, |row| row.get(0)).expect("answers")
    }

    #[test]
    fn x22_every_connection_has_the_settings_it_should() {
        let (_dir, path) = database();
        let first = open(&path, Role::Write).expect("opens");
        set(&first, "synchronous", &Value::Integer(SYNC_FULL)).expect("sets");
        let second = open(&path, Role::Write).expect("opens");
        let reader = open(&path, Role::Read).expect("opens");
        for (connection, name, expect) in [
            (&first, "synchronous", Value::Integer(SYNC_FULL)),
            (&second, "synchronous", Value::Integer(SYNC_NORMAL)),
            (&second, "journal_mode", Value::Text("wal".into())),
            (&second, "fullfsync", Value::Integer(1)),
            (&second, "secure_delete", Value::Integer(1)),
            (&second, "cell_size_check", Value::Integer(1)),
            (&reader, "query_only", Value::Integer(1)),
            (&reader, "busy_timeout", Value::Integer(5_000)),
        ] {
            assert_eq!(value(connection, name), expect, "{name}");
        }
        assert!(reader.execute_batch("INSERT INTO t VALUES (1)").is_err(), "a reader can't write");
    }

    #[test]
    fn x22_a_setting_that_did_not_take_is_an_error() {
        // A database in memory can't have a write-ahead log and says so only when asked.
        let memory = Connection::open_in_memory().expect("opens");
        let drifted = set(&memory, "journal_mode", &Value::Text("wal".into()));
        assert!(matches!(drifted, Err(Unfit::Drifted { name: "journal_mode", .. })), "{drifted:?}");
        // Inside a transaction the switch is refused or does nothing; both are errors here.
        let (_dir, path) = database();
        let connection = open(&path, Role::Write).expect("opens");
        connection.execute_batch("BEGIN IMMEDIATE").expect("begins");
        assert!(set(&connection, "synchronous", &Value::Integer(SYNC_FULL)).is_err());
    }

    #[test]
    fn the_bundled_sqlite_has_no_known_bug_of_ours() {
        assert!(rusqlite::version_number() >= OLDEST_SQLITE, "{}", rusqlite::version());
    }
}
