//! A hundred requests at once: told in batches, each with its own digest, answered one by one and in order.

use crate::rig::{Client, Rig, text};
use api::wire::command::{Command, Mode, Notification, Topic};
use api::wire::need::NeedWhat;
use api::wire::view::{ApprovalState, ApprovalView, EntryBody, SessionView};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SESSIONS: usize = 4;
const EACH: usize = 25;

/// One answer that wants this many files written.
fn many() -> Value {
    let calls = (0..EACH).map(|n| {
        let arguments = json!({"path": format!("file-{n:02}.txt"), "content": "x"});
        json!({"call": {"name": "write_file", "arguments": arguments}})
    });
    json!({ "say": calls.collect::<Vec<_>>() })
}

fn open(view: &SessionView) -> Vec<&ApprovalView> {
    let open = view.entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Approval { approval } if approval.state == ApprovalState::Open => Some(approval),
        _ => None,
    });
    open.collect()
}

fn paths(view: &SessionView) -> Vec<String> {
    open(view).iter().filter_map(|one| one.facts.get("path").cloned()).collect()
}

fn yes(client: &Client, to: &ApprovalView, digest: &str) -> Command {
    let (session, approval) = (client.view.id.clone(), to.id.clone());
    Command::Approve { session, approval, digest: digest.to_owned(), offer: None, lasting: false }
}

#[tokio::test(flavor = "multi_thread")]
async fn a24_a_hundred_requests_are_told_in_batches_and_each_is_answered_by_itself() {
    let answers: Vec<Value> = (0..SESSIONS).map(|_| many()).chain([text("Done.")]).collect();
    let rig = Rig::new(Value::Array(answers)).await;
    let mut lists = rig.host.room().subscribe(Topic::Store).await.expect("a subscription");
    let mut clients = Vec::new();
    for _ in 0..SESSIONS {
        let session = rig.session(Mode::Ask).await;
        let client = rig.client(&session).await;
        rig.say(&session, "Write them.").await;
        clients.push(client);
    }
    let expect: Vec<String> = (0..EACH).map(|n| format!("file-{n:02}.txt")).collect();
    let mut digests = BTreeSet::new();
    for client in &mut clients {
        client.until(|view| open(view).len() == EACH).await;
        assert_eq!(paths(&client.view), expect, "in the order they were asked in");
        digests.extend(open(&client.view).iter().map(|one| one.digest.clone()));
    }
    // The same file with the same content in four sessions is asked about with the same facts; within one, each differs.
    assert_eq!(digests.len(), EACH);
    // All requests of an answer are one commit: the list jumps from nothing to all of them, once a session.
    let mut waiting = Vec::new();
    while waiting.len() < SESSIONS {
        let told = tokio::time::timeout(std::time::Duration::from_secs(60), lists.recv()).await;
        if let Some(Notification::Summary { summary }) = told.expect("in time")
            && summary.needs_you > 0
        {
            waiting.push(summary.needs_you as usize);
        }
    }
    assert_eq!(waiting, [EACH; SESSIONS]);

    let client = clients.first_mut().expect("a client");
    let (first, second) = (open(&client.view)[0].clone(), open(&client.view)[1].clone());
    let room = rig.host.room();
    let wrong = room.call(yes(client, &first, &second.digest)).await.expect_err("not what was shown");
    assert!(wrong.code.starts_with("approval/"), "{wrong:?}");
    room.call(yes(client, &first, &first.digest)).await.expect("it is taken");
    let again = room.call(yes(client, &first, &first.digest)).await.expect_err("it is answered already");
    assert!(again.code.starts_with("approval/"), "{again:?}");
    client.until(|view| open(view).len() < EACH).await;
    assert_eq!(paths(&client.view), expect[1..], "one answer answers one, and the rest stand in order");
    assert_eq!(open(&client.view)[0].digest, second.digest);
    for other in &clients[1..] {
        assert_eq!(paths(&rig.view(&other.view.id).await), expect, "and none of another session");
    }
    rig.host.close().await;
    let written = std::fs::read_dir(rig.root.path().join("project")).expect("readable").count();
    assert!(written <= 1, "{written} files for one yes");
}

/// What a real engine asks: its lines say whether they say all, and one that does can be answered from the list.
#[tokio::test(flavor = "multi_thread")]
async fn a24_requests_of_a_real_engine_can_be_allowed_from_their_line() {
    let calls = [
        ("run_command", json!({"command": "touch made.txt"})),
        ("delete_path", json!({"path": "old.txt"})),
        ("write_file", json!({"path": "new.txt", "content": "x"})),
        ("run_command", json!({"command": "curl https://example.org"})),
        ("read_file", json!({"path": ".env"})),
    ];
    let say: Vec<Value> = calls
        .iter()
        .map(|(name, arguments)| json!({"call": {"name": name, "arguments": arguments}}))
        .collect();
    let rig = Rig::new(json!([{ "say": say }, text("Done.")])).await;
    for name in ["old.txt", ".env"] {
        std::fs::write(rig.root.path().join("project").join(name), "x").expect("a file");
    }
    let mut lists = rig.host.room().subscribe(Topic::Store).await.expect("a subscription");
    let session = rig.session(Mode::Ask).await;
    let mut client = rig.client(&session).await;
    rig.say(&session, "Do it.").await;
    client.until(|view| open(view).len() == calls.len()).await;
    let needs = loop {
        match lists.recv().await {
            Some(Notification::Needs { needs, .. }) if needs.len() == calls.len() => break needs,
            Some(_) => {}
            None => panic!("the list ended"),
        }
    };
    let whole: Vec<bool> =
        needs.iter().map(|need| matches!(need.what, NeedWhat::Approval { whole: true, .. })).collect();
    // A difference, a site and a secret are looked at on their cards.
    assert_eq!(whole, [true, true, false, false, false]);
    rig.host.close().await;
}
