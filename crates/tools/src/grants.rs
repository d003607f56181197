//! What the person allowed for more than one call: whether it covers a call, and what can be offered.
//!
//! A **grant** lets happen what the cage and the handles enforce, never more. Invariants: without a cage no command is
//! granted; a call that touches something protected, can't be undone, publishes, or deletes without a grant for deleting
//! is never covered; what a grant covers is worked out here each time, whatever it says of itself.

use crate::builtin::depends::held;
use crate::command::{Pattern, Reading, Summary, covers, summary};
use crate::path;
use crate::policy::Cage;
use crate::shell::dialect;
use domain::call::{Act, Facts, Grant, Undo};
use domain::ids::GrantId;
use std::collections::BTreeMap;

/// The grant that lets this call run unasked, if one does.
#[must_use]
pub(crate) fn allowed_by<'a>(
    facts: &Facts,
    cage: Cage,
    grants: &'a [(GrantId, Grant)],
) -> Option<&'a GrantId> {
    if facts.undo == Undo::No || touches_protected(facts) || is_partly_seen(facts) {
        return None;
    }
    let by = |fits: &dyn Fn(&Grant) -> bool| grants.iter().find(|(_, grant)| fits(grant)).map(|(id, _)| id);
    match facts.act {
        Act::Write | Act::Edit => {
            by(&|grant| matches!(grant, Grant::Write { under } if within(facts, under)))
        }
        Act::Delete => by(&|grant| matches!(grant, Grant::Delete { under } if within(facts, under))),
        Act::Run if cage != Cage::None => command(facts, grants),
        Act::Run | Act::Read | Act::Talk => None,
    }
}

fn command<'a>(facts: &Facts, grants: &'a [(GrantId, Grant)]) -> Option<&'a GrantId> {
    let reading = crate::command::read(&facts.exact, dialect());
    let seen = summary(&reading, &facts.added);
    let may_delete = grants.iter().any(|(_, grant)| matches!(grant, Grant::Delete { under } if under == "."));
    if !is_grantable(&seen) || (seen.deletes && !may_delete) || !reached(facts, grants) {
        return None;
    }
    let all = grants.iter().find(|(_, grant)| *grant == Grant::Commands);
    let own = grants.iter().filter_map(|(id, grant)| Some((id, pattern(grant, facts)?)));
    let (ids, patterns): (Vec<&GrantId>, Vec<Pattern>) = own.unzip();
    // The one that is named is one that covers a part of it.
    let first = || {
        let helps = |pattern: &Pattern| {
            let others: Vec<Pattern> = patterns.iter().filter(|other| *other != pattern).cloned().collect();
            !covers(&reading, &others, &facts.added)
        };
        ids.get(patterns.iter().position(helps).unwrap_or(0)).copied()
    };
    let covered = || covers(&reading, &patterns, &facts.added).then(first).flatten();
    all.map(|(id, _)| id).or_else(covered)
}

/// Is every site it may reach granted?
pub(crate) fn reached(facts: &Facts, grants: &[(GrantId, Grant)]) -> bool {
    let granted = |site: &String| {
        grants.iter().any(|(_, grant)| matches!(grant, Grant::Site { site: own } if own == site))
    };
    facts.reach.iter().all(granted)
}

fn is_grantable(seen: &Summary) -> bool {
    !seen.leaves && !seen.outside && seen.protected.is_empty()
}

/// What a grant fits; an exact one only while the files it runs are those that were allowed.
fn pattern(grant: &Grant, facts: &Facts) -> Option<Pattern> {
    match grant {
        Grant::Command { words, exact: true, files } => {
            (held(words, facts).as_ref() == Some(files)).then(|| Pattern::Exact(words.clone()))
        }
        Grant::Command { words, exact: false, .. } => Some(Pattern::Kind(words.clone())),
        Grant::Write { .. } | Grant::Delete { .. } | Grant::Commands | Grant::Site { .. } => None,
    }
}

fn within(facts: &Facts, under: &str) -> bool {
    let inside = |path: &String| {
        under == "." || path == under || path.strip_prefix(under).is_some_and(|rest| rest.starts_with('/'))
    };
    !facts.can_touch.is_empty() && facts.can_touch.iter().all(inside)
}

/// Is there more to delete than was looked at? Something protected may be in the rest.
fn is_partly_seen(facts: &Facts) -> bool {
    facts.act == Act::Delete && facts.words.get("more").is_some_and(|more| more == "true")
}

fn touches_protected(facts: &Facts) -> bool {
    facts.can_touch.iter().any(|path| path::is_protected(path))
}

/// What could be allowed together with a call of these facts, narrowest first; empty where no scope can be enforced.
pub(crate) fn offers(facts: &Facts, cage: Cage) -> Vec<Grant> {
    if facts.undo == Undo::No || touches_protected(facts) || is_partly_seen(facts) {
        return Vec::new();
    }
    match facts.act {
        Act::Write | Act::Edit => {
            facts.can_touch.first().map(|path| Grant::Write { under: around(path) }).into_iter().collect()
        }
        Act::Delete => facts
            .can_touch
            .first()
            .map(|path| around(path))
            .filter(|under| under != ".")
            .map(|under| Grant::Delete { under })
            .into_iter()
            .collect(),
        Act::Run if cage != Cage::None => for_command(facts),
        Act::Run | Act::Read | Act::Talk => Vec::new(),
    }
}

fn for_command(facts: &Facts) -> Vec<Grant> {
    let reading = crate::command::read(&facts.exact, dialect());
    let seen = summary(&reading, &facts.added);
    if !is_grantable(&seen) || seen.deletes {
        return Vec::new();
    }
    if let [site] = &facts.reach[..] {
        return vec![Grant::Site { site: site.clone() }];
    }
    if !facts.reach.is_empty() {
        return Vec::new();
    }
    let mut offers: Vec<Grant> = Vec::new();
    if let Reading::Understood(commands) = &reading {
        let mut patterns: Vec<Pattern> = commands
            .iter()
            .filter(|simple| !covers(&Reading::Understood(vec![(*simple).clone()]), &[], &facts.added))
            .filter_map(|simple| Pattern::of(simple, &facts.added))
            .collect();
        patterns.sort();
        patterns.dedup();
        // One that wouldn't cover the very call it is offered with helps nobody.
        if patterns.len() == 1 && covers(&reading, &patterns, &facts.added) {
            offers.extend(patterns.into_iter().filter_map(|pattern| match pattern {
                Pattern::Kind(words) => Some(Grant::Command { words, exact: false, files: BTreeMap::new() }),
                Pattern::Exact(words) => {
                    held(&words, facts).map(|files| Grant::Command { words, exact: true, files })
                }
            }));
        }
    }
    // The widest is offered only beside a narrower one: alone, it would be pressed for want of another.
    if !offers.is_empty() {
        offers.push(Grant::Commands);
    }
    offers
}

/// The folder a path lies in; all of the project for what lies at its top.
fn around(path: &str) -> String {
    path.rsplit_once('/').map_or_else(|| ".".to_owned(), |(folder, _)| folder.to_owned())
}
