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
    let answered = Answered { status: Some(529), address: None, quoted: true };
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
