//! What old revisions still need.
//!
//! Invariant: a blob that isn't named isn't needed to restore the revision, or is known already.

use super::changes::{ReadError, read};
use super::tree::Node;
use crate::blob::BlobSink;
use domain::digest::Digest;
use std::collections::HashSet;

/// Every tree and content of this revision that isn't known yet; all of them are known then. What is below a tree that is
/// `gone` isn't looked for.
///
/// # Errors
/// When a tree is missing or damaged; what was found until then counts as known.
pub fn reach_new(
    blobs: &dyn BlobSink,
    tree: Digest,
    known: &mut HashSet<Digest>,
    gone: &dyn Fn(&Digest) -> bool,
) -> Result<Vec<Digest>, ReadError> {
    let (mut found, mut todo) = (Vec::new(), vec![tree]);
    while let Some(tree) = todo.pop() {
        if !known.insert(tree) || gone(&tree) {
            continue;
        }
        found.push(tree);
        for (_, node) in read(blobs, Some(tree))?.entries {
            match node {
                Node::File { content, .. } => found.extend(known.insert(content).then_some(content)),
                Node::Folder { tree, .. } => todo.push(tree),
                Node::Link { .. } | Node::LeftOut { .. } => {}
            }
        }
    }
    Ok(found)
}
