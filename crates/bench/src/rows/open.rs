//! P4: opening a long session beside a short one: its state from the snapshot, and its whole view as the window asks for it.

use super::Run;
use crate::Done;
use crate::log;
use crate::meter::{cost, forget_peak, memory, peak};
use crate::pairs::{median, pairs};
use crate::place::Folder;
use crate::report::Row;
use api::wire::command::Command;
use domain::ids::SessionId;
use std::sync::Arc;
use store::{Options, Reader, Store};

const SHORT: usize = 1_000;
const LONG: usize = 100_000;
const LONGER: usize = 1_000_000;

pub(super) fn measure(run: &Run<'_>) -> Done<Vec<Row>> {
    let folder = Folder::new()?;
    store::create_folder(&folder.data())?;
    let (short, long) = (SessionId::from_bits(1), SessionId::from_bits(2));
    let events = match (run.options.quick, run.options.long) {
        (true, _) => 5_000,
        (_, true) => LONGER,
        (false, false) => LONG,
    };
    {
        let store = Store::open(&folder.data(), Options::new(Arc::new(host::SystemClock)))?;
        log::session(&store, &short, SHORT)?;
        log::session(&store, &long, events)?;
    }
    let data = folder.data();
    let state = |session: &SessionId| -> Done<()> {
        std::hint::black_box(Reader::open(&data)?.state(session)?);
        Ok(())
    };
    let measured = pairs(run.rounds(), 1, || state(&short), || state(&long))?;
    let (of_short, of_long) = measured.medians(|cost| cost.wall_us);
    let view = |session: &SessionId| -> Done<()> {
        let room = host::read(&data)?;
        let open = Command::OpenSession { session: session.to_string() };
        run.runtime.block_on(room.call(open)).map_err(|refused| refused.message)?;
        Ok(())
    };
    let mut views = Vec::new();
    let mut grown = None;
    for _ in 0..run.count(5, 1) {
        let before = memory();
        let told = forget_peak();
        let (done, took) = cost(|| view(&long));
        done?;
        views.push(took.wall_us / 1e3);
        let peak = peak().filter(|_| told);
        grown = grown.or(peak.zip(before).map(|(peak, before)| peak.saturating_sub(before)));
    }
    let (done, first) = cost(|| view(&short));
    done?;
    let mb = grown.map_or(f64::NAN, |bytes| bytes as f64 / f64::from(1 << 20));
    Ok(vec![
        Row::at_most(
            "P4",
            format!("opening a session of {events} events ≤ 1.5× one of {SHORT}"),
            measured.ratio(|c| c.wall_us),
            1.5,
        )
        .unit("×")
        .beside(1.0)
        .note(format!(
            "its state, from a snapshot: {:.2} and {:.2} ms",
            of_long / 1e3,
            of_short / 1e3
        )),
        Row::at_most("P4", format!("the whole view of {events} events within 300 ms"), median(views), 300.0)
            .unit("ms")
            .beside(first.wall_us / 1e3)
            .note(format!(
                "the Rust side; beside that of {SHORT} events; what the page draws isn't measured here"
            )),
        Row::at_most("P4", format!("memory for opening {events} events ≤ 64 MB"), mb, 64.0)
            .unit("MB")
            .note("the first opening of the whole view"),
    ])
}
