//! Exact names and numbers that came up, and which event holds them.
//!
//! A name is **called** when a call's arguments had it, or a file of that path was changed: it is easily found again. Others
//! stand only in what was read or said. Invariants: of a kind, those that weren't called are shown first; what has no room is
//! counted name by name, and the events that hold it are told as far as an eighth of the room goes.

use super::Room;
use super::identifiers::{Kind, identifiers};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Names on a line.
const ON_A_LINE: usize = 6;
/// Most names of files looked at; the newest count.
const MOST: usize = 2_000;
/// The part of the room that tells where the rest stands.
const FOR_PLACES: usize = 8;
/// Tokens for that, where an eighth is less.
const LEAST_FOR_PLACES: u64 = 32;

/// What was found so far, in the order of the events.
#[derive(Default)]
pub(super) struct Reading<'a> {
    found: BTreeMap<&'a str, (Kind, bool, u64)>,
    gone: Gone,
    /// From so many on it lets some go.
    full: usize,
}

/// Names of files that nobody called and that were let go, being too many.
#[derive(Debug, Clone, Default, PartialEq)]
struct Gone {
    count: usize,
    places: BTreeSet<u64>,
}

impl<'a> Reading<'a> {
    /// The names in a text of this event.
    pub(super) fn take(&mut self, seq: u64, text: &'a str, called: bool) {
        for (kind, found) in identifiers(text) {
            let known = self.found.entry(found).or_insert((kind, called, seq));
            (known.1, known.2) = (known.1 || called, seq);
        }
        if self.found.len() > self.full.max(2 * MOST) {
            self.let_go();
            self.full = 2 * self.found.len();
        }
    }

    fn let_go(&mut self) {
        let mut places: Vec<u64> = self.found.values().map(|(.., seq)| *seq).collect();
        places.sort_unstable();
        let from = places[places.len() - MOST];
        let gone = &mut self.gone;
        self.found.retain(|_, (kind, called, seq)| {
            let stays = *seq >= from || *kind < Kind::File;
            if !stays && !*called {
                gone.count += 1;
                gone.places.insert(*seq);
            }
            stays
        });
    }

    /// The rarer kinds first, then those that weren't called, then the newer.
    pub(super) fn names(mut self, changed: impl Iterator<Item = &'a str>) -> Names {
        for path in changed {
            self.found.entry(path).and_modify(|known| known.1 = true);
        }
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.sort_unstable_by_key(|(text, (kind, called, seq))| (*kind, *called, Reverse(*seq), *text));
        let name = |(text, (_, called, seq)): (&str, _)| Name { text: text.to_owned(), called, seq };
        Names { names: found.into_iter().map(name).collect(), gone: self.gone }
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
    gone: Gone,
}

impl Names {
    /// The part of the checkpoint with those that don't stand in `said`, within this room.
    pub(super) fn part(&self, title: &str, said: &str, room: Room) -> Option<String> {
        let there: BTreeSet<&str> = identifiers(said).map(|(_, text)| text).collect();
        let left: Vec<&Name> = self.names.iter().filter(|name| !there.contains(name.text.as_str())).collect();
        if left.is_empty() && self.gone.count == 0 {
            return None;
        }
        let title = format!("\n\n## {title}");
        let (whole, shown) = filled(&title, &left, room);
        if shown == left.len() && self.gone.count == 0 {
            return Some(whole);
        }
        let of_places = Room {
            tokens: (room.tokens / FOR_PLACES as u64).max(LEAST_FOR_PLACES).min(room.tokens / 2),
            bytes: room.bytes / FOR_PLACES,
        };
        let less = Room { tokens: room.tokens - of_places.tokens, bytes: room.bytes - of_places.bytes };
        let (mut out, shown) = filled(&title, &left, less);
        out.push_str(&self.rest(&left[shown..], of_places));
        Some(out)
    }

    /// What isn't shown, counted, and the events that hold what nobody called.
    fn rest(&self, left_out: &[&Name], room: Room) -> String {
        let (called, other): (Vec<&Name>, Vec<&Name>) = left_out.iter().partition(|name| name.called);
        let mut places = self.gone.places.clone();
        places.extend(other.iter().map(|name| name.seq));
        let of_calls = format!("{} more that calls named are in the record", called.len());
        if places.is_empty() {
            return format!("\n({of_calls})");
        }
        let mut line = format!("\n({} more names stand in", other.len() + self.gone.count);
        for (n, place) in places.into_iter().rev().enumerate() {
            let longer = format!("{line} {}{place}", domain::history::PLACE);
            if n > 0 && !room.holds(&longer) {
                line.push_str(" …");
                break;
            }
            line = longer;
        }
        if called.is_empty() { format!("{line})") } else { format!("{line}; {of_calls})") }
    }
}

/// As many of them as fit, several on a line; and how many those are.
fn filled(title: &str, names: &[&Name], room: Room) -> (String, usize) {
    let (mut out, mut shown) = (title.to_owned(), 0);
    for line in names.chunks(ON_A_LINE) {
        let with = |most: usize| {
            let texts: Vec<&str> = line[..most].iter().map(|name| name.text.as_str()).collect();
            Some(format!("{out}\n{}", texts.join("  "))).filter(|longer| room.holds(longer))
        };
        let Some((longer, most)) = (1..=line.len()).rev().find_map(|most| Some((with(most)?, most))) else {
            break;
        };
        (out, shown) = (longer, shown + most);
        if most < line.len() {
            break;
        }
    }
    (out, shown)
}
