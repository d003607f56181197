//! `run_command`: one command in a fresh, caged, non-interactive shell.
//!
//! It ends when its shell exits; what it left running is stopped and named. Invariant: no state, no terminal and no input
//! is shared between calls, output is bounded on its whole way, and a stopped command is only called stopped when the
//! cage confirmed it.

use super::depends::{UNHELD, depends};
use super::sight::{free, hidden, in_the_open, kept, special};
use super::{blocking, object};
use crate::call::{Checked, Interaction, Surveyed};
use crate::clear::Cleared;
use crate::command::{Summary, harmless, named_folders, read, summary};
use crate::launch::{Ended, Exit, Hold, Order, Reach, Running};
use crate::limits::{COMMAND_TEXT_BYTES, Limits};
use crate::network::Outcome;
use crate::network::{Hosts, NotASite, Site};
use crate::path::is_secret;
use crate::policy::{Cage, LEAVES, OPEN, SECRETS, TELLS, WRITING, only_looks};
use crate::run::NO_OUTPUT;
use crate::shell::dialect;
use crate::shell::env::scrubbed;
use crate::shell::history::History;
use crate::shell::live::Live;
use crate::shell::refused::bits_refused;
use crate::shell::spool::Spool;
use crate::tool::{Concurrency, Ctx, Declared, Raw, Tool, Trouble, View, failed, fault};
use domain::call::{Act, Facts, Recovery, Semantics, ToolError, Undo};
use domain::history::kept_whole;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a running command is looked at for cancellation and size.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long the rest of the output may take once every process has ended.
const DRAIN: Duration = Duration::from_secs(1);
/// Longest command, as JSON text: what is asked for holds it twice, in an event of at most 256 KB, and Linux takes no
/// argument of 128 KB.
const COMMAND_BYTES: usize = 100 << 10;

/// The word that says that a command goes on in the background, and whether its end wakes the session.
const BACKGROUND: &str = "background";

/// Most sites one command may name.
const MAX_SITES: usize = 8;

/// The shell's name for the model.
const SHELL: &str = if cfg!(windows) { "PowerShell" } else { "bash" };

/// Runs a command.
pub(crate) struct RunCommand(Declared);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    command: String,
    timeout_ms: Option<u64>,
    #[serde(default)]
    sites: Vec<String>,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    notify: bool,
}

impl Default for RunCommand {
    fn default() -> Self {
        let properties = json!({
            "background": {"type": "boolean", "description": "Go on as a job; returns its id at once."},
            "command": {"type": "string", "minLength": 1, "description": format!("Run by {SHELL} in the folder, e.g. \"ls\".")},
            "notify": {"type": "boolean", "description": "Wake you when the job ends."},
            "sites": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_SITES, "description": "Hosts it needs on the network, e.g. [\"example.com\"]; the person is asked."},
            "timeout_ms": {"type": "integer", "minimum": 1, "description": "Default 120000, at most 600000; of a job 1 h, at most 24 h."}
        });
        Self(Declared {
            name: "run_command",
            version: 2,
            description: "Run a shell command. No other network, input or state kept between calls; what it leaves running is stopped when it ends. Not for reading or editing files.",
            schema: object(properties, &["command"]),
            output: json!({"anyOf": [
                object(
                    json!({
                        "exit_code": {"type": ["integer", "null"]}, "bytes": {"type": "integer"},
                        "left_out": {"type": "integer"}, "output": {"type": ["string", "null"]},
                        "leftovers": {"type": "array", "items": {"type": "string"}}
                    }),
                    &["exit_code", "bytes", "left_out", "output", "leftovers"],
                ),
                object(json!({"job": {"type": "string"}}), &["job"]),
            ]}),
            concurrency: Concurrency::Exclusive,
            view: View::Terminal,
        })
    }
}

impl Tool for RunCommand {
    fn declared(&self) -> &Declared {
        &self.0
    }

    fn survey(&self, call: &Checked, ctx: &Ctx) -> Result<Surveyed, ToolError> {
        let args: Args = call.typed()?;
        if args.command.contains('\0') {
            return Err(failed("command/unusable", "the command holds a NUL", ""));
        }
        let bytes = json!(args.command).to_string().len();
        if bytes > COMMAND_BYTES {
            let message = format!("the command has {bytes} bytes, at most {COMMAND_BYTES} are run");
            return Err(failed(
                "command/too_long",
                message,
                "Write it to a file with write_file and run that.",
            ));
        }
        let reach = sites(&args.sites, ctx)?;
        let cage = ctx.launcher.cage();
        let reading = read(&args.command, dialect());
        let added = ctx.added_paths();
        let named = named_folders(&reading, &added);
        let seen = summary(&reading, &added);
        let secrets = secrets_named(&seen);
        let looks = reach.is_empty()
            && secrets.is_empty()
            && harmless(&reading, &added).is_some_and(|one| free(one, cage, &named, ctx));
        let added = match cage {
            // What isn't held isn't kept from anything.
            Cage::None => Vec::new(),
            // It sees no more than it names: the rest couldn't be looked through for secrets either.
            Cage::Full | Cage::Partial if looks => named,
            Cage::Full | Cage::Partial => added,
        };
        let mut cannot_touch = held_back(cage);
        if looks {
            cannot_touch.push(WRITING);
        }
        cannot_touch.retain(|one| reach.is_empty() || *one != "network");
        let mut words = words_of(&seen);
        words.insert("command".to_owned(), args.command.clone());
        if args.background {
            words.insert(BACKGROUND.to_owned(), args.notify.to_string());
        }
        words.insert("time_ms".to_owned(), self.time_ms(call, &ctx.limits).to_string());
        if !secrets.is_empty() {
            words.insert(SECRETS.to_owned(), secrets.join("\n"));
        }
        if !looks && cage == Cage::Partial && secrets.is_empty() {
            // It can't hide them, so whatever runs could read them.
            words.extend(in_the_open(&added, ctx).map(|path| (OPEN.to_owned(), path)));
        }
        let depends = depends(&args.command, ctx);
        if !depends.unheld.is_empty() {
            words.insert(UNHELD.to_owned(), depends.unheld.join("\n"));
        }
        // What it prints of a file with secrets goes to the model's service.
        let grave = cage == Cage::None || seen.publishes || !seen.protected.is_empty() || !secrets.is_empty();
        let facts = Facts {
            act: Act::Run,
            can_touch: if looks { Vec::new() } else { vec![".".to_owned()] },
            cannot_touch: cannot_touch.into_iter().map(str::to_owned).collect(),
            added,
            reach,
            undo: if looks { Undo::Yes } else { Undo::No },
            risk: if looks { 1 } else { 2 + u8::from(grave) },
            words,
            depends_on: depends.files,
            exact: args.command,
            proposed: None,
        };
        let semantics = match looks {
            true => Semantics::None { retry: true },
            false => Semantics::Possible { recovery: Recovery::Manual },
        };
        Ok(Surveyed { facts, semantics })
    }

    fn time_ms(&self, call: &Checked, limits: &Limits) -> u64 {
        let args = call.typed::<Args>().ok();
        let (usual, most) = match args.as_ref().is_some_and(|args| args.background) {
            true => (limits.job_default_ms, limits.job_max_ms),
            false => (limits.command_default_ms, limits.command_max_ms),
        };
        args.and_then(|args| args.timeout_ms).unwrap_or(usual).min(most)
    }

    fn interaction(&self, call: &Checked) -> Result<Option<Interaction>, ToolError> {
        let Args { command, background, notify, .. } = call.typed()?;
        left(command, background, notify)
    }

    fn run<'a>(&'a self, call: &'a Cleared, ctx: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        let (args, hold, reach) = (call.call().typed::<Args>(), call.hold(), reach(call.facts()));
        let seen_by = if call.is_approved() { SeenBy::Person } else { SeenBy::Nobody };
        let (looks, added) = (only_looks(call.facts()), call.facts().added.clone());
        blocking(ctx, move |ctx| {
            let look = ctx.added_here(&added)?;
            let special = match looks || seen_by == SeenBy::Nobody {
                true => special(&look, &ctx)?,
                false => Vec::new(),
            };
            let places = look.into_iter().map(|(path, _)| path).collect();
            let mut order = order(&args?.command, hold, reach?, places, &ctx);
            let (mut secrets, mut obeyed) = (Vec::new(), Vec::new());
            for (root, special) in special {
                secrets.extend(special.secrets.into_iter().map(|path| root.join(path)));
                obeyed.extend(special.obeyed.into_iter().map(|path| root.join(path)));
            }
            if seen_by == SeenBy::Nobody {
                order.keep = kept(&ctx.place).chain(obeyed).collect();
                order.keep.sort();
                order.keep.dedup();
            }
            let unseen = secrets.len();
            order.hide.extend(secrets);
            let ended = run(&order, &ctx);
            ended.map(|raw| with_unseen(raw, unseen, looks))
        })
    }
}

/// Who looked at a command before it runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SeenBy {
    Person,
    Nobody,
}

/// Files with secrets that a command names: as paths, or in a repository's history (`HEAD:.env`).
fn secrets_named(seen: &Summary) -> Vec<String> {
    let named =
        |path: &&String| is_secret(path) || path.rsplit_once(':').is_some_and(|(_, inner)| is_secret(inner));
    seen.files.iter().filter(named).cloned().collect()
}

/// What a command asks of the engine: nothing, or to let it go on in the background.
fn left(command: String, background: bool, notify: bool) -> Result<Option<Interaction>, ToolError> {
    match (background, notify) {
        (true, notify) => Ok(Some(Interaction::Background { command, notify })),
        (false, true) => Err(failed(
            "arguments/invalid",
            "notify is for commands in the background",
            "Set background, too, or leave notify out.",
        )),
        (false, false) => Ok(None),
    }
}

/// A command that failed where files were out of its sight is told so: it may have wanted one of them.
fn with_unseen(mut raw: Raw, unseen: usize, looks: bool) -> Raw {
    let failed = raw.value.get("exit_code").is_some_and(|code| code != 0);
    if unseen > 0 && failed && !looks {
        raw.text.push_str(&format!(
            "\n[{unseen} files with secrets were out of sight, because nobody was asked; name the file in the command to ask]"
        ));
    }
    raw
}

/// The sites a call names, each in its one spelling.
fn sites(named: &[String], ctx: &Ctx) -> Result<Vec<String>, ToolError> {
    let mut sites = Vec::new();
    for name in named {
        let site: Site = name.parse().map_err(|error: NotASite| {
            let message = format!("{} can't be reached: {error}", crate::path::shown(name));
            failed(
                "command/site",
                message,
                "Name public hosts, e.g. \"example.com\" or \"example.com:8443\".",
            )
        })?;
        sites.push(site.to_string());
    }
    sites.sort();
    sites.dedup();
    if !sites.is_empty() && !ctx.launcher.can_reach_hosts() {
        return Err(failed(
            "command/no_network",
            "on this machine commands can't be let onto the network host by host, so they get none",
            "Do without the network, or ask the person to run it.",
        ));
    }
    Ok(sites)
}

/// What the facts say may be reached.
fn reach(facts: &Facts) -> Result<Reach, ToolError> {
    if facts.reach.is_empty() {
        return Ok(Reach::Nothing);
    }
    let sites: Result<Hosts, NotASite> = facts.reach.iter().map(|site| site.parse::<Site>()).collect();
    sites.map(Reach::Hosts).map_err(|error| failed("command/site", error.to_string(), ""))
}

/// What the cage keeps every command from.
fn held_back(cage: Cage) -> Vec<&'static str> {
    match cage {
        Cage::Full => vec!["outside_folder", "network", "other_programs"],
        Cage::Partial => vec!["outside_folder", "network"],
        Cage::None => Vec::new(),
    }
}

/// What its text says, for the card: nothing of it is a promise.
fn words_of(seen: &Summary) -> BTreeMap<String, String> {
    let doubts: Vec<String> = seen
        .doubts
        .iter()
        .filter_map(|why| serde_json::to_value(why.doubt).ok()?.as_str().map(str::to_owned))
        .collect();
    let lists = [
        ("programs", &seen.programs),
        ("writes", &seen.writes),
        ("hosts", &seen.hosts),
        ("protected", &seen.protected),
        ("doubts", &doubts),
    ];
    let flags = [
        ("deletes", seen.deletes),
        ("publishes", seen.publishes),
        (LEAVES, seen.leaves),
        (TELLS, seen.tells),
        ("interprets", seen.interprets),
        ("outside", seen.outside),
    ];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    let lists = lists.map(|(name, list)| (name.to_owned(), list.join("\n")));
    let flags =
        flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| (name.to_owned(), "true".to_owned()));
    lists.chain(flags).collect()
}

fn order(command: &str, hold: Hold, reach: Reach, look: Vec<PathBuf>, ctx: &Ctx) -> Order {
    let (program, args) = shell(command);
    Order {
        program,
        args,
        env: scrubbed(
            std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
            ctx.place.path(),
        ),
        folder: ctx.place.path().to_owned(),
        look,
        hide: hidden(command, ctx),
        keep: Vec::new(),
        reach,
        hold,
    }
}

/// The shell and its arguments.
#[cfg(not(windows))]
fn shell(command: &str) -> (PathBuf, Vec<String>) {
    let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
    // The outer shell only joins both outputs, in the order they are written, and becomes the inner one.
    let args = ["-c", "exec \"$0\" -c \"$1\" 2>&1", shell, command];
    ("/bin/sh".into(), args.map(str::to_owned).to_vec())
}

/// The shell and its arguments.
#[cfg(windows)]
fn shell(command: &str) -> (PathBuf, Vec<String>) {
    let root = std::env::var("SystemRoot").unwrap_or_else(|_| "C:\\Windows".to_owned());
    let program = Path::new(&root).join("System32\\WindowsPowerShell\\v1.0\\powershell.exe");
    let joined = format!("& {{\n{command}\n}} 2>&1");
    (program, ["-NoProfile", "-NonInteractive", "-Command", &joined].map(str::to_owned).to_vec())
}

fn run(order: &Order, ctx: &Ctx) -> Result<Raw, Trouble> {
    let spool = Spool::create(&ctx.private, ctx.limits.spool_bytes, &ctx.secrets);
    let spool = spool.map_err(|error| fault("keeping the output", &error))?;
    let history = History::of(&order.args.join(" "));
    let tap = Arc::new(Mutex::new(Tap { spool, live: Live::new(ctx), history }));
    let mut running = ctx
        .launcher
        .launch(order)
        .map_err(|error| Trouble::from(failed("command/not_started", error.0, "")))?;
    let read = match running.pipes().0 {
        Some(pipe) => reader(pipe, Arc::clone(&tap)),
        None => channel().1,
    };
    let (why, ended) = watch(&*running, &tap, ctx);
    let mut asides = asides(&*running, ctx);
    drop(running);
    // Every writer has ended, so the pipe's end is near; a process that escaped an uncaged tree can't hold us.
    let lost = match (&ended, read.recv_timeout(DRAIN)) {
        (_, Ok(Err(error))) => return Err(fault("keeping the output", &error)),
        (_, Ok(Ok(())) | Err(RecvTimeoutError::Disconnected)) => false,
        (_, Err(RecvTimeoutError::Timeout)) => true,
    };
    let mut raw = result(&mut locked(&tap).spool, ended.as_ref(), lost, ctx)?;
    raw.secrets = locked(&tap).history.end();
    if order.hold != Hold::Uncaged {
        asides.extend(bits_refused(&raw.text, order.args.last().map_or("", String::as_str), &ctx.place));
    }
    asides.iter().for_each(|line| raw.text.push_str(&format!("\n[{line}]")));
    match (why, ended.map(|ended| ended.exit)) {
        (_, None | Some(Exit::Lost)) => Err(Trouble::Unconfirmed(raw)),
        (_, Some(Exit::NotStarted(why))) => {
            Err(failed("command/not_started", format!("the shell couldn't be started: {why}"), "").into())
        }
        (Why::TooMuch, _) => {
            let message = format!("ended after printing {} bytes, the limit", ctx.limits.output_bytes);
            Err(Trouble::Failed {
                error: failed("command/too_much_output", message, "Print less, e.g. through head."),
                raw,
            })
        }
        (Why::Told, Some(Exit::Killed)) => Err(Trouble::Stopped(raw)),
        (Why::ByItself | Why::Told, Some(Exit::Code(_) | Exit::Signal(_) | Exit::Killed)) => Ok(raw),
    }
}

/// Why watching ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    ByItself,
    Told,
    TooMuch,
}

fn watch(running: &dyn Running, tap: &Mutex<Tap>, ctx: &Ctx) -> (Why, Option<Ended>) {
    loop {
        if let Some(ended) = running.wait_timeout(LOOK_EVERY) {
            return (Why::ByItself, Some(ended));
        }
        if ctx.cancel.is_cancelled() {
            return (Why::Told, running.kill());
        }
        let mut tap = locked(tap);
        if tap.spool.total() > ctx.limits.output_bytes {
            drop(tap);
            return (Why::TooMuch, running.kill());
        }
        tap.live.tick();
    }
}

/// Where output arrives: what is kept, and what is shown meanwhile.
struct Tap {
    spool: Spool,
    live: Live,
    history: History,
}

impl Tap {
    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let shown = self.spool.push(bytes)?;
        self.history.push(&shown);
        self.live.push(&shown);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        let rest = self.spool.end()?;
        self.history.push(&rest);
        self.live.end(&rest);
        Ok(())
    }
}

/// Reads the pipe on its own thread to its end, so that a full pipe never blocks the command.
fn reader(mut pipe: File, tap: Arc<Mutex<Tap>>) -> Receiver<io::Result<()>> {
    let (done, receiver) = channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        let read = loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break locked(&tap).end(),
                Ok(count) => match locked(&tap).push(&buffer[..count]) {
                    Ok(()) => {}
                    Err(error) => break Err(error),
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        // Nobody waits any more when the command was given up.
        let _ = done.send(read);
    });
    receiver
}

/// What else is worth a line: a bound that was crossed, protected names it made, sites it was refused.
fn asides(running: &dyn Running, ctx: &Ctx) -> Vec<String> {
    const SITES: usize = 8;
    let mut lines = Vec::new();
    if let Some(what) = running.over() {
        lines.push(format!("ended: all its processes together used more {what} than a command may"));
    }
    let made = running.made();
    if !made.is_empty() {
        let name = |path: &PathBuf| path.strip_prefix(ctx.place.path()).unwrap_or(path).display().to_string();
        let names: Vec<String> = made.iter().map(name).collect();
        lines.push(format!("made, and obeyed by other programs from now on: {}", names.join(", ")));
    }
    let refused = running.used().into_iter().filter_map(|line| match line.outcome {
        Outcome::Refused(why) if !line.site.is_empty() => Some((line.site, why)),
        Outcome::Refused(_) | Outcome::Granted => None,
    });
    for (site, why) in refused.take(SITES) {
        lines.push(format!("network: {} refused: {why}", crate::visible::visible(&site).text));
    }
    lines
}

fn result(spool: &mut Spool, ended: Option<&Ended>, lost: bool, ctx: &Ctx) -> Result<Raw, Trouble> {
    let excerpt = spool.excerpt(COMMAND_TEXT_BYTES);
    let total = spool.total();
    let blob = match total {
        0 => None,
        _ => {
            let kept = spool.reader().and_then(|mut reader| ctx.blobs.attach(&mut reader));
            Some(kept.map_err(|error| fault("keeping the output", &error))?)
        }
    };
    let shown = excerpt.text.trim_end_matches('\n');
    let mut text = if total == 0 { NO_OUTPUT.to_owned() } else { shown.to_owned() };
    if let Some(kept) = blob.as_ref().filter(|_| excerpt.left_out > 0) {
        text.push_str(&format!("\n{}", kept_whole(kept)));
    }
    let (mut code, mut leftovers) = (None, &[][..]);
    if let Some(ended) = ended {
        leftovers = &ended.leftovers;
        match &ended.exit {
            Exit::Code(number) => {
                code = Some(*number);
                text.push_str(&format!("\n[exit code {number}]"));
            }
            Exit::Signal(number) => {
                // As shells say it: what was killed isn't well.
                code = Some(128 + number);
                text.push_str(&format!("\n[ended by signal {number}]"));
            }
            Exit::Killed | Exit::NotStarted(_) | Exit::Lost => {}
        }
        if !leftovers.is_empty() {
            let names: Vec<String> =
                leftovers.iter().map(|name| crate::visible::visible(name).text).collect();
            let more = if ended.more_leftovers > 0 {
                format!(" and {} more", ended.more_leftovers)
            } else {
                String::new()
            };
            text.push_str(&format!("\n[left running and stopped: {}{more}]", names.join(", ")));
        }
    }
    if lost {
        text.push_str(
            "\n[a process that left the shell still holds its output; what it prints is not shown]",
        );
    }
    let value = json!({
        "exit_code": code, "bytes": total, "left_out": excerpt.left_out, "output": blob, "leftovers": leftovers
    });
    Ok(Raw { value, text, blobs: blob.into_iter().collect(), ..Raw::default() })
}

fn locked(tap: &Mutex<Tap>) -> MutexGuard<'_, Tap> {
    tap.lock().unwrap_or_else(PoisonError::into_inner)
}
