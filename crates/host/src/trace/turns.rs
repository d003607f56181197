//! Turns as spans: what each claimed, how it ended and by whom, what it cost, and what happened in between.
//!
//! Invariant: a span is given once, when what it is of has ended; what hadn't when the log ends is marked as open.

use super::content::Contents;
use super::otlp::{Attributes, Kind, Said, Span};
use super::{attempts, calls, word};
use domain::call::Mode;
use domain::event::{End, Event, Fact, Settled, Source, StepStart, TurnStart};
use domain::ids::SessionId;
use domain::model::Usage;
use store::Reader;

/// The log so far, as spans.
pub(super) struct Turns<'a> {
    pub(super) session: &'a SessionId,
    pub(super) reader: &'a Reader,
    pub(super) contents: Option<Contents>,
    mode: Option<Mode>,
    number: u64,
    turn: Option<Span>,
    /// What its attempts cost.
    cost: Usage,
    pub(super) step: Option<StepStart>,
    pub(super) attempts: attempts::Attempts,
    pub(super) calls: calls::Calls,
    done: Vec<Span>,
    /// When the last event was, UTC ms.
    now: u64,
}

impl<'a> Turns<'a> {
    pub(super) fn new(session: &'a SessionId, reader: &'a Reader, contents: Option<Contents>) -> Self {
        Self {
            session,
            reader,
            contents,
            mode: None,
            number: 0,
            turn: None,
            cost: Usage::default(),
            step: None,
            attempts: attempts::Attempts::default(),
            calls: calls::Calls::default(),
            done: Vec::new(),
            now: 0,
        }
    }

    /// Takes an event in; what ended with it, once nothing of its turn is open.
    pub(super) fn event(&mut self, event: &Event) -> Vec<Span> {
        self.now = event.envelope.time;
        let Some(fact) = &event.fact else { return Vec::new() };
        if let Some(contents) = &mut self.contents {
            contents.take(event.envelope.seq, fact);
        }
        match fact {
            Fact::SessionCreated(e) => self.mode = Some(e.mode),
            Fact::SessionMode(e) => self.mode = Some(e.mode),
            Fact::TurnStart(e) => self.begin(e),
            Fact::TurnEnd(e) => self.end(&e.end),
            Fact::StepStart(e) => self.step = Some(e.clone()),
            Fact::TurnCancel(e) => {
                self.happened("daybook.turn.cancel", vec![("daybook.by", word(&e.by).into())])
            }
            Fact::TurnExtended(e) => {
                self.happened("daybook.turn.extended", vec![("daybook.why", word(&e.why).into())]);
            }
            Fact::ModelSwitched(e) => {
                let said: Attributes = vec![
                    ("gen_ai.request.model", e.to.model.clone().into()),
                    ("error.type", word(&e.class).into()),
                ];
                self.happened("daybook.model.switched", said);
            }
            Fact::HistoryShortened(e) => self.happened("daybook.history.shortened", shrunk(&e.tokens)),
            Fact::CheckpointCommitted(e) => self.happened("daybook.checkpoint.committed", shrunk(&e.tokens)),
            Fact::ContextOverflowed(_) => self.happened("daybook.context.overflowed", Vec::new()),
            Fact::RecoveryAdopted(_) => self.happened("daybook.recovery.adopted", Vec::new()),
            _ => {
                self.attempt(fact);
                self.call(fact);
            }
        }
        if self.turn.is_none() { std::mem::take(&mut self.done) } else { Vec::new() }
    }

    /// What was open when the log ended.
    pub(super) fn unended(mut self) -> Vec<Span> {
        let open = self.attempts.open.take().into_iter().chain(self.calls.left()).chain(self.turn.take());
        for mut span in open {
            span.end = self.now;
            span.say("daybook.open", true);
            self.done.push(span);
        }
        self.done
    }

    pub(super) fn now(&self) -> u64 {
        self.now
    }

    pub(super) fn turn_id(&self) -> Option<&str> {
        self.turn.as_ref().map(|turn| turn.id.as_str())
    }

    /// A span of the open turn, or of the one whose id is given, that begins now.
    pub(super) fn span(&self, id: &str, name: String, kind: Kind) -> Option<Span> {
        let turn = self.turn_id()?;
        Some(Span {
            trace: turn.to_owned(),
            id: id.to_owned(),
            parent: Some(turn.to_owned()),
            follows: None,
            name,
            kind,
            start: self.now,
            end: self.now,
            attributes: Vec::new(),
            events: Vec::new(),
            failed: None,
        })
    }

    pub(super) fn close(&mut self, mut span: Span) {
        span.end = self.now;
        self.done.push(span);
    }

    pub(super) fn charge(&mut self, settled: &Settled) {
        if let Settled::Reported { tokens } | Settled::Estimated { tokens } = settled {
            self.cost.input += tokens.input;
            self.cost.output += tokens.output;
            self.cost.cache_read += tokens.cache_read;
            self.cost.cache_write += tokens.cache_write;
        }
    }

    fn begin(&mut self, e: &TurnStart) {
        (self.number, self.cost, self.step) = (self.number + 1, Usage::default(), None);
        let (source, follows) = match &e.source {
            Source::Message { .. } => ("message", None),
            Source::Recovery { of } => ("recovery", Some(of.to_string())),
            Source::Summary => ("summary", None),
        };
        let attributes: Attributes = vec![
            ("gen_ai.operation.name", "invoke_agent".into()),
            ("gen_ai.agent.name", "Daybook".into()),
            ("gen_ai.conversation.id", self.session.to_string().into()),
            ("daybook.turn.id", e.turn.to_string().into()),
            ("daybook.turn.number", self.number.into()),
            ("daybook.turn.source", source.into()),
            ("daybook.mode", self.mode.as_ref().map(word).unwrap_or_default().into()),
        ];
        self.turn = Some(Span {
            trace: e.turn.to_string(),
            id: e.turn.to_string(),
            parent: None,
            follows,
            name: "invoke_agent Daybook".into(),
            kind: Kind::Internal,
            start: self.now,
            end: self.now,
            attributes,
            events: Vec::new(),
            failed: None,
        });
    }

    fn end(&mut self, end: &End) {
        let Some(mut turn) = self.turn.take() else { return };
        if let Some(step) = &self.step {
            turn.say("gen_ai.provider.name", step.model.provider.clone());
            turn.say("gen_ai.request.model", step.model.model.clone());
            turn.say("daybook.turn.steps", step.n);
        }
        turn.attributes.extend(usage(&self.cost));
        let (reason, class) = match end {
            End::Completed => ("completed", None),
            End::Cancelled { by } => {
                turn.say("daybook.turn.cancelled_by", word(by));
                ("cancelled", None)
            }
            End::Rejected => ("rejected", None),
            End::NothingToDo => ("nothing_to_do", None),
            End::Failed { code, .. } => ("failed", Some(code.clone())),
            End::Length => ("length", Some("length".to_owned())),
            End::Refused => ("refused", Some("refused".to_owned())),
            End::Blocked { why } => ("blocked", Some(why.clone())),
            End::Limit { limit, .. } => ("limit", Some(format!("limit/{limit}"))),
            End::Interrupted => ("interrupted", Some("interrupted".to_owned())),
        };
        turn.say("daybook.turn.end", reason);
        if let Some(class) = class {
            turn.fail(class);
        }
        self.close(turn);
    }

    fn happened(&mut self, what: &'static str, said: Attributes) {
        if let Some(turn) = &mut self.turn {
            turn.events.push((self.now, what, said));
        }
    }
}

/// What was used, in the conventions' words: what a cache gave and took counts among the input.
pub(super) fn usage(tokens: &Usage) -> Attributes {
    let input = tokens.input + tokens.cache_read + tokens.cache_write;
    vec![
        ("gen_ai.usage.input_tokens", input.into()),
        ("gen_ai.usage.output_tokens", tokens.output.into()),
        ("gen_ai.usage.cache_read.input_tokens", tokens.cache_read.into()),
        ("gen_ai.usage.cache_creation.input_tokens", tokens.cache_write.into()),
    ]
}

fn shrunk(tokens: &domain::event::Shrunk) -> Attributes {
    vec![
        ("daybook.tokens.before", Said::from(tokens.before)),
        ("daybook.tokens.after", Said::from(tokens.after)),
    ]
}
