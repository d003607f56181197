//! What an event says in words of its own.
//!
//! These are the words that a person finds in the record and may erase, and that a model may read again. Invariant: an event
//! that gives words to the person or the model is named here.

use super::{AttemptEndKind, Fact};
use crate::model::Block;

impl Fact {
    /// Its own words; empty where it has none.
    #[must_use]
    pub fn says(&self) -> String {
        match self {
            Self::InboxPosted(e) => e.text.clone(),
            Self::UserMessage(e) => e.text.clone(),
            Self::ContextNote(e) => e.text.clone(),
            Self::SessionRenamed(e) => e.title.clone(),
            Self::QuestionAnswered(e) => e.answer.clone(),
            Self::ApprovalRefused(e) => e.why.clone().unwrap_or_default(),
            Self::ToolResult(e) => e.text.clone(),
            Self::ToolDenied(e) => e.text.clone(),
            Self::ToolCancelled(e) => e.text.clone(),
            Self::ToolOutcomeUnknown(e) => e.text.clone(),
            Self::JobCreated(e) => e.command.clone(),
            Self::JobEnded(e) => e.text.clone(),
            Self::CheckpointCommitted(e) => e.text.clone(),
            Self::AttemptEnd(e) => match &e.end {
                AttemptEndKind::Summarised { text } | AttemptEndKind::Unaccepted { text, .. } => text.clone(),
                _ => String::new(),
            },
            Self::AssistantAccepted(e) => {
                let texts = e.blocks.iter().filter_map(|block| match block {
                    Block::Text { text } => Some(text.as_str()),
                    Block::Reasoning { .. } | Block::Call { .. } => None,
                });
                texts.collect::<Vec<_>>().join("\n\n")
            }
            _ => String::new(),
        }
    }
}
