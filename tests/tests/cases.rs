//! Failures that people met elsewhere and that take a whole turn to play: what a server says of its window, pictures, messages
//! without end, and files that others change.
//!
//! Invariant: after each of them the session takes the next message, and nothing is wrong with its record.

use crate::play::{Play, read, text};
use domain::call::Mode;
use domain::digest::Digest;
use domain::event::{End, Fact, Target, ToolOutcome};
use engine::Command;
use engine::decide::CANNOT_FIT;
use serde_json::{Value, json};
use std::fs;
use tests::Rig;

/// What llama.cpp says, as part of a stream.
fn too_long(tokens: u64, window: u64) -> Value {
    let words = format!(
        "request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it"
    );
    let error = json!({"error": {"code": 400, "message": words, "type": "invalid_request_error"}});
    json!({"stream": {"dialect": "openai-chat", "body": format!("data: {error}\n\n"), "chunk_bytes": 9}})
}

/// A session over six long files, whose model reads them all before it answers as told.
async fn reader(rest: Vec<Value>) -> Play {
    let mut answers: Vec<Value> =
        (0..6).map(|n| json!({"say": [piece(&read(&format!("file{n}.txt")))]})).collect();
    answers.push(json!({"when": {"contains": "<transcript>"}, "repeat": true, "error": {"class": "server"}}));
    answers.extend(rest);
    let mut rig = Rig::new(&json!({ "answers": answers }).to_string());
    // Nobody knows this service's window until it says so.
    rig.window = None;
    let line = "a row of the ledger, nothing in it matters much\n";
    for n in 0..6 {
        fs::write(rig.folder().join(format!("file{n}.txt")), line.repeat(330)).expect("a file");
    }
    Play::on(rig).await
}

fn piece(words: &str) -> Value {
    serde_json::from_str(words).expect("a piece")
}

fn shortened(play: &Play) -> usize {
    play.count("history/shortened") + play.count("checkpoint/committed")
}

/// The window stands in the words alone: it is learned, the history is shortened once, and the work goes on within it.
#[tokio::test(start_paused = true)]
async fn case_p21_a_window_told_in_words_is_learned_and_kept_to() {
    const WINDOW: u64 = 20_000;
    let done = json!({"say": [piece(&text("Done."))]});
    let play = reader(vec![too_long(24_071, WINDOW), done.clone(), done]).await;
    play.through("Read all of them.").await;
    assert_eq!(play.ends(), [End::Completed]);
    let learned = play.facts().into_iter().find_map(|fact| match fact {
        Fact::ContextOverflowed(e) => e.window,
        _ => None,
    });
    assert_eq!((learned, shortened(&play)), (Some(WINDOW), 1), "{:?}", play.kinds());
    let tokens: Vec<u64> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::RequestPrepared(e) => Some(e.tokens),
            _ => None,
        })
        .collect();
    let [.., refused, taken] = tokens[..] else { panic!("{tokens:?}") };
    assert!(refused > WINDOW && taken < WINDOW, "{tokens:?}");
    play.through("And now?").await;
    assert_eq!(play.count("context/overflowed"), 1, "it isn't asked for too much again");
}

/// A server that says so of whatever it gets is given up on, in words that say what to do.
#[tokio::test(start_paused = true)]
async fn case_p21_a_server_that_says_so_of_any_size_is_given_up_on() {
    let mut always = too_long(24_071, 20_000);
    always["repeat"] = true.into();
    let play = reader(vec![always]).await;
    play.through("Read all of them.").await;
    let ends = play.ends();
    assert!(
        matches!(&ends[..], [End::Failed { code, message, .. }] if code == CANNOT_FIT && !message.is_empty()),
        "{ends:?}"
    );
    assert!((1..=3).contains(&play.count("context/overflowed")), "{:?}", play.kinds());
}

/// A picture of 12000 x 500 that a tool came upon is a line of words: neither the model nor the record gets it.
#[tokio::test(start_paused = true)]
async fn case_h14_a_huge_picture_is_a_line_of_words_before_it_is_kept() {
    let [looks, seen, after] = [read("wide.png"), text("A picture."), text("Still here.")];
    let script = crate::play::script(&[&looks, &seen, &after]);
    let play = Play::of(&script).await;
    let picture = wide();
    fs::write(play.rig.folder().join("wide.png"), &picture).expect("a file");
    play.through("What is this?").await;
    let told = play.facts().into_iter().find_map(|fact| match fact {
        Fact::ToolResult(e) => Some((e.outcome, e.text, e.kept)),
        _ => None,
    });
    let (outcome, words, kept) = told.expect("a result");
    assert!(matches!(outcome, ToolOutcome::Error { error } if error.code == "file/binary"));
    assert!(words.contains("image/png") && words.len() < 300 && kept.is_empty(), "{words}");
    assert!(!play.process.engine.store().holds_blob(&Digest::of(&picture)).expect("looks"), "it isn't kept");
    let recorded = format!("{:?}", play.facts());
    assert!(!recorded.contains("IHDR") && recorded.len() < 64 << 10, "{}", recorded.len());
    assert!(play.requests().iter().all(|request| !request.to_string().contains("IHDR")));
    let play = play.restart().await;
    play.through("And now?").await;
    assert_eq!(play.ends().len(), 2);
}

/// What is too long to be said is refused before anything of it is read; what just isn't gives a name of one line.
#[tokio::test(start_paused = true)]
async fn case_d23_a_name_and_a_list_never_hold_a_long_message() {
    let play = Play::of(&crate::play::script(&[&text("Fine.")])).await;
    let say = |bytes: usize| Command::Say {
        text: "word ".repeat(bytes / 5),
        target: Target::NextStep,
        command: None,
    };
    let refused = play.process.engine.command(&play.session, say(25_000_000)).await;
    assert!(refused.is_err() && play.kinds() == ["session/created"], "nothing of it is on record");
    let most = play.rig.limits.message_bytes;
    play.tell(say(most)).await;
    play.idle().await;
    let rows = play.process.engine.store().sessions().expect("a list");
    let title = &rows[0].title;
    assert!(!title.is_empty() && title.chars().count() <= 80, "{}", title.len());
    assert!(format!("{rows:?}").len() < 2_000, "a line of the list is short whatever was said");
    play.clean();
}

/// Our own write and then somebody else's: what changed since is seen before the next write, and nothing of it is lost.
#[tokio::test(start_paused = true)]
async fn case_d18_a_change_from_outside_after_our_own_write_is_seen() {
    let write = |content: &str| crate::play::write("notes.txt", content);
    let answers =
        [read("notes.txt"), write("ours\n"), text("Saved."), write("ours again\n"), text("It was changed.")];
    let mut rig = Rig::new(&crate::play::script(&answers.each_ref().map(String::as_str)));
    rig.mode = Mode::Edit;
    let play = Play::on(rig).await;
    play.through("Save it.").await;
    assert_eq!(play.rig.file("notes.txt"), "ours\n");
    // As editors save: another file in its place.
    let (path, other) = (play.rig.folder().join("notes.txt"), play.rig.folder().join(".notes.swp"));
    fs::write(&other, "theirs\n").expect("a file");
    fs::rename(&other, &path).expect("in its place");
    play.through("Save it again.").await;
    assert_eq!(play.rig.file("notes.txt"), "theirs\n", "nothing is written over it");
    let told = play.heard();
    assert!(
        told.iter().any(|text| text.contains("file/changed") && text.contains("has changed since")),
        "{told:#?}"
    );
}

/// The beginning of a picture 12000 wide and 500 high, and a megabyte of noise.
fn wide() -> Vec<u8> {
    let mut picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    picture.extend([12_000u32.to_be_bytes(), 500u32.to_be_bytes()].concat());
    picture.extend([8, 2, 0, 0, 0]);
    picture.extend((0..1u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8));
    picture
}
