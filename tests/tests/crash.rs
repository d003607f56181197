//! Every scenario, killed at every append: the log stays lawful, nothing happens twice, and recovery is idempotent.

use crate::scenarios::{Scenario, all};
use domain::event::{Fact, JobEnd, JobEnded, ToolOutcome, ToolResult};
use domain::ids::SessionId;
use store::Point;
use tests::driver::Ended;
use tests::size::{either, seeds, tell};
use tests::{DieAt, Rig};

fn alone<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(run)
}

/// Kills the scenario at one append, restarts it until it rests, and checks what must hold.
fn killed(scenario: &Scenario, n: u64, point: Point) -> bool {
    let rig = scenario.rig();
    let at = format!("killed at append {n} ({point:?})");
    let mut session: Option<SessionId> = None;
    let first = alone(async {
        let process = rig.start(DieAt::append(n, point));
        scenario.play(&rig, &process, &mut session).await
    });
    if first == Ended::Resting {
        return false;
    }
    session = session.or_else(|| begun(&rig));
    if let Some(session) = &session {
        intended(&rig, session, &at);
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
    // The model is told when a call's outcome isn't known, or when a look showed that it never happened.
    let told = rig.events(&session).into_iter().any(|event| match event.fact {
        Some(Fact::ToolOutcomeUnknown(_)) => true,
        Some(Fact::JobEnded(JobEnded { end: JobEnd::Interrupted, .. })) => true,
        Some(Fact::ToolResult(ToolResult { outcome: ToolOutcome::Error { error }, .. })) => {
            error.code == "call/cut_off"
        }
        _ => false,
    });
    scenario.holds(&rig, told, &at);
    again(scenario, &rig, &session, &at);
    true
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

#[track_caller]
fn at_every_append(which: &str) {
    let scenario =
        all().into_iter().find(|scenario| scenario.name == which).expect("a scenario of this name");
    for point in [Point::BeforeBegin, Point::AfterCommit] {
        let mut n = 0;
        while killed(&scenario, n, point) {
            n += 1;
        }
        assert!(n > 3, "{which}: only {n} appends");
    }
}

/// Every process after the first dies at one of its first appends, which are recovery's, before one comes to rest.
#[track_caller]
fn recovery_killed(scenario: &Scenario, n: u64, depth: u64) -> bool {
    let rig = scenario.rig();
    let at = format!("killed at append {n}, and its recovery {depth} times");
    let mut session: Option<SessionId> = None;
    let first = alone(async {
        let process = rig.start(DieAt::append(n, Point::AfterCommit));
        scenario.play(&rig, &process, &mut session).await
    });
    if first == Ended::Resting {
        return false;
    }
    for more in 0..depth {
        let point = if (n + more).is_multiple_of(2) { Point::AfterCommit } else { Point::BeforeBegin };
        alone(async {
            let process = rig.start(DieAt::append(more % 2, point));
            session = session
                .take()
                .or_else(|| process.engine.store().sessions().ok()?.first().map(|row| row.session.clone()));
            scenario.play(&rig, &process, &mut session).await
        });
    }
    let (ended, epoch) = alone(async {
        let process = rig.start(DieAt::never());
        session = session
            .take()
            .or_else(|| process.engine.store().sessions().ok()?.first().map(|row| row.session.clone()));
        let ended = scenario.play(&rig, &process, &mut session).await;
        (ended, process.engine.store().epoch())
    });
    let session = session.expect("it began");
    assert_eq!(ended, Ended::Resting, "{} {at}", scenario.name);
    let findings = rig.findings(&session, epoch);
    assert!(findings.is_empty(), "{} {at}: {findings:#?}", scenario.name);
    scenario.holds(&rig, true, &at);
    // Each call is unknown once at most: `audit` counts ends, and a message is read once.
    let said =
        rig.events(&session).into_iter().filter(|event| matches!(event.fact, Some(Fact::UserMessage(_))));
    assert!(said.count() <= scenario.says.len() + 2, "{} {at}: words were read twice", scenario.name);
    again(scenario, &rig, &session, &at);
    true
}

/// Recovery may be killed at each of its own appends, up to three times in a row.
#[test]
fn rel_r3_recovery_that_is_killed_itself_gives_the_same_in_the_end() {
    let scenarios = all();
    let seeds = seeds(0..scenarios.len() as u64 * 3);
    let mut kills = 0;
    for seed in seeds.clone() {
        let scenario = &scenarios[usize::try_from(seed / 3).expect("small") % scenarios.len()];
        let depth = seed % 3 + 1;
        let mut n = 1;
        while recovery_killed(scenario, n, depth) {
            n += either(7, 1);
            kills += 1 + depth;
        }
        assert!(n > 3, "{}: only {n} appends", scenario.name);
    }
    tell("R3", &seeds, &[("kills", kills)]);
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
