//! A fresh handle after a write that failed.
//!
//! When a sync is refused the system may take what it couldn't write for written: a later sync reports success and covers
//! none of it. So the log is written once more, byte for byte, and synced before anything is added to it. Invariant:
//! nothing is acknowledged on top of bytes whose sync was refused.

use crate::folder::DataFolder;
use rusqlite::Connection;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};

/// Makes durable what the log holds, over a fresh handle; the words of a failure are for the person.
pub(crate) fn make_sure(fresh: &Connection, folder: &DataFolder) -> Result<(), String> {
    // Nobody else may be adding to the log meanwhile.
    fresh.execute_batch("BEGIN IMMEDIATE").map_err(|error| error.to_string())?;
    let written = write_again(folder).map_err(|error| error.to_string());
    fresh.execute_batch("ROLLBACK").map_err(|error| error.to_string())?;
    written
}

fn write_again(folder: &DataFolder) -> io::Result<()> {
    let mut file = match File::options().read(true).write(true).open(folder.wal()) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut piece = vec![0; 1 << 20];
    loop {
        let at = file.stream_position()?;
        let read = file.read(&mut piece)?;
        if read == 0 {
            return file.sync_all();
        }
        file.seek(io::SeekFrom::Start(at))?;
        file.write_all(&piece[..read])?;
    }
}
