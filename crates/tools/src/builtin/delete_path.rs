//! `delete_path`: a file, link or whole folder, kept where it can be brought back.
//!
//! It goes to the trash; where there is none, or it can't take it, every file is kept as a blob first. Invariant: nothing
//! is deleted that isn't kept somewhere, a link is deleted and never what it leads to, and the effect says where it went.

use super::change::deletion;
use super::trash::{self, Kept};
use super::{blocking, near, object};
use crate::blob::holds_secret;
use crate::call::{Checked, Surveyed};
use crate::clear::Cleared;
use crate::path::{RelPath, is_protected, shown};
use crate::place::{io_failed, open_dir_in, open_in};
use crate::revision::other_names;
use crate::tool::{Bin, Concurrency, Ctx, Declared, Raw, Tool, Trouble, View, failed, fault};
use crate::walk::Kind;
use cap_fs_ext::FollowSymlinks;
use cap_std::fs::Dir;
use domain::call::{Act, Effect, Entry, Facts, LineCount, ToolError, Undo};
use domain::digest::Digest;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, Read};

/// Deepest folders that are kept file by file.
const MAX_DEPTH: usize = 200;
/// Most bytes that the list of what was kept may take: it stands in the result's event, which holds 256 KB of all.
const LISTED_BYTES: usize = 160 << 10;
/// Bytes of one file in that list beside its path: two digests, lines, names of fields.
const LISTED_EACH: usize = 300;

/// Deletes.
pub(crate) struct DeletePath(Declared);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
}

impl Default for DeletePath {
    fn default() -> Self {
        let properties =
            json!({"path": {"type": "string", "minLength": 1, "description": "Relative to the folder."}});
        Self(Declared {
            name: "delete_path",
            version: 1,
            description: "Delete a file or a whole folder. It is kept where the person can restore it.",
            schema: object(properties, &["path"]),
            output: object(
                json!({
                    "path": {"type": "string"}, "files": {"type": "integer"}, "found_done": {"const": true},
                    "kept_in": {"type": "string"}
                }),
                &["path"],
            ),
            concurrency: Concurrency::Parallel,
            view: View::Plain,
        })
    }
}

impl Tool for DeletePath {
    fn declared(&self) -> &Declared {
        &self.0
    }

    fn survey(&self, call: &Checked, ctx: &Ctx) -> Result<Surveyed, ToolError> {
        Doomed::find(&call.typed()?, ctx).map(|doomed| doomed.surveyed(ctx))
    }

    fn run<'a>(&'a self, call: &'a Cleared, ctx: &'a Ctx) -> BoxFuture<'a, Result<Raw, Trouble>> {
        let args = call.call().typed::<Args>();
        let agreed = call.facts().depends_on.values().next().copied();
        blocking(ctx, move |ctx| Doomed::find(&args?, &ctx)?.deleted(agreed, &ctx))
    }
}

/// What shall be deleted.
struct Doomed {
    path: RelPath,
    kind: Kind,
    /// Everything in it, itself included, parents first.
    parts: Vec<Part>,
    /// More than is listed?
    more: bool,
    bytes: u64,
    /// Over everything listed: names, kinds, sizes and times; for a single file its content.
    digest: Digest,
}

struct Part {
    path: RelPath,
    kind: Kind,
    mode: Option<u32>,
}

impl Doomed {
    fn find(args: &Args, ctx: &Ctx) -> Result<Self, ToolError> {
        // The last part isn't followed: a link is deleted, not what it leads to.
        ctx.not_added(&args.path)?;
        let written = ctx.place.resolve(&args.path)?;
        let path = ctx.place.reach(written.parent().as_str())?.real.join(written.name());
        let path = ctx.place.resolve(path.as_str())?;
        if written.is_root() {
            return Err(failed(
                "delete/root",
                "the folder itself isn't deleted",
                "Delete what is in it, one by one.",
            ));
        }
        let parent = ctx
            .place
            .parent_of(&path)
            .map_err(|error| near::not_found(&ctx.place, "delete", &path, &error))?;
        let meta = parent.symlink_metadata(path.name());
        let meta = meta.map_err(|error| near::not_found(&ctx.place, "delete", &path, &error))?;
        let mut found = Found {
            parts: Vec::new(),
            facts: String::new(),
            bytes: 0,
            most: ctx.limits.delete_entries,
            more: false,
        };
        found
            .add(&parent, &path, kind_of(&meta.file_type()))
            .map_err(|error| io_failed("look at", &path, &error))?;
        if found.parts.iter().any(|part| ctx.place.hides(&part.path)) {
            return Err(failed(
                "path/outside",
                format!("{} holds files of Daybook itself", shown(path.as_str())),
                "",
            ));
        }
        let kind = kind_of(&meta.file_type());
        let content = match kind {
            Kind::File if meta.len() <= ctx.limits.file_bytes => {
                Some(content(&parent, path.name(), ctx.limits.file_bytes))
            }
            Kind::File | Kind::Folder | Kind::Link | Kind::Other => None,
        };
        let content = content.transpose().map_err(|error| io_failed("look at", &path, &error))?;
        let digest = content.map_or_else(|| Digest::of(found.facts.as_bytes()), |bytes| Digest::of(&bytes));
        Ok(Self { path, kind, parts: found.parts, more: found.more, bytes: found.bytes, digest })
    }

    fn files(&self) -> usize {
        self.parts.iter().filter(|part| part.kind != Kind::Folder).count()
    }

    /// What is protected in it, by its outermost names: a permission to delete around it isn't one for that.
    fn protected_inside(&self) -> Vec<String> {
        const NAMED: usize = 8;
        let inside = self.parts.iter().skip(1).map(|part| &part.path);
        // What lies in a protected folder is protected because of it.
        let outermost = |path: &&RelPath| !is_protected(path.parent().as_str());
        let protected = inside.filter(|path| is_protected(path.as_str())).filter(outermost);
        protected.take(NAMED).map(RelPath::to_string).collect()
    }

    fn listed_bytes(&self) -> usize {
        self.parts.iter().map(|part| json!(part.path.as_str()).to_string().len() + LISTED_EACH).sum()
    }

    /// Does a file of it hold a registered key? Of that no copy is kept, so only the trash has it then.
    fn holds_key(&self, ctx: &Ctx) -> bool {
        let files = self.parts.iter().filter(|part| part.kind == Kind::File);
        files.map(|part| &part.path).any(|path| {
            let parent = ctx.place.parent_of(path);
            let file = parent.and_then(|dir| open_in(&dir, path.name(), FollowSymlinks::No));
            file.is_ok_and(|mut file| {
                let mut watched = ctx.secrets.watch(&mut file);
                // It stops with an error at the first one.
                let _ = io::copy(&mut watched, &mut io::sink());
                watched.found()
            })
        })
    }

    fn surveyed(&self, ctx: &Ctx) -> Surveyed {
        let path = self.path.to_string();
        let kind = match self.kind {
            Kind::Folder => "folder",
            Kind::File => "file",
            Kind::Link => "link",
            Kind::Other => "special",
        };
        let words = BTreeMap::from([
            ("path".to_owned(), path.clone()),
            ("kind".to_owned(), kind.to_owned()),
            ("files".to_owned(), self.files().to_string()),
            ("more".to_owned(), self.more.to_string()),
            ("size".to_owned(), self.bytes.to_string()),
            ("to".to_owned(), if ctx.bin == Bin::Blobs { "kept" } else { "trash" }.to_owned()),
        ]);
        let kept = self.bytes <= ctx.limits.file_bytes;
        let whole = kept && !self.holds_key(ctx) && (self.kind == Kind::File || ctx.bin == Bin::Blobs);
        let facts = Facts {
            act: Act::Delete,
            exact: path.clone(),
            can_touch: std::iter::once(path.clone()).chain(self.protected_inside()).collect(),
            cannot_touch: vec!["outside_folder".to_owned(), "network".to_owned()],
            added: Vec::new(),
            reach: Vec::new(),
            undo: if whole { Undo::Yes } else { Undo::Partly },
            risk: if self.kind == Kind::Folder || is_protected(&path) { 3 } else { 2 },
            words,
            depends_on: BTreeMap::from([(path.clone(), self.digest)]),
            proposed: None,
        };
        let file = Entry::File { content: self.digest, bytes: self.bytes, mode: None };
        let before = (self.kind == Kind::File).then_some(file);
        Surveyed { facts, semantics: deletion(&path, before, whole) }
    }

    fn deleted(self, agreed: Option<Digest>, ctx: &Ctx) -> Result<Raw, Trouble> {
        let name = shown(self.path.as_str());
        if agreed != Some(self.digest) {
            let message = format!("{name} has changed since the call was allowed; nothing was deleted");
            return Err(failed("file/changed", message, "Look at it again, then decide anew.").into());
        }
        let parent =
            ctx.place.parent_of(&self.path).map_err(|error| io_failed("delete", &self.path, &error))?;
        let mut effects = self.kept_as_blobs(ctx)?;
        if ctx.cancel.is_cancelled() {
            return Err(Trouble::Stopped(Raw::default()));
        }
        let parted = match self.kind {
            Kind::File => other_names(&ctx.place, self.path.as_str()).parted(),
            Kind::Folder | Kind::Link | Kind::Other => None,
        };
        let original = ctx.place.path().join(self.path.as_str());
        let kept = trash::put(ctx, &parent, self.path.name(), &original)
            .map_err(|error| fault("using the trash", &error))?;
        let where_to = match (kept, &effects) {
            (Kept::Trash, Some(_)) => "trash",
            (Kept::Trash, None) => {
                effects = Some(vec![gone(&self.path, None, None)]);
                "trash"
            }
            (Kept::No, Some(_)) => {
                remove(&parent, self.path.name(), self.kind)
                    .map_err(|error| io_failed("delete", &self.path, &error))?;
                "blob"
            }
            (Kept::No, None) => {
                let message = format!(
                    "{name} is too large to keep a copy of or holds a registered key, and there is no trash to put it in; nothing was deleted"
                );
                return Err(failed(
                    "delete/too_large",
                    message,
                    "Delete smaller parts, or ask the person to delete it.",
                )
                .into());
            }
        };
        let mut effects = effects.unwrap_or_default();
        effects.iter_mut().for_each(|effect| effect.kept_in = Some(where_to.to_owned()));
        if let Some(effect) = effects.first_mut() {
            effect.parted = parted;
        }
        let counted =
            if self.kind == Kind::Folder { format!(" ({} files)", self.files()) } else { String::new() };
        let text = match where_to {
            "trash" => format!("Moved {name}{counted} to the trash."),
            _ => format!("Deleted {name}{counted}; the content is kept and can be brought back."),
        };
        let blobs = effects.iter().filter_map(Effect::content_before).collect();
        let value = json!({"path": self.path.as_str(), "files": self.files(), "kept_in": where_to});
        Ok(Raw { value, text, effects, blobs, ..Raw::default() })
    }

    /// One effect for each file, its content kept; `None` when that would be too much.
    fn kept_as_blobs(&self, ctx: &Ctx) -> Result<Option<Vec<Effect>>, Trouble> {
        if self.more || self.bytes > ctx.limits.file_bytes || self.listed_bytes() > LISTED_BYTES {
            return Ok(None);
        }
        let mut effects = Vec::new();
        for part in &self.parts {
            let dir =
                ctx.place.parent_of(&part.path).map_err(|error| io_failed("keep", &part.path, &error))?;
            match part.kind {
                Kind::File => {
                    let bytes = content(&dir, part.path.name(), ctx.limits.file_bytes);
                    let bytes = bytes.map_err(|error| io_failed("keep", &part.path, &error))?;
                    let lines = crate::text::Text::decode(&bytes).ok().map(|text| LineCount {
                        added: 0,
                        removed: u32::try_from(text.body.lines().count()).unwrap_or(u32::MAX),
                    });
                    let content = match ctx.blobs.put(&bytes) {
                        Ok(content) => content,
                        // No copy of a key is kept; only the trash takes the file then.
                        Err(error) if holds_secret(&error) => return Ok(None),
                        Err(error) => return Err(fault("keeping the content", &error)),
                    };
                    let file = Entry::File { content, bytes: bytes.len() as u64, mode: part.mode };
                    effects.push(gone(&part.path, Some(file), lines));
                }
                Kind::Link => {
                    let target = dir
                        .read_link_contents(part.path.name())
                        .map_err(|error| io_failed("keep", &part.path, &error))?;
                    // A target that isn't Unicode can't be written down; only the trash takes the link then.
                    let Some(target) = target.to_str().map(str::to_owned) else { return Ok(None) };
                    effects.push(gone(&part.path, Some(Entry::Link { target }), None));
                }
                Kind::Folder => effects.push(gone(&part.path, Some(Entry::Folder { mode: part.mode }), None)),
                Kind::Other => return Ok(None),
            }
        }
        Ok(Some(effects))
    }
}

fn gone(path: &RelPath, before: Option<Entry>, lines: Option<LineCount>) -> Effect {
    Effect { path: path.to_string(), before, after: None, lines, kept_in: None, parted: None }
}

/// Everything below a path, by handle, links not followed.
struct Found {
    parts: Vec<Part>,
    facts: String,
    bytes: u64,
    most: usize,
    more: bool,
}

impl Found {
    fn add(&mut self, parent: &Dir, path: &RelPath, kind: Kind) -> io::Result<()> {
        if self.parts.len() >= self.most || path.as_str().matches('/').count() > MAX_DEPTH {
            self.more = true;
            return Ok(());
        }
        let meta = parent.symlink_metadata(path.name())?;
        let modified = meta.modified().ok().map(|time| format!("{time:?}"));
        self.facts.push_str(&format!("{path}\0{kind:?}\0{}\0{modified:?}\n", meta.len()));
        self.parts.push(Part { path: path.clone(), kind, mode: crate::save::mode(&meta) });
        if kind == Kind::File {
            self.bytes = self.bytes.saturating_add(meta.len());
        }
        if kind == Kind::Folder {
            let dir = open_dir_in(parent, path.name())?;
            let mut names = Vec::new();
            for entry in dir.entries()? {
                let entry = entry?;
                // A name that isn't Unicode can't be kept under its name; then only the trash takes the folder.
                match entry.file_name().to_str() {
                    Some(name) => names.push((name.to_owned(), kind_of(&entry.file_type()?))),
                    None => self.more = true,
                }
            }
            names.sort_by(|one, other| one.0.cmp(&other.0));
            for (name, kind) in names {
                self.add(&dir, &path.join(&name), kind)?;
            }
        }
        Ok(())
    }
}

fn kind_of(kind: &cap_std::fs::FileType) -> Kind {
    match (kind.is_dir(), kind.is_file(), kind.is_symlink()) {
        (true, ..) => Kind::Folder,
        (_, true, _) => Kind::File,
        (.., true) => Kind::Link,
        _ => Kind::Other,
    }
}

/// The whole content; an error when it grew past the bound meanwhile: a part of it kept would not be it.
fn content(dir: &Dir, name: &str, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_in(dir, name, FollowSymlinks::No)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

fn remove(parent: &Dir, name: &str, kind: Kind) -> io::Result<()> {
    match kind {
        Kind::Folder => parent.remove_dir_all(name),
        Kind::File | Kind::Link | Kind::Other => parent.remove_file(name),
    }
}
