//! P15: forking, going back and searching in a session of a million events. None of the three is there yet.

use super::Run;
use crate::Done;
use crate::report::Row;

pub(super) fn measure(_: &Run<'_>) -> Done<Vec<Row>> {
    let absent = |what: &str, why: &str| Row::absent("P15", what, why);
    Ok(vec![
        absent("a fork at 1 M events costs ≤ 1.5× one at 1 k", "not there: sessions can't be forked yet"),
        absent(
            "going back at 1 M events costs ≤ 1.5× that at 1 k",
            "not there: undo takes files back, not the conversation",
        ),
        absent("a full-text search of 1 M events within 100 ms", "not there: records can't be searched yet"),
    ])
}
