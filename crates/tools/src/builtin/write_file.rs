//! `write_file`: a whole file, new or replaced.
//!
//! A replaced text file keeps its encoding, byte-order mark and kind of line ends; a new one is UTF-8 with the line ends
//! it was given. Invariant: the old content is kept as a blob before the new one stands there.

use super::blocking;
use super::change::{Agreed, Change, lines, not_stale, others};
use super::{changed, object};
use crate::call::{Checked, Surveyed};
use crate::clear::Cleared;
use crate::save::Target;
use crate::text::{LineEnds, Text};
use crate::tool::{Concurrency, Ctx, Declared, Raw, Tool, Trouble, View, failed};
use domain::call::{Act, ToolError};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

/// Writes a file.
pub(crate) struct WriteFile(Declared);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    content: String,
}

impl Default for WriteFile {
    fn default() -> Self {
        let properties = json!({
            "path": {"type": "string", "minLength": 1, "description": "Relative to the folder."},
            "content": {"type": "string", "description": "The whole new content."}
        });
        Self(Declared {
            name: "write_file",
            version: 1,
            description: "Create a file or replace all of it. To change a part, use edit_file.",
            schema: object(properties, &["path", "content"]),
            output: changed(),
            concurrency: Concurrency::Parallel,
            view: View::Diff,
        })
    }
}

impl Tool for WriteFile {
    fn declared(&self) -> &Declared {
        &self.0
    }

    fn survey(&self, call: &Checked, ctx: &Ctx) -> Result<Surveyed, ToolError> {
        plan(&call.typed()?, ctx)?.surveyed(Act::Write, ctx)
    }

    fn run<'a>(&'a self, call: &'a Cleared, ctx: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        let (args, agreed) = (call.call().typed::<Args>(), Agreed::of(call));
        blocking(ctx, move |ctx| plan(&args?, &ctx)?.done(&agreed, &ctx))
    }
}

fn plan(args: &Args, ctx: &Ctx) -> Result<Change, ToolError> {
    let reached = ctx.own(&args.path)?;
    let target = Target::find(&ctx.place, &reached, ctx.limits.file_bytes)?;
    not_stale(ctx, &reached, &target)?;
    let old = target.current.as_ref().and_then(|current| Text::decode(&current.bytes).ok());
    let (after, note) = match old.filter(|old| !old.body.is_empty() || !old.is_plain()) {
        None => (args.content.clone().into_bytes(), String::new()),
        Some(old) => in_the_way_of(&old, &args.content)?,
    };
    let (lines, others) = (lines(&target, &after, ctx), others(&ctx.place, &target));
    Ok(Change { reached, target, others, after, lines, note })
}

/// The new content in the old file's encoding, and with its line ends where those are all CRLF.
fn in_the_way_of(old: &Text, content: &str) -> Result<(Vec<u8>, String), ToolError> {
    let crlf = LineEnds::of(&old.body) == LineEnds::CrLf;
    let content = if crlf { content.replace("\r\n", "\n").replace('\n', "\r\n") } else { content.to_owned() };
    let bytes = old
        .encode(content.trim_start_matches('\u{feff}'))
        .map_err(|missing| unencodable(missing.encoding))?;
    let mut kept = Vec::new();
    if !old.is_plain() {
        kept.push(format!("encoding {}", old.encoding()));
    }
    if crlf {
        kept.push("CRLF line ends".to_owned());
    }
    Ok((bytes, if kept.is_empty() { String::new() } else { format!("Kept: {}.", kept.join(", ")) }))
}

pub(super) fn unencodable(encoding: &str) -> ToolError {
    failed(
        "text/unencodable",
        format!(
            "the file is written in {encoding}, which doesn't have all these characters; nothing was written"
        ),
        "Use only characters it has, or ask the person whether to convert the file.",
    )
}
