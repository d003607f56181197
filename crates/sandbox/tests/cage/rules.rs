//! What a command is given: environment, descriptors, limits; and that strength is told truthfully.
//!
//! What is said about a cage is compared with what cages do on this machine, and on one made poorer by hand.
//! Invariant: the report and the cages agree.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use sandbox::{
    CommandSpec, Exit, Floor, Mechanism, Missing, Network, Profile, Strength, probe, spawn, spawn_in,
};

use crate::lab::{Lab, NOBODY, User, each_cage, each_full_cage, output, users};

#[test]
fn the_environment_is_exactly_what_was_given() {
    each_cage(|lab, mechanism| {
        let mut host = lab.helper();
        host.env("SECRET_OF_THE_APP", "canary").args(["host", mechanism.name(), "folder"]).arg(&lab.folder);
        host.args(["--env", "ONE=1", "--env", "HOME=/root", "--", "/usr/bin/env"]);
        let printed = output(&mut host);
        let mut lines: Vec<_> = printed.lines().filter(|line| line.contains('=')).collect();
        lines.sort_unstable();
        let [home, one, path, tmp] = lines[..] else { panic!("{printed}") };
        assert_eq!((one, path), ("ONE=1", "PATH=/usr/bin:/bin"));
        assert!(home.starts_with("HOME=/") && home.ends_with("/home") && !home.contains("root"), "{home}");
        assert!(tmp.starts_with("TMPDIR=/"), "{tmp}");
    });
}

#[test]
fn an_uncaged_environment_is_exactly_what_was_given() {
    let lab = Lab::new(User::Myself);
    let mut host = lab.helper();
    host.env("SECRET_OF_THE_APP", "canary").args(["host", "uncaged", "folder"]).arg(&lab.folder);
    let printed = output(host.args(["--env", "ONE=1", "--", "/usr/bin/env"]));
    let mut lines: Vec<_> = printed.lines().filter(|line| line.contains('=')).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["ONE=1", "PATH=/usr/bin:/bin"]);
}

#[test]
fn s05_standard_input_is_empty() {
    each_cage(|lab, mechanism| {
        let printed = lab.run(
            mechanism.name(),
            &[],
            "read x; echo got $? ; cat; (: < /dev/tty) 2>/dev/null || echo no terminal",
        );
        assert!(printed.contains("got 1\nno terminal\n"), "{mechanism:?}: {printed}");
    });
}

#[test]
fn no_descriptor_of_the_app_reaches_the_command() {
    let lab = Lab::new(User::Myself);
    // One that isn't close-on-exec, as C libraries in the app open them.
    let leaky = File::open("/etc/hostname").or_else(|_| File::open("/etc/passwd")).unwrap();
    rustix::io::fcntl_setfd(&leaky, rustix::io::FdFlags::empty()).unwrap();
    for mechanism in lab.mechanisms() {
        // Without /proc in the partial cage, ask the shell for each number.
        let script = format!(
            "for n in 3 4 5 6 7 8 9 {}; do (: <&$n) 2>/dev/null && echo open $n; (: >&$n) 2>/dev/null && echo open $n; done; ls /proc/self/fd 2>/dev/null | tr '\\n' ' '",
            leaky.as_raw_fd()
        );
        let bash = CommandSpec {
            program: "/bin/bash".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        };
        let mut caged = spawn_in(mechanism, &Profile::for_folder(&lab.folder), &bash).unwrap();
        let text = std::io::read_to_string(caged.stdout.take().unwrap()).unwrap();
        assert!(text.trim().is_empty() || text.trim() == "0 1 2 3", "{mechanism:?}: {text}");
    }
}

#[test]
fn limits_hold() {
    each_cage(|lab, mechanism| {
        let printed = lab.run(
            mechanism.name(),
            &["--file-size", "4096"],
            "head -c 100000 /dev/zero > big; wc -c < big",
        );
        assert!(printed.contains("4096"), "{mechanism:?}: {printed}");
        let printed = lab.run(
            mechanism.name(),
            &["--memory", "50000000"],
            "perl -e '$x = \"a\" x 200000000; print qq(had it\n)'; echo code $?",
        );
        assert!(!printed.contains("had it") && !printed.contains("code 0"), "{mechanism:?}: {printed}");
        if lab.user == User::Myself {
            // The slow one: it really burns its second.
            let printed = lab.run(mechanism.name(), &["--cpu", "1"], "while :; do :; done");
            assert!(printed.contains("end: Signal("), "{mechanism:?}: {printed}");
        }
    });
}

#[test]
fn the_number_of_processes_is_limited_for_ordinary_users() {
    each_full_cage(|lab, mechanism| {
        if lab.user == User::Myself && rustix::process::geteuid().is_root() {
            return; // The kernel never counts root's; the interface says so.
        }
        let script = "i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done 2>&1; echo started";
        let printed = lab.run(mechanism.name(), &["--processes", "20"], script);
        assert!(printed.contains("fork"), "{mechanism:?}: {printed}");
    });
}

#[test]
fn both_full_mechanisms_work_where_the_kernel_allows_them() {
    let works = |user: User, program: &str, args: &[&str]| {
        let mut test = Command::new(program);
        test.args(args);
        if user == User::Nobody {
            test.uid(NOBODY);
        }
        test.status().is_ok_and(|status| status.success())
    };
    for user in users() {
        let lab = Lab::new(user);
        let found = lab.mechanisms();
        let report = output(lab.helper().arg("probe"));
        let bwrap = ["--unshare-all", "--ro-bind", "/", "/", "/bin/true"];
        assert!(
            !works(user, "/usr/bin/bwrap", &bwrap) || found.contains(&Mechanism::Bubblewrap),
            "{user:?}: {report}"
        );
        let unshare =
            ["--user", "--mount", "--net", "--pid", "--fork", "--map-root-user", "--mount-proc", "true"];
        // Root needs no user namespace for the others.
        let kinds = if user == User::Myself && rustix::process::geteuid().is_root() {
            &unshare[1..5]
        } else {
            &unshare
        };
        let mut kinds = kinds.to_vec();
        kinds.push("true");
        assert!(
            !works(user, "unshare", &kinds) || found.contains(&Mechanism::Namespaces),
            "{user:?}: {report}"
        );
    }
}

#[test]
fn the_report_is_what_the_cages_do() {
    let report = probe();
    let best = Mechanism::ALL.into_iter().find(|mechanism| report.of(*mechanism).works());
    assert_eq!(report.chosen, best);
    let lab = Lab::new(User::Myself);
    for mechanism in Mechanism::ALL {
        let started = spawn_in(mechanism, &Profile::for_folder(&lab.folder), &CommandSpec::shell("exit 3"));
        assert_eq!(started.is_ok(), report.of(mechanism).works(), "{mechanism:?}: {started:?}");
        let Ok(caged) = started else { continue };
        assert_eq!(caged.mechanism(), Some(mechanism));
        match (mechanism, caged.strength()) {
            (Mechanism::Bubblewrap | Mechanism::Namespaces, Strength::Full) => {}
            (Mechanism::Landlock, Strength::Partial(missing)) => {
                assert!(missing.contains(&Missing::FileNames))
            }
            (_, strength) => panic!("{mechanism:?} claims {strength:?}"),
        }
        assert_eq!(caged.wait().exit, Exit::Code(3));
    }
}

#[test]
fn the_best_cage_is_used_and_a_weaker_one_never_silently() {
    let lab = Lab::new(User::Myself);
    let profile = Profile::for_folder(&lab.folder);
    assert_eq!(profile.network, Network::None);
    let best = spawn(&profile, &CommandSpec::shell("true"), Floor::Partial).unwrap();
    assert_eq!(best.mechanism(), probe().chosen);
    match (&probe().strength, spawn(&profile, &CommandSpec::shell("true"), Floor::Full)) {
        (Strength::Full, Ok(caged)) => assert_eq!(caged.strength(), &Strength::Full),
        (Strength::Partial(_) | Strength::None(_), Err(_)) => {}
        (strength, started) => panic!("{strength:?} but {started:?}"),
    }
}

#[test]
fn r_pol_08_a_user_without_namespaces_and_bwrap_gets_told_so() {
    for user in users() {
        let lab = Lab::new(user);
        // As inside many containers: no namespace can be made any more.
        let forbidding = "echo 0 > /proc/sys/user/max_user_namespaces && echo 0 > /proc/sys/user/max_mnt_namespaces && exec \"$0\" probe";
        let inside = |command: &[&str]| {
            let mut unshare = Command::new("unshare");
            unshare.args(["--user", "--map-root-user"]).args(command);
            if user == User::Nobody {
                unshare.uid(NOBODY);
            }
            unshare
        };
        let mut helper = inside(&["sh", "-c", forbidding, lab.helper.to_str().unwrap()]);
        if !inside(&["true"]).status().is_ok_and(|status| status.success()) {
            if user == User::Myself && rustix::process::geteuid().is_root() {
                continue; // In a chroot: root has none of these namespaces, and needs none.
            }
            // Then this user is in such a place already.
            helper = lab.helper();
            helper.arg("probe");
        }
        let printed = output(&mut helper);
        assert!(
            printed.contains("bubblewrap: Fails(") && printed.contains("namespaces: Fails("),
            "{printed}"
        );
        assert!(
            printed.contains("strength: Partial(") && printed.contains("chosen: Some(Landlock)"),
            "{printed}"
        );
    }
}
