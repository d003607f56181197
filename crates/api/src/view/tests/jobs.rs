//! Jobs as shown: a line that keeps its place, output that shows once, and an end in facts.

use super::*;
use crate::view::answer::HELD_BYTES;
use crate::view::patch::{apply, joined};
use crate::wire::job::{JobPhase, JobView};
use serde_json::json;

fn made(n: u128) -> Vec<Fact> {
    let notify = n == 2;
    let (job, command) = (JobId::from_bits(n), format!("serve {n}"));
    vec![
        call(n, "run_command", &json!({ "command": command, "background": true }).to_string()),
        call_start(n),
        JobCreated { job: job.clone(), call: CallId::from_bits(n), command, notify }.into(),
        ok(n, "made", json!({}), Vec::new()),
        JobStarted {
            job,
            semantics: Semantics::Possible { recovery: Recovery::Manual },
            tree: None,
            since: None,
            uncaged: false,
        }
        .into(),
    ]
}

fn printed(n: u128, text: &str) -> Fact {
    JobOutput { job: JobId::from_bits(n), text: text.into() }.into()
}

fn ended(n: u128, end: JobEnd, text: &str) -> Fact {
    let (kept, seen, secrets) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let changed = Changed::default().doubted(Doubt::Mixed);
    JobEnded { job: JobId::from_bits(n), end, text: text.into(), changed, kept, seen, secrets, ms: 7 }.into()
}

fn with(facts: Vec<Fact>) -> Vec<Fact> {
    let mut all = begin();
    all.push(start(1));
    all.extend(accepted(1, "Both."));
    all.extend(facts);
    all
}

fn jobs(fold: &Fold) -> &[JobView] {
    &fold.view().jobs
}

#[test]
fn a_job_is_followed_from_made_to_ended() {
    let mut facts = made(1);
    facts.extend(made(2));
    facts.push(printed(1, "one\n"));
    facts.push(JobCancel { job: JobId::from_bits(2), by: JobCancelBy::User }.into());
    let fold = folded(with(facts.clone()), &Blobs::default());
    let shown: Vec<_> =
        jobs(&fold).iter().map(|job| (&*job.command, job.notify, job.stopping, &*job.output)).collect();
    assert_eq!(shown, [("serve 1", false, false, "one\n"), ("serve 2", true, true, "")]);
    assert!(jobs(&fold).iter().all(|job| job.phase == JobPhase::Running && job.effects));
    facts.push(ended(1, JobEnd::Completed { value: json!({ "exit_code": 3 }) }, "one\n[exit code 3]"));
    facts.push(ended(2, JobEnd::Cancelled { by: JobCancelBy::User }, "Error for the model"));
    let fold = folded(with(facts), &Blobs::default());
    let [one, two] = jobs(&fold) else { panic!() };
    assert_eq!(
        (&one.phase, &*one.output),
        (&JobPhase::Completed { code: Some(3), ms: 7 }, "one\n[exit code 3]")
    );
    assert_eq!((&two.phase, &*two.output), (&JobPhase::Cancelled { by: "user".into(), ms: 7 }, ""));
    assert_eq!(one.doubt.as_deref(), Some("mixed"));
}

#[test]
fn live_output_of_a_job_shows_once_and_outlives_its_turn() {
    let mut facts = made(1);
    facts.push(StepEnd { step: StepId::from_bits(1), end: StepEndKind::Tools }.into());
    facts.push(TurnEnd { end: End::Length }.into());
    let mut fold = folded(with(facts.clone()), &Blobs::default());
    let (session, job) = (session(), JobId::from_bits(1));
    let live = Live::JobOutput { session, job, at: 0, text: "tick\n".into() };
    assert_eq!(
        fold.live(&live),
        [Patch::JobOutput { job: JobId::from_bits(1).to_string(), text: "tick\n".into() }]
    );
    let next = events(with([facts, vec![printed(1, "tick\ntock\n")]].concat())).pop().unwrap();
    let patches = fold.event(&next, &Blobs::default());
    assert_eq!(patches, [Patch::JobOutput { job: JobId::from_bits(1).to_string(), text: "tock\n".into() }]);
}

/// Some lines, all of one length.
const LINE: usize = 8;
const LINES: usize = 3;

#[test]
fn the_newest_output_goes_on_for_one_who_came_after_the_log_was_full() {
    let logged = "x".repeat(Live::JOB_LOGGED);
    let mut fold = folded(with([made(1), vec![printed(1, &logged)]].concat()), &Blobs::default());
    let (session, job) = (session(), JobId::from_bits(1));
    let live = |at, text: &str| Live::JobOutput {
        session: session.clone(),
        job: job.clone(),
        at: Live::JOB_LOGGED + at,
        text: text.into(),
    };
    let shown = |fold: &Fold| jobs(fold)[0].output.trim_start_matches(['…', 'x']).to_owned();
    // What was printed in between is nowhere but in the job's end.
    drop(fold.live(&live(100, "three\n")));
    assert!(jobs(&fold)[0].output.ends_with("x…three\n"));
    drop(fold.live(&live(106, "four\n")));
    assert_eq!(shown(&fold), "three\nfour\n");
    drop(fold.live(&live(106, "four\n")));
    assert_eq!(shown(&fold), "three\nfour\n", "shown once");
    // While the log still fills, what it won't have waits until it is full, and nothing that it will have is passed over.
    let (early, late) = logged.split_at(10);
    let mut fold = folded(with([made(1), vec![printed(1, early)]].concat()), &Blobs::default());
    let line = |at: usize| format!("{at:0digits$}\n", digits = LINE - 1);
    for at in (0..LINES).map(|n| n * LINE) {
        assert_eq!(fold.live(&live(at, &line(at))), []);
    }
    let log = |fold: &mut Fold, text: &str| {
        let facts = vec![printed(1, early), printed(1, text)];
        let next = events(with([made(1), facts].concat())).pop().unwrap();
        fold.event(&next, &Blobs::default())
    };
    let id = JobId::from_bits(1).to_string();
    let held: String = (0..LINES).map(|n| line(n * LINE)).collect();
    let text = format!("{late}{held}");
    assert_eq!(log(&mut fold, late), [Patch::JobOutput { job: id.clone(), text }]);
    // A character that doesn't fit ends the log, too, and of too much that waits the newest stays.
    let mut fold = folded(with([made(1), vec![printed(1, early)]].concat()), &Blobs::default());
    drop(fold.live(&live(100, &"y".repeat(HELD_BYTES))));
    drop(fold.live(&live(100 + HELD_BYTES, "z")));
    let short = &late[..late.len() - 3];
    let text = format!("{short}…{}z", "y".repeat(HELD_BYTES - 1));
    assert_eq!(log(&mut fold, short), [Patch::JobOutput { job: id, text }]);
    // Behind a gap that the log fills, it waits for the log.
    let mut fold = folded(with(made(1)), &Blobs::default());
    let Live::JobOutput { session, job, text, .. } = live(0, "two\n") else { panic!() };
    assert_eq!(fold.live(&Live::JobOutput { session, job, at: 4, text }), []);
}

#[test]
fn joined_patches_give_the_same_jobs_and_of_those_that_ended_the_last_stay() {
    let mut facts = Vec::new();
    for n in 1..=30 {
        facts.extend(made(n));
        facts.push(printed(n, "x\n"));
        if n > 2 {
            facts.push(ended(n, JobEnd::Interrupted, "cut off"));
        }
    }
    let mut fold = Fold::new(&session());
    let empty = fold.view().clone();
    let patches: Vec<Patch> =
        events(with(facts)).iter().flat_map(|event| fold.event(event, &Blobs::default())).collect();
    assert_eq!(jobs(&fold).len(), 22);
    assert_eq!(apply(empty.clone(), &patches).jobs, jobs(&fold));
    for at in [1, patches.len() / 3, patches.len() - 1] {
        let (one, other) = patches.split_at(at);
        let both = [joined(one.to_vec()), joined(other.to_vec())].concat();
        assert_eq!(apply(empty.clone(), &both).jobs, jobs(&fold));
    }
}
