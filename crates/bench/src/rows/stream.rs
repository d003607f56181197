//! P7: what the stream parser costs beside splitting lines, and what small chunks and long streams cost it.

use super::Run;
use crate::Done;
use crate::pairs::{Pairs, pairs};
use crate::place;
use crate::report::Row;
use providers::anthropic::AnthropicFold;
use providers::fold::Fold as _;
use providers::sse::Parser;
use serde_json::Value;

const DELTAS: usize = 50_000;
const CHUNK: usize = 16 * 1024;

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let deltas = run.count(DELTAS, 2_000);
    let stream = stream(deltas);
    let rounds = run.rounds();
    let parse = pairs(rounds, 1, || split(&stream), || parsed(&stream, CHUNK))?;
    let small = pairs(rounds, 1, || events(&stream, CHUNK), || events(&stream, 1))?;
    let half = &stream[..stream.len() / 2];
    let linear = pairs(rounds, 1, || events(half, CHUNK), || events(&stream, CHUNK))?;
    let whole = pairs(rounds.min(10), 1, || Ok(()), || folded(&stream))?;
    let cpu = |pairs: &Pairs| pairs.ratio(|cost| cost.cpu_us);
    let (plain, ours) = parse.medians(|cost| cost.cpu_us);
    let (_, fold_us) = whole.medians(|cost| cost.wall_us);
    Ok(vec![
        Row::at_most(
            "P7",
            "stream parser ≤ 1.5× the CPU of splitting lines; both parse the JSON",
            cpu(&parse),
            1.5,
        )
        .unit("×")
        .beside(1.0)
        .note(format!(
            "{deltas} deltas: {:.1} and {:.1} ms; A/A {:.3}",
            ours / 1e3,
            plain / 1e3,
            parse.control(|c| c.cpu_us)
        )),
        Row::at_most("P7", "chunks of one byte ≤ 8× chunks of 16 KB", cpu(&small), 8.0).unit("×").beside(1.0),
        Row::at_most("P7", "twice the bytes cost about twice (≤ 2.3×)", cpu(&linear), 2.3)
            .unit("×")
            .beside(2.0),
        Row::at_least(
            "P7",
            "≥ 200,000 deltas a second, from bytes to the answer",
            deltas as f64 / fold_us * 1e6,
            200_000.0,
        )
        .unit("1/s")
        .note("parser, JSON and the dialect's reading of it, on one thread"),
    ])
}

fn stream(deltas: usize) -> Vec<u8> {
    use crate::model::words;
    let mut out = words::opening(0, crate::model::cache::Counted::default()) + &words::text_begins(0);
    for n in 0..deltas {
        out += &words::text_goes_on(0, if n % 7 == 0 { "Grüße, " } else { "word " });
    }
    (out + &words::block_ends(0) + &words::closing("end_turn", deltas as u64)).into_bytes()
}

/// The control: lines by memchr, JSON of those that hold data.
fn split(stream: &[u8]) -> Done<()> {
    let mut rest = stream;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        if let Some(data) = rest[..end].strip_prefix(b"data: ") {
            std::hint::black_box(serde_json::from_slice::<Value>(data)?);
        }
        rest = &rest[end + 1..];
    }
    Ok(())
}

fn parsed(stream: &[u8], chunk: usize) -> Done<()> {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    for chunk in stream.chunks(chunk) {
        parser.push(chunk, &mut out)?;
        for event in out.drain(..) {
            std::hint::black_box(serde_json::from_str::<Value>(&event.data)?);
        }
    }
    Ok(())
}

/// Only the parser.
fn events(stream: &[u8], chunk: usize) -> Done<()> {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    for chunk in stream.chunks(chunk) {
        parser.push(chunk, &mut out)?;
        std::hint::black_box(&out);
        out.clear();
    }
    Ok(())
}

/// All the way to the answer.
fn folded(stream: &[u8]) -> Done<()> {
    let mut fold = AnthropicFold::new(place::PROVIDER, &place::model()?);
    let (mut parser, mut out, mut deltas) = (Parser::default(), Vec::new(), Vec::new());
    for chunk in stream.chunks(CHUNK) {
        parser.push(chunk, &mut out)?;
        for event in out.drain(..) {
            fold.event(&event, &mut deltas)?;
        }
        deltas.clear();
    }
    std::hint::black_box(fold.finish()?);
    Ok(())
}
