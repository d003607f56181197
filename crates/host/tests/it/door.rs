//! The local door, from both sides.
#![cfg(unix)]

use crate::rig::{Rig, text};
use api::wire::command::{Command, Mode, Reply, Topic};
use host::door::Client;
use host::door::words::VERSION;
use serde_json::{Value, json};
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
    assert_eq!(rig.host.guests(), 3, "what it asks, and each thing it listens to");
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

/// A host of a newer version than this one: what it says is passed on, and nobody tries to host beside it.
#[tokio::test(flavor = "multi_thread")]
async fn r_cli_06_a_newer_host_is_met_with_its_own_words() {
    let root = tempfile::tempdir().expect("a folder");
    let path = host::data::door_path(root.path());
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    let newer = tokio::net::UnixListener::bind(&path).expect("a socket");
    let serving = tokio::spawn(async move {
        let (stream, _) = newer.accept().await.expect("somebody");
        let (read, mut write) = stream.into_split();
        let asked = BufReader::new(read).lines().next_line().await.expect("read").expect("a line");
        let asked: Value = serde_json::from_str(&asked).expect("JSON");
        let message = "that version of the door's protocol isn't spoken here, 7 is";
        let data = json!({"code": "door/version", "message": message, "hint": "Use the daybook of the same version."});
        let refusal = json!({"jsonrpc": "2.0", "id": asked["id"],
            "error": {"code": -32_000, "message": message, "data": data}, "later": {"added": true}});
        write.write_all(format!("{refusal}\n").as_bytes()).await.expect("written");
        asked
    });
    let refused = host::Seat::take(crate::rig::options(root.path())).await.err().expect("refused");
    assert_eq!((refused.code.as_str(), refused.hint.is_some()), ("door/version", true));
    assert!(refused.message.contains("7 is"), "{}", refused.message);
    let asked = serving.await.expect("served");
    assert_eq!((&asked["method"], &asked["params"]["version"]), (&json!("hello"), &json!(VERSION)));
    assert!(!root.path().join("store.db").exists());
    std::fs::remove_file(path).expect("removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn r_cli_06_words_events_and_programs_have_versions_of_their_own() {
    let rig = Rig::new(json!([text("x")])).await;
    rig.host.open_door().expect("a door");
    let session = rig.session(Mode::Ask).await;
    let Reply::RecordEvent(event) = rig.call(Command::RecordEvent { session, seq: 0 }).await else {
        panic!()
    };
    let (mut ear, mut mouth) =
        host::door::Passage::open(rig.host.data()).await.expect("no trouble").expect("a door").apart();
    // One that would pass over a word of this version is told so instead.
    let (mut old, mut before) =
        host::door::Passage::open(rig.host.data()).await.expect("no trouble").expect("a door").apart();
    before.say(r#"{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":2}}"#).await.expect("said");
    let refused: Value = serde_json::from_str(&old.hear().await.expect("an answer")).expect("JSON");
    assert_eq!(refused["error"]["data"]["code"], "door/version", "{refused}");
    mouth.say(r#"{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":3}}"#).await.expect("said");
    let greeting: Value = serde_json::from_str(&ear.hear().await.expect("an answer")).expect("JSON");
    let words = greeting["result"]["version"].as_u64();
    // Each is named here as it is now: who changes one sees that the other one stays.
    assert_eq!((words, host::door::words::VERSION), (Some(3), 3));
    assert_eq!((event.kind.as_str(), event.version), ("session/created", 1));
    assert_eq!(greeting["result"]["app"], env!("CARGO_PKG_VERSION"));
    assert_eq!(greeting["result"].as_object().expect("words").len(), 3, "{greeting}");
    assert!(mouth.say("two\nlines").await.is_err(), "one line is one request");
    rig.host.close().await;
}

/// The only thread for what blocks is taken, as it would be by a folder on a disk that doesn't answer.
#[test]
fn a_folder_that_takes_its_time_to_open_holds_up_no_other_answer() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().max_blocking_threads(1).build().expect("a runtime");
    runtime.block_on(async {
        let rig = Rig::new(json!([text("x")])).await;
        rig.host.open_door().expect("a door");
        let (mut ear, mut mouth) =
            host::door::Passage::open(rig.host.data()).await.expect("no trouble").expect("a door").apart();
        let hello =
            |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "hello", "params": {"version": VERSION}});
        mouth.say(&hello(1).to_string()).await.expect("said");
        ear.hear().await.expect("an answer");
        let (release, released) = std::sync::mpsc::channel::<()>();
        let (taken, is_taken) = tokio::sync::oneshot::channel();
        let slow = tokio::task::spawn_blocking(move || {
            taken.send(()).expect("waited for");
            // Until the other end is dropped.
            let _ = released.recv();
        });
        is_taken.await.expect("taken");
        let path = rig.root.path().join("project");
        let open = json!({"jsonrpc": "2.0", "id": 2, "method": "open_folder", "params": {"path": path}});
        mouth.say(&open.to_string()).await.expect("said");
        mouth.say(&hello(3).to_string()).await.expect("said");
        let first: Value = serde_json::from_str(&ear.hear().await.expect("an answer")).expect("JSON");
        drop(release);
        slow.await.expect("no panic");
        let second: Value = serde_json::from_str(&ear.hear().await.expect("an answer")).expect("JSON");
        assert_eq!((&first["id"], &second["id"]), (&json!(3), &json!(2)), "{first} {second}");
        assert!(second["result"]["id"].is_string(), "{second}");
    });
}

/// A guest that asks and asks and takes no answer is read no further.
#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_does_not_read_its_answers_is_not_asked_for_more() {
    let rig = Rig::new(json!([text("x")])).await;
    rig.host.open_door().expect("a door");
    let path = host::data::door_path(rig.host.data());
    let written = tokio::task::spawn_blocking(move || {
        let mut stream = std::os::unix::net::UnixStream::connect(&path).expect("a door");
        stream.set_write_timeout(Some(std::time::Duration::from_secs(2))).expect("set");
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "hello", "params": {"version": VERSION}});
        let ask = r#"{"jsonrpc":"2.0","id":2,"method":"call","params":{"command":{"name":"sessions"}}}"#
            .to_owned()
            + "\n";
        let asks = ask.repeat(1_000);
        std::io::Write::write_all(&mut stream, format!("{hello}\n").as_bytes()).expect("written");
        let all = (0..200).all(|_| std::io::Write::write_all(&mut stream, asks.as_bytes()).is_ok());
        (all, stream)
    });
    let (all, stream) = written.await.expect("no panic");
    assert!(!all, "every one of them was taken");
    drop(stream);
    rig.host.close().await;
}
