//! A permission that is taken back while a call is looked at: what was looked at under it says nothing.

use super::*;

#[test]
fn r_pol_05_a_permission_revoked_while_a_call_was_judged_starts_nothing() {
    let mut bench = Bench::attempting();
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    let grant = domain::ids::GrantId::from_bits(5);
    let rule = domain::call::grant_rule(&grant);
    let judged = Judgement { grants: vec![grant], ..judgement(Verdict::Allow { rule }, b"shown", true) };
    let calls = vec![Judged { call: bench.call(0).id.clone(), result: Ok(judged) }];
    let step = bench.step_id();
    assert_eq!(bench.take(Input::Judged { step, calls }), "", "it is judged again");
}
