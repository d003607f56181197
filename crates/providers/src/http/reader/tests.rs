//! The reader against streams in virtual time: each step is a wait and then bytes.
//!
//! Waits are tokio's, so that hours pass at once; what is expected is the class, the words, the text that had arrived
//! and the exact second.

use std::task::Poll;
use std::time::Duration;

use futures_util::stream;
use tokio::time::sleep;

use super::*;
use crate::chat::ChatFold;
use crate::testing::snapshot;

const CONTENT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
const FINISH: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

/// Seconds to wait before each piece.
type Steps = Vec<(u64, &'static str)>;

#[derive(Debug, PartialEq)]
struct Told {
    /// The outcome's text, or the error's class and message.
    end: Result<String, (ErrorClass, String)>,
    /// What had arrived when it failed.
    partial: String,
    /// Virtual seconds it took.
    seconds: u64,
}

/// Plays the steps, then stays silent for ever.
async fn play(timers: Timers, steps: Steps) -> Told {
    let steps = stream::unfold(steps.into_iter(), |mut steps| async {
        match steps.next() {
            Some((seconds, piece)) => {
                sleep(Duration::from_secs(seconds)).await;
                Some((Ok(Bytes::from_static(piece.as_bytes())), steps))
            }
            None => std::future::pending().await,
        }
    });
    let (url, cancel) = (Url::parse("http://a.b/v1").unwrap(), CancellationToken::new());
    let started = Instant::now();
    let mut deltas: Vec<ModelDelta> = Vec::new();
    let reading = Reading {
        fold: Box::new(ChatFold::new("test", &snapshot("openai-chat"))),
        sink: &mut deltas,
        cancel: &cancel,
        timers,
        started,
        event_stream: true,
        url: &url,
        status: 200,
    };
    let result = read_answer(Box::pin(steps), reading).await;
    let seconds = started.elapsed().as_secs();
    let shown: usize = deltas.len();
    match result {
        Ok(outcome) => {
            Told { end: Ok(format!("{} pieces {:?}", shown, outcome.stop)), partial: String::new(), seconds }
        }
        Err(SendError::Failed(error)) => {
            Told { end: Err((error.class, error.message)), partial: error.partial_text, seconds }
        }
        Err(SendError::Cancelled(_)) => panic!("nobody cancelled"),
    }
}

/// Expects a timeout with this message after this many seconds.
async fn check_timeout(steps: Steps, seconds: u64, partial: &str, message: &str) {
    let told = play(Timers::default(), steps.clone()).await;
    let end = Err((ErrorClass::Timeout, message.to_owned()));
    assert_eq!(told, Told { end, partial: partial.into(), seconds }, "{steps:?}");
}

fn pings(count: usize, every: u64) -> Steps {
    vec![(every, ": ping\n\n"); count]
}

#[tokio::test(start_paused = true)]
async fn x12_silence_ends_an_attempt() {
    check_timeout(vec![], 120, "", "no answer began within 120 s").await;
    check_timeout(vec![(5, CONTENT)], 65, "a", "the answer fell silent for 60 s").await;
    check_timeout(vec![(5, CONTENT), (59, CONTENT)], 124, "aa", "the answer fell silent for 60 s").await;
}

#[tokio::test(start_paused = true)]
async fn p26_comments_reset_the_byte_timer_but_not_the_content_timer() {
    let mut steps = vec![(1, CONTENT)];
    steps.extend(pings(100, 30));
    check_timeout(steps, 301, "a", "only signs of life and no content for 300 s").await;
    let mut steps = vec![(1, CONTENT)];
    steps.extend(pings(4, 50));
    steps.extend([(50, CONTENT), (1, FINISH), (0, DONE)]);
    assert_eq!(play(Timers::default(), steps).await.end, Ok("2 pieces Stop".into()));
}

#[tokio::test(start_paused = true)]
async fn x12_life_without_an_answer_ends_too() {
    check_timeout(pings(1000, 10), 300, "", "the connection was alive, but no answer began within 300 s")
        .await;
    let empty = "data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\n";
    check_timeout(
        vec![(1, empty); 1000],
        300,
        "",
        "the connection was alive, but no answer began within 300 s",
    )
    .await;
    // One byte a second of something that never becomes an event.
    check_timeout(
        vec![(1, "x"); 1000],
        300,
        "",
        "the connection was alive, but no answer began within 300 s",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_on_this_machine_may_think_longer() {
    let slow = vec![(800, CONTENT), (1, FINISH), (0, DONE)];
    assert!(play(Timers::default(), slow.clone()).await.end.is_err());
    assert_eq!(play(Timers::default().on(true), slow).await.end, Ok("1 pieces Stop".into()));
    let told = play(Timers::default().on(true), vec![]).await;
    assert_eq!((told.seconds, told.end.unwrap_err().0), (900, ErrorClass::Timeout));
}

#[tokio::test(start_paused = true)]
async fn p43_a_long_healthy_stream_is_never_cut() {
    let mut steps = vec![(5, CONTENT); 180];
    steps.extend([(5, FINISH), (0, DONE)]);
    let told = play(Timers::default(), steps).await;
    assert_eq!((told.end, told.seconds), (Ok("180 pieces Stop".into()), 905));
}

#[tokio::test(start_paused = true)]
async fn a_whole_answer_waits_only_briefly_for_its_marker() {
    let told = play(Timers::default(), vec![(1, CONTENT), (1, FINISH)]).await;
    assert_eq!((told.end, told.seconds), (Ok("1 pieces Stop".into()), 7));
}

#[tokio::test(start_paused = true)]
async fn p27_data_in_the_chunk_of_a_ping_counts() {
    let both = ": ping\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    assert_eq!(play(Timers::default(), vec![(1, both)]).await.end, Ok("1 pieces Stop".into()));
}

#[tokio::test(start_paused = true)]
async fn x12_a_flood_of_comments_cannot_starve_the_timer() {
    // The stream is always ready, so only a look at the clock while reading can end it.
    let flood = stream::poll_fn(|context| {
        // Its first poll moves the clock; the rest would only yield to the timer.
        let moved = std::pin::pin!(tokio::time::advance(Duration::from_millis(10))).poll(context);
        assert!(moved.is_pending());
        Poll::Ready(Some(Ok(Bytes::from_static(b": x\n"))))
    });
    let (url, cancel) = (Url::parse("http://a.b/v1").unwrap(), CancellationToken::new());
    let mut deltas: Vec<ModelDelta> = Vec::new();
    let started = Instant::now();
    let reading = Reading {
        fold: Box::new(ChatFold::new("test", &snapshot("openai-chat"))),
        sink: &mut deltas,
        cancel: &cancel,
        timers: Timers::default(),
        started,
        event_stream: true,
        url: &url,
        status: 200,
    };
    let SendError::Failed(error) = read_answer(Box::pin(flood), reading).await.unwrap_err() else { panic!() };
    assert_eq!((error.class, started.elapsed().as_secs()), (ErrorClass::Timeout, 300));
}

#[test]
fn the_shape_of_a_body_is_seen_from_its_first_byte() {
    for (given, expect) in [
        ("data: x", "events"),
        (": ping", "events"),
        ("\u{FEFF}event: x", "events"),
        (" \r\n{\"a\"", "plain"),
        ("[]", "plain"),
        ("\n<!doctype html>", "page"),
        (" \n", "none"),
    ] {
        let shape = match shape_of(given.as_bytes()) {
            Shape::Unknown => "none",
            Shape::Events(_) => "events",
            Shape::Plain(_) => "plain",
            Shape::Page(_) => "page",
        };
        assert_eq!(shape, expect, "{given:?}");
    }
}
