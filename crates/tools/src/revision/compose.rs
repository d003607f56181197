//! Effects as algebra: one after the other, and backwards.
//!
//! Invariants: composing is associative; an effect and its inverse compose to nothing; what [`compose`] gives holds each
//! path once and no path that ends as it began.

use domain::call::{Effect, Entry, LineCount};
use std::collections::BTreeMap;

/// Many effects in the order they happened as one per path: what stood there first, and last. Line counts don't add up,
/// so there are none; [`super::count_lines`] counts them anew. Ascending by path.
#[must_use]
pub fn compose(effects: &[Effect]) -> Vec<Effect> {
    let mut whole: BTreeMap<&str, Effect> = BTreeMap::new();
    for effect in effects {
        let next = || Effect { lines: None, ..effect.clone() };
        let one = whole.entry(&effect.path).or_insert_with(next);
        one.after.clone_from(&effect.after);
        one.kept_in.clone_from(&effect.kept_in);
        one.parted = one.parted.take().or_else(|| effect.parted.clone());
    }
    whole.into_values().filter(|effect| !same(effect.before.as_ref(), effect.after.as_ref())).collect()
}

/// The effect of undoing this one.
#[must_use]
pub fn inverse(effect: &Effect) -> Effect {
    let turned = |lines: LineCount| LineCount { added: lines.removed, removed: lines.added };
    Effect {
        path: effect.path.clone(),
        before: effect.after.clone(),
        after: effect.before.clone(),
        lines: effect.lines.map(turned),
        kept_in: None,
        parted: effect.parted.clone(),
    }
}

/// Does the same stand there? A mode nobody knows equals every other.
#[must_use]
pub fn same(one: Option<&Entry>, other: Option<&Entry>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.matches(other),
        (None, Some(_)) | (Some(_), None) => false,
    }
}
