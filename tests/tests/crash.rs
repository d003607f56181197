//! Every scenario, killed at every append: the log stays lawful, nothing happens twice, and recovery is idempotent.

use crate::play::alone;
use crate::scenarios::{Scenario, all};
use domain::event::{End, Event, Fact, JobEnd, JobEnded, ToolOutcome, ToolResult, TurnEnd};
use domain::ids::SessionId;
use std::collections::BTreeSet;
use store::Point;
use tests::driver::Ended;
use tests::size::{either, seeds, tell};
use tests::{DieAt, Rig};

/// Kills the scenario at one append, and then each of the next processes at its first: that is recovery's, which is one
/// append, or where nothing is left for it to do the first of the work that goes on. Lets it come to rest, checks what must
/// hold, and gives what came of it; `None` where the scenario has no such append.
fn killed(scenario: &Scenario, n: u64, point: Point, recovery: &[Point]) -> Option<Vec<String>> {
    let rig = scenario.rig();
    let at = format!("killed at append {n} ({point:?}), its recovery at {recovery:?}");
    let mut session: Option<SessionId> = None;
    let first = alone(async {
        let process = rig.start(DieAt::append(n, point));
        scenario.play(&rig, &process, &mut session).await
    });
    if first == Ended::Resting {
        return None;
    }
    session = session.or_else(|| begun(&rig));
    if let Some(session) = &session {
        intended(&rig, session, &at);
    }
    for point in recovery {
        let ended = alone(async {
            let process = rig.start(DieAt::append(0, *point));
            scenario.play(&rig, &process, &mut session).await
        });
        assert!(ended != Ended::Waiting, "{} {at}: nobody answered", scenario.name);
        session = session.or_else(|| begun(&rig));
    }
    let (ended, epoch) = alone(async {
        let process = rig.start(DieAt::never());
        let ended = scenario.play(&rig, &process, &mut session).await;
        (ended, process.engine.store().epoch())
    });
    assert_eq!(ended, Ended::Resting, "{} {at}", scenario.name);
    let session = session.expect("it began");
    let findings = rig.findings(&session, epoch);
    assert!(findings.is_empty(), "{} {at}: {findings:#?}", scenario.name);
    let events = rig.events(&session);
    // The model is told when a call's outcome isn't known, or when a look showed that it never happened.
    let told = events.iter().any(|event| match &event.fact {
        Some(Fact::ToolOutcomeUnknown(_)) => true,
        Some(Fact::JobEnded(JobEnded { end: JobEnd::Interrupted, .. })) => true,
        Some(Fact::ToolResult(ToolResult { outcome: ToolOutcome::Error { error }, .. })) => {
            error.code == "call/cut_off"
        }
        _ => false,
    });
    scenario.holds(&rig, told, &at);
    once(&events, &at);
    again(scenario, &rig, &session, &at);
    Some(came_of_it(&rig, &events))
}

/// No call's outcome is said to be unknown twice.
#[track_caller]
fn once(events: &[Event], at: &str) {
    let mut unknown = BTreeSet::new();
    for event in events {
        if let Some(Fact::ToolOutcomeUnknown(said)) = &event.fact {
            assert!(unknown.insert(said.call.clone()), "{} is unknown twice, {at}", said.call);
        }
    }
}

/// What was said, what calls came to, what the folder holds and what ran; without ids and numbers of turns, which each start
/// makes new, and without the order of calls side by side, which is chance.
fn came_of_it(rig: &Rig, events: &[Event]) -> Vec<String> {
    let mut all: Vec<String> = events.iter().filter_map(|event| event.fact.as_ref()).filter_map(of).collect();
    let of_call = |line: &String| !["said", "answer", "end"].iter().any(|word| line.starts_with(word));
    all.chunk_by_mut(|one, next| of_call(one) && of_call(next)).for_each(<[String]>::sort);
    let mut ran = rig.world.commands();
    ran.sort();
    all.extend(ran);
    all.push(rig.file("notes.txt"));
    all
}

fn of(fact: &Fact) -> Option<String> {
    Some(match fact {
        Fact::UserMessage(said) => format!("said: {}", said.text),
        Fact::AssistantAccepted(answer) => format!("answer: {:?}", answer.blocks),
        Fact::ToolResult(result) => format!("result: {:?} {}", result.outcome, result.text),
        Fact::ToolDenied(denied) => format!("denied: {}", denied.text),
        Fact::ToolCancelled(cancelled) => format!("cancelled: {}", cancelled.text),
        Fact::ToolOutcomeUnknown(unknown) => format!("unknown: {}", unknown.text),
        Fact::CallResolved(resolved) => format!("resolved: {:?}", resolved.resolution),
        Fact::TurnEnd(TurnEnd { end: End::Interrupted }) => return None,
        Fact::TurnEnd(end) => format!("end: {:?}", end.end),
        _ => return None,
    })
}

/// Whatever ran has its start on the disk, and before that the answer that asked for it.
#[track_caller]
fn intended(rig: &Rig, session: &SessionId, at: &str) {
    let (mut asked, mut started) = (Vec::new(), 0);
    for event in rig.events(session) {
        match event.fact {
            Some(Fact::AssistantAccepted(_)) => asked.push(event.envelope.seq),
            Some(Fact::ToolStart(_) | Fact::JobStarted(_)) => {
                assert!(!asked.is_empty(), "a call began before its answer was recorded, {at}");
                started += 1;
            }
            _ => {}
        }
    }
    assert!(rig.world.commands().len() <= started, "something ran whose start isn't recorded, {at}");
}

/// A create whose answer was lost is found in the store.
fn begun(rig: &Rig) -> Option<SessionId> {
    alone(async {
        let process = rig.start(DieAt::never());
        let rows = process.engine.store().sessions().expect("a list");
        rows.into_iter().next().map(|row| row.session)
    })
}

/// Starting once more adds nothing.
fn again(scenario: &Scenario, rig: &Rig, session: &SessionId, at: &str) {
    let before = rig.log(session).len();
    alone(async {
        let process = rig.start(DieAt::never());
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        drop(process);
    });
    assert_eq!(rig.log(session).len(), before, "{} {at}: recovery added to a session at rest", scenario.name);
}

const POINTS: [Point; 2] = [Point::BeforeBegin, Point::AfterCommit];

#[track_caller]
fn at_every_append(which: &str) {
    let scenario =
        all().into_iter().find(|scenario| scenario.name == which).expect("a scenario of this name");
    for point in POINTS {
        let mut n = 0;
        while killed(&scenario, n, point, &[]).is_some() {
            n += 1;
        }
        assert!(n > 3, "{which}: only {n} appends");
    }
}

/// How recovery is killed: where all of it is on the disk, nothing, and all again.
const THRICE: [Point; 3] = [Point::AfterCommit, Point::BeforeBegin, Point::AfterCommit];

/// Recovery may be killed up to three times in a row, and comes to the same: at night wherever the first process was killed, else
/// at every nineteenth append, by turns before and after it.
#[test]
fn rel_r3_recovery_that_is_killed_itself_gives_the_same_in_the_end() {
    let scenarios = all();
    let seeds = seeds(0..scenarios.len() as u64 * 3);
    let mut kills = 0;
    for seed in seeds.clone() {
        let scenario = &scenarios[usize::try_from(seed / 3).expect("small") % scenarios.len()];
        let depth = usize::try_from(seed % 3).expect("small") + 1;
        let mut n = 0;
        while same_again(scenario, n, depth) {
            n += either(19, 1);
            kills += 1 + depth as u64;
        }
        assert!(n > 3, "{}: only {n} appends", scenario.name);
    }
    tell("R3", &seeds, &[("kills", kills)]);
}

/// False where the scenario has no such append.
#[track_caller]
fn same_again(scenario: &Scenario, n: u64, depth: usize) -> bool {
    for which in 0..either(1, 2) {
        let point = if (n + which).is_multiple_of(2) { Point::BeforeBegin } else { Point::AfterCommit };
        let Some(undisturbed) = killed(scenario, n, point, &[]) else { return false };
        let disturbed = killed(scenario, n, point, &THRICE[..depth]);
        // When a job ends beside a turn is chance, and so is how many appends there are.
        if scenario.name != "a job beside work" {
            let at = format!("{}, killed at append {n} ({point:?})", scenario.name);
            assert_eq!(disturbed.expect(&at), undisturbed, "{at}");
        }
    }
    true
}

macro_rules! crashes {
    ($($test:ident = $name:literal;)*) => {$(
        #[test]
        fn $test() {
            at_every_append($name);
        }
    )*};
}

crashes! {
    plain_answer = "plain answer";
    three_reads = "three reads side by side";
    an_edit = "an edit without asking";
    a_command_after_a_yes = "a command after a yes";
    a_command_after_a_no = "a command after a no";
    a_wave_with_effects = "a wave with effects";
    trouble_on_the_way = "trouble on the way";
    a_plan_and_a_question = "a plan and a question";
    calls_that_cannot_be = "calls that can't be";
    a_queue_of_messages = "a queue of messages";
    another_model = "another model goes on";
    a_job_beside_work = "a job beside work";
    eight_reads = "eight reads side by side";
    two_edits = "two edits of one file";
    made_and_deleted = "something made and deleted again";
    a_failure_and_a_flood = "a failure, a flood and one more";
    plan_only = "a plan that may change nothing";
    another_way_after_a_no = "another way after a no";
    a_cut_before_a_call = "a stream that is cut before a call";
    a_history_that_gets_shorter = "a history that gets shorter";
}
