//! `verify` and `doctor`.

use crate::exit::{Exit, Failure};
use crate::output;
use host::VerifyError;
use serde_json::{Map, Value, json};
use std::path::Path;

pub(crate) fn verify(data: &Path, session: Option<&str>) -> Result<Exit, Failure> {
    if session.is_none() && !data.join("store.db").exists() {
        output::line("nothing was recorded yet");
        return Ok(Exit::Completed);
    }
    let checked = host::verify(data, session).map_err(|why| Failure {
        exit: match why {
            VerifyError::Id(_) | VerifyError::Unknown(_) => Exit::Usage,
            VerifyError::Open(_) | VerifyError::Read(_) => Exit::Store,
        },
        message: why.to_string(),
        hint: None,
    })?;
    let mut exit = Exit::Completed;
    for one in checked {
        let name = if one.session.is_empty() { "lists" } else { &one.session };
        if one.findings.is_empty() {
            let (events, requests, again) = (one.events, one.requests, one.encoded_again);
            let rebuilt = requests - one.erased_requests;
            let erased = match (one.erased_events, one.erased_requests) {
                (0, 0) => String::new(),
                (events, requests) => {
                    format!("; {events} events and {requests} requests erased by the person")
                }
            };
            match one.session.is_empty() {
                true => output::line("lists: as the log gives them"),
                false => output::line(&format!(
                    "{name}: clean, {events} events, {rebuilt} requests rebuilt, {again} encoded again{erased}"
                )),
            }
        }
        for (law, seq, detail) in &one.findings {
            output::line(&format!("{name}: event {seq}: {law}: {detail}"));
            exit = Exit::Store;
        }
    }
    Ok(exit)
}

pub(crate) fn doctor(data: &Path, json: bool) -> Result<Exit, Failure> {
    let health = host::doctor(data, &host::SystemKeychain);
    if json {
        let mut topics: Map<String, Value> = Map::new();
        for (topic, word, detail) in &health.lines {
            let line = json!({"state": word, "detail": detail});
            match topics.entry((*topic).to_owned()).or_insert_with(|| json!([])) {
                Value::Array(lines) => lines.push(line),
                other => *other = line,
            }
        }
        output::json(&Value::Object(topics));
    } else {
        for (topic, word, detail) in &health.lines {
            output::line(&format!("{topic:12} {word:8} {detail}"));
        }
    }
    Ok(if health.is_sound() { Exit::Completed } else { Exit::Store })
}
