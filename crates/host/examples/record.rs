//! How long looking at a long record takes: makes a session of many events and asks for each thing the window asks for.
//!
//! `cargo run --release -p host --example record -- 100000` prints a line for each. It reports and judges nothing; what it
//! makes goes away with it.

#![expect(clippy::print_stdout, reason = "a report is what it is for")]

use api::wire::command::{Command, Reply};
use domain::call::Mode;
use domain::event::{Draft, InboxCancelled, InboxPosted, NoticeRaised, Origin, SessionCreated, Target};
use domain::ids::{FolderId, MessageId, SessionId};
use host::{Host, Options};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use store::{Durability, Store};

/// Events in one append.
const AT_ONCE: u64 = 3_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let events: u64 = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let root = std::env::temp_dir().join(format!("daybook-record-{}", std::process::id()));
    let done = looked_at(&root, events).await;
    std::fs::remove_dir_all(&root)?;
    done
}

async fn looked_at(root: &Path, events: u64) -> Result<(), Box<dyn Error>> {
    let session = SessionId::from_bits(1);
    let begun = Instant::now();
    make(root, &session, events)?;
    told("made", events, begun);
    let host = Host::open(Options::new(Some(root.to_owned()))).await?;
    let id = session.to_string();
    let middle = events / 2;
    let asked = [
        ("opened", Command::OpenSession { session: id.clone() }),
        ("outline, first", Command::RecordOutline { session: id.clone(), from: 0 }),
        ("outline, again", Command::RecordOutline { session: id.clone(), from: 0 }),
        ("100 lines in the middle", Command::RecordLines { session: id.clone(), from: middle, count: 100 }),
        ("moment in the middle, first", Command::Moment { session: id.clone(), seq: middle }),
        ("moment beside it", Command::Moment { session: id.clone(), seq: middle + 1 }),
        ("moment at the end", Command::Moment { session: id.clone(), seq: events - 1 }),
        ("one event", Command::RecordEvent { session: id.clone(), seq: middle }),
    ];
    for (what, command) in asked {
        let begun = Instant::now();
        host.room().call(command).await.map_err(|error| error.message)?;
        told(what, events, begun);
    }
    let begun = Instant::now();
    let mut command = Command::Verify { session: id.clone() };
    loop {
        let reply = host.room().call(command).await.map_err(|error| error.message)?;
        if matches!(&reply, Reply::Verification(found) if found.state != "running") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        command = Command::Verification { session: id.clone() };
    }
    told("verified", events, begun);
    host.close().await;
    Ok(())
}

fn told(what: &str, events: u64, since: Instant) {
    println!("{what:30} {events:>8} events {:>9.1} ms", since.elapsed().as_secs_f64() * 1_000.0);
}

/// A session in which messages are written and taken back.
fn make(root: &Path, session: &SessionId, events: u64) -> Result<(), Box<dyn Error>> {
    store::create_folder(root)?;
    let store = Store::open(root, store::Options::inline(Arc::new(host::SystemClock)))?;
    let mut at = 0;
    while at < events {
        let to = (at + AT_ONCE).min(events);
        store.append(session, at, (at..to).map(draft).collect(), Durability::Normal)?;
        at = to;
    }
    Ok(())
}

fn draft(seq: u64) -> Draft {
    let message = MessageId::from_bits(u128::from(seq / 3) + 1);
    match seq {
        0 => Draft::new(SessionCreated {
            folder: FolderId::from_bits(1),
            root: "/home/ann/bakery".into(),
            mode: Mode::Ask,
            model: None,
            tour: false,
            identity: None,
        }),
        _ if seq % 3 == 1 => Draft::new(InboxPosted {
            message,
            text: format!(
                "Message {seq}: please look at the order form once more, it breaks on small screens."
            ),
            target: Target::NextTurn,
            wakeup: false,
            origin: Origin::User,
            command: None,
        }),
        _ if seq % 3 == 2 => Draft::new(InboxCancelled { message }),
        _ => Draft::new(NoticeRaised { code: "repeat/noticed".into(), facts: Default::default() }),
    }
}
