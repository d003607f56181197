//! The envelope: what every recorded event carries beside its payload, and the chain that binds it to the one before.
//!
//! `hash` is taken over the envelope and the payload's *digest*, so that a payload can be erased (a tombstone) while the
//! chain still verifies. Invariant: order comes from `seq` alone; `time` is for showing and measuring.

use super::{DecodeError, Fact};
use crate::digest::Digest;
use crate::ids::{SessionId, StepId, TurnId};
use std::sync::Arc;

/// An event as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The session it belongs to.
    pub session: SessionId,
    /// Position in the whole store; for lists, never for a session's order.
    pub pos: u64,
    /// Position in its session, from 0, without gaps.
    pub seq: u64,
    /// Its type, `noun/verb`.
    pub kind: String,
    /// Version of its payload.
    pub version: u32,
    /// UTC milliseconds.
    pub time: u64,
    /// The writer: one number per process that opened the store.
    pub epoch: u64,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// The step it belongs to.
    pub step: Option<StepId>,
    /// May a reader that doesn't know the type pass over it?
    pub ignorable: bool,
    /// Sequence numbers this was made from.
    pub sources: Vec<u64>,
    /// Hash of the event before, zero for the first.
    pub prev_hash: Digest,
    /// Hash over all of the above but `pos`, and the payload's digest.
    pub hash: Digest,
    /// The payload.
    pub payload: Payload,
}

/// A payload's raw text, or what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// JSON text, byte for byte as written.
    Text(Arc<str>),
    /// Erased; its digest stays so that the chain verifies.
    Erased(Digest),
    /// Words were erased from it: its digest stays, and the same payload without them stands in its place.
    Redacted {
        /// The digest the chain holds.
        was: Digest,
        /// What is left.
        left: Arc<str>,
    },
}

impl Payload {
    /// The digest the chain holds.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Text(text) => Digest::of(text.as_bytes()),
            Self::Erased(digest) | Self::Redacted { was: digest, .. } => *digest,
        }
    }
}

/// An event about to be appended: a fact and where it belongs. The store gives it the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The fact.
    pub fact: Fact,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// The step it belongs to.
    pub step: Option<StepId>,
    /// Sequence numbers this was made from.
    pub sources: Vec<u64>,
}

impl Draft {
    /// A fact of the session itself.
    pub fn new(fact: impl Into<Fact>) -> Self {
        Self { fact: fact.into(), turn: None, step: None, sources: Vec::new() }
    }

    /// A fact of a turn.
    pub fn of_turn(turn: &TurnId, fact: impl Into<Fact>) -> Self {
        Self { turn: Some(turn.clone()), ..Self::new(fact) }
    }

    /// A fact of a step.
    pub fn of_step(turn: &TurnId, step: &StepId, fact: impl Into<Fact>) -> Self {
        Self { step: Some(step.clone()), ..Self::of_turn(turn, fact) }
    }

    /// With the events it was made from.
    #[must_use]
    pub fn from_sources(mut self, sources: Vec<u64>) -> Self {
        self.sources = sources;
        self
    }
}

/// A recorded event with its fact decoded; `None` for an ignorable type this build doesn't know, and for an erased
/// payload, which keeps its place in the order and says nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The envelope.
    pub envelope: Recorded,
    /// The fact.
    pub fact: Option<Fact>,
}

impl Event {
    /// Its fact with its place.
    #[must_use]
    pub fn placed(self) -> Option<(u64, Fact)> {
        let seq = self.envelope.seq;
        self.fact.map(|fact| (seq, fact))
    }
}

impl Recorded {
    /// The hash this envelope should carry.
    #[must_use]
    pub fn expected_hash(&self) -> Digest {
        let sources: Vec<u8> = self.sources.iter().flat_map(|seq| seq.to_be_bytes()).collect();
        Digest::of_parts(&[
            &self.prev_hash.0,
            self.session.as_str().as_bytes(),
            &self.seq.to_be_bytes(),
            self.kind.as_bytes(),
            &self.version.to_be_bytes(),
            &self.time.to_be_bytes(),
            &self.epoch.to_be_bytes(),
            self.turn.as_ref().map_or("", |id| id.as_str()).as_bytes(),
            self.step.as_ref().map_or("", |id| id.as_str()).as_bytes(),
            &[u8::from(self.ignorable)],
            &sources,
            &self.payload.digest().0,
        ])
    }

    /// Decodes the payload.
    ///
    /// # Errors
    /// When the type is unknown and not ignorable, has a later version, or its payload is malformed.
    pub fn decode(self) -> Result<Event, DecodeError> {
        let fact = match &self.payload {
            Payload::Erased(_) => None,
            Payload::Text(text) | Payload::Redacted { left: text, .. } => {
                match Fact::decode(&self.kind, self.version, text) {
                    Ok(fact) => Some(fact),
                    Err(DecodeError::UnknownKind { .. } | DecodeError::NewerVersion { .. })
                        if self.ignorable =>
                    {
                        None
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        Ok(Event { envelope: self, fact })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(payload: Payload) -> Recorded {
        Recorded {
            session: SessionId::from_bits(1),
            pos: 9,
            seq: 3,
            kind: "turn/cancel".into(),
            version: 1,
            time: 5,
            epoch: 1,
            turn: None,
            step: None,
            ignorable: false,
            sources: vec![1, 2],
            prev_hash: Digest::ZERO,
            hash: Digest::ZERO,
            payload,
        }
    }

    #[test]
    fn erasing_a_payload_keeps_the_hash() {
        let text = Payload::Text("{\"by\":\"user\"}".into());
        let erased = Payload::Erased(text.digest());
        assert_eq!(recorded(text).expected_hash(), recorded(erased).expected_hash());
    }

    #[test]
    fn every_part_of_the_envelope_is_in_the_hash() {
        let base = recorded(Payload::Text("{}".into()));
        let changes: [fn(&mut Recorded); 7] = [
            |e| e.seq = 4,
            |e| e.kind = "turn/end".into(),
            |e| e.time = 6,
            |e| e.epoch = 2,
            |e| e.ignorable = true,
            |e| e.sources = vec![1],
            |e| e.turn = Some(TurnId::from_bits(1)),
        ];
        for change in changes {
            let mut other = base.clone();
            change(&mut other);
            assert_ne!(other.expected_hash(), base.expected_hash());
        }
    }

    #[test]
    fn an_unknown_type_is_passed_over_only_when_marked_ignorable() {
        let mut event = recorded(Payload::Text("{}".into()));
        event.kind = "sparkle/shown".into();
        assert!(event.clone().decode().is_err());
        event.ignorable = true;
        assert_eq!(event.decode().expect("passed over").fact, None);
    }
}
