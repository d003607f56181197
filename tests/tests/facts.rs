//! What a card says would be touched is what is touched: approvals of every kind, run for real under a tracer.
//!
//! The test starts itself again under strace; that process plays each row with the real engine, hands and cage
//! ([`played`]), and here its trace is held against what the cards said. Invariant: a fact that says more or less than
//! the kernel saw is a failure that names row, card and trace.

mod falsified;
mod laws;
mod played;
mod rows;
mod seen;
mod town;
mod trace;

use falsified::falsified;
use laws::check;
use played::Report;
use rows::Row;
use seen::Seen;
use std::path::Path;
use std::process::Command;
use trace::{CALLS, Deed, Hand, deeds};

/// Where the traced process puts its reports; whoever has it is that process.
const REPORTS: &str = "DAYBOOK_FACTS";
/// Bytes of a text that strace tells: more than the longest list of a program's words here.
const TEXT_BYTES: &str = "16384";

#[test]
fn r_pol_03_a09_every_card_says_what_the_tracer_sees() {
    let rows = rows::all();
    if let Some(reports) = std::env::var_os(REPORTS) {
        return play_all(&rows, Path::new(&reports));
    }
    assert!(rows.len() >= 30);
    let (reports, trace) = traced();
    let mut wrong = Vec::new();
    for (nth, (row, report)) in rows.iter().zip(&reports).enumerate() {
        let seen = Seen::of(nth, report, &trace);
        wrong.extend(check(row, report, &seen).into_iter().map(|what| format!("{}: {what}", row.name)));
        for (fact, facts) in falsified(&report.facts, report.back.is_some()) {
            let report = Report { facts, ..report.clone() };
            if check(row, &report, &seen).is_empty() {
                wrong.push(format!("{}: nobody noticed a wrong fact: {fact}", row.name));
            }
        }
    }
    assert_eq!(reports.len(), rows.len());
    assert!(wrong.is_empty(), "{} facts are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// In the traced process.
fn play_all(rows: &[Row], reports: &Path) {
    let alone = || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let play = |(nth, row)| alone().expect("a runtime").block_on(played::play(nth, row));
    let all: Vec<Report> = rows.iter().enumerate().map(play).collect();
    std::fs::write(reports, serde_json::to_vec(&all).expect("JSON")).expect("written");
}

/// Plays all rows under strace: their reports and what was done.
fn traced() -> (Vec<Report>, Vec<(Hand, Deed)>) {
    let private = tempfile::tempdir().expect("a folder");
    let (reports, log) = (private.path().join("reports"), private.path().join("log"));
    let this = std::env::current_exe().expect("this program");
    let name = std::thread::current().name().expect("the test's name").to_owned();
    let done = Command::new("strace")
        .args(["-f", "-y", "--seccomp-bpf", "--decode-pids=pidns", "-e", "signal=none"])
        .args(["-e", "quiet=attach,personality", "-s", TEXT_BYTES, "-e", &format!("trace={CALLS}"), "-o"])
        .args([log.as_os_str(), this.as_os_str()])
        .args([name.as_str(), "--exact", "--nocapture"])
        .env(REPORTS, &reports)
        .output()
        .expect("strace is there: scripts/test installs it");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{}{}", said(&done.stdout), said(&done.stderr));
    let reports = std::fs::read(&reports).expect("the reports");
    let log = said(&std::fs::read(&log).expect("the log"));
    let reports: Vec<Report> = serde_json::from_slice(&reports).expect("reports");
    let deeds = as_in_the_cage(&reports, deeds(&log));
    (reports, deeds)
}

/// Where this system is itself in a changed root, the tracer calls a cage's files by the place where its root was attached;
/// the cage itself knows nothing of that.
fn as_in_the_cage(reports: &[Report], deeds: Vec<(Hand, Deed)>) -> Vec<(Hand, Deed)> {
    let place = |path: &String| {
        let at = reports.iter().find_map(|report| path.find(&report.home))?;
        (at > 0).then(|| path[..at].to_owned())
    };
    let of_a_cage = deeds.iter().filter(|(hand, _)| *hand == Hand::Command);
    let Some(place) = of_a_cage.flat_map(|(_, deed)| deed.paths()).find_map(place) else { return deeds };
    let inside = |path: String| path.strip_prefix(&place).map(str::to_owned).unwrap_or(path);
    deeds
        .into_iter()
        .map(|(hand, deed)| (hand, if hand == Hand::Ours { deed } else { deed.with_paths(inside) }))
        .collect()
}
