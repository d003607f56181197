//! The matrix of effects: what kind of call was cut off, and where. However that was, nothing is done twice without a word.
//!
//! The kinds are those the built-in tools have: reading, writing and deleting (which a look at the folder settles), commands
//! and jobs (which only the person can settle). A **cell** is a kind and a place. Invariant: an effect without a result on
//! record is either found by looking or told as unknown, and it is never had again by itself.

use crate::play::alone;
use domain::call::Mode;
use domain::event::{CheckedCall, Fact, Resolution, Target, ToolCall, ToolOutcome};
use domain::ids::SessionId;
use engine::Command;
use std::sync::{Arc, Mutex};
use store::{Keep, Point};
use tests::driver::{Ended, drive};
use tests::size::{seeds, tell};
use tests::world::CountingShell;
use tests::{Answers, Dice, DieAt, Process, Rig};
use tools::Cage;
use tools::launch::{LaunchError, Launcher, Order, Running};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Read,
    Write,
    Delete,
    Command,
    Job,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    BeforeIntent,
    AfterIntent,
    During,
    AfterEffect,
    AfterResult,
}

const KINDS: [Kind; 5] = [Kind::Read, Kind::Write, Kind::Delete, Kind::Command, Kind::Job];
const PLACES: [Place; 5] =
    [Place::BeforeIntent, Place::AfterIntent, Place::During, Place::AfterEffect, Place::AfterResult];

/// How often a job's cell is played until the process died in it.
const TRIES: u32 = 10;

/// The process is dead as soon as a command has begun.
struct Dying {
    shell: CountingShell,
    faults: Arc<Mutex<Option<Arc<DieAt>>>>,
}

impl Launcher for Dying {
    fn cage(&self) -> Cage {
        self.shell.cage
    }

    fn launch(&self, order: &Order) -> Result<Box<dyn Running>, LaunchError> {
        let running = self.shell.launch(order)?;
        if let Some(faults) = &*self.faults.lock().expect("unpoisoned") {
            faults.after(0, Point::BeforeBegin);
        }
        Ok(running)
    }
}

impl Kind {
    fn call(self, n: u64) -> String {
        let (name, arguments) = match self {
            Self::Read => ("read_file", serde_json::json!({"path": "notes.txt"})),
            Self::Write => {
                ("write_file", serde_json::json!({"path": "made.txt", "content": format!("{n}\n")}))
            }
            Self::Delete => ("delete_path", serde_json::json!({"path": "old.txt"})),
            Self::Command => ("run_command", serde_json::json!({"command": format!("note {n}")})),
            Self::Job => {
                ("run_command", serde_json::json!({"command": format!("note {n}"), "background": true}))
            }
        };
        serde_json::json!({"call": {"name": name, "arguments": arguments}}).to_string()
    }

    /// The types of the events before and after its effect.
    fn bounds(self) -> [&'static str; 2] {
        if self == Self::Job { ["job/started", "job/ended"] } else { ["tool/start", "tool/result"] }
    }
}

fn rig(kind: Kind, dice: &mut Dice) -> (Rig, u64) {
    let n = dice.below(1_000);
    let before: Vec<String> = (0..dice.below(3)).map(|_| r#"{"text":"First a word."}"#.to_owned()).collect();
    let say = before.into_iter().chain([kind.call(n)]).collect::<Vec<_>>().join(",");
    let script = format!(r#"{{"answers":[{{"say":[{say}]}},{{"repeat":true,"say":[{{"text":"Done."}}]}}]}}"#);
    let mut rig = Rig::new(&script);
    rig.mode = Mode::Auto;
    std::fs::write(rig.folder().join("old.txt"), "old\n").expect("a file");
    (rig, n)
}

/// Says what is wanted, unless it is said already, and lets it work; what isn't known the person takes as done.
async fn work(rig: &Rig, process: &Process, session: &mut Option<SessionId>) -> Ended {
    let known = process.engine.store().sessions().ok().and_then(|rows| rows.into_iter().next());
    *session = session.take().or(known.map(|row| row.session));
    if session.is_none() {
        *session = process.engine.create(rig.created()).await.ok();
    }
    let Some(id) = session.clone() else { return Ended::Dead };
    let command = Some(domain::ids::CommandId::from_bits(1));
    let say = Command::Say { text: "Do it.".into(), target: Target::NextStep, command };
    if process.engine.command(&id, say).await.is_err() {
        return Ended::Dead;
    }
    let answers = Answers { resolve: Some(Resolution::Done), ..Answers::default() };
    drive(process, &id, &answers).await
}

/// Which appends hold the start and the end of the call, in a run that nobody cuts off.
fn appends(kind: Kind, seed: u64) -> [u64; 2] {
    let (rig, _) = rig(kind, &mut Dice(seed));
    let kinds: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    alone(async {
        let process = rig.start(DieAt::never());
        let told = Arc::clone(&kinds);
        process.engine.store().listen(move |news| {
            let kinds = news.events.iter().map(|event| event.kind.clone()).collect();
            told.lock().expect("unpoisoned").push(kinds);
            Keep::Yes
        });
        assert_eq!(work(&rig, &process, &mut None).await, Ended::Resting);
    });
    let kinds = kinds.lock().expect("unpoisoned");
    kind.bounds().map(|bound| {
        let at = kinds.iter().position(|append| append.iter().any(|kind| kind == bound));
        at.unwrap_or_else(|| panic!("{kind:?}: no {bound} in {kinds:?}")) as u64
    })
}

/// Plays one cell; says whether the process died, and whether the person was told that an outcome isn't known.
fn cell(kind: Kind, place: Place, seed: u64) -> (bool, bool) {
    let at = format!("seed {seed}: {kind:?} {place:?}");
    let [start, end] = appends(kind, seed);
    let (mut rig, n) = rig(kind, &mut Dice(seed));
    let shell = CountingShell { world: Arc::clone(&rig.world), cage: rig.cage };
    let dying: Arc<Mutex<Option<Arc<DieAt>>>> = Arc::default();
    rig.launcher = Some(Arc::new(Dying { shell, faults: Arc::clone(&dying) }));
    let faults = match place {
        Place::BeforeIntent => DieAt::append(start, Point::BeforeBegin),
        Place::AfterIntent => DieAt::append(start, Point::AfterCommit),
        Place::During if matches!(kind, Kind::Command | Kind::Job) => DieAt::never(),
        Place::During => DieAt::append(start, Point::AfterCommit),
        Place::AfterEffect => DieAt::append(end, Point::BeforeBegin),
        Place::AfterResult => DieAt::append(end, Point::AfterCommit),
    };
    let mut session = None;
    let first = alone(async {
        let process = rig.start(faults);
        if place == Place::During {
            *dying.lock().expect("unpoisoned") = Some(Arc::clone(&process.faults));
        }
        work(&rig, &process, &mut session).await
    });
    *dying.lock().expect("unpoisoned") = None;
    let lost = lost(kind, &rig);
    if place == Place::During && kind == Kind::Write {
        // It had come half-way.
        std::fs::write(rig.folder().join("made.txt"), "ha").expect("a file");
    }
    let (ended, epoch) = alone(async {
        let process = rig.start(DieAt::never());
        (work(&rig, &process, &mut session).await, process.engine.store().epoch())
    });
    assert_eq!(ended, Ended::Resting, "{at}");
    let session = session.expect("it began");
    let findings = rig.findings(&session, epoch);
    assert!(findings.is_empty(), "{at}: {findings:#?}");
    (first == Ended::Dead, holds(kind, lost, &rig, &session, n, &at))
}

/// Did the dead process leave a start on record and no end?
fn lost(kind: Kind, rig: &Rig) -> bool {
    let reader = store::Reader::open(rig.data()).expect("opens");
    let rows = reader.sessions().expect("a list");
    let log = rows.first().map(|row| rig.log(&row.session)).unwrap_or_default();
    let [started, ended] = kind.bounds().map(|bound| log.iter().any(|event| event.kind == bound));
    started && !ended
}

/// What must be true in every cell.
fn holds(kind: Kind, lost: bool, rig: &Rig, session: &SessionId, n: u64, at: &str) -> bool {
    let facts: Vec<Fact> = rig.events(session).into_iter().filter_map(|event| event.fact).collect();
    let unknown = facts.iter().any(|fact| {
        matches!(fact, Fact::ToolOutcomeUnknown(_))
            || matches!(fact, Fact::JobEnded(end) if end.end == domain::event::JobEnd::Interrupted)
    });
    let not_done = facts.iter().any(|fact| {
        matches!(fact, Fact::ToolResult(e) if matches!(&e.outcome, ToolOutcome::Error { error } if error.code == "call/cut_off"))
    });
    let asked = facts
        .iter()
        .filter(|fact| matches!(fact, Fact::ToolCall(ToolCall { checked: CheckedCall::Good { .. }, .. })))
        .count();
    let ran = rig.world.commands().iter().filter(|command| **command == format!("note {n}")).count();
    assert!(ran <= asked, "{at}: asked {asked} times, ran {ran} times");
    match kind {
        Kind::Read => assert!(!unknown, "{at}: reading has no effect that could be unknown"),
        Kind::Command | Kind::Job => {
            // It had begun and its end isn't on record: the person and the model are told.
            assert_eq!(unknown, lost, "{at}");
            assert!(lost || ran == 1, "{at}: ran {ran} times");
            assert!(ran <= 1, "{at}: ran {ran} times");
        }
        Kind::Write => {
            let whole = rig.file("made.txt") == format!("{n}\n");
            assert!(whole || unknown || not_done, "{at}: {:?}", rig.file("made.txt"));
        }
        Kind::Delete => {
            let gone = !rig.folder().join("old.txt").exists();
            assert!(gone || unknown || not_done, "{at}");
        }
    }
    unknown
}

#[test]
fn rel_r8_whatever_was_cut_off_wherever_nothing_is_done_twice_without_a_word() {
    let seeds = seeds(0..25);
    let (mut killed, mut told, mut again) = (0, 0, 0);
    for seed in seeds.clone() {
        let kind = KINDS[usize::try_from(seed / 5 % 5).expect("small")];
        let place = PLACES[usize::try_from(seed % 5).expect("small")];
        // Which append is which is chance for a job, which goes on beside its turn: it may be over before the one that was
        // to be its last.
        let tries = if kind == Kind::Job { TRIES } else { 1 };
        let mut played =
            (0..tries).map(|_| cell(kind, place, seed)).inspect(|(dead, _)| again += u64::from(!dead));
        let Some((_, unknown)) = played.find(|(dead, _)| *dead) else {
            panic!("{kind:?} {place:?}: it came to its end {tries} times")
        };
        (killed, told) = (killed + 1, told + u64::from(unknown));
    }
    tell("R8", &seeds, &[("kills", killed), ("told as unknown", told), ("played again", again)]);
}
