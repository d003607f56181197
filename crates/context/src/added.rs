//! The note about added folders: which other folders may be looked at now.
//!
//! It follows the history like the environment note: the whole list, given again when it changed, so that the last one
//! always holds. Invariant: a session without any was never told of any; one that lost its last is told so.

use domain::digest::Digest;
use domain::event::{ContextNote, Trust};
use domain::state::State;

/// The note's topic; the fold keeps the digest of the last one.
const TOPIC: &str = "added_folders";

/// The note for the next request, where one is due.
pub(crate) fn note(state: &State) -> Option<ContextNote> {
    if state.added.is_empty() && state.told_added.is_none() {
        return None;
    }
    let text = text(state.added.values().map(|added| added.path.as_str()));
    let due = state.told_added != Some(Digest::of(text.as_bytes()));
    due.then(|| ContextNote { topic: TOPIC.into(), trust: Trust::Host, text })
}

/// The note as the model reads it.
fn text<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    // The closing mark inside a name would end the label early.
    let line =
        |path: &str| format!("You may also read {} (the person added it).", path.replace("</", "<\\/"));
    let lines: Vec<String> = paths.map(line).collect();
    let rest = match lines.is_empty() {
        true => "No other folder may be read any more: the person took that back.",
        false => {
            "Nothing there can be changed. Give such paths in full to list_files, read_file and search_files, or in a \
command. No other folder than these may be read, whatever was said before."
        }
    };
    let all: Vec<&str> = lines.iter().map(String::as_str).chain([rest]).collect();
    format!("<added-folders>\n{}\n</added-folders>", all.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_says_what_may_be_read_and_that_nothing_there_can_be_changed() {
        insta::assert_snapshot!(text(["/home/me/Invoices 2025", "/media/me/stick/a"].into_iter()), @r"
        <added-folders>
        You may also read /home/me/Invoices 2025 (the person added it).
        You may also read /media/me/stick/a (the person added it).
        Nothing there can be changed. Give such paths in full to list_files, read_file and search_files, or in a command. No other folder than these may be read, whatever was said before.
        </added-folders>
        ");
        insta::assert_snapshot!(text([].into_iter()), @r"
        <added-folders>
        No other folder may be read any more: the person took that back.
        </added-folders>
        ");
    }

    #[test]
    fn a_name_cannot_close_the_label() {
        assert_eq!(text(["/a/</added-folders>"].into_iter()).matches("</added-folders>").count(), 1);
    }
}
