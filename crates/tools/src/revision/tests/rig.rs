//! A folder, blobs in memory and the way there and back.

use crate::blob::{BlobSink, Staged};
use crate::limits::Limits;
use crate::place::Place;
use crate::revision::*;
use domain::call::Effect;
use domain::digest::Digest;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Blobs in memory that give staged content only once it is settled.
#[derive(Default)]
pub(super) struct Memory {
    kept: Mutex<BTreeMap<Digest, Vec<u8>>>,
    staged: Mutex<BTreeMap<Digest, Vec<u8>>>,
    pub(super) stages: AtomicUsize,
}

impl Memory {
    pub(super) fn forget(&self, digest: &Digest) {
        self.kept.lock().unwrap().remove(digest);
    }

    pub(super) fn names(&self) -> Vec<Digest> {
        self.kept.lock().unwrap().keys().copied().collect()
    }
}

impl BlobSink for Memory {
    fn put(&self, bytes: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(bytes);
        self.kept.lock().unwrap().insert(digest, bytes.to_vec());
        Ok(digest)
    }

    fn put_stream(&self, from: &mut dyn Read) -> io::Result<Digest> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        self.put(&bytes)
    }

    fn get(&self, digest: &Digest) -> io::Result<Vec<u8>> {
        self.kept.lock().unwrap().get(digest).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn stage(&self, from: &mut dyn Read) -> io::Result<Staged> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        self.stages.fetch_add(1, Ordering::Relaxed);
        let (digest, length) = (Digest::of(&bytes), bytes.len() as u64);
        let known = self.kept.lock().unwrap().contains_key(&digest);
        let new = !known && self.staged.lock().unwrap().insert(digest, bytes).is_none();
        Ok(Staged { digest, bytes: length, new })
    }

    fn settle(&self) -> io::Result<()> {
        self.kept.lock().unwrap().append(&mut self.staged.lock().unwrap());
        Ok(())
    }
}

pub(super) struct Rig {
    pub(super) outside: TempDir,
    pub(super) folder: PathBuf,
    pub(super) place: Place,
    pub(super) blobs: Memory,
    pub(super) index: Index,
    pub(super) bounds: Bounds,
}

impl Rig {
    pub(super) fn new() -> Self {
        let outside = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let (folder, private) = (outside.path().join("project"), outside.path().join("private"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::create_dir(&private).unwrap();
        let place = Place::open(&folder, vec![folder.join("own")]).unwrap();
        let blobs = Memory::default();
        let index = Index::open(&private, &place, &blobs);
        Self { outside, folder, place, blobs, index, bounds: Bounds::default() }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(super) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| format!("({})", error.kind()))
    }

    pub(super) fn take(&mut self) -> Taken {
        let cancel = CancellationToken::new();
        take(&self.place, &self.blobs, &mut self.index, &self.bounds, None, &cancel).unwrap()
    }

    /// A revision after something was done; what the one before holds stays covered.
    pub(super) fn take_after(&mut self, before: &Taken) -> Taken {
        let cancel = CancellationToken::new();
        let held = Some(&before.tree);
        take(&self.place, &self.blobs, &mut self.index, &self.bounds, held, &cancel).unwrap()
    }

    /// A revision by reading everything anew.
    pub(super) fn index_free_take(&mut self) -> Taken {
        self.index = Index::open(&self.outside.path().join("nothing-saved"), &self.place, &self.blobs);
        let taken = self.take();
        self.index = Index::open(&self.outside.path().join("private"), &self.place, &self.blobs);
        taken
    }

    /// Every tree and every content that these revisions need.
    pub(super) fn needed(&self, trees: &[Digest]) -> Result<BTreeSet<Digest>, ReadError> {
        let mut known = HashSet::new();
        let each = trees.iter().map(|tree| reach_new(&self.blobs, *tree, &mut known, &|_| false));
        Ok(each.collect::<Result<Vec<_>, _>>()?.concat().into_iter().collect())
    }

    pub(super) fn changes(&self, before: &Taken, after: &Taken) -> Changes {
        changes(&self.blobs, &before.tree, &after.tree, &self.bounds, &Limits::default()).unwrap()
    }

    pub(super) fn restore(&self, wanted: &[Effect]) -> Restored {
        restore(&self.place, &self.blobs, wanted, &Force::Nothing).unwrap()
    }
}

/// Effects in lines: what was there, what is there.
pub(super) fn shown(effects: &[Effect]) -> String {
    let line = |effect: &Effect| {
        let lines =
            effect.lines.map_or(String::new(), |lines| format!(" +{} -{}", lines.added, lines.removed));
        format!("{}: {} -> {}{lines}\n", effect.path, entry(&effect.before), entry(&effect.after))
    };
    effects.iter().map(line).collect()
}

fn entry(entry: &Option<domain::call::Entry>) -> String {
    use domain::call::Entry;
    match entry {
        None => "nothing".into(),
        Some(Entry::File { bytes, mode, .. }) => format!("file of {bytes} ({:o})", mode.unwrap_or(0)),
        Some(Entry::Link { target }) => format!("link to {target}"),
        Some(Entry::Folder { mode }) => format!("folder ({:o})", mode.unwrap_or(0)),
        Some(Entry::Uncovered { why, .. }) => format!("uncovered, {why}"),
    }
}
