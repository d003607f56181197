//! Recordings of real servers, replayed byte for byte over a socket, whole and in the smallest pieces.
//!
//! What they become is one snapshot, to be read by people; both cuts must give the same.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use domain::model::{Block, ModelDelta, Outcome};
use providers::SendError;
use tokio::time::timeout;

use crate::net::{Kept, send};
use crate::server::{Act, PATIENCE, Server};

fn recordings() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut all: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .collect();
    all.sort();
    all
}

/// Which dialect a recording speaks; `None` for those that are no answers of a model.
fn dialect_of(folder: &str, name: &str) -> Option<&'static str> {
    match (folder, name) {
        (_, "models") => None,
        ("llm-katan", "openai_parallel_stream") | ("litellm-openai" | "llama-server", _) => {
            Some("openai-chat")
        }
        ("litellm-responses" | "llama-server-native-responses", _) => Some("openai-responses"),
        ("litellm-anthropic" | "llama-server-native-anthropic" | "llm-katan", _) => {
            Some("anthropic-messages")
        }
        other => panic!("a recording nobody thought of: {other:?}"),
    }
}

fn tell(result: &Result<Outcome, SendError>, kept: &Kept) -> String {
    let mut out = String::new();
    match result {
        Ok(outcome) => {
            writeln!(out, "{:?} {:?} model {:?}", outcome.stop, outcome.usage, outcome.model).unwrap();
            for block in &outcome.blocks {
                match block {
                    Block::Text { text } => writeln!(out, "text {text:?}"),
                    Block::Reasoning { text, opaque } => writeln!(out, "reasoning {text:?} {opaque:?}"),
                    Block::Call { provider_call_id, name, arguments } => {
                        writeln!(out, "call {provider_call_id} {name} {arguments:?}")
                    }
                }
                .unwrap();
            }
            writeln!(out, "shown in {} pieces", kept.deltas.len()).unwrap();
        }
        Err(SendError::Failed(error)) => {
            let (class, status, window) = (error.class, error.answered.status, error.context_tokens);
            writeln!(out, "{class:?} status {status:?} window {window:?}\n{error}").unwrap();
        }
        Err(SendError::Cancelled(_)) => panic!("nobody cancelled"),
    }
    out
}

/// Pieces that were shown must add up to what counts.
fn check_shown(outcome: &Outcome, kept: &Kept) {
    let mut arguments: Vec<String> = Vec::new();
    for delta in &kept.deltas {
        if let ModelDelta::Arguments { index, text, .. } = delta {
            arguments.resize(arguments.len().max(*index as usize + 1), String::new());
            arguments[*index as usize].push_str(text);
        }
    }
    let (mut text, mut calls) = (String::new(), Vec::new());
    for block in &outcome.blocks {
        match block {
            Block::Text { text: more } => text.push_str(more),
            Block::Call { arguments, .. } => calls.push(arguments.clone()),
            Block::Reasoning { .. } => {}
        }
    }
    assert_eq!((kept.text(), arguments.len()), (text, calls.len()));
    for (shown, counted) in arguments.iter().zip(&calls) {
        assert!(shown.is_empty() || shown == counted, "{shown} {counted}");
    }
}

#[tokio::test]
async fn every_recording_reads_the_same_however_it_is_cut() {
    let mut told = String::new();
    for path in recordings() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let folder = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let Some(dialect) = dialect_of(folder, name) else { continue };
        let bytes = std::fs::read(&path).unwrap();
        let mut first = None;
        for act in [Act::Send(bytes.clone()), Act::Drip(bytes)] {
            let server = Server::start(vec![vec![act]]).await;
            let base = format!("http://127.0.0.1:{}", server.port);
            let (result, kept) = timeout(PATIENCE, send(dialect, &base)).await.unwrap();
            if let Ok(outcome) = &result {
                check_shown(outcome, &kept);
            }
            let this = tell(&result, &kept);
            assert_eq!(
                first.get_or_insert(this.clone()),
                &this,
                "{folder}/{name} read differently in pieces"
            );
        }
        writeln!(told, "## {folder}/{name}\n{}", first.unwrap()).unwrap();
    }
    insta::assert_snapshot!(told);
}
