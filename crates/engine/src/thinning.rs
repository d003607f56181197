//! Thinning: letting go of contents that are kept for undo only, oldest turns first, by a rule that is shown.
//!
//! The **rule**: everything of the last 30 days stays, and of each session's last turn; beyond the limit, the contents of
//! older turns go, oldest first, until the rest fits. Their effects stay on record. Invariants: a content that anything
//! younger, a request or another event names is never let go; all of one thinning is on record at once, before anything goes,
//! so that a crash leaves no turn that promises what isn't kept; nothing is let go while it can't be known what is needed.

use crate::actor::CommandFailure;
use crate::blobs::ReadBlobs;
use crate::ledger::effects;
use domain::digest::Digest;
use domain::event::{Changed, Draft, Fact, Recorded, RevisionThinned};
use domain::ids::{JobId, RevisionId, SessionId, TurnId};
use std::collections::{BTreeMap, HashMap, HashSet};
use store::{Append, BlobError, Gone, OfSession, Reader, Removal};
use tools::revision::reach_new;

/// How long everything is kept, whatever it takes.
pub const KEPT_DAYS: u64 = 30;
/// A day, in milliseconds.
pub const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// Bytes of contents kept for undo beyond which old ones go, until the person chooses another limit.
pub const USUAL_LIMIT_BYTES: u64 = 10 << 30;
/// The limit's name among the settings.
pub const LIMIT: &str = "storage/undo_limit_bytes";
/// When it was last looked at, among the settings.
pub const LOOKED: &str = "storage/thinned_at";
/// Events read at once.
const PAGE: usize = 500;

/// What is kept for undo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Bytes of contents that are kept for undo only.
    pub bytes: u64,
    /// The limit.
    pub limit_bytes: u64,
    /// When the oldest turn began that can still be undone, UTC ms.
    pub since: Option<u64>,
    /// Turns whose contents went.
    pub thinned: u64,
}

/// What thinning did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Thinned {
    /// Turns and returns whose contents went.
    pub turns: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sessions that are at work, where more would have gone if they weren't.
    pub left: u64,
}

/// Something that can be undone, with the contents that takes.
#[derive(Debug)]
struct Unit {
    session: SessionId,
    what: What,
    time: u64,
    trees: Vec<Digest>,
    contents: Vec<Digest>,
    /// Does it stay whatever the limit?
    stays: Option<Stays>,
    /// What only it, and what is older, needs; known after weighing.
    own: Vec<Digest>,
    bytes: u64,
}

/// Why something stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stays {
    /// By the rule.
    Rule,
    /// Its session is at work.
    Work,
}

/// What goes of each session.
pub(crate) type Going = BTreeMap<SessionId, (RevisionThinned, Vec<Digest>)>;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Turn(TurnId),
    Restore(RevisionId),
}

/// Everything that can be undone, in the order of time.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    units: Vec<Unit>,
    /// What events name for other reasons than undo.
    named: HashSet<Digest>,
    thinned: u64,
    /// How many sessions are at work.
    pub(crate) at_work: u64,
    /// How far each session was read.
    read_to: BTreeMap<SessionId, u64>,
}

impl Survey {
    /// Reads every session's record and weighs what it keeps. Blocks.
    pub(crate) fn of(reader: &Reader, now: u64) -> Result<Self, CommandFailure> {
        let mut survey = Self::default();
        for row in reader.sessions().map_err(CommandFailure::unreadable)? {
            match reader.is_imported(&row.session).map_err(CommandFailure::unreadable)? {
                true => survey.imported(reader, &row.session)?,
                false => survey.session(reader, &row.session, now)?,
            }
        }
        survey.units.sort_by(|a, b| (a.time, &a.session, &a.what).cmp(&(b.time, &b.session, &b.what)));
        survey.weigh(reader)?;
        Ok(survey)
    }

    pub(crate) fn kept(&self, limit_bytes: u64) -> Kept {
        let bytes = self.units.iter().map(|unit| unit.bytes).sum();
        Kept { bytes, limit_bytes, since: self.units.first().map(|unit| unit.time), thinned: self.thinned }
    }

    /// What goes of each session so that the rest fits.
    pub(crate) fn over(&self, limit_bytes: u64) -> Going {
        let mut kept: u64 = self.units.iter().map(|unit| unit.bytes).sum();
        let mut going = Going::new();
        for unit in self.units.iter().filter(|unit| unit.stays.is_none()) {
            if kept <= limit_bytes {
                break;
            }
            kept -= unit.bytes;
            let (record, blobs) = going.entry(unit.session.clone()).or_default();
            match &unit.what {
                What::Turn(turn) => record.turns.push(turn.clone()),
                What::Restore(revision) => record.restores.push(revision.clone()),
            }
            record.contents += unit.own.len() as u64;
            record.bytes += unit.bytes;
            blobs.extend(&unit.own);
        }
        going
    }

    /// All that goes as one removal, and what it does.
    pub(crate) fn removal(&self, going: Going) -> (Removal, Thinned) {
        let (mut done, mut blobs) = (Thinned::default(), Vec::new());
        let sessions = going.into_iter().map(|(session, (record, contents))| {
            done.turns += (record.turns.len() + record.restores.len()) as u64;
            done.bytes += record.bytes;
            blobs.extend(contents);
            let expected_seq = self.read_to.get(&session).copied().unwrap_or_default();
            let append = Append { session, expected_seq, drafts: vec![Draft::new(record)] };
            OfSession { append, payloads: Vec::new() }
        });
        let sessions = sessions.collect();
        (Removal { sessions, blobs, why: Gone::Thinned }, done)
    }

    /// Sessions that keep something only because they are at work, where more is kept than the limit.
    pub(crate) fn left(&self, limit_bytes: u64) -> u64 {
        let kept: u64 = self.units.iter().map(|unit| unit.bytes).sum();
        let left = self.units.iter().filter(|unit| unit.stays == Some(Stays::Work) && unit.bytes > 0);
        let left: HashSet<&SessionId> = left.map(|unit| &unit.session).collect();
        if kept > limit_bytes { left.len() as u64 } else { 0 }
    }

    /// A session from elsewhere: nothing can be undone in it and nothing recorded, so all that it names stays.
    fn imported(&mut self, reader: &Reader, session: &SessionId) -> Result<(), CommandFailure> {
        let mut next = 0;
        loop {
            let page = reader.events(session, next, PAGE).map_err(CommandFailure::unreadable)?;
            let Some(last) = page.last() else { return Ok(()) };
            next = last.seq + 1;
            for event in page {
                self.named.extend(event.payload.text().into_iter().flat_map(|text| named_in(text)));
                let fact = event.decode().map_err(CommandFailure::unreadable)?.fact;
                // A list that didn't come along names nothing here.
                let changed = fact.as_ref().and_then(Fact::changed);
                self.named
                    .extend(changed.and_then(|changed| contents(changed, reader).ok()).unwrap_or_default());
            }
        }
    }

    fn session(&mut self, reader: &Reader, session: &SessionId, now: u64) -> Result<(), CommandFailure> {
        let mut units: BTreeMap<What, Unit> = BTreeMap::new();
        let mut jobs = HashMap::new();
        let mut next = 0;
        loop {
            let page = reader.events(session, next, PAGE).map_err(CommandFailure::unreadable)?;
            let Some(last) = page.last() else { break };
            next = last.seq + 1;
            for event in page {
                self.event(reader, session, event, &mut units, &mut jobs)?;
            }
        }
        let turns = units.values().filter(|unit| matches!(unit.what, What::Turn(_)));
        let newest = turns.map(|unit| unit.time).max();
        let state = reader.state(session).map_err(CommandFailure::unreadable)?;
        let at_work = state.turn.is_some() || state.restoring.is_some() || !state.jobs.is_empty();
        self.at_work += u64::from(at_work);
        self.read_to.insert(session.clone(), next);
        for mut unit in units.into_values() {
            let young = now.saturating_sub(unit.time) < KEPT_DAYS * DAY_MS;
            let by_rule = young || newest.is_none_or(|newest| unit.time >= newest);
            unit.stays = match (by_rule, at_work) {
                (true, _) => Some(Stays::Rule),
                (false, true) => Some(Stays::Work),
                (false, false) => None,
            };
            if !unit.trees.is_empty() || !unit.contents.is_empty() {
                self.units.push(unit);
            }
        }
        Ok(())
    }

    fn event(
        &mut self,
        reader: &Reader,
        session: &SessionId,
        event: Recorded,
        units: &mut BTreeMap<What, Unit>,
        jobs: &mut HashMap<JobId, TurnId>,
    ) -> Result<(), CommandFailure> {
        let (time, turn) = (event.time, event.turn.clone());
        let text = event.payload.text().cloned();
        let Some(fact) = event.decode().map_err(CommandFailure::unreadable)?.fact else { return Ok(()) };
        let unit = |what: What| Unit {
            session: session.clone(),
            what,
            time,
            trees: Vec::new(),
            contents: Vec::new(),
            stays: None,
            own: Vec::new(),
            bytes: 0,
        };
        let made = turn.clone();
        let of_turn = turn.map(What::Turn);
        match fact {
            Fact::TurnStart(e) => drop(units.insert(What::Turn(e.turn.clone()), unit(What::Turn(e.turn)))),
            Fact::ToolStart(e) => {
                if let Some(unit) = of_turn.and_then(|turn| units.get_mut(&turn)) {
                    unit.trees.extend(e.tree);
                }
            }
            Fact::ToolResult(e) => {
                // A result's blobs are what it says and what it changed; the latter is for undo only.
                let changed = contents(&e.changed, reader)?;
                self.named.extend(e.kept.values().filter(|one| !changed.contains(one)));
                self.changed(reader, &e.changed, of_turn.and_then(|turn| units.get_mut(&turn)))?;
            }
            Fact::ToolCancelled(e) => {
                self.changed(reader, &e.changed, of_turn.and_then(|turn| units.get_mut(&turn)))?;
            }
            Fact::ToolOutcomeUnknown(e) => {
                self.changed(reader, &e.changed, of_turn.and_then(|turn| units.get_mut(&turn)))?;
            }
            Fact::JobCreated(_) | Fact::JobStarted(_) | Fact::JobEnded(_) => {
                self.job(reader, fact, made, units, jobs)?
            }
            Fact::RevisionRestored(e) => {
                let what = What::Restore(e.revision.clone());
                let unit = units.entry(what.clone()).or_insert_with(|| unit(what));
                self.changed(reader, &e.changed, Some(unit))?;
            }
            Fact::RevisionThinned(e) => {
                self.thinned += e.turns.len() as u64;
                e.turns.into_iter().for_each(|turn| drop(units.remove(&What::Turn(turn))));
                e.restores.into_iter().for_each(|one| drop(units.remove(&What::Restore(one))));
            }
            Fact::RecordErased(_) => {}
            // What a card was made from is only compared; what it proposed is shown for as long as its turn can be undone.
            Fact::ApprovalRequested(e) => {
                if let Some(unit) = of_turn.and_then(|turn| units.get_mut(&turn)) {
                    unit.contents.extend(e.facts.proposed);
                }
            }
            // Whatever else names a content needs it, fields of later versions too.
            _ => self.named.extend(text.iter().flat_map(|text| named_in(text))),
        }
        Ok(())
    }

    /// What a job changed belongs to the turn that made it.
    fn job(
        &mut self,
        reader: &Reader,
        fact: Fact,
        made: Option<TurnId>,
        units: &mut BTreeMap<What, Unit>,
        jobs: &mut HashMap<JobId, TurnId>,
    ) -> Result<(), CommandFailure> {
        let of =
            |jobs: &HashMap<JobId, TurnId>, job: &JobId| jobs.get(job).map(|turn| What::Turn(turn.clone()));
        match fact {
            Fact::JobCreated(e) => jobs.extend(made.map(|turn| (e.job, turn))),
            Fact::JobStarted(e) => {
                if let Some(unit) = of(jobs, &e.job).and_then(|turn| units.get_mut(&turn)) {
                    unit.trees.extend(e.tree);
                }
            }
            Fact::JobEnded(e) => {
                let changed = contents(&e.changed, reader)?;
                self.named.extend(e.kept.values().filter(|one| !changed.contains(one)));
                let unit = of(jobs, &e.job).and_then(|turn| units.get_mut(&turn));
                self.changed(reader, &e.changed, unit)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn changed(
        &mut self,
        reader: &Reader,
        changed: &Changed,
        unit: Option<&mut Unit>,
    ) -> Result<(), CommandFailure> {
        self.named.extend(changed.all.as_ref().map(|all| all.list));
        if let Some(unit) = unit {
            unit.contents.extend(contents(changed, reader)?);
        }
        Ok(())
    }

    /// Gives each unit what it alone, and what is older, needs: what stays first, then from the newest to the oldest.
    fn weigh(&mut self, reader: &Reader) -> Result<(), CommandFailure> {
        let mut needed: HashSet<Digest> = std::mem::take(&mut self.named);
        let (stay, go): (Vec<&mut Unit>, Vec<&mut Unit>) =
            self.units.iter_mut().rev().partition(|unit| unit.stays.is_some());
        // A folder whose names were erased holds nothing that could be brought back.
        let gone = |tree: &Digest| matches!(reader.check_blob(tree), Err(BlobError::Gone { .. }));
        for unit in stay.into_iter().chain(go) {
            for tree in &unit.trees {
                let reached = reach_new(&ReadBlobs(reader), *tree, &mut needed, &gone);
                match reached {
                    Ok(new) => unit.own.extend(new),
                    // What can't be read of a turn that may go keeps nothing; of one that stays, it may need anything.
                    Err(error) if unit.stays.is_some() => return Err(CommandFailure::unreadable(error)),
                    Err(_) => {}
                }
            }
            let contents = std::mem::take(&mut unit.contents);
            unit.own.extend(contents.into_iter().filter(|content| needed.insert(*content)));
            unit.bytes = unit.own.iter().map(|one| reader.blob_bytes(one)).sum();
        }
        Ok(())
    }
}

/// All digests that stand in a payload as values of their own.
fn named_in(text: &str) -> impl Iterator<Item = Digest> {
    text.split('"').filter_map(|one| one.parse().ok())
}

/// What stood and what stands at the paths of a change.
fn contents(changed: &Changed, reader: &Reader) -> Result<Vec<Digest>, CommandFailure> {
    let (effects, _) = effects(changed, reader).map_err(CommandFailure::unreadable)?;
    Ok(effects
        .iter()
        .flat_map(|effect| [effect.content_before(), effect.content_after()])
        .flatten()
        .collect())
}

/// The limit that the person chose.
pub(crate) fn limit(reader: &Reader) -> Result<u64, CommandFailure> {
    let chosen = reader.setting(LIMIT).map_err(CommandFailure::unreadable)?;
    Ok(chosen.and_then(|text| text.parse().ok()).unwrap_or(USUAL_LIMIT_BYTES))
}
