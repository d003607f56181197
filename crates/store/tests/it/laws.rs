//! Laws over random histories: the store against the plainest model of it, a folded state for each session.

use crate::rig::*;
use domain::event::{Draft, End, Event};
use domain::state::State;
use proptest::prelude::*;
use store::{Append, AppendError, Durability, Store};

/// What is done next.
#[derive(Debug, Clone)]
enum Act {
    /// The next events of the session's story, or any event at all, lawful or not.
    Append { session: u128, story: bool, pick: usize, count: usize },
    /// To both sessions at once.
    Both { count: usize },
    /// The process starts again.
    Restart,
    /// The lists are rebuilt.
    Rebuild,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => (1u128..3, prop::bool::weighted(0.8), 0usize..60, 1usize..6)
            .prop_map(|(session, story, pick, count)| Act::Append { session, story, pick, count }),
        2 => (1usize..4).prop_map(|count| Act::Both { count }),
        1 => Just(Act::Restart),
        1 => Just(Act::Rebuild),
    ]
}

/// A session's lawful story, and every event that occurs in one, for breaking it.
fn story() -> Vec<Draft> {
    let mut story = vec![created()];
    for n in 1..=4 {
        story.extend(turn_until_asked(n));
        story.extend(granted_and_started(n));
        story.push(if n % 2 == 0 { call_result(n) } else { call_unknown(n) });
        story.extend(ends(n, End::limit("steps", 1)));
    }
    story
}

/// What the laws alone say to these events.
fn lawful(state: &State, drafts: &[Draft]) -> Option<State> {
    let mut state = state.clone();
    for draft in drafts {
        state.check(draft).ok()?;
        let envelope = domain::event::Recorded {
            session: session(1),
            pos: 0,
            seq: state.next_seq,
            kind: draft.fact.kind().name.into(),
            version: 1,
            time: 1_000,
            epoch: 0,
            turn: draft.turn.clone(),
            step: draft.step.clone(),
            ignorable: false,
            sources: vec![],
            prev_hash: domain::digest::Digest::ZERO,
            hash: domain::digest::Digest::ZERO,
            payload: domain::event::Payload::Text("".into()),
        };
        state.fold(&Event { envelope, fact: Some(draft.fact.clone()) });
    }
    Some(state)
}

fn replayed(store: &Store, n: u128) -> State {
    let events = store.events(&session(n), 0, 9_999).expect("reads");
    let events: Vec<Event> = events.into_iter().map(|event| event.decode().expect("decodes")).collect();
    State::of(&events)
}

fn run(acts: &[Act]) -> Result<(), TestCaseError> {
    let dir = quick_folder();
    let mut store = Some(open(dir.path()));
    let story = story();
    for act in acts {
        let now = store.as_ref().expect("open");
        let states = [1, 2].map(|n| replayed(now, n));
        let next = |n: u128| states[usize::from(n == 2)].next_seq;
        let from_story = |n: u128, count: usize| {
            let from = usize::try_from(next(n)).expect("small").min(story.len());
            story[from..(from + count).min(story.len())].to_vec()
        };
        let batch: Vec<Append> = match act {
            Act::Append { session: n, story: true, count, .. } => {
                vec![Append { session: session(*n), expected_seq: next(*n), drafts: from_story(*n, *count) }]
            }
            Act::Append { session: n, pick, .. } => {
                let drafts = vec![story[pick % story.len()].clone()];
                vec![Append { session: session(*n), expected_seq: next(*n), drafts }]
            }
            Act::Both { count } => [1, 2]
                .map(|n| Append { session: session(n), expected_seq: next(n), drafts: from_story(n, *count) })
                .into(),
            Act::Restart => {
                drop(store.take());
                store = Some(open(dir.path()));
                prop_assert_eq!(store.as_ref().expect("open").verify_projections(), Ok(None));
                continue;
            }
            Act::Rebuild => {
                now.rebuild().expect("rebuilds");
                continue;
            }
        };
        let model = batch.iter().all(|append| {
            lawful(&states[usize::from(append.session == session(2))], &append.drafts).is_some()
        });
        match now.append_many(batch, Durability::Normal) {
            Ok(_) => prop_assert!(model, "the store took what the laws forbid"),
            Err(AppendError::Refused { violation, .. }) => prop_assert!(!model, "{violation}"),
            Err(error) => prop_assert!(false, "{error}"),
        }
        // Whatever was kept, taken, dropped or saved on the way: a state is the replay of the log.
        for n in [1, 2] {
            prop_assert_eq!(&*now.state(&session(n)).expect("folds"), &replayed(now, n));
        }
    }
    let store = store.expect("open");
    for n in [1, 2] {
        prop_assert_eq!(store.verify_chain(&session(n)), Ok(()));
    }
    prop_assert_eq!(store.verify_projections(), Ok(None));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// Append accepts what the laws accept and nothing else; states and lists are the log's at every place (I17, I18).
    #[test]
    fn r7_the_store_does_what_the_laws_say(acts in prop::collection::vec(act(), 1..30)) {
        run(&acts)?;
    }
}
