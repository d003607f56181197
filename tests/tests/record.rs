//! What the record holds of one piece of work, what of it the model sees, and in which order things were written.

use crate::play::{Play, calls, read, run, script, text, texts};
use domain::event::{AttemptEndKind, CheckedCall, Fact};
use domain::ids::CallId;
use tests::Rig;

/// A command after a yes, and an answer.
async fn worked() -> Play {
    let play = Play::on(Rig::new(&script(&[&run("note one"), &text("Done.")]))).await;
    play.through("Do it.").await;
    play
}

#[tokio::test(start_paused = true)]
async fn r_log_12_a_piece_of_work_is_on_record_from_its_words_to_its_end() {
    let kinds = worked().await.kinds();
    let mut rest = kinds.iter();
    for wanted in [
        "turn/start",
        "step/start",
        "user/message",
        "request/prepared",
        "assistant/accepted",
        "tool/call",
        "tool/decision",
        "approval/requested",
        "approval/granted",
        "tool/start",
        "tool/result",
        "step/end",
        "step/start",
        "assistant/accepted",
        "step/end",
        "turn/end",
    ] {
        assert!(rest.any(|kind| kind == wanted), "{wanted} isn't there in its place: {kinds:?}");
    }
}

/// What broke off, an answer that wasn't accepted and a call that can't run are kept, and the first two reach no request.
#[tokio::test(start_paused = true)]
async fn r_log_20_what_failed_is_kept_for_the_record_and_not_for_the_model() {
    let play = Play::of(
        r#"{"answers":[{"say":[{"text":"HALF an answer"}],"error":{"class":"cut"}},
            {"say":[{"call":{"name":"read_file","arguments":{"pth":"notes.txt"}}}]},
            {"say":[{"text":"LONG answer"}],"stop":"length"},{"say":[{"text":"Whole."}]}]}"#,
    )
    .await;
    play.say("Try.").await;
    play.idle().await;
    play.through("Again.").await;
    let (mut half, mut long, mut bad) = (false, false, false);
    for fact in play.facts() {
        match fact {
            Fact::AttemptEnd(e) => match e.end {
                AttemptEndKind::Failed { error, .. } => half |= error.partial_text == "HALF an answer",
                AttemptEndKind::Unaccepted { text, .. } => long |= text == "LONG answer",
                AttemptEndKind::Accepted
                | AttemptEndKind::Summarised { .. }
                | AttemptEndKind::Cancelled
                | AttemptEndKind::Interrupted => {}
            },
            Fact::ToolCall(e) => {
                bad |= matches!(&e.checked, CheckedCall::Bad { error } if error.code == "arguments/invalid");
            }
            _ => {}
        }
    }
    assert!(half && long && bad, "{half} {long} {bad}");
    let sent: Vec<String> = play.requests().iter().map(ToString::to_string).collect();
    assert!(sent.len() > 2 && sent.iter().all(|body| !body.contains("HALF") && !body.contains("LONG")));
}

/// Every text of every request's messages stands in an event, as it was said, noted or given as a call's result; the head is
/// named by the request's own.
#[tokio::test(start_paused = true)]
async fn r_log_22_the_model_is_shown_nothing_that_is_not_on_record() {
    let play = Play::of(&script(&[&read("notes.txt"), &text("One."), &text("Two.")])).await;
    play.through("First.").await;
    play.through("Second.").await;
    let told: Vec<String> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::UserMessage(e) => Some(e.text),
            Fact::ContextNote(e) => Some(e.text),
            Fact::ToolResult(e) => Some(e.text),
            _ => None,
        })
        .collect();
    let mut shown = 0;
    for text in play.requests().iter().flat_map(texts) {
        let rest =
            told.iter().filter(|one| !one.is_empty()).fold(text.clone(), |rest, one| rest.replace(one, ""));
        assert_eq!(rest.trim(), "", "all of {text:?} is on record");
        shown += 1;
    }
    assert!(shown > 5, "{shown} texts were sent");
}

/// Slow and quick calls side by side: whatever ends first, the next request has the results by their ids, in the order asked.
#[tokio::test(start_paused = true)]
async fn r_tool_18_results_go_back_by_id_in_the_order_of_their_calls() {
    let three = [read("notes.txt"), read("none.txt"), read("AGENTS.md")].join(",");
    let play = Play::of(&script(&[&three, &text("Done.")])).await;
    play.through("Read them.").await;
    let asked: Vec<(CallId, String)> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::ToolCall(e) => Some((e.call, e.provider_call_id)),
            _ => None,
        })
        .collect();
    assert_eq!(asked.len(), 3);
    let requests = play.requests();
    let messages = requests.last().expect("sent")["messages"].as_array().expect("messages").clone();
    let results = messages.iter().find_map(|message| message["results"].as_array()).expect("results");
    let ids: Vec<&str> = results.iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids, asked.iter().map(|(_, id)| id.as_str()).collect::<Vec<_>>(), "{results:?}");
    assert!(calls(&play.state()).is_empty());
}
