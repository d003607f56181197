//! Attempts as spans: one `chat` each, of an answer or of a summary, with what it asked, what it cost and how it failed.
//!
//! Invariant: a retry is a span of its own with the digest of the same bytes.

use super::otlp::{Attributes, Kind, Span};
use super::turns::{Turns, usage};
use super::word;
use domain::event::{
    AttemptEnd, AttemptEndKind, AttemptStart, Fact, Purpose, RequestPrepared, Settled, SummaryPrepared,
};
use domain::model::Block;

/// What is open of them.
#[derive(Default)]
pub(super) struct Attempts {
    pub(super) open: Option<Span>,
    /// What the newest request says of itself.
    request: Attributes,
    /// The answer that was accepted and not yet settled.
    answer: Option<(Vec<Block>, String)>,
}

impl Turns<'_> {
    pub(super) fn attempt(&mut self, fact: &Fact) {
        match fact {
            Fact::RequestPrepared(e) => self.prepared(e),
            Fact::SummaryPrepared(e) => self.summary(e),
            Fact::AttemptStart(e) => self.sent(e),
            Fact::AssistantAccepted(e) => self.attempts.answer = Some((e.blocks.clone(), word(&e.stop))),
            Fact::AttemptEnd(e) => self.settled(e),
            _ => {}
        }
    }

    fn prepared(&mut self, e: &RequestPrepared) {
        let mut said: Attributes = vec![
            ("daybook.dialect", e.dialect.clone().into()),
            ("daybook.request.digest", e.body.to_string().into()),
            ("daybook.request.bytes", e.bytes.into()),
            ("daybook.request.estimated_tokens", e.tokens.into()),
            ("daybook.request.prefix_epoch", e.prefix_epoch.into()),
        ];
        if let Some(opened) = &e.opened {
            said.push(("daybook.request.prefix_opened", word(opened).into()));
        }
        let head = self.contents.as_ref().zip(e.head.as_ref());
        if let Some(head) = head.and_then(|(contents, head)| contents.kept(self.reader, head)) {
            said.push(("daybook.request.head", head.into()));
        }
        if let Some(input) = self.contents.as_mut().and_then(|contents| contents.input(e)) {
            said.push(("gen_ai.input.messages", input.into()));
        }
        self.attempts.request = said;
    }

    fn summary(&mut self, e: &SummaryPrepared) {
        let mut said: Attributes = vec![
            ("daybook.dialect", e.dialect.clone().into()),
            ("daybook.request.digest", e.body.to_string().into()),
            ("daybook.request.bytes", e.bytes.into()),
            ("daybook.request.estimated_tokens", e.tokens.into()),
        ];
        if let Some(contents) = &self.contents {
            let head = contents.kept(self.reader, &e.head).map(|head| ("daybook.request.head", head.into()));
            // What is to be summarised holds what calls gave back.
            let segment = (!contents.hides()).then(|| contents.kept(self.reader, &e.segment)).flatten();
            said.extend(head.into_iter().chain(segment.map(|text| ("daybook.request.segment", text.into()))));
        }
        self.attempts.request = said;
    }

    fn sent(&mut self, e: &AttemptStart) {
        let model = self.step.as_ref().map(|step| (step.n, step.step.to_string(), step.model.clone()));
        let Some((n, step, model)) = model else { return };
        let name = format!("chat {}", model.model);
        let Some(mut span) = self.span(e.attempt.as_str(), name, Kind::Client) else { return };
        span.say("gen_ai.operation.name", "chat");
        span.say("gen_ai.provider.name", model.provider);
        span.say("gen_ai.request.model", model.model);
        span.say("gen_ai.request.max_tokens", model.max_output_tokens);
        span.say("gen_ai.conversation.id", self.session.to_string());
        if let Some(effort) = &model.effort {
            span.say("daybook.effort", word(effort));
        }
        span.say("daybook.step.id", step);
        span.say("daybook.step.number", n);
        span.say("daybook.attempt.number", e.n);
        let purpose = if e.purpose == Purpose::Summary { "summary" } else { "answer" };
        span.say("daybook.attempt.purpose", purpose);
        span.attributes.extend(self.attempts.request.iter().cloned());
        self.attempts.open = Some(span);
    }

    fn settled(&mut self, e: &AttemptEnd) {
        self.charge(&e.settled);
        let answer = self.attempts.answer.take();
        let Some(mut span) = self.attempts.open.take() else { return };
        let known = match &e.settled {
            Settled::Reported { tokens } => {
                span.attributes.extend(usage(tokens));
                "reported"
            }
            Settled::Estimated { tokens } => {
                span.attributes.extend(usage(tokens));
                "estimated"
            }
            Settled::Unknown => "unknown",
        };
        span.say("daybook.usage", known);
        let (end, finish) = match &e.end {
            AttemptEndKind::Accepted => ("accepted", answer.as_ref().map(|(_, stop)| stop.clone())),
            AttemptEndKind::Summarised { .. } => ("summarised", Some("stop".to_owned())),
            AttemptEndKind::Unaccepted { stop, .. } => ("unaccepted", Some(word(stop))),
            AttemptEndKind::Failed { error, retry } => {
                span.fail(word(&error.class));
                if let Some(status) = error.answered.status {
                    span.say("http.response.status_code", u64::from(status));
                }
                if let Some(retry) = retry {
                    span.say("daybook.retry.wait_ms", retry.wait_ms);
                }
                ("failed", None)
            }
            AttemptEndKind::Cancelled => ("cancelled", None),
            AttemptEndKind::Interrupted => {
                span.fail("interrupted");
                ("interrupted", None)
            }
        };
        span.say("daybook.attempt.end", end);
        if let Some(finish) = &finish {
            span.say("gen_ai.response.finish_reasons", super::otlp::Said::Texts(vec![finish.clone()]));
        }
        self.said(&mut span, &e.end, answer, finish.unwrap_or_default());
        self.close(span);
    }

    /// What the model or its service said, where contents are wanted.
    fn said(
        &self,
        span: &mut Span,
        end: &AttemptEndKind,
        answer: Option<(Vec<Block>, String)>,
        finish: String,
    ) {
        let Some(contents) = &self.contents else { return };
        let words = |text: &str| vec![Block::Text { text: text.to_owned() }];
        let blocks = match end {
            AttemptEndKind::Accepted => answer.map(|(blocks, _)| blocks),
            AttemptEndKind::Summarised { text } | AttemptEndKind::Unaccepted { text, .. } => {
                Some(words(text))
            }
            AttemptEndKind::Failed { error, .. } => {
                span.say("daybook.error.message", contents.redact(&error.message));
                (!error.partial_text.is_empty()).then(|| words(&error.partial_text))
            }
            AttemptEndKind::Cancelled | AttemptEndKind::Interrupted => None,
        };
        if let Some(blocks) = blocks {
            span.say("gen_ai.output.messages", contents.output(&blocks, &finish));
        }
    }
}
