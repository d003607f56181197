//! Added folders in the view: which they are, and whether they are there.
//!
//! The record says which folders were added; whether one is there is looked up when the session is opened, when one is added
//! or taken back, when a call didn't find one, and, while one is missing, when a turn begins. Invariant: a folder that is
//! gone is marked and stays listed, so that the person can take it back.

use super::{Fold, Shelf, facts};
use crate::wire::store::AddedFolder;
use crate::wire::view::Patch;
use domain::event::{Event, FolderRemoved, ToolOutcome, ToolResult};

/// Where it is, as `here`.
pub(crate) const HERE: &str = "here";

impl Fold {
    /// Looks where the added folders are now.
    pub(crate) fn look(&mut self, shelf: &dyn Shelf, out: &mut Vec<Patch>) {
        let mut added: Vec<AddedFolder> =
            self.state.added.iter().map(|(id, added)| shelf.added(id, added)).collect();
        added.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        if added != self.shown.view.added {
            self.push(Patch::Added { added }, out);
        }
    }

    /// Looks again for what was missing.
    pub(super) fn look_for_gone(&mut self, shelf: &dyn Shelf, out: &mut Vec<Patch>) {
        if self.shown.view.added.iter().any(|added| added.state != HERE) {
            self.look(shelf, out);
        }
    }

    pub(super) fn folder_removed(
        &mut self,
        e: &FolderRemoved,
        event: &Event,
        shelf: &dyn Shelf,
        out: &mut Vec<Patch>,
    ) {
        let shown = self.shown.view.added.iter().find(|added| added.id == e.folder.as_str());
        let name = shown.map(|added| facts::shown(&added.name)).unwrap_or_default();
        self.look(shelf, out);
        self.told(event, "folder/removed", &[("name", name)], out);
    }
}

/// Did a call not find an added folder?
pub(super) fn says_gone(e: &ToolResult) -> bool {
    matches!(&e.outcome, ToolOutcome::Error { error } if error.code == "folder/gone")
}
