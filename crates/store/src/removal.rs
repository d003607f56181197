//! Taking out of the store what must not, or need not, be in it any more: on record first, then gone.
//!
//! A **removal** is one transaction over all its sessions: the events that record it, the payloads that are replaced by what is
//! left of them, the names of the blobs that go. Only then are files removed and, for erased words, old bytes scrubbed: the write-ahead log, free
//! pages, copies kept from before updates. Invariants: a removal that was cut off is finished when the store is opened; a blob
//! that was taken out is told apart from one that was lost; only a payload, never an event, goes.

use crate::append::{Append, Durability, ready};
use crate::blobs::attached;
use crate::blobs::gone::{self, Gone};
use crate::connection::{self, Role, int};
use crate::error::AppendError;
use crate::folder::sync_folder;
use crate::ports::Point;
use crate::rows;
use crate::work::{Scope, Work};
use crate::writer::{BEGINNING, Writer};
use domain::digest::Digest;
use domain::event::Recorded;
use domain::ids::SessionId;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// What is to be taken out, and the events that say so.
#[derive(Debug, Clone)]
pub struct Removal {
    /// The sessions whose records say so, and what goes of them: all of it in one transaction.
    pub sessions: Vec<OfSession>,
    /// Blobs that go.
    pub blobs: Vec<Digest>,
    /// Why.
    pub why: Gone,
}

/// What goes of one session.
#[derive(Debug, Clone)]
pub struct OfSession {
    /// The events that record it.
    pub append: Append,
    /// Events of that session whose payload goes, with what is left of it.
    pub payloads: Vec<(u64, Option<Arc<str>>)>,
}

/// Payloads of one session that go, with what is left of each.
type Payloads = (SessionId, Vec<(u64, Option<Arc<str>>)>);

/// A removal that is on record.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    /// The events that record it.
    pub events: Vec<Recorded>,
    /// Copies kept from before updates that went as well.
    pub copies: u64,
    /// Why old bytes may still be there, where they may; the next start tries again.
    pub unfinished: Option<String>,
}

impl Writer {
    /// Records a removal and carries it out.
    pub(crate) fn remove(&mut self, removal: Removal) -> Result<Removed, AppendError> {
        let Removal { sessions, blobs, why } = removal;
        let mut work = Work::default();
        let (appends, payloads): (Vec<Append>, Vec<Payloads>) = sessions
            .into_iter()
            .map(|OfSession { append, payloads }| {
                let session = append.session.clone();
                (append, (session, payloads))
            })
            .unzip();
        let batch = ready(appends)?;
        self.begin(Durability::Barrier)?;
        let carried = self.blobs().attached().waiting();
        payloads.iter().for_each(|(session, _)| drop(self.kept().take(session)));
        let removed = self.inside(&mut work, |scope, work| {
            attached::write(scope.connection, &carried, scope.time)
                .map_err(AppendError::sql("keeping attached content"))?;
            let referred = self.blobs().referred();
            let needed = |digest: &Digest| why == Gone::Thinned && referred.contains(digest);
            take_out(scope, &payloads, &blobs, why, &needed)
                .map_err(AppendError::sql("taking something out"))?;
            batch.into_iter().try_for_each(|append| work.take_in(scope, append))
        });
        if let Err(error) = removed {
            self.undo(work, &error);
            return Err(error);
        }
        self.blobs().attached().committed(&carried);
        self.reach(Point::AfterCommit)?;
        let events = self.announce(work);
        let (copies, unfinished) = match self.finish_removals() {
            Ok(copies) => (copies, None),
            Err(error) => {
                self.lose();
                tracing::warn!(%error, "what was taken out isn't gone from the disk yet");
                (0, Some(error.to_string()))
            }
        };
        Ok(Removed { events, copies, unfinished })
    }

    /// Carries out what is on record as removed and may still be there; gives how many old copies of the store went.
    pub(crate) fn finish_removals(&self) -> Result<u64, AppendError> {
        let doing = "finishing a removal";
        let sql = AppendError::sql(doing);
        let pending = gone::pending(self.connection()).map_err(sql)?;
        let erasing = erasing(self.connection()).map_err(AppendError::sql(doing))?;
        if pending.is_empty() && erasing.is_empty() {
            return Ok(0);
        }
        let trouble = |why: String| AppendError::Sql { doing, why };
        let mut left = Vec::new();
        for (digest, why) in pending {
            match self.blobs().take_out(&digest, why).map_err(|error| trouble(error.to_string()))? {
                true => left.push(digest),
                // It is referred to again, so it isn't gone after all.
                false => drop(self.change(doing, |connection, _| gone::forget(connection, &digest))?),
            }
        }
        // Settled before anything that may fail: were they kept again meanwhile, they would go a second time.
        self.change(doing, |connection, _| {
            left.iter().try_for_each(|digest| gone::settled(connection, digest))
        })?;
        let mut copies = 0;
        if !erasing.is_empty() {
            copies = remove_copies(&self.folder().backups(), &erasing)
                .map_err(|error| trouble(error.to_string()))?;
            self.scrub()?;
        }
        self.change(doing, |connection, _| connection.execute("DELETE FROM erasing", []))?;
        match erasing.is_empty() {
            true => Ok(0),
            false => self.empty_log().map(|()| copies),
        }
    }

    /// Writes the database anew, so that no free page or gap holds what was in it, and empties its log.
    fn scrub(&self) -> Result<(), AppendError> {
        const FILE: i64 = 1;
        const MEMORY: i64 = 2;
        let unfit = |unfit: connection::Unfit| AppendError::Sql {
            doing: "scrubbing the database",
            why: unfit.to_string(),
        };
        self.empty_log()?;
        // A store may be larger than the memory.
        connection::set(self.connection(), "temp_store", &Value::Integer(FILE)).map_err(unfit)?;
        let written = self.execute("VACUUM", "scrubbing the database");
        connection::set(self.connection(), "temp_store", &Value::Integer(MEMORY)).map_err(unfit)?;
        written?;
        self.empty_log()
    }

    /// Carries the write-ahead log over and cuts it to nothing.
    fn empty_log(&self) -> Result<(), AppendError> {
        let doing = "emptying the write-ahead log";
        let busy: i64 = self
            .connection()
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(AppendError::sql(doing))?;
        match busy {
            0 => Ok(()),
            _ => Err(AppendError::Sql { doing, why: "something reads the store".to_owned() }),
        }
    }

    /// Does this in one transaction and commits it.
    fn inside(
        &self,
        work: &mut Work,
        act: impl FnOnce(Scope<'_>, &mut Work) -> Result<(), AppendError>,
    ) -> Result<(), AppendError> {
        self.execute("BEGIN IMMEDIATE", BEGINNING)?;
        self.check_epoch()?;
        act(self.scope(), work)?;
        work.post(self.connection())?;
        self.commit()
    }
}

fn take_out(
    scope: Scope<'_>,
    payloads: &[Payloads],
    blobs: &[Digest],
    why: Gone,
    needed: &dyn Fn(&Digest) -> bool,
) -> rusqlite::Result<()> {
    let to = scope.connection;
    for (session, payloads) in payloads {
        for (seq, left) in payloads {
            rows::erase(to, session, *seq, left.as_deref())?;
        }
        if !payloads.is_empty() {
            // A snapshot holds what was said; the state is folded anew from what is left.
            to.execute("DELETE FROM snapshots WHERE session = ?1", [session.as_str()])?;
        }
        if why == Gone::Erased {
            to.execute("INSERT OR IGNORE INTO erasing (session) VALUES (?1)", [session.as_str()])?;
        }
    }
    for digest in blobs.iter().filter(|digest| !needed(digest)) {
        gone::note(to, digest, why, int(scope.time))?;
        attached::remove(to, digest)?;
    }
    Ok(())
}

fn erasing(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut select = connection.prepare_cached("SELECT session FROM erasing")?;
    select.query_map([], |row| row.get(0))?.collect()
}

/// Copies from before updates can't be erased in part: one that has such a session, or can't be looked at, goes whole.
fn remove_copies(folder: &Path, sessions: &[String]) -> std::io::Result<u64> {
    let mut removed = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if !has_none(&path, sessions).unwrap_or(false) {
            fs::remove_file(&path)?;
            removed += 1;
        }
    }
    if removed > 0 {
        sync_folder(folder)?;
    }
    Ok(removed)
}

fn has_none(copy: &Path, sessions: &[String]) -> Option<bool> {
    let connection = connection::open(copy, Role::Read).ok()?;
    let mut select = connection.prepare("SELECT 1 FROM events WHERE session = ?1 LIMIT 1").ok()?;
    for session in sessions {
        if select.exists([session]).ok()? {
            return Some(false);
        }
    }
    Some(true)
}
