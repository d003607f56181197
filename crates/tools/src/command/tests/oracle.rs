//! Every command that would run unasked is run by the real bash in the cage, where every program only notes how it was
//! called. What bash started must be what the reading said, word for word, and the folder must be untouched.
//!
//! `DAYBOOK_COMMANDS=1000000 cargo nextest run -p tools a_million` makes that many commands, `DAYBOOK_SEED=7` others; a
//! change makes 20,000. The seed is printed.

use super::made::{Dice, command};
use super::{bash, understood};
use crate::command::{Joint, Pattern, Simple, covers, harmless};
use sandbox::{CommandSpec, Floor, Profile};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Commands that one cage runs.
const BATCH: usize = 200;

pub(super) fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// What a person may have granted in the end.
fn rules() -> Vec<Pattern> {
    let kinds = ["git", "cargo test", "npm run build", "npm test", "head", "cd"];
    kinds.map(super::kind).into()
}

/// The folder, and beside it the programs that note how they are called.
struct Lab {
    root: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let lab = Self { root };
        for folder in ["stubs", "folder/src", "folder/sub"] {
            std::fs::create_dir_all(lab.at(folder)).unwrap();
        }
        for file in ["f", "g", "src/a.rs", "sub/g", "x", "a b", "笔记"] {
            std::fs::write(lab.at("folder").join(file), "one\ntwo\nfn main\n").unwrap();
        }
        // The number of arguments, the name and the arguments, in one write.
        let stub = "#!/bin/sh\nprintf '%s\\0' \"$#\" \"${0##*/}\" \"$@\" >&9\n";
        let names = super::super::table::names().chain([
            "find", "sed", "test", "[", "echo", "printf", "git", "cargo", "npm", "rm", "id", "python3",
            "xargs", "curl", "sudo", "tee", "awk", "dd", "touch", "cp", "mv", "nohup", "setsid",
        ]);
        for name in names {
            let path = lab.at("stubs").join(name);
            std::fs::write(&path, stub).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in ["timeout", "nice", "env", "stdbuf", "bash", "sh"] {
            let real = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name));
            symlink(real.iter().find(|path| path.exists()).unwrap(), lab.at("stubs").join(name)).unwrap();
        }
        // Built-in commands are switched off, so that the programs of the same name are called; what isn't there notes too.
        let env = "enable -n echo printf true false test [ pwd\n\
                   command_not_found_handle() { builtin printf '%s\\0' \"$(( $# - 1 ))\" \"$@\" >&9; return 127; }\n";
        std::fs::write(lab.at("stubs/.env"), env.replace("builtin printf", "/usr/bin/printf")).unwrap();
        let driver = "exec 9>&1\nwhile IFS= read -r -d '' command; do\n\
                      PATH=\"$1\" BASH_ENV=\"$1/.env\" /bin/bash -c \"$command\" </dev/null >/dev/null 2>&1\n\
                      printf 'END\\0' >&9\ndone <\"$1/commands\"\n";
        std::fs::write(lab.at("stubs/driver"), driver).unwrap();
        lab
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// What each command started, in the cage.
    fn run(&self, commands: &[&str]) -> Vec<Vec<Vec<String>>> {
        let mut text = commands.join("\0");
        text.push('\0');
        std::fs::write(self.at("stubs/commands"), text).unwrap();
        let profile = Profile { read_only: vec![self.at("stubs")], ..Profile::for_folder(self.at("folder")) };
        let spec = CommandSpec {
            program: "/bin/bash".into(),
            args: vec![self.at("stubs/driver").into(), self.at("stubs").into()],
            env: vec![("LC_ALL".into(), "C.UTF-8".into()), ("PATH".into(), "/usr/bin:/bin".into())],
        };
        let mut caged = sandbox::spawn(&profile, &spec, Floor::Partial).unwrap();
        let mut noted = Vec::new();
        caged.stdout.take().unwrap().read_to_end(&mut noted).unwrap();
        caged.wait();
        started(&String::from_utf8(noted).unwrap())
    }

    /// Every name, kind and content of the folder.
    fn state(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut state = BTreeMap::new();
        let mut open = vec![self.at("folder")];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path.clone());
                }
                state.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
            }
        }
        state
    }
}

/// Notes to calls: for each command, each program with its words.
fn started(noted: &str) -> Vec<Vec<Vec<String>>> {
    let mut fields = noted.split_terminator('\0');
    let (mut all, mut one) = (Vec::new(), Vec::new());
    while let Some(field) = fields.next() {
        if field == "END" {
            all.push(std::mem::take(&mut one));
            continue;
        }
        let count: usize = field.parse().unwrap_or_else(|_| panic!("a note can't be read: {field:?}"));
        one.push((0..=count).map(|_| fields.next().unwrap().to_owned()).collect());
    }
    all
}

/// Compares what ran with what was read.
#[track_caller]
fn check(text: &str, ran: &[Vec<String>]) {
    let read = understood(text);
    // `cd` and `command -v` are the shell's own.
    let noted = |simple: &&Simple| !matches!(simple.program(), "cd" | "command");
    let mut expect: Vec<&Vec<String>> = read.iter().filter(noted).map(|simple| &simple.argv).collect();
    for argv in ran {
        let at = expect.iter().position(|one| *one == argv);
        let at = at
            .unwrap_or_else(|| panic!("bash ran {argv:?}, which isn't in the reading of {text:?}: {read:?}"));
        expect.remove(at);
    }
    // Without choices all of it runs: each of ours ends well. A wrapper may refuse its own words, and then runs nothing.
    let shells = |simple: &Simple| {
        simple.via.iter().any(|via| !matches!(via.program.as_str(), "bash" | "command" | "time"))
    };
    let may_fail = |one: &Simple| matches!(one.program(), "cd" | "command" | "false");
    let open = read.iter().any(|one| one.joint == Joint::Or || may_fail(one) || shells(one));
    assert!(open || expect.is_empty(), "bash didn't run {expect:?} of {text:?}");
}

/// Runs them all; tells which one touched the folder when one did.
fn check_all(lab: &Lab, commands: &[&str]) {
    let before = lab.state();
    let ran = lab.run(commands);
    assert_eq!(ran.len(), commands.len(), "every command came to its end");
    for (text, ran) in commands.iter().zip(&ran) {
        check(text, ran);
    }
    if lab.state() != before {
        assert!(commands.len() > 1, "{:?} changed the folder", commands[0]);
        let (one, other) = commands.split_at(commands.len() / 2);
        check_all(&Lab::new(), one);
        check_all(&Lab::new(), other);
        panic!("together these changed the folder: {commands:?}");
    }
}

/// Commands that would run unasked, each once.
pub(super) fn allowed(seed: u64, count: u64) -> BTreeSet<String> {
    let (mut dice, rules) = (Dice::new(seed), rules());
    let made = (0..count).map(|_| command(&mut dice));
    made.filter(|text| !text.contains('\0') && covers(&bash(text), &rules, &[])).collect()
}

#[test]
fn a_million_made_commands_start_only_what_was_read() {
    let (seed, count) = (number("DAYBOOK_SEED", 1), number("DAYBOOK_COMMANDS", 20_000));
    let threads = 2;
    let runs: Vec<_> = (0..threads)
        .map(|at| {
            std::thread::spawn(move || {
                let allowed = allowed(seed * 2 + at, count / threads);
                let harmless = allowed.iter().filter(|text| harmless(&bash(text), &[]).is_some()).count();
                let texts: Vec<&str> = allowed.iter().map(String::as_str).collect();
                let lab = Lab::new();
                texts.chunks(BATCH).for_each(|batch| check_all(&lab, batch));
                (texts.len(), harmless)
            })
        })
        .collect();
    let (mut allowed, mut harmless) = (0, 0);
    for run in runs {
        let (more, looking) = run.join().unwrap();
        allowed += more;
        harmless += looking;
    }
    println!(
        "seed {seed}: {count} commands made, {allowed} different ones allowed and run, {harmless} of them harmless"
    );
    assert!(
        allowed as u64 > count / 50 && harmless as u64 > count / 100,
        "too few are allowed to prove anything"
    );
}

#[test]
fn the_oracle_sees_what_it_must() {
    let lab = Lab::new();
    let ran = lab.run(&[
        "ls 'a b' $(id) | head -3 && [ -f x ] && time pwd; nosuch x",
        "timeout 5 env bash -c 'echo \"it'\\''s\"'",
    ]);
    let mut first = ran[0].iter().map(|argv| argv.join("|")).collect::<Vec<_>>();
    first.sort();
    assert_eq!(first, ["[|-f|x|]", "head|-3", "id", "ls|a b", "nosuch|x", "pwd"]);
    assert_eq!(ran[1], [["echo", "it's"]]);
    let before = lab.state();
    lab.run(&["ls > new"]);
    assert_ne!(lab.state(), before, "a file that is written shows");
    let caught = std::panic::catch_unwind(|| check("ls a", &[vec!["ls".to_owned(), "b".to_owned()]]));
    assert!(caught.is_err());
}
