//! A history that gets too long: references, summaries, checkpoints, refusals for size, and the way back.
//!
//! The scripted model knows a request for a summary by its transcript. Invariant of every test: log, requests and lists are
//! clean, whatever was replaced.

use crate::play::{Play, calls, read, run, script, text, texts};
use domain::call::Mode;
use domain::event::{
    CancelBy, CheckpointCommitted, End, EpochReason, Fact, HistoryShortened, Purpose, ShortenWhy,
};
use domain::history;
use domain::state::StepPhase;
use engine::Command;
use engine::decide::CANNOT_FIT;
use serde_json::{Value, json};
use tests::Rig;

/// An answer to any request for a summary.
fn summary(words: &str) -> Value {
    json!({"when": {"contains": "<transcript>"}, "repeat": true, "say": [{"text": words}]})
}

const WORDS: &str =
    "## Goal and corrections\nThe notes are read again and again.\n## Open, and next\nMore of it.";

/// A script of these answers, each as the pieces it says, with one for every summary.
fn played(summary: Value, answers: impl IntoIterator<Item = Value>) -> String {
    let all: Vec<Value> = std::iter::once(summary).chain(answers).collect();
    json!({ "answers": all }).to_string()
}

fn say(piece: &str) -> Value {
    json!({"say": [serde_json::from_str::<Value>(piece).expect("a piece")]})
}

fn refused(window: Option<u64>) -> Value {
    json!({"error": {"class": "context_overflow", "message": "prompt is too long", "context_tokens": window}})
}

/// A rig whose files are long: each read adds about `tokens`.
fn rig(script: &str, window: Option<u64>, files: usize, tokens: usize) -> Rig {
    let mut rig = Rig::new(script);
    (rig.mode, rig.window) = (Mode::Auto, window);
    rig.limits.repeats = 1_000;
    rig.limits.steps_per_turn = 1_000;
    for n in 0..files {
        let line = format!("row {n} of the ledger, nothing in it matters much\n");
        std::fs::write(rig.folder().join(format!("file{n}.txt")), line.repeat(tokens * 4 / line.len()))
            .expect("a file");
    }
    rig
}

fn reads(files: usize) -> Vec<Value> {
    (0..files).map(|n| say(&read(&format!("file{n}.txt")))).collect()
}

fn checkpoints(play: &Play) -> Vec<CheckpointCommitted> {
    let found = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::CheckpointCommitted(checkpoint) => Some(checkpoint),
        _ => None,
    });
    found.collect()
}

fn shortenings(play: &Play) -> Vec<HistoryShortened> {
    let found = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::HistoryShortened(shortened) => Some(shortened),
        _ => None,
    });
    found.collect()
}

fn reasons(play: &Play) -> Vec<EpochReason> {
    let found = play.facts().into_iter().filter_map(|fact| match fact {
        Fact::RequestPrepared(prepared) => prepared.opened,
        _ => None,
    });
    found.collect()
}

/// Every request that was sent for an answer is one that a strict service takes, and the last one is the projection.
#[track_caller]
fn lawful(play: &Play) {
    play.clean();
    let facts: Vec<(u64, Fact)> =
        play.rig.events(&play.session).into_iter().filter_map(|event| event.placed()).collect();
    for (at, (_, fact)) in facts.iter().enumerate() {
        if matches!(fact, Fact::RequestPrepared(_)) {
            let messages = history::project(&facts[..at]).expect("paired");
            assert_eq!(history::unsendable(&messages), None, "request {at}");
        }
    }
}

/// Old results become references first: cheap, without asking any model, and the newest stay whole.
#[tokio::test(start_paused = true)]
async fn r_cmp_15_long_results_become_references_before_anything_else() {
    let mut answers = reads(12);
    answers.push(say(&text("Read.")));
    let play = Play::on(rig(&played(summary(WORDS), answers), Some(32_000), 12, 2_500)).await;
    play.through("Read all of them.").await;
    lawful(&play);
    let shortened = shortenings(&play);
    assert!(!shortened.is_empty() && checkpoints(&play).is_empty(), "{:?}", play.kinds());
    assert_eq!(play.count("summary/prepared"), 0, "no model was asked");
    for one in &shortened {
        assert_eq!(one.why, ShortenWhy::Budget);
        assert!(one.tokens.after * 100 <= one.tokens.before * 80, "{one:?}");
    }
    assert_eq!(reasons(&play)[1..], vec![EpochReason::History; shortened.len()]);
    let heard = play.heard();
    assert!(heard.iter().any(|text| text.contains("Shortened by Daybook")), "{heard:#?}");
    assert!(
        heard.iter().rev().take(3).all(|text| !text.contains("Shortened by Daybook")),
        "the newest are whole"
    );
    assert_eq!(play.ends(), [End::Completed]);
}

/// What no reference makes short enough is summarised: the summary is an attempt of its own, and closed steps only go.
#[tokio::test(start_paused = true)]
async fn r_cmp_01_closed_steps_stand_as_a_checkpoint_and_the_newest_stay() {
    let words = "word ".repeat(2_000);
    let say_much = |n: usize| {
        json!({"say": [{"text": format!("{n}: {words}")},
        serde_json::from_str::<Value>(&read("notes.txt")).expect("a piece")]})
    };
    let mut answers: Vec<Value> = (0..14).map(say_much).collect();
    answers.push(say(&text("Done.")));
    let play = Play::on(rig(&played(summary(WORDS), answers), Some(32_000), 0, 0)).await;
    play.through("Please talk at length.").await;
    lawful(&play);
    let made = checkpoints(&play);
    assert!(!made.is_empty(), "{:?}", play.kinds());
    for (n, one) in made.iter().enumerate() {
        assert!(one.summary.is_some() && one.text.contains("read again and again"), "{}", one.text);
        assert!(one.tokens.after * 100 <= one.tokens.before * 80, "{one:?}");
        assert!(one.kept > 0, "the newest stay word for word");
        assert!(one.text.contains("Please talk at length."), "the person's words are kept");
        assert_eq!(one.generation, n as u64 + 1, "each replacement counts");
    }
    let purposes: Vec<Purpose> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::AttemptStart(start) => Some(start.purpose),
            _ => None,
        })
        .collect();
    assert_eq!(purposes.iter().filter(|one| **one == Purpose::Summary).count(), made.len());
    assert_eq!(play.state().usage.attempts as usize, purposes.len(), "each is settled");
    // The prefix stays the same between two replacements and opens for nothing else.
    assert_eq!(reasons(&play)[1..], vec![EpochReason::History; made.len()]);
    let heard = play.heard();
    assert_eq!(heard.iter().filter(|text| text.contains("<checkpoint ")).count(), 1);
    assert_eq!(heard.iter().filter(|text| text.starts_with("<environment>")).count(), 1, "told again, once");
}

/// A refusal for size shortens the history within the step; the tools stay, and the same request is never sent again.
#[tokio::test(start_paused = true)]
async fn r_mod_10_a_refusal_for_size_goes_on_smaller_in_the_same_step() {
    for window in [Some(20_000), None] {
        let mut answers = reads(6);
        answers.extend([refused(window), say(&read("notes.txt")), say(&text("Done."))]);
        let play = Play::on(rig(&played(summary(WORDS), answers), None, 6, 4_000)).await;
        play.through("Read all of them.").await;
        lawful(&play);
        assert_eq!(play.ends(), [End::Completed], "{window:?}");
        assert_eq!(play.count("context/overflowed"), 1);
        assert_eq!(play.count("step/start"), 8, "no step was lost or added");
        let requests = play.requests();
        let answering: Vec<&Value> = requests
            .iter()
            .filter(|request| !texts(request).iter().any(|t| t.contains("<transcript>")))
            .collect();
        let sizes: Vec<usize> = answering.iter().map(|request| request.to_string().len()).collect();
        assert!(sizes[7] < sizes[6] * 8 / 10, "{sizes:?}");
        assert!(answering.iter().all(|request| request["tools"] == answering[0]["tools"]), "the tools stay");
        let bodies: std::collections::BTreeSet<String> = requests.iter().map(Value::to_string).collect();
        assert_eq!(bodies.len(), requests.len(), "no request twice");
        let why = shortenings(&play)
            .iter()
            .map(|one| one.why)
            .chain(checkpoints(&play).iter().map(|one| one.why))
            .next();
        assert_eq!(why, Some(ShortenWhy::Overflow));
    }
}

/// A service that refuses every size is given up on, in words that say what to do.
#[tokio::test(start_paused = true)]
async fn r_cmp_12_a_service_that_refuses_every_size_ends_the_turn() {
    let mut answers = reads(6);
    answers.push(
        json!({"repeat": true, "error": {"class": "context_overflow", "message": "prompt is too long"}}),
    );
    let play = Play::on(rig(&played(summary(WORDS), answers), None, 6, 4_000)).await;
    play.through("Read all of them.").await;
    lawful(&play);
    let refusals = play.count("context/overflowed");
    assert!((1..=3).contains(&refusals), "{refusals}");
    let ends = play.ends();
    assert!(
        matches!(&ends[..], [End::Failed { code, message, .. }]
        if code == CANNOT_FIT && message.contains("choose a model that reads more")),
        "{ends:?}"
    );
    // The session goes on to be usable: the person's words are in the history.
    assert_eq!(play.count("user/message"), 1);
}

/// Words that no window holds end the turn before anything is sent.
#[tokio::test(start_paused = true)]
async fn r_cmp_12_what_cannot_fit_is_said_and_never_sent() {
    let play = Play::on(rig(&script(&[&text("Never.")]), Some(8_000), 0, 0)).await;
    play.through(&"a word ".repeat(5_000)).await;
    lawful(&play);
    assert!(
        matches!(&play.ends()[..], [End::Failed { code, .. }] if code == CANNOT_FIT),
        "{:?}",
        play.ends()
    );
    assert_eq!((play.count("attempt/start"), play.count("user/message")), (0, 1));
}

/// Without a model's summary the checkpoint holds what the record knows.
#[tokio::test(start_paused = true)]
async fn r_cmp_07_a_summary_that_fails_leaves_what_the_record_knows() {
    let failures = [
        json!({"when": {"contains": "<transcript>"}, "repeat": true, "error": {"class": "server"}}),
        json!({"when": {"contains": "<transcript>"}, "repeat": true, "say": [{"text": "ok"}]}),
        // It is too large itself: nothing is made shorter for it.
        json!({"when": {"contains": "<transcript>"}, "repeat": true, "error": {"class": "context_overflow"}}),
    ];
    for (failure, attempts) in failures.into_iter().zip([2, 1, 1]) {
        let mut answers = reads(6);
        answers.extend([refused(None), say(&text("Done."))]);
        let script = played(failure, answers);
        let mut rig = rig(&script, None, 6, 150);
        rig.mode = Mode::Auto;
        let play = Play::on(rig).await;
        play.through("Read all of them, PR #4711.").await;
        lawful(&play);
        let made = checkpoints(&play);
        assert_eq!(made.len(), 1, "{:?}", play.kinds());
        assert_eq!(made[0].summary, None);
        assert!(
            made[0].text.contains("PR #4711") && made[0].text.contains("No model could write"),
            "{}",
            made[0].text
        );
        let summaries = play
            .facts()
            .into_iter()
            .filter(|fact| matches!(fact, Fact::AttemptStart(start) if start.purpose == Purpose::Summary));
        assert_eq!(summaries.count(), attempts);
        assert_eq!(play.ends(), [End::Completed]);
    }
}

/// Stopping while the summary is written stops it; nothing is replaced, and what was said isn't lost.
#[tokio::test(start_paused = true)]
async fn r_cmp_07_stopping_while_it_summarises_replaces_nothing() {
    let slow = json!({"when": {"contains": "<transcript>"}, "repeat": true, "say": [{"text": WORDS, "wait_ms": 60_000}]});
    let mut answers = reads(6);
    answers.extend([refused(None), say(&text("Usable."))]);
    let play = Play::on(rig(&played(slow, answers), None, 6, 150)).await;
    play.say("Read all of them.").await;
    let summarising = |state: &domain::state::State| {
        state.step().is_some_and(|(_, step)| {
            let about = step.request.as_ref().and_then(|request| request.about);
            matches!(step.phase, StepPhase::Attempting { .. }) && about.is_some()
        })
    };
    play.until(summarising).await;
    play.tell(Command::Stop(CancelBy::User)).await;
    play.idle().await;
    lawful(&play);
    assert_eq!(play.ends(), [End::Cancelled { by: CancelBy::User }]);
    assert_eq!((checkpoints(&play).len(), play.state().history.generation), (0, 0));
    let shown = |fact: &Fact| matches!(fact, Fact::AssistantDelta(e) if e.deltas.iter().any(|d| d.text().contains("Goal")));
    assert!(!play.facts().iter().any(shown), "a summary isn't shown as an answer");
}

/// The person asks for a summary while nothing runs: it is made at once, and taken back as easily.
#[tokio::test(start_paused = true)]
async fn r_proj_03_a_summary_that_was_asked_for_can_be_taken_back() {
    let mut answers = reads(5);
    answers.extend([say(&text("Read.")), say(&text("Short.")), say(&text("Long."))]);
    let play = Play::on(rig(&played(summary(WORDS), answers), Some(100_000), 5, 1_500)).await;
    play.through("Read all of them.").await;
    let before = play.heard().len();
    play.tell(Command::Summarise).await;
    play.until(|state| state.turn.is_none() && !state.history.asked).await;
    lawful(&play);
    let made = checkpoints(&play);
    assert_eq!((made.len(), made[0].why, play.ends().len()), (1, ShortenWhy::Asked, 2));
    play.through("And?").await;
    let short = play.heard();
    assert!(short.len() < before && short[0].contains("<checkpoint "), "{short:#?}");

    play.tell(Command::UseFullHistory).await;
    play.through("And now?").await;
    lawful(&play);
    let full = play.heard();
    assert!(full.len() > before && !full.iter().any(|text| text.contains("<checkpoint ")), "{full:#?}");
    assert!(full.iter().any(|text| text == "And?"), "what was said in between is there");
    assert_eq!(reasons(&play), [EpochReason::First, EpochReason::History, EpochReason::History]);
    let again = play.process.engine.command(&play.session, Command::UseFullHistory).await;
    assert!(again.is_err(), "it is full already");
}

/// With little there is nothing to ask for, and a full history that doesn't fit isn't given back.
#[tokio::test(start_paused = true)]
async fn r_cmp_09_what_gains_nothing_is_refused() {
    let play = Play::on(rig(&script(&[&text("Hello."), &text("Again.")]), Some(100_000), 0, 0)).await;
    for _ in 0..2 {
        let asked = play.process.engine.command(&play.session, Command::Summarise).await;
        assert!(asked.is_err(), "nothing was said yet that is worth it");
        if play.ends().is_empty() {
            play.through("Hello.").await;
        }
    }
    play.through(&"these words are all there is ".repeat(400)).await;
    play.tell(Command::Summarise).await;
    play.until(|state| state.turn.is_none() && !state.history.asked).await;
    lawful(&play);
    assert_eq!(play.ends().last(), Some(&End::NothingToDo));
    assert_eq!(play.count("summary/prepared"), 0, "nothing was spent on it");
}

/// Fifty identifiers planted in results and answers are all in the checkpoint, letter by letter.
#[tokio::test(start_paused = true)]
async fn r_cmp_05_fifty_planted_identifiers_survive() {
    let planted: Vec<String> = (0..50_u64)
        .map(|n| match n % 5 {
            0 => format!("6f9619ff-8b86-d011-b42d-00c04fc9{n:04x}"),
            1 => format!("https://example.org/orders/{n}?page=2"),
            2 => format!("10.0.{n}.7:80{n:02}"),
            3 => format!("src/part{n}/ledger_{n}.rs"),
            _ => format!("inv-2026-{n:04}"),
        })
        .collect();
    let mut answers: Vec<Value> = planted
        .chunks(5)
        .enumerate()
        .map(|(n, some)| {
            json!({"say": [{"text": format!("Found {}.", some.join(" and "))},
            serde_json::from_str::<Value>(&read(&format!("file{n}.txt"))).expect("a piece")]})
        })
        .collect();
    answers.extend([refused(Some(24_000)), refused(Some(16_000)), say(&text("Done."))]);
    let play = Play::on(rig(&played(summary(WORDS), answers), None, 10, 2_000)).await;
    play.through("Look for orders.").await;
    lawful(&play);
    assert_eq!(play.ends(), [End::Completed]);
    assert!(!checkpoints(&play).is_empty(), "{:?}", play.kinds());
    let read = play.requests().last().map(Value::to_string).expect("a request");
    for one in &planted {
        assert!(read.contains(one.as_str()), "{one} is lost in {read}");
    }
}

/// Several checkpoints one after the other: pairs hold over the whole replacement, and the person's first words stay.
#[tokio::test(start_paused = true)]
async fn case_h06_checkpoints_one_after_the_other_leave_no_orphan() {
    let words = "word ".repeat(1_500);
    let say_much = |n: usize| {
        json!({"say": [{"text": format!("{n}: {words}")},
        serde_json::from_str::<Value>(&read("notes.txt")).expect("a piece"),
        serde_json::from_str::<Value>(&run(&format!("note {n}"))).expect("a piece")]})
    };
    let mut answers: Vec<Value> = (0..40).map(say_much).collect();
    answers.push(say(&text("Done.")));
    let play = Play::on(rig(&played(summary(WORDS), answers), Some(24_000), 0, 0)).await;
    play.through("The very first words.").await;
    lawful(&play);
    let made = checkpoints(&play);
    assert!(made.len() >= 3, "{}", made.len());
    assert!(made.iter().all(|one| one.text.contains("The very first words.")));
    assert!(made.iter().all(|one| {
        !one.text.contains("word word word word word word word word word word word word ".repeat(40).as_str())
    }));
    assert!(
        made.last().is_some_and(|one| one.text.contains("`note 30`: passed, exit code 0")),
        "{}",
        made.last().map_or("", |one| &one.text)
    );
    assert_eq!(play.ends(), [End::Completed]);
    assert_eq!(play.rig.world.commands().len(), 40, "no effect twice");
}

/// Steps that each fill the window again come to an end by themselves, and a click goes on.
#[tokio::test(start_paused = true)]
async fn case_h09_steps_that_each_need_a_checkpoint_come_to_an_end() {
    let words = "word ".repeat(7_700);
    let say_much = |n: usize| {
        json!({"say": [{"text": format!("{n}: {words}")},
        serde_json::from_str::<Value>(&read("notes.txt")).expect("a piece")]})
    };
    let play = Play::on(rig(&played(summary(WORDS), (0..40).map(say_much)), Some(16_000), 0, 0)).await;
    let limit = End::limit("checkpoints", 3);
    let summaries = |play: &Play| play.count("summary/prepared");
    play.through("Go on for ever.").await;
    lawful(&play);
    assert_eq!(play.ends(), std::slice::from_ref(&limit));
    assert_eq!((summaries(&play), checkpoints(&play).len()), (3, 3), "none is asked for in vain");
    // Who goes on says that it is worth it.
    play.through("Go on.").await;
    lawful(&play);
    assert_eq!(play.ends(), [limit.clone(), limit]);
    assert_eq!((summaries(&play), checkpoints(&play).len()), (6, 6));
    assert!(calls(&play.state()).is_empty());
}

/// What was shortened can be read whole, by its place in the record.
#[tokio::test(start_paused = true)]
async fn r_cmp_16_what_was_shortened_is_read_by_its_place() {
    let with = |place: &str| {
        let mut answers = reads(1);
        answers.extend([say(&read(place)), say(&read("record:0")), say(&text("Done."))]);
        rig(&played(summary(WORDS), answers), Some(100_000), 1, 2_000)
    };
    let first = Play::on(with("record:1")).await;
    first.through("Read it.").await;
    let results = |play: &Play| {
        let events = play.rig.events(&play.session).into_iter().filter_map(|event| event.placed());
        let found = events.filter_map(|(seq, fact)| match fact {
            Fact::ToolResult(result) => Some((seq, result)),
            _ => None,
        });
        found.collect::<Vec<_>>()
    };
    let (seq, whole) = results(&first).remove(0);
    let play = Play::on(with(&format!("record:{seq}"))).await;
    play.through("Read it.").await;
    lawful(&play);
    let read = results(&play);
    assert_eq!(read[1].1.text, whole.text.trim_end_matches('\n'));
    assert!(read[2].1.text.contains("says nothing"), "{}", read[2].1.text);
    assert!(play.state().seen.keys().all(|path| !path.contains("record:")), "it is no file");
}

/// A project says what matters to it, and the summarising model reads that; it is given no tools and a bounded text.
#[tokio::test(start_paused = true)]
async fn r_cmp_17_a_projects_priorities_reach_the_summary() {
    let mut answers = reads(6);
    answers.extend([refused(None), say(&text("Done."))]);
    let rig = rig(&played(summary(WORDS), answers), None, 6, 150);
    std::fs::write(rig.folder().join("AGENTS.md"), "# Notes\n## When compacting\nKeep all ticket numbers.\n")
        .expect("a file");
    let play = Play::on(rig).await;
    play.through("Read all of them.").await;
    lawful(&play);
    let requests = play.requests();
    let asked =
        requests.iter().find(|request| texts(request).iter().any(|text| text.contains("<transcript>")));
    let asked = asked.expect("a summary was asked for");
    assert!(texts(asked)[0].contains("Keep all ticket numbers."), "{asked}");
    assert_eq!(asked["tools"], json!([]), "{asked}");
    assert_eq!(asked["messages"].as_array().map(Vec::len), Some(1));
}

/// The full history is asked for while a summary is written: that summary is of a history that isn't there any more.
#[tokio::test(start_paused = true)]
async fn r_cmp_10_a_summary_of_a_history_that_has_passed_is_not_used() {
    let slow = json!({"when": {"contains": "<transcript>"}, "repeat": true, "say": [{"text": WORDS, "wait_ms": 60_000}]});
    let mut answers = reads(5);
    answers.push(say(&text("Read.")));
    answers.extend(reads(4));
    answers.push(say(&text("Read again.")));
    let play = Play::on(rig(&played(slow, answers), Some(100_000), 5, 1_500)).await;
    play.through("Read all of them.").await;
    play.tell(Command::Summarise).await;
    play.until(|state| state.turn.is_none() && !state.history.asked).await;
    play.through("Once more.").await;
    play.tell(Command::Summarise).await;
    play.until(|state| state.step().and_then(|(_, step)| step.request.as_ref()?.about).is_some()).await;
    play.tell(Command::UseFullHistory).await;
    play.until(|state| state.turn.is_none()).await;
    lawful(&play);
    assert_eq!(play.count("summary/prepared"), 2);
    assert_eq!(checkpoints(&play).len(), 1, "the second summary was of a generation that passed");
    assert_eq!(play.state().history.generation, 2);
    assert_eq!(play.state().history.checkpoint, None);
}

/// The scenario that is killed at every append goes all the way it is meant to.
#[tokio::test(start_paused = true)]
async fn r_cmp_13_each_pass_commits_one_checkpoint_and_builds_the_request_anew() {
    let scenario = crate::scenarios::all().into_iter().find(|one| one.name == "a history that gets shorter");
    let scenario = scenario.expect("it is there");
    let play = Play::on(scenario.rig()).await;
    play.through(scenario.says[0].0).await;
    lawful(&play);
    let kinds = play.kinds();
    let order: Vec<&str> = kinds
        .iter()
        .map(String::as_str)
        .filter(|kind| {
            ["context/overflowed", "summary/prepared", "checkpoint/committed", "history/shortened"]
                .contains(kind)
        })
        .collect();
    let pass = ["context/overflowed", "summary/prepared", "checkpoint/committed"];
    assert_eq!(order, pass);
    let revisions: Vec<u32> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::RequestPrepared(prepared) => Some(prepared.revision),
            _ => None,
        })
        .collect();
    assert_eq!(revisions, [1, 1, 1, 2, 1, 1], "the next request of the same step");
    assert_eq!(play.rig.file("notes.txt"), scenario.notes);
}

/// What sending the same again can't help is sent once, ends the turn with its own word, and leaves a session that works.
#[tokio::test(start_paused = true)]
async fn rel_x17_what_another_try_cannot_help_is_tried_once() {
    for (class, word) in [
        ("auth", "auth"),
        ("billing", "billing"),
        ("not_found", "not_found"),
        ("bad_request", "bad_request"),
        ("too_large", CANNOT_FIT),
        ("context_overflow", CANNOT_FIT),
    ] {
        let failure = json!({"error": {"class": class, "message": "no"}});
        let script = json!({"answers": [failure, say(&text("Usable."))]}).to_string();
        let play = Play::on(rig(&script, Some(100_000), 0, 0)).await;
        play.through("Begin.").await;
        assert_eq!(play.count("attempt/start"), 1, "{class}");
        assert!(matches!(&play.ends()[..], [End::Failed { code, .. }] if code == word), "{:?}", play.ends());
        play.through("Again.").await;
        lawful(&play);
        assert_eq!(play.ends().last(), Some(&End::Completed), "{class}");
        let said = play.heard();
        assert!(["Begin.", "Again."].iter().all(|words| said.iter().any(|text| text == words)), "{said:?}");
    }
}

/// Whatever stands for earlier work says which events it was made of, and the chain holds it to that.
#[tokio::test(start_paused = true)]
async fn r_log_19_a_checkpoint_names_the_events_it_was_made_of() {
    let answers = reads(12).into_iter().chain([say(&text("Done."))]);
    let play = Play::on(rig(&played(summary(WORDS), answers), Some(32_000), 12, 2_500)).await;
    play.through("Read them all.").await;
    play.tell(Command::Summarise).await;
    play.until(|state| state.turn.is_none() && !state.history.asked).await;
    lawful(&play);
    let log = play.rig.log(&play.session);
    let count =
        |upto: usize, kind: &str| log[..upto].iter().filter(|event| event.kind == kind).count() as u64;
    let (mut asked, mut seen) = (None, (0, 0, 0));
    for event in play.rig.events(&play.session) {
        let seq = event.envelope.seq;
        match event.fact {
            Some(Fact::HistoryShortened(made)) => {
                let upto = usize::try_from(made.upto).expect("small");
                // Every result here is long, and the newest stay whole.
                assert_eq!(made.results, count(upto, "tool/result"), "{made:?}");
                assert!(
                    made.results < count(usize::try_from(seq).expect("small"), "tool/result"),
                    "{made:?}"
                );
                seen.0 += 1;
            }
            Some(Fact::SummaryPrepared(made)) => {
                asked = Some((made.from, made.upto));
                seen.1 += 1;
            }
            Some(Fact::CheckpointCommitted(made)) => {
                let upto = usize::try_from(made.upto).expect("small");
                let last = &log[upto - 1];
                assert_eq!((last.seq + 1, last.hash), (made.upto, made.chain));
                assert_eq!(asked, Some((made.from, made.upto)), "it stands for what its summary was made of");
                let all = count(usize::try_from(seq).expect("small"), "step/end");
                assert_eq!((made.steps, made.kept), (count(upto, "step/end"), all - made.steps), "{made:?}");
                assert!(made.steps > 0 && made.kept > 0, "{made:?}");
                seen.2 += 1;
            }
            _ => {}
        }
    }
    assert!(seen.0 > 0 && (seen.1, seen.2) == (1, 1), "both kinds of what replaces: {seen:?}");
}
