//! A streaming answer: live pieces and logged pieces of the same stream become one text.
//!
//! Each piece comes with its place in the stream. Invariant: a byte is shown once, whichever way it comes first; a live
//! piece behind a gap waits for the log, and only a gap that the full log doesn't have is passed over, with a mark.

use super::{Fold, words};
use crate::wire::view::{EntryBody, NoticeLevel, Patch};
use domain::event::{AssistantAccepted, AssistantDelta, AttemptEnd, AttemptEndKind, Event, ModelSwitched};
use domain::ids::AttemptId;
use domain::model::{Block, ModelDelta};
use engine::Live;

/// Most bytes of the newest output that wait for the log to be full.
pub(super) const HELD_BYTES: usize = 64 << 10;

/// How far a stream of text is logged, and how far it is shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    logged: usize,
    shown: usize,
    /// How far it is logged at most, where it has such a limit: a log that isn't full up to it has more to come.
    limit: Option<usize>,
    /// What isn't logged any more and stands behind something that will be: its place and the text.
    held: Option<(usize, String)>,
}

impl Seen {
    /// A stream whose first bytes alone are logged.
    pub(super) fn up_to(limit: usize) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }

    /// What to show of live output at this place.
    pub(super) fn live(&mut self, at: usize, text: &str) -> String {
        let unlogged = self.limit.is_some_and(|limit| at + text.len() > limit);
        match (unlogged && at > self.shown, self.is_full()) {
            (true, false) => {
                self.hold(at, text);
                String::new()
            }
            (true, true) => {
                self.shown = at;
                format!("…{}", self.fresh(at, text))
            }
            (false, _) => self.fresh(at, text).to_owned(),
        }
    }

    /// What of the text at this place hasn't been shown.
    pub(super) fn fresh<'a>(&mut self, at: usize, text: &'a str) -> &'a str {
        if at > self.shown {
            return "";
        }
        let fresh = text.get(self.shown - at..).unwrap_or("");
        self.shown += fresh.len();
        fresh
    }

    /// The same for the next logged text, and what waited for it.
    pub(super) fn logged(&mut self, text: &str) -> String {
        let at = self.logged;
        self.logged += text.len();
        let mut fresh = self.fresh(at, text).to_owned();
        if self.is_full()
            && let Some((at, held)) = self.held.take()
        {
            fresh.push_str(&self.live(at, &held));
        }
        fresh
    }

    /// Is all logged that will be? The log ends at its limit, or before a character that doesn't fit.
    fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.logged + char::MAX.len_utf8() > limit)
    }

    fn hold(&mut self, at: usize, text: &str) {
        let (from, mut held) = match self.held.take() {
            Some((from, held)) if from + held.len() == at => (from, held),
            _ => (at, String::new()),
        };
        held.push_str(text);
        let over = held.ceil_char_boundary(held.len().saturating_sub(HELD_BYTES));
        held.drain(..over);
        self.held = Some((from + over, held));
    }
}

/// The attempt that streams.
#[derive(Debug, Clone)]
pub(super) struct Streaming {
    attempt: AttemptId,
    /// When it began: the answer's time, however its first words came.
    began: u64,
    text: Seen,
    reasoning: Seen,
}

impl Streaming {
    pub(super) fn new(attempt: &AttemptId, began: u64) -> Self {
        Self { attempt: attempt.clone(), began, text: Seen::default(), reasoning: Seen::default() }
    }
}

impl Fold {
    /// Shows something that isn't logged yet. What belongs to another session, or to nothing open, changes nothing.
    pub fn live(&mut self, live: &Live) -> Vec<Patch> {
        let mut out = Vec::new();
        match live {
            Live::Delta { session, attempt, at, delta } if *session == self.id => {
                let streaming = self.streaming.as_mut().filter(|streaming| streaming.attempt == *attempt);
                let Some(streaming) = streaming else { return out };
                let (text, reasoning) = match delta {
                    ModelDelta::Text { text } => (streaming.text.fresh(*at, text), ""),
                    ModelDelta::Reasoning { text } => ("", streaming.reasoning.fresh(*at, text)),
                    ModelDelta::Arguments { .. } => ("", ""),
                };
                self.streamed(&attempt.clone(), text, reasoning, &mut out);
            }
            Live::Output { session, call, at, text } if *session == self.id => {
                self.live_output(call, *at, text, &mut out)
            }
            Live::JobOutput { session, job, at, text } if *session == self.id => {
                self.live_job_output(job, *at, text, &mut out)
            }
            Live::Waiting { session, hold } if *session == self.id => {
                self.hold = *hold;
                self.held_up(*hold, &mut out);
                self.derived(&mut out);
            }
            Live::Delta { .. } | Live::Output { .. } | Live::JobOutput { .. } | Live::Waiting { .. } => {}
        }
        out
    }

    pub(super) fn logged_deltas(&mut self, e: &AssistantDelta, out: &mut Vec<Patch>) {
        for delta in &e.deltas {
            let Some(streaming) = self.streaming.as_mut().filter(|streaming| streaming.attempt == e.attempt)
            else {
                return;
            };
            let (text, reasoning) = match delta {
                ModelDelta::Text { text } => (streaming.text.logged(text), String::new()),
                ModelDelta::Reasoning { text } => (String::new(), streaming.reasoning.logged(text)),
                ModelDelta::Arguments { .. } => continue,
            };
            self.streamed(&e.attempt, &text, &reasoning, out);
        }
    }

    /// Appends to the streaming entry, which begins with its first words.
    fn streamed(&mut self, attempt: &AttemptId, text: &str, reasoning: &str, out: &mut Vec<Patch>) {
        if text.is_empty() && reasoning.is_empty() {
            return;
        }
        let key = attempt.to_string();
        let open = self.shown.entry(&key).map(|entry| &entry.body);
        let patch = match open {
            Some(EntryBody::Answer { .. }) if reasoning.is_empty() => {
                return self.push(Patch::Text { key, text: text.to_owned() }, out);
            }
            Some(EntryBody::Answer { text: said, reasoning: thought, .. }) => {
                (said.clone(), format!("{thought}{reasoning}"))
            }
            _ => (text.to_owned(), reasoning.to_owned()),
        };
        let (text, reasoning) = patch;
        let began = self.streaming.as_ref().map_or(self.state.time, |streaming| streaming.began);
        self.put_at(began, key, EntryBody::Answer { text, reasoning, streaming: true }, out);
    }

    pub(super) fn accepted(&mut self, e: &AssistantAccepted, event: &Event, out: &mut Vec<Patch>) {
        let began = self.streaming.take().map_or(event.envelope.time, |streaming| streaming.began);
        let joined = |wanted: fn(&Block) -> Option<&str>, between: &str| {
            e.blocks
                .iter()
                .filter_map(wanted)
                .filter(|text| !text.trim().is_empty())
                .collect::<Vec<_>>()
                .join(between)
        };
        let text = joined(text_of, "\n\n");
        let reasoning = joined(reasoning_of, "\n\n");
        self.said.clone_from(&text);
        let key = e.attempt.to_string();
        if !text.is_empty() || !reasoning.is_empty() {
            self.put_at(began, key, EntryBody::Answer { text, reasoning, streaming: false }, out);
        } else if self.shown.entry(&key).is_some() {
            self.push(Patch::Removed { key }, out);
        }
    }

    pub(super) fn attempt_end(&mut self, e: &AttemptEnd, event: &Event, out: &mut Vec<Patch>) {
        self.settle(e.settled);
        match &e.end {
            AttemptEndKind::Accepted | AttemptEndKind::Summarised { .. } => {}
            AttemptEndKind::Failed { error, retry: Some(_) } => {
                self.take_back(&e.attempt, out);
                // One line for all attempts of a step; the activity says when the next one comes.
                let step = event.envelope.step.as_ref().map_or_else(String::new, ToString::to_string);
                let mut facts = words::failure_facts(error);
                if let Some((_, step)) = self.state.step() {
                    facts.insert("provider".to_owned(), super::facts::shown(&step.model.provider));
                    facts.insert("attempt".to_owned(), step.tries.to_string());
                }
                let body =
                    EntryBody::Notice { code: "attempt/failed".to_owned(), facts, level: NoticeLevel::Bad };
                self.put(event, format!("attempts_{step}"), body, out);
            }
            // It is asked for again by the turn that goes on.
            AttemptEndKind::Interrupted => self.take_back(&e.attempt, out),
            // Nothing asks again: what was said stays to be read, and the turn's end says why there is no more.
            AttemptEndKind::Failed { retry: None, .. }
            | AttemptEndKind::Unaccepted { .. }
            | AttemptEndKind::Cancelled => {
                self.stop_streaming(e, event, out);
            }
        }
        self.streaming = None;
    }

    /// Another model goes on: what the first one had said is no part of the conversation.
    pub(super) fn switched(&mut self, e: &ModelSwitched, event: &Event, out: &mut Vec<Patch>) {
        self.take_back(&e.attempt, out);
        let facts = [
            ("provider", super::facts::shown(&e.from.provider)),
            ("class", words::class(e.class).to_owned()),
            ("model", super::facts::shown(&e.to.model)),
        ];
        self.notice(event, "model/switched", &facts, NoticeLevel::Info, out);
    }

    fn take_back(&mut self, attempt: &AttemptId, out: &mut Vec<Patch>) {
        let key = attempt.to_string();
        if self.shown.entry(&key).is_some() {
            self.push(Patch::Removed { key }, out);
        }
    }

    fn stop_streaming(&mut self, e: &AttemptEnd, event: &Event, out: &mut Vec<Patch>) {
        let key = e.attempt.to_string();
        let open = self.shown.entry(&key).map(|entry| entry.body.clone());
        if let Some(EntryBody::Answer { text, reasoning, .. }) = open {
            self.put(event, key, EntryBody::Answer { text, reasoning, streaming: false }, out);
        }
    }
}

fn text_of(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text } => Some(text),
        Block::Reasoning { .. } | Block::Call { .. } => None,
    }
}

fn reasoning_of(block: &Block) -> Option<&str> {
    match block {
        Block::Reasoning { text, .. } => Some(text),
        Block::Text { .. } | Block::Call { .. } => None,
    }
}
