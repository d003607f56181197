//! Erasing through the room: by the places the view names, with what was allowed for good, and with no old view kept.

use crate::rig::{Rig, call, text};
use api::wire::command::{Command, Mode, Reply};
use api::wire::permission::Offer;
use api::wire::storage::{ErasePreview, EraseWhy};
use api::wire::view::{Activity, CallView, EntryBody, SessionView};
use domain::ids::{FolderId, GrantId};
use serde_json::json;

/// Made up for this test; nothing in the world is opened by it.
const CANARY: &str = "kanarie-7f3e-zingt";

fn rested(view: &SessionView) -> bool {
    view.activity == Activity::Idle
        && view.entries.iter().any(|entry| matches!(entry.body, EntryBody::TurnEnd { .. }))
}

fn calls(view: &SessionView) -> Vec<CallView> {
    let calls = view.entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Calls { calls } => Some(calls.clone()),
        _ => None,
    });
    calls.flatten().collect()
}

async fn preview(rig: &Rig, session: &str, place: &str, text: Option<&str>) -> ErasePreview {
    let (session, place, text) = (session.to_owned(), place.to_owned(), text.map(str::to_owned));
    match rig.call(Command::PreviewErase { session, place, text }).await {
        Reply::ErasePreview(preview) => preview,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_in_a_calls_arguments_go_with_the_permission_that_holds_them() {
    let grant = |n: u128, words: &[&str]| {
        json!({
            "id": GrantId::from_bits(n), "folder": FolderId::from_bits(n), "given": 1,
            "what": {"kind": "command", "words": words, "exact": true, "files": {}},
        })
    };
    let kept = json!([grant(1, &["curl", CANARY]), grant(2, &["make"])]).to_string();
    let answers = json!([call("read_file", json!({"path": CANARY})), text("There is none.")]);
    let rig = Rig::with_kept(answers, &[("permissions", &kept)]).await;
    let session = rig.session(Mode::Ask).await;
    let mut client = rig.client(&session).await;
    rig.say(&session, "Look at it.").await;
    client.until(rested).await;
    let id = calls(&client.view)[0].id.clone();

    let asked = format!("asked:{id}");
    let found = preview(&rig, &session, &asked, None).await;
    assert_eq!((found.says.as_str(), found.elsewhere), (CANARY, 0));
    assert_ne!(preview(&rig, &session, &id, Some(CANARY)).await.says, found.says, "that is what came of it");
    let held: Vec<&Offer> = found.permissions.iter().map(|one| &one.what).collect();
    assert!(matches!(held[..], [Offer::Command { words, .. }] if words[1] == CANARY), "{held:?}");

    let revoke = found.permissions.iter().map(|one| one.id.clone()).collect();
    let (why, everywhere) = (EraseWhy::Secret, false);
    let erase =
        Command::Erase { session: session.clone(), place: asked, text: None, why, everywhere, revoke };
    let Reply::Erased(done) = rig.call(erase).await else { panic!("it is erased") };
    assert!(done.events > 0 && !done.unfinished, "{done:?}");
    let Reply::Permissions(left) = rig.call(Command::Permissions).await else { panic!("they are listed") };
    assert_eq!(left.grants.len(), 1, "the other one stays");
    assert!(!format!("{:?}", rig.view(&session).await).contains(CANARY), "no view from before is given");
    assert_eq!(holding(&rig.root.path().join("data")), Vec::<std::path::PathBuf>::new());
}

/// Files below the folder that hold it.
fn holding(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path));
        } else if std::fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()))
        {
            found.push(path);
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_revoked_where_nothing_can_be_erased() {
    let grant = json!([{
        "id": GrantId::from_bits(1), "folder": FolderId::from_bits(1), "given": 1,
        "what": {"kind": "command", "words": ["curl", CANARY], "exact": true, "files": {}},
    }]);
    let rig = Rig::with_kept(json!([text("Fine.")]), &[("permissions", &grant.to_string())]).await;
    let session = rig.session(Mode::Ask).await;
    let mut client = rig.client(&session).await;
    rig.say(&session, "Hello.").await;
    client.until(rested).await;
    let (text, why) = (Some(CANARY.to_owned()), EraseWhy::Secret);
    let revoke = vec![GrantId::from_bits(1).to_string()];
    let erase = Command::Erase { session, place: "1".into(), text, why, everywhere: true, revoke };
    let refused = rig.host.room().call(erase).await.expect_err("they stand nowhere");
    assert_eq!(refused.code, "erase/nothing");
    let Reply::Permissions(left) = rig.call(Command::Permissions).await else { panic!("they are listed") };
    assert_eq!(left.grants.len(), 1);
}
