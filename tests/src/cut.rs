//! Power cuts: what a disk may hold after one, worked out from the journal of everything that was written to it.
//!
//! What a sync has covered is there. Of the rest each block holds some earlier or later of its writes, each folder's
//! entries stop somewhere in their order, and a file may or may not have been cut short. A **doubtful** change is one
//! whose sync was refused: no later sync covers it, because the system forgets it then. Invariant: nothing that a sync
//! covered is ever taken away.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// Not part of an image: memory that is shared, what the rig knows anyway, and room that is held free.
const NOT_KEPT: [&str; 2] = ["store.db-shm", "reserve"];

/// One record of a journal.
#[derive(Debug)]
pub struct Change {
    what: u8,
    file: u32,
    at: u64,
    bytes: Vec<u8>,
}

/// Everything that happened to a folder, in order.
#[derive(Debug)]
pub struct Journal(Vec<Change>);

/// What lies on the disk afterwards: files by name.
#[derive(Debug)]
pub struct Image(BTreeMap<String, Vec<u8>>);

/// Numbers below a bound; the same ones give the same image.
pub type Dice<'a> = &'a mut dyn FnMut(u64) -> u64;

#[derive(Clone, Copy, PartialEq)]
enum Sure {
    Synced,
    Waiting,
    Doubtful,
}

enum Edit {
    Write(u64, usize),
    Cut(u64),
}

/// What happened to the content of a file: its edits, each with the record that has the bytes.
#[derive(Default)]
struct Content(Vec<(Edit, Sure)>);

enum Entry {
    Folder(String),
    Made(String, u32),
    Moved(String, String, u32),
    Gone(String, u32),
}

/// What happened to the entries of folders, each under the folder that must be synced for it.
#[derive(Default)]
struct Entries(Vec<(String, Entry, bool)>);

impl Journal {
    /// Reads one.
    ///
    /// # Panics
    /// When it can't be read.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a journal that can't be read ends the test")]
    pub fn read(file: &Path) -> Self {
        let all = std::fs::read(file).expect("a journal");
        let (mut rest, mut changes) = (&all[..], Vec::new());
        while let Some((head, tail)) = rest.split_at_checked(17) {
            let file = u32::from_le_bytes(head[1..5].try_into().expect("four"));
            let at = u64::from_le_bytes(head[5..13].try_into().expect("eight"));
            let length = u32::from_le_bytes(head[13..17].try_into().expect("four"));
            let (bytes, tail) = tail.split_at_checked(length as usize).expect("whole records");
            changes.push(Change { what: head[0], file, at, bytes: bytes.to_vec() });
            rest = tail;
        }
        Self(changes)
    }

    /// How many changes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Is there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The words of the test among the first so many changes.
    #[must_use]
    pub fn marks(&self, end: usize) -> Vec<String> {
        self.0[..end].iter().filter(|change| change.what == b'M').map(Change::text).collect()
    }

    /// A disk after a cut right after so many changes.
    #[must_use]
    pub fn cut(&self, end: usize, dice: Dice<'_>) -> Image {
        let (mut contents, mut entries) = (HashMap::<u32, Content>::new(), Entries::default());
        let mut folders = HashMap::<u32, String>::new();
        for (n, change) in self.0[..end].iter().enumerate() {
            match change.what {
                b'W' => contents.entry(change.file).or_default().add(Edit::Write(change.at, n)),
                b'T' => contents.entry(change.file).or_default().add(Edit::Cut(change.at)),
                b'F' => contents.entry(change.file).or_default().refused(),
                b'S' => {
                    contents.entry(change.file).or_default().synced();
                    if let Some(folder) = folders.get(&change.file) {
                        entries.synced(folder);
                    }
                }
                b'C' => entries.add(Entry::Made(change.text(), change.file)),
                b'O' => drop(folders.insert(change.file, change.text())),
                b'D' => {
                    folders.insert(change.file, change.text());
                    entries.add(Entry::Folder(change.text()));
                }
                b'U' => entries.add(Entry::Gone(change.text(), change.file)),
                b'R' => {
                    let both = change.text();
                    let (from, to) = both.split_once('\0').unwrap_or_default();
                    entries.add(Entry::Moved(from.to_owned(), to.to_owned(), change.file));
                }
                _ => {}
            }
        }
        let odds = [1, 2, 20, 200][usize::try_from(dice(4)).unwrap_or(0)];
        let block = if dice(2) == 0 { 512 } else { 4096 };
        let names = entries.left(dice);
        let kept = names.into_iter().filter(|(name, _)| !NOT_KEPT.contains(&name.as_str()));
        Image(
            kept.map(|(name, file)| {
                let content = contents.get(&file);
                (name, content.map(|content| content.left(self, odds, block, dice)).unwrap_or_default())
            })
            .collect(),
        )
    }
}

impl Change {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Content {
    fn add(&mut self, edit: Edit) {
        self.0.push((edit, Sure::Waiting));
    }

    fn set(&mut self, sure: Sure) {
        self.0.iter_mut().filter(|(_, now)| *now == Sure::Waiting).for_each(|(_, now)| *now = sure);
    }

    fn synced(&mut self) {
        self.set(Sure::Synced);
    }

    fn refused(&mut self) {
        self.set(Sure::Doubtful);
    }

    fn left(&self, journal: &Journal, odds: u64, block: usize, dice: Dice<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Blocks that stopped at an earlier write.
        let mut stopped = BTreeSet::new();
        for (edit, sure) in &self.0 {
            match edit {
                Edit::Cut(length) if *sure == Sure::Synced || dice(2) == 0 => {
                    bytes.resize(usize::try_from(*length).unwrap_or(usize::MAX), 0);
                }
                Edit::Cut(_) => {}
                Edit::Write(at, change) => {
                    let (mut at, mut rest) =
                        (usize::try_from(*at).unwrap_or(usize::MAX), &journal.0[*change].bytes[..]);
                    while !rest.is_empty() {
                        let number = at / block;
                        let (piece, tail) = rest.split_at(rest.len().min((number + 1) * block - at));
                        if *sure == Sure::Synced {
                            stopped.remove(&number);
                        } else if odds == 1 || dice(odds) == 0 {
                            stopped.insert(number);
                        }
                        if !stopped.contains(&number) {
                            let end = at + piece.len();
                            bytes.resize(bytes.len().max(end), 0);
                            bytes[at..end].copy_from_slice(piece);
                        }
                        (at, rest) = (at + piece.len(), tail);
                    }
                }
            }
        }
        bytes
    }
}

impl Entries {
    fn add(&mut self, entry: Entry) {
        let (Entry::Folder(name) | Entry::Made(name, _) | Entry::Moved(_, name, _) | Entry::Gone(name, _)) =
            &entry;
        let folder = folder_of(name).to_owned();
        self.0.push((folder, entry, false));
    }

    fn synced(&mut self, folder: &str) {
        self.0.iter_mut().filter(|(of, ..)| of == folder).for_each(|(.., safe)| *safe = true);
    }

    fn left(&self, dice: Dice<'_>) -> BTreeMap<String, u32> {
        let mut names = BTreeMap::new();
        let (mut there, mut ended) = (BTreeSet::from([""]), BTreeSet::new());
        for (folder, entry, safe) in &self.0 {
            if !safe && (ended.contains(folder) || dice(4) == 0) {
                ended.insert(folder.clone());
                continue;
            }
            match entry {
                Entry::Folder(name) => drop(there.insert(name.as_str())),
                Entry::Made(name, file) => drop(names.insert(name.clone(), *file)),
                Entry::Gone(name, file) => names.retain(|other, of| other != name || of != file),
                Entry::Moved(from, to, file) => {
                    names.retain(|other, of| other != from || of != file);
                    names.insert(to.clone(), *file);
                }
            }
        }
        // What lies in a folder that isn't there can't be found.
        names.retain(|name: &String, _| there.contains(folder_of(name)));
        names
    }
}

fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl Image {
    /// Lays it out in an empty folder.
    ///
    /// # Panics
    /// When it can't be written.
    #[expect(clippy::expect_used, reason = "an image that can't be written ends the test")]
    pub fn write(&self, folder: &Path) {
        for (name, bytes) in &self.0 {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder");
            std::fs::write(path, bytes).expect("a file");
        }
    }
}
