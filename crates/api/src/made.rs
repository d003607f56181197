//! What a session made: new files that are there, many in one place told as one.
//!
//! Taken from the ledger like every change; the folder is looked at only to say whether they are still there. Invariant: a
//! client names them by an id that means something only here, so no path ever comes from a page.

use crate::changes::root;
use crate::failure::{error, of_ledger};
use crate::wire::ApiError;
use crate::wire::undo::Made;
use domain::call::{Effect, Entry};
use domain::digest::Digest;
use domain::event::{RestoreOf, RestoreScope};
use domain::ids::SessionId;
use engine::ledger::Ledger;
use engine::show::{self, Place, Reader};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Things that are listed.
const LISTED: usize = 20;
/// New files in one folder from which on the folder is told instead.
const MANY: u32 = 4;

/// What of a session's net change is new and there, by path.
pub(crate) fn list(session: &SessionId, place: &Place, net: &[Effect]) -> Vec<Made> {
    let created = |effect: &&Effect| effect.before.is_none();
    let is_folder = |effect: &&Effect| matches!(effect.after, Some(Entry::Folder { .. }));
    let folders: BTreeSet<&str> =
        net.iter().filter(created).filter(is_folder).map(|effect| effect.path.as_str()).collect();
    let files: Vec<&str> = net
        .iter()
        .filter(created)
        .filter(|effect| !is_folder(effect))
        .map(|effect| effect.path.as_str())
        .collect();
    let mut told: BTreeMap<&str, u32> = BTreeMap::new();
    for path in &files {
        *told.entry(home(path, &folders)).or_default() += 1;
    }
    let mut found: BTreeMap<&str, u32> = BTreeMap::new();
    for path in files {
        let home = home(path, &folders);
        let many = told.get(home).copied().unwrap_or(0);
        match many >= MANY || (many > 1 && folders.contains(home)) {
            true if !home.is_empty() => found.insert(home, many),
            _ => found.insert(path, 0),
        };
    }
    let there = found.into_iter().filter(|(path, _)| show::standing_at(place, path).is_some());
    there
        .take(LISTED)
        .map(|(path, files)| Made { id: id(session, path), path: path.to_owned(), files })
        .collect()
}

/// Where something is that a session made.
///
/// # Errors
/// When it made no such thing, or it isn't there any more.
pub(crate) fn find(reader: &Reader, session: &SessionId, wanted: &str) -> Result<PathBuf, ApiError> {
    let gone =
        || error("made/gone", "this isn't there any more, or was never made", "Look at the changes again.");
    let root = root(reader, session)?;
    let place = Place::open(Path::new(&root), Vec::new()).map_err(|_| gone())?;
    let ledger = Ledger::read(reader, session).map_err(|error| of_ledger(&error))?;
    let net = ledger.net(&RestoreScope { of: RestoreOf::Session, paths: Vec::new() });
    let made = list(session, &place, &net).into_iter().find(|made| made.id == wanted).ok_or_else(gone)?;
    let inside = show::standing_at(&place, &made.path).ok_or_else(gone)?;
    Ok(Path::new(&root).join(inside))
}

fn id(session: &SessionId, path: &str) -> String {
    Digest::of_parts(&[b"made", session.as_str().as_bytes(), path.as_bytes()]).to_string()
}

/// The outermost new folder that a new file is in, or the folder it is in; empty is the project's own.
fn home<'a>(path: &'a str, folders: &BTreeSet<&str>) -> &'a str {
    let outer = path.match_indices('/').map(|(at, _)| &path[..at]).find(|above| folders.contains(above));
    outer.unwrap_or_else(|| path.rsplit_once('/').map_or("", |(above, _)| above))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// New paths (a folder ends in `/`), and what is told of them.
    #[track_caller]
    fn check(new: &[&str], expect: &[(&str, u32)]) {
        let folder = tempfile::tempdir().unwrap();
        let mut net = Vec::new();
        for path in new {
            let at = folder.path().join(path);
            let after = if path.ends_with('/') {
                std::fs::create_dir_all(&at).unwrap();
                Entry::Folder { mode: None }
            } else {
                std::fs::create_dir_all(at.parent().unwrap()).unwrap();
                std::fs::write(&at, "x").unwrap();
                Entry::File { content: Digest::of(b"x"), bytes: 1, mode: None }
            };
            let path = path.trim_end_matches('/').to_owned();
            net.push(Effect {
                path,
                before: None,
                after: Some(after),
                lines: None,
                kept_in: None,
                parted: None,
            });
        }
        let session = SessionId::from_bits(1);
        let place = Place::open(folder.path(), Vec::new()).unwrap();
        let made = list(&session, &place, &net);
        let told: Vec<(&str, u32)> = made.iter().map(|made| (made.path.as_str(), made.files)).collect();
        assert_eq!(told, expect);
        for effect in &net {
            let at = folder.path().join(&effect.path);
            if at.is_file() {
                std::fs::remove_file(at).unwrap();
            }
        }
        let left = list(&session, &place, &net);
        assert!(left.iter().all(|made| made.files > 0), "what is gone isn't told: {left:?}");
    }

    #[test]
    fn new_files_are_told_one_by_one_and_many_in_one_place_as_one() {
        check(&[], &[]);
        check(&["summary.md"], &[("summary.md", 0)]);
        check(
            &["a.md", "b.md", "c.md", "d.md", "e.md"],
            &[("a.md", 0), ("b.md", 0), ("c.md", 0), ("d.md", 0), ("e.md", 0)],
        );
        check(&["photos/", "photos/1.jpg", "photos/2.jpg"], &[("photos", 2)]);
        check(&["photos/", "photos/one.jpg"], &[("photos/one.jpg", 0)]);
        check(&["out/", "out/deep/", "out/deep/a", "out/b"], &[("out", 2)]);
        check(&["old/a", "old/b", "old/c"], &[("old/a", 0), ("old/b", 0), ("old/c", 0)]);
        check(&["old/a", "old/b", "old/c", "old/d"], &[("old", 4)]);
    }
}
