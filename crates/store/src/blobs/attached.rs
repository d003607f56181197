//! Attached blobs: small content that needs no sync of its own.
//!
//! **Attached** content waits in memory, where every reader of this process finds it, until the next append writes it into
//! the table `blobs`, in its own transaction and before its events. Invariants: content that is attached before an event
//! is asked for is durable no later than that event; what a transaction that was rolled back carried still waits; what
//! nobody appended anything after is gone with the process, when nothing durable can name it.

use crate::connection::{int, nat};
use domain::digest::Digest;
use rusqlite::{Connection, OptionalExtension as _, params};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The largest content that is attached. Up to here writing it twice, to the write-ahead log and from there into the
/// database, costs less than the two syncs of a file and its folder, also on a disk that syncs in a fifth of a
/// millisecond; twice as much costs the same either way.
pub const ATTACHED_BYTES: usize = 128 * 1024;

/// The most that waits, in bytes: a quarter of the disk reserve, so that what waits still fits, in the log and in the
/// database, with the last small event that says that the disk is full.
pub(crate) const WAITING_BYTES: usize = crate::folder::RESERVE_BYTES / 4;

/// Content that waits for the next append.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    inside: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    bytes: usize,
    contents: BTreeMap<Digest, Arc<[u8]>>,
}

/// What one transaction carries, by name.
pub(crate) type Carried = Vec<(Digest, Arc<[u8]>)>;

impl Attached {
    /// Lets it wait; `false` when it is too large, or too much waits already.
    pub(crate) fn add(&self, digest: Digest, bytes: &[u8]) -> bool {
        let mut waiting = self.locked();
        if waiting.contents.contains_key(&digest) {
            return true;
        }
        let sum = waiting.bytes.saturating_add(bytes.len());
        if bytes.len() > ATTACHED_BYTES || sum > WAITING_BYTES {
            return false;
        }
        waiting.bytes = sum;
        waiting.contents.insert(digest, bytes.into());
        true
    }

    /// The bytes, while they wait.
    pub(crate) fn get(&self, digest: &Digest) -> Option<Arc<[u8]>> {
        self.locked().contents.get(digest).cloned()
    }

    /// All that waits now; it goes on waiting until [`Attached::committed`].
    pub(crate) fn waiting(&self) -> Carried {
        self.locked().contents.iter().map(|(digest, bytes)| (*digest, Arc::clone(bytes))).collect()
    }

    /// A commit has written these.
    pub(crate) fn committed(&self, carried: &Carried) {
        let mut waiting = self.locked();
        for (digest, _) in carried {
            if let Some(bytes) = waiting.contents.remove(digest) {
                waiting.bytes -= bytes.len();
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, Waiting> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes what is carried, inside the caller's transaction. A row that is there is compared, not trusted: a damaged one is
/// replaced by the same content.
pub(crate) fn write(to: &Connection, carried: &Carried, time: u64) -> rusqlite::Result<()> {
    for (digest, bytes) in carried {
        to.prepare_cached(
            "INSERT INTO blobs (digest, time, bytes) VALUES (?1, ?2, ?3) \
             ON CONFLICT (digest) DO UPDATE SET bytes = excluded.bytes WHERE bytes <> excluded.bytes",
        )?
        .execute(params![digest.0.as_slice(), int(time), bytes.as_ref()])?;
    }
    Ok(())
}

/// The bytes as stored, not yet compared with their name.
pub(crate) fn read(from: &Connection, digest: &Digest) -> rusqlite::Result<Option<Vec<u8>>> {
    one(from, "SELECT bytes FROM blobs WHERE digest = ?1", digest)
}

/// The size of a row's content.
pub(crate) fn size(from: &Connection, digest: &Digest) -> rusqlite::Result<Option<u64>> {
    one(from, "SELECT length(bytes) FROM blobs WHERE digest = ?1", digest)
        .map(|size: Option<i64>| size.map(nat))
}

/// Is there a row of this name?
pub(crate) fn holds(from: &Connection, digest: &Digest) -> rusqlite::Result<bool> {
    one(from, "SELECT 1 FROM blobs WHERE digest = ?1", digest).map(|found: Option<i64>| found.is_some())
}

fn one<T: rusqlite::types::FromSql>(
    from: &Connection,
    sql: &str,
    digest: &Digest,
) -> rusqlite::Result<Option<T>> {
    match from.prepare_cached(sql) {
        Ok(mut select) => select.query_row([digest.0.as_slice()], |row| row.get(0)).optional(),
        // Whoever only looks may look at a store that nobody has updated yet.
        Err(_) if !from.table_exists(None, "blobs")? => Ok(None),
        Err(error) => Err(error),
    }
}

/// The names of what was written before this time, UTC ms.
pub(crate) fn before(from: &Connection, time: u64) -> rusqlite::Result<Vec<Digest>> {
    let mut select = from.prepare_cached("SELECT digest FROM blobs WHERE time < ?1")?;
    let rows = select.query_map([int(time)], |row| row.get::<_, Vec<u8>>(0))?;
    // A name that isn't one can be no name of anything.
    rows.filter_map(|bytes| bytes.map(|bytes| crate::rows::digest(&bytes)).transpose()).collect()
}

/// Adds the names of rows whose content `holds`.
pub(crate) fn that(
    from: &Connection,
    holds: &dyn Fn(&[u8]) -> bool,
    found: &mut Vec<Digest>,
) -> rusqlite::Result<()> {
    let mut select = from.prepare_cached("SELECT digest, bytes FROM blobs")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        if holds(row.get_ref(1)?.as_blob()?) {
            found.extend(crate::rows::digest(row.get_ref(0)?.as_blob()?));
        }
    }
    Ok(())
}

/// Removes one and gives its size.
pub(crate) fn remove(from: &Connection, digest: &Digest) -> rusqlite::Result<Option<u64>> {
    from.prepare_cached("DELETE FROM blobs WHERE digest = ?1 RETURNING length(bytes)")?
        .query_row([digest.0.as_slice()], |row| row.get(0))
        .optional()
        .map(|bytes| bytes.map(nat))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(attached: &Attached, bytes: &[u8]) -> bool {
        attached.add(Digest::of(bytes), bytes)
    }

    #[test]
    fn what_waits_is_bounded_one_by_one_and_in_all() {
        let attached = Attached::default();
        assert!(!add(&attached, &[0; ATTACHED_BYTES + 1]));
        let most = WAITING_BYTES / ATTACHED_BYTES;
        for n in 0..most {
            let bytes = vec![u8::try_from(n).expect("few"); ATTACHED_BYTES];
            assert!(add(&attached, &bytes) && add(&attached, &bytes), "the same again takes no room");
        }
        assert!(!add(&attached, b"x"));
        let carried = attached.waiting();
        assert_eq!(carried.len(), most);
        attached.committed(&carried);
        attached.committed(&carried);
        assert!(attached.waiting().is_empty() && add(&attached, b"x"));
    }

    #[test]
    fn what_came_after_a_transaction_began_waits_for_the_next() {
        let attached = Attached::default();
        assert!(add(&attached, b"one"));
        let carried = attached.waiting();
        assert!(add(&attached, b"two"));
        attached.committed(&carried);
        assert!(attached.get(&Digest::of(b"one")).is_none());
        assert_eq!(attached.get(&Digest::of(b"two")).as_deref(), Some(&b"two"[..]));
    }
}
