//! Seats and guests whose host isn't as it should be: what it says isn't known, or there is no way in after it.
#![cfg(unix)]

use crate::rig::{Rig, options, text};
use api::wire::command::{Command, Mode, Notification, Reply, Topic};
use host::door::Client;
use host::door::words::VERSION;
use host::{Options, Seat};
use serde_json::{Value, json};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

/// Longest that anything here may take.
const LIMIT: Duration = Duration::from_secs(60);

async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, what).await.expect("in time")
}

/// A host that says what the test says.
struct Strange {
    door: PathBuf,
    listener: UnixListener,
}

/// Somebody who came to it.
struct Guest {
    read: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Strange {
    fn at(data: &Path) -> Self {
        let door = host::data::door_path(data);
        let folder = door.parent().expect("a folder");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).expect("made");
        let listener = UnixListener::bind(&door).expect("a socket");
        Self { door, listener }
    }

    /// The next who comes, and has said hello.
    async fn met(&self) -> Guest {
        let (stream, _): (UnixStream, _) = soon(self.listener.accept()).await.expect("somebody");
        let (read, write) = stream.into_split();
        let mut guest = Guest { read: BufReader::new(read).lines(), write };
        assert_eq!(guest.asked().await["method"], "hello");
        guest
    }

    /// The next who comes, let in.
    async fn let_in(&self) -> Guest {
        let mut guest = self.met().await;
        guest.say(json!({"jsonrpc": "2.0", "id": 1, "result": {"version": VERSION}})).await;
        guest
    }

    fn goes(self) {
        std::fs::remove_file(self.door).expect("removed");
    }
}

impl Guest {
    async fn asked(&mut self) -> Value {
        let line = soon(self.read.next_line()).await.expect("read").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn say(&mut self, what: Value) {
        self.write.write_all(format!("{what}\n").as_bytes()).await.expect("written");
    }

    async fn deliver(&mut self, item: Value) {
        let params = json!({"subscription": 1, "item": item});
        self.say(json!({"jsonrpc": "2.0", "method": "notify", "params": params})).await;
    }

    /// Grants what it asks to listen to.
    async fn listens(&mut self) {
        assert_eq!(self.asked().await["method"], "subscribe");
        self.say(json!({"jsonrpc": "2.0", "id": 2, "result": {"subscription": 1}})).await;
    }

    /// Sends it away: another version is spoken here.
    async fn refuse(mut self) {
        let message = "that version isn't spoken here any more";
        let data = json!({"code": "door/version", "message": message});
        let error = json!({"code": -32_000, "message": message, "data": data});
        self.say(json!({"jsonrpc": "2.0", "id": 1, "error": error})).await;
    }
}

/// A seat that is told at once where there is no way in.
async fn impatient(data: &Path) -> Arc<Seat> {
    let options = Options { patience: Duration::ZERO, ..options(data) };
    soon(Seat::take(options)).await.unwrap_or_else(|failed| panic!("{failed:?}"))
}

fn needs(session: &str) -> Notification {
    Notification::Needs { session: session.to_owned(), needs: Vec::new() }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lists_go_on_after_there_was_no_way_in_for_a_while() {
    let rig = Rig::new(json!([text("x")])).await;
    let session = rig.session(Mode::Ask).await;
    let Rig { root, host } = rig;
    host.close().await;
    drop(host);
    let data = root.path().join("data");
    let strange = Strange::at(&data);
    let (seat, asks) = tokio::join!(impatient(&data), strange.let_in());
    let listening = async {
        let mut listens = strange.let_in().await;
        listens.listens().await;
        listens
    };
    let (lists, listens) = tokio::join!(seat.subscribe(Topic::Store), listening);
    let mut lists = lists.expect("the lists");
    drop((asks, listens));
    // Whoever tries to come in, keeping the seat or the lists, is sent away, and more than once.
    for _ in 0..4 {
        strange.met().await.refuse().await;
    }
    strange.goes();
    let title = "after".to_owned();
    let rename = Command::Rename { session, title: title.clone() };
    soon(async {
        while seat.host().is_none() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(soon(seat.call(rename)).await, Ok(Reply::Done));
    loop {
        let told = soon(lists.recv()).await.expect("the lists go on");
        if matches!(told, Notification::Summary { summary } if summary.title == title) {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waited_while_another_found_no_way_in_is_told_the_same_at_once() {
    let root = tempfile::tempdir().expect("a folder");
    let strange = Strange::at(root.path());
    let (seat, first) = tokio::join!(impatient(root.path()), strange.let_in());
    drop(first);
    // It has noticed, and is trying.
    let trying = strange.met().await;
    let mut calls: Vec<_> = (0..3).map(|_| Box::pin(seat.call(Command::Sessions))).collect();
    for call in &mut calls {
        tokio::select! {
            biased;
            done = call => panic!("{done:?}"),
            () = std::future::ready(()) => {}
        }
    }
    trying.refuse().await;
    // Nobody else is answered any more.
    for call in calls {
        assert_eq!(soon(call).await.expect_err("no way in").code, "door/version");
    }
    strange.goes();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_host_says_that_nobody_knows_is_passed_over_and_a_session_is_opened_again() {
    let root = tempfile::tempdir().expect("a folder");
    let strange = Strange::at(root.path());
    let (client, _asks) = tokio::join!(Client::connect(root.path()), strange.let_in());
    let client = client.expect("no trouble").expect("a door");
    let session = "ses_1".to_owned();
    let of_session = Topic::Session { session: session.clone(), from: 1 };
    for (topic, expected) in
        [(Topic::Store, needs("ses_2")), (of_session, Notification::Resync { session: session.clone() })]
    {
        let told = async {
            let mut listens = strange.let_in().await;
            listens.listens().await;
            listens.deliver(json!({"kind": "later", "session": "ses_1"})).await;
            listens.deliver(json!({"kind": "needs", "session": "ses_2", "needs": []})).await;
            listens
        };
        let (source, _listens) = tokio::join!(client.subscribe(topic), told);
        assert_eq!(soon(source.expect("a subscription").recv()).await, Some(expected));
    }
    strange.goes();
}
