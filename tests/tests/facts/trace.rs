//! What strace saw, as deeds: which files were changed, moved and removed, which programs ran, what was connected to.
//!
//! A **deed** is a system call that worked and changes or reaches something, by one of three **hands**: ours (the process
//! with the engine), the builder (what makes a cage) or the command in it. Invariant: nothing that the kernel did is left
//! out; what can't be read ends the test.

use std::collections::BTreeMap;

/// System calls that change files, talk or start programs, and those that say where a process stands.
pub(super) const CALLS: &str = "execve,execveat,clone,clone3,fork,vfork,chdir,fchdir,open,openat,openat2,creat,unlink,\
    unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,truncate,ftruncate,fallocate,\
    chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,utimensat,utime,utimes,futimesat,setxattr,lsetxattr,fsetxattr,\
    removexattr,lremovexattr,fremovexattr,mknod,mknodat,connect,bind,sendto,kill,ptrace,process_vm_writev";

/// The call by which a test says where it is: it opens what isn't there.
pub(super) const MARKS: &str = "/marks-of-a-test/";

/// Whose process it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hand {
    Ours,
    Builder,
    Command,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Deed {
    /// A file was opened to be written, or its permissions or times were set.
    Changes(String),
    /// A file was opened to be read.
    Reads(String),
    /// A name was made or taken away.
    Names(String),
    /// A name became another one.
    Moves { from: String, to: String },
    /// A program was started, with these words.
    Runs(Vec<String>),
    /// A connection, or a datagram, to this port of this address.
    Reaches { address: String, port: u16 },
    /// Something else that reaches other programs: a signal, a local socket, their memory, a port of one's own.
    Meddles(String),
    /// The test said where it is.
    Mark(String),
}

impl Deed {
    /// The files it is about.
    pub(super) fn paths(&self) -> Vec<&String> {
        match self {
            Self::Changes(path) | Self::Reads(path) | Self::Names(path) => vec![path],
            Self::Moves { from, to } => vec![from, to],
            Self::Runs(_) | Self::Reaches { .. } | Self::Meddles(_) | Self::Mark(_) => Vec::new(),
        }
    }

    /// The same about files by other names.
    pub(super) fn with_paths(self, named: impl Fn(String) -> String) -> Self {
        match self {
            Self::Changes(path) => Self::Changes(named(path)),
            Self::Reads(path) => Self::Reads(named(path)),
            Self::Names(path) => Self::Names(named(path)),
            Self::Moves { from, to } => Self::Moves { from: named(from), to: named(to) },
            Self::Runs(_) | Self::Reaches { .. } | Self::Meddles(_) | Self::Mark(_) => self,
        }
    }
}

/// One process that is being read.
#[derive(Clone)]
struct Process {
    hand: Hand,
    cwd: String,
}

/// Reads a whole log. The first process of a cage lets nobody look into it, so for an ordinary user it has no words and its
/// child no parent: such a child is the builder's, and can be read from the program on that it starts.
pub(super) fn deeds(log: &str) -> Vec<(Hand, Deed)> {
    let lines = whole(log);
    let parents: BTreeMap<&str, &str> =
        lines.iter().filter_map(|(pid, line)| Some((child(line)?, *pid))).collect();
    let mut processes: BTreeMap<&str, Process> = BTreeMap::new();
    let mut out = Vec::new();
    for (pid, line) in &lines {
        if line.starts_with("+++") {
            processes.remove(pid);
            continue;
        }
        if !processes.contains_key(pid) {
            let builder = || processes.values().find(|process| process.hand == Hand::Builder);
            let born = match parents.get(pid).and_then(|parent| processes.get(parent)).or_else(builder) {
                Some(parent) => parent.clone(),
                None if processes.is_empty() => Process { hand: Hand::Ours, cwd: "/".to_owned() },
                None => panic!("whose process is {pid}? {line}"),
            };
            processes.insert(pid, born);
        }
        if let Some(new) = child(line)
            && !processes.contains_key(new)
        {
            processes.insert(new, processes[pid].clone());
        }
        let process = processes.get_mut(pid).expect("just seen");
        if line.starts_with("kill(") && !line.contains(" = -1 ") {
            let of_a_command = process.hand == Hand::Command;
            let target = outside_number(line).and_then(|target| processes.get(target));
            if of_a_command && target.is_some_and(|target| target.hand != Hand::Command) {
                out.push((Hand::Command, Deed::Meddles(line.clone())));
            }
            continue;
        }
        if let Some(done) = deed(process, line) {
            out.push((process.hand, done));
        }
    }
    out
}

/// The lines with their processes, those that are told in two put together.
fn whole(log: &str) -> Vec<(&str, String)> {
    let (mut out, mut begun) = (Vec::new(), BTreeMap::new());
    for line in log.lines() {
        let (pid, line) = line.split_once(' ').unwrap_or((line, ""));
        let line = line.trim_start();
        if let Some(start) = line.strip_suffix("<unfinished ...>") {
            begun.insert(pid, start);
        } else if let Some((_, end)) =
            line.strip_prefix("<... ").and_then(|line| line.split_once(" resumed>"))
        {
            out.push((pid, format!("{}{end}", begun.remove(pid).unwrap_or_default())));
        } else {
            if line.starts_with("+++")
                && let Some(start) = begun.remove(pid)
            {
                // What never came back counts as done.
                out.push((pid, format!("{start}) = ?")));
            }
            out.push((pid, line.to_owned()));
        }
    }
    out
}

/// The process that a call made, by its number outside.
fn child(line: &str) -> Option<&str> {
    let forks = ["clone(", "clone3(", "fork(", "vfork("].iter().any(|call| line.starts_with(call));
    let (_, result) = line.rsplit_once(" = ").filter(|_| forks)?;
    number(result)
}

/// The process that a call signals, by its number outside.
fn outside_number(line: &str) -> Option<&str> {
    number(line.split_once('(')?.1.split([',', ')']).next()?)
}

/// A process's number outside: strace adds it where the process itself knows another one.
fn number(text: &str) -> Option<&str> {
    let number = match text.split_once("/* ") {
        Some((_, comment)) => comment.split(' ').next()?,
        None => text.trim(),
    };
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

fn deed(process: &mut Process, line: &str) -> Option<Deed> {
    let (call, rest) = line.split_once('(')?;
    let (given, result) = rest.rsplit_once(" = ")?;
    let (arguments, cut) = arguments(given);
    assert!(!cut || !call.starts_with("exec"), "words were cut off: {given}");
    if let Some((Argument::Descriptor(cwd), _)) = arguments.split_first()
        && given.starts_with("AT_FDCWD")
    {
        process.cwd.clone_from(cwd);
    }
    let opens = matches!(call, "open" | "openat" | "openat2" | "creat");
    if opens && let Some(at) = given.find(MARKS) {
        return Some(Deed::Mark(given[at + MARKS.len()..].split('"').next()?.to_owned()));
    }
    let under_way = call == "connect" && result.contains("EINPROGRESS");
    if result.starts_with("-1") && !under_way {
        return None;
    }
    let mut paths = paths(&arguments, &process.cwd);
    match call {
        "execve" | "execveat" => Some(executed(process, arguments)),
        "chdir" | "fchdir" => {
            process.cwd = paths.pop()?;
            None
        }
        "open" | "openat" | "openat2" | "creat" => {
            let writes = call == "creat"
                || ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| given.contains(flag));
            // Where it led, links followed, stands in the result.
            let to = result.split_once('<').and_then(|(_, path)| path.strip_suffix('>'));
            let to = to.map(unescaped).or_else(|| paths.pop())?;
            let looks = given.contains("O_PATH") || given.contains("O_DIRECTORY");
            (!looks).then_some(if writes { Deed::Changes(to) } else { Deed::Reads(to) })
        }
        "rename" | "renameat" | "renameat2" => {
            let [from, to] = paths.try_into().ok()?;
            Some(Deed::Moves { from, to })
        }
        // The last path is the new name; the first of a symbolic link is only text.
        "link" | "linkat" | "symlink" | "symlinkat" => paths.pop().map(Deed::Names),
        "unlink" | "unlinkat" | "mkdir" | "mkdirat" | "rmdir" | "mknod" | "mknodat" => {
            paths.pop().map(Deed::Names)
        }
        "connect" | "bind" | "sendto" => met(call, given),
        "ptrace" | "process_vm_writev" => Some(Deed::Meddles(line.to_owned())),
        "clone" | "clone3" | "fork" | "vfork" => None,
        // The next text names the attribute.
        _ if call.ends_with("xattr") => {
            self::paths(arguments.get(..1)?, &process.cwd).pop().map(Deed::Changes)
        }
        // Permissions, owners, times, sizes.
        _ => paths.into_iter().next().map(Deed::Changes),
    }
}

fn executed(process: &mut Process, arguments: Vec<Argument>) -> Deed {
    let mut words: Vec<String> = arguments.into_iter().filter_map(Argument::text).collect();
    // The program's own path stands before its words.
    let program = if words.is_empty() { String::new() } else { words.remove(0) };
    let builds = words.iter().any(|word| word.starts_with("daybook-cage-"));
    process.hand = match process.hand {
        _ if builds => Hand::Builder,
        Hand::Builder | Hand::Command => Hand::Command,
        Hand::Ours => Hand::Ours,
    };
    if words.is_empty() {
        words.push(program);
    }
    Deed::Runs(words)
}

/// What a socket's call reached.
fn met(call: &str, given: &str) -> Option<Deed> {
    if let Some((_, after)) = given.split_once("port=htons(") {
        let port = after.split(')').next()?.parse().ok()?;
        let address = after.split('"').nth(1).unwrap_or_default().to_owned();
        return Some(match call {
            "bind" => Deed::Meddles(format!("listens at {address}:{port}")),
            _ => Deed::Reaches { address, port },
        });
    }
    given.contains("sun_path=").then(|| Deed::Meddles(given.to_owned()))
}

/// One argument, as far as it matters.
#[derive(Debug, Clone)]
enum Argument {
    /// An open file, or the folder a process stands in.
    Descriptor(String),
    Text(String),
}

impl Argument {
    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Descriptor(_) => None,
        }
    }
}

/// The texts and descriptors of a call, and whether a text was too long to be told whole.
fn arguments(given: &str) -> (Vec<Argument>, bool) {
    let (mut out, mut cut) = (Vec::new(), false);
    let mut rest = given;
    while let Some(at) = rest.find(['"', '<']) {
        let quoted = rest[at..].starts_with('"');
        let inside = &rest[at + 1..];
        let end = if quoted { end_of_text(inside) } else { inside.find('>') };
        let Some(end) = end else { break };
        let text = unescaped(&inside[..end]);
        rest = &inside[end + 1..];
        cut |= quoted && rest.starts_with("...");
        out.push(if quoted { Argument::Text(text) } else { Argument::Descriptor(text) });
    }
    (out, cut)
}

fn end_of_text(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

/// The absolute paths of a call: each text from the descriptor before it or from where the process stands.
fn paths(arguments: &[Argument], cwd: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut from: Option<&str> = None;
    for argument in arguments {
        match argument {
            Argument::Descriptor(path) => {
                out.extend(from.replace(path).map(str::to_owned));
            }
            Argument::Text(text) => out.push(joined(from.take().unwrap_or(cwd), text)),
        }
    }
    out.extend(from.map(str::to_owned));
    out
}

/// A path from a folder, tidied.
pub(super) fn joined(folder: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    format!("/{}", parts.join("/"))
}

/// A text of strace's, with C's escapes, as it was.
fn unescaped(text: &str) -> String {
    let (mut out, bytes, mut at) = (Vec::new(), text.as_bytes(), 0);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let next = bytes.get(at).copied().unwrap_or(b'\\');
        at += 1;
        let plain = match next {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'v' => 0x0b,
            b'f' => 0x0c,
            b'0'..=b'7' => {
                let digits = bytes[at - 1..].iter().take(3).take_while(|digit| (b'0'..=b'7').contains(digit));
                let count = digits.clone().count();
                at += count - 1;
                digits.fold(0_u8, |value, digit| value.wrapping_mul(8).wrapping_add(digit - b'0'))
            }
            other => other,
        };
        out.push(plain);
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(log: &str, expect: &[(Hand, Deed)]) {
        assert_eq!(deeds(log), expect, "{log}");
    }

    fn changes(hand: Hand, path: &str) -> (Hand, Deed) {
        (hand, Deed::Changes(path.to_owned()))
    }

    #[test]
    fn what_failed_is_no_deed_and_a_half_told_call_is_one() {
        check("1 openat(AT_FDCWD</p>, \"a\", O_WRONLY|O_CREAT, 0666) = -1 EROFS (Read-only)", &[]);
        check(
            "1 openat(AT_FDCWD</p>, \"a\", O_WRONLY <unfinished ...>\n2 +++ exited with 0 +++\n1 <... openat resumed>) = 3</p/real>",
            &[changes(Hand::Ours, "/p/real")],
        );
        check(
            "1 unlink(\"/p/a\" <unfinished ...>\n1 +++ killed by SIGKILL +++",
            &[(Hand::Ours, Deed::Names("/p/a".to_owned()))],
        );
    }

    #[test]
    fn a_child_stands_where_its_parent_stood_and_has_its_hand() {
        let log = "10 chdir(\"/p\") = 0\n\
            10 clone(child_stack=NULL, flags=SIGCHLD) = 2 /* 11 in strace's PID NS */\n\
            11 execve(\"/proc/self/exe\", [\"x\", \"daybook-cage-launcher\"], 0x1 /* 0 vars */) = 0\n\
            12 chmod(\"../q/\\344\\270\\200\\n\", 0600) = 0\n\
            11 clone(child_stack=NULL, flags=SIGCHLD) = 12\n\
            12 execve(\"/bin/sh\", [\"sh\"], 0x1 /* 0 vars */) = 0\n\
            12 renameat2(AT_FDCWD</r>, \"a\", 5</s>, \"b\", 0) = 0\n\
            12 rmdir(\"c\") = 0";
        let runs = |words: &[&str]| Deed::Runs(words.iter().map(|word| (*word).to_owned()).collect());
        check(
            log,
            &[
                (Hand::Builder, runs(&["x", "daybook-cage-launcher"])),
                changes(Hand::Builder, "/q/一\n"),
                (Hand::Command, runs(&["sh"])),
                (Hand::Command, Deed::Moves { from: "/r/a".into(), to: "/s/b".into() }),
                (Hand::Command, Deed::Names("/r/c".into())),
            ],
        );
    }
}
