//! Runaways of every kind: each meets its bound, in every cage, for every user.
//!
//! Bounds are set low, so that a cage without them is told apart by what it gets done. Invariant: whatever a command
//! does, its cage ends in bounded time and nothing of it is left.

use std::time::{Duration, Instant};

use sandbox::Mechanism;

use crate::lab::{Lab, PYTHON, User, each_cage, each_full_cage, living_with, output, within};

fn run(lab: &Lab, mechanism: Mechanism, options: &[&str], script: &str) -> String {
    let mut host = lab.helper();
    host.args(["host", mechanism.name(), "folder"]).arg(&lab.folder).args(options);
    output(host.args(["--", "/bin/bash", "-c", script]))
}

#[test]
fn r_pol_08_a_fork_bomb_ends() {
    each_cage(|lab, mechanism| {
        // Where nothing bounds root's processes the kernel can't help, and a bomb takes the other tests along.
        let root = lab.user == User::Myself && rustix::process::geteuid().is_root();
        if root && !counts_for_root() {
            return;
        }
        let mark = lab.base.path().file_name().unwrap().to_str().unwrap();
        let began = Instant::now();
        let printed = run(
            lab,
            mechanism,
            &["--processes", "100"],
            &format!("bomb() {{ bomb | bomb & }}; bomb; sleep 3; : {mark}"),
        );
        assert!(began.elapsed() < Duration::from_secs(60), "{mechanism:?}: {:?}", began.elapsed());
        // The kernel refuses more, and bash gives up; or they are counted first.
        let ended = printed.contains("over: Processes") || printed.contains("end: Code(");
        assert!(ended, "{mechanism:?} for {:?}: {printed:.1000}", lab.user);
        within(Duration::from_secs(5), "no process is left", || living_with(mark).is_empty());
        within(Duration::from_secs(5), "no group is left", || groups().is_empty());
    });
}

/// Does this machine let root bound a group of processes?
fn counts_for_root() -> bool {
    ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].iter().any(|place| {
        let group = std::path::Path::new(place).join(format!("daybook-test-{}", std::process::id()));
        let made = std::fs::create_dir(&group).is_ok() && group.join("pids.max").exists();
        let _ = std::fs::remove_dir(&group);
        made
    })
}

/// Groups of cages that are over.
fn groups() -> Vec<String> {
    let place = |place: &str| std::fs::read_dir(place).into_iter().flatten().flatten();
    let names = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].into_iter().flat_map(place);
    let ours = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    ours.filter(|name| name.starts_with("daybook-cage-")).collect()
}

#[test]
fn r_pol_08_processes_beyond_the_limit_are_refused_or_end_the_cage() {
    each_cage(|lab, mechanism| {
        // The children last until they are all counted.
        let script = |count: u32| {
            format!(
                "{PYTHON} -c '
import os, time
for _ in range({count}):
    try:
        if os.fork() == 0:
            time.sleep(1); os._exit(0)
    except BlockingIOError:
        print(\"refused\"); break
time.sleep(0.5)
print(\"done\")'"
            )
        };
        let printed = run(lab, mechanism, &["--processes", "20"], &script(60));
        let held = printed.contains("refused") || printed.contains("over: Processes");
        assert!(held, "{mechanism:?} for {:?}: {printed:.1000}", lab.user);
        let printed = run(lab, mechanism, &["--processes", "80"], &script(60));
        let free = printed.contains("done") && !printed.contains("refused") && !printed.contains("over:");
        assert!(free, "{mechanism:?} for {:?}: {printed:.1000}", lab.user);
    });
}

#[test]
fn r_pol_08_many_small_hogs_together_end_the_cage() {
    each_cage(|lab, mechanism| {
        let script = format!(
            "{PYTHON} -c '
import os, time
for _ in range(8):
    if os.fork() == 0:
        hog = bytearray(50_000_000); time.sleep(20); os._exit(0)
time.sleep(20)
print(\"got away\")'"
        );
        let limits = ["--memory", "150000000", "--total-memory", "250000000"];
        let printed = run(lab, mechanism, &limits, &script);
        assert!(printed.contains("over: Memory"), "{mechanism:?} for {:?}: {printed}", lab.user);
        assert!(printed.contains("end: Killed") && !printed.contains("got away"), "{printed}");
    });
}

#[test]
fn memory_shared_after_a_fork_is_counted_once() {
    each_cage(|lab, mechanism| {
        let script = format!(
            "{PYTHON} -c '
import os, time
hog = bytearray(60_000_000)
children = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        time.sleep(0.7); os._exit(0)
    children.append(child)
for child in children: os.waitpid(child, 0)
print(\"all done\")'"
        );
        let printed = run(lab, mechanism, &["--total-memory", "250000000"], &script);
        assert!(printed.contains("all done") && !printed.contains("over:"), "{mechanism:?}: {printed}");
    });
}

#[test]
fn r_pol_08_shared_memory_and_private_folders_count() {
    each_full_cage(|lab, mechanism| {
        let limits = ["--total-memory", "200000000"];
        for file in ["/dev/shm/hog", "$HOME/hog", "$TMPDIR/hog"] {
            let script = format!("head -c 300000000 /dev/zero > {file}; sleep 20; echo got away");
            let printed = run(lab, mechanism, &limits, &script);
            assert!(printed.contains("over: Memory"), "{mechanism:?}, {file}: {printed}");
        }
        let script = format!(
            "{PYTHON} -c '
import mmap, time
hog = mmap.mmap(-1, 300_000_000)
for at in range(0, 300_000_000, 4096): hog[at] = 1
time.sleep(20); print(\"got away\")'"
        );
        let printed = run(lab, mechanism, &limits, &script);
        assert!(printed.contains("over: Memory"), "{mechanism:?}: {printed}");
    });
}

#[test]
fn r_pol_08_one_hog_gets_no_more_than_its_share() {
    each_cage(|lab, mechanism| {
        let script = format!("{PYTHON} -c 'hog = bytearray(300_000_000); print(\"got away\")'; echo code $?");
        let printed = run(lab, mechanism, &["--memory", "100000000"], &script);
        assert!(printed.contains("MemoryError") && printed.contains("code 1"), "{mechanism:?}: {printed}");
    });
}

#[test]
fn r_pol_08_a_file_stops_at_its_limit() {
    each_cage(|lab, mechanism| {
        let script = "head -c 1000000 /dev/zero > big; echo code $?; head -c 100 /dev/zero > small; cat big big > both; wc -c < big; wc -c < small; wc -c < both";
        let printed = run(lab, mechanism, &["--file-size", "65536"], script);
        assert!(printed.contains("65536\n100\n65536\n"), "{mechanism:?} for {:?}: {printed}", lab.user);
        assert!(!printed.contains("code 0"), "{printed}");
    });
}

#[test]
fn r_pol_08_processor_time_ends() {
    each_cage(|lab, mechanism| {
        let printed = run(lab, mechanism, &["--cpu", "1"], "while :; do :; done");
        assert!(printed.contains("end: Signal("), "{mechanism:?} for {:?}: {printed}", lab.user);
    });
}

#[test]
fn the_kernel_takes_the_command_first_when_memory_runs_out() {
    each_cage(|lab, mechanism| {
        // Looked at from outside, for a command that can be found.
        let mark = lab.base.path().file_name().unwrap().to_str().unwrap().to_owned();
        let mut host = lab.helper();
        host.args(["host", mechanism.name(), "folder"]).arg(&lab.folder);
        host.args(["--", "/bin/bash", "-c", &format!("while [ ! -e seen ]; do sleep 0.05; done; : {mark}")]);
        let mut host = host.spawn().unwrap();
        let mut found = Vec::new();
        within(Duration::from_secs(10), "the command runs", || {
            found = scores(&mark);
            !found.is_empty()
        });
        std::fs::write(lab.folder.join("seen"), "").unwrap();
        assert!(host.wait().unwrap().success());
        assert!(found.iter().all(|score| score == "1000"), "{mechanism:?} for {:?}: {found:?}", lab.user);
    });
}

/// How much the kernel would like to end the marked shell.
fn scores(mark: &str) -> Vec<String> {
    let ours = |path: &std::path::Path| {
        std::fs::read(path.join("cmdline")).is_ok_and(|line| {
            let line = String::from_utf8_lossy(&line).into_owned();
            line.starts_with("/bin/bash\0-c\0while") && line.contains(mark)
        })
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let score = |path: std::path::PathBuf| std::fs::read_to_string(path.join("oom_score_adj")).ok();
    entries.filter(|path| ours(path)).filter_map(score).map(|score| score.trim().to_owned()).collect()
}

#[test]
fn an_ordinary_command_meets_no_limit() {
    let lab = Lab::new(User::Myself);
    for mechanism in lab.mechanisms() {
        let printed = run(&lab, mechanism, &[], "for n in $(seq 200); do (:) & done; wait; echo fine");
        assert!(printed.contains("fine\nend: Code(0)"), "{mechanism:?}: {printed}");
    }
}
