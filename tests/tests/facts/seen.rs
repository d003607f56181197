//! What the tracer saw of one row, in the person's world: files, sites, programs.
//!
//! The **world** is everything but our data folder, what a cage makes for itself, and devices. Invariants: a file counts by
//! each of its names, a folder that moves with all that is in it; a half-made file that takes another's place counts as that.

use super::played::{Looks, Report};
use super::rows::is_lent;
use super::trace::{Deed, Hand, joined};
use std::collections::BTreeSet;

/// Paths, relative to the project or to what is around it.
pub(super) type Paths = BTreeSet<String>;

/// What the tracer saw of one row.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// What was touched before anybody said yes.
    pub(super) early: Paths,
    /// What was touched in the project.
    pub(super) touched: Paths,
    /// What was read in the project by our own hands.
    pub(super) read: Paths,
    /// What was touched elsewhere, and what a command read there of the row's world.
    pub(super) outside: Paths,
    /// What a command read in the added folder.
    pub(super) lent: Paths,
    /// Sites and addresses that were connected to, local ports by the site they stand for.
    pub(super) reached: Paths,
    /// Other programs and ports that were got at.
    pub(super) meddled: Vec<String>,
    /// What the shells were told to run, and the programs that it started.
    pub(super) ran: Vec<Vec<String>>,
    /// Names that were taken away, not moved.
    pub(super) gone: Paths,
}

impl Seen {
    pub(super) fn of(nth: usize, report: &Report, trace: &[(Hand, Deed)]) -> Self {
        let at = |what: &str| {
            let mark = Deed::Mark(format!("{nth}/{what}"));
            trace.iter().position(|(_, deed)| *deed == mark).expect("every mark is in the trace")
        };
        let (said, asked, done) = (at("said"), at("asked"), at("done"));
        let early = Files::of(report, &trace[said..asked]);
        let files = Files::of(report, &trace[asked..done]);
        let (lent, outside) = files.outside.into_iter().partition(|path| is_lent(path));
        let mut seen = Self {
            early: early.inside.into_iter().chain(early.outside).collect(),
            gone: files.inside.iter().filter(|path| !files.moved.contains(*path)).cloned().collect(),
            touched: files.inside,
            read: files.read,
            outside,
            lent,
            ..Self::default()
        };
        for (hand, deed) in &trace[asked..done] {
            match (hand, deed) {
                (Hand::Builder, _) => {}
                (Hand::Ours, Deed::Reaches { port, .. }) if report.sites.contains_key(&port.to_string()) => {
                    seen.reached.extend(report.sites.get(&port.to_string()).cloned());
                }
                // The one way out, which leads to us.
                (Hand::Command, Deed::Reaches { address, port: 3_128 })
                    if address == "127.0.0.1" && !report.facts.reach.is_empty() => {}
                (_, Deed::Reaches { address, port }) => seen.reached.extend([format!("{address}:{port}")]),
                (_, Deed::Meddles(what)) => seen.meddled.push(what.clone()),
                (Hand::Command, Deed::Runs(words)) => seen.ran.push(words.clone()),
                (
                    _,
                    Deed::Runs(_)
                    | Deed::Mark(_)
                    | Deed::Changes(_)
                    | Deed::Reads(_)
                    | Deed::Names(_)
                    | Deed::Moves { .. },
                ) => {}
            }
        }
        seen
    }
}

/// The files of a stretch of the trace.
#[derive(Default)]
struct Files {
    /// Names in the project that became other names.
    moved: Paths,
    inside: Paths,
    outside: Paths,
    read: Paths,
}

impl Files {
    fn of(report: &Report, trace: &[(Hand, Deed)]) -> Self {
        let (mut files, mut all) = (Self::default(), Paths::new());
        let (mut passing, mut moved) = (Paths::new(), Paths::new());
        for (hand, deed) in trace {
            let name = |path: &String| in_the_world(report, *hand, path);
            match deed {
                Deed::Changes(path) => {
                    all.extend(name(path).into_iter().flat_map(|path| alike(report, path)))
                }
                Deed::Names(path) => all.extend(name(path)),
                Deed::Reads(path) => {
                    let name = path.strip_prefix(&format!("{}/", report.home));
                    match (hand, name.and_then(|name| name.strip_prefix("project/")), name) {
                        (Hand::Ours, Some(inside), _) => files.read.extend([inside.to_owned()]),
                        (Hand::Command, None, Some(elsewhere)) if elsewhere != "project" => {
                            all.extend([elsewhere.to_owned()])
                        }
                        (Hand::Ours | Hand::Builder | Hand::Command, _, _) => {}
                    }
                }
                Deed::Moves { from, to } => {
                    let (from, to) = (name(from), name(to));
                    // A half-made file that takes its place: only the place counts.
                    if let Some(from) = from.clone().filter(|from| is_passing(report, from)) {
                        passing.insert(from);
                    }
                    moved.extend(
                        from.iter().filter_map(|from| from.strip_prefix("project/")).map(str::to_owned),
                    );
                    all.extend(from.into_iter().flat_map(|from| with_all_in_it(&report.before, &from)));
                    all.extend(to.into_iter().flat_map(|to| with_all_in_it(&report.after, &to)));
                }
                Deed::Runs(_) | Deed::Reaches { .. } | Deed::Meddles(_) | Deed::Mark(_) => {}
            }
        }
        files.moved = moved;
        for path in all.difference(&passing) {
            match path.strip_prefix("project/") {
                Some(inside) => files.inside.insert(inside.to_owned()),
                None => files.outside.insert(path.clone()),
            };
        }
        files
    }
}

/// A path relative to the row's home, links to folders followed; `None` for what isn't the person's world: our data, the
/// cage's own folders, devices.
fn in_the_world(report: &Report, hand: Hand, path: &str) -> Option<String> {
    if let Some(inside) = path.strip_prefix(&format!("{}/", report.home)) {
        return Some(through_links(&report.before, inside));
    }
    if hand == Hand::Ours && path.starts_with(&report.data) {
        return None;
    }
    let own: &[&str] = match hand {
        // It stands in an empty root then.
        Hand::Builder => &[""],
        Hand::Ours => {
            &["/proc/", "/sys/fs/cgroup/", "/dev/null", "/memfd:", "socket:", "pipe:", "anon_inode:"]
        }
        Hand::Command => &["/proc/", "/dev/", "/tmp/", "/private/", "socket:", "pipe:"],
    };
    (!own.iter().any(|own| path.starts_with(own))).then(|| path.to_owned())
}

/// The path with links before its last part followed.
fn through_links(looks: &Looks, path: &str) -> String {
    match path.rsplit_once('/') {
        Some((folder, name)) => format!("{}/{name}", followed(looks, folder)),
        None => path.to_owned(),
    }
}

/// The path with all links followed.
pub(super) fn followed(looks: &Looks, path: &str) -> String {
    let path = through_links(looks, path);
    match looks.get(&path).and_then(|look| look.strip_prefix("-> ")) {
        Some(target) => {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            followed(looks, &joined(&format!("/{folder}"), target)[1..])
        }
        None => path,
    }
}

/// The file by each name it had.
fn alike(report: &Report, path: String) -> Vec<String> {
    let Some(number) = report.numbers.get(&path).filter(|number| !number.is_empty()) else {
        return vec![path];
    };
    report.numbers.iter().filter(|(_, other)| *other == number).map(|(name, _)| name.clone()).collect()
}

/// Was it neither there before nor is it after?
fn is_passing(report: &Report, path: &str) -> bool {
    !report.before.contains_key(path) && !report.after.contains_key(path)
}

/// A path and everything that lies below it.
pub(super) fn with_all_in_it(looks: &Looks, path: &str) -> Paths {
    let below = format!("{path}/");
    let inside = looks.keys().filter(|name| name.starts_with(&below)).cloned();
    inside.chain([path.to_owned()]).collect()
}
