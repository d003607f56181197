//! Folders, providers, settings and what is refused.

use crate::rig::{Rig, call, text};
use api::wire::command::{Command, Mode, Reply};
use api::wire::store::{ModelChoice, ProviderDraft, Wide};
use api::wire::view::{Activity, EntryBody, SessionView};
use host::{Host, Options};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_page_names_folders_by_id_and_gets_no_other() {
    let rig = Rig::new(json!([text("x")])).await;
    let project = rig.root.path().join("project");
    let folder = rig.host.open_folder(&project).await.expect("a folder");
    assert_eq!(
        rig.host.open_folder(&project.join(".")).await.expect("a folder").id,
        folder.id,
        "one path, one id"
    );
    let Reply::Folders(known) = rig.call(Command::Folders).await else { panic!() };
    assert_eq!(known, std::slice::from_ref(&folder));
    let create = |folder: &str| Command::CreateSession {
        folder: folder.to_owned(),
        mode: Mode::Ask,
        model: None,
        wide: false,
    };
    for (given, code) in
        [("/etc", "command/invalid"), ("fol_00000000000000000000000000000009", "folder/unknown")]
    {
        assert_eq!(rig.host.room().call(create(given)).await.expect_err("refused").code, code);
    }
    std::fs::remove_dir(&project).expect("removed");
    assert_eq!(rig.host.room().call(create(&folder.id)).await.expect_err("refused").code, "folder/missing");
    let disk = rig
        .host
        .open_folder(std::path::Path::new("/"))
        .await
        .expect_err("nobody could take back what changes there");
    assert_eq!(disk.code, "folder/disk");
    let data = rig.host.open_folder(&rig.host.data().join("blobs")).await.expect_err("ours");
    assert_eq!(data.code, "folder/own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_holds_our_data_is_asked_about_before_a_session_begins_in_it() {
    let rig = Rig::new(json!([text("x")])).await;
    let folder = rig.host.open_folder(rig.root.path()).await.expect("a folder");
    assert_eq!(folder.wide, Some(Wide::OwnData));
    let begin = |wide| {
        let create = Command::CreateSession { folder: folder.id.clone(), mode: Mode::Ask, model: None, wide };
        rig.host.room().call(create)
    };
    assert_eq!(begin(false).await.expect_err("nobody said so").code, "folder/wide");
    assert!(matches!(begin(true).await, Ok(Reply::Created { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_a_keychain_is_for_this_run_and_never_comes_out() {
    let rig = Rig::new(json!([text("x")])).await;
    let set = Command::SetKey { provider: "deepseek".to_owned(), key: "sk-canary-host".to_owned() };
    let reply = rig.call(set).await;
    assert!(!format!("{reply:?}").contains("canary"));
    let Reply::Providers(all) = reply else { panic!() };
    let state = |name: &str| all.iter().find(|one| one.id == name).expect("a preset").key.clone();
    assert_eq!(
        (state("deepseek"), state("glm"), state("ollama")),
        ("session_only".into(), "missing".into(), "not_needed".into())
    );
    let Reply::App(app) = rig.call(Command::App).await else { panic!() };
    assert_eq!(app.keychain, "missing");
    let unknown = Command::SetKey { provider: "nobody".to_owned(), key: "sk-something".to_owned() };
    assert_eq!(rig.host.room().call(unknown).await.expect_err("refused").code, "provider/unknown");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_added_service_is_checked_kept_and_removed() {
    let rig = Rig::new(json!([text("x")])).await;
    let draft = |id: Option<&str>, base_url: &str| Command::SaveProvider {
        provider: ProviderDraft {
            id: id.map(str::to_owned),
            name: "My box".to_owned(),
            dialect: "openai-chat".to_owned(),
            base_url: base_url.to_owned(),
            models: vec!["m".to_owned()],
            context_tokens: None,
        },
    };
    let window = |tokens: Option<u64>| {
        let mut command = draft(Some("my-box"), "http://127.0.0.1:9/v1");
        if let Command::SaveProvider { provider } = &mut command {
            provider.context_tokens = tokens;
        }
        command
    };
    for bad in ["not an address", "ftp://a.b", "https://user:pw@a.b"] {
        assert_eq!(rig.host.room().call(draft(None, bad)).await.expect_err("refused").code, "provider/unfit");
    }
    rig.call(draft(None, "http://127.0.0.1:9/v1")).await;
    let Reply::Providers(all) = rig.call(draft(None, "http://127.0.0.1:10/v1")).await else { panic!() };
    let added: Vec<&str> = all.iter().filter(|one| one.custom).map(|one| one.id.as_str()).collect();
    assert_eq!(added, ["my-box", "my-box-2"]);
    let tiny = rig.host.room().call(window(Some(12))).await.expect_err("refused");
    assert_eq!(tiny.code, "provider/unfit");
    let Reply::Providers(all) = rig.call(window(Some(32_768))).await else { panic!() };
    let said = all.iter().find(|one| one.id == "my-box").and_then(|one| one.context_tokens);
    assert_eq!(said, Some(32_768));
    let Reply::Providers(all) = rig.call(Command::CheckProvider { provider: "my-box".to_owned() }).await
    else {
        panic!()
    };
    let check = all.iter().find(|one| one.id == "my-box").and_then(|one| one.check.clone()).expect("checked");
    assert_eq!((check.ok, check.facts.get("class").map(String::as_str)), (false, Some("network")));
    let Reply::Providers(all) = rig.call(Command::RemoveProvider { provider: "my-box".to_owned() }).await
    else {
        panic!()
    };
    assert!(!all.iter().any(|one| one.id == "my-box"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_needs_a_key_says_so_instead_of_asking_without() {
    let rig = Rig::new(json!([text("x")])).await;
    let folder = rig.host.open_folder(&rig.root.path().join("project")).await.expect("a folder");
    let model = Some(ModelChoice { provider: "deepseek".to_owned(), model: "deepseek-flash".to_owned() });
    let created =
        rig.call(Command::CreateSession { folder: folder.id, mode: Mode::Ask, model, wide: false }).await;
    let Reply::Created { session } = created else { panic!() };
    let mut client = rig.client(&session).await;
    rig.say(&session, "hi").await;
    client.until(|view| view.entries.iter().any(|entry| matches!(&entry.body, api::wire::view::EntryBody::TurnEnd { facts, .. } if facts.get("class").is_some_and(|class| class == "key/missing")))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn x04_a_second_host_is_told_who_has_the_store() {
    let rig = Rig::new(json!([text("x")])).await;
    let second = Host::open(Options::new(Some(rig.host.data().to_owned()))).await;
    let failure = second.err().expect("refused");
    assert!(failure.in_use());
    assert_eq!(failure.to_api().code, "store/in_use");
    assert!(failure.to_string().contains(&std::process::id().to_string()), "{failure}");
}

/// What the model reads was summarised: the session is in the next process's list, opens as it was, and goes on.
#[tokio::test(flavor = "multi_thread")]
async fn case_h21_a_summarised_session_is_listed_and_opens_in_the_next_process() {
    const FILES: usize = 5;
    let told =
        "## Goal and corrections\nRead the ledger.\n## Open, and next\nNothing is open, the person may ask.";
    let mut answers =
        vec![json!({"when": {"contains": "<transcript>"}, "repeat": true, "say": [{"text": told}]})];
    answers.extend((0..FILES).map(|n| call("read_file", json!({"path": format!("file{n}.txt")}))));
    answers.push(text("Read."));
    let rig = Rig::new(json!(answers)).await;
    for n in 0..FILES {
        let rows = "a row of the ledger, nothing in it matters much\n".repeat(150);
        std::fs::write(rig.root.path().join(format!("project/file{n}.txt")), rows).expect("a file");
    }
    let session = rig.session(Mode::Ask).await;
    let mut client = rig.client(&session).await;
    rig.say(&session, "Read all of them.").await;
    client.until(|view| view.activity == Activity::Idle && !view.entries.is_empty()).await;
    rig.call(Command::Summarise { session: session.clone() }).await;
    let summarised =
        |view: &SessionView| view.entries.iter().any(|entry| matches!(entry.body, EntryBody::History { .. }));
    client.until(|view| summarised(view) && view.activity == Activity::Idle).await;
    let before = rig.view(&session).await;
    let rig = rig.again(json!([{"repeat": true, "say": [{"text": "Still here."}]}])).await;
    let Reply::Sessions(listed) = rig.call(Command::Sessions).await else { panic!("a list") };
    assert_eq!(listed.iter().map(|row| &row.id).collect::<Vec<_>>(), [&session]);
    let opened = rig.view(&session).await;
    assert_eq!((&opened.entries, opened.seq), (&before.entries, before.seq));
    let mut client = rig.client(&session).await;
    rig.say(&session, "And now?").await;
    client
        .until(|view| view.entries.len() > before.entries.len() + 1 && view.activity == Activity::Idle)
        .await;
    rig.host.close().await;
}

/// Limits of money may be among what can't be understood: no page shows "no limit" for them, and no save takes them away.
#[tokio::test(flavor = "multi_thread")]
async fn settings_that_cant_be_understood_are_kept_as_they_are() {
    let kept = r#"{"theme":"dark","mode":"of a newer version","spend":{"session":50000}}"#;
    let rig = Rig::with_kept(json!([text("x")]), &[("settings", kept)]).await;
    let room = rig.host.room();
    assert_eq!(room.call(Command::Settings).await.expect_err("unread").code, "settings/unreadable");
    let usual = json!({"language": "system", "theme": "system", "text_size": "normal", "mode": "ask", "model": null, "close": "hide"});
    let save = Command::SaveSettings { settings: serde_json::from_value(usual).expect("settings") };
    assert_eq!(room.call(save).await.expect_err("refused").code, "settings/unreadable");
    let Rig { root, host } = rig;
    host.close().await;
    drop(host);
    let how = store::Options::inline(std::sync::Arc::new(host::SystemClock));
    let store = store::Store::open(&root.path().join("data"), how).expect("a store");
    assert_eq!(store.handle().setting("settings").expect("read").as_deref(), Some(kept));
}
