//! Running a cleared call: around (time, cancellation) and after (limit, redact, spill, word).
//!
//! **Finished** is the one result of a call that was started. Invariant: a call ends exactly once; `Cancelled` is only
//! said when the tool confirmed that nothing of it runs any more, otherwise a call with possible effects is `Unknown`.

use crate::clear::Cleared;
use crate::tool::{Ctx, Raw, Trouble, failed};
use domain::call::{Effect, ToolError};
use domain::digest::Digest;
use domain::history::kept_whole;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// What stands for the output of a command that printed nothing.
pub const NO_OUTPUT: &str = "(no output)";

/// How a started call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// With a result.
    Ok,
    /// With an error of the tool that the model can act on.
    Failed(ToolError),
    /// With an error of ours; the loop goes on, recovery can tell it apart.
    Fault(ToolError),
    /// Cancelled, and confirmed stopped.
    Cancelled,
    /// Told to stop or timed out, and what became of it isn't known.
    Unknown(String),
}

/// The result of a started call.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// What the model reads: bounded, redacted.
    pub text: String,
    /// `{"ok":true,"value":…}` or `{"ok":false,"error":{code,message,suggestion?}}`, redacted.
    pub value: Value,
    /// What it changed.
    pub effects: Vec<Effect>,
    /// Blobs the result stands on: whole outputs, spilled text.
    pub blobs: Vec<Digest>,
    /// Whole-file digests it read or left behind, by path; `ctx.seen` of later calls.
    pub seen: BTreeMap<String, Digest>,
    /// Files with secrets whose content it printed, as far as that can be told.
    pub secrets: Vec<String>,
}

impl Finished {
    /// Is it an error for the model?
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.end != End::Ok
    }
}

/// Runs a cleared call to its end. Never panics over what a tool does, and returns with nothing of it running, or says
/// that it doesn't know.
pub async fn run(cleared: Cleared, ctx: &Ctx) -> Finished {
    let (trouble_or_raw, stopped) = around(&cleared, ctx).await;
    let (end, raw) = settle(&cleared, trouble_or_raw, stopped, ctx);
    let declared = cleared.call().declared();
    debug_assert!(
        end != End::Ok || declared.gives(&raw.value),
        "{} gave {}, which isn't what it declares",
        declared.name,
        raw.value
    );
    post(end, raw, ctx)
}

/// Why the call was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopped {
    No,
    Timeout { after_ms: u64 },
    Cancelled,
}

/// Time limit and cancellation, the same for every tool.
async fn around(cleared: &Cleared, ctx: &Ctx) -> (Result<Raw, Trouble>, Stopped) {
    let call = cleared.call();
    if ctx.cancel.is_cancelled() {
        return (Err(Trouble::Stopped(Raw::default())), Stopped::Cancelled);
    }
    let after_ms = call.tool.time_ms(call, &ctx.limits);
    let inner = Ctx { cancel: ctx.cancel.child_token(), ..ctx.clone() };
    let mut work = call.tool.run(cleared, &inner);
    let stopped = tokio::select! {
        biased;
        done = &mut work => return (done, Stopped::No),
        () = ctx.cancel.cancelled() => Stopped::Cancelled,
        () = tokio::time::sleep(Duration::from_millis(after_ms)) => Stopped::Timeout { after_ms },
    };
    inner.cancel.cancel();
    let grace = Duration::from_millis(ctx.limits.stop_grace_ms);
    match tokio::time::timeout(grace, work).await {
        Ok(done) => (done, stopped),
        Err(_) => (Err(Trouble::Unconfirmed(Raw::default())), stopped),
    }
}

/// One end from the tool's word and the reason it was stopped for.
fn settle(cleared: &Cleared, result: Result<Raw, Trouble>, stopped: Stopped, ctx: &Ctx) -> (End, Raw) {
    let effects = cleared.semantics().has_effects();
    match (result, stopped) {
        (Ok(raw), _) => (End::Ok, raw),
        (Err(Trouble::Failed { error, raw }), _) => (End::Failed(error), raw),
        (Err(Trouble::Fault(error)), _) => (End::Fault(error), Raw::default()),
        (Err(Trouble::Stopped(raw)), Stopped::Timeout { after_ms }) => {
            let done = if effects { " What it did until then stays done." } else { "" };
            let message = format!("stopped after {} s, its time limit.{done}", after_ms.div_ceil(1_000));
            (
                End::Failed(failed(
                    "call/timeout",
                    message,
                    "Do less in one call, or allow more time if the tool takes one.",
                )),
                raw,
            )
        }
        (Err(Trouble::Stopped(raw)), Stopped::Cancelled | Stopped::No) => (End::Cancelled, raw),
        (Err(Trouble::Unconfirmed(raw)), Stopped::No) if effects => {
            (End::Unknown("what watched it ended without a word".to_owned()), raw)
        }
        (Err(Trouble::Unconfirmed(raw)), Stopped::Timeout { .. } | Stopped::Cancelled) if effects => {
            let grace = ctx.limits.stop_grace_ms.div_ceil(1_000);
            let why = format!("it was told to stop and its end couldn't be confirmed within {grace} s");
            (End::Unknown(why), raw)
        }
        (Err(Trouble::Unconfirmed(raw)), Stopped::Timeout { after_ms }) => {
            let message = format!("gave no result within {} s, its time limit", after_ms.div_ceil(1_000));
            (End::Failed(failed("call/timeout", message, "Ask for less at once.")), raw)
        }
        (Err(Trouble::Unconfirmed(raw)), Stopped::Cancelled | Stopped::No) => (End::Cancelled, raw),
    }
}

/// Words, limit, redaction and spilling, the same for every tool.
fn post(end: End, raw: Raw, ctx: &Ctx) -> Finished {
    let Raw { value, text, effects, mut blobs, seen, secrets } = raw;
    let end = match end {
        End::Failed(error) => End::Failed(without_secrets(error, ctx)),
        End::Fault(error) => End::Fault(without_secrets(error, ctx)),
        End::Unknown(why) => End::Unknown(ctx.secrets.redact(&why)),
        plain @ (End::Ok | End::Cancelled) => plain,
    };
    let value = bounded(redacted(value, ctx), &mut blobs, ctx);
    let error = |error: &ToolError| json!({"ok": false, "error": error});
    let (head, value) = match &end {
        End::Ok => (String::new(), json!({"ok": true, "value": value})),
        End::Failed(one) | End::Fault(one) => (error_text(one), with_value(error(one), value)),
        End::Cancelled => {
            let one = failed("call/cancelled", "cancelled before it ended; nothing of it runs any more", "");
            (error_text(&one), with_value(error(&one), value))
        }
        End::Unknown(why) => {
            let one = failed(
                "call/outcome_unknown",
                format!("whether it happened is not known: {why}"),
                "Look before doing it again.",
            );
            (error_text(&one), with_value(error(&one), value))
        }
    };
    let whole = match (head.is_empty(), text.is_empty()) {
        (true, _) => text,
        (false, true) => head,
        (false, false) => format!("{head}\n\n{text}"),
    };
    let clean = ctx.secrets.redact(&whole);
    let text = match clean.len() > ctx.limits.result_bytes {
        false => clean,
        true => {
            let kept = ctx.blobs.attach(&mut clean.as_bytes());
            let whole = kept.as_ref().ok().map(|kept| format!("\n{}", kept_whole(kept)));
            blobs.extend(kept.ok());
            shortened(&clean, ctx.limits.result_bytes) + &whole.unwrap_or_default()
        }
    };
    Finished { end, text, value: redacted(value, ctx), effects, blobs, seen, secrets }
}

/// An error as the model reads it.
#[must_use]
pub fn error_text(error: &ToolError) -> String {
    match &error.suggestion {
        Some(then) => format!("Error ({}): {}\n{then}", error.code, error.message),
        None => format!("Error ({}): {}", error.code, error.message),
    }
}

/// An error that may be shown and kept.
pub(crate) fn without_secrets(error: ToolError, ctx: &Ctx) -> ToolError {
    ToolError {
        code: error.code,
        message: ctx.secrets.redact(&error.message),
        suggestion: error.suggestion.map(|text| ctx.secrets.redact(&text)),
    }
}

fn with_value(mut error: Value, value: Value) -> Value {
    if !value.is_null() {
        error["value"] = value;
    }
    error
}

/// A value too large to stand in an event is kept as a blob and named.
fn bounded(value: Value, blobs: &mut Vec<Digest>, ctx: &Ctx) -> Value {
    let text = value.to_string();
    match (text.len() > ctx.limits.value_bytes).then(|| ctx.blobs.attach(&mut text.as_bytes())) {
        None => value,
        Some(kept) => {
            blobs.extend(kept.as_ref().ok());
            json!({"bytes": text.len(), "blob": kept.ok()})
        }
    }
}

fn redacted(value: Value, ctx: &Ctx) -> Value {
    match value {
        Value::String(text) => Value::String(ctx.secrets.redact(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(|one| redacted(one, ctx)).collect()),
        Value::Object(map) => Value::Object(
            map.into_iter().map(|(key, one)| (ctx.secrets.redact(&key), redacted(one, ctx))).collect(),
        ),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}

/// Head and tail of a text, with what was left out said between them.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}
