//! What a person saves out of a session: the recorded bytes, from this process and from the next one, or words why not.

use crate::rig::{Rig, call, text};
use api::wire::command::{Command, Mode, Reply};
use api::wire::copy::CopyOf;
use api::wire::view::{Activity, CallState, CallView, EntryBody, SessionView};
use domain::digest::Digest;
use domain::history::output_name;
use domain::ids::CallId;
use serde_json::json;
use std::fs;

/// What the command prints, and what prints it.
const PRINTS: &str = "for n in $(seq 1 20000); do echo line-$n; done";

fn printed() -> String {
    (1..=20_000).map(|n| format!("line-{n}\n")).collect()
}

fn calls(view: &SessionView) -> Vec<CallView> {
    let calls = view.entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Calls { calls } => Some(calls.clone()),
        _ => None,
    });
    calls.flatten().collect()
}

/// Works until it rests, and gives the view.
async fn worked(rig: &Rig, session: &str, words: &str) -> SessionView {
    let mut client = rig.client(session).await;
    let before = client.view.entries.len();
    rig.say(session, words).await;
    client.until(|view| view.activity == Activity::Idle && view.entries.len() > before + 2).await;
    rig.view(session).await
}

#[tokio::test(flavor = "multi_thread")]
async fn r_art_a_long_output_is_kept_whole_and_read_by_the_same_name_in_another_process() {
    let name = output_name(&Digest::of(printed().as_bytes()));
    let reads = json!({"path": name, "offset": 15_000, "limit": 2});
    let searches = json!({"path": name, "pattern": "line-1234.$"});
    let all = json!([
        call("run_command", json!({"command": PRINTS})),
        text("It printed a lot."),
        call("read_file", reads),
        call("search_files", searches),
        text("Found."),
    ]);
    let rig = Rig::new(all.clone()).await;
    let session = rig.session(Mode::Auto).await;
    let first = calls(&worked(&rig, &session, "Count").await).remove(0);
    assert_eq!(first.state, CallState::Done);
    assert!(first.output.len() < 20_000 && first.output.contains(&name), "{}", first.output);
    // Another process goes on with the same session.
    let rig = rig.again(all).await;
    let later = calls(&worked(&rig, &session, "Look it up").await);
    assert!(later[1].output.starts_with("line-15000\nline-15001\n"), "{}", later[1].output);
    assert_eq!(later[2].output.lines().count(), 10, "{}", later[2].output);
    assert!(later[2].output.starts_with(&format!("{name}:12340: line-12340")), "{}", later[2].output);
    // The person's copy is the same bytes.
    let of = CopyOf::Output { call: first.id };
    assert_eq!(rig.host.room().copy_name(&session, &of).await.expect("a name"), "output.txt");
    let to = rig.root.path().join("output.txt");
    let copied = rig.host.room().save_copy(&session, &of, &to).await.expect("it is saved");
    assert_eq!((copied.name.as_str(), copied.bytes), ("output.txt", printed().len() as u64));
    assert_eq!(fs::read(&to).expect("a file"), printed().as_bytes());
    rig.host.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_of_a_file_is_saved_as_it_was_and_what_isnt_there_says_so() {
    let rig = Rig::new(json!([
        call("write_file", json!({"path": "menu.txt", "content": "Almond cake 4.20\n"})),
        text("It is written."),
    ]))
    .await;
    let session = rig.session(Mode::Edit).await;
    worked(&rig, &session, "Write the menu").await;
    let Ok(Reply::Changes(changes)) =
        rig.host.room().call(Command::Changes { session: session.clone() }).await
    else {
        panic!("changes")
    };
    let turn = changes.turns[0].turn.clone();
    let of = |before| CopyOf::Version { path: "menu.txt".into(), turn: turn.clone(), before };
    let room = rig.host.room();
    assert_eq!(room.copy_name(&session, &of(false)).await.expect("a name"), "menu.txt");
    let to = rig.root.path().join("mine.txt");
    fs::write(&to, "what the person agreed to replace").expect("a file");
    room.save_copy(&session, &of(false), &to).await.expect("it is saved");
    assert_eq!(fs::read_to_string(&to).expect("a file"), "Almond cake 4.20\n");
    for (of, code) in [
        (of(true), "copy/nothing"),
        (CopyOf::Output { call: CallId::from_bits(9).to_string() }, "copy/nothing"),
        (CopyOf::Output { call: "../x".into() }, "command/invalid"),
    ] {
        assert_eq!(room.copy_name(&session, &of).await.expect_err("nothing").code, code);
        assert_eq!(room.save_copy(&session, &of, &to).await.expect_err("nothing").code, code);
    }
    assert_eq!(fs::read_to_string(&to).expect("a file"), "Almond cake 4.20\n", "it stands there still");
    // No page can name a place: the command itself knows none, and only a window has the dialog.
    let asked = Command::SaveCopy { session: session.clone(), of: of(false) };
    assert_eq!(room.call(asked).await.expect_err("no window").code, "dialog/none");
    rig.host.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_out_of_one_running_daybook_and_into_another_and_a_changed_one_leaves_nothing() {
    let written = json!([
        call("write_file", json!({"path": "menu.txt", "content": "Almond cake 4.20\n"})),
        text("It is written."),
    ]);
    let rig = Rig::new(written).await;
    let session = rig.session(Mode::Edit).await;
    let view = worked(&rig, &session, "Write the menu").await;
    let name = rig.host.room().copy_name(&session, &CopyOf::Session).await.expect("a name");
    assert_eq!(name, "Write the menu.daybook");
    let to = rig.root.path().join(name);
    let out = rig.host.room().save_copy(&session, &CopyOf::Session, &to).await.expect("it goes out");
    assert_eq!((out.name.as_str(), out.events), ("Write the menu.daybook", view.seq + 1));
    let again = rig.host.room().save_copy(&session, &CopyOf::Session, &to).await;
    assert_eq!(again.expect_err("something stands there").code, "archive/there");

    let other = Rig::new(json!([text("Nothing.")])).await;
    let room = other.host.room();
    let bent = other.root.path().join("bent.daybook");
    copy_folder(&to, &bent);
    let lines = fs::read_to_string(bent.join("events.jsonl")).expect("lines").replace("Almond", "Walnut");
    fs::write(bent.join("events.jsonl"), lines).expect("a file");
    assert_eq!(room.import_session(&bent).await.expect_err("it was changed").code, "archive/changed");
    assert_eq!(room.import_session(other.root.path()).await.expect_err("no archive").code, "copy/missing");
    let Ok(Reply::Sessions(none)) = room.call(Command::Sessions).await else { panic!("sessions") };
    assert!(none.is_empty() && !other.root.path().join("data/importing").exists());

    let taken = room.import_session(&to).await.expect("it comes in");
    assert_eq!((taken.session.as_str(), taken.events), (session.as_str(), out.events));
    let shown = other.view(&session).await;
    assert_eq!(shown.entries, view.entries);
    assert!(shown.read_only.is_some());
    assert_eq!(room.import_session(&to).await.expect_err("it is here").code, "archive/here");
    rig.host.close().await;
    other.host.close().await;
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy_folder(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).expect("a copy")),
        }
    }
}
