//! What an earlier revision holds.
//!
//! **Held** answers of a name in a folder whether that revision covers it. Such a path stays covered when ignore rules come
//! to name it: else a command could write a rule and then destroy what undo no longer sees. Invariant: it answers from the
//! index only where that is the revision asked about; what can't be read isn't held.

use super::changes::read;
use super::index::Index;
use super::known::What;
use super::name::{ROOT, last, parent};
use super::tree::{Node, Tree};
use crate::blob::BlobSink;
use domain::digest::Digest;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An earlier revision, to ask about.
pub(super) struct Held<'a> {
    index: &'a Index,
    blobs: &'a dyn BlobSink,
    tree: Option<Digest>,
    /// Trees of folders that were asked about, where the index is of another revision.
    read: Mutex<HashMap<String, Option<Arc<Tree>>>>,
}

impl<'a> Held<'a> {
    pub(super) fn new(index: &'a Index, blobs: &'a dyn BlobSink, tree: Option<&Digest>) -> Self {
        Self { index, blobs, tree: tree.copied(), read: Mutex::default() }
    }

    /// Does it cover what stands at this name in this folder?
    pub(super) fn holds(&self, folder: &str, name: &str) -> bool {
        if self.tree.is_none() {
            return false;
        }
        if self.index.last == self.tree {
            let Some(known) = self.index.folders.get(folder) else { return false };
            let at = known.entries.binary_search_by(|(one, _)| (**one).cmp(name));
            return at.is_ok_and(|at| !matches!(known.entries[at].1, What::LeftOut { .. }));
        }
        let tree = self.tree_of(folder);
        let node = tree.as_deref().and_then(|tree| node(tree, name));
        node.is_some_and(|node| !matches!(node, Node::LeftOut { .. }))
    }

    fn tree_of(&self, folder: &str) -> Option<Arc<Tree>> {
        let read_before = self.read.lock().unwrap_or_else(PoisonError::into_inner).get(folder).cloned();
        if let Some(known) = read_before {
            return known;
        }
        let digest = match folder {
            // The outermost tree holds nothing but the folder itself.
            ROOT => self.folder_in(&read(self.blobs, self.tree).ok()?, ROOT),
            _ => self.tree_of(parent(folder)).and_then(|above| self.folder_in(&above, last(folder))),
        };
        let tree = digest.and_then(|digest| read(self.blobs, Some(digest)).ok()).map(Arc::new);
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(folder.to_owned(), tree.clone());
        tree
    }

    fn folder_in(&self, tree: &Tree, name: &str) -> Option<Digest> {
        match node(tree, name)? {
            Node::Folder { tree, .. } => Some(*tree),
            Node::File { .. } | Node::Link { .. } | Node::LeftOut { .. } => None,
        }
    }
}

fn node<'a>(tree: &'a Tree, name: &str) -> Option<&'a Node> {
    let at = tree.entries.binary_search_by(|(one, _)| one.as_str().cmp(name)).ok()?;
    Some(&tree.entries[at].1)
}
