//! What a person says in between: steer, interrupt, approve, deny, answer.
//!
//! As a guest it is said and done; where this process hosts, the session then works on until it rests.

use crate::cut_off;
use crate::exec::{fresh_command, rest};
use crate::exit::{Exit, Failure};
use crate::looking::{Needed, needs, view};
use crate::output;
use crate::way::{Own, Way};
use api::wire::command::{Command, Intent, Resolution};
use std::path::PathBuf;

pub(crate) async fn steer(data: PathBuf, session: String, text: String) -> Result<Exit, Failure> {
    let command = fresh_command();
    let send = Command::Send { session: session.clone(), text, intent: Intent::Steer, command };
    say(data, session, send).await
}

pub(crate) async fn interrupt(data: PathBuf, session: String) -> Result<Exit, Failure> {
    let stop = Command::Interrupt { session: session.clone() };
    match say(data, session, stop).await? {
        // That it was stopped is what was asked for.
        Exit::Cancelled => Ok(Exit::Completed),
        other => Ok(other),
    }
}

pub(crate) async fn approve(data: PathBuf, id: String, digest: String) -> Result<Exit, Failure> {
    let need = find(&data, &id).await?;
    let session = need.session.clone();
    say(
        data,
        session.clone(),
        Command::Approve { session, approval: id, digest, offer: None, lasting: false },
    )
    .await
}

pub(crate) async fn deny(data: PathBuf, id: String, why: Option<String>) -> Result<Exit, Failure> {
    let need = find(&data, &id).await?;
    let session = need.session.clone();
    say(data, session.clone(), Command::Refuse { session, approval: id, why }).await
}

pub(crate) async fn answer(data: PathBuf, id: String, text: String) -> Result<Exit, Failure> {
    let need = find(&data, &id).await?;
    let session = need.session.clone();
    let command = match need.kind {
        "question" => Command::Answer { session: session.clone(), question: id, text },
        "outcome" => {
            let resolution = match text.as_str() {
                "done" => Resolution::Done,
                "again" => Resolution::Again,
                "skip" => Resolution::Skip,
                _ => return Err(Failure::usage("say done, again or skip")),
            };
            Command::Resolve { session: session.clone(), call: id, resolution }
        }
        _ => {
            return Err(Failure::usage(format!(
                "{id} is an approval: use `daybook approve` or `daybook deny`"
            )));
        }
    };
    say(data, session, command).await
}

async fn find(data: &std::path::Path, id: &str) -> Result<Needed, Failure> {
    let found = match Way::to_look(data).await? {
        Some(way) => needs(&way).await?.into_iter().find(|need| need.id == id),
        None => None,
    };
    found.ok_or_else(|| Failure {
        exit: Exit::Waiting,
        message: format!("nothing waits under {id}: it was answered already, or never asked"),
        hint: Some("See `daybook approvals`.".to_owned()),
    })
}

/// Says it; and where this process hosts, stays until the session rests.
async fn say(data: PathBuf, session: String, command: Command) -> Result<Exit, Failure> {
    // Whoever types this is there to be asked the next thing, too.
    let way = Way::to_work(&data, Own { attended: true, ..Own::default() }).await?;
    let from = match view(&way, &session).await {
        Ok(view) => view.seq + 1,
        Err(failure) => {
            way.close().await;
            return Err(failure);
        }
    };
    let done = said(&way, &session, from, command).await;
    cut_off::close(&way, &session, from).await;
    done
}

async fn said(way: &Way, session: &str, from: u64, command: Command) -> Result<Exit, Failure> {
    way.call(command).await?;
    output::diagnose("recorded");
    if way.is_host() { rest(way, session, from, false).await } else { Ok(Exit::Completed) }
}
