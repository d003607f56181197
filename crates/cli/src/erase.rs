//! `daybook erase`: takes words out of a session's record, for good.
//!
//! The words never come from the command line, where other programs and the shell's history would see them: all that the
//! chosen event says goes, or exactly what is read from standard input.

use crate::exit::{Exit, Failure};
use crate::looking::unexpected;
use crate::output;
use crate::way::{Own, Way};
use api::wire::command::{Command, Reply};
use api::wire::storage::EraseWhy;
use std::io::Read as _;
use std::path::PathBuf;

/// The longest text that is read from standard input.
const MOST_BYTES: u64 = 1 << 20;

/// What is to be erased.
pub(crate) struct Erase {
    pub(crate) session: String,
    pub(crate) seq: u64,
    pub(crate) text_from_stdin: bool,
    pub(crate) everywhere: bool,
}

pub(crate) async fn erase(data: PathBuf, erase: Erase) -> Result<Exit, Failure> {
    let Erase { session, seq, text_from_stdin, everywhere } = erase;
    let text = if text_from_stdin { Some(words()?) } else { None };
    let way = Way::to_work(&data, Own { attended: true, ..Own::default() }).await?;
    let (place, why, revoke) = (seq.to_string(), EraseWhy::Secret, Vec::new());
    let asked = way.call(Command::Erase { session, place, text, why, everywhere, revoke }).await;
    way.close().await;
    let Reply::Erased(done) = asked? else { return Err(unexpected("what was erased")) };
    output::line(&format!(
        "erased from {} events of {} sessions, {} kept contents and {} copies of the record (on record at {})",
        done.events,
        done.sessions + 1,
        done.contents,
        done.copies,
        done.seq
    ));
    if done.unfinished {
        output::diagnose("old bytes may still be on the disk; the next start of Daybook removes them");
    }
    Ok(Exit::Completed)
}

fn words() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().take(MOST_BYTES).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("the words can't be read from standard input: {error}")))?;
    // The line break that a shell or a terminal adds isn't meant.
    let text = text.trim_end_matches(['\n', '\r']);
    match text.is_empty() {
        true => Err(Failure::usage("there are no words on standard input")),
        false => Ok(text.to_owned()),
    }
}
