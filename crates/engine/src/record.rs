//! The record as the hands read it: what one event of the session says, whole.
//!
//! Invariant: only this session's events, and only what the model or the person said or what a call gave back; what was kept
//! beside a long result is read with it.

use domain::digest::Digest;
use domain::event::Fact;
use domain::ids::SessionId;
use domain::model::Block;
use std::collections::BTreeMap;
use std::io;
use store::StoreHandle;
use tools::record::Record;

/// One session's record.
pub(crate) struct OwnRecord {
    pub(crate) store: StoreHandle,
    pub(crate) session: SessionId,
}

impl Record for OwnRecord {
    fn says(&self, seq: u64) -> io::Result<Option<String>> {
        let events = self.store.events(&self.session, seq, 1).map_err(io::Error::other)?;
        let Some(event) = events.into_iter().next().filter(|event| event.seq == seq) else { return Ok(None) };
        let fact = event.decode().map_err(io::Error::other)?.fact;
        let said = match &fact {
            Some(Fact::ToolResult(e)) => self.whole(&e.kept, &e.text)?,
            Some(Fact::JobEnded(e)) => self.whole(&e.kept, &e.text)?,
            Some(fact) => said(fact),
            None => String::new(),
        };
        Ok((!said.trim().is_empty()).then_some(said))
    }
}

impl OwnRecord {
    /// A result, with the whole of what didn't fit into it.
    fn whole(&self, kept: &BTreeMap<String, Digest>, text: &str) -> io::Result<String> {
        if kept.is_empty() {
            return Ok(text.to_owned());
        }
        let mut whole = String::new();
        for kept in kept.values() {
            let bytes = self.store.blob(kept).map_err(io::Error::other)?;
            whole.push_str(&String::from_utf8_lossy(&bytes));
        }
        Ok(whole)
    }
}

fn said(fact: &Fact) -> String {
    match fact {
        // What waits, and what we tell beside, isn't said yet or not by anybody.
        Fact::InboxPosted(_) | Fact::ContextNote(_) => String::new(),
        Fact::AssistantAccepted(e) => {
            let parts = e.blocks.iter().filter_map(|block| match block {
                Block::Text { text } => Some(text.clone()),
                Block::Call { name, arguments, .. } => Some(format!("{name} {arguments}")),
                Block::Reasoning { .. } => None,
            });
            parts.collect::<Vec<_>>().join("\n\n")
        }
        fact => fact.says(),
    }
}
