//! The database's layout: how it is made, and how an older one becomes today's.
//!
//! `user_version` counts the migrations that were applied; they are an ordered list that only grows. Invariants: a copy
//! is kept in `backups/` before anything older is touched; a newer layout is refused without changing a byte; an empty
//! file in the database's place is damage, because a new store is made under another name and moved into place whole.

use crate::connection::{self, Role, Unfit};
use crate::error::OpenError;
use crate::folder::{DataFolder, io_at, sync_folder};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::fs::{self, File};
use std::path::Path;

/// One step from a layout to the next.
pub(crate) type Migration = &'static str;

/// The layouts, oldest first. Never edit one that was released; add the next.
pub(crate) const MIGRATIONS: &[Migration] =
    &[include_str!("schema/0001.sql"), include_str!("schema/0002.sql"), include_str!("schema/0003.sql")];

/// Brings the store to today's layout, making it where there is none.
pub(crate) fn prepare(folder: &DataFolder, migrations: &[Migration]) -> Result<(), OpenError> {
    let path = folder.database();
    match fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return create(folder, migrations),
        Err(error) => return Err(io_at(&path)(error)),
        Ok(_) => {}
    }
    let found = check_layout(folder, migrations.len())?;
    if found < migrations.len() {
        back_up(folder, found)?;
        migrate(folder, migrations, found)?;
    }
    Ok(())
}

/// The layout found, when this build knows it; reads only.
pub(crate) fn check_layout(folder: &DataFolder, known: usize) -> Result<usize, OpenError> {
    let path = folder.database();
    if fs::metadata(&path).is_ok_and(|found| found.len() == 0) {
        return Err(damaged(folder, "the database file is empty"));
    }
    let version = Connection::open_with_flags(
        &path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .and_then(|connection| connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)))
    .map_err(|error| open_failed(folder, "reading its layout", Unfit::Sql(error)))?;
    match usize::try_from(version) {
        Ok(0) | Err(_) => Err(damaged(folder, &format!("it says layout {version}, which no store has"))),
        Ok(found) if found > known => Err(OpenError::Newer {
            path: folder.path().to_owned(),
            found: u32::try_from(found).unwrap_or(u32::MAX),
            known: u32::try_from(known).unwrap_or(u32::MAX),
        }),
        Ok(found) => Ok(found),
    }
}

/// Makes a new store under another name and moves it into place.
fn create(folder: &DataFolder, migrations: &[Migration]) -> Result<(), OpenError> {
    let blobs = folder.blobs();
    if fs::read_dir(&blobs).map_err(io_at(&blobs))?.next().is_some() {
        return Err(damaged(folder, "the database file is gone while its blobs are there"));
    }
    let unborn = folder.path().join("store.db.new");
    for beside in ["", "-journal", "-wal", "-shm"] {
        let old = folder.path().join(format!("store.db.new{beside}"));
        match fs::remove_file(&old) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io_at(&old)(error)),
            _ => {}
        }
    }
    make(&unborn, migrations).map_err(|unfit| open_failed(folder, "making a new store", unfit))?;
    let path = folder.database();
    File::open(&unborn).and_then(|file| file.sync_all()).map_err(io_at(&unborn))?;
    fs::rename(&unborn, &path).map_err(io_at(&path))?;
    sync_folder(folder.path()).map_err(io_at(folder.path()))
}

/// A whole store in one file. The switch to a write-ahead log comes last and before the file has its name: it goes through a
/// journal, and a store that is cut off in it can't be looked at; and nothing may be left in a log that doesn't move along.
fn make(unborn: &Path, migrations: &[Migration]) -> Result<(), Unfit> {
    let mut connection = Connection::open(unborn)?;
    apply(&mut connection, migrations, 0)?;
    connection::set(&connection, "journal_mode", &Value::Text("wal".to_owned()))?;
    connection.close().map_err(|(_, error)| Unfit::Sql(error))
}

/// Keeps a copy of the store as it is.
fn back_up(folder: &DataFolder, layout: usize) -> Result<(), OpenError> {
    let failed = |error| open_failed(folder, "keeping a copy before the update", Unfit::Sql(error));
    let copy = folder.backups().join(format!("store-layout-{layout}.db"));
    let partial = folder.backups().join(format!("store-layout-{layout}.db.part"));
    let source = connection::open(&folder.database(), Role::Write)
        .map_err(|unfit| open_failed(folder, "keeping a copy before the update", unfit))?;
    // A copy from an update that was cut off may be half done; this one replaces it.
    let _ = fs::remove_file(&partial);
    let mut target = Connection::open(&partial).map_err(failed)?;
    rusqlite::backup::Backup::new(&source, &mut target).and_then(|backup| backup.step(-1)).map_err(failed)?;
    target.close().map_err(|(_, error)| failed(error))?;
    File::open(&partial).and_then(|file| file.sync_all()).map_err(io_at(&partial))?;
    fs::rename(&partial, &copy).map_err(io_at(&copy))?;
    sync_folder(&folder.backups()).map_err(io_at(&copy))
}

fn migrate(folder: &DataFolder, migrations: &[Migration], from: usize) -> Result<(), OpenError> {
    let mut connection = connection::open(&folder.database(), Role::Write)
        .map_err(|unfit| open_failed(folder, "updating its layout", unfit))?;
    apply(&mut connection, migrations, from)
        .map_err(|error| open_failed(folder, "updating its layout", Unfit::Sql(error)))
}

/// All missing steps in one transaction: all or none.
fn apply(connection: &mut Connection, migrations: &[Migration], from: usize) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", connection::SYNC_FULL)?;
    let step = Transaction::new(connection, TransactionBehavior::Immediate)?;
    for migration in &migrations[from..] {
        step.execute_batch(migration)?;
    }
    step.pragma_update(None, "user_version", i64::try_from(migrations.len()).unwrap_or(i64::MAX))?;
    step.commit()
}

pub(crate) fn damaged(folder: &DataFolder, why: &str) -> OpenError {
    OpenError::Damaged { path: folder.path().to_owned(), why: why.to_owned() }
}

/// What a refusal of the database means for opening.
pub(crate) fn open_failed(folder: &DataFolder, doing: &'static str, unfit: Unfit) -> OpenError {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    match &unfit {
        Unfit::Sql(error) if matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase)) => {
            damaged(folder, &format!("{doing}: {unfit}"))
        }
        Unfit::Sql(_) | Unfit::OldSqlite { .. } | Unfit::Drifted { .. } => {
            OpenError::Sql { path: folder.path().to_owned(), doing, why: unfit.to_string() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT: &str = "ALTER TABLE settings ADD COLUMN note TEXT";

    /// Today's layouts and these after them.
    fn and_then(more: &[Migration]) -> Vec<Migration> {
        [MIGRATIONS, more].concat()
    }

    fn settled() -> (tempfile::TempDir, DataFolder) {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = DataFolder::to_write(dir.path()).expect("fits");
        prepare(&folder, MIGRATIONS).expect("makes");
        let connection = connection::open(&folder.database(), Role::Write).expect("opens");
        connection.execute_batch("INSERT INTO settings VALUES ('language', 'zh')").expect("inserts");
        // Left open on purpose by the caller of a crash: what is only in the write-ahead log must be in the copy too.
        std::mem::forget(connection);
        (dir, folder)
    }

    fn read(path: &std::path::Path, sql: &str) -> rusqlite::Result<String> {
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?
            .query_row(sql, [], |row| row.get(0))
    }

    /// The switch to a write-ahead log leaves a journal behind when the power goes, and then nobody could look at the store.
    #[test]
    fn r4_a_new_store_has_its_log_before_it_has_its_name() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = DataFolder::to_write(dir.path()).expect("fits");
        prepare(&folder, MIGRATIONS).expect("makes");
        let header = fs::read(folder.database()).expect("reads");
        assert_eq!(header[18..20], [2, 2], "the file itself says how it is written");
        let made = fs::read_dir(dir.path()).expect("reads").map(|entry| entry.expect("an entry").file_name());
        assert!(
            made.into_iter().all(|name| !name.to_string_lossy().contains("new")),
            "nothing is left beside it"
        );
    }

    #[test]
    fn a_copy_is_kept_before_an_update() {
        let (_dir, folder) = settled();
        let today = MIGRATIONS.len();
        let migrations = and_then(&[NEXT]);
        prepare(&folder, &migrations).expect("updates");
        assert_eq!(check_layout(&folder, today + 1).expect("fits"), today + 1);
        assert!(read(&folder.database(), "SELECT value FROM settings WHERE note IS NULL").is_ok());
        let copy = folder.backups().join(format!("store-layout-{today}.db"));
        assert_eq!(read(&copy, "SELECT value FROM settings").as_deref(), Ok("zh"));
        assert!(read(&copy, "SELECT note FROM settings").is_err(), "the copy has the old layout");
        // Nothing more to do: no second copy, no change.
        fs::remove_file(&copy).expect("deletes");
        prepare(&folder, &migrations).expect("is as it should be");
        assert!(!copy.exists());
        // This build, on what the next one made, steps back.
        match prepare(&folder, MIGRATIONS) {
            Err(OpenError::Newer { found, known, .. }) => assert_eq!((found, known), (4, 3)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_update_that_fails_half_way_changes_nothing() {
        let (_dir, folder) = settled();
        let failed = prepare(&folder, &and_then(&[NEXT, "CREATE TABLE settings (x)"]));
        assert!(matches!(failed, Err(OpenError::Sql { doing: "updating its layout", .. })), "{failed:?}");
        let today = MIGRATIONS.len();
        assert_eq!(check_layout(&folder, today + 2).expect("fits"), today);
        assert!(read(&folder.database(), "SELECT note FROM settings").is_err());
        prepare(&folder, &and_then(&[NEXT])).expect("updates");
    }
}
