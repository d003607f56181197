//! docs/events.md is made from the catalogue of events in `domain`, so it can't lag behind the code.
//!
//! `scripts/generate` writes it; here it is compared.

use crate::tree;
use domain::event::CATALOGUE;
use std::fmt::Write;

fn page() -> String {
    let mut page = String::from(
        "# Events\n\n\
         Every type of event a session can record, made from the catalogue in `crates/domain/src/event` by\n\
         `scripts/generate`. A reader that meets a type it doesn't know refuses the session, unless the event is\n\
         ignorable: decorative, such as streamed text.\n",
    );
    let mut family = "";
    for kind in CATALOGUE {
        let of = kind.name.split('/').next().unwrap_or(kind.name);
        if of != family {
            let _ = write!(page, "\n## {of}\n\n| event | version | says |\n|---|---|---|\n");
            family = of;
        }
        let ignorable = if kind.ignorable { " (ignorable)" } else { "" };
        let _ = writeln!(
            page,
            "| `{}` | {} | {}{ignorable} |",
            kind.name,
            kind.version,
            kind.doc.trim().replace('|', "\\|")
        );
    }
    page
}

#[test]
fn the_page_of_events_is_the_catalogue() {
    let path = tree::root().join("docs/events.md");
    if std::env::var_os("DAYBOOK_GENERATE").is_some() {
        std::fs::write(&path, page()).expect("docs/events.md can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page(), "docs/events.md lags behind the catalogue of events: run scripts/generate");
}
