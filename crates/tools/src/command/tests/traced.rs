//! Harmless commands with the real programs, under a tracer: which programs started, and what was opened to write.
//!
//! The cage refuses tracing, so this runs without one, in a temporary folder with a repository. `DAYBOOK_TRACED` says how
//! many commands; a change traces 100.

use super::bash;
use super::oracle::{allowed, number};
use crate::command::harmless;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// System calls that change files or talk, and those that start programs.
const CALLS: &str = "execve,execveat,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,\
                     linkat,symlink,symlinkat,truncate,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,utimensat,utime,setxattr,\
                     mknod,mknodat,connect,bind,sendto";

/// The wrappers and shells that are looked through.
const AROUND: [&str; 9] = ["bash", "sh", "dash", "timeout", "nice", "env", "stdbuf", "strace", "git"];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for sub in ["src", "sub"] {
        std::fs::create_dir(folder.path().join(sub)).unwrap();
    }
    for file in ["f", "g", "src/a.rs", "sub/g", "x", "a b", "笔记"] {
        std::fs::write(folder.path().join(file), "one\ntwo\nfn main\n").unwrap();
    }
    for args in [
        &["init", "-q"][..],
        &["add", "f"],
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ] {
        assert!(Command::new("git").args(args).current_dir(folder.path()).status().unwrap().success());
    }
    std::fs::write(folder.path().join("f"), "changed\n").unwrap();
    folder
}

/// What the commands did that they mustn't.
fn trace(folder: &Path, commands: &[String]) -> Vec<String> {
    let private = tempfile::tempdir().unwrap();
    let (list, log) = (private.path().join("commands"), private.path().join("log"));
    std::fs::write(&list, commands.join("\0") + "\0").unwrap();
    let driver = "while IFS= read -r -d '' command; do /bin/bash -c \"$command\" </dev/null >/dev/null 2>&1; done <\"$0\"";
    let env =
        crate::shell::env::scrubbed([("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into_iter(), folder);
    let status = Command::new("strace")
        .args(["-f", "-qq", "-s", "256", "-e", "signal=none", "-e", &format!("trace={CALLS}"), "-o"])
        .args([log.as_os_str(), "/bin/bash".as_ref(), "-c".as_ref(), driver.as_ref(), list.as_os_str()])
        .env_clear()
        .envs(env)
        .env("HOME", private.path())
        .current_dir(folder)
        .status()
        .expect("strace is there: scripts/test installs it");
    assert!(status.success());
    let text = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
    whole(&text).into_iter().filter(|line| is_wrong(line)).collect()
}

/// The calls, those that are told in two lines put together.
fn whole(text: &str) -> Vec<String> {
    let (mut out, mut begun) = (Vec::new(), BTreeMap::new());
    for line in text.lines() {
        let (process, call) = line.split_once(' ').unwrap_or(("", line));
        if let Some(start) = call.strip_suffix("<unfinished ...>") {
            begun.insert(process, start);
        } else if let Some((_, end)) =
            call.trim_start().strip_prefix("<... ").and_then(|call| call.split_once(" resumed>"))
        {
            out.push(format!("{}{end}", begun.remove(process).unwrap_or_default()));
        } else {
            out.push(call.to_owned());
        }
    }
    // What never came back counts as done.
    out.extend(begun.into_values().map(str::to_owned));
    out
}

fn is_wrong(line: &str) -> bool {
    let Some((call, rest)) = line.split_once('(') else { return false };
    let call = call.trim();
    // What failed changed nothing.
    if rest.contains(" = -1 E") {
        return false;
    }
    let path = rest.split('"').nth(1).unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    match call {
        "execve" | "execveat" => {
            let listed = super::super::table::entry(name).is_some()
                || ["find", "sed", "test", "[", "echo", "printf"].contains(&name);
            !listed && !AROUND.contains(&name)
        }
        "open" | "openat" | "openat2" | "creat" => {
            let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| rest.contains(flag))
                || call == "creat";
            writes && !matches!(path, "/dev/null" | "/dev/tty")
        }
        // Looking up names of users asks a local service, where there is one.
        "connect" | "sendto" => !rest.contains("AF_UNIX") && call == "connect",
        _ => true,
    }
}

#[test]
fn harmless_commands_with_real_programs_write_nothing_and_start_nothing_else() {
    let folder = folder();
    let made = allowed(number("DAYBOOK_SEED", 1) * 2 + 5, number("DAYBOOK_TRACED", 100) * 40);
    let many = usize::try_from(number("DAYBOOK_TRACED", 100)).unwrap();
    // The set is sorted: every nth one is a mix of all.
    let harmless: Vec<String> =
        made.into_iter().filter(|text| harmless(&bash(text), &[]).is_some()).collect();
    let step = (harmless.len() / many).max(1);
    let mut commands: Vec<String> = harmless.into_iter().step_by(step).take(many).collect();
    let named = [
        "git status",
        "git diff --stat | cat",
        "git log -3 --oneline",
        "git show HEAD:f",
        "sed -n 1p f",
        "find . -type f",
        "id",
        "ls -l",
    ];
    commands.extend(named.map(str::to_owned));
    let wrong = trace(folder.path(), &commands);
    assert_eq!(wrong, Vec::<String>::new());
    println!("{} commands traced", commands.len());
}

#[test]
fn the_tracer_sees_what_it_must() {
    let folder = folder();
    for text in [
        "echo a > new",
        "mkdir d",
        "touch f",
        "rm g",
        "chmod 600 x",
        "mv x y",
        "xargs true",
        "sort -o f f",
        "sed -i s/a/b/ f",
    ] {
        assert!(!trace(folder.path(), &[text.to_owned()]).is_empty(), "{text}");
    }
    assert!(trace(folder.path(), &["cat f".to_owned()]).is_empty());
}
