//! What the model saw, in words of the wire.

use crate::failure::{error, of_blob, of_read};
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

pub(super) fn body(reader: &Reader, session: &SessionId, seq: u64, from: u64) -> Result<SawBody, ApiError> {
    let body = saw::body(reader, session, seq).map_err(|why| of_rebuild(&why))?;
    let text = String::from_utf8_lossy(&body);
    let mut begin = usize::try_from(from).unwrap_or(usize::MAX).min(text.len());
    while !text.is_char_boundary(begin) {
        begin -= 1;
    }
    let piece = super::upto(&text[begin..], PIECE);
    let end = begin + piece.len();
    let next = (end < text.len()).then_some(end as u64);
    Ok(SawBody { from: begin as u64, text: piece.to_owned(), next })
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
    let (tokens, same, seq) = (part.tokens, part.same, part.seq);
    SawPart { what: what.to_owned(), facts, source: source.to_owned(), tokens, same, seq }
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
