//! A permission that is taken back while a call is looked at: what was looked at under it says nothing.

use super::*;
use tools::rules::Layer;

#[test]
fn r_pol_05_a_permission_revoked_while_a_call_was_judged_starts_nothing() {
    let mut bench = Bench::attempting();
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    let grant = domain::ids::GrantId::from_bits(5);
    let rule = domain::call::grant_rule(&grant);
    let in_force = InForce { grants: vec![(grant, domain::call::Grant::Commands)], ..InForce::default() };
    let judged = Judgement { in_force, ..judgement(Verdict::Allow { rule }, b"shown", true) };
    let calls = vec![Judged { call: bench.call(0).id.clone(), result: Ok(judged) }];
    let step = bench.step_id();
    assert_eq!(bench.take(Input::Judged { step, calls }), "", "it is judged again");
}

#[test]
fn r_pol_05_a_rule_set_while_a_call_was_judged_starts_nothing() {
    let mut bench = Bench::attempting();
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    let verdict = Verdict::Allow { rule: "mode/auto".into() };
    let call = bench.call(0).id.clone();
    let calls = vec![Judged { call, result: Ok(judgement(verdict, b"shown", true)) }];
    let never = tools::rules::Rule::of(tools::rules::About::Run, true);
    bench.known.0.layers = vec![Layer { origin: "user".into(), rules: vec![never] }];
    let step = bench.step_id();
    assert_eq!(bench.take(Input::Judged { step, calls }), "", "it is judged again");
}

#[test]
fn a_yes_said_while_the_call_was_judged_again_stands() {
    let mut bench = Bench::attempting();
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    let ask = || Verdict::Ask { rule: "mode/ask".into() };
    let call = bench.call(0).id.clone();
    let judged = |bench: &Bench| Input::Judged {
        step: bench.step_id(),
        calls: vec![Judged { call: call.clone(), result: Ok(judgement(ask(), b"shown", false)) }],
    };
    let asked = judged(&bench);
    bench.take(asked);
    let approval = bench.call(0).approval.clone().unwrap();
    bench.tell(Command::Grant { approval: approval.id, digest: approval.digest, offer: None });
    let late = judged(&bench);
    assert_eq!(bench.take(late), "tool/decision", "nothing lapses and nothing is asked anew");
    assert_eq!(bench.call(0).approval.clone().unwrap().state, domain::state::ApprovalState::Granted);
}
