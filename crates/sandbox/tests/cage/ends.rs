//! How cages end: with their shell, with their handle, with the app.
//!
//! The tree to be ended holds a writer that left its parent and its session and ignores polite signals; its growing
//! file shows whether it lives. Invariant: nothing waits for a fixed time, but for something to be seen.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use sandbox::{Caged, CommandSpec, Exit, Mechanism, Profile, spawn_in, spawn_uncaged};

use crate::lab::{Lab, User, each_cage, living_with, within};

/// A writer that forks twice, leads its own session and ignores every polite signal.
const WRITER: &str = "setsid sh -c '(trap \"\" TERM HUP INT; setsid sh -c \"trap \\\"\\\" TERM HUP INT; while :; do echo x >> grow; sleep 0.01; done\" &) & exit' & ";

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

/// Waits until the file has been left alone for a while; the sum must stay under `limit`.
#[track_caller]
fn stops_growing(path: &Path, limit: Duration) {
    const QUIET: Duration = Duration::from_millis(300);
    let mut last = (size(path), Instant::now());
    within(limit, "the file stops growing", || {
        let now = size(path);
        if now != last.0 {
            last = (now, Instant::now());
        }
        last.1.elapsed() >= QUIET
    });
}

fn grows(path: &Path) {
    let before = size(path);
    within(Duration::from_secs(10), "the writer writes", || size(path) > before + 4);
}

fn start_host(lab: &Lab, how: &str, script: &str) -> Child {
    lab.host(how, "folder", &[], script).stdout(Stdio::piped()).spawn().unwrap()
}

/// Shell scripts of a test contain its folder's unique name, so its processes can be found.
fn mark(lab: &Lab) -> String {
    lab.base.path().file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn killing_the_app_ends_a_double_forked_writer_within_two_seconds() {
    each_cage(|lab, mechanism| {
        let mark = mark(lab);
        let mut host = start_host(lab, mechanism.name(), &format!("{WRITER} : {mark}; sleep 300"));
        let file = lab.folder.join("grow");
        grows(&file);
        host.kill().unwrap(); // SIGKILL
        let killed = Instant::now();
        host.wait().unwrap();
        stops_growing(&file, Duration::from_secs(2));
        within(Duration::from_secs(2).saturating_sub(killed.elapsed()), "no process is left", || {
            living_with(&mark).is_empty()
        });
    });
}

#[test]
fn killing_the_app_ends_an_uncaged_tree_too() {
    let lab = Lab::new(User::Myself);
    let mut host = start_host(&lab, "uncaged", &format!("{WRITER} sleep 300"));
    let file = lab.folder.join("grow");
    grows(&file);
    host.kill().unwrap();
    host.wait().unwrap();
    stops_growing(&file, Duration::from_secs(2));
}

fn cage(mechanism: Mechanism, lab: &Lab, script: &str) -> Caged {
    spawn_in(mechanism, &Profile::for_folder(&lab.folder), &CommandSpec::shell(script)).unwrap()
}

fn each_own_cage(check: impl Fn(&Lab, Mechanism)) {
    for mechanism in Lab::new(User::Myself).mechanisms() {
        check(&Lab::new(User::Myself), mechanism);
    }
}

#[test]
fn x10_kill_ends_children_that_ignore_term_in_sessions_of_their_own() {
    each_own_cage(|lab, mechanism| {
        let caged =
            cage(mechanism, lab, &format!("trap '' TERM HUP INT; {WRITER} {WRITER} sleep 300; sleep 300"));
        let file = lab.folder.join("grow");
        grows(&file);
        let asked = Instant::now();
        let end = caged.kill();
        assert!(asked.elapsed() < Duration::from_secs(1), "{mechanism:?} took {:?}", asked.elapsed());
        assert_eq!(end.exit, Exit::Killed);
        let after = size(&file);
        stops_growing(&file, Duration::from_secs(1));
        assert_eq!(size(&file), after, "something wrote after kill returned");
    });
}

#[test]
fn killing_the_launcher_ends_a_full_cage() {
    each_own_cage(|lab, mechanism| {
        if mechanism == Mechanism::Landlock {
            return; // What it says is missing there.
        }
        let caged = cage(mechanism, lab, &format!("{WRITER} sleep 300"));
        let file = lab.folder.join("grow");
        grows(&file);
        signal(&caged, rustix::process::Signal::KILL);
        let end = caged.wait_timeout(Duration::from_secs(2)).expect("it ends");
        assert_eq!(end.exit, Exit::Lost);
        stops_growing(&file, Duration::from_secs(2));
    });
}

#[test]
fn kill_works_though_the_launcher_is_stuck() {
    each_own_cage(|lab, mechanism| {
        if mechanism == Mechanism::Landlock {
            return;
        }
        let caged = cage(mechanism, lab, &format!("{WRITER} sleep 300"));
        let file = lab.folder.join("grow");
        grows(&file);
        signal(&caged, rustix::process::Signal::STOP);
        let asked = Instant::now();
        caged.kill();
        assert!(asked.elapsed() < Duration::from_millis(1_500), "{:?}", asked.elapsed());
        stops_growing(&file, Duration::from_secs(1));
    });
}

fn signal(caged: &Caged, signal: rustix::process::Signal) {
    let launcher = rustix::process::Pid::from_raw(i32::try_from(caged.pid()).unwrap()).unwrap();
    rustix::process::kill_process(launcher, signal).unwrap();
}

#[test]
fn dropping_the_handle_kills() {
    each_own_cage(|lab, mechanism| {
        let caged = cage(mechanism, lab, &format!("{WRITER} sleep 300"));
        let file = lab.folder.join("grow");
        grows(&file);
        drop(caged);
        let after = size(&file);
        stops_growing(&file, Duration::from_secs(1));
        assert_eq!(size(&file), after);
    });
}

#[test]
fn s01_the_call_ends_with_its_shell_though_children_hold_the_pipes() {
    each_own_cage(|lab, mechanism| {
        for script in ["sleep 300 & echo ok", "setsid sleep 300 & echo ok; sleep 0.2"] {
            let began = Instant::now();
            let mut caged = cage(mechanism, lab, script);
            let mut text = String::new();
            caged.stdout.take().unwrap().read_to_string(&mut text).unwrap();
            let end = caged.wait_timeout(Duration::from_secs(5)).expect("it ends");
            assert!(began.elapsed() < Duration::from_secs(3), "{mechanism:?} took {:?}", began.elapsed());
            assert!(text.starts_with("ok"), "{text}");
            assert_eq!(end.exit, Exit::Code(0));
            let names: Vec<_> = end.leftovers.iter().map(|one| one.name.as_str()).collect();
            assert_eq!(names.len(), 1, "{mechanism:?}: {names:?}");
            assert_eq!(caged.leftovers(), end.leftovers);
        }
    });
}

#[test]
fn s01_leftovers_are_named_by_their_command_line() {
    each_own_cage(|lab, mechanism| {
        // The child says when it has become `sleep`, so its name is known.
        let script = "mkfifo ready; (exec 3<>ready; exec sh -c 'echo >&3; exec sleep 301') & read x < ready; sleep 0.1; exit 4";
        let end = cage(mechanism, lab, script).wait();
        assert_eq!(end.exit, Exit::Code(4));
        assert_eq!(end.leftovers.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["sleep 301"]);
        assert_eq!(end.more_leftovers, 0);
    });
}

#[test]
fn s02_a_child_that_keeps_printing_neither_pins_nor_leaks() {
    each_own_cage(|lab, mechanism| {
        let began = Instant::now();
        let mut caged = cage(mechanism, lab, "(while :; do echo t; sleep .05; done) & sleep 0.5; echo fg");
        let mut pipe = caged.stdout.take().unwrap();
        let end = caged.wait();
        assert!(began.elapsed() < Duration::from_secs(3));
        assert!(!end.leftovers.is_empty(), "{mechanism:?}");
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap(); // Ends: no writer is left.
        assert!(text.contains("fg\n"), "{text}");
    });
}

#[test]
fn s08_a77_a_child_of_an_ended_shell_changes_nothing_more() {
    each_own_cage(|lab, mechanism| {
        let end = cage(mechanism, lab, &format!("{WRITER} while [ ! -s grow ]; do :; done")).wait();
        assert_eq!(end.exit, Exit::Code(0));
        assert!(!end.leftovers.is_empty(), "{mechanism:?}");
        let file = lab.folder.join("grow");
        let after = size(&file);
        stops_growing(&file, Duration::from_secs(1));
        assert_eq!(size(&file), after, "{mechanism:?}");
    });
}

#[test]
fn s08_an_uncaged_tree_ends_with_its_shell() {
    let lab = Lab::new(User::Myself);
    let command = CommandSpec::shell(format!("{WRITER} while [ ! -s grow ]; do :; done"));
    let end = spawn_uncaged(&lab.folder, &command).unwrap().wait();
    assert_eq!(end.exit, Exit::Code(0));
    assert!(!end.leftovers.is_empty());
    let after = size(&lab.folder.join("grow"));
    stops_growing(&lab.folder.join("grow"), Duration::from_secs(1));
    assert_eq!(size(&lab.folder.join("grow")), after);
}

#[test]
fn x10_a_fork_storm_is_ended() {
    each_own_cage(|lab, mechanism| {
        let mut profile = Profile::for_folder(&lab.folder);
        profile.limits.processes = 200;
        // Each generation forks twice and ends: a moving target of bounded width.
        // One that outruns every look is for process namespaces only.
        let nap = if mechanism == Mechanism::Landlock { "sleep 0.05;" } else { "" };
        let script =
            format!("f() {{ {nap} (f) & }}; for i in 1 2 3 4 5 6 7 8; do f & done; echo go; sleep 300");
        let mut caged = spawn_in(mechanism, &profile, &CommandSpec::shell(script)).unwrap();
        let mut two = [0; 2];
        caged.stdout.as_mut().unwrap().read_exact(&mut two).unwrap();
        let asked = Instant::now();
        caged.kill();
        assert!(asked.elapsed() < Duration::from_secs(2), "{mechanism:?}: {:?}", asked.elapsed());
        let mut rest = Vec::new();
        caged.stdout.take().unwrap().read_to_end(&mut rest).unwrap(); // Ends: no process holds the pipe.
    });
}

#[test]
fn exits_are_told_apart() {
    each_own_cage(|lab, mechanism| {
        let check = |script: &str, expect: Exit| {
            assert_eq!(cage(mechanism, lab, script).wait().exit, expect, "{mechanism:?}: {script}");
        };
        check("true", Exit::Code(0));
        check("exit 200", Exit::Code(200));
        check("kill -SEGV $$", Exit::Signal(11));
        check("kill -KILL $$", Exit::Signal(9));
        let missing = CommandSpec { program: "/usr/bin/does-not-exist".into(), args: vec![], env: vec![] };
        let end = spawn_in(mechanism, &Profile::for_folder(&lab.folder), &missing).unwrap().wait();
        assert!(matches!(&end.exit, Exit::NotStarted(why) if why.contains("No such file")), "{end:?}");
    });
}

#[test]
fn listeners_hear_the_end_once_whenever_they_come() {
    each_own_cage(|lab, mechanism| {
        let caged = cage(mechanism, lab, "exit 5");
        let (send, heard) = channel();
        let early = send.clone();
        caged.on_end(move |end| early.send(end.exit).unwrap());
        caged.wait();
        caged.on_end(move |end| send.send(end.exit).unwrap());
        let all: Vec<_> = heard.iter().collect();
        assert_eq!(all, [Exit::Code(5), Exit::Code(5)]);
        assert_eq!(caged.kill().exit, Exit::Code(5), "killing afterwards changes nothing");
    });
}

#[test]
fn a_thread_that_starts_a_cage_may_end_first() {
    each_own_cage(|lab, mechanism| {
        let profile = Profile::for_folder(&lab.folder);
        let command = CommandSpec::shell("sleep 0.3; exit 6");
        let start = move || spawn_in(mechanism, &profile, &command).unwrap();
        let caged = std::thread::spawn(start).join().unwrap();
        assert_eq!(caged.wait().exit, Exit::Code(6));
    });
}

#[test]
fn x10_a_thousand_runs_leak_no_descriptor_and_no_process() {
    const RUNS: usize = 1_000;
    const AT_ONCE: usize = 4;
    let lab = Lab::new(User::Myself);
    let run = |mechanism| {
        let mut caged = cage(mechanism, &lab, ":");
        assert_eq!(caged.wait().exit, Exit::Code(0));
        caged.stdout.take();
    };
    let count = || fs::read_dir("/proc/self/fd").unwrap().count();
    let mechanisms: Vec<_> = lab.mechanisms();
    mechanisms.iter().for_each(|mechanism| run(*mechanism)); // The starting thread and its channel stay.
    // Of those runs some may still be on their way out, so that fewer are right, too; what a thousand leak isn't fewer.
    let before = count();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                for turn in 0..RUNS / AT_ONCE {
                    run(mechanisms[turn % mechanisms.len()]);
                }
            });
        }
    });
    // The last waiting threads may still be on their way out.
    within(Duration::from_secs(60), "no more descriptors than before", || count() <= before);
    let own = std::process::id().to_string();
    let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    assert_eq!(children.trim(), "", "processes leaked");
}
