//! A log under construction, for tests: facts in, chained events out, and the state beside them.
//!
//! [`Log::push`] records whatever it is given, lawful or not; [`Log::lawful`] insists on `check`. Ids are numbers of one
//! kind each, so that a test reads `call(2)` and means the same call everywhere.

use crate::call::{Act, Facts, Semantics, Undo, Verdict};
use crate::digest::Digest;
use crate::event::*;
use crate::ids::*;
use crate::model::{Answered, Block, ErrorClass, ModelError, ModelSnapshot, StopReason, Usage};
use crate::state::{State, Violation};
use std::collections::BTreeMap;

macro_rules! numbered {
    ($($name:ident: $id:ident;)*) => {$(
        pub(crate) fn $name(n: u128) -> $id {
            $id::from_bits(n)
        }
    )*};
}

numbered! {
    turn: TurnId;
    step: StepId;
    attempt: AttemptId;
    call: CallId;
    approval: ApprovalId;
    message: MessageId;
    job: JobId;
    command: CommandId;
}

#[derive(Clone, Default)]
pub(crate) struct Log {
    pub(crate) events: Vec<Recorded>,
    pub(crate) state: State,
    pub(crate) epoch: u64,
}

impl Log {
    /// A session that was just created, in process 1.
    pub(crate) fn created() -> Self {
        let mut log = Self { epoch: 1, ..Self::default() };
        log.lawful(created());
        log
    }

    /// One waiting message, a turn that claims it and its first step.
    pub(crate) fn stepping() -> Self {
        let mut log = Self::created();
        log.lawful(posted(1));
        log.lawful(TurnStart { turn: turn(1), source: Source::Message { message: message(1) } });
        log.lawful(StepStart { step: step(1), n: 1, model: model() });
        log.lawful(InboxReserved { messages: vec![message(1)], step: step(1) });
        log
    }

    /// The same with its first request under way.
    pub(crate) fn attempting() -> Self {
        let mut log = Self::stepping();
        log.lawful(said(1));
        log.lawful(log.prepared());
        log.lawful(AttemptStart { attempt: attempt(1), n: 1, body: body(), purpose: Purpose::Answer });
        log
    }

    /// The same with an accepted answer that makes this many calls, all proposed.
    pub(crate) fn answered(calls: u32) -> Self {
        let mut log = Self::attempting();
        log.answer(1, calls);
        log
    }

    /// Accepts and settles an attempt with this many calls, and proposes them as calls 1, 2, …
    pub(crate) fn answer(&mut self, n: u128, calls: u32) {
        self.lawful(accepted(attempt(n), calls));
        self.lawful(ended(attempt(n), AttemptEndKind::Accepted));
        for index in 0..calls {
            self.lawful(proposed(u128::from(index) + 1, index));
        }
    }

    pub(crate) fn draft(&self, fact: impl Into<Fact>) -> Draft {
        Draft::new(fact)
    }

    pub(crate) fn check(&self, fact: impl Into<Fact>) -> Result<(), Violation> {
        self.state.check(&self.draft(fact))
    }

    /// Records a fact that must be lawful.
    #[track_caller]
    pub(crate) fn lawful(&mut self, fact: impl Into<Fact>) {
        let fact = fact.into();
        if let Err(violation) = self.check(fact.clone()) {
            panic!("{fact:?} after {}: {violation}", self.events.len());
        }
        self.push(fact);
    }

    /// Records a fact, lawful or not.
    pub(crate) fn push(&mut self, fact: impl Into<Fact>) {
        let draft = self.draft(fact);
        let kind = draft.fact.kind();
        let text = draft.fact.encode().expect("a payload");
        self.raw(kind.name, kind.version, kind.ignorable, &text);
    }

    /// Records any text under any type.
    pub(crate) fn raw(&mut self, kind: &str, version: u32, ignorable: bool, text: &str) {
        let seq = self.events.len() as u64;
        let mut recorded = Recorded {
            session: SessionId::from_bits(1),
            pos: seq,
            seq,
            kind: kind.to_owned(),
            version,
            time: 1_000 + seq,
            epoch: self.epoch,
            turn: None,
            step: None,
            ignorable,
            sources: Vec::new(),
            prev_hash: self.events.last().map_or(Digest::ZERO, |event| event.hash),
            hash: Digest::ZERO,
            payload: Payload::Text(text.into()),
        };
        recorded.hash = recorded.expected_hash();
        if let Ok(event) = recorded.clone().decode() {
            self.state.fold(&event);
        }
        self.events.push(recorded);
    }

    pub(crate) fn decoded(&self) -> Vec<Event> {
        self.events.iter().map(|event| event.clone().decode().expect("it decodes")).collect()
    }

    /// The request that the open step would prepare now.
    pub(crate) fn prepared(&self) -> RequestPrepared {
        let last = self.state.prefix.as_ref();
        let prefix = last.filter(|prefix| prefix.generation == self.state.history.generation);
        let opened = if last.is_some() { EpochReason::History } else { EpochReason::First };
        RequestPrepared {
            prefix_epoch: last.map_or(0, |last| last.epoch) + u32::from(prefix.is_none()),
            opened: prefix.is_none().then_some(opened),
            revision: self.state.step().map_or(1, |(_, step)| step.revisions + 1),
            dialect: "scripted".into(),
            adapter: 1,
            head: prefix.is_none().then(|| Digest::of(b"head")),
            added: vec![Digest::of(b"segment")],
            base: prefix.map_or(0, |prefix| prefix.segments),
            markers: Vec::new(),
            body: body(),
            bytes: 1,
            included: Vec::new(),
            tokens: 1,
        }
    }
}

impl Log {
    /// A checkpoint that stands for all before this event.
    pub(crate) fn checkpoint(&self, upto: u64) -> CheckpointCommitted {
        let generation = self.state.history.generation;
        let last = usize::try_from(upto).ok().and_then(|upto| upto.checked_sub(1));
        CheckpointCommitted {
            generation: generation + 1,
            from: generation,
            upto,
            chain: last.and_then(|at| self.events.get(at)).map_or(Digest::ZERO, |event| event.hash),
            steps: 1,
            kept: 0,
            text: format!("what was before {upto}"),
            summary: None,
            tokens: Shrunk { before: 10, after: 5 },
            why: ShortenWhy::Budget,
        }
    }

    /// References in the place of long results before this event.
    pub(crate) fn shortening(&self, upto: u64) -> HistoryShortened {
        let generation = self.state.history.generation;
        HistoryShortened {
            generation: generation + 1,
            from: generation,
            upto,
            results: 1,
            tokens: Shrunk { before: 10, after: 5 },
            why: ShortenWhy::Budget,
        }
    }

    /// The full history again.
    pub(crate) fn in_full(&self) -> HistoryRestored {
        let generation = self.state.history.generation;
        HistoryRestored { generation: generation + 1, from: generation }
    }
}

pub(crate) fn created() -> SessionCreated {
    SessionCreated {
        folder: FolderId::from_bits(1),
        root: "/folder".into(),
        mode: crate::call::Mode::Ask,
        model: None,
        tour: false,
        identity: None,
    }
}

pub(crate) fn model() -> ModelSnapshot {
    ModelSnapshot {
        provider: "scripted".into(),
        dialect: "scripted".into(),
        model: "script".into(),
        context_tokens: None,
        max_output_tokens: 1_000,
        parallel_calls: true,
        calls_as_text: false,
        abilities: Default::default(),
        effort: None,
        price: None,
    }
}

pub(crate) fn body() -> Digest {
    Digest::of(b"body")
}

pub(crate) fn arguments() -> Digest {
    Digest::of(b"{}")
}

pub(crate) fn posted(n: u128) -> InboxPosted {
    InboxPosted {
        message: message(n),
        text: format!("words {n}"),
        target: Target::NextStep,
        wakeup: true,
        origin: Origin::User,
        command: None,
    }
}

pub(crate) fn said(n: u128) -> UserMessage {
    UserMessage { message: message(n), text: format!("words {n}") }
}

pub(crate) fn blocks(calls: u32) -> Vec<Block> {
    let mut blocks = vec![Block::Text { text: "words".into() }];
    blocks.extend((0..calls).map(|index| Block::Call {
        provider_call_id: format!("p{index}"),
        name: "tool".into(),
        arguments: "{}".into(),
    }));
    blocks
}

pub(crate) fn accepted(attempt: AttemptId, calls: u32) -> AssistantAccepted {
    let stop = if calls == 0 { StopReason::Stop } else { StopReason::ToolCalls };
    AssistantAccepted { attempt, blocks: blocks(calls), stop }
}

pub(crate) fn ended(attempt: AttemptId, end: AttemptEndKind) -> AttemptEnd {
    let tokens = Usage { input: 10, output: 2, ..Usage::default() };
    AttemptEnd { attempt, end, settled: Settled::Reported { tokens }, raw: None }
}

pub(crate) fn failed(retry: Option<Retry>) -> AttemptEndKind {
    let answered = Answered { status: Some(500), ..Answered::default() };
    let error = ModelError { answered, ..ModelError::new(ErrorClass::Server, "trouble") };
    AttemptEndKind::Failed { error, retry }
}

pub(crate) fn proposed(n: u128, index: u32) -> ToolCall {
    ToolCall {
        call: call(n),
        index,
        provider_call_id: format!("p{index}"),
        name: "tool".into(),
        checked: CheckedCall::Good { version: 1, arguments: "{}".into(), digest: arguments(), mended: false },
        retry_of: None,
    }
}

pub(crate) fn decided(n: u128, decision: Verdict) -> ToolDecision {
    ToolDecision {
        call: call(n),
        decision,
        facts: Digest::of(b"facts"),
        act: Act::Run,
        touches: vec![".".into()],
    }
}

pub(crate) fn allow() -> Verdict {
    Verdict::Allow { rule: "test".into() }
}

pub(crate) fn ask() -> Verdict {
    Verdict::Ask { rule: "test".into() }
}

pub(crate) fn deny() -> Verdict {
    Verdict::Deny { rule: "test".into(), reason: "no".into() }
}

pub(crate) fn asked(n: u128, of: u128) -> ApprovalRequested {
    let facts = Facts {
        act: Act::Run,
        can_touch: vec![".".into()],
        cannot_touch: Vec::new(),
        added: Vec::new(),
        reach: Vec::new(),
        undo: Undo::No,
        risk: 2,
        exact: "{}".into(),
        words: BTreeMap::new(),
        depends_on: BTreeMap::new(),
        proposed: None,
    };
    ApprovalRequested {
        approval: approval(n),
        call: call(of),
        tool: "tool".into(),
        version: 1,
        arguments: arguments(),
        facts,
        digest: Digest::of(b"shown"),
        valid_ms: 1_000,
        offers: Vec::new(),
    }
}

pub(crate) fn granted(n: u128) -> ApprovalGranted {
    ApprovalGranted { approval: approval(n), digest: Digest::of(b"shown") }
}

pub(crate) fn started(n: u128, semantics: Semantics) -> ToolStart {
    ToolStart { call: call(n), arguments: arguments(), semantics, tree: None, secrets: Vec::new() }
}

pub(crate) fn manual() -> Semantics {
    Semantics::Possible { recovery: crate::call::Recovery::Manual }
}

pub(crate) fn result(n: u128) -> ToolResult {
    ToolResult {
        call: call(n),
        outcome: ToolOutcome::Ok { value: serde_json::json!({}) },
        text: format!("result {n}"),
        changed: Changed::default(),
        kept: BTreeMap::new(),
        seen: BTreeMap::new(),
        ms: 1,
    }
}

pub(crate) fn denied(n: u128) -> ToolDenied {
    ToolDenied { call: call(n), by: "policy".into(), text: "not allowed".into() }
}

pub(crate) fn cancelled(n: u128) -> ToolCancelled {
    ToolCancelled { call: call(n), text: "stopped".into(), changed: Changed::default() }
}

pub(crate) fn unknown(n: u128) -> ToolOutcomeUnknown {
    ToolOutcomeUnknown {
        call: call(n),
        evidence: BTreeMap::new(),
        text: "outcome unknown".into(),
        changed: Changed::default(),
    }
}

/// A job that this call makes.
pub(crate) fn job_created(n: u128, by: u128) -> JobCreated {
    JobCreated { job: job(n), call: call(by), command: format!("command {n}"), notify: false }
}

pub(crate) fn job_started(n: u128, semantics: Semantics) -> JobStarted {
    JobStarted { job: job(n), semantics, tree: None, since: None, uncaged: false }
}

pub(crate) fn job_cancel(n: u128, by: JobCancelBy) -> JobCancel {
    JobCancel { job: job(n), by }
}

pub(crate) fn job_lost(n: u128) -> JobReconciling {
    JobReconciling { job: job(n), evidence: BTreeMap::new() }
}

pub(crate) fn job_ended(n: u128, end: JobEnd) -> JobEnded {
    JobEnded {
        job: job(n),
        end,
        text: format!("end {n}"),
        changed: Changed::default(),
        kept: BTreeMap::new(),
        seen: BTreeMap::new(),
        secrets: Vec::new(),
        ms: 1,
    }
}

pub(crate) fn completed() -> JobEnd {
    JobEnd::Completed { value: serde_json::json!({}) }
}

pub(crate) fn step_end(n: u128, end: StepEndKind) -> StepEnd {
    StepEnd { step: step(n), end }
}
