//! P5: what the loop adds to a request: a turn of one step beside the same request sent by the bare client.
//!
//! Both go to the same server of ours in this process, so its own work is on both sides. The bare client sends a body as
//! long as the turn's.

use super::Run;
use crate::Done;
use crate::model::{Answer, Server};
use crate::pairs::pairs;
use crate::place::{self, Place};
use crate::report::Row;
use api::wire::command::Mode;
use bytes::Bytes;
use domain::model::{ModelDelta, ModelSnapshot};
use providers::{Body, Connection, Http, Request, Timers};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// Turns of a block.
const TURNS: usize = 10;

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let runtime = &run.runtime;
    let server = runtime.block_on(Server::plain(|_| Answer::text("All done, nothing else to do.")))?;
    let place = runtime.block_on(Place::new(&server.url()))?;
    let mut talk = runtime.block_on(place.session(Mode::Edit))?;
    let client = Client::new(&server.url())?;
    let bytes = runtime.block_on(async {
        let seen = talk.turn("What is there to do?").await?;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(bytes_of(&seen))
    })?;
    let body = Body { chunks: vec![Bytes::from(vec![b' '; bytes])] };
    let before = place.host.counts();
    let rounds = run.rounds();
    let measured = pairs(
        rounds,
        TURNS,
        || (0..TURNS).try_for_each(|_| client.send(runtime, &body)),
        || {
            (0..TURNS)
                .try_for_each(|_| runtime.block_on(talk.turn("And now, what is there to do?")).map(drop))
        },
    )?;
    let counts = place.host.counts().since(before);
    let turns = ((rounds + 1) * TURNS) as f64;
    let sync_ms = sync_ms(place.folder().path())?;
    drop(talk);
    runtime.block_on(place.close());
    let (bare, whole) = measured.medians(|cost| cost.cpu_us);
    let (bare_wall, whole_wall) = measured.medians(|cost| cost.wall_us);
    let more = measured.more(|cost| cost.cpu_us) / 1e3;
    let control = measured.control(|cost| cost.cpu_us);
    let most_wall = bare_wall / 1e3 + 2.0 + 2.0 * sync_ms;
    // Each turn begins with words of the person, which are on the disk before they count; that one isn't the step's.
    let syncs = counts.syncs() as f64 / turns - 1.0;
    Ok(vec![
        Row::at_most("P5", "a step without calls adds ≤ 2 ms of CPU to its request", more, 2.0)
            .unit("ms")
            .beside(bare / 1e3)
            .note(format!("a whole turn {:.2} ms, client and server included; A/A {control:.3}", whole / 1e3))
            .gate(),
        Row::at_most("P5", "a step without calls takes ≤ 2 syncs", syncs, 2.0)
            .unit("syncs")
            .note(format!("beside the one for the person's words; {} commits a turn", counts.commits as f64 / turns))
            .gate(),
        Row::at_most(
            "P5",
            "time of a step ≤ its request's + 2 ms + 2 syncs of this disk",
            whole_wall / 1e3,
            most_wall,
        )
        .unit("ms")
        .beside(bare_wall / 1e3)
        .note(format!(
            "at most {most_wall:.2} ms; a sync takes {sync_ms:.2} ms here; the turn includes its person's words and end"
        )),
    ])
}

/// The bytes of the request that went by.
fn bytes_of(seen: &[String]) -> usize {
    let prepared = seen.iter().find(|line| line.contains("\"type\":\"request/prepared\""));
    let event = prepared.and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let bytes = event.and_then(|event| event["event"]["payload"]["bytes"].as_u64());
    bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(8_192)
}

/// The transport alone.
pub(super) struct Client {
    http: Http,
    connection: Connection,
    model: ModelSnapshot,
}

impl Client {
    pub(super) fn new(url: &str) -> Done<Self> {
        let (connection, model) = (place::connection(url)?, place::model()?);
        // A date is only asked for after a refusal; there is none here.
        let http = Http::new(Timers::default(), Arc::new(|| std::time::UNIX_EPOCH));
        Ok(Self { http, connection, model })
    }

    pub(super) fn send(&self, runtime: &Handle, body: &Body) -> Done<()> {
        let mut seen: Vec<ModelDelta> = Vec::new();
        let request =
            Request { connection: &self.connection, model: &self.model, body, conversation: "bench" };
        let never = CancellationToken::new();
        runtime.block_on(self.http.send(request, &mut seen, &never))?;
        Ok(())
    }
}

/// The middle time of a sync of a small file.
fn sync_ms(folder: &std::path::Path) -> Done<f64> {
    use std::io::Write as _;
    let mut file = std::fs::File::create(folder.join("sync"))?;
    let mut times = Vec::new();
    for _ in 0..15 {
        file.write_all(&[0; 4_096])?;
        let (done, took) = crate::meter::cost(|| file.sync_data());
        done?;
        times.push(took.wall_us / 1e3);
    }
    Ok(crate::pairs::median(times))
}
