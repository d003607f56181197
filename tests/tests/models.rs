//! What a step asks and whom: frozen when it begins, sent unchanged, and written down attempt by attempt.

use crate::play::{Play, read, text};
use domain::digest::Digest;
use domain::event::{AttemptEndKind, CancelBy, Fact, ModelChoice, Settled};
use domain::model::{ErrorClass, Usage};
use domain::state::{State, StepPhase};
use engine::Command;

fn waits(state: &State) -> bool {
    matches!(state.step(), Some((_, step)) if matches!(step.phase, StepPhase::Backoff { .. }))
}

fn attempting(state: &State) -> bool {
    matches!(state.step(), Some((_, step)) if matches!(step.phase, StepPhase::Attempting { .. }))
}

fn script(answers: &[&str]) -> String {
    format!(r#"{{"answers":[{}]}}"#, answers.join(","))
}

/// Whatever changes while a step waits to ask again, it asks the same model with the same bytes; the next step is new.
#[tokio::test(start_paused = true)]
async fn r_mod_02_r_mod_20_a_step_keeps_its_model_and_its_bytes() {
    let say = |what: &str| format!(r#"{{"say":[{what}]}}"#);
    let answers = [r#"{"error":{"class":"overloaded"}}"#, &say(&read("notes.txt")), &say(&text("Done."))];
    let play = Play::of(&script(&answers)).await;
    play.say("Begin.").await;
    play.until(waits).await;
    let other = ModelChoice { provider: "scripted".into(), model: "other".into() };
    play.tell(Command::SetModel(other)).await;
    std::fs::write(play.rig.folder().join("AGENTS.md"), "Be brief.").expect("written");
    play.idle().await;
    let asked: Vec<String> = play
        .facts()
        .into_iter()
        .filter_map(|fact| match fact {
            Fact::StepStart(e) => Some(e.model.model),
            _ => None,
        })
        .collect();
    assert_eq!(asked, ["script", "other"]);
    let requests = play.requests();
    let models: Vec<&str> = requests.iter().filter_map(|request| request["model"].as_str()).collect();
    assert_eq!(models, ["script", "script", "other"]);
    assert_eq!(requests[0], requests[1]);
    play.clean();
}

/// Of each attempt the record has what was sent, what came, how it ended, how long the next one waited, and what it cost.
#[tokio::test(start_paused = true)]
async fn r_mod_08_each_attempt_is_on_the_record() {
    let answers = [
        r#"{"say":[{"text":"Half an"}],"error":{"class":"cut"}}"#,
        r#"{"error":{"class":"overloaded"}}"#,
        r#"{"say":[{"text":"Whole."}],"usage":{"input":900,"output":40}}"#,
    ];
    let play = Play::of(&script(&answers)).await;
    play.through("Try.").await;
    let mut prepared = None;
    let mut told = Vec::new();
    for fact in play.facts() {
        match fact {
            Fact::RequestPrepared(e) => prepared = Some(e.body),
            Fact::AttemptStart(e) => {
                assert_eq!(Some(e.body), prepared, "an attempt names the bytes it sends");
                told.push(format!("{} starts", e.n));
            }
            Fact::AssistantDelta(e) => told.push(e.deltas.iter().map(|delta| delta.text()).collect()),
            Fact::AttemptEnd(e) => told.push(match (e.end, e.settled) {
                (AttemptEndKind::Failed { error, retry: Some(retry) }, settled) => {
                    assert!(retry.wait_ms > 0 && retry.until > 0);
                    let cost = matches!(settled, Settled::Reported { .. } | Settled::Estimated { .. });
                    format!("{:?}, cost known: {cost}, again later", error.class)
                }
                (AttemptEndKind::Accepted, Settled::Reported { tokens }) => {
                    assert_eq!(tokens, Usage { input: 900, output: 40, ..Usage::default() });
                    "accepted, cost reported".to_owned()
                }
                other => panic!("{other:?}"),
            }),
            _ => {}
        }
    }
    insta::assert_debug_snapshot!(told, @r#"
    [
        "1 starts",
        "Half an",
        "Cut, cost known: true, again later",
        "2 starts",
        "Overloaded, cost known: true, again later",
        "3 starts",
        "Whole.",
        "accepted, cost reported",
    ]
    "#);
    let bodies = play.process.player.recorded();
    assert!(bodies.iter().all(|request| Some(Digest::of(&request.body)) == prepared));
}

/// Stopping ends the request first, then the attempt, then the step and the turn; nothing of it comes after.
#[tokio::test(start_paused = true)]
async fn r_mod_18_an_attempt_ends_before_what_it_belongs_to() {
    let play = Play::of(&script(&[
        r#"{"say":[{"text":"one two three four","pace_ms":4000}]}"#,
        r#"{"say":[{"text":"Usable."}]}"#,
    ]))
    .await;
    play.say("Begin.").await;
    play.until(attempting).await;
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    play.tell(Command::Stop(CancelBy::User)).await;
    play.idle().await;
    let kinds = play.kinds();
    let from = kinds.iter().position(|kind| kind == "turn/cancel").expect("stopped");
    assert_eq!(kinds[from..], ["turn/cancel", "attempt/end", "step/end", "turn/end"]);
    let ended = play
        .facts()
        .into_iter()
        .any(|fact| matches!(fact, Fact::AttemptEnd(e) if matches!(e.end, AttemptEndKind::Cancelled)));
    assert!(ended && play.count("assistant/accepted") == 0);
    play.through("Go on.").await;
    play.clean();
}

/// An overflow in any server's words is one: the same request isn't sent blindly again.
#[tokio::test(start_paused = true)]
async fn case_p22_an_overflow_is_never_answered_with_the_same_request() {
    let words = "This model's maximum context length is 8192 tokens. However, your prompt contains at least 9000 \
                 input tokens.";
    let error = serde_json::json!({"error": {"code": 400, "type": "BadRequestError", "message": words}});
    let body = format!("data: {error}\n\n");
    let stream = serde_json::json!({"stream": {"dialect": "openai-chat", "body": body, "chunk_bytes": 1}});
    let play = Play::of(&script(&[&stream.to_string(), r#"{"say":[{"text":"Usable."}]}"#])).await;
    play.say("Try.").await;
    play.idle().await;
    let overflow = play.facts().into_iter().find_map(|fact| match fact {
        Fact::AttemptEnd(e) => match e.end {
            AttemptEndKind::Failed { error, retry } => Some((error.class, error.context_tokens, retry)),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(overflow, Some((ErrorClass::ContextOverflow, Some(8192), None)));
    let bodies: Vec<_> = play.process.player.recorded().into_iter().map(|request| request.body).collect();
    assert!(bodies.iter().skip(1).all(|body| body != &bodies[0]), "no blind repeat");
    play.through("Again.").await;
}
