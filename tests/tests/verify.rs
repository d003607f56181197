//! Verification finds what was changed behind the engine's back, and says nothing when nothing was.

use crate::play::{Play, read, script, text};
use context::Fragments;
use domain::event::Fact;
use std::path::{Path, PathBuf};
use tests::Rig;
use tools::{Registry, Visibility};

async fn played() -> Play {
    let play = Play::of(&script(&[&read("notes.txt"), &text("One."), &text("Two.")])).await;
    play.through("First.").await;
    play.through("Second.").await;
    play
}

fn blob(rig: &Rig, digest: &str) -> PathBuf {
    rig.data().join("blobs").join(&digest[..2]).join(&digest[2..])
}

fn findings(play: &Play) -> Vec<String> {
    play.rig.findings(&play.session, play.process.engine.store().epoch())
}

#[tokio::test(start_paused = true)]
async fn i09_i20_a_changed_or_missing_part_of_a_request_is_found() {
    let play = played().await;
    let parts: Vec<String> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::RequestPrepared(prepared) => Some(prepared.added.into_iter().chain(prepared.head)),
            _ => None,
        })
        .flatten()
        .map(|digest| digest.to_string())
        .collect();
    assert!(parts.len() > 3);
    for part in parts {
        let path = blob(&play.rig, &part);
        let bytes = std::fs::read(&path).expect("the part is there");
        let mut changed = bytes.clone();
        changed[0] ^= 1;
        overwrite(&path, &changed);
        assert!(findings(&play).iter().any(|found| found.contains("I9")), "{part} was changed");
        std::fs::remove_file(&path).expect("it goes");
        assert!(findings(&play).iter().any(|found| found.contains("I9")), "{part} is gone");
        overwrite(&path, &bytes);
        play.clean();
    }
}

/// Replaces a file whatever its mode says.
fn overwrite(path: &Path, bytes: &[u8]) {
    drop(std::fs::remove_file(path));
    std::fs::write(path, bytes).expect("it is written");
}

/// What the log was at any point is the fold of its events up to there.
#[tokio::test(start_paused = true)]
async fn r_log_17_every_past_state_is_a_replay() {
    let play = played().await;
    let events = play.rig.events(&play.session);
    let reader = store::Reader::open(play.rig.data()).expect("readable");
    let mut state = domain::state::State::default();
    for (at, event) in events.iter().enumerate() {
        state.fold(event);
        let kept = reader.state_after(&play.session, at as u64 + 1).expect("readable");
        assert_eq!(*kept, state, "after {} events", at + 1);
    }
}

/// The real head, instructions and built-in schemas together, counted with a real tokenizer.
#[test]
fn the_head_of_a_request_stays_within_2500_tokens() {
    let fragments = Fragments::default();
    let _kept = context::head::builtin(&fragments);
    let specs = || {
        let registry = Registry::builtin(&tools::Limits::default()).expect("the tools fit together");
        registry.visible(&Visibility::default()).specs()
    };
    let head = context::head::head(&fragments, specs());
    assert_eq!(head, context::head::head(&fragments, specs()), "the same each time");
    let table = tiktoken_rs::o200k_base().expect("the table is built in");
    let mut tokens = table.encode_ordinary(&head.system).len();
    for tool in &head.tools {
        let declared = serde_json::json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
        tokens += table.encode_ordinary(&declared.to_string()).len();
    }
    assert!(tokens as u64 <= context::head::MAX_TOKENS, "{tokens} tokens");
    assert!(tokens > 800, "{tokens} tokens: the tools are missing");
    let names: Vec<&str> = head.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.is_sorted(), "{names:?}");
}
