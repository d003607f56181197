//! The table of promises, tests/coverage.toml: every id stands in exactly one half, every named test exists, and the
//! count README shows is the table's.
//!
//! Which tests exist is asked from the test runners themselves, so neither a comment nor a function that isn't run can
//! pass for one. `scripts/test` lists them once, into the file named by `DAYBOOK_TEST_LIST`; elsewhere they are listed
//! here.

use crate::tree;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use toml::Table;

fn ids() -> Vec<String> {
    let text = tree::read("tests/coverage-ids.txt");
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

/// One half of the table. Parsing refuses an id that stands twice in it.
fn half(name: &str) -> Table {
    let table: Table = tree::read("tests/coverage.toml").parse().expect("the table can be read");
    table.get(name).and_then(|half| half.as_table()).unwrap_or_else(|| panic!("no [{name}]")).clone()
}

fn proved() -> BTreeMap<String, Vec<String>> {
    let tests = |value: &toml::Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|test| test.as_str().map(str::to_owned)).collect()
    };
    half("proved")
        .iter()
        .map(|(id, value)| (id.clone(), tests(value).unwrap_or_else(|| panic!("{id} needs a list of tests"))))
        .collect()
}

#[test]
fn every_id_stands_in_exactly_one_half() {
    let ids = ids();
    let known: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(known.len(), ids.len(), "an id is listed twice");
    assert!(ids.len() > 500, "only {} ids", ids.len());
    let (proved, open) = (half("proved"), half("open"));
    let mut broken = Vec::new();
    for id in &ids {
        match (proved.contains_key(id), open.contains_key(id)) {
            (true, false) | (false, true) => {}
            (true, true) => broken.push(format!("{id} stands in both")),
            (false, false) => broken.push(format!("{id} stands in neither")),
        }
    }
    for id in proved.keys().chain(open.keys()).filter(|id| !known.contains(id)) {
        broken.push(format!("{id} is no id"));
    }
    for (id, why) in &open {
        if why.as_str().is_none_or(|why| why.len() < 8) {
            broken.push(format!("{id} is open without a reason"));
        }
    }
    tree::none("the table of promises", &broken);
}

#[test]
fn every_named_test_exists() {
    let existing = existing();
    assert!(existing.len() > 50, "only {} tests were listed", existing.len());
    let mut broken = Vec::new();
    for (id, tests) in proved() {
        if tests.is_empty() {
            broken.push(format!("{id} names no test"));
        }
        for test in tests.iter().filter(|test| !existing.contains(*test)) {
            broken.push(format!("{id}: {test} is not run"));
        }
    }
    tree::none("promises whose test is missing", &broken);
}

#[test]
fn readme_shows_the_count_of_the_table() {
    let shown = format!("**{} of {}** numbered promises", half("proved").len(), ids().len());
    assert!(tree::read("README.md").contains(&shown), "README.md doesn't say {shown:?}");
}

/// Names of all tests that run, `package::path` and `package::binary::path` for Rust, `ui/src/FILE::NAME` for the page.
fn existing() -> BTreeSet<String> {
    let listed = match std::env::var("DAYBOOK_TEST_LIST") {
        Ok(file) => std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}")),
        Err(_) => list_now(),
    };
    let mut names = BTreeSet::new();
    for line in listed.lines() {
        match line.split_once(' ') {
            Some((binary, path)) if !line.starts_with("ui/") => {
                let package = binary.split("::").next().unwrap_or(binary);
                names.insert(format!("{package}::{path}"));
                names.insert(format!("{binary}::{path}"));
            }
            _ => drop(names.insert(line.to_owned())),
        }
    }
    names
}

fn list_now() -> String {
    let listed =
        Command::new(tree::root().join("scripts/list-tests")).output().expect("scripts/list-tests runs");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    String::from_utf8(listed.stdout).expect("test names are text")
}
