//! The local door, from both sides.
#![cfg(unix)]

use crate::rig::{Rig, text};
use api::wire::command::{Command, Mode, Reply, Topic};
use host::door::Client;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_does_and_sees_what_the_window_does() {
    let rig = Rig::new(json!([text("Hello.")])).await;
    assert!(
        Client::connect(rig.host.data()).await.expect("no trouble").is_none(),
        "nobody has opened it yet"
    );
    rig.host.open_door().expect("a door");
    let guest = Client::connect(rig.host.data()).await.expect("no trouble").expect("a door");
    let session = rig.session(Mode::Ask).await;
    let topic = Topic::Session { session: session.clone(), from: 1 };
    let mut notifications = guest.subscribe(topic).await.expect("a subscription");
    let mut events = guest.events(&session, 0).await.expect("events");
    rig.say(&session, "hi").await;
    assert!(events.recv().await.expect("a line").expect("an event").contains("session/created"));
    assert!(notifications.recv().await.is_some());
    let asked = guest.call(Command::OpenSession { session: session.clone() }).await.expect("a view");
    assert!(matches!(asked, Reply::Session(view) if view.id == session));
    let refused = guest.call(Command::Rename { session, title: " ".to_owned() }).await.expect_err("refused");
    assert_eq!(refused.code, "session/title");
    assert_eq!(rig.host.guests(), 1);
    let own = guest.open_folder(rig.host.data()).await.expect_err("our own data is no project");
    assert_eq!(own.code, "folder/own");
    rig.host.close().await;
    let gone = guest.call(Command::Sessions).await.expect_err("closed");
    assert_eq!(gone.code, "app/closing");
}

#[tokio::test(flavor = "multi_thread")]
async fn r_cli_06_nothing_is_answered_before_a_hello_of_the_same_version() {
    let rig = Rig::new(json!([text("x")])).await;
    rig.host.open_door().expect("a door");
    let path = host::data::door_path(rig.host.data());
    for (line, code) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"call","params":{"command":{"name":"sessions"}}}"#,
            "door/hello",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":99}}"#, "door/version"),
        ("rubbish", "door/request"),
    ] {
        let stream = tokio::net::UnixStream::connect(&path).await.expect("a door");
        let (read, mut write) = stream.into_split();
        write.write_all(format!("{line}\n").as_bytes()).await.expect("written");
        let mut lines = BufReader::new(read).lines();
        let said = lines.next_line().await.expect("read").expect("a line");
        assert!(said.contains(code), "{said}");
        assert_eq!(lines.next_line().await.expect("read"), None, "and the door is shut");
    }
    rig.host.close().await;
    assert!(!path.exists());
}
