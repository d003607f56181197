//! Differences in wire words.

use crate::wire::store::{DiffLine, DiffSpan, FileDiff, Hunk};
use engine::show::{self, LineKind, NoHunks};

/// The difference of one file, for a client; `created` where nothing stood there before.
pub(crate) fn wire(path: String, diff: show::FileDiff, created: bool) -> FileDiff {
    let no_hunks = diff.no_hunks.map(|why| match why {
        NoHunks::Binary => "binary",
        NoHunks::TooLarge => "too_large",
        NoHunks::Same => "same",
    });
    FileDiff {
        path,
        created,
        no_hunks: no_hunks.map(str::to_owned),
        hunks: diff.hunks.into_iter().map(hunk).collect(),
    }
}

fn hunk(hunk: show::Hunk) -> Hunk {
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Hunk {
        old_start: number(hunk.old_start),
        new_start: number(hunk.new_start),
        lines: hunk.lines.into_iter().map(line).collect(),
        part: None,
        undone: false,
    }
}

fn line(line: show::Line) -> DiffLine {
    let kind = match line.kind {
        LineKind::Same => "same",
        LineKind::Removed => "removed",
        LineKind::Added => "added",
    };
    let spans =
        line.spans.into_iter().map(|span| DiffSpan { text: span.text, changed: span.changed }).collect();
    DiffLine { kind: kind.to_owned(), spans }
}
