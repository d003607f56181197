//! The audit: what must hold of a whole log, as a list of violations.
//!
//! Run after every test and every recovery, and by `daybook verify`. It replays the log through `check` (so every law of
//! the state machines holds at every prefix), verifies the chain, and adds the laws that only a whole log shows:
//! ids in one scope, attempts settled once, approvals used once, nothing of a dead process left open.

use crate::digest::Digest;
use crate::event::{Draft, Event, Fact, Payload, Recorded};
use crate::history;
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};

/// A law that a log breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which invariant: `I1` … or a law of `check`.
    pub law: String,
    /// The event it was seen at.
    pub seq: u64,
    /// What exactly.
    pub detail: String,
}

/// Audits one session's log. `epoch` is the process that has the store open now: nothing of an older one may be open,
/// except a turn that was adopted.
#[must_use]
pub fn audit(events: &[Recorded], epoch: u64) -> Vec<Finding> {
    let mut audit = Audit::default();
    for recorded in events {
        audit.envelope(recorded);
        match recorded.clone().decode() {
            Ok(event) => audit.event(&event),
            Err(error) => audit.find("decode", recorded.seq, error.to_string()),
        }
    }
    audit.end(epoch);
    audit.findings
}

#[derive(Default)]
struct Audit {
    findings: Vec<Finding>,
    state: State,
    /// All facts with their places, and how many of them the last request held.
    facts: Vec<(u64, Fact)>,
    sent: usize,
    /// Where each closed step began and ended, and the hash of every event so far, for checkpoints.
    steps: Vec<(u64, u64)>,
    hashes: Vec<Digest>,
    last: Option<(u64, Digest)>,
    ids: BTreeSet<String>,
    started: BTreeSet<String>,
    granted: BTreeSet<String>,
    settled: BTreeSet<String>,
    attempts: BTreeSet<String>,
    /// What is left of events that lost words, and what erasures say is left of them.
    erased: BTreeMap<u64, Option<Digest>>,
    on_record: BTreeMap<u64, Option<Digest>>,
}

impl Audit {
    fn find(&mut self, law: &str, seq: u64, detail: impl Into<String>) {
        self.findings.push(Finding { law: law.to_owned(), seq, detail: detail.into() });
    }

    /// I1: dense, chained, hashed.
    fn envelope(&mut self, recorded: &Recorded) {
        let (want_seq, want_prev) = self.last.map_or((0, Digest::ZERO), |(seq, hash)| (seq + 1, hash));
        if recorded.seq != want_seq {
            self.find("I1", recorded.seq, format!("sequence {} where {want_seq} was due", recorded.seq));
        }
        if recorded.prev_hash != want_prev {
            self.find("I1", recorded.seq, "the hash of the event before differs");
        }
        if recorded.hash != recorded.expected_hash() {
            self.find("I1", recorded.seq, "the event doesn't have the hash it carries");
        }
        match &recorded.payload {
            Payload::Redacted { left, .. } => {
                self.erased.insert(recorded.seq, Some(Digest::of(left.as_bytes())));
            }
            Payload::Erased(_) => drop(self.erased.insert(recorded.seq, None)),
            Payload::Text(_) => {}
        }
        self.last = Some((recorded.seq, recorded.hash));
        self.hashes.push(recorded.hash);
    }

    fn event(&mut self, event: &Event) {
        let seq = event.envelope.seq;
        if let Some(fact) = &event.fact {
            let draft = Draft {
                fact: fact.clone(),
                turn: event.envelope.turn.clone(),
                step: event.envelope.step.clone(),
                sources: event.envelope.sources.clone(),
            };
            if let Err(violation) = self.state.check(&draft) {
                self.find(violation.law, seq, violation.detail);
            }
            self.fact(fact, seq);
            self.replacement(fact, seq);
        }
        self.state.fold(event);
        self.facts.extend(event.fact.clone().map(|fact| (seq, fact)));
        if let Some(Fact::RequestPrepared(prepared)) = &event.fact {
            self.sendable(prepared.opened.is_some(), seq);
        }
    }

    /// I1 (ids unique), I8 (settled once), I10 (one execution an approval).
    fn fact(&mut self, fact: &Fact, seq: u64) {
        let new_id = match fact {
            Fact::TurnStart(e) => Some(e.turn.to_string()),
            Fact::StepStart(e) => Some(e.step.to_string()),
            Fact::AttemptStart(e) => Some(e.attempt.to_string()),
            Fact::ToolCall(e) => Some(e.call.to_string()),
            Fact::ApprovalRequested(e) => Some(e.approval.to_string()),
            Fact::QuestionAsked(e) => Some(e.question.to_string()),
            Fact::JobCreated(e) => Some(e.job.to_string()),
            Fact::InboxPosted(e) => Some(e.message.to_string()),
            _ => None,
        };
        if let Some(id) = new_id
            && !self.ids.insert(id.clone())
        {
            self.find("I1", seq, format!("{id} is used twice"));
        }
        match fact {
            Fact::AttemptStart(e) => drop(self.attempts.insert(e.attempt.to_string())),
            Fact::AttemptEnd(e) if !self.settled.insert(e.attempt.to_string()) => {
                self.find("I8", seq, format!("{} is settled twice", e.attempt));
            }
            Fact::RecordErased(e) => self.on_record.extend(e.events.iter().map(|one| (one.seq, one.left))),
            Fact::ApprovalGranted(e) => drop(self.granted.insert(e.approval.to_string())),
            Fact::ToolStart(e) => {
                if let Some(approval) = self.state.call(&e.call).and_then(|call| call.approval.as_ref()) {
                    let id = approval.id.to_string();
                    if self.granted.contains(&id) && !self.started.insert(id.clone()) {
                        self.find("I10", seq, format!("{id} authorised two executions"));
                    }
                }
            }
            _ => {}
        }
    }

    /// What is replaced ends between two steps, and a checkpoint names the very events that it stands for.
    fn replacement(&mut self, fact: &Fact, seq: u64) {
        let upto = match fact {
            Fact::StepEnd(_) => {
                let began = self.state.step().map_or(seq, |(_, step)| step.at);
                return self.steps.push((began, seq));
            }
            Fact::SummaryPrepared(e) => e.upto,
            Fact::HistoryShortened(e) => e.upto,
            Fact::CheckpointCommitted(e) => {
                let last = e.upto.checked_sub(1).and_then(|at| usize::try_from(at).ok());
                if last.and_then(|at| self.hashes.get(at)) != Some(&e.chain) {
                    self.find(
                        "checkpoint/chain",
                        seq,
                        format!("it doesn't stand for what is before {}", e.upto),
                    );
                }
                e.upto
            }
            _ => return,
        };
        let at = self.steps.partition_point(|(_, end)| *end < upto);
        if self.steps.get(at).is_some_and(|(began, _)| *began < upto) {
            self.find("history/closed_steps", seq, format!("{upto} lies within a step"));
        }
    }

    /// I5: what is about to be sent is a valid history. Each request adds whole answers with their results, so within a
    /// prefix epoch the parts that were sent before needn't be looked at again.
    fn sendable(&mut self, opens: bool, seq: u64) {
        let from = if opens { 0 } else { self.sent };
        self.sent = self.facts.len();
        match history::project(&self.facts[from..]) {
            Ok(messages) => {
                if let Some(problem) = history::unsendable(&messages) {
                    self.find("I5", seq, problem);
                }
            }
            Err(error) => self.find("I5", seq, error.to_string()),
        }
    }

    /// I6: after recovery nothing of a dead process is open; I8: every attempt that ended is settled.
    fn end(&mut self, epoch: u64) {
        let seq = self.state.next_seq.saturating_sub(1);
        if let Some(turn) = self.state.turn.clone()
            && turn.epoch != epoch
        {
            self.find("I6", seq, format!("{} belongs to process {}, this is {epoch}", turn.id, turn.epoch));
        }
        let dead = |run: &crate::state::JobRun| run.epoch != epoch;
        if let Some(job) = self.state.jobs.iter().find(|job| job.running().is_some_and(dead)) {
            self.find("I6", seq, format!("{} ran in a process that is gone, this is {epoch}", job.id));
        }
        self.erasures();
        let open = usize::from(
            self.state
                .step()
                .is_some_and(|(_, step)| matches!(step.phase, crate::state::StepPhase::Attempting { .. })),
        );
        if self.attempts.len() != self.settled.len() + open {
            self.find(
                "I8",
                seq,
                format!("{} attempts, {} settled, {open} open", self.attempts.len(), self.settled.len()),
            );
        }
    }

    /// What was erased is on record, and what is on record as erased was.
    fn erasures(&mut self) {
        let (erased, on_record) = (std::mem::take(&mut self.erased), std::mem::take(&mut self.on_record));
        for (seq, left) in &erased {
            match on_record.get(seq) {
                None => self.find("erased", *seq, "its words are gone and no erasure is on record"),
                Some(said) if said != left => {
                    self.find("erased", *seq, "what is left of it isn't what its erasure left");
                }
                Some(_) => {}
            }
        }
        for seq in on_record.keys().filter(|seq| !erased.contains_key(seq)) {
            self.find("erased", *seq, "it is on record as erased and its words are there");
        }
    }
}

#[cfg(test)]
mod tests;
