//! Near misses: names and lines that are almost what was asked for.
//!
//! A model often differs from the real name or text by a space, a dash or a case. Showing what is really there lets its
//! next call succeed. Invariant: nothing here ever chooses for the caller; candidates are only named.

use crate::path::{RelPath, shown};
use crate::place::{Place, io_failed};
use domain::call::ToolError;
use similar::TextDiff;
use std::io;

/// Most names suggested.
const MAX_NAMES: usize = 3;
/// Least likeness of a suggestion.
const MIN_RATIO: f32 = 0.6;
/// Most entries of a folder that are compared.
const MAX_ENTRIES: usize = 2_000;

/// "No such file", with the near names of that folder.
pub(crate) fn not_found(place: &Place, doing: &str, path: &RelPath, error: &io::Error) -> ToolError {
    let mut failed = io_failed(doing, place.say(path), error);
    if failed.code != "file/not_found" {
        return failed;
    }
    let near = near_names(place, path);
    if !near.is_empty() {
        let names: Vec<String> = near.iter().map(|near| shown(&place.say(near))).collect();
        failed.suggestion = Some(format!("Did you mean {}?", names.join(" or ")));
    }
    failed
}

/// Names in the path's folder that are like its last part, the likest first.
fn near_names(place: &Place, path: &RelPath) -> Vec<RelPath> {
    let Ok(entries) = place.parent_of(path).and_then(|dir| dir.entries()) else { return Vec::new() };
    let wanted = loose(path.name());
    let mut found: Vec<(bool, f32, RelPath)> = entries
        .take(MAX_ENTRIES)
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| {
            let key = loose(&name);
            let ratio = TextDiff::from_chars(wanted.as_str(), key.as_str()).ratio();
            (key == wanted, ratio, path.parent().join(&name))
        })
        .filter(|(same, ratio, _)| *same || *ratio >= MIN_RATIO)
        .filter(|(.., near)| !place.hides(near) && !place.keeps_out(near.as_str()))
        .collect();
    if found.iter().any(|(same, ..)| *same) {
        found.retain(|(same, ..)| *same);
    }
    found.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.2.cmp(&other.2)));
    found.truncate(MAX_NAMES);
    found.into_iter().map(|(_, _, near)| near).collect()
}

/// A name without what people and models get wrong: spaces of any kind, dashes, underscores, case.
fn loose(name: &str) -> String {
    name.chars()
        .filter(|ch| !ch.is_whitespace() && !crate::visible::is_invisible(*ch))
        .filter(|ch| !matches!(ch, '-' | '_' | '\u{2010}'..='\u{2015}' | '\u{2212}'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Longest text that near lines are looked for in, in lines.
const MAX_LINES: usize = 20_000;

/// The run of lines in `body` that is likest to `wanted`: its first line from 1, and the lines.
pub(crate) fn nearest_lines(body: &str, wanted: &str) -> Option<(usize, String)> {
    let lines: Vec<&str> = body.lines().take(MAX_LINES).collect();
    let wanted_lines: Vec<&str> = wanted.trim_matches('\n').lines().collect();
    let count = wanted_lines.len().min(lines.len());
    if count == 0 {
        return None;
    }
    // Cheap first: how many words does each window share with what is wanted? Then compare the best few properly.
    let words: std::collections::HashSet<&str> = wanted.split_whitespace().collect();
    let score = |line: &&str| line.split_whitespace().filter(|word| words.contains(word)).count();
    let scores: Vec<usize> = lines.iter().map(score).collect();
    let sums = scores.windows(count).map(|window| window.iter().sum::<usize>());
    let mut windows: Vec<(usize, usize)> = sums.enumerate().collect();
    windows.sort_by_key(|(at, sum)| (std::cmp::Reverse(*sum), *at));
    let wanted = wanted_lines.join("\n");
    let likeness = |at: usize| {
        let window = lines[at..at + count].join("\n");
        TextDiff::configure()
            .timeout(std::time::Duration::from_millis(20))
            .diff_chars(wanted.as_str(), window.as_str())
            .ratio()
    };
    let best = windows
        .iter()
        .take(20)
        .map(|(at, _)| (*at, likeness(*at)))
        .max_by(|one, other| one.1.total_cmp(&other.1))?;
    (best.1 >= MIN_RATIO).then(|| (best.0 + 1, lines[best.0..best.0 + count].join("\n")))
}
