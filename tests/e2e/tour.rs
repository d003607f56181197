//! The guided tour, from the first window to the difference, as a newcomer takes it.

use crate::driver::wait_until;
use crate::window::{Place, Window};
use serde_json::Value;

#[test]
fn the_tour_goes_from_the_start_to_the_difference() {
    let window = Window::open(Place::new());
    window.shows("Drop a project folder here.");
    window.picture("tour-1-welcome");
    window.press("button", "Take the tour");
    window.shows("No AI is involved");
    window.picture("tour-0-start");
    window.press("button", "Begin the tour");
    window.find("button", "Allow once");
    let session = only_session(&window);
    assert!(!menu(&window).contains("5.20"), "nothing is written before the yes");
    window.picture("tour-2-asked");
    window.press("button", "Allow once");
    wait_until("the menu is corrected", || menu(&window).contains("Cinnamon bun").then_some(()));
    // A command follows, which asks for itself.
    window.shows("Run a command:");
    window.press("button", "Allow once");
    wait_until("the turn ends", || (summary(&window)["state"] == "idle").then_some(()));
    window.find("button", "Use it on your own folder");
    window.find("button", "Start over");
    window.picture("tour-3-done");
    window.press("tab", "Changes");
    window.shows("menu.md");
    window.press("button", "menu.md");
    window.shows("Cinnamon bun");
    window.picture("tour-4-difference");
    let changes = window.command("changes", serde_json::json!({"session": session}));
    let paths: Vec<_> = changes["files"].as_array().into_iter().flatten().map(|file| &file["path"]).collect();
    assert_eq!(paths, ["lines.txt", "menu.md"], "{changes}");
    // All of it goes back, what the command wrote, too.
    let turn = &changes["turns"][0]["turn"];
    let of = serde_json::json!({"kind": "turn", "turn": turn});
    window.command("undo", serde_json::json!({"session": session, "of": of, "paths": [], "overwrite": []}));
    wait_until("the menu is as it was", || (!menu(&window).contains("5.20")).then_some(()));
    let undone = |view: Value| {
        let mut entries = view["entries"].as_array().into_iter().flatten();
        entries.any(|entry| entry["body"]["undo"]["state"] == "done").then_some(())
    };
    wait_until("the record says so", || {
        undone(window.command("open_session", serde_json::json!({"session": session})))
    });
    window.picture("tour-5-undone");
}

fn summary(window: &Window) -> Value {
    window.command("sessions", Value::Null)[0].clone()
}

fn only_session(window: &Window) -> Value {
    summary(window)["id"].clone()
}

/// The menu's text as it is on the disk now.
fn menu(window: &Window) -> String {
    let tours = window.place().data().join("tour");
    let mut found = Vec::new();
    for tour in std::fs::read_dir(tours).expect("the tour has a folder") {
        for project in
            std::fs::read_dir(tour.expect("an entry can be read").path()).expect("a tour has a project")
        {
            found.push(
                std::fs::read_to_string(project.expect("an entry can be read").path().join("menu.md"))
                    .expect("the bakery has a menu"),
            );
        }
    }
    assert_eq!(found.len(), 1, "one tour was begun");
    found.remove(0)
}
