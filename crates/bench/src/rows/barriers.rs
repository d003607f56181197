//! P2: how many barriers there are, and that nothing else syncs.
//!
//! Counts, not times: turns of every shape on the real engine, and the barriers that each of them took.

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
    answers: Vec<Vec<Block>>,
}

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let mut rows = Vec::new();
    for shape in shapes() {
        let (counts, steps) = run.runtime.block_on(taken(shape.answers))?;
        // The person's words are acknowledged when they are on the disk: one barrier that isn't the turn's.
        let barriers = counts.barriers.saturating_sub(1);
        let note = format!(
            "{steps} steps; {} commits, {} syncs of files, and one barrier for the person's words",
            counts.commits, counts.file_syncs
        );
        let goal = format!("{}: at most {} barriers", shape.name, shape.most);
        let row = Row::at_most("P2", goal, barriers as f64, shape.most as f64).unit("count");
        rows.push(row.note(note).gate());
    }
    Ok(rows)
}

fn shapes() -> Vec<Shape> {
    let read = |id| call(id, "read_file", &json!({"path": "notes.txt", "limit": id + 1}));
    let long = "word ".repeat(5_000);
    vec![
        Shape { name: "a turn of text only", most: 1, answers: vec![vec![text("Done.")]] },
        Shape { name: "a turn of 5,000 words", most: 1, answers: vec![vec![text(long)]] },
        Shape {
            name: "a step of one call, then text",
            most: 3,
            answers: vec![vec![read(0)], vec![text("Done.")]],
        },
        Shape {
            name: "a step of four calls side by side, then text",
            most: 3,
            answers: vec![(0..4).map(read).collect(), vec![text("Done.")]],
        },
        Shape {
            name: "a step of one call with effects, then text",
            most: 4,
            answers: vec![
                vec![call(0, "write_file", &json!({"path": "made.txt", "content": "made"}))],
                vec![text("Done.")],
            ],
        },
        Shape {
            name: "ten steps of one call, then text",
            most: 21,
            answers: (0..10).map(|id| vec![read(id)]).chain([vec![text("Done.")]]).collect(),
        },
    ]
}

/// What one turn of these answers took, and its steps.
async fn taken(answers: Vec<Vec<Block>>) -> Done<(Counts, usize)> {
    let steps = answers.len();
    // The first turn pays for what only a first one does: the head's file, the documents.
    let plan: Plan =
        Arc::new(move |n| n.checked_sub(1).map_or(vec![text("Hello.")], |n| answers[n % steps].clone()));
    let mut bare = Bare::new(Mode::Edit, plan).await?;
    bare.turn("Hello.").await?;
    let before = bare.engine.store().counts();
    bare.turn("Do it.").await?;
    Ok((bare.engine.store().counts().since(before), steps))
}
