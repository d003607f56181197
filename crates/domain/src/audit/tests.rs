//! Broken logs, one invariant at a time: each must be found, by the name of the law it breaks.
//!
//! Every log begins lawful and audits clean; one mutation breaks it. So an audit that looks away turns red here.

use super::*;
use crate::event::*;
use crate::testing::*;

/// The laws that the audit names.
fn laws(log: &Log) -> Vec<String> {
    audit(&log.events, log.epoch).into_iter().map(|finding| finding.law).collect()
}

/// Breaks a clean log and expects this law among the findings.
#[track_caller]
fn check(mut log: Log, breaking: impl FnOnce(&mut Log), expect: &str) {
    assert_eq!(laws(&log), [""; 0], "it must begin clean");
    breaking(&mut log);
    let found = laws(&log);
    assert!(found.iter().any(|law| law == expect), "expected {expect}, found {found:?}");
}

/// A whole turn: an answer with an approved command, then a plain answer.
fn whole() -> Log {
    let mut log = Log::answered(1);
    log.lawful(decided(1, ask()));
    log.lawful(asked(1, 1));
    log.lawful(granted(1));
    log.lawful(started(1, manual()));
    log.lawful(result(1));
    log.lawful(step_end(1, StepEndKind::Tools));
    log.lawful(StepStart { step: step(2), n: 2, model: model() });
    log.lawful(log.prepared());
    log.lawful(AttemptStart { attempt: attempt(2), n: 1, body: body(), purpose: Purpose::Answer });
    log.answer(2, 0);
    log.lawful(step_end(2, StepEndKind::Answer));
    log.lawful(TurnEnd { end: End::Completed });
    log
}

fn position(log: &Log, kind: &str) -> usize {
    log.events.iter().position(|event| event.kind == kind).expect("it is there")
}

/// Chains the events anew, so that only what the test broke is broken.
fn rechain(log: &mut Log) {
    let mut last = Digest::ZERO;
    for (at, event) in log.events.iter_mut().enumerate() {
        event.seq = at as u64;
        event.prev_hash = last;
        event.hash = event.expected_hash();
        last = event.hash;
    }
}

fn without(kind: &str) -> impl FnOnce(&mut Log) + '_ {
    move |log| {
        let at = position(log, kind);
        log.events.remove(at);
        rechain(log);
    }
}

fn twice(kind: &str) -> impl FnOnce(&mut Log) + '_ {
    move |log| {
        let at = position(log, kind);
        log.events.insert(at, log.events[at].clone());
        rechain(log);
    }
}

#[test]
fn i01_gaps_broken_chains_and_ids_used_twice_are_found() {
    check(whole(), |log| drop(log.events.remove(5)), "I1");
    check(whole(), |log| log.events.swap(4, 5), "I1");
    check(whole(), |log| log.events[3].time += 1, "I1");
    check(whole(), |log| log.events[3].payload = Payload::Text("{}".into()), "I1");
    check(whole(), |log| log.events[6].prev_hash = Digest::ZERO, "I1");
    check(whole(), |log| log.push(posted(1)), "I1");
}

#[test]
fn i01_time_is_not_order() {
    let mut log = whole();
    for (at, event) in log.events.iter_mut().enumerate() {
        event.time = 9_999 - at as u64;
    }
    rechain(&mut log);
    assert_eq!(laws(&log), [""; 0]);
}

#[test]
fn i02_two_open_turns_and_turns_without_work_are_found() {
    let start = |source| TurnStart { turn: turn(2), source };
    let second = |log: &mut Log| log.push(start(Source::Recovery { of: turn(1) }));
    check(Log::attempting(), second, "turn/one_open");
    check(whole(), |log| log.push(start(Source::Message { message: message(1) })), "turn/claims_work");
    check(whole(), without("inbox/posted"), "turn/claims_work");
}

#[test]
fn i03_two_steps_two_attempts_and_wrong_numbers_are_found() {
    let open = StepStart { step: step(9), n: 2, model: model() };
    check(Log::attempting(), |log| log.push(open), "step/one_open");
    let attempt_start = |n| AttemptStart { attempt: attempt(9), n, body: body(), purpose: Purpose::Answer };
    check(Log::attempting(), |log| log.push(attempt_start(2)), "attempt/phase");
    let mut backoff = Log::attempting();
    backoff.lawful(ended(attempt(1), failed(Some(Retry { wait_ms: 1, until: 2 }))));
    check(backoff, |log| log.push(attempt_start(3)), "attempt/number");
}

#[test]
fn i04_calls_without_terminal_start_or_proposal_are_found() {
    check(whole(), without("tool/result"), "step/children_first");
    check(whole(), without("tool/call"), "call/known");
    check(whole(), without("tool/start"), "call/phase");
    check(whole(), |log| log.push(result(5)), "call/known");
}

#[test]
fn i05_a_request_over_an_unpaired_history_is_found() {
    let erase = |log: &mut Log| {
        let at = position(log, "tool/result");
        log.events[at].payload = Payload::Erased(log.events[at].payload.digest());
    };
    check(whole(), erase, "I5");
}

#[test]
fn i06_open_work_of_a_dead_process_is_found() {
    let mut log = Log::attempting();
    assert_eq!(laws(&log), [""; 0]);
    log.epoch = 2;
    assert_eq!(laws(&log), ["I6"]);
    log.push(RecoveryAdopted { turn: turn(1) });
    assert_eq!(laws(&log), [""; 0], "adopted by the new process");
}

#[test]
fn i07_a_second_terminal_is_found() {
    check(whole(), twice("tool/result"), "call/one_terminal");
    check(whole(), twice("step/end"), "step/open");
    check(whole(), twice("turn/end"), "turn/open");
    let mut log = Log::answered(1);
    log.lawful(decided(1, allow()));
    log.lawful(started(1, manual()));
    log.lawful(unknown(1));
    check(log.clone(), |log| log.push(result(1)), "call/one_terminal");
    check(log, |log| log.push(denied(1)), "call/one_terminal");
}

#[test]
fn i08_unsettled_and_twice_settled_attempts_are_found() {
    check(whole(), twice("attempt/end"), "I8");
    check(whole(), without("attempt/end"), "I8");
}

#[test]
fn i10_one_yes_for_two_executions_and_another_digest_are_found() {
    let mut other = granted(1);
    other.digest = Digest::of(b"not shown");
    let mut asking = Log::answered(1);
    asking.lawful(decided(1, ask()));
    asking.lawful(asked(1, 1));
    check(asking.clone(), |log| log.push(other), "approval/digest");
    check(asking.clone(), |log| log.push(started(1, manual())), "call/cleared");
    asking.lawful(granted(1));
    asking.lawful(started(1, manual()));
    check(asking, |log| log.push(started(1, manual())), "I10");
}

#[test]
fn an_event_that_cannot_be_read_is_found_and_hides_no_other() {
    let mut log = whole();
    log.raw("goal/set", 1, false, "{}");
    log.push(posted(1));
    let found = laws(&log);
    assert!(found.contains(&"decode".to_owned()) && found.contains(&"I1".to_owned()), "{found:?}");
}

#[test]
fn an_erasure_that_is_not_on_record_and_one_that_did_not_happen_are_found() {
    let erased = |log: &mut Log, left: &str| {
        let event = log.events.iter_mut().find(|event| event.kind == "user/message").expect("it is there");
        let text = event.payload.text().expect("whole").replace("words", crate::erasure::MARK);
        let (was, left) = (event.payload.digest(), left.replace("LEFT", &text));
        event.payload = Payload::Redacted { was, left: left.as_str().into() };
        ErasedEvent { seq: event.seq, left: Some(Digest::of(left.as_bytes())) }
    };
    let on_record = |log: &mut Log, one: ErasedEvent| {
        let (by, why) = (ErasedBy::User, ErasedWhy::Secret);
        log.push(RecordErased { by, why, chosen: one.seq, events: vec![one], blobs: vec![] });
    };
    let mut log = whole();
    let one = erased(&mut log, "LEFT");
    assert_eq!(laws(&log), ["erased"], "not on record");
    on_record(&mut log, one);
    assert_eq!(laws(&log), [""; 0]);
    check(
        log.clone(),
        |log| {
            erased(log, "LEFT ");
        },
        "erased",
    );
    let untouched = ErasedEvent { seq: 0, left: None };
    check(log, |log| on_record(log, untouched), "erased");
}
