//! Identifiers: one newtype per noun, `prefix_` + UUIDv7 in lower-case hex.
//!
//! An id says what it names (`ses_…` can't be passed where `trn_…` is wanted), is made only through the [`Ids`] port
//! (so that simulations choose them), and is validated when read back: an id from outside is never trusted to be one.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr, sync::Arc};

/// Where new ids come from. The real port joins the clock and randomness; a simulated one counts.
pub trait Ids: Send + Sync {
    /// The next UUIDv7, as 128 bits.
    fn next(&self) -> u128;
}

/// Text that isn't an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {kind} id; it should read {kind}_ followed by 32 hex digits")]
pub struct BadId {
    /// The wanted prefix, without the underscore.
    pub kind: &'static str,
    /// What was given, cut to 64 characters.
    pub text: String,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The prefix of this kind of id, without the underscore.
            pub const KIND: &'static str = $prefix;

            /// A new id from the port.
            #[must_use]
            pub fn new(ids: &dyn Ids) -> Self {
                Self::from_bits(ids.next())
            }

            /// An id with these 128 bits: for ids derived from a cause, so that a repeat is the same id.
            #[must_use]
            pub fn from_bits(bits: u128) -> Self {
                Self(format!(concat!($prefix, "_{:032x}"), bits).into())
            }

            /// The id as written in events.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                if well_formed($prefix, text) {
                    Ok(Self(text.into()))
                } else {
                    Err(BadId { kind: $prefix, text: text.chars().take(64).collect() })
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// A session: one append-only stream of events.
    SessionId = "ses";
    /// A turn: from claiming work to its end.
    TurnId = "trn";
    /// A step: one decision of the model.
    StepId = "stp";
    /// An attempt: one request really sent.
    AttemptId = "att";
    /// A call: one tool call, from proposed to exactly one terminal.
    CallId = "cal";
    /// An approval: the user's recorded yes to one call.
    ApprovalId = "apr";
    /// A question the model asked the user.
    QuestionId = "que";
    /// A job: a command that goes on in the background.
    JobId = "job";
    /// An inbox message.
    MessageId = "msg";
    /// A client command, for idempotent repeats.
    CommandId = "cmd";
    /// A revision: a state of the folder that undo can return to, and each return to one.
    RevisionId = "rev";
    /// A grant: something allowed for more than one call.
    GrantId = "gra";
    /// A folder the user opened, or added to a session.
    FolderId = "fol";
}

fn well_formed(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('_'))
        .is_some_and(|hex| hex.len() == 32 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_shape_is_an_id() {
        let id = SessionId::from_bits(7);
        assert_eq!(id.as_str(), "ses_00000000000000000000000000000007");
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        for bad in [
            "",
            "ses_",
            "trn_00000000000000000000000000000007",
            "ses_0000000000000000000000000000000G",
            "ses_7",
        ] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad}");
            assert!(serde_json::from_value::<SessionId>(bad.into()).is_err(), "{bad}");
        }
    }
}
