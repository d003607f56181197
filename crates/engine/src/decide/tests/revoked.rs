//! What changes under a permission: one taken back while a call is looked at says nothing, and a secret that was printed
//! stands on record before the call that printed it ends.

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

#[test]
fn a43_secrets_that_were_printed_are_on_record_before_their_call_ends() {
    for (end, expect) in [
        (FinishedEnd::Ok(serde_json::Value::Null), "secret/printed tool/result"),
        (FinishedEnd::Stopped, "secret/printed tool/cancelled"),
    ] {
        let mut bench = Bench::attempting();
        bench.answer(calls(&["tool"]), StopReason::ToolCalls);
        bench.judge(0, allow(), b"x", true);
        let Input::Finished { call, mut finished, ms } = finished(bench.call(0).id.clone(), end) else {
            panic!()
        };
        finished.secrets = vec![".env".into()];
        assert_eq!(bench.take(Input::Finished { call, finished, ms }), expect);
        assert!(bench.state.secrets.contains(".env"), "what reaches the network later asks because of it");
    }
}

/// Running follows from the folded state, and a start that isn't on the disk isn't in it.
#[test]
fn r_exe_05_a_call_with_effects_runs_only_after_its_start_is_on_the_disk() {
    let mut bench = Bench::attempting();
    bench.answer(calls(&["tool"]), StopReason::ToolCalls);
    let id = bench.call(0).id.clone();
    let cleared = Judgement { cleared: true, ..judgement(allow(), b"x", true) };
    let input = Input::Judged {
        step: bench.step_id(),
        calls: vec![Judged { call: id.clone(), result: Ok(cleared) }],
    };
    let decision = bench.with(|state, env| take(state, input, env));
    assert!(decision.barrier, "the start is committed and synced at once");
    let started = decision.drafts.iter().find_map(|draft| match &draft.fact {
        domain::event::Fact::ToolStart(start) => Some((start.call.clone(), start.semantics.has_effects())),
        _ => None,
    });
    assert_eq!(started, Some((id.clone(), true)), "it names the call, and what may be done about it");
    let runs = |bench: &Bench| bench.with(wanted).iter().any(|op| matches!(op, Op::Run(call) if *call == id));
    assert!(!runs(&bench), "nothing runs before");
    bench.fold(decision);
    assert!(runs(&bench));
}
