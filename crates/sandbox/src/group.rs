//! A command as the leader of a process group, ended together with what it started.
//!
//! For systems where no process of ours stands between the app and the command. What is to be ended is found by the
//! system's list of processes: the group, and whoever descends from it. Invariants: nothing outside the tree is ended;
//! what left its group *and* lost its parent isn't found, which is one reason to call such a cage partial; it counts as
//! killed only where we were told to before it had ended, a signal from elsewhere is one.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io, thread};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::caged::{Caged, End, Exit, Leftover, Shared, Stop, pipes_of};
use crate::error::SpawnError;
use crate::strength::{Mechanism, Strength};

/// Leftovers that are named.
const NAMED: usize = 32;
/// Longest name of one, in characters.
const NAME_CHARS: usize = 120;
/// Rounds of looking and ending: what forks between two looks is found by the next.
const ROUNDS: usize = 20;

/// How a group is held.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) mechanism: Option<Mechanism>,
    pub(crate) strength: Strength,
    pub(crate) proxy: Option<TcpListener>,
    /// A private folder that goes with the group.
    pub(crate) private: Option<PathBuf>,
}

/// Starts the command in a group of its own.
pub(crate) fn start(mut command: Command, held: Held) -> Result<Caged, SpawnError> {
    use std::os::unix::process::CommandExt;
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        remove(held.private.as_ref());
        SpawnError::Supervisor(error)
    })?;
    let group = Group { leader: child.id() };
    let told = Arc::new(AtomicBool::new(false));
    let shared = Shared::new(Box::new(Stopper { group, told: Arc::clone(&told) }));
    let mut caged =
        Caged::new(pipes_of(&mut child), child.id(), held.mechanism, held.strength, Arc::clone(&shared));
    caged.proxy = held.proxy;
    wait_aside(child, told, held.private, Arc::clone(&shared)).map_err(|error| {
        shared.abandon();
        SpawnError::Supervisor(error)
    })?;
    Ok(caged)
}

fn wait_aside(
    mut child: Child,
    told: Arc<AtomicBool>,
    private: Option<PathBuf>,
    shared: Arc<Shared>,
) -> io::Result<()> {
    let group = Group { leader: child.id() };
    let listen = move || {
        // Its corpse stays until the group is ended, so its number can't become somebody else's meanwhile.
        let corpse = i32::try_from(child.id()).ok().and_then(Pid::from_raw).map(|pid| {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            rustix::io::retry_on_intr(|| rustix::process::waitid(WaitId::Pid(pid), options))
        });
        let by_us = told.load(Ordering::SeqCst);
        let left = if matches!(corpse, Some(Ok(_))) { group.end_all() } else { Vec::new() };
        let exit = child.wait().map_or(Exit::Lost, |status| exit_of(status, by_us));
        remove(private.as_ref());
        let more_leftovers = left.len().saturating_sub(NAMED);
        let leftovers = left.into_iter().take(NAMED).map(|name| Leftover { name }).collect();
        shared.finish(End { leftovers, more_leftovers, ..End::of(exit) });
    };
    thread::Builder::new().name("command-wait".into()).spawn(listen).map(drop)
}

fn remove(folder: Option<&PathBuf>) {
    if let Some(folder) = folder {
        // Gone already or not ours any more: nothing is left to do about it.
        let _ = fs::remove_dir_all(folder);
    }
}

#[derive(Debug, Clone, Copy)]
struct Group {
    leader: u32,
}

impl Group {
    /// Ends everybody but a leader that is a corpse already, and returns their names.
    fn end_all(self) -> Vec<String> {
        let mut names = Vec::new();
        let mut ended = BTreeSet::new();
        for _ in 0..ROUNDS {
            let found = members(&list(), self.leader, &ended);
            for one in &found {
                if ended.insert(one.pid) {
                    names.push(one.name.clone());
                }
                if let Some(pid) = i32::try_from(one.pid).ok().and_then(Pid::from_raw) {
                    // It may have ended meanwhile.
                    let _ = rustix::process::kill_process(pid, Signal::KILL);
                }
            }
            self.signal_group();
            if found.is_empty() {
                break;
            }
        }
        names
    }

    fn signal_group(self) {
        if let Some(leader) = i32::try_from(self.leader).ok().and_then(Pid::from_raw) {
            // Fails only when nobody is left in the group.
            let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        }
    }
}

#[derive(Debug)]
struct Stopper {
    group: Group,
    /// Set before the first signal of ours.
    told: Arc<AtomicBool>,
}

impl Stop for Stopper {
    fn stop(&self) {
        self.told.store(true, Ordering::SeqCst);
        self.group.end_all();
    }

    fn force(&self) {
        self.told.store(true, Ordering::SeqCst);
        self.group.signal_group();
    }
}

/// One line of the system's list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Process {
    pid: u32,
    parent: u32,
    group: u32,
    name: String,
}

/// Every living process; empty when the list can't be had.
fn list() -> String {
    let mut ps = Command::new("/bin/ps");
    ps.args(["-axo", "pid=,ppid=,pgid=,state=,command="]).env_clear().stdin(Stdio::null());
    ps.stderr(Stdio::null())
        .output()
        .map(|out| String::from_utf8_lossy(&out.stdout).into_owned())
        .unwrap_or_default()
}

/// Who belongs to the leader: itself, its group, and all that descends from either or from those `ended` already.
fn members(list: &str, leader: u32, ended: &BTreeSet<u32>) -> Vec<Process> {
    let all: Vec<Process> = list.lines().filter_map(parse).collect();
    let mut ours: BTreeSet<u32> = ended.clone();
    ours.insert(leader);
    let mut found: Vec<Process> = Vec::new();
    loop {
        let belongs = |one: &&Process| {
            (one.pid == leader || one.group == leader || ours.contains(&one.parent))
                && !found.iter().any(|known| known.pid == one.pid)
        };
        let new: Vec<Process> = all.iter().filter(belongs).cloned().collect();
        if new.is_empty() {
            return found;
        }
        ours.extend(new.iter().map(|one| one.pid));
        found.extend(new);
    }
}

fn parse(line: &str) -> Option<Process> {
    let mut rest = line;
    let mut word = || {
        let text = rest.trim_start();
        let (word, left) = text.split_once(char::is_whitespace)?;
        rest = left;
        Some(word)
    };
    let (pid, parent, group) = (word()?.parse().ok()?, word()?.parse().ok()?, word()?.parse().ok()?);
    let corpse = word()?.starts_with(['Z', 'X']);
    let clean = rest.trim().chars().map(|char| if char.is_control() { '\u{fffd}' } else { char });
    (!corpse).then(|| Process { pid, parent, group, name: clean.take(NAME_CHARS).collect() })
}

fn exit_of(status: std::process::ExitStatus, by_us: bool) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    const KILL: i32 = 9;
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(KILL)) if by_us => Exit::Killed,
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "
    1     0     1 Ss   /sbin/launchd
  100     1   100 Ss   /bin/sh -c work
  101   100   100 S    sleep 300
  102   100   102 Ss   setsid thing
  103   102   102 S    below it
  104     1   100 S    lost its parent
  105     1   105 Ss   left both
  106   100   100 Z    (corpse)
  200     1   200 Ss   /Applications/Other
nonsense";

    #[test]
    fn a77_the_tree_is_found_and_nobody_else() {
        let found = |leader, ended: &[u32]| {
            let mut found: Vec<u32> =
                members(LIST, leader, &ended.iter().copied().collect()).iter().map(|one| one.pid).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(found(100, &[]), [100, 101, 102, 103, 104]);
        assert_eq!(found(200, &[]), [200]);
        assert_eq!(found(300, &[]), [0; 0]);
        assert_eq!(found(300, &[102]), [103], "a child of one that was ended belongs to us");
    }

    fn run(script: &str) -> Caged {
        let strength = Strength::None("a test".into());
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        start(command, Held { mechanism: None, strength, proxy: None, private: None }).unwrap()
    }

    #[test]
    fn what_the_system_kills_was_not_killed_by_us() {
        assert_eq!(run("kill -9 $$").wait().exit, Exit::Signal(9));
        assert_eq!(run("kill -15 $$").wait().exit, Exit::Signal(15));
        let killed = run("while :; do sleep 300; done");
        assert_eq!(killed.kill().exit, Exit::Killed);
        // Told when it had ended already.
        let ended = run("kill -9 $$");
        ended.wait();
        assert_eq!(ended.kill().exit, Exit::Signal(9));
    }

    #[test]
    fn s01_a_group_ends_with_its_shell_and_names_what_it_left() {
        if !std::path::Path::new("/bin/ps").exists() {
            return;
        }
        let end = run("sleep 300 & exit 3").wait();
        assert_eq!(end.exit, Exit::Code(3));
        assert_eq!(end.leftovers, [Leftover { name: "sleep 300".into() }]);
        // A child in a session of its own, while its parent lives.
        let caged = run("setsid sh -c 'trap \"\" TERM; sleep 301; :' & wait");
        let end = loop {
            if members(&list(), caged.pid(), &BTreeSet::new()).iter().any(|one| one.name == "sleep 301") {
                break caged.kill();
            }
        };
        assert_eq!(end.exit, Exit::Killed);
        assert!(!list().contains("sleep 301"));
    }
}
