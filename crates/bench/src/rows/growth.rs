//! P6: what a step costs late in a long session, beside the same step early in a short one.
//!
//! Two sessions on two engines, one of about 100 and one of about 4,000 messages, step for step in turn. Nothing is sent,
//! so the goal's exclusion of the socket is kept by construction. The control builds the whole request anew for each step,
//! which must show in the same run.

use super::Run;
use crate::Done;
use crate::bare::{Bare, Plan, text};
use crate::meter::cost;
use crate::pairs::{median, pairs};
use crate::report::Row;
use crate::rows::step::Client;
use bytes::Bytes;
use domain::call::Mode;
use domain::digest::Digest;
use domain::model::{Block, Message};
use providers::Body;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Messages of the short and of the long session.
const SHORT: usize = 100;
const LONG: usize = 4_000;
/// Turns of a block; each adds two messages, which is little beside either.
const TURNS: usize = 2;
const WORDS: &str =
    "Please look at the next invoice of the folder and tell me its number, its date and its sum.";
const ANSWER: &str =
    "Invoice 2026-0417 is dated 3 March 2026, its sum is 1,284.50 EUR, and it was paid on 9 March.";

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let long_messages = run.count(LONG, 400);
    let plan: Plan = Arc::new(|_| vec![text(ANSWER)]);
    let mut short = grown(&run.runtime, SHORT, &plan)?;
    let mut long = grown(&run.runtime, long_messages, &plan)?;
    let turn =
        |runtime: &Handle, bare: &mut Bare| (0..TURNS).try_for_each(|_| runtime.block_on(bare.turn(WORDS)));
    let measured =
        pairs(run.rounds(), TURNS, || turn(&run.runtime, &mut short), || turn(&run.runtime, &mut long))?;
    let (at_short, at_long) = measured.medians(|cost| cost.cpu_us);
    let ratio = measured.ratio(|cost| cost.cpu_us);
    let noise = measured.control(|cost| cost.cpu_us);
    let slope = slope(run)?;
    Ok(vec![
        Row::at_most(
            "P6",
            format!("CPU of a step at {long_messages} messages ≤ 1.3× that at {SHORT}"),
            ratio,
            1.3,
        )
        .unit("×")
        .beside(1.0)
        .note(format!(
            "a turn of one step: {:.2} and {:.2} ms; nothing is sent; A/A {noise:.3}",
            at_long / 1e3,
            at_short / 1e3
        ))
        .gate(),
        control(run.rounds())?,
        Row::at_most("P6", "sending grows by ≤ 1 ms of CPU for each MB", slope, 1.0)
            .unit("ms/MB")
            .note("bodies of 1 and 5 MB to 127.0.0.1, the server's reading included"),
        Row::absent(
            "P6",
            "tokens of an event are counted once",
            "by construction: a request's estimate is the one before plus that of its own segment; a test of the engine holds it, nothing is counted here",
        ),
    ])
}

/// Of the usual lengths also where a run is to be quick: between shorter ones there is less to see.
fn control(rounds: usize) -> Done<Row> {
    let words = "control: building the whole request anew must be > 20× (or the test can't see it)";
    let Naive { few, many, ratio } = naive(rounds, SHORT, LONG)?;
    let note =
        format!("encoding and hashing all messages for each step, {many} beside {few} of them, in this run");
    let row = Row::at_least("P6", words, ratio, 20.0);
    Ok(row.unit("×").beside(1.0).note(note).gate())
}

/// An engine whose session has this many messages.
fn grown(runtime: &Handle, messages: usize, plan: &Plan) -> Done<Bare> {
    let mut bare = runtime.block_on(Bare::new(Mode::Edit, Arc::clone(plan)))?;
    for _ in 0..messages / 2 {
        runtime.block_on(bare.turn(WORDS))?;
    }
    Ok(bare)
}

/// Whole requests that were built, of so many messages each, and how much more the longer one takes.
struct Naive {
    few: usize,
    many: usize,
    ratio: f64,
}

fn naive(rounds: usize, few: usize, many: usize) -> Done<Naive> {
    let dialect = providers::anthropic::Anthropic::new("bench");
    let history = |messages: usize| -> Vec<Message> {
        let pair = |_| {
            [
                Message::User(WORDS.to_owned()),
                Message::Assistant(vec![Block::Text { text: ANSWER.to_owned() }]),
            ]
        };
        (0..messages / 2).flat_map(pair).collect()
    };
    let (few, many) = (history(few), history(many));
    let build = |messages: &[Message]| {
        use providers::Dialect as _;
        std::hint::black_box(Digest::of(&dialect.segment(messages)));
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
    };
    let ratio = pairs(rounds, 1, || build(&few), || build(&many))?.ratio(|cost| cost.cpu_us);
    Ok(Naive { few: few.len(), many: many.len(), ratio })
}

/// CPU of sending one more MB, ms.
fn slope(run: &Run<'_>) -> Done<f64> {
    use crate::model::{Answer, Server};
    let server = run.runtime.block_on(Server::plain(|_| Answer::text("Done.")))?;
    let client = Client::new(&server.url())?;
    let body = |mb: usize| Body { chunks: vec![Bytes::from(vec![b' '; mb << 20])] };
    let (small, large) = (body(1), body(5));
    let mut slopes = Vec::new();
    for _ in 0..run.rounds() {
        let (done, of_small) = cost(|| client.send(&run.runtime, &small));
        done?;
        let (done, of_large) = cost(|| client.send(&run.runtime, &large));
        done?;
        slopes.push((of_large.cpu_us - of_small.cpu_us) / 1e3 / 4.0);
    }
    Ok(median(slopes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p6_the_control_compares_the_usual_lengths_however_few_the_rounds() {
        // The note tells the lengths of what was built, not those that were meant.
        let row = control(1).expect("measured");
        assert!(row.note.contains("4000 beside 100"), "{}", row.note);
    }
}
