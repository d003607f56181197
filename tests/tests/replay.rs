//! One scenario from fixed answers, whole: what was sent, what was recorded and what a client was shown, word for word.
//!
//! A change of any of the three shows here first. Ids and times are counted, so every run is the same.

use crate::long_page::Disk;
use crate::play::{Play, calls, texts};
use api::view::{Fold, apply};
use api::wire::view::{EntryBody, SessionView};
use domain::call::Mode;
use domain::event::Fact;
use serde_json::json;
use store::Reader;
use tests::Rig;

const CLIENT_FROM: u64 = 4;

/// An answer that failed once, two calls side by side, a change, a name that isn't one, and the end.
fn answers() -> String {
    json!({"answers": [
        {"error": {"class": "overloaded", "message": "busy"}},
        {"say": [{"text": "Looking."},
            {"call": {"name": "read_file", "arguments": {"path": "notes.txt"}}},
            {"call": {"name": "no_such_tool", "arguments": {}}}], "usage": {"input": 1000, "output": 20}},
        {"say": [{"call": {"name": "edit_file",
            "arguments": {"path": "notes.txt", "old_text": "two", "new_text": "TWO"}}}],
            "usage": {"input": 1100, "output": 15}},
        {"say": [{"text": "Changed one line."}], "usage": {"input": 1200, "output": 5}},
    ]})
    .to_string()
}

fn entries(view: &SessionView) -> String {
    let line = |body: &EntryBody| match body {
        EntryBody::Said { text } => format!("said: {text}"),
        EntryBody::Answer { text, streaming, .. } => format!("answer: {text} (streaming {streaming})"),
        EntryBody::Calls { calls } => {
            let told: Vec<String> =
                calls.iter().map(|call| format!("{} {:?}", call.tool, call.state)).collect();
            format!("calls: {}", told.join(", "))
        }
        EntryBody::TurnEnd { end, .. } => format!("ended: {end}"),
        EntryBody::Notice { code, .. } => format!("notice: {code}"),
        other => format!("{other:?}"),
    };
    view.entries.iter().map(|entry| line(&entry.body)).collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn r_obs_06_requests_record_and_view_of_a_scenario_are_word_for_word() {
    let mut rig = Rig::new(&answers());
    rig.mode = Mode::Edit;
    let play = Play::on(rig).await;
    play.through("Make the second line loud.").await;
    assert!(calls(&play.state()).is_empty());
    let sent: Vec<String> =
        play.requests().iter().map(|request| texts(request).last().cloned().unwrap_or_default()).collect();
    insta::assert_snapshot!(sent.join("\n---\n"), @r#"
    Make the second line loud.
    ---
    Make the second line loud.
    ---
    Error (tool/unknown): there is no tool called "no_such_tool"
    The tools are: ask_user, delete_path, edit_file, job, list_files, read_file, run_command, search_files, update_plan, write_file.
    ---
    Changed "notes.txt" (+1 -1 lines).
    "#);
    insta::assert_snapshot!(play.kinds().join("\n"), @r#"
    session/created
    inbox/posted
    session/renamed
    turn/start
    step/start
    inbox/reserved
    context/note
    document/loaded
    context/note
    user/message
    request/prepared
    attempt/start
    attempt/end
    attempt/start
    assistant/accepted
    attempt/end
    tool/call
    tool/call
    tool/result
    tool/decision
    tool/start
    tool/result
    step/end
    step/start
    request/prepared
    attempt/start
    assistant/accepted
    attempt/end
    tool/call
    tool/decision
    tool/start
    tool/result
    step/end
    step/start
    request/prepared
    attempt/start
    assistant/accepted
    attempt/end
    step/end
    turn/end
    "#);
    // Two clients, one from the beginning and one that came in the middle, are shown the same.
    let events = play.rig.events(&play.session);
    let shelf = Disk(Reader::open(play.rig.data()).expect("readable"));
    let mut fold = Fold::new(&play.session);
    let mut client: Option<SessionView> = None;
    for event in &events {
        let patches = fold.event(event, &shelf);
        client = match client {
            Some(view) => Some(apply(view, &patches)),
            None if event.envelope.seq == CLIENT_FROM => Some(fold.view().clone()),
            None => None,
        };
    }
    let (shown, mut patched) = (fold.view(), client.expect("a client"));
    patched.seq = shown.seq;
    assert_eq!(&patched, shown);
    insta::assert_snapshot!(entries(shown), @r#"
    notice: document/loaded
    said: Make the second line loud.
    notice: attempt/failed
    answer: Looking. (streaming false)
    calls: read_file Done, no_such_tool Failed
    calls: edit_file Done
    answer: Changed one line. (streaming false)
    ended: completed
    "#);
    let usage: u64 = events
        .iter()
        .filter_map(|event| match &event.fact {
            Some(Fact::AttemptEnd(end)) => Some(&end.settled),
            _ => None,
        })
        .filter(|settled| matches!(settled, domain::event::Settled::Reported { .. }))
        .count() as u64;
    assert_eq!(usage, 3);
}
