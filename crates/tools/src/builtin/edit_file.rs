//! `edit_file`: replaces texts by others, and nothing else.
//!
//! Matching disregards the kind of line ends; every byte outside the changed lines stays. Invariants: one unique match or
//! an error that helps the next try (count and lines, or the nearest real lines), never a guess among several; of several
//! edits all are made, each on what the ones before it left, or none; no line of a secret file is in an error.

use super::blocking;
use super::change::{Agreed, Change, lines, not_stale, others};
use super::read_file::is_binary;
use super::write_file::unencodable;
use super::{changed, object};
use super::{near, splice};
use crate::call::{Checked, Surveyed};
use crate::clear::Cleared;
use crate::path::{is_secret, shown};
use crate::save::Target;
use crate::text::Text;
use crate::tool::{Concurrency, Ctx, Declared, Raw, Tool, Trouble, View, failed};
use domain::call::{Act, ToolError};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

/// Edits a file.
pub(crate) struct EditFile(Declared);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    old_text: Option<String>,
    new_text: Option<String>,
    #[serde(default)]
    replace_all: bool,
    #[serde(default)]
    edits: Vec<Edit>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    old_text: String,
    new_text: String,
    #[serde(default)]
    replace_all: bool,
}

/// Most line numbers named.
const NAMED: usize = 20;
/// Least new text whose being there already says something.
const TELLING_BYTES: usize = 8;
/// Most edits of one call: each looks through the whole file.
const MAX_EDITS: usize = 100;

impl Default for EditFile {
    fn default() -> Self {
        let properties = json!({
            "path": {"type": "string", "minLength": 1, "description": "Relative to the folder."},
            "old_text": {"type": "string", "description": "Exact text in the file, unique unless replace_all."},
            "new_text": {"type": "string"},
            "replace_all": {"type": "boolean", "description": "Replace every occurrence. Default false."},
            "edits": {
                "type": "array", "maxItems": MAX_EDITS, "description": "Several replacements instead of one, all or none.",
                "items": object(
                    json!({
                        "old_text": {"type": "string"}, "new_text": {"type": "string"},
                        "replace_all": {"type": "boolean"}
                    }),
                    &["old_text", "new_text"],
                )
            }
        });
        Self(Declared {
            name: "edit_file",
            version: 2,
            description: "Replace text in a file: old_text by new_text, or several edits. Read the file first.",
            schema: object(properties, &["path"]),
            output: changed(),
            concurrency: Concurrency::Parallel,
            view: View::Diff,
        })
    }
}

impl Tool for EditFile {
    fn declared(&self) -> &Declared {
        &self.0
    }

    fn survey(&self, call: &Checked, ctx: &Ctx) -> Result<Surveyed, ToolError> {
        plan(&call.typed()?, ctx)?.surveyed(Act::Edit, ctx)
    }

    fn run<'a>(&'a self, call: &'a Cleared, ctx: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        let (args, agreed) = (call.call().typed::<Args>(), Agreed::of(call));
        blocking(ctx, move |ctx| plan(&args?, &ctx)?.done(&agreed, &ctx))
    }
}

fn plan(args: &Args, ctx: &Ctx) -> Result<Change, ToolError> {
    let reached = ctx.own(&args.path)?;
    let target = Target::find(&ctx.place, &reached, ctx.limits.file_bytes)?;
    let Some(current) = &target.current else {
        let missing = std::io::ErrorKind::NotFound.into();
        let mut error = near::not_found(&ctx.place, "edit", &reached.path, &missing);
        error.suggestion =
            error.suggestion.map(|then| format!("{then} Use write_file to create a new file."));
        return Err(error);
    };
    not_stale(ctx, &reached, &target)?;
    let text = Text::decode(&current.bytes)
        .map_err(|binary| is_binary(reached.path.as_str(), current.bytes.len(), binary))?;
    let hushed = |name: &String| is_secret(name) || ctx.place.keeps_out(name);
    let secret = reached.names().iter().any(hushed);
    let named = Named { path: reached.path.as_str(), secret };
    let (body, note) = all_edited(&text.body, &args.edits()?, &named)?;
    let after = text.encode(&body).map_err(|missing| unencodable(missing.encoding))?;
    let (lines, others) = (lines(&target, &after, ctx), others(&ctx.place, &target));
    Ok(Change { reached, target, others, after, lines, note })
}

impl Args {
    /// The replacements to make: the one beside the path, or those of the list.
    fn edits(&self) -> Result<Vec<Edit>, ToolError> {
        let give = |why: &str| {
            let message = format!("the arguments of edit_file don't fit: {why}; nothing was changed");
            failed("arguments/invalid", message, "Give old_text and new_text, or edits.")
        };
        // Models that fill every field leave the one they don't mean empty.
        let blank = |text: &Option<String>| text.as_ref().is_none_or(String::is_empty);
        let unused = blank(&self.old_text) && blank(&self.new_text);
        match (&self.old_text, &self.new_text, self.edits.is_empty()) {
            (Some(old), Some(new), true) => {
                let (old_text, new_text) = (old.clone(), new.clone());
                Ok(vec![Edit { old_text, new_text, replace_all: self.replace_all }])
            }
            (_, _, false) if unused => {
                let all = self.replace_all;
                let edits = self.edits.iter().cloned();
                Ok(edits.map(|edit| Edit { replace_all: edit.replace_all || all, ..edit }).collect())
            }
            (_, _, false) => Err(give("old_text and new_text stand beside edits")),
            (None, _, true) => Err(give("`old_text` is missing")),
            (Some(_), None, true) => Err(give("`new_text` is missing")),
        }
    }
}

/// The body with all edits made, and what was special about it.
fn all_edited(body: &str, edits: &[Edit], path: &Named<'_>) -> Result<(String, String), ToolError> {
    let several = edits.len() > 1;
    let (mut now, mut notes) = (body.to_owned(), Vec::new());
    for (at, edit) in edits.iter().enumerate() {
        let nth = at + 1;
        match edited(&now, edit, path) {
            Ok((next, note)) => {
                now = next;
                if !note.is_empty() {
                    notes.push(if several { format!("Edit {nth}: {note}") } else { note });
                }
            }
            // It asks for what is there already; the others are still wanted.
            Err(error) if several && error.code == NO_CHANGE => {
                notes.push(format!("Edit {nth} changes nothing."));
            }
            Err(error) if several => return Err(of_several(error, nth, edits.len())),
            Err(error) => return Err(error),
        }
    }
    if now == body {
        let message = match several {
            true => "the edits together change nothing; the file is as it was",
            false => "the text is there already; nothing was changed",
        };
        return Err(failed(NO_CHANGE, message, ""));
    }
    Ok((now, notes.join(" ")))
}

/// An error that says which edit it is about, and that none was made.
fn of_several(error: ToolError, nth: usize, count: usize) -> ToolError {
    let message = format!("edit {nth} of {count} failed, so none was made: {}", error.message);
    ToolError { message, ..error }
}

/// The code of an edit that asks for what is there.
const NO_CHANGE: &str = "edit/no_change";

/// The file as errors call it, and whether they may quote it.
struct Named<'a> {
    path: &'a str,
    secret: bool,
}

/// The body with the replacement made, and what was special about the match.
fn edited(body: &str, edit: &Edit, path: &Named<'_>) -> Result<(String, String), ToolError> {
    let old = edit.old_text.replace("\r\n", "\n");
    let new = edit.new_text.replace("\r\n", "\n");
    if old == new {
        return Err(failed(NO_CHANGE, "old_text and new_text are the same; nothing was changed", ""));
    }
    if old.is_empty() {
        return match body.is_empty() {
            true => Ok((edit.new_text.clone(), "The file was empty.".to_owned())),
            false => Err(failed(
                "edit/empty_old_text",
                format!("old_text is empty and {} isn't", shown(path.path)),
                "Give the text to replace, or use write_file to replace all of it.",
            )),
        };
    }
    let view = splice::Lf::of(body);
    for attempt in attempts(&view, &old, &new) {
        let found = view.find_all(&attempt.old);
        match found.len() {
            0 => {}
            1 => return Ok((view.replaced(&found, &attempt.old, &attempt.new), attempt.note)),
            _ if edit.replace_all => {
                let note =
                    format!("{} Replaced {} occurrences.", attempt.note, found.len()).trim_start().to_owned();
                return Ok((view.replaced(&found, &attempt.old, &attempt.new), note));
            }
            many => {
                return Err(ambiguous(
                    many,
                    &found.iter().map(|at| view.line_of(*at)).collect::<Vec<_>>(),
                    path.path,
                ));
            }
        }
    }
    Err(not_found(&view, &old, &new, path))
}

/// One way to read what the model meant.
struct Attempt {
    old: String,
    new: String,
    note: String,
}

/// Exactly first; then without a final line break at the end of a file that has none; then without line breaks around.
/// Indentation and everything inside stay as given.
fn attempts(view: &splice::Lf<'_>, old: &str, new: &str) -> Vec<Attempt> {
    let mut attempts = vec![Attempt { old: old.to_owned(), new: new.to_owned(), note: String::new() }];
    if let Some(bare) = old.strip_suffix('\n') {
        // The file ends without a line break, so the last line can't be matched with one.
        if !bare.is_empty()
            && !view.text.ends_with('\n')
            && view.text.ends_with(bare)
            && view.find_all(bare).len() == 1
        {
            let new = new.strip_suffix('\n').unwrap_or(new).to_owned();
            attempts.push(Attempt {
                old: bare.to_owned(),
                new,
                note: "The file still ends without a line break.".to_owned(),
            });
        }
    }
    let trimmed = old.trim_matches('\n');
    if trimmed != old && !trimmed.is_empty() {
        let lead = old.len() - old.trim_start_matches('\n').len();
        let tail = old.len() - old.trim_end_matches('\n').len();
        let new = strip_up_to(new, lead, true);
        let new = strip_up_to(new, tail, false).to_owned();
        let note = "Matched without the line breaks around old_text.".to_owned();
        attempts.push(Attempt { old: trimmed.to_owned(), new, note });
    }
    attempts
}

/// Takes at most `most` line breaks off one side.
fn strip_up_to(text: &str, most: usize, front: bool) -> &str {
    let mut rest = text;
    for _ in 0..most {
        let less = if front { rest.strip_prefix('\n') } else { rest.strip_suffix('\n') };
        rest = less.unwrap_or(rest);
    }
    rest
}

fn ambiguous(count: usize, lines: &[usize], path: &str) -> ToolError {
    let named: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
    let more = if count > NAMED { ", …" } else { "" };
    failed(
        "edit/ambiguous",
        format!(
            "old_text occurs {count} times in {}, at lines {}{more}; nothing was changed",
            shown(path),
            named.join(", ")
        ),
        "Add lines around it to make it unique, or set replace_all.",
    )
}

fn not_found(view: &splice::Lf<'_>, old: &str, new: &str, path: &Named<'_>) -> ToolError {
    let message = format!("old_text isn't in {}; nothing was changed", shown(path.path));
    let tellingly = new.trim().len() >= TELLING_BYTES;
    let there = tellingly.then(|| view.find_all(new)).filter(|found| found.len() == 1);
    let suggestion = match (path.secret, there, near::nearest_lines(view.body, old)) {
        // Nobody has agreed to its being read.
        (true, ..) => "Read the file and copy the text exactly.".to_owned(),
        (_, Some(found), _) => {
            format!("new_text is there already, at line {}: is the edit done?", view.line_of(found[0]))
        }
        (_, None, Some((line, text))) => {
            let why = if squeezed(&text) == squeezed(old) { " (only white space differs)" } else { "" };
            let text = &text[..text.floor_char_boundary(2_000)];
            format!("The nearest lines, from line {line}{why}, are:\n{text}")
        }
        (_, None, None) => "Read the file and copy the text exactly.".to_owned(),
    };
    failed("edit/not_found", message, &suggestion)
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}
