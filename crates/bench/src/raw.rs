//! The control that an append is compared with: SQLite by itself, a table like the log's, the same settings, one prepared insert.
//!
//! It checks nothing, folds nothing, chains nothing, lists nothing and tells nobody. Invariant: it writes into a store of
//! its own that nothing of the product reads.

use crate::Done;
use crate::place::Folder;
use rusqlite::{Connection, params};
use std::sync::Arc;
use store::{Options, Store};

pub(crate) struct Raw {
    connection: Connection,
    next: i64,
    _folder: Folder,
}

/// How far its commits are carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    Normal,
    Full,
}

impl Raw {
    /// A fresh one, in the layout that the store makes.
    pub(crate) fn new(sync: Sync) -> Done<Self> {
        let folder = Folder::new()?;
        store::create_folder(&folder.data())?;
        drop(Store::open(&folder.data(), Options::new(Arc::new(host::SystemClock)))?);
        let connection = Connection::open(folder.data().join("store.db"))?;
        // The same columns and index under another name: events have one way in, and this isn't it.
        let layout: String = connection.query_row(
            "SELECT sql FROM sqlite_master WHERE name = 'events' AND type = 'table'",
            [],
            |row| row.get(0),
        )?;
        connection.execute_batch(&layout.replacen("TABLE events", "TABLE control", 1))?;
        let level = if sync == Sync::Full { 2 } else { 1 };
        connection.execute_batch(&format!(
            "PRAGMA journal_mode = wal; PRAGMA synchronous = {level}; PRAGMA fullfsync = 1; \
             PRAGMA checkpoint_fullfsync = 1; PRAGMA secure_delete = 1; PRAGMA wal_autocheckpoint = 1000; \
             PRAGMA journal_size_limit = 16777216; PRAGMA mmap_size = 0; PRAGMA temp_store = 2; \
             PRAGMA cell_size_check = 1; PRAGMA trusted_schema = 0"
        ))?;
        Ok(Self { connection, next: 0, _folder: folder })
    }

    /// Inserts this payload so many times in one transaction.
    pub(crate) fn append(&mut self, payload: &str, count: usize) -> Done<()> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        {
            let mut insert = self.connection.prepare_cached(
                "INSERT INTO control (session, seq, kind, version, time, epoch, ignorable, prev_hash, hash, payload) \
                 VALUES ('ses_00000000000000000000000000000001', ?1, 'notice/raised', 1, 0, 1, 0, ?2, ?2, ?3)",
            )?;
            for _ in 0..count {
                insert.execute(params![self.next, [7_u8; 32].as_slice(), payload])?;
                self.next += 1;
            }
        }
        self.connection.execute_batch("COMMIT")?;
        Ok(())
    }
}
