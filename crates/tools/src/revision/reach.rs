//! What old revisions still need.
//!
//! Invariant: a blob that isn't in the set isn't needed to restore any of the given revisions.

use super::changes::{ReadError, read};
use super::tree::Node;
use crate::blob::BlobSink;
use domain::digest::Digest;
use std::collections::BTreeSet;

/// Every tree and every content of these revisions.
///
/// # Errors
/// When a tree is missing or damaged: then nothing may be collected.
pub fn reachable(blobs: &dyn BlobSink, trees: &[Digest]) -> Result<BTreeSet<Digest>, ReadError> {
    let (mut found, mut todo) = (BTreeSet::new(), trees.to_vec());
    while let Some(tree) = todo.pop() {
        if !found.insert(tree) {
            continue;
        }
        for (_, node) in read(blobs, Some(tree))?.entries {
            match node {
                Node::File { content, .. } => drop(found.insert(content)),
                Node::Folder { tree, .. } => todo.push(tree),
                Node::Link { .. } | Node::LeftOut { .. } => {}
            }
        }
    }
    Ok(found)
}
