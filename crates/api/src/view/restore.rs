//! Changes and returns in the view: what counts as changed, and one entry for each return.

use super::Fold;
use crate::undo;
use crate::wire::undo::{KeptFile, PartedFile, UndoOf, UndoView, UndoneFile};
use crate::wire::view::{EntryBody, Patch};
use domain::call::{Entry, Parted};
use domain::event::{Changed, Event, KeptBack, RevisionRestored, RevisionRestoring, RevisionThinned};
use engine::Hold;
use engine::decide::CALLED_OFF;

/// Files of a return that are listed.
const LISTED: usize = 50;

/// What stood at a path before the session's first change, and what stands there after its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Net {
    before: Option<Entry>,
    after: Option<Entry>,
}

impl Net {
    /// Folders come and go with the files in them and aren't counted.
    pub(super) fn differs(&self) -> bool {
        let folder = |entry: &Option<Entry>| matches!(entry, None | Some(Entry::Folder { .. }));
        if folder(&self.before) && folder(&self.after) {
            return false;
        }
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => !before.matches(after),
            (before, after) => before.is_some() != after.is_some(),
        }
    }
}

impl Fold {
    /// Notes what changed, for counting.
    pub(super) fn changed(&mut self, changed: &Changed) {
        for effect in &changed.effects {
            let net = Net { before: effect.before.clone(), after: effect.after.clone() };
            self.files.entry(effect.path.clone()).or_insert(net).after.clone_from(&effect.after);
        }
    }

    pub(super) fn restoring(&mut self, e: &RevisionRestoring, event: &Event, out: &mut Vec<Patch>) {
        let undo = UndoView {
            id: e.revision.to_string(),
            of: undo::of(&e.scope.of),
            state: "working".to_owned(),
            held: false,
            files: Vec::new(),
            count: 0,
            kept: e.kept.iter().take(LISTED).map(kept).collect(),
            kept_more: e.kept_more + e.kept.len().saturating_sub(LISTED) as u64,
            error: None,
            undone: false,
            thinned: None,
        };
        self.put(event, undo.id.clone(), EntryBody::Undo { undo }, out);
    }

    pub(super) fn restored(&mut self, e: &RevisionRestored, event: &Event, out: &mut Vec<Patch>) {
        self.changed(&e.changed);
        let key = e.revision.to_string();
        let Some(EntryBody::Undo { undo }) = self.shown.entry(&key).map(|entry| entry.body.clone()) else {
            return;
        };
        let file = |effect: &domain::call::Effect| UndoneFile {
            path: effect.path.clone(),
            what: undo::what(effect).to_owned(),
            parted: effect
                .parted
                .as_ref()
                .map(|Parted { names, more }| PartedFile { names: names.clone(), more: *more }),
        };
        let effects = || e.changed.effects.iter();
        let parted = effects().filter(|effect| effect.parted.is_some());
        let others = effects().filter(|effect| effect.parted.is_none());
        let done = UndoView {
            state: match e.error.as_ref().map(|error| error.code.as_str()) {
                None => "done",
                Some(CALLED_OFF) => "called_off",
                Some(_) => "failed",
            }
            .to_owned(),
            held: false,
            // What is said of a file comes first, where not all are listed.
            files: parted.chain(others).take(LISTED).map(file).collect(),
            count: e.changed.count(),
            kept: undo.kept.iter().cloned().chain(e.kept.iter().map(kept)).take(LISTED).collect(),
            kept_more: undo.kept_more
                + e.kept_more
                + (undo.kept.len() + e.kept.len()).saturating_sub(LISTED) as u64,
            error: e.error.as_ref().map(|error| error.code.clone()),
            ..undo
        };
        if done.state == "done"
            && let UndoOf::Undo { undo: earlier } = &done.of
        {
            self.taken_back(earlier, event, out);
        }
        self.put(event, key, EntryBody::Undo { undo: done }, out);
    }

    /// A return that goes on waits for the folder, or doesn't any more.
    pub(super) fn held_up(&mut self, hold: Option<Hold>, out: &mut Vec<Patch>) {
        let Some(open) = self.state.restoring.as_ref().map(|open| open.revision.to_string()) else { return };
        if let Some((time, EntryBody::Undo { undo })) =
            self.shown.entry(&open).map(|entry| (entry.time, entry.body.clone()))
        {
            let undo = UndoView { held: hold.is_some(), ..undo };
            self.put_at(time, open, EntryBody::Undo { undo }, out);
        }
    }

    /// What earlier returns would need to be taken back was let go.
    pub(super) fn thinned(&mut self, e: &RevisionThinned, event: &Event, out: &mut Vec<Patch>) {
        for key in e.restores.iter().map(ToString::to_string) {
            if let Some((time, EntryBody::Undo { undo })) =
                self.shown.entry(&key).map(|entry| (entry.time, entry.body.clone()))
            {
                let undo = UndoView { thinned: Some(event.envelope.time), ..undo };
                self.put_at(time, key, EntryBody::Undo { undo }, out);
            }
        }
    }

    fn taken_back(&mut self, earlier: &str, event: &Event, out: &mut Vec<Patch>) {
        if let Some(EntryBody::Undo { undo }) = self.shown.entry(earlier).map(|entry| entry.body.clone()) {
            let undo = UndoView { undone: true, ..undo };
            self.put(event, earlier.to_owned(), EntryBody::Undo { undo }, out);
        }
    }
}

fn kept(kept: &KeptBack) -> KeptFile {
    KeptFile { path: kept.path.clone(), why: kept.why.clone(), anyway: None, now: None }
}
