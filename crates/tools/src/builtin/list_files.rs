//! `list_files`: what is in a folder, level by level.
//!
//! Ignore rules hold, and what they leave out is named. Invariant: whatever isn't shown is counted or said to be left
//! out; a list never looks complete when it isn't.

use super::{blocking, near, object, reads};
use crate::added::Spot;
use crate::call::{Checked, Surveyed};
use crate::clear::Cleared;
use crate::place::Reached;
use crate::tool::{Concurrency, Ctx, Declared, Raw, Tool, Trouble, View, failed};
use crate::walk::{Kind, LeftOut, Next, kept_out_note, walk};
use domain::call::ToolError;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

/// Most ignored paths that are named.
const NAMED: usize = 20;

/// Lists a folder.
pub(crate) struct ListFiles(Declared);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: Option<String>,
}

impl Default for ListFiles {
    fn default() -> Self {
        Self(Declared {
            name: "list_files",
            version: 1,
            description: "List files and folders below a folder. Folders end in /. Ignored files are left out.",
            schema: object(
                json!({"path": {"type": "string", "description": "Folder, e.g. \"src\". Default: all."}}),
                &[],
            ),
            output: object(
                json!({
                    "entries": {"type": "array", "items": {"type": "string"}}, "left_out": {"type": "integer"},
                    "ignored": {"type": "integer"}, "complete": {"type": "boolean"}
                }),
                &["entries", "left_out", "ignored", "complete"],
            ),
            concurrency: Concurrency::Parallel,
            view: View::Plain,
        })
    }
}

impl Tool for ListFiles {
    fn declared(&self) -> &Declared {
        &self.0
    }

    fn survey(&self, call: &Checked, ctx: &Ctx) -> Result<Surveyed, ToolError> {
        let spot = ctx.spot(call.typed::<Args>()?.path.as_deref().unwrap_or("."))?;
        let exact = spot.said();
        Ok(reads(&spot, exact, None))
    }

    fn run<'a>(&'a self, call: &'a Cleared, ctx: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        let args = call.call().typed::<Args>();
        blocking(ctx, move |ctx| list(&args?, &ctx))
    }
}

fn list(args: &Args, ctx: &Ctx) -> Result<Raw, Trouble> {
    let spot = ctx.spot(args.path.as_deref().unwrap_or("."))?;
    let Spot { place, reached: Reached { path, real: start } } = &spot;
    let meta = place.metadata(start).map_err(|error| near::not_found(place, "list", path, &error))?;
    if !meta.is_dir() {
        let message = format!("{} is a file, not a folder", crate::path::shown(&spot.said()));
        return Err(failed("file/not_folder", message, "Use read_file to read it.").into());
    }
    let most = ctx.limits.list_entries;
    let mut shown: Vec<String> = Vec::new();
    let mut more = 0usize;
    let left_out = walk(place, start, ctx.limits.walk_entries, &ctx.cancel, |entry, _| {
        if shown.len() < most {
            let end = match entry.kind {
                Kind::Folder => "/",
                Kind::Link => " (link)",
                Kind::Other => " (not a file)",
                Kind::File => "",
            };
            shown.push(format!("{}{end}", place.say(&entry.path)));
        } else {
            more += 1;
        }
        Next::Go
    });
    let left_out = left_out.map_err(|error| crate::place::io_failed("list", place.say(start), &error))?;
    if ctx.cancel.is_cancelled() {
        return Err(Trouble::Stopped(Raw::default()));
    }
    shown.sort();
    let text = words(&shown, more, &left_out);
    let value = json!({
        "entries": shown, "left_out": more, "ignored": left_out.ignored.len(), "complete": more == 0 && !left_out.cut
    });
    Ok(Raw { value, text, ..Raw::default() })
}

fn words(shown: &[String], more: usize, left_out: &LeftOut) -> String {
    let mut text = if shown.is_empty() { "(nothing here)".to_owned() } else { shown.join("\n") };
    let mut note = |words: String| text.push_str(&format!("\n[{words}]"));
    if more > 0 || left_out.cut {
        let at_least = if left_out.cut { "at least " } else { "" };
        note(format!(
            "{at_least}{more} more entries, deeper ones first, are left out; list a folder by its path to see them"
        ));
    }
    if !left_out.ignored.is_empty() {
        let named = left_out.ignored.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let rest = left_out.ignored.len().saturating_sub(NAMED);
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        note(format!("left out by ignore rules: {named}{rest}"));
    }
    if !left_out.unreadable.is_empty() {
        note(format!(
            "can't be read: {}",
            left_out.unreadable.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ")
        ));
    }
    if left_out.unnamed > 0 {
        note(format!("{} names that aren't Unicode are left out", left_out.unnamed));
    }
    text.push_str(&kept_out_note(&left_out.kept_out));
    text
}
