//! The addition: what a request adds to the one before, as facts to record and messages to encode.
//!
//! Facts recorded since the last request (answers, results) come first, then the host's notes, then the claimed words of
//! the person: the newest thing stands last. Invariant: the messages are the projection of exactly the facts that are in
//! the log once `facts` are appended, so a rebuild needs nothing else.

use crate::added;
use crate::documents::{self, Documents, MAX_BYTES};
use crate::environment::Environment;
use crate::plan;
use domain::event::{ContextNote, DocumentLoaded, Fact, Trust, UserMessage};
use domain::history::{self, HistoryError};
use domain::ids::MessageId;
use domain::model::Message;
use domain::state::State;

/// What a request adds.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    /// Facts to append in the transaction of `request/prepared`, before it.
    pub facts: Vec<Fact>,
    /// The messages to encode.
    pub messages: Vec<Message>,
    /// Messages of the inbox whose words are in it.
    pub included: Vec<MessageId>,
    /// Documents given whole, to be kept as blobs: path and text.
    pub documents: Vec<documents::Document>,
}

/// Builds the addition for the open step.
///
/// `since` holds the facts since the last request of the prefix epoch, or all facts where a new epoch opens.
///
/// # Errors
/// When a call among them has no result.
pub fn addition(
    state: &State,
    since: &[(u64, Fact)],
    environment: &Environment,
    source: &dyn Documents,
) -> Result<Addition, HistoryError> {
    let mut facts = Vec::new();
    let note = environment.text();
    if state.environment != Some(domain::digest::Digest::of(note.as_bytes())) {
        facts.push(ContextNote { topic: "environment".into(), trust: Trust::Host, text: note }.into());
    }
    facts.extend(added::note(state).map(Fact::from));
    facts.extend(plan::note(state).map(Fact::from));
    let candidates = documents::candidates(state.seen.keys().map(String::as_str));
    let documents = documents::unseen(&candidates, &state.documents, source);
    for document in &documents {
        let loaded = DocumentLoaded {
            path: document.path.clone(),
            content: document.digest,
            bytes: document.bytes,
            named_only: document.text.len() > MAX_BYTES,
        };
        facts.push(loaded.into());
        let text = documents::text(document);
        facts.push(ContextNote { topic: "document".into(), trust: Trust::Folder, text }.into());
    }
    let mut included = Vec::new();
    let step = state.step().map(|(_, step)| &step.id);
    for waiting in
        state.inbox.iter().filter(|waiting| waiting.reserved.is_some() && waiting.reserved.as_ref() == step)
    {
        included.push(waiting.message.clone());
        facts.push(UserMessage { message: waiting.message.clone(), text: waiting.text.clone() }.into());
    }
    let placed: Vec<(u64, Fact)> = (state.next_seq..).zip(facts.iter().cloned()).collect();
    let messages = history::project(since.iter().chain(&placed))?;
    Ok(Addition { facts, messages, included, documents })
}
