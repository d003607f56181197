//! Power cuts under the whole engine: at any change that any scenario made to its disk, and whatever of the unsynced
//! ones is lost or torn.
//!
//! A child plays every scenario over a disk that keeps a journal, once in peace and once with a sync refused on the way.
//! From each journal disks are made as a cut may leave them. Invariants: what a barrier covered is there; the log is a
//! prefix of what was written; nothing ran whose start isn't on record; and from there the work goes on, nothing twice.

use crate::failing_disk::patiently;
use crate::play::alone;
use crate::scenarios::{Scenario, all};
use domain::event::Fact;
use domain::ids::SessionId;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Announcement, Keep, Reader};
use tests::cut::Journal;
use tests::disk::{Disk, Fault, again, home};
use tests::driver::Ended;
use tests::size::{seeds, tell};
use tests::world::CountingShell;
use tests::{Dice, DieAt, Rig};
use tools::Cage;
use tools::launch::{LaunchError, Launcher, Order, Running};

/// Each scenario once in peace and this often with a refused sync.
const TROUBLED: u64 = 2;

/// Cuts of each scenario with each change, one in each of its histories; of so many, one after the other, one is worked on
/// and the others are only looked at.
const CUTS: u64 = TROUBLED + 1;

/// What is recorded at a barrier: everything up to it survives.
const BARRIERS: [&str; 7] = [
    "inbox/posted",
    "assistant/accepted",
    "approval/granted",
    "tool/outcome_unknown",
    "job/started",
    "job/ended",
    "checkpoint/committed",
];

/// A shell that counts, and says so in the journal.
struct Telling {
    shell: CountingShell,
    disk: Disk,
}

impl Launcher for Telling {
    fn cage(&self) -> Cage {
        self.shell.cage
    }

    fn launch(&self, order: &Order) -> Result<Box<dyn Running>, LaunchError> {
        self.disk.mark(&format!("ran {}", order.args.last().map_or("", String::as_str)));
        self.shell.launch(order)
    }
}

/// Plays one scenario and keeps its journal; `None` plays in peace.
fn journal(scenario: &Scenario, place: &Path, refuse: Option<u64>) {
    std::fs::create_dir_all(place).expect("a folder");
    let mut rig = scenario.rig_over(&place.join("data"), &place.join("project"));
    let under = || Disk::under(&place.join("data")).expect("this process is under the disk");
    let shell = CountingShell { world: Arc::clone(&rig.world), cage: rig.cage };
    rig.launcher = Some(Arc::new(Telling { shell, disk: under() }));
    let disk = under();
    disk.journal(&place.join("journal"));
    let ended = alone(async {
        let process = rig.start(DieAt::never());
        let told = under();
        process.engine.store().listen(move |Announcement { events, .. }| {
            events.iter().for_each(|event| told.mark(&format!("event {} {}", event.seq, event.kind)));
            Keep::Yes
        });
        if let Some(n) = refuse {
            disk.fail(n, Fault::Sync, 1);
        }
        patiently(scenario, &rig, &process, &RefCell::default()).await.1
    });
    assert_eq!(ended, Ended::Resting, "{}", scenario.name);
    disk.mend();
    disk.mark("end");
}

/// The child's work; without a parent it has no disk and says so.
#[test]
fn a_child_whose_disk_remembers() {
    let Some(home) = home() else {
        assert!(Disk::under(Path::new("/nowhere")).is_none());
        return;
    };
    for (n, scenario) in all().iter().enumerate() {
        for trouble in 0..=TROUBLED {
            let mut dice = Dice(n as u64 * 100 + trouble);
            let refuse = (trouble > 0).then(|| 1 + dice.below(20));
            journal(scenario, &home.join(format!("{n}-{trouble}")), refuse);
        }
    }
}

/// What a scenario wrote, and what its log was in the end.
struct History {
    place: PathBuf,
    journal: Journal,
    log: Vec<domain::event::Recorded>,
    session: SessionId,
    /// Was a sync refused?
    troubled: bool,
}

impl History {
    fn read(place: PathBuf, troubled: bool) -> Self {
        let reader = Reader::open(&place.join("data")).expect("opens");
        let session = reader.sessions().expect("a list")[0].session.clone();
        let log = reader.events(&session, 0, usize::MAX >> 1).expect("reads");
        Self { journal: Journal::read(&place.join("journal")), log, session, place, troubled }
    }
}

/// How many events are behind a barrier. The request of a turn's later step is one, too: it tells what calls gave back.
fn safe(marks: &[String]) -> usize {
    let (mut steps, mut safe) = (0, 0);
    for mark in marks {
        let Some((seq, kind)) = mark.strip_prefix("event ").and_then(|event| event.split_once(' ')) else {
            continue;
        };
        match kind {
            "turn/start" => steps = 0,
            "step/start" => steps += 1,
            _ => {}
        }
        if BARRIERS.contains(&kind) || (kind == "attempt/start" && steps > 1) {
            safe = safe.max(seq.parse::<usize>().expect("a number") + 1);
        }
    }
    safe
}

/// Which scenario a seed is for, which of its histories, and whether what is left is worked on: each history has its turn.
fn drawn(seed: u64, scenarios: u64) -> (usize, usize, bool) {
    let (n, round) = (seed % scenarios, seed / scenarios);
    let works = round % CUTS == (n + round / CUTS) % CUTS;
    let small = |number: u64| usize::try_from(number).expect("small");
    (small(n), small(round % CUTS), works)
}

/// What a cut left.
struct Left {
    /// Events that were lost.
    lost: usize,
    /// Is anything there?
    some: bool,
}

/// Cuts the power once.
fn cut(scenario: &Scenario, history: &History, works: bool, dice: &mut Dice, seed: u64) -> Left {
    let end = usize::try_from(dice.below(history.journal.len() as u64 + 1)).expect("small");
    let at = format!("seed {seed}: {}, cut after {end} of {} changes", scenario.name, history.journal.len());
    let marks = history.journal.marks(end);
    let image = history.journal.cut(end, &mut |bound| dice.below(bound));
    let place = tempfile::tempdir_in("/dev/shm").expect("memory");
    let data = place.path().join("data");
    std::fs::create_dir_all(&data).expect("a folder");
    image.write(&data);
    let safe = safe(&marks);
    let all = marks.iter().filter(|mark| mark.starts_with("event ")).count();
    let ran: Vec<&str> = marks.iter().filter_map(|mark| mark.strip_prefix("ran ")).collect();
    if !data.join("store.db").exists() {
        assert!(safe == 0 && ran.is_empty(), "{at}: the whole store is gone");
        return Left { lost: all, some: false };
    }
    let rig = scenario.rig_over(&data, &history.place.join("project"));
    let reader = Reader::open(&data).unwrap_or_else(|error| panic!("{at}: {error}"));
    let left = reader.events(&history.session, 0, usize::MAX >> 1);
    let left = left.unwrap_or_else(|error| panic!("{at}: {error}"));
    assert!(left.len() >= safe, "{at}: {safe} events were behind a barrier, {} are left", left.len());
    // A commit whose sync was refused may hold all the same, though the next try is what is on record in the end.
    let firm = if history.troubled { left.len().min(all) } else { left.len() };
    let odd = (0..firm).find(|n| left[*n] != history.log[*n]);
    assert_eq!(odd, None, "{at}: what is left is no prefix");
    let starts = left.iter().filter(|event| matches!(event.kind.as_str(), "tool/start" | "job/started"));
    assert!(ran.len() <= starts.count(), "{at}: something ran whose start isn't on record: {ran:?}");
    if left.is_empty() {
        return Left { lost: all, some: false };
    }
    let findings = rig.findings(&history.session, 1);
    assert!(findings.is_empty(), "{at}: {findings:#?}");
    drop(reader);
    if works {
        rig.world.begin_ids_at(1 << 20);
        ran.iter().for_each(|command| rig.world.happened(command));
        goes_on(scenario, &rig, &history.session, &at);
    }
    Left { lost: all.saturating_sub(left.len()), some: true }
}

/// A new process on what is left comes to rest, and nothing is done twice.
fn goes_on(scenario: &Scenario, rig: &Rig, session: &SessionId, at: &str) {
    let (ended, epoch) = alone(async {
        let process = rig.start(DieAt::never());
        let ended = scenario.play(rig, &process, &mut Some(session.clone())).await;
        (ended, process.engine.store().epoch())
    });
    assert_eq!(ended, Ended::Resting, "{at}");
    let findings = rig.findings(session, epoch);
    assert!(findings.is_empty(), "{at}, gone on: {findings:#?}");
    scenario.holds(rig, true, at);
    let started = |fact: &Fact| matches!(fact, Fact::ToolStart(_) | Fact::JobStarted(_));
    let starts = rig.events(session).into_iter().filter(|event| event.fact.as_ref().is_some_and(started));
    assert!(rig.world.commands().len() <= starts.count(), "{at}");
}

#[test]
fn rel_r4_a_power_cut_anywhere_leaves_a_prefix_behind_its_barriers() {
    let home = tempfile::tempdir_in("/dev/shm").expect("memory");
    let _ = again("power::a_child_whose_disk_remembers", home.path());
    let scenarios = all();
    let histories: Vec<Vec<History>> = (0..scenarios.len())
        .map(|n| (0..=TROUBLED).map(|t| History::read(home.path().join(format!("{n}-{t}")), t > 0)).collect())
        .collect();
    let seeds = seeds(0..CUTS * scenarios.len() as u64);
    let (mut lost, mut worked_on) = (0, BTreeSet::new());
    for seed in seeds.clone() {
        let (n, history, works) = drawn(seed, scenarios.len() as u64);
        let mut dice = Dice(seed);
        loop {
            let left = cut(&scenarios[n], &histories[n][history], works, &mut dice, seed);
            lost += left.lost;
            // Where nothing is left there is nothing to work on: the power is cut somewhere else.
            if left.some || !works {
                break;
            }
        }
        worked_on.extend(works.then_some(n));
    }
    let few = seeds.end - seeds.start < CUTS * scenarios.len() as u64;
    assert!(few || lost > 0, "the cuts lose something, or they would show nothing");
    assert!(few || worked_on.len() == scenarios.len(), "each scenario goes on after a cut: {worked_on:?}");
    tell("R4", &seeds, &[("cuts", seeds.end - seeds.start), ("events lost", lost as u64)]);
}
