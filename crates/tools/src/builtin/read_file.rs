//! `read_file`: a text file, or the part of it that fits.
//!
//! Any encoding people really have is decoded, and named when it isn't plain. Invariant: a binary file never reaches the
//! model, and a cut result says how much is missing and how to get it.

use super::{blocking, near, object, reads};
use crate::added::Spot;
use crate::call::{Checked, Surveyed};
use crate::clear::Cleared;
use crate::limits::Limits;
use crate::path::shown;
use crate::place::Reached;
use crate::record;
use crate::save::Current;
use crate::text::{Binary, LineEnds, Text};
use crate::tool::{Concurrency, Ctx, Declared, Raw, Tool, Trouble, View, failed};
use domain::call::ToolError;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

/// Reads a file.
pub(crate) struct ReadFile(Declared);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

impl Default for ReadFile {
    fn default() -> Self {
        let properties = json!({
            "path": {"type": "string", "minLength": 1, "description": "Relative to the folder, e.g. \"src/main.py\"."},
            "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1."},
            "limit": {"type": "integer", "minimum": 1, "description": "Lines to read, at most 2000."}
        });
        Self(Declared {
            name: "read_file",
            version: 1,
            description: "Read a text file. Not for folders or binary files.",
            schema: object(properties, &["path"]),
            output: object(
                json!({
                    "path": {"type": "string"}, "bytes": {"type": "integer"}, "lines": {"type": "integer"},
                    "encoding": {"type": "string"}, "from_line": {"type": "integer"},
                    "to_line": {"type": "integer"}, "complete": {"type": "boolean"}
                }),
                &["path", "bytes", "lines", "from_line", "to_line", "complete"],
            ),
            concurrency: Concurrency::Parallel,
            view: View::Plain,
        })
    }
}

impl Tool for ReadFile {
    fn declared(&self) -> &Declared {
        &self.0
    }

    fn survey(&self, call: &Checked, ctx: &Ctx) -> Result<Surveyed, ToolError> {
        let Args { path, offset, limit } = call.typed::<Args>()?;
        if record::place(&path).is_some() {
            return Ok(record::reads(&path));
        }
        let spot = ctx.spot(&path)?;
        let secret = ctx.secret_name(&spot);
        let mut surveyed = reads(&spot, spot.said(), secret);
        // Without them all of the file is read.
        for (name, lines) in [("from_line", offset), ("lines", limit)] {
            if let Some(lines) = lines {
                surveyed.facts.words.insert(name.to_owned(), lines.to_string());
            }
        }
        Ok(surveyed)
    }

    fn run<'a>(&'a self, call: &'a Cleared, ctx: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        let args = call.call().typed::<Args>();
        blocking(ctx, move |ctx| read(&args?, &ctx))
    }
}

/// A part of what an event of the session's own record says.
fn recorded(args: &Args, what: &record::Said, ctx: &Ctx) -> Result<Raw, Trouble> {
    let text = Text::plain(record::text(&*ctx.record, what)?);
    let part = Part::of(&text.body, args.offset.unwrap_or(1), args.limit, &ctx.limits)?;
    let notes = notes(&part, &text);
    let value = json!({
        "path": args.path, "bytes": text.body.len(), "lines": part.total, "from_line": part.from,
        "to_line": part.to, "complete": part.is_whole(),
    });
    let end = if notes.is_empty() { String::new() } else { format!("\n[{notes}]") };
    Ok(Raw { value, text: format!("{}{end}", part.text.trim_end_matches('\n')), ..Raw::default() })
}

fn read(args: &Args, ctx: &Ctx) -> Result<Raw, Trouble> {
    if let Some(what) = record::place(&args.path) {
        return recorded(args, &what, ctx);
    }
    let spot = ctx.spot(&args.path)?;
    let Spot { place, reached } = &spot;
    let Reached { path, real } = reached;
    place.metadata(real).map_err(|error| near::not_found(place, "read", path, &error))?;
    let current = Current::read(place, real, ctx.limits.file_bytes)?;
    let text = Text::decode(&current.bytes)
        .map_err(|binary| is_binary(&spot.said(), current.bytes.len(), binary))?;
    let mut part = Part::of(&text.body, args.offset.unwrap_or(1), args.limit, &ctx.limits)?;
    let notes = notes(&part, &text);
    // Shown with plain line breaks: edit_file matches without regard to their kind and keeps each as it is.
    part.text = part.text.replace("\r\n", "\n");
    let value = json!({
        "path": spot.said(), "bytes": current.bytes.len(), "lines": part.total, "encoding": text.encoding(),
        "from_line": part.from, "to_line": part.to, "complete": part.is_whole(),
    });
    let text = match (part.text.is_empty(), notes.is_empty()) {
        (true, _) => format!("(the file is empty{notes})"),
        (false, true) => part.text,
        (false, false) => format!("{}\n[{notes}]", part.text.trim_end_matches('\n')),
    };
    // What is only looked at can't be changed from a stale state, and no document applies to it.
    let own = spot.added().is_none();
    let seen = reached.names().into_iter().filter(|_| own).map(|name| (name, current.digest)).collect();
    Ok(Raw { value, text, seen, ..Raw::default() })
}

/// The refusal of a binary file.
pub(super) fn is_binary(path: &str, size: usize, binary: Binary) -> ToolError {
    let kind = binary.kind.unwrap_or("unknown kind");
    failed(
        "file/binary",
        format!("{} is a binary file ({kind}, {size} bytes), not text", shown(path)),
        "Use run_command with a program that reads this kind of file.",
    )
}

/// The lines that fit.
struct Part {
    text: String,
    from: usize,
    to: usize,
    total: usize,
    /// Bytes of the last line that didn't fit, when even one line is too long.
    cut_bytes: usize,
}

impl Part {
    fn of(body: &str, offset: usize, limit: Option<usize>, limits: &Limits) -> Result<Self, ToolError> {
        let total = body.lines().count();
        if offset > total.max(1) {
            let message = format!("line {offset} is past the end, the file has {total} lines");
            return Err(failed("read/past_end", message, "Read from an earlier line."));
        }
        let most = limit.unwrap_or(usize::MAX).min(limits.read_lines);
        let (mut text, mut to, mut cut_bytes) = (String::new(), offset - 1, 0);
        for line in body.split_inclusive('\n').skip(offset - 1).take(most) {
            if text.len() + line.len() > limits.read_bytes {
                if text.is_empty() {
                    let fits = line.floor_char_boundary(limits.read_bytes);
                    text.push_str(&line[..fits]);
                    cut_bytes = line.len() - fits;
                    to += 1;
                }
                break;
            }
            text.push_str(line);
            to += 1;
        }
        Ok(Self { text, from: offset, to, total, cut_bytes })
    }

    fn is_whole(&self) -> bool {
        self.from == 1 && self.to >= self.total && self.cut_bytes == 0
    }
}

fn notes(part: &Part, text: &Text) -> String {
    let mut notes = Vec::new();
    if part.cut_bytes > 0 {
        notes.push(format!(
            "line {} is cut, {} bytes of it are missing: search_files finds text in it, run_command with `cut -c` shows parts",
            part.to, part.cut_bytes
        ));
    }
    if part.from > 1 || part.to < part.total {
        notes.push(format!("lines {}-{} of {}", part.from, part.to, part.total));
    }
    if part.to < part.total {
        notes.push(format!("go on with offset {}", part.to + 1));
    }
    if !text.is_plain() {
        notes.push(format!("encoding {}", text.encoding()));
    }
    match LineEnds::of(&text.body) {
        LineEnds::CrLf => notes.push("CRLF line ends".to_owned()),
        LineEnds::Mixed => notes.push("mixed line ends".to_owned()),
        LineEnds::Lf | LineEnds::None => {}
    }
    let notes = notes.join("; ");
    if part.text.is_empty() && !notes.is_empty() { format!("; {notes}") } else { notes }
}
