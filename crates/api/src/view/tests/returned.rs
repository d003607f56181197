//! What a return shows after its end: that it was taken back, and since when it can't be any more.

use super::*;

#[test]
fn a_return_whose_contents_went_says_since_when_and_keeps_its_place() {
    let revision = RevisionId::from_bits(1);
    let mut facts = begin();
    facts.extend([
        RevisionRestoring {
            revision: revision.clone(),
            scope: RestoreScope { of: RestoreOf::Session, paths: Vec::new() },
            steps: EffectList { list: Digest::ZERO, count: 1 },
            overwrite: Vec::new(),
            kept: Vec::new(),
            kept_more: 0,
        }
        .into(),
        RevisionRestored {
            revision: revision.clone(),
            changed: Changed::default(),
            kept: Vec::new(),
            kept_more: 0,
            error: None,
        }
        .into(),
    ]);
    let shown = |facts: &[Fact]| {
        let fold = folded(facts.to_vec(), &Blobs::default());
        let entries = fold.view().entries.iter();
        let returns = entries.filter_map(|entry| match &entry.body {
            EntryBody::Undo { undo } => Some((entry.time, undo.thinned)),
            _ => None,
        });
        returns.collect::<Vec<_>>()
    };
    let before = shown(&facts);
    assert!(matches!(before[..], [(_, None)]), "{before:?}");
    let at = 1_000 + facts.len() as u64 * 1_000;
    let other = RevisionId::from_bits(2);
    facts.push(RevisionThinned { restores: vec![revision, other], ..RevisionThinned::default() }.into());
    assert_eq!(shown(&facts), [(before[0].0, Some(at))]);
}
