//! What the model reads of earlier work got shorter: one line each, and which is in force.

use super::*;
use crate::wire::view::HistoryView;

fn tokens() -> Shrunk {
    Shrunk { before: 96_000, after: 12_000 }
}

fn checkpoint(from: u64) -> Fact {
    CheckpointCommitted {
        generation: from + 1,
        from,
        upto: 4,
        chain: Digest::ZERO,
        steps: 41,
        kept: 3,
        text: format!("what stands for it {from}"),
        summary: (from == 1).then(|| attempt(9)),
        tokens: tokens(),
        why: ShortenWhy::Budget,
    }
    .into()
}

fn shown(fold: &Fold) -> Vec<HistoryView> {
    let found = fold.view().entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::History { history } => Some(history.clone()),
        _ => None,
    });
    found.collect()
}

#[test]
fn r_proj_06_the_conversation_stays_whole_while_the_model_reads_less() {
    let mut facts = begin();
    let (generation, results, why) = (1, 3, ShortenWhy::Overflow);
    facts.push(HistoryShortened { generation, from: 0, upto: 4, results, tokens: tokens(), why }.into());
    facts.extend([checkpoint(1), checkpoint(2)]);
    let fold = folded(facts.clone(), &Blobs::default());
    let said = |fold: &Fold| {
        fold.view()
            .entries
            .iter()
            .any(|e| matches!(&e.body, EntryBody::Said { text } if text == "tidy the menu"))
    };
    assert!(said(&fold), "what was said stays to be read");
    let [references, first, second] = &shown(&fold)[..] else { panic!("three lines") };
    assert_eq!((references.results, references.why.as_str(), references.in_force), (3, "overflow", true));
    assert!(first.by_model && !first.in_force, "the newest stands for the earlier one");
    assert_eq!((second.steps, second.before, second.after), (41, 96_000, 12_000));
    assert!(!second.by_model && second.in_force && second.text.contains("stands for it 2"));

    facts.push(HistoryRestored { generation: 4, from: 3 }.into());
    let fold = folded(facts, &Blobs::default());
    assert!(shown(&fold).iter().all(|one| !one.in_force) && said(&fold));
    let told = fold.view().entries.last().map(|entry| &entry.body);
    assert!(matches!(told, Some(EntryBody::Notice { code, .. }) if code == "history/restored"), "{told:?}");
}

/// A turn that was only there for a summary has its line and no end of its own; while it is written, that is said.
#[test]
fn a_summary_that_was_asked_for_shows_as_one_line() {
    let mut facts = begin();
    facts.truncate(3);
    let (turn, step) = (TurnId::from_bits(7), StepId::from_bits(7));
    let Some(Fact::StepStart(model)) = begin().into_iter().find(|fact| matches!(fact, Fact::StepStart(_)))
    else {
        panic!()
    };
    let prepared = SummaryPrepared {
        from: 0,
        upto: 4,
        dialect: "openai-chat".into(),
        adapter: 1,
        head: Digest::ZERO,
        segment: Digest::ZERO,
        body: Digest::ZERO,
        bytes: 1,
        tokens: 1,
    };
    facts.extend([
        HistoryAsked { from: 0 }.into(),
        TurnStart { turn, source: Source::Summary }.into(),
        StepStart { step: step.clone(), ..model }.into(),
        prepared.into(),
        AttemptStart { attempt: attempt(9), n: 1, body: Digest::ZERO, purpose: Purpose::Summary }.into(),
    ]);
    let fold = folded(facts.clone(), &Blobs::default());
    assert!(matches!(fold.view().activity, Activity::Summarising { .. }), "{:?}", fold.view().activity);
    let end = AttemptEndKind::Summarised { text: "All of it, in short.".into() };
    facts.extend([
        AttemptEnd { attempt: attempt(9), end, settled: Settled::Unknown, raw: None }.into(),
        checkpoint(0),
        StepEnd { step, end: StepEndKind::Summarised }.into(),
        TurnEnd { end: End::Completed }.into(),
    ]);
    let fold = folded(facts, &Blobs::default());
    assert_eq!(fold.view().activity, Activity::Idle);
    assert_eq!((fold.view().entries.len(), shown(&fold).len()), (1, 1), "{:#?}", fold.view().entries);
}
