//! Files with several names (hard links), as one look at the whole folder found them.
//!
//! Two such looks tell which names were one file and aren't any more: nothing but the content of each name stands in a tree,
//! so an undo brings back each as a file of its own. Invariant: a name is told to have parted only from names that the
//! earlier look saw it one with.

use super::name::join;
use super::scan::Folder;
use domain::call::Parted;
use std::collections::HashMap;

/// All that were seen, by their numbers.
#[derive(Debug, Default)]
pub(super) struct SharedFiles(HashMap<u64, Names>);

#[derive(Debug, Default)]
struct Names {
    /// How many it has.
    count: u64,
    /// Those that were seen.
    seen: Vec<String>,
}

impl SharedFiles {
    pub(super) fn of(folders: &[Folder]) -> Self {
        let mut found: HashMap<u64, Names> = HashMap::new();
        for folder in folders {
            for file in &folder.shared {
                let names = found.entry(file.number).or_default();
                names.count = file.names;
                names.seen.push(join(&folder.path, &file.name));
            }
        }
        Self(found)
    }

    /// The first files that have more names than were seen, and how many more names there are.
    pub(super) fn elsewhere(&self, most: usize) -> (Vec<String>, u64) {
        let (mut paths, mut unseen) = (Vec::new(), 0);
        for names in self.0.values().filter(|names| names.unseen() > 0) {
            unseen += names.unseen();
            paths.extend(names.seen.iter().cloned());
        }
        paths.sort();
        paths.truncate(most);
        (paths, unseen)
    }

    /// Which names aren't one file with others any more, as a later look finds them.
    pub(super) fn parted(&self, now: &Self) -> HashMap<String, Parted> {
        if self.0.is_empty() {
            return HashMap::new();
        }
        let numbers: HashMap<&str, u64> = now
            .0
            .iter()
            .flat_map(|(number, names)| names.seen.iter().map(move |name| (name.as_str(), *number)))
            .collect();
        let mut parted = HashMap::new();
        for names in self.0.values() {
            for name in &names.seen {
                let own = numbers.get(name.as_str());
                let left =
                    |other: &&String| *other != name && (own.is_none() || numbers.get(other.as_str()) != own);
                let others = names.seen.iter().filter(left).cloned().collect();
                let unseen = if own.is_none() { names.unseen() } else { 0 };
                parted.extend(Parted::of(others, unseen).map(|others| (name.clone(), others)));
            }
        }
        parted
    }
}

impl Names {
    fn unseen(&self) -> u64 {
        self.count.saturating_sub(self.seen.len() as u64)
    }
}
