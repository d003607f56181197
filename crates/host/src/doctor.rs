//! What this machine can do for Daybook: data folder, store, cage, keychain, providers. Looks, and changes nothing.

use crate::data;
use crate::keychain::Keychain;
use providers::presets;
use sandbox::{Mechanism, Strength};
use std::path::Path;
use store::Reader;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Lines by topic: topic, word, detail. Words: `ok`, `missing`, `partial`, `none`, `bad`.
    pub lines: Vec<(&'static str, &'static str, String)>,
}

impl Health {
    /// Is nothing broken? What this machine lacks isn't broken.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.lines.iter().all(|(_, word, _)| *word != "bad")
    }
}

/// Looks. May block for some tens of milliseconds, or as long as the keychain takes.
#[must_use]
pub fn doctor(data: &Path, keychain: &dyn Keychain) -> Health {
    let mut lines = vec![("version", "ok", env!("CARGO_PKG_VERSION").to_owned())];
    store(data, &mut lines);
    cage(&mut lines);
    match keychain.status() {
        Ok(()) => lines.push(("keychain", "ok", "the system's keychain answers".to_owned())),
        Err(why) => lines.push(("keychain", "missing", format!("{why}; keys are kept for one run only"))),
    }
    head(&mut lines);
    keys(data, &mut lines);
    Health { lines }
}

/// What every request begins with, the same for all providers.
fn head(lines: &mut Vec<(&'static str, &'static str, String)>) {
    let Ok(registry) = tools::Registry::builtin(&tools::Limits::default()) else {
        return lines.push(("head", "bad", "the built-in tools don't fit together".to_owned()));
    };
    let fragments = context::Fragments::default();
    let _kept = context::head::builtin(&fragments);
    let specs = registry.visible(&tools::Visibility::default()).specs();
    let tokens = context::head::tokens(&context::head::head(&fragments, specs));
    lines.push((
        "head",
        "ok",
        format!("about {tokens} tokens: instructions and tools, the same for every provider"),
    ));
}

fn store(data: &Path, lines: &mut Vec<(&'static str, &'static str, String)>) {
    lines.push(("data folder", "ok", data.display().to_string()));
    if !data.join("store.db").exists() {
        lines.push(("store", "missing", "nothing was recorded yet".to_owned()));
        return;
    }
    match Reader::open(data) {
        Err(why) => lines.push(("store", "bad", why.to_string())),
        Ok(reader) => match reader.sessions() {
            Ok(sessions) => lines.push(("store", "ok", format!("{} sessions", sessions.len()))),
            Err(why) => lines.push(("store", "bad", why.to_string())),
        },
    }
    let door = data::door_path(data);
    let word = if door.exists() { "ok" } else { "missing" };
    lines.push(("local door", word, door.display().to_string()));
}

fn cage(lines: &mut Vec<(&'static str, &'static str, String)>) {
    let report = sandbox::probe();
    let made = report.chosen.map_or("no mechanism", Mechanism::name);
    match &report.strength {
        Strength::Full => lines.push((
            "cage",
            "ok",
            format!("full, by {made}: commands see their folder, no network, no other programs"),
        )),
        Strength::Partial(missing) => {
            let names: Vec<&str> = missing.iter().map(|one| one.name()).collect();
            lines.push((
                "cage",
                "partial",
                format!("partial, by {made}; not enforced: {}", names.join(", ")),
            ));
        }
        Strength::None(why) => {
            lines.push(("cage", "none", format!("none: {why}; each command is asked about")))
        }
    }
    for mechanism in Mechanism::ALL {
        let tried = report.of(mechanism);
        let word = if tried.works() { "ok" } else { "missing" };
        lines.push(("cage by", word, format!("{}: {tried}", mechanism.name())));
    }
}

/// Which keys are known to be somewhere; none is looked at.
fn keys(data: &Path, lines: &mut Vec<(&'static str, &'static str, String)>) {
    let reader = Reader::open(data).ok();
    let marked = |provider: &str| {
        reader.as_ref().and_then(|reader| reader.setting(&format!("key/{provider}")).ok().flatten()).is_some()
    };
    for preset in providers::presets() {
        let variable = presets::key_variable(preset.name);
        let (word, detail) =
            match (std::env::var_os(&variable).is_some(), marked(preset.name), preset.needs_key) {
                (true, _, _) => ("ok", format!("key in {variable}")),
                (false, true, _) => ("ok", "key in the keychain".to_owned()),
                (false, false, true) => ("missing", "no key".to_owned()),
                (false, false, false) => ("ok", "needs no key".to_owned()),
            };
        lines.push(("provider", word, format!("{}: {detail}", preset.name)));
    }
}
