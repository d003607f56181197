//! A change of one file: planned once to be shown and approved, planned again to be done.
//!
//! Both plans must agree on what was there and on what will be there; if the file changed in between, the call fails
//! instead of doing something nobody saw. Invariant: each change leaves an effect with the content before and after.

use crate::blob::{BlobSink, holds_secret};
use crate::call::Surveyed;
use crate::clear::{Cleared, NAMES_UNSEEN};
use crate::path::{RelPath, shown};
use crate::place::{Place, Reached};
use crate::revision::{OtherNames, other_names};
use crate::save::{Current, Target, mode, renamed, save, sweep};
use crate::text::Text;
use crate::tool::{Ctx, Raw, Trouble, failed, fault};
use domain::call::{Act, Effect, Entry, Facts, LineCount, Recovery, Semantics, ToolError, Undo};
use domain::digest::Digest;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// What a write or edit will do.
pub(super) struct Change {
    pub(super) reached: Reached,
    pub(super) target: Target,
    /// The same file by other names: what is written shows there too.
    pub(super) others: OtherNames,
    pub(super) after: Vec<u8>,
    pub(super) lines: Option<LineCount>,
    /// What the model should know about how it was done.
    pub(super) note: String,
}

/// How recovery finds out whether a change happened.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    path: String,
    before: Option<Entry>,
    after: Option<Entry>,
    /// Other names of the file, which change with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<String>,
    /// Folders that are made first, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folders: Vec<String>,
    /// Is there no copy of the old content?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unkept: bool,
}

impl Question {
    fn of(path: &str, before: Option<Entry>, after: Option<Entry>) -> Self {
        Self { path: path.to_owned(), before, after, others: Vec::new(), folders: Vec::new(), unkept: false }
    }
}

/// What became of a change whose end wasn't recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It happened.
    Done,
    /// It didn't.
    NotDone,
    /// The file is neither as before nor as it would be after.
    Unclear,
}

/// Why a change isn't made: without both contents on record it couldn't be shown or taken back.
fn unkept(which: &str, error: &io::Error) -> ToolError {
    if holds_secret(error) {
        return failed(
            "file/holds_key",
            format!(
                "the {which} content holds a key that is registered in Daybook; no copy of it may be kept, so this file isn't changed"
            ),
            "Ask the person to make this change themselves.",
        );
    }
    failed("runtime/io", format!("the {which} content couldn't be kept: {}", crate::tool::bare(error)), "")
}

impl Change {
    fn before(&self) -> Option<Digest> {
        self.target.current.as_ref().map(|current| current.digest)
    }

    /// What will stand there; a new file's permissions are the system's business until it is there.
    fn entry_after(&self, content: Digest) -> Entry {
        let mode = self.target.current.as_ref().and_then(|current| current.mode);
        Entry::File { content, bytes: self.after.len() as u64, mode }
    }

    /// Facts and semantics; keeps the new content as a blob so that it can be shown.
    pub(super) fn surveyed(&self, act: Act, ctx: &Ctx) -> Result<Surveyed, ToolError> {
        let blobs: &dyn BlobSink = &*ctx.blobs;
        let missing = missing_folders(&ctx.place, &self.target.real);
        let proposed = blobs.put(&self.after).map_err(|error| unkept("new", &error))?;
        // The old content too, so that the difference can be shown from the record alone, now and later.
        if let Some(current) = &self.target.current {
            blobs.put(&current.bytes).map_err(|error| unkept("old", &error))?;
        }
        let real = self.target.real.to_string();
        let names = self.reached.names();
        let exact = names.join(" -> ");
        let can_touch: Vec<String> = names.into_iter().chain(self.others.inside.iter().cloned()).collect();
        let mut words = BTreeMap::from([
            ("path".to_owned(), self.reached.path.to_string()),
            ("size".to_owned(), self.after.len().to_string()),
            ("new".to_owned(), self.target.current.is_none().to_string()),
        ]);
        if let Some(lines) = self.lines {
            words.insert("added".to_owned(), lines.added.to_string());
            words.insert("removed".to_owned(), lines.removed.to_string());
        }
        if !missing.is_empty() {
            let folders: Vec<&str> = missing.iter().map(RelPath::as_str).collect();
            words.insert("folders".to_owned(), folders.join("\n"));
        }
        let before = self.before();
        let unseen = self.others.unseen;
        let far = unseen > 0 || can_touch.iter().any(|path| crate::path::is_protected(path));
        let risk = if far { 3 } else { 1 + u8::from(before.is_some()) };
        if unseen > 0 {
            words.insert("named_elsewhere".to_owned(), real.clone());
            words.insert(NAMES_UNSEEN.to_owned(), unseen.to_string());
        }
        let outside = (unseen == 0).then_some("outside_folder");
        let facts = Facts {
            act,
            exact,
            can_touch,
            cannot_touch: outside.into_iter().chain(["network"]).map(str::to_owned).collect(),
            added: Vec::new(),
            reach: Vec::new(),
            undo: Undo::Yes,
            risk,
            words,
            depends_on: before.map(|digest| (real.clone(), digest)).into_iter().collect(),
            proposed: Some(proposed),
        };
        let entry = self.target.current.as_ref().map(Current::entry);
        let semantics = reconcilable(&Question {
            others: self.others.inside.clone(),
            folders: missing.iter().map(RelPath::to_string).collect(),
            ..Question::of(&real, entry, Some(self.entry_after(proposed)))
        });
        Ok(Surveyed { facts, semantics })
    }

    /// Does it, if it is still what was cleared.
    pub(super) fn done(self, cleared: &Agreed, ctx: &Ctx) -> Result<Raw, Trouble> {
        let before = self.before();
        let after = Digest::of(&self.after);
        if cleared.before != before || cleared.after != Some(after) {
            return Err(changed(&self.reached.path).into());
        }
        let names = self.reached.names().into_iter().chain(self.others.inside.iter().cloned());
        if cleared.names != names.collect() || cleared.unseen != self.others.unseen {
            return Err(renamed(&self.reached.path).into());
        }
        if let Some(current) = &self.target.current {
            ctx.blobs.put(&current.bytes).map_err(|error| fault("keeping the old content", &error))?;
        }
        ctx.blobs.put(&self.after).map_err(|error| fault("keeping the new content", &error))?;
        if ctx.cancel.is_cancelled() {
            return Err(Trouble::Stopped(Raw::default()));
        }
        let same = before == Some(after);
        let missing = missing_folders(&ctx.place, &self.target.real);
        if !same {
            save(&ctx.place, &self.target, &self.after)?;
        }
        let mut raw = self.result(after, same, ctx);
        raw.effects.splice(0..0, missing.iter().map(|folder| made(&ctx.place, folder)));
        Ok(raw)
    }

    fn result(self, after: Digest, same: bool, ctx: &Ctx) -> Raw {
        let before = self.before();
        let path = self.target.real.to_string();
        let name = shown(self.reached.path.as_str());
        let counted =
            self.lines.map_or(String::new(), |lines| format!(" (+{} -{} lines)", lines.added, lines.removed));
        let text = match (same, before) {
            (true, _) => format!("{name} already has exactly this content; nothing was changed."),
            (false, None) => format!("Created {name}{counted}."),
            (false, Some(_)) => format!("Changed {name}{counted}."),
        };
        let text = if self.note.is_empty() { text } else { format!("{text} {}", self.note) };
        let mut entry = self.entry_after(after);
        if let Entry::File { mode: bits, .. } = &mut entry {
            *bits = ctx.place.metadata(&self.target.real).ok().as_ref().and_then(mode);
        }
        let effect = Effect {
            path: path.clone(),
            before: self.target.current.as_ref().map(Current::entry),
            after: Some(entry),
            lines: self.lines,
            kept_in: None,
            parted: None,
        };
        let names =
            [path.clone(), self.reached.path.to_string()].into_iter().chain(self.others.inside.clone());
        let others = self.others.inside.into_iter().map(|path| Effect { path, ..effect.clone() });
        let effects = std::iter::once(effect.clone()).chain(others);
        Raw {
            value: json!({"path": path, "created": before.is_none(), "changed": !same, "lines": self.lines, "bytes": self.after.len()}),
            text,
            effects: if same { Vec::new() } else { effects.collect() },
            blobs: before.into_iter().chain([after]).collect(),
            seen: names.map(|name| (name, after)).collect(),
            secrets: Vec::new(),
        }
    }
}

/// Folders that a save will have to make, from the outermost in.
fn missing_folders(place: &Place, path: &RelPath) -> Vec<RelPath> {
    let mut missing = Vec::new();
    let mut folder = path.parent();
    while !folder.is_root() && place.metadata(&folder).is_err() {
        missing.push(folder.clone());
        folder = folder.parent();
    }
    missing.reverse();
    missing
}

fn made(place: &Place, folder: &RelPath) -> Effect {
    let mode = place.metadata(folder).ok().as_ref().and_then(mode);
    let after = Some(Entry::Folder { mode });
    Effect { path: folder.to_string(), before: None, after, lines: None, kept_in: None, parted: None }
}

/// What the clearance says is there before and after, and by which names.
pub(super) struct Agreed {
    before: Option<Digest>,
    after: Option<Digest>,
    names: BTreeSet<String>,
    unseen: u64,
}

impl Agreed {
    pub(super) fn of(cleared: &Cleared) -> Self {
        let facts = cleared.facts();
        Self {
            before: facts.depends_on.values().next().copied(),
            after: facts.proposed,
            names: facts.can_touch.iter().cloned().collect(),
            unseen: facts.words.get(NAMES_UNSEEN).and_then(|count| count.parse().ok()).unwrap_or(0),
        }
    }
}

/// The file's other names, which a write goes to as well.
pub(super) fn others(place: &Place, target: &Target) -> OtherNames {
    match target.current {
        Some(_) => other_names(place, target.real.as_str()),
        None => OtherNames::default(),
    }
}

/// Refuses a file that differs from what this session saw last.
pub(super) fn not_stale(ctx: &Ctx, reached: &Reached, target: &Target) -> Result<(), ToolError> {
    let Some(current) = &target.current else { return Ok(()) };
    let saw = reached.names().iter().find_map(|name| ctx.seen.get(name));
    match saw {
        Some(saw) if *saw != current.digest => Err(changed(&reached.path)),
        _ => Ok(()),
    }
}

fn changed(path: &RelPath) -> ToolError {
    let message = format!("{} has changed since it was last read; nothing was written", shown(path.as_str()));
    failed("file/changed", message, "Read it again, then decide anew.")
}

/// Lines added and removed, when both sides are text.
pub(super) fn lines(target: &Target, after: &[u8], ctx: &Ctx) -> Option<LineCount> {
    let old = target.current.as_ref().map_or(&[][..], |current| &current.bytes);
    if old.len().max(after.len()) > ctx.limits.diff_bytes {
        return None;
    }
    let (old, new) = (Text::decode(old).ok()?, Text::decode(after).ok()?);
    Some(crate::diff::line_count(&old.body, &new.body, &ctx.limits))
}

/// A deletion that can be asked about; `kept`: is a copy of the content kept, besides what is in the trash?
pub(super) fn deletion(path: &str, before: Option<Entry>, kept: bool) -> Semantics {
    reconcilable(&Question { unkept: !kept, ..Question::of(path, before, None) })
}

fn reconcilable(question: &Question) -> Semantics {
    // Plain data always serialises; without a question only a person could tell.
    let recovery = serde_json::to_string(question)
        .map_or(Recovery::Manual, |operation| Recovery::Reconcile { operation });
    Semantics::Possible { recovery }
}

/// The changes that an operation asks about, for recording them once it turns out to be done: folders, then the file, then
/// its other names.
#[must_use]
pub fn asked_about(operation: &str) -> Option<Vec<Effect>> {
    let Question { path, before, after, others, folders, unkept } = serde_json::from_str(operation).ok()?;
    if unkept {
        // Only the trash has it: there is no content that could be named.
        let kept_in = Some("trash".to_owned());
        return Some(vec![Effect { path, before: None, after: None, lines: None, kept_in, parted: None }]);
    }
    let made = |path| {
        let after = Some(Entry::Folder { mode: None });
        Effect { path, before: None, after, lines: None, kept_in: None, parted: None }
    };
    let file = |path| Effect {
        path,
        before: before.clone(),
        after: after.clone(),
        lines: None,
        kept_in: None,
        parted: None,
    };
    let files = std::iter::once(path).chain(others).map(file);
    Some(folders.into_iter().map(made).chain(files).collect())
}

/// Looks whether a change of an unknown outcome happened, and clears away what an interrupted save left behind.
///
/// # Errors
/// When the operation isn't one of ours or the file can't be looked at.
pub fn reconcile(
    place: &Place,
    operation: &str,
    limits: &crate::limits::Limits,
) -> Result<Settled, ToolError> {
    let question: Question = serde_json::from_str(operation)
        .map_err(|error| failed("runtime/reconcile", format!("not a question about a file: {error}"), ""))?;
    let reached = place.reach(&question.path)?;
    // A folder that isn't there holds no leftovers.
    let _ = sweep(place, &reached.real);
    let now = match Target::find(place, &reached, limits.file_bytes) {
        Ok(target) => target.current.map(|current| current.digest),
        // A deleted folder is asked about by its path alone.
        Err(error) if error.code == "file/is_folder" && content(&question.before).is_none() => {
            return Ok(Settled::NotDone);
        }
        Err(error) => return Err(error),
    };
    Ok(match now {
        now if now == content(&question.after) => Settled::Done,
        now if now == content(&question.before) => Settled::NotDone,
        _ => Settled::Unclear,
    })
}

fn content(entry: &Option<Entry>) -> Option<Digest> {
    entry.as_ref().and_then(Entry::content)
}
