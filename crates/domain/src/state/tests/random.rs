//! Random histories, lawful and not, against a second, much smaller model of the lifecycle.
//!
//! The **model** knows only nesting: what is open inside what, and who has ended. Invariant: `check` says yes exactly
//! when the model does; whatever was said yes to audits clean, folds the same in one go and in pieces, and projects
//! the same whole and cut at any request.

mod corners;

use crate::audit::audit;
use crate::call::Semantics;
use crate::event::*;
use crate::history;
use crate::state::State;
use crate::testing::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Something tried next. Numbers are small, so that ids meet.
#[derive(Debug, Clone, Copy)]
enum Try {
    Post,
    TurnStart,
    TurnCancel,
    TurnEnd(u8),
    StepStart,
    StepEnd(u8),
    Reserve,
    Say,
    Prepare,
    Replace(u8),
    Attempt,
    AttemptEnd(u8),
    Accept(u8),
    Propose,
    Decide(u8, u8),
    Ask(u8),
    Grant(u8),
    Start(u8),
    End(u8, u8),
    Resolve(u8),
    Adopt,
    Leave(u8),
    Job(u8, u8),
}

/// Four things that might come next: the first is always judged, the first lawful one happens.
type Tries = Vec<[Try; 4]>;

fn tries() -> impl Strategy<Value = Tries> {
    let n = || 0..4_u8;
    // Ends are rarer than beginnings, so that histories grow deep.
    let rarely = || prop_oneof![12 => Just(0_u8), 12 => Just(1_u8), 1 => Just(2_u8), 1 => Just(3_u8)];
    let one = prop_oneof![
        6 => Just(Try::Post),
        12 => Just(Try::TurnStart),
        1 => Just(Try::TurnCancel),
        2 => n().prop_map(Try::TurnEnd),
        16 => Just(Try::StepStart),
        8 => rarely().prop_map(Try::StepEnd),
        8 => Just(Try::Reserve),
        12 => Just(Try::Say),
        10 => Just(Try::Prepare),
        3 => n().prop_map(Try::Replace),
        24 => Just(Try::Attempt),
        3 => n().prop_map(Try::AttemptEnd),
        24 => n().prop_map(Try::Accept),
        40 => Just(Try::Propose),
        30 => (n(), n()).prop_map(|(a, b)| Try::Decide(a, b)),
        30 => n().prop_map(Try::Ask),
        40 => n().prop_map(Try::Grant),
        60 => n().prop_map(Try::Start),
        16 => (n(), n()).prop_map(|(a, b)| Try::End(a, b)),
        20 => n().prop_map(Try::Resolve),
        2 => Just(Try::Adopt),
        10 => n().prop_map(Try::Leave),
        20 => (0..2_u8, prop_oneof![2 => Just(0_u8), 1 => 1..6_u8]).prop_map(|(a, b)| Try::Job(a, b)),
    ];
    vec(proptest::array::uniform4(one), 1..100)
}

#[derive(Debug, Default)]
struct Model {
    waiting: Vec<u128>,
    claimed: Vec<u128>,
    turn: Option<TurnModel>,
    unknown: Vec<u128>,
    /// Long results before this are references.
    references: u64,
    /// Jobs that are open.
    jobs: Vec<JobModel>,
    used: Used,
}

/// Numbers given out so far.
#[derive(Debug, Default)]
struct Used {
    messages: u128,
    turns: u128,
    steps: u128,
    attempts: u128,
    calls: u128,
    approvals: u128,
    jobs: u128,
}

#[derive(Debug, Clone, Copy)]
struct JobModel {
    id: u128,
    call: u128,
    /// 0 waits, 1 runs, 2 is lost sight of.
    phase: u8,
    stopping: bool,
}

#[derive(Debug, Default)]
struct TurnModel {
    stopping: bool,
    steps: u32,
    last: Option<StepEndKind>,
    step: Option<StepModel>,
}

#[derive(Debug, Default)]
struct StepModel {
    request: bool,
    attempts: u32,
    open: Option<u128>,
    /// May the request go out (again)?
    sendable: bool,
    /// May a request be built?
    buildable: bool,
    /// Calls announced by the accepted answer.
    announced: Option<u8>,
    calls: Vec<CallModel>,
}

#[derive(Debug, Default)]
struct CallModel {
    id: u128,
    word: Option<u8>,
    approval: Option<(u128, bool)>,
    started: bool,
    ended: bool,
}

/// The facts of a try, and whether the model finds them lawful.
fn facts(model: &Model, tried: Try, log: &Log) -> (Vec<Fact>, bool) {
    let turn_model = model.turn.as_ref();
    let step_model = turn_model.and_then(|turn| turn.step.as_ref());
    let (turn_n, step_n) = (model.used.turns, model.used.steps);
    let stopping = turn_model.is_some_and(|turn| turn.stopping);
    let call_at = |at: u8| step_model.and_then(|step| step.calls.get(usize::from(at)));
    let id_at = |at: u8| call_at(at).map_or(9_999, |call| call.id);
    let live = |at: u8| call_at(at).filter(|call| !call.ended);
    match tried {
        Try::Post => (vec![posted(model.used.messages + 1).into()], true),
        Try::TurnStart => {
            let first = model.waiting.first().copied();
            let source = Source::Message { message: message(first.unwrap_or(9_999)) };
            let start = TurnStart { turn: turn(turn_n + 1), source };
            (vec![start.into()], turn_model.is_none() && first.is_some())
        }
        Try::TurnCancel => (vec![TurnCancel { by: CancelBy::User }.into()], turn_model.is_some()),
        Try::TurnEnd(how) => {
            let end = [End::Completed, End::Cancelled { by: CancelBy::User }, End::Length, End::NothingToDo]
                [usize::from(how)]
            .clone();
            let fits = turn_model.is_some_and(|turn| {
                let reason = match how {
                    0 => turn.last == Some(StepEndKind::Answer),
                    1 => turn.stopping,
                    _ => true,
                };
                turn.step.is_none() && reason
            });
            (vec![TurnEnd { end }.into()], fits)
        }
        Try::StepStart => {
            let n = turn_model.map_or(1, |turn| turn.steps + 1);
            let fits = turn_model.is_some_and(|turn| {
                let on = matches!(turn.last, None | Some(StepEndKind::Tools | StepEndKind::Answer));
                turn.step.is_none() && !turn.stopping && on
            });
            (vec![StepStart { step: step(step_n + 1), n, model: model_snapshot() }.into()], fits)
        }
        Try::StepEnd(how) => {
            let end =
                [StepEndKind::Tools, StepEndKind::Answer, StepEndKind::Failed, StepEndKind::Interrupted]
                    [usize::from(how)];
            let fits = step_model.is_some_and(|open| {
                let whole = open.announced.is_none_or(|count| usize::from(count) == open.calls.len());
                let closed = open.open.is_none() && whole && open.calls.iter().all(|call| call.ended);
                let fits = match end {
                    StepEndKind::Tools => open.announced.is_some_and(|count| count > 0),
                    StepEndKind::Answer => open.announced == Some(0),
                    StepEndKind::Failed => open.announced.is_none(),
                    StepEndKind::Summarised => false,
                    StepEndKind::Cancelled | StepEndKind::Interrupted => true,
                };
                closed && fits && model.claimed.is_empty()
            });
            (vec![step_end(step_n, end).into()], fits)
        }
        Try::Reserve => {
            let messages: Vec<_> = model.waiting.iter().copied().map(message).collect();
            (vec![InboxReserved { messages, step: step(step_n) }.into()], step_model.is_some())
        }
        Try::Say => {
            let first = model.claimed.first().copied();
            let before = step_model.is_some_and(|open| open.announced.is_none() && open.open.is_none());
            (vec![said(first.unwrap_or(9_999)).into()], before && first.is_some())
        }
        Try::Prepare => (vec![log.prepared().into()], step_model.is_some_and(|open| open.buildable)),
        Try::Replace(how) => {
            let at = log.state.step().map_or(log.state.next_seq, |(_, step)| step.at);
            let fresh = step_model.is_some_and(|open| !open.request && open.attempts == 0);
            match how {
                0 => (vec![log.shortening(at).into()], fresh && at > model.references),
                1 => (vec![log.checkpoint(at).into()], fresh),
                2 => (vec![log.in_full().into()], true),
                // Within the open step, or beyond the end.
                _ => (vec![log.checkpoint(at + 1).into()], false),
            }
        }
        Try::Attempt => {
            let n = step_model.map_or(1, |open| open.attempts + 1);
            let start = AttemptStart {
                attempt: attempt(model.used.attempts + 1),
                n,
                body: body(),
                purpose: Purpose::Answer,
            };
            (vec![start.into()], !stopping && step_model.is_some_and(|open| open.sendable))
        }
        Try::AttemptEnd(how) => {
            let retry = Some(Retry { wait_ms: 1, until: 2 });
            let end = match how {
                0 => failed(retry),
                1 => failed(None),
                2 => AttemptEndKind::Cancelled,
                _ => AttemptEndKind::Interrupted,
            };
            let open = step_model.and_then(|open| open.open);
            (vec![ended(attempt(open.unwrap_or(model.used.attempts)), end).into()], open.is_some())
        }
        Try::Accept(calls) => {
            let open = step_model.and_then(|open| open.open);
            let id = attempt(open.unwrap_or(model.used.attempts));
            let answer = accepted(id.clone(), u32::from(calls));
            (vec![answer.into(), ended(id, AttemptEndKind::Accepted).into()], open.is_some())
        }
        Try::Propose => {
            let at = step_model.map_or(0, |open| open.calls.len());
            let more =
                step_model.is_some_and(|open| open.announced.is_some_and(|count| at < usize::from(count)));
            let index = u32::try_from(at).expect("few");
            (vec![proposed(model.used.calls + 1, index).into()], more)
        }
        Try::Decide(at, word) => {
            let verdict = [allow(), ask(), deny(), allow()][usize::from(word)].clone();
            let fits = live(at).is_some_and(|call| !call.started);
            (vec![decided(id_at(at), verdict).into()], fits)
        }
        Try::Ask(at) => {
            let fits = live(at).is_some_and(|call| {
                !call.started && call.word == Some(1) && call.approval.is_none_or(|(_, granted)| granted)
            });
            (vec![asked(model.used.approvals + 1, id_at(at)).into()], fits)
        }
        Try::Grant(at) => {
            let open = live(at).and_then(|call| call.approval).filter(|(_, granted)| !granted);
            (vec![granted(open.map_or(9_999, |(id, _)| id)).into()], open.is_some())
        }
        Try::Start(at) => {
            let fits = live(at).is_some_and(|call| {
                let yes = call.approval.is_some_and(|(_, granted)| granted);
                !call.started && matches!((call.word, yes), (Some(0 | 3), _) | (Some(1), true))
            });
            let semantics = if at % 2 == 0 { manual() } else { Semantics::None { retry: true } };
            (vec![started(id_at(at), semantics).into()], fits && !stopping)
        }
        Try::End(at, how) => {
            let id = id_at(at);
            let fact: Fact = match how {
                0 => result(id).into(),
                1 => denied(id).into(),
                2 => cancelled(id).into(),
                _ => unknown(id).into(),
            };
            let fits = live(at).is_some_and(|call| match how {
                0 | 3 => call.started,
                1 => !call.started,
                _ => true,
            });
            (vec![fact], fits)
        }
        Try::Resolve(at) => {
            let open = model.unknown.get(usize::from(at)).copied();
            let id = call(open.unwrap_or(9_999));
            (vec![CallResolved { call: id, resolution: Resolution::Skip }.into()], open.is_some())
        }
        Try::Leave(at) => {
            let made = model.jobs.iter().any(|job| job.call == id_at(at));
            let fits = live(at).is_some_and(|call| call.started) && !made;
            (vec![job_created(model.used.jobs + 1, id_at(at)).into()], fits)
        }
        Try::Job(at, what) => job_facts(model.jobs.get(usize::from(at)).copied(), what),
        Try::Adopt => (vec![RecoveryAdopted { turn: turn(turn_n) }.into()], turn_model.is_some()),
    }
}

/// 0 begins, 1 is stopped, 2 is lost sight of, and three ends.
fn job_facts(open: Option<JobModel>, what: u8) -> (Vec<Fact>, bool) {
    let n = open.map_or(9_999, |job| job.id);
    let begun = open.is_some_and(|job| job.phase > 0);
    let (fact, fits): (Fact, bool) = match what {
        0 => (job_started(n, manual()).into(), open.is_some_and(|job| job.phase == 0 && !job.stopping)),
        1 => (job_cancel(n, JobCancelBy::Model).into(), open.is_some()),
        2 => (job_lost(n).into(), open.is_some_and(|job| job.phase == 1)),
        3 => (job_ended(n, completed()).into(), begun),
        4 => (job_ended(n, JobEnd::Interrupted).into(), begun),
        _ => {
            let end = JobEnd::Cancelled { by: JobCancelBy::Model };
            (job_ended(n, end).into(), open.is_some_and(|job| job.stopping))
        }
    };
    (vec![fact], fits)
}

fn model_snapshot() -> crate::model::ModelSnapshot {
    crate::testing::model()
}

/// Takes in a lawful try; the open step began at `at`.
fn apply(model: &mut Model, tried: Try, at: u64) {
    let used = &mut model.used;
    match tried {
        Try::Post => {
            used.messages += 1;
            model.waiting.push(used.messages);
        }
        Try::TurnStart => {
            used.turns += 1;
            model.turn = Some(TurnModel::default());
        }
        Try::TurnEnd(_) => model.turn = None,
        Try::Say => drop(model.claimed.remove(0)),
        Try::Reserve => model.claimed.append(&mut model.waiting),
        Try::Resolve(at) => drop(model.unknown.remove(usize::from(at))),
        Try::Replace(0) => model.references = at,
        Try::Replace(2) => model.references = 0,
        Try::Job(at, what) => match what {
            0 => model.jobs[usize::from(at)].phase = 1,
            1 => model.jobs[usize::from(at)].stopping = true,
            2 => model.jobs[usize::from(at)].phase = 2,
            _ => drop(model.jobs.remove(usize::from(at))),
        },
        _ => {}
    }
    let Some(turn) = &mut model.turn else { return };
    match tried {
        Try::TurnCancel => turn.stopping = true,
        Try::StepStart => {
            used.steps += 1;
            turn.steps += 1;
            turn.step = Some(StepModel { buildable: true, ..StepModel::default() });
        }
        Try::StepEnd(how) => {
            turn.step = None;
            turn.last = Some(
                [StepEndKind::Tools, StepEndKind::Answer, StepEndKind::Failed, StepEndKind::Interrupted]
                    [usize::from(how)],
            );
        }
        _ => {}
    }
    let Some(step) = &mut turn.step else { return };
    match tried {
        Try::Prepare => (step.request, step.sendable, step.buildable) = (true, true, true),
        Try::Attempt => {
            used.attempts += 1;
            step.attempts += 1;
            (step.open, step.sendable, step.buildable) = (Some(used.attempts), false, false);
        }
        Try::AttemptEnd(how) => {
            step.open = None;
            (step.sendable, step.buildable) = (how == 0, how != 0);
        }
        Try::Accept(calls) => (step.open, step.announced) = (None, Some(calls)),
        Try::Propose => {
            used.calls += 1;
            step.calls.push(CallModel { id: used.calls, ..CallModel::default() });
        }
        Try::Adopt => {
            for call in
                step.calls.iter_mut().enumerate().filter_map(|(at, call)| (at % 2 == 1).then_some(call))
            {
                if call.started && !call.ended {
                    *call = CallModel { id: call.id, ..CallModel::default() };
                }
            }
        }
        _ => {}
    }
    let (Try::Decide(at, _)
    | Try::Ask(at)
    | Try::Grant(at)
    | Try::Start(at)
    | Try::End(at, _)
    | Try::Leave(at)) = tried
    else {
        return;
    };
    let call = &mut step.calls[usize::from(at)];
    match tried {
        Try::Decide(_, word) => call.word = Some(word),
        Try::Ask(_) => {
            used.approvals += 1;
            call.approval = Some((used.approvals, false));
        }
        Try::Grant(_) => call.approval = call.approval.map(|(id, _)| (id, true)),
        Try::Start(_) => call.started = true,
        Try::Leave(_) => {
            used.jobs += 1;
            model.jobs.push(JobModel { id: used.jobs, call: call.id, phase: 0, stopping: false });
        }
        Try::End(_, how) => {
            call.ended = true;
            if how == 3 {
                model.unknown.push(call.id);
            }
        }
        _ => {}
    }
}

/// Plays the tries: each first one is judged by both, and the first lawful one of each is recorded.
fn play(tries: &[[Try; 4]]) -> Result<Log, TestCaseError> {
    let mut log = Log::created();
    let mut model = Model::default();
    for options in tries {
        for tried in options {
            let (facts, lawful) = facts(&model, *tried, &log);
            let first = facts[0].clone();
            let verdict = log.check(first.clone());
            prop_assert_eq!(
                verdict.is_ok(),
                lawful,
                "{:?} {:?}: {:?} in {:#?}",
                tried,
                first,
                verdict,
                model
            );
            if lawful {
                let at = log.state.step().map_or(0, |(_, step)| step.at);
                for fact in facts {
                    prop_assert!(log.check(fact.clone()).is_ok(), "{:?}", fact);
                    log.push(fact);
                }
                apply(&mut model, *tried, at);
                break;
            }
        }
    }
    Ok(log)
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Append accepts exactly what the model accepts, and what it accepts breaks nothing that the audit knows.
    #[test]
    fn rel_r7_append_accepts_what_the_model_accepts(tries in tries()) {
        let log = play(&tries)?;
        let findings = audit(&log.events, log.epoch);
        prop_assert!(findings.is_empty(), "{findings:#?}");
    }

    /// Folding twice, in pieces, and through a stored snapshot gives one state.
    #[test]
    fn i17_folding_in_pieces_gives_the_same_state(tries in tries(), cut in any::<prop::sample::Index>()) {
        let events = play(&tries)?.decoded();
        let whole = State::of(&events);
        prop_assert_eq!(&whole, &State::of(&events));
        let (before, after) = events.split_at(cut.index(events.len()));
        let kept = serde_json::to_string(&State::of(before)).expect("a snapshot");
        let mut state: State = serde_json::from_str(&kept).expect("it reads back");
        after.iter().for_each(|event| state.fold(event));
        prop_assert_eq!(state, whole);
    }

    /// Between two replacements, the projection of the whole is the projections of its parts, cut at any request; whatever was
    /// replaced, what is sent is a lawful history, each replacement counts, and none changes what the log holds.
    #[test]
    fn i18_projecting_by_parts_gives_the_same_history(tries in tries()) {
        let facts: Vec<(u64, Fact)> = play(&tries)?.decoded().into_iter().filter_map(Event::placed).collect();
        let cuts = facts.iter().enumerate().filter(|(_, (_, fact))| matches!(fact, Fact::RequestPrepared(_)));
        for (cut, _) in cuts {
            let mut parts = history::project(&facts[..=cut]).expect("what is sent is paired");
            prop_assert_eq!(history::unsendable(&parts), None);
            let replaces = |(_, fact): &(u64, Fact)| matches!(fact, Fact::HistoryShortened(_)
                | Fact::CheckpointCommitted(_) | Fact::HistoryRestored(_));
            if facts[cut + 1..].iter().any(replaces) {
                continue;
            }
            if let (Ok(rest), Ok(whole)) = (history::project(&facts[cut + 1..]), history::project(&facts)) {
                parts.extend(rest);
                prop_assert_eq!(&parts, &whole);
            }
        }
    }

    /// Decorative events of a later build change nothing but the position, and keep their bytes.
    #[test]
    fn i19_unknown_decorative_events_are_kept_and_change_nothing(
        tries in tries(),
        places in vec(any::<prop::sample::Index>(), 1..4),
        words in "[a-z{}\\[\\]: 0-9]{0,20}",
    ) {
        // A replacement names events by their places, which move here.
        let named = |tried: Try| if matches!(tried, Try::Replace(_)) { Try::Post } else { tried };
        let tries: Tries = tries.into_iter().map(|options| options.map(named)).collect();
        let log = play(&tries)?;
        let mut places: Vec<usize> = places.iter().map(|place| 1 + place.index(log.events.len())).collect();
        places.sort_unstable();
        let mut with = Log { epoch: 1, ..Log::default() };
        let text = serde_json::json!({ "later": words }).to_string();
        for (at, event) in log.events.iter().enumerate() {
            for _ in places.iter().filter(|place| **place == at) {
                with.raw("sparkle/shown", 7, true, &text);
            }
            let Payload::Text(payload) = &event.payload else { unreachable!("nothing was erased") };
            with.raw(&event.kind, event.version, event.ignorable, payload);
        }
        for event in with.events.iter().filter(|event| event.kind == "sparkle/shown") {
            let decoded = event.clone().decode().expect("it is passed over");
            prop_assert_eq!(decoded.fact, None);
            prop_assert_eq!(&decoded.envelope.payload, &Payload::Text(text.as_str().into()));
        }
        let (one, other) = (log.decoded(), with.decoded());
        let of = |events: &[Event]| {
            let facts: Vec<(u64, Fact)> = events.iter().cloned().filter_map(Event::placed).collect();
            history::project(&facts).map_err(|error| error.to_string())
        };
        prop_assert_eq!(of(&one), of(&other));
        prop_assert_eq!(outline(&State::of(&one)), outline(&State::of(&other)));
        prop_assert!(audit(&with.events, with.epoch).is_empty());
    }

    /// No text under any type makes reading or folding panic.
    #[test]
    fn rel_r7_reading_and_folding_never_panic(
        kinds in vec((0..CATALOGUE.len(), "\\PC{0,40}"), 1..20),
        tries in tries(),
    ) {
        let mut log = play(&tries[..tries.len().min(40)])?;
        for (kind, text) in &kinds {
            log.raw(CATALOGUE[*kind].name, 1, CATALOGUE[*kind].ignorable, text);
        }
        // Lawless but well-formed facts fold too.
        for fact in [
            Fact::from(started(7, manual())), result(7).into(), step_end(7, StepEndKind::Tools).into(),
            ended(attempt(7), failed(None)).into(), accepted(attempt(7), 2).into(), proposed(7, 3).into(),
            TurnEnd { end: End::Completed }.into(), granted(7).into(), unknown(7).into(),
        ] {
            log.push(fact);
        }
        prop_assert!(!audit(&log.events, log.epoch).is_empty());
    }
}

/// A state without its position and times.
fn outline(state: &State) -> serde_json::Value {
    let mut value = serde_json::to_value(state).expect("a state");
    forget(&mut value);
    value
}

fn forget(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            for key in ["next_seq", "time", "seq", "asked", "at", "opened", "last", "started"] {
                if map.get(key).is_some_and(serde_json::Value::is_number) {
                    map.remove(key);
                }
            }
            map.values_mut().for_each(forget);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}
