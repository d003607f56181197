//! The law as tables: what has happened, what would come next, and the law that says no.
//!
//! Each table is one noun. A row without a law must be allowed, so a law that is too strict fails as one too loose does.
//! Random histories are in `random`.

mod jobs;
mod random;
mod spend;

use crate::call::{Entry, Plan, PlanItem, PlanStatus, Recovery, Semantics};
use crate::digest::Digest;
use crate::event::*;
use crate::model::StopReason;
use crate::state::{ApprovalState, CallPhase, State};
use crate::testing::*;

/// `Ok` for an allowed event, else the name of the law that refuses it.
#[track_caller]
fn check(given: &Log, next: impl Into<Fact>, expect: Result<(), &str>) {
    let next = next.into();
    let got = given.check(next.clone()).map_err(|violation| violation.law);
    assert_eq!(got, expect, "{next:?}");
}

fn with(mut log: Log, facts: impl FnOnce(&mut Log)) -> Log {
    facts(&mut log);
    log
}

fn turn_end(end: End) -> TurnEnd {
    TurnEnd { end }
}

#[test]
fn a_session_begins_once_and_first() {
    let empty = Log::default();
    check(&empty, created(), Ok(()));
    check(&empty, posted(1), Err("session/first"));
    check(&Log::created(), created(), Err("session/first"));
    check(&Log::created(), SessionRenamed { title: " ".into() }, Err("session/title"));
}

#[test]
fn i02_a_turn_claims_work_and_is_the_only_one() {
    let start = |n| TurnStart { turn: turn(2), source: Source::Message { message: message(n) } };
    check(&Log::created(), start(1), Err("turn/claims_work"));
    check(&with(Log::created(), |log| log.lawful(posted(1))), start(1), Ok(()));
    check(&with(Log::stepping(), |log| log.lawful(posted(2))), start(2), Err("turn/one_open"));
    let recovery = TurnStart { turn: turn(2), source: Source::Recovery { of: turn(1) } };
    check(&Log::created(), recovery.clone(), Err("turn/claims_work"));
    let cut_off = with(Log::created(), |log| log.lawful(RecoveryContinuation { turn: turn(1) }));
    check(&cut_off, recovery, Ok(()));
    check(&Log::stepping(), RecoveryContinuation { turn: turn(1) }, Err("recovery/continuation"));
    check(&Log::created(), TurnCancel { by: CancelBy::User }, Err("turn/open"));
}

#[test]
fn a_turn_ends_after_its_children_and_says_why() {
    let answered = with(Log::answered(0), |log| log.lawful(step_end(1, StepEndKind::Answer)));
    check(&answered, turn_end(End::Completed), Ok(()));
    check(&Log::answered(0), turn_end(End::Completed), Err("turn/children_first"));
    check(&answered, turn_end(End::Cancelled { by: CancelBy::User }), Err("turn/cancelled"));
    check(&Log::created(), turn_end(End::Completed), Err("turn/open"));
    let failed = with(Log::stepping(), |log| {
        log.lawful(said(1));
        log.lawful(step_end(1, StepEndKind::Failed));
    });
    check(&failed, turn_end(End::Completed), Err("turn/completed"));
    check(&failed, turn_end(End::Length), Ok(()));
    let stopped = with(answered, |log| {
        log.lawful(TurnCancel { by: CancelBy::Shutdown });
        log.lawful(TurnCancel { by: CancelBy::User });
    });
    check(&stopped, turn_end(End::Cancelled { by: CancelBy::Shutdown }), Ok(()));
    check(&stopped, turn_end(End::Cancelled { by: CancelBy::User }), Err("turn/cancelled"));
}

#[test]
fn i03_one_step_one_attempt_and_numbers_without_gaps() {
    let start = |n| StepStart { step: step(9), n, model: model() };
    check(&Log::stepping(), start(2), Err("step/one_open"));
    let between = with(Log::answered(0), |log| log.lawful(step_end(1, StepEndKind::Answer)));
    check(&between, start(2), Ok(()));
    check(&between, start(3), Err("step/number"));
    let stopped = with(between, |log| log.lawful(TurnCancel { by: CancelBy::User }));
    check(&stopped, start(2), Err("turn/cancel"));
    let failed = with(Log::stepping(), |log| {
        log.lawful(said(1));
        log.lawful(step_end(1, StepEndKind::Failed));
    });
    check(&failed, start(2), Err("step/follows"));

    let attempt_start = |n| AttemptStart { attempt: attempt(9), n, body: body(), purpose: Purpose::Answer };
    check(&Log::attempting(), attempt_start(2), Err("attempt/phase"));
    let retry = Some(Retry { wait_ms: 1, until: 2 });
    let backoff = with(Log::attempting(), |log| log.lawful(ended(attempt(1), failed_with(retry))));
    check(&backoff, attempt_start(2), Ok(()));
    check(&backoff, attempt_start(3), Err("attempt/number"));
    let other =
        AttemptStart { attempt: attempt(9), n: 2, body: Digest::of(b"another"), purpose: Purpose::Answer };
    check(&backoff, other, Err("attempt/same_request"));
    let given_up = with(Log::attempting(), |log| log.lawful(ended(attempt(1), failed_with(None))));
    check(&given_up, attempt_start(2), Err("attempt/phase"));
}

fn failed_with(retry: Option<Retry>) -> AttemptEndKind {
    failed(retry)
}

#[test]
fn i08_an_attempt_is_settled_once_and_only_its_own() {
    let accepted_end = |n| ended(attempt(n), AttemptEndKind::Accepted);
    let open = Log::attempting();
    check(&open, accepted_end(1), Err("attempt/accepted"));
    check(&open, ended(attempt(2), AttemptEndKind::Cancelled), Err("attempt/open"));
    let unsettled = with(open, |log| log.lawful(accepted(attempt(1), 0)));
    check(&unsettled, accepted_end(2), Err("attempt/accepted"));
    check(&unsettled, step_end(1, StepEndKind::Answer), Err("step/children_first"));
    check(&unsettled, accepted_end(1), Ok(()));
    let settled = with(unsettled, |log| log.lawful(accepted_end(1)));
    check(&settled, accepted_end(1), Err("attempt/accepted"));
    check(&settled, ended(attempt(1), AttemptEndKind::Cancelled), Err("attempt/open"));
}

#[test]
fn only_a_whole_answer_with_something_in_it_is_accepted() {
    let log = Log::attempting();
    check(&log, accepted(attempt(1), 2), Ok(()));
    check(&log, accepted(attempt(2), 0), Err("attempt/open"));
    for stop in [StopReason::Length, StopReason::Refusal, StopReason::ContentFilter] {
        let answer = AssistantAccepted { stop, ..accepted(attempt(1), 0) };
        check(&log, answer, Err("answer/stop"));
    }
    let nothing = AssistantAccepted { blocks: Vec::new(), ..accepted(attempt(1), 0) };
    check(&log, nothing, Err("answer/shape"));
    let mut twice = accepted(attempt(1), 1);
    twice.blocks.extend(blocks(1));
    check(&log, twice, Err("answer/shape"));
}

#[test]
fn a_request_grows_its_prefix_or_opens_a_new_one() {
    let log = Log::stepping();
    check(&log, log.prepared(), Ok(()));
    check(&log, RequestPrepared { head: None, ..log.prepared() }, Err("prefix/first"));
    check(&log, RequestPrepared { opened: None, ..log.prepared() }, Err("prefix/first"));
    check(&log, RequestPrepared { revision: 2, ..log.prepared() }, Err("request/revision"));
    check(&Log::attempting(), Log::attempting().prepared(), Err("request/phase"));
    let second = with(Log::answered(0), |log| {
        log.lawful(step_end(1, StepEndKind::Answer));
        log.lawful(StepStart { step: step(2), n: 2, model: model() });
    });
    check(&second, second.prepared(), Ok(()));
    check(&second, RequestPrepared { base: 7, ..second.prepared() }, Err("prefix/grows"));
    let next = RequestPrepared {
        prefix_epoch: 2,
        opened: Some(EpochReason::ModelSwitch),
        head: Some(Digest::of(b"other")),
        base: 0,
        ..second.prepared()
    };
    check(&second, next.clone(), Ok(()));
    check(&second, RequestPrepared { prefix_epoch: 3, ..next }, Err("prefix/next"));
}

#[test]
fn r_inb_a_message_is_reserved_then_included_and_never_lost() {
    let log = Log::stepping();
    check(&log, posted(1), Err("inbox/unique"));
    check(&log, InboxCancelled { message: message(1) }, Err("inbox/cancel"));
    check(&log, InboxReserved { messages: vec![message(1)], step: step(1) }, Err("inbox/reserve"));
    check(&log, InboxReserved { messages: vec![message(2)], step: step(1) }, Err("inbox/reserve"));
    check(&log, said(2), Err("inbox/include"));
    check(&log, step_end(1, StepEndKind::Interrupted), Err("inbox/owned"));
    check(&log, InboxReleased { messages: vec![message(1)] }, Ok(()));
    let released = with(log, |log| log.lawful(InboxReleased { messages: vec![message(1)] }));
    check(&released, said(1), Err("inbox/include"));
    check(&released, InboxReleased { messages: vec![message(1)] }, Err("inbox/release"));
    check(&released, step_end(1, StepEndKind::Interrupted), Ok(()));
    let waiting = with(Log::attempting(), |log| log.lawful(posted(2)));
    check(&waiting, InboxCancelled { message: message(2) }, Ok(()));
    let sent = with(waiting, |log| {
        log.lawful(InboxReserved { messages: vec![message(2)], step: step(1) });
    });
    check(&sent, said(2), Err("history/frozen"));
}

#[test]
fn x18_a_command_is_taken_once() {
    let by = |n| InboxPosted { command: Some(command(1)), ..posted(n) };
    let log = with(Log::created(), |log| log.lawful(by(1)));
    check(&log, by(2), Err("command/once"));
    check(&log, InboxPosted { command: Some(command(2)), ..posted(2) }, Ok(()));
}

#[test]
fn i04_every_announced_call_is_proposed_in_order_and_ends_once() {
    let mut log = Log::attempting();
    log.lawful(accepted(attempt(1), 2));
    check(&log, proposed(1, 0), Err("call/announced"));
    log.lawful(ended(attempt(1), AttemptEndKind::Accepted));
    check(&log, proposed(1, 1), Err("call/order"));
    check(&log, ToolCall { provider_call_id: "p1".into(), ..proposed(1, 0) }, Err("call/announced"));
    log.lawful(proposed(1, 0));
    check(&log, proposed(1, 1), Err("call/unique"));
    check(&log, step_end(1, StepEndKind::Tools), Err("step/children_first"));
    log.lawful(denied(1));
    check(&log, step_end(1, StepEndKind::Tools), Err("call/all_proposed"));
    log.lawful(proposed(2, 1));
    log.lawful(denied(2));
    check(&log, step_end(1, StepEndKind::Answer), Err("step/end"));
    check(&log, step_end(1, StepEndKind::Failed), Err("step/end"));
    check(&log, step_end(1, StepEndKind::Tools), Ok(()));
    check(&log, proposed(3, 2), Err("call/announced"));
}

#[test]
fn i07_nothing_follows_a_terminal() {
    type Ending = fn(&mut Log);
    let endings: [Ending; 4] = [
        |log| log.lawful(denied(1)),
        |log| log.lawful(cancelled(1)),
        |log| {
            log.lawful(decided(1, allow()));
            log.lawful(started(1, manual()));
            log.lawful(result(1));
        },
        |log| {
            log.lawful(decided(1, allow()));
            log.lawful(started(1, manual()));
            log.lawful(unknown(1));
        },
    ];
    for ending in endings {
        let log = with(Log::answered(1), ending);
        let late: [Fact; 8] = [
            result(1).into(),
            denied(1).into(),
            cancelled(1).into(),
            unknown(1).into(),
            started(1, manual()).into(),
            decided(1, allow()).into(),
            asked(1, 1).into(),
            ToolOutput { call: call(1), text: "x".into() }.into(),
        ];
        for fact in late {
            check(&log, fact, Err("call/one_terminal"));
        }
        check(&log, result(2), Err("call/known"));
    }
}

#[test]
fn i07_an_unknown_outcome_is_resolved_once() {
    let resolved = CallResolved { call: call(1), resolution: Resolution::Done };
    let mut log = Log::answered(1);
    check(&log, resolved.clone(), Err("call/resolved"));
    log.lawful(decided(1, allow()));
    log.lawful(started(1, manual()));
    log.lawful(unknown(1));
    log.lawful(resolved.clone());
    check(&log, resolved, Err("call/resolved"));
}

#[test]
fn nothing_runs_that_is_not_cleared() {
    let log = Log::answered(1);
    let start = started(1, manual());
    check(&log, start.clone(), Err("call/cleared"));
    check(&with(log.clone(), |log| log.lawful(decided(1, allow()))), start.clone(), Ok(()));
    check(&with(log.clone(), |log| log.lawful(decided(1, deny()))), start.clone(), Err("call/cleared"));
    let other = ToolStart { arguments: Digest::of(b"other"), ..start.clone() };
    check(&with(log.clone(), |log| log.lawful(decided(1, allow()))), other, Err("call/arguments"));
    let asking = with(log.clone(), |log| log.lawful(decided(1, ask())));
    check(&asking, start.clone(), Err("call/cleared"));
    let open = with(asking, |log| log.lawful(asked(1, 1)));
    check(&open, start.clone(), Err("call/cleared"));
    check(&with(open.clone(), |log| log.lawful(granted(1))), start.clone(), Ok(()));
    let expired = ApprovalExpired { approval: approval(1), why: "changed".into() };
    let lapsed = with(open, |log| {
        log.lawful(granted(1));
        log.lawful(expired);
    });
    check(&lapsed, start.clone(), Err("call/cleared"));
    let stopped = with(log, |log| {
        log.lawful(decided(1, allow()));
        log.lawful(TurnCancel { by: CancelBy::User });
    });
    check(&stopped, start, Err("turn/cancel"));
}

#[test]
fn i10_an_approval_is_of_what_was_shown_and_answered_once() {
    let log = with(Log::answered(1), |log| log.lawful(decided(1, ask())));
    check(&Log::answered(1), asked(1, 1), Err("approval/asked_by_policy"));
    let open = with(log, |log| log.lawful(asked(1, 1)));
    check(&open, asked(2, 1), Err("approval/one_open"));
    let other = ApprovalGranted { digest: Digest::of(b"not shown"), ..granted(1) };
    check(&open, other, Err("approval/digest"));
    check(&open, granted(2), Err("approval/grant"));
    let refused = ApprovalRefused { approval: approval(1), why: None, nobody: false };
    let no = with(open.clone(), |log| log.lawful(refused.clone()));
    check(&no, granted(1), Err("approval/grant"));
    check(&no, ApprovalExpired { approval: approval(1), why: "time".into() }, Err("approval/expire"));
    let yes = with(open, |log| log.lawful(granted(1)));
    check(&yes, granted(1), Err("approval/grant"));
    check(&yes, refused, Err("approval/refuse"));
}

#[test]
fn effects_and_good_results_need_a_start() {
    let log = Log::answered(1);
    check(&log, result(1), Err("call/phase"));
    let bad = |effects| ToolResult {
        outcome: ToolOutcome::Error { error: error() },
        changed: Changed { effects, ..Changed::default() },
        ..result(1)
    };
    check(&log, bad(Vec::new()), Ok(()));
    let effect = crate::call::Effect {
        path: "a".into(),
        before: None,
        after: Some(Entry::File { content: Digest::of(b"x"), bytes: 1, mode: None }),
        lines: None,
        kept_in: None,
        parted: None,
    };
    check(&log, bad(vec![effect]), Err("call/effects"));
    check(&log, unknown(1), Err("call/phase"));
    check(&log, ToolOutput { call: call(1), text: "x".into() }, Err("call/phase"));
}

fn error() -> crate::call::ToolError {
    crate::call::ToolError { code: "x/y".into(), message: "no".into(), suggestion: None }
}

#[test]
fn r_pln_a_plan_is_a_whole_snapshot_with_the_next_version() {
    let plan = |version, doing: usize| {
        let status = |at: usize| if at < doing { PlanStatus::InProgress } else { PlanStatus::Pending };
        let items = (0..3).map(|at| PlanItem { text: format!("item {at}"), status: status(at) }).collect();
        PlanReplaced { plan: Plan { version, items } }
    };
    let log = with(Log::created(), |log| log.lawful(plan(1, 1)));
    check(&log, plan(2, 0), Ok(()));
    check(&log, plan(1, 0), Err("plan/version"));
    check(&log, plan(3, 0), Err("plan/version"));
    check(&log, plan(2, 2), Err("plan/one_in_progress"));
    let replaced = with(log, |log| log.lawful(plan(2, 0)));
    assert_eq!(replaced.state.plan.as_ref().map(|plan| plan.version), Some(2));
}

#[test]
fn an_event_names_its_sources_turn_and_step() {
    let log = Log::stepping();
    let note = || Fact::from(NoticeRaised { code: "a/b".into(), facts: Default::default() });
    let draft = |draft: Draft| log.state.check(&draft).map_err(|violation| violation.law);
    assert_eq!(draft(Draft::of_step(&turn(1), &step(1), note())), Ok(()));
    assert_eq!(draft(Draft::of_step(&turn(1), &step(2), note())), Err("event/scope"));
    assert_eq!(draft(Draft::of_turn(&turn(2), note())), Err("event/scope"));
    assert_eq!(draft(Draft::new(note()).from_sources(vec![4])), Ok(()));
    assert_eq!(draft(Draft::new(note()).from_sources(vec![5])), Err("event/sources"));
}

/// A new process puts harmless calls back in line and leaves the rest as it is; a yes was for one execution.
#[test]
fn adopting_puts_repeatable_calls_back_without_their_yes() {
    let mut log = Log::answered(2);
    for n in [1, 2] {
        log.lawful(decided(n, ask()));
        log.lawful(asked(n, n));
        log.lawful(granted(n));
    }
    log.lawful(started(1, Semantics::None { retry: true }));
    log.lawful(started(2, Semantics::Possible { recovery: Recovery::Manual }));
    log.epoch = 2;
    log.lawful(RecoveryAdopted { turn: turn(1) });
    let of = |n| log.state.call(&call(n)).expect("a call");
    assert_eq!(of(1).phase, CallPhase::Proposed);
    assert_eq!(of(1).approval, None);
    assert!(matches!(of(2).phase, CallPhase::Started { .. }));
    assert!(of(2).approval.as_ref().is_some_and(|a| a.state == ApprovalState::Granted));
    assert_eq!(log.state.turn.as_ref().map(|turn| turn.epoch), Some(2));
    check(&log, started(1, Semantics::None { retry: true }), Err("call/cleared"));
    check(&log, RecoveryAdopted { turn: turn(2) }, Err("turn/open"));
}

/// Every attempt's tokens enter the totals once: accepted, failed and stopped ones alike.
#[test]
fn r_inv_06_totals_are_the_sum_of_settlements() {
    let mut log = Log::attempting();
    log.lawful(ended(attempt(1), failed(Some(Retry { wait_ms: 1, until: 2 }))));
    log.lawful(AttemptStart { attempt: attempt(2), n: 2, body: body(), purpose: Purpose::Answer });
    log.lawful(accepted(attempt(2), 0));
    log.lawful(AttemptEnd { settled: Settled::Unknown, ..ended(attempt(2), AttemptEndKind::Accepted) });
    let usage = log.state.usage;
    assert_eq!((usage.attempts, usage.unknown), (2, 1));
    assert_eq!((usage.tokens.input, usage.tokens.output), (10, 2));
}

/// Stopping is absorbing: the first reason stays, and nothing new begins.
#[test]
fn r_loop_16_the_first_reason_to_stop_stays() {
    let mut log = Log::attempting();
    log.lawful(TurnCancel { by: CancelBy::User });
    log.lawful(TurnCancel { by: CancelBy::Shutdown });
    assert_eq!(log.state.turn.as_ref().and_then(|turn| turn.cancel), Some(CancelBy::User));
    log.lawful(ended(attempt(1), AttemptEndKind::Cancelled));
    let again = AttemptStart { attempt: attempt(2), n: 2, body: body(), purpose: Purpose::Answer };
    check(&log, again, Err("turn/cancel"));
    assert_eq!(State::of(&log.decoded()), log.state);
}

#[test]
fn changes_are_taken_back_while_nothing_runs_and_one_return_at_a_time() {
    let steps = EffectList { list: Digest::of(b"[]"), count: 1 };
    let scope = RestoreScope { of: RestoreOf::Session, paths: Vec::new() };
    let restoring = |n| RevisionRestoring {
        revision: crate::ids::RevisionId::from_bits(n),
        scope: scope.clone(),
        steps: steps.clone(),
        overwrite: Vec::new(),
        kept: Vec::new(),
        kept_more: 0,
    };
    let restored = |n| RevisionRestored {
        revision: crate::ids::RevisionId::from_bits(n),
        changed: Changed::default(),
        kept: Vec::new(),
        kept_more: 0,
        error: None,
    };
    check(&Log::answered(0), restoring(1), Err("revision/idle"));
    let idle = Log::created();
    check(&idle, restored(1), Err("revision/open"));
    let open = with(idle, |log| {
        log.lawful(posted(1));
        log.lawful(restoring(1));
    });
    check(&open, restoring(2), Err("revision/one_open"));
    check(&open, restored(2), Err("revision/open"));
    let start = TurnStart { turn: turn(1), source: Source::Message { message: message(1) } };
    check(&open, start.clone(), Err("revision/idle"));
    check(&with(open, |log| log.lawful(restored(1))), start, Ok(()));
}

#[test]
fn a_grant_is_given_once_and_revoked_once() {
    let given = |n| GrantGiven {
        grant: crate::ids::GrantId::from_bits(n),
        what: crate::call::Grant::Commands,
        approval: None,
    };
    let revoked = |n| GrantRevoked { grant: crate::ids::GrantId::from_bits(n) };
    check(&Log::created(), revoked(1), Err("grant/known"));
    let one = with(Log::created(), |log| log.lawful(given(1)));
    check(&one, given(1), Err("grant/unique"));
    check(&one, given(2), Ok(()));
    check(&with(one, |log| log.lawful(revoked(1))), revoked(1), Err("grant/known"));
}

#[test]
fn an_added_folder_has_nothing_in_common_with_another() {
    let added = |n, path: &str| FolderAdded {
        folder: crate::ids::FolderId::from_bits(n),
        path: path.into(),
        name: "Invoices".into(),
        identity: FolderIdentity { device: 1, inode: 2 },
    };
    let removed = |n| FolderRemoved { folder: crate::ids::FolderId::from_bits(n) };
    // The session's own is /folder.
    for path in ["/folder", "/folder/", "/folder/deeper", "/", "\\folder\\x"] {
        check(&Log::created(), added(1, path), Err("folder/apart"));
    }
    check(&Log::created(), added(1, ""), Err("folder/named"));
    check(&Log::created(), FolderAdded { name: " ".into(), ..added(1, "/other") }, Err("folder/named"));
    check(&Log::created(), removed(1), Err("folder/known"));
    let one = with(Log::created(), |log| log.lawful(added(1, "/home/invoices")));
    check(&one, added(1, "/elsewhere"), Err("folder/unique"));
    for path in ["/home/invoices", "/home/invoices/2025", "/home"] {
        check(&one, added(2, path), Err("folder/apart"));
    }
    // Alike in letters and not in parts.
    check(&one, added(2, "/home/invoices-2025"), Ok(()));
    check(&one, added(2, "/folder2"), Ok(()));
    let none = with(one, |log| log.lawful(removed(1)));
    assert!(none.state.added.is_empty());
    check(&none, removed(1), Err("folder/known"));
    check(&none, added(2, "/home"), Ok(()));
    let full = with(none, |log| {
        (0..crate::state::MOST_ADDED).for_each(|n| log.lawful(added(n as u128 + 9, &format!("/{n}"))));
    });
    check(&full, added(1, "/one more"), Err("folder/count"));
}

#[test]
fn what_is_asked_is_asked_anew_when_a_folder_is_added_or_removed() {
    let asking = with(Log::answered(1), |log| {
        log.lawful(decided(1, ask()));
        log.lawful(asked(1, 1));
    });
    let folder = crate::ids::FolderId::from_bits(1);
    let added = FolderAdded {
        folder: folder.clone(),
        path: "/invoices".into(),
        name: "Invoices".into(),
        identity: FolderIdentity { device: 1, inode: 2 },
    };
    let decision = |log: &Log| log.state.call(&call(1)).and_then(|call| call.decision.clone());
    assert!(decision(&asking).is_some());
    let with_it = with(asking, |log| log.lawful(added.clone()));
    assert!(decision(&with_it).is_none());
    let without = with(with_it, |log| {
        log.lawful(decided(1, ask()));
        log.lawful(FolderRemoved { folder });
    });
    assert!(decision(&without).is_none());
}

#[test]
fn a_stopped_call_that_never_started_changed_nothing() {
    let effect = crate::call::Effect {
        path: "a".into(),
        before: None,
        after: Some(Entry::Folder { mode: None }),
        lines: None,
        kept_in: None,
        parted: None,
    };
    let stopped =
        ToolCancelled { changed: Changed { effects: vec![effect], ..Changed::default() }, ..cancelled(1) };
    check(&Log::answered(1), stopped.clone(), Err("call/effects"));
    let running = with(Log::answered(1), |log| {
        log.lawful(decided(1, allow()));
        log.lawful(started(1, manual()));
    });
    check(&running, stopped, Ok(()));
}

/// What an earlier checkpoint left out is part of the full history as well as what came since.
#[test]
fn the_full_history_grows_past_a_second_checkpoint() {
    let mut state = State::default();
    let tokens = |before, after| Shrunk { before, after };
    state.checkpointed(&CheckpointCommitted { tokens: tokens(100, 20), ..Log::default().checkpoint(3) }, 5);
    state.checkpointed(&CheckpointCommitted { tokens: tokens(60, 30), ..Log::default().checkpoint(8) }, 9);
    let standing = state.history.checkpoint.unwrap();
    assert_eq!((standing.before, standing.full(30), standing.full(50)), (140, 140, 160));
}
