//! What the model saw, in words of the wire.

use crate::failure::{error, of_blob, of_read};
use crate::room::Inside;
use crate::view::facts;
use crate::wire::ApiError;
use crate::wire::record::{Saw, SawBody, SawCounted, SawPart};
use crate::wire::store::ModelChoice;
use domain::event::{EpochReason, Settled};
use domain::ids::SessionId;
use engine::prompt::RebuildError;
use engine::saw::{self, Part, Rebuilt, Source, What};
use engine::show::Reader;
use std::collections::BTreeMap;

/// Bytes of a request that are given at once.
const PIECE: usize = 64 * 1024;

pub(super) fn saw(reader: &Reader, session: &SessionId, seq: u64) -> Result<Saw, ApiError> {
    let found = saw::saw(reader, session, seq).map_err(|why| of_rebuild(&why))?;
    let prepared = found.prepared;
    Ok(Saw {
        seq: found.seq,
        time: found.time,
        step: found.step,
        attempts: found.attempts,
        model: ModelChoice { provider: found.model.provider, model: found.model.model },
        dialect: prepared.dialect,
        parts: found.parts.iter().map(part).collect(),
        more: found.more,
        opened: prepared.opened.map(opened),
        bytes: prepared.bytes,
        digest: prepared.body.to_string(),
        rebuilt: match found.rebuilt {
            Rebuilt::Exactly => "exactly",
            Rebuilt::Erased => "erased",
            Rebuilt::No => "no",
        }
        .to_owned(),
        counted: found.settled.and_then(counted),
    })
}

/// A request that was built again, kept while it is read piece by piece.
pub(super) struct Body {
    /// The event that it was asked for by.
    seq: u64,
    bytes: Vec<u8>,
}

pub(super) fn body(inside: &Inside, session: &SessionId, seq: u64, from: u64) -> Result<SawBody, ApiError> {
    let bodies = &inside.record.bodies;
    let read = bodies.age();
    let body = match bodies.take(session) {
        Some(body) if body.seq == seq => body,
        Some(_) | None => {
            let bytes = saw::body(&inside.reader, session, seq).map_err(|why| of_rebuild(&why))?;
            Body { seq, bytes: bytes.into() }
        }
    };
    let piece = piece(&body.bytes, from, PIECE);
    // Whoever read the last piece wants no more of it.
    if piece.next.is_some() {
        bodies.keep(session, body, read);
    }
    Ok(piece)
}

/// So many bytes from a place on, whole characters of them.
fn piece(bytes: &[u8], from: u64, most: usize) -> SawBody {
    let begin = boundary(bytes, usize::try_from(from).unwrap_or(usize::MAX));
    let end = boundary(bytes, begin.saturating_add(most));
    let text = String::from_utf8_lossy(bytes.get(begin..end).unwrap_or_default()).into_owned();
    SawBody { from: begin as u64, text, next: (end < bytes.len()).then_some(end as u64) }
}

/// The place itself, or the beginning of the character that it stands in.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let within = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xC0 == 0x80);
    let at = at.min(bytes.len());
    // A character has four bytes at most; what is none is cut anywhere.
    (at.saturating_sub(3)..=at).rev().find(|at| !within(at)).unwrap_or(at)
}

fn of_rebuild(why: &RebuildError) -> ApiError {
    match why {
        RebuildError::Read(read) => of_read(read),
        RebuildError::Part(blob) => of_blob(blob),
        RebuildError::None { .. } => {
            error("record/no_request", why.to_string(), "Choose an event of a step.")
        }
        RebuildError::Decode(_) => error("session/newer", why.to_string(), "Open it with a newer Daybook."),
    }
}

fn part(part: &Part) -> SawPart {
    let (what, facts) = match &part.what {
        What::Instructions => ("instructions", BTreeMap::new()),
        What::Tools => ("tools", BTreeMap::new()),
        What::Before => ("before", BTreeMap::new()),
        What::Said => ("said", BTreeMap::new()),
        What::Answer => ("answer", BTreeMap::new()),
        What::Note { topic, path } => {
            let mut facts = BTreeMap::from([("topic".to_owned(), facts::shown(topic))]);
            facts.extend(path.as_ref().map(|path| ("path".to_owned(), facts::shown(path))));
            ("note", facts)
        }
        What::Result { tool, arguments, ok } => {
            let mut facts = facts::of_arguments(arguments);
            facts.insert("tool".to_owned(), facts::shown(tool));
            facts.insert("ok".to_owned(), ok.to_string());
            ("result", facts)
        }
    };
    let source = match part.source {
        Source::Host => "host",
        Source::User => "user",
        Source::Both => "both",
        Source::Model => "model",
        Source::Folder => "folder",
        Source::Command => "command",
        Source::Outside => "outside",
    };
    let (tokens, same) = (part.tokens, part.same);
    SawPart { what: what.to_owned(), facts, source: source.to_owned(), tokens, same }
}

/// Why a run of requests with the same beginning was begun anew.
pub(super) fn opened(reason: EpochReason) -> String {
    // Its own name in the record, whichever it is.
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(_) | Err(_) => String::new(),
    }
}

fn counted(settled: Settled) -> Option<SawCounted> {
    let Settled::Reported { tokens } = settled else { return None };
    let input = tokens.input + tokens.cache_read + tokens.cache_write;
    Some(SawCounted { input, cached: tokens.cache_read, output: tokens.output })
}

#[cfg(test)]
mod tests {
    use super::piece;

    #[test]
    fn pieces_are_told_by_bytes_and_cut_no_character() {
        let whole = "a菜单é🍰b".as_bytes();
        for most in 4..12 {
            let (mut text, mut from) = (String::new(), Some(0));
            while let Some(at) = from {
                let piece = piece(whole, at, most);
                assert_eq!(piece.from, text.len() as u64);
                text.push_str(&piece.text);
                from = piece.next;
            }
            assert_eq!(text.as_bytes(), whole, "{most} at once");
        }
        // From within a character: the whole character. Past the end: nothing.
        assert_eq!((piece(whole, 2, 6).from, piece(whole, 2, 6).text.as_str()), (1, "菜单"));
        assert_eq!((piece(whole, 99, 6).text.as_str(), piece(whole, 99, 6).next), ("", None));
        // What is no text at all goes on, too, and its places are the bytes'.
        let bad = [0x80; 12];
        assert_eq!([piece(&bad, 0, 5).next, piece(&bad, 5, 5).next], [Some(5), Some(10)]);
    }
}
