//! The person's **hand** outside the page: dragging a folder from another program onto the window.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Drags what lies at `path` from a small program of its own onto the middle of the window, with the mouse of this display.
pub(crate) fn drag_onto_window(path: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/drag.py");
    let mut source = Command::new("/usr/bin/python3")
        .arg(script)
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 with GTK is installed (packages python3-gi, gir1.2-gtk-3.0)");
    let mut said = String::new();
    let output = source.stdout.take().expect("its output is a pipe");
    BufReader::new(output).read_line(&mut said).expect("the source says that it is ready");
    assert_eq!(said, "ready\n");
    mouse(&["mousemove", "30", "20"]);
    mouse(&["mousedown", "1"]);
    // In small steps, as a hand does: a drag begins only after a few pixels, and targets answer on the way.
    for step in 1..=24 {
        let (x, y) = (30 + step * 20, 20 + step * 14);
        mouse(&["mousemove", &x.to_string(), &y.to_string()]);
        std::thread::sleep(Duration::from_millis(30));
    }
    std::thread::sleep(Duration::from_millis(300));
    mouse(&["mouseup", "1"]);
    let ended = source.wait().expect("the source ends after the drag");
    assert!(ended.success(), "{ended}");
}

fn mouse(arguments: &[&str]) {
    let moved = Command::new("xdotool").args(arguments).status().expect("xdotool is installed");
    assert!(moved.success(), "xdotool {arguments:?}: {moved}");
}
