//! Two sessions in one folder: one changes it at a time, and whoever waits hasn't begun.

use crate::play::{Play, alone_in_real_time as alone, left, run, text, write};
use domain::call::Mode;
use domain::event::{CancelBy, Doubt, Fact, RestoreOf, RestoreScope};
use domain::ids::SessionId;
use domain::state::CallPhase;
use engine::{Command, Hold, Live};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tests::Rig;
use tokio::sync::broadcast::Receiver;

/// A model that hangs, writes or is done, as it is told.
fn rig() -> Rig {
    let answer = |when: &str, say: String| format!(r#"{{"when":{{"contains":"{when}"}},"say":[{say}]}}"#);
    let (hang, write) = (answer("Hang.", run("hang")), answer("Write.", write("second.txt", "mine\n")));
    let mut rig = Rig::new(&format!(r#"{{"answers":[{hang},{write},{{"say":[{}]}}]}}"#, text("Done.")));
    rig.mode = Mode::Auto;
    rig
}

/// One session in the middle of a command that doesn't end by itself, and another one.
async fn held() -> (Play, Play, Receiver<Live>) {
    let first = Play::on(rig()).await;
    let live = first.process.engine.live();
    hang(&first).await;
    let second = first.beside().await;
    (first, second, live)
}

async fn hang(play: &Play) {
    play.say("Hang.").await;
    play.until(|state| state.step().is_some_and(|(_, step)| step.calls.iter().any(started))).await;
}

fn started(call: &domain::state::Call) -> bool {
    matches!(call.phase, CallPhase::Started { .. })
}

/// What work of a session waits for, as it is told next.
async fn told(live: &mut Receiver<Live>, of: &SessionId) -> Option<Hold> {
    loop {
        let heard = tokio::time::timeout(Duration::from_secs(60), live.recv()).await;
        match heard.expect("it is told").expect("nothing was missed") {
            Live::Waiting { session, hold } if session == *of => return hold,
            _ => {}
        }
    }
}

#[test]
fn a_call_begins_when_no_other_session_works_in_the_folder() {
    alone(async {
        let (first, second, mut live) = held().await;
        second.say("Write.").await;
        assert_eq!(told(&mut live, &second.session).await, Some(Hold::Folder));
        assert_eq!((second.count("tool/decision"), second.count("tool/start")), (1, 0), "it hasn't begun");
        assert_eq!(second.process.engine.hold(&second.session), Some(Hold::Folder));
        first.tell(Command::Stop(CancelBy::User)).await;
        assert_eq!(told(&mut live, &second.session).await, None);
        second.idle().await;
        assert_eq!(second.process.engine.hold(&second.session), None);
        assert_eq!(second.rig.file("second.txt"), "mine\n");
        assert_eq!(second.count("tool/start"), 1);
        second.clean();
    });
}

#[test]
fn what_waited_for_the_folder_when_the_process_was_killed_has_not_happened() {
    // Left as a kill leaves it: nothing is waited for.
    let (rig, sessions) = left(async {
        let (first, second, mut live) = held().await;
        second.say("Write.").await;
        assert_eq!(told(&mut live, &second.session).await, Some(Hold::Folder));
        (first.rig, [first.session, second.session])
    });
    // Somebody works in the folder while nobody looks.
    std::fs::write(rig.folder().join("notes.txt"), "by a person\n").expect("written");
    alone(async {
        let process = Arc::new(rig.start(tests::DieAt::never()));
        let [first, second] = sessions.map(|session| {
            let (rig, process) = (Arc::clone(&rig), Arc::clone(&process));
            Play { rig, process, session }
        });
        second.idle().await;
        assert_eq!(second.rig.file("second.txt"), "mine\n");
        assert_eq!(second.count("tool/outcome_unknown"), 0);
        first.until(|state| state.needs_you() > 0).await;
        let unknown = first.facts().into_iter().find_map(|fact| match fact {
            Fact::ToolOutcomeUnknown(unknown) => Some(unknown.changed),
            _ => None,
        });
        let changed = unknown.expect("its end isn't known");
        let paths: Vec<&str> = changed.effects.iter().map(|effect| effect.path.as_str()).collect();
        assert_eq!(
            (paths, changed.doubt),
            (vec!["notes.txt"], Some(Doubt::Mixed)),
            "it says that it can't tell"
        );
        let ledger =
            engine::ledger::Ledger::read(first.process.engine.store(), &first.session).expect("read");
        assert_eq!(ledger.doubt(&RestoreOf::Session), Some(Doubt::Mixed));
    });
}

/// A session whose undo waits for the other one's work, and that one.
async fn waiting_undo() -> (Play, Play, Receiver<Live>) {
    let first = Play::on(rig()).await;
    let mut live = first.process.engine.live();
    first.through("Write.").await;
    let second = first.beside().await;
    hang(&second).await;
    let scope = RestoreScope { of: RestoreOf::Session, paths: Vec::new() };
    first.process.engine.restore(&first.session, scope, Vec::new()).await.expect("it is taken");
    assert_eq!(told(&mut live, &first.session).await, Some(Hold::Folder));
    (first, second, live)
}

fn called_off(play: &Play) {
    let ended = play.facts().into_iter().find_map(|fact| match fact {
        Fact::RevisionRestored(ended) => Some(ended),
        _ => None,
    });
    let ended = ended.expect("it has ended");
    assert_eq!(ended.error.expect("with a reason").code, engine::decide::CALLED_OFF);
    assert!(ended.changed.is_empty() && ended.changed.doubt.is_none());
    assert_eq!(play.rig.file("second.txt"), "mine\n");
}

#[test]
fn an_undo_that_waits_for_the_folder_can_be_called_off() {
    alone(async {
        let (first, second, mut live) = waiting_undo().await;
        first.tell(Command::Stop(CancelBy::User)).await;
        first.until(|state| state.restoring.is_none()).await;
        assert_eq!(told(&mut live, &first.session).await, None);
        called_off(&first);
        first.tell(Command::Stop(CancelBy::User)).await;
        assert_eq!(first.count("revision/called_off"), 1);
        second.tell(Command::Stop(CancelBy::User)).await;
        second.idle().await;
        // It can be wanted again.
        let scope = RestoreScope { of: RestoreOf::Session, paths: Vec::new() };
        first.process.engine.restore(&first.session, scope, Vec::new()).await.expect("it is taken");
        first.until(|state| state.restoring.is_none()).await;
        assert!(!first.rig.folder().join("second.txt").exists());
        first.clean();
    });
}

#[test]
fn an_undo_called_off_as_the_process_was_killed_is_not_made_by_the_next() {
    let (rig, session) = left(async {
        let (first, _second, _) = waiting_undo().await;
        let Play { rig, process, session } = first;
        // Its end is never written.
        process.faults.after(1, store::Point::BeforeCommit);
        let _ = process.engine.command(&session, Command::Stop(CancelBy::User)).await;
        (rig, session)
    });
    alone(async {
        let process = Arc::new(rig.start(tests::DieAt::never()));
        let first = Play { rig, process, session };
        drop(first.process.engine.state(&first.session));
        first.until(|state| state.restoring.is_none()).await;
        assert_eq!(first.count("revision/called_off"), 1);
        called_off(&first);
    });
}

#[test]
fn an_undo_waits_for_another_sessions_work_and_says_so() {
    alone(async {
        let (first, second, mut live) = waiting_undo().await;
        assert!(Path::new(first.rig.folder()).join("second.txt").exists(), "nothing is touched meanwhile");
        second.tell(Command::Stop(CancelBy::User)).await;
        assert_eq!(told(&mut live, &first.session).await, None);
        first.until(|state| state.restoring.is_none()).await;
        assert!(!first.rig.folder().join("second.txt").exists());
    });
}
