//! Jobs: commands in the background, beside turns, over stops, closings and kills.

use crate::play::{Play, alone_in_real_time as alone, left, run, script, text, write};
use domain::call::Mode;
use domain::event::{CancelBy, Changed, Doubt, Fact, JobCancelBy, JobEnd, JobEnded, RestoreOf, RestoreScope};
use domain::ids::JobId;
use domain::state::{Job, JobPhase, State};
use engine::show::{self, Whole};
use engine::{Command, CommandFailure};
use std::sync::Arc;
use tests::world::{CountingShell, Gate};
use tests::{Answers, DieAt, Rig};
use tools::Cage;
use tools::launch::{LaunchError, Launcher, Order, Running};
use tools::rules::About;

fn job(command: &str) -> String {
    let arguments = serde_json::json!({ "background": true, "command": command });
    format!(r#"{{"call":{{"name":"run_command","arguments":{arguments}}}}}"#)
}

fn notifying(command: &str) -> String {
    job(command).replace(r#""background":true"#, r#""background":true,"notify":true"#)
}

fn of_job(id: &JobId, action: &str) -> String {
    let arguments = serde_json::json!({ "id": id.as_str(), "action": action });
    format!(r#"{{"call":{{"name":"job","arguments":{arguments}}}}}"#)
}

fn auto(answers: &[&str]) -> Rig {
    let mut rig = Rig::new(&script(answers));
    rig.mode = Mode::Auto;
    rig
}

/// A shell with a gate before and one after each start of a command that isn't `hang`.
struct Gated {
    inner: CountingShell,
    before: Gate,
    after: Gate,
}

impl Launcher for Gated {
    fn cage(&self) -> Cage {
        self.inner.cage()
    }

    fn launch(&self, order: &Order) -> Result<Box<dyn Running>, LaunchError> {
        let ends = order.args.last().is_some_and(|command| !command.starts_with("hang"));
        if ends {
            self.before.pass();
        }
        let running = self.inner.launch(order);
        if ends {
            self.after.pass();
        }
        running
    }
}

fn gated(mut rig: Rig) -> (Rig, Arc<Gated>) {
    let inner = CountingShell { world: Arc::clone(&rig.world), cage: Cage::Full };
    let gated = Arc::new(Gated { inner, before: Gate::default(), after: Gate::default() });
    rig.launcher = Some(Arc::clone(&gated) as _);
    (rig, gated)
}

fn running(state: &State) -> bool {
    state.jobs.iter().any(|job| job.running().is_some())
}

/// All is done, jobs too.
fn done(state: &State) -> bool {
    state.turn.is_none() && state.jobs.is_empty() && !state.inbox.iter().any(|waiting| waiting.wakeup)
}

fn ends(play: &Play) -> Vec<JobEnded> {
    let ended = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::JobEnded(e) => Some(e),
        _ => None,
    });
    ended.collect()
}

fn paths(changed: &Changed) -> Vec<&str> {
    changed.effects.iter().map(|effect| effect.path.as_str()).collect()
}

async fn refused(play: &Play, command: Command) -> &'static str {
    match play.process.engine.command(&play.session, command).await {
        Err(CommandFailure::Refused(error)) => error.code,
        other => panic!("{other:?}"),
    }
}

/// A session at rest whose job doesn't end by itself, once the shell runs it.
async fn hanging() -> Play {
    let play = Play::on(auto(&[&job("hang"), &text("It runs.")])).await;
    play.say("Begin.").await;
    launched(&play).await;
    play
}

/// At rest, and the shell runs the job that has begun.
async fn launched(play: &Play) {
    play.until(|state| running(state) && state.turn.is_none()).await;
    while play.rig.world.commands().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[test]
fn r_job_01_a_job_is_made_at_once_and_other_work_goes_on() {
    let play = alone(async {
        let play = hanging().await;
        assert_eq!(play.count("tool/result"), 1);
        let told = play.heard().join("\n");
        assert!(told.contains("was created and goes on in the background"), "{told}");
        play.tell(Command::StopJob(play.state().jobs[0].id.clone())).await;
        play.until(done).await;
        play
    });
    play.clean();
    let ended = ends(&play);
    assert_eq!(ended[0].end, JobEnd::Cancelled { by: JobCancelBy::User });
}

#[test]
fn r_job_03_the_model_sees_awaits_and_stops_its_job() {
    let id = left(async { hanging().await.state().jobs[0].id.clone() });
    let answers: [&str; 7] = [
        &job("hang"),
        &text("It runs."),
        &of_job(&id, "status"),
        &of_job(&id, "cancel"),
        &of_job(&id, "wait"),
        &of_job(&JobId::from_bits(9), "wait"),
        &text("Done."),
    ];
    alone(async {
        let play = Play::on(auto(&answers)).await;
        play.say("Begin.").await;
        launched(&play).await;
        play.say("And now?").await;
        play.until(done).await;
        let heard = play.heard();
        let said = |words: &str| heard.iter().any(|text| text.contains(words));
        assert!(said(&format!("Job {id} still runs.")), "{heard:#?}");
        assert!(said(&format!("Job {id} ended: cancelled.")), "{heard:#?}");
        assert!(said("job/unknown"), "{heard:#?}");
        assert_eq!(ends(&play)[0].end, JobEnd::Cancelled { by: JobCancelBy::Model });
        play.clean();
    });
}

#[test]
fn r_job_05_the_end_of_a_job_is_read_next_and_wakes_only_who_asked() {
    alone(async {
        for (call, wakes) in [(job("note done"), false), (notifying("note done"), true)] {
            let (rig, gated) = gated(auto(&[&call, &text("It runs."), &text("I see."), &text("So.")]));
            gated.before.shut();
            let play = Play::on(rig).await;
            play.say("Begin.").await;
            play.until(|state| running(state) && state.turn.is_none()).await;
            assert_eq!(play.count("turn/start"), 1);
            gated.before.open();
            play.until(done).await;
            assert_eq!(play.count("turn/start"), 1 + usize::from(wakes));
            let read = play.heard().iter().any(|text| text.contains("has ended: completed, exit code 0"));
            assert_eq!(read, wakes, "{:#?}", play.heard());
            play.through("And?").await;
            let heard: Vec<String> = play.requests().iter().flat_map(crate::play::texts).collect();
            assert!(
                heard.iter().any(|text| text.contains("has ended: completed, exit code 0")),
                "{heard:#?}"
            );
            assert!(
                !heard.iter().any(|text| text.contains("<note>") && text.contains("done\n")),
                "its own words stay out"
            );
        }
    });
}

#[test]
fn a_job_outlives_its_turn_and_a_stop_and_nothing_is_taken_back_meanwhile() {
    alone(async {
        let play = hanging().await;
        assert!(play.process.engine.is_busy(), "it counts as work");
        let scope = RestoreScope { of: RestoreOf::Session, paths: Vec::new() };
        let undo = play.process.engine.restore(&play.session, scope, Vec::new()).await;
        assert!(matches!(undo, Err(CommandFailure::Refused(error)) if error.code == "restore/busy"));
        play.tell(Command::Stop(CancelBy::User)).await;
        assert!(running(&play.state()), "a stop is of turns");
        let id = play.state().jobs[0].id.clone();
        assert_eq!(refused(&play, Command::SettleJob(id.clone())).await, "job/known");
        play.tell(Command::StopJob(id.clone())).await;
        play.until(done).await;
        assert_eq!(refused(&play, Command::StopJob(id)).await, "job/ended");
        assert!(!play.process.engine.is_busy());
        play.clean();
    });
}

#[test]
fn closing_in_order_interrupts_a_job_and_says_so() {
    alone(async {
        let play = hanging().await;
        play.process.engine.close().await;
        assert_eq!(ends(&play)[0].end, JobEnd::Interrupted);
        assert!(play.state().inbox[0].text.contains("interrupted"), "whoever made it reads of it");
        play.clean();
    });
}

#[test]
fn r_drl_02_a_killed_job_is_interrupted_and_told_of_and_never_run_again() {
    let (rig, session) = left(async {
        let play = hanging().await;
        (play.rig, play.session)
    });
    // Somebody works in the folder while nobody looks.
    std::fs::write(rig.folder().join("notes.txt"), "by a person\n").expect("written");
    alone(async {
        let process = Arc::new(rig.start(DieAt::never()));
        let play = Play { rig, process, session };
        play.until(done).await;
        let ended = &ends(&play)[0];
        assert_eq!((ended.end.clone(), ended.changed.doubt), (JobEnd::Interrupted, Some(Doubt::Mixed)));
        assert_eq!(paths(&ended.changed), ["notes.txt"]);
        assert_eq!(play.rig.world.commands(), ["hang"], "never run again");
        play.through("What became of it?").await;
        assert!(play.heard().iter().any(|text| text.contains("interrupted, since Daybook was closed")));
        play.clean();
    });
}

/// All that the one job printed, as the person saves it.
fn saved(play: &Play) -> Option<String> {
    let ended = ends(play);
    assert_eq!(ended.len(), 1);
    let store = play.process.engine.store();
    match show::output_of_job(store, &play.session, &ended[0].job).expect("readable")? {
        Whole::Text(text) => Some(text),
        Whole::Kept(kept) => Some(String::from_utf8(store.blob(&kept).expect("a content")).expect("text")),
    }
}

/// Its first words are on the record, and it goes on.
async fn printing() -> Play {
    let play = Play::on(auto(&[&job("hang one"), &text("It runs.")])).await;
    play.say("Begin.").await;
    launched(&play).await;
    while !play.facts().iter().any(|fact| matches!(fact, Fact::JobOutput(_))) {
        tokio::task::yield_now().await;
    }
    play
}

#[test]
fn what_is_saved_of_a_job_that_was_cut_off_is_what_it_printed() {
    let (rig, session) = left(async {
        let play = printing().await;
        (play.rig, play.session)
    });
    alone(async {
        let process = Arc::new(rig.start(DieAt::never()));
        let play = Play { rig, process, session };
        play.until(done).await;
        assert!(ends(&play)[0].text.starts_with("Interrupted: Daybook"), "a note is all its end says");
        assert_eq!(saved(&play).as_deref(), Some("one\n"));
    });
    // Stopped in sight, its end holds the output behind words for the model.
    alone(async {
        let play = printing().await;
        play.tell(Command::StopJob(play.state().jobs[0].id.clone())).await;
        play.until(done).await;
        assert!(ends(&play)[0].text.starts_with("Error (call/cancelled): "));
        assert_eq!(saved(&play).as_deref(), Some("one\n"));
    });
    // One that printed nothing has nothing to save, stopped in sight or cut off.
    alone(async {
        let play = hanging().await;
        play.tell(Command::StopJob(play.state().jobs[0].id.clone())).await;
        play.until(done).await;
        assert!(ends(&play)[0].text.ends_with("\n\n(no output)"));
        assert_eq!(saved(&play), None);
    });
    let (rig, session) = left(async {
        let play = hanging().await;
        (play.rig, play.session)
    });
    alone(async {
        let process = Arc::new(rig.start(DieAt::never()));
        let play = Play { rig, process, session };
        play.until(done).await;
        assert_eq!(saved(&play), None);
    });
}

#[test]
fn r_job_04_a_job_that_nothing_held_is_lost_sight_of_until_somebody_looked() {
    let (mut rig, answers) = (auto(&[&job("hang"), &text("It runs.")]), Answers::default());
    rig.cage = tools::Cage::None;
    let (rig, session) = left(async {
        let play = Play::on(rig).await;
        play.say("Begin.").await;
        let begun = play.until(|state| running(state) && state.turn.is_none());
        tokio::select! {
            _ = begun => {}
            _ = play.rest(&answers) => panic!("the job goes on"),
        }
        (play.rig, play.session)
    });
    alone(async {
        let process = Arc::new(rig.start(DieAt::never()));
        let play = Play { rig, process, session };
        play.until(|state| state.jobs.iter().any(|job| matches!(job.phase, JobPhase::Reconciling(_)))).await;
        play.tell(Command::SettleJob(play.state().jobs[0].id.clone())).await;
        play.until(done).await;
        assert_eq!(ends(&play)[0].end, JobEnd::Interrupted);
        play.clean();
    });
}

/// One job that runs and others that wait for its place.
async fn queued(mut rig: Rig) -> Play {
    rig.limits.running_jobs = 1;
    let play = Play::on(rig).await;
    play.say("Begin.").await;
    launched(&play).await;
    play
}

fn pending(state: &State) -> Vec<&Job> {
    state.jobs.iter().filter(|job| job.phase == JobPhase::Pending).collect()
}

#[test]
fn r_job_07_jobs_wait_for_a_place_and_too_many_are_refused() {
    let more = format!("{},{}", job("note 1"), job("note 2"));
    let mut rig = auto(&[&job("hang"), &text("Begun."), &more, &text("One waits.")]);
    rig.limits.waiting_jobs = 1;
    alone(async {
        let play = queued(rig).await;
        play.say("Two more.").await;
        play.until(|state| state.turn.is_none() && state.inbox.is_empty()).await;
        let state = play.state();
        assert_eq!((state.jobs.len(), running(&state), pending(&state).len()), (2, true, 1));
        assert_eq!(play.rig.world.commands(), ["hang"]);
        assert!(play.heard().iter().any(|text| text.contains("job/too_many")), "{:#?}", play.heard());
        for job in play.state().jobs {
            play.tell(Command::StopJob(job.id)).await;
        }
        play.until(done).await;
        assert_eq!(play.count("job/ended"), 2);
        play.clean();
    });
}

#[test]
fn what_was_forbidden_while_a_job_waited_never_begins() {
    let rig = auto(&[&format!("{},{}", job("hang"), job("note 1")), &text("Begun.")]);
    alone(async {
        let play = queued(rig).await;
        assert_eq!(pending(&play.state()).len(), 1);
        play.rig.rules.set(About::Run, true);
        let first = play.state().jobs[0].id.clone();
        play.tell(Command::StopJob(first)).await;
        play.until(done).await;
        let ended = ends(&play);
        let refused =
            |end: &JobEnd| matches!(end, JobEnd::Failed { error } if error.code == "job/not_allowed");
        assert!(ended.iter().any(|ended| refused(&ended.end)), "{ended:#?}");
        assert_eq!(play.rig.world.commands(), ["hang"]);
        play.clean();
    });
}

#[test]
fn a_job_that_waits_begins_in_the_next_process() {
    let rig = auto(&[&format!("{},{}", job("hang"), job("note 1")), &text("Begun.")]);
    let (rig, session) = alone(async {
        let play = queued(rig).await;
        play.process.engine.close().await;
        assert_eq!(pending(&play.state()).len(), 1, "it hasn't begun");
        (play.rig, play.session)
    });
    alone(async {
        let process = Arc::new(rig.start(DieAt::never()));
        let play = Play { rig, process, session };
        play.until(done).await;
        assert_eq!(play.rig.world.commands(), ["hang", "note 1"]);
        play.clean();
    });
}

#[test]
fn what_a_job_changed_belongs_to_its_turn_and_goes_back_with_it() {
    alone(async {
        let play = Play::on(auto(&[&job("make made.txt"), &text("It runs."), &text("Next.")])).await;
        play.say("Begin.").await;
        play.until(done).await;
        assert_eq!(paths(&ends(&play)[0].changed), ["made.txt"]);
        let facts = play.facts();
        let call =
            facts.iter().find_map(|fact| if let Fact::JobCreated(e) = fact { Some(&e.call) } else { None });
        let (reader, call) = (play.process.engine.store(), call.expect("a job"));
        let own = engine::ledger::Ledger::net_of_call(reader, &play.session, call, Vec::new()).expect("read");
        let own: Vec<_> = own.iter().map(|effect| effect.path.as_str()).collect();
        assert_eq!(own, ["made.txt"], "what its job changed is the call's");
        play.through("Another turn.").await;
        let ledger = engine::ledger::Ledger::read(play.process.engine.store(), &play.session).expect("read");
        let (first, second) = (ledger.turns[0].turn.clone(), ledger.turns[1].turn.clone());
        let of = |of| RestoreScope { of, paths: Vec::new() };
        assert!(ledger.net(&of(RestoreOf::Since { turn: second })).is_empty(), "it is of the turn before");
        let scope = of(RestoreOf::Turn { turn: first });
        play.process.engine.restore(&play.session, scope, Vec::new()).await.expect("it is taken");
        play.until(|state| state.restoring.is_none()).await;
        assert!(!play.rig.folder().join("made.txt").exists());
        play.clean();
    });
}

#[test]
fn what_other_work_did_meanwhile_is_not_the_jobs() {
    alone(async {
        let answers = [&job("hang"), &write("other.txt", "mine\n"), &run("make third.txt"), &text("Done.")];
        let play = Play::on(auto(&answers.map(String::as_str))).await;
        play.say("Begin.").await;
        play.until(|state| running(state) && state.turn.is_none()).await;
        play.tell(Command::StopJob(play.state().jobs[0].id.clone())).await;
        play.until(done).await;
        assert_eq!(paths(&ends(&play)[0].changed), Vec::<&str>::new());
        let ledger = engine::ledger::Ledger::read(play.process.engine.store(), &play.session).expect("read");
        let all = ledger.net(&RestoreScope { of: RestoreOf::Session, paths: Vec::new() });
        let paths: Vec<&str> = all.iter().map(|effect| effect.path.as_str()).collect();
        assert_eq!(paths, ["other.txt", "third.txt"]);
        assert_eq!(
            ledger.doubt(&RestoreOf::Session),
            Some(Doubt::Mixed),
            "a command beside it may not be alone"
        );
        play.clean();
    });
}

async fn waited_at(gate: &Gate) {
    while !gate.is_waited_at() {
        tokio::task::yield_now().await;
    }
}

/// Which of these came, in their order.
fn order(play: &Play, kinds: &[&str]) -> Vec<String> {
    play.kinds().into_iter().filter(|kind| kinds.contains(&kind.as_str())).collect()
}

/// A job waits for a place that another has; a command made `other.txt`, or is about to, and hasn't ended.
async fn one_makes_while_one_waits(gate: impl Fn(&Gated) -> &Gate) -> (Play, Arc<Gated>) {
    let answers = [&format!("{},{}", job("hang"), job("hang 2")), &text("Begun."), &run("make other.txt")];
    let (rig, gated) = gated(auto(&[answers[0], answers[1], answers[2], &text("Made.")]));
    let play = queued(rig).await;
    gate(&gated).shut();
    play.say("Make it.").await;
    waited_at(gate(&gated)).await;
    (play, gated)
}

/// The job that waited ends, and nothing of what the command made is its own.
async fn the_other_is_not_its_own(play: &Play) {
    let waited = play.state().jobs[0].id.clone();
    play.tell(Command::StopJob(waited.clone())).await;
    play.until(done).await;
    let ended = ends(play);
    let of_it = ended.iter().find(|ended| ended.job == waited).expect("it ended");
    assert_eq!(paths(&of_it.changed), Vec::<&str>::new());
    play.clean();
}

#[test]
fn what_was_made_before_a_job_began_and_recorded_after_is_not_the_jobs() {
    alone(async {
        let (play, gated) = one_makes_while_one_waits(|gated| &gated.after).await;
        let first = play.state().jobs[0].id.clone();
        play.tell(Command::StopJob(first.clone())).await;
        play.until(|state| running(state) && state.job(&first).is_none()).await;
        gated.after.open();
        play.until(|state| state.turn.is_none()).await;
        let way = order(&play, &["tool/start", "job/started", "tool/result"]);
        assert_eq!(way[way.len() - 3..], ["tool/start", "job/started", "tool/result"], "{way:?}");
        the_other_is_not_its_own(&play).await;
    });
}

#[test]
fn what_was_made_and_recorded_while_a_job_was_being_judged_is_not_the_jobs() {
    alone(async {
        let (play, gated) = one_makes_while_one_waits(|gated| &gated.before).await;
        let first = play.state().jobs[0].id.clone();
        play.rig.world.judging.shut();
        play.tell(Command::StopJob(first)).await;
        // The job's tree was taken, and it hasn't begun.
        waited_at(&play.rig.world.judging).await;
        gated.before.open();
        play.until(|state| state.turn.is_none()).await;
        play.rig.world.judging.open();
        play.until(running).await;
        let way = order(&play, &["tool/start", "job/started", "tool/result"]);
        assert_eq!(way[way.len() - 3..], ["tool/start", "tool/result", "job/started"], "{way:?}");
        the_other_is_not_its_own(&play).await;
    });
}
