//! A service's own certificate, from every door: who may name its file, and what becomes of it when the service goes.

use crate::rig::{Rig, text};
use api::wire::command::{Command, Reply};
use api::wire::store::{Provider, ProviderDraft};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Those of the providers' tests.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../providers/tests/tls").join(name)
}

fn of(reply: Reply, id: &str) -> Provider {
    let Reply::Providers(all) = reply else { panic!("{reply:?}") };
    all.into_iter().find(|one| one.id == id).expect("it is listed")
}

fn added(name: &str) -> Command {
    let draft = ProviderDraft {
        id: None,
        name: name.to_owned(),
        dialect: "openai-chat".to_owned(),
        base_url: "https://127.0.0.1:9/v1".to_owned(),
        models: vec!["m".to_owned()],
        context_tokens: None,
    };
    Command::SaveProvider { provider: draft }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_its_services_alone_and_goes_with_it() {
    let rig = Rig::new(json!([text("x")])).await;
    rig.call(added("Ours")).await;
    rig.call(added("Theirs")).await;
    let room = rig.host.room();
    let set = room.set_certificate("ours", &file("office-ca.pem")).await.expect("it is trusted");
    assert_eq!(of(set.clone(), "ours").certificates[0].subject, "Office authority, Example Ltd");
    assert!(of(set.clone(), "theirs").certificates.is_empty() && of(set, "openai").certificates.is_empty());
    let preset = room.set_certificate("openai", &file("ca.pem")).await.expect("a preset has one as well");
    assert_eq!(of(preset, "openai").certificates.len(), 1);
    let refused = room.set_certificate("ours", &file("server.key")).await.expect_err("a key");
    assert_eq!(refused.code, "certificate/private_key");
    for unknown in ["nobody", "../ours"] {
        let refused = room.set_certificate(unknown, &file("ca.pem")).await.expect_err("no such service");
        assert_eq!(refused.code, "provider/unknown");
    }

    rig.call(Command::RemoveProvider { provider: "ours".to_owned() }).await;
    assert!(!rig.host.data().join("certificates/ours.pem").exists());
    let again = of(rig.call(added("Ours")).await, "ours");
    assert!(again.certificates.is_empty(), "a name that is used again gets nothing of the one before");

    let rig = rig.again(json!([text("x")])).await;
    let kept = of(rig.call(Command::Providers).await, "openai");
    assert_eq!(kept.certificates[0].subject, "Test authority");
    let removed = rig.call(Command::RemoveCertificate { provider: "openai".to_owned() }).await;
    assert!(of(removed, "openai").certificates.is_empty());
}

/// What was trusted at one host isn't trusted at another, whichever way a service gets there.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_stays_at_its_host() {
    let rig = Rig::new(json!([text("x")])).await;
    let at = |id: &str, base_url: &str| {
        let Command::SaveProvider { provider } = added("Ours") else { panic!() };
        let provider = ProviderDraft { id: Some(id.to_owned()), base_url: base_url.to_owned(), ..provider };
        Command::SaveProvider { provider }
    };
    for id in ["ours", "openai"] {
        let certificates = async |command: Command| of(rig.call(command).await, id).certificates.len();
        rig.call(at(id, "https://gateway.example/v1")).await;
        rig.host.room().set_certificate(id, &file("ca.pem")).await.expect("it is trusted");
        assert_eq!(certificates(at(id, "https://GATEWAY.example:8443/v2")).await, 1, "{id}: the same host");
        assert_eq!(certificates(at(id, "https://other.example/v1")).await, 0, "{id}: another");
        assert!(!rig.host.data().join(format!("certificates/{id}.pem")).exists());
        assert_eq!(certificates(at(id, "https://gateway.example/v1")).await, 0, "{id}: and back");
    }
    let room = rig.host.room();
    room.set_certificate("openai", &file("ca.pem")).await.expect("it is trusted");
    let back = rig.call(Command::RemoveProvider { provider: "openai".to_owned() }).await;
    assert!(of(back, "openai").certificates.is_empty(), "the preset's own address is another host");
    room.set_certificate("openai", &file("ca.pem")).await.expect("it is trusted");
    let moved = rig.call(at("openai", "https://gateway.example/v1")).await;
    assert!(of(moved, "openai").certificates.is_empty(), "from the preset's address as well");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_check_found_is_let_go_when_trust_changes() {
    let rig = Rig::new(json!([text("x")])).await;
    rig.call(added("Ours")).await;
    let checked = rig.call(Command::CheckProvider { provider: "ours".to_owned() }).await;
    assert!(of(checked, "ours").check.is_some_and(|check| !check.ok));
    let set = rig.host.room().set_certificate("ours", &file("ca.pem")).await.expect("it is trusted");
    assert_eq!(of(set, "ours").check, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_page_chooses_a_file_without_a_window() {
    let rig = Rig::new(json!([text("x")])).await;
    let choose = Command::ChooseCertificate { provider: "openai".to_owned() };
    assert_eq!(rig.host.room().call(choose).await.expect_err("no dialog").code, "dialog/none");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_guest_sets_it_through_the_door() {
    let rig = Rig::new(json!([text("x")])).await;
    rig.host.open_door().expect("a door");
    let client = host::door::Client::connect(rig.host.data()).await.expect("a door").expect("a host");
    let set = client.set_certificate("openai", &file("ca.pem")).await.expect("it is trusted");
    assert_eq!(of(set, "openai").certificates.len(), 1);
}
