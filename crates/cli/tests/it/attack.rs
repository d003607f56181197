//! The local door, knocked at by others.

use crate::rig::Rig;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// The way to a process namespace of one's own that this machine allows; the rule itself is tested beside the code.
fn apart() -> Option<&'static [&'static str]> {
    let ways: [&[&str]; 2] = [&["--user", "--map-root-user", "--pid", "--fork"], &["--pid", "--fork"]];
    let works = |way: &&[&str]| {
        Command::new("unshare").args(*way).arg("true").status().is_ok_and(|end| end.success())
    };
    ways.into_iter().find(works)
}

#[test]
fn a64_the_door_is_for_its_owner_and_not_for_another_process_namespace() {
    let rig = Rig::new(json!([{"say": [{"text": "a"}, {"text": "b", "wait_ms": 600_000}]}]));
    let mut exec = rig.start(&Rig::exec(&[]));
    exec.until("attempt/start");
    let folder = rig.root.path().join("home/daybook");
    let socket = std::fs::read_dir(&folder).expect("a folder").flatten().next().expect("a socket").path();
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&socket)), (0o700, 0o600));
    // The same program, the same user, in a process namespace of its own: refused.
    let inside = rig.command(&["sessions", "--json"]);
    let Some(apart) = apart() else { return };
    let mut caged = Command::new("unshare");
    caged.args(apart).arg(inside.get_program()).args(inside.get_args());
    for (name, value) in inside.get_envs() {
        match value {
            Some(value) => caged.env(name, value),
            None => caged.env_remove(name),
        };
    }
    let caged = caged.current_dir(rig.root.path()).output().expect("unshare runs");
    let said = String::from_utf8_lossy(&caged.stderr).into_owned();
    assert_eq!((caged.status.success(), caged.stdout.is_empty()), (false, true), "{said}");
    assert!(said.contains("door"), "{said}");
    // From where we are it is open.
    assert_eq!(rig.run(&["sessions", "--json"]).json().len(), 1);
    exec.signal("-INT");
    assert_eq!(exec.end().0, 5);
}
