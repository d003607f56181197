//! Exact names and numbers that came up, and which event holds them.
//!
//! A name is **called** when a call's arguments had it, or a file of that path was changed: it is easily found again. Others
//! stand only in what was read or said. Invariants: of a kind, those that weren't called are shown first; what has no room is
//! counted name by name, however often it came up, and the events that hold it are told as far as an eighth of the room goes.

use super::Room;
use super::identifiers::{Kind, identifiers};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Names on a line.
const ON_A_LINE: usize = 6;
/// Bytes that a name takes at least, with what parts it from the next.
const LEAST_OF_A_NAME: usize = 4;
/// The part of the room that tells where the rest stands.
const FOR_PLACES: usize = 8;
/// Tokens for that, where an eighth is less.
const LEAST_FOR_PLACES: u64 = 32;

/// What was found so far: of each name its kind, whether it was called, and the newest event that holds it.
#[derive(Default)]
pub(super) struct Reading<'a> {
    found: BTreeMap<&'a str, (Kind, bool, u64)>,
}

impl<'a> Reading<'a> {
    /// The names in a text of this event, which comes after those before.
    pub(super) fn take(&mut self, seq: u64, text: &'a str, called: bool) {
        for (kind, found) in identifiers(text) {
            let known = self.found.entry(found).or_insert((kind, called, seq));
            (known.1, known.2) = (known.1 || called, seq);
        }
    }

    /// The rarer kinds first, then those that weren't called, then the newer.
    pub(super) fn names(mut self, changed: impl Iterator<Item = &'a str>) -> Names {
        for path in changed {
            self.found.entry(path).and_modify(|known| known.1 = true);
        }
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.sort_unstable_by_key(|(text, (kind, called, seq))| (*kind, *called, Reverse(*seq), *text));
        let name = |(text, (_, called, seq)): (&str, _)| Name { text: text.to_owned(), called, seq };
        Names { names: found.into_iter().map(name).collect() }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Name {
    text: String,
    called: bool,
    /// The newest event that holds it.
    seq: u64,
}

/// The names, those most worth keeping first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Names {
    names: Vec<Name>,
}

impl Names {
    /// The part of the checkpoint with those that don't stand in `said`, within this room.
    pub(super) fn part(&self, title: &str, said: &str, room: Room) -> Option<String> {
        let there: BTreeSet<&str> = identifiers(said).map(|(_, text)| text).collect();
        let left: Vec<&Name> = self.names.iter().filter(|name| !there.contains(name.text.as_str())).collect();
        if left.is_empty() {
            return None;
        }
        let title = format!("\n\n## {title}");
        let (whole, shown) = filled(&title, &left, room);
        if shown == left.len() {
            return Some(whole);
        }
        let of_places = Room {
            tokens: (room.tokens / FOR_PLACES as u64).max(LEAST_FOR_PLACES).min(room.tokens / 2),
            bytes: room.bytes / FOR_PLACES,
        };
        let less = Room { tokens: room.tokens - of_places.tokens, bytes: room.bytes - of_places.bytes };
        let (mut out, shown) = filled(&title, &left, less);
        out.push_str(&rest(&left[shown..], of_places));
        Some(out)
    }
}

/// What isn't shown, counted in any room, and as many of the events that hold what nobody called as this one has room for.
fn rest(left_out: &[&Name], room: Room) -> String {
    let (called, other): (Vec<&Name>, Vec<&Name>) = left_out.iter().partition(|name| name.called);
    let of_calls = format!("{} more that calls named are in the record)", called.len());
    if other.is_empty() {
        return format!("\n({of_calls}");
    }
    let end = if called.is_empty() { ")".to_owned() } else { format!("; {of_calls}") };
    let places: BTreeSet<u64> = other.iter().map(|name| name.seq).collect();
    let told = |most: usize| {
        let told: String =
            places.iter().rev().take(most).map(|seq| format!(" {}{seq}", domain::history::PLACE)).collect();
        let more = if most < places.len() { " …" } else { "" };
        format!("\n({} more names stand in{told}{more}{end}", other.len())
    };
    let most = most_that(places.len().min(room.bytes), |most| room.holds(&told(most)));
    if most > 0 { told(most) } else { format!("\n({} more names are in the record{end}", other.len()) }
}

/// As many of them as fit, several on a line; and how many those are.
fn filled(title: &str, names: &[&Name], room: Room) -> (String, usize) {
    let with = |most: usize| {
        let line =
            |names: &[&Name]| names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join("  ");
        let lines = names[..most].chunks(ON_A_LINE).map(|names| format!("\n{}", line(names)));
        format!("{title}{}", lines.collect::<String>())
    };
    let shown = most_that(names.len().min(room.bytes / LEAST_OF_A_NAME), |most| room.holds(&with(most)));
    (with(shown), shown)
}

/// The largest number up to this one that fits, where fewer than what fits fit, too; none always does.
fn most_that(end: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut fitting, mut beyond) = (0, end + 1);
    while beyond - fitting > 1 {
        let middle = fitting.midpoint(beyond);
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    fitting
}
