//! Blobs that were taken out on purpose: which, why and when.
//!
//! **Gone** is told apart from missing: what names such a blob is whole, and says that its content was erased or let go.
//! Invariant: a name stands here before its file or row goes.

use super::{BlobError, Blobs, failed};
use domain::digest::Digest;
use rusqlite::{Connection, OptionalExtension as _, params};
use std::fs;
use std::io;

/// Why a blob was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// It held words that the person erased.
    Erased,
    /// It was kept for undo only, too long ago.
    Thinned,
}

impl Gone {
    fn number(self) -> i64 {
        match self {
            Self::Erased => 1,
            Self::Thinned => 2,
        }
    }

    fn of(number: i64) -> Self {
        if number == Self::Thinned.number() { Self::Thinned } else { Self::Erased }
    }
}

impl Blobs {
    /// Removes the file of a blob that is on record as gone. What was only let go stays, and this gives false, where this
    /// process refers to it again.
    pub(crate) fn take_out(&self, digest: &Digest, why: Gone) -> Result<bool, BlobError> {
        let mut referred = self.referred();
        if why == Gone::Thinned && referred.contains(digest) {
            return Ok(false);
        }
        referred.remove(digest);
        let (_, path) = self.path(digest);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&path, error)),
            Ok(()) | Err(_) => Ok(true),
        }
    }
}

/// Puts a name on the list; its file may still be there.
pub(crate) fn note(to: &Connection, digest: &Digest, why: Gone, time: i64) -> rusqlite::Result<()> {
    to.prepare_cached("INSERT OR REPLACE INTO gone (digest, why, time, pending) VALUES (?1, ?2, ?3, 1)")?
        .execute(params![digest.0.as_slice(), why.number(), time])
        .map(drop)
}

/// Somebody else's record says that it is gone: noted where nobody here knows better, and nothing is removed for it.
pub(crate) fn told(to: &Connection, digest: &Digest, why: Gone, time: i64) -> rusqlite::Result<()> {
    to.prepare_cached("INSERT OR IGNORE INTO gone (digest, why, time, pending) VALUES (?1, ?2, ?3, 0)")?
        .execute(params![digest.0.as_slice(), why.number(), time])
        .map(drop)
}

/// Its file is gone as well.
pub(crate) fn settled(to: &Connection, digest: &Digest) -> rusqlite::Result<()> {
    to.prepare_cached("UPDATE gone SET pending = 0 WHERE digest = ?1")?
        .execute([digest.0.as_slice()])
        .map(drop)
}

/// Takes a name off the list.
pub(crate) fn forget(to: &Connection, digest: &Digest) -> rusqlite::Result<()> {
    to.prepare_cached("DELETE FROM gone WHERE digest = ?1")?.execute([digest.0.as_slice()]).map(drop)
}

/// Names whose files may still be there.
pub(crate) fn pending(from: &Connection) -> rusqlite::Result<Vec<(Digest, Gone)>> {
    let mut select = from.prepare_cached("SELECT digest, why FROM gone WHERE pending = 1")?;
    let rows = select.query_map([], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get(1)?)))?;
    let named = |(bytes, why): (Vec<u8>, i64)| Some((crate::rows::digest(&bytes)?, Gone::of(why)));
    rows.filter_map(|row| row.map(named).transpose()).collect()
}

/// Why a blob was taken out, if it was.
pub(crate) fn why(from: &Connection, digest: &Digest) -> rusqlite::Result<Option<Gone>> {
    match from.prepare_cached("SELECT why FROM gone WHERE digest = ?1") {
        Ok(mut select) => select.query_row([digest.0.as_slice()], |row| Ok(Gone::of(row.get(0)?))).optional(),
        // Whoever only looks may look at a store that nobody has updated yet.
        Err(_) if !from.table_exists(None, "gone")? => Ok(None),
        Err(error) => Err(error),
    }
}
