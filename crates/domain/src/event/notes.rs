//! Which words in the history are the runtime's own.
//!
//! A note of the runtime goes through the inbox like the person's words and enters the history as they do. Invariant: whoever
//! tells the person's words from ours does it with this.

use super::{Fact, Origin};
use crate::ids::MessageId;
use std::collections::BTreeSet;

/// Notes of the runtime that were posted and haven't entered the history yet, from facts in their order.
#[derive(Debug, Clone, Default)]
pub struct HostNotes(BTreeSet<MessageId>);

impl HostNotes {
    /// Takes a fact in; true where it is such a note entering the history.
    pub fn take(&mut self, fact: &Fact) -> bool {
        match fact {
            Fact::InboxPosted(e) if e.origin == Origin::Host => {
                self.0.insert(e.message.clone());
                false
            }
            Fact::UserMessage(e) => self.0.remove(&e.message),
            _ => false,
        }
    }
}
