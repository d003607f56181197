//! Somebody swaps a folder for a link while we work in it.
#![cfg(unix)]

use super::rig::Rig;
use flipping::Flipper;
use serde_json::json;

/// Rounds; the nightly size is 100,000.
const ROUNDS: usize = 5_000;

/// A thread that swaps `d` between a real folder and a link out of the project, as fast as it can.
mod flipping {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    pub(super) struct Flipper {
        stop: Arc<AtomicBool>,
        pub(super) flips: Arc<AtomicUsize>,
        thread: Option<std::thread::JoinHandle<()>>,
    }

    impl Flipper {
        pub(super) fn start(folder: PathBuf, outside: PathBuf) -> Self {
            let (stop, flips) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
            let (told, count) = (Arc::clone(&stop), Arc::clone(&flips));
            let thread = std::thread::spawn(move || {
                let (d, real, link) = (folder.join("d"), folder.join("real"), folder.join("link"));
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
                    count.fetch_add(1, Ordering::Relaxed);
                    std::thread::yield_now();
                }
            });
            Self { stop, flips, thread: Some(thread) }
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

#[test]
fn a36_a_folder_that_becomes_a_link_lets_nothing_out() {
    let rig = Rig::in_memory();
    rig.put("d/f", b"inside");
    let out = rig.outside.path().join("out");
    std::fs::create_dir(&out).unwrap();
    for name in ["f", "victim"] {
        std::fs::write(out.join(name), "CANARY").unwrap();
    }
    let flipper = Flipper::start(rig.path("."), out.clone());
    let (mut done, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let content = format!("round {round}");
        let (name, args) = match round % 5 {
            0 => ("write_file", json!({"path": "d/f", "content": content})),
            1 => ("edit_file", json!({"path": "d/f", "old_text": "round", "new_text": "edited round"})),
            2 => ("delete_path", json!({"path": "d/victim"})),
            3 => ("write_file", json!({"path": format!("d/new{}", round % 50), "content": content})),
            _ => ("read_file", json!({"path": "d/f"})),
        };
        match rig.try_call(name, args) {
            Ok(finished) => {
                assert!(!finished.text.contains("CANARY"), "{name} read outside: {}", finished.text);
                if finished.is_error() { refused += 1 } else { done += 1 }
            }
            Err(_) => refused += 1,
        }
    }
    let flips = flipper.flips.load(std::sync::atomic::Ordering::Relaxed);
    drop(flipper);
    let mut names: Vec<_> =
        std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["f", "victim"], "nothing was made or deleted outside");
    for name in ["f", "victim"] {
        assert_eq!(std::fs::read(out.join(name)).unwrap(), b"CANARY");
    }
    assert!(
        flips > 100 && done > 50 && refused > 50,
        "both sides were met: {flips} flips, {done} done, {refused} refused"
    );
}
