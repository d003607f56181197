//! Trees: what a folder holds, as one blob.
//!
//! A **tree** lists the entries of one folder by name; a folder inside is named by its own tree, so equal folders are
//! one blob and a later revision stores only what changed. What a revision doesn't cover stands in the tree as left out,
//! so that *not covered* is never taken for *not there*. Invariant: one content has one encoding (names strictly
//! ascending, nothing after the last entry), and what isn't such an encoding isn't read.

use super::stat::Stamp;
use domain::call::Entry;
use domain::digest::Digest;
use serde::{Deserialize, Serialize};

/// First bytes of a tree: what it is and how it is written.
const MAGIC: &[u8] = b"daybook tree 1\n";
/// Stands for a mode nobody knows.
pub(super) const NO_MODE: u32 = u32::MAX;

/// The entries of one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    /// Name (as in [`super::name`]) and what stands there, ascending by name.
    pub(crate) entries: Vec<(String, Node)>,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    File {
        content: Digest,
        bytes: u64,
        mode: Option<u32>,
    },
    Link {
        target: String,
    },
    Folder {
        mode: Option<u32>,
        tree: Digest,
    },
    /// The stamp is there where it tells something: not of what changes by itself.
    LeftOut {
        why: Why,
        stamp: Option<Stamp>,
    },
}

/// Why something isn't in a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Ignore rules of the folder name it.
    Ignored,
    /// It belongs to Daybook itself.
    Own,
    /// Larger than one file may be.
    TooLarge,
    /// The folder as a whole is larger than a revision may be; its largest files are left out.
    TooMuch,
    /// A pipe, socket or device.
    Special,
    /// It can't be read.
    Unreadable,
    /// It kept changing while it was read.
    Changing,
    /// It lies on another disk that is mounted there.
    OtherDisk,
    /// Too many folders deep.
    TooDeep,
    /// Its name can't be written as text.
    Name,
    /// It holds a registered secret, which is kept nowhere.
    Secret,
}

const WHYS: [Why; 11] = [
    Why::Ignored,
    Why::Own,
    Why::TooLarge,
    Why::TooMuch,
    Why::Special,
    Why::Unreadable,
    Why::Changing,
    Why::OtherDisk,
    Why::TooDeep,
    Why::Name,
    Why::Secret,
];

impl Why {
    /// Its code, as effects have it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Own => "own",
            Self::TooLarge => "too_large",
            Self::TooMuch => "too_much",
            Self::Special => "special",
            Self::Unreadable => "unreadable",
            Self::Changing => "changing",
            Self::OtherDisk => "other_disk",
            Self::TooDeep => "too_deep",
            Self::Name => "name",
            Self::Secret => "secret",
        }
    }

    /// As trees write it.
    pub(super) fn number(self) -> u8 {
        WHYS.iter().position(|one| *one == self).map_or(u8::MAX, |at| at as u8)
    }

    pub(super) fn numbered(number: u8) -> Option<Self> {
        WHYS.get(usize::from(number)).copied()
    }
}

/// Bytes that are no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("these bytes are no tree of a revision")]
pub(crate) struct NoTree;

impl Node {
    /// What stands there, as effects say it.
    pub(crate) fn entry(&self) -> Entry {
        match self {
            Self::File { content, bytes, mode } => {
                Entry::File { content: *content, bytes: *bytes, mode: *mode }
            }
            Self::Link { target } => Entry::Link { target: target.clone() },
            Self::Folder { mode, .. } => Entry::Folder { mode: *mode },
            Self::LeftOut { why, stamp } => Entry::Uncovered {
                why: why.code().to_owned(),
                bytes: stamp.map(|stamp| stamp.bytes),
                mtime_ns: stamp.map(|stamp| stamp.mtime_ns),
            },
        }
    }
}

impl Tree {
    /// Its one encoding.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(MAGIC.len() + self.entries.len() * 80);
        out.extend_from_slice(MAGIC);
        for (name, node) in &self.entries {
            text(&mut out, name);
            match node {
                Node::File { content, bytes, mode } => {
                    out.push(b'f');
                    out.extend_from_slice(&mode.unwrap_or(NO_MODE).to_be_bytes());
                    out.extend_from_slice(&bytes.to_be_bytes());
                    out.extend_from_slice(&content.0);
                }
                Node::Link { target } => {
                    out.push(b'l');
                    text(&mut out, target);
                }
                Node::Folder { mode, tree } => {
                    out.push(b'd');
                    out.extend_from_slice(&mode.unwrap_or(NO_MODE).to_be_bytes());
                    out.extend_from_slice(&tree.0);
                }
                Node::LeftOut { why, stamp: None } => out.extend_from_slice(&[b'x', why.number()]),
                Node::LeftOut { why, stamp: Some(Stamp { bytes, mtime_ns }) } => {
                    out.extend_from_slice(&[b's', why.number()]);
                    out.extend_from_slice(&bytes.to_be_bytes());
                    out.extend_from_slice(&mtime_ns.to_be_bytes());
                }
            }
        }
        out
    }

    /// Reads an encoding.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, NoTree> {
        let mut from = Bytes(bytes.strip_prefix(MAGIC).ok_or(NoTree)?);
        let mut entries: Vec<(String, Node)> = Vec::new();
        while !from.0.is_empty() {
            let name = from.text()?;
            if entries.last().is_some_and(|(before, _)| *before >= name) {
                return Err(NoTree);
            }
            let node = match from.take::<1>()? {
                [b'f'] => {
                    let mode = from.mode()?;
                    let bytes = u64::from_be_bytes(from.take()?);
                    Node::File { mode, bytes, content: Digest(from.take()?) }
                }
                [b'l'] => Node::Link { target: from.text()? },
                [b'd'] => Node::Folder { mode: from.mode()?, tree: Digest(from.take()?) },
                [b'x'] => {
                    let [number] = from.take()?;
                    Node::LeftOut { why: Why::numbered(number).ok_or(NoTree)?, stamp: None }
                }
                [b's'] => {
                    let [number] = from.take()?;
                    let bytes = u64::from_be_bytes(from.take()?);
                    let stamp = Stamp { bytes, mtime_ns: i64::from_be_bytes(from.take()?) };
                    Node::LeftOut { why: Why::numbered(number).ok_or(NoTree)?, stamp: Some(stamp) }
                }
                _ => return Err(NoTree),
            };
            entries.push((name, node));
        }
        Ok(Self { entries })
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    // Names are at most a few hundred bytes and targets a few thousand: the system's own bounds.
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], NoTree> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or(NoTree)?;
        self.0 = rest;
        Ok(*first)
    }

    fn mode(&mut self) -> Result<Option<u32>, NoTree> {
        let mode = u32::from_be_bytes(self.take()?);
        match mode {
            NO_MODE => Ok(None),
            0..=0o7777 => Ok(Some(mode)),
            _ => Err(NoTree),
        }
    }

    fn text(&mut self) -> Result<String, NoTree> {
        let length = u32::from_be_bytes(self.take()?) as usize;
        let (text, rest) = self.0.split_at_checked(length).ok_or(NoTree)?;
        self.0 = rest;
        std::str::from_utf8(text).map(str::to_owned).map_err(|_| NoTree)
    }
}
