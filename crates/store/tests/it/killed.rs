//! Killed: a real process that dies by `kill -9` while it commits.
//!
//! The child is this same test binary, started again on one test; it says on its standard output what was acknowledged.
//! Whatever it said must be there, each transaction whole over both of its sessions and with the content its events name,
//! and the store open for more.

use crate::attached::{named_and_read, naming};
use crate::rig::*;
use crate::size::{seeds, tell};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use store::{Append, AppendError, Durability, Options, Store};

/// Names the folder the child works in.
const CHILD: &str = "DAYBOOK_TEST_STORE";

/// How often a child is killed with each change.
const KILLS: u64 = 80;

/// Kills after which a new folder is begun, so that checking stays short.
const KILLS_A_FOLDER: u64 = 5;

/// The child's work; without a parent it does a little of it and looks at the result itself.
#[test]
fn a_child_appends_until_it_is_killed() {
    match std::env::var_os(CHILD) {
        Some(folder) => {
            let store = Store::open(Path::new(&folder), Options::new(Hand::at(1))).expect("opens");
            let say = |word: String| {
                let mut out = std::io::stdout().lock();
                writeln!(out, "{word}").and_then(|()| out.flush()).expect("the parent listens");
            };
            let end = appends(&store, u64::MAX, |seq| say(format!("ack {seq}")));
            say(format!("end {end:?}"));
        }
        None => {
            let dir = tempfile::tempdir().expect("a folder");
            let store = Store::open(dir.path(), Options::new(Hand::at(1))).expect("opens");
            assert_eq!(appends(&store, 30, drop), None);
            assert_eq!(whole(&store), 30);
        }
    }
}

/// Appends to two sessions at once, the same to both, from where they are, until an append fails for good.
fn appends(store: &Store, until: u64, mut acknowledged: impl FnMut(u64)) -> Option<AppendError> {
    let mut next = store.next_seq(&session(1)).expect("reads");
    while next < until {
        let drafts = naming(store, next);
        let append = |n| Append { session: session(n), expected_seq: next, drafts: drafts.clone() };
        let durability = if next.is_multiple_of(6) { Durability::Barrier } else { Durability::Normal };
        match store.append_many(vec![append(1), append(2)], durability) {
            Ok(_) => {
                next += 2;
                acknowledged(next);
            }
            Err(AppendError::Conflict { actual, .. }) => next = actual,
            Err(error) => return Some(error),
        }
    }
    None
}

/// Checks everything there is to check, and says how many events each of the two sessions has.
fn whole(store: &Store) -> u64 {
    let [one, two] = [1, 2].map(|n| {
        assert_eq!(store.verify_chain(&session(n)), Ok(()));
        named_and_read(store, n);
        store.next_seq(&session(n)).expect("reads")
    });
    assert_eq!(one, two, "a transaction was torn");
    assert_eq!(one % 2, 0, "an append was torn");
    assert_eq!(store.verify_projections(), Ok(None));
    one
}

fn child(folder: &Path) -> Child {
    let binary = std::env::current_exe().expect("this binary");
    Command::new(binary)
        .args(["--exact", "killed::a_child_appends_until_it_is_killed", "--nocapture"])
        .env(CHILD, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts")
}

fn place(line: &str) -> Option<u64> {
    line.split_once("ack ").and_then(|(_, seq)| seq.trim().parse().ok())
}

/// Lets the child run for this long after its first word, kills it, and gives the last place it acknowledged.
fn run_and_kill(folder: &Path, life: Duration) -> u64 {
    let mut child = child(folder);
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let first =
        lines.by_ref().map_while(Result::ok).find_map(|line| place(&line)).expect("it says something");
    let end = Instant::now() + life;
    let mut last = first;
    while Instant::now() < end {
        let Some(Ok(line)) = lines.next() else { break };
        last = place(&line).unwrap_or(last);
    }
    child.kill().expect("is killed");
    // What it had said before it died still stands in the pipe.
    last = lines.map_while(Result::ok).filter_map(|line| place(&line)).last().unwrap_or(last);
    child.wait().expect("is gone");
    last
}

#[test]
fn r2_what_was_acknowledged_survives_kill_9_and_nothing_is_torn() {
    let seeds = seeds(0..KILLS);
    let mut dir = quick_folder();
    let (mut acknowledged_in_all, mut cut, mut before) = (0, 0, 0);
    for seed in seeds.clone() {
        if seed.is_multiple_of(KILLS_A_FOLDER) {
            (dir, before) = (quick_folder(), 0);
        }
        let life = Dice::of(0x5eed_0002, seed).below(25_000);
        let acknowledged = run_and_kill(dir.path(), Duration::from_micros(life));
        let store = open(dir.path());
        let there = whole(&store);
        assert!(there >= acknowledged, "kill {seed}: {acknowledged} were acknowledged, {there} are there");
        assert!(there <= acknowledged + 2, "kill {seed}: more than one append was on its way");
        acknowledged_in_all += acknowledged - before;
        before = there;
        cut += u64::from(there > acknowledged);
    }
    let kills = seeds.end - seeds.start;
    tell(
        "R2",
        &seeds,
        &[("kills", kills), ("acknowledged", acknowledged_in_all), ("cut before their word", cut)],
    );
}

/// A lock file that was cleaned away lets a second process in while the first one is at work.
#[test]
fn x04_a_process_that_was_overtaken_stops_writing() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut child = child(dir.path());
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    assert!(lines.by_ref().filter_map(|line| place(&line)).any(|seq| seq >= 200), "it is at work");
    let refused = Store::open(dir.path(), inline()).err().expect("the child holds the lock").to_string();
    assert!(refused.contains(&format!("(process {})", child.id())), "{refused}");
    std::fs::remove_file(dir.path().join("lock")).expect("deletes");
    let store = open(dir.path());
    let from = store.next_seq(&session(1)).expect("reads");
    assert_eq!(appends(&store, from + 400, drop), None);
    let (mut last, mut end) = (0, String::new());
    for line in lines {
        last = place(&line).unwrap_or(last);
        end = if line.contains("end ") { line } else { end };
    }
    child.wait().expect("is gone");
    assert!(end.contains("Fenced { mine: 1, current: 2 }"), "{end}");
    assert!(last <= from, "nothing of it was acknowledged after the second one began");
    whole(&store);
    let events = store.events(&session(1), 0, 100_000).expect("dense and chained");
    let taken_over = events.partition_point(|event| event.epoch == 1);
    assert!(taken_over >= 200 && events[taken_over..].iter().all(|event| event.epoch == 2));
}

/// A process that is stopped lets go of nothing: whoever comes second is told its number and doesn't wait.
#[cfg(unix)]
#[test]
fn x03_a_stopped_process_that_holds_the_store_is_named() {
    let dir = quick_folder();
    let mut child = child(dir.path());
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    assert!(lines.by_ref().filter_map(|line| place(&line)).any(|seq| seq >= 20), "it is at work");
    let number = child.id().to_string();
    let signal =
        |name: &str| assert!(Command::new("kill").args([name, &number]).status().expect("kill").success());
    signal("-STOP");
    let refused = Store::open(dir.path(), inline()).err().expect("the child holds the lock").to_string();
    assert!(refused.contains(&format!("(process {number})")), "{refused}");
    // Looking goes on meanwhile.
    let reader = store::Reader::open(dir.path()).expect("opens");
    assert!(reader.next_seq(&session(1)).expect("reads") >= 20);
    drop(reader);
    signal("-KILL");
    child.wait().expect("is gone");
    whole(&open(dir.path()));
}
