//! Turns: limits, refusals, steering and stopping on the whole engine.

use crate::play::{Play, asks, calls, read, run, runs, script, text, texts};
use domain::call::Mode;
use domain::event::{CancelBy, End, Fact, ModelChoice, StepEndKind, Target};
use domain::state::{State, StepPhase};
use engine::Command;
use serde_json::Value;
use tests::driver::Ended;
use tests::{Answers, Rig};

fn attempting(state: &State) -> bool {
    matches!(state.step(), Some((_, step)) if matches!(step.phase, StepPhase::Attempting { .. }))
}

fn slow(words: &str) -> String {
    format!(r#"{{"text":"{words}","wait_ms":5000}}"#)
}

/// A steer is read before the next step, a request already sent isn't touched, and a follow-up waits for the next turn.
#[tokio::test(start_paused = true)]
async fn r_inb_05_a_steer_is_read_before_the_next_step_and_a_follow_up_after_the_turn() {
    let play = Play::of(&script(&[
        &format!("{},{}", slow("Looking."), read("notes.txt")),
        &text("Steered."),
        &text("Followed."),
    ]))
    .await;
    play.say("Begin.").await;
    play.until(attempting).await;
    play.say_for("Later.", Target::NextTurn).await;
    play.say("Rather so.").await;
    play.idle().await;
    let requests = play.requests();
    assert_eq!(requests.len(), 3);
    let has = |at: usize, words: &str| texts(&requests[at]).iter().any(|text| text == words);
    assert!(has(0, "Begin.") && !has(0, "Rather so.") && !has(0, "Later."));
    assert!(has(1, "Rather so.") && !has(1, "Later."));
    assert!(has(2, "Later."));
    assert_eq!(play.count("turn/start"), 2);
    assert_eq!(play.ends(), [End::Completed, End::Completed]);
    play.clean();
}

/// Words that come while the final answer streams extend the turn instead of being lost.
#[tokio::test(start_paused = true)]
async fn r_loop_20_a_turn_goes_on_while_a_message_waits() {
    let play = Play::of(&script(&[&slow("Done."), &text("Also done.")])).await;
    play.say("Begin.").await;
    play.until(attempting).await;
    play.say("One more thing.").await;
    play.idle().await;
    assert_eq!((play.count("turn/start"), play.count("step/start")), (1, 2));
    assert_eq!(play.heard().last().map(String::as_str), Some("One more thing."));
    play.clean();
}

#[track_caller]
fn stopped(play: &Play) {
    assert_eq!(play.ends(), [End::Cancelled { by: CancelBy::User }]);
    let steps: Vec<StepEndKind> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::StepEnd(end) => Some(end.end),
            _ => None,
        })
        .collect();
    assert_eq!(steps.last(), Some(&StepEndKind::Cancelled));
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn r_loop_14_stopping_while_it_streams_stops_the_request() {
    let play =
        Play::of(&script(&[r#"{"text":"one two three four","pace_ms":4000}"#, &text("Again usable.")])).await;
    play.say("Begin.").await;
    play.until(attempting).await;
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    play.tell(Command::Stop(CancelBy::User)).await;
    play.idle().await;
    stopped(&play);
    assert_eq!(play.state().usage.attempts, 1, "a stopped attempt is settled");
    assert!(play.state().usage.tokens.input > 0);
    assert!(
        play.facts().iter().any(|fact| matches!(fact, Fact::AssistantDelta(_))),
        "what was typed is kept"
    );
    assert_eq!(play.count("assistant/accepted"), 0);
    play.through("Go on.").await;
    let said = play.heard();
    assert!(said.contains(&"Begin.".to_owned()) && said.contains(&"Go on.".to_owned()), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn r_loop_14_stopping_while_a_command_runs_kills_it_and_starts_no_other() {
    let mut rig = Rig::new(&script(&[&format!("{},{}", run("hang"), run("note 2")), &text("Usable.")]));
    rig.mode = Mode::Auto;
    let play = Play::on(rig).await;
    play.say("Begin.").await;
    play.until(runs).await;
    // Its start is recorded before the folder is kept and the shell begins.
    while play.rig.world.commands().is_empty() {
        tokio::task::yield_now().await;
    }
    play.tell(Command::Stop(CancelBy::User)).await;
    play.idle().await;
    stopped(&play);
    assert_eq!(play.rig.world.commands(), ["hang"], "the second one never started");
    assert_eq!(play.count("attempt/start"), 1, "no further request");
    assert_eq!(play.count("tool/start"), 1);
    play.rest(&Answers::default()).await;
    play.through("Go on.").await;
    assert_eq!(play.rig.world.commands(), ["hang"]);
}

#[tokio::test(start_paused = true)]
async fn r_inb_12_stopping_while_it_waits_for_a_yes_closes_the_approval() {
    let play = Play::of(&script(&[&run("note 1"), &text("Usable.")])).await;
    play.say("Begin.").await;
    play.until(asks).await;
    play.tell(Command::Stop(CancelBy::User)).await;
    play.idle().await;
    stopped(&play);
    assert_eq!((play.count("approval/expired"), play.count("tool/cancelled")), (1, 1));
    play.through("Go on.").await;
    assert!(play.rig.world.commands().is_empty());
    assert!(play.heard().iter().any(|text| text.contains("the person stopped the work")));
}

/// What waits at a stop starts nothing, in this process or the next, and goes with the next words; nothing is read twice.
#[tokio::test(start_paused = true)]
async fn r_inb_13_what_waits_at_a_stop_is_quiet_until_the_person_says_more() {
    let mut rig = Rig::new(&script(&[&slow("Looking."), &text("All of it."), &text("Followed.")]));
    rig.mode = Mode::Edit;
    let play = Play::on(rig).await;
    play.say("Begin.").await;
    play.until(attempting).await;
    play.say_for("Later.", Target::NextTurn).await;
    play.say("Rather so.").await;
    play.tell(Command::Stop(CancelBy::User)).await;
    play.until(|state| state.turn.is_none()).await;
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    stopped(&play);
    let play = play.restart().await;
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    assert_eq!((play.count("turn/start"), play.state().inbox.len()), (1, 2), "quiet, and nothing lost");
    assert!(!play.process.engine.is_busy());

    let steer = play.state().inbox[1].message.clone();
    play.tell(Command::SendNow(steer)).await;
    play.idle().await;
    let said = |play: &Play, words: &str| {
        let is = |fact: &Fact| matches!(fact, Fact::UserMessage(said) if said.text == words);
        play.facts().iter().filter(|fact| is(fact)).count()
    };
    assert_eq!(["Begin.", "Rather so.", "Later."].map(|words| said(&play, words)), [1, 1, 1]);
    assert_eq!(play.count("turn/start"), 3, "the follow-up has its own turn after it");
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn r_pol_16_a_refusal_and_its_reason_are_in_the_next_request() {
    let play = Play::of(&script(&[&run("note made"), &text("Then not.")])).await;
    play.say("Make it.").await;
    let answers = Answers { allow: |_| Err("Not on a Sunday.".into()), ..Answers::default() };
    assert_eq!(play.rest(&answers).await, Ended::Resting);
    assert!(play.rig.world.commands().is_empty());
    assert!(
        play.heard().iter().any(|text| text.contains("They said: Not on a Sunday.")),
        "{:?}",
        play.heard()
    );
    assert_eq!(play.ends(), [End::Completed]);
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn r_loop_04_refusing_everything_three_times_ends_the_turn_as_rejected() {
    let play = Play::of(&script(&[&run("note 1"), &run("note 2"), &run("note 3")])).await;
    play.say("Make it.").await;
    let answers = Answers { allow: |_| Err("No.".into()), ..Answers::default() };
    assert_eq!(play.rest(&answers).await, Ended::Resting);
    assert_eq!(play.ends(), [End::Rejected]);
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn r_pln_04_plan_only_writes_through_no_tool() {
    let write = r#"{"call":{"name":"write_file","arguments":{"path":"new.txt","content":"x"}}}"#;
    let edit =
        r#"{"call":{"name":"edit_file","arguments":{"path":"notes.txt","old_text":"two","new_text":"2"}}}"#;
    let delete = r#"{"call":{"name":"delete_path","arguments":{"path":"notes.txt"}}}"#;
    let all = [read("notes.txt").as_str(), write, edit, delete].join(",");
    let mut rig = Rig::new(&script(&[&all, &text("Here is the plan.")]));
    rig.mode = Mode::Plan;
    let play = Play::on(rig).await;
    play.through("Change it.").await;
    assert_eq!(play.rig.file("notes.txt"), "one\ntwo\nthree\n");
    assert!(!play.rig.folder().join("new.txt").exists());
    assert_eq!(play.count("tool/denied"), 3);
    assert_eq!(play.count("approval/requested"), 0, "nobody is asked about what may not be");
    assert!(play.heard().iter().any(|text| text.contains("Plan only")), "{:?}", play.heard());
}

#[tokio::test(start_paused = true)]
async fn r_pol_11_with_nobody_there_asking_means_no() {
    let mut rig = Rig::new(&script(&[
        &format!(
            "{},{}",
            run("note made"),
            r#"{"call":{"name":"ask_user","arguments":{"question":"Which?","options":["a","b"]}}}"#
        ),
        &text("Done without."),
    ]));
    rig.attended = false;
    let play = Play::on(rig).await;
    play.say("Make it.").await;
    play.idle().await;
    assert!(play.rig.world.commands().is_empty());
    let heard = play.heard().join("\n");
    assert!(heard.contains("nobody is there to ask") && heard.contains("question/nobody"), "{heard}");
    assert_eq!(play.ends(), [End::Completed]);
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn r_loop_06_the_step_limit_ends_the_turn_with_its_own_reason() {
    let mut rig = Rig::new(&format!(r#"{{"answers":[{{"repeat":true,"say":[{}]}}]}}"#, read("notes.txt")));
    (rig.limits.steps_per_turn, rig.limits.repeats) = (3, 100);
    let play = Play::on(rig).await;
    play.say("For ever.").await;
    play.idle().await;
    assert_eq!(play.ends(), [End::limit("steps", 3)]);
    assert_eq!(play.count("attempt/start"), 3);
    play.clean();
}

/// A model that repeats itself, or goes round in twos, is stopped; one whose results change is not.
#[tokio::test(start_paused = true)]
async fn case_b08_b09_repeats_and_rounds_end_the_turn() {
    let same = format!(r#"{{"answers":[{{"repeat":true,"say":[{}]}}]}}"#, read("notes.txt"));
    let play = Play::of(&same).await;
    play.say("For ever.").await;
    play.idle().await;
    assert_eq!(play.ends(), [End::limit("repeats", 1)]);
    play.clean();

    let rounds: Vec<String> =
        (0..20).map(|n| if n % 2 == 0 { read("notes.txt") } else { read("AGENTS.md") }).collect();
    let play = Play::of(&script(&rounds.iter().map(String::as_str).collect::<Vec<_>>())).await;
    play.say("Round and round.").await;
    play.idle().await;
    assert_eq!(play.ends(), [End::limit("repeats", 2)]);
    assert!(play.count("step/start") <= 8);
}

#[tokio::test(start_paused = true)]
async fn case_b11_the_same_call_with_changing_results_goes_on() {
    let mut says: Vec<String> = Vec::new();
    for n in 0..20 {
        says.push(format!(
            r#"{{"call":{{"name":"write_file","arguments":{{"path":"count.txt","content":"{n}"}}}}}},{}"#,
            read("count.txt")
        ));
    }
    says.push(text("Counted."));
    let mut rig = Rig::new(&script(&says.iter().map(String::as_str).collect::<Vec<_>>()));
    rig.mode = Mode::Edit;
    let play = Play::on(rig).await;
    play.through("Count.").await;
    assert_eq!(play.ends(), [End::Completed]);
    assert_eq!(play.rig.file("count.txt"), "19");
}

/// Unknown tools, wrong arguments and failing tools are results that the model reads; the turn goes on.
#[tokio::test(start_paused = true)]
async fn r_loop_17_mistakes_of_the_model_are_results_with_their_call_ids() {
    let all = [
        r#"{"call":{"id":"a","name":"no_such_tool","arguments":{}}}"#,
        r#"{"call":{"id":"b","name":"read_file","arguments":"{\"path\": 7}"}}"#,
        r#"{"call":{"id":"c","name":"read_file","arguments":{"path":"missing.txt"}}}"#,
        r#"{"call":{"id":"d","name":"read_file","arguments":{"path":"notes.txt"}}}"#,
    ];
    let play = Play::of(&script(&[&all.join(","), &text("I see.")])).await;
    play.through("Try.").await;
    let request = play.requests().pop().expect("a second request");
    let results = request["messages"].as_array().and_then(|m| m.last()).map(|m| m["results"].clone());
    let results = results.as_ref().and_then(Value::as_array).expect("results last");
    let outline: Vec<(&str, bool)> = results
        .iter()
        .map(|r| (r["id"].as_str().unwrap_or_default(), r["is_error"].as_bool().unwrap_or_default()))
        .collect();
    assert_eq!(outline, [("a", true), ("b", true), ("c", true), ("d", false)]);
    assert_eq!(play.ends(), [End::Completed]);
}

#[tokio::test(start_paused = true)]
async fn r_inb_10_a_question_waits_and_its_answer_is_the_calls_result() {
    let ask =
        r#"{"call":{"name":"ask_user","arguments":{"question":"Which one?","options":["red","blue"]}}}"#;
    let play = Play::of(&script(&[ask, &text("Blue it is.")])).await;
    play.say("Paint.").await;
    let state = play.until(|state| calls(state).iter().any(domain::state::Call::waits_for_person)).await;
    let question = calls(&state)[0].question.clone().expect("a question");
    assert_eq!(question.body.options, ["red", "blue"]);
    assert_eq!(play.count("attempt/start"), 1, "no request is under way while it waits");
    let wrong = Command::Answer { question: question.id.clone(), text: "green".into() };
    if !question.body.free_text {
        assert!(play.process.engine.command(&play.session, wrong).await.is_err());
    }
    play.tell(Command::Answer { question: question.id, text: "blue".into() }).await;
    play.idle().await;
    assert!(play.heard().contains(&"The person answered: blue".to_owned()), "{:?}", play.heard());
    play.clean();
}

/// AGENTS.md applies from the root down; entering a deeper folder loads the narrower one, each version once.
#[tokio::test(start_paused = true)]
async fn r_doc_02_a_deeper_folder_brings_its_own_document() {
    let rig = Rig::new(&script(&[
        &read("src/deep/a.txt"),
        &read("src/deep/a.txt"),
        &text("Read."),
        &text("Read again."),
    ]));
    std::fs::create_dir_all(rig.folder().join("src/deep")).expect("folders");
    for (path, words) in
        [("src/deep/a.txt", "a\n"), ("src/deep/AGENTS.md", "Only here.\n"), ("src/AGENTS.md", "In src.\n")]
    {
        std::fs::write(rig.folder().join(path), words).expect("a file");
    }
    let play = Play::on(rig).await;
    play.through("Read it.").await;
    let requests = play.requests();
    let count = |at: usize, words: &str| texts(&requests[at]).iter().filter(|t| t.contains(words)).count();
    assert_eq!((count(0, "Keep notes in English."), count(0, "Only here.")), (1, 0));
    let second = texts(&requests[1]);
    let place = |words: &str| second.iter().position(|text| text.contains(words)).expect(words);
    assert!(place("In src.") < place("Only here."), "wide to narrow");
    assert_eq!((count(2, "Only here."), count(2, "Keep notes in English.")), (1, 1), "each version once");
    let loaded: Vec<String> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::DocumentLoaded(loaded) => Some(loaded.path),
            _ => None,
        })
        .collect();
    assert_eq!(loaded, ["AGENTS.md", "src/AGENTS.md", "src/deep/AGENTS.md"]);
    std::fs::write(play.rig.folder().join("AGENTS.md"), "Changed.\n").expect("a file");
    play.through("Once more.").await;
    assert!(play.heard().iter().any(|text| text.contains("Changed.")));
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn r_ctx_05_the_environment_is_noted_once_and_again_when_it_changes() {
    let play = Play::of(&script(&[&read("notes.txt"), &text("One."), &text("Two."), &text("Three.")])).await;
    let notes = |play: &Play| {
        let environment =
            |fact: &Fact| matches!(fact, Fact::ContextNote(note) if note.topic == "environment");
        play.facts().iter().filter(|fact| environment(fact)).count()
    };
    play.through("First.").await;
    play.through("Second.").await;
    assert_eq!(notes(&play), 1);
    play.tell(Command::SetMode(Mode::Plan)).await;
    play.through("Third.").await;
    assert_eq!(notes(&play), 2);
    let heads: Vec<Value> = play.requests().iter().map(|request| request["system"].clone()).collect();
    assert!(heads.windows(2).all(|pair| pair[0] == pair[1]), "the head never changes");
}

/// Within a prefix epoch every request begins with the bytes of the one before; another model opens a new one, and says so.
#[tokio::test(start_paused = true)]
async fn perf_c1_requests_only_grow_and_a_model_switch_opens_an_epoch() {
    let play = Play::of(&script(&[
        &read("notes.txt"),
        &format!("{},{}", text("Looking."), read("AGENTS.md")),
        &text("One."),
        &text("Two."),
        &text("Three."),
    ]))
    .await;
    play.through("First.").await;
    play.through("Second.").await;
    let bodies: Vec<Vec<u8>> = play.process.player.recorded().iter().map(|r| r.body.to_vec()).collect();
    assert_eq!(bodies.len(), 4);
    for pair in bodies.windows(2) {
        // Without the closing `]}` the older one is a whole prefix of the newer one.
        let before = &pair[0][..pair[0].len() - 2];
        assert!(pair[1].starts_with(before), "{}", String::from_utf8_lossy(before));
    }
    let other = ModelChoice { provider: "scripted".into(), model: "other".into() };
    play.tell(Command::SetModel(other)).await;
    play.through("Third.").await;
    let opened: Vec<_> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::RequestPrepared(prepared) => Some((prepared.prefix_epoch, prepared.opened)),
            _ => None,
        })
        .collect();
    use domain::event::EpochReason::{First, ModelSwitch};
    assert_eq!(opened, [(1, Some(First)), (1, None), (1, None), (1, None), (2, Some(ModelSwitch))]);
    let said = play.heard();
    assert!(
        said.contains(&"First.".to_owned()) && said.contains(&"Third.".to_owned()),
        "the history goes along"
    );
}

/// A retry is the same request, byte for byte, in one step; the answer stands in the history once.
#[tokio::test(start_paused = true)]
async fn perf_c5_a_retry_sends_the_same_bytes() {
    let play = Play::of(
        r#"{"answers":[{"say":[{"text":"Half an"}],"error":{"class":"cut"}},{"error":{"class":"overloaded"}},
            {"say":[{"text":"Whole answer."}]},{"say":[{"text":"Next."}]}]}"#,
    )
    .await;
    play.through("Try.").await;
    let bodies: Vec<_> = play.process.player.recorded().into_iter().map(|r| r.body).collect();
    assert_eq!(bodies.len(), 3);
    assert!(bodies.iter().all(|body| body == &bodies[0]));
    assert_eq!(
        (play.count("step/start"), play.count("request/prepared"), play.count("attempt/end")),
        (1, 1, 3)
    );
    play.through("Again.").await;
    let last = String::from_utf8_lossy(&play.process.player.recorded()[3].body).into_owned();
    assert_eq!((last.matches("Whole answer.").count(), last.matches("Half an").count()), (1, 0));
}

/// The whole way: the first model's waits are used up, the second answers what was asked, no effect is repeated.
#[tokio::test(start_paused = true)]
async fn r_oc_13_another_model_goes_on_and_nothing_is_done_twice() {
    let busy = r#"{"error":{"class":"overloaded"}}"#;
    let answers = [
        &format!(r#"{{"say":[{}]}}"#, run("note 1")),
        busy,
        busy,
        &format!(r#"{{"say":[{}]}}"#, text("Done.")),
    ];
    let mut rig = Rig::new(&format!(r#"{{"answers":[{}]}}"#, answers.join(",")));
    (rig.mode, rig.limits.attempts_per_step) = (Mode::Auto, 2);
    rig.instead = vec![ModelChoice { provider: "scripted".into(), model: "second".into() }];
    let play = Play::on(rig).await;
    play.through("Begin.").await;
    assert_eq!(play.ends(), [End::Completed]);
    assert_eq!(play.rig.world.commands(), ["note 1"]);
    let asked: Vec<String> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::StepStart(e) => Some(e.model.model),
            _ => None,
        })
        .collect();
    assert_eq!(asked, ["script", "script", "second"]);
    assert_eq!((play.count("model/switched"), play.count("attempt/start")), (1, 4));
    let (failed, taken) = (&play.requests()[1], &play.requests()[3]);
    assert_eq!(texts(failed), texts(taken), "it is asked the same");
    play.clean();
}

#[tokio::test(start_paused = true)]
async fn r_mod_11_what_can_not_pass_is_not_tried_again() {
    for class in ["auth", "billing", "not_found", "context_overflow", "bad_request", "too_large", "protocol"]
    {
        let play = Play::of(&format!(
            r#"{{"answers":[{{"error":{{"class":"{class}"}}}},{{"say":[{{"text":"Usable."}}]}}]}}"#
        ))
        .await;
        play.say("Try.").await;
        play.idle().await;
        assert_eq!(play.process.player.recorded().len(), 1, "{class}");
        let ends = play.ends();
        // Nothing of so short a history could be left out.
        let size = ["context_overflow", "too_large"].contains(&class);
        let word = if size { engine::decide::CANNOT_FIT } else { class };
        assert!(matches!(&ends[..], [End::Failed { code, .. }] if code == word), "{class}: {ends:?}");
        play.through("Again.").await;
        assert!(play.heard().contains(&"Try.".to_owned()), "{class}: words of a failed turn stay");
    }
}

/// The same command twice, from two clicks or a lost answer, is one message and one turn.
#[tokio::test(start_paused = true)]
async fn rel_x18_a_command_repeated_a_hundred_times_is_one_turn() {
    let play = Play::of(&script(&[&text("Once.")])).await;
    let say = || Command::Say {
        text: "Do it.".into(),
        target: Target::NextStep,
        command: Some(domain::ids::CommandId::from_bits(7)),
    };
    let first = play.process.engine.command(&play.session, say()).await.expect("taken");
    for _ in 0..100 {
        let again = play.process.engine.command(&play.session, say()).await.expect("taken");
        assert_eq!(again.reply.message, first.reply.message);
    }
    play.idle().await;
    assert_eq!((play.count("inbox/posted"), play.count("turn/start")), (1, 1));
    play.clean();
}

/// Waiting for a yes isn't working; going on after it is, so that closing the window doesn't end the work.
#[tokio::test(start_paused = true)]
async fn a_turn_that_goes_on_after_a_yes_counts_as_busy() {
    let play = Play::on(Rig::new(&script(&[&run("hang"), &text("Usable.")]))).await;
    play.say("Begin.").await;
    let state = play.until(|state| state.needs_you() > 0).await;
    let (_, step) = state.step().expect("a step");
    let approval = step.calls[0].approval.clone().expect("an approval");
    assert!(!play.process.engine.is_busy(), "it waits");
    play.tell(Command::Grant { approval: approval.id, digest: approval.digest, offer: None }).await;
    play.until(runs).await;
    assert!(play.process.engine.is_busy(), "it works");
    play.tell(Command::Stop(CancelBy::User)).await;
    play.idle().await;
}
