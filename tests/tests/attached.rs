//! What a step keeps costs no sync of its own: it goes with the step's events, and no file is made for it.

use crate::play::{Play, read, run, script, text};
use domain::call::Mode;
use domain::event::Fact;
use tests::Rig;

/// Files in the blob folder.
fn files(rig: &Rig) -> usize {
    let shards = std::fs::read_dir(rig.data().join("blobs")).expect("a folder");
    shards.map(|shard| std::fs::read_dir(shard.expect("an entry").path()).expect("a folder").count()).sum()
}

/// Reads and commands that only look: whatever they keep is a row, so that a step's only syncs are its barriers.
#[tokio::test(start_paused = true)]
async fn a_step_that_changes_nothing_makes_no_file() {
    let mut rig = Rig::new(&script(&[
        &read("notes.txt"),
        &run("note one"),
        &read("AGENTS.md"),
        &run("note two"),
        &text("Done."),
    ]));
    rig.mode = Mode::Plan;
    let play = Play::on(rig).await;
    play.through("Look around.").await;
    let kept = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::RequestPrepared(prepared) => Some(prepared.added.len()),
        Fact::ToolResult(result) => Some(result.kept.len()),
        Fact::DocumentLoaded(_) => Some(1),
        _ => None,
    });
    assert!(kept.sum::<usize>() >= 8, "segments, outputs and a document were kept");
    assert_eq!(files(&play.rig), 1, "the head, which many sessions share");
}

/// Output larger than what is attached is a file, and read like any other.
#[tokio::test(start_paused = true)]
async fn large_output_is_a_file_and_is_read_back_whole() {
    let bytes = store::ATTACHED_BYTES + 1;
    let mut rig = Rig::new(&script(&[&run(&format!("fill {bytes}")), &text("Done.")]));
    rig.mode = Mode::Plan;
    let play = Play::on(rig).await;
    play.through("Say it.").await;
    assert_eq!(files(&play.rig), 2, "the head, and the output");
    let kept = play.facts().into_iter().find_map(|fact| match fact {
        Fact::ToolResult(result) => result.kept.into_values().next(),
        _ => None,
    });
    let reader = store::Reader::open(play.rig.data()).expect("readable");
    let output = reader.blob(&kept.expect("it is kept")).expect("readable");
    assert_eq!(output, vec![b'x'; bytes]);
}
