//! Real work in the real window: a folder dropped, a key stored, a refusal the model reads, a kill in mid-turn, and the
//! Enter of an input method.

use crate::driver::wait_until;
use crate::hand::drag_onto_window;
use crate::model::{Model, Say};
use crate::window::{Place, Window};
use serde_json::{Value, json};
use std::process::Command;

/// Connects the model server as a service and makes it the one for new sessions.
pub(crate) fn connect(window: &Window, model: &Model) -> Value {
    let draft = json!({"id": null, "name": "Test service", "dialect": "openai-chat",
        "base_url": model.address(), "models": ["plain"]});
    let providers = window.command("save_provider", json!({"provider": draft}));
    let providers = providers.as_array().expect("a list").clone();
    let added =
        providers.iter().find(|provider| provider["name"] == "Test service").expect("the added service");
    let choice = json!({"provider": added["id"], "model": "plain"});
    let mut settings = window.command("settings", Value::Null);
    settings["model"] = choice.clone();
    window.command("save_settings", json!({"settings": settings}));
    choice
}

/// A session in the dropped project folder, open in the window.
fn session(window: &Window, model: &Model) {
    connect(window, model);
    std::fs::write(window.place().project().join("notes.txt"), "one\n").expect("a file can be written");
    drag_onto_window(&window.place().project());
    window.find("textbox", "Message");
}

fn say(window: &Window, words: &str) {
    let field = window.find("textbox", "Message");
    window.driver().type_into(&field, words);
    window.press("button", "Send");
}

#[test]
fn a_real_folder_dropped_on_the_window_begins_a_session() {
    let place = Place::new();
    let folder = place.project().join("Büro 文件");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(place.project().join("lone file.txt"), "x").unwrap();
    let window = Window::open(place);
    window.shows("Drop a project folder here.");
    drag_onto_window(&window.place().project().join("lone file.txt"));
    window.shows("“lone file.txt” isn’t a folder");
    window.picture("drop-1-no-folder");
    drag_onto_window(&folder);
    wait_until("the folder is known", || {
        let folders = window.command("folders", Value::Null);
        (folders[0]["name"] == "Büro 文件").then_some(())
    });
    window.shows("Büro 文件");
    window.picture("drop-2-session");
    // The page was given an opaque id, and no path outside the home folder's short form.
    let folders = window.command("folders", Value::Null);
    assert!(folders[0]["id"].as_str().is_some_and(|id| id.starts_with("fol_")), "{folders}");
}

#[test]
fn a_key_is_stored_in_the_systems_own_key_store() {
    let window = Window::open(Place::new());
    let key = "sk-e2e-0123456789abcdef";
    window.press("button", "Anthropic");
    // Its own form is open; the field's name says whose key it is.
    let field = window.find("textbox", "Key for Anthropic");
    window.driver().type_into(&field, key);
    window.picture("key-1-typed");
    window.press("button", "Save");
    wait_until("the key is stored", || {
        let providers = window.command("providers", Value::Null);
        let anthropic = providers.as_array()?.iter().find(|provider| provider["id"] == "anthropic")?.clone();
        (anthropic["key"] == "stored").then_some(())
    });
    window.find("button", "Replace key…");
    window.picture("key-2-stored");
    assert!(!window.driver().run("return document.documentElement.outerHTML", &[]).to_string().contains(key));
    // Read back by another program from the Secret Service itself.
    let found = Command::new("secret-tool").args(["search", "--all", "service", "Daybook"]).output().unwrap();
    let found = String::from_utf8_lossy(&found.stdout).into_owned() + &String::from_utf8_lossy(&found.stderr);
    assert!(found.contains(key), "the Secret Service holds: {found}");
    let place = window.close();
    let leaked = Command::new("grep").args(["-rlF", key]).arg(place.data()).output().unwrap();
    assert!(leaked.stdout.is_empty(), "the key lies in {}", String::from_utf8_lossy(&leaked.stdout));
}

#[test]
fn a_refusal_and_its_reason_reach_the_model() {
    let change = json!({"path": "notes.txt", "old_text": "one", "new_text": "two"});
    let model = Model::start([Say::Call("edit_file", change), Say::Text("Then I leave the notes alone.")]);
    let window = Window::open(Place::new());
    session(&window, &model);
    say(&window, "Change the notes");
    window.press("button", "Don’t allow…");
    let field = window.find("textbox", "Tell it why");
    window.driver().type_into(&field, "The notes belong to Maria");
    window.picture("refusal-1-reason");
    window.press("button", "Don’t allow");
    window.shows("Then I leave the notes alone.");
    window.picture("refusal-2-read");
    let requests = model.seen();
    assert_eq!(requests.len(), 2, "one request for each answer");
    let messages = requests[1]["messages"].as_array().expect("messages");
    let result = messages.last().expect("the result comes last");
    assert_eq!(result["role"], "tool", "{result}");
    assert!(result["content"].to_string().contains("The notes belong to Maria"), "{result}");
    let notes = std::fs::read_to_string(window.place().project().join("notes.txt")).unwrap();
    assert_eq!(notes, "one\n", "a refused change changes nothing");
}

#[test]
fn killed_in_mid_turn_it_goes_on_after_reopening() {
    let model = Model::start([Say::Begin("I am still thinking"), Say::Text("Now it is said whole.")]);
    let window = Window::open(Place::new());
    session(&window, &model);
    say(&window, "Tell me something");
    window.shows("I am still thinking");
    window.picture("killed-1-before");
    let place = window.kill();
    let window = Window::open(place);
    wait_until("the session is there again", || {
        let sessions = window.command("sessions", Value::Null);
        (sessions.as_array()?.len() == 1).then_some(())
    });
    wait_until("the turn was taken up and ended", || {
        let sessions = window.command("sessions", Value::Null);
        (sessions[0]["state"] == "idle").then_some(())
    });
    window.press("any", "Tell me something");
    window.shows("Now it is said whole.");
    window.picture("killed-2-after");
    assert!(!window.text().contains("I am still thinking"), "no half answer is kept beside the whole one");
    assert_eq!(model.seen().len(), 2);
}

#[test]
fn d06_the_enter_of_an_input_method_does_not_send() {
    let model = Model::start([Say::Text("Hello.")]);
    let window = Window::open(Place::new());
    session(&window, &model);
    let field = window.find("textbox", "Message");
    window.driver().type_into(&field, "你好");
    // As WebKitGTK reports it: the composition has ended, then comes the Enter that ended it, with code 229.
    window.driver().run(
        "const field = arguments[0];
         const fire = (kind, init) => field.dispatchEvent(new kind.type(kind.name, { bubbles: true, cancelable: true, ...init }));
         fire({ type: CompositionEvent, name: 'compositionstart' }, { data: '' });
         fire({ type: CompositionEvent, name: 'compositionend' }, { data: '你好' });
         const enter = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, isComposing: false });
         Object.defineProperty(enter, 'keyCode', { value: 229 });
         field.dispatchEvent(enter);",
        std::slice::from_ref(&field),
    );
    window.picture("ime-1-not-sent");
    let kept = window.driver().run("return arguments[0].value", std::slice::from_ref(&field));
    assert_eq!(kept, "你好", "the words stay in the field");
    assert!(model.seen().is_empty(), "nothing was sent");
    // The next Enter, a plain one, sends once.
    window.driver().type_into(&field, "\u{e007}");
    window.shows("Hello.");
    assert_eq!(model.seen().len(), 1);
    window.picture("ime-2-sent");
}

#[test]
fn a_second_start_hands_over_to_the_first_window() {
    let window = Window::open(Place::new());
    let ended = window.start_again();
    assert!(ended.success(), "{ended}");
    assert!(window.text().contains("Drop a project folder here."), "the first window goes on");
}
