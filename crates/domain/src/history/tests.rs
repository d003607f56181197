//! What the model sees of a log, and what it never sees.

use super::*;
use crate::event::*;
use crate::testing::*;

fn facts(log: &Log) -> Vec<(u64, Fact)> {
    log.decoded().into_iter().filter_map(Event::placed).collect()
}

/// The history in one line a message.
fn outline(messages: &[Message]) -> String {
    let lines = messages.iter().map(|message| match message {
        Message::User(text) => format!("user: {text}"),
        Message::Assistant(blocks) => {
            let parts: Vec<String> = blocks
                .iter()
                .map(|block| match block {
                    Block::Text { text } => text.clone(),
                    Block::Reasoning { text, .. } => format!("({text})"),
                    Block::Call { provider_call_id, .. } => format!("[{provider_call_id}]"),
                })
                .collect();
            format!("assistant: {}", parts.join(" "))
        }
        Message::Results(results) => {
            let parts: Vec<String> = results
                .iter()
                .map(|r| format!("{}={}{}", r.provider_call_id, r.text, if r.is_error { "!" } else { "" }))
                .collect();
            format!("results: {}", parts.join(" "))
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A log in which everything happens: deltas, notes, notices, approvals, four ways to end.
fn everything() -> Log {
    let mut log = Log::stepping();
    log.lawful(ContextNote { topic: "environment".into(), trust: Trust::Host, text: "<today>".into() });
    log.lawful(said(1));
    log.lawful(log.prepared());
    log.lawful(AttemptStart { attempt: attempt(1), n: 1, body: body(), purpose: Purpose::Answer });
    let deltas = vec![crate::model::ModelDelta::Text { text: "wor".into() }];
    log.lawful(AssistantDelta { attempt: attempt(1), deltas });
    log.lawful(ended(attempt(1), failed(Some(Retry { wait_ms: 1, until: 2 }))));
    log.lawful(AttemptStart { attempt: attempt(2), n: 2, body: body(), purpose: Purpose::Answer });
    log.answer(2, 4);
    log.lawful(denied(2));
    log.lawful(decided(1, ask()));
    log.lawful(asked(1, 1));
    log.lawful(granted(1));
    for n in [4, 1] {
        log.lawful(decided(n, if n == 1 { ask() } else { allow() }));
        log.lawful(started(n, manual()));
    }
    log.lawful(unknown(4));
    log.lawful(ToolOutput { call: call(1), text: "live output".into() });
    log.lawful(NoticeRaised { code: "a/b".into(), facts: Default::default() });
    log.lawful(cancelled(3));
    log.lawful(result(1));
    log.lawful(step_end(1, StepEndKind::Tools));
    log
}

#[test]
fn r_proj_01_only_words_answers_and_results_in_the_models_order() {
    let messages = project(&facts(&everything())).expect("it is paired");
    insta::assert_snapshot!(outline(&messages), @r"
    user: <today>
    user: words 1
    assistant: words [p0] [p1] [p2] [p3]
    results: p0=result 1 p1=not allowed! p2=stopped! p3=outcome unknown!
    ");
    assert_eq!(unsendable(&messages), None);
}

/// A call that can't be checked ends beside its proposal, before the next one is proposed: still one message.
#[test]
fn results_of_one_answer_are_one_message() {
    let mut log = Log::attempting();
    log.lawful(accepted(attempt(1), 3));
    log.lawful(ended(attempt(1), AttemptEndKind::Accepted));
    for n in 1..=3 {
        log.lawful(proposed(u128::from(n), n - 1));
        if n != 3 {
            log.lawful(denied(u128::from(n)));
        }
    }
    log.lawful(cancelled(3));
    let messages = project(&facts(&log)).expect("it is paired");
    assert!(matches!(&messages[2..], [Message::Results(results)] if results.len() == 3), "{messages:?}");
}

#[test]
fn r_proj_08_an_open_tail_is_a_lawful_log_and_never_sendable() {
    let log = Log::answered(2);
    assert_eq!(crate::audit::audit(&log.events, 1), []);
    let error = project(&facts(&log)).expect_err("a call is open");
    assert_eq!(error, HistoryError::OpenCall(call(1).to_string()));
}

#[test]
fn r_proj_07_output_of_a_failed_attempt_never_enters() {
    let mut log = Log::attempting();
    let deltas = vec![crate::model::ModelDelta::Text { text: "half".into() }];
    log.lawful(AssistantDelta { attempt: attempt(1), deltas });
    let end = AttemptEndKind::Unaccepted { stop: crate::model::StopReason::Length, text: "half".into() };
    log.lawful(ended(attempt(1), end));
    assert_eq!(outline(&project(&facts(&log)).expect("paired")), "user: words 1");
}

#[test]
fn i05_what_no_provider_takes_is_named() {
    let user = |text: &str| Message::User(text.into());
    let answer = |calls| Message::Assistant(blocks(calls));
    let results = |ids: &[&str]| {
        let one = |id: &&str| CallResult {
            provider_call_id: (*id).into(),
            name: "tool".into(),
            text: "x".into(),
            is_error: false,
        };
        Message::Results(ids.iter().map(one).collect())
    };
    let check = |messages: &[Message], expect: &str| {
        let got = unsendable(messages).unwrap_or_default();
        assert!(got.contains(expect) && got.is_empty() == expect.is_empty(), "{messages:?}: {got}");
    };
    check(&[user("a"), answer(2), results(&["p0", "p1"]), answer(0)], "");
    check(&[user("a"), answer(1)], "without results at the end");
    check(&[user("a"), answer(1), user("b")], "before the calls have results");
    check(&[user("a"), answer(1), answer(0)], "follows calls without results");
    check(&[user("a"), answer(1), results(&["p0", "p0"])], "without its call");
    check(&[user("a"), results(&["p0"])], "without its call");
    check(&[user("")], "an empty message");
    check(&[user("a"), Message::Assistant(Vec::new())], "an empty answer");
    let mut twice = blocks(1);
    twice.extend(blocks(1));
    check(&[user("a"), Message::Assistant(twice), results(&["p0"])], "twice");
}
