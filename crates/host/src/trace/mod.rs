//! A session's trace: its log as OpenTelemetry spans, one line of OTLP JSON for each turn.
//!
//! A **trace** is a turn with its attempts, calls and jobs. It is a projection like any other: made on request, from the log
//! alone, to a file or standard output, never to a network. Invariants: the same log gives the same trace; what was said
//! stands in it only on request, and then without known keys and without the results of calls that read files with secrets.

mod attempts;
mod calls;
mod content;
mod otlp;
mod turns;

use crate::archive::ArchiveError;
use content::Contents;
use domain::ids::SessionId;
use secrecy::ExposeSecret as _;
use std::io::Write;
use std::path::Path;
use store::Reader;
use turns::Turns;

/// Events read at once.
const PAGE: usize = 1_000;

/// Does a trace hold what was said?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// Names, sizes, times and counts only.
    Left,
    /// Prompts, answers, arguments and results, too.
    Taken,
}

/// Writes a session's trace; gives the number of its spans.
///
/// # Errors
/// When there is no such session, it can't be read, or not be written.
pub fn trace(data: &Path, session: &str, words: Words, out: &mut dyn Write) -> Result<usize, ArchiveError> {
    let reader = Reader::open(data)?;
    let session: SessionId = session.parse()?;
    if reader.next_seq(&session)? == 0 {
        return Err(ArchiveError::Unknown(session));
    }
    // What is on record was cleaned of the keys of its time; those of now are looked for once more.
    let keys: Vec<String> =
        crate::vault::environment().values().map(|key| key.expose_secret().to_owned()).collect();
    let contents = (words == Words::Taken).then(|| Contents::without(&keys));
    let mut turns = Turns::new(&session, &reader, contents);
    let (mut next, mut spans) = (0, 0);
    loop {
        let page = reader.events(&session, next, PAGE)?;
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        for recorded in page {
            let event = recorded.decode().map_err(|error| ArchiveError::Unfit(error.to_string()))?;
            spans += write(&turns.event(&event), out)?;
        }
    }
    spans += write(&turns.unended(), out)?;
    out.flush().map_err(unwritten)?;
    Ok(spans)
}

fn write(spans: &[otlp::Span], out: &mut dyn Write) -> Result<usize, ArchiveError> {
    if !spans.is_empty() {
        writeln!(out, "{}", otlp::line(spans)).map_err(unwritten)?;
    }
    Ok(spans.len())
}

fn unwritten(source: std::io::Error) -> ArchiveError {
    ArchiveError::Io { path: "the trace".into(), source }
}

/// A word of the log as it is written there: the variant's own name.
fn word(of: &impl serde::Serialize) -> String {
    serde_json::to_value(of).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
