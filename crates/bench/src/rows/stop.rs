//! P16: from the person's stop to a stream that ended, and to a command whose processes are gone.

use super::Run;
use crate::Done;
use crate::meter::millis;
use crate::model::{Answer, Server};
use crate::pairs::median;
use crate::place::{Place, Talk};
use crate::report::Row;
use api::wire::command::{Command, Mode};
use serde_json::json;
use std::time::{Duration, Instant};

/// A time that nothing else on the machine is likely to wait for; it is how the command is found.
const SECONDS: &str = "7431";

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let times = run.count(9, 2);
    let stream = run.runtime.block_on(streams(times))?;
    let command = run.runtime.block_on(commands(times));
    let goal = "a stop ends a command's processes within 100 ms";
    Ok(vec![
        Row::at_most("P16", "a stop ends a stream within 100 ms", median(stream.0), 100.0).unit("ms").note(
            format!(
                "from the command to the end of the turn on record; the server saw us leave after {:.1} ms",
                median(stream.1)
            ),
        ),
        match command {
            Ok(gone) => Row::at_most("P16", goal, median(gone), 100.0)
                .unit("ms")
                .note("from the command until no process of it is left and the turn has ended"),
            Err(why) => Row::absent("P16", goal, format!("it couldn't be measured: {why}")),
        },
    ])
}

async fn stop(place: &Place, talk: &mut Talk<'_>) -> Done<(Instant, Duration)> {
    let began = Instant::now();
    place.call(Command::Interrupt { session: talk.session.clone() }).await?;
    talk.until("turn/end").await?;
    Ok((began, began.elapsed()))
}

/// Until the turn has ended, and until the server saw us leave.
async fn streams(times: usize) -> Done<(Vec<f64>, Vec<f64>)> {
    let every = Duration::from_millis(5);
    let server = Server::new(move |_| Answer::Paced { pieces: None, every }).await?;
    let place = Place::new(&server.url()).await?;
    let (mut ended, mut left) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let mut talk = place.session(Mode::Edit).await?;
        talk.say("Talk without end.").await?;
        talk.until("assistant/delta").await?;
        let (began, took) = stop(&place, &mut talk).await?;
        ended.push(millis(took));
        // The server notices by itself; its word comes a moment after ours.
        for _ in 0..100 {
            if server.left().is_some_and(|left| left > began) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        left.extend(server.left().filter(|left| *left > began).map(|left| millis(left - began)));
    }
    place.close().await;
    Ok((ended, left))
}

/// Until no process of the command is left.
async fn commands(times: usize) -> Done<Vec<f64>> {
    let server = Server::plain(|_| {
        Answer::call("run_command", json!({"command": format!("sleep {SECONDS} & sleep {SECONDS}")}))
    })
    .await?;
    let place = Place::new(&server.url()).await?;
    let mut gone = Vec::new();
    for _ in 0..times {
        let mut talk = place.session(Mode::Auto).await?;
        talk.say("Wait.").await?;
        let began = Instant::now();
        while running() < 2 {
            if began.elapsed() > Duration::from_secs(20) {
                return Err("the command didn't start here: it needs a cage".into());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let (began, _) = stop(&place, &mut talk).await?;
        while running() > 0 {
            if began.elapsed() > Duration::from_secs(20) {
                return Err("a process of the command is still there".into());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        gone.push(millis(began.elapsed()));
    }
    place.close().await;
    Ok(gone)
}

/// Processes of the command that are there.
fn running() -> usize {
    let wanted = format!("sleep\0{SECONDS}\0");
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| *line == wanted.as_bytes()).count()
}
