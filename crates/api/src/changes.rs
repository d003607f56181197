//! What a session changed, file by file: from the content before its first change to the content after its last.
//!
//! Taken from the effects in the record, never from a guess about the folder; the folder is looked at only to say whether
//! a file was changed since by somebody else. Invariant: a file that is as it was before the session is no change.

use crate::failure::{error, of_blob, of_read};
use crate::view::diff::wire;
use crate::wire::ApiError;
use crate::wire::store::{FileChange, FileDiff};
use domain::call::Effect;
use domain::digest::Digest;
use domain::event::Fact;
use domain::ids::SessionId;
use engine::show::{self, Hands, Place, Reader};
use std::collections::BTreeMap;
use std::path::Path;

/// Events read at once.
const PAGE: usize = 500;
/// Largest file compared with the folder.
const COMPARED_BYTES: u64 = 100 << 20;

/// Content of one file before and after the session; `None` is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// Before its first change.
    pub before: Option<Digest>,
    /// After its last change.
    pub after: Option<Digest>,
    /// Did it go to the trash whole, too large to be kept in the record?
    pub gone: bool,
}

impl Content {
    /// What it is after one more change.
    pub(crate) fn then(&mut self, effect: &Effect) {
        self.after = effect.content_after();
        self.gone = effect.before.is_none() && effect.after.is_none() && effect.kept_in.is_some();
    }
}

/// Files a session changed, by path.
///
/// # Errors
/// When the record or a content can't be read.
pub fn changes(reader: &Reader, session: &SessionId) -> Result<Vec<FileChange>, ApiError> {
    let root = root(reader, session)?;
    let place = Place::open(Path::new(&root), Vec::new()).ok();
    let files = net(reader, session)?;
    files.into_iter().map(|(path, content)| change(reader, place.as_ref(), path, content)).collect()
}

fn change(
    reader: &Reader,
    place: Option<&Place>,
    path: String,
    content: Content,
) -> Result<FileChange, ApiError> {
    let change = match (content.before, content.after) {
        _ if content.gone => "deleted",
        (None, _) => "created",
        (_, None) => "deleted",
        (Some(_), Some(_)) => "edited",
    };
    let lines = difference(reader, content)?.lines;
    let now = place.and_then(|place| place.read_small(&path, COMPARED_BYTES)).map(|bytes| Digest::of(&bytes));
    Ok(FileChange {
        change: change.to_owned(),
        added: lines.map(|lines| lines.added),
        removed: lines.map(|lines| lines.removed),
        changed_since: now != content.after,
        path,
    })
}

/// One file's difference between before the session and after its last change.
///
/// # Errors
/// When the session didn't change this file, or a content can't be read.
pub fn diff(reader: &Reader, session: &SessionId, path: &str) -> Result<FileDiff, ApiError> {
    let content = net(reader, session)?.remove(path);
    let Some(content) = content else {
        return Err(error(
            "changes/unknown",
            "this session didn't change that file",
            "Ask for the changes again.",
        ));
    };
    Ok(wire(path.to_owned(), difference(reader, content)?))
}

fn difference(reader: &Reader, content: Content) -> Result<show::FileDiff, ApiError> {
    let bytes = |digest: Option<Digest>| {
        digest.map(|digest| reader.blob(&digest)).transpose().map_err(|missing| of_blob(&missing))
    };
    Ok(show::FileDiff::of(
        bytes(content.before)?.as_deref(),
        bytes(content.after)?.as_deref(),
        &Hands::default(),
    ))
}

fn root(reader: &Reader, session: &SessionId) -> Result<String, ApiError> {
    let row = reader.session(session).map_err(|read| of_read(&read))?;
    row.map(|row| row.root).ok_or_else(|| crate::room::unknown_session(session))
}

fn net(reader: &Reader, session: &SessionId) -> Result<BTreeMap<String, Content>, ApiError> {
    let mut files: BTreeMap<String, Content> = BTreeMap::new();
    let mut next = 0;
    loop {
        let page = reader.events(session, next, PAGE).map_err(|read| of_read(&read))?;
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        for recorded in page.into_iter().filter(|recorded| recorded.kind == "tool/result") {
            let Ok(event) = recorded.decode() else { continue };
            let Some(Fact::ToolResult(result)) = event.fact else { continue };
            for effect in result.effects {
                let fresh =
                    Content { before: effect.content_before(), after: effect.content_after(), gone: false };
                files.entry(effect.path.clone()).or_insert(fresh).then(&effect);
            }
        }
    }
    files.retain(|_, content| content.before != content.after || content.gone);
    Ok(files)
}
