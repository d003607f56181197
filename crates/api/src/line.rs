//! Recorded events as lines of JSON, for programs: `{"event": {"session", "seq", "type", "time", "payload"}}`.
//!
//! Invariant: the payload stands there byte for byte as recorded; one that words were erased from stands there without them,
//! with the digest it had, and is null where nothing is left of it.

use domain::event::{Payload, Recorded};
use serde_json::json;

/// One event as one line, without a line break.
#[must_use]
pub fn event_line(event: &Recorded) -> String {
    let head = |name: &str, value: serde_json::Value| format!("\"{name}\":{value}");
    let payload = event.payload.text().map_or("null", AsRef::as_ref);
    let erased = match &event.payload {
        Payload::Text(_) => String::new(),
        Payload::Erased(was) | Payload::Redacted { was, .. } => {
            format!(",{}", head("erased", json!(was.to_string())))
        }
    };
    format!(
        "{{\"event\":{{{},{},{},{},\"payload\":{payload}{erased}}}}}",
        head("session", json!(event.session.as_str())),
        head("seq", json!(event.seq)),
        head("type", json!(event.kind)),
        head("time", json!(event.time)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::digest::Digest;
    use domain::ids::SessionId;

    #[test]
    fn the_payload_is_the_recorded_text() {
        let mut event = Recorded {
            session: SessionId::from_bits(1),
            pos: 4,
            seq: 3,
            kind: "turn/cancel".into(),
            version: 1,
            time: 5,
            epoch: 1,
            turn: None,
            step: None,
            ignorable: false,
            sources: vec![],
            prev_hash: Digest::ZERO,
            hash: Digest::ZERO,
            payload: Payload::Text(r#"{"by": "user","n":12345678901234567890}"#.into()),
        };
        insta::assert_snapshot!(event_line(&event), @r#"{"event":{"session":"ses_00000000000000000000000000000001","seq":3,"type":"turn/cancel","time":5,"payload":{"by": "user","n":12345678901234567890}}}"#);
        event.payload = Payload::Erased(Digest::ZERO);
        let line: serde_json::Value = serde_json::from_str(&event_line(&event)).expect("still JSON");
        assert_eq!(line["event"]["payload"], serde_json::Value::Null);
        assert_eq!(line["event"]["erased"], Digest::ZERO.to_string());
        event.payload = Payload::Redacted { was: Digest::ZERO, left: r#"{"by":"user"}"#.into() };
        let line: serde_json::Value = serde_json::from_str(&event_line(&event)).expect("still JSON");
        assert_eq!(
            (&line["event"]["payload"]["by"], &line["event"]["erased"]),
            (&json!("user"), &json!(Digest::ZERO.to_string()))
        );
    }
}
