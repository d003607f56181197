//! A data folder, a project folder, a script, and the program run in them.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest that anything here may take.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) struct Rig {
    pub(crate) root: tempfile::TempDir,
}

impl Rig {
    /// With these answers as the script.
    pub(crate) fn new(answers: Value) -> Self {
        let rig = Self { root: tempfile::tempdir().expect("a folder") };
        std::fs::create_dir(rig.project()).expect("a project");
        std::fs::create_dir(rig.root.path().join("home")).expect("a home");
        rig.script(answers);
        rig
    }

    pub(crate) fn script(&self, answers: Value) {
        let script = json!({ "answers": answers }).to_string();
        std::fs::write(self.root.path().join("script.json"), script).expect("a script");
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// The socket of its local door.
    #[cfg(unix)]
    pub(crate) fn door(&self) -> PathBuf {
        self.root.path().join("home/daybook").join(format!("{}.sock", host::store_name(&self.data())))
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_in(&self.data(), args)
    }

    pub(crate) fn command_in(&self, data: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
        command.arg("--data-dir").arg(data).args(args).current_dir(self.root.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("DAYBOOK_")) {
            command.env_remove(name);
        }
        let home = self.root.path().join("home");
        command.env("HOME", &home).env("XDG_DATA_HOME", home.join("data")).env("XDG_RUNTIME_DIR", &home);
        command.env("DAYBOOK_PATIENCE", LIMIT.as_secs().to_string());
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus");
        command
    }

    /// Arguments of `exec` with the script and these extra ones.
    pub(crate) fn exec<'a>(extra: &[&'a str]) -> Vec<&'a str> {
        let mut args = vec!["exec", "--folder", "project", "--script", "script.json", "--json"];
        args.extend(extra);
        args.push("do it");
        args
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        Done::of(self.command(args).output().expect("it runs"))
    }

    /// Runs it with these words on its standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> Done {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        // It may end before it has read them.
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        Done::of(child.wait_with_output().expect("it ends"))
    }

    /// Starts it and hands out its lines one by one.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::of(self.command(args))
    }

    /// The same, with its door where this process looks for it.
    #[cfg(unix)]
    pub(crate) fn start_beside_us(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        match std::env::var_os("XDG_RUNTIME_DIR") {
            Some(ours) => command.env("XDG_RUNTIME_DIR", ours),
            None => command.env_remove("XDG_RUNTIME_DIR"),
        };
        Running::of(command)
    }
}

/// A run that ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn json(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|bad| panic!("{bad}: {line}")))
            .collect()
    }

    pub(crate) fn session(&self) -> String {
        self.json()[0]["session_id"].as_str().expect("a session").to_owned()
    }

    /// Payloads of events of this type.
    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        payloads(&self.json(), kind)
    }

    pub(crate) fn done(&self) -> Value {
        self.json().last().expect("a line")["done"].clone()
    }
}

pub(crate) fn payloads(lines: &[Value], kind: &str) -> Vec<Value> {
    let of_kind = lines.iter().filter(|line| line["event"]["type"] == kind);
    of_kind.map(|line| line["event"]["payload"].clone()).collect()
}

/// A run under way. Dropping it kills it.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: std::sync::mpsc::Receiver<String>,
    pub(crate) seen: Vec<Value>,
}

impl Running {
    fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (to, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if to.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines, seen: Vec::new() }
    }

    /// Reads on until an event of this type, and gives its payload.
    pub(crate) fn until(&mut self, kind: &str) -> Value {
        loop {
            let line = self.line(kind);
            if line["event"]["type"] == kind {
                return line["event"]["payload"].clone();
            }
        }
    }

    /// Reads one line.
    pub(crate) fn line(&mut self, what: &str) -> Value {
        let line = self.lines.recv_timeout(LIMIT);
        let line = line.unwrap_or_else(|_| panic!("no {what} after {:#?}", self.seen));
        let line: Value = serde_json::from_str(&line).expect("JSON");
        self.seen.push(line.clone());
        line
    }

    pub(crate) fn session(&self) -> String {
        self.seen[0]["session_id"].as_str().expect("a session").to_owned()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent =
            Command::new("kill").arg(name).arg(self.child.id().to_string()).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Waits for its end: the exit code and all lines.
    pub(crate) fn end(mut self) -> (i32, Vec<Value>) {
        let code = self.child.wait().expect("it ends").code().unwrap_or(-1);
        while let Ok(line) = self.lines.recv_timeout(LIMIT) {
            self.seen.push(serde_json::from_str(&line).expect("JSON"));
        }
        (code, std::mem::take(&mut self.seen))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is so.
pub(crate) fn wait_for(what: &str, so: impl Fn() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < LIMIT, "{what}");
        std::thread::yield_now();
    }
}

/// Every file below a folder, with its bytes.
pub(crate) fn files(below: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(below).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.is_file() {
            found.push((path.clone(), std::fs::read(&path).expect("readable")));
        }
    }
    found
}

pub(crate) fn text(text: &str) -> Value {
    json!({ "say": [{ "text": text }] })
}

pub(crate) fn call(name: &str, arguments: Value) -> Value {
    json!({ "say": [{ "call": { "name": name, "arguments": arguments } }] })
}
