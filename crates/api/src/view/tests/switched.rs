//! Answers that broke off, in the view: what is tried again or by another model goes away, what was stopped stays.

use super::*;

#[test]
fn an_answer_that_is_tried_again_goes_away_and_one_that_is_stopped_stays() {
    let ended = |end: AttemptEndKind| {
        let mut facts = begin();
        facts.extend([start(1), say(1, "Half an ans")]);
        facts.push(AttemptEnd { attempt: attempt(1), end, settled: Settled::Unknown, raw: None }.into());
        drawn(folded(facts, &Blobs::default()).view())
    };
    let answered = Answered { status: Some(529), address: None, quoted: true, certificate: None };
    let error = ModelError { answered, ..ModelError::new(ErrorClass::Overloaded, "busy") };
    let retry = Some(Retry { wait_ms: 500, until: 99_000 });
    insta::assert_snapshot!(ended(AttemptEndKind::Failed { error, retry }), @r#"
    "tidy the menu" Retrying { class: "overloaded", until: 99000, attempt: 2 } 0/0/0 changed 0
    msg_*1 Said { text: "tidy the menu" }
    attempts_stp_*1 Notice { code: "attempt/failed", facts: {"attempt": "1", "class": "overloaded", "provider": "ollama", "said": "busy", "status": "529"}, level: Bad }
    "#);
    insta::assert_snapshot!(ended(AttemptEndKind::Cancelled), @r#"
    "tidy the menu" Working { since: 4000 } 0/0/0 changed 0
    msg_*1 Said { text: "tidy the menu" }
    att_*1 Answer { text: "Half an ans", reasoning: "", streaming: false }
    "#);
}

/// Asked once more: what was cut off stays to be read, and a line says why it goes on.
#[test]
fn an_answer_cut_in_the_middle_of_a_call_is_followed_by_why_it_goes_on() {
    let mut facts = begin();
    facts.extend([start(1), say(1, "I'll write it all")]);
    let end = AttemptEndKind::Unaccepted { stop: StopReason::Length, text: "I'll write it all".into() };
    facts.push(AttemptEnd { attempt: attempt(1), end, settled: Settled::Unknown, raw: None }.into());
    facts.push(StepEnd { step: StepId::from_bits(1), end: StepEndKind::Failed }.into());
    let (message, text, target) = (MessageId::from_bits(9), "<note>…</note>".into(), Target::NextStep);
    let origin = Origin::Host;
    facts.push(
        InboxPosted { message: message.clone(), text, target, wakeup: false, origin, command: None }.into(),
    );
    facts.push(TurnExtended { why: ExtendedWhy::CutCall, message }.into());
    insta::assert_snapshot!(drawn(folded(facts, &Blobs::default()).view()), @r#"
    "tidy the menu" Working { since: 4000 } 0/0/0 changed 0
    msg_*1 Said { text: "tidy the menu" }
    att_*1 Answer { text: "I'll write it all", reasoning: "", streaming: false }
    notice_12 Notice { code: "turn/extended", facts: {"why": "cut_call"}, level: Info }
    "#);
}

#[test]
fn where_another_model_goes_on_what_the_first_had_said_goes_away() {
    let mut facts = begin();
    facts.extend([start(1), say(1, "Half an ans")]);
    let error = ModelError::new(ErrorClass::Overloaded, "busy");
    let end = AttemptEndKind::Failed { error, retry: None };
    facts.push(AttemptEnd { attempt: attempt(1), end, settled: Settled::Unknown, raw: None }.into());
    facts.push(StepEnd { step: StepId::from_bits(1), end: StepEndKind::Failed }.into());
    let choice = |model: &str| ModelChoice { provider: "ollama".into(), model: model.into() };
    let (from, to) = (choice("qwen"), choice("llama"));
    facts.push(ModelSwitched { from, to, attempt: attempt(1), class: ErrorClass::Overloaded }.into());
    insta::assert_snapshot!(drawn(folded(facts, &Blobs::default()).view()), @r#"
    "tidy the menu" Working { since: 4000 } 0/0/0 changed 0
    msg_*1 Said { text: "tidy the menu" }
    notice_11 Notice { code: "model/switched", facts: {"class": "overloaded", "model": "llama", "provider": "ollama"}, level: Info }
    "#);
}
