//! Files of a folder whose names say that they hold secrets: found by looking, whatever ignore rules say.

use super::is_secret;
use crate::place::open_dir_in;
use cap_std::fs::Dir;

/// Most entries that are looked at; a folder with more can't be said to be looked through.
const MOST: usize = 200_000;
/// Deepest folders.
const DEPTH: usize = 64;

/// The secret files below a folder, relative to it; `None` where not all of it could be looked through. Links aren't
/// followed: what they lead to has its own name.
pub(crate) fn find_secrets(root: &Dir) -> Option<Vec<String>> {
    let mut found = Found { secrets: Vec::new(), entries: 0 };
    found.below(root, "", 0)?;
    Some(found.secrets)
}

struct Found {
    secrets: Vec<String>,
    entries: usize,
}

impl Found {
    fn below(&mut self, dir: &Dir, above: &str, depth: usize) -> Option<()> {
        if depth > DEPTH {
            return None;
        }
        for entry in dir.entries().ok()? {
            let entry = entry.ok()?;
            self.entries += 1;
            if self.entries > MOST {
                return None;
            }
            let name = entry.file_name();
            // A name that isn't Unicode is none of those we know.
            let Some(name) = name.to_str() else { continue };
            let path = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                // One that can't be opened can't be read by a command either.
                if let Ok(inner) = open_dir_in(dir, name) {
                    self.below(&inner, &path, depth + 1)?;
                }
            } else if is_secret(&path) {
                self.secrets.push(path);
            }
        }
        Some(())
    }
}
