//! Long records, made lawfully and quickly: whole turns as the loop would record them, without the loop.
//!
//! For what must be read at a length that would take hours to live through. Invariant: every event passes the store's
//! checks; only the contents that requests name are not there, so nothing is sent or verified on such a record.

use crate::Done;
use crate::place;
use domain::call::Mode;
use domain::digest::Digest;
use domain::event::*;
use domain::ids::{AttemptId, FolderId, MessageId, SessionId, StepId, TurnId};
use domain::model::{Block, ModelDelta, ModelSnapshot, StopReason, Usage};
use host::SystemIds;
use store::{Append, Durability, StoreHandle};

/// Events of one turn.
pub(crate) const OF_TURN: usize = 13;
/// Turns of one append: the store takes 4,096 events at once.
const AT_ONCE: usize = 250;

const ANSWER: &str =
    "The invoice of March names 1,284.50 EUR, paid on the ninth; I put it into the table with the others.";

/// A session's beginning.
pub(crate) fn created() -> SessionCreated {
    SessionCreated {
        folder: FolderId::from_bits(1),
        root: "/project".to_owned(),
        mode: Mode::Ask,
        model: None,
        tour: false,
        identity: None,
    }
}

/// Records a session of at least this many events, and gives it with how many it has.
pub(crate) fn session(store: &StoreHandle, session: &SessionId, events: usize) -> Done<usize> {
    store.append(session, 0, vec![Draft::new(created())], Durability::Normal)?;
    let (turns, model) = (events.div_ceil(OF_TURN), place::model()?);
    let mut next = 1;
    for from in (0..turns).step_by(AT_ONCE) {
        let drafts: Vec<Draft> = (from..turns.min(from + AT_ONCE)).flat_map(|n| turn(n, &model)).collect();
        let count = drafts.len() as u64;
        store.append(session, next, drafts, Durability::Normal)?;
        next += count;
    }
    Ok(usize::try_from(next)?)
}

/// Many sessions that have only begun.
pub(crate) fn sessions(store: &StoreHandle, count: usize) -> Done<()> {
    for from in (0..count).step_by(AT_ONCE) {
        let some = (from..count.min(from + AT_ONCE)).map(|n| Append {
            session: SessionId::from_bits(1_000_000 + n as u128),
            expected_seq: 0,
            drafts: vec![
                Draft::new(created()),
                Draft::new(SessionRenamed { title: format!("Work number {n}") }),
            ],
        });
        store.append_many(some.collect(), Durability::Normal)?;
    }
    Ok(())
}

/// The n-th turn, from 0, with our server's model.
fn turn(n: usize, model: &ModelSnapshot) -> Vec<Draft> {
    let ids = &SystemIds;
    let (turn, step, attempt) = (TurnId::new(ids), StepId::new(ids), AttemptId::new(ids));
    let message = MessageId::new(ids);
    let words = format!("Please look at invoice number {n} and put it into the table.");
    let of_step = |fact: Fact| Draft::of_step(&turn, &step, fact);
    let body = Digest::of(&n.to_be_bytes());
    let mut drafts = vec![
        Draft::new(InboxPosted {
            message: message.clone(),
            text: words.clone(),
            target: Target::NextStep,
            wakeup: true,
            origin: Origin::User,
            command: None,
        }),
        Draft::of_turn(
            &turn,
            TurnStart { turn: turn.clone(), source: Source::Message { message: message.clone() } },
        ),
        of_step(StepStart { step: step.clone(), n: 1, model: model.clone() }.into()),
        of_step(InboxReserved { messages: vec![message.clone()], step: step.clone() }.into()),
        of_step(UserMessage { message: message.clone(), text: words }.into()),
        of_step(prepared(n, message, body).into()),
        of_step(AttemptStart { attempt: attempt.clone(), n: 1, body, purpose: Purpose::Answer }.into()),
    ];
    for text in ANSWER.split_inclusive(", ") {
        let deltas = vec![ModelDelta::Text { text: text.to_owned() }];
        drafts.push(of_step(AssistantDelta { attempt: attempt.clone(), deltas }.into()));
    }
    let blocks = vec![Block::Text { text: ANSWER.to_owned() }];
    let tokens = Usage { input: 1_000, output: 40, ..Usage::default() };
    drafts.extend([
        of_step(AssistantAccepted { attempt: attempt.clone(), blocks, stop: StopReason::Stop }.into()),
        of_step(
            AttemptEnd {
                attempt,
                end: AttemptEndKind::Accepted,
                settled: Settled::Reported { tokens },
                raw: None,
            }
            .into(),
        ),
        of_step(StepEnd { step: step.clone(), end: StepEndKind::Answer }.into()),
        Draft::of_turn(&turn, TurnEnd { end: End::Completed }),
    ]);
    drafts
}

fn prepared(n: usize, message: MessageId, body: Digest) -> RequestPrepared {
    let first = n == 0;
    RequestPrepared {
        prefix_epoch: 1,
        opened: first.then_some(EpochReason::First),
        revision: 1,
        dialect: "anthropic-messages".to_owned(),
        adapter: 1,
        head: first.then(|| Digest::of(b"head")),
        added: vec![body],
        base: u32::try_from(n).unwrap_or(u32::MAX),
        markers: Vec::new(),
        body,
        bytes: 10_000,
        included: vec![message],
        tokens: 2_500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Folder;
    use std::sync::Arc;
    use store::{Options, Store};

    #[test]
    fn made_records_are_lawful_whole_turns() {
        let folder = Folder::new().expect("a folder");
        store::create_folder(&folder.data()).expect("a data folder");
        let store = Store::open(&folder.data(), Options::inline(Arc::new(host::SystemClock))).expect("opens");
        let id = SessionId::from_bits(7);
        let events = session(&store, &id, 10 * OF_TURN).expect("every event is lawful");
        assert_eq!(events, 10 * OF_TURN + 1);
        let recorded = store.events(&id, 0, usize::MAX >> 1).expect("readable");
        let epoch = store.last_epoch().expect("readable");
        assert_eq!(domain::audit::audit(&recorded, epoch), []);
        sessions(&store, 3).expect("sessions begin");
        assert_eq!(store.sessions().expect("readable").len(), 4);
    }
}
