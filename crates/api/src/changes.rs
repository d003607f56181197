//! What a session changed, turn by turn and file by file: from what stood there before to what stood there after.
//!
//! Taken from the engine's ledger of the record, never from a guess about the folder; the folder is looked at only to say
//! whether a file was changed since by somebody else. Invariant: a file that is as it was before is no change.

use crate::failure::{error, internal, of_blob, of_ledger, of_read};
use crate::view::diff::wire;
use crate::wire::ApiError;
use crate::wire::store::{FileChange, FileDiff};
use crate::wire::undo::{Changes, TurnChanges};
use crate::{made, undo};
use domain::call::{Effect, Entry};
use domain::digest::Digest;
use domain::event::{RestoreOf, RestoreScope};
use domain::ids::SessionId;
use engine::ledger::{Ledger, LedgerTurn};
use engine::show::{self, Hands, Place, Reader};
use std::collections::BTreeSet;

/// What a session changed: by file over all of it, and by turn, newest first.
///
/// # Errors
/// When the record or a content can't be read.
pub fn changes(reader: &Reader, session: &SessionId) -> Result<Changes, ApiError> {
    let place = own(reader, session)?;
    let ledger = Ledger::read(reader, session).map_err(|error| of_ledger(&error))?;
    let net = |of| ledger.net(&RestoreScope { of, paths: Vec::new() });
    let files = |mut net: Vec<Effect>| -> Vec<FileChange> {
        without_implied(&mut net);
        show::count_lines(reader, &mut net);
        net.iter().map(|effect| change(place.as_ref(), effect)).collect()
    };
    let mut turns = Vec::new();
    for (at, turn) in ledger.turns.iter().enumerate() {
        let files = files(net(RestoreOf::Turn { turn: turn.turn.clone() }));
        let turn = of_turn(&ledger, at, turn, files);
        if !turn.files.is_empty() || turn.doubt.is_some() || turn.not_covered.is_some() {
            turns.push(turn);
        }
    }
    turns.reverse();
    let whole = net(RestoreOf::Session);
    let made = place.as_ref().map(|place| made::list(session, place, &whole));
    Ok(Changes { files: files(whole), turns, made: made.unwrap_or_default() })
}

/// A folder that came or went with something in it is told by what was in it.
fn without_implied(net: &mut Vec<Effect>) {
    let paths: BTreeSet<String> = net.iter().map(|effect| effect.path.clone()).collect();
    net.retain(|effect| {
        let folder = matches!(
            (&effect.before, &effect.after),
            (None, Some(Entry::Folder { .. })) | (Some(Entry::Folder { .. }), None)
        );
        let below = format!("{}/", effect.path);
        !folder || paths.range(below.clone()..).next().is_none_or(|next| !next.starts_with(&below))
    });
}

fn of_turn(ledger: &Ledger, at: usize, turn: &LedgerTurn, mut files: Vec<FileChange>) -> TurnChanges {
    let undone = ledger.undone(&turn.turn);
    for file in &mut files {
        file.undone = undone.contains(file.path.as_str());
    }
    TurnChanges {
        turn: turn.turn.to_string(),
        number: u32::try_from(at + 1).unwrap_or(u32::MAX),
        title: turn.title.clone(),
        time: turn.time,
        doubt: ledger.doubt(&RestoreOf::Turn { turn: turn.turn.clone() }).map(undo::doubt),
        not_covered: undo::not_covered(ledger, &RestoreOf::Turn { turn: turn.turn.clone() }),
        thinned: ledger.thinned.get(&turn.turn).copied(),
        undone: !files.is_empty() && files.iter().all(|file| file.undone),
        files,
    }
}

fn change(place: Option<&Place>, effect: &Effect) -> FileChange {
    let same_content =
        || effect.content_before().is_some() && effect.content_before() == effect.content_after();
    let change = match (&effect.before, &effect.after) {
        (None, Some(_)) => "created",
        (_, None) => "deleted",
        (Some(Entry::Folder { .. }), Some(Entry::Folder { .. })) => "mode",
        (Some(_), Some(_)) if same_content() => "mode",
        (Some(_), Some(_)) => "edited",
    };
    let covered = |entry: &&Entry| !matches!(entry, Entry::Uncovered { .. });
    let kind = match effect.after.as_ref().filter(covered).or(effect.before.as_ref()) {
        Some(Entry::Link { .. }) => "link",
        Some(Entry::Folder { .. }) => "folder",
        Some(Entry::File { .. } | Entry::Uncovered { .. }) | None => "file",
    };
    FileChange {
        path: effect.path.clone(),
        change: change.to_owned(),
        kind: kind.to_owned(),
        added: effect.lines.map(|lines| lines.added),
        removed: effect.lines.map(|lines| lines.removed),
        undone: false,
        changed_since: place.is_some_and(|place| !stands(place, effect)),
    }
}

/// Is what stands there now what the effect left?
fn stands(place: &Place, effect: &Effect) -> bool {
    let states = show::preview(place, std::slice::from_ref(effect));
    states.is_ok_and(|states| !matches!(states.first(), Some((_, show::State::Kept { .. }))))
}

/// One file's difference over what is named: the whole session, a turn or a call.
///
/// # Errors
/// When the session didn't change this file there, or a content can't be read.
pub fn diff(reader: &Reader, session: &SessionId, path: &str, of: RestoreOf) -> Result<FileDiff, ApiError> {
    let paths = vec![path.to_owned()];
    if let RestoreOf::Call { call } = &of {
        // What is taken back by itself is a part of a turn's or the session's change, so this one has no parts.
        let net = Ledger::net_of_call(reader, session, call, paths).map_err(|error| of_ledger(&error))?;
        let effect = net.first().ok_or_else(unchanged)?;
        return Ok(wire(path.to_owned(), difference(reader, effect)?, effect.before.is_none()));
    }
    let ledger = Ledger::read(reader, session).map_err(|error| of_ledger(&error))?;
    let net = ledger.net(&RestoreScope { of, paths });
    let effect = net.first().ok_or_else(unchanged)?;
    let created = effect.before.is_none();
    match show::parts(reader, effect).map_err(internal)? {
        None => Ok(wire(path.to_owned(), difference(reader, effect)?, created)),
        Some((diff, parts)) => {
            let mut diff = wire(path.to_owned(), diff, created);
            let place = own(reader, session)?;
            let now = place.and_then(|place| show::present(&place, path));
            let undone = parts.undone(now.as_deref(), &ledger.undone_parts(path));
            for (hunk, name) in diff.hunks.iter_mut().zip(parts.names()) {
                hunk.undone = undone.contains(&name);
                hunk.part = Some(name.to_string());
            }
            Ok(diff)
        }
    }
}

fn unchanged() -> ApiError {
    error("changes/unknown", "this session didn't change that file", "Ask for the changes again.")
}

pub(crate) fn difference(reader: &Reader, effect: &Effect) -> Result<show::FileDiff, ApiError> {
    between(reader, effect.before.as_ref(), effect.after.as_ref())
}

/// The difference of what stands at a path at two moments: of contents, or of where links point.
pub(crate) fn between(
    reader: &Reader,
    before: Option<&Entry>,
    after: Option<&Entry>,
) -> Result<show::FileDiff, ApiError> {
    let bytes = |entry: Option<&Entry>| match entry {
        Some(Entry::File { content, .. }) => blob(reader, content).map(Some),
        Some(Entry::Link { target }) => Ok(Some(target.clone().into_bytes())),
        Some(Entry::Folder { .. } | Entry::Uncovered { .. }) | None => Ok(None),
    };
    Ok(show::FileDiff::of(bytes(before)?.as_deref(), bytes(after)?.as_deref(), &Hands::default()))
}

fn blob(reader: &Reader, digest: &Digest) -> Result<Vec<u8>, ApiError> {
    reader.blob(digest).map_err(|missing| of_blob(&missing))
}

/// The session's own folder, where it is there.
fn own(reader: &Reader, session: &SessionId) -> Result<Option<Place>, ApiError> {
    let state = reader.state(session).map_err(|read| of_read(&read))?;
    Ok(engine::own::open(&state, Vec::new()).ok())
}

pub(crate) fn root(reader: &Reader, session: &SessionId) -> Result<String, ApiError> {
    let row = reader.session(session).map_err(|read| of_read(&read))?;
    row.map(|row| row.root).ok_or_else(|| crate::room::unknown_session(session))
}
