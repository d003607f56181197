//! What a command sees and may change: of what its folders hold, what is hidden from it and what is held.
//!
//! Files with secrets are hidden from a command that nobody looked at, under each of their names in every folder that it sees,
//! and what programs obey is held from it. Invariant: where that can't be told, the command isn't free, and isn't started.

use crate::command::Harmless;
use crate::path::{RelPath, Special, find_special, protected_from_commands};
use crate::place::Place;
use crate::policy::Cage;
use crate::revision::SecretFiles;
use crate::rules::hidden_from;
use crate::tool::{Ctx, failed};
use domain::call::ToolError;
use std::path::PathBuf;
use std::sync::Arc;

/// May a command that only looks run unasked here? Secret files are hidden from it, so the cage must be able to hide; what a
/// repository remembers of them can't be hidden, so where there are any, git is asked about.
pub(super) fn free(harmless: Harmless, cage: Cage, added: &[String], ctx: &Ctx) -> bool {
    // One that can't be looked through makes the whole unknown.
    match (cage, secrets(added, ctx)) {
        (Cage::None, _) | (_, None) => false,
        (Cage::Full, Some(secrets)) => secrets.is_empty() || !harmless.obeys_repository,
        (Cage::Partial, Some(secrets)) => secrets.is_empty(),
    }
}

/// A file with secrets that a command could read where the cage can't hide it; the folder where that can't be told.
pub(super) fn in_the_open(added: &[String], ctx: &Ctx) -> Option<String> {
    secrets(added, ctx).map_or_else(|| Some(".".to_owned()), |all| all.into_iter().next())
}

/// Files with secrets by all their names in the session's folder and these added ones, as calls say them.
fn secrets(added: &[String], ctx: &Ctx) -> Option<Vec<String>> {
    let added = ctx.added_here(added).ok()?;
    let secrets = in_sight(&added, ctx)?.into_iter().flat_map(|(place, found)| {
        found.secrets.into_iter().map(|path| RelPath::parse(&path).map_or(path, |path| place.say(&path)))
    });
    Some(secrets.collect())
}

/// What is special in each folder that a command sees, in the session's own first.
pub(super) fn special(
    added: &[(PathBuf, Arc<Place>)],
    ctx: &Ctx,
) -> Result<Vec<(PathBuf, Special)>, ToolError> {
    let found = in_sight(added, ctx).ok_or_else(|| {
        let message = "the folder couldn't be looked through for secret files";
        let suggestion = "Ask the person to run it, or work in a smaller folder.";
        failed("command/not_started", message, suggestion)
    })?;
    Ok(found.into_iter().map(|(place, found)| (place.path().to_owned(), found)).collect())
}

/// The same by folder, with secrets by all their names in it; `None` where that can't be told of one.
fn in_sight<'a>(added: &'a [(PathBuf, Arc<Place>)], ctx: &'a Ctx) -> Option<Vec<(&'a Place, Special)>> {
    let (mut seen, mut files) = (Vec::new(), SecretFiles::none());
    for place in std::iter::once(&ctx.place).chain(added.iter().map(|(_, place)| place)) {
        let found = find_special(place.dir(), &ctx.cancel)?;
        files.add(place, &found.secrets);
        seen.push((&**place, found));
    }
    // A secret by another name may be one of a folder that the command doesn't see.
    let is_seen = |place: &Place| seen.iter().any(|(one, _)| std::ptr::eq(*one, place));
    let unseen: Vec<&Place> = ctx.places().filter(|place| !is_seen(place)).collect();
    if !unseen.is_empty() && seen.iter().any(|(place, _)| files.leave_open(place)) {
        unseen.into_iter().for_each(|place| files.look(place, &ctx.cancel));
    }
    for (place, found) in &mut seen {
        found.secrets.extend(files.met_in(place)?);
        found.secrets.sort();
        found.secrets.dedup();
    }
    Some(seen)
}

/// What a command must not see: what is ours, and what a rule of the person is about, where the cage can hide it.
pub(super) fn hidden(command: &str, ctx: &Ctx) -> Vec<PathBuf> {
    let mut hide = ctx.place.hide().to_vec();
    if ctx.launcher.cage() == Cage::Full {
        let kept = hidden_from(command, ctx.place.kept_out().iter());
        // What the repository remembers of them is out of sight, too; a command that names git is asked about instead.
        let repository = (!kept.is_empty()).then_some(".git");
        let paths = kept.into_iter().map(RelPath::as_str).chain(repository);
        hide.extend(paths.map(|path| ctx.place.path().join(path)));
    }
    hide
}

/// What a command that nobody looked at must not change at the top of the folder, be it there or not; what lies deeper is
/// found by looking.
pub(super) fn kept(place: &Place) -> impl Iterator<Item = PathBuf> {
    protected_from_commands().map(|path| place.path().join(path))
}
