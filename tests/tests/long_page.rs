//! One history twice: as the model reads it in full, and as the page shows it, both as lines that can be compared.
//!
//! A line is words, an answer, or a call by its id with how it ended. Invariant: nothing here looks at the other side.

use api::view::{Fold, Shelf};
use api::wire::store::{AddedFolder, Folder};
use api::wire::view::{CallState, EntryBody};
use domain::digest::Digest;
use domain::event::{Event, Fact, HostNotes};
use domain::history;
use domain::ids::{FolderId, SessionId};
use domain::model::{Block, Message};
use domain::state::Added;
use std::collections::HashMap;
use store::Reader;
use tests::Rig;

/// The whole history that the model would read if nothing had been shortened, without the runtime's notes.
pub(crate) fn model_sees(events: &[Event]) -> Vec<String> {
    let mut notes = HostNotes::default();
    let mut ids = HashMap::new();
    let mut facts = Vec::new();
    for (seq, fact) in events.iter().cloned().filter_map(Event::placed) {
        if let Fact::ToolCall(e) = &fact {
            ids.insert(e.provider_call_id.clone(), e.call.to_string());
        }
        let replaces = matches!(fact, Fact::HistoryShortened(_) | Fact::CheckpointCommitted(_));
        if !replaces && !matches!(fact, Fact::ContextNote(_)) && !notes.take(&fact) {
            facts.push((seq, fact));
        }
    }
    let messages = history::project(&facts).expect("paired");
    messages.iter().flat_map(|message| lines(message, &ids)).collect()
}

fn lines(message: &Message, ids: &HashMap<String, String>) -> Vec<String> {
    match message {
        Message::User(text) => vec![format!("said: {text}")],
        Message::Assistant(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Block::Text { text } => Some(format!("answer: {text}")),
                Block::Reasoning { .. } | Block::Call { .. } => None,
            });
            texts.collect()
        }
        Message::Results(results) => {
            let line = |result: &domain::model::CallResult| {
                format!("call {} good: {}", ids[&result.provider_call_id], !result.is_error)
            };
            results.iter().map(line).collect()
        }
    }
}

/// What the page shows of the same.
pub(crate) fn page_shows(rig: &Rig, id: &SessionId, events: &[Event]) -> Vec<String> {
    let shelf = Disk(Reader::open(rig.data()).expect("readable"));
    let mut fold = Fold::new(id);
    for event in events {
        fold.event(event, &shelf);
    }
    let entries = fold.view().entries.iter();
    entries.flat_map(|entry| shown(&entry.body)).collect()
}

fn shown(body: &EntryBody) -> Vec<String> {
    match body {
        EntryBody::Said { text } => vec![format!("said: {text}")],
        EntryBody::Answer { text, .. } => vec![format!("answer: {text}")],
        EntryBody::Calls { calls } => {
            let ended = |state: CallState| match state {
                CallState::Done => true,
                CallState::Failed | CallState::Denied | CallState::Cancelled | CallState::Unknown => false,
                CallState::Proposed | CallState::Waiting | CallState::Running => panic!("{state:?} at rest"),
            };
            calls.iter().map(|call| format!("call {} good: {}", call.id, ended(call.state))).collect()
        }
        _ => Vec::new(),
    }
}

/// The store as the page's fold needs it.
pub(crate) struct Disk(pub(crate) Reader);

impl Shelf for Disk {
    fn blob(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.0.blob(digest).ok()
    }

    fn folder(&self, id: &FolderId, root: &str) -> Folder {
        Folder { id: id.to_string(), name: root.to_owned(), place: root.to_owned(), exists: true, wide: None }
    }

    fn added(&self, id: &FolderId, _: &Added) -> AddedFolder {
        panic!("{id}: no folder is added here")
    }
}
