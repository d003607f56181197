//! What a session made, shown in the system's own view of folders: what a file manager on the session bus is really asked.

use crate::hand::drag_onto_window;
use crate::model::{Model, Say};
use crate::window::{Place, Window};
use crate::work::connect;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longest that it may be silent.
const LIMIT: Duration = Duration::from_secs(60);

/// A file manager that says what it is asked.
struct Folders {
    process: Child,
    lines: Receiver<String>,
}

impl Folders {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/files.py");
        let started = Command::new("/usr/bin/python3").arg(script).stdout(Stdio::piped()).spawn();
        let mut process = started.expect("python3 with GLib is installed (package python3-gi)");
        let out = BufReader::new(process.stdout.take().expect("its output is a pipe"));
        let (to, lines) = channel();
        // Ends with the process, at the latest when it is dropped.
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| to.send(line)));
        let folders = Self { process, lines };
        assert_eq!(folders.next(), "ready");
        folders
    }

    /// What it says next.
    fn next(&self) -> Value {
        let line = self.lines.recv_timeout(LIMIT).expect("it says something in time");
        serde_json::from_str(&line).expect("a call is a line of JSON")
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_file_that_was_made_is_selected_in_the_systems_view_of_folders() {
    let path = "报告/summary 50%.md";
    let model = Model::start([
        Say::Call("write_file", json!({"path": path, "content": "one\n"})),
        Say::Text("Made."),
    ]);
    let folders = Folders::start();
    let window = Window::open(Place::new());
    connect(&window, &model);
    drag_onto_window(&window.place().project());
    window.find("textbox", "Message");
    let session = window.command("sessions", Value::Null)[0]["id"].clone();
    window.command("set_mode", json!({"session": session, "mode": "edit"}));
    let field = window.find("textbox", "Message");
    window.driver().type_into(&field, "Write a summary");
    window.press("button", "Send");
    window.shows("Made.");
    window.press("tab", "Changes");
    window.press("button", &format!("Show in folder: {path}"));
    let project = window.place().project().canonicalize().unwrap();
    let address = format!("file://{}/%E6%8A%A5%E5%91%8A/summary%2050%25.md", project.display());
    let asked = json!({"at": "/org/freedesktop/FileManager1", "method": "ShowItems", "addresses": [address], "startup": ""});
    assert_eq!(folders.next(), asked);
}
