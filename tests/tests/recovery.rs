//! Recovery: what a new process does about what a dead one left open.
//!
//! A process is killed at the append that a test names by what the log must end with; the world outside goes on.

use crate::play::{Play, alone, asks, calls, read, run, script, text, texts, write};
use domain::call::Mode;
use domain::event::{
    AttemptEndKind, CancelBy, End, Fact, Origin, Resolution, RestoreOf, RestoreScope, Settled, Source,
    Target, ToolCall,
};
use domain::ids::SessionId;
use domain::state::{ApprovalState, State};
use engine::Command;
use std::sync::Arc;
use store::Point;
use tests::driver::{Ended, drive};
use tests::{Answers, DieAt, Process, Rig};

async fn begin(rig: &Rig, process: &Process) -> Option<SessionId> {
    let session = process.engine.create(rig.created()).await.ok()?;
    let say = Command::Say { text: "Begin.".into(), target: Target::NextStep, command: None };
    // Whether it was acknowledged or not is the kill's business.
    drop(process.engine.command(&session, say).await);
    Some(session)
}

/// Kills processes one append later each time until one dies with such a log behind it.
#[track_caller]
fn killed(
    rig: impl Fn() -> Rig,
    answers: &Answers,
    such: impl Fn(&Rig, &[String]) -> bool,
) -> (Rig, SessionId) {
    for n in 0..100 {
        let rig = rig();
        let (session, ended) = alone(async {
            let process = rig.start(DieAt::append(n, Point::AfterCommit));
            let Some(session) = begin(&rig, &process).await else { return (None, Ended::Dead) };
            let ended = drive(&process, &session, answers).await;
            (Some(session), ended)
        });
        let Some(session) = session else { continue };
        assert_eq!(ended, Ended::Dead, "it came to the end without such a log");
        let kinds: Vec<String> = rig.log(&session).into_iter().map(|event| event.kind).collect();
        if such(&rig, &kinds) {
            return (rig, session);
        }
    }
    panic!("no kill left such a log");
}

fn last(kinds: &[String]) -> &str {
    kinds.last().map_or("", String::as_str)
}

/// A rig in *Auto* whose model runs one command and then says something.
fn commanding() -> Rig {
    let mut rig = Rig::new(&script(&[&run("note made"), &text("One."), &text("Two."), &text("Three.")]));
    rig.mode = Mode::Auto;
    rig
}

/// Killed while its command ran: started is on record, the command ran, its end is not.
fn cut_off() -> (Rig, SessionId) {
    let (rig, session) = killed(commanding, &Answers::default(), |rig, kinds| {
        last(kinds) == "tool/start" && rig.world.commands().is_empty()
    });
    // What the dead process had started went on without it.
    rig.world.happened("note made");
    (rig, session)
}

fn restarted(rig: impl Into<Arc<Rig>>, session: SessionId) -> Play {
    let rig = rig.into();
    let process = rig.start(DieAt::never());
    Play { rig, process: Arc::new(process), session }
}

fn unknown(state: &State) -> bool {
    !state.unknown.is_empty()
}

/// The results of the newest request that are about an unknown outcome.
fn told_unknown(play: &Play) -> usize {
    play.heard().iter().filter(|text| text.starts_with("Outcome unknown")).count()
}

#[test]
fn r_drl_03_a_command_cut_off_is_unknown_asked_about_and_never_rerun() {
    let (rig, session) = cut_off();
    alone(async {
        let play = restarted(rig, session);
        let state = play.until(unknown).await;
        tokio::time::sleep(std::time::Duration::from_secs(600)).await;
        assert_eq!(play.state().needs_you(), 1, "it is asked about");
        assert!(play.requests().is_empty(), "and nothing is sent meanwhile");
        assert_eq!(play.rig.world.commands(), ["note made"]);
        play.tell(Command::Resolve { call: state.unknown[0].call.clone(), resolution: Resolution::Done })
            .await;
        play.idle().await;
        assert_eq!(play.rig.world.commands(), ["note made"]);
        assert_eq!(told_unknown(&play), 1, "{:?}", play.heard());
        assert!(play.heard().iter().any(|text| text.contains("it did happen")));
        assert_eq!(play.count("tool/outcome_unknown"), 1);
        play.clean();
    });
}

#[test]
fn case_h02_a_new_message_goes_on_past_the_open_question() {
    let (rig, session) = cut_off();
    alone(async {
        let play = restarted(rig, session);
        play.until(unknown).await;
        play.say("Continue.").await;
        play.until(|state| state.turn.is_none() && state.inbox.is_empty()).await;
        assert_eq!(play.ends(), [End::Blocked { why: "outcome_unknown".into() }, End::Completed]);
        assert_eq!(told_unknown(&play), 1);
        assert_eq!(play.heard().last().map(String::as_str), Some("Continue."));
        assert_eq!(play.rig.world.commands(), ["note made"], "it wasn't run again");
        assert_eq!(play.state().unknown.len(), 1, "the question stays open");
        play.clean();
    });
}

#[test]
fn case_h03_a_repair_is_in_the_log_and_made_once() {
    let (rig, session) = cut_off();
    let (rig, session, before) = alone(async {
        let play = restarted(rig, session);
        play.until(unknown).await;
        let before = play.kinds();
        (play.rig, play.session, before)
    });
    alone(async {
        let play = restarted(rig, session);
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        let now = play.kinds();
        assert_eq!(now[..before.len()], before[..]);
        assert_eq!(now[before.len()..], ["recovery/adopted"], "the new process only takes over");
        play.say("Continue.").await;
        play.until(|state| state.turn.is_none() && state.inbox.is_empty()).await;
        assert_eq!(told_unknown(&play), 1);
        play.clean();
    });
}

#[test]
fn r_exe_09_resolved_as_skip_it_goes_on_without() {
    let (rig, session) = cut_off();
    alone(async {
        let play = restarted(rig, session);
        let state = play.until(unknown).await;
        play.tell(Command::Resolve { call: state.unknown[0].call.clone(), resolution: Resolution::Skip })
            .await;
        play.idle().await;
        assert!(play.heard().iter().any(|text| text.contains("leave it as it is")));
        assert_eq!(play.rig.world.commands(), ["note made"]);
        play.clean();
    });
}

/// Run again is a new call that names the old one, and needs a yes of its own.
#[test]
fn r_exe_09_resolved_as_again_the_new_call_names_the_old_one_and_asks() {
    let rig = || Rig::new(&script(&[&run("note made"), &run("note made"), &text("Twice.")]));
    let (rig, session) = killed(rig, &Answers::default(), |_, kinds| last(kinds) == "tool/start");
    rig.world.happened("note made");
    alone(async {
        let play = restarted(rig, session);
        let state = play.until(unknown).await;
        let old = state.unknown[0].call.clone();
        play.tell(Command::Resolve { call: old.clone(), resolution: Resolution::Again }).await;
        let state = play.until(asks).await;
        assert_eq!(play.rig.world.commands(), ["note made"], "the old yes doesn't count");
        let approval = calls(&state)[0].approval.clone().expect("it asks");
        play.tell(Command::Grant { approval: approval.id, digest: approval.digest, offer: None }).await;
        play.idle().await;
        assert_eq!(play.rig.world.commands(), ["note made", "note made"]);
        let retries: Vec<_> = play
            .facts()
            .into_iter()
            .filter_map(|fact| match fact {
                Fact::ToolCall(ToolCall { retry_of, .. }) => Some(retry_of),
                _ => None,
            })
            .collect();
        assert_eq!(retries, [None, Some(old)]);
        play.clean();
    });
}

#[test]
fn r_drl_05_a_pending_approval_is_the_same_after_a_kill() {
    let rig = || Rig::new(&script(&[&run("note made"), &text("Done.")]));
    let (rig, session) = killed(rig, &Answers::default(), |_, kinds| last(kinds) == "approval/requested");
    alone(async {
        let play = restarted(rig, session);
        let state = play.until(asks).await;
        let approval = calls(&state)[0].approval.clone().expect("it asks");
        assert_eq!((play.count("approval/requested"), approval.state), (1, ApprovalState::Open));
        assert!(play.rig.world.commands().is_empty());
        play.tell(Command::Grant { approval: approval.id, digest: approval.digest, offer: None }).await;
        play.idle().await;
        assert_eq!(play.rig.world.commands(), ["note made"]);
        play.clean();
    });
}

/// The mode was changed while the app was closed down: the old yes doesn't widen what may be done now.
#[test]
fn r_rec_05_policy_is_computed_again_after_a_restart() {
    let write = r#"{"call":{"name":"write_file","arguments":{"path":"new.txt","content":"x"}}}"#;
    let rig = || Rig::new(&script(&[write, &text("Then not.")]));
    let (rig, session) = killed(rig, &Answers::default(), |_, kinds| last(kinds) == "approval/requested");
    alone(async {
        let play = restarted(rig, session);
        let state = play.until(asks).await;
        play.tell(Command::SetMode(Mode::Plan)).await;
        let approval = calls(&state)[0].approval.clone().expect("it asks");
        play.tell(Command::Grant { approval: approval.id, digest: approval.digest, offer: None }).await;
        play.idle().await;
        assert!(!play.rig.folder().join("new.txt").exists(), "plan only");
        assert_eq!((play.count("tool/denied"), play.count("tool/start")), (1, 0));
        play.clean();
    });
}

#[test]
fn r_drl_01_killed_while_it_streams_the_work_goes_on_and_both_attempts_are_counted() {
    let rig = || Rig::new(&script(&[&text("Whole answer.")]));
    let (rig, session) = killed(rig, &Answers::default(), |_, kinds| last(kinds) == "attempt/start");
    alone(async {
        let play = restarted(rig, session);
        play.idle().await;
        let ends: Vec<(AttemptEndKind, bool)> = play
            .facts()
            .into_iter()
            .filter_map(|fact| match fact {
                Fact::AttemptEnd(end) => Some((end.end, matches!(end.settled, Settled::Unknown))),
                _ => None,
            })
            .collect();
        assert_eq!(ends, [(AttemptEndKind::Interrupted, false), (AttemptEndKind::Accepted, false)]);
        assert_eq!(play.state().usage.attempts, 2);
        assert_eq!(play.ends(), [End::Interrupted, End::Completed]);
        let sources: Vec<Source> = play
            .facts()
            .into_iter()
            .filter_map(|fact| match fact {
                Fact::TurnStart(start) => Some(start.source),
                _ => None,
            })
            .collect();
        assert!(matches!(&sources[..], [Source::Message { .. }, Source::Recovery { .. }]), "{sources:?}");
        let kinds = play.kinds();
        let at = |kind: &str| kinds.iter().position(|found| found == kind).expect(kind);
        assert_eq!(at("recovery/continuation"), at("turn/end") + 1);
        assert_eq!(play.heard().iter().filter(|text| *text == "Begin.").count(), 1, "the words stand once");
        play.clean();
    });
}

#[test]
fn r_inb_09_a_claimed_message_that_was_not_sent_goes_back_and_is_read_once() {
    let rig = || Rig::new(&script(&[&text("Read.")]));
    let (rig, session) = killed(rig, &Answers::default(), |_, kinds| last(kinds) == "inbox/reserved");
    alone(async {
        let play = restarted(rig, session);
        play.idle().await;
        assert_eq!((play.count("inbox/released"), play.count("inbox/reserved")), (1, 2));
        assert_eq!((play.count("user/message"), play.count("inbox/posted")), (1, 1));
        assert_eq!(play.heard().iter().filter(|text| *text == "Begin.").count(), 1);
        assert_eq!(play.ends(), [End::Interrupted, End::Completed]);
        play.clean();
    });
}

/// Reads run again by themselves; a stop that was asked for before the kill still stops.
#[test]
fn r_exe_02_a_read_cut_off_runs_again_by_itself() {
    let rig = || Rig::new(&script(&[&read("notes.txt"), &text("Read.")]));
    let (rig, session) = killed(rig, &Answers::default(), |_, kinds| last(kinds) == "tool/start");
    alone(async {
        let play = restarted(rig, session);
        play.idle().await;
        assert_eq!((play.count("tool/start"), play.count("tool/result")), (2, 1));
        assert_eq!(play.ends(), [End::Completed]);
        play.clean();
    });
}

/// Twenty finished results are shown after a restart as they were.
#[test]
fn case_h20_finished_results_are_as_they_were_after_a_restart() {
    let reads: Vec<String> = (0..20).map(|_| read("notes.txt")).collect();
    alone(async {
        let play = Play::of(&script(&[&reads.join(","), &text("One."), &text("Two.")])).await;
        play.through("Read it twenty times.").await;
        let before = play.heard();
        let play = play.restart().await;
        play.through("And now?").await;
        let after = texts(&play.requests()[0]);
        assert_eq!(after[..before.len()], before[..]);
        assert_eq!(after.iter().filter(|text| text.contains("three")).count(), 20);
    });
}

/// A whole history written by a dead process, and a note of the host, keep their places.
#[test]
fn r_rec_08_plan_and_answers_to_unknown_outcomes_are_restored() {
    let plan =
        r#"{"call":{"name":"update_plan","arguments":{"items":[{"text":"One","status":"in_progress"}]}}}"#;
    alone(async {
        let play =
            Play::of(&script(&[plan, &text("Planned."), &text("It waits."), &text("Going on.")])).await;
        play.through("Plan it.").await;
        let play = play.restart().await;
        let plan = play.state().plan.expect("a plan");
        assert_eq!((plan.version, plan.items[0].text.as_str()), (1, "One"));
        play.through("Go on.").await;
    });
}

/// A stop while an outcome is unknown ends the turn as stopped by the person, and the question stays.
#[test]
fn r_inb_11_a_stop_ends_the_waiting_turn_and_the_session_stays_usable() {
    let (rig, session) = cut_off();
    alone(async {
        let play = restarted(rig, session);
        play.until(unknown).await;
        play.tell(Command::Stop(CancelBy::User)).await;
        play.until(|state| state.turn.is_none()).await;
        assert_eq!(play.ends(), [End::Cancelled { by: CancelBy::User }]);
        let call = play.state().unknown[0].call.clone();
        play.tell(Command::Resolve { call, resolution: Resolution::Done }).await;
        play.say("Continue.").await;
        play.idle().await;
        assert_eq!(told_unknown(&play), 1);
        let from_host =
            |fact: &Fact| matches!(fact, Fact::InboxPosted(posted) if posted.origin == Origin::Host);
        assert_eq!(play.facts().iter().filter(|fact| from_host(fact)).count(), 1);
        play.clean();
    });
}

/// Killed again while it goes on: what was to be continued still is. Found by the simulation (seed 3163).
#[test]
fn rel_r3_a_continuation_cut_off_before_its_request_is_continued_again() {
    let rig = || Rig::new(&script(&[&text("Whole answer.")]));
    let (rig, session) = killed(rig, &Answers::default(), |_, kinds| last(kinds) == "attempt/start");
    for _ in 0..3 {
        for left in ["recovery/continuation", "step/start"] {
            let kinds: Vec<String> = alone(async {
                let process = rig.start(DieAt::append(0, Point::AfterCommit));
                assert_eq!(drive(&process, &session, &Answers::default()).await, Ended::Dead);
                rig.log(&session).into_iter().map(|event| event.kind).collect()
            });
            assert_eq!(last(&kinds), left);
        }
    }
    alone(async {
        let play = restarted(rig, session);
        play.until(|state| state.turn.is_none() && state.continuation.is_none()).await;
        assert_eq!(play.ends().last(), Some(&End::Completed));
        assert_eq!(play.count("assistant/accepted"), 1);
        play.clean();
    });
}

/// A message that was acknowledged and not yet claimed is read by the next process, without anybody saying anything.
#[test]
fn r_drl_04_an_acknowledged_message_is_read_by_the_next_process() {
    let rig = || Rig::new(&script(&[&text("Read.")]));
    let (rig, session) = killed(rig, &Answers::default(), |_, kinds| {
        matches!(last(kinds), "session/renamed" | "inbox/posted")
    });
    alone(async {
        let play = restarted(rig, session);
        play.idle().await;
        assert_eq!(play.ends(), [End::Completed]);
        assert_eq!(play.heard().iter().filter(|text| *text == "Begin.").count(), 1);
        play.clean();
    });
}

/// A write of this file, cut off when all of it had happened: what the next process records and takes back.
#[track_caller]
fn written_and_cut_off(path: &'static str, other: Option<&'static str>, expect: &[&str]) {
    let rig = move || {
        let mut rig = Rig::new(&script(&[&write(path, "new\n"), &text("Done."), &text("Heard.")]));
        rig.mode = Mode::Auto;
        if let Some(other) = other {
            std::fs::hard_link(rig.folder().join(path), rig.folder().join(other)).expect("linked");
        }
        rig
    };
    let (rig, session) = killed(rig, &Answers::default(), |_, kinds| last(kinds) == "tool/start");
    let file = rig.folder().join(path);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    std::fs::write(&file, "new\n").expect("written");
    alone(async {
        let play = restarted(rig, session);
        drop(play.process.engine.state(&play.session));
        play.idle().await;
        let told = play.facts().into_iter().find_map(|fact| match fact {
            Fact::ToolResult(done) => Some(done.changed.effects),
            _ => None,
        });
        let told: Vec<String> = told.expect("it is done").into_iter().map(|effect| effect.path).collect();
        assert_eq!(told, expect);
        let scope = RestoreScope { of: RestoreOf::Session, paths: Vec::new() };
        play.process.engine.restore(&play.session, scope, Vec::new()).await.expect("it is taken");
        play.until(|state| state.restoring.is_none()).await;
        match other {
            Some(other) => assert_eq!((play.rig.file(path), play.rig.file(other)), (notes(), notes())),
            None => assert!(expect.iter().all(|path| !play.rig.folder().join(path).exists())),
        }
        play.clean();
    });
}

fn notes() -> String {
    "one\ntwo\nthree\n".to_owned()
}

#[test]
fn e13_a_write_that_a_kill_cut_off_is_known_by_all_names_of_its_file() {
    written_and_cut_off("notes.txt", Some("twin.txt"), &["notes.txt", "twin.txt"]);
    written_and_cut_off("new/er/made.txt", None, &["new", "new/er", "new/er/made.txt"]);
}

/// Nothing that counts lives in a process: whether it is started again between turns or not, the model is sent the same.
#[test]
fn r_inv_07_a_restart_between_turns_changes_no_request() {
    let when = |contains: &str, piece: &str| {
        format!(r#"{{"when":{{"contains":"{contains}"}},"repeat":true,"say":[{piece}]}}"#)
    };
    let answers = [
        when("Third.", &text("Three.")),
        when("of the second", &text("Two.")),
        when("Second.", &run("note of the second")),
        when("First.", &text("One.")),
    ];
    let last = |restarting: bool| {
        let rig = Rig::new(&format!(r#"{{"answers":[{}]}}"#, answers.join(",")));
        alone(async {
            let mut play = Play::on(rig).await;
            for (words, mode) in [("First.", Mode::Auto), ("Second.", Mode::Edit), ("Third.", Mode::Ask)] {
                play.through(words).await;
                play.tell(Command::SetMode(mode)).await;
                if restarting && words != "Third." {
                    play = play.restart().await;
                }
            }
            assert_eq!(play.rig.world.commands(), ["note of the second"]);
            let mut request = play.requests().pop().expect("one was sent");
            // Each rig has a folder of its own.
            let root = play.rig.folder().to_string_lossy().into_owned();
            request = serde_json::from_str(&request.to_string().replace(&root, "ROOT")).expect("JSON");
            request
        })
    };
    assert_eq!(last(true), last(false));
}
