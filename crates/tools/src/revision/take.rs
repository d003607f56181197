//! Taking a revision.
//!
//! Three passes: look at everything ([`super::scan`]), read what the index doesn't know ([`super::content`]), write the
//! trees from the deepest up. Invariant: when [`take`] returns, every content and tree of the revision is durable in the
//! blobs; a revision that fails or is cancelled leaves nothing behind but unused content.

use super::bounds::Bounds;
use super::content::{self, Read1, Wanted, read_all};
use super::index::{self, Index, Known};
use super::name::{ROOT, join};
use super::scan::{self, Folder, Found, Item, Kind, scan};
use super::stat::Stat;
use super::tree::{Node, Tree, Why};
use crate::blob::BlobSink;
use crate::place::Place;
use domain::digest::Digest;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io;
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

/// Takes a revision of the folder as it is now. `index` is brought up to date in memory; [`Index::save`] keeps it.
///
/// # Errors
/// When the folder can't be read, has too many entries, content can't be kept, or `cancel` fires.
pub fn take(
    place: &Place,
    blobs: &dyn BlobSink,
    index: &mut Index,
    bounds: &Bounds,
    cancel: &CancellationToken,
) -> Result<Taken, TakeError> {
    // Without a clock nothing is believed to have settled, and all is read again the next time.
    let now_ns = index.now_ns().unwrap_or(i64::MIN);
    let mut folders = scan(place, bounds, cancel).map_err(|failed| match failed {
        scan::Failed::Root(error) => TakeError::Folder(error),
        scan::Failed::TooMany => TakeError::TooMany { most: bounds.entries },
        scan::Failed::Cancelled => TakeError::Cancelled,
    })?;
    let named_elsewhere = named_elsewhere(&folders, bounds.listed);
    leave_out_largest(&mut folders, bounds.folder_bytes);
    let mut building = Building { index, now_ns, new_bytes: 0, contents: HashMap::new() };
    building.read(place, &mut folders, bounds, blobs, cancel)?;
    let (tree, next) = building.trees(&folders, blobs)?;
    let new_bytes = building.new_bytes;
    blobs.settle().map_err(TakeError::Blobs)?;
    let (files, bytes) = (next.files, next.bytes);
    let left_out = left_outs(&folders, bounds.listed);
    (index.last, index.trees, index.folders) = (Some(tree), next.trees, next.folders);
    Ok(Taken {
        tree,
        files,
        folders: index.trees.len() as u64 - 1,
        bytes,
        new_bytes,
        left_out,
        named_elsewhere,
    })
}

/// Files that have more names than were found.
fn named_elsewhere(folders: &[Folder], most: usize) -> Vec<String> {
    let mut found: HashMap<u64, (u64, Vec<String>)> = HashMap::new();
    for folder in folders {
        for file in &folder.shared {
            let (_, paths) = found.entry(file.number).or_insert((file.names, Vec::new()));
            paths.push(join(&folder.path, &file.name));
        }
    }
    let lacking = found.into_values().filter(|(names, paths)| (paths.len() as u64) < *names);
    let mut paths: Vec<String> = lacking.flat_map(|(_, paths)| paths).collect();
    paths.sort();
    paths.truncate(most);
    paths
}

/// Where everything together is too large, the largest files are left out until the rest fits: few and easy to name.
fn leave_out_largest(folders: &mut [Folder], most: u64) {
    let mut files = Vec::new();
    for (folder, found) in folders.iter().enumerate() {
        for (item, entry) in found.items.iter().enumerate() {
            if let Kind::File { stat, .. } = &entry.kind {
                files.push((stat.bytes, folder, item));
            }
        }
    }
    let mut total: u64 = files.iter().map(|(bytes, ..)| bytes).sum();
    if total <= most {
        return;
    }
    files.sort_by(|one, other| {
        let path = |(_, folder, item): &(u64, usize, usize)| {
            (&folders[*folder].path, &folders[*folder].items[*item].name)
        };
        other.0.cmp(&one.0).then_with(|| path(one).cmp(&path(other)))
    });
    for (bytes, folder, item) in files {
        if total <= most {
            return;
        }
        total -= bytes;
        folders[folder].items[item].kind = Kind::LeftOut { why: Why::TooMuch, bytes: Some(bytes) };
    }
}

struct Building<'a> {
    index: &'a Index,
    now_ns: i64,
    new_bytes: u64,
    /// Content of files by folder and item.
    contents: HashMap<(usize, usize), Digest>,
}

/// What the index will hold, and the sums.
#[derive(Default)]
struct Next {
    trees: HashMap<String, Digest>,
    folders: HashMap<String, Vec<Known>>,
    files: u64,
    bytes: u64,
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
            let known = self.index.known(&found.path);
            for (item, entry) in found.items.iter().enumerate() {
                let Kind::File { stat, .. } = &entry.kind else { continue };
                match index::content(known, &entry.name, stat) {
                    Some(content) => drop(self.contents.insert((folder, item), content)),
                    None => wanted.push(Wanted { folder, item }),
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
                    self.contents.insert((folder, item), content);
                    self.new_bytes += if new { stat.bytes } else { 0 };
                    Kind::File { stat, mode }
                }
                Read1::LeftOut { why, bytes } => Kind::LeftOut { why, bytes },
                Read1::Gone => Kind::Gone,
            };
        }
        Ok(())
    }

    /// Writes the trees, the deepest first: a folder's number is larger than its parent's.
    fn trees(&mut self, folders: &[Folder], blobs: &dyn BlobSink) -> Result<(Digest, Next), TakeError> {
        let mut next = Next::default();
        let mut above = None;
        for (number, folder) in folders.iter().enumerate().rev() {
            if folder.found != Found::Read {
                continue;
            }
            let mut tree = Tree { entries: Vec::with_capacity(folder.items.len()) };
            let mut known = Vec::new();
            for (at, item) in folder.items.iter().enumerate() {
                let Some(node) = self.node(folders, &next, (number, at), item) else { continue };
                if let (Kind::File { stat, .. }, Node::File { content, .. }) = (&item.kind, &node) {
                    next.files += 1;
                    next.bytes += stat.bytes;
                    known.extend(self.known(&item.name, stat, *content));
                }
                tree.entries.push((item.name.clone(), node));
            }
            let digest = self.keep(&folder.path, &tree, blobs)?;
            if folder.path == ROOT {
                above = Some(Node::Folder { mode: folder.mode, tree: digest });
            }
            next.trees.insert(folder.path.clone(), digest);
            next.folders.insert(folder.path.clone(), known);
        }
        // The folder itself has a mode, too: the outermost tree holds nothing but it.
        let outermost = Tree { entries: above.into_iter().map(|node| (ROOT.to_owned(), node)).collect() };
        let digest = Digest::of(&outermost.encode());
        if self.index.last != Some(digest) {
            self.stage(&outermost.encode(), blobs)?;
        }
        Ok((digest, next))
    }

    fn node(&self, folders: &[Folder], next: &Next, at: (usize, usize), item: &Item) -> Option<Node> {
        match &item.kind {
            Kind::File { stat, mode } => {
                let content = *self.contents.get(&at)?;
                Some(Node::File { content, bytes: stat.bytes, mode: *mode })
            }
            Kind::Link { target } => Some(Node::Link { target: target.clone() }),
            Kind::LeftOut { why, .. } => Some(Node::LeftOut { why: *why }),
            Kind::Gone => None,
            Kind::Folder(number) => {
                let folder = &folders[*number];
                match folder.found {
                    Found::Gone => None,
                    Found::LeftOut(why) => Some(Node::LeftOut { why }),
                    Found::Read => {
                        let tree = *next.trees.get(&folder.path)?;
                        Some(Node::Folder { mode: folder.mode, tree })
                    }
                }
            }
        }
    }

    fn known(&self, name: &str, stat: &Stat, content: Digest) -> Option<Known> {
        stat.is_settled(self.now_ns).then(|| Known { name: name.into(), stat: *stat, content })
    }

    fn keep(&mut self, path: &str, tree: &Tree, blobs: &dyn BlobSink) -> Result<Digest, TakeError> {
        let bytes = tree.encode();
        let digest = Digest::of(&bytes);
        match self.index.trees.get(path) == Some(&digest) {
            true => Ok(digest),
            false => self.stage(&bytes, blobs),
        }
    }

    fn stage(&mut self, bytes: &[u8], blobs: &dyn BlobSink) -> Result<Digest, TakeError> {
        let staged = blobs.stage(&mut &*bytes).map_err(TakeError::Blobs)?;
        self.new_bytes += if staged.new { staged.bytes } else { 0 };
        Ok(staged.digest)
    }
}

fn left_outs(folders: &[Folder], most: usize) -> LeftOuts {
    let mut all = Vec::new();
    for folder in folders {
        if let Found::LeftOut(why) = folder.found {
            all.push(LeftOut { path: folder.path.clone(), why, bytes: None });
        }
        for item in &folder.items {
            if let Kind::LeftOut { why, bytes } = item.kind {
                all.push(LeftOut { path: join(&folder.path, &item.name), why, bytes });
            }
        }
    }
    all.sort_by(|one, other| one.path.cmp(&other.path));
    let count = all.len() as u64;
    all.truncate(most);
    LeftOuts { paths: all, count }
}
