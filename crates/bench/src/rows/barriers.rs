//! P2: how many barriers there are, and that nothing else syncs.
//!
//! Counts, not times: turns of every shape on the real engine, and the barriers and the syncs of files that each of them
//! took.

use super::Run;
use crate::Done;
use crate::bare::{Bare, Plan, call, text};
use crate::report::Row;
use domain::call::Mode;
use domain::model::Block;
use serde_json::json;
use std::sync::Arc;
use store::Counts;

/// A turn's shape, and the barriers it may take beside the one that acknowledges the person's words.
struct Shape {
    name: &'static str,
    most: u64,
    /// Syncs of files it may take: of content that is kept as a file.
    files: u64,
    mode: Mode,
    answers: Vec<Vec<Block>>,
}

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let mut rows = Vec::new();
    for shape in shapes() {
        let (counts, steps) = run.runtime.block_on(taken(shape.mode, shape.answers))?;
        // The person's words are acknowledged when they are on the disk: one barrier that isn't the turn's.
        let barriers = counts.barriers.saturating_sub(1);
        let note =
            format!("{steps} steps; {} commits, and one barrier for the person's words", counts.commits);
        let goal = format!("{}: at most {} barriers", shape.name, shape.most);
        let row = Row::at_most("P2", goal, barriers as f64, shape.most as f64).unit("count");
        rows.push(row.note(note).gate());
        let goal = format!("{}: at most {} syncs of files", shape.name, shape.files);
        let row = Row::at_most("P2", goal, counts.file_syncs as f64, shape.files as f64).unit("count");
        rows.push(row.gate());
    }
    Ok(rows)
}

/// What the first of some content costs that is kept as a file: the file, its folder, and the folder of that.
const KEPT: u64 = 3;

fn shapes() -> Vec<Shape> {
    let read = |id| call(id, "read_file", &json!({"path": "notes.txt", "limit": id + 1}));
    // The same content each time: it is kept once.
    let write = |id| call(id, "write_file", &json!({"path": format!("made{id}.txt"), "content": "made"}));
    let done = || vec![text("Done.")];
    let reads = |name, most, answers| Shape { name, most, files: 0, mode: Mode::Edit, answers };
    let writes =
        |name, most, mode, calls| Shape { name, most, files: KEPT, mode, answers: vec![calls, done()] };
    vec![
        reads("a turn of text only", 1, vec![done()]),
        reads("a turn of 5,000 words", 1, vec![vec![text("word ".repeat(5_000))]]),
        reads("a step of one call, then text", 3, vec![vec![read(0)], done()]),
        reads("a step of four calls side by side, then text", 3, vec![(0..4).map(read).collect(), done()]),
        writes("a step of one call with effects, then text", 4, Mode::Edit, vec![write(0)]),
        // The answer, the yes, the effect, its result with the next request, the last answer.
        writes("a step of one call that needs a yes, then text", 5, Mode::Ask, vec![write(0)]),
        // One more yes, and one more effect after the first.
        writes("a step of two calls that need a yes each, then text", 7, Mode::Ask, vec![write(0), write(1)]),
        reads(
            "ten steps of one call, then text",
            21,
            (0..10).map(|id| vec![read(id)]).chain([done()]).collect(),
        ),
    ]
}

/// What one turn of these answers took, and its steps.
async fn taken(mode: Mode, answers: Vec<Vec<Block>>) -> Done<(Counts, usize)> {
    let steps = answers.len();
    // The first turn pays for what only a first one does: the head's file, the documents.
    let plan: Plan =
        Arc::new(move |n| n.checked_sub(1).map_or(vec![text("Hello.")], |n| answers[n % steps].clone()));
    let mut bare = Bare::new(mode, plan).await?;
    bare.turn("Hello.").await?;
    let before = bare.engine.store().counts();
    bare.turn("Do it.").await?;
    Ok((bare.engine.store().counts().since(before), steps))
}
