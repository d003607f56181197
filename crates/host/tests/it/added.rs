//! Another folder to look at, from the doors: who may add it, how it is shown, and how it is taken back.

use crate::rig::{Rig, call, text};
use api::wire::command::{Command, Mode, Reply};
use serde_json::json;
use std::path::PathBuf;

fn invoices(rig: &Rig) -> PathBuf {
    let folder = rig.root.path().canonicalize().expect("there").join("Invoices 2025");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("a.txt"), "total 12\n").expect("a file");
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_added_listed_marked_when_gone_and_taken_back() {
    let rig = Rig::new(json!([text("x")])).await;
    let (session, folder) = (rig.session(Mode::Ask).await, invoices(&rig));
    let mut client = rig.client(&session).await;
    rig.host.add_folder(&session, &folder).await.expect("added");
    client.until(|view| view.added.len() == 1).await;
    assert_eq!(
        (client.view.added[0].name.as_str(), client.view.added[0].state.as_str()),
        ("Invoices 2025", "here")
    );
    let Reply::Folders(recent) = rig.call(Command::Folders).await else { panic!() };
    assert_eq!(recent.len(), 1, "a folder to look at isn't one to work in");
    let Reply::Permissions(page) = rig.call(Command::Permissions).await else { panic!() };
    assert_eq!(page.added.len(), 1);
    assert_eq!((&page.added[0].added, &page.added[0].session), (&client.view.added[0], &session));
    let away = rig.root.path().join("away");
    std::fs::rename(&folder, &away).expect("moved");
    assert_eq!(rig.view(&session).await.added[0].state, "gone");
    std::fs::create_dir(&folder).expect("another one");
    assert_eq!(rig.view(&session).await.added[0].state, "other");
    std::fs::remove_dir(&folder).expect("removed");
    std::fs::rename(&away, &folder).expect("back");
    assert_eq!(rig.view(&session).await.added[0].state, "here");
    let id = client.view.added[0].id.clone();
    let remove = Command::RemoveFolder { session: session.clone(), folder: id };
    assert_eq!(rig.call(remove.clone()).await, Reply::Done);
    client.until(|view| view.added.is_empty()).await;
    assert_eq!(rig.host.room().call(remove).await.expect_err("twice").code, "folder/removed");
}

/// A page can ask for the dialog; there is no word with a path in it.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_adds_no_folder_by_itself() {
    let rig = Rig::new(json!([text("x")])).await;
    let session = rig.session(Mode::Ask).await;
    let choose = Command::ChooseReadFolder { session: session.clone() };
    assert_eq!(rig.host.room().call(choose).await.expect_err("no window").code, "dialog/none");
    let unknown = Command::ChooseReadFolder { session: "ses_00000000000000000000000000000001".into() };
    assert_eq!(rig.host.room().call(unknown).await.expect_err("unknown").code, "session/unknown");
    for args in [
        json!({"session": session, "path": "/etc"}),
        json!({"session": session, "folder": "/etc"}),
        json!({"session": session, "folder": "fol_00000000000000000000000000000001"}),
    ] {
        for name in ["choose_read_folder", "remove_folder", "add_folder"] {
            let Ok(command) = serde_json::from_value::<Command>(json!({"name": name, "args": args})) else {
                continue;
            };
            rig.host.room().call(command).await.expect_err("nothing is added or taken back");
        }
    }
    assert!(rig.view(&session).await.added.is_empty());
    for (path, code) in [
        (rig.host.data().to_owned(), "folder/own"),
        (rig.root.path().join("project"), "folder/shared"),
        ("/etc".into(), "folder/system"),
        (host::data::home().expect("a home"), "folder/home"),
    ] {
        let refused = rig.host.add_folder(&session, &path).await.expect_err("refused");
        assert_eq!(refused.code, code);
        assert!(refused.hint.is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_model_reads_there_is_in_the_conversation() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().canonicalize().expect("there").join("Invoices 2025");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("a.txt"), "total 12\n").expect("a file");
    let rig =
        Rig::new(json!([call("read_file", json!({"path": folder.join("a.txt")})), text("It is 12.")])).await;
    let session = rig.session(Mode::Ask).await;
    rig.host.add_folder(&session, &folder).await.expect("added");
    let mut client = rig.client(&session).await;
    rig.say(&session, "What is the total?").await;
    client.until(|view| view.activity == api::wire::view::Activity::Idle && view.entries.len() > 2).await;
    let said = serde_json::to_string(&client.view.entries).expect("JSON");
    assert!(said.contains("total 12") && said.contains("It is 12."), "{said}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_guest_adds_one_through_the_local_door() {
    let rig = Rig::new(json!([text("x")])).await;
    rig.host.open_door().expect("a door");
    let (session, folder) = (rig.session(Mode::Ask).await, invoices(&rig));
    let guest = host::door::Client::connect(rig.host.data()).await.expect("no trouble").expect("a door");
    guest.add_folder(&session, &folder).await.expect("added");
    assert_eq!(rig.view(&session).await.added.len(), 1);
    assert_eq!(guest.add_folder(&session, &folder).await.expect_err("twice").code, "folder/added");
}
