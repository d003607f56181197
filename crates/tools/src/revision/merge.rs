//! A file that was changed by both: its three sides, and taking back only our part.
//!
//! Invariant: a merge counts only where it is clean; whatever conflicts is left to the person, who sees all sides.

use super::look::Hashing;
use super::plan::now;
use super::restore::RestoreError;
use crate::blob::{BlobSink, holds_secret};
use crate::place::Place;
use crate::text::Text;
use domain::call::{Effect, Entry};
use domain::digest::Digest;

/// Largest file that is merged.
const MERGED_BYTES: u64 = 2 << 20;

/// What stood and stands at a changed path; `None` is no file, or one that isn't read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sides {
    /// Before the change.
    pub before: Option<Vec<u8>>,
    /// After it.
    pub after: Option<Vec<u8>>,
    /// Now.
    pub now: Option<Vec<u8>>,
    /// What would stand there if only the change were taken back.
    pub merged: Option<Vec<u8>>,
}

/// The sides of a path that was changed by an effect, and perhaps by somebody else since. Files to 2 MB.
///
/// # Errors
/// When a content can't be read.
pub fn sides(place: &Place, blobs: &dyn BlobSink, effect: &Effect) -> Result<Sides, RestoreError> {
    let present = now(place, &effect.path, &Hashing)?;
    let read = |entry: Option<&Entry>| match entry {
        Some(Entry::File { content, .. }) => content_of(blobs, &effect.path, content).map(Some),
        Some(Entry::Link { target }) => Ok(Some(target.clone().into_bytes())),
        Some(Entry::Folder { .. } | Entry::Uncovered { .. }) | None => Ok(None),
    };
    let mut sides = Sides {
        before: read(effect.before.as_ref())?,
        after: read(effect.after.as_ref())?,
        now: match present.entry() {
            Some(Entry::File { .. }) => place.read_small(&effect.path, MERGED_BYTES),
            other => read(other)?,
        },
        merged: None,
    };
    let all_files =
        [effect.before.as_ref(), effect.after.as_ref(), present.entry()].into_iter().all(small_file);
    if let (true, Some(before), Some(after), Some(now)) = (all_files, &sides.before, &sides.after, &sides.now)
    {
        sides.merged = without(after, before, now);
    }
    Ok(sides)
}

/// What can be taken back of a path that somebody changed since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ours {
    /// Our part of it: the effect's `after` is what is there now, its `before` what shall be there.
    Part(Box<Effect>),
    /// Nothing of ours is there any more.
    Nothing,
}

/// What can be taken back cleanly of a file somebody changed since: our part of its text, our permissions; `None` is
/// neither. The new content is in the blobs.
///
/// # Errors
/// When a content can't be read or kept.
pub(super) fn merged(
    place: &Place,
    blobs: &dyn BlobSink,
    effect: &Effect,
) -> Result<Option<Ours>, RestoreError> {
    let present = now(place, &effect.path, &Hashing)?.entry().cloned();
    let (Some(Entry::File { mode: was, .. }), Some(Entry::File { mode: set, .. })) =
        (&effect.before, &effect.after)
    else {
        return Ok(None);
    };
    let Some(Entry::File { content: stands, bytes: size, mode: now }) = &present else { return Ok(None) };
    let (stands, size) = (*stands, *size);
    let mode_is_ours = was.is_some() && set.is_some() && was != set;
    let mode = if mode_is_ours && now == set { *was } else { *now };
    let only_mode = effect.content_before() == effect.content_after();
    if only_mode && mode_is_ours && now != set && now != was {
        return Ok(None);
    }
    let (content, bytes) = match only_mode {
        true => (stands, size),
        false => {
            let Some(merged) = sides(place, blobs, effect)?.merged else { return Ok(None) };
            match blobs.put(&merged) {
                Ok(content) => (content, merged.len() as u64),
                Err(error) if holds_secret(&error) => return Ok(None),
                Err(error) => return Err(RestoreError::Blobs(error)),
            }
        }
    };
    let before = Some(Entry::File { content, bytes, mode });
    if before == present {
        return Ok(Some(Ours::Nothing));
    }
    Ok(Some(Ours::Part(Box::new(Effect {
        path: effect.path.clone(),
        before,
        after: present,
        lines: None,
        kept_in: None,
        parted: None,
    }))))
}

fn small_file(entry: Option<&Entry>) -> bool {
    matches!(entry, Some(Entry::File { bytes, .. }) if *bytes <= MERGED_BYTES)
}

/// `now` without what led from `before` to `after`; `None` where that meets what was changed since, or a side isn't text.
/// Line ends are part of the lines, so that they stay as they are.
fn without(after: &[u8], before: &[u8], now: &[u8]) -> Option<Vec<u8>> {
    if [after, before, now].into_iter().any(|side| Text::decode(side).is_err()) {
        return None;
    }
    diffy::merge_bytes(after, now, before).ok()
}

fn content_of(blobs: &dyn BlobSink, path: &str, digest: &Digest) -> Result<Vec<u8>, RestoreError> {
    blobs.get(digest).map_err(|source| RestoreError::Content {
        path: path.to_owned(),
        digest: *digest,
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// before → after is ours, after → now the person's.
    #[track_caller]
    fn check(before: &str, after: &str, now: &str, expect: Option<&str>) {
        let merged = without(after.as_bytes(), before.as_bytes(), now.as_bytes());
        assert_eq!(merged.map(|bytes| String::from_utf8(bytes).unwrap()).as_deref(), expect);
    }

    #[test]
    fn only_our_part_is_taken_back() {
        check("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n", Some("a\nb\nc\nd\nE\n"));
        check("a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n", "A\r\nb\r\nC\r\n", Some("a\r\nb\r\nC\r\n"));
        check("a\nb\nc", "a\nb\nc\nd", "x\na\nb\nc\nd", Some("x\na\nb\nc"));
        check("a\n", "b\n", "c\n", None);
        check("a\nb\n", "A\nb\n", "Z\nb\n", None);
    }

    #[test]
    fn what_is_no_text_is_never_merged() {
        assert_eq!(without(b"\0\x01a", b"\0\x01b", b"\0\x01ac"), None);
    }
}
