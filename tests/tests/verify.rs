//! Verification finds what was changed behind the engine's back, and says nothing when nothing was.

use crate::play::{Play, read, script, text};
use context::Fragments;
use domain::digest::Digest;
use domain::event::Fact;
use std::path::{Path, PathBuf};
use store::Reader;
use tests::Rig;
use tools::{Registry, Visibility};

async fn played() -> Play {
    let play = Play::of(&script(&[&read("notes.txt"), &text("One."), &text("Two.")])).await;
    play.through("First.").await;
    play.through("Second.").await;
    play
}

#[tokio::test(start_paused = true)]
async fn i09_i20_a_changed_or_missing_part_of_a_request_is_found() {
    let play = played().await;
    let parts: Vec<Digest> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::RequestPrepared(prepared) => Some(prepared.added.into_iter().chain(prepared.head)),
            _ => None,
        })
        .flatten()
        .collect();
    assert!(parts.len() > 3);
    // Nobody has the store open for writing while its files are tampered with.
    let epoch = play.process.engine.store().epoch();
    let Play { rig, process, session } = play;
    drop(process);
    let found = || rig.findings(&session, epoch).iter().any(|found| found.contains("I9"));
    for part in parts {
        let bytes = Reader::open(rig.data()).expect("readable").blob(&part).expect("the part is there");
        let changed = Tampered::flip(&rig, &part, &bytes[..bytes.len().min(64)]);
        assert!(found(), "{part} was changed");
        changed.mend();
        let gone = Tampered::flip(&rig, &part, &part.0);
        drop(std::fs::remove_file(blob(&rig, &part)));
        assert!(found(), "{part} is gone");
        gone.mend();
        assert_eq!(rig.findings(&session, epoch), Vec::<String>::new());
    }
}

/// Files of a store as they were before somebody tampered with them.
struct Tampered(Vec<(PathBuf, Vec<u8>)>);

impl Tampered {
    /// Flips a bit wherever these bytes stand: in the part's own file, where it has one, and in the database.
    fn flip(rig: &Rig, part: &Digest, bytes: &[u8]) -> Self {
        let files = [blob(rig, part), rig.data().join("store.db"), rig.data().join("store.db-wal")];
        let whole = files.into_iter().filter_map(|path| std::fs::read(&path).ok().map(|found| (path, found)));
        let whole: Vec<_> = whole.collect();
        for (path, found) in &whole {
            let places = found.windows(bytes.len()).enumerate().filter(|(_, window)| *window == bytes);
            let places: Vec<usize> = places.map(|(at, _)| at).collect();
            let mut changed = found.clone();
            places.into_iter().for_each(|at| changed[at] ^= 1);
            overwrite(path, &changed);
        }
        Self(whole)
    }

    fn mend(self) {
        self.0.iter().for_each(|(path, whole)| overwrite(path, whole));
    }
}

fn blob(rig: &Rig, digest: &Digest) -> PathBuf {
    let name = digest.to_string();
    rig.data().join("blobs").join(&name[..2]).join(&name[2..])
}

fn overwrite(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("it is written");
}

/// What the log was at any point is the fold of its events up to there.
#[tokio::test(start_paused = true)]
async fn r_log_17_every_past_state_is_a_replay() {
    let play = played().await;
    let events = play.rig.events(&play.session);
    let reader = Reader::open(play.rig.data()).expect("readable");
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
