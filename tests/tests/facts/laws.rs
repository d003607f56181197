//! The laws: card against trace, both against what the call is, and the trace against the world.
//!
//! Invariant: every law is an equality or a count, and what breaks it says what was only said and what was only seen.

use super::played::{Looks, Report};
use super::rows::{LENT, Row, is_lent};
use super::seen::{Paths, Seen, followed, with_all_in_it};
use super::trace::joined;
use domain::call::{Act, Facts, Undo};
use std::collections::BTreeSet;

/// What is wrong with a row.
pub(super) fn check(row: &Row, report: &Report, seen: &Seen) -> Vec<String> {
    let mut wrong = report.wrong.clone();
    let facts = &report.facts;
    let mut equal = |what: &str, card: &Paths, tracer: &Paths| {
        if card != tracer {
            let only =
                |one: &Paths, other: &Paths| one.difference(other).cloned().collect::<Vec<_>>().join(", ");
            wrong.push(format!(
                "{what}; only said: [{}], only seen: [{}]",
                only(card, tracer),
                only(tracer, card)
            ));
        }
    };
    let nothing = Paths::new();
    equal("touched before the yes", &nothing, &seen.early);
    equal("what the call is, and what it touched", &paths(row.touches), &seen.touched);
    match facts.act {
        Act::Write | Act::Edit | Act::Delete => {
            equal("the card names what is touched", &named(report), &seen.touched);
        }
        Act::Read => {
            equal("a read touches nothing", &nothing, &seen.touched);
            let mut read = seen.read.clone();
            // The next request tells the model what the project says to agents.
            read.remove("AGENTS.md");
            equal("the card names what is read", &named(report), &read);
        }
        Act::Run => {
            equal("the card says: anything in the folder", &paths(&["."]), &list(facts.can_touch.iter()));
            let unseen: Paths = redirected(report).difference(&seen.touched).cloned().collect();
            equal("the card's written files are touched", &unseen, &nothing);
        }
        Act::Talk => equal("talk asks for nothing", &paths(&["."]), &nothing),
    }
    let lent = (!seen.lent.is_empty()).then(|| format!("{}/{LENT}", report.home));
    equal("the added folders that were looked into", &list(facts.added.iter()), &list(lent.iter()));
    let of_lent = |looks: &Looks| -> Paths {
        looks.iter().filter(|(name, _)| is_lent(name)).map(|(name, look)| format!("{name} {look}")).collect()
    };
    equal("an added folder stays as it was", &of_lent(&report.before), &of_lent(&report.after));
    equal("the sites that were reached", &list(facts.reach.iter()), &seen.reached);
    equal("the sites that the call is for", &paths(row.reaches), &seen.reached);
    equal("the world changed where the tracer saw it", &nothing, &unseen_changes(report, seen));
    wrong.extend(held_back(row, report, seen));
    wrong.extend(words(row, report, seen));
    wrong.extend(undone(row, report));
    wrong
}

fn paths(list: &[&str]) -> Paths {
    list.iter().map(|path| (*path).to_owned()).collect()
}

fn list<'a>(paths: impl Iterator<Item = &'a String>) -> Paths {
    paths.cloned().collect()
}

/// The paths that a card of a tool names: a written file by its own name, links followed; a deleted thing with all in it.
fn named(report: &Report) -> Paths {
    let facts = &report.facts;
    let outer = |path: &String| format!("project/{path}");
    let mut all = Paths::new();
    for path in facts.can_touch.iter().map(outer) {
        match facts.act {
            Act::Delete => all.extend(with_all_in_it(&report.before, &path)),
            Act::Read | Act::Write | Act::Edit | Act::Run | Act::Talk => {
                all.insert(followed(&report.before, &path));
            }
        }
    }
    all.extend(word(facts, "folders").map(|path| format!("project/{path}")));
    all.iter().filter_map(|path| path.strip_prefix("project/")).map(str::to_owned).collect()
}

/// The lines of one of a card's words.
fn word<'a>(facts: &'a Facts, name: &str) -> impl Iterator<Item = &'a str> {
    facts.words.get(name).map_or("", String::as_str).lines()
}

/// The files that a command's card says it writes into, those in the project.
fn redirected(report: &Report) -> Paths {
    const HOME: &str = "/project/";
    let real = |path: &str| followed(&report.before, &joined("/project", path)[1..]);
    word(&report.facts, "writes")
        .filter(|path| !path.starts_with('/'))
        .filter_map(|path| format!("/{}", real(path)).strip_prefix(HOME).map(str::to_owned))
        .collect()
}

fn in_trash(path: &str) -> bool {
    path == "Trash" || path.starts_with("Trash/")
}

/// What is different in the world and wasn't seen being touched.
fn unseen_changes(report: &Report, seen: &Seen) -> Paths {
    let names = report.before.keys().chain(report.after.keys());
    let differs = |name: &&String| report.before.get(*name) != report.after.get(*name);
    let was_seen = |name: &&String| match name.strip_prefix("project/") {
        Some(inside) => seen.touched.contains(inside),
        None => seen.outside.contains(*name),
    };
    names.filter(differs).filter(|name| !was_seen(name)).cloned().collect()
}

/// What the card says can't be touched, and was.
fn held_back(row: &Row, report: &Report, seen: &Seen) -> Vec<String> {
    let facts = &report.facts;
    let says = |what: &str| facts.cannot_touch.iter().any(|one| one == what);
    let outside: Vec<&String> =
        seen.outside.iter().filter(|path| !(row.has_trash && in_trash(path))).collect();
    let mut wrong = Vec::new();
    if says("outside_folder") != outside.is_empty() {
        wrong.push(format!(
            "the card says {:?}, and outside this was touched: {outside:?}",
            facts.cannot_touch
        ));
    }
    if row.has_trash != (facts.words.get("to").is_some_and(|to| to == "trash")) {
        wrong.push("the card says where deleted things go".to_owned());
    }
    if says("network") != seen.reached.is_empty() {
        wrong
            .push(format!("the card says {:?}, and connected to was {:?}", facts.cannot_touch, seen.reached));
    }
    if says("writing") && !seen.touched.is_empty() {
        wrong.push(format!("no writing, and {:?}", seen.touched));
    }
    if (says("other_programs") || facts.act != Act::Run) && !seen.meddled.is_empty() {
        wrong.push(format!("others were got at: {:?}", seen.meddled));
    }
    wrong
}

/// Programs that only start others.
const AROUND: [&str; 7] = ["sh", "bash", "env", "nice", "timeout", "xargs", "dash"];

/// The exact text, the risk, and what else the card says of files and programs.
fn words(row: &Row, report: &Report, seen: &Seen) -> Vec<String> {
    let (facts, mut wrong) = (&report.facts, Vec::new());
    let mut must = |what: &str, card: String, tracer: String| {
        if card != tracer {
            wrong.push(format!("{what}: the card says {card}, the tracer {tracer}"));
        }
    };
    let stood = |path: &&String| report.before.get(&format!("project/{path}"));
    let says = |name: &str| facts.words.get(name).cloned().unwrap_or_default();
    let replaces = seen.touched.iter().any(|path| stood(&path).is_some());
    let files =
        seen.touched.iter().filter_map(|path| stood(&path)).filter(|look| !look.starts_with("folder"));
    let obeyed = |path: &String| ["AGENTS.md", ".git/", ".vscode"].iter().any(|name| path.starts_with(name));
    let grave = seen.touched.iter().any(obeyed) || (!row.has_trash && !seen.outside.is_empty());
    must("it ended", "ok".to_owned(), report.end.clone());
    if facts.act != Act::Delete {
        let elsewhere = word(facts, "named_elsewhere").any(|path| seen.touched.contains(path));
        must("named elsewhere", elsewhere.to_string(), (!seen.outside.is_empty()).to_string());
        let unseen = if elsewhere { says("names_unseen") } else { "0".to_owned() };
        must("how many names elsewhere", unseen, seen.outside.len().to_string());
    }
    match facts.act {
        Act::Write | Act::Edit => {
            must("something new", says("new"), (!replaces).to_string());
            let risk = if grave { 3 } else { 1 + u8::from(replaces) };
            must("risk", facts.risk.to_string(), risk.to_string());
        }
        Act::Delete => {
            must("how many files", says("files"), files.count().to_string());
            let folder = stood(&&says("path")).is_some_and(|look| look.starts_with("folder"));
            must("risk", facts.risk.to_string(), if folder || grave { "3" } else { "2" }.to_owned());
        }
        Act::Run => {
            let shown = word(facts, "secrets").next().is_some();
            let risk = if shown || seen.touched.iter().any(obeyed) { "3" } else { "2" };
            must("risk", facts.risk.to_string(), risk.to_owned());

            let told = seen.ran.iter().find(|words| words.len() == 3 && words[1] == "-c");
            must("exactly", facts.exact.clone(), told.map_or(String::new(), |words| words[2].clone()));
            if !facts.words.contains_key("doubts") && !row.starts_more {
                let named = word(facts, "programs").chain(AROUND).collect::<BTreeSet<_>>();
                let ran = seen.ran.iter().filter_map(|words| Some(versionless(words.first()?)));
                let unnamed: BTreeSet<_> = ran.filter(|name| !named.contains(name)).collect();
                must("programs that aren't named", "[]".to_owned(), format!("{:?}", Vec::from_iter(unnamed)));
                let gone = seen.gone.iter().any(|path| stood(&path).is_some() && is_gone(report, path));
                must(
                    "does it delete",
                    says("deletes").replace("true", "yes"),
                    if gone { "yes" } else { "" }.to_owned(),
                );
            }
        }
        // What may hold passwords or keys is shown to the model, which can't be taken back.
        Act::Read => {
            let secret = facts.can_touch.iter().any(|path| path.ends_with(".env"));
            must("risk", facts.risk.to_string(), if secret { "3" } else { "1" }.to_owned());
            must("no undo", (facts.undo == Undo::No).to_string(), secret.to_string());
        }
        Act::Talk => must("risk", facts.risk.to_string(), "1".to_owned()),
    }
    wrong
}

/// A program's name without its folder and version, as a card has it.
fn versionless(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.trim_end_matches(|ch: char| ch.is_ascii_digit() || ch == '.')
}

fn is_gone(report: &Report, path: &str) -> bool {
    !report.after.contains_key(&format!("project/{path}"))
}

/// What the card says can be undone was; what it says isn't covered is the only rest.
fn undone(row: &Row, report: &Report) -> Vec<String> {
    let Some(back) = &report.back else {
        let kept = report.before == report.after;
        return if kept { Vec::new() } else { vec![format!("undo: {:?}", report.facts.undo)] };
    };
    let uncovered: Vec<String> =
        word(&report.facts, "not_covered").map(|path| format!("project/{path}")).collect();
    let shown = word(&report.facts, "secrets").next().is_some();
    let said = match report.facts.undo {
        // What is sent can't be taken back.
        Undo::Yes => uncovered.is_empty() && report.facts.reach.is_empty() && !shown,
        Undo::Partly => !uncovered.is_empty() || !report.facts.reach.is_empty() || shown,
        Undo::No => false,
    };
    let left_out = |name: &str| {
        uncovered.iter().any(|path| name == path || name.starts_with(&format!("{path}/")))
            || (row.has_trash && in_trash(name))
    };
    let names = report.before.keys().chain(back.keys()).filter(|name| !left_out(name));
    let differs: Paths = names.filter(|name| report.before.get(*name) != back.get(*name)).cloned().collect();
    match said && differs.is_empty() {
        true => Vec::new(),
        false => {
            vec![format!(
                "undo {:?} but for {uncovered:?}, and still different: {differs:?}",
                report.facts.undo
            )]
        }
    }
}
