//! What a session changed, read from its record: turn by turn, call by call, returns included.
//!
//! The **ledger** is the ground of the changes view and of undo. Invariant: it is made from the effects in the record,
//! never from a look at the folder; what undo takes back is the net change of a scope; what a person made in between stays
//! the person's, also where a return took it and another brought it again.

use domain::call::Effect;
use domain::digest::Digest;
use domain::event::{Changed, Doubt, Fact, HostNotes, RestoreOf, RestoreScope, RevisionRestoring, Uncovered};
use domain::ids::{CallId, JobId, RevisionId, SessionId, TurnId};
use std::collections::{BTreeMap, BTreeSet};
use store::{BlobError, ReadError, Reader};
use tools::revision::compose;

/// Events read at once.
const PAGE: usize = 500;

/// Why a ledger can't be made.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The record can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A list of changes can't be read.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// A list of changes isn't one.
    #[error("a list of changes in the record can't be read: {0}")]
    List(String),
}

/// What a session changed.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// The position it was read up to: the next event's.
    pub read_to: u64,
    /// Turns that began, oldest first, whether they changed something or not.
    pub turns: Vec<LedgerTurn>,
    /// Turns that can't be undone any more, since their contents from before were let go: when, UTC ms.
    pub thinned: BTreeMap<TurnId, u64>,
    /// Returns that can't be taken back any more, for the same reason.
    pub thinned_returns: BTreeSet<RevisionId>,
    entries: Vec<LedgerEntry>,
}

/// A turn, for headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerTurn {
    /// The turn.
    pub turn: TurnId,
    /// When it began, UTC ms.
    pub time: u64,
    /// The first line of what was said in it first.
    pub title: String,
}

/// One thing that changed the folder.
#[derive(Debug, Clone)]
struct LedgerEntry {
    by: By,
    effects: Vec<Effect>,
    doubt: Option<Doubt>,
    uncovered: Option<Uncovered>,
}

#[derive(Debug, Clone)]
enum By {
    Call { turn: Option<TurnId>, call: CallId },
    Restore { revision: RevisionId, scope: RestoreScope },
}

impl Ledger {
    /// Reads a session's record.
    ///
    /// # Errors
    /// When the record or a list of changes in it can't be read.
    pub fn read(reader: &Reader, session: &SessionId) -> Result<Self, LedgerError> {
        let mut ledger = Self::default();
        let mut open: Option<RevisionRestoring> = None;
        let mut notes = HostNotes::default();
        let mut jobs: BTreeMap<JobId, (Option<TurnId>, CallId)> = BTreeMap::new();
        loop {
            let page = reader.events(session, ledger.read_to, PAGE)?;
            let Some(last) = page.last() else { break };
            ledger.read_to = last.seq + 1;
            for recorded in page.into_iter().filter(|recorded| wanted_kind(&recorded.kind)) {
                let Ok(event) = recorded.decode() else { continue };
                let (turn, time) = (event.envelope.turn.clone(), event.envelope.time);
                match event.fact {
                    Some(Fact::TurnStart(e)) => {
                        ledger.turns.push(LedgerTurn { turn: e.turn, time, title: String::new() });
                    }
                    // Words of the runtime name no turn.
                    Some(fact @ (Fact::InboxPosted(_) | Fact::UserMessage(_))) if notes.take(&fact) => {}
                    Some(Fact::InboxPosted(_)) => {}
                    Some(Fact::UserMessage(e)) => {
                        if let Some(last) = ledger.turns.last_mut().filter(|turn| turn.title.is_empty()) {
                            last.title = first_line(&e.text);
                        }
                    }
                    Some(Fact::RevisionThinned(e)) => {
                        ledger.thinned.extend(e.turns.into_iter().map(|turn| (turn, time)));
                        ledger.thinned_returns.extend(e.restores);
                    }
                    Some(Fact::RevisionRestoring(e)) => open = Some(e),
                    Some(Fact::RevisionRestored(e)) => {
                        if let Some(began) = open.take().filter(|began| began.revision == e.revision) {
                            let by = By::Restore { revision: e.revision, scope: began.scope };
                            ledger.put(by, &e.changed, reader)?;
                        }
                    }
                    Some(Fact::JobCreated(e)) => drop(jobs.insert(e.job, (turn, e.call))),
                    // It belongs to the call that made it, whenever it ended.
                    Some(Fact::JobEnded(e)) => {
                        if let Some((turn, call)) = jobs.remove(&e.job) {
                            ledger.put(By::Call { turn, call }, &e.changed, reader)?;
                        }
                    }
                    Some(fact) => {
                        if let (Some(call), Some(changed)) = (fact.call().cloned(), fact.changed()) {
                            ledger.put(By::Call { turn, call }, changed, reader)?;
                        }
                    }
                    None => {}
                }
            }
        }
        Ok(ledger)
    }

    /// The net change of one call at these paths. Where its result alone says it, no more of the record is read than that.
    ///
    /// # Errors
    /// When the record or a list of changes in it can't be read.
    pub fn net_of_call(
        reader: &Reader,
        session: &SessionId,
        call: &CallId,
        paths: Vec<String>,
    ) -> Result<Vec<Effect>, LedgerError> {
        let own = |kind: &str| {
            let own = |fact: &Fact| of_call(fact) == Some(call);
            reader.newest_with(session, kind, call.as_str(), |fact| own(fact).then(|| fact.clone()))
        };
        if let Some(result) = own("tool/result")?
            && own("tool/cancelled")?.is_none()
            && own("tool/outcome_unknown")?.is_none()
            && own("job/created")?.is_none()
        {
            let all = result.changed().map(|changed| effects(changed, reader)).transpose()?;
            let mut all = all.map(|(all, _)| all).unwrap_or_default();
            all.retain(|effect| paths.is_empty() || paths.contains(&effect.path));
            return Ok(compose(&all));
        }
        let of = RestoreOf::Call { call: call.clone() };
        Ok(Self::read(reader, session)?.net(&RestoreScope { of, paths }))
    }

    fn put(&mut self, by: By, changed: &Changed, reader: &Reader) -> Result<(), LedgerError> {
        if !changed.is_empty() || changed.doubt.is_some() || changed.uncovered.is_some() {
            let (effects, all) = effects(changed, reader)?;
            let doubt = if all { changed.doubt } else { Some(Doubt::Untold) };
            let uncovered = changed.uncovered.clone();
            self.entries.push(LedgerEntry { by, effects, doubt, uncovered });
        }
        Ok(())
    }

    /// The net change of a whole session, or of what a scope names.
    #[must_use]
    pub fn net(&self, scope: &RestoreScope) -> Vec<Effect> {
        let named = |path: &str| scope.paths.is_empty() || scope.paths.iter().any(|one| one == path);
        let entries: Vec<(usize, &LedgerEntry)> = self.entries_of(&scope.of).collect();
        let settled = brought_again(&entries);
        let mut live: BTreeMap<&str, Vec<(usize, &Effect)>> = BTreeMap::new();
        for (at, entry) in &entries {
            for effect in entry.effects.iter().filter(|effect| named(&effect.path)) {
                let path = effect.path.as_str();
                let live = live.entry(path).or_default();
                match &entry.by {
                    _ if settled.contains(&(*at, path)) => {}
                    // All of this session's was taken back: what stands there now, a person's part perhaps, isn't its own.
                    By::Restore { scope, .. }
                        if !live.is_empty() && live.iter().all(|(at, _)| self.takes(&scope.of, *at)) =>
                    {
                        live.clear();
                    }
                    By::Call { .. } | By::Restore { .. } => live.push((*at, effect)),
                }
            }
        }
        let live: Vec<Effect> = live.into_values().flatten().map(|(_, effect)| effect.clone()).collect();
        compose(&live)
    }

    /// Does taking this back take back what the entry changed?
    fn takes(&self, of: &RestoreOf, at: usize) -> bool {
        match of {
            RestoreOf::Part { .. } | RestoreOf::Restore { .. } => false,
            RestoreOf::Session
            | RestoreOf::Since { .. }
            | RestoreOf::Turn { .. }
            | RestoreOf::Call { .. } => self.entries_of(of).any(|(one, _)| one == at),
        }
    }

    /// What isn't known about the changes of a scope.
    #[must_use]
    pub fn doubt(&self, of: &RestoreOf) -> Option<Doubt> {
        self.entries_of(of).filter_map(|(_, entry)| entry.doubt).next_back()
    }

    /// What a scope changed that undo doesn't cover: each path once, in order.
    #[must_use]
    pub fn uncovered(&self, of: &RestoreOf) -> Option<Uncovered> {
        let all: Vec<&Uncovered> =
            self.entries_of(of).filter_map(|(_, entry)| entry.uncovered.as_ref()).collect();
        let paths: BTreeSet<&String> = all.iter().flat_map(|one| &one.paths).collect();
        let unnamed: u64 = all.iter().map(|one| one.count.saturating_sub(one.paths.len() as u64)).sum();
        let count = paths.len() as u64 + unnamed;
        (count > 0).then(|| Uncovered { paths: paths.into_iter().cloned().collect(), count })
    }

    /// What a scope names, with its place in the record.
    fn entries_of(&self, of: &RestoreOf) -> impl DoubleEndedIterator<Item = (usize, &LedgerEntry)> {
        let first = match of {
            RestoreOf::Since { turn } => self.first_since(turn),
            _ => 0,
        };
        let since = move |entry: &LedgerEntry| match (of, &entry.by) {
            // A job of an earlier turn may have ended since.
            (RestoreOf::Since { turn: since }, By::Call { turn: Some(turn), .. }) => {
                self.place_of(turn) >= self.place_of(since)
            }
            _ => true,
        };
        let all = self.entries.iter().enumerate().skip(first);
        all.filter(move |(_, entry)| entry.is_of(of) && since(entry))
    }

    /// Paths of a turn that were taken back and not brought again.
    #[must_use]
    pub fn undone(&self, turn: &TurnId) -> BTreeSet<&str> {
        let own = self.first_of(turn);
        let parted = self.entries.iter().any(|entry| entry.takes_part_of(turn));
        let whole = RestoreScope { of: RestoreOf::Turn { turn: turn.clone() }, paths: Vec::new() };
        let own_net = if parted { self.net(&whole) } else { Vec::new() };
        let mut undone: BTreeSet<&str> = BTreeSet::new();
        let mut by: BTreeMap<&RevisionId, (bool, BTreeSet<&str>)> = BTreeMap::new();
        for entry in self.entries.iter().skip(own) {
            let By::Restore { revision, scope } = &entry.by else { continue };
            let paths: BTreeSet<&str> = entry.effects.iter().map(|effect| effect.path.as_str()).collect();
            match &scope.of {
                RestoreOf::Restore { revision: of } => {
                    // Taking an undo back brings its paths again; taking that back takes them once more.
                    let (was_undo, back) = by.remove(of).unwrap_or_default();
                    let back: BTreeSet<&str> = back.intersection(&paths).copied().collect();
                    match was_undo {
                        true => undone.retain(|path| !back.contains(path)),
                        false => undone.extend(&back),
                    }
                    by.insert(revision, (!was_undo, back));
                }
                RestoreOf::Part { .. } if entry.takes_part_of(turn) => {
                    // The last part that was missing: the whole file is as it was before.
                    let whole = |effect: &&Effect| {
                        own_net.iter().any(|own| own.path == effect.path && own.before == effect.after)
                    };
                    let paths: BTreeSet<&str> =
                        entry.effects.iter().filter(whole).map(|effect| effect.path.as_str()).collect();
                    undone.extend(&paths);
                    by.insert(revision, (true, paths));
                }
                of if self.covers(of, turn) => {
                    undone.extend(&paths);
                    by.insert(revision, (true, paths));
                }
                _ => {}
            }
        }
        undone
    }

    /// Parts of a file's differences that were taken back one by one and not brought again.
    #[must_use]
    pub fn undone_parts(&self, path: &str) -> BTreeSet<Digest> {
        let mut undone: BTreeSet<Digest> = BTreeSet::new();
        let mut by: BTreeMap<&RevisionId, (bool, Digest)> = BTreeMap::new();
        for entry in &self.entries {
            let By::Restore { revision, scope } = &entry.by else { continue };
            if !entry.effects.iter().any(|effect| effect.path == path) {
                continue;
            }
            let (taken, part) = match &scope.of {
                RestoreOf::Part { part, .. } => (true, *part),
                RestoreOf::Restore { revision: of } => match by.get(of) {
                    Some((taken, part)) => (!taken, *part),
                    None => continue,
                },
                _ => continue,
            };
            by.insert(revision, (taken, part));
            match taken {
                true => undone.insert(part),
                false => undone.remove(&part),
            };
        }
        undone
    }

    fn covers(&self, of: &RestoreOf, turn: &TurnId) -> bool {
        match of {
            RestoreOf::Session => true,
            RestoreOf::Turn { turn: of } => of == turn,
            RestoreOf::Since { turn: of } => self.place_of(of) <= self.place_of(turn),
            RestoreOf::Call { call: of } => self.entries.iter().any(
                |entry| matches!(&entry.by, By::Call { turn: Some(own), call } if own == turn && call == of),
            ),
            RestoreOf::Part { .. } | RestoreOf::Restore { .. } => false,
        }
    }

    /// Which turn of the session it is.
    fn place_of(&self, turn: &TurnId) -> usize {
        self.turns.iter().position(|one| one.turn == *turn).unwrap_or(self.turns.len())
    }

    /// Where the first change of a turn, or of one after it, stands.
    fn first_since(&self, turn: &TurnId) -> usize {
        let since = self.place_of(turn);
        let later = |entry: &LedgerEntry| matches!(&entry.by, By::Call { turn: Some(of), .. } if self.place_of(of) >= since);
        self.entries.iter().position(later).unwrap_or(self.entries.len())
    }

    /// Where a turn's first change stands.
    fn first_of(&self, turn: &TurnId) -> usize {
        let own = |entry: &LedgerEntry| matches!(&entry.by, By::Call { turn: Some(of), .. } if of == turn);
        self.entries.iter().position(own).unwrap_or(self.entries.len())
    }
}

impl LedgerEntry {
    /// Does a scope name it? One that begins at a turn names all: where it begins is for the ledger to find.
    fn is_of(&self, of: &RestoreOf) -> bool {
        match (of, &self.by) {
            (RestoreOf::Session | RestoreOf::Since { .. } | RestoreOf::Part { turn: None, .. }, _) => true,
            (
                RestoreOf::Turn { turn: of } | RestoreOf::Part { turn: Some(of), .. },
                By::Call { turn, .. },
            ) => turn.as_ref() == Some(of),
            (RestoreOf::Call { call: of }, By::Call { call, .. }) => call == of,
            (RestoreOf::Restore { revision: of }, By::Restore { revision, .. }) => revision == of,
            (
                RestoreOf::Turn { .. }
                | RestoreOf::Part { .. }
                | RestoreOf::Call { .. }
                | RestoreOf::Restore { .. },
                _,
            ) => false,
        }
    }

    /// Did it take one part of a turn's change back?
    fn takes_part_of(&self, turn: &TurnId) -> bool {
        let By::Restore { scope, .. } = &self.by else { return false };
        matches!(&scope.of, RestoreOf::Part { turn: Some(of), .. } if of == turn)
    }
}

/// Paths that a return changed and a later one brought back to what stood there: with both of them it is as if neither
/// had been. The newest first, so that a return that was itself taken back settles nothing.
fn brought_again<'a>(entries: &[(usize, &'a LedgerEntry)]) -> BTreeSet<(usize, &'a str)> {
    let mut settled = BTreeSet::new();
    for (at, later) in entries.iter().rev() {
        let By::Restore { scope: RestoreScope { of: RestoreOf::Restore { revision: of }, .. }, .. } =
            &later.by
        else {
            continue;
        };
        let earlier = entries
            .iter()
            .find(|(_, entry)| matches!(&entry.by, By::Restore { revision, .. } if revision == of));
        let Some((before, earlier)) = earlier else { continue };
        for effect in &later.effects {
            if settled.contains(&(*at, effect.path.as_str())) {
                continue;
            }
            let back = |was: &&Effect| was.path == effect.path && was.before == effect.after;
            if let Some(was) = earlier.effects.iter().find(back) {
                settled.extend([(*at, effect.path.as_str()), (*before, was.path.as_str())]);
            }
        }
    }
    settled
}

/// All effects of a change: from the event, or from the blob where they were too many. Where that blob was taken out, those
/// of the event, and false.
pub(crate) fn effects(changed: &Changed, reader: &Reader) -> Result<(Vec<Effect>, bool), LedgerError> {
    match changed.all.as_ref().map(|all| reader.blob(&all.list)) {
        None => Ok((changed.effects.clone(), true)),
        Some(Err(BlobError::Gone { .. })) => Ok((changed.effects.clone(), false)),
        Some(found) => Ok((list(&found?)?, true)),
    }
}

/// A list of effects from its blob.
pub(crate) fn list(bytes: &[u8]) -> Result<Vec<Effect>, LedgerError> {
    serde_json::from_slice(bytes).map_err(|error| LedgerError::List(error.to_string()))
}

/// The call that a fact is about, or that made the job which it is about.
fn of_call(fact: &Fact) -> Option<&CallId> {
    match fact {
        Fact::JobCreated(e) => Some(&e.call),
        fact => fact.call(),
    }
}

fn wanted_kind(kind: &str) -> bool {
    Fact::changes(kind)
        || matches!(
            kind,
            "turn/start"
                | "inbox/posted"
                | "user/message"
                | "job/created"
                | "revision/restoring"
                | "revision/thinned"
        )
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("").chars().take(120).collect()
}
