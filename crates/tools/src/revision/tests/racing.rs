//! Folders that turn into links out of the folder while a restore and a scan run: nothing outside is touched or read.

use super::rig::Rig;
use crate::revision::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const ROUNDS: usize = 300;

#[test]
fn r_undo_folders_that_turn_into_links_meanwhile_lead_nowhere() {
    let mut rig = Rig::new();
    let outside = rig.outside.path().join("elsewhere");
    fs::create_dir_all(outside.join("deep")).unwrap();
    fs::write(outside.join("deep/file"), "not yours").unwrap();
    fs::write(outside.join("deep/gone"), "not yours either").unwrap();
    rig.write("in/deep/file", "old");
    let before = rig.take();
    rig.write("in/deep/file", "new");
    rig.write("in/deep/gone", "made");
    let after = rig.take();
    let undo = rig.changes(&before, &after).effects;
    let redo: Vec<_> = undo.iter().map(inverse).collect();
    let (stop, flips) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (real, hidden) = (rig.path("in"), rig.path("aside"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // A restore may have made the folder anew meanwhile.
                let _ = fs::rename(&real, &hidden);
                let _ = symlink(&outside, &real);
                let _ = fs::remove_file(&real).or_else(|_| fs::remove_dir_all(&real));
                let _ = fs::rename(&hidden, &real);
                flips.fetch_add(1, Ordering::Relaxed);
            }
        });
        // On a busy machine the other thread sleeps through many rounds: then there are more, at most a hundred times as many.
        let mut rounds = 0;
        while rounds < ROUNDS || (flips.load(Ordering::Relaxed) <= ROUNDS && rounds < ROUNDS * 100) {
            rounds += 1;
            for wanted in [&undo, &redo] {
                // Everything may be kept for a reason; what is done must be inside.
                let _ = restore(&rig.place, &rig.blobs, wanted, &Force::All);
            }
            let taken = rig.take();
            let all = rig.needed(&[taken.tree]).unwrap();
            assert!(!all.contains(&domain::digest::Digest::of(b"not yours")), "nothing outside is read");
        }
        stop.store(true, Ordering::Relaxed);
        assert!(flips.load(Ordering::Relaxed) > ROUNDS, "it did race");
    });
    assert_eq!(fs::read_to_string(outside.join("deep/file")).unwrap(), "not yours");
    assert_eq!(fs::read_to_string(outside.join("deep/gone")).unwrap(), "not yours either");
    let names = fs::read_dir(outside.join("deep")).unwrap().count();
    assert_eq!(names, 2, "nothing is made outside");
}
