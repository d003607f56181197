//! Laws, on random folders and random edits.

use super::rig::Rig;
use crate::revision::*;
use domain::call::{Effect, Entry};
use domain::digest::Digest;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// What somebody does to the folder; what can't be done there isn't.
#[derive(Debug, Clone)]
enum Edit {
    Write(PathBuf, Vec<u8>),
    Folder(PathBuf),
    Link(PathBuf, u8),
    Delete(PathBuf),
    Rename(PathBuf, PathBuf),
    Mode(PathBuf, u32),
    HardLink(PathBuf, PathBuf),
}

impl Edit {
    fn make(&self, rig: &Rig) {
        let at = |path: &PathBuf| rig.folder.join(path);
        let _ = match self {
            Self::Write(path, content) => fs::write(at(path), content),
            Self::Folder(path) => fs::create_dir_all(at(path)),
            Self::Link(path, to) => symlink(format!("../link-{to}"), at(path)),
            Self::Delete(path) => fs::remove_file(at(path)).or_else(|_| fs::remove_dir_all(at(path))),
            Self::Rename(from, to) => fs::rename(at(from), at(to)),
            Self::Mode(path, mode) if at(path).symlink_metadata().is_ok_and(|meta| !meta.is_symlink()) => {
                // Read-only folders have modes that, opened for their owner, are no other mode here: a folder opened
                // so is taken for half restored.
                let mode = match (at(path).is_dir(), mode & 0o200) {
                    (false, _) => *mode,
                    (true, 0) => mode | 0o501,
                    (true, _) => mode | 0o700,
                };
                fs::set_permissions(at(path), fs::Permissions::from_mode(mode))
            }
            Self::Mode(..) => Ok(()),
            Self::HardLink(from, to) => fs::hard_link(at(from), at(to)),
        };
    }
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => prop::sample::select(vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec()]),
        1 => Just("日本".as_bytes().to_vec()),
        1 => Just(b"caf\xe9".to_vec()),
        1 => Just(vec![b'n'; 255]),
    ]
}

fn path() -> impl Strategy<Value = PathBuf> {
    let join = |names: Vec<Vec<u8>>| names.iter().map(|name| std::ffi::OsStr::from_bytes(name)).collect();
    prop::collection::vec(name(), 1..4).prop_map(join)
}

fn edit() -> impl Strategy<Value = Edit> {
    let content = prop::collection::vec(any::<u8>(), 0..40);
    let mode = prop::sample::select(vec![0o644, 0o600, 0o755, 0o444, 0o400, 0o4755]);
    prop_oneof![
        4 => (path(), content).prop_map(|(path, content)| Edit::Write(path, content)),
        3 => path().prop_map(Edit::Folder),
        1 => (path(), 0u8..3).prop_map(|(path, to)| Edit::Link(path, to)),
        2 => path().prop_map(Edit::Delete),
        2 => (path(), path()).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => (path(), mode).prop_map(|(path, mode)| Edit::Mode(path, mode)),
        1 => (path(), path()).prop_map(|(from, to)| Edit::HardLink(from, to)),
    ]
}

fn edits(most: usize) -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec(edit(), 0..most)
}

/// One folder for all rounds: what was left alone for some of them has settled, is known and isn't read again.
#[test]
fn r_undo_a_revision_by_the_index_is_the_one_by_reading_everything() {
    let mut rig = Rig::new();
    rig.bounds.folder_bytes = 600;
    let (mut runner, mut fewer, mut whole) = (TestRunner::deterministic(), 0, 0);
    for round in 0..400 {
        let edits = edits(4).new_tree(&mut runner).unwrap().current();
        edits.iter().for_each(|edit| edit.make(&rig));
        match round % 50 {
            10 => rig.write(".gitignore", "b/\n"),
            30 => rig.write(".gitignore", ""),
            _ => {}
        }
        if round % 7 == 0 {
            rig.index.save().unwrap();
            rig.index = Index::open(&rig.outside.path().join("private"), &rig.place, &rig.blobs);
        }
        let staged = |rig: &mut Rig| {
            let before = rig.blobs.stages.load(Ordering::Relaxed);
            let taken = rig.take();
            (Taken { new_bytes: 0, ..taken }, rig.blobs.stages.load(Ordering::Relaxed) - before)
        };
        let (by_index, some) = staged(&mut rig);
        let none = Index::open(&rig.outside.path().join("nothing-saved"), &rig.place, &rig.blobs);
        let index = std::mem::replace(&mut rig.index, none);
        let (by_reading, all) = staged(&mut rig);
        rig.index = index;
        assert_eq!(by_index, by_reading, "round {round}");
        fewer += usize::from(some < all);
        whole += usize::from(some == 0);
    }
    assert!(fewer > 200, "the index was of use in {fewer} rounds");
    assert!(whole > 0, "nothing was written again where nothing had changed");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r_undo_undo_gives_the_same_tree_and_redo_the_other(first in edits(25), second in edits(25)) {
        let mut rig = Rig::new();
        first.iter().for_each(|edit| edit.make(&rig));
        let before = rig.take();
        second.iter().for_each(|edit| edit.make(&rig));
        let after = rig.take();
        let found = rig.changes(&before, &after);
        prop_assert_eq!(found.more, 0);
        for effect in &found.effects {
            let stood = |taken: &Taken| standing_in(&rig.blobs, &taken.tree, &effect.path).unwrap();
            prop_assert_eq!((&stood(&before), &stood(&after)), (&effect.before, &effect.after));
        }
        let undone = rig.restore(&found.effects);
        prop_assert_eq!(&undone.kept, &[]);
        prop_assert_eq!(rig.take().tree, before.tree);
        let redone = rig.restore(&undone.done);
        prop_assert_eq!(&redone.kept, &[]);
        prop_assert_eq!(rig.take().tree, after.tree);
        prop_assert_eq!(compose(&[undone.done, redone.done].concat()), vec![]);
    }

    #[test]
    fn r_undo_turn_by_turn_or_at_once_is_the_same(turns in prop::collection::vec(edits(8), 1..4)) {
        let mut rig = Rig::new();
        let first = rig.take();
        let (mut last, mut all) = (first.clone(), Vec::new());
        for turn in &turns {
            turn.iter().for_each(|edit| edit.make(&rig));
            let next = rig.take();
            all.push(rig.changes(&last, &next).effects);
            last = next;
        }
        let bare = |effects: Vec<Effect>| -> Vec<Effect> {
            effects.into_iter().map(|effect| Effect { lines: None, ..effect }).collect()
        };
        prop_assert_eq!(compose(&all.concat()), bare(rig.changes(&first, &last).effects));
        prop_assert_eq!(rig.restore(&compose(&all.concat())).kept, vec![]);
        prop_assert_eq!(rig.take().tree, first.tree);
    }

    #[test]
    fn r_undo_an_edit_in_between_is_never_lost(ours in edits(15), theirs in edits(6)) {
        let mut rig = Rig::new();
        rig.write("a", "a");
        rig.write("b/c", "c");
        let before = rig.take();
        ours.iter().for_each(|edit| edit.make(&rig));
        let after = rig.take();
        // A second name they give to a file of ours shows what that file shows.
        let theirs = theirs.iter().filter(|edit| !matches!(edit, Edit::HardLink(..)));
        theirs.for_each(|edit| edit.make(&rig));
        let person = rig.take();
        let effects = rig.changes(&before, &after).effects;
        let restored = rig.restore(&effects);
        // Only paths that were ours and weren't touched since have changed.
        let undone = rig.index_free_take();
        let since = rig.changes(&person, &undone).effects;
        for effect in &since {
            let ours = effects.iter().find(|one| one.path == effect.path);
            match ours {
                Some(ours) => {
                    prop_assert_eq!(&effect.after, &ours.before, "{}", effect.path);
                    let kept = restored.kept.iter().any(|kept| kept.path == effect.path);
                    prop_assert!(!kept, "{} is reported as kept", effect.path);
                }
                // A folder on the way that has to be there again.
                None => prop_assert!(matches!(
                    (&effect.before, &effect.after),
                    (None, Some(Entry::Folder { .. }))
                ), "{}", effect.path),
            }
        }
        // And all of it leads back.
        let back = rig.restore(&restored.done);
        prop_assert_eq!(back.kept, vec![]);
        prop_assert_eq!(rig.take().tree, person.tree);
    }

    #[test]
    fn composing_is_associative(parts in prop::collection::vec((0usize..3, 0usize..3), 0..12), cut in 0usize..12) {
        // Each effect begins with what the one before it left.
        let state = |number: usize| match number {
            0 => None,
            1 => Some(Entry::Link { target: "x".into() }),
            _ => Some(Entry::File { content: Digest::of(b"x"), bytes: 1, mode: Some(0o644) }),
        };
        let mut now = [0; 3];
        let effects: Vec<Effect> = parts.iter().map(|(path, to)| {
            let before = state(std::mem::replace(&mut now[*path], *to));
            Effect { path: path.to_string(), before, after: state(*to), lines: None, kept_in: None, parted: None }
        }).collect();
        let (left, right) = effects.split_at(cut.min(effects.len()));
        let whole = compose(&effects);
        prop_assert_eq!(&compose(&[compose(left), right.to_vec()].concat()), &whole);
        prop_assert_eq!(&compose(&[left.to_vec(), compose(right)].concat()), &whole);
        let back: Vec<Effect> = effects.iter().rev().map(inverse).collect();
        prop_assert_eq!(compose(&[effects, back].concat()), vec![]);
    }

    #[test]
    fn trees_are_read_as_they_were_written_and_nothing_else_is(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        use crate::revision::tree::Tree;
        let whole = [&b"daybook tree 1\n"[..], &bytes].concat();
        if let Ok(tree) = Tree::decode(&whole) {
            prop_assert_eq!(tree.encode(), whole);
        }
    }
}
