//! Changing what belongs to this machine and to no session: the folders a person opened, and settings.
//!
//! These are not events: losing them costs convenience, never a fact of a session. Invariant: they go through the
//! writer like everything else, so a store that was taken over isn't changed from the old process.

use crate::error::AppendError;
use crate::writer::Writer;
use domain::ids::FolderId;
use rusqlite::params;

/// A change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// A folder was opened: remembered under this id, or under the one its path has already.
    UseFolder {
        /// The id it gets when its path is new.
        folder: FolderId,
        /// Its path.
        path: String,
    },
    /// A folder is to be forgotten by the list; sessions in it stay.
    ForgetFolder {
        /// The folder.
        folder: FolderId,
    },
    /// A setting gets a value.
    Set {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// A setting goes back to what it is without one.
    Unset {
        /// Its name.
        name: String,
    },
}

impl Edit {
    pub(crate) fn apply(self, writer: &Writer) -> Result<(), AppendError> {
        writer.change("saving a setting", |connection, now_ms| match self {
            Self::UseFolder { folder, path } => connection.execute(
                "INSERT INTO folders (folder, path, last_used) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (path) DO UPDATE SET last_used = ?3",
                params![folder.as_str(), path, now_ms],
            ),
            Self::ForgetFolder { folder } => {
                connection.execute("DELETE FROM folders WHERE folder = ?1", [folder.as_str()])
            }
            Self::Set { name, value } => connection.execute(
                "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2",
                [name, value],
            ),
            Self::Unset { name } => connection.execute("DELETE FROM settings WHERE name = ?1", [name]),
        })?;
        Ok(())
    }
}
