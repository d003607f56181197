//! Adding another folder to look at, and taking that back.
//!
//! Invariant: what is refused here is refused by the law, too; a folder that isn't added any more is no error twice.

use super::command::{Taken, done, no};
use domain::event::{Draft, FolderAdded, FolderRemoved};
use domain::ids::FolderId;
use domain::state::{State, Unfit};

pub(super) fn add(state: &State, added: FolderAdded) -> Taken {
    let Err(unfit) = state.may_add(&added) else { return done(vec![Draft::new(added)]) };
    let code = match &unfit {
        Unfit::Own => "folder/session",
        Unfit::Inside => "folder/inside",
        Unfit::Around => "folder/around",
        Unfit::Overlaps(other) if *other == added.path => "folder/added",
        Unfit::Overlaps(_) => "folder/overlaps",
        Unfit::TooMany => "folder/count",
        Unfit::Nameless | Unfit::Taken => "folder/name",
    };
    no(code, format!("{} can't be added to look at: {unfit}", added.name))
}

pub(super) fn remove(state: &State, folder: FolderId) -> Taken {
    match state.added.contains_key(&folder) {
        true => done(vec![Draft::new(FolderRemoved { folder })]),
        false => no("folder/removed", "this folder was taken back already"),
    }
}
