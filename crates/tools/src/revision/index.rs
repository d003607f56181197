//! The index: which content a file had when it was last read.
//!
//! The **index** of a folder maps each file to its [`Stat`] and the digest of its content, so that a file that didn't
//! change isn't read again. It is disposable: it lives in the host's private folder, and one that is damaged, of another
//! version or of another folder is ignored. Invariant: it holds only files whose times had settled when they were read,
//! so an equal stat means equal content.

use super::stat::Stat;
use crate::blob::BlobSink;
use crate::place::Place;
use domain::digest::Digest;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"daybook index 1\n";

/// What is known of a folder's files from the last revision.
#[derive(Debug)]
pub struct Index {
    file: PathBuf,
    /// The tree of the last revision.
    pub(super) last: Option<Digest>,
    /// The same by path: trees that are kept.
    pub(super) trees: HashMap<String, Digest>,
    /// Path of each folder to its known files, ascending by name.
    pub(super) folders: HashMap<String, Vec<Known>>,
}

/// A file whose content is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) name: Box<str>,
    pub(super) stat: Stat,
    pub(super) content: Digest,
}

impl Index {
    /// The index of this folder from `private`, a folder of the host that no call can reach; empty when there is none
    /// that can be used. `private` must exist, on a local disk.
    #[must_use]
    pub fn open(private: &Path, place: &Place, blobs: &dyn BlobSink) -> Self {
        let name = Digest::of(place.path().as_os_str().as_encoded_bytes()).to_string();
        let file = private.join(format!("index-{}", &name[..32]));
        let empty =
            || Self { file: file.clone(), last: None, trees: HashMap::new(), folders: HashMap::new() };
        let Some(mut found) = std::fs::read(&file).ok().and_then(|bytes| read(&bytes)) else {
            return empty();
        };
        // An index from before the blobs were lost or replaced would name content that isn't kept.
        let kept = found.last.is_some_and(|last| blobs.holds(&last).unwrap_or(false));
        found.file = file.clone();
        if kept { found } else { empty() }
    }

    /// Saves it, whole or not at all. What isn't saved is read again the next time.
    ///
    /// # Errors
    /// When the private folder can't be written.
    pub fn save(&self) -> io::Result<()> {
        let temporary = self.file.with_extension(format!("new-{}", std::process::id()));
        std::fs::write(&temporary, write(self))?;
        std::fs::rename(&temporary, &self.file)
    }

    /// The known files of a folder, ascending by name.
    pub(super) fn known(&self, folder: &str) -> &[Known] {
        self.folders.get(folder).map_or(&[], Vec::as_slice)
    }

    /// What the clock of the file system says: the time of a file that was just written.
    pub(super) fn now_ns(&self) -> io::Result<i64> {
        let probe = self.file.with_extension(format!("clock-{}", std::process::id()));
        let now = std::fs::write(&probe, b"?").and_then(|()| {
            let file = cap_std::fs::File::from_std(std::fs::File::open(&probe)?);
            Ok(Stat::of(&file.metadata()?).mtime_ns)
        });
        let _ = std::fs::remove_file(&probe);
        now
    }
}

/// What was known of a file with exactly this stat.
pub(super) fn content(known: &[Known], name: &str, stat: &Stat) -> Option<Digest> {
    let at = known.binary_search_by(|one| (*one.name).cmp(name)).ok()?;
    (known[at].stat == *stat).then_some(known[at].content)
}

fn write(index: &Index) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&index.last.unwrap_or(Digest::ZERO).0);
    for (path, tree) in &index.trees {
        let files = index.known(path);
        text(&mut out, path);
        out.extend_from_slice(&tree.0);
        number(&mut out, files.len() as u64);
        for file in files {
            text(&mut out, &file.name);
            let Stat { bytes, mtime_ns, ctime_ns, number, mode } = file.stat;
            out.extend_from_slice(&bytes.to_be_bytes());
            out.extend_from_slice(&mtime_ns.to_be_bytes());
            out.extend_from_slice(&ctime_ns.to_be_bytes());
            out.extend_from_slice(&number.to_be_bytes());
            out.extend_from_slice(&mode.to_be_bytes());
            out.extend_from_slice(&file.content.0);
        }
    }
    let seal = Digest::of(&out);
    out.extend_from_slice(&seal.0);
    out
}

fn read(bytes: &[u8]) -> Option<Index> {
    let (body, seal) = bytes.split_last_chunk::<32>()?;
    if Digest::of(body).0 != *seal {
        return None;
    }
    let mut from = Bytes(body.strip_prefix(MAGIC)?);
    let last = Digest(from.take()?);
    let (mut trees, mut folders) = (HashMap::new(), HashMap::new());
    while !from.0.is_empty() {
        let path = from.text()?.to_owned();
        trees.insert(path.clone(), Digest(from.take()?));
        let count = u64::from_be_bytes(from.take()?);
        let files: Vec<Known> = (0..count).map(|_| from.known()).collect::<Option<_>>()?;
        folders.insert(path, files);
    }
    Some(Index { file: PathBuf::new(), last: Some(last), trees, folders })
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_be_bytes());
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(u64::from_be_bytes(self.take()?)).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    fn known(&mut self) -> Option<Known> {
        let name = self.text()?.into();
        let stat = Stat {
            bytes: u64::from_be_bytes(self.take()?),
            mtime_ns: i64::from_be_bytes(self.take()?),
            ctime_ns: i64::from_be_bytes(self.take()?),
            number: u64::from_be_bytes(self.take()?),
            mode: u32::from_be_bytes(self.take()?),
        };
        Some(Known { name, stat, content: Digest(self.take()?) })
    }
}
