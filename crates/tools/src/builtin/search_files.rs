//! `search_files`: lines that match a pattern.
//!
//! Files are decoded like everywhere else, so a search finds Chinese text in a GBK file. Invariant: patterns run in
//! linear time (no look-around), ignored and binary files are left out, a file that by its name holds secrets is searched
//! only when the call names it (so that whoever allows the call sees which), and a cut result says so.

use super::{blocking, near, object, reads};
use crate::added::Spot;
use crate::call::{Checked, Surveyed};
use crate::clear::Cleared;
use crate::path::{RelPath, is_secret, shown};
use crate::place::{Reached, is_placeholder, open_in};
use crate::record;
use crate::revision::SecretFiles;
use crate::text::Text;
use crate::tool::{Concurrency, Ctx, Declared, Raw, Tool, Trouble, View, failed};
use crate::walk::{Entry, Kind, Next, kept_out_note, walk};
use cap_fs_ext::{FollowSymlinks, MetadataExt as _};
use cap_std::fs::Dir;
use domain::call::ToolError;
use domain::digest::Digest;
use futures_util::future::BoxFuture;
use globset::{Glob, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks::UTF8};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Read;

/// Largest file that is searched.
const FILE_BYTES: u64 = 20 << 20;
/// Most secret files that are named.
const NAMED: usize = 5;
/// Largest compiled pattern.
const PATTERN_BYTES: usize = 8 << 20;

/// Searches files.
pub(crate) struct SearchFiles(Declared);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
}

impl Default for SearchFiles {
    fn default() -> Self {
        let properties = json!({
            "pattern": {"type": "string", "minLength": 1, "description": "Regular expression, matched line by line."},
            "path": {"type": "string", "description": "File or folder to search. Default: all."},
            "glob": {"type": "string", "description": "Only these files, e.g. \"*.md\" or \"src/**/*.rs\"."}
        });
        Self(Declared {
            name: "search_files",
            version: 1,
            description: "Search the text of files. Gives path:line: text. Not for finding files by name.",
            schema: object(properties, &["pattern"]),
            output: object(
                json!({
                    "hits": {"type": "array", "items": {"type": "string"}}, "complete": {"type": "boolean"},
                    "files": {"type": "integer"}, "skipped": {"type": "integer"}
                }),
                &["hits", "complete", "files", "skipped"],
            ),
            concurrency: Concurrency::Parallel,
            view: View::Plain,
        })
    }
}

impl Tool for SearchFiles {
    fn declared(&self) -> &Declared {
        &self.0
    }

    fn survey(&self, call: &Checked, ctx: &Ctx) -> Result<Surveyed, ToolError> {
        let args: Args = call.typed()?;
        if let Some(path) = args.path.as_deref().filter(|path| record::place(path).is_some()) {
            Search::new(&args, ctx)?;
            return Ok(record::reads(path));
        }
        let spot = ctx.spot(args.path.as_deref().unwrap_or("."))?;
        Search::new(&args, ctx)?;
        let secret = ctx.secret_name(&spot);
        Ok(reads(&spot, call.arguments().to_owned(), secret))
    }

    fn run<'a>(&'a self, call: &'a Cleared, ctx: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        let args = call.call().typed::<Args>();
        blocking(ctx, move |ctx| search(&args?, &ctx))
    }
}

struct Search {
    matcher: RegexMatcher,
    glob: Option<GlobMatcher>,
    searcher: Searcher,
    most: usize,
    hit_bytes: usize,
    hits: Vec<String>,
    more: bool,
    files: usize,
    skipped: usize,
    secret: Vec<String>,
    /// Digests of secret files that were searched by name: that they were read must be known later.
    seen: BTreeMap<String, Digest>,
}

impl Search {
    fn new(args: &Args, ctx: &Ctx) -> Result<Self, ToolError> {
        let matcher = RegexMatcherBuilder::new()
            .size_limit(PATTERN_BYTES)
            .line_terminator(Some(b'\n'))
            .build(&args.pattern)
            .map_err(|error| {
                let why = error.to_string();
                failed(
                    "search/pattern",
                    format!("the pattern can't be used: {why}"),
                    "Escape special characters, or search for less.",
                )
            })?;
        let glob = args.glob.as_deref().map(Glob::new).transpose();
        let glob =
            glob.map_err(|error| failed("search/glob", format!("the glob can't be used: {error}"), ""))?;
        Ok(Self {
            matcher,
            glob: glob.map(|glob| glob.compile_matcher()),
            searcher: SearcherBuilder::new()
                .binary_detection(BinaryDetection::none())
                .bom_sniffing(false)
                .build(),
            most: ctx.limits.search_hits,
            hit_bytes: ctx.limits.hit_bytes,
            hits: Vec::new(),
            more: false,
            files: 0,
            skipped: 0,
            secret: Vec::new(),
            seen: BTreeMap::new(),
        })
    }

    fn wants(&self, path: &RelPath) -> bool {
        let glob = self.glob.as_ref();
        glob.is_none_or(|glob| glob.is_match(path.as_str()) || glob.is_match(path.name()))
    }

    /// Searches one file, which is called so in hits, and which the call named like this where it did.
    fn file(&mut self, path: &RelPath, said: &str, dir: &Dir, names: &[String]) {
        let mut bytes = Vec::new();
        let read = open_in(dir, path.name(), FollowSymlinks::No).and_then(|file| {
            let meta = file.metadata()?;
            let fits = meta.is_file() && meta.len() <= FILE_BYTES && !is_placeholder(&file);
            if fits {
                file.take(FILE_BYTES).read_to_end(&mut bytes)
            } else {
                Err(std::io::ErrorKind::InvalidInput.into())
            }
        });
        let text = match (read, Text::decode(&bytes)) {
            (Ok(_), Ok(text)) => text,
            _ => {
                self.skipped += 1;
                return;
            }
        };
        self.files += 1;
        if names.iter().any(|name| is_secret(name)) {
            let digest = Digest::of(&bytes);
            self.seen.extend(names.iter().map(|name| (name.clone(), digest)));
        }
        self.text(&text.body, said);
    }

    /// Searches a text that is called so in hits.
    fn text(&mut self, text: &str, said: &str) {
        let Self { matcher, searcher, hits, more, most, hit_bytes, .. } = self;
        let sink = UTF8(|number, line| {
            if hits.len() >= *most {
                *more = true;
                return Ok(false);
            }
            hits.push(format!(
                "{said}:{number}: {}",
                bounded(line.trim_end_matches(['\n', '\r']), *hit_bytes)
            ));
            Ok(true)
        });
        if searcher.search_slice(&*matcher, text.as_bytes(), sink).is_err() {
            self.skipped += 1;
        }
    }
}

fn bounded(line: &str, most: usize) -> String {
    match line.len() > most {
        false => line.to_owned(),
        true => {
            let fits = line.floor_char_boundary(most);
            format!("{} [… {} bytes more]", &line[..fits], line.len() - fits)
        }
    }
}

/// Lines of the session's own record.
fn recorded(args: &Args, what: &record::Said, ctx: &Ctx) -> Result<Raw, Trouble> {
    let text = record::text(&*ctx.record, what)?;
    let mut search = Search::new(args, ctx)?;
    search.text(&text, args.path.as_deref().unwrap_or_default());
    let mut words = match search.hits.is_empty() {
        true => "No line of it matches.".to_owned(),
        false => search.hits.join("\n"),
    };
    if search.more {
        words.push_str(&format!("\n[more than {} hits; narrow the pattern to see the rest]", search.most));
    }
    let value = json!({"hits": search.hits, "complete": !search.more, "files": 1, "skipped": search.skipped});
    Ok(Raw { value, text: words, ..Raw::default() })
}

fn search(args: &Args, ctx: &Ctx) -> Result<Raw, Trouble> {
    if let Some(what) = args.path.as_deref().and_then(record::place) {
        return recorded(args, &what, ctx);
    }
    let spot = ctx.spot(args.path.as_deref().unwrap_or("."))?;
    let Spot { place, reached: Reached { path, real: start } } = &spot;
    let meta = place.metadata(start).map_err(|error| near::not_found(place, "search", path, &error))?;
    let mut search = Search::new(args, ctx)?;
    let (mut cut, mut kept_out) = (false, Vec::new());
    // Looked for once, and only where a file with several names is met.
    let mut secrets: Option<SecretFiles> = None;
    if meta.is_dir() {
        let each = |entry: &Entry, dir: &Dir| {
            if entry.kind == Kind::File && search.wants(&entry.path) {
                let said = place.say(&entry.path);
                let several = dir.symlink_metadata(entry.path.name()).ok().filter(|meta| meta.nlink() > 1);
                let mut by_another_name = |meta| {
                    let secrets = secrets.get_or_insert_with(|| SecretFiles::of(ctx.places(), &ctx.cancel));
                    secrets.name(&meta).is_some()
                };
                let secret = is_secret(&said) || several.is_some_and(&mut by_another_name);
                match secret {
                    true => search.secret.push(shown(&said)),
                    false => search.file(&entry.path, &said, dir, &[]),
                }
            }
            if search.more { Next::Stop } else { Next::Go }
        };
        let left_out = walk(place, start, ctx.limits.walk_entries, &ctx.cancel, each);
        let left_out =
            left_out.map_err(|error| crate::place::io_failed("search", place.say(start), &error))?;
        (cut, kept_out) = (left_out.cut, left_out.kept_out);
    } else {
        let dir = place.parent_of(start);
        let dir = dir.map_err(|error| crate::place::io_failed("search", spot.said(), &error))?;
        search.file(start, &place.say(start), &dir, &spot.names());
    }
    if ctx.cancel.is_cancelled() {
        return Err(Trouble::Stopped(Raw::default()));
    }
    let mut text = match search.hits.is_empty() {
        true => format!("No line matches in {} files.", search.files),
        false => search.hits.join("\n"),
    };
    if search.more {
        text.push_str(&format!(
            "\n[more than {} hits; narrow the pattern, path or glob to see the rest]",
            search.most
        ));
    } else if cut {
        text.push_str("\n[the folder is too large to search whole; search a part of it by path]");
    }
    if search.skipped > 0 {
        text.push_str(&format!(
            "\n[{} binary, too large, unreadable or not downloaded files were not searched]",
            search.skipped
        ));
    }
    if !search.secret.is_empty() {
        let named = search.secret.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        text.push_str(&format!(
            "\n[{} files that seem to hold secrets were not searched: {named}; give one as path to search it]",
            search.secret.len()
        ));
    }
    text.push_str(&kept_out_note(&kept_out));
    let seen = if spot.added().is_none() { search.seen } else { BTreeMap::new() };
    let value = json!({
        "hits": search.hits, "complete": !search.more && !cut, "files": search.files, "skipped": search.skipped
    });
    Ok(Raw { value, text, seen, ..Raw::default() })
}
