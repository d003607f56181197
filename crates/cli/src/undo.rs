//! `daybook undo` and `daybook use-folder`: takes back what a session, a turn or a call changed, and `--redo` takes the last undo back.
//!
//! Files that somebody changed since stay as they are; that is exit code 3, and `--force` brings them back as well.

use crate::exit::{Exit, Failure};
use crate::looking::{unexpected, view};
use crate::output;
use crate::way::{Own, Way};
use api::wire::command::{Command, Reply};
use api::wire::undo::{Changes, NotCovered, PartedFile, UndoOf, UndoView};
use api::wire::view::{EntryBody, SessionView};
use std::path::PathBuf;
use std::time::Duration;

/// How often the session is looked at until the undo is done.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Uncovered paths that are named.
const NAMED: usize = 20;

/// What to take back.
#[derive(Debug, Clone)]
pub(crate) struct Undo {
    pub(crate) session: String,
    /// A turn's number, from 1.
    pub(crate) turn: Option<u32>,
    pub(crate) call: Option<String>,
    pub(crate) redo: bool,
    pub(crate) force: bool,
}

pub(crate) async fn undo(data: PathBuf, what: Undo) -> Result<Exit, Failure> {
    let way = Way::to_work(&data, Own { attended: true, ..Own::default() }).await?;
    let done = on(&way, what).await;
    way.close().await;
    done
}

/// The folder that stands at the session's path is its own from now on.
pub(crate) async fn use_folder(data: PathBuf, session: String) -> Result<Exit, Failure> {
    let way = Way::to_work(&data, Own { attended: true, ..Own::default() }).await?;
    let done = way.call(Command::UseFolder { session }).await;
    way.close().await;
    done.map(|_| Exit::Completed)
}

async fn on(way: &Way, what: Undo) -> Result<Exit, Failure> {
    let before = view(way, &what.session).await?;
    let of = scope(way, &what, &before).await?;
    let session = what.session.clone();
    let preview = Command::PreviewUndo { session: session.clone(), of: of.clone(), paths: Vec::new() };
    let Reply::UndoPreview(preview) = way.call(preview).await? else { return Err(unexpected("a preview")) };
    if let Some(left) = &preview.not_covered {
        output::diagnose(&not_covered(left));
    }
    if preview.count == 0 {
        output::diagnose("there is nothing to take back");
        return Ok(Exit::Completed);
    }
    let forced = if what.force { preview.kept } else { Vec::new() };
    let seen = forced.iter().filter_map(|kept| Some((kept.path.clone(), kept.now.clone()?))).collect();
    let overwrite = forced.into_iter().map(|kept| kept.path).collect();
    way.call(Command::Undo { session: session.clone(), of, paths: Vec::new(), overwrite, seen }).await?;
    loop {
        let now = view(way, &session).await?;
        let new = undos(&now).find(|undo| undos(&before).all(|old| old.id != undo.id));
        match new {
            Some(undo) if undo.state != "working" => return told(undo),
            Some(_) | None => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}

/// What changed and undo doesn't cover, in a line.
pub(crate) fn not_covered(left: &NotCovered) -> String {
    let mut paths: Vec<String> =
        left.paths.iter().take(NAMED).map(|path| path.escape_debug().to_string()).collect();
    let more = left.count.saturating_sub(paths.len() as u64);
    if more > 0 {
        paths.push(format!("and {more} more"));
    }
    format!("not covered by undo: {}", paths.join(", "))
}

async fn scope(way: &Way, what: &Undo, view: &SessionView) -> Result<UndoOf, Failure> {
    if what.redo {
        let last = undos(view).filter(|undo| undo.state == "done" && !undo.undone && undo.count > 0).last();
        let last =
            last.ok_or_else(|| Failure::usage("nothing was taken back that could be brought again"))?;
        return Ok(UndoOf::Undo { undo: last.id.clone() });
    }
    if let Some(call) = &what.call {
        return Ok(UndoOf::Call { call: call.clone() });
    }
    let Some(number) = what.turn else { return Ok(UndoOf::Session) };
    let Reply::Changes(Changes { turns, .. }) =
        way.call(Command::Changes { session: what.session.clone() }).await?
    else {
        return Err(unexpected("changes"));
    };
    let turn = turns.into_iter().find(|turn| turn.number == number);
    let turn =
        turn.ok_or_else(|| Failure::usage(format!("turn {number} changed nothing, or there is none")))?;
    Ok(UndoOf::Turn { turn: turn.turn })
}

fn told(undo: &UndoView) -> Result<Exit, Failure> {
    for file in &undo.files {
        output::line(&format!("{:12} {}", file.what, file.path.escape_debug()));
        if let Some(parted) = &file.parted {
            output::line(&format!("{:12} {}", "", of_its_own(parted)));
        }
    }
    let more = undo.count.saturating_sub(undo.files.len() as u64);
    if more > 0 {
        output::line(&format!("and {more} more"));
    }
    for kept in &undo.kept {
        output::line(&format!("{:12} {} ({})", "left alone", kept.path.escape_debug(), kept.why));
    }
    if let Some(code) = &undo.error {
        return Err(Failure {
            exit: Exit::Store,
            message: format!("nothing more was taken back: {code}"),
            hint: Some("See `daybook show`.".to_owned()),
        });
    }
    Ok(if undo.kept.is_empty() && undo.kept_more == 0 { Exit::Completed } else { Exit::Waiting })
}

/// That a file isn't one with other names any more, in a line.
fn of_its_own(PartedFile { names, more }: &PartedFile) -> String {
    let mut others: Vec<String> = names.iter().map(|name| name.escape_debug().to_string()).collect();
    if *more > 0 {
        others.push(if others.is_empty() { format!("{more} elsewhere") } else { format!("{more} more") });
    }
    format!("is a file of its own now; it was one file with {}", others.join(", "))
}

fn undos(view: &SessionView) -> impl Iterator<Item = &UndoView> {
    view.entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Undo { undo } => Some(undo),
        _ => None,
    })
}
