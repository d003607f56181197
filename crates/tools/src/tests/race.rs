//! Somebody swaps folders and files for links while we work with them: nothing outside is read, made, changed or deleted.
//!
//! `DAYBOOK_RACE_ROUNDS=100000` gives the long run; each change runs a short one.
#![cfg(unix)]

use super::rig::Rig;
use crate::AddedPlace;
use crate::added::{Walls, look};
use crate::revision::{Bounds, Force, Index, changes, inverse, reach_new, restore, take};
use crate::tool::Bin;
use domain::call::Effect;
use domain::digest::Digest;
use flipping::Flipper;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rounds of each change.
const ROUNDS: usize = 2_000;

fn rounds() -> usize {
    std::env::var("DAYBOOK_RACE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS)
}

/// Makes `least` rounds, and more (at most a hundred times as many) until `round` says that both sides were met: on a busy
/// machine the swapping thread sleeps through many calls. Returns how many were made.
fn race(least: usize, mut round: impl FnMut(usize) -> bool) -> usize {
    let mut made = 0;
    loop {
        let met = round(made);
        made += 1;
        if made >= least && (met || made >= least * 100) {
            return made;
        }
    }
}

/// A thread that swaps `d` between a real folder and a link out of the project, and `e` between a file and a link to one
/// outside, as fast as it can.
mod flipping {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    pub(super) struct Flipper {
        stop: Arc<AtomicBool>,
        flips: Arc<AtomicUsize>,
        thread: Option<std::thread::JoinHandle<()>>,
    }

    impl Flipper {
        pub(super) fn start(folder: PathBuf, outside: PathBuf) -> Self {
            let (stop, flips) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
            let (told, count) = (Arc::clone(&stop), Arc::clone(&flips));
            let thread = std::thread::spawn(move || {
                let (d, real, link) = (folder.join("d"), folder.join("real"), folder.join("link"));
                let (e, canary) = (folder.join("e"), outside.join("f"));
                std::os::unix::fs::symlink(outside, &link).unwrap();
                // Where `d` is missing for a moment, a write may make it: that one goes.
                let rename = |from: &PathBuf, to: &PathBuf| {
                    while std::fs::rename(from, to).is_err() {
                        drop(std::fs::remove_dir_all(to));
                    }
                };
                while !told.load(Ordering::Relaxed) {
                    rename(&d, &real);
                    rename(&link, &d);
                    rename(&d, &link);
                    rename(&real, &d);
                    // A tool may have made or removed it meanwhile.
                    let _ = std::fs::remove_file(&e);
                    let _ = std::os::unix::fs::symlink(&canary, &e);
                    let _ = std::fs::remove_file(&e);
                    let _ = std::fs::write(&e, "round");
                    count.fetch_add(1, Ordering::Relaxed);
                    std::thread::yield_now();
                }
            });
            Self { stop, flips, thread: Some(thread) }
        }

        /// Swaps so far.
        pub(super) fn flips(&self) -> usize {
            self.flips.load(Ordering::Relaxed)
        }
    }

    impl Drop for Flipper {
        fn drop(&mut self) {
            self.stop.store(true, Ordering::Relaxed);
            if let Some(thread) = self.thread.take() {
                thread.join().unwrap();
            }
        }
    }
}

/// What lies outside: names, content and when it was last written.
fn outside(out: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut found: Vec<_> = std::fs::read_dir(out)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let when = path.metadata().unwrap().modified().unwrap();
            (path.clone(), std::fs::read(&path).unwrap(), when)
        })
        .collect();
    found.sort();
    found
}

/// Does a result say what only outside is?
fn tells(text: &str) -> bool {
    text.contains("CANARY") || text.contains("only-outside")
}

/// How calls ended.
#[derive(Default)]
struct Met {
    done: u32,
    refused: u32,
}

impl Met {
    /// Makes a call, which must tell nothing of outside however it ends.
    fn call(&mut self, rig: &Rig, name: &str, args: Value) {
        let ended = rig.try_call(name, args);
        let (refused, told) = match &ended {
            Ok(finished) => (finished.is_error(), finished.text.clone()),
            Err(error) => (true, format!("{error:?}")),
        };
        assert!(!tells(&told), "{name} told of outside: {told}");
        *(if refused { &mut self.refused } else { &mut self.done }) += 1;
    }
}

/// What the tools are asked for in one round.
fn asked(round: usize) -> (&'static str, Value) {
    let content = format!("round {round}");
    match round % 9 {
        0 => ("write_file", json!({"path": "d/f", "content": content})),
        1 => ("edit_file", json!({"path": "d/f", "old_text": "round", "new_text": "edited round"})),
        2 => ("delete_path", json!({"path": if round.is_multiple_of(4) { "d/f" } else { "d/victim" }})),
        3 => ("write_file", json!({"path": format!("d/new{}", round % 50), "content": content})),
        4 => ("read_file", json!({"path": "d/f"})),
        5 => ("list_files", json!({"path": if round.is_multiple_of(2) { "d" } else { "." }})),
        6 => (
            "search_files",
            json!({"path": if round.is_multiple_of(2) { "d" } else { "." }, "pattern": "CANARY"}),
        ),
        7 => ("write_file", json!({"path": "e", "content": content})),
        _ => ("edit_file", json!({"path": "e", "old_text": "round", "new_text": "edited round"})),
    }
}

#[test]
fn a36_folders_and_files_that_become_links_let_nothing_out() {
    let mut rig = Rig::in_memory();
    rig.put("d/f", b"inside");
    let out = rig.outside.path().join("out");
    std::fs::create_dir(&out).unwrap();
    for name in ["f", "victim", "only-outside"] {
        std::fs::write(out.join(name), "CANARY").unwrap();
    }
    let before = outside(&out);
    let flipper = Flipper::start(rig.path("."), out.clone());
    let mut met = Met::default();
    let made = race(rounds(), |round| {
        let (name, args) = asked(round);
        // Both ways of deleting: into the trash by a rename, and by keeping the content first.
        rig.ctx.bin = match round.is_multiple_of(2) {
            true => Bin::Blobs,
            false => Bin::Folder(rig.outside.path().join("Trash")),
        };
        met.call(&rig, name, args);
        flipper.flips() > 100 && met.done > 50 && met.refused > 50
    });
    let flips = flipper.flips();
    drop(flipper);
    assert_eq!(outside(&out), before, "nothing was made, changed or deleted outside");
    assert!(rig.ctx.blobs.get(&Digest::of(b"CANARY")).is_err(), "nor kept of it");
    let Met { done, refused } = met;
    println!("{made} calls, {flips} swaps: {done} done, {refused} refused, 0 escapes");
    assert!(
        flips > 100 && done > 50 && refused > 50,
        "both sides were met: {flips} flips, {done} done, {refused} refused"
    );
}

/// What is only looked at: the same swaps inside an added folder, and by its whole path.
#[test]
fn a36_links_in_an_added_folder_let_nothing_out() {
    // Not in memory: what lies there belongs to the system and can't be added.
    let mut rig = Rig::new();
    let base = rig.outside.path().canonicalize().unwrap();
    let (added, out) = (base.join("added"), base.join("out"));
    std::fs::create_dir_all(added.join("d")).unwrap();
    std::fs::create_dir(&out).unwrap();
    std::fs::write(added.join("d/f"), "inside").unwrap();
    for name in ["f", "only-outside"] {
        std::fs::write(out.join(name), "CANARY").unwrap();
    }
    let root = rig.path(".");
    let found = look(&added, &Walls { root: &root, home: None, hide: &[] }).unwrap();
    rig.ctx.added = Arc::new(vec![AddedPlace::open(&found.path, found.identity, Vec::new())]);
    let flipper = Flipper::start(added, out);
    let mut met = Met::default();
    race(rounds() / 2, |round| {
        let at = |path: &str| format!("{}/{path}", found.path);
        let (name, args) = match round % 5 {
            0 => ("read_file", json!({"path": at("d/f")})),
            1 => ("read_file", json!({"path": at("e")})),
            2 => ("list_files", json!({"path": at("d")})),
            3 => ("search_files", json!({"path": at("d"), "pattern": "CANARY"})),
            _ => ("search_files", json!({"path": at(""), "pattern": "CANARY"})),
        };
        met.call(&rig, name, args);
        flipper.flips() > 100 && met.done > 50 && met.refused > 20
    });
    let flips = flipper.flips();
    drop(flipper);
    let Met { done, refused } = met;
    assert!(
        flips > 100 && done > 50 && refused > 20,
        "both sides were met: {flips} flips, {done} done, {refused} refused"
    );
}

#[test]
fn a36_taking_and_restoring_while_folders_become_links_lets_nothing_out() {
    let rig = Rig::in_memory();
    rig.put("d/f", b"old");
    rig.put("d/deep/g", b"old");
    rig.put("e", b"old");
    let blobs = &*rig.ctx.blobs;
    let mut index = Index::open(&rig.ctx.private, &rig.ctx.place, blobs);
    let mut taken =
        || take(&rig.ctx.place, blobs, &mut index, &Bounds::default(), None, &rig.ctx.cancel).unwrap().tree;
    let first = taken();
    rig.put("d/f", b"new");
    rig.put("d/made", b"new");
    std::fs::remove_dir_all(rig.path("d/deep")).unwrap();
    rig.put("e", b"new");
    let undo = changes(blobs, &first, &taken(), &Bounds::default(), &rig.ctx.limits).unwrap().effects;
    let redo: Vec<Effect> = undo.iter().map(inverse).collect();
    let out = rig.outside.path().join("out");
    std::fs::create_dir(&out).unwrap();
    for name in ["f", "made"] {
        std::fs::write(out.join(name), "CANARY").unwrap();
    }
    let before = outside(&out);
    let flipper = Flipper::start(rig.path("."), out.clone());
    let mut restored = 0;
    let made = race(rounds(), |round| {
        let wanted = if round.is_multiple_of(2) { &undo } else { &redo };
        // What is kept is kept for a reason; what is done must be inside.
        restored += restore(&rig.ctx.place, blobs, wanted, &Force::All).map_or(0, |all| all.done.len());
        if round.is_multiple_of(10) {
            let all = reach_new(blobs, taken(), &mut HashSet::new(), &|_| false).unwrap();
            assert!(!all.contains(&Digest::of(b"CANARY")), "a revision holds what lies outside");
        }
        flipper.flips() > 100 && restored > 50
    });
    let flips = flipper.flips();
    drop(flipper);
    assert_eq!(outside(&out), before, "nothing was made, changed or deleted outside");
    println!("{made} restores, {flips} swaps: {restored} paths restored, 0 escapes");
    assert!(flips > 100 && restored > 50, "it did race: {flips} flips, {restored} restored");
}
