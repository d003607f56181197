//! What a stop leaves to be seen: calls that never ran, requests nobody answers any more, messages that wait, and time.

use super::*;
use crate::wire::command::Intent;
use domain::call::Verdict;

/// One command asks, the next one runs, and somebody stops the turn.
fn stopped(by: CancelBy) -> Vec<Fact> {
    let mut facts = begin();
    facts.push(start(1));
    facts.extend(accepted(1, "Both."));
    let cancelled = |n| {
        ToolCancelled { call: CallId::from_bits(n), text: "stopped".into(), changed: Changed::default() }
            .into()
    };
    facts.extend([
        call(1, "run_command", r#"{"command":"rm menu.md"}"#),
        call(2, "run_command", r#"{"command":"sleep 60"}"#),
        requested(1, Facts { proposed: None, act: Act::Run, ..edit_facts(b"", b"", "rm menu.md") }),
        call_start(2),
        TurnCancel { by }.into(),
        ApprovalExpired { approval: ApprovalId::from_bits(1), why: "turn".into() }.into(),
        cancelled(1),
        cancelled(2),
    ]);
    facts
}

#[test]
fn a_call_that_was_stopped_before_it_started_says_so() {
    let fold = folded(stopped(CancelBy::User), &Blobs::default());
    let calls = fold.view().entries.iter().find_map(|entry| match &entry.body {
        EntryBody::Calls { calls } => Some(calls.clone()),
        _ => None,
    });
    let calls = calls.unwrap();
    let shown: Vec<_> = calls.iter().map(|call| (call.state, call.started)).collect();
    assert_eq!(shown, [(CallState::Cancelled, false), (CallState::Cancelled, true)]);
    for call in calls {
        assert_eq!(call.halt, Some(Halt::Stopped { by: "user".into() }));
    }
}

#[test]
fn who_kept_a_call_from_being_done_is_said_with_all_that_the_record_knows() {
    let words = "for the model alone";
    let check = |before: Vec<Fact>, by: &str, expect: Halt| {
        let mut facts = begin();
        facts.push(call(1, "run_command", r#"{"command":"git push"}"#));
        facts.extend(before);
        facts.push(ToolDenied { call: CallId::from_bits(1), by: by.into(), text: words.into() }.into());
        let fold = folded(facts, &Blobs::default());
        let EntryBody::Calls { calls } = &fold.view().entries[1].body else { panic!() };
        assert_eq!((calls[0].state, calls[0].halt.as_ref()), (CallState::Denied, Some(&expect)));
        assert!(!format!("{:?}", fold.view()).contains(words));
    };
    let denied = |rule: &str| {
        let decision = Verdict::Deny { rule: rule.into(), reason: words.into() };
        let (facts, touches) = (Digest::ZERO, Vec::new());
        vec![ToolDecision { call: CallId::from_bits(1), decision, facts, act: Act::Run, touches }.into()]
    };
    let asked = || requested(1, Facts { proposed: None, act: Act::Run, ..edit_facts(b"", b"", "git push") });
    let refused = |why: Option<&str>| {
        let (approval, why) = (ApprovalId::from_bits(1), why.map(str::to_owned));
        vec![asked(), ApprovalRefused { approval, why, nobody: false }.into()]
    };
    check(denied("mode/plan"), "policy", Halt::Mode { mode: crate::wire::command::Mode::Plan });
    check(denied("user/no-push"), "policy", Halt::Rule { rule: "user/no-push".into() });
    check(denied("mode/of-later"), "policy", Halt::Rule { rule: "mode/of-later".into() });
    check(refused(Some("not on Mondays")), "refused", Halt::Refused { why: Some("not on Mondays".into()) });
    check(refused(None), "refused", Halt::Refused { why: None });
    check(vec![asked()], "nobody", Halt::Nobody);
    check(vec![asked()], "expired", Halt::Expired);
}

#[test]
fn a_request_that_lapsed_says_why_and_who_stopped_it() {
    #[track_caller]
    fn check(facts: Vec<Fact>, expect: &str) {
        let fold = folded(facts, &Blobs::default());
        let state = fold.view().entries.iter().find_map(|entry| match &entry.body {
            EntryBody::Approval { approval } => Some(approval.state.clone()),
            _ => None,
        });
        assert_eq!(state, Some(ApprovalState::Expired { why: expect.into() }));
    }
    check(stopped(CancelBy::User), "user");
    check(stopped(CancelBy::Shutdown), "shutdown");
    for why in ["time", "changed", "turn"] {
        let mut facts = stopped(CancelBy::User);
        facts.retain(|fact| !matches!(fact, Fact::TurnCancel(_)));
        for fact in &mut facts {
            if let Fact::ApprovalExpired(e) = fact {
                e.why = why.into();
            }
        }
        check(facts, why);
    }
}

#[test]
fn r_inb_13_a_message_that_a_stop_holds_back_is_shown_as_that() {
    let post = |n, target| -> Fact {
        let (message, text) = (MessageId::from_bits(n), format!("say {n}"));
        InboxPosted { message, text, target, wakeup: true, origin: Origin::User, command: None }.into()
    };
    let mut facts = stopped(CancelBy::User);
    let at = facts.iter().position(|fact| matches!(fact, Fact::TurnCancel(_))).unwrap();
    facts.insert(at, post(2, Target::NextTurn));
    facts.insert(at, post(3, Target::NextStep));
    facts.push(StepEnd { step: StepId::from_bits(1), end: StepEndKind::Cancelled }.into());
    facts.push(TurnEnd { end: End::Cancelled { by: CancelBy::User } }.into());
    let waiting = |facts: &[Fact]| -> Vec<(String, Intent, bool)> {
        let fold = folded(facts.to_vec(), &Blobs::default());
        fold.view().waiting.iter().map(|w| (w.text.clone(), w.intent, w.held)).collect()
    };
    let held = [("say 3".into(), Intent::Steer, true), ("say 2".into(), Intent::FollowUp, true)];
    assert_eq!(waiting(&facts), held);
    facts.push(post(4, Target::NextStep));
    assert!(waiting(&facts).iter().all(|(.., held)| !held), "something new was said");
}

/// A process died 3 seconds into the turn; the next one came an hour later and worked for 2 seconds.
#[test]
fn a_turns_time_leaves_out_the_time_nobody_worked() {
    let mut facts = begin();
    let begun = facts.iter().position(|fact| matches!(fact, Fact::TurnStart(_))).unwrap();
    facts.extend([
        StepEnd { step: StepId::from_bits(1), end: StepEndKind::Interrupted }.into(),
        SessionRenamed { title: "menu".into() }.into(),
        TurnEnd { end: End::Interrupted }.into(),
    ]);
    let mut fold = Fold::new(&session());
    for (at, mut event) in events(facts).into_iter().enumerate() {
        if at > begun + 3 {
            (event.envelope.epoch, event.envelope.time) = (2, event.envelope.time + 3_600_000);
        }
        fold.event(&event, &Blobs::default());
    }
    let Some(EntryBody::TurnEnd { ms, .. }) = fold.view().entries.last().map(|entry| &entry.body) else {
        panic!()
    };
    assert_eq!(*ms, 3_000 + 2_000);
}

/// A request stood for an hour before it was answered.
#[test]
fn a_turns_time_leaves_out_the_time_the_person_was_waited_for() {
    let mut facts = begin();
    facts.push(start(1));
    facts.extend(accepted(1, "It goes."));
    facts.push(call(1, "run_command", r#"{"command":"rm menu.md"}"#));
    facts.push(requested(1, Facts { proposed: None, act: Act::Run, ..edit_facts(b"", b"", "rm menu.md") }));
    let asked = facts.len();
    facts.extend([
        ApprovalGranted { approval: ApprovalId::from_bits(1), digest: Digest::of(b"shown") }.into(),
        call_start(1),
        ok(1, "", serde_json::Value::Null, vec![]),
        TurnEnd { end: End::Completed }.into(),
    ]);
    let begun = facts.iter().position(|fact| matches!(fact, Fact::TurnStart(_))).unwrap();
    let seconds = facts.len() - 1 - begun;
    let mut fold = Fold::new(&session());
    for (at, mut event) in events(facts).into_iter().enumerate() {
        if at >= asked {
            event.envelope.time += 3_600_000;
        }
        fold.event(&event, &Blobs::default());
    }
    let Some(EntryBody::TurnEnd { ms, .. }) = fold.view().entries.last().map(|entry| &entry.body) else {
        panic!()
    };
    // Each event is a second after the one before; the answer's second was waited for as well.
    assert_eq!(*ms, (seconds as u64 - 1) * 1_000);
}

#[test]
fn a_note_of_the_runtime_to_the_model_is_nobodys_words() {
    let note = InboxPosted {
        message: MessageId::from_bits(9),
        text: "<note>The person took changes back.</note>".into(),
        target: Target::NextStep,
        wakeup: false,
        origin: Origin::Host,
        command: None,
    };
    let said = UserMessage { message: MessageId::from_bits(9), text: note.text.clone() };
    let before = folded(begin(), &Blobs::default()).view().entries.len();
    let mut facts = begin();
    facts.extend([note.into(), said.into()]);
    let fold = folded(facts, &Blobs::default());
    assert!(fold.view().waiting.is_empty());
    assert_eq!(fold.view().entries.len(), before, "{:?}", fold.view().entries);
}

#[test]
fn that_it_was_closed_while_it_waited_is_said_once() {
    let adopted =
        || Fact::RecoveryAdopted(domain::event::RecoveryAdopted { turn: domain::ids::TurnId::from_bits(1) });
    let mut facts = begin();
    facts.extend([adopted(), adopted(), adopted()]);
    let fold = folded(facts, &Blobs::default());
    let notices = fold.view().entries.iter().filter(|entry| matches!(entry.body, EntryBody::Notice { .. }));
    assert_eq!(notices.count(), 1);
}
