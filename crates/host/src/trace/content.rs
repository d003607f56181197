//! Words in a trace: only on request, without any key this process knows, and without the results of calls that read files
//! with secrets.
//!
//! Everything a person, a model, a file or a service said goes through here. Invariant: where contents weren't asked for,
//! none of these functions gives any.

use domain::event::{Fact, RequestPrepared};
use domain::history;
use domain::model::{Block, CallResult, Message};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use store::Reader;
use tools::redact::Needles;

/// What stands for a result that may hold a secret.
const WITHHELD: &str = "[withheld: it comes from a file with secrets]";

/// The words so far, and what must not be among them.
pub(super) struct Contents {
    needles: Needles,
    /// Facts since the last request of the answer's kind.
    facts: Vec<(u64, Fact)>,
    /// Where the newest request's own words begin.
    told: usize,
    /// Calls whose results may hold a secret, by the provider's ids.
    withheld: BTreeSet<String>,
}

impl Contents {
    /// Without these values.
    pub(super) fn without(keys: &[String]) -> Self {
        Self { needles: Needles::new(keys), facts: Vec::new(), told: 0, withheld: BTreeSet::new() }
    }

    pub(super) fn take(&mut self, seq: u64, fact: &Fact) {
        // Streamed pieces are said again, whole.
        if fact.kind().ignorable {
            return;
        }
        let mut fact = fact.clone();
        if let (Fact::CheckpointCommitted(e), true) = (&mut fact, self.hides()) {
            WITHHELD.clone_into(&mut e.text);
        }
        self.facts.push((seq, fact));
    }

    /// Is anything withheld? Then nothing is told that was made of all that came before, or that reads it again.
    pub(super) fn hides(&self) -> bool {
        !self.withheld.is_empty()
    }

    /// Does a call with these arguments read the record, or a kept output, again?
    pub(super) fn reads_again(arguments: &str) -> bool {
        let given: Value = serde_json::from_str(arguments).unwrap_or_default();
        let again = |text: &str| text.starts_with(history::PLACE) || text.starts_with(history::OUTPUT);
        given.as_object().is_some_and(|given| given.values().filter_map(Value::as_str).any(again))
    }

    pub(super) fn withhold(&mut self, provider_call_id: &str) {
        self.withheld.insert(provider_call_id.to_owned());
    }

    pub(super) fn may_tell(&self, provider_call_id: &str) -> bool {
        !self.withheld.contains(provider_call_id)
    }

    /// The text as it may leave.
    pub(super) fn redact(&self, text: &str) -> String {
        self.needles.redact(text)
    }

    /// A result as it may leave.
    pub(super) fn result(&self, provider_call_id: &str, text: &str) -> String {
        if self.may_tell(provider_call_id) { self.redact(text) } else { WITHHELD.to_owned() }
    }

    /// The messages that a request tells the model for the first time: all of them where a new prefix begins.
    pub(super) fn input(&mut self, request: &RequestPrepared) -> Option<String> {
        let from = if request.opened.is_some() { 0 } else { self.told };
        self.told = self.facts.len();
        let messages = history::project(&self.facts[from..]).ok()?;
        Some(self.messages(&messages).to_string())
    }

    /// An answer as one message.
    pub(super) fn output(&self, blocks: &[Block], finish: &str) -> String {
        let parts: Vec<Value> = blocks.iter().map(|block| self.block(block)).collect();
        json!([{"role": "assistant", "parts": parts, "finish_reason": finish}]).to_string()
    }

    /// Bytes kept beside the log, as text; nothing where they went.
    pub(super) fn kept(&self, reader: &Reader, digest: &domain::digest::Digest) -> Option<String> {
        let bytes = reader.blob(digest).ok()?;
        Some(self.redact(&String::from_utf8_lossy(&bytes)))
    }

    fn messages(&self, messages: &[Message]) -> Value {
        let message = |message: &Message| match message {
            Message::User(text) => {
                json!({"role": "user", "parts": [{"type": "text", "content": self.redact(text)}]})
            }
            Message::Assistant(blocks) => {
                let parts: Vec<Value> = blocks.iter().map(|block| self.block(block)).collect();
                json!({"role": "assistant", "parts": parts})
            }
            Message::Results(results) => {
                let parts: Vec<Value> = results.iter().map(|result| self.response(result)).collect();
                json!({"role": "tool", "parts": parts})
            }
        };
        messages.iter().map(message).collect()
    }

    fn block(&self, block: &Block) -> Value {
        match block {
            Block::Text { text } => json!({"type": "text", "content": self.redact(text)}),
            Block::Reasoning { text, .. } => json!({"type": "reasoning", "content": self.redact(text)}),
            Block::Call { provider_call_id, name, arguments } => json!({
                "type": "tool_call", "id": provider_call_id, "name": name, "arguments": self.redact(arguments),
            }),
        }
    }

    fn response(&self, result: &CallResult) -> Value {
        let said = self.result(&result.provider_call_id, &result.text);
        json!({"type": "tool_call_response", "id": result.provider_call_id, "response": said})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::digest::Digest;
    use domain::event::{CheckpointCommitted, ShortenWhy, Shrunk};

    fn checkpoint() -> Fact {
        let text = "<checkpoint>sk-canary-of-the-file</checkpoint>".to_owned();
        CheckpointCommitted {
            generation: 1,
            from: 0,
            upto: 5,
            chain: Digest::of(b""),
            steps: 1,
            kept: 5,
            text,
            summary: None,
            tokens: Shrunk { before: 2, after: 1 },
            why: ShortenWhy::Asked,
        }
        .into()
    }

    fn told(contents: &mut Contents) -> String {
        contents.take(9, &checkpoint());
        match &contents.facts.last().expect("it was taken").1 {
            Fact::CheckpointCommitted(e) => e.text.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// A checkpoint is made of all that came before it, so it may hold what a file with secrets gave.
    #[test]
    fn r_obs_03_a_checkpoint_after_a_file_with_secrets_is_withheld() {
        let mut contents = Contents::without(&[]);
        assert!(told(&mut contents).contains("canary"));
        contents.withhold("call_1");
        assert_eq!(told(&mut contents), WITHHELD);
    }

    #[test]
    fn r_obs_03_what_reads_the_record_again_is_known_by_its_arguments() {
        for again in [r#"{"path":"record:12"}"#, r#"{"query":"TOKEN","path":"output:run-1"}"#] {
            assert!(Contents::reads_again(again), "{again}");
        }
        for other in [r#"{"path":"notes/record:12"}"#, "{}", "[\"record:1\"]", "not JSON"] {
            assert!(!Contents::reads_again(other), "{other}");
        }
    }
}
