//! C1 to C6: sessions made in this run against a server that caches prompts as a provider does, then audited.
//!
//! C1 and C5 are judged twice: on what the record gives, and on the bodies that really arrived.

use super::Run;
use crate::Done;
use crate::audit::{Goals, Line, arrived, audit, goals, pairs};
use crate::model::{Answer, Heard, Said, Server};
use crate::place::{Folder, Place};
use crate::report::Row;
use api::wire::command::Mode;
use serde_json::json;

/// Steps of the long session.
const STEPS: usize = 40;
/// The request that is refused twice before it is answered.
const BUSY: usize = 7;

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let steps = run.count(STEPS, 12);
    let (folder, sessions) = run.runtime.block_on(played(steps))?;
    let lines = audit(&folder.data(), None)?;
    let all = goals(&lines);
    let heard: Vec<&Heard> = sessions.iter().flatten().collect();
    let repeats = heard.windows(2).filter(|pair| pair[0].body == pair[1].body).count();
    let wire = sessions.iter().map(|session| grown(session)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    let c1 = if all.only_grow() && wire.0 == wire.1 { share(all.grown, all.pairs) } else { 0.0 };
    Ok(vec![
        Row::at_least("C1", "every request begins with all of the one before it in its epoch", c1, 1.0)
            .unit("share")
            .note(format!("{} of {} pairs by the record, {} of {} by what arrived; {} of {} requests have their recorded digest", all.grown, all.pairs, wire.0, wire.1, all.exact, all.attempts))
            .gate(),
        Row::at_least("C2", "shared tokens ≥ 95 % of all input", all.share, 0.95)
            .unit("share")
            .beside(all.ideal)
            .note(format!("{steps} steps and more; beside the best this trace allows")),
        of_ideal(&all),
        epochs(&all, &lines),
        Row::at_least("C4", "read by the provider ≥ 0.95× what is shared", all.realised / all.share, 0.95)
            .unit("share")
            .note(format!("a server of ours with Anthropic's published rules, not a provider; {} misses unexplained; {}", all.unexplained, classes(&lines))),
        Row::at_least("C5", "a retry sends the very same bytes", same_bytes(all.retries, all.same, repeats), 1.0)
            .unit("share")
            .note(format!("{} retries, {} with the failed attempt's digest, {repeats} repeats arrived byte for byte", all.retries, all.same))
            .gate(),
        heads(&sessions),
    ])
}

/// Two sessions, one of them long, and what the server heard of each.
pub(crate) async fn played(steps: usize) -> Done<(Folder, Vec<Vec<Heard>>)> {
    let plan = move |heard: &Heard| match heard.n {
        n if (BUSY..BUSY + 2).contains(&n) => Answer::Refuses(529),
        n if n < steps => step(n),
        _ => Answer::text("That is all there is in the folder."),
    };
    let server = Server::new(plan).await?;
    let place = Place::new(&server.url()).await?;
    for n in 0..4 {
        let text = format!("{{\"n\": {n}, \"say\": \"Grüße, 你好 \\u00e9\"}}\n").repeat(20);
        std::fs::write(place.folder().project().join(format!("file{n}.json")), text)?;
    }
    let mut first = place.session(Mode::Edit).await?;
    first.turn("Read what is in the folder, one after the other, and sum it up. Ünïcode stays.").await?;
    first.turn("And once more, shorter.").await?;
    let of_first = server.heard().len();
    let mut second = place.session(Mode::Edit).await?;
    second.turn("What is in the folder?").await?;
    second.turn("Thank you.").await?;
    let mut heard = server.heard();
    let rest = heard.split_off(of_first);
    drop((first, second));
    Ok((place.close().await, vec![heard, rest]))
}

/// One step of the long session: a text and one to three calls.
fn step(n: usize) -> Answer {
    let read = |n: usize| Said::Call {
        name: "read_file",
        arguments: json!({"path": format!("file{}.json", n % 4), "limit": 3 + n}),
    };
    let list = Said::Call { name: "list_files", arguments: json!({"path": "."}) };
    let text = Said::Text(format!("Step {n}: I look at the next file."));
    Answer::Says(match n % 3 {
        0 => vec![text, read(n)],
        1 => vec![list, read(n), read(n + 1)],
        _ => vec![text, read(n)],
    })
}

/// C2: a trace may not allow all of it; what it allows has to be reached.
fn of_ideal(all: &Goals) -> Row {
    Row::at_least("C2", "shared tokens ≥ 0.99× the best this trace allows", all.share / all.ideal, 0.99)
        .unit("×")
        .beside(1.0)
}

/// C5: 1 where every retry sent what had failed, by the record and by what arrived. Without a retry nothing was shown.
fn same_bytes(retries: usize, same: usize, repeats: usize) -> f64 {
    if retries > 0 && same == retries && repeats == retries { 1.0 } else { 0.0 }
}

/// The pairs of a session by the bodies that arrived.
fn grown(heard: &[Heard]) -> (usize, usize) {
    let bodies: Vec<_> = heard.iter().map(|heard| arrived(&heard.body)).collect();
    pairs(&bodies)
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { f64::NAN } else { part as f64 / whole as f64 }
}

fn epochs(all: &Goals, lines: &[Line]) -> Row {
    let reasons: Vec<String> =
        lines.iter().filter_map(|line| line.opened).map(|why| format!("{why:?}")).collect();
    Row::at_most(
        "C3",
        "≤ 1 new epoch in 50 steps, each with its reason",
        share(all.epochs * 50, all.steps),
        1.0,
    )
    .unit("epochs")
    .note(format!(
        "in 50 steps; {} in {} here; reasons on record: {}",
        all.epochs,
        all.steps,
        reasons.join(", ")
    ))
}

fn classes(lines: &[Line]) -> String {
    let mut counts = std::collections::BTreeMap::new();
    lines.iter().for_each(|line| *counts.entry(line.class.word()).or_insert(0) += 1);
    counts.iter().map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(", ")
}

fn heads(sessions: &[Vec<Heard>]) -> Row {
    let head = |heard: &Heard| {
        let at = heard.body.windows(12).position(|some| some == b",\"messages\":");
        at.map(|at| heard.body.slice(..at))
    };
    let heads: Vec<_> = sessions.iter().flatten().map(head).collect();
    let same = heads.iter().filter(|head| head.is_some() && **head == heads[0]).count();
    Row::at_least("C6", "every session of a model has the same head", share(same, heads.len()), 1.0)
        .unit("share")
        .note("tools and instructions as they arrived, over two sessions; forks and children are not there")
}

#[cfg(test)]
mod tests {
    use super::{Goals, of_ideal, same_bytes};

    #[test]
    fn c2_what_falls_short_of_what_the_trace_allows_is_seen() {
        let row = |share, ideal| of_ideal(&Goals { share, ideal, ..Goals::default() });
        assert_eq!(row(0.90, 0.90).holds, Some(true));
        assert_eq!(row(0.958, 0.99).holds, Some(false), "though it is above 0.95");
        assert_eq!(row(f64::NAN, f64::NAN).holds, None, "nothing was shared at all");
    }

    #[test]
    fn c5_a_run_without_a_retry_shows_nothing() {
        let holds = |retries, same, repeats| same_bytes(retries, same, repeats) >= 1.0;
        assert!(holds(2, 2, 2));
        assert!(!holds(0, 0, 0), "no retry");
        assert!(!holds(2, 1, 2) && !holds(2, 2, 1) && !holds(2, 2, 3));
    }
}
