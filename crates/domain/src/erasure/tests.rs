//! What is left of events, and that nothing else changes.

use super::*;
use crate::event::{Draft, InboxPosted, Origin, Target};
use crate::ids::{MessageId, SessionId};
use proptest::prelude::*;

fn event(kind: &str, payload: &str) -> Recorded {
    Recorded {
        session: SessionId::from_bits(1),
        pos: 1,
        seq: 3,
        kind: kind.to_owned(),
        version: 1,
        time: 1,
        epoch: 1,
        turn: None,
        step: None,
        ignorable: kind == "tool/output",
        sources: vec![],
        prev_hash: Digest::ZERO,
        hash: Digest::ZERO,
        payload: Payload::Text(payload.into()),
    }
}

fn words(forms: &[&str]) -> Words {
    Words::new(forms.iter().map(|form| (*form).to_owned()))
}

#[track_caller]
fn check(kind: &str, payload: &str, erase: &str, expect: Option<&str>) {
    let left = words(&[erase]).out_of(&event(kind, payload)).expect("fits");
    let left = left.map(|left| match left {
        Left::Text(text) => text,
        Left::Nothing => "nothing".to_owned(),
    });
    assert_eq!(left.as_deref(), expect);
}

#[test]
fn words_go_out_of_strings_and_nothing_else_changes() {
    check(
        "session/renamed",
        r#"{"title":"use k-1234 now, k-1234"}"#,
        "k-1234",
        Some(r#"{"title":"use [erased by the person] now, [erased by the person]"}"#),
    );
    check("session/renamed", r#"{"title":"use it"}"#, "k-1234", None);
    // Arguments are JSON in a string, and may hold JSON in a string again.
    let call = |arguments: &str| {
        let arguments = quoted(arguments);
        format!(
            r#"{{"call":"cal_{:032x}","index":0,"provider_call_id":"p","name":"n","checked":{{"state":"good","version":1,"arguments":{arguments},"digest":"{}"}}}}"#,
            7,
            Digest::ZERO
        )
    };
    check(
        "tool/call",
        &call(r#"{"a":"x\"y\\z","n":5}"#),
        "x\"y\\z",
        Some(&call(r#"{"a":"[erased by the person]","n":5}"#)),
    );
    check(
        "tool/call",
        &call(r#"{"a":"\u0078yz1","n":123456}"#),
        "xyz1",
        Some(&call(r#"{"a":"[erased by the person]","n":123456}"#)),
    );
    check(
        "tool/call",
        &call(r#"{"a":"b","n":123456}"#),
        "123456",
        Some(&call(r#"{"a":"b","n":"[erased by the person]"}"#)),
    );
    check(
        "tool/call",
        &call(r#"{"a":"b"}"#),
        r#"{"a":"b"}"#,
        Some(&call(r#"{"erased":"[erased by the person]"}"#)),
    );
}

#[test]
fn names_the_record_lives_by_are_never_words() {
    check("inbox/cancelled", &format!(r#"{{"message":"msg_{:032x}"}}"#, 0xdead_beef_u128), "deadbeef", None);
    check("inbox/cancelled", &format!(r#"{{"message":"msg_{:032x}"}}"#, 5), "message", None);
    let mode = event("session/mode", r#"{"mode":"edit"}"#);
    let refused = words(&["edit"]).out_of(&mode).unwrap_err();
    assert_eq!(refused.to_string(), "event 3 (`session/mode`) can't be read any more without these words");
}

#[test]
fn what_was_erased_once_can_be_erased_from_again() {
    let mut twice = event("session/renamed", "");
    twice.payload = Payload::Redacted {
        was: Digest::ZERO,
        left: r#"{"title":"[erased by the person] and pass1"}"#.into(),
    };
    let left = words(&["pass1"]).out_of(&twice).expect("fits");
    let expect = r#"{"title":"[erased by the person] and [erased by the person]"}"#;
    assert_eq!(left, Some(Left::Text(expect.to_owned())));
}

proptest! {
    #[test]
    fn no_word_survives_and_what_is_left_reads_back(
        before in ".{0,12}", secret in "[a-zA-Z0-9\"\\\\ \n]{4,12}", after in ".{0,12}",
    ) {
        prop_assume!(!MARK.contains(secret.trim()) && !secret.trim().is_empty());
        let text = format!("{before}{secret}{after}");
        let nested = serde_json::json!({ "deep": serde_json::json!({ "it": text }).to_string() }).to_string();
        for text in [text, nested] {
            let posted = InboxPosted {
                message: MessageId::from_bits(1),
                text,
                target: Target::NextStep,
                wakeup: true,
                origin: Origin::User,
                command: None,
            };
            let payload = Draft::new(posted).fact.encode().expect("encodes");
            let left = words(&[&secret]).out_of(&event("inbox/posted", &payload)).expect("fits");
            let Some(Left::Text(left)) = left else { panic!("it was in there") };
            let Ok(Fact::InboxPosted(left)) = Fact::decode("inbox/posted", 1, &left) else { panic!("it reads") };
            prop_assert!(!left.text.contains(&secret));
            prop_assert_eq!(left.message, MessageId::from_bits(1));
        }
    }
}
