//! Closing in order: what runs is stopped and says so; what waits for the person waits on in the next process.

use domain::event::{CancelBy, End, Fact, Target};
use domain::ids::SessionId;
use domain::state::{ApprovalState, State, StepPhase};
use engine::Command;
use std::time::Duration;
use tests::driver::{Ended, drive};
use tests::{Answers, DieAt, Process, Rig};

/// Begins a session with one message and lets it come to the point where this holds.
async fn until(rig: &Rig, process: &Process, holds: impl Fn(&State) -> bool) -> SessionId {
    let session = process.engine.create(rig.created()).await.expect("it begins");
    let say = Command::Say { text: "Go.".into(), target: Target::NextStep, command: None };
    process.engine.command(&session, say).await.expect("it is taken");
    for _ in 0..1_000 {
        if holds(&process.engine.state(&session).expect("readable")) {
            return session;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to that point");
}

fn open_approval(state: &State) -> bool {
    state.step().is_some_and(|(_, step)| {
        step.calls.iter().any(|call| call.approval.as_ref().is_some_and(|a| a.state == ApprovalState::Open))
    })
}

#[tokio::test(start_paused = true)]
async fn closing_while_it_streams_ends_the_turn_as_stopped_by_closing() {
    let rig = Rig::new(r#"{"answers":[{"say":[{"text":"Very slow words indeed.","pace_ms":60000}]}]}"#);
    let process = rig.start(DieAt::never());
    let streams = |state: &State| matches!(state.step(), Some((_, step)) if matches!(step.phase, StepPhase::Attempting { .. }));
    let session = until(&rig, &process, streams).await;
    process.engine.close().await;
    let ends: Vec<End> = rig
        .events(&session)
        .into_iter()
        .filter_map(|event| match event.fact {
            Some(Fact::TurnEnd(end)) => Some(end.end),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [End::Cancelled { by: CancelBy::Shutdown }]);
    assert!(rig.findings(&session, process.engine.store().epoch()).is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_open_approval_waits_on_in_the_next_process() {
    let rig = Rig::new(
        r#"{"answers":[{"say":[{"call":{"name":"run_command","arguments":{"command":"note made"}}}]},
                       {"say":[{"text":"Done."}]}]}"#,
    );
    let process = rig.start(DieAt::never());
    let session = until(&rig, &process, open_approval).await;
    let asked = |process: &Process| {
        let state = process.engine.state(&session).expect("readable");
        state.step().and_then(|(_, step)| step.calls[0].approval.clone()).map(|a| (a.id, a.digest, a.state))
    };
    let before = asked(&process);
    process.engine.close().await;
    drop(process);

    let process = rig.start(DieAt::never());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(asked(&process), before, "the same approval, still open");
    assert_eq!(drive(&process, &session, &Answers::default()).await, Ended::Resting);
    assert_eq!(rig.world.commands(), ["note made"]);
    assert!(rig.findings(&session, process.engine.store().epoch()).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_waits_for_the_person_leaves_its_place_to_others() {
    let mut rig = Rig::new(
        r#"{"answers":[{"when":{"contains":"Go."},"say":[{"call":{"name":"run_command","arguments":{"command":"note made"}}}]},
                       {"say":[{"text":"Here."}]}]}"#,
    );
    rig.limits.running_turns = 1;
    let process = rig.start(DieAt::never());
    let waiting = until(&rig, &process, open_approval).await;
    assert!(!process.engine.is_busy(), "waiting isn't working");
    let other = process.engine.create(rig.created()).await.expect("it begins");
    let say = Command::Say { text: "And you?".into(), target: Target::NextStep, command: None };
    process.engine.command(&other, say).await.expect("it is taken");
    assert_eq!(drive(&process, &other, &Answers::default()).await, Ended::Resting);
    assert!(open_approval(&process.engine.state(&waiting).expect("readable")), "it still waits");
}
