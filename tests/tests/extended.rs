//! What keeps a turn going, or its plan in mind: notes of ours before it ends and after many steps.
//!
//! Invariant of every test: each note is said a bounded number of times, stands in the record, and is what the model reads.

use crate::play::{Play, read, script, text};
use domain::call::Mode;
use domain::event::{ContextNote, End, Fact};
use serde_json::json;
use tests::Rig;

fn plan(items: &[(&str, &str)]) -> String {
    let items: Vec<_> = items.iter().map(|(text, status)| json!({"text": text, "status": status})).collect();
    json!({"call": {"name": "update_plan", "arguments": {"items": items}}}).to_string()
}

fn played(answers: &[String]) -> String {
    script(&answers.iter().map(String::as_str).collect::<Vec<_>>())
}

fn reminders(play: &Play) -> Vec<ContextNote> {
    let notes = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::ContextNote(note) if note.topic == "plan" => Some(note),
        _ => None,
    });
    notes.collect()
}

/// Items of the plan are open when the model has nothing more to say: it is asked once, and its word then holds.
#[tokio::test(start_paused = true)]
async fn r_loop_21_open_items_of_its_plan_extend_a_turn_once() {
    let half = plan(&[("Look", "completed"), ("Change it", "in_progress"), ("Check it", "pending")]);
    let play = Play::of(&played(&[half, text("Half."), text("It waits."), text("Hello.")])).await;
    play.through("Do all of it.").await;
    assert_eq!((play.ends(), play.count("turn/extended")), (vec![End::Completed], 1));
    assert_eq!(play.count("step/start"), 3);
    let heard = play.heard();
    insta::assert_snapshot!(heard.last().expect("a note"), @r#"<note>Before this turn ends: your plan still has open items: "Change it"; "Check it". If they are done, send the plan again. If you can go on, do. If you wait for the person, or they aren't wanted any more, say so in one sentence and stop; this isn't said again.</note>"#);
    // A turn that leaves the plan alone isn't asked about it.
    play.through("Hello?").await;
    assert_eq!((play.ends().len(), play.count("turn/extended")), (2, 1));
}

/// The note is of use: work that was forgotten is done within the turn.
#[tokio::test(start_paused = true)]
async fn r_loop_21_what_was_forgotten_is_done_before_the_turn_ends() {
    let [open, done] = ["in_progress", "completed"].map(|status| plan(&[("Read the notes", status)]));
    let answers = [open, text("Done!"), read("notes.txt"), done, text("Now it is.")];
    let play = Play::of(&played(&answers)).await;
    play.through("Read them.").await;
    assert_eq!((play.ends(), play.count("turn/extended")), (vec![End::Completed], 1));
    assert_eq!(play.count("tool/result"), 3, "{:?}", play.kinds());
}

/// Nothing is said of a plan that is done, where only a plan was wanted, or where the turn may take no more steps.
#[tokio::test(start_paused = true)]
async fn r_loop_21_no_turn_is_extended_without_a_reason_or_past_its_limit() {
    let rows = [
        (plan(&[("Look", "completed")]), Mode::Ask, 100),
        (plan(&[("Look", "pending")]), Mode::Plan, 100),
        (plan(&[("Look", "pending")]), Mode::Ask, 2),
    ];
    for (made, mode, steps) in rows {
        let mut rig = Rig::new(&played(&[made, text("That's it.")]));
        rig.mode = mode;
        rig.limits.steps_per_turn = steps;
        let play = Play::on(rig).await;
        play.through("Do it.").await;
        assert_eq!((play.ends(), play.count("turn/extended")), (vec![End::Completed], 0), "{mode:?} {steps}");
    }
}

/// Steps go by without a word about the plan: the model is reminded of it, not in each of them, and not once it said more.
#[tokio::test(start_paused = true)]
async fn r_pln_06_after_eight_steps_the_model_is_reminded_of_its_plan() {
    let begun = plan(&[("Read all of them", "in_progress"), ("Say what is in them", "pending")]);
    let done = plan(&[("Read all of them", "completed"), ("Say what is in them", "completed")]);
    let mut answers = vec![begun];
    answers.extend((0..20).map(|n| read(&format!("file{n}.txt"))));
    answers.push(done);
    answers.extend((20..30).map(|n| read(&format!("file{n}.txt"))));
    answers.push(text("Read."));
    let play = Play::of(&played(&answers)).await;
    for n in 0..30 {
        std::fs::write(play.rig.folder().join(format!("file{n}.txt")), format!("{n}")).expect("a file");
    }
    play.through("Read all of them.").await;
    let notes = reminders(&play);
    assert_eq!(notes.len(), 2, "{:?}", play.kinds());
    assert!(notes[0].text.contains("- in progress: Read all of them\n- open: Say what is in them"));
    // The plan is of step 1: the request of step 10 is the first that more than eight others lie before.
    let told =
        |request: &serde_json::Value| request.to_string().contains("steps went by since your plan was");
    assert_eq!(play.requests().iter().position(told), Some(9));
    assert_eq!((play.ends(), play.count("turn/extended")), (vec![End::Completed], 0));
}
