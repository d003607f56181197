//! The index: what the last revision of a project folder found.
//!
//! The **index** maps each folder to what is [`Known`] of it, so that a file that didn't change isn't read again and the
//! tree of a folder that didn't change isn't written again. It is disposable: it lives in the host's private folder, and
//! one that is damaged, of another version or of another folder is ignored. Invariant: what it names was kept by the
//! revision it is from.

use super::known::{Known, What};
use super::shared::SharedFiles;
use super::stat::{Stamp, Stat};
use super::tree::{NO_MODE, Why};
use crate::blob::BlobSink;
use crate::place::Place;
use domain::digest::Digest;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: &[u8] = b"daybook index 3\n";

/// What is known from the last revision.
#[derive(Debug)]
pub struct Index {
    file: PathBuf,
    /// The tree of the last revision.
    pub(super) last: Option<Digest>,
    /// What is known of each of its folders, by path; their trees are kept.
    pub(super) folders: HashMap<String, Arc<Known>>,
    /// Which of its files had several names. Known only of a revision that this process took.
    pub(super) shared: SharedFiles,
}

impl Index {
    /// The index of this folder from `private`, a folder of the host that no call can reach; empty when there is none
    /// that can be used. `private` must exist, on a local disk.
    #[must_use]
    pub fn open(private: &Path, place: &Place, blobs: &dyn BlobSink) -> Self {
        let name = Digest::of(place.path().as_os_str().as_encoded_bytes()).to_string();
        let file = private.join(format!("index-{}", &name[..32]));
        let empty = || Self {
            file: file.clone(),
            last: None,
            folders: HashMap::new(),
            shared: SharedFiles::default(),
        };
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

    /// The revision it is from.
    #[must_use]
    pub fn last(&self) -> Option<Digest> {
        self.last
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

fn write(index: &Index) -> Vec<u8> {
    let entries: usize = index.folders.values().map(|known| known.entries.len()).sum();
    let mut out = Vec::with_capacity(MAGIC.len() + (entries + index.folders.len()) * 120);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&index.last.unwrap_or(Digest::ZERO).0);
    for (path, known) in &index.folders {
        text(&mut out, path);
        out.extend_from_slice(&known.tree.0);
        number(&mut out, known.entries.len() as u64);
        for (name, what) in &known.entries {
            text(&mut out, name);
            match what {
                What::File { stat, content } => {
                    out.push(b'f');
                    let Stat { bytes, mtime_ns, ctime_ns, number, mode } = *stat;
                    out.extend_from_slice(&bytes.to_be_bytes());
                    out.extend_from_slice(&mtime_ns.to_be_bytes());
                    out.extend_from_slice(&ctime_ns.to_be_bytes());
                    out.extend_from_slice(&number.to_be_bytes());
                    out.extend_from_slice(&mode.to_be_bytes());
                    out.extend_from_slice(&content.0);
                }
                What::Unsettled => out.push(b'u'),
                What::Link { target } => {
                    out.push(b'l');
                    text(&mut out, target);
                }
                What::Folder { mode, tree } => {
                    out.push(b'd');
                    out.extend_from_slice(&mode.unwrap_or(NO_MODE).to_be_bytes());
                    out.extend_from_slice(&tree.0);
                }
                What::LeftOut { why, stamp: None } => out.extend_from_slice(&[b'x', why.number()]),
                What::LeftOut { why, stamp: Some(Stamp { bytes, mtime_ns }) } => {
                    out.extend_from_slice(&[b's', why.number()]);
                    out.extend_from_slice(&bytes.to_be_bytes());
                    out.extend_from_slice(&mtime_ns.to_be_bytes());
                }
            }
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
    let mut folders = HashMap::new();
    while !from.0.is_empty() {
        let path = from.text()?.to_owned();
        let tree = Digest(from.take()?);
        let count = u64::from_be_bytes(from.take()?);
        let entries = (0..count).map(|_| Some((from.text()?.into(), from.what()?))).collect::<Option<_>>()?;
        folders.insert(path, Arc::new(Known { tree, entries }));
    }
    Some(Index { file: PathBuf::new(), last: Some(last), folders, shared: SharedFiles::default() })
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

    fn what(&mut self) -> Option<What> {
        Some(match self.take()? {
            [b'f'] => {
                let stat = Stat {
                    bytes: u64::from_be_bytes(self.take()?),
                    mtime_ns: i64::from_be_bytes(self.take()?),
                    ctime_ns: i64::from_be_bytes(self.take()?),
                    number: u64::from_be_bytes(self.take()?),
                    mode: u32::from_be_bytes(self.take()?),
                };
                What::File { stat, content: Digest(self.take()?) }
            }
            [b'u'] => What::Unsettled,
            [b'l'] => What::Link { target: self.text()?.into() },
            [b'd'] => {
                let mode = u32::from_be_bytes(self.take()?);
                What::Folder { mode: (mode != NO_MODE).then_some(mode), tree: Digest(self.take()?) }
            }
            [b'x'] => {
                let [number] = self.take()?;
                What::LeftOut { why: Why::numbered(number)?, stamp: None }
            }
            [b's'] => {
                let [number] = self.take()?;
                let bytes = u64::from_be_bytes(self.take()?);
                let stamp = Stamp { bytes, mtime_ns: i64::from_be_bytes(self.take()?) };
                What::LeftOut { why: Why::numbered(number)?, stamp: Some(stamp) }
            }
            _ => return None,
        })
    }
}
