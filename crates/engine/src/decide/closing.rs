//! Before a turn closes: listeners, run one after another, any of which may post a note that lets it go on.
//!
//! A **listener** looks at how the turn is about to end and says in words for the model what is still owed. Invariants: the
//! first that has something to say extends the turn, each at most once in it; a turn that is being stopped, or has taken all
//! the steps it may, is never extended.

use super::Env;
use domain::call::{Mode, PlanItem, PlanStatus};
use domain::event::{Draft, End, ExtendedWhy, InboxPosted, Origin, Target, TurnExtended};
use domain::ids::MessageId;
use domain::model::Block;
use domain::state::{State, Turn};

/// How many open items a note names.
const NAMED: usize = 10;

/// A turn that is about to end.
pub(super) struct Closing<'a> {
    pub(super) state: &'a State,
    pub(super) turn: &'a Turn,
    /// How it would.
    pub(super) end: &'a End,
    /// What its last answer holds, where that wasn't accepted.
    pub(super) unaccepted: &'a [Block],
}

/// What a listener has to say.
struct Word {
    why: ExtendedWhy,
    text: String,
}

/// In the order in which they run.
const LISTENERS: &[fn(&Closing<'_>) -> Option<Word>] = &[cut_call, open_plan];

/// What lets it go on, if anything does.
pub(super) fn extended(closing: &Closing<'_>, env: &Env<'_>) -> Option<Vec<Draft>> {
    let turn = closing.turn;
    if turn.cancel.is_some() || env.closing || turn.steps >= env.limits.steps_per_turn {
        return None;
    }
    let fresh = |word: &Word| !turn.extended.contains(&word.why);
    let Word { why, text } = LISTENERS.iter().find_map(|listener| listener(closing).filter(fresh))?;
    let message = MessageId::new(env.ids);
    let posted = InboxPosted {
        message: message.clone(),
        text: format!("<note>{text}</note>"),
        target: Target::NextStep,
        wakeup: false,
        origin: Origin::Host,
        command: None,
    };
    Some(vec![Draft::new(posted), Draft::of_turn(&turn.id, TurnExtended { why, message })])
}

/// An answer that met its limit in the middle of a call: the model is told once, since nothing else would stop it from asking
/// for the same again.
fn cut_call(closing: &Closing<'_>) -> Option<Word> {
    let name = match closing.unaccepted.last()? {
        Block::Call { name, .. } if *closing.end == End::Length => told(name),
        Block::Call { .. } | Block::Text { .. } | Block::Reasoning { .. } => return None,
    };
    let text = format!(
        "Your last answer met the longest that one may be, in the middle of a call of {name}. Nothing of it was kept or done. \
         Go on in smaller parts: shorter calls, one at a time, and long files piece by piece. If that happens again, the work \
         ends here."
    );
    Some(Word { why: ExtendedWhy::CutCall, text })
}

/// Items of a plan that this turn made or changed are open. Where only a plan is made, all of them are meant to be.
fn open_plan(closing: &Closing<'_>) -> Option<Word> {
    let plan = closing.state.plan.as_ref().filter(|_| *closing.end == End::Completed)?;
    let only_plans = closing.state.session.as_ref().is_some_and(|session| session.mode == Mode::Plan);
    if only_plans || closing.turn.planned.is_none() {
        return None;
    }
    let open: Vec<&PlanItem> =
        plan.items.iter().filter(|item| item.status != PlanStatus::Completed).collect();
    let mut named: Vec<String> = open.iter().take(NAMED).map(|item| told(&item.text)).collect();
    if open.len() > named.len() {
        named.push(format!("and {} more", open.len() - named.len()));
    }
    let text = format!(
        "Before this turn ends: your plan still has open items: {}. If they are done, send the plan again. If you can go on, do. \
         If you wait for the person, or they aren't wanted any more, say so in one sentence and stop; this isn't said again.",
        named.join("; ")
    );
    (!open.is_empty()).then_some(Word { why: ExtendedWhy::OpenPlan, text })
}

/// Words of the model's within a note of ours, which they can't end.
fn told(text: &str) -> String {
    tools::path::shown(text).replace("</", "<\\/")
}
