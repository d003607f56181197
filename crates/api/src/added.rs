//! Letting a session look at another folder: chosen in the system's dialog, or named where there is no page.
//!
//! Invariant: a path never comes from a page. A page can ask for the dialog and take a folder back; what the person chose
//! there is looked at by the engine before it is recorded.

use crate::desk::Desk;
use crate::failure::of_command;
use crate::room::{Done, Room};
use crate::view::HERE;
use crate::wire::ApiError;
use crate::wire::command::Reply;
use crate::wire::store::AddedFolder;
use domain::ids::FolderId;
use domain::state::Added;
use engine::show::{AddedPlace, Gone};
use std::path::Path;

impl Room {
    /// Lets the person choose a folder that the session may look at.
    pub(crate) async fn choose_read_folder(&self, session: &str) -> Done {
        // Before anybody is asked.
        self.known(session)?;
        let Some(chosen) = self.inside.desk.choose_folder().await? else { return Ok(Reply::Done) };
        let path = self.inside.desk.open_folder(&crate::room::id(&chosen.id)?)?;
        self.add_folder(session, &path).await?;
        Ok(Reply::Done)
    }

    /// Lets a session look at the folder that the person named by an act of their own: in a dialog, or on the command line.
    ///
    /// # Errors
    /// When no session may look at it, this one may not or can already, or it can't be recorded.
    pub async fn add_folder(&self, session: &str, path: &Path) -> Result<(), ApiError> {
        let session = self.known(session)?;
        let added = self.inside.engine()?.add_folder(&session, path).await;
        added.map(drop).map_err(|failure| {
            let refused = of_command(&failure);
            let hint = refused.code.starts_with("folder/").then(|| "Choose another folder.".to_owned());
            ApiError { hint: hint.or(refused.hint), ..refused }
        })
    }

    /// Goes on in the folder that stands at the session's path now.
    pub(crate) async fn use_folder(&self, session: &str) -> Done {
        let session = self.known(session)?;
        let used = self.inside.engine()?.use_folder(&session).await;
        used.map(|_| Reply::Done).map_err(|failure| of_command(&failure))
    }
}

/// An added folder as shown. Looks at the disk.
pub(crate) fn shown(desk: &dyn Desk, id: &FolderId, added: &Added) -> AddedFolder {
    let state = match AddedPlace::open(&added.path, added.identity, Vec::new()).gone() {
        None => HERE,
        Some(Gone::Missing) => "gone",
        Some(Gone::Other) => "other",
    };
    AddedFolder { state: state.to_owned(), ..unlooked(desk, id, added) }
}

/// The same without a look: as if it were there.
pub(crate) fn unlooked(desk: &dyn Desk, id: &FolderId, added: &Added) -> AddedFolder {
    let place = desk.folder(id, &added.path).place;
    AddedFolder { id: id.to_string(), name: added.name.clone(), place, state: HERE.to_owned() }
}
