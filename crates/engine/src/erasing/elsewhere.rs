//! Other sessions that hold the same words.
//!
//! Invariant: a session that can't be read is told nothing about and left as it is; one at work is never erased from, and
//! keeps all of the erasure from being done.

use super::{Held, all, places, says, streamed};
use crate::actor::CommandFailure;
use crate::decide::{CommandError, may_erase};
use domain::erasure::Words;
use domain::event::Recorded;
use domain::ids::SessionId;
use store::Reader;

/// A session that holds them, not yet looked at closely.
pub(super) struct Other {
    pub(super) session: SessionId,
    events: Vec<Recorded>,
    forms: Vec<String>,
}

/// Every other session whose events hold the words. Blocks: every record is read.
pub(super) fn holding(
    reader: &Reader,
    own: &SessionId,
    wanted: &[String],
) -> Result<Vec<Other>, CommandFailure> {
    let mut found = Vec::new();
    for row in reader.sessions().map_err(CommandFailure::unreadable)? {
        let session = row.session;
        let Some(events) = (session != *own).then(|| all(reader, &session).ok()).flatten() else { continue };
        let forms = says::forms_in(&events, wanted)?;
        let words = Words::new(forms.iter().cloned());
        if may_hold(&events, &words) && holds(&events, &words) {
            found.push(Other { session, events, forms });
        }
    }
    Ok(found)
}

/// What erasing from it leaves.
pub(super) fn erasable(reader: &Reader, other: Other) -> Result<Held, CommandFailure> {
    let Other { session, events, forms } = other;
    let state = reader.state(&session).map_err(CommandFailure::unreadable)?;
    may_erase(&state, events.len() as u64).map_err(|refused| match refused.code {
        "erase/busy" => {
            let message = "work is going on in another session that holds these words; stop it first, \
                           or erase from this session only"
                .to_owned();
            CommandError { code: "erase/busy_elsewhere", message }
        }
        _ => refused,
    })?;
    let places = places(&events, &Words::new(forms.iter().cloned()))?;
    Ok(Held { session, events, forms, places })
}

/// A look that is quick and misses nothing: the words stand in some text as they are, or it is written with escapes.
fn may_hold(events: &[Recorded], words: &Words) -> bool {
    let texts = events.iter().filter_map(|event| event.payload.text());
    let mut texts = texts.map(AsRef::<str>::as_ref);
    texts.any(|text| words.within(text) || text.contains("\\u"))
        || streamed(events).values().any(|text| words.within(text))
}

/// Does it hold them? Where the record can't be understood without them, it does.
fn holds(events: &[Recorded], words: &Words) -> bool {
    match places(events, words) {
        Ok(_) => true,
        Err(error) => error.code != "erase/nothing",
    }
}
