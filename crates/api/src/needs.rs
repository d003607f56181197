//! What waits for the person, session by session, from the store's list and the events that it names.
//!
//! Invariant: a request counts as **whole** only where its line says everything of it that the card says: no difference to
//! look at, no site, nothing hidden or cut, nothing beyond undo, and a cage around what runs.

use crate::room::Inside;
use crate::view::facts::{of_arguments, shown};
use crate::view::{approval, unknown_key};
use crate::wire::need::{Need, NeedWhat};
use domain::call::{Act, Undo};
use domain::event::{ApprovalRequested, CheckedCall, Event, Fact};
use domain::ids::{CallId, SessionId};
use engine::show::{self, NeedKind, command_shown, visible};
use std::collections::BTreeMap;

/// Things that wait and are told of one session; its own view has all.
const MOST: usize = 200;
/// Longest command or path that a line shows without cutting it, in characters.
const IN_A_LINE: usize = 60;
/// Words of a request that its line shows or that add nothing to it; any other one is looked at on the card.
const LINE_WORDS: [&str; 10] =
    ["path", "command", "time_ms", "kind", "files", "more", "size", "to", "rule", "programs"];
/// Events looked through for the call whose outcome isn't known, and how many at once.
const BACK: u64 = 2_000;
const PAGE: u64 = 500;

/// What waits in a session, the oldest first. What was `told` before is taken from there: a request never changes.
pub(crate) fn of(inside: &Inside, session: &SessionId, told: &[Need]) -> Vec<Need> {
    let listed = match inside.reader.needs_of(session) {
        Ok(listed) => listed,
        Err(error) => {
            tracing::warn!(%session, %error, "what waits in a session can't be listed");
            return told.to_vec();
        }
    };
    // Words of a call whose outcome isn't known may be erased while it waits; a request's can't.
    let known = |need: &show::Need| {
        let same = |one: &&Need| one.id == need.id && one.since == need.since;
        told.iter().find(|one| same(one) && !matches!(one.what, NeedWhat::Outcome { .. }))
    };
    listed
        .into_iter()
        .take(MOST)
        .filter_map(|need| known(&need).cloned().or_else(|| read(inside, &need)))
        .collect()
}

fn read(inside: &Inside, need: &show::Need) -> Option<Need> {
    let event = event(inside, &need.session, need.seq)?;
    let what = match event.fact.as_ref()? {
        Fact::ApprovalRequested(e) => asked(e),
        Fact::QuestionAsked(e) => NeedWhat::Question { text: shown(e.body.text.trim()) },
        Fact::ToolOutcomeUnknown(e) => outcome(inside, need, &e.call),
        _ => return None,
    };
    let entry = match need.kind {
        NeedKind::Approval | NeedKind::Question => need.id.clone(),
        NeedKind::Outcome => unknown_key(&need.call),
    };
    Some(Need { id: need.id.clone(), entry, since: need.since, what })
}

fn event(inside: &Inside, session: &SessionId, seq: u64) -> Option<Event> {
    inside.reader.events(session, seq, 1).ok()?.pop()?.decode().ok()
}

fn asked(e: &ApprovalRequested) -> NeedWhat {
    NeedWhat::Approval {
        digest: e.digest.to_string(),
        tool: shown(&e.tool),
        act: approval::act(&e.facts).to_owned(),
        facts: e.facts.words.iter().map(|(name, word)| (name.clone(), shown(word))).collect(),
        undo: approval::undo(e.facts.undo).to_owned(),
        whole: is_whole(e),
    }
}

fn is_whole(e: &ApprovalRequested) -> bool {
    let facts = &e.facts;
    let exact = command_shown(&facts.exact);
    let plain = exact.warnings.is_empty() && facts.can_touch.iter().all(|path| !visible(path).suspicious);
    let listed = facts.words.keys().all(|name| LINE_WORDS.contains(&name.as_str()));
    // Asked only because of the mode: any other reason is told on the card.
    let usual = facts.words.get("rule").is_none_or(|rule| rule.starts_with("mode/"));
    let quiet = facts.reach.is_empty() && facts.added.is_empty() && facts.undo != Undo::No && facts.risk < 3;
    let short = |word: &str| {
        facts.words.get(word).is_some_and(|text| {
            !text.is_empty() && text.chars().count() <= IN_A_LINE && !text.contains(char::is_control)
        })
    };
    let said = match facts.act {
        Act::Run => {
            let held = |limit: &str| facts.cannot_touch.iter().any(|one| one == limit);
            let all = facts.words.get("command").is_some_and(|command| *command == exact.text);
            short("command") && all && held("outside_folder") && held("network")
        }
        Act::Delete => short("path"),
        // What would be written stands in a difference; reading asks only where a secret is read.
        Act::Write | Act::Edit | Act::Read | Act::Talk => false,
    };
    plain && listed && usual && quiet && said && facts.proposed.is_none()
}

/// The call is named by an event before; where it lies far back, the line says only which tool it was.
fn outcome(inside: &Inside, need: &show::Need, call: &CallId) -> NeedWhat {
    let mut to = need.seq;
    while to > 0 && need.seq - to < BACK {
        let from = to.saturating_sub(PAGE);
        let limit = usize::try_from(to - from).unwrap_or(0);
        let Ok(page) = inside.reader.events(&need.session, from, limit) else { break };
        for recorded in page.into_iter().filter(|recorded| recorded.kind == "tool/call").rev() {
            if let Ok(Event { fact: Some(Fact::ToolCall(e)), .. }) = recorded.decode()
                && e.call == *call
            {
                let facts = match &e.checked {
                    CheckedCall::Good { arguments, .. } => of_arguments(arguments),
                    CheckedCall::Bad { .. } => BTreeMap::new(),
                };
                return NeedWhat::Outcome { tool: shown(&e.name), facts };
            }
        }
        to = from;
    }
    NeedWhat::Outcome { tool: String::new(), facts: BTreeMap::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::call::Facts;
    use domain::digest::Digest;
    use domain::ids::ApprovalId;

    fn request(act: Act, exact: &str, words: &[(&str, &str)]) -> ApprovalRequested {
        let words = words.iter().map(|(name, word)| ((*name).to_owned(), (*word).to_owned())).collect();
        let facts = Facts {
            act,
            can_touch: vec![".".to_owned()],
            cannot_touch: vec!["outside_folder".to_owned(), "network".to_owned()],
            added: Vec::new(),
            reach: Vec::new(),
            undo: Undo::Partly,
            risk: 2,
            exact: exact.to_owned(),
            words,
            depends_on: BTreeMap::new(),
            proposed: None,
        };
        ApprovalRequested {
            approval: ApprovalId::from_bits(1),
            call: CallId::from_bits(2),
            tool: "tool".to_owned(),
            version: 1,
            arguments: Digest::of(b"arguments"),
            facts,
            digest: Digest::of(b"shown"),
            valid_ms: 1,
            offers: Vec::new(),
        }
    }

    fn run(command: &str) -> ApprovalRequested {
        request(Act::Run, command, &[("command", command), ("time_ms", "120000")])
    }

    #[track_caller]
    fn check(request: ApprovalRequested, expect: bool) {
        assert_eq!(is_whole(&request), expect, "{request:?}");
    }

    #[test]
    fn a24_only_what_a_line_can_say_wholly_may_be_allowed_from_the_list() {
        check(run("npm test"), true);
        check(
            request(Act::Delete, "old.txt", &[("path", "old.txt"), ("kind", "file"), ("to", "trash")]),
            true,
        );
        // Long, of several lines, hiding something, or not what is really run.
        check(run(&"word ".repeat(14)), false);
        check(run("one\ntwo"), false);
        check(run("echo a\u{202e}b"), false);
        check(run("echo a\u{200b}b"), false);
        check(run("echo   a      \t\t          b"), false);
        check(request(Act::Run, "rm -rf x", &[("command", "ls")]), false);
        // What has more to look at than its words.
        check(request(Act::Write, "a.txt", &[("path", "a.txt")]), false);
        check(request(Act::Edit, "a.txt", &[("path", "a.txt")]), false);
        check(request(Act::Read, ".env", &[("path", ".env")]), false);
        check(request(Act::Talk, "x", &[]), false);
        check(request(Act::Run, "npm test", &[("command", "npm test"), ("secrets", ".env")]), false);
        check(request(Act::Run, "npm test", &[("command", "npm test"), ("not_covered", "big.iso")]), false);
    }

    #[test]
    fn a24_what_can_do_harm_that_lasts_is_looked_at_on_its_card() {
        let but = |change: fn(&mut Facts)| {
            let mut request = run("npm test");
            change(&mut request.facts);
            request
        };
        check(but(|facts| facts.reach = vec!["example.org:443".to_owned()]), false);
        check(but(|facts| facts.added = vec!["/other".to_owned()]), false);
        check(but(|facts| facts.undo = Undo::No), false);
        check(but(|facts| facts.risk = 3), false);
        check(but(|facts| facts.cannot_touch = vec!["outside_folder".to_owned()]), false);
        check(but(|facts| facts.cannot_touch.clear()), false);
        check(but(|facts| facts.proposed = Some(Digest::of(b"new"))), false);
    }
}
