//! The folder, by handle.
//!
//! A **place** is the project folder a session works in: one directory handle, opened once from the session's record,
//! through which every file is reached. Invariant: no file is opened by an absolute path, and a link that leads out of
//! the folder is refused by the handle itself, also when it is swapped in between.

use crate::path::{RelPath, is_inside, is_secret};
use crate::rules::{Layer, hushes, kept_out};
use crate::tool::failed;
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use domain::call::ToolError;
use std::collections::HashMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// An open project folder.
#[derive(Debug)]
pub struct Place {
    dir: Dir,
    path: PathBuf,
    hide: Vec<PathBuf>,
    hidden_inside: Vec<RelPath>,
    /// What stands before its paths in words: nothing for the session's own folder, the path of an added one.
    base: Option<String>,
    /// Paths that the person's rules are about.
    kept_out: Vec<RelPath>,
    /// Is reading as a whole what a rule is about?
    hushed: bool,
}

/// A path of the model, and where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reached {
    /// As written, tidied.
    pub(crate) path: RelPath,
    /// With links followed: what is really touched.
    pub(crate) real: RelPath,
}

impl Reached {
    /// Both names, for facts; one when they are the same.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = vec![self.path.to_string()];
        if self.real != self.path {
            names.push(self.real.to_string());
        }
        names
    }
}

/// Why a folder can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the folder {path} can't be opened")]
pub struct PlaceError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl Place {
    /// Opens the folder of a session. `hide` are absolute paths no call may touch even inside it: our own data, runtime
    /// and configuration folders.
    ///
    /// # Errors
    /// When it doesn't exist or is no folder.
    pub fn open(folder: &Path, hide: Vec<PathBuf>) -> Result<Self, PlaceError> {
        let failed = |source| PlaceError { path: folder.to_owned(), source };
        let path = folder.canonicalize().map_err(failed)?;
        let dir = Dir::open_ambient_dir(&path, cap_std::ambient_authority()).map_err(failed)?;
        let hide: Vec<PathBuf> = hide.into_iter().map(|one| one.canonicalize().unwrap_or(one)).collect();
        let hidden_inside = hide
            .iter()
            .filter_map(|one| one.strip_prefix(&path).ok())
            .filter_map(|inside| RelPath::parse(inside.to_str()?).ok())
            .collect();
        Ok(Self { dir, path, hide, hidden_inside, base: None, kept_out: Vec::new(), hushed: false })
    }

    /// An added folder: the same, and its paths are said in full.
    pub(crate) fn said_in_full(self, base: &str) -> Self {
        Self { base: Some(base.to_owned()), ..self }
    }

    /// The path of an added folder; nothing for the session's own.
    pub(crate) fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// A path in it as it is said to the model and taken back from it: relative in the session's own folder, else absolute.
    pub(crate) fn say(&self, path: &RelPath) -> String {
        match &self.base {
            None => path.to_string(),
            Some(base) if path.is_root() => base.clone(),
            Some(base) => format!("{base}/{path}"),
        }
    }

    /// The same with paths of the folder that the person's rules are about: walks that begin above leave them out, and
    /// commands that don't name them don't see them. Calls that name one are the policy's to judge.
    #[must_use]
    pub fn under_rules(mut self, layers: &[Layer]) -> Self {
        let paths = kept_out(layers);
        self.kept_out = paths.iter().filter_map(|path| RelPath::parse(path).ok()).collect();
        self.hushed = hushes(layers);
        self
    }

    /// Where a path leads and how else it is spelled here, where letters of another case stand in the folder. `listed` holds
    /// the folders' names in small letters beside the names, each read once.
    pub(crate) fn spellings(
        &self,
        path: &str,
        listed: &mut HashMap<String, Vec<(String, String)>>,
    ) -> Vec<String> {
        let mut found = vec![RelPath::root()];
        for part in path.split('/').map(str::to_lowercase) {
            let mut deeper = Vec::new();
            for above in &found {
                let names = listed.entry(above.to_string()).or_insert_with(|| {
                    let names = self.dir.read_dir(above.as_str()).into_iter().flatten().flatten();
                    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
                    names.map(|name| (name.to_lowercase(), name)).collect()
                });
                deeper.extend(
                    names.iter().filter(|(small, _)| *small == part).map(|(_, name)| above.join(name)),
                );
            }
            found = deeper;
        }
        let mut all: Vec<String> =
            found.iter().filter_map(|path| Some(self.real(path).ok()?.to_string())).collect();
        all.extend(found.iter().map(ToString::to_string));
        all.retain(|one| one != path && one != ".");
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Paths of the folder that the person's rules are about.
    pub(crate) fn kept_out(&self) -> &[RelPath] {
        &self.kept_out
    }

    /// Is a rule of the person about reading this path?
    pub(crate) fn keeps_out(&self, path: &str) -> bool {
        self.hushed || self.kept_out.iter().any(|kept| is_inside(path, kept.as_str()))
    }

    /// Does a walk that began at `start` leave this path out, because a rule is about it?
    pub(crate) fn keeps_from(&self, start: &RelPath, path: &RelPath) -> bool {
        let about = |kept: &&RelPath| is_inside(path.as_str(), kept.as_str());
        self.kept_out.iter().filter(about).any(|kept| !is_inside(start.as_str(), kept.as_str()))
    }

    /// The folder's absolute path: for the cage and for people, never for opening files.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of a small regular file, for the host's own reading: project documents. `None` when there is none, it is
    /// larger than `limit` bytes, it lies outside, or the path is a link to a file with secrets.
    #[must_use]
    pub fn read_small(&self, path: &str, limit: u64) -> Option<Vec<u8>> {
        let reached = self.reach(path).ok()?;
        // Nobody agreed to have a secret read: a document of a repository may be a link to one.
        if reached.real != reached.path && is_secret(reached.real.as_str()) {
            return None;
        }
        let file = self.open_file(&reached.real).ok()?;
        let metadata = file.metadata().ok().filter(Metadata::is_file)?;
        if metadata.len() > limit {
            return None;
        }
        let mut bytes = Vec::new();
        io::Read::take(file, limit + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= limit).then_some(bytes)
    }

    /// Absolute paths that commands must not see.
    #[must_use]
    pub fn hide(&self) -> &[PathBuf] {
        &self.hide
    }

    /// Reads a path of the model: inside the folder and none of our own folders.
    pub(crate) fn resolve(&self, text: &str) -> Result<RelPath, ToolError> {
        let path = RelPath::parse(text)?;
        match self.hides(&path) {
            true => Err(failed("path/outside", format!("{path} belongs to Daybook itself"), "")),
            false => Ok(path),
        }
    }

    /// Reads a path of the model and finds where it leads once links inside the folder are followed. Parts that don't exist
    /// yet stay as written.
    pub(crate) fn reach(&self, text: &str) -> Result<Reached, ToolError> {
        let path = self.resolve(text)?;
        let real = self.real(&path)?;
        Ok(Reached { path, real })
    }

    /// Where a path leads; `path/outside` when that is out of the folder or one of our own folders.
    fn real(&self, path: &RelPath) -> Result<RelPath, ToolError> {
        if path.is_root() {
            return Ok(path.clone());
        }
        match self.dir.canonicalize(path.as_str()) {
            Ok(real) => match real.to_str() {
                // The handle calls its own folder nothing.
                Some("") => Ok(RelPath::root()),
                Some(real) => self.resolve(real),
                None => {
                    Err(failed("path/unusable", format!("{path} leads to a name that isn't Unicode"), ""))
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let real = self.real(&path.parent())?.join(path.name());
                self.resolve(real.as_str())
            }
            Err(error) => Err(io_failed("reach", self.say(path), &error)),
        }
    }

    /// Is this path one of our own folders, or inside one?
    pub(crate) fn hides(&self, path: &RelPath) -> bool {
        // Where the file system doesn't mind the case, neither does the wall.
        let folded = |path: &RelPath| match cfg!(any(windows, target_os = "macos")) {
            true => path.as_str().to_lowercase(),
            false => path.as_str().to_owned(),
        };
        let path = folded(path);
        let inside = |outer: &RelPath| {
            path.strip_prefix(&folded(outer)).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.hidden_inside.iter().any(inside)
    }

    /// The root handle.
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The folder a path lies in, by handle, links inside the folder followed.
    pub(crate) fn parent_of(&self, path: &RelPath) -> io::Result<Dir> {
        self.open_dir(&path.parent())
    }

    /// A folder by handle.
    pub(crate) fn open_dir(&self, path: &RelPath) -> io::Result<Dir> {
        if path.is_root() { self.dir.try_clone() } else { self.dir.open_dir(path.as_str()) }
    }

    /// What stands at this path, links inside the folder followed.
    pub(crate) fn metadata(&self, path: &RelPath) -> io::Result<Metadata> {
        if path.is_root() { self.dir.dir_metadata() } else { self.dir.metadata(path.as_str()) }
    }

    /// A file for reading; never waits for a pipe's other side.
    pub(crate) fn open_file(&self, path: &RelPath) -> io::Result<File> {
        open_in(&self.dir, path.as_str(), FollowSymlinks::Yes)
    }
}

/// A file below a handle, for reading, without waiting.
pub(crate) fn open_in(dir: &Dir, name: &str, follow: FollowSymlinks) -> io::Result<File> {
    let mut how = OpenOptions::new();
    how.read(true).nonblock(true).follow(follow);
    dir.open_with(name, &how)
}

/// A folder below a handle, not through a link.
pub(crate) fn open_dir_in(dir: &Dir, name: &str) -> io::Result<Dir> {
    dir.open_dir_nofollow(name)
}

/// Would reading this file fetch it from a cloud first? Whoever only looks through a folder passes such files over: a
/// search must not download a person's whole drive.
pub(crate) fn is_placeholder(file: &File) -> bool {
    // Other systems have no such files.
    cfg!(any(windows, target_os = "macos"))
        && file
            .try_clone()
            .and_then(|file| file.into_std().metadata())
            .is_ok_and(|meta| stands_elsewhere(attributes(&meta)))
}

/// Do these attributes of the system say that the content isn't here?
fn stands_elsewhere(attributes: u32) -> bool {
    // Windows: offline, recall on open, recall on data access.
    const WINDOWS: u32 = 0x1000 | 0x4_0000 | 0x40_0000;
    // macOS: dataless.
    const MACOS: u32 = 0x4000_0000;
    let flags = match cfg!(windows) {
        true => WINDOWS,
        false => MACOS,
    };
    attributes & flags != 0
}

#[cfg(windows)]
fn attributes(meta: &std::fs::Metadata) -> u32 {
    std::os::windows::fs::MetadataExt::file_attributes(meta)
}

#[cfg(target_os = "macos")]
fn attributes(meta: &std::fs::Metadata) -> u32 {
    std::os::macos::fs::MetadataExt::st_flags(meta)
}

#[cfg(not(any(windows, target_os = "macos")))]
fn attributes(_: &std::fs::Metadata) -> u32 {
    0
}

/// A failed file operation in words for the model, without absolute paths but those of an added folder.
pub(crate) fn io_failed(doing: &str, path: impl AsRef<str>, error: &io::Error) -> ToolError {
    use io::ErrorKind as Kind;
    let (code, why, then) = match error.kind() {
        Kind::NotFound => {
            ("file/not_found", "there is no such file".to_owned(), "List the folder to see what is there.")
        }
        Kind::PermissionDenied if leads_out(error) => (
            "path/outside",
            "a link on the way leads out of the folder".to_owned(),
            "Only the person can add another folder.",
        ),
        Kind::PermissionDenied => {
            ("file/permission", "the permission is missing".to_owned(), "Ask the person to change it.")
        }
        Kind::IsADirectory => ("file/is_folder", "it is a folder".to_owned(), ""),
        Kind::NotADirectory => {
            ("file/not_found", "a part of the path is a file, not a folder".to_owned(), "")
        }
        Kind::ResourceBusy => {
            ("file/locked", "another program has it open".to_owned(), "Ask the person to close it there.")
        }
        Kind::FileTooLarge => {
            ("file/too_large", "it is larger than what is kept or read at once".to_owned(), "")
        }
        Kind::StorageFull => {
            ("file/disk_full", "the disk is full".to_owned(), "Ask the person to make room.")
        }
        Kind::ReadOnlyFilesystem => ("file/permission", "the file system is read-only".to_owned(), ""),
        _ => ("file/io", crate::tool::bare(error), ""),
    };
    failed(code, format!("can't {doing} {}: {why}", crate::path::shown(path.as_ref())), then)
}

/// The handle's own refusal carries no number of the system.
fn leads_out(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_stand_in_a_cloud_are_known_by_their_attributes() {
        let (plain, elsewhere): (&[u32], &[u32]) = match cfg!(windows) {
            // Archive, read-only, hidden, sparse, compressed; then the three that recall.
            true => (&[0, 0x20, 0x1, 0x2, 0x200, 0x800], &[0x1000, 0x4_0000, 0x40_0020]),
            // Hidden, compressed, immutable; then dataless.
            false => (&[0, 0x8000, 0x20, 0x2], &[0x4000_0000, 0x4000_0020]),
        };
        assert!(!plain.iter().any(|one| stands_elsewhere(*one)));
        assert!(elsewhere.iter().all(|one| stands_elsewhere(*one)));
        let here = tempfile::tempfile().unwrap();
        assert!(!is_placeholder(&File::from_std(here)), "a file of this disk is none");
    }
}
