//! Taking a revision.
//!
//! Three passes: look at everything ([`super::scan`]), read what the index doesn't know ([`super::content`]), write the
//! trees that changed, from the deepest up. Invariant: when [`take`] returns, every content and tree of the revision is durable in the
//! blobs; a revision that fails or is cancelled leaves nothing behind but unused content.

use super::bounds::Bounds;
use super::content::{self, Read1, Wanted, read_all};
use super::held::Held;
use super::index::Index;
use super::known::{Known, What};
use super::name::{ROOT, join};
use super::scan::{self, Folder, Found, Item, Kind, scan};
use super::shared::SharedFiles;
use super::stat::Stamp;
use super::tree::{Node, Tree, Why};
use crate::blob::BlobSink;
use crate::place::Place;
use domain::call::Parted;
use domain::digest::Digest;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A revision that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Names the state of the whole folder: equal states have equal names.
    pub tree: Digest,
    /// Files in it.
    pub files: u64,
    /// Folders in it, without the project folder itself.
    pub folders: u64,
    /// Size of all files.
    pub bytes: u64,
    /// Bytes of content and trees that weren't kept before.
    pub new_bytes: u64,
    /// What isn't covered.
    pub left_out: LeftOuts,
    /// Files that have a name which wasn't seen: outside the folder, most likely, where what is written into them shows.
    /// Ignored folders aren't looked into. The first of them, in order.
    #[serde(default)]
    pub named_elsewhere: Vec<String>,
    /// How many names of files in the folder weren't seen.
    #[serde(default)]
    pub names_unseen: u64,
    /// Paths that were one file with others at the revision before, and aren't any more or are gone; told where this was taken
    /// next after `held`.
    #[serde(skip)]
    pub parted: HashMap<String, Parted>,
}

/// Paths that aren't covered, in order, and how many there are in all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOuts {
    /// The first of them.
    pub paths: Vec<LeftOut>,
    /// All of them.
    pub count: u64,
}

/// One path that isn't covered. A folder stands for everything in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The path.
    pub path: String,
    /// Why.
    pub why: Why,
    /// Size, of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Why there is no revision.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// The folder can't be read.
    #[error("the folder can't be read")]
    Folder(#[source] io::Error),
    /// More entries than a revision may have.
    #[error("the folder holds more than {most} files and folders")]
    TooMany {
        /// The bound.
        most: usize,
    },
    /// Content can't be kept.
    #[error("the content of the folder can't be kept")]
    Blobs(#[source] io::Error),
    /// It was told to stop.
    #[error("taking the revision was stopped")]
    Cancelled,
}

/// Takes a revision of the folder as it is now. `index` is brought up to date in memory; [`Index::save`] keeps it. What the
/// earlier revision `held` holds stays covered, though ignore rules name it now.
///
/// # Errors
/// When the folder can't be read, has too many entries, content can't be kept, or `cancel` fires.
pub fn take(
    place: &Place,
    blobs: &dyn BlobSink,
    index: &mut Index,
    bounds: &Bounds,
    held: Option<&Digest>,
    cancel: &CancellationToken,
) -> Result<Taken, TakeError> {
    // Without a clock nothing is believed to have settled, and all is read again the next time.
    let now_ns = index.now_ns().unwrap_or(i64::MIN);
    let follows = held.is_some() && held.copied() == index.last;
    let held = Held::new(index, blobs, held);
    let mut folders = scan(place, index, bounds, &held, cancel).map_err(|failed| match failed {
        scan::Failed::Root(error) => TakeError::Folder(error),
        scan::Failed::TooMany => TakeError::TooMany { most: bounds.entries },
        scan::Failed::Cancelled => TakeError::Cancelled,
    })?;
    let shared = SharedFiles::of(&folders);
    let (named_elsewhere, names_unseen) = shared.elsewhere(bounds.listed);
    let parted = if follows { index.shared.parted(&shared) } else { HashMap::new() };
    leave_out_largest(&mut folders, bounds.folder_bytes, &held);
    let mut building = Building { index, now_ns, new_bytes: 0 };
    building.read(place, &mut folders, bounds, blobs, cancel)?;
    let (tree, known) = building.trees(&folders, blobs, cancel)?;
    let new_bytes = building.new_bytes;
    blobs.settle().map_err(TakeError::Blobs)?;
    (index.last, index.folders, index.shared) = (Some(tree), known, shared);
    let (files, bytes) = sizes(&folders).fold((0, 0), |(files, sum), (bytes, ..)| (files + 1, sum + bytes));
    let left_out = left_outs(&folders, bounds.listed);
    let folders = index.folders.len() as u64 - 1;
    Ok(Taken { tree, files, folders, bytes, new_bytes, left_out, named_elsewhere, names_unseen, parted })
}

/// Size and place of each file, as it will be in the trees.
fn sizes(folders: &[Folder]) -> impl Iterator<Item = (u64, usize, usize)> {
    folders.iter().enumerate().flat_map(|(folder, found)| {
        found.items.iter().enumerate().filter_map(move |(item, entry)| match &entry.kind {
            Kind::File { stat, .. } => Some((stat.bytes, folder, item)),
            Kind::Link { .. } | Kind::Gone | Kind::Folder(_) | Kind::LeftOut { .. } => None,
        })
    })
}

/// What tells of a file that is left out whether it was changed.
fn stamp(kind: &Kind) -> Option<Stamp> {
    match kind {
        Kind::File { stat, .. } => Some(Stamp::from(*stat)),
        Kind::Link { .. } | Kind::Gone | Kind::Folder(_) | Kind::LeftOut { .. } => None,
    }
}

/// Where everything together is too large, the largest files are left out until the rest fits: few and easy to name. What
/// an earlier revision holds goes last.
fn leave_out_largest(folders: &mut [Folder], most: u64, held: &Held<'_>) {
    let mut total: u64 = sizes(folders).map(|(bytes, ..)| bytes).sum();
    if total <= most {
        return;
    }
    let mut files: Vec<_> = sizes(folders).collect();
    files.sort_by(|one, other| {
        let path = |(_, folder, item): &(u64, usize, usize)| {
            (&folders[*folder].path, &folders[*folder].items[*item].name)
        };
        other.0.cmp(&one.0).then_with(|| path(one).cmp(&path(other)))
    });
    files.sort_by_cached_key(|(_, folder, item)| {
        held.holds(&folders[*folder].path, &folders[*folder].items[*item].name)
    });
    for (bytes, folder, item) in files {
        if total <= most {
            return;
        }
        total -= bytes;
        let item = &mut folders[folder].items[item];
        item.kind = Kind::LeftOut { why: Why::TooMuch, stamp: stamp(&item.kind) };
        folders[folder].same = None;
    }
}

struct Building<'a> {
    index: &'a Index,
    now_ns: i64,
    new_bytes: u64,
}

impl Building<'_> {
    /// Reads the files whose content isn't known.
    fn read(
        &mut self,
        place: &Place,
        folders: &mut [Folder],
        bounds: &Bounds,
        blobs: &dyn BlobSink,
        cancel: &CancellationToken,
    ) -> Result<(), TakeError> {
        let mut wanted = Vec::new();
        for (folder, found) in folders.iter().enumerate() {
            for (item, entry) in found.items.iter().enumerate() {
                if let Kind::File { content: None, .. } = entry.kind {
                    wanted.push(Wanted { folder, item });
                }
            }
        }
        let read = {
            let folders = &*folders;
            let paths = |wanted: &Wanted| {
                let folder = &folders[wanted.folder];
                (folder.path.as_str(), folder.items[wanted.item].name.as_str())
            };
            read_all(place.dir(), &wanted, paths, bounds.file_bytes, blobs, cancel).map_err(|failed| {
                match failed {
                    content::Failed::Blobs(error) => TakeError::Blobs(error),
                    content::Failed::Cancelled => TakeError::Cancelled,
                }
            })?
        };
        for ((folder, item), read) in read {
            let entry = &mut folders[folder].items[item];
            entry.kind = match read {
                Read1::Kept { stat, mode, content, new } => {
                    self.new_bytes += if new { stat.bytes } else { 0 };
                    Kind::File { stat, mode, content: Some(content) }
                }
                Read1::LeftOut { why: why @ (Why::Special | Why::Changing) } => {
                    Kind::LeftOut { why, stamp: None }
                }
                Read1::LeftOut { why } => Kind::LeftOut { why, stamp: stamp(&entry.kind) },
                Read1::Gone => Kind::Gone,
            };
        }
        Ok(())
    }

    /// Writes the trees that aren't as they were, the deepest first: a folder's number is larger than its parent's.
    fn trees(
        &mut self,
        folders: &[Folder],
        blobs: &dyn BlobSink,
        cancel: &CancellationToken,
    ) -> Result<(Digest, HashMap<String, Arc<Known>>), TakeError> {
        let mut all = HashMap::with_capacity(folders.len());
        let mut trees = vec![None; folders.len()];
        for (number, folder) in folders.iter().enumerate().rev() {
            if cancel.is_cancelled() {
                return Err(TakeError::Cancelled);
            }
            if folder.found != Found::Read {
                continue;
            }
            let known = match unchanged(folder, folders, &trees) {
                Some(known) => known,
                None => Arc::new(self.tree(folder, folders, &trees, blobs)?),
            };
            trees[number] = Some(known.tree);
            all.insert(folder.path.clone(), known);
        }
        // The folder itself has a mode, too: the outermost tree holds nothing but it.
        let above = folders.first().zip(trees.first().copied().flatten());
        let above = above.map(|(folder, tree)| Node::Folder { mode: folder.mode, tree });
        let outermost = Tree { entries: above.into_iter().map(|node| (ROOT.to_owned(), node)).collect() };
        let digest = self.keep(self.index.last, &outermost, blobs)?;
        Ok((digest, all))
    }

    /// Writes one tree.
    fn tree(
        &mut self,
        folder: &Folder,
        folders: &[Folder],
        trees: &[Option<Digest>],
        blobs: &dyn BlobSink,
    ) -> Result<Known, TakeError> {
        let mut tree = Tree { entries: Vec::with_capacity(folder.items.len()) };
        let mut entries = Vec::with_capacity(folder.items.len());
        for item in &folder.items {
            let Some(node) = node(item, folders, trees) else { continue };
            let settled = match &item.kind {
                Kind::File { stat, .. } => Some(*stat).filter(|stat| stat.is_settled(self.now_ns)),
                Kind::Link { .. } | Kind::Gone | Kind::Folder(_) | Kind::LeftOut { .. } => None,
            };
            entries.push((item.name.as_str().into(), What::of(&node, settled)));
            tree.entries.push((item.name.clone(), node));
        }
        let before = self.index.folders.get(&folder.path).map(|known| known.tree);
        Ok(Known { tree: self.keep(before, &tree, blobs)?, entries })
    }

    fn keep(
        &mut self,
        before: Option<Digest>,
        tree: &Tree,
        blobs: &dyn BlobSink,
    ) -> Result<Digest, TakeError> {
        let bytes = tree.encode();
        let digest = Digest::of(&bytes);
        if before == Some(digest) {
            return Ok(digest);
        }
        let staged = blobs.stage(&mut &*bytes).map_err(TakeError::Blobs)?;
        self.new_bytes += if staged.new { staged.bytes } else { 0 };
        Ok(staged.digest)
    }
}

/// What is known of a folder, when that is still all there is to know: its entries are as they were, and so are the modes
/// and trees of the folders in it.
fn unchanged(folder: &Folder, folders: &[Folder], trees: &[Option<Digest>]) -> Option<Arc<Known>> {
    let known = folder.same.as_ref()?;
    // As many and the same names: that is what `same` says.
    let as_it_was =
        folder.items.iter().zip(&known.entries).all(|(item, (_, what))| match (&item.kind, what) {
            (Kind::Folder(number), What::Folder { mode, tree }) => {
                trees[*number] == Some(*tree) && folders[*number].mode == *mode
            }
            _ => true,
        });
    as_it_was.then(|| Arc::clone(known))
}

fn node(item: &Item, folders: &[Folder], trees: &[Option<Digest>]) -> Option<Node> {
    match &item.kind {
        Kind::File { stat, mode, content } => {
            Some(Node::File { content: (*content)?, bytes: stat.bytes, mode: *mode })
        }
        Kind::Link { target } => Some(Node::Link { target: target.clone() }),
        Kind::LeftOut { why, stamp } => Some(Node::LeftOut { why: *why, stamp: *stamp }),
        Kind::Gone => None,
        Kind::Folder(number) => match folders[*number].found {
            Found::Gone => None,
            Found::LeftOut(why) => Some(Node::LeftOut { why, stamp: None }),
            Found::Read => Some(Node::Folder { mode: folders[*number].mode, tree: trees[*number]? }),
        },
    }
}

fn left_outs(folders: &[Folder], most: usize) -> LeftOuts {
    let mut all = Vec::new();
    for folder in folders {
        if let Found::LeftOut(why) = folder.found {
            all.push(LeftOut { path: folder.path.clone(), why, bytes: None });
        }
        for item in &folder.items {
            if let Kind::LeftOut { why, stamp } = item.kind {
                let bytes = stamp.map(|stamp| stamp.bytes).filter(|bytes| *bytes > 0);
                all.push(LeftOut { path: join(&folder.path, &item.name), why, bytes });
            }
        }
    }
    all.sort_by(|one, other| one.path.cmp(&other.path));
    let count = all.len() as u64;
    all.truncate(most);
    LeftOuts { paths: all, count }
}
