//! A disk that fails under the whole engine: wherever a call of the store is refused, once or for a minute, nothing is
//! acknowledged that isn't there, the person is told that the store can't be written, and the work goes on afterwards.

use crate::play::alone;
use crate::scenarios::{Scenario, all};
use domain::event::{Draft, End, Fact, ToolOutcome, ToolResult};
use domain::ids::{CommandId, SessionId};
use engine::{Command, CommandFailure, Hold};
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::{Durability, OpenError, Options, Store};
use tests::disk::{Disk, Fault, again, home};
use tests::driver::{Ended, drive};
use tests::size::{either, seeds, tell};
use tests::world::CountedClock;
use tests::{DieAt, Process, Rig};

/// By day one call in so many is refused.
const STEP: u64 = 31;

/// How long a lasting failure lasts.
const OUTAGE: Duration = Duration::from_secs(60);

/// What each scenario meets: each fault once, and each for as long as the outage lasts.
const KINDS: u64 = 10;

/// Plays a scenario; whatever the store doesn't take is said again a second later, under the same id.
pub(crate) async fn patiently(
    scenario: &Scenario,
    rig: &Rig,
    process: &Process,
    refused: &RefCell<Vec<CommandFailure>>,
) -> (SessionId, Ended) {
    let session = loop {
        match process.engine.create(rig.created()).await {
            Ok(session) => break session,
            Err(error) => refused.borrow_mut().push(error),
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    for (n, (text, target)) in scenario.says.iter().enumerate() {
        let command = Some(CommandId::from_bits(n as u128 + 1));
        let say = Command::Say { text: (*text).to_owned(), target: *target, command };
        while let Err(error) = process.engine.command(&session, say.clone()).await {
            refused.borrow_mut().push(error);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
    let ended = drive(process, &session, &scenario.answers).await;
    (session, ended)
}

/// Was the model told that a call's outcome isn't known, or that it failed?
fn told(rig: &Rig, session: &SessionId) -> bool {
    rig.events(session).into_iter().any(|event| match event.fact {
        Some(Fact::ToolOutcomeUnknown(_)) => true,
        Some(Fact::ToolResult(ToolResult { outcome: ToolOutcome::Error { error }, .. })) => {
            !error.code.starts_with("path/") && !error.code.starts_with("call/")
        }
        _ => false,
    })
}

/// Lets the n-th call fail; gives how many calls did.
fn failing(scenario: &Scenario, home: &Path, n: u64, fault: Fault, lasting: bool) -> u64 {
    let at = format!("call {n} fails: {fault:?}, {}", if lasting { "lasting" } else { "once" });
    let place = tempfile::tempdir_in(home).expect("a folder");
    let rig = scenario.rig_over(&place.path().join("data"), &place.path().join("project"));
    let disk = Disk::under(rig.data()).expect("this process is under the disk");
    let (session, epoch) = alone(async {
        let process = rig.start(DieAt::never());
        // A signal comes a few times, not for a minute.
        let times = match (lasting, fault) {
            (false, _) => 1,
            (true, Fault::Interrupted) => 5,
            (true, _) => u64::from(u32::MAX),
        };
        disk.fail(n, fault, times);
        let refusals = RefCell::default();
        let work = patiently(scenario, &rig, &process, &refusals);
        tokio::pin!(work);
        let early = tokio::select! {
            done = &mut work => Some(done),
            () = tokio::time::sleep(OUTAGE) => None,
        };
        let (session, ended) = match early {
            Some(done) => done,
            None => {
                waits(&process, &at);
                disk.mend();
                work.await
            }
        };
        for refusal in refusals.borrow().iter() {
            assert!(says_why(refusal), "{} {at}: {refusal}", scenario.name);
        }
        disk.mend();
        assert_eq!(ended, Ended::Resting, "{} {at}", scenario.name);
        (session, process.engine.store().epoch())
    });
    let (failed, first) = disk.failed();
    let at = format!("{at} ({first})");
    let ends = ends(&rig, &session);
    assert!(ends.iter().all(|end| *end == End::Completed), "{} {at}: {ends:#?}", scenario.name);
    let findings = rig.findings(&session, epoch);
    assert!(findings.is_empty(), "{} {at}: {findings:#?}", scenario.name);
    scenario.holds(&rig, told(&rig, &session), &at);
    failed
}

fn ends(rig: &Rig, session: &SessionId) -> Vec<End> {
    let events = rig.events(session).into_iter();
    events
        .filter_map(|event| if let Some(Fact::TurnEnd(end)) = event.fact { Some(end.end) } else { None })
        .collect()
}

/// The person hears that the store can't be written, or what it lacks, and never that something else is wrong.
fn says_why(refusal: &CommandFailure) -> bool {
    let said = refusal.to_string();
    ["the store is not writable", "the disk is full", "saving failed", "can't be opened"]
        .iter()
        .any(|word| said.contains(word))
}

/// After a minute without a store: every session that could go on says what it waits for.
fn waits(process: &Process, at: &str) {
    let Ok(rows) = process.engine.store().sessions() else { return };
    for row in rows {
        let hold = process.engine.hold(&row.session);
        let Ok(state) = process.engine.state(&row.session) else { continue };
        let stands = state.turn.is_none() || state.needs_you() > 0;
        assert!(
            stands || hold == Some(Hold::Store),
            "{at}: it waits and doesn't say what for: {hold:?}\n{state:#?}"
        );
    }
}

/// One seed is one scenario with one fault; from an outstanding one on, which has files, commands and a card.
fn sweep(seed: u64, home: &Path, step: u64) -> (u64, u64) {
    let all = all();
    let of = (seed / KINDS + 5) as usize % all.len();
    let kind = seed % KINDS;
    let fault = Fault::ALL[(kind / 2) as usize];
    let (mut runs, mut failed) = (0, 0);
    // Where the first one hits moves with the seed, so that a few seeds together hit every call.
    let mut n = 1 + seed % step;
    loop {
        let hits = failing(&all[of], home, n, fault, kind % 2 == 1);
        if hits == 0 {
            return (runs, failed);
        }
        (runs, failed, n) = (runs + 1, failed + hits, n + step);
    }
}

/// The child's work; without a parent it has no disk to fail and says so.
#[test]
fn a_child_whose_disk_fails() {
    let Some(home) = home() else {
        assert!(Disk::under(Path::new("/nowhere")).is_none());
        return;
    };
    let (seeds, step) = (seeds(0..KINDS), either(STEP, 1));
    let counts = seeds.clone().map(|seed| sweep(seed, &home, step));
    let (runs, failed) = counts.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    assert!(runs > 0, "nothing ever failed");
    tell("R5", &seeds, &[("runs", runs), ("refused calls", failed)]);
}

#[test]
fn rel_r5_whichever_call_of_the_store_fails_nothing_is_lost_and_the_work_goes_on() {
    let home = tempfile::tempdir_in("/dev/shm").expect("memory");
    print!("{}", again("failing_disk::a_child_whose_disk_fails", home.path()));
}

/// Opens a store, a new one or one that was there, while the n-th call fails; gives how many calls did.
fn opening(home: &Path, there: bool, n: u64, fault: Fault) -> u64 {
    let scenario = all().remove(0);
    let place = tempfile::tempdir_in(home).expect("a folder");
    let rig = scenario.rig_over(&place.path().join("data"), &place.path().join("project"));
    let disk = Disk::under(rig.data()).expect("this process is under the disk");
    let open =
        || Store::open(rig.data(), Options::inline(Arc::new(CountedClock::of(Arc::clone(&rig.world)))));
    if there {
        drop(open().expect("opens"));
    }
    disk.fail(n, fault, 1);
    let opened = open();
    disk.mend();
    let (failed, first) = disk.failed();
    let at = format!("{fault:?} at call {n} ({first}), {}", if there { "opened again" } else { "new" });
    match opened {
        // What began is what the disk knows too: its first write counts.
        Ok(store) => {
            let made = vec![Draft::new(rig.created())];
            let first = store.append(&SessionId::from_bits(1 << 90), 0, made, Durability::Barrier);
            assert!(first.is_ok(), "{at}: {first:?}");
        }
        Err(error) => {
            let (said, folder) = (error.to_string(), rig.data().to_string_lossy().into_owned());
            assert!(said.contains(&folder), "{at}: it doesn't say where: {said}");
            assert!(!matches!(error, OpenError::Damaged { .. }), "{at}: nothing is damaged: {said}");
        }
    }
    let (session, epoch) = alone(async {
        let process = rig.start(DieAt::never());
        let (session, ended) = patiently(&scenario, &rig, &process, &RefCell::default()).await;
        assert_eq!(ended, Ended::Resting, "{at}");
        (session, process.engine.store().epoch())
    });
    let findings = rig.findings(&session, epoch);
    assert!(findings.is_empty(), "{at}: {findings:#?}");
    failed
}

/// The child's work; without a parent it has no disk to fail and says so.
#[test]
fn a_child_that_opens_stores_on_a_failing_disk() {
    let Some(home) = home() else {
        assert!(Disk::under(Path::new("/nowhere")).is_none());
        return;
    };
    // A new store and one that was there, each with each fault.
    let (seeds, mut runs) = (seeds(0..2 * Fault::ALL.len() as u64), 0);
    for seed in seeds.clone() {
        let fault = Fault::ALL[usize::try_from(seed / 2).expect("small") % Fault::ALL.len()];
        let step = either(7, 1);
        let mut n = 1 + seed % step;
        while opening(&home, seed % 2 == 1, n, fault) > 0 {
            (runs, n) = (runs + 1, n + step);
        }
    }
    tell("R5 opening", &seeds, &[("runs", runs)]);
}

#[test]
fn rel_r5_a_store_whose_opening_fails_anywhere_says_why_and_opens_afterwards() {
    let home = tempfile::tempdir_in("/dev/shm").expect("memory");
    print!("{}", again("failing_disk::a_child_that_opens_stores_on_a_failing_disk", home.path()));
}

/// The first request of a session keeps its head as a file; where that can't be, the turn waits and says what for.
#[tokio::test(start_paused = true)]
async fn rel_r5_a_request_that_can_not_be_kept_waits_for_the_store() {
    let scenario = &all()[0];
    let rig = scenario.rig();
    let process = rig.start(DieAt::never());
    let (blobs, away) = (rig.data().join("blobs"), rig.data().join("away"));
    std::fs::rename(&blobs, &away).expect("moves");
    let mut session = None;
    {
        let play = scenario.play(&rig, &process, &mut session);
        tokio::pin!(play);
        tokio::select! {
            ended = &mut play => panic!("it ended: {ended:?}"),
            () = tokio::time::sleep(OUTAGE) => {}
        }
        let row = process.engine.store().sessions().expect("a list").remove(0);
        assert_eq!(process.engine.hold(&row.session), Some(Hold::Store));
        assert_eq!(process.player.recorded().len(), 0, "nothing was sent");
        std::fs::rename(&away, &blobs).expect("moves");
        assert_eq!(play.await, Ended::Resting);
    }
    let session = session.expect("it began");
    assert_eq!(ends(&rig, &session), [End::Completed]);
    assert_eq!(process.engine.hold(&session), None);
}
