//! The guided tour, through the real engine, tools, approvals and differences.

use crate::rig::Rig;
use api::wire::command::{Command, Reply};
use api::wire::view::{Activity, ApprovalState, ApprovalView, EntryBody, SessionView};
use serde_json::json;

fn open(view: &SessionView) -> Option<&ApprovalView> {
    view.entries.iter().find_map(|entry| match &entry.body {
        EntryBody::Approval { approval } if approval.state == ApprovalState::Open => Some(approval),
        _ => None,
    })
}

async fn begin(rig: &Rig, language: &str) -> String {
    match rig.call(Command::StartTour { language: language.to_owned() }).await {
        Reply::Created { session } => session,
        other => panic!("{other:?}"),
    }
}

fn said(view: &SessionView) -> String {
    let answers = view.entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Answer { text, .. } => Some(text.as_str()),
        _ => None,
    });
    answers.collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tour_shows_a_plan_a_difference_a_command_and_a_summary_in_both_languages() {
    for (language, plainly) in [("en", "No AI is involved"), ("zh-CN", "没有任何 AI 参与")] {
        let rig = Rig::new(json!([crate::rig::text("unused")])).await;
        let session = begin(&rig, language).await;
        let mut client = rig.client(&session).await;
        assert!(client.view.tour);
        rig.say(&session, "show me").await;
        client.until(|view| open(view).is_some()).await;
        assert!(said(&client.view).contains(plainly));
        assert_eq!(client.view.plan.as_ref().map(|plan| plan.items.len()), Some(3));
        let edit = open(&client.view).expect("an approval").clone();
        assert_eq!((edit.tool.as_str(), edit.diff.expect("a difference").hunks.len()), ("edit_file", 1));
        let (approval, digest) = (edit.id, edit.digest);
        rig.call(Command::Approve {
            session: session.clone(),
            approval,
            digest,
            offer: None,
            lasting: false,
        })
        .await;
        client.until(|view| open(view).is_some_and(|approval| approval.tool == "run_command")).await;
        let run = open(&client.view).expect("an approval").clone();
        let (approval, digest) = (run.id, run.digest);
        rig.call(Command::Approve {
            session: session.clone(),
            approval,
            digest,
            offer: None,
            lasting: false,
        })
        .await;
        client.until(|view| view.activity == Activity::Idle).await;
        let Reply::Changes(changes) = rig.call(Command::Changes { session: session.clone() }).await else {
            panic!()
        };
        let files = changes.files;
        let told: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.added)).collect();
        assert_eq!(told, [("lines.txt", Some(1)), ("menu.md", Some(2))], "what the command wrote, too");
        let diff = rig
            .call(Command::Diff {
                session: session.clone(),
                path: "menu.md".to_owned(),
                turn: None,
                call: None,
            })
            .await;
        let Reply::Diff(diff) = diff else { panic!() };
        assert_eq!(diff.hunks.len(), 1);
        let ran = client.view.entries.iter().any(|entry| match &entry.body {
            EntryBody::Calls { calls } => {
                calls.iter().any(|call| call.output.contains("menu.md") && call.tool == "run_command")
            }
            _ => false,
        });
        assert!(ran, "the command's own output is shown");
        let Reply::Folders(folders) = rig.call(Command::Folders).await else { panic!() };
        assert!(folders.is_empty(), "the sample isn't a folder of the person's");
        rig.host.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tour_takes_no_for_an_answer() {
    let rig = Rig::new(json!([crate::rig::text("unused")])).await;
    let session = begin(&rig, "en").await;
    let mut client = rig.client(&session).await;
    rig.say(&session, "show me").await;
    for tool in ["edit_file", "run_command"] {
        client.until(|view| open(view).is_some_and(|approval| approval.tool == tool)).await;
        let approval = open(&client.view).expect("an approval").id.clone();
        rig.call(Command::Refuse { session: session.clone(), approval, why: None }).await;
    }
    client.until(|view| view.activity == Activity::Idle).await;
    assert!(said(&client.view).contains("a no is a no") && said(&client.view).contains("I won't run it"));
    let Reply::Changes(changes) = rig.call(Command::Changes { session }).await else { panic!() };
    assert!(changes.files.is_empty());
    rig.host.close().await;
}
