//! P8: from the moment a piece of an answer can be read from the socket to the message that goes to the page.
//!
//! The server notes when it hands each piece to the socket; we note when the subscription that feeds the page gives it out.
//! What the page does from there (parsing, drawing, the next frame) isn't measured here.

use super::Run;
use crate::Done;
use crate::meter::millis;
use crate::model::{Answer, PIECE, Server};
use crate::pairs::quantile;
use crate::place::Place;
use crate::report::Row;
use api::wire::command::{Mode, Notification, Topic};
use api::wire::view::Patch;
use std::time::{Duration, Instant};

/// Pieces a second: a quick model, and far more than any.
const RATES: [u64; 2] = [100, 2_000];
const FRAME_MS: f64 = 1_000.0 / 60.0;

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let mut rows = Vec::new();
    for rate in RATES {
        let seconds = if run.options.quick { 1 } else { 3 };
        let pieces = usize::try_from(rate * seconds)?;
        let seen = run.runtime.block_on(watched(rate, pieces))?;
        let late = |share| quantile(seen.late_ms.clone(), share);
        let (p50, p95, p99) = (late(0.5), late(0.95), late(0.99));
        let first = seen.late_ms.first().copied().unwrap_or(f64::NAN);
        rows.push(
            Row::at_most("P8", format!("{rate} pieces a second: at the page's door within a frame (p95)"), p95, FRAME_MS)
                .unit("ms")
                .note(format!("Rust side only, frames are batched here: p50 {p50:.1}, p99 {p99:.1}, the first piece {first:.1} ms; {} of {pieces} pieces seen", seen.late_ms.len())),
        );
        rows.push(
            Row::at_most(
                "P8",
                format!("{rate} pieces a second: ≤ 1 message a frame"),
                seen.messages as f64 / (seen.ms / FRAME_MS),
                1.0,
            )
            .unit("1/frame")
            .note(format!("{} messages in {:.0} ms", seen.messages, seen.ms)),
        );
    }
    Ok(rows)
}

struct Seen {
    /// How late each piece was, in order.
    late_ms: Vec<f64>,
    /// Messages that held pieces.
    messages: usize,
    /// From the first to the last of them.
    ms: f64,
}

async fn watched(rate: u64, pieces: usize) -> Done<Seen> {
    let every = Duration::from_micros(1_000_000 / rate);
    let server = Server::new(move |_| Answer::Paced { pieces: Some(pieces), every }).await?;
    let place = Place::new(&server.url()).await?;
    let mut talk = place.session(Mode::Edit).await?;
    let topic = Topic::Session { session: talk.session.clone(), from: 0 };
    let mut page = place.host.room().subscribe(topic).await.map_err(|refused| refused.message)?;
    talk.say("Tell me everything.").await?;
    let mut arrived: Vec<Instant> = Vec::new();
    let mut messages = Vec::new();
    // The whole answer comes once more as an entry when it is accepted; by then every piece was seen.
    while arrived.len() < pieces {
        let Some(Notification::Session { patches, .. }) = page.recv().await else { break };
        let now = Instant::now();
        let new: usize = patches
            .iter()
            .map(|patch| match patch {
                Patch::Text { text, .. } => text.matches(PIECE).count(),
                Patch::Entry { entry } => said(entry).saturating_sub(arrived.len()),
                _ => 0,
            })
            .sum();
        if new > 0 {
            messages.push(now);
            arrived.extend(std::iter::repeat_n(now, new));
        }
    }
    talk.until("turn/end").await?;
    let sent = server.sent();
    let late_ms =
        arrived.iter().zip(&sent).map(|(there, sent)| millis(there.saturating_duration_since(*sent)));
    let late_ms = late_ms.collect();
    let ms = messages.first().zip(messages.last()).map_or(0.0, |(first, last)| millis(*last - *first));
    let messages = messages.len();
    drop(talk);
    drop(page);
    place.close().await;
    Ok(Seen { late_ms, messages, ms })
}

/// Pieces in an entry of the conversation.
fn said(entry: &api::wire::view::Entry) -> usize {
    serde_json::to_string(entry).map_or(0, |text| text.matches(PIECE).count())
}
