//! Takes wrappers off: what a command really starts, behind `env`, `timeout`, `xargs`, `bash -c '…'`, `find -exec`.
//!
//! A wrapper that is called in a way we don't read is a doubt. Invariant: a program behind a wrapper is never missed: it
//! comes out as a command of its own, with the wrapper noted, and nothing is taken for the wrapper's that isn't.

use super::bash::{Written, read_nested};
use super::kinds::{is_posix_shell, known_as};
use super::reading::{Assignment, Dialect, Doubt, Joint, Simple, Via, Why};

/// Shells inside shells that are read.
const MAX_SHELLS: usize = 4;
/// Wrappers in front of one program.
const MAX_WRAPPERS: usize = 8;
/// Built-in commands that change the shell; a wrapper in front doesn't change that.
const STATE: [&str; 8] = ["eval", "source", ".", "export", "declare", "set", "trap", "unset"];

/// How a wrapper's own words end.
struct Wrapper {
    name: &'static str,
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options with one, behind them or attached.
    valued: &'static [&'static str],
    /// Words of its own between options and program.
    own: usize,
    transparent: bool,
}

const WRAPPERS: [Wrapper; 11] = [
    wrapper(
        "timeout",
        &["--foreground", "--preserve-status", "-v", "--verbose"],
        &["-s", "--signal", "-k", "--kill-after"],
        1,
        true,
    ),
    wrapper("nice", &[], &["-n", "--adjustment"], 0, true),
    wrapper("stdbuf", &[], &["-i", "-o", "-e", "--input", "--output", "--error"], 0, true),
    wrapper("nohup", &[], &[], 0, false),
    wrapper("setsid", &["-w", "--wait", "-f", "--fork", "-c"], &[], 0, false),
    wrapper("ionice", &["-t"], &["-c", "-n"], 0, false),
    wrapper("builtin", &[], &[], 0, false),
    wrapper("exec", &[], &[], 0, true),
    wrapper(
        "sudo",
        &["-n", "-E", "-H", "-b", "-i", "-s", "-S"],
        &["-u", "-g", "--user", "--group"],
        0,
        false,
    ),
    wrapper("doas", &["-n"], &["-u"], 0, false),
    wrapper(
        "xargs",
        &["-0", "-r", "-t", "-x", "--null", "--no-run-if-empty", "--verbose"],
        &[
            "-n",
            "-I",
            "-P",
            "-L",
            "-d",
            "-s",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--delimiter",
            "--replace",
        ],
        0,
        false,
    ),
];

const fn wrapper(
    name: &'static str,
    flags: &'static [&'static str],
    valued: &'static [&'static str],
    own: usize,
    transparent: bool,
) -> Wrapper {
    Wrapper { name, flags, valued, own, transparent }
}

/// Everything that a written command starts.
pub(super) fn unwrap(written: Written, dialect: Dialect, depth: usize) -> Result<Vec<Simple>, Why> {
    let mut simple = written.simple;
    git_core(&mut simple);
    let fail = |doubt, simple: &Simple| Err(Why { doubt, span: simple.span });
    for _ in 0..MAX_WRAPPERS {
        let name = known_as(simple.program());
        let first = simple.via.is_empty();
        if !first && STATE.contains(&simple.program()) {
            return fail(Doubt::State, &simple);
        }
        match name.as_str() {
            // A keyword where it stands first, a program of the same name elsewhere.
            "time" => {
                let keyword = first
                    && written.bare
                    && simple.program() == "time"
                    && simple.joint != Joint::Pipe
                    && simple.assignments.is_empty()
                    && dialect == Dialect::Bash;
                let own = usize::from(simple.args().first().is_some_and(|arg| arg == "-p")) + 1;
                if !keyword || simple.argv.get(own).is_none_or(|next| next.starts_with('-')) {
                    return fail(Doubt::Wrapper, &simple);
                }
                strip(&mut simple, own, true);
            }
            "command" => match simple.args().first().map(String::as_str) {
                Some("-v" | "-V") => return Ok(vec![simple]),
                Some(next) if !next.starts_with('-') => strip(&mut simple, 1, true),
                _ => return fail(Doubt::Wrapper, &simple),
            },
            "env" => {
                if !env(&mut simple) {
                    return fail(Doubt::Wrapper, &simple);
                }
                if known_as(simple.program()) == "env" && simple.argv.len() == 1 {
                    return Ok(vec![simple]);
                }
            }
            "find" => return find(simple, dialect, depth),
            name if is_posix_shell(name) => return shell(simple, name, dialect, depth),
            name => {
                let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else {
                    return Ok(vec![simple]);
                };
                let Some(at) = skip(simple.args(), wrapper) else {
                    return fail(Doubt::Wrapper, &simple);
                };
                simple.open |= name == "xargs";
                strip(&mut simple, at + 1, wrapper.transparent);
            }
        }
    }
    fail(Doubt::TooLarge, &simple)
}

/// Git's own programs by their path are git: `/usr/lib/git-core/git-push` is `git push`.
fn git_core(simple: &mut Simple) {
    let folders = ["/usr/lib/git-core/", "/usr/libexec/git-core/"];
    let inside = folders.iter().find_map(|folder| simple.program().strip_prefix(folder)).map(str::to_owned);
    if let Some(name) = inside.filter(|name| !name.contains('/')) {
        let command = name.strip_prefix("git-").map(str::to_owned);
        simple.argv.splice(..1, std::iter::once("git".to_owned()).chain(command));
        simple.via.push(Via { program: name, transparent: false });
    }
}

/// Takes the first words off, and notes the program they named.
fn strip(simple: &mut Simple, words: usize, transparent: bool) {
    // Named by a path, or in other letters, it could be anything.
    let name = known_as(simple.program());
    let transparent = transparent && simple.program() == name;
    simple.via.push(Via { program: name, transparent });
    simple.argv.drain(..words.min(simple.argv.len()));
}

/// Where the program begins behind a wrapper's own words; nothing when an option is unknown or no program follows.
fn skip(args: &[String], wrapper: &Wrapper) -> Option<usize> {
    let mut at = 0;
    while let Some(arg) = args.get(at).map(String::as_str) {
        let attached = |option: &&&str| match option.starts_with("--") {
            true => arg.strip_prefix(**option).is_some_and(|rest| rest.starts_with('=')),
            false => arg.len() > 2 && arg.starts_with(**option),
        };
        match arg {
            "--" => {
                at += 1;
                break;
            }
            arg if !arg.starts_with('-') || arg == "-" => break,
            arg if wrapper.flags.contains(&arg) => at += 1,
            arg if wrapper.valued.contains(&arg) => at += 2,
            _ if wrapper.valued.iter().find(attached).is_some() => at += 1,
            _ => return None,
        }
    }
    let at = at + wrapper.own;
    args.get(at).filter(|program| !program.is_empty()).map(|_| at)
}

/// `env`: variables, then a program. False when it isn't read.
fn env(simple: &mut Simple) -> bool {
    let mut at = 1;
    let mut transparent = true;
    while let Some(arg) = simple.argv.get(at).map(String::as_str) {
        match arg {
            "-i" | "-" | "--ignore-environment" => transparent = false,
            "-u" | "--unset" => {
                transparent = false;
                at += 1;
            }
            arg if arg.starts_with('-') => return false,
            arg => match arg.split_once('=') {
                Some((name, value)) => {
                    simple.assignments.push(Assignment { name: name.to_owned(), value: value.to_owned() })
                }
                None => break,
            },
        }
        at += 1;
    }
    match (simple.argv.get(at), simple.argv.len()) {
        (Some(program), _) => {
            let usable = !program.is_empty();
            strip(simple, at, transparent);
            usable
        }
        (None, 1) => true,
        (None, _) => false,
    }
}

/// A shell: its `-c` text is read, and everything in it stands for the shell.
fn shell(mut simple: Simple, name: &str, dialect: Dialect, depth: usize) -> Result<Vec<Simple>, Why> {
    let fail = |doubt, simple: &Simple| Err(Why { doubt, span: simple.span });
    let args = simple.args();
    let mut at = 0;
    let mut transparent = true;
    let text = loop {
        match args.get(at).map(String::as_str) {
            Some(flags) if is_flags(flags) => {
                // A login shell reads files of the person's first.
                transparent &= !flags.contains('l');
                at += 1;
                // `-euo pipefail -c`: the option's name comes before the text.
                if flags.ends_with('o') {
                    let name = args.get(at).map(String::as_str);
                    if !matches!(name, Some("pipefail" | "errexit" | "nounset")) {
                        return fail(Doubt::Wrapper, &simple);
                    }
                    at += 1;
                } else if flags.contains('c') {
                    break args.get(at).cloned();
                }
            }
            // A script, or nothing: a program of its own, granted word for word only.
            _ => return Ok(vec![simple]),
        }
    };
    let more = args.len() > at + 1;
    let Some(text) = text else { return fail(Doubt::Wrapper, &simple) };
    // Words behind the text stand for `$0`, `$1`: they are only of use to what isn't understood anyway.
    if more {
        return fail(Doubt::Wrapper, &simple);
    }
    if depth >= MAX_SHELLS {
        return fail(Doubt::TooLarge, &simple);
    }
    let inner = if name == "bash" && dialect != Dialect::Cmd { Dialect::Bash } else { Dialect::Sh };
    let nested = read_nested(&text, inner, depth + 1).map_err(|why| Why {
        doubt: why.first().map_or(Doubt::Syntax, |why| why.doubt),
        span: simple.span,
    })?;
    let len = simple.argv.len();
    strip(&mut simple, len, transparent);
    Ok(nested.into_iter().map(|one| within(&simple, one)).collect())
}

/// Flags of a shell that only make it stricter, `-c` and `-l`.
fn is_flags(text: &str) -> bool {
    text.len() > 1
        && text
            .strip_prefix('-')
            .is_some_and(|flags| flags.chars().all(|ch| matches!(ch, 'c' | 'e' | 'u' | 'l' | 'o')))
        && !(text.contains('o') && (text.contains('c') || !text.ends_with('o')))
}

/// A command inside a shell that stands in the outer one's place.
fn within(outer: &Simple, inner: Simple) -> Simple {
    let joined = |outer: &[Via], inner: Vec<Via>| outer.iter().cloned().chain(inner).collect();
    Simple {
        argv: inner.argv,
        assignments: outer.assignments.iter().cloned().chain(inner.assignments).collect(),
        redirects: outer.redirects.iter().cloned().chain(inner.redirects).collect(),
        via: joined(&outer.via, inner.via),
        open: outer.open || inner.open,
        joint: if inner.joint == Joint::First { outer.joint } else { inner.joint },
        dialect: inner.dialect,
        span: outer.span,
    }
}

/// `find` itself, and each program it starts.
fn find(simple: Simple, dialect: Dialect, depth: usize) -> Result<Vec<Simple>, Why> {
    let mut out = vec![simple.clone()];
    let mut rest = simple.args();
    while let Some(at) =
        rest.iter().position(|arg| matches!(arg.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
    {
        let after = rest.get(at + 1..).unwrap_or_default();
        let end = after.iter().position(|arg| arg == ";" || arg == "+").unwrap_or(after.len());
        let argv: Vec<String> = after.get(..end).unwrap_or_default().to_vec();
        if argv.first().is_none_or(String::is_empty) {
            return Err(Why { doubt: Doubt::Wrapper, span: simple.span });
        }
        let mut via = simple.via.clone();
        via.push(Via { program: "find".to_owned(), transparent: false });
        let started = Simple { argv, via, open: true, ..simple.clone() };
        let written = Written { simple: started, bare: false, places: Vec::new(), head: 0 };
        out.extend(unwrap(written, dialect, depth)?);
        rest = after.get(end..).unwrap_or_default();
    }
    Ok(out)
}
