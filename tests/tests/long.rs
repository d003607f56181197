//! A whole session of hundreds of steps: what it is told and finds stays exact through refusals for size, other models,
//! kills and a full disk.
//!
//! The service **thinks**: it knows nothing but the request it was sent, so whatever it does right it could read there. It goes
//! through numbered items, one a step, and in the end sums up every order that was named to it on the way. Invariant: the
//! seed alone decides a run.

use crate::long_page::{model_sees, page_shows};
use crate::long_service::{Item, Plan, Service, orders};
use crate::play::alone;
use domain::call::Mode;
use domain::digest::Digest;
use domain::event::{CheckedCall, End, Fact, ModelChoice, Resolution};
use domain::ids::{CallId, CommandId, SessionId};
use domain::state::State;
use engine::{Command, Hold};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::Point;
use tests::driver::{Ended, drive};
use tests::size::{seeds, tell};
use tests::{Answers, Dice, DieAt, Process, Rig};

const KILLS: u64 = 10;

/// A session that is being worked on, over all processes.
struct Session {
    rig: Rig,
    plan: Arc<Plan>,
    service: Arc<Service>,
    id: Option<SessionId>,
    /// How often the disk was full.
    outages: u64,
}

impl Session {
    fn new(plan: Plan) -> Self {
        let mut rig = Rig::new(r#"{"answers":[{"say":[{"text":"Never."}]}]}"#);
        (rig.mode, rig.window) = (Mode::Auto, Some(30_000));
        rig.instead = vec![ModelChoice { provider: "scripted".into(), model: "second".into() }];
        plan.lay_out(rig.folder());
        let plan = Arc::new(plan);
        let service = Arc::new(Service::new(Arc::clone(&plan)));
        let thinks = Arc::clone(&service);
        rig.mind = Some(Arc::new(move |body| thinks.answer(body)));
        Self { rig, plan, service, id: None, outages: 0 }
    }

    /// One process: what wasn't taken is said again, and all is worked through; gives how it ended and its epoch.
    fn live(&mut self, faults: DieAt) -> (Ended, u64) {
        alone(async {
            let process = self.rig.start(faults);
            self.service.stands_beside(&process.faults);
            (self.work(&process).await, process.engine.store().epoch())
        })
    }

    async fn work(&mut self, process: &Process) -> Ended {
        if self.id.is_none() {
            let known = process.engine.store().sessions().expect("a list").into_iter().next();
            self.id = known.map(|row| row.session);
        }
        if self.id.is_none() {
            self.id = process.engine.create(self.rig.created()).await.ok();
        }
        let Some(id) = self.id.clone() else { return Ended::Dead };
        let mut ended = self.rest(process, &id).await;
        for (n, text) in self.plan.says.clone().into_iter().enumerate() {
            if ended != Ended::Resting {
                break;
            }
            let command = Some(CommandId::from_bits(n as u128 + 1));
            let say = Command::Say { text, target: domain::event::Target::NextStep, command };
            if process.engine.command(&id, say).await.is_err() {
                return Ended::Dead;
            }
            ended = self.rest(process, &id).await;
        }
        ended
    }

    /// Lets it work; the person says truly what became of a call that nobody knows of, and frees a full disk after a minute.
    async fn rest(&mut self, process: &Process, id: &SessionId) -> Ended {
        let answers = Answers { resolve: None, ..Answers::default() };
        loop {
            let ended = {
                let work = drive(process, id, &answers);
                tokio::pin!(work);
                loop {
                    tokio::select! {
                        ended = &mut work => break ended,
                        () = tokio::time::sleep(Duration::from_secs(60)) => {
                            if self.service.disk_is_full() {
                                assert_eq!(process.engine.hold(id), Some(Hold::Store), "it says what it waits for");
                                self.service.fill_disk(false);
                                self.outages += 1;
                            }
                        }
                    }
                }
            };
            if ended != Ended::Waiting {
                return ended;
            }
            let state = process.engine.state(id).expect("readable");
            let call =
                state.unknown.first().expect("only an unknown outcome waits for the person").call.clone();
            let resolution = if self.happened(id, &call) { Resolution::Done } else { Resolution::Again };
            if process.engine.command(id, Command::Resolve { call, resolution }).await.is_err() {
                return Ended::Dead;
            }
        }
    }

    /// Did this command run?
    fn happened(&self, id: &SessionId, call: &CallId) -> bool {
        let asked = self.facts(id).into_iter().find_map(|fact| match fact {
            Fact::ToolCall(e) if e.call == *call => Some(e.checked),
            _ => None,
        });
        let Some(CheckedCall::Good { arguments, .. }) = asked else { panic!("{call} was asked for") };
        let ran = self.rig.world.commands();
        ran.iter().any(|command| arguments.contains(&format!("\"{command}\"")))
    }

    fn facts(&self, id: &SessionId) -> Vec<Fact> {
        self.rig.events(id).into_iter().filter_map(|event| event.fact).collect()
    }
}

/// Plays one seed whole and checks all that must hold of it.
fn play(seed: u64, items: u32) -> [(&'static str, u64); 5] {
    let mut dice = Dice(seed);
    let mut session = Session::new(Plan::new(items, &mut dice));
    let spread = u64::from(items) / 4;
    for kill in 0..KILLS {
        let point = if kill % 2 == 0 { Point::BeforeBegin } else { Point::AfterCommit };
        let (ended, _) = session.live(DieAt::append(spread + dice.below(spread), point));
        assert_eq!(ended, Ended::Dead, "seed {seed}: kill {kill}");
        session.service.killed();
    }
    let (ended, epoch) = session.live(DieAt::never());
    assert_eq!(ended, Ended::Resting, "seed {seed}");
    let id = session.id.clone().expect("it began");
    let findings = session.rig.findings(&id, epoch);
    assert!(findings.is_empty(), "seed {seed}: {findings:#?}");
    let facts = session.facts(&id);
    let count = |is: fn(&Fact) -> bool| facts.iter().filter(|fact| is(fact)).count() as u64;
    let steps = count(|fact| matches!(fact, Fact::AssistantAccepted(_)));
    let checkpoints = count(|fact| matches!(fact, Fact::CheckpointCommitted(_)));
    let references = count(|fact| matches!(fact, Fact::HistoryShortened(_)));
    assert!(steps >= u64::from(items), "seed {seed}: {steps} steps");
    assert_eq!(count(|fact| matches!(fact, Fact::ContextOverflowed(_))), 3, "seed {seed}: refusals for size");
    assert_eq!(count(|fact| matches!(fact, Fact::ModelSwitched(_))), 2, "seed {seed}: other models");
    assert_eq!(session.outages, 1, "seed {seed}: full disks");
    assert!(checkpoints >= 3, "seed {seed}: {checkpoints} checkpoints, {references} times references");
    ends_well(&facts, &session, seed);
    once(&session, seed);
    exact(&session, &id, seed);
    let hidden = session.service.hidden().len() as u64;
    assert!(hidden > 0, "seed {seed}: nothing was ever behind a reference");
    let before = session.rig.log(&id).len();
    assert_eq!(session.live(DieAt::never()).0, Ended::Resting);
    assert_eq!(session.rig.log(&id).len(), before, "seed {seed}: one more start adds nothing");
    [
        ("steps", steps),
        ("checkpoints", checkpoints),
        ("references", references),
        ("kills", KILLS),
        ("hidden", hidden),
    ]
}

/// Each turn went on to its end, and the last one has the right answer.
#[track_caller]
fn ends_well(facts: &[Fact], session: &Session, seed: u64) {
    let ends: Vec<&End> = facts
        .iter()
        .filter_map(|fact| if let Fact::TurnEnd(end) = fact { Some(&end.end) } else { None })
        .collect();
    let good = |end: &&End| matches!(end, End::Completed | End::Interrupted);
    assert!(ends.iter().all(good), "seed {seed}: {ends:?}");
    let completed = ends.iter().filter(|end| ***end == End::Completed).count();
    assert_eq!(completed, session.plan.says.len(), "seed {seed}: each message has its answer");
    let said = facts.iter().rev().find_map(|fact| match fact {
        Fact::AssistantAccepted(e) => Some(format!("{:?}", e.blocks)),
        _ => None,
    });
    let said = said.expect("an answer");
    let hidden = session.service.hidden();
    let last: Vec<&String> = hidden.iter().rev().take(5).map(|hidden| &hidden.order).collect();
    assert!(said.contains(&session.plan.answer()), "seed {seed}: {said}; hidden last: {last:?}");
}

/// Every effect is there, and none of them twice.
#[track_caller]
fn once(session: &Session, seed: u64) {
    let mut ran = BTreeMap::new();
    for command in session.rig.world.commands() {
        *ran.entry(command).or_insert(0) += 1;
    }
    for n in 1..=session.plan.items {
        match session.plan.item(n) {
            Item::Command(command) => assert_eq!(ran.remove(&command), Some(1), "seed {seed}: {command}"),
            Item::Edit(_, new) => {
                let ledger = session.rig.file("ledger.txt");
                assert_eq!(ledger.matches(&format!("{new}\n")).count(), 1, "seed {seed}: {new}");
            }
            Item::Write(path, content) => assert_eq!(session.rig.file(&path), content, "seed {seed}: {path}"),
            Item::Read(_) | Item::Look => {}
        }
    }
    assert!(ran.is_empty(), "seed {seed}: nobody asked for {ran:?}");
    assert!(!session.rig.file("ledger.txt").contains("open"), "seed {seed}: an edit is missing");
}

/// What the service was sent is what the log says; it saw every order it had been shown, or where it stands; the page shows
/// the same history.
#[track_caller]
fn exact(session: &Session, id: &SessionId, seed: u64) {
    let events = session.rig.events(id);
    let attempts: Vec<Digest> = events
        .iter()
        .filter_map(|event| match &event.fact {
            Some(Fact::AttemptStart(e)) => Some(e.body),
            _ => None,
        })
        .collect();
    let mut left = attempts.iter();
    for (n, body) in session.service.bodies().iter().enumerate() {
        assert!(left.any(|one| one == body), "seed {seed}: request {n} isn't in the log, in its place");
    }
    for hidden in session.service.hidden() {
        let shown = |place: &u64| match events.get(usize::try_from(*place).expect("small")) {
            Some(domain::event::Event { fact: Some(Fact::ToolResult(e)), .. }) => {
                e.text.contains(&hidden.order)
            }
            _ => false,
        };
        assert!(hidden.places.iter().any(shown), "seed {seed}: {hidden:?} is lost");
    }
    assert_eq!(session.service.seen().len(), session.plan.orders.len(), "seed {seed}: orders shown");
    let mut state = State::default();
    events.iter().for_each(|event| state.fold(event));
    let (model, page) = (model_sees(&events), page_shows(&session.rig, id, &events));
    let odd = (0..model.len().max(page.len())).find(|n| model.get(*n) != page.get(*n));
    assert_eq!(odd.map(|n| (model.get(n), page.get(n))), None, "seed {seed}: the model's and the page's");
    assert!(model.len() > session.plan.items as usize, "seed {seed}: {} lines", model.len());
    assert!(orders(&session.plan.says.join("\n")).len() > 10, "some are the person's words");
}

#[test]
fn r_cmp_05_a_session_of_400_steps_loses_nothing_and_does_nothing_twice() {
    let seeds = seeds(0..1);
    let mut all = BTreeMap::new();
    for seed in seeds.clone() {
        for (name, count) in play(seed, 400) {
            *all.entry(name).or_insert(0) += count;
        }
    }
    tell("long", &seeds, &all.into_iter().collect::<Vec<_>>());
}
