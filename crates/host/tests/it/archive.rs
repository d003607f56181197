//! A session taken out of one store and into another: the same to the byte, found out before anything is taken, and inert.

use crate::rig::{Client, Rig, call, host_over, text};
use api::wire::command::{Command, Intent, Mode, Reply};
use api::wire::copy::CopyOf;
use api::wire::job::JobPhase;
use api::wire::undo::UndoOf;
use api::wire::view::{Activity, Entry, EntryBody, SessionView};
use domain::digest::Digest;
use domain::event::{Draft, InboxCancelled, InboxPosted, Origin, Payload, Recorded, SessionCreated, Target};
use domain::ids::{FolderId, MessageId, SessionId};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use store::Reader;

/// What JSON lets stand in a string and some readers take for the end of a line.
const SAID: &str = "Write\u{2028}the\u{85}menu";

/// A session at rest in a store that nobody has open any more.
async fn rested() -> (Rig, String, SessionView) {
    let (rig, session, _) = worked().await;
    let view = rig.view(&session).await;
    rig.host.close().await;
    (rig, session, view)
}

/// A session at rest.
async fn worked() -> (Rig, String, Client) {
    let answers = json!([
        call("write_file", json!({"path": "menu.txt", "content": "Almond cake 4.20\n"})),
        text("It is written."),
    ]);
    let rig = Rig::new(answers).await;
    let session = rig.session(Mode::Edit).await;
    let mut client = rig.client(&session).await;
    rig.say(&session, SAID).await;
    client.until(|view| view.activity == Activity::Idle && view.entries.len() > 3).await;
    (rig, session, client)
}

fn data(rig: &Rig) -> PathBuf {
    rig.root.path().join("data")
}

fn events(data: &Path, session: &str) -> Vec<Recorded> {
    let id: SessionId = session.parse().expect("an id");
    let mut events = Reader::open(data).expect("a store").events(&id, 0, 20_000).expect("events");
    events.iter_mut().for_each(|event| event.pos = 0);
    events
}

/// Exported, and the folder it stands in.
fn exported(rig: &Rig, session: &str) -> PathBuf {
    let to = rig.root.path().join("menu.daybook");
    host::export(&data(rig), session, &to).unwrap_or_else(|error| panic!("{error}"));
    to
}

#[tokio::test(flavor = "multi_thread")]
async fn h17_a_session_is_the_same_to_the_byte_in_another_store() {
    let (rig, session, view) = rested().await;
    let to = exported(&rig, &session);
    let other = rig.root.path().join("other");
    let taken = host::import(&other, &to).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((taken.session.as_str(), taken.requests), (session.as_str(), 2));
    assert_eq!(events(&other, &session), events(&data(&rig), &session));
    let checked = host::verify(&other, None).expect("it is verified");
    assert!(checked.iter().all(|one| one.findings.is_empty()), "{checked:?}");
    // What it shows is what it showed, but for the folder, and that it can only be looked at.
    let room = host::read(&other).expect("a room");
    let open = room.call(Command::OpenSession { session: session.clone() }).await.expect("it opens");
    let Reply::Session(shown) = open else { panic!() };
    assert_eq!(shown.entries, view.entries);
    assert!(shown.read_only.is_some_and(|why| why.contains("imported")));
    // A second time it is here already, and out of the other store it comes as it went in.
    assert!(matches!(host::import(&other, &to), Err(host::ArchiveError::Here(_))));
    let again = rig.root.path().join("again.daybook");
    host::export(&other, &session, &again).expect("it goes out again");
    for file in ["manifest.json", "events.jsonl"] {
        assert_eq!(fs::read(again.join(file)).expect("a file"), fs::read(to.join(file)).expect("a file"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn h17_ten_thousand_events_are_read_back_line_by_line() {
    let root = tempfile::tempdir().expect("a folder");
    let (data, id) = (root.path().join("data"), SessionId::from_bits(7));
    store::create_folder(&data).expect("a folder");
    let store = store::Store::open(&data, store::Options::inline(std::sync::Arc::new(host::SystemClock)));
    let store = store.expect("a store");
    let drafts: Vec<Draft> = (0..10_001).map(draft).collect();
    for (n, some) in drafts.chunks(3_000).enumerate() {
        store.append(&id, n as u64 * 3_000, some.to_vec(), store::Durability::Normal).expect("lawful");
    }
    drop(store);
    let (to, other) = (root.path().join("long.daybook"), root.path().join("other"));
    host::export(&data, id.as_str(), &to).expect("it goes out");
    let taken = host::import(&other, &to).expect("it comes in");
    assert_eq!(taken.events, 10_001);
    let lines = fs::read(to.join("events.jsonl")).expect("lines");
    assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count(), 10_001);
    assert_eq!(events(&other, id.as_str())[9_999..], events(&data, id.as_str())[9_999..]);
}

/// Messages that are written and taken back.
fn draft(seq: u128) -> Draft {
    let message = MessageId::from_bits(seq.div_ceil(2) + 1);
    match seq {
        0 => Draft::new(SessionCreated {
            folder: FolderId::from_bits(1),
            root: "/home/ann".into(),
            mode: domain::call::Mode::Ask,
            model: None,
            tour: false,
            identity: None,
        }),
        _ if seq % 2 == 1 => Draft::new(InboxPosted {
            message,
            text: SAID.into(),
            target: Target::NextTurn,
            wakeup: false,
            origin: Origin::User,
            command: None,
        }),
        _ => Draft::new(InboxCancelled { message }),
    }
}

/// Appends an event of a type that nobody knows, chained as a newer Daybook would.
fn append_unknown(to: &Path, data: &Path, session: &str, ignorable: bool) -> String {
    let last = events(data, session).pop().expect("events");
    let payload = r#"{"glow": 1.50, "n":12345678901234567890}"#;
    let mut event = Recorded {
        seq: last.seq + 1,
        kind: "sparkle/shown".into(),
        version: 7,
        ignorable,
        sources: vec![1],
        turn: None,
        step: None,
        prev_hash: last.hash,
        hash: Digest::ZERO,
        payload: Payload::Text(payload.into()),
        ..last
    };
    event.hash = event.expected_hash();
    let line = format!(
        "{{\"seq\":{},\"type\":\"sparkle/shown\",\"version\":7,\"time\":{},\"epoch\":{},\"ignorable\":{ignorable},\
         \"sources\":[1],\"before\":\"{}\",\"hash\":\"{}\",\"payload\":{payload}}}\n",
        event.seq, event.time, event.epoch, event.prev_hash, event.hash
    );
    let path = to.join("events.jsonl");
    let text = fs::read_to_string(&path).expect("lines") + &line;
    fs::write(&path, text).expect("written");
    change(&to.join("manifest.json"), |manifest| {
        manifest["events"] = json!(event.seq + 1);
        manifest["head"] = json!(event.hash.to_string());
    });
    payload.to_owned()
}

fn change(path: &Path, how: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
    how(&mut value);
    fs::write(path, value.to_string()).expect("written");
}

#[tokio::test(flavor = "multi_thread")]
async fn i19_a_decorative_event_that_nobody_knows_passes_through_byte_for_byte() {
    let (rig, session, view) = rested().await;
    let to = exported(&rig, &session);
    let payload = append_unknown(&to, &data(&rig), &session, true);
    let other = rig.root.path().join("other");
    host::import(&other, &to).unwrap_or_else(|error| panic!("{error}"));
    let last = events(&other, &session).pop().expect("events");
    assert_eq!((last.kind.as_str(), last.version), ("sparkle/shown", 7));
    assert_eq!(last.payload, Payload::Text(payload.as_str().into()));
    let again = rig.root.path().join("again.daybook");
    host::export(&other, &session, &again).expect("it goes out again");
    let lines = fs::read_to_string(again.join("events.jsonl")).expect("lines");
    assert!(lines.ends_with(&format!("\"payload\":{payload}}}\n")), "as it came");
    let room = host::read(&other).expect("a room");
    let open = room.call(Command::OpenSession { session: session.clone() }).await.expect("it opens");
    let Reply::Session(shown) = open else { panic!() };
    assert_eq!(shown.entries, view.entries, "and changes nothing that is known");
}

#[tokio::test(flavor = "multi_thread")]
async fn r_log_11_one_that_may_not_be_passed_over_is_refused_and_leaves_no_trace() {
    let (rig, session, _) = rested().await;
    let to = exported(&rig, &session);
    append_unknown(&to, &data(&rig), &session, false);
    let other = rig.root.path().join("other");
    let refused = host::import(&other, &to).expect_err("it isn't understood");
    assert!(refused.to_string().contains("newer Daybook"), "{refused}");
    assert!(Reader::open(&other).expect("a store").sessions().expect("a list").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_changed_anywhere_is_found_out_before_anything_is_taken() {
    let (rig, session, _) = rested().await;
    let other = rig.root.path().join("other");
    type Tamper = fn(&Path);
    let tampered: [(&str, Tamper); 7] = [
        ("more lines than are named", |to| {
            change(&to.join("manifest.json"), |manifest| manifest["events"] = json!(2));
        }),
        ("a content of any size", |to| {
            change(&to.join("manifest.json"), |manifest| manifest["blobs"][0]["bytes"] = json!(u64::MAX));
        }),
        ("a word", |to| {
            let path = to.join("events.jsonl");
            let text = fs::read_to_string(&path).expect("lines").replace("It is written.", "It is smitten.");
            fs::write(path, text).expect("written");
        }),
        ("an event left out", |to| {
            let path = to.join("events.jsonl");
            let text = fs::read_to_string(&path).expect("lines");
            let without: String = text
                .split_inclusive('\n')
                .enumerate()
                .filter(|(n, _)| *n != 3)
                .map(|(_, line)| line)
                .collect();
            fs::write(path, without).expect("written");
        }),
        ("a content", |to| {
            let blob =
                fs::read_dir(to.join("blobs")).expect("blobs").next().expect("one").expect("one").path();
            fs::write(blob, "something else").expect("written");
        }),
        ("a content left out", |to| {
            let blob =
                fs::read_dir(to.join("blobs")).expect("blobs").next().expect("one").expect("one").path();
            fs::remove_file(blob).expect("removed");
        }),
        ("a newer format", |to| change(&to.join("manifest.json"), |manifest| manifest["version"] = json!(2))),
    ];
    for (what, tamper) in tampered {
        let to = exported(&rig, &session);
        tamper(&to);
        let refused = host::import(&other, &to);
        assert!(refused.is_err(), "{what}");
        assert!(
            Reader::open(&other).is_ok_and(|store| store.sessions().expect("a list").is_empty())
                || !other.join("store.db").exists(),
            "{what}"
        );
        fs::remove_dir_all(&to).expect("removed");
    }
    assert!(!other.join("importing").exists(), "and nothing is left beside it");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_session_is_inert_and_hinders_nothing() {
    let (rig, session, _) = rested().await;
    let to = exported(&rig, &session);
    let other = rig.root.path().join("other");
    host::import(&other, &to).unwrap_or_else(|error| panic!("{error}"));
    let before = events(&other, &session);
    let host = host_over(&other).await;
    let command = format!("cmd_{:032x}", 1);
    let (intent, id) = (Intent::Steer, session.clone());
    for asked in [
        Command::Send { session: id.clone(), text: "Go on".into(), intent, command },
        Command::SetMode { session: id.clone(), mode: Mode::Edit },
        Command::Undo {
            session: id.clone(),
            of: UndoOf::Session,
            paths: Vec::new(),
            overwrite: Vec::new(),
            seen: BTreeMap::new(),
        },
        Command::Rename { session: id.clone(), title: "Mine".into() },
    ] {
        let refused = host.room().call(asked.clone()).await.expect_err("nothing is done in it");
        assert_eq!(refused.code, "session/read_only", "{asked:?}");
    }
    // What it keeps is left alone by what lets old contents go, and keeps that from nothing.
    host.room().call(Command::ThinNow).await.expect("it lets go of what may go");
    host.close().await;
    drop(host);
    assert_eq!(events(&other, &session), before, "nothing was added");
    let checked = host::verify(&other, None).expect("it is verified");
    assert!(checked.iter().all(|one| one.findings.is_empty()), "{checked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn h17_a_session_that_rests_after_an_undo_comes_in() {
    let (rig, session, mut client) = worked().await;
    let (of, paths) = (UndoOf::Session, Vec::new());
    let (overwrite, seen) = (Vec::new(), BTreeMap::new());
    rig.call(Command::Undo { session: session.clone(), of, paths, overwrite, seen }).await;
    let undone = |view: &SessionView| {
        let done = |entry: &Entry| matches!(&entry.body, EntryBody::Undo { undo } if undo.state == "done");
        view.entries.iter().any(done)
    };
    client.until(undone).await;
    assert!(!rig.root.path().join("project/menu.txt").exists());
    rig.host.close().await;
    let to = exported(&rig, &session);
    let last = events(&data(&rig), &session).pop().expect("events");
    assert_eq!(last.kind, "inbox/posted", "the model is told with its next turn");
    let other = rig.root.path().join("other");
    host::import(&other, &to).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(events(&other, &session), events(&data(&rig), &session));
}

#[tokio::test(flavor = "multi_thread")]
async fn h17_a_session_whose_command_goes_on_in_the_background_is_not_taken() {
    let waits = if cfg!(windows) { "Start-Sleep 600" } else { "sleep 600" };
    let answers =
        json!([call("run_command", json!({"command": waits, "background": true})), text("It goes on.")]);
    let rig = Rig::new(answers).await;
    let session = rig.session(Mode::Auto).await;
    let mut client = rig.client(&session).await;
    rig.say(&session, "Wait").await;
    // Where no cage holds it, the person is asked first, and the session is at work for that reason.
    let goes_on = |view: &SessionView| match view.activity {
        Activity::NeedsYou { .. } => true,
        Activity::Idle => view.jobs.iter().any(|job| job.phase == JobPhase::Running),
        _ => false,
    };
    client.until(goes_on).await;
    // It isn't let out, and nobody is asked where to.
    let to = rig.root.path().join("menu.daybook");
    let refused = host::export(&data(&rig), &session, &to).expect_err("it is at work");
    assert!(matches!(refused, host::ArchiveError::AtWork) && !to.exists(), "{refused}");
    let refused = rig.host.room().copy_name(&session, &CopyOf::Session).await.expect_err("it is at work");
    assert_eq!(refused.code, "archive/at_work");
    rig.host.close().await;
    // Nor in, where it was let out before it rested.
    let to = exported(&rig, &session);
    let path = to.join("events.jsonl");
    let text = fs::read_to_string(&path).expect("lines");
    let begun: Vec<&str> = text.split_inclusive('\n').take(6).collect();
    let last: Value = serde_json::from_str(begun[5]).expect("JSON");
    fs::write(&path, begun.concat()).expect("written");
    change(&to.join("manifest.json"), |manifest| {
        (manifest["events"], manifest["head"]) = (json!(6), last["hash"].clone());
    });
    let refused = host::import(&rig.root.path().join("other"), &to).expect_err("its work isn't over");
    assert!(matches!(refused, host::ArchiveError::AtWork), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_uses_and_removes_nothing_that_it_did_not_make() {
    let (rig, session, _) = rested().await;
    let (to, part) = (rig.root.path().join("menu.daybook"), rig.root.path().join("menu.daybook.part"));
    fs::create_dir(&part).expect("a folder");
    fs::write(part.join("mine"), "kept").expect("written");
    let refused = host::export(&data(&rig), &session, &to).expect_err("something stands there");
    assert!(matches!(&refused, host::ArchiveError::There(at) if *at == part), "{refused}");
    assert_eq!(fs::read(part.join("mine")).expect("still there"), b"kept");
    assert!(!to.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_text_merely_mentions_stays_where_it_is() {
    let (rig, session, _) = rested().await;
    let to = exported(&rig, &session);
    let manifest: Value =
        serde_json::from_slice(&fs::read(to.join("manifest.json")).expect("a file")).expect("JSON");
    let named = manifest["blobs"].as_array().expect("blobs").len();
    assert_eq!(named, fs::read_dir(to.join("blobs")).expect("blobs").count());
    // Head and two segments of the requests, what the file holds, and the raw answers.
    assert!((3..=8).contains(&named), "{named}");
    let there = host::export(&data(&rig), &session, &to).expect_err("it is there");
    assert!(matches!(there, host::ArchiveError::There(_)), "{there}");
    let none = host::export(&data(&rig), "ses_00000000000000000000000000000009", &rig.root.path().join("x"));
    assert!(matches!(none, Err(host::ArchiveError::Unknown(_))));
}
