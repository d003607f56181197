//! What the last revision found in one folder, and whether a scan finds the same again.
//!
//! **Known** is a folder's tree with the stats its files had, so that an unchanged file isn't read again and an unchanged
//! folder's tree isn't written again. Invariants: it holds stats only of files whose times had settled when they were
//! read, so an equal stat means equal content; a folder that held any other file is never taken for unchanged.

use super::scan::{Item, Kind};
use super::stat::{Stamp, Stat};
use super::tree::{Node, Why};
use domain::digest::Digest;

/// One folder as the last revision has it.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) tree: Digest,
    /// Everything in the tree, ascending by name.
    pub(super) entries: Vec<(Box<str>, What)>,
}

/// What stood there.
#[derive(Debug)]
pub(super) enum What {
    File {
        stat: Stat,
        content: Digest,
    },
    /// A file that may have changed after it was read without its times telling.
    Unsettled,
    Link {
        target: Box<str>,
    },
    Folder {
        mode: Option<u32>,
        tree: Digest,
    },
    LeftOut {
        why: Why,
        stamp: Option<Stamp>,
    },
}

impl What {
    /// What is known of a node; `settled` is the stat of a file whose times tell.
    pub(super) fn of(node: &Node, settled: Option<Stat>) -> Self {
        match node {
            Node::File { content, .. } => match settled {
                Some(stat) => Self::File { stat, content: *content },
                None => Self::Unsettled,
            },
            Node::Link { target } => Self::Link { target: target.as_str().into() },
            Node::Folder { mode, tree } => Self::Folder { mode: *mode, tree: *tree },
            Node::LeftOut { why, stamp } => Self::LeftOut { why: *why, stamp: *stamp },
        }
    }
}

impl Known {
    /// Gives the files that didn't change their content, and says whether all is as it was, but for what is inside of
    /// folders. Both are in the order of names.
    pub(super) fn recognise(&self, items: &mut [Item]) -> bool {
        let mut known = self.entries.iter().peekable();
        let mut same = items.len() == self.entries.len();
        for item in items {
            while known.next_if(|(name, _)| **name < *item.name).is_some() {}
            let Some((_, what)) = known.next_if(|(name, _)| **name == *item.name) else {
                same = false;
                continue;
            };
            same &= match (&mut item.kind, what) {
                (Kind::File { stat, content, .. }, What::File { stat: was, content: of })
                    if *stat == *was =>
                {
                    *content = Some(*of);
                    true
                }
                (Kind::Link { target }, What::Link { target: was }) => **target == **was,
                (Kind::LeftOut { why, stamp }, What::LeftOut { why: was, stamp: had }) => {
                    *why == *was && *stamp == *had
                }
                (Kind::Folder(_), What::Folder { .. }) => true,
                _ => false,
            };
        }
        same
    }
}
