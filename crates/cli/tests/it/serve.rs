//! The WebSocket of `daybook serve`, from outside: who comes in, and that it speaks the words of the local door.
#![cfg(unix)]

use crate::rig::{Rig, Running, text};
use futures_util::{SinkExt as _, StreamExt as _};
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
    assert_eq!(ask(&mut socket, hello(1)).await["result"]["version"], 1);
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
    assert_eq!(ask(&mut page, hello(1)).await["result"]["version"], 1);
    let asked = json!({"jsonrpc": "2.0", "id": 2, "method": "open_folder", "params": {"path": "/etc"}});
    assert_eq!(ask(&mut page, asked.clone()).await["error"]["data"]["code"], "door/page");
    let mut program = come_in(address, &[("authorization", &bearer)]).await.expect("inside");
    // Nothing before a hello, as at the local door.
    assert_eq!(ask(&mut program, asked).await["error"]["data"]["code"], "door/hello");
    let mut newer = come_in(address, &[("authorization", &bearer)]).await.expect("inside");
    assert_eq!(ask(&mut newer, hello(2)).await["error"]["data"]["code"], "door/version");
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

#[test]
fn nothing_listens_unless_it_was_asked_for_and_a_token_file_is_never_taken_over() {
    let rig = rig();
    std::fs::write(rig.root.path().join("token"), "mine").expect("written");
    let taken = rig.run(&["serve", "--token-file", "token"]);
    assert_eq!((taken.code, taken.out.as_str()), (2, ""), "{}", taken.err);
    assert_eq!(std::fs::read_to_string(rig.root.path().join("token")).expect("a file"), "mine");
    assert_eq!(rig.run(&["serve", "--allow-origin", "*"]).code, 2);
    let mut exec = rig.start(&Rig::exec(&["--wait-approvals"]));
    exec.until("turn/start");
    let sockets = std::fs::read_dir(format!("/proc/{}/fd", exec.child.id())).into_iter().flatten().flatten();
    let open: Vec<String> = sockets
        .filter_map(|fd| std::fs::read_link(fd.path()).ok())
        .map(|link| link.to_string_lossy().into_owned())
        .collect();
    for table in ["tcp", "tcp6"] {
        let listening = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        // The state of a listener is 0A; its socket's number is the tenth word.
        let inodes = listening.lines().filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words.get(3) == Some(&"0A")).then(|| format!("socket:[{}]", words[9]))
        });
        assert!(inodes.clone().all(|inode| !open.contains(&inode)), "{table}");
    }
    exec.end();
}
