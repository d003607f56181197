//! Every way a turn can end, each with a reason of its own, and each start paired with its end.

use super::*;

/// The events of a bench's way, in order.
#[derive(Default)]
struct Way(Vec<String>);

impl Way {
    fn add(&mut self, kinds: &str) {
        self.0.extend(kinds.split_whitespace().map(str::to_owned));
    }

    fn count(&self, kind: &str) -> usize {
        self.0.iter().filter(|known| *known == kind).count()
    }
}

/// A turn with its first request under way, and what led there.
fn attempting() -> (Bench, Way) {
    let (mut bench, mut way) = (Bench::new(), Way::default());
    bench.say("Go.", Target::NextStep);
    way.add(&bench.advance());
    way.add(&bench.prepare());
    (bench, way)
}

/// Goes a way to the turn's end: each start has its end, and the reasons are these.
#[track_caller]
fn ends(name: &str, go: impl FnOnce(&mut Bench, &mut Way), expect: &[&str]) {
    let (mut bench, mut way) = attempting();
    go(&mut bench, &mut way);
    way.add(&bench.advance());
    assert_eq!(bench.ends, expect, "{name}");
    for (start, end) in
        [("turn/start", "turn/end"), ("step/start", "step/end"), ("attempt/start", "attempt/end")]
    {
        assert_eq!(way.count(start), way.count(end), "{name}: {start} and {end} in {:?}", way.0);
    }
    assert!(bench.state.turn.is_none(), "{name}");
}

#[test]
fn r_loop_18_every_way_pairs_starts_with_ends_and_has_its_own_reason() {
    ends("answered", |b, way| way.add(&b.answer(words("Yes."), StopReason::Stop)), &["completed"]);
    ends("cut at the limit", |b, way| way.add(&b.answer(words("Half"), StopReason::Length)), &["length"]);
    ends("refused by the model", |b, way| way.add(&b.answer(words("No"), StopReason::Refusal)), &["refused"]);
    ends("a wrong key", |b, way| way.add(&b.fail(ErrorClass::Auth, None)), &["failed"]);
    ends(
        "stopped",
        |b, way| {
            b.tell(Command::Stop(CancelBy::User));
            let (attempt, text) = (b.attempt(), String::new());
            way.add(&b.take(Input::SendStopped { attempt, text, usage: None }));
        },
        &["cancelled"],
    );
    ends(
        "its process died",
        |b, way| {
            way.add(&b.recover());
            // Its continuation waits for a place.
            b.slot = false;
        },
        &["interrupted"],
    );
    ends(
        "nothing but refusals",
        |b, way| {
            b.limits.refused_steps = 1;
            way.add(&b.answer(calls(&["tool"]), StopReason::ToolCalls));
            b.judge(0, ask(), b"facts", false);
            let (approval, _) = b.approval(0);
            b.tell(Command::Refuse { approval, why: None });
        },
        &["rejected"],
    );
    ends(
        "the limit of steps",
        |b, way| {
            b.limits.steps_per_turn = 1;
            way.add(&b.answer(calls(&["bad"]), StopReason::ToolCalls));
        },
        &["limit"],
    );
}

/// A request that can't even be built, and a question that only its person can answer.
#[test]
fn r_loop_18_a_request_that_can_not_be_built_ends_its_turn() {
    let (mut bench, mut way) = (Bench::new(), Way::default());
    bench.say("Go.", Target::NextStep);
    way.add(&bench.advance());
    let step = bench.step_id();
    way.add(&bench.take(Input::NotPrepared { step, code: "key/missing".into(), message: "no key".into() }));
    way.add(&bench.advance());
    assert_eq!(bench.ends, ["failed"]);
    assert_eq!((way.count("step/start"), way.count("step/end"), way.count("turn/end")), (1, 1, 1));
    assert!(bench.state.inbox.is_empty(), "what was said is in the history");
}

/// What it claimed is gone before a step began: it ran nothing and says so.
#[test]
fn r_loop_19_a_turn_without_a_step_ends_with_its_own_reason() {
    let mut bench = Bench::new();
    bench.say("Go.", Target::NextStep);
    let message = bench.state.inbox[0].message.clone();
    let turn = domain::ids::TurnId::new(&bench.ids);
    let start = TurnStart { turn: turn.clone(), source: Source::Message { message: message.clone() } };
    bench.fold(Decision { drafts: vec![Draft::of_turn(&turn, start)], barrier: false });
    bench.tell(Command::TakeBack(message));
    assert_eq!(bench.advance(), "turn/end");
    assert_eq!(bench.ends, ["nothing_to_do"]);
}

/// Several calls of one answer are one step's; the next answer is another's.
#[test]
fn r_loop_05_one_answer_and_its_calls_are_one_step() {
    let (mut bench, mut way) = attempting();
    way.add(&bench.answer(calls(&["bad", "bad", "bad"]), StopReason::ToolCalls));
    way.add(&bench.advance());
    assert_eq!((way.count("step/start"), way.count("assistant/accepted"), way.count("tool/call")), (2, 1, 3));
    way.add(&bench.prepare());
    way.add(&bench.answer(words("Done."), StopReason::Stop));
    way.add(&bench.advance());
    assert_eq!((way.count("step/start"), way.count("step/end")), (2, 2));
    assert_eq!(bench.ends, ["completed"]);
}

/// Steer, follow-up and the host's word differ in when they are read and in whether they wake; nothing else.
#[test]
fn r_inb_03_three_uses_of_one_message() {
    let posted = |bench: &Bench| bench.state.inbox.last().map(|w| (w.target, w.wakeup)).expect("it waits");
    let (mut bench, _) = attempting();
    bench.say("Rather so.", Target::NextStep);
    assert_eq!(posted(&bench), (Target::NextStep, true), "a steer");
    bench.say("Later.", Target::NextTurn);
    assert_eq!(posted(&bench), (Target::NextTurn, true), "a follow-up");
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    bench.judge(0, allow(), b"facts", true);
    bench.finish(0, FinishedEnd::Unknown(BTreeMap::new()));
    let call = bench.state.unknown[0].call.clone();
    bench.tell(Command::Resolve { call, resolution: Resolution::Done });
    assert_eq!(posted(&bench), (Target::NextStep, false), "the host's word doesn't wake");
}

/// Whoever asks for another history while a request is built gets one that is built from that.
#[test]
fn a_request_of_a_history_that_has_passed_is_prepared_again() {
    for asked in [true, false] {
        let mut bench = Bench::new();
        bench.say("Go.", Target::NextStep);
        bench.advance();
        let (request, from) = (bench.request(), bench.state.history.generation);
        let fact: Fact = match asked {
            true => HistoryAsked { from }.into(),
            false => HistoryRestored { generation: from + 1, from }.into(),
        };
        bench.fold(Decision::plain(vec![Draft::new(fact)]));
        assert_eq!(bench.take(request), "");
        let step = bench.step_id();
        assert!(bench.with(wanted).contains(&Op::Prepare(step)), "it is prepared again");
    }
}
