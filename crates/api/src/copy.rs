//! Copies for the person: which bytes, under which name, and that they are still there.
//!
//! Where a copy goes comes from the system's dialog, and the desk writes it. Invariants: a copy is the recorded bytes and
//! nothing else; what was erased or let go says so before anybody is asked where to.

use crate::failure::{error, of_blob, of_ledger, of_read};
use crate::room::{Done, Inside, Room, id, unknown_session};
use crate::wire::ApiError;
use crate::wire::copy::{Copied, CopyOf, Imported};
use domain::digest::Digest;
use domain::erasure::MARK;
use domain::event::{RestoreOf, RestoreScope};
use domain::ids::SessionId;
use engine::ledger::Ledger;
use engine::show::{self, BlobError, Whole};
use std::path::Path;

/// Most bytes of a proposed name before its ending, and of what counts as one: a file's name may have 255.
const STEM: usize = 180;
const ENDING: usize = 20;
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
                if !self.reader.state(session).map_err(|read| of_read(&read))?.rests() {
                    return Err(at_work());
                }
                Ok(format!("{}{ARCHIVE}", file_name(&row.title, "session")))
            }
            CopyOf::Output { .. } | CopyOf::Job { .. } => {
                if let Whole::Kept(digest) = self.output(session, of)? {
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
                Whole::Kept(digest) => content(digest),
            },
        }
    }

    fn output(&self, session: &SessionId, of: &CopyOf) -> Result<Whole, ApiError> {
        let found = match of {
            CopyOf::Output { call } => show::output_of_call(&self.reader, session, &id(call)?),
            CopyOf::Job { job } => show::output_of_job(&self.reader, session, &id(job)?),
            CopyOf::Version { .. } | CopyOf::Session => Ok(None),
        };
        something(found.map_err(|read| of_read(&read))?)
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

fn at_work() -> ApiError {
    let hint = "Answer what it asks or stop it, or wait until it is done; then export it.";
    error("archive/at_work", "the session has work open", hint)
}

/// An output, where anything is left of it.
fn something(found: Option<Whole>) -> Result<Whole, ApiError> {
    let whole = found.ok_or_else(nothing)?;
    match &whole {
        Whole::Text(text) if text.replace(MARK, "").trim().is_empty() => {
            Err(error("copy/erased", "all of it was erased by the person", ""))
        }
        Whole::Text(_) | Whole::Kept(_) => Ok(whole),
    }
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
    let fit = |c: char| if "/\\:*?\"<>|".contains(c) { '-' } else { c };
    let hidden = |c: char| c.is_control() || show::is_invisible(c);
    let name: String = words.chars().filter(|c| !hidden(*c)).map(fit).collect();
    // A name that begins with a dot is hidden, and Windows drops dots and spaces at the end.
    let name = name.trim().trim_end_matches(['.', ' ']);
    if name.trim_matches(['.', '-', ' ']).is_empty() {
        return otherwise.to_owned();
    }
    let dot = name.rfind('.').filter(|dot| *dot > 0 && name.len() - dot <= ENDING);
    let (stem, ending) = name.split_at(dot.unwrap_or(name.len()));
    let stem = match stem.len() > STEM {
        true => stem[..stem.floor_char_boundary(STEM)].trim_end_matches(['.', ' ']),
        false => stem,
    };
    let held = if is_held(name) { "_" } else { "" };
    format!("{held}{stem}{ending}")
}

/// Does Windows hold this name for a device, whatever it ends with?
fn is_held(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    let numbered = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || numbered.is_some_and(|number| {
            number.chars().count() == 1 && number.chars().all(|c| "0123456789¹²³".contains(c))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposed_name_is_one_file_on_any_system() {
        let long = |of: &str, times: usize| of.repeat(times);
        let table = [
            ("Menu in German", "Menu in German"),
            ("把菜单译成德文", "把菜单译成德文"),
            ("../../etc/passwd", "..-..-etc-passwd"),
            ("a\u{202e}gpj.exe", "agpj.exe"),
            ("menu\u{ad}\u{e0041}\u{3164}.txt", "menu.txt"),
            ("What?\n", "What-"),
            (" . ", "session"),
            ("", "session"),
            (".env", ".env"),
            ("con", "_con"),
            ("Nul.tar.gz", "_Nul.tar.gz"),
            ("LPT² .txt", "_LPT² .txt"),
            ("com10", "com10"),
            ("console.log", "console.log"),
            (&long("长", 300), &long("长", STEM / 3)),
            (&format!("{}.tar.gz", long("长", 300)), &format!("{}.gz", long("长", STEM / 3))),
            (&format!("{} b.txt", long("a", STEM - 1)), &format!("{}.txt", long("a", STEM - 1))),
            (&format!("a.{}", long("b", 300)), &format!("a.{}", long("b", STEM - 2))),
        ];
        for (words, name) in table {
            assert_eq!(file_name(words, "session"), name, "{words:?}");
        }
    }

    #[test]
    fn an_output_of_which_only_marks_are_left_is_erased() {
        let code = |found| something(found).map_err(|error| error.code);
        let text = |text: &str| Some(Whole::Text(text.to_owned()));
        assert_eq!(code(None), Err("copy/nothing".into()));
        assert_eq!(code(text(&format!("{MARK}\n{MARK}"))), Err("copy/erased".into()));
        let some = format!("{MARK} and more");
        assert_eq!(code(text(&some)), Ok(Whole::Text(some)));
    }
}
