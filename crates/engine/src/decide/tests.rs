//! Deciding, without any IO: a state and an input give events, and every event must pass the law.
//!
//! The **bench** holds a state and what deciding may look up; its answers are the types of the events, in order.

mod ends;
mod jobs;
mod known;
mod models;
mod quiet;
mod revoked;
mod spending;

use super::*;
use crate::input::{Finished, FinishedEnd, PreparedRequest};
use domain::call::{Act, Facts, Recovery, Semantics, ToolError, Undo, Verdict};
use domain::digest::Digest;
use domain::event::*;
use domain::ids::{ApprovalId, AttemptId, CallId, CommandId, FolderId, SessionId, StepId};
use domain::model::{Abilities, Block, Effort, ErrorClass, ModelError, Outcome, StopReason};
use domain::state::{Call, StepPhase};
use known::Known;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

struct Counted(AtomicU64);

impl Ids for Counted {
    fn next(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

struct Bench {
    state: State,
    ids: Counted,
    limits: Limits,
    now: u64,
    epoch: u64,
    jitter: u64,
    attended: bool,
    slot: bool,
    closing: bool,
    known: Known,
    /// Reasons of the turns that ended.
    ends: Vec<String>,
}

impl Bench {
    fn new() -> Self {
        let mut bench = Self {
            state: State::default(),
            ids: Counted(AtomicU64::new(0)),
            limits: Limits::default(),
            now: 1_000,
            epoch: 1,
            jitter: 500,
            attended: true,
            slot: true,
            closing: false,
            known: Known::default(),
            ends: Vec::new(),
        };
        let model = Some(ModelChoice { provider: "scripted".into(), model: "script".into() });
        let folder = FolderId::from_bits(1);
        let mode = domain::call::Mode::Ask;
        bench.tell(Command::Create(SessionCreated {
            folder,
            root: "/f".into(),
            mode,
            model,
            tour: false,
            identity: None,
        }));
        bench
    }

    fn with<T>(&self, what: impl FnOnce(&State, &Env<'_>) -> T) -> T {
        let env = Env {
            now: self.now,
            epoch: self.epoch,
            ids: &self.ids,
            jitter: self.jitter,
            limits: &self.limits,
            attended: self.attended,
            closing: self.closing,
            slot: self.slot,
            knowledge: &self.known,
        };
        what(&self.state, &env)
    }

    /// Takes events in, each against the law, and gives their types.
    #[track_caller]
    fn fold(&mut self, decision: Decision) -> String {
        let mut kinds = Vec::new();
        for draft in decision.drafts {
            let kind = draft.fact.kind();
            if let Err(violation) = self.state.check(&draft) {
                panic!("{}: {violation}", kind.name);
            }
            kinds.push(kind.name);
            if let Fact::TurnEnd(end) = &draft.fact {
                let reason = serde_json::to_value(&end.end).expect("it serialises")["reason"].clone();
                self.ends.extend(reason.as_str().map(str::to_owned));
            }
            let envelope = Recorded {
                session: SessionId::from_bits(1),
                pos: 0,
                seq: self.state.next_seq,
                kind: kind.name.into(),
                version: kind.version,
                time: self.now,
                epoch: self.epoch,
                turn: draft.turn,
                step: draft.step,
                ignorable: kind.ignorable,
                sources: Vec::new(),
                prev_hash: Digest::ZERO,
                hash: Digest::ZERO,
                payload: Payload::Erased(Digest::ZERO),
            };
            self.state.fold(&Event { envelope, fact: Some(draft.fact) });
        }
        kinds.join(" ")
    }

    #[track_caller]
    fn tell(&mut self, command: Command) -> String {
        let (decision, _) = self.with(|state, env| super::command(state, command, env)).expect("it fits");
        self.fold(decision)
    }

    fn refuses(&self, command: Command) -> &'static str {
        self.with(|state, env| super::command(state, command, env)).expect_err("it is refused").code
    }

    #[track_caller]
    fn take(&mut self, input: Input) -> String {
        let decision = self.with(|state, env| take(state, input, env));
        self.fold(decision)
    }

    /// Everything that follows from the state alone.
    #[track_caller]
    fn advance(&mut self) -> String {
        let mut kinds = Vec::new();
        while let Some(decision) = self.with(advance) {
            kinds.push(self.fold(decision));
        }
        kinds.join(" ")
    }

    fn say(&mut self, text: &str, target: Target) -> String {
        self.tell(Command::Say { text: text.into(), target, command: None })
    }

    /// A turn with its first request under way.
    fn attempting() -> Self {
        let mut bench = Self::new();
        bench.say("Go.", Target::NextStep);
        bench.advance();
        bench.prepare();
        bench
    }

    #[track_caller]
    fn prepare(&mut self) -> String {
        self.take(self.request())
    }

    fn request(&self) -> Input {
        let (_, step) = self.state.step().expect("a step");
        let reserved = |w: &&domain::state::Waiting| w.reserved.as_ref() == Some(&step.id);
        let waiting: Vec<_> = self.state.inbox.iter().filter(reserved).collect();
        let said =
            waiting.iter().map(|w| UserMessage { message: w.message.clone(), text: w.text.clone() }.into());
        let request = PreparedRequest {
            generation: self.state.history.generation,
            asked: self.state.history.asked,
            facts: said.collect(),
            included: waiting.iter().map(|w| w.message.clone()).collect(),
            opened: self.state.prefix.is_none().then(|| (EpochReason::First, Digest::of(b"head"))),
            dialect: ("scripted".into(), 1),
            added: vec![Digest::of(b"segment")],
            markers: Vec::new(),
            body: Digest::of(b"body"),
            bytes: 4,
            tokens: 7,
            credential: None,
        };
        Input::Prepared { step: step.id.clone(), request: Box::new(request) }
    }

    fn attempt(&self) -> AttemptId {
        match self.state.step().map(|(_, step)| &step.phase) {
            Some(StepPhase::Attempting { attempt }) => attempt.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn answer(&mut self, blocks: Vec<Block>, stop: StopReason) -> String {
        let outcome = Outcome { blocks, stop, usage: None, response_id: None, model: None };
        self.take(Input::Answered { attempt: self.attempt(), outcome, raw: None })
    }

    #[track_caller]
    fn fail(&mut self, class: ErrorClass, retry_after_ms: Option<u64>) -> String {
        let error = ModelError { retry_after_ms, ..ModelError::new(class, "no") };
        self.take(Input::SendFailed { attempt: self.attempt(), error, raw: None })
    }

    fn wait_ms(&self) -> Option<u64> {
        match self.state.step().map(|(_, step)| &step.phase) {
            Some(StepPhase::Backoff { retry, .. }) => Some(retry.wait_ms),
            _ => None,
        }
    }

    fn step_id(&self) -> StepId {
        self.state.step().map(|(_, step)| step.id.clone()).expect("a step")
    }

    fn call(&self, at: usize) -> &Call {
        &self.state.step().expect("a step").1.calls[at]
    }

    #[track_caller]
    fn judge(&mut self, at: usize, verdict: Verdict, shown: &[u8], cleared: bool) -> String {
        let result = Ok(judgement(verdict, shown, cleared));
        let calls = vec![Judged { call: self.call(at).id.clone(), result }];
        self.take(Input::Judged { step: self.step_id(), calls })
    }

    fn approval(&self, at: usize) -> (ApprovalId, Digest) {
        let approval = self.call(at).approval.as_ref().expect("an approval");
        (approval.id.clone(), approval.digest)
    }

    #[track_caller]
    fn finish(&mut self, at: usize, end: FinishedEnd) -> String {
        let id = self.call(at).id.clone();
        self.take(finished(id, end))
    }

    fn recover(&mut self) -> String {
        self.epoch += 1;
        match self.with(|state, env| recover(state, env, &Found::new())) {
            Some(decision) => self.fold(decision),
            None => String::new(),
        }
    }
}

fn finished(call: CallId, end: FinishedEnd) -> Input {
    let (changed, kept, seen) = (Changed::default(), BTreeMap::new(), BTreeMap::new());
    let (text, secrets) = ("done".into(), Vec::new());
    Input::Finished { call, finished: Finished { end, text, changed, kept, seen, secrets }, ms: 1 }
}

fn judgement(verdict: Verdict, shown: &[u8], cleared: bool) -> Judgement {
    let facts = Facts {
        act: Act::Run,
        can_touch: vec![".".into()],
        cannot_touch: Vec::new(),
        added: Vec::new(),
        reach: Vec::new(),
        undo: Undo::No,
        risk: 2,
        exact: "x".into(),
        words: BTreeMap::new(),
        depends_on: BTreeMap::new(),
        proposed: None,
    };
    Judgement {
        added: Vec::new(),
        mode: domain::call::Mode::Ask,
        in_force: InForce::default(),
        verdict,
        facts,
        facts_digest: Digest::of(shown),
        semantics: Semantics::Possible { recovery: Recovery::Manual },
        approval_digest: Digest::of(shown),
        offers: Vec::new(),
        cleared,
        waits: false,
        tree: None,
        since: 0,
        uncaged: false,
        interaction: None,
    }
}

fn words(text: &str) -> Vec<Block> {
    vec![Block::Text { text: text.into() }]
}

fn calls(names: &[&str]) -> Vec<Block> {
    let call = |(at, name): (usize, &&str)| Block::Call {
        provider_call_id: format!("p{at}"),
        name: (*name).into(),
        arguments: format!("{{\"n\":{at}}}"),
    };
    names.iter().enumerate().map(call).collect()
}

fn ask() -> Verdict {
    Verdict::Ask { rule: "t".into() }
}

fn allow() -> Verdict {
    Verdict::Allow { rule: "t".into() }
}

#[test]
fn r_inb_14_claiming_work_and_creating_the_turn_is_one_transaction() {
    let mut bench = Bench::new();
    assert_eq!(bench.say("Go.", Target::NextStep), "inbox/posted session/renamed");
    bench.slot = false;
    assert_eq!(bench.advance(), "", "no turn without one of the store's places");
    assert_eq!(bench.with(wanted), [Op::Slot]);
    bench.slot = true;
    let decision = bench.with(advance).expect("a turn");
    assert_eq!(bench.fold(decision), "turn/start step/start inbox/reserved");
}

/// One place orders the work: what a crash cut off, the person's message, the follow-up.
#[test]
fn r_inb_15_recovery_then_message_then_follow_up() {
    let mut bench = Bench::attempting();
    bench.say("Later.", Target::NextTurn);
    bench.say("Now.", Target::NextStep);
    assert_eq!(bench.recover(), "attempt/end step/end turn/end recovery/continuation");
    bench.advance();
    let source = |bench: &Bench| bench.state.turn.as_ref().map(|turn| turn.source.clone());
    assert!(matches!(source(&bench), Some(Source::Recovery { .. })));
    let left: Vec<_> =
        bench.state.inbox.iter().filter(|w| w.reserved.is_none()).map(|w| w.text.as_str()).collect();
    assert_eq!(left, ["Later."], "the message is read in the same turn, the follow-up is not");
}

#[test]
fn r_inb_04_what_does_not_wake_waits_for_other_work() {
    let mut bench = Bench::new();
    let message = domain::ids::MessageId::from_bits(99);
    let (text, target, origin) = ("By the way.".to_owned(), Target::NextStep, Origin::Host);
    let posted = InboxPosted { message, text, target, wakeup: false, origin, command: None };
    bench.fold(Decision::plain(vec![Draft::new(posted)]));
    assert_eq!(bench.advance(), "");
    bench.say("Go.", Target::NextStep);
    bench.advance();
    assert!(bench.state.inbox.iter().all(|w| w.reserved.is_some()), "both go with the turn");
}

#[test]
fn r_mod_05_only_a_whole_answer_is_accepted() {
    let ended = |blocks, stop| {
        let mut bench = Bench::attempting();
        bench.answer(blocks, stop)
    };
    assert_eq!(ended(words("Yes."), StopReason::Stop), "assistant/accepted attempt/end");
    for stop in [StopReason::Length, StopReason::Refusal, StopReason::ContentFilter] {
        assert_eq!(ended(words("Half"), stop), "attempt/end step/end turn/end", "{stop:?}");
        assert!(!ended(calls(&["tool"]), stop).contains("accepted"), "{stop:?}");
    }
    assert_eq!(ended(Vec::new(), StopReason::Stop), "attempt/end", "an empty one is tried again");
    // Calls count even where the model says that it stopped.
    assert_eq!(ended(calls(&["tool"]), StopReason::Stop), "assistant/accepted attempt/end tool/call");
    assert_eq!(
        ended(calls(&["bad", "tool"]), StopReason::ToolCalls),
        "assistant/accepted attempt/end tool/call tool/result tool/call"
    );
}

#[test]
fn r_inv_08_calls_beyond_the_limit_are_not_looked_at() {
    let mut bench = Bench::attempting();
    bench.limits.calls_per_step = 1;
    let kinds = bench.answer(calls(&["tool", "tool", "tool"]), StopReason::ToolCalls);
    assert_eq!(kinds.matches("tool/result").count(), 2, "{kinds}");
    assert!(bench.call(1).ended() && bench.call(2).ended() && !bench.call(0).ended());
}

/// An answer that comes for what has ended is left out, and on record as that.
#[test]
fn i07_late_inputs_change_nothing() {
    let mut bench = Bench::attempting();
    let (attempt, step) = (bench.attempt(), bench.step_id());
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    let call = bench.call(0).id.clone();
    bench.judge(0, allow(), b"x", true);
    assert_eq!(bench.finish(0, FinishedEnd::Ok(serde_json::json!({}))), "tool/result");
    assert_eq!(bench.take(finished(call.clone(), FinishedEnd::Stopped)), "late/ignored");
    assert_eq!(bench.take(Input::Output { call, text: "x".into() }), "");
    let outcome = Outcome {
        blocks: words("Late."),
        stop: StopReason::Stop,
        usage: None,
        response_id: None,
        model: None,
    };
    assert_eq!(bench.take(Input::Answered { attempt: attempt.clone(), outcome, raw: None }), "late/ignored");
    assert_eq!(bench.take(Input::SendStopped { attempt, text: String::new(), usage: None }), "late/ignored");
    assert_eq!(bench.take(Input::BackoffOver { step }), "");
}

/// Stopping closes from the inside out, waits for what runs, and wants nothing more.
#[test]
fn r_loop_22_a_stop_converges_from_the_inside_out() {
    let mut bench = Bench::attempting();
    bench.answer(calls(&["tool", "tool"]), StopReason::ToolCalls);
    bench.judge(0, allow(), b"x", true);
    assert_eq!(bench.tell(Command::Stop(CancelBy::User)), "turn/cancel");
    assert_eq!(bench.tell(Command::Stop(CancelBy::Shutdown)), "", "the first reason stays");
    assert_eq!(bench.with(wanted), []);
    assert_eq!(bench.advance(), "tool/cancelled", "the second call never starts; the first one still runs");
    assert_eq!(bench.finish(0, FinishedEnd::Stopped), "tool/cancelled");
    assert_eq!(bench.advance(), "step/end turn/end");
    assert_eq!(bench.state.turn, None);
}

#[test]
fn r_pol_04_changed_facts_void_the_yes_and_ask_again() {
    let mut bench = Bench::attempting();
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    assert_eq!(bench.judge(0, ask(), b"shown", false), "tool/decision approval/requested");
    let (approval, digest) = bench.approval(0);
    let other = Command::Grant { approval: approval.clone(), digest: Digest::of(b"other"), offer: None };
    assert_eq!(bench.refuses(other), "approval/changed");
    assert_eq!(
        bench.tell(Command::Grant { approval: approval.clone(), digest, offer: None }),
        "approval/granted"
    );
    assert_eq!(bench.refuses(Command::Grant { approval, digest, offer: None }), "approval/closed");
    assert_eq!(bench.judge(0, ask(), b"changed", false), "tool/decision approval/expired approval/requested");
    let (approval, digest) = bench.approval(0);
    bench.tell(Command::Grant { approval, digest, offer: None });
    assert_eq!(bench.judge(0, ask(), b"changed", true), "tool/decision tool/start");
}

/// Judging takes a moment; a switch to Plan only in between must hold for the call that is being judged.
#[test]
fn r_pol_05_a_judgement_made_under_another_mode_starts_nothing() {
    let mut bench = Bench::attempting();
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    bench.tell(Command::SetMode(domain::call::Mode::Plan));
    let allow = Verdict::Allow { rule: "mode/auto".into() };
    assert_eq!(bench.judge(0, allow.clone(), b"shown", true), "");
    bench.tell(Command::SetMode(domain::call::Mode::Ask));
    assert_eq!(bench.judge(0, allow, b"shown", true), "tool/decision tool/start");
}

#[test]
fn r_pol_03_an_approval_lapses_and_a_clock_set_back_is_no_yes() {
    let mut bench = Bench::attempting();
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    bench.judge(0, ask(), b"shown", false);
    let (approval, digest) = bench.approval(0);
    let grant = || Command::Grant { approval: approval.clone(), digest, offer: None };
    let asked = bench.now;
    bench.now = asked + bench.limits.approval_valid_ms;
    assert_eq!(bench.refuses(grant()), "approval/expired");
    bench.now = asked - 1;
    assert_eq!(bench.refuses(grant()), "approval/expired");
    let due = Input::ApprovalDue { approval: approval.clone() };
    assert_eq!(bench.take(due.clone()), "approval/expired tool/denied");
    assert_eq!(bench.take(due), "");
}

#[test]
fn r_pol_11_nobody_there_means_no() {
    let mut bench = Bench::attempting();
    bench.attended = false;
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    let kinds = bench.judge(0, ask(), b"shown", false);
    assert_eq!(kinds, "tool/decision approval/requested approval/refused tool/denied");
}

#[test]
fn r_exe_06_an_unknown_end_is_asked_about_before_anything_goes_on() {
    let mut bench = Bench::attempting();
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    bench.judge(0, allow(), b"x", true);
    let call = bench.call(0).id.clone();
    assert_eq!(bench.finish(0, FinishedEnd::Unknown(BTreeMap::new())), "tool/outcome_unknown");
    assert_eq!(bench.advance(), "step/end", "no next step while the question is open");
    let resolve = Command::Resolve { call, resolution: Resolution::Done };
    assert_eq!(bench.tell(resolve.clone()), "call/resolved inbox/posted");
    assert_eq!(bench.refuses(resolve), "call/settled");
    assert_eq!(bench.advance(), "step/start inbox/reserved");
}

/// What a new process appends, for each place the old one can have died in; a second look adds nothing.
#[test]
fn r_rec_04_recovery_closes_each_phase_once() {
    type Until = fn(&mut Bench);
    let rows: [(Until, &str); 6] = [
        (|_| {}, "attempt/end step/end turn/end recovery/continuation"),
        (|b| drop(b.fail(ErrorClass::Server, None)), "step/end turn/end recovery/continuation"),
        (|b| drop(b.answer(words("Yes."), StopReason::Stop)), "recovery/adopted"),
        (|b| drop(b.answer(calls(&["tool"]), StopReason::ToolCalls)), "recovery/adopted"),
        (
            |b| {
                b.answer(calls(&["tool"]), StopReason::ToolCalls);
                b.judge(0, allow(), b"x", true);
            },
            "tool/outcome_unknown recovery/adopted",
        ),
        (|b| drop(b.tell(Command::Stop(CancelBy::User))), "attempt/end step/end turn/end"),
    ];
    for (until, expect) in rows {
        let mut bench = Bench::attempting();
        until(&mut bench);
        assert_eq!(bench.recover(), expect);
        bench.epoch -= 1;
        assert_eq!(bench.recover(), "", "a second look adds nothing");
    }
    let mut bench = Bench::new();
    bench.say("Go.", Target::NextStep);
    bench.advance();
    assert_eq!(bench.recover(), "inbox/released step/end turn/end", "the message wakes a turn of its own");
}

/// What a dead process left open is closed as interrupted, not as something that went wrong.
#[test]
fn r_rec_02_attempt_step_and_turn_of_a_dead_process_end_as_interrupted() {
    let mut bench = Bench::attempting();
    bench.epoch += 1;
    let decision = bench.with(|state, env| recover(state, env, &Found::new())).expect("open work");
    let interrupted = decision.drafts.iter().filter(|draft| match &draft.fact {
        Fact::AttemptEnd(end) => end.end == AttemptEndKind::Interrupted,
        Fact::StepEnd(end) => end.end == StepEndKind::Interrupted,
        Fact::TurnEnd(end) => end.end == End::Interrupted,
        _ => false,
    });
    assert_eq!(interrupted.count(), 3, "{:?}", decision.drafts);
}

#[test]
fn rel_x18_a_repeated_command_is_the_first_one() {
    let mut bench = Bench::new();
    let say = || Command::Say {
        text: "Go.".into(),
        target: Target::NextStep,
        command: Some(CommandId::from_bits(5)),
    };
    let first = bench.with(|state, env| command(state, say(), env)).expect("it fits");
    bench.fold(first.0);
    let again = bench.with(|state, env| command(state, say(), env)).expect("it fits");
    assert_eq!(again.0.drafts, []);
    assert_eq!(again.1.message, first.1.message);
    assert!(again.1.repeated_at.is_some());
}

#[test]
fn r_inv_08_messages_are_bounded_and_never_empty() {
    let mut bench = Bench::new();
    bench.limits.inbox_messages = 1;
    let say = |text: String| Command::Say { text, target: Target::NextTurn, command: None };
    assert_eq!(bench.refuses(say(" \n".into())), "message/empty");
    assert_eq!(bench.refuses(say("x".repeat(bench.limits.message_bytes + 1))), "message/too_long");
    bench.tell(say("One.".into()));
    assert_eq!(bench.refuses(say("Two.".into())), "inbox/full");
}
