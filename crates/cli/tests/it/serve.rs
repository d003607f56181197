//! The WebSocket of `daybook serve`, from outside: who comes in, and that it speaks the words of the local door.
#![cfg(unix)]

use crate::rig::{Rig, Running, text};
use futures_util::{SinkExt as _, StreamExt as _};
use host::door::words::VERSION;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

const PAGE: &str = "http://localhost:5173";

fn served(rig: &Rig, args: &[&str]) -> (Running, Value) {
    let mut all = vec!["serve", "--script", "script.json"];
    all.extend(args);
    let mut app = rig.start(&all);
    let serving = app.line("the address")["serving"].clone();
    (app, serving)
}

fn rig() -> Rig {
    Rig::new(json!((0..10).map(|_| text("Ready.")).collect::<Vec<_>>()))
}

async fn come_in(address: &str, headers: &[(&str, &str)]) -> Result<Socket, Error> {
    let mut request = address.into_client_request()?;
    for (name, value) in headers {
        let name =
            tokio_tungstenite::tungstenite::http::HeaderName::from_bytes(name.as_bytes()).expect("a name");
        request.headers_mut().insert(name, value.parse().expect("a value"));
    }
    connect_async(request).await.map(|(socket, _)| socket)
}

async fn ask(socket: &mut Socket, request: Value) -> Value {
    socket.send(Message::text(request.to_string())).await.expect("sent");
    next(socket).await
}

async fn next(socket: &mut Socket) -> Value {
    let said = tokio::time::timeout(std::time::Duration::from_secs(60), socket.next()).await;
    let said = said.expect("in time").expect("more").expect("a message");
    serde_json::from_str(said.to_text().expect("text")).expect("JSON")
}

fn hello(version: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "hello", "params": {"version": version}})
}

fn refused(status: u16, answer: Result<Socket, Error>) {
    match answer {
        Err(Error::Http(response)) => {
            assert_eq!(response.status().as_u16(), status);
            let crossing = |name: &str| name.starts_with("access-control");
            assert!(!response.headers().keys().any(|name| crossing(name.as_str())), "{response:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r_cli_05_the_same_words_go_through_the_socket_and_the_websocket() {
    let rig = rig();
    let done = rig.run(&Rig::exec(&[]));
    let session = done.session();
    let (app, serving) = served(&rig, &[]);
    let address = serving["address"].as_str().expect("an address");
    assert!(address.starts_with("ws://127.0.0.1:"), "{address}");
    let bearer = format!("Bearer {}", serving["token"].as_str().expect("a token"));
    let mut socket = come_in(address, &[("authorization", &bearer)]).await.expect("inside");
    assert_eq!(ask(&mut socket, hello(VERSION)).await["result"]["version"], VERSION);
    let listed =
        json!({"jsonrpc": "2.0", "id": 2, "method": "call", "params": {"command": {"name": "sessions"}}});
    let listed = ask(&mut socket, listed).await;
    assert_eq!(listed["result"]["value"][0]["id"], *session, "{listed}");
    // Events, line for line as the program prints them, from any number on.
    let from = 3;
    let events =
        json!({"jsonrpc": "2.0", "id": 3, "method": "events", "params": {"session": session, "from": from}});
    let subscription = ask(&mut socket, events).await["result"]["subscription"].clone();
    let log = rig.run(&["log", &session, "--json"]).json();
    for recorded in log.iter().skip(from) {
        let heard = next(&mut socket).await;
        assert_eq!((&heard["params"]["subscription"], &heard["params"]["item"]), (&subscription, recorded));
    }
    // What another process says then comes as well.
    let more = rig.run(&["exec", "--session", &session, "--json", "more"]);
    assert_eq!(more.code, 0, "{}", more.err);
    for recorded in more.json().iter().filter(|line| line.get("event").is_some()) {
        assert_eq!(&next(&mut socket).await["params"]["item"], recorded);
    }
    app.signal("-TERM");
    let last = socket.next().await.expect("a word").expect("a message");
    assert!(last.is_close(), "{last:?}");
    assert_eq!(app.end().0, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_comes_in_without_the_token_from_a_strange_page_or_by_another_name() {
    let rig = rig();
    let file = rig.root.path().join("token");
    let path = file.to_str().expect("text");
    let (app, serving) = served(&rig, &["--token-file", path, "--allow-origin", PAGE]);
    assert_eq!(serving.get("token"), None, "it stands in the file alone");
    let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let token = std::fs::read_to_string(&file).expect("a token");
    let (address, bearer) = (serving["address"].as_str().expect("an address"), format!("Bearer {token}"));
    refused(401, come_in(address, &[]).await);
    refused(401, come_in(address, &[("authorization", "Bearer wrong")]).await);
    refused(404, come_in(&format!("{address}?token={token}"), &[]).await);
    refused(403, come_in(address, &[("authorization", &bearer), ("host", "evil.example")]).await);
    refused(403, come_in(address, &[("authorization", &bearer), ("origin", "http://evil.example")]).await);
    // A page that was let in can set no header; it asks for everything but a path.
    let named = format!("daybook, daybook.token.{token}");
    let mut page =
        come_in(address, &[("origin", PAGE), ("sec-websocket-protocol", &named)]).await.expect("inside");
    assert_eq!(ask(&mut page, hello(VERSION)).await["result"]["version"], VERSION);
    let asked = json!({"jsonrpc": "2.0", "id": 2, "method": "open_folder", "params": {"path": "/etc"}});
    assert_eq!(ask(&mut page, asked.clone()).await["error"]["data"]["code"], "door/page");
    let mut program = come_in(address, &[("authorization", &bearer)]).await.expect("inside");
    // Nothing before a hello, as at the local door.
    assert_eq!(ask(&mut program, asked).await["error"]["data"]["code"], "door/hello");
    for other in [VERSION - 1, VERSION + 1] {
        let mut stranger = come_in(address, &[("authorization", &bearer)]).await.expect("inside");
        assert_eq!(ask(&mut stranger, hello(other)).await["error"]["data"]["code"], "door/version");
    }
    // What is longer than a request ends the visit and nothing else.
    let mut endless = come_in(address, &[("authorization", &bearer)]).await.expect("inside");
    drop(endless.send(Message::text("x".repeat(3 << 20))).await);
    while let Some(Ok(said)) = endless.next().await {
        assert!(said.is_close(), "{said:?}");
    }
    let rename =
        json!({"jsonrpc": "2.0", "id": 3, "method": "call", "params": {"command": {"name": "sessions"}}});
    assert!(ask(&mut page, rename).await["result"].is_object());
    app.signal("-TERM");
    assert_eq!(app.end().0, 0);
}

/// Sockets at which a program listens to a network.
#[cfg(target_os = "linux")]
fn listeners(program: u32) -> usize {
    let open = std::fs::read_dir(format!("/proc/{program}/fd")).expect("its files").flatten();
    let open: Vec<String> = open
        .filter_map(|fd| std::fs::read_link(fd.path()).ok())
        .map(|link| link.to_string_lossy().into_owned())
        .collect();
    let mut found = 0;
    for table in ["tcp", "tcp6"] {
        let listening = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        // The state of a listener is 0A; its socket's number is the tenth word.
        let inodes = listening.lines().filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words.get(3) == Some(&"0A")).then(|| format!("socket:[{}]", words[9]))
        });
        found += inodes.filter(|inode| open.contains(inode)).count();
    }
    found
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_listens_unless_it_was_asked_for() {
    let rig = rig();
    // The same look finds what does listen.
    let (app, _) = served(&rig, &[]);
    assert_eq!(listeners(app.child.id()), 1);
    app.signal("-TERM");
    assert_eq!(app.end().0, 0);
    let mut exec = rig.start(&Rig::exec(&["--wait-approvals"]));
    exec.until("turn/start");
    assert_eq!(listeners(exec.child.id()), 0);
    exec.end();
}

#[test]
fn what_is_wrong_with_what_was_asked_for_is_said_before_anything_is_hosted() {
    let rig = rig();
    let token = rig.root.path().join("token");
    std::fs::write(&token, "mine").expect("written");
    let taken = rig.run(&["serve", "--token-file", "token"]);
    assert_eq!((taken.code, taken.out.as_str()), (2, ""), "{}", taken.err);
    assert_eq!(std::fs::read_to_string(&token).expect("a file"), "mine", "it is never taken over");
    assert_eq!(rig.run(&["serve", "--allow-origin", "*"]).code, 2);
    let other = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = other.local_addr().expect("an address").port().to_string();
    assert_eq!(rig.run(&["serve", "--port", &port]).code, 2);
    assert!(!rig.data().join("store.db").exists(), "nothing was hosted");
    // And what it wrote it takes away.
    std::fs::remove_file(&token).expect("removed");
    let (app, _) = served(&rig, &["--token-file", "token"]);
    assert!(token.exists());
    app.signal("-TERM");
    assert_eq!(app.end().0, 0);
    assert!(!token.exists());
}

#[test]
fn no_address_is_told_where_the_local_door_cant_be_opened() {
    let rig = rig();
    let folder = rig.door().parent().expect("a folder").to_owned();
    std::fs::create_dir(&folder).expect("made");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).expect("set");
    let refused = rig.run(&["serve", "--token-file", "token"]);
    assert_eq!((refused.code, refused.out.as_str()), (3, ""), "{}", refused.err);
    let said: Vec<_> = refused.err.lines().collect();
    let [why, hint] = said[..] else { panic!("that alone is said: {}", refused.err) };
    assert!(why.contains("nobody could come in at the WebSocket: the folder"), "{why}");
    assert!(why.contains("can be entered by others") && hint.contains("local door"), "{why}\n{hint}");
    assert!(!rig.root.path().join("token").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_any_length_comes_through() {
    let long = "long ".repeat(48_000);
    let rig = Rig::new(json!((0..5).map(|_| text(&long)).collect::<Vec<_>>()));
    let session = rig.run(&Rig::exec(&[])).session();
    for _ in 1..5 {
        let more = ["exec", "--session", &session, "--script", "script.json", "--json", "more"];
        let more = rig.run(&more);
        assert_eq!(more.code, 0, "{}", more.err);
    }
    let (app, serving) = served(&rig, &[]);
    let bearer = format!("Bearer {}", serving["token"].as_str().expect("a token"));
    let address = serving["address"].as_str().expect("an address");
    let mut socket = come_in(address, &[("authorization", &bearer)]).await.expect("inside");
    assert_eq!(ask(&mut socket, hello(VERSION)).await["result"]["version"], VERSION);
    let open = json!({"command": {"name": "open_session", "args": {"session": session}}});
    let open = json!({"jsonrpc": "2.0", "id": 2, "method": "call", "params": open});
    let said = ask(&mut socket, open).await.to_string();
    assert!(said.len() > 1 << 20 && said.matches(&long).count() == 5, "{} bytes", said.len());
    app.signal("-TERM");
    assert_eq!(app.end().0, 0);
}

/// One that serves beside another host: who comes in after that one was killed is let in, and who is inside hears the end.
#[tokio::test(flavor = "multi_thread")]
async fn who_comes_when_the_host_has_just_gone_is_let_in_and_whoever_is_inside_hears_the_end() {
    let rig = rig();
    let (host, _) = served(&rig, &[]);
    let (beside, serving) = served(&rig, &[]);
    let bearer = format!("Bearer {}", serving["token"].as_str().expect("a token"));
    let address = serving["address"].as_str().expect("an address");
    let first = come_in(address, &[("authorization", &bearer)]).await.expect("inside");
    host.signal("-KILL");
    drop(host);
    drop(first);
    let mut socket = come_in(address, &[("authorization", &bearer)]).await.expect("inside");
    assert_eq!(ask(&mut socket, hello(VERSION)).await["result"]["version"], VERSION);
    let (guest, serving) = served(&rig, &[]);
    let bearer = format!("Bearer {}", serving["token"].as_str().expect("a token"));
    let address = serving["address"].as_str().expect("an address");
    let mut inside = come_in(address, &[("authorization", &bearer)]).await.expect("inside");
    assert_eq!(ask(&mut inside, hello(VERSION)).await["result"]["version"], VERSION);
    guest.signal("-TERM");
    let last = inside.next().await.expect("a word").expect("a message");
    let Message::Close(Some(last)) = last else { panic!("{last:?}") };
    assert_eq!((u16::from(last.code), last.reason.as_str()), (1001, "it stops serving"));
    assert_eq!(guest.end().0, 0);
    beside.signal("-TERM");
    assert_eq!(beside.end().0, 0);
}

/// More come than there are places, and none says what it wants: they are let go, and whoever has the token still comes in.
#[tokio::test(flavor = "multi_thread")]
async fn those_who_say_nothing_are_let_go_and_keep_nobody_out() {
    let rig = rig();
    let (app, serving) = served(&rig, &[]);
    let bearer = format!("Bearer {}", serving["token"].as_str().expect("a token"));
    let address = serving["address"].as_str().expect("an address");
    let place = address.trim_start_matches("ws://").trim_end_matches('/');
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(tokio::net::TcpStream::connect(place).await.expect("connected"));
    }
    let mut socket = come_in(address, &[("authorization", &bearer)]).await.expect("inside");
    assert_eq!(ask(&mut socket, hello(VERSION)).await["result"]["version"], VERSION);
    let mut first = idle.swap_remove(0);
    let mut nothing = Vec::new();
    let ended = tokio::io::AsyncReadExt::read_to_end(&mut first, &mut nothing);
    let ended = tokio::time::timeout(std::time::Duration::from_secs(60), ended).await;
    drop(ended.expect("it is let go"));
    app.signal("-TERM");
    assert_eq!(app.end().0, 0);
}
