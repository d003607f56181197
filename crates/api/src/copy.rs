//! Copies for the person: which bytes, under which name, and that they are still there.
//!
//! Where a copy goes comes from the system's dialog, and the desk writes it. Invariants: a copy is the recorded bytes and
//! nothing else; what was erased or let go says so before anybody is asked where to.

use crate::failure::{error, of_blob, of_ledger, of_read};
use crate::room::{Done, Inside, Room, id, unknown_session};
use crate::wire::ApiError;
use crate::wire::copy::{Copied, CopyOf, Imported};
use domain::digest::Digest;
use domain::event::{RestoreOf, RestoreScope};
use domain::ids::SessionId;
use engine::ledger::Ledger;
use engine::show::{self, BlobError, Whole};
use std::path::Path;

/// Longest name that is proposed.
const NAME: usize = 80;
/// What an archive's name ends with.
const ARCHIVE: &str = ".daybook";

impl Room {
    /// The name to propose for a copy, where there is something to copy.
    ///
    /// # Errors
    /// When there is no such thing, or it was erased or let go.
    pub async fn copy_name(&self, session: &str, of: &CopyOf) -> Result<String, ApiError> {
        let (session, of) = (self.known(session)?, of.clone());
        self.off_thread(move |inside| inside.copy_name(&session, &of)).await
    }

    /// Saves a copy where the person said, over what they agreed to replace.
    ///
    /// # Errors
    /// When there is nothing to copy, or it can't be written; what stood there stands there still.
    pub async fn save_copy(&self, session: &str, of: &CopyOf, to: &Path) -> Result<Copied, ApiError> {
        let session = self.known(session)?;
        if *of == CopyOf::Session {
            return self.inside.desk.export(session, to.to_owned()).await;
        }
        let of = of.clone();
        let bytes = self.off_thread(move |inside| inside.copied(&session, &of)).await?;
        let count = bytes.len() as u64;
        self.inside.desk.save(to.to_owned(), bytes).await?;
        let name = to.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Copied { name: name.unwrap_or_default(), bytes: count, events: 0 })
    }

    /// Takes in a session from where the person said, to be looked at.
    ///
    /// # Errors
    /// When it isn't whole, isn't at rest, or is here already; nothing was taken then.
    pub async fn import_session(&self, from: &Path) -> Result<Imported, ApiError> {
        self.inside.desk.import(from.to_owned()).await
    }

    /// A dialog is the window's own; no other door has one.
    pub(crate) fn no_dialog() -> Done {
        let message = "there is no window to choose in";
        Err(error("dialog/none", message, "Use `daybook export` or `daybook import`."))
    }
}

impl Inside {
    fn copy_name(&self, session: &SessionId, of: &CopyOf) -> Result<String, ApiError> {
        match of {
            CopyOf::Session => {
                let row = self.reader.session(session).map_err(|read| of_read(&read))?;
                let row = row.ok_or_else(|| unknown_session(session))?;
                Ok(format!("{}{ARCHIVE}", file_name(&row.title, "session")))
            }
            CopyOf::Output { .. } | CopyOf::Job { .. } => {
                if let Whole::Kept { digest, .. } = self.output(session, of)? {
                    self.reader.check_blob(&digest).map_err(|blob| of_content(&blob))?;
                }
                Ok("output.txt".to_owned())
            }
            CopyOf::Version { path, .. } => {
                let digest = self.version(session, of)?;
                self.reader.check_blob(&digest).map_err(|blob| of_content(&blob))?;
                Ok(file_name(path.rsplit('/').next().unwrap_or(path), "file"))
            }
        }
    }

    fn copied(&self, session: &SessionId, of: &CopyOf) -> Result<Vec<u8>, ApiError> {
        let content = |digest| self.reader.blob(&digest).map_err(|blob| of_content(&blob));
        match of {
            CopyOf::Version { .. } => content(self.version(session, of)?),
            _ => match self.output(session, of)? {
                Whole::Text(text) => Ok(text.into_bytes()),
                Whole::Kept { digest, head } => Ok(Whole::without_head(&head, content(digest)?)),
            },
        }
    }

    fn output(&self, session: &SessionId, of: &CopyOf) -> Result<Whole, ApiError> {
        let found = match of {
            CopyOf::Output { call } => show::output_of_call(&self.reader, session, &id(call)?),
            CopyOf::Job { job } => show::output_of_job(&self.reader, session, &id(job)?),
            CopyOf::Version { .. } | CopyOf::Session => Ok(None),
        };
        found.map_err(|read| of_read(&read))?.ok_or_else(nothing)
    }

    fn version(&self, session: &SessionId, of: &CopyOf) -> Result<Digest, ApiError> {
        let CopyOf::Version { path, turn, before } = of else { return Err(nothing()) };
        let of = RestoreOf::Turn { turn: id(turn)? };
        let ledger = Ledger::read(&self.reader, session).map_err(|error| of_ledger(&error))?;
        let net = ledger.net(&RestoreScope { of, paths: vec![path.clone()] });
        let effect = net.first().ok_or_else(nothing)?;
        let content = if *before { effect.content_before() } else { effect.content_after() };
        content.ok_or_else(nothing)
    }
}

fn nothing() -> ApiError {
    error("copy/nothing", "there is nothing here that could be saved", "")
}

fn of_content(blob: &BlobError) -> ApiError {
    match blob {
        BlobError::Gone { why, .. } if show::is_erasure(*why) => error("copy/erased", blob.to_string(), ""),
        BlobError::Gone { .. } => error("copy/thinned", blob.to_string(), ""),
        other => of_blob(other),
    }
}

/// Words as a file's name on any system; others in their place where nothing is left of them.
fn file_name(words: &str, otherwise: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let fit = |c: char| if "/\\:*?\"<>|".contains(c) { '-' } else { c };
    let name: String = words.chars().filter(|c| !hidden(*c)).map(fit).take(NAME).collect();
    // A name that begins with a dot is hidden, and Windows drops dots and spaces at the end.
    let name = name.trim().trim_end_matches(['.', ' ']);
    if name.trim_matches(['.', '-', ' ']).is_empty() { otherwise.to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposed_name_is_one_file_on_any_system() {
        let table = [
            ("Menu in German", "Menu in German"),
            ("把菜单译成德文", "把菜单译成德文"),
            ("../../etc/passwd", "..-..-etc-passwd"),
            ("a\u{202e}gpj.exe", "agpj.exe"),
            ("What?\n", "What-"),
            (" . ", "session"),
            ("", "session"),
        ];
        for (words, name) in table {
            assert_eq!(file_name(words, "session"), name, "{words:?}");
        }
        assert_eq!(file_name(&"长".repeat(300), "session").chars().count(), NAME);
    }
}
