//! Resting and going on, with a host that says what the test says.

use super::super::carried;
use super::*;
use crate::data;
use crate::door::Client;
use crate::door::words::VERSION;
use crate::host::Options;
use api::wire::command::{Notification, Topic};
use serde_json::{Value, json};
use std::future::{pending, poll_fn};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::task::Poll;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// A door whose host is the test.
struct Strange {
    path: PathBuf,
    door: UnixListener,
}

impl Drop for Strange {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Somebody who was let in.
struct Guest {
    read: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Strange {
    fn at(data: &Path) -> Self {
        let path = data::door_path(data);
        let folder = path.parent().expect("a folder");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).expect("made");
        let door = UnixListener::bind(&path).expect("a socket");
        Self { path, door }
    }

    async fn let_in(&self) -> Guest {
        let (stream, _) = self.door.accept().await.expect("somebody");
        let (read, write) = stream.into_split();
        let mut guest = Guest { read: BufReader::new(read).lines(), write };
        guest.answers("hello", json!({"version": VERSION})).await;
        guest
    }

    /// A seat that is in, and its guest.
    async fn seat(&self, data: &Path) -> (Arc<Seat>, Guest) {
        let (client, guest) = tokio::join!(Client::connect(data), self.let_in());
        let at = At::Guest(Arc::new(client.expect("no trouble").expect("a door")));
        let seat = Seat {
            options: Options::new(Some(data.to_owned())),
            data: data.to_owned(),
            at: Mutex::new(at),
            moving: tokio::sync::Mutex::default(),
            closing: CancellationToken::new(),
            alone: Mutex::default(),
            moved: watch::Sender::new(()),
        };
        (Arc::new(seat), guest)
    }
}

impl Guest {
    /// What it asks next is this, and so it is answered.
    async fn answers(&mut self, method: &str, result: Value) {
        let line = self.read.next_line().await.expect("read").expect("a line");
        let asked: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(asked["method"], method);
        let said = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
        self.write.write_all(format!("{said}\n").as_bytes()).await.expect("written");
    }
}

/// One who found no way in for a long time.
fn weary(seat: &Arc<Seat>) -> Tries {
    let mut tries = Tries::of(seat);
    (0..20).for_each(|_| tries.came_to_nothing());
    assert_eq!(tries.pause, Some(LAST));
    tries
}

#[tokio::test]
async fn who_rests_goes_on_as_soon_as_somebody_else_has_come_in() {
    let root = tempfile::tempdir().expect("a folder");
    let strange = Strange::at(root.path());
    let (seat, _before) = strange.seat(root.path()).await;
    let (mut tries, old) = (weary(&seat), seat.at());
    let mut rest = Box::pin(tries.rest(&old, pending()));
    let mut looked = async || poll_fn(|context| Poll::Ready(rest.as_mut().poll(context))).await;
    assert_eq!(looked().await, Poll::Pending, "it is the longest pause");
    let (new, _after) = tokio::join!(seat.again(&old), strange.let_in());
    let new = new.expect("a way in");
    assert_eq!(looked().await, Poll::Ready(Some(())));
    drop(rest);
    // And where it is elsewhere already, nothing is waited for; where it isn't, that move is none.
    let mut late = Box::pin(tries.rest(&old, pending()));
    assert_eq!(poll_fn(|context| Poll::Ready(late.as_mut().poll(context))).await, Poll::Ready(Some(())));
    drop(late);
    let mut here = Box::pin(tries.rest(&new, pending()));
    assert_eq!(poll_fn(|context| Poll::Ready(here.as_mut().poll(context))).await, Poll::Pending);
}

/// The clock goes only where nothing else does.
#[tokio::test(start_paused = true)]
async fn lists_that_are_listened_to_again_are_tried_soon_when_that_host_goes_too() {
    let root = tempfile::tempdir().expect("a folder");
    let strange = Strange::at(root.path());
    let (seat, before) = strange.seat(root.path()).await;
    let (tries, old) = (weary(&seat), seat.at());
    let (moved, mut asks) = tokio::join!(seat.again(&old), strange.let_in());
    moved.expect("a way in");
    drop(before);
    let (to, mut told) = mpsc::channel(8);
    let nothing = mpsc::channel::<Notification>(1).1;
    let carried = tokio::spawn(carried::topic(tries, old, Topic::Store, nothing, to));
    let mut listens = strange.let_in().await;
    listens.answers("subscribe", json!({"subscription": 1})).await;
    asks.answers("call", json!({"kind": "sessions", "value": []})).await;
    let since = Instant::now();
    drop((listens, asks));
    let again = strange.let_in().await;
    assert!(since.elapsed() < LAST, "{:?}", since.elapsed());
    assert!(told.try_recv().is_err(), "there were no lines");
    carried.abort();
    drop(again);
}
