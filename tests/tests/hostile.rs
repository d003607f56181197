//! A hostile machine: a full disk in mid-turn, a clock that jumps, a process that slept through its replacement.

use crate::play::{Play, alone, asks, calls, read, run, runs, script, text};
use crate::scenarios::all;
use domain::call::Mode;
use domain::event::{End, Fact, Resolution, Target, ToolResult};
use domain::state::{State, StepPhase};
use engine::{Command, CommandError, CommandFailure, Hold};
use std::sync::Arc;
use std::time::Duration;
use store::{AppendError, Keep};
use tests::driver::Ended;
use tests::rig::session;
use tests::{Answers, DieAt, Rig};

const HOUR: u64 = 3_600_000;
const TEN_YEARS: u64 = 87_660 * HOUR;

/// The disk fills up while a call runs whose result needs room; nothing begins without its record, and all goes on after.
#[tokio::test(start_paused = true)]
async fn rel_x01_a_full_disk_in_mid_turn_holds_the_work_until_there_is_room() {
    let mut rig = Rig::new(&script(&[&read("long.txt"), &run("note made"), &text("Done.")]));
    rig.mode = Mode::Auto;
    std::fs::write(rig.folder().join("long.txt"), "a line of a long file\n".repeat(1_500)).expect("a file");
    let play = Play::on(rig).await;
    let other = play.beside().await;
    let (faults, reserve) = (Arc::clone(&play.process.faults), play.rig.data().join("reserve"));
    play.process.engine.store().listen(move |news| {
        let accepted = news.events.iter().any(|event| event.kind == "assistant/accepted");
        if accepted {
            faults.fill_disk(true);
        }
        if accepted { Keep::No } else { Keep::Yes }
    });
    play.say("Read it.").await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(play.process.engine.hold(&play.session), Some(Hold::Store), "it says what it waits for");
    assert!(!reserve.exists(), "its room was given back");
    assert_eq!(play.count("tool/result"), 0);
    assert!(play.rig.world.commands().is_empty());
    let long = "x".repeat(40_000);
    let say = Command::Say { text: long, target: Target::NextTurn, command: None };
    let refused = play.process.engine.command(&other.session, say).await;
    assert_eq!(refused.map(drop), Err(CommandFailure::Store(AppendError::Full)), "nothing is acknowledged");
    play.process.faults.fill_disk(false);
    assert_eq!(play.rest(&Answers::default()).await, Ended::Resting);
    assert_eq!(play.process.engine.hold(&play.session), None);
    assert_eq!(play.ends(), [End::Completed]);
    assert_eq!(play.rig.world.commands(), ["note made"]);
    assert!(reserve.exists(), "it is put back when there is room");
    play.clean();
}

/// How the clock of the machine is set at each event.
type Setting = fn(u64, u64) -> u64;

const SETTINGS: [(&str, Setting); 4] = [
    ("an hour back each time", |now, _| now - HOUR),
    ("ten years on each time", |now, _| now + TEN_YEARS),
    ("1970", |_, n| n),
    ("to and fro", |now, n| if n.is_multiple_of(2) { now + TEN_YEARS } else { now - TEN_YEARS }),
];

/// Plays a scenario under such a clock; gives the kinds of its events and how long it took by the monotonic one.
fn under(name: &str, setting: Option<Setting>, frozen: bool) -> (Vec<String>, Duration) {
    let scenario = all().into_iter().find(|scenario| scenario.name == name).expect("a scenario");
    let rig = scenario.rig();
    if frozen {
        rig.world.freeze_clock();
    }
    let (id, took, epoch) = alone(async {
        let process = rig.start(DieAt::never());
        if let Some(setting) = setting {
            let world = Arc::clone(&rig.world);
            process.engine.store().listen(move |news| {
                world.set_clock(setting(world.clock(), news.events.last().map_or(0, |event| event.seq)));
                Keep::Yes
            });
        }
        let (began, mut id) = (tokio::time::Instant::now(), None);
        assert_eq!(scenario.play(&rig, &process, &mut id).await, Ended::Resting);
        (id.expect("it began"), began.elapsed(), process.engine.store().epoch())
    });
    assert_eq!(rig.findings(&id, epoch), Vec::<String>::new());
    scenario.holds(&rig, false, "under another clock");
    let log = rig.log(&id).into_iter().filter(|event| !event.ignorable);
    (log.map(|event| event.kind).collect(), took)
}

#[test]
fn rel_x06_a_clock_that_jumps_changes_neither_order_nor_waits() {
    for name in ["trouble on the way", "three reads side by side", "a wave with effects"] {
        let expect = under(name, None, false);
        for (clock, setting) in SETTINGS {
            assert_eq!(under(name, Some(setting), false), expect, "{name}, {clock}");
        }
        assert_eq!(under(name, None, true), expect, "{name}, frozen");
    }
}

/// A yes under a clock that can't be right is no yes: nothing runs, and the request lapses by the time that really passes.
#[test]
fn rel_x06_an_approval_is_not_taken_on_a_doubtful_clock() {
    for later in [|asked: u64| asked - HOUR, |asked: u64| asked + TEN_YEARS, |_| 0] {
        alone(async {
            let play = Play::of(&script(&[&run("note made"), &text("Then not.")])).await;
            play.say("Make it.").await;
            let state = play.until(asks).await;
            let asked = calls(&state)[0].approval.clone().expect("it asks");
            play.rig.world.set_clock(later(asked.asked));
            let grant = Command::Grant { approval: asked.id, digest: asked.digest, offer: None };
            let taken = play.process.engine.command(&play.session, grant).await;
            let Err(CommandFailure::Refused(CommandError { code, .. })) = taken else { panic!("{taken:?}") };
            assert_eq!(code, "approval/expired");
            tokio::time::sleep(Duration::from_millis(play.rig.limits.approval_valid_ms)).await;
            play.idle().await;
            assert!(play.rig.world.commands().is_empty());
            assert_eq!(play.count("approval/expired"), 1);
            play.clean();
        });
    }
}

/// The machine slept; meanwhile another process took the store over. Who wakes up late writes nothing and stops.
#[test]
fn rel_x05_who_slept_through_a_takeover_writes_nothing_and_its_command_is_asked_about() {
    let mut rig = Rig::new(&script(&[&run("hang"), &text("I see."), &text("Done.")]));
    rig.mode = Mode::Auto;
    alone(async {
        let sleeper = Play::on(rig).await;
        sleeper.say("Begin.").await;
        sleeper.until(runs).await;
        let slept_from = sleeper.rig.log(&sleeper.session).len();
        sleeper.rig.world.pass(HOUR);
        std::fs::remove_file(sleeper.rig.data().join("lock")).expect("it is taken away");
        let process = Arc::new(sleeper.rig.start(DieAt::never()));
        let second = Play { rig: Arc::clone(&sleeper.rig), process, session: sleeper.session.clone() };
        let state = second.until(|state| !state.unknown.is_empty()).await;
        let say = Command::Say { text: "Still here?".into(), target: Target::NextStep, command: None };
        let late = sleeper.process.engine.command(&sleeper.session, say).await;
        let fenced = AppendError::Fenced { mine: 1, current: 2 };
        assert_eq!(late.map(drop), Err(CommandFailure::Store(fenced)));
        let call = state.unknown[0].call.clone();
        second.tell(Command::Resolve { call, resolution: Resolution::Done }).await;
        assert_eq!(second.rest(&Answers::default()).await, Ended::Resting);
        let log = second.rig.log(&second.session);
        assert!(log[slept_from..].iter().all(|event| event.epoch == 2), "the sleeper wrote nothing more");
        assert_eq!(second.rig.world.commands(), ["hang"], "it wasn't run again");
        let results = |fact: &Fact| matches!(fact, Fact::ToolResult(ToolResult { .. }));
        assert_eq!(second.facts().iter().filter(|fact| results(fact)).count(), 0);
        assert_eq!(second.count("tool/outcome_unknown"), 1);
        assert_eq!(second.session, session());
        second.clean();
    });
}

/// Arguments that no schema takes are results for the model; the turn goes on and the record is whole.
#[tokio::test(start_paused = true)]
async fn rel_x14_arguments_that_can_not_be_are_told_to_the_model() {
    let deep = format!("{}1{}", r#"{"path":"#.repeat(10_000), "}".repeat(10_000));
    let wide = format!(r#"{{"path":"{}"}}"#, "x".repeat(100_000));
    let odd =
        ["", "null", "[]", "{\"path\"", "{\"path\":\"notes.txt\"}{}", "{\"path\":\"\\ud800\"}", &deep, &wide];
    let mut say: Vec<serde_json::Value> = odd
        .iter()
        .map(|arguments| serde_json::json!({"call": {"name": "read_file", "arguments": arguments}}))
        .collect();
    say.push(serde_json::json!({"call": {"name": "", "arguments": "{}"}}));
    say.push(serde_json::json!({"call": {"name": "read_file", "arguments": "{\"path\":\"a\",\"path\":\"notes.txt\"}"}}));
    let count = say.len();
    let done = serde_json::json!([{"text": "I see."}]);
    let play = Play::of(&serde_json::json!({"answers": [{"say": say}, {"say": done}]}).to_string()).await;
    play.through("Read them.").await;
    assert_eq!(play.ends(), [End::Completed]);
    let ended = play.count("tool/result") + play.count("tool/denied");
    assert_eq!(ended, count, "each call has its end: {:?}", play.kinds());
    let errors = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::ToolResult(ToolResult { outcome: domain::event::ToolOutcome::Error { error }, .. }) => {
            Some(error.code)
        }
        _ => None,
    });
    let errors: Vec<String> = errors.collect();
    assert!(errors.len() >= odd.len(), "{errors:?}");
}

/// The same in mid-answer: what still streams to the sleeper is recorded nowhere, and the answer is asked for once more.
#[test]
fn rel_x05_what_streams_to_a_sleeper_is_not_recorded() {
    let slow = r#"{"text":"Very slow words indeed.","pace_ms":60000}"#;
    alone(async {
        let sleeper = Play::of(&script(&[slow, &text("Done.")])).await;
        sleeper.say("Begin.").await;
        let streams = |state: &State| matches!(state.step(), Some((_, step)) if matches!(step.phase, StepPhase::Attempting { .. }));
        sleeper.until(streams).await;
        sleeper.rig.world.pass(HOUR);
        std::fs::remove_file(sleeper.rig.data().join("lock")).expect("it is taken away");
        let slept_from = sleeper.rig.log(&sleeper.session).len();
        let process = Arc::new(sleeper.rig.start(DieAt::never()));
        let second = Play { rig: Arc::clone(&sleeper.rig), process, session: sleeper.session.clone() };
        second.idle().await;
        assert_eq!(second.rest(&Answers::default()).await, Ended::Resting);
        // The sleeper's stream runs out, too.
        tokio::time::sleep(Duration::from_secs(24 * 3_600)).await;
        let log = second.rig.log(&second.session);
        assert!(log[slept_from..].iter().all(|event| event.epoch == 2), "the sleeper wrote nothing more");
        assert_eq!(second.count("assistant/accepted"), 1);
        second.clean();
    });
}
