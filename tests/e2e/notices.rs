//! The system's notifications: what a service on the session bus is really asked to show, while another program's window
//! has the focus and while ours has it.

use crate::driver::wait_until;
use crate::hand::drag_onto_window;
use crate::model::{Model, Say};
use crate::window::{Place, Window};
use crate::work::connect;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

/// A notification service, and a window of another program.
struct Service {
    process: Child,
    other: String,
    calls: Arc<Mutex<Vec<Value>>>,
}

impl Service {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/notices.py");
        let started =
            Command::new("/usr/bin/python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process =
            started.expect("python3 with GTK is installed (packages python3-gi, gir1.2-gtk-3.0)");
        let mut lines = BufReader::new(process.stdout.take().expect("its output is a pipe")).lines();
        let other = lines.next().expect("it says its window").expect("it says text");
        let calls: Arc<Mutex<Vec<Value>>> = Arc::default();
        let heard = Arc::clone(&calls);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let call = serde_json::from_str(&line).expect("a call is a line of JSON");
                heard.lock().expect("no holder panics").push(call);
            }
        });
        Self { process, other, calls }
    }

    /// What it was asked so far, once it is `count` calls.
    #[track_caller]
    fn calls(&self, count: usize) -> Vec<Value> {
        wait_until(&format!("{count} calls of the service; now {:?}", self.calls.lock()), || {
            let calls = self.calls.lock().expect("no holder panics").clone();
            (calls.len() >= count).then_some(calls)
        })
    }

    fn click(&mut self, number: &Value) {
        let input = self.process.stdin.as_mut().expect("its input is a pipe");
        writeln!(input, "click {number}").expect("it reads");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Puts a window in front and gives it the focus, as clicking on it does.
#[track_caller]
fn go_to(window: &str) {
    xdotool(&["windowraise", window, "windowfocus", "--sync", window]);
    wait_until(&format!("{window} has the focus"), || {
        (xdotool(&["getwindowfocus"]).trim() == window).then_some(())
    });
}

#[track_caller]
fn xdotool(arguments: &[&str]) -> String {
    let done = Command::new("xdotool").args(arguments).output().expect("xdotool is installed");
    assert!(done.status.success(), "xdotool {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn say(window: &Window, session: &Value, words: &str, number: u32) {
    let args = json!({"session": session, "text": words, "intent": "steer", "command": format!("cmd_{number:032x}")});
    window.command("send", args);
}

/// The id of the approval that came last.
fn approval(window: &Window, session: &Value) -> Value {
    let view = window.command("open_session", json!({"session": session}));
    let entries = view["entries"].as_array().expect("a view has entries").iter();
    let last = entries.rev().find_map(|entry| Some(entry["body"]["approval"]["id"].as_str()?.to_owned()));
    Value::from(last.unwrap_or_else(|| panic!("no approval in {view}")))
}

#[test]
fn a15_a_notice_is_shown_by_focus_and_not_by_visibility() {
    let change =
        || Say::Call("edit_file", json!({"path": "notes.txt", "old_text": "one", "new_text": "two"}));
    let model = Model::start([change(), Say::Text("First."), change(), Say::Text("Second."), change()]);
    let mut service = Service::start();
    let window = Window::open(Place::new());
    connect(&window, &model);
    std::fs::write(window.place().project().join("notes.txt"), "one\n").unwrap();
    drag_onto_window(&window.place().project());
    window.find("textbox", "Message");
    let session = window.command("sessions", Value::Null)[0]["id"].clone();
    window.command("rename", json!({"session": session, "title": "Notes of Maria"}));
    let ours = window.x_window();

    go_to(&ours);
    say(&window, &session, "Change the notes", 1);
    window.press("button", "Don’t allow…");
    window.press("button", "Don’t allow");
    window.shows("First.");

    // Nearly all of it can be seen, but another window has the focus.
    go_to(&service.other);
    window.press("button", "Open another folder");
    say(&window, &session, "Change them now", 2);
    let calls = service.calls(1);
    let shown = json!({"shown": 1, "app": "Daybook", "title": "Notes of Maria", "body": "1 thing is waiting for you.",
        "actions": ["default", "Open"]});
    assert_eq!(calls, [shown], "nothing was shown while the window had the focus, and one thing without");

    // A click opens that session, wherever the page was.
    service.click(&calls[0]["shown"]);
    window.press("button", "Don’t allow…");
    window.press("button", "Don’t allow");
    window.shows("Second.");
    assert_eq!(service.calls(1).len(), 1, "{:?}", service.calls(1));

    // What is answered elsewhere takes its notice away.
    go_to(&service.other);
    say(&window, &session, "And once more", 3);
    assert_eq!(service.calls(2)[1]["shown"], 2);
    let approval = approval(&window, &session);
    window.command("refuse", json!({"session": session, "approval": approval, "why": null}));
    assert_eq!(service.calls(3)[2], json!({"closed": 2}));
}
