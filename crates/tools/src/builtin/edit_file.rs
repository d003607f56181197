//! `edit_file`: replaces one text by another, and nothing else.
//!
//! Matching disregards the kind of line ends; every byte outside the changed lines stays. Invariant: one unique match or
//! an error that helps the next try (count and lines, or the nearest real lines); never a guess among several.

use super::blocking;
use super::change::{Agreed, Change, lines, not_stale};
use super::object;
use super::read_file::is_binary;
use super::write_file::unencodable;
use super::{near, splice};
use crate::call::{Checked, Surveyed};
use crate::clear::Cleared;
use crate::path::shown;
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
    old_text: String,
    new_text: String,
    #[serde(default)]
    replace_all: bool,
}

/// Most line numbers named.
const NAMED: usize = 20;

impl Default for EditFile {
    fn default() -> Self {
        let properties = json!({
            "path": {"type": "string", "minLength": 1, "description": "Relative to the folder."},
            "old_text": {"type": "string", "description": "Exact text in the file, unique unless replace_all."},
            "new_text": {"type": "string"},
            "replace_all": {"type": "boolean", "description": "Replace every occurrence. Default false."}
        });
        Self(Declared {
            name: "edit_file",
            version: 1,
            description: "Replace text in a file. Read the file first.",
            schema: object(properties, &["path", "old_text", "new_text"]),
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
        plan(&call.typed()?, ctx)?.surveyed(Act::Edit, &*ctx.blobs)
    }

    fn run<'a>(&'a self, call: &'a Cleared, ctx: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        let (args, agreed) = (call.call().typed::<Args>(), Agreed::of(call));
        blocking(ctx, move |ctx| plan(&args?, &ctx)?.done(&agreed, &ctx))
    }
}

fn plan(args: &Args, ctx: &Ctx) -> Result<Change, ToolError> {
    let reached = ctx.place.reach(&args.path)?;
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
    let (body, note) = edited(&text.body, args, reached.path.as_str())?;
    let after = text.encode(&body).map_err(|missing| unencodable(missing.encoding))?;
    let lines = lines(&target, &after, ctx);
    Ok(Change { reached, target, after, lines, note })
}

/// The body with the replacement made, and what was special about the match.
fn edited(body: &str, args: &Args, path: &str) -> Result<(String, String), ToolError> {
    let old = args.old_text.replace("\r\n", "\n");
    let new = args.new_text.replace("\r\n", "\n");
    if old == new {
        return Err(failed("edit/no_change", "old_text and new_text are the same; nothing was changed", ""));
    }
    if old.is_empty() {
        return match body.is_empty() {
            true => Ok((args.new_text.clone(), "The file was empty.".to_owned())),
            false => Err(failed(
                "edit/empty_old_text",
                format!("old_text is empty and {} isn't", shown(path)),
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
            _ if args.replace_all => {
                let note =
                    format!("{} Replaced {} occurrences.", attempt.note, found.len()).trim_start().to_owned();
                return Ok((view.replaced(&found, &attempt.old, &attempt.new), note));
            }
            many => {
                return Err(ambiguous(
                    many,
                    &found.iter().map(|at| view.line_of(*at)).collect::<Vec<_>>(),
                    path,
                ));
            }
        }
    }
    Err(not_found(body, &old, path))
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

fn not_found(body: &str, old: &str, path: &str) -> ToolError {
    let message = format!("old_text isn't in {}; nothing was changed", shown(path));
    let suggestion = match near::nearest_lines(body, old) {
        Some((line, text)) => {
            let why = if squeezed(&text) == squeezed(old) { " (only white space differs)" } else { "" };
            let text = &text[..text.floor_char_boundary(2_000)];
            format!("The nearest lines, from line {line}{why}, are:\n{text}")
        }
        None => "Read the file and copy the text exactly.".to_owned(),
    };
    failed("edit/not_found", message, &suggestion)
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}
