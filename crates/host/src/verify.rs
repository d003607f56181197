//! Verifying a store: every session's chain, laws and requests, and the lists, without touching anything.
//!
//! Invariant: it reads only, so it can run beside a host; a clean word means that every request ever sent was rebuilt to
//! the byte and every list is what the log gives.

use domain::ids::SessionId;
use std::path::Path;
use store::{OpenError, Reader};

/// What was found in one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// The session; empty for the lists.
    pub session: String,
    /// Events read.
    pub events: u64,
    /// Requests rebuilt.
    pub requests: u64,
    /// Of these, encoded again as well.
    pub encoded_again: u64,
    /// Events that words were erased from.
    pub erased_events: u64,
    /// Requests that can't be rebuilt because of that.
    pub erased_requests: u64,
    /// What doesn't hold: law, place and detail, in order.
    pub findings: Vec<(String, u64, String)>,
}

/// Verifies one session, or all of them and the lists.
///
/// # Errors
/// When the store can't be opened, or there is no such session.
pub fn verify(data: &Path, session: Option<&str>) -> Result<Vec<Checked>, VerifyError> {
    let reader = Reader::open(data)?;
    let epoch = reader.last_epoch()?;
    let sessions = match session {
        Some(one) => {
            let id: SessionId = one.parse()?;
            if reader.next_seq(&id)? == 0 {
                return Err(VerifyError::Unknown(id));
            }
            vec![id]
        }
        None => reader.sessions()?.into_iter().map(|row| row.session).collect(),
    };
    let mut checked: Vec<Checked> = sessions.iter().map(|session| one(&reader, session, epoch)).collect();
    let lists = reader.verify_projections()?;
    checked.push(Checked {
        findings: lists.map(|difference| ("I18".to_owned(), 0, difference)).into_iter().collect(),
        ..Checked::default()
    });
    Ok(checked)
}

/// Why nothing could be verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The store.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Reading.
    #[error(transparent)]
    Read(#[from] store::ReadError),
    /// Not an id.
    #[error(transparent)]
    Id(#[from] domain::ids::BadId),
    /// No such session.
    #[error("there is no session {0}")]
    Unknown(SessionId),
}

fn one(reader: &Reader, session: &SessionId, epoch: u64) -> Checked {
    let mut checked = Checked { session: session.to_string(), ..Checked::default() };
    if let Err(read) = reader.verify_chain(session) {
        checked.findings.push(("I1".to_owned(), 0, read.to_string()));
        return checked;
    }
    match engine::verify::verify(reader, session, epoch) {
        Ok(verdict) => {
            (checked.events, checked.requests) = (verdict.events, verdict.requests);
            checked.encoded_again = verdict.encoded_again;
            checked.erased_events = verdict.erased_events;
            checked.erased_requests = verdict.erased_requests;
            let findings = verdict.findings.into_iter();
            checked.findings = findings.map(|finding| (finding.law, finding.seq, finding.detail)).collect();
        }
        Err(failed) => checked.findings.push(("I9".to_owned(), 0, failed.to_string())),
    }
    checked
}
