//! Taking changes back: recorded before the first path is touched, and told to the model afterwards.
//!
//! A **restore** belongs to the person, not to a turn: it begins only while no turn is open, and none begins while it goes
//! on. While it waits for the folder the person may call it off. Invariant: what it was going to do is in the log, so a
//! process that takes over finishes it, and doing it again adds nothing.

use super::{Decision, Env};
use crate::input::Restored;
use domain::call::ToolError;
use domain::event::{
    Changed, Draft, EffectList, InboxPosted, KeptBack, Origin, RestoreScope, RevisionCalledOff,
    RevisionRestored, RevisionRestoring, Target,
};
use domain::ids::{MessageId, RevisionId};
use domain::state::{Restoring, State};

/// Changes to take back, worked out from the record as it was at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restore {
    /// What is being taken back.
    pub scope: RestoreScope,
    /// What to do, path by path.
    pub steps: EffectList,
    /// Paths the person wants back even where they were changed since.
    pub overwrite: Vec<String>,
    /// Paths that will be left alone.
    pub kept: Vec<KeptBack>,
    /// How many more will.
    pub kept_more: u64,
    /// The position the record was read up to.
    pub read_to: u64,
}

/// Code of a return that the person called off before it began.
pub const CALLED_OFF: &str = "restore/called_off";
/// How many paths the note to the model names.
const NAMED: usize = 20;

pub(super) fn command(state: &State, restore: Restore, env: &Env<'_>) -> super::command::Taken {
    use super::command::no;
    if state.turn.is_some() {
        return no("restore/busy", "work is going on in this session; stop it first, then undo");
    }
    if !state.jobs.is_empty() {
        return no(
            "restore/busy",
            "a job of this session goes on in the background; stop it first, then undo",
        );
    }
    if state.restoring.is_some() {
        return no("restore/busy", "changes are being taken back already; wait until that is done");
    }
    if restore.steps.count == 0 && restore.kept.is_empty() {
        return no("restore/nothing", "there is nothing to take back");
    }
    if restore.read_to != state.next_seq {
        return no("restore/moved_on", "something happened meanwhile; look at the changes again");
    }
    let Restore { scope, steps, overwrite, kept, kept_more, .. } = restore;
    let revision = RevisionId::new(env.ids);
    let restoring = RevisionRestoring { revision, scope, steps, overwrite, kept, kept_more };
    super::command::done(vec![Draft::new(restoring)])
}

/// The person doesn't want it any more.
pub(super) fn call_off(open: Option<&Restoring>) -> super::command::Taken {
    let called_off = open.map(|open| Draft::new(RevisionCalledOff { revision: open.revision.clone() }));
    super::command::done(called_off.into_iter().collect())
}

/// It never began. It ends where the person called it off; where the app closes, the next process begins it.
pub(super) fn not_restored(state: &State, revision: &RevisionId) -> Decision {
    let open = state.restoring.as_ref().filter(|open| open.revision == *revision);
    if open.is_none_or(|open| open.called_off.is_none()) {
        return Decision::plain(Vec::new());
    }
    let message = "it was called off while it waited for the folder; nothing was changed".to_owned();
    let error = ToolError { code: CALLED_OFF.to_owned(), message, suggestion: None };
    let (revision, changed) = (revision.clone(), Changed::default());
    let ended = RevisionRestored { revision, changed, kept: Vec::new(), kept_more: 0, error: Some(error) };
    Decision::barrier(vec![Draft::new(ended)])
}

/// It is done: recorded, and put where the model reads it with the person's next words.
pub(super) fn restored(state: &State, revision: &RevisionId, restored: Restored, env: &Env<'_>) -> Decision {
    if state.restoring.as_ref().is_none_or(|open| open.revision != *revision) {
        return super::finish::late(revision.as_str(), "the end of a restore");
    }
    let Restored { changed, kept, kept_more, error } = restored;
    let note = (!changed.is_empty()).then(|| note(&changed));
    let done = RevisionRestored { revision: revision.clone(), changed, kept, kept_more, error };
    let mut drafts = vec![Draft::new(done)];
    drafts.extend(note.map(|text| {
        Draft::new(InboxPosted {
            message: MessageId::new(env.ids),
            text,
            target: Target::NextStep,
            wakeup: false,
            origin: Origin::Host,
            command: None,
        })
    }));
    Decision::barrier(drafts)
}

fn note(changed: &Changed) -> String {
    let mut paths: Vec<String> =
        changed.effects.iter().take(NAMED).map(|effect| tools::path::shown(&effect.path)).collect();
    let more = changed.count().saturating_sub(paths.len() as u64);
    if more > 0 {
        paths.push(format!("and {more} more"));
    }
    format!(
        "<note>The person took changes back. These paths are different now from what you last saw: {}. \
         Don't make the same changes again unless asked; read a file before you rely on it.</note>",
        paths.join(", ")
    )
}
