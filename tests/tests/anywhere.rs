//! Stopping and closing at every append: wherever the person or the system steps in, nothing more starts, what is recorded
//! is whole, and the next process comes to rest on it.

use crate::play::alone;
use crate::scenarios::{Scenario, all};
use domain::event::{CancelBy, End, Fact};
use domain::ids::SessionId;
use engine::Command;
use tests::driver::Ended;
use tests::{DieAt, Process, Rig};

/// Plays a scenario until that many appends are made; `None` where it came to rest before.
async fn until(scenario: &Scenario, rig: &Rig, process: &Process, appends: u64) -> Option<SessionId> {
    let mut news = process.engine.store().subscribe();
    let made = async {
        while process.faults.appends() < appends {
            news.next().await;
        }
    };
    let mut session = None;
    tokio::select! {
        biased;
        () = made => {}
        _ = scenario.play(rig, process, &mut session) => return None,
    }
    let rows = process.engine.store().sessions().expect("a list");
    Some(session.or_else(|| rows.into_iter().next().map(|row| row.session)).expect("it began"))
}

#[track_caller]
fn whole(scenario: &Scenario, rig: &Rig, session: &SessionId, epoch: u64, at: &str) {
    let findings = rig.findings(session, epoch);
    assert!(findings.is_empty(), "{} {at}: {findings:#?}", scenario.name);
}

/// Goes on in a new process, which must come to rest with nothing done twice.
fn goes_on(scenario: &Scenario, rig: &Rig, session: SessionId, at: &str) {
    let mut session = Some(session);
    let (ended, epoch) = alone(async {
        let process = rig.start(DieAt::never());
        let ended = scenario.play(rig, &process, &mut session).await;
        (ended, process.engine.store().epoch())
    });
    let session = session.expect("it began");
    assert_eq!(ended, Ended::Resting, "{} {at}", scenario.name);
    whole(scenario, rig, &session, epoch, at);
    scenario.holds(rig, true, at);
}

fn facts(rig: &Rig, session: &SessionId) -> Vec<Fact> {
    rig.events(session).into_iter().filter_map(|event| event.fact).collect()
}

/// Closes in order once that many appends are made; says whether the scenario was still at work.
fn closed(scenario: &Scenario, appends: u64) -> bool {
    let rig = scenario.rig();
    let at = format!("closed after {appends} appends");
    let stopped = alone(async {
        let process = rig.start(DieAt::never());
        let session = until(scenario, &rig, &process, appends).await?;
        process.engine.close().await;
        Some((session, process.engine.store().epoch()))
    });
    let Some((session, epoch)) = stopped else { return false };
    whole(scenario, &rig, &session, epoch, &at);
    let unknown = facts(&rig, &session).iter().any(|fact| matches!(fact, Fact::ToolOutcomeUnknown(_)));
    assert!(!unknown, "{} {at}: a stop in order leaves nothing unknown", scenario.name);
    goes_on(scenario, &rig, session, &at);
    true
}

/// Stops the turn once that many appends are made; says whether the scenario was still at work.
fn stopped(scenario: &Scenario, appends: u64) -> bool {
    let rig = scenario.rig();
    let at = format!("stopped after {appends} appends");
    let stopped = alone(async {
        let process = rig.start(DieAt::never());
        let session = until(scenario, &rig, &process, appends).await?;
        process.engine.command(&session, Command::Stop(CancelBy::User)).await.expect("a stop is taken");
        // What was begun comes to its end.
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        let state = process.engine.state(&session).expect("readable");
        assert!(
            state.turn.is_none()
                || facts(&rig, &session).iter().all(|fact| !matches!(fact, Fact::TurnCancel(_)))
        );
        Some((session, process.engine.store().epoch()))
    });
    let Some((session, epoch)) = stopped else { return false };
    whole(scenario, &rig, &session, epoch, &at);
    nothing_starts_after_a_stop(&facts(&rig, &session), scenario.name, &at);
    goes_on(scenario, &rig, session, &at);
    true
}

/// Between the wish to stop and the turn's end no step, request or call begins, and the end says who stopped it.
#[track_caller]
fn nothing_starts_after_a_stop(facts: &[Fact], name: &str, at: &str) {
    let mut stopping = false;
    for fact in facts {
        match fact {
            Fact::TurnCancel(_) => stopping = true,
            Fact::TurnEnd(end) if stopping => {
                assert_eq!(end.end, End::Cancelled { by: CancelBy::User }, "{name} {at}");
                stopping = false;
            }
            Fact::StepStart(_) | Fact::RequestPrepared(_) | Fact::AttemptStart(_) | Fact::ToolStart(_) => {
                assert!(!stopping, "{name} {at}: {} after the stop", fact.kind().name);
            }
            _ => {}
        }
    }
    assert!(!stopping, "{name} {at}: the turn never ended");
}

#[track_caller]
fn everywhere(one: fn(&Scenario, u64) -> bool) {
    for scenario in all() {
        let mut appends = 1;
        while one(&scenario, appends) {
            appends += 1;
        }
        assert!(appends > 3, "{}: only {appends} appends", scenario.name);
    }
}

#[test]
fn r_drl_06_closing_in_order_at_every_append_leaves_only_what_can_be_recorded() {
    everywhere(closed);
}

#[test]
fn r_loop_07_a_stop_at_every_append_starts_nothing_more() {
    everywhere(stopped);
}
