//! One approval, played in the traced process: asked, read, said yes to, run for real, taken back.
//!
//! Invariant: nothing is judged here; a row's **report** is what the card said and what the world was like before, after
//! and when it was taken back, with marks in the trace at each moment.

use super::rows::{LENT, Row, furnish};
use super::town::{Towards, Town};
use super::trace::MARKS;
use crate::play::{Play, asks, script, text};
use domain::call::{Facts, Undo};
use domain::event::{ApprovalRequested, Fact, RestoreOf, RestoreScope, ToolOutcome, ToolStart};
use engine::Command;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use tests::Rig;

/// What there is below a folder: path to what stands there.
pub(super) type Looks = BTreeMap<String, String>;

/// What came of one row.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Report {
    /// The folder around the project, as the kernel calls it.
    pub(super) home: String,
    /// Our data folder.
    pub(super) data: String,
    /// What the card said.
    pub(super) facts: Facts,
    /// What else must hold of the record, in words; empty when all is well.
    pub(super) wrong: Vec<String>,
    /// How it ended: `ok`, or the error.
    pub(super) end: String,
    /// What stood there at first, below `home`.
    pub(super) before: Looks,
    /// The files' numbers.
    pub(super) numbers: Looks,
    /// What stands there when it has run.
    pub(super) after: Looks,
    /// What stands there when it was taken back, where the card said that it can be.
    pub(super) back: Option<Looks>,
    /// The site that each local port stands for.
    pub(super) sites: Looks,
}

/// Says in the trace where we are.
fn mark(nth: usize, at: &str) {
    let there = std::fs::File::open(format!("{MARKS}{nth}/{at}"));
    assert!(there.is_err(), "a mark is never there");
}

/// Plays a row.
pub(super) async fn play(nth: usize, row: &Row) -> Report {
    let answers =
        [json!({"call": {"name": row.tool, "arguments": row.arguments}}).to_string(), text("Done.")];
    // Each cage has a `/tmp` of its own: what lies elsewhere can't be mistaken for it.
    let home = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let mut rig = Rig::caged_at(&script(&[&answers[0], &answers[1]]), home);
    let town = Town::new().expect("listeners");
    rig.launcher = Some(Arc::new(Towards(Arc::clone(&town))));
    let home = rig.folder().parent().expect("it lies in a folder").canonicalize().expect("there");
    furnish(&home).expect("furnished");
    (row.also)(&home).expect("furnished");
    if row.has_trash {
        rig.bin = tools::Bin::Folder(home.join("Trash"));
    }
    let data = rig.data().canonicalize().expect("there");
    let (before, numbers) = (looks(&home), numbers(&home));
    let play = Play::on(rig).await;
    if row.lends {
        play.process.engine.add_folder(&play.session, &home.join(LENT)).await.expect("it is added");
    }
    mark(nth, "said");
    play.say("Please.").await;
    play.until(|state| asks(state) || state.turn.is_none()).await;
    let asked =
        requested(&play).unwrap_or_else(|| panic!("{}: nobody was asked: {:#?}", row.name, play.facts()));
    mark(nth, "asked");
    play.tell(Command::Grant { approval: asked.approval.clone(), digest: asked.digest, offer: None }).await;
    play.idle().await;
    mark(nth, "done");
    let after = looks(&home);
    let (wrong, end) = record(&play, row, &asked);
    let back = match asked.facts.undo {
        Undo::Yes | Undo::Partly if after != before => Some(taken_back(&play, &home).await),
        Undo::Yes | Undo::Partly | Undo::No => None,
    };
    Report {
        home: home.display().to_string(),
        data: data.display().to_string(),
        facts: asked.facts,
        wrong,
        end,
        before,
        numbers,
        after,
        back,
        sites: town.sites(),
    }
}

fn requested(play: &Play) -> Option<ApprovalRequested> {
    play.facts().into_iter().find_map(|fact| match fact {
        Fact::ApprovalRequested(asked) => Some(asked),
        _ => None,
    })
}

/// What is wrong with the record, and how the call ended.
fn record(play: &Play, row: &Row, asked: &ApprovalRequested) -> (Vec<String>, String) {
    let (mut wrong, mut end, mut started) = (Vec::new(), "no end".to_owned(), None);
    for fact in play.facts() {
        match fact {
            Fact::ToolStart(start) => started = Some(start),
            Fact::ToolResult(result) => {
                end = match result.outcome {
                    ToolOutcome::Ok { .. } => "ok".to_owned(),
                    ToolOutcome::Error { error } => error.to_string(),
                };
            }
            _ => {}
        }
    }
    let ran = started.map(|ToolStart { arguments, .. }| arguments);
    if ran != Some(asked.arguments) {
        wrong.push(format!("{:?} was asked about and {ran:?} ran", asked.arguments));
    }
    if asked.tool != row.tool || play.count("approval/requested") != 1 {
        wrong.push(format!("asked {} times, about {}", play.count("approval/requested"), asked.tool));
    }
    let epoch = play.process.engine.store().epoch();
    wrong.extend(play.rig.findings(&play.session, epoch));
    (wrong, end)
}

async fn taken_back(play: &Play, home: &Path) -> Looks {
    let scope = RestoreScope { of: RestoreOf::Session, paths: Vec::new() };
    play.process.engine.restore(&play.session, scope, Vec::new()).await.expect("it is taken");
    play.until(|state| state.restoring.is_none()).await;
    looks(home)
}

/// Kind, permissions and content of everything there is.
fn looks(home: &Path) -> Looks {
    below(home, |path, meta| {
        if meta.is_symlink() {
            format!("-> {}", std::fs::read_link(path).expect("a link").display())
        } else if meta.is_dir() {
            format!("folder {:o}", meta.mode() & 0o7777)
        } else if meta.is_file() {
            let content = std::fs::read(path).expect("readable");
            format!("{:o} {:?}", meta.mode() & 0o7777, String::from_utf8_lossy(&content))
        } else {
            "special".to_owned()
        }
    })
}

fn numbers(home: &Path) -> Looks {
    below(home, |_, meta| if meta.is_file() { meta.ino().to_string() } else { String::new() })
}

fn below(home: &Path, look: impl Fn(&Path, &std::fs::Metadata) -> String) -> Looks {
    let (mut found, mut todo) = (Looks::new(), vec![home.to_owned()]);
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).expect("readable") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(home).expect("inside").display().to_string();
            let meta = path.symlink_metadata().expect("there");
            if meta.is_dir() {
                todo.push(path.clone());
            }
            found.insert(name, look(&path, &meta));
        }
    }
    found
}
