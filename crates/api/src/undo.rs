//! Taking changes back: what it would do, the sides of a conflict, and asking the engine for it.
//!
//! Invariant: nothing is decided here; the engine works out what is wanted from the record, and the restore itself keeps
//! back what somebody changed since.

use crate::changes::between;
use crate::failure::{error, internal, of_id, of_ledger, of_read};
use crate::view::diff::wire;
use crate::wire::ApiError;
use crate::wire::undo::{KeptFile, NotCovered, ThreeWay, UndoOf, UndoPreview, UndoneFile};
use domain::call::Effect;
use domain::digest::Digest;
use domain::event::{Doubt, RestoreOf, RestoreScope, Uncovered};
use domain::ids::SessionId;
use engine::Engine;
use engine::ledger::Ledger;
use engine::own::{self, NotOwn};
use engine::show::{self, Hindrance, PartError, Place, Reader, State};

/// Most files listed one by one.
const LISTED: usize = 500;

/// A scope as a client names it.
pub(crate) fn scope(of: UndoOf, paths: Vec<String>) -> Result<RestoreScope, ApiError> {
    let of = match of {
        UndoOf::Session => RestoreOf::Session,
        UndoOf::Turn { turn } => RestoreOf::Turn { turn: turn.parse().map_err(|bad| of_id(&bad))? },
        UndoOf::Since { turn } => RestoreOf::Since { turn: turn.parse().map_err(|bad| of_id(&bad))? },
        UndoOf::Call { call } => RestoreOf::Call { call: call.parse().map_err(|bad| of_id(&bad))? },
        UndoOf::Part { turn, part } => RestoreOf::Part {
            turn: turn.map(|turn| turn.parse()).transpose().map_err(|bad| of_id(&bad))?,
            part: crate::room::digest_of(&part)?,
        },
        UndoOf::Undo { undo } => RestoreOf::Restore { revision: undo.parse().map_err(|bad| of_id(&bad))? },
    };
    Ok(RestoreScope { of, paths })
}

/// A scope as a client sees it.
pub(crate) fn of(of: &RestoreOf) -> UndoOf {
    match of {
        RestoreOf::Session => UndoOf::Session,
        RestoreOf::Turn { turn } => UndoOf::Turn { turn: turn.to_string() },
        RestoreOf::Since { turn } => UndoOf::Since { turn: turn.to_string() },
        RestoreOf::Call { call } => UndoOf::Call { call: call.to_string() },
        RestoreOf::Part { turn, part } => {
            UndoOf::Part { turn: turn.as_ref().map(ToString::to_string), part: part.to_string() }
        }
        RestoreOf::Restore { revision } => UndoOf::Undo { undo: revision.to_string() },
    }
}

/// What taking a scope back would do now.
pub(crate) fn preview(
    engine: &Engine,
    reader: &Reader,
    session: &SessionId,
    scope: &RestoreScope,
) -> Result<UndoPreview, ApiError> {
    let place = place(reader, session)?;
    let ledger = Ledger::read(reader, session).map_err(|error| of_ledger(&error))?;
    let net = ledger.net(scope);
    if let RestoreOf::Part { part, .. } = &scope.of {
        return preview_part(reader, &place, &ledger, &net, part);
    }
    let states = show::preview_undo(engine, &place, &net).map_err(internal)?;
    let mut found = UndoPreview {
        files: Vec::new(),
        kept: Vec::new(),
        count: net.len() as u64,
        doubt: ledger.doubt(&scope.of).map(doubt),
        not_covered: not_covered(&ledger, &scope.of),
    };
    for (effect, (path, state)) in net.iter().zip(states) {
        match state {
            State::Ready if found.files.len() < LISTED => {
                found.files.push(UndoneFile {
                    path,
                    what: what(&show::inverse(effect)).to_owned(),
                    parted: None,
                });
            }
            State::Kept { why } if found.kept.len() < LISTED => {
                let anyway = Some(what(&show::inverse(effect)).to_owned());
                let now = match &why {
                    Hindrance::Changed { now } => Some(show::standing(now.as_ref()).to_string()),
                    _ => None,
                };
                found.kept.push(KeptFile { path, why: why.code().to_owned(), anyway, now });
            }
            State::Ready | State::Done | State::Kept { .. } => {}
        }
    }
    Ok(found)
}

/// The same for one part of one file.
fn preview_part(
    reader: &Reader,
    place: &Place,
    ledger: &Ledger,
    net: &[Effect],
    part: &Digest,
) -> Result<UndoPreview, ApiError> {
    let stale = || {
        error("restore/stale", "this isn't a part of the difference any more", "Look at the changes again.")
    };
    let [effect] = net else { return Err(stale()) };
    let Some((_, parts)) = show::parts(reader, effect).map_err(internal)? else { return Err(stale()) };
    let now = show::present(place, &effect.path).unwrap_or_default();
    let path = effect.path.clone();
    let restored = || "restored".to_owned();
    let alone = |path, why: &str| {
        let (why, anyway) = (why.to_owned(), Some(restored()));
        vec![KeptFile { path, why, anyway, now: None }]
    };
    let (files, kept) = match parts.without(&now, &ledger.undone_parts(&path), part) {
        Ok(_) => (vec![UndoneFile { path, what: restored(), parted: None }], Vec::new()),
        Err(PartError::Stale) => return Err(stale()),
        Err(PartError::Done) => (Vec::new(), Vec::new()),
        Err(PartError::Mixed) => (Vec::new(), alone(path, "changed")),
        Err(PartError::HoldsKey) => (Vec::new(), alone(path, "holds_key")),
    };
    Ok(UndoPreview { files, kept, count: 1, doubt: None, not_covered: None })
}

/// The sides of one file.
pub(crate) fn three_way(
    reader: &Reader,
    session: &SessionId,
    scope: &RestoreScope,
) -> Result<ThreeWay, ApiError> {
    let place = place(reader, session)?;
    let ledger = Ledger::read(reader, session).map_err(|error| of_ledger(&error))?;
    let Some(effect) = ledger.net(scope).into_iter().next() else {
        return Err(error("changes/unknown", "this wasn't changed there", "Ask for the changes again."));
    };
    let now = show::sides(&place, reader, &effect).map_err(internal)?;
    let path = effect.path.clone();
    let ours = between(reader, effect.before.as_ref(), effect.after.as_ref())?;
    let diff = |one: Option<&[u8]>, other: Option<&[u8]>| {
        wire(path.clone(), show::FileDiff::of(one, other, &show::Hands::default()), one.is_none())
    };
    Ok(ThreeWay {
        ours: wire(path.clone(), ours, effect.before.is_none()),
        theirs: diff(now.after.as_deref(), now.now.as_deref()),
        merged: now.merged.as_ref().map(|merged| diff(now.now.as_deref(), Some(merged))),
        path,
    })
}

fn place(reader: &Reader, session: &SessionId) -> Result<Place, ApiError> {
    let state = reader.state(session).map_err(|read| of_read(&read))?;
    own::open(&state, Vec::new()).map_err(|not_own| {
        let hint = match not_own {
            NotOwn::Missing(_) => "Put the folder back where it was.",
            NotOwn::Other { .. } => {
                "Put the session's folder back, or go on in this one: `daybook use-folder`."
            }
        };
        error(not_own.code(), not_own.to_string(), hint)
    })
}

/// What a scope changed that undo doesn't cover.
pub(crate) fn not_covered(ledger: &Ledger, of: &RestoreOf) -> Option<NotCovered> {
    ledger.uncovered(of).map(|Uncovered { paths, count }| NotCovered { paths, count })
}

/// A doubt as a code.
pub(crate) fn doubt(doubt: Doubt) -> String {
    match doubt {
        Doubt::Untold => "untold",
        Doubt::Mixed => "mixed",
    }
    .to_owned()
}

/// What a change that takes something back does to its path.
pub(crate) fn what(effect: &Effect) -> &'static str {
    match (&effect.before, &effect.after) {
        (_, None) => "removed",
        (None, Some(_)) => "brought_back",
        (Some(_), Some(_)) => "restored",
    }
}
