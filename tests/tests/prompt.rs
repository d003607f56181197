//! What requests are made of: a head that knows no moment, notes that tell it, and documents that are too long to be told.
//!
//! Invariant of every test: what differs from session to session or from minute to minute stands after the head.

use crate::play::{Play, read, script, text, texts};
use domain::call::Mode;
use domain::digest::Digest;
use domain::event::{Fact, RequestPrepared};
use engine::Command;
use serde_json::json;
use tests::Rig;

fn prepared(play: &Play) -> Vec<RequestPrepared> {
    let all = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::RequestPrepared(prepared) => Some(prepared),
        _ => None,
    });
    all.collect()
}

fn heads(play: &Play) -> Vec<Digest> {
    prepared(play).into_iter().filter_map(|request| request.head).collect()
}

/// Folder, mode, window, other folders and time are told after the head: the same for every session, opened once in each.
#[tokio::test(start_paused = true)]
async fn r_ctx_07_no_folder_mode_or_time_changes_the_head_or_the_tools() {
    let answers = [text("One."), text("Two."), text("Three.")];
    let answers = answers.each_ref().map(String::as_str);
    let plain = Play::of(&script(&answers)).await;
    plain.through("First.").await;
    let mut rig = Rig::new(&script(&answers));
    (rig.mode, rig.window) = (Mode::Plan, Some(32_000));
    rig.world.pass(86_400_000);
    std::fs::write(rig.folder().join("AGENTS.md"), "Other conventions.\n").expect("a file");
    let other = Play::on(rig).await;
    other.through("Something else.").await;
    other.tell(Command::SetMode(Mode::Edit)).await;
    other.through("And now?").await;
    other.rig.world.pass(86_400_000);
    other.through("And tomorrow?").await;
    assert_eq!(heads(&plain).len(), 1);
    assert_eq!(heads(&plain), heads(&other), "one head, opened once");
    let requests = [plain.requests(), other.requests()].concat();
    assert!(requests.iter().all(|request| request["tools"] == requests[0]["tools"]));
    assert!(requests.iter().all(|request| request["system"] == requests[0]["system"]));
}

/// A project document above its budget is named only, and stays a file like any other: read and searched with tools.
#[tokio::test(start_paused = true)]
async fn r_doc_04_a_document_above_its_budget_is_named_and_read_with_tools() {
    let search = json!({"call": {"name": "search_files", "arguments": {"pattern": "LAST RULE"}}}).to_string();
    let part = json!({"call": {"name": "read_file", "arguments": {"path": "AGENTS.md", "offset": 1200}}})
        .to_string();
    let play = Play::of(&script(&[&search, &part, &read("notes.txt"), &text("Read.")])).await;
    let long = "a line of conventions that goes on and on\n".repeat(1_200) + "LAST RULE: be kind\n";
    std::fs::write(play.rig.folder().join("AGENTS.md"), &long).expect("a file");
    play.through("Follow the conventions.").await;
    let loaded = play.facts().into_iter().find_map(|fact| match fact {
        Fact::DocumentLoaded(loaded) => Some((loaded.named_only, loaded.bytes)),
        _ => None,
    });
    assert_eq!(loaded, Some((true, long.len() as u64)));
    let first = texts(&play.requests()[0]).concat();
    assert!(first.contains("Not shown") && !first.contains("conventions that goes"), "{first}");
    let heard = play.heard();
    assert_eq!(heard.iter().filter(|text| text.contains("LAST RULE: be kind")).count(), 2, "{heard:#?}");
    assert_eq!(heard.iter().filter(|text| text.contains("Not shown")).count(), 1, "named once");
}
