//! A seeded simulation: random scripts, a random person, random kills and stops, on one thread and a paused clock.
//!
//! The **seed** alone decides a run, and a failing one is printed. Invariant: however it goes, the session comes to rest,
//! audit and verification find nothing, no command runs twice, and one more start adds nothing.

use crate::play::alone;
use domain::call::{Facts, Mode};
use domain::event::{CancelBy, CheckedCall, Fact, Resolution, Target, ToolCall};
use domain::ids::{CommandId, SessionId};
use engine::Command;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use store::Point;
use tests::driver::{Ended, drive};
use tests::size::{seeds, tell};
use tests::{Answers, Dice, DieAt, Process, Rig};

/// One call; every command is another one, so that a count tells whether it ran twice.
fn call(dice: &mut Dice, commands: &mut u32) -> Value {
    let (name, arguments) = match dice.below(9) {
        0 => ("read_file", json!({"path": "notes.txt"})),
        1 => ("list_files", json!({})),
        2 => (
            "write_file",
            json!({"path": format!("file{}.txt", dice.below(3)), "content": format!("{}\n", dice.roll())}),
        ),
        3 => ("edit_file", json!({"path": "notes.txt", "old_text": "two", "new_text": "TWO"})),
        4 => (
            "update_plan",
            json!({"items": [{"text": format!("item {}", dice.below(9)), "status": "in_progress"}]}),
        ),
        5 => ("ask_user", json!({"question": "Which?", "options": ["yes", "no"]})),
        6 => ("no_such_tool", json!({})),
        _ => {
            *commands += 1;
            ("run_command", json!({"command": format!("note {commands}")}))
        }
    };
    json!({"call": {"name": name, "arguments": arguments}})
}

fn script(dice: &mut Dice) -> String {
    let mut answers = Vec::new();
    let mut commands = 0;
    for _ in 0..=dice.below(6) {
        if dice.below(4) == 0 {
            let class = dice.one(&["cut", "overloaded", "rate_limited", "server"]);
            answers.push(json!({"say": [{"text": "Half "}], "error": {"class": class}}));
        }
        let mut say = vec![json!({"text": "Looking.", "wait_ms": dice.below(3) * 40})];
        say.extend((0..dice.below(4)).map(|_| call(dice, &mut commands)));
        answers.push(json!({"say": say}));
    }
    answers.push(json!({"repeat": true, "say": [{"text": "Done."}]}));
    json!({"answers": answers}).to_string()
}

fn allow(facts: &Facts) -> Result<(), String> {
    if facts.exact.len().is_multiple_of(3) { Err("Not this one.".into()) } else { Ok(()) }
}

/// Says what wasn't taken yet, perhaps stops, and answers until it rests or dies.
async fn live(
    rig: &Rig,
    process: &Process,
    session: &mut Option<SessionId>,
    dice: &mut Dice,
    says: u64,
) -> Ended {
    if session.is_none() {
        // A create whose answer was lost is found in the store.
        let known = process.engine.store().sessions().ok().and_then(|rows| rows.into_iter().next());
        *session = known.map(|row| row.session);
    }
    if session.is_none() {
        *session = process.engine.create(rig.created()).await.ok();
    }
    let Some(id) = session.clone() else { return Ended::Dead };
    for n in 0..says {
        let target = if n % 2 == 0 { Target::NextStep } else { Target::NextTurn };
        let command = Some(CommandId::from_bits(u128::from(n) + 1));
        let say = Command::Say { text: format!("Words {n}."), target, command };
        if process.engine.command(&id, say).await.is_err() {
            return Ended::Dead;
        }
    }
    if dice.below(4) == 0 {
        tokio::time::sleep(Duration::from_millis(dice.below(200))).await;
        drop(process.engine.command(&id, Command::Stop(CancelBy::User)).await);
        send_held(process, &id, dice).await;
    }
    let resolve = Some(dice.one(&[Resolution::Done, Resolution::Skip, Resolution::Again]));
    drive(process, &id, &Answers { allow, say: |_| "yes".into(), resolve }).await
}

/// Of what the stop held back the person perhaps sends something.
async fn send_held(process: &Process, id: &SessionId, dice: &mut Dice) {
    let held = process.engine.state(id).ok().and_then(|state| {
        state.inbox.iter().find(|waiting| waiting.held).map(|waiting| waiting.message.clone())
    });
    if let Some(message) = held.filter(|_| dice.below(2) == 0) {
        drop(process.engine.command(id, Command::SendNow(message)).await);
    }
}

/// Plays one seed; gives how many times it was killed, and how many appends were tried.
fn play(seed: u64) -> (u64, u64) {
    let mut dice = Dice(seed);
    let mut rig = Rig::new(&script(&mut dice));
    rig.mode = dice.one(&[Mode::Ask, Mode::Edit, Mode::Auto, Mode::Auto, Mode::Plan]);
    rig.attended = dice.below(5) > 0;
    let says = 1 + dice.below(3);
    let mut session = None;
    let (mut kills, mut appends) = (0, 0);
    for _ in 0..dice.below(4) {
        let point = dice.one(&[Point::BeforeBegin, Point::AfterCommit]);
        let faults = DieAt::append(dice.below(40), point);
        let (ended, tried) = alone(async {
            let process = rig.start(faults);
            let ended = live(&rig, &process, &mut session, &mut dice, says).await;
            (ended, process.faults.appends())
        });
        appends += tried;
        kills += u64::from(ended == Ended::Dead);
    }
    let (ended, epoch, tried) = alone(async {
        let process = rig.start(DieAt::never());
        let ended = live(&rig, &process, &mut session, &mut dice, says).await;
        (ended, process.engine.store().epoch(), process.faults.appends())
    });
    appends += tried;
    assert_eq!(ended, Ended::Resting, "seed {seed}");
    let session = session.expect("it began");
    let findings = rig.findings(&session, epoch);
    assert!(findings.is_empty(), "seed {seed}: {findings:#?}");
    once(&rig, &session, seed);
    let before = rig.log(&session).len();
    alone(async {
        let process = rig.start(DieAt::never());
        tokio::time::sleep(Duration::from_secs(60)).await;
        drop(process);
    });
    assert_eq!(rig.log(&session).len(), before, "seed {seed}: a start added to a session at rest");
    (kills, appends)
}

/// No command ran more often than the model asked for it: a fresh script may ask again, a process may not run again.
#[track_caller]
fn once(rig: &Rig, session: &SessionId, seed: u64) {
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for event in rig.events(session) {
        if let Some(Fact::ToolCall(ToolCall { checked: CheckedCall::Good { arguments, .. }, .. })) =
            event.fact
        {
            *asked.entry(arguments).or_default() += 1;
        }
    }
    for command in rig.world.commands() {
        let left = asked.get_mut(&json!({ "command": command }).to_string());
        let left = left.unwrap_or_else(|| panic!("seed {seed}: nobody asked for {command}"));
        assert!(*left > 0, "seed {seed}: {command} ran twice: {:?}", rig.world.commands());
        *left -= 1;
    }
}

/// Plays these seeds; at night those of the shard.
fn seeds_from(from: u64) {
    let seeds = seeds(from..from + 60);
    let (mut kills, mut appends) = (0, 0);
    for seed in seeds.clone() {
        let (killed, appended) = play(seed);
        (kills, appends) = (kills + killed, appends + appended);
    }
    let few = seeds.end - seeds.start < 60;
    assert!(few || kills > 3, "only {kills} kills: the seeds try too little");
    tell("R6", &seeds, &[("kills", kills), ("steps", appends)]);
}

macro_rules! simulations {
    ($($test:ident = $from:literal;)*) => {$(
        #[test]
        fn $test() {
            seeds_from($from);
        }
    )*};
}

simulations! {
    rel_r6_sixty_seeds_from_1 = 1;
    rel_r6_sixty_seeds_from_1001 = 1001;
    rel_r6_sixty_seeds_from_2001 = 2001;
    rel_r6_sixty_seeds_from_3001 = 3001;
    rel_r6_sixty_seeds_from_4001 = 4001;
}
