//! The program itself, watched from outside: how long until something, how much memory at most, how much processor time.

use crate::Done;
use crate::meter::{cpu_of_ended, peak_of};
use crate::model::Server;
use crate::place::{Folder, MODEL};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Between two looks at a running program.
const LOOK: Duration = Duration::from_millis(2);
/// Longest that a program may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// What was seen of a program that ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    pub(crate) began: Instant,
    pub(crate) took: Duration,
    /// The most memory it was seen with, bytes.
    pub(crate) peak: Option<u64>,
    /// Processor time of it and of everything it started.
    pub(crate) cpu: Option<Duration>,
}

/// Runs the program with these arguments, away from the person's folders, keys and session.
pub(crate) fn watch(program: &Path, folder: &Folder, args: &[&str]) -> Done<Watched> {
    let home = folder.path().join("home");
    std::fs::create_dir_all(&home)?;
    let mut command = Command::new(program);
    command.arg("--data-dir").arg(folder.data()).args(args).current_dir(folder.path());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("DAYBOOK_")) {
        command.env_remove(name);
    }
    command.env("HOME", &home).env("XDG_DATA_HOME", home.join("data")).env("XDG_RUNTIME_DIR", &home);
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let (before, began) = (cpu_of_ended(), Instant::now());
    let mut child = command.spawn()?;
    let mut peak = None;
    let status = loop {
        peak = peak_of(child.id()).max(peak);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > PATIENCE {
            end(&mut child);
            return Err(format!("{args:?} didn't end within {} s", PATIENCE.as_secs()).into());
        }
        std::thread::park_timeout(LOOK);
    };
    let took = began.elapsed();
    let cpu = cpu_of_ended().zip(before).map(|(now, then)| now.saturating_sub(then));
    if !status.success() {
        return Err(format!("{args:?} ended with {status}").into());
    }
    Ok(Watched { began, took, peak, cpu })
}

/// Runs a task against our own server.
pub(crate) fn exec(program: &Path, folder: &Folder, server: &Server, mode: &str) -> Done<Watched> {
    let (project, url) = (folder.project(), server.url());
    let project = project.to_str().ok_or("the temporary folder's path isn't text")?;
    let args = [
        "exec",
        "--folder",
        project,
        "--provider",
        "anthropic-messages",
        "--base-url",
        &url,
        "--model",
        MODEL,
        "--mode",
        mode,
        "--json",
        "Do it.",
    ];
    watch(program, folder, &args)
}

/// Runs a command that prints, with its output in a file.
pub(crate) fn print_into(command: &str, file: &Path) -> Done<()> {
    let out = std::fs::File::create(file)?;
    let done = Command::new("sh").args(["-c", command]).stdin(Stdio::null()).stdout(out).status()?;
    if done.success() { Ok(()) } else { Err(format!("`{command}` ended with {done}").into()) }
}

fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}
