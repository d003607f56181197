//! The record as a client looks at it, over a whole host: outline, lines, moments, what the model saw, verification.

use crate::rig::{Rig, call, host_over, text};
use api::wire::ApiError;
use api::wire::command::{Command, Mode, Reply};
use api::wire::record::{Moment, RecordLine, RecordOutline, Saw, Verification};
use api::wire::storage::EraseWhy;
use api::wire::view::{Activity, EntryBody};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// A session that made a plan, wrote a file and answered.
async fn worked() -> (Rig, String) {
    let plan = json!({"items": [{"text": "Write it", "status": "completed"}]});
    let answers = json!([
        call("update_plan", plan),
        call("write_file", json!({"path": "menu.txt", "content": "Almond cake 4.20\n"})),
        text("It is written."),
    ]);
    let rig = Rig::new(answers).await;
    let session = rig.session(Mode::Edit).await;
    let mut client = rig.client(&session).await;
    rig.say(&session, "Write the menu").await;
    client.until(|view| view.activity == Activity::Idle && view.entries.len() > 4).await;
    (rig, session)
}

async fn outline(rig: &Rig, session: &str, from: u64) -> RecordOutline {
    match rig.call(Command::RecordOutline { session: session.to_owned(), from }).await {
        Reply::RecordOutline(outline) => outline,
        other => panic!("{other:?}"),
    }
}

async fn lines(rig: &Rig, session: &str, from: u64, count: u32) -> Vec<RecordLine> {
    match rig.call(Command::RecordLines { session: session.to_owned(), from, count }).await {
        Reply::RecordLines(lines) => lines,
        other => panic!("{other:?}"),
    }
}

async fn moment(rig: &Rig, session: &str, seq: u64) -> Moment {
    match rig.call(Command::Moment { session: session.to_owned(), seq }).await {
        Reply::Moment(moment) => *moment,
        other => panic!("{other:?}"),
    }
}

async fn saw(rig: &Rig, session: &str, seq: u64) -> Saw {
    match rig.call(Command::Saw { session: session.to_owned(), seq }).await {
        Reply::Saw(saw) => *saw,
        other => panic!("{other:?}"),
    }
}

async fn verification(rig: &Rig, command: Command) -> Verification {
    match rig.call(command).await {
        Reply::Verification(found) => found,
        other => panic!("{other:?}"),
    }
}

async fn verified(rig: &Rig, session: &str) -> Verification {
    let mut found = verification(rig, Command::Verify { session: session.to_owned() }).await;
    while found.state == "running" {
        tokio::task::yield_now().await;
        found = verification(rig, Command::Verification { session: session.to_owned() }).await;
    }
    found
}

async fn body(rig: &Rig, session: &str, seq: u64) -> Result<String, ApiError> {
    let (mut body, mut from) = (String::new(), Some(0));
    while let Some(at) = from {
        let asked = Command::SawBody { session: session.to_owned(), seq, from: at };
        let Reply::SawBody(piece) = rig.host.room().call(asked).await? else { panic!("a piece") };
        body.push_str(&piece.text);
        from = piece.next;
    }
    Ok(body)
}

async fn refused(rig: &Rig, command: Command) -> ApiError {
    rig.host.room().call(command).await.expect_err("it can't be told")
}

#[tokio::test(flavor = "multi_thread")]
async fn r_cli_04_pages_of_the_record_and_live_events_have_the_same_numbers() {
    let (rig, session) = worked().await;
    let view = rig.view(&session).await;
    let whole = outline(&rig, &session, 0).await;
    assert_eq!(whole.letters.len() as u64, view.seq + 1, "one letter an event");
    assert_eq!(
        outline(&rig, &session, 5).await.letters,
        whole.letters[5..],
        "and the rest from any number on"
    );
    // Page by page, in any order, every line has its place, its letter and nothing twice.
    let mut all = Vec::new();
    for from in (0..whole.letters.len() as u64).step_by(7) {
        all.extend(lines(&rig, &session, from, 7).await);
    }
    let numbers: Vec<u64> = all.iter().map(|line| line.seq).collect();
    assert_eq!(numbers, (0..=view.seq).collect::<Vec<_>>());
    let letters: String = all.iter().map(|line| line.letter.as_str()).collect();
    assert_eq!(letters, whole.letters);
    // Never more than a page, whatever is asked for.
    assert!(lines(&rig, &session, 0, u32::MAX).await.len() <= 200);
    rig.host.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r_cli_07_lines_say_what_each_call_was_and_came_to() {
    let (rig, session) = worked().await;
    let all = lines(&rig, &session, 0, 200).await;
    let wrote: Vec<&RecordLine> =
        all.iter().filter(|line| line.facts.get("path").is_some_and(|path| path == "menu.txt")).collect();
    let kinds: Vec<&str> = wrote.iter().map(|line| line.kind.as_str()).collect();
    assert_eq!(kinds, ["tool/call", "tool/decision", "tool/start", "tool/result"], "by the call's own facts");
    let result = wrote.last().expect("a result");
    assert_eq!((result.letter.as_str(), result.facts["changed"].as_str()), ("f", "1"));
    assert_eq!(result.facts["tool"], "write_file");
    // A page that begins after the call knows it all the same.
    let later = lines(&rig, &session, result.seq, 1).await;
    assert_eq!(later.first(), Some(*result));
    rig.host.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r_log_17_any_moment_is_the_fold_of_the_record_up_to_it() {
    let (rig, session) = worked().await;
    let all = lines(&rig, &session, 0, 200).await;
    let at = |kind: &str, nth: usize| {
        all.iter().filter(|line| line.kind == kind).nth(nth).expect("it is recorded").seq
    };
    let before = moment(&rig, &session, at("plan/replaced", 0) - 1).await;
    let after = moment(&rig, &session, at("plan/replaced", 0)).await;
    assert_eq!(before.plan, None);
    assert_eq!(after.plan.map(|plan| plan.items.len()), Some(1));
    let running = moment(&rig, &session, at("tool/start", 1)).await;
    let states: Vec<_> = running.calls.iter().map(|call| (call.tool.as_str(), call.state.as_str())).collect();
    assert_eq!((states, running.step, running.turns), (vec![("write_file", "running")], 2, 1));
    // Back and forth: whatever was kept on the way, the same moment is the same.
    let last = all.last().expect("lines").seq;
    let end = moment(&rig, &session, last).await;
    assert_eq!((end.turn.as_deref(), end.calls.len()), (None, 0));
    assert_eq!(moment(&rig, &session, at("tool/start", 1)).await, running);
    let none = refused(&rig, Command::Moment { session: session.clone(), seq: last + 1 }).await;
    assert_eq!(none.code, "record/none");
    // What never was harms nothing: the session goes on.
    rig.say(&session, "And again").await;
    rig.host.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_model_saw_is_told_part_by_part_and_to_the_byte() {
    let (rig, session) = worked().await;
    let all = lines(&rig, &session, 0, 200).await;
    let attempts: Vec<u64> =
        all.iter().filter(|line| line.kind == "attempt/start").map(|line| line.seq).collect();
    let first = saw(&rig, &session, attempts[0]).await;
    let told = |saw: &Saw| -> Vec<(String, String, bool)> {
        let part = |part: &api::wire::record::SawPart| (part.what.clone(), part.source.clone(), part.same);
        saw.parts.iter().map(part).collect()
    };
    let part = |what: &str, source: &str, same: bool| (what.to_owned(), source.to_owned(), same);
    assert_eq!(
        told(&first),
        [
            part("instructions", "host", false),
            part("tools", "host", false),
            part("note", "host", false),
            part("said", "user", false)
        ]
    );
    assert_eq!((first.opened.as_deref(), first.rebuilt.as_str()), (Some("first"), "exactly"));
    let third = saw(&rig, &session, attempts[2]).await;
    assert_eq!(
        told(&third),
        [
            part("instructions", "host", true),
            part("tools", "host", true),
            part("before", "both", true),
            part("answer", "model", false),
            part("result", "folder", false)
        ]
    );
    assert_eq!(third.parts[4].facts["path"], "menu.txt");
    assert_eq!((third.opened, third.step, third.attempts), (None, 3, 1));
    // The bytes, piece by piece, are the ones whose digest is on the record.
    let body = body(&rig, &session, third.seq).await.expect("it is built again");
    assert_eq!(domain::digest::Digest::of(body.as_bytes()).to_string(), third.digest);
    assert_eq!(body.len() as u64, third.bytes);
    let sent: Value = serde_json::from_str(&body).expect("it is what was sent");
    assert!(sent.to_string().contains("Write the menu"));
    let none = refused(&rig, Command::Saw { session: session.clone(), seq: 0 }).await;
    assert_eq!(none.code, "record/no_request");
    rig.host.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i09_the_seal_holds_for_every_request_and_can_be_stopped() {
    let (rig, session) = worked().await;
    let found = verified(&rig, &session).await;
    assert_eq!((found.state.as_str(), found.requests, found.findings, found.first), ("done", 3, 0, None));
    let unknown =
        refused(&rig, Command::Verify { session: "ses_00000000000000000000000000000009".into() }).await;
    assert_eq!(unknown.code, "session/unknown");
    // Stopping one that is done takes nothing back; one that is begun again can be stopped, and then found nothing out.
    let stop = || Command::StopVerify { session: session.clone() };
    assert_eq!(verification(&rig, stop()).await.state, "done");
    let begun = verification(&rig, Command::Verify { session: session.clone() }).await;
    assert_eq!((begun.state.as_str(), begun.ago), ("running", None));
    let mut stopped = verification(&rig, stop()).await;
    while stopped.state == "running" {
        tokio::task::yield_now().await;
        stopped = verification(&rig, Command::Verification { session: session.clone() }).await;
    }
    // It has a thread of its own, and may have been done by then.
    assert!(["stopped", "done"].contains(&stopped.state.as_str()), "{stopped:?}");
    assert_eq!(stopped.findings, 0);
    // One event exactly as recorded, and what chains it.
    let event = rig.call(Command::RecordEvent { session: session.clone(), seq: 1 }).await;
    let Reply::RecordEvent(event) = event else { panic!() };
    let Reply::RecordEvent(before) =
        rig.call(Command::RecordEvent { session: session.clone(), seq: 0 }).await
    else {
        panic!()
    };
    assert_eq!(event.before, before.hash);
    assert!(event.payload.expect("nothing was erased").contains("Write the menu"));
    rig.host.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn erased_words_are_in_nothing_that_is_looked_at_again() {
    const WORDS: &str = "Almond cake 4.20";
    let (rig, session) = worked().await;
    let whole = outline(&rig, &session, 0).await;
    let all = lines(&rig, &session, 0, 200).await;
    let called = all.iter().filter(|line| line.kind == "tool/call").nth(1).expect("it was called").seq;
    let last = all.iter().rfind(|line| line.kind == "request/prepared").expect("a request").seq;
    assert!(body(&rig, &session, last).await.expect("it is built again").contains(WORDS));
    let before = moment(&rig, &session, called).await;
    assert_eq!(before.calls.len(), 1);

    let (why, text) = (EraseWhy::Private, Some(WORDS.to_owned()));
    let (place, everywhere, revoke) = (called.to_string(), false, vec![]);
    let erase = Command::Erase { session: session.clone(), place, text, why, everywhere, revoke };
    let Reply::Erased(erased) = rig.call(erase).await else { panic!("it is erased") };
    assert!(erased.events > 0);

    let after = outline(&rig, &session, 0).await;
    assert_eq!(after.letters.len(), whole.letters.len() + 1, "only that it was erased is new");
    let again = moment(&rig, &session, called).await;
    assert_eq!((again.seq, again.calls.len()), (before.seq, 1));
    for said in [format!("{again:?}"), format!("{:?}", lines(&rig, &session, 0, 200).await)] {
        assert!(!said.contains(WORDS), "{said}");
    }
    // The request was kept while it was read; it isn't given again.
    let sent = body(&rig, &session, last).await;
    assert!(!format!("{sent:?}").contains(WORDS), "{sent:?}");
    rig.host.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_before_a_damaged_event_are_read_whatever_block_it_stands_in() {
    let (rig, session) = worked().await;
    let all = lines(&rig, &session, 0, 200).await;
    rig.host.close().await;
    let Rig { root, host } = rig;
    drop(host);
    let [data, damaged] = ["data", "damaged"].map(|name| root.path().join(name));
    tampered(&data, &damaged, "Almond cake 4.20", "Almond cake 4.00");
    let rig = Rig { host: host_over(&damaged).await, root };
    let found = outline(&rig, &session, 0).await;
    let broken = found.broken.expect("it is found").seq;
    assert_eq!(found.letters.len() as u64, broken);
    let good = &all[..usize::try_from(broken).expect("a few")];
    assert!(!good.is_empty());
    assert_eq!(lines(&rig, &session, 0, 200).await, good);
    assert_eq!(lines(&rig, &session, broken - 1, 100).await, good[good.len() - 1..]);
    // So is what the model saw last before it.
    let sent = good.iter().rfind(|line| line.kind == "request/prepared").expect("a request").seq;
    assert_eq!(saw(&rig, &session, sent - 1).await.seq, sent);
    assert_eq!(saw(&rig, &session, broken - 1).await.seq, sent);
    rig.host.close().await;
}

/// It is looked up after each edit, so what else the session did is nothing to it.
#[tokio::test(flavor = "multi_thread")]
async fn the_difference_of_one_call_is_read_from_what_that_call_gave_back() {
    let (rig, session) = worked().await;
    let view = rig.view(&session).await;
    let calls = view.entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Calls { calls } => Some(calls),
        _ => None,
    });
    let [planned, written] = &calls.flatten().map(|call| call.id.clone()).collect::<Vec<_>>()[..] else {
        panic!("two calls")
    };
    let of = |call: Option<&String>| Command::Diff {
        session: session.clone(),
        path: "menu.txt".to_owned(),
        turn: None,
        call: call.cloned(),
    };
    let whole = rig.call(of(Some(written))).await;
    assert!(matches!(&whole, Reply::Diff(diff) if diff.created && diff.hunks.len() == 1), "{whole:?}");
    assert_eq!(refused(&rig, of(Some(planned))).await.code, "changes/unknown");
    rig.host.close().await;
    let Rig { root, host } = rig;
    drop(host);
    let [data, damaged] = ["data", "damaged"].map(|name| root.path().join(name));
    tampered(&data, &damaged, "Write the menu", "Wrote the menu");
    std::fs::remove_dir_all(damaged.join("blobs")).expect("nothing was kept in it");
    std::fs::rename(data.join("blobs"), damaged.join("blobs")).expect("moved");
    let rig = Rig { host: host_over(&damaged).await, root };
    assert_eq!(rig.call(of(Some(written))).await, whole);
    assert_eq!(refused(&rig, of(None)).await.code, "session/damaged", "of all there is no telling");
    rig.host.close().await;
}

/// Copies the log of a closed store, with other words in the place of some: what somebody did behind its back.
fn tampered(from: &Path, to: &Path, old: &str, new: &str) {
    assert_eq!(old.len(), new.len());
    store::create_folder(to).expect("a data folder");
    // Its end first, which may be carried over into the rest while this is read.
    for name in ["store.db-wal", "store.db"] {
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name)).expect("a copy");
        }
    }
    // Closing it leaves one file.
    drop(store::Store::open(to, store::Options::inline(Arc::new(host::SystemClock))).expect("a store"));
    let mut bytes = std::fs::read(to.join("store.db")).expect("the log");
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(old.len()).position(|here| here == old.as_bytes()) {
        at += found + old.len();
        bytes[at - old.len()..at].copy_from_slice(new.as_bytes());
    }
    assert!(at > 0, "the words stand in the log");
    std::fs::write(to.join("store.db"), bytes).expect("it is written");
}
