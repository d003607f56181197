//! The random histories are worth their name: a fixed sample reaches what matters.

use super::{play, tries};

/// The tries reach deep enough to mean something: in a fixed sample, turns complete and calls end in each way.
#[test]
fn the_random_histories_reach_every_corner() {
    use proptest::strategy::{Strategy as _, ValueTree as _};
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..250 {
        let tries = tries().new_tree(&mut runner).expect("a history").current();
        let log = play(&tries).expect("both agree");
        seen.extend(log.events.iter().map(|event| event.kind.clone()));
    }
    for kind in [
        "turn/end",
        "tool/result",
        "tool/denied",
        "tool/cancelled",
        "tool/outcome_unknown",
        "approval/granted",
        "call/resolved",
        "recovery/adopted",
        "job/started",
        "step/end",
    ] {
        assert!(seen.contains(kind), "{kind} never happened: {seen:?}");
    }
}
