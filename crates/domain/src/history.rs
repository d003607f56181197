//! The history the model sees, projected from three families only: user messages (with the host notes that stand beside
//! them), accepted answers, and the results of their calls.
//!
//! It has two operations: append, and replace. What is replaced stays in the log, and the newest replacements decide what
//! stands for it: a checkpoint for closed steps, a reference for a long result. Invariant: every call of an answer is
//! followed by its result, in the model's order; deltas, approvals, decisions and notices never reach the model; between
//! two replacements, the projection of a whole log is the concatenation of those of its parts cut at any `request/prepared`.

mod reference;

pub use reference::{OUTPUT, PLACE, kept_whole, output_name, reference};

use crate::event::Fact;
use crate::ids::CallId;
use crate::model::{Block, CallResult, Message};
use std::collections::BTreeSet;

/// Events that can't be sent to a model as they stand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// A call of an accepted answer has no result yet.
    #[error("call {0} has no result, so this history can't be sent to a model")]
    OpenCall(String),
}

/// The messages these facts, each with its sequence number, add to the history, oldest first. Neighbouring notes and words
/// of the user stay separate.
///
/// # Errors
/// When a call has no terminal.
pub fn project<'a, I>(facts: I) -> Result<Vec<Message>, HistoryError>
where
    I: IntoIterator<Item = &'a (u64, Fact)>,
    I::IntoIter: Clone,
{
    let facts = facts.into_iter();
    let replaced = Replaced::of(facts.clone());
    let mut builder = Builder { references: replaced.references, ..Builder::default() };
    if let Some(text) = replaced.checkpoint {
        builder.push(Message::User(text.to_owned()));
    }
    facts.filter(|(seq, _)| *seq >= replaced.upto).for_each(|(seq, fact)| builder.take(*seq, fact));
    builder.finish()
}

/// What the newest replacements among some facts put in the place of older ones.
#[derive(Default)]
struct Replaced<'a> {
    checkpoint: Option<&'a str>,
    /// The checkpoint stands for what lies before this.
    upto: u64,
    /// Long results before this are references.
    references: u64,
}

impl<'a> Replaced<'a> {
    fn of(facts: impl Iterator<Item = &'a (u64, Fact)>) -> Self {
        let mut replaced = Self::default();
        for (_, fact) in facts {
            match fact {
                Fact::HistoryShortened(e) => replaced.references = e.upto,
                Fact::CheckpointCommitted(e) => {
                    (replaced.checkpoint, replaced.upto) = (Some(e.text.as_str()), e.upto);
                }
                Fact::HistoryRestored(_) => replaced = Self::default(),
                _ => {}
            }
        }
        replaced
    }
}

#[derive(Default)]
struct Builder {
    messages: Vec<Message>,
    /// Long results before this are references.
    references: u64,
    /// How many calls the last answer makes: their results go out as one message, once all are there.
    announced: usize,
    /// Calls of the last answer, in order, with their results as they come.
    calls: Vec<(CallId, Pending)>,
}

struct Pending {
    provider_call_id: String,
    name: String,
    result: Option<(String, bool)>,
}

impl Builder {
    fn take(&mut self, seq: u64, fact: &Fact) {
        match fact {
            Fact::UserMessage(e) => self.push(Message::User(e.text.clone())),
            Fact::ContextNote(e) => self.push(Message::User(e.text.clone())),
            Fact::AssistantAccepted(e) => {
                self.push(Message::Assistant(e.blocks.clone()));
                self.announced = call_ids(&e.blocks).count();
            }
            Fact::ToolCall(e) => self.calls.push((
                e.call.clone(),
                Pending { provider_call_id: e.provider_call_id.clone(), name: e.name.clone(), result: None },
            )),
            Fact::ToolResult(e) => {
                let is_error = matches!(e.outcome, crate::event::ToolOutcome::Error { .. });
                self.result(seq, &e.call, &e.text, is_error);
            }
            Fact::ToolDenied(e) => self.result(seq, &e.call, &e.text, true),
            Fact::ToolCancelled(e) => self.result(seq, &e.call, &e.text, true),
            Fact::ToolOutcomeUnknown(e) => self.result(seq, &e.call, &e.text, true),
            _ => {}
        }
    }

    fn push(&mut self, message: Message) {
        self.flush();
        self.messages.push(message);
    }

    fn result(&mut self, seq: u64, call: &CallId, text: &str, is_error: bool) {
        let instead = if seq < self.references { reference(seq, text, is_error) } else { None };
        if let Some((_, pending)) = self.calls.iter_mut().find(|(id, _)| id == call) {
            pending.result = Some((instead.unwrap_or_else(|| text.to_owned()), is_error));
        }
        if self.calls.len() >= self.announced {
            self.flush();
        }
    }

    /// Puts the results out once all are there; before that they wait.
    fn flush(&mut self) {
        if self.calls.is_empty() || self.calls.iter().any(|(_, pending)| pending.result.is_none()) {
            return;
        }
        let results = self.calls.drain(..).filter_map(|(_, pending)| {
            let (text, is_error) = pending.result?;
            Some(CallResult {
                provider_call_id: pending.provider_call_id,
                name: pending.name,
                text,
                is_error,
            })
        });
        self.messages.push(Message::Results(results.collect()));
    }

    fn finish(mut self) -> Result<Vec<Message>, HistoryError> {
        self.flush();
        match self.calls.first() {
            Some((call, _)) => Err(HistoryError::OpenCall(call.to_string())),
            None => Ok(self.messages),
        }
    }
}

/// What is wrong with messages that would be sent, if anything: the shape every provider demands.
#[must_use]
pub fn unsendable(messages: &[Message]) -> Option<String> {
    let mut owed: BTreeSet<&str> = BTreeSet::new();
    for message in messages {
        match message {
            Message::Assistant(blocks) => {
                if !owed.is_empty() {
                    return Some("an answer follows calls without results".into());
                }
                if let Some(problem) = unfit(blocks) {
                    return Some(problem);
                }
                owed.extend(call_ids(blocks));
            }
            Message::Results(results) => {
                for result in results {
                    if !owed.remove(result.provider_call_id.as_str()) {
                        return Some(format!("result of {} without its call", result.provider_call_id));
                    }
                }
            }
            Message::User(text) if !owed.is_empty() => {
                return Some(format!("the user speaks ({} bytes) before the calls have results", text.len()));
            }
            Message::User(text) if text.is_empty() => return Some("an empty message".into()),
            Message::User(_) => {}
        }
    }
    (!owed.is_empty()).then(|| "calls without results at the end".into())
}

/// What is wrong with the blocks of one answer, if anything: it says nothing and calls nothing, or an id stands twice.
#[must_use]
pub fn unfit(blocks: &[Block]) -> Option<String> {
    let mut ids = BTreeSet::new();
    if let Some(twice) = call_ids(blocks).find(|id| !ids.insert(*id)) {
        return Some(format!("call id {twice} stands twice in one answer"));
    }
    let says = blocks.iter().any(|block| matches!(block, Block::Text { text } if !text.trim().is_empty()));
    (ids.is_empty() && !says).then(|| "an empty answer".into())
}

fn call_ids(blocks: &[Block]) -> impl Iterator<Item = &str> {
    blocks.iter().filter_map(|block| match block {
        Block::Call { provider_call_id, .. } => Some(provider_call_id.as_str()),
        Block::Text { .. } | Block::Reasoning { .. } => None,
    })
}

#[cfg(test)]
mod tests;
