//! Adding another folder to look at, and taking that back.
//!
//! Invariant: what is refused here is refused by the law, too; a folder that isn't added any more is no error twice.

use super::command::{Taken, done, no};
use domain::event::{Draft, FolderAdded, FolderRemoved};
use domain::ids::FolderId;
use domain::state::{State, Unfit};

pub(super) fn add(state: &State, added: FolderAdded) -> Taken {
    let code = match state.may_add(&added) {
        Ok(()) => return done(vec![Draft::new(added)]),
        Err(Unfit::Own) => "folder/session",
        Err(Unfit::Inside) => "folder/inside",
        Err(Unfit::Around) => "folder/around",
        Err(Unfit::Overlaps(other)) if other == added.path => "folder/added",
        Err(Unfit::Overlaps(_)) => "folder/overlaps",
        Err(Unfit::TooMany) => "folder/count",
        Err(Unfit::Nameless | Unfit::Taken) => "folder/name",
    };
    let why = state.may_add(&added).err().map(|unfit| unfit.to_string()).unwrap_or_default();
    no(code, format!("{} can't be added to look at: {why}", added.name))
}

pub(super) fn remove(state: &State, folder: FolderId) -> Taken {
    match state.added.contains_key(&folder) {
        true => done(vec![Draft::new(FolderRemoved { folder })]),
        false => no("folder/removed", "this folder was taken back already"),
    }
}
