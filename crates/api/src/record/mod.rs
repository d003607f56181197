//! Looking at the record of one session: outline, lines, single events, any moment, what the model saw, verification.
//!
//! Everything is read from the log when it is asked for; what is kept in memory are shortcuts to it. Invariant: nothing here
//! writes, and what was kept of a session is dropped when words are erased from it.

mod line;
mod moment;
mod outline;
mod saw;
mod verify;

use crate::failure::{error, of_read};
use crate::room::{Done, Inside, Room, lock};
use crate::shortcuts::Shortcuts;
use crate::wire::ApiError;
use crate::wire::command::Reply;
use crate::wire::record::{RecordBreak, RecordEvent};
use domain::event::{Payload, Recorded};
use domain::ids::SessionId;
use engine::show::{self, Damage, Reader};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Sessions of which shortcuts are kept.
const KEPT: usize = 4;
/// Most bytes of a payload that are given at once.
const PAYLOAD_BYTES: usize = 128 * 1024;

/// Shortcuts to the record.
pub(crate) struct Kept {
    outlines: Shortcuts<outline::Outline>,
    moments: Shortcuts<moment::Moments>,
    bodies: Shortcuts<saw::Body>,
    runs: Mutex<HashMap<SessionId, Arc<verify::Run>>>,
}

impl Default for Kept {
    fn default() -> Self {
        let (outlines, moments) = (Shortcuts::new(KEPT), Shortcuts::new(KEPT));
        Self { outlines, moments, bodies: Shortcuts::new(1), runs: Mutex::default() }
    }
}

impl Kept {
    /// Drops what is kept of a session.
    pub(crate) fn forget(&self, session: &SessionId) {
        self.outlines.forget(session);
        self.moments.forget(session);
        self.bodies.forget(session);
        if let Some(run) = lock(&self.runs).remove(session) {
            run.stop();
        }
    }

    /// Drops what is kept of all sessions.
    pub(crate) fn forget_all(&self) {
        self.outlines.forget_all();
        self.moments.forget_all();
        self.bodies.forget_all();
        lock(&self.runs).drain().for_each(|(_, run)| run.stop());
    }
}

impl Room {
    pub(crate) async fn record_outline(&self, session: &str, from: u64) -> Done {
        let session = self.known(session)?;
        let outline = self.off_thread(move |inside| outline::outline(inside, &session, from)).await?;
        Ok(Reply::RecordOutline(outline))
    }

    pub(crate) async fn record_lines(&self, session: &str, from: u64, count: u32) -> Done {
        let session = self.known(session)?;
        let lines = self.off_thread(move |inside| line::lines(&inside.reader, &session, from, count)).await?;
        Ok(Reply::RecordLines(lines))
    }

    pub(crate) async fn record_event(&self, session: &str, seq: u64) -> Done {
        let session = self.known(session)?;
        let event = self.off_thread(move |inside| event(inside, &session, seq)).await?;
        Ok(Reply::RecordEvent(event))
    }

    pub(crate) async fn moment(&self, session: &str, seq: u64) -> Done {
        let session = self.known(session)?;
        let moment = self.off_thread(move |inside| moment::moment(inside, &session, seq)).await?;
        Ok(Reply::Moment(Box::new(moment)))
    }

    pub(crate) async fn saw(&self, session: &str, seq: u64) -> Done {
        let session = self.known(session)?;
        let saw = self.off_thread(move |inside| saw::saw(&inside.reader, &session, seq)).await?;
        Ok(Reply::Saw(Box::new(saw)))
    }

    pub(crate) async fn saw_body(&self, session: &str, seq: u64, from: u64) -> Done {
        let session = self.known(session)?;
        let body = self.off_thread(move |inside| saw::body(inside, &session, seq, from)).await?;
        Ok(Reply::SawBody(body))
    }

    pub(crate) fn verify(&self, session: &str) -> Done {
        let session = self.known(session)?;
        Ok(Reply::Verification(verify::begin(&self.inside, &session)?))
    }

    pub(crate) fn verification(&self, session: &str) -> Done {
        let session = self.known(session)?;
        Ok(Reply::Verification(verify::look(&self.inside, &session)))
    }

    pub(crate) fn stop_verify(&self, session: &str) -> Done {
        let session = self.known(session)?;
        Ok(Reply::Verification(verify::stop(&self.inside, &session)))
    }
}

fn event(inside: &Inside, session: &SessionId, seq: u64) -> Result<RecordEvent, ApiError> {
    let found = inside.reader.event(session, seq).map_err(|read| of_read(&read))?;
    let found = found.ok_or_else(|| no_event(seq))?;
    let payload = found.payload.text().map(|text| upto(text, PAYLOAD_BYTES).to_owned());
    Ok(RecordEvent {
        seq,
        kind: found.kind,
        version: found.version,
        time: found.time,
        epoch: found.epoch,
        turn: found.turn.map(|turn| turn.to_string()),
        step: found.step.map(|step| step.to_string()),
        ignorable: found.ignorable,
        sources: found.sources,
        hash: found.hash.to_string(),
        before: found.prev_hash.to_string(),
        bytes: found.payload.text().map_or(0, |text| text.len() as u64),
        erased: !matches!(found.payload, Payload::Text(_)),
        payload,
    })
}

/// Events from a place on, as far as they can be read, and the first that can't be.
fn up_to_break(
    reader: &Reader,
    session: &SessionId,
    from: u64,
    limit: usize,
) -> Result<(Vec<Recorded>, Option<RecordBreak>), ApiError> {
    let (events, broken) = show::up_to_break(reader, session, from, limit).map_err(|read| of_read(&read))?;
    Ok((events, broken.map(|Damage { seq, what }| RecordBreak { seq, detail: what })))
}

fn no_event(seq: u64) -> ApiError {
    error("record/none", format!("the session has no event {seq}"), "Look at the record again.")
}

/// The beginning of a text, of at most so many bytes.
fn upto(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
