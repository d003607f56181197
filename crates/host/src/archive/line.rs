//! One event as a line of an archive.
//!
//! Invariant: the payload stands there as it was recorded, byte for byte, and comes back as the same bytes.

use super::ArchiveError;
use domain::digest::Digest;
use domain::event::{Payload, Recorded};
use domain::ids::{SessionId, StepId, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    seq: u64,
    #[serde(rename = "type")]
    kind: String,
    version: u32,
    time: u64,
    epoch: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<TurnId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<StepId>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ignorable: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sources: Vec<u64>,
    before: Digest,
    hash: Digest,
    /// The digest that the chain holds, where words were erased from the payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    erased: Option<Digest>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

/// The event as text, without a line break.
pub(super) fn written(event: &Recorded) -> Result<String, ArchiveError> {
    let unfit = |why: &str| ArchiveError::Unfit(format!("event {} {why}", event.seq));
    let payload = match event.payload.text() {
        Some(text) => {
            let raw: &RawValue = serde_json::from_str(text).map_err(|_| unfit("holds no JSON"))?;
            if raw.get() != text.as_ref() || text.contains('\n') {
                return Err(unfit("can't stand on one line"));
            }
            Some(raw)
        }
        None => None,
    };
    let line = Line {
        seq: event.seq,
        kind: event.kind.clone(),
        version: event.version,
        time: event.time,
        epoch: event.epoch,
        turn: event.turn.clone(),
        step: event.step.clone(),
        ignorable: event.ignorable,
        sources: event.sources.clone(),
        before: event.prev_hash,
        hash: event.hash,
        erased: match &event.payload {
            Payload::Text(_) => None,
            Payload::Erased(was) | Payload::Redacted { was, .. } => Some(*was),
        },
        payload,
    };
    serde_json::to_string(&line).map_err(|error| unfit(&format!("can't be written: {error}")))
}

/// The event that a line is.
pub(super) fn read(session: &SessionId, text: &str) -> Result<Recorded, ArchiveError> {
    let line: Line<'_> = serde_json::from_str(text)
        .map_err(|error| ArchiveError::Changed(format!("a line is no event: {error}")))?;
    let payload = match (line.payload, line.erased) {
        (Some(raw), None) => Payload::Text(raw.get().into()),
        (Some(raw), Some(was)) => Payload::Redacted { was, left: raw.get().into() },
        (None, Some(was)) => Payload::Erased(was),
        (None, None) => return Err(ArchiveError::Changed(format!("event {} says nothing", line.seq))),
    };
    Ok(Recorded {
        session: session.clone(),
        pos: 0,
        seq: line.seq,
        kind: line.kind,
        version: line.version,
        time: line.time,
        epoch: line.epoch,
        turn: line.turn,
        step: line.step,
        ignorable: line.ignorable,
        sources: line.sources,
        prev_hash: line.before,
        hash: line.hash,
        payload,
    })
}
