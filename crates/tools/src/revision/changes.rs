//! What differs between two revisions.
//!
//! Only trees that differ are read, so the work is that of the change, not of the folder. Invariants: what the earlier
//! revision covers is an effect whatever became of it, also where the later one doesn't cover it any more; what the
//! earlier one doesn't cover is never called created or deleted; it is listed as uncovered.

use super::bounds::Bounds;
use super::name::join;
use super::take::{LeftOut, LeftOuts};
use super::tree::{NoTree, Node, Tree, Why};
use crate::blob::BlobSink;
use crate::diff::line_count;
use crate::limits::Limits;
use crate::text::Text;
use domain::call::{Effect, Entry, LineCount};
use domain::digest::Digest;
use serde::{Deserialize, Serialize};
use std::io;

/// Longest one file's lines are compared, in milliseconds; then the count is coarser.
const COUNT_MS: u64 = 50;

/// The difference of two revisions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// One per path, ascending.
    pub effects: Vec<Effect>,
    /// Changed paths beyond the bound, which aren't listed. Unless this is 0, the effects aren't the whole change.
    pub more: u64,
    /// Paths that one revision doesn't cover, or neither, and that were changed or are gone: undo can't bring back what the
    /// earlier one didn't cover, and doesn't take away what the later one doesn't.
    pub uncovered: LeftOuts,
}

/// Why two revisions can't be compared.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A tree is missing or can't be read.
    #[error("the tree {digest} of a revision can't be read")]
    Blob {
        /// Its name.
        digest: Digest,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A blob is there and no tree.
    #[error("the blob {digest} is no tree of a revision")]
    NoTree {
        /// Its name.
        digest: Digest,
    },
}

/// What has to be done to come from `before` to `after`, with counted lines where both sides are text.
///
/// # Errors
/// When a tree of either is missing or damaged.
pub fn changes(
    blobs: &dyn BlobSink,
    before: &Digest,
    after: &Digest,
    bounds: &Bounds,
    limits: &Limits,
) -> Result<Changes, ReadError> {
    let mut found = Changes::default();
    let mut todo = vec![(String::new(), Some(*before), Inside::Tree(Some(*after)))];
    while let Some((folder, old, new)) = todo.pop() {
        if new == Inside::Tree(old) {
            continue;
        }
        let old = read(blobs, old)?;
        let new = match &new {
            Inside::Tree(new) => read(blobs, *new)?,
            Inside::Unknown(why) => unknown(&old, *why),
        };
        for (name, old, new) in pairs(&old, &new) {
            let path = if folder.is_empty() { name.to_owned() } else { join(&folder, name) };
            if let Some(next) = found.note(path, old, new, bounds) {
                todo.push(next);
            }
        }
    }
    found.effects.sort_by(|one, other| one.path.cmp(&other.path));
    found.uncovered.paths.sort_by(|one, other| one.path.cmp(&other.path));
    count_lines(&mut found.effects, blobs, bounds, limits);
    Ok(found)
}

/// What a revision has at a path; `None` is nothing.
///
/// # Errors
/// When a tree on the way is missing or damaged.
pub fn standing_in(blobs: &dyn BlobSink, tree: &Digest, path: &str) -> Result<Option<Entry>, ReadError> {
    // The folder itself is the one entry of a revision.
    let mut found = named(read(blobs, Some(*tree))?, ".");
    for name in path.split('/').filter(|_| path != ".") {
        found = match found {
            Some(Node::Folder { tree, .. }) => named(read(blobs, Some(tree))?, name),
            Some(Node::LeftOut { why, .. }) => Some(Node::LeftOut { why, stamp: None }),
            Some(Node::File { .. } | Node::Link { .. }) | None => None,
        };
    }
    Ok(found.as_ref().map(Node::entry))
}

fn named(tree: Tree, name: &str) -> Option<Node> {
    tree.entries.into_iter().find(|(one, _)| one == name).map(|(_, node)| node)
}

/// A folder to compare: its path, its tree and what is in it now.
type Next = (String, Option<Digest>, Inside);

/// What the later revision says of what is inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Tree(Option<Digest>),
    /// The folder isn't covered any more.
    Unknown(Why),
}

/// Everything that was in a folder, as it stands in one that isn't covered any more.
fn unknown(old: &Tree, why: Why) -> Tree {
    let covered = old.entries.iter().filter(|(_, node)| !matches!(node, Node::LeftOut { .. }));
    let entries = covered.map(|(name, _)| (name.clone(), Node::LeftOut { why, stamp: None }));
    Tree { entries: entries.collect() }
}

impl Changes {
    /// Notes what became of one path; gives the trees to compare when there are any inside.
    fn note(
        &mut self,
        path: String,
        old: Option<&Node>,
        new: Option<&Node>,
        bounds: &Bounds,
    ) -> Option<Next> {
        match (old, new) {
            (Some(Node::LeftOut { why, stamp }), new) => {
                let same = matches!(new, Some(Node::LeftOut { stamp: now, .. })
                    if stamp.is_none() || now.is_none() || stamp == now);
                if !same {
                    self.uncovered(path, *why, bounds);
                }
                return None;
            }
            (None, Some(Node::LeftOut { why, .. })) => {
                self.uncovered(path, *why, bounds);
                return None;
            }
            (None | Some(_), _) => {}
        }
        let inside = match new {
            // A pipe that stands where a folder stood: what was in it is gone.
            Some(Node::LeftOut { why: Why::Special, .. }) => Inside::Tree(None),
            Some(Node::LeftOut { why, .. }) => Inside::Unknown(*why),
            new => Inside::Tree(tree(new)),
        };
        let has_inside = tree(old).is_some() || matches!(inside, Inside::Tree(Some(_)));
        let next = has_inside.then(|| (path.clone(), tree(old), inside));
        let (before, after) = (old.map(Node::entry), new.map(Node::entry));
        if before != after {
            match self.effects.len() < bounds.changes {
                true => self.effects.push(Effect {
                    path,
                    before,
                    after,
                    lines: None,
                    kept_in: None,
                    parted: None,
                }),
                false => self.more += 1,
            }
        }
        next
    }

    fn uncovered(&mut self, path: String, why: Why, bounds: &Bounds) {
        self.uncovered.count += 1;
        if self.uncovered.paths.len() < bounds.listed {
            self.uncovered.paths.push(LeftOut { path, why, bytes: None });
        }
    }
}

fn tree(node: Option<&Node>) -> Option<Digest> {
    match node {
        Some(Node::Folder { tree, .. }) => Some(*tree),
        _ => None,
    }
}

/// Counts added and removed lines where both sides are text and small enough, for as many files as the bounds say.
pub fn count_lines(effects: &mut [Effect], blobs: &dyn BlobSink, bounds: &Bounds, limits: &Limits) {
    let limits = Limits { diff_ms: limits.diff_ms.min(COUNT_MS), ..limits.clone() };
    for effect in effects.iter_mut().filter(|effect| is_of_files(effect)).take(bounds.counted) {
        effect.lines = lines(effect, blobs, &limits);
    }
}

fn is_of_files(effect: &Effect) -> bool {
    let file = |entry: &Option<Entry>| entry.as_ref().is_none_or(|entry| entry.content().is_some());
    file(&effect.before) && file(&effect.after) && effect.content_before() != effect.content_after()
}

fn lines(effect: &Effect, blobs: &dyn BlobSink, limits: &Limits) -> Option<LineCount> {
    let text = |entry: &Option<Entry>| match entry {
        Some(Entry::File { content, bytes, .. }) => {
            let small = usize::try_from(*bytes).is_ok_and(|bytes| bytes <= limits.diff_bytes);
            let bytes = small.then(|| blobs.get(content).ok()).flatten()?;
            Some(Text::decode(&bytes).ok()?.body)
        }
        Some(_) => None,
        None => Some(String::new()),
    };
    Some(line_count(&text(&effect.before)?, &text(&effect.after)?, limits))
}

/// Reads a tree; none is an empty one.
pub(super) fn read(blobs: &dyn BlobSink, tree: Option<Digest>) -> Result<Tree, ReadError> {
    let Some(digest) = tree else { return Ok(Tree::default()) };
    let bytes = blobs.get(&digest).map_err(|source| ReadError::Blob { digest, source })?;
    Tree::decode(&bytes).map_err(|NoTree| ReadError::NoTree { digest })
}

/// The entries of two trees side by side, by name.
fn pairs<'a>(
    old: &'a Tree,
    new: &'a Tree,
) -> impl Iterator<Item = (&'a str, Option<&'a Node>, Option<&'a Node>)> {
    let (mut old, mut new) = (old.entries.iter().peekable(), new.entries.iter().peekable());
    std::iter::from_fn(move || {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return None,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((one, _)), Some((other, _))) => one.cmp(other),
        };
        let left = if order.is_le() { old.next() } else { None };
        let right = if order.is_ge() { new.next() } else { None };
        let name = left.or(right).map(|(name, _)| name.as_str())?;
        Some((name, left.map(|(_, node)| node), right.map(|(_, node)| node)))
    })
}
