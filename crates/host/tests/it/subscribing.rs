//! Subscriptions: nothing lost, nothing doubled, whoever joins when.

use crate::rig::{Rig, call, text};
use api::wire::command::{Command, Intent, Mode, Notification, Reply, Topic};
use api::wire::need::{Need, NeedWhat};
use api::wire::view::{Activity, EntryBody, SessionView};
use serde_json::json;

fn ended(view: &SessionView) -> bool {
    view.activity == Activity::Idle
        && view.entries.iter().any(|entry| matches!(entry.body, EntryBody::TurnEnd { .. }))
}

fn streaming(view: &SessionView) -> bool {
    view.entries.iter().any(|entry| matches!(&entry.body, EntryBody::Answer { streaming: true, .. }))
}

const WORDS: &str =
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";

#[tokio::test(flavor = "multi_thread")]
async fn r_cli_04_clients_that_join_at_any_moment_end_with_the_same_view() {
    let spoken = json!({"say": [{"text": WORDS, "pace_ms": 30}]});
    let rig = Rig::new(json!([call("list_files", json!({})), spoken])).await;
    let session = rig.session(Mode::Ask).await;
    let mut first = rig.client(&session).await;
    rig.say(&session, "go").await;
    // In the middle of an answer.
    first.until(streaming).await;
    let mut second = rig.client(&session).await;
    // One that had an old view and comes back from its own number.
    let mut third = rig.client(&session).await;
    third.until(ended).await;
    first.until(ended).await;
    second.until(ended).await;
    let whole = rig.view(&session).await;
    for client in [&first, &second, &third] {
        assert_eq!(client.view, whole);
    }
    let answer = whole.entries.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::Answer { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(answer, Some(WORDS));
}

#[tokio::test(flavor = "multi_thread")]
async fn r_cli_04_a_client_resumes_from_every_number_without_loss_or_double() {
    let rig = Rig::new(json!([call("list_files", json!({})), text("Done.")])).await;
    let session = rig.session(Mode::Ask).await;
    let mut views = vec![rig.view(&session).await];
    rig.say(&session, "go").await;
    let mut client = rig.client(&session).await;
    while !ended(&client.view) {
        client.step().await;
        views.push(client.view.clone());
    }
    let whole = rig.view(&session).await;
    for view in views {
        let topic = Topic::Session { session: session.clone(), from: view.seq + 1 };
        let source = rig.host.room().subscribe(topic).await.expect("a subscription");
        let mut again = crate::rig::Client { view, source };
        while again.view.seq < whole.seq {
            again.step().await;
        }
        assert_eq!(again.view, whole);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_told_to_open_again_and_holds_nobody_up() {
    let long = "word ".repeat(900);
    let rig = Rig::new(json!([{"say": [{"text": long, "pace_ms": 1}]}])).await;
    let session = rig.session(Mode::Ask).await;
    let mut slow = rig.client(&session).await;
    let mut quick = rig.client(&session).await;
    rig.say(&session, "go").await;
    quick.until(ended).await;
    let mut told = Vec::new();
    while let Ok(notification) = slow.source.try_recv() {
        told.push(notification);
    }
    // Either everything fitted in frames, or the last word is to open again; the queue never grows past its bound.
    assert!(told.len() <= 256, "{}", told.len());
    let mut view = slow.view;
    for notification in told {
        match notification {
            Notification::Session { seq, patches, .. } => {
                view = api::view::apply(view, &patches);
                view.seq = seq;
            }
            Notification::Resync { .. } => return,
            other => panic!("{other:?}"),
        }
    }
    let rest = Topic::Session { session: session.clone(), from: view.seq + 1 };
    let source = rig.host.room().subscribe(rest).await.expect("a subscription");
    let mut client = crate::rig::Client { view, source };
    client.until(ended).await;
    assert_eq!(client.view, rig.view(&session).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn r_cli_02_a_message_has_its_id_at_once_and_a_repeat_is_the_same_message() {
    let rig = Rig::new(json!([text("a"), text("b")])).await;
    let session = rig.session(Mode::Ask).await;
    let send = Command::Send {
        session: session.clone(),
        text: "once".to_owned(),
        intent: Intent::FollowUp,
        command: format!("cmd_{:032x}", 7),
    };
    let first = rig.call(send.clone()).await;
    let Reply::Sent { message, .. } = &first else { panic!("{first:?}") };
    assert!(message.starts_with("msg_"));
    for _ in 0..20 {
        let again = rig.call(send.clone()).await;
        assert!(matches!(&again, Reply::Sent { message: same, .. } if same == message), "{again:?}");
    }
    let mut client = rig.client(&session).await;
    client.until(ended).await;
    let said =
        client.view.entries.iter().filter(|entry| matches!(entry.body, EntryBody::Said { .. })).count();
    assert_eq!(said, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lists_are_told_of_every_change_of_a_line() {
    let rig = Rig::new(json!([text("Done.")])).await;
    let mut lists = rig.host.room().subscribe(Topic::Store).await.expect("a subscription");
    let session = rig.session(Mode::Ask).await;
    rig.say(&session, "tidy up").await;
    loop {
        let next = tokio::time::timeout(std::time::Duration::from_secs(60), lists.recv()).await;
        let Some(Notification::Summary { summary }) = next.expect("in time") else { panic!() };
        assert_eq!(summary.id, session);
        if summary.state == "idle" && summary.title == "tidy up" {
            break;
        }
    }
    rig.host.close().await;
}

/// What is told of the sessions until this holds.
async fn waits_until(
    lists: &mut tokio::sync::mpsc::Receiver<Notification>,
    told: &mut std::collections::BTreeMap<String, Vec<Need>>,
    holds: impl Fn(&std::collections::BTreeMap<String, Vec<Need>>) -> bool,
) {
    while !holds(told) {
        let next = tokio::time::timeout(std::time::Duration::from_secs(60), lists.recv()).await;
        if let Notification::Needs { session, needs } = next.expect("in time").expect("more") {
            told.insert(session, needs);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_the_person_is_told_over_all_sessions_and_gone_once_it_was_answered() {
    let asks = |words: &str, answer: serde_json::Value| {
        let mut answer = answer;
        answer["when"] = json!({ "contains": words });
        answer
    };
    let write = asks("Write.", call("write_file", json!({"path": "a.txt", "content": "x\n"})));
    let ask = asks("Ask.", call("ask_user", json!({"question": "Which one?"})));
    let rig = Rig::new(json!([write, ask, text("Done."), text("Done.")])).await;
    let mut lists = rig.host.room().subscribe(Topic::Store).await.expect("a subscription");
    let (first, second) = (rig.session(Mode::Ask).await, rig.session(Mode::Ask).await);
    rig.say(&first, "Write.").await;
    rig.say(&second, "Ask.").await;
    let mut told = std::collections::BTreeMap::new();
    waits_until(&mut lists, &mut told, |told| {
        [&first, &second].iter().all(|id| told.get(*id).is_some_and(|needs| needs.len() == 1))
    })
    .await;
    let NeedWhat::Question { text } = &told[&second][0].what else { panic!("{told:?}") };
    assert_eq!(text, "Which one?");
    let need = told[&first][0].clone();
    let NeedWhat::Approval { digest, act, facts, whole, .. } = &need.what else { panic!("{told:?}") };
    assert_eq!((act.as_str(), facts["path"].as_str()), ("write", "a.txt"));
    assert!(!whole, "its difference is looked at first");
    let view = rig.view(&first).await;
    assert!(view.entries.iter().any(|entry| entry.key == need.entry), "it names its entry");
    let yes = Command::Approve {
        session: first.clone(),
        approval: need.id.clone(),
        digest: digest.clone(),
        offer: None,
        lasting: false,
    };
    assert_eq!(rig.call(yes).await, Reply::Done);
    waits_until(&mut lists, &mut told, |told| told[&first].is_empty()).await;
    // Who comes later is told what still waits, at once.
    let mut late = rig.host.room().subscribe(Topic::Store).await.expect("a subscription");
    let mut found = std::collections::BTreeMap::new();
    waits_until(&mut late, &mut found, |found| found.contains_key(&second)).await;
    assert_eq!((&found[&second], found.contains_key(&first)), (&told[&second], false));
    rig.host.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_joins_while_work_waits_for_the_folder_sees_that_it_waits() {
    let when = |words: &str, answer: serde_json::Value| {
        let mut answer = answer;
        answer["when"] = json!({ "contains": words });
        answer
    };
    let long = when("Work long.", call("run_command", json!({"command": "touch begun; sleep 60"})));
    let write = when("Write.", call("write_file", json!({"path": "second.txt", "content": "x\n"})));
    let rig = Rig::new(json!([long, write, text("Done.")])).await;
    let (first, second) = (rig.session(Mode::Auto).await, rig.session(Mode::Auto).await);
    let mut worker = rig.client(&first).await;
    rig.say(&first, "Work long.").await;
    let running = |view: &SessionView| {
        view.entries.iter().any(|entry| match &entry.body {
            EntryBody::Calls { calls } => {
                calls.iter().any(|call| call.state == api::wire::view::CallState::Running)
            }
            _ => false,
        })
    };
    worker.until(running).await;
    let waits = |view: &SessionView| view.activity == Activity::Held { by: "folder".to_owned() };
    let mut from_the_start = rig.client(&second).await;
    rig.say(&second, "Write.").await;
    from_the_start.until(waits).await;
    let mut late = rig.client(&second).await;
    late.until(waits).await;
    assert_eq!(rig.call(Command::Interrupt { session: first.clone() }).await, Reply::Done);
    for client in [&mut from_the_start, &mut late] {
        client.until(ended).await;
    }
}
