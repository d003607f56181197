//! What the approval card says of a command: facts computed from its reading, as data without wording.
//!
//! Invariant: nothing here comes from what the model says about the command, and nothing here is a promise: a program can
//! touch more than its words name. What is held is the cage's to say.

use super::kinds::{deletes, is_interpreter, known_as, leaves, publishes, tells};
use super::reading::{Reading, RedirectKind, Simple, Why};
use crate::path::is_protected;
use serde::{Deserialize, Serialize};

/// Facts of a command, each list without repetition, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Why it isn't understood; empty when it is. The rest is empty then, but for `tells`.
    pub doubts: Vec<Why>,
    /// Programs it starts, by name.
    pub programs: Vec<String>,
    /// Wrappers that were looked through to find them.
    pub via: Vec<String>,
    /// Files and folders it names.
    pub files: Vec<String>,
    /// Files it writes through `>` and `>>`.
    pub writes: Vec<String>,
    /// Hosts it names.
    pub hosts: Vec<String>,
    /// Named files that decide what programs do later.
    pub protected: Vec<String>,
    /// Variables it sets for a program.
    pub variables: Vec<String>,
    /// It deletes or throws away something by its words.
    pub deletes: bool,
    /// It publishes something.
    pub publishes: bool,
    /// It hands something on: publishes, asks a registry for a name, fills the clipboard.
    pub leaves: bool,
    /// It hands something on, or puts it where that is done later, as far as that can be told.
    pub tells: bool,
    /// It runs text or a script whose effect isn't read.
    pub interprets: bool,
    /// It names things outside the folder and the added ones.
    pub outside: bool,
}

/// The facts of a reading; `added` are folders beside the session's own that may be looked at.
#[must_use]
pub fn summary(reading: &Reading, added: &[String]) -> Summary {
    let mut out = Summary::default();
    match reading {
        Reading::Unclear { why, .. } => {
            out.doubts = why.clone();
            out.tells = true;
        }
        Reading::Understood(commands) => commands.iter().for_each(|simple| add(&mut out, simple, added)),
    }
    out
}

fn add(out: &mut Summary, simple: &Simple, added: &[String]) {
    let name = known_as(simple.program());
    for via in &simple.via {
        push(&mut out.via, &via.program);
    }
    for assignment in &simple.assignments {
        push(&mut out.variables, &assignment.name);
    }
    if simple.program().contains('/') {
        file(out, simple.program(), added);
    }
    for redirect in simple.redirects.iter().filter(|redirect| !redirect.is_idle()) {
        file(out, &redirect.target, added);
        if matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append) {
            push(&mut out.writes, &redirect.target);
        }
    }
    hosts_and_files(out, &name, simple.args(), added);
    out.deletes |= deletes(&simple.argv);
    out.publishes |= publishes(&simple.argv);
    out.leaves |= leaves(&simple.argv);
    out.tells |= tells(&simple.argv);
    out.interprets |= is_interpreter(&name);
    push(&mut out.programs, &name);
}

fn hosts_and_files(out: &mut Summary, name: &str, args: &[String], added: &[String]) {
    let mut talks =
        matches!(name, "ssh" | "sftp" | "ping" | "dig" | "host" | "nslookup" | "nc" | "ncat" | "telnet");
    let copies = matches!(name, "scp" | "rsync");
    for arg in args {
        let value = arg.split_once('=').map_or(arg.as_str(), |(_, value)| value);
        let word = !arg.starts_with('-');
        if let Some(host) = host(value) {
            push(&mut out.hosts, &host);
        } else if let Some((host, _)) =
            arg.split_once(':').filter(|(host, _)| copies && word && !host.contains('/'))
        {
            push(&mut out.hosts, host);
        } else if talks && word {
            // The first word; what follows is the host's business.
            push(&mut out.hosts, arg.rsplit('@').next().unwrap_or(arg));
            talks = false;
        } else if !matches!(name, "echo" | "printf") && !value.starts_with('-') && names_file(value) {
            file(out, value, added);
        }
    }
}

fn push(list: &mut Vec<String>, word: &str) {
    if !list.iter().any(|one| one == word) {
        list.push(word.to_owned());
    }
}

fn file(out: &mut Summary, path: &str, added: &[String]) {
    push(&mut out.files, path);
    if is_protected(path.trim_end_matches('/')) {
        push(&mut out.protected, path);
    }
    out.outside |= !super::harmless::inside(path, added);
}

/// Does a word look like a path? Words without a dot or a slash are taken for one when they can only be a bad guess.
fn names_file(word: &str) -> bool {
    let usual = |ch: char| {
        ch.is_alphanumeric() || matches!(ch, '/' | '.' | '_' | '-' | '~' | '+' | '@' | '#' | ' ' | ':' | '\\')
    };
    let dotted =
        word.contains(['/', '.', '~', '\\']) && word.chars().any(|ch| ch.is_alphanumeric() || ch == '.');
    dotted && word.chars().all(usual) && !word.contains("...")
}

/// The host in `scheme://user@host:port/…` or `user@host:path`.
fn host(word: &str) -> Option<String> {
    let authority = match word.split_once("://") {
        Some((scheme, rest)) if scheme.chars().all(|ch| ch.is_ascii_alphanumeric() || "+-.".contains(ch)) => {
            rest.split(['/', '?', '#']).next()?
        }
        Some(_) => return None,
        None => {
            let (before, _) = word.split_once(':')?;
            before.contains('@').then_some(before)?
        }
    };
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(six) => six.split(']').next()?,
        None => host.split(':').next()?,
    };
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}
