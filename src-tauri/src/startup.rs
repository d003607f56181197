//! Before the window exists: the command line, what a shipped build refuses, and the renderer's workaround.
//!
//! **Automation** means driving the window from outside; its variable works in every build of the toolkit, so a build
//! without the `automation` feature refuses to start with it. The **renderer fallback** is a variable that must be set
//! before any thread runs, so the program replaces itself with the variable set; the user's own setting always wins.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// The toolkit's variable that lets a driver control the window.
const AUTOMATION: &str = "TAURI_WEBVIEW_AUTOMATION";
/// WebKit's variable that turns off the renderer that leaves windows blank on some drivers.
const RENDERER: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
/// Exit code for a wrong command line or environment.
const USAGE: u8 = 2;

/// How this start was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Start {
    /// Another data folder than the platform's.
    pub(crate) data_dir: Option<PathBuf>,
}

/// Why the program doesn't start.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(
        "{AUTOMATION} is set, and this build does not let other programs drive its window.\n\
         Unset it, or build with `--features automation` for tests."
    )]
    Automation,
    #[error("cannot read the command line: {0}\nUsage: daybook-desktop [--data-dir DIR]")]
    Usage(String),
    #[error("Daybook 0.1.0\nUsage: daybook-desktop [--data-dir DIR]\n\nOpens the Daybook window.")]
    Help,
}

impl Refusal {
    /// Says why, and gives the exit code that goes with it.
    pub(crate) fn tell(&self) -> ExitCode {
        let code = if *self == Refusal::Help { 0 } else { USAGE };
        let line = format!("{self}\n");
        let written = match code {
            0 => std::io::stdout().write_all(line.as_bytes()),
            _ => std::io::stderr().write_all(line.as_bytes()),
        };
        ExitCode::from(if written.is_ok() { code } else { 1 })
    }
}

/// Checks the environment and the command line. May replace the process by itself with the renderer's variable set.
pub(crate) fn prepare() -> Result<Start, Refusal> {
    refuse_automation(std::env::var_os(AUTOMATION).as_deref(), cfg!(feature = "automation"))?;
    let start = parse(std::env::args_os().skip(1))?;
    log_to_stderr();
    #[cfg(target_os = "linux")]
    if needs_fallback(nvidia_driver_present(std::path::Path::new("/")), std::env::var_os(RENDERER).as_deref())
    {
        restart_with_fallback();
    }
    Ok(start)
}

fn refuse_automation(variable: Option<&OsStr>, allowed: bool) -> Result<(), Refusal> {
    match variable {
        Some(value) if !value.is_empty() && !allowed => Err(Refusal::Automation),
        _ => Ok(()),
    }
}

fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Start, Refusal> {
    let mut start = Start::default();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--help" | "-h") => return Err(Refusal::Help),
            Some("--data-dir") => match arguments.next() {
                Some(folder) if !folder.is_empty() => start.data_dir = Some(PathBuf::from(folder)),
                _ => return Err(Refusal::Usage("--data-dir needs a folder".into())),
            },
            _ => return Err(Refusal::Usage(format!("unknown argument {}", argument.display()))),
        }
    }
    Ok(start)
}

fn log_to_stderr() {
    let filter = EnvFilter::try_from_env("DAYBOOK_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}

/// The driver decides, not the kind of session: the blank window happens under X11 and Wayland alike.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only WebKitGTK has this renderer"))]
fn needs_fallback(nvidia: bool, user_setting: Option<&OsStr>) -> bool {
    nvidia && user_setting.is_none()
}

/// Is the proprietary NVIDIA driver loaded? `root` is `/`, or a made-up one.
#[cfg(target_os = "linux")]
fn nvidia_driver_present(root: &std::path::Path) -> bool {
    ["proc/driver/nvidia/version", "sys/module/nvidia/version"].iter().any(|file| root.join(file).exists())
}

#[cfg(target_os = "linux")]
fn restart_with_fallback() {
    use std::os::unix::process::CommandExt;
    let Ok(program) = std::env::current_exe() else { return };
    let error =
        std::process::Command::new(program).args(std::env::args_os().skip(1)).env(RENDERER, "1").exec();
    // Reached only when the replacement failed: a possibly blank window is better than none.
    tracing::warn!(%error, "cannot restart with {RENDERER}=1");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shipped_build_refuses_the_automation_variable() {
        let cases = [(None, false, true), (Some(""), false, true), (Some("true"), false, false)];
        for (variable, allowed, starts) in
            cases.into_iter().chain([(Some("1"), false, false), (Some("true"), true, true)])
        {
            assert_eq!(
                refuse_automation(variable.map(OsStr::new), allowed).is_ok(),
                starts,
                "{variable:?} {allowed}"
            );
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn d01_d02_the_fallback_follows_the_driver_whatever_the_session() {
        let with_driver = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(with_driver.path().join("proc/driver/nvidia")).unwrap();
        std::fs::write(with_driver.path().join("proc/driver/nvidia/version"), "NVRM version: …").unwrap();
        let without = tempfile::tempdir().unwrap();
        assert!(nvidia_driver_present(with_driver.path()));
        assert!(!nvidia_driver_present(without.path()));
        // The session's kind is no argument, so X11 can't be missed.
        assert!(needs_fallback(true, None));
        assert!(!needs_fallback(false, None));
        for own in ["0", "1", ""] {
            assert!(!needs_fallback(true, Some(OsStr::new(own))), "the user set {own:?}");
        }
    }

    #[test]
    fn the_command_line_is_read_or_refused() {
        let read = |line: &[&str]| parse(line.iter().map(OsString::from));
        assert_eq!(read(&[]), Ok(Start { data_dir: None }));
        assert_eq!(read(&["--data-dir", "/d/x y"]), Ok(Start { data_dir: Some("/d/x y".into()) }));
        assert!(matches!(read(&["--data-dir"]), Err(Refusal::Usage(_))));
        assert!(matches!(read(&["--remote-debugging"]), Err(Refusal::Usage(_))));
        assert_eq!(read(&["-h"]), Err(Refusal::Help));
    }
}
