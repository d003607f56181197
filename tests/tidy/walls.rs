//! The walls: which of our crates may use which, as the table in docs/architecture.md says, and which library only one
//! crate may use directly.

use crate::tree;
use std::collections::{BTreeMap, BTreeSet};
use toml::Table;

/// Libraries that only the named crates may depend on directly.
const LIBRARIES: [(&str, &[&str]); 9] = [
    ("rusqlite", &["store", "bench"]),
    ("landlock", &["sandbox"]),
    ("seccompiler", &["sandbox"]),
    ("libc", &["sandbox"]),
    ("windows", &["sandbox"]),
    ("reqwest", &["providers", "tools"]),
    ("axum", &["cli", "tests"]),
    ("agent-client-protocol", &["cli"]),
    ("keyring", &["host"]),
];

/// Every manifest of ours: package name, then its text.
fn manifests() -> BTreeMap<String, Table> {
    let mut found = BTreeMap::new();
    for file in tree::files() {
        if file.path != "Cargo.toml" && file.path.ends_with("Cargo.toml") {
            let table: Table = file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path));
            let name = table["package"]["name"].as_str().expect("a package has a name").to_owned();
            found.insert(name, table);
        }
    }
    found
}

/// What a manifest depends on in what is shipped, for every target.
const SHIPPED: &[&str] = &["dependencies", "build-dependencies"];
/// The same, and in tests.
const ALL: &[&str] = &["dependencies", "build-dependencies", "dev-dependencies"];

/// The names a manifest depends on, for every target.
fn dependencies(manifest: &Table, kinds: &[&str]) -> BTreeSet<String> {
    let of = |table: &Table| {
        let tables = kinds.iter().filter_map(|kind| table.get(*kind)?.as_table().cloned());
        tables.flat_map(|table| table.keys().cloned().collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let targets = manifest.get("target").and_then(|targets| targets.as_table()).into_iter();
    let for_targets =
        targets.flat_map(|targets| targets.values().filter_map(|target| target.as_table()).flat_map(of));
    of(manifest).into_iter().chain(for_targets).collect()
}

/// The table of floors in docs/architecture.md: crate, then what it may use.
fn table() -> Vec<(String, BTreeSet<String>)> {
    let text = tree::read("docs/architecture.md");
    let mut floors: Vec<(String, BTreeSet<String>)> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, _, uses, _, ..] = cells.as_slice() else {
            panic!("the floors have four columns: {line}")
        };
        let above: BTreeSet<String> = floors.iter().map(|(name, _)| name.clone()).collect();
        let uses = match *uses {
            "–" => BTreeSet::new(),
            "all above" => above,
            list => list.split(',').map(|name| name.trim().trim_matches('`').to_owned()).collect(),
        };
        floors.push((name.trim_matches('`').to_owned(), uses));
    }
    floors
}

#[test]
fn arrows_between_our_crates_are_those_of_the_architecture_page() {
    let floors = table();
    let manifests = manifests();
    let named: BTreeSet<&String> = floors.iter().map(|(name, _)| name).collect();
    assert_eq!(named, manifests.keys().collect(), "the table names every crate and no other");
    let mut broken = Vec::new();
    for (name, allowed) in &floors {
        let used = dependencies(&manifests[name], ALL);
        let used: BTreeSet<&String> = used.iter().filter(|used| named.contains(used)).collect();
        for extra in used.iter().filter(|used| !allowed.contains(**used)) {
            broken.push(format!("{name} uses {extra}, which the table doesn't allow"));
        }
        for unused in allowed.iter().filter(|allowed| !used.contains(allowed)) {
            broken.push(format!("the table lets {name} use {unused}, and it doesn't"));
        }
    }
    tree::none("arrows", &broken);
}

#[test]
fn arrows_point_down_only() {
    let mut above: BTreeSet<String> = BTreeSet::new();
    for (name, uses) in table() {
        let up: Vec<&String> = uses.iter().filter(|used| !above.contains(*used)).collect();
        assert!(up.is_empty(), "{name} stands below {up:?} in the table");
        above.insert(name);
    }
}

#[test]
fn a_library_behind_a_wall_is_used_by_its_crates_alone() {
    let mut broken = Vec::new();
    for (name, manifest) in manifests() {
        for used in dependencies(&manifest, SHIPPED) {
            let wall = LIBRARIES.iter().find(|(library, _)| *library == used);
            let toolkit = used == "tauri" || used.starts_with("tauri-");
            if wall.is_some_and(|(_, owners)| !owners.contains(&name.as_str()))
                || toolkit && name != "daybook-desktop"
            {
                broken.push(format!("{name} uses {used} directly"));
            }
        }
    }
    tree::none("walls", &broken);
}

/// A link on a page can open a program that registered a scheme. Ours registers none, so no link opens, asks or runs anything.
#[test]
fn a65_nothing_registers_links_that_open_the_app() {
    let half = |first: &str, second: &str| format!("{first}{second}");
    let ways = [
        half("deep-", "link"),
        half("x-scheme-", "handler"),
        half("CFBundleURL", "Types"),
        half("URL Proto", "col"),
        half("Mime", "Type="),
    ];
    let mut broken = Vec::new();
    for file in tree::files().iter().filter(|file| {
        file.path.starts_with("src-tauri/") || file.path.starts_with("scripts/") || file.is(&["Cargo.toml"])
    }) {
        let found = ways.iter().filter(|way| file.text.contains(way.as_str()));
        broken.extend(found.map(|way| format!("{}: {way}", file.path)));
    }
    tree::none("links that open the app", &broken);
}

/// Folders are looked at when something is done in them, and never watched: there is no watch to use up or to lose.
#[test]
fn case_d16_nothing_watches_folders() {
    let lock = std::fs::read_to_string(tree::root().join("Cargo.lock")).expect("Cargo.lock");
    let watchers = ["notify", "inotify", "inotify-sys", "fsevent-sys", "kqueue", "watchexec", "hotwatch"];
    let found: Vec<String> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .filter(|name| watchers.contains(name))
        .map(str::to_owned)
        .collect();
    tree::none("libraries that watch folders", &found);
    let calls =
        ["inotify_init", "inotify_add_watch", "FSEventStreamCreate", "ReadDirectoryChangesW", "fanotify"];
    let ours: Vec<String> = tree::files()
        .iter()
        // The cage names such calls to forbid them.
        .filter(|file| {
            file.is(&[".rs"]) && !["tests/tidy", "crates/sandbox"].iter().any(|at| file.path.starts_with(at))
        })
        .filter(|file| calls.iter().any(|call| file.text.contains(call)))
        .map(|file| file.path.clone())
        .collect();
    tree::none("code that watches folders", &ours);
}

#[test]
fn every_crate_keeps_the_lints_of_the_root() {
    let keeps = |manifest: &Table| {
        manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(|on| on.as_bool())
            == Some(true)
    };
    let broken: Vec<String> =
        manifests().into_iter().filter(|(_, manifest)| !keeps(manifest)).map(|(name, _)| name).collect();
    tree::none("crates without `lints.workspace = true`", &broken);
}
