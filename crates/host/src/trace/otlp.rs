//! Spans, and how OTLP writes them as JSON: whole numbers of 64 bits as text, ids in hexadecimal, times in nanoseconds.
//!
//! The names are those of OpenTelemetry's conventions for generative AI where there is one; what they have no word for begins
//! with `daybook.`. Invariant: nothing is computed here.

use domain::digest::Digest;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What an attribute says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Text(String),
    Count(u64),
    Flag(bool),
    Texts(Vec<String>),
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Said {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Said {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<bool> for Said {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

pub(super) type Attributes = Vec<(&'static str, Said)>;

/// What a span is of, as OTLP numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Inside Daybook.
    Internal = 1,
    /// A request to a service.
    Client = 3,
}

/// A stretch of time with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// The turn, whose digest names the trace.
    pub(super) trace: String,
    /// Its id in the log, whose digest names it.
    pub(super) id: String,
    pub(super) parent: Option<String>,
    /// The turn of an earlier trace that it goes on with.
    pub(super) follows: Option<String>,
    pub(super) name: String,
    pub(super) kind: Kind,
    /// UTC ms.
    pub(super) start: u64,
    /// UTC ms.
    pub(super) end: u64,
    pub(super) attributes: Attributes,
    pub(super) events: Vec<(u64, &'static str, Attributes)>,
    /// The class of what it failed with.
    pub(super) failed: Option<String>,
}

impl Span {
    pub(super) fn say(&mut self, name: &'static str, said: impl Into<Said>) {
        self.attributes.push((name, said.into()));
    }

    pub(super) fn fail(&mut self, class: impl Into<String>) {
        let class = class.into();
        self.say("error.type", class.clone());
        self.failed = Some(class);
    }
}

/// These spans as one line of a file of OTLP JSON.
pub(super) fn line(spans: &[Span]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let resource = vec![("service.name", Said::from("daybook")), ("service.version", Said::from(version))];
    let spans: Vec<Value> = spans.iter().map(written).collect();
    let scope = json!({"scope": {"name": "daybook", "version": version}, "spans": spans});
    let resource = json!({"attributes": attributes(&resource)});
    json!({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}).to_string()
}

fn written(span: &Span) -> Value {
    let mut written = json!({
        "traceId": name(&span.trace, 16),
        "spanId": name(&span.id, 8),
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": nanoseconds(span.start),
        "endTimeUnixNano": nanoseconds(span.end.max(span.start)),
        "attributes": attributes(&span.attributes),
        // 2 is an error; what ended as it should, or was stopped, has no status.
        "status": if span.failed.is_some() { json!({"code": 2}) } else { json!({}) },
    });
    if let Some(parent) = &span.parent {
        written["parentSpanId"] = name(parent, 8).into();
    }
    if let Some(before) = &span.follows {
        written["links"] = json!([{"traceId": name(before, 16), "spanId": name(before, 8)}]);
    }
    let event = |(time, event, said): &(u64, &str, Attributes)| json!({"timeUnixNano": nanoseconds(*time), "name": event, "attributes": attributes(said)});
    if !span.events.is_empty() {
        written["events"] = span.events.iter().map(event).collect();
    }
    written
}

fn attributes(said: &Attributes) -> Value {
    let value = |said: &Said| match said {
        Said::Text(text) => json!({"stringValue": text}),
        Said::Count(count) => json!({"intValue": count.to_string()}),
        Said::Flag(flag) => json!({"boolValue": flag}),
        Said::Texts(texts) => {
            let values: Vec<Value> = texts.iter().map(|text| json!({"stringValue": text})).collect();
            json!({"arrayValue": {"values": values}})
        }
    };
    said.iter().map(|(name, said)| json!({"key": name, "value": value(said)})).collect()
}

fn nanoseconds(ms: u64) -> String {
    (u128::from(ms) * 1_000_000).to_string()
}

/// An id's name in a trace: the first bytes of its digest, so that the same log always gives the same trace.
fn name(id: &str, bytes: usize) -> String {
    let mut hex = String::new();
    for byte in Digest::of(id.as_bytes()).0.iter().take(bytes) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
