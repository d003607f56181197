//! Looking: sessions, one session, its events, its changes, and what waits for a person. Changes nothing.

use crate::exit::{Exit, Failure};
use crate::money;
use crate::output;
use crate::way::Way;
use api::wire::command::{Command, Reply};
use api::wire::view::{ApprovalState, ApprovalView, Entry, EntryBody, SessionView};
use serde_json::{Value, json};
use std::path::Path;

/// Something that waits for a person.
pub(crate) struct Needed {
    pub(crate) session: String,
    /// `approval`, `question` or `outcome`.
    pub(crate) kind: &'static str,
    pub(crate) id: String,
    line: String,
    body: Value,
}

pub(crate) async fn sessions(data: &Path, json: bool) -> Result<Exit, Failure> {
    let Some(way) = Way::to_look(data).await? else { return Ok(Exit::Completed) };
    let Reply::Sessions(sessions) = way.call(Command::Sessions).await? else {
        return Err(unexpected("sessions"));
    };
    for session in sessions {
        if json {
            output::json(&serde_json::to_value(&session).map_err(Failure::internal)?);
        } else {
            output::line(&format!(
                "{}  {:9}  {}  {}",
                session.id, session.state, session.folder.place, session.title
            ));
        }
    }
    Ok(Exit::Completed)
}

pub(crate) async fn show(data: &Path, session: String, json: bool) -> Result<Exit, Failure> {
    let view = view(&looking(data, &session).await?, &session).await?;
    if json {
        output::json(&serde_json::to_value(&view).map_err(Failure::internal)?);
    } else {
        output::line(&format!("{}  {}  {}", view.id, view.folder.place, view.title));
        for added in &view.added {
            output::line(&format!("  also reads {} ({})", added.place, added.state));
        }
        view.entries.iter().for_each(|entry| output::line(&worded(entry)));
        if view.tokens.input + view.tokens.output > 0 {
            let (input, output) = (view.tokens.input, view.tokens.output);
            output::line(&format!(
                "\n{input} tokens read, {output} written; cost {}",
                money::spent(&view.spent)
            ));
        }
    }
    Ok(Exit::Completed)
}

pub(crate) async fn log(data: &Path, session: &str, json: bool, from: u64) -> Result<Exit, Failure> {
    let way = looking(data, session).await?;
    let last = view(&way, session).await?.seq;
    match &way {
        Way::Looking(room) => {
            let mut next = from;
            loop {
                let page = room.page(session, next, 500)?;
                if page.is_empty() {
                    break;
                }
                for line in page {
                    next += 1;
                    event(&line, json)?;
                }
            }
        }
        Way::Guest(_) | Way::Seat(_) => {
            let mut events = way.events(session, from).await?;
            for _ in from..=last {
                let Some(line) = events.recv().await else { break };
                event(&line?, json)?;
            }
        }
    }
    Ok(Exit::Completed)
}

pub(crate) async fn approvals(data: &Path, json: bool) -> Result<Exit, Failure> {
    let Some(way) = Way::to_look(data).await? else { return Ok(Exit::Completed) };
    for need in needs(&way).await? {
        if json {
            output::json(
                &json!({"session": need.session, "kind": need.kind, "id": need.id, "body": need.body}),
            );
        } else {
            output::line(&need.line);
        }
    }
    Ok(Exit::Completed)
}

pub(crate) async fn changes(data: &Path, session: String, json: bool) -> Result<Exit, Failure> {
    let way = looking(data, &session).await?;
    let Reply::Changes(changes) = way.call(Command::Changes { session }).await? else {
        return Err(unexpected("changes"));
    };
    for file in changes.files {
        if json {
            output::json(&serde_json::to_value(&file).map_err(Failure::internal)?);
            continue;
        }
        let lines = match (file.added, file.removed) {
            (Some(added), Some(removed)) => format!("  +{added} -{removed}"),
            _ => String::new(),
        };
        let since = if file.changed_since { "  (changed since)" } else { "" };
        output::line(&format!("{:8} {}{lines}{since}", file.change, file.path.escape_debug()));
    }
    for turn in changes.turns.iter().filter(|_| !json) {
        if let Some(left) = &turn.not_covered {
            output::line(&format!("turn {}: {}", turn.number, crate::undo::not_covered(left)));
        }
    }
    Ok(Exit::Completed)
}

/// Everything that waits, the sessions' order.
pub(crate) async fn needs(way: &Way) -> Result<Vec<Needed>, Failure> {
    let Reply::Sessions(sessions) = way.call(Command::Sessions).await? else {
        return Err(unexpected("sessions"));
    };
    let mut found = Vec::new();
    for session in sessions.into_iter().filter(|session| session.needs_you > 0) {
        let view = view(way, &session.id).await?;
        found.extend(view.entries.iter().filter_map(|entry| needed(&view, entry)));
    }
    Ok(found)
}

/// What a request is about: exactly, lines beneath it where it is more than one.
fn what(approval: &ApprovalView) -> String {
    let about = approval.facts.get("path").filter(|path| **path != approval.exact);
    let path = about.map(|path| format!(" {path}")).unwrap_or_default();
    // Made visible already: only line ends and tabs are left in it.
    match approval.exact.trim_end_matches('\n') {
        _ if approval.unshown => format!("{}{path}: too long to be shown whole, or no text", approval.tool),
        lines if lines.contains('\n') => {
            format!("{}{path}:\n    {}", approval.tool, lines.replace('\n', "\n    "))
        }
        line => format!("{}{path}: {line}", approval.tool),
    }
}

fn needed(view: &SessionView, entry: &Entry) -> Option<Needed> {
    let (kind, id, line, body) = match &entry.body {
        EntryBody::Approval { approval } if approval.state == ApprovalState::Open => (
            "approval",
            &approval.id,
            format!("{}  --digest {}  {}", approval.id, approval.digest, what(approval)),
            serde_json::to_value(approval),
        ),
        EntryBody::Question { question } if question.answer.is_none() => (
            "question",
            &question.id,
            format!("{}  {}", question.id, question.text.escape_debug()),
            serde_json::to_value(question),
        ),
        EntryBody::Unknown { call, evidence, resolution: None } => (
            "outcome",
            &call.id,
            format!("{}  nobody knows what {} did: answer done, again or skip", call.id, call.tool),
            Ok(json!({"call": call, "evidence": evidence})),
        ),
        _ => return None,
    };
    Some(Needed { session: view.id.clone(), kind, id: id.clone(), line, body: body.unwrap_or_default() })
}

async fn looking(data: &Path, session: &str) -> Result<Way, Failure> {
    Way::to_look(data).await?.ok_or_else(|| Failure::usage(format!("there is no session {session}")))
}

pub(crate) async fn view(way: &Way, session: &str) -> Result<SessionView, Failure> {
    match way.call(Command::OpenSession { session: session.to_owned() }).await? {
        Reply::Session(view) => Ok(*view),
        _ => Err(unexpected("a session")),
    }
}

pub(crate) fn unexpected(what: &str) -> Failure {
    Failure::internal(format!("expected {what} and got something else"))
}

fn event(line: &str, json: bool) -> Result<(), Failure> {
    if json {
        output::line(line);
        return Ok(());
    }
    let parsed: Value = serde_json::from_str(line).map_err(Failure::internal)?;
    let event = &parsed["event"];
    let payload: String = event["payload"].to_string().chars().take(160).collect();
    output::line(&format!(
        "{:>6}  {:24} {payload}",
        event["seq"],
        event["type"].as_str().unwrap_or_default()
    ));
    Ok(())
}

/// An entry for a terminal.
fn worded(entry: &Entry) -> String {
    match &entry.body {
        EntryBody::Said { text } => format!("\nyou: {text}"),
        EntryBody::Answer { text, .. } => format!("\n{text}"),
        EntryBody::Calls { calls } => {
            let lines = calls.iter().map(|call| {
                let about =
                    ["path", "command", "pattern", "question"].iter().find_map(|name| call.facts.get(*name));
                format!("  - {} {} [{:?}]", call.tool, about.map_or("", String::as_str), call.state)
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        EntryBody::Approval { approval } => {
            format!("  ? {} [{:?}]", what(approval), approval.state)
        }
        EntryBody::Question { question } => {
            format!("  ? {} [{}]", question.text, question.answer.as_deref().unwrap_or("open"))
        }
        EntryBody::Unknown { call, resolution, .. } => {
            format!("  ! {} outcome unknown [{resolution:?}]", call.tool)
        }
        EntryBody::Notice { code, facts, .. } => {
            format!("  * {code} {}", facts.values().cloned().collect::<Vec<_>>().join(" "))
        }
        EntryBody::History { history } if history.steps > 0 => {
            let (steps, before, after) = (history.steps, history.before, history.after);
            format!("  * {steps} steps stand as a summary for the model, {before} → {after} tokens")
        }
        EntryBody::History { history } => {
            let (results, before, after) = (history.results, history.before, history.after);
            format!("  * {results} older results are shortened for the model, {before} → {after} tokens")
        }
        EntryBody::Undo { undo } => {
            format!("  < {} files taken back, {} left alone [{}]", undo.count, undo.kept.len(), undo.state)
        }
        EntryBody::TurnEnd { end, facts, ms } => {
            format!("  = {end} {} ({} s)", facts.values().cloned().collect::<Vec<_>>().join(" "), ms / 1_000)
        }
    }
}
