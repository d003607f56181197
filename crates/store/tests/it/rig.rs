//! What the tests share: a temporary store, a clock that stands where it is put, and small lawful stories to append.

use domain::call::{Act, Facts, Mode, Recovery, Semantics, Undo, Verdict};
use domain::digest::Digest;
use domain::event::*;
use domain::ids::{ApprovalId, AttemptId, CallId, FolderId, MessageId, SessionId, StepId, TurnId};
use domain::model::{Block, ModelDelta, ModelSnapshot, StopReason};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{Clock, Options, Store};

/// A clock that says what it was told last.
#[derive(Default)]
pub(crate) struct Hand(AtomicU64);

impl Hand {
    pub(crate) fn at(ms: u64) -> Arc<Self> {
        Arc::new(Self(ms.into()))
    }

    pub(crate) fn set(&self, ms: u64) {
        self.0.store(ms, Ordering::Relaxed);
    }
}

impl Clock for Hand {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

pub(crate) fn inline() -> Options {
    Options::inline(Hand::at(1_000))
}

#[track_caller]
pub(crate) fn open(folder: &Path) -> Store {
    Store::open(folder, inline()).expect("opens")
}

pub(crate) fn session(n: u128) -> SessionId {
    SessionId::from_bits(n)
}

/// The first event of a session.
pub(crate) fn created() -> Draft {
    Draft::new(SessionCreated {
        folder: FolderId::from_bits(1),
        root: "/home/ann/garden".into(),
        mode: Mode::Ask,
        model: Some(ModelChoice { provider: "anthropic".into(), model: "small".into() }),
        tour: false,
        identity: None,
    })
}

/// A lawful event that may come at any time.
pub(crate) fn renamed(title: &str) -> Draft {
    Draft::new(SessionRenamed { title: title.into() })
}

pub(crate) fn posted(n: u128, text: &str) -> Draft {
    Draft::new(InboxPosted {
        message: MessageId::from_bits(n),
        text: text.into(),
        target: Target::NextTurn,
        wakeup: true,
        origin: Origin::User,
        command: None,
    })
}

pub(crate) fn turn_start(n: u128) -> Draft {
    let turn = TurnId::from_bits(n);
    let source = Source::Message { message: MessageId::from_bits(n) };
    Draft::of_turn(&turn.clone(), TurnStart { turn, source })
}

pub(crate) fn turn_end(n: u128, end: End) -> Draft {
    Draft::of_turn(&TurnId::from_bits(n), TurnEnd { end })
}

/// A whole turn up to the question whether its one call may run. Ids come from `n`.
pub(crate) fn turn_until_asked(n: u128) -> Vec<Draft> {
    let (turn, step, attempt) = (TurnId::from_bits(n), StepId::from_bits(n), AttemptId::from_bits(n));
    let message = MessageId::from_bits(n);
    let body = Digest::of(&n.to_be_bytes());
    let of = |fact: Fact| Draft::of_step(&turn, &step, fact);
    let opened = (n == 1).then_some(EpochReason::First);
    let base = u32::try_from(n - 1).expect("small") * 2;
    vec![
        posted(n, "water the garden"),
        turn_start(n),
        of(StepStart { step: step.clone(), n: 1, model: model() }.into()),
        of(InboxReserved { messages: vec![message.clone()], step: step.clone() }.into()),
        of(UserMessage { message: message.clone(), text: "water the garden".into() }.into()),
        of(RequestPrepared {
            prefix_epoch: 1,
            opened,
            revision: 1,
            dialect: "scripted".into(),
            adapter: 1,
            head: opened.map(|_| body),
            added: vec![body, Digest::of(b"more")],
            base,
            markers: vec![],
            body,
            bytes: 10,
            included: vec![message],
            tokens: 3,
        }
        .into()),
        of(AttemptStart { attempt: attempt.clone(), n: 1, body, purpose: Purpose::Answer }.into()),
        of(AssistantDelta {
            attempt: attempt.clone(),
            deltas: vec![ModelDelta::Text { text: "On it".into() }],
        }
        .into()),
        of(AssistantAccepted {
            attempt: attempt.clone(),
            blocks: vec![Block::Call {
                provider_call_id: format!("toolu_{n}"),
                name: "run_command".into(),
                arguments: "{}".into(),
            }],
            stop: StopReason::ToolCalls,
        }
        .into()),
        of(AttemptEnd { attempt, end: AttemptEndKind::Accepted, settled: Settled::Unknown, raw: None }
            .into()),
        of(ToolCall {
            call: CallId::from_bits(n),
            index: 0,
            provider_call_id: format!("toolu_{n}"),
            name: "run_command".into(),
            checked: CheckedCall::Good {
                version: 1,
                arguments: "{}".into(),
                digest: Digest::of(b"{}"),
                mended: false,
            },
            retry_of: None,
        }
        .into()),
        of(ToolDecision {
            call: CallId::from_bits(n),
            decision: Verdict::Ask { rule: "mode/ask".into() },
            facts: Digest::of(b"facts"),
            act: Act::Run,
            touches: vec![".".into()],
        }
        .into()),
        of(ApprovalRequested {
            approval: ApprovalId::from_bits(n),
            call: CallId::from_bits(n),
            tool: "run_command".into(),
            version: 1,
            arguments: Digest::of(b"{}"),
            facts: facts(),
            digest: Digest::of(b"approval"),
            valid_ms: 1_000,
            offers: Vec::new(),
        }
        .into()),
    ]
}

/// The yes, and the call's start.
pub(crate) fn granted_and_started(n: u128) -> Vec<Draft> {
    let of = |fact: Fact| Draft::of_step(&TurnId::from_bits(n), &StepId::from_bits(n), fact);
    let semantics = Semantics::Possible { recovery: Recovery::Manual };
    vec![
        of(ApprovalGranted { approval: ApprovalId::from_bits(n), digest: Digest::of(b"approval") }.into()),
        of(ToolStart {
            call: CallId::from_bits(n),
            arguments: Digest::of(b"{}"),
            semantics,
            tree: None,
            secrets: Vec::new(),
        }
        .into()),
    ]
}

/// How the call's run can end.
pub(crate) fn call_result(n: u128) -> Draft {
    Draft::of_step(&TurnId::from_bits(n), &StepId::from_bits(n), result(n, serde_json::json!({ "exit": 0 })))
}

pub(crate) fn result(n: u128, value: serde_json::Value) -> ToolResult {
    ToolResult {
        call: CallId::from_bits(n),
        outcome: ToolOutcome::Ok { value },
        text: "done".into(),
        changed: Changed::default(),
        kept: BTreeMap::new(),
        seen: BTreeMap::new(),
        ms: 5,
    }
}

pub(crate) fn call_unknown(n: u128) -> Draft {
    let (evidence, text) = (BTreeMap::new(), "nobody knows".into());
    let fact = ToolOutcomeUnknown { call: CallId::from_bits(n), evidence, text, changed: Changed::default() };
    Draft::of_step(&TurnId::from_bits(n), &StepId::from_bits(n), fact)
}

/// The end of step and turn.
pub(crate) fn ends(n: u128, end: End) -> Vec<Draft> {
    let step = StepId::from_bits(n);
    let fact = StepEnd { step: step.clone(), end: StepEndKind::Tools };
    vec![Draft::of_step(&TurnId::from_bits(n), &step, fact), turn_end(n, end)]
}

/// A whole turn with one call that ran, ending at its limit of steps.
pub(crate) fn whole_turn(n: u128) -> Vec<Draft> {
    let limit = End::limit("steps", 1);
    [turn_until_asked(n), granted_and_started(n), vec![call_result(n)], ends(n, limit)].concat()
}

fn model() -> ModelSnapshot {
    ModelSnapshot {
        provider: "anthropic".into(),
        dialect: "scripted".into(),
        model: "small".into(),
        context_tokens: None,
        max_output_tokens: 100,
        parallel_calls: true,
        calls_as_text: false,
        abilities: Default::default(),
        effort: None,
        price: None,
    }
}

fn facts() -> Facts {
    Facts {
        act: Act::Run,
        can_touch: vec![".".into()],
        cannot_touch: vec![],
        added: Vec::new(),
        reach: Vec::new(),
        undo: Undo::No,
        risk: 2,
        exact: "true".into(),
        words: BTreeMap::new(),
        depends_on: BTreeMap::new(),
        proposed: None,
    }
}

/// A folder in memory where there is one: for tests that open many stores and cut no power.
pub(crate) fn quick_folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a folder")
}

/// Numbers that look random and are the same each run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Those of one seed of a test.
    pub(crate) fn of(test: u64, seed: u64) -> Self {
        Self(test ^ ((seed + 1) * 0x9e37_79b9))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The database as anybody with the file could open it, without our rules.
pub(crate) fn raw(folder: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.join("store.db")).expect("opens")
}
