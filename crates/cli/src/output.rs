//! What is printed: results on standard output, diagnostics on standard error. A reader that goes away is no error.

use serde_json::Value;
use std::io::Write as _;

/// One line of a result.
pub(crate) fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    // Whoever read may have gone; then there is nobody left to tell.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// One JSON object as a line.
pub(crate) fn json(value: &Value) {
    line(&value.to_string());
}

/// One line for a person who watches.
pub(crate) fn diagnose(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
