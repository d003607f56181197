//! A restore that is broken off before any of its steps and run again gives the same folder.

use super::rig::Rig;
use crate::limits::Limits;
use crate::revision::apply::Fuse;
use crate::revision::restore::carry_out_until;
use crate::revision::*;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn begin(rig: &Rig) {
    rig.write("edited", "old");
    rig.write("run", "#!");
    rig.write("linked", "old");
    fs::hard_link(rig.path("linked"), rig.path("other-name")).unwrap();
    rig.write("gone/deep/file", "gone");
    rig.write("file-to-folder", "f");
    rig.write("folder-to-file/inside", "i");
    symlink("edited", rig.path("link")).unwrap();
    symlink("run", rig.path("link-to-folder")).unwrap();
    fs::set_permissions(rig.path("gone/deep"), fs::Permissions::from_mode(0o500)).unwrap();
}

fn change(rig: &Rig) {
    rig.write("edited", "new");
    fs::set_permissions(rig.path("run"), fs::Permissions::from_mode(0o755)).unwrap();
    rig.write("linked", "new, in both names");
    fs::remove_dir_all(rig.path("gone")).unwrap();
    fs::remove_file(rig.path("file-to-folder")).unwrap();
    rig.write("file-to-folder/a/b", "b");
    fs::remove_dir_all(rig.path("folder-to-file")).unwrap();
    rig.write("folder-to-file", "now a file");
    fs::remove_file(rig.path("link")).unwrap();
    symlink("run", rig.path("link")).unwrap();
    fs::remove_file(rig.path("link-to-folder")).unwrap();
    rig.write("link-to-folder/x", "x");
    rig.write("made/deep/er", "m");
    fs::set_permissions(rig.path("made"), fs::Permissions::from_mode(0o700)).unwrap();
}

/// What somebody does after the turn, and what is restored although they did.
type Meanwhile = fn(&Rig);

/// Breaks a restore off before each of its steps and runs it again: it gives the folder that it would have given, and
/// what it tells leads back to what was there when it was asked for.
#[track_caller]
fn check(meanwhile: Meanwhile, force: &Force) {
    let mut steps = 0;
    loop {
        let mut rig = Rig::new();
        begin(&rig);
        let before = rig.take();
        change(&rig);
        let after = rig.take();
        let effects = rig.changes(&before, &after).effects;
        meanwhile(&rig);
        let asked = rig.take();
        let planned = plan_restore(&rig.place, &rig.blobs, &effects, force).unwrap();
        assert_eq!(planned.kept, []);
        let broken = carry_out_until(&rig.place, &rig.blobs, &planned.steps, &mut Fuse::after(steps));
        let ended = match broken {
            Ok(_) => true,
            Err(RestoreError::BrokenOff) => false,
            Err(other) => panic!("{other}"),
        };
        let again = carry_out(&rig.place, &rig.blobs, &planned.steps).unwrap();
        assert_eq!(again.kept, [], "broken off after {steps} steps");
        assert_eq!(rig.take().tree, before.tree, "broken off after {steps} steps");
        assert_eq!(rig.text("other-name"), "old");
        assert_eq!(leftovers(&rig), 0, "broken off after {steps} steps");
        // What is reported as done leads back, also what was done before it broke off.
        assert_eq!(rig.restore(&again.done).kept, [], "redone after {steps} steps");
        assert_eq!(rig.take().tree, asked.tree, "redone after {steps} steps");
        if ended {
            break;
        }
        steps += 1;
    }
    assert!(steps > 30, "{steps}");
}

#[test]
fn r_undo_broken_off_at_any_step_and_run_again_is_the_same() {
    check(|_| {}, &Force::Nothing);
}

#[test]
fn r_undo_what_was_forced_away_comes_back_also_when_it_was_broken_off() {
    let meanwhile = |rig: &Rig| {
        rig.write("edited", "mine");
        rig.write("folder-to-file", "mine, too");
        rig.write("made/deep/mine/own", "in a folder that has to go");
        fs::remove_dir_all(rig.path("link-to-folder")).unwrap();
        rig.write("gone", "a file where a folder shall be");
    };
    check(meanwhile, &Force::All);
}

/// A file of twenty lines, some of them changed.
fn lines(changed: &[usize]) -> String {
    (0..20).map(|n| if changed.contains(&n) { format!("new {n}\n") } else { format!("line {n}\n") }).collect()
}

#[test]
fn r_undo_a_part_that_is_broken_off_at_any_step_is_whole_before_or_after_and_it_can_be_told() {
    let (whole, without) = (lines(&[1, 15]), lines(&[15]));
    let (mut befores, mut afters) = (0, 0);
    for steps in 0.. {
        let mut rig = Rig::new();
        rig.write("list", lines(&[]));
        let before = rig.take();
        rig.write("list", &whole);
        let after = rig.take();
        let effects = rig.changes(&before, &after).effects;
        let (_, parts) = parts(&rig.blobs, &effects[0], &Limits::default()).unwrap().unwrap();
        let part = parts.names().next().unwrap();
        let step = plan_part(&rig.place, &rig.blobs, &effects[0], &BTreeSet::new(), &part).unwrap().unwrap();
        let step = [step];
        let broken = carry_out_until(&rig.place, &rig.blobs, &step, &mut Fuse::after(steps));
        let state = preview(&rig.place, &step, None).unwrap().remove(0).1;
        match (rig.text("list"), state) {
            (text, State::Ready) if text == whole => befores += 1,
            (text, State::Done) if text == without => afters += 1,
            other => panic!("broken off after {steps} steps: {other:?}"),
        }
        let again = carry_out(&rig.place, &rig.blobs, &step).unwrap();
        assert_eq!((again.kept.len(), rig.text("list"), leftovers(&rig)), (0, without.clone(), 0));
        if broken.is_ok() {
            break;
        }
    }
    assert!(befores >= 2 && afters >= 1, "{befores} before, {afters} after");
}

fn leftovers(rig: &Rig) -> usize {
    let all = fs::read_dir(&rig.folder).unwrap().map(|entry| entry.unwrap().file_name());
    all.filter(|name| name.to_string_lossy().contains(".daybook-")).count()
}
