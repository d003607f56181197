//! Seats: a guest whose host goes hosts, and what it listens to and asked for goes on.
#![cfg(unix)]

use crate::rig::{Rig, options, text};
use api::wire::command::{Command, Intent, Mode, Notification, Reply, Topic};
use host::Seat;
use host::door::Client;
use host::door::words::REQUEST_BYTES;
use serde_json::{Value, json};
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

/// Longest that anything here may take.
const LIMIT: Duration = Duration::from_secs(60);

async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, what).await.expect("in time")
}

async fn next<T>(from: &mut mpsc::Receiver<T>) -> T {
    soon(from.recv()).await.expect("more")
}

/// A store with one session, closed again.
async fn left() -> (tempfile::TempDir, String) {
    let rig = Rig::new(json!([text("x")])).await;
    let session = rig.session(Mode::Ask).await;
    let Rig { root, host } = rig;
    host.close().await;
    (root, session)
}

async fn take(root: &tempfile::TempDir) -> Arc<Seat> {
    soon(Seat::take(options(&root.path().join("data")))).await.unwrap_or_else(|failed| panic!("{failed:?}"))
}

async fn leave(seat: Arc<Seat>) {
    seat.close().await;
    drop(Arc::into_inner(seat).expect("nobody else sits there"));
}

async fn rename(seat: &Seat, session: &str, title: &str) {
    let rename = Command::Rename { session: session.to_owned(), title: title.to_owned() };
    assert_eq!(soon(seat.call(rename)).await, Ok(Reply::Done));
}

/// Reads events until this name is given, and checks that each is the next one.
async fn until_named(
    events: &mut mpsc::Receiver<Result<String, api::wire::ApiError>>,
    seq: &mut u64,
    title: &str,
) {
    loop {
        let line: Value = serde_json::from_str(&next(events).await.expect("an event")).expect("JSON");
        assert_eq!(line["event"]["seq"], *seq, "none left out, none twice");
        *seq += 1;
        if line["event"]["payload"]["title"] == title {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r_cli_04_a_guest_whose_host_goes_hosts_and_hears_on() {
    let (root, session) = left().await;
    let (host, guest) = (take(&root).await, take(&root).await);
    assert!(host.host().is_some() && guest.host().is_none());
    let mut events = guest.events(&session, 0).await.expect("events");
    let mut lists = guest.subscribe(Topic::Store).await.expect("the lists");
    let mut view =
        guest.subscribe(Topic::Session { session: session.clone(), from: 1 }).await.expect("a session");
    let mut seq = 0;
    rename(&host, &session, "before").await;
    until_named(&mut events, &mut seq, "before").await;
    leave(host).await;
    // Nobody asks for anything, and it hosts.
    loop {
        if let Notification::Resync { session: told } = next(&mut view).await {
            assert_eq!(told, session);
            break;
        }
    }
    rename(&guest, &session, "after").await;
    assert!(guest.host().is_some());
    until_named(&mut events, &mut seq, "after").await;
    loop {
        if let Notification::Summary { summary } = next(&mut lists).await
            && summary.title == "after"
        {
            break;
        }
    }
    // And the next one is its guest.
    let third = take(&root).await;
    assert!(third.host().is_none());
    rename(&third, &session, "by the third").await;
    until_named(&mut events, &mut seq, "by the third").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_said_again_to_the_next_host_is_the_same_message() {
    let (root, session) = left().await;
    let (host, guest) = (take(&root).await, take(&root).await);
    let send = Command::Send {
        session: session.clone(),
        text: "once".to_owned(),
        intent: Intent::FollowUp,
        command: format!("cmd_{:032x}", 7),
    };
    let Ok(Reply::Sent { message: first, .. }) = soon(guest.call(send.clone())).await else { panic!() };
    leave(host).await;
    let Ok(Reply::Sent { message: again, .. }) = soon(guest.call(send)).await else { panic!() };
    assert_eq!(first, again);
    let mut events = guest.events(&session, 0).await.expect("events");
    rename(&guest, &session, "the end").await;
    let mut posted = 0;
    loop {
        let line = next(&mut events).await.expect("an event");
        posted += u32::from(line.contains("inbox/posted"));
        if line.contains("the end") {
            break;
        }
    }
    assert_eq!(posted, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_does_not_read_holds_up_no_answer() {
    let rig = Rig::new(json!([text("x")])).await;
    rig.host.open_door().expect("a door");
    let session = rig.session(Mode::Ask).await;
    // More than all the queues on the way hold.
    for count in 0..1_500 {
        let title = format!("{count} {}", "x".repeat(150));
        rig.call(Command::Rename { session: session.clone(), title }).await;
    }
    let guest = Client::connect(rig.host.data()).await.expect("no trouble").expect("a door");
    let mut unread = guest.events(&session, 0).await.expect("events");
    for _ in 0..20 {
        soon(guest.call(Command::Sessions)).await.expect("an answer");
    }
    // And nothing of it is lost.
    for seq in 0..=1_500 {
        let line: Value = serde_json::from_str(&next(&mut unread).await.expect("an event")).expect("JSON");
        assert_eq!(line["event"]["seq"], seq);
    }
    rig.host.close().await;
    soon(guest.gone()).await;
    assert!(guest.is_gone());
}

/// A host that speaks to the first who comes, and tells the second that it speaks another version.
async fn strange(listener: tokio::net::UnixListener, door: std::path::PathBuf) {
    let message = "that version isn't spoken here any more";
    let data = json!({"code": "door/version", "message": message});
    for answer in [
        json!({"jsonrpc": "2.0", "id": 1, "result": {"version": host::door::words::VERSION}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32_000, "message": message, "data": data}}),
    ] {
        let (stream, _) = listener.accept().await.expect("somebody");
        let (read, mut write) = stream.into_split();
        BufReader::new(read).lines().next_line().await.expect("read").expect("a hello");
        write.write_all(format!("{answer}\n").as_bytes()).await.expect("written");
    }
    std::fs::remove_file(door).expect("removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_that_found_no_way_in_tries_again_by_itself() {
    let (root, session) = left().await;
    let door = host::data::door_path(&root.path().join("data"));
    let folder = door.parent().expect("a folder");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).expect("made");
    let listener = tokio::net::UnixListener::bind(&door).expect("a socket");
    let strange = tokio::spawn(strange(listener, door));
    let seat = take(&root).await;
    assert!(seat.host().is_none());
    soon(strange).await.expect("both were spoken to");
    // Nobody asks for anything, and it hosts.
    soon(async {
        while seat.host().is_none() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    rename(&seat, &session, "after").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_long_to_be_asked_for_is_refused_and_nothing_else_with_it() {
    let (root, session) = left().await;
    let (host, guest) = (take(&root).await, take(&root).await);
    let send = |bytes: usize| Command::Send {
        session: session.clone(),
        text: "x".repeat(bytes),
        intent: Intent::FollowUp,
        command: format!("cmd_{bytes:032x}"),
    };
    let client = Client::connect(host.data()).await.expect("no trouble").expect("a door");
    let refused = soon(client.call(send(REQUEST_BYTES))).await.expect_err("too long");
    assert_eq!(refused.code, "door/long");
    soon(client.call(Command::Sessions)).await.expect("the same connection still answers");
    assert_eq!(soon(guest.call(send(REQUEST_BYTES))).await.expect_err("too long").code, "door/long");
    // One that just fits is judged like any other.
    let fits = soon(guest.call(send(REQUEST_BYTES - 500))).await.expect_err("a message is shorter");
    assert_eq!(fits.code, "message/too_long");
}
