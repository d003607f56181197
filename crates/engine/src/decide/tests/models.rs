//! Whom a step asks, and what follows when there is no answer: waiting, another model, the end; and how much is thought.
//!
//! A step's model is **frozen**: whatever the person chooses meanwhile holds from the next step on.

use super::*;

#[test]
fn r_mod_09_waits_double_with_spread_and_end_after_five_attempts() {
    let mut bench = Bench::attempting();
    let mut waits = Vec::new();
    for (n, jitter) in [(1, 0), (2, 999), (3, 0), (4, 999)] {
        bench.jitter = jitter;
        assert_eq!(bench.fail(ErrorClass::Server, None), "attempt/end", "attempt {n}");
        waits.extend(bench.wait_ms());
        let step = bench.step_id();
        assert_eq!(bench.take(Input::BackoffOver { step }), "attempt/start");
    }
    assert_eq!(waits, [250, 1_000, 1_000, 4_000], "between half and the whole of 500, 1000, 2000, 4000");
    assert_eq!(bench.fail(ErrorClass::Server, None), "attempt/end step/end turn/end");
}

#[test]
fn rel_x16_retry_after_is_honoured_up_to_a_bound() {
    let after = |ms| {
        let mut bench = Bench::attempting();
        bench.fail(ErrorClass::RateLimited, Some(ms));
        bench.wait_ms()
    };
    assert_eq!(after(0), Some(375), "never sooner than our own wait");
    assert_eq!(after(3_000), Some(3_000));
    assert_eq!(after(120_000), Some(120_000));
    assert_eq!(after(120_001), None, "beyond that the turn ends");
    assert_eq!(after(u64::MAX), None);
}

/// The next of the person's list goes on in a step of its own; what can't be helped by another service ends the turn.
#[test]
fn r_mod_17_the_next_model_goes_on_where_one_does_not_answer() {
    let choice = |model: &str| ModelChoice { provider: "scripted".into(), model: model.into() };
    let check = |class: ErrorClass, expect: &str| {
        let mut bench = Bench::attempting();
        bench.known.1 = vec![choice("script"), choice("second"), choice("third")];
        bench.limits.attempts_per_step = 1;
        assert_eq!(bench.fail(class, None), expect, "{class:?}");
        bench
    };
    for class in [ErrorClass::Auth, ErrorClass::BadRequest] {
        check(class, "attempt/end step/end turn/end");
    }
    check(ErrorClass::ContextOverflow, "attempt/end context/overflowed");
    for class in [ErrorClass::RateLimited, ErrorClass::Server, ErrorClass::Network, ErrorClass::Billing] {
        check(class, "attempt/end step/end model/switched");
    }
    let mut bench = check(ErrorClass::Overloaded, "attempt/end step/end model/switched");
    assert_eq!(bench.advance(), "step/start");
    let asked = |bench: &Bench| bench.state.step().map(|(_, step)| step.model.model.clone());
    assert_eq!(asked(&bench).as_deref(), Some("second"), "not the one that didn't answer");
    bench.prepare();
    bench.fail(ErrorClass::Overloaded, None);
    bench.advance();
    assert_eq!(asked(&bench).as_deref(), Some("third"));
    bench.prepare();
    assert_eq!(
        bench.fail(ErrorClass::Overloaded, None),
        "attempt/end step/end turn/end",
        "each is asked once"
    );
    bench.say("Again.", Target::NextStep);
    bench.advance();
    assert_eq!(asked(&bench).as_deref(), Some("script"), "a new turn asks the chosen one first");
}

#[test]
fn a_refused_certificate_is_not_asked_for_again() {
    let mut bench = Bench::attempting();
    let attempt = bench.attempt();
    let mut error = ModelError::new(ErrorClass::Network, "it isn't trusted");
    error.answered.certificate = Some(domain::model::CertificateProblem::Untrusted);
    let refused = Input::SendFailed { attempt, error, raw: None };
    assert_eq!(bench.take(refused), "attempt/end step/end turn/end");
}

/// A choice of the person counts more than the list, and one that a wait helps is waited for.
#[test]
fn r_mod_12_the_chain_waits_first_and_the_person_decides() {
    let choice = |model: &str| ModelChoice { provider: "scripted".into(), model: model.into() };
    let mut bench = Bench::attempting();
    bench.known.1 = vec![choice("second")];
    assert_eq!(bench.fail(ErrorClass::Overloaded, None), "attempt/end");
    assert!(bench.wait_ms().is_some(), "the same request again, first");
    let step = bench.step_id();
    bench.take(Input::BackoffOver { step });
    assert_eq!(bench.fail(ErrorClass::Overloaded, Some(1_000_000)), "attempt/end step/end model/switched");
    bench.tell(Command::SetModel(choice("chosen")));
    bench.advance();
    assert_eq!(bench.state.step().map(|(_, step)| step.model.model.clone()).as_deref(), Some("chosen"));
}

#[test]
fn r_mod_02_the_effort_is_frozen_with_the_step() {
    let effort = |bench: &Bench| bench.state.step().and_then(|(_, step)| step.model.effort);
    let next = |bench: &mut Bench| {
        bench.answer(words("Yes."), StopReason::Stop);
        bench.advance();
        bench.say("More.", Target::NextStep);
        bench.advance();
        bench.prepare();
    };
    let mut bench = Bench::attempting();
    bench.tell(Command::SetEffort(Some(Effort::Max)));
    assert_eq!(effort(&bench), None, "a step that has begun stays as it is");
    next(&mut bench);
    assert_eq!(effort(&bench), None, "this model can't be asked");
    bench.tell(Command::SetModel(ModelChoice { provider: "scripted".into(), model: "thinking".into() }));
    next(&mut bench);
    assert_eq!(effort(&bench), Some(Effort::High), "as far as it goes");
    bench.tell(Command::SetEffort(Some(Effort::Medium)));
    next(&mut bench);
    assert_eq!(effort(&bench), Some(Effort::Low), "never more than was wished");
    bench.tell(Command::SetEffort(None));
    next(&mut bench);
    assert_eq!(effort(&bench), None);
}

/// Words, the raw answer, the attempt's end and the calls it announced are one transaction; what comes twice is late.
#[test]
fn r_mod_07_an_answer_enters_the_history_in_one_transaction() {
    let mut bench = Bench::attempting();
    let (attempt, raw) = (bench.attempt(), Some(Digest::of(b"raw")));
    let answered = || {
        let blocks = calls(&["one", "two"]);
        let stop = StopReason::ToolCalls;
        let outcome = Outcome { blocks, stop, usage: None, response_id: None, model: None };
        Input::Answered { attempt: attempt.clone(), outcome, raw }
    };
    let decision = bench.with(|state, env| take(state, answered(), env));
    assert!(decision.barrier, "on the disk before anything follows from it");
    let kept = decision.drafts.iter().find_map(|draft| match &draft.fact {
        Fact::AttemptEnd(end) => Some(end.raw),
        _ => None,
    });
    assert_eq!(kept, Some(raw));
    assert_eq!(bench.fold(decision), "assistant/accepted attempt/end tool/call tool/call");
    assert_eq!(bench.take(answered()), "late/ignored");
}
