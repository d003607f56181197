//! Files with secrets whose content a command printed, told from its output: a repository remembers what isn't there now.
//!
//! What git prints of a file stands beneath a header with its path, or behind it in a line. Only that is looked for:
//! content without a path (`git cat-file -p 1a2b3c`) can't be told. Invariant: bounded, whatever is printed.

use crate::path::is_secret;
use std::collections::BTreeSet;

/// Longest beginning of a line that is looked at; a header holds two paths.
const LINE_BYTES: usize = 16 << 10;
/// Most files that are named.
const FILES: usize = 20;
/// What a line of a difference says before the path of a file; before it may stand the marks of a drawn history.
const HEADERS: [&str; 5] = ["diff --git ", "diff --cc ", "diff --combined ", "--- ", "+++ "];

/// Watches output go by.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Is the command one that searches what a repository remembers?
    greps: bool,
    line: Vec<u8>,
    found: BTreeSet<String>,
}

impl History {
    /// For the output of this command.
    pub(crate) fn of(command: &str) -> Self {
        let greps = command.contains("git") && command.contains("grep");
        Self { greps, ..Self::default() }
    }

    /// More output, as it is shown.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let mut lines = std::mem::take(&mut self.line);
        let ends = match bytes.contains(&b'\n') {
            true => bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1),
            false => 0,
        };
        let (whole, rest) = bytes.split_at(ends);
        if ends > 0 {
            lines.extend(whole);
            let text = String::from_utf8_lossy(&lines);
            // Nearly all output has nothing to look at, and may be endless.
            if self.greps || HEADERS.iter().any(|header| text.contains(header)) {
                text.lines().for_each(|line| self.look(line));
            }
            lines.clear();
        }
        let room = LINE_BYTES.saturating_sub(lines.len());
        lines.extend(&rest[..rest.len().min(room)]);
        self.line = lines;
    }

    /// The files, once the output is over.
    pub(crate) fn end(&mut self) -> Vec<String> {
        let last = std::mem::take(&mut self.line);
        self.look(&String::from_utf8_lossy(&last));
        std::mem::take(&mut self.found).into_iter().collect()
    }

    fn look(&mut self, line: &str) {
        let line = without_colours(line);
        let bare = line.trim_end_matches('\r');
        let drawn = bare.trim_start_matches(['|', '/', '\\', '*', '_', ' ']);
        for paths in HEADERS.iter().filter_map(|header| drawn.strip_prefix(header)) {
            // Two paths, or one and a time; of one with spaces the last piece has the name.
            paths.split([' ', '\t']).for_each(|path| self.note(path));
        }
        if self.greps {
            // `path:line`, `revision:path:line`.
            bare.splitn(3, [':', '=']).take(2).for_each(|path| self.note(path));
        }
    }

    fn note(&mut self, path: &str) {
        let path = path.trim_matches('"');
        let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
        if self.found.len() < FILES && is_secret(path) {
            self.found.insert(path.to_owned());
        }
    }
}

/// `ESC [ … m`, which git puts around headers when it is asked for colours.
fn without_colours(line: &str) -> String {
    let mut pieces = line.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('m').map_or(piece, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, output: &str, expect: &[&str]) {
        for size in [1, 7, output.len().max(1)] {
            let mut history = History::of(command);
            output.as_bytes().chunks(size).for_each(|piece| history.push(piece));
            assert_eq!(history.end(), expect, "{output:?} in pieces of {size}");
        }
    }

    #[test]
    fn a43_files_whose_old_content_is_printed_are_told_by_their_headers() {
        let of = |path: &str| {
            format!("commit 1\n\ndiff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n+x\n")
        };
        check("git log -p", &of(".env"), &[".env"]);
        check("git log -p", &of("keys/id_rsa"), &["keys/id_rsa"]);
        check("git log -p", &of("menu.md"), &[]);
        check("git log -p --graph", "| * | diff --git a/.env b/.env\n", &[".env"]);
        check("git show --no-prefix", "diff --git .env .env\nnew file mode 100644\n", &[".env"]);
        check("git show", "diff --cc .env\n", &[".env"]);
        check("git log -p", "diff --git \"a/\\303\\244/.env\" \"b/\\303\\244/.env\"\n", &["\\303\\244/.env"]);
        check("git diff HEAD~1", "--- a/.env\n+++ /dev/null\n-KEY=1\n", &[".env"]);
        check("git grep KEY HEAD", "HEAD:.env:KEY=1\n", &[".env"]);
        check("git grep -h KEY HEAD", "KEY=1\n", &[]);
        check("git show --color", "\u{1b}[1mdiff --git a/.env b/.env\u{1b}[m\n", &[".env"]);
        // Words about a file aren't its content.
        check("git log", "commit 1\n\n    remove .env from the repository\n", &[]);
        check("git log --stat", " .env | 1 -\n", &[]);
        check("cat notes", "HEAD:.env:KEY=1\n", &[]);
        check("yes", &"x".repeat(3 * LINE_BYTES), &[]);
    }
}
