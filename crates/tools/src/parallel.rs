//! Which calls of one answer may run together.
//!
//! Two calls **conflict** when one of them must run alone, or when one changes what the other touches. Invariant: calls
//! keep the model's order, so a call never runs before an earlier one it conflicts with has ended.

use crate::call::Checked;
use crate::path::overlap;
use crate::tool::Concurrency;
use domain::call::{Act, Facts};

/// Must these two run one after the other?
#[must_use]
pub fn conflict(one: (&Checked, &Facts), other: (&Checked, &Facts)) -> bool {
    let alone = |call: &Checked| call.declared().concurrency == Concurrency::Exclusive;
    let changes = |facts: &Facts| match facts.act {
        Act::Read | Act::Talk => false,
        Act::Write | Act::Edit | Act::Delete | Act::Run => true,
    };
    let meet = || {
        one.1
            .can_touch
            .iter()
            .any(|a| other.1.can_touch.iter().any(|b| overlap(&a.to_lowercase(), &b.to_lowercase())))
    };
    alone(one.0) || alone(other.0) || ((changes(one.1) || changes(other.1)) && meet())
}

/// Groups calls, in order, so that those of one group may run together; a group has at most `most` calls. Each group
/// holds positions in `calls`; groups run one after the other.
#[must_use]
pub fn waves(calls: &[(&Checked, &Facts)], most: usize) -> Vec<Vec<usize>> {
    let mut waves: Vec<Vec<usize>> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        match waves.last_mut() {
            Some(wave) if wave.len() < most && wave.iter().all(|before| !conflict(calls[*before], *call)) => {
                wave.push(at)
            }
            _ => waves.push(vec![at]),
        }
    }
    waves
}
