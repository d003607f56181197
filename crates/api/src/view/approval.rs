//! Approval requests as shown: the engine's facts, exact text made visible, and the difference from the record.

use super::Shelf;
use super::diff;
use super::facts::shown;
use crate::permissions;
use crate::wire::store::FileDiff;
use crate::wire::view::{ApprovalState, ApprovalView};
use domain::call::{Act, Facts, Undo};
use domain::event::ApprovalRequested;
use engine::show::{
    self, Hands, Shown, WarningKind, command_shown, exact, made_visible, protected, secrets, visible,
};
use std::collections::{BTreeMap, BTreeSet};

/// The request, open.
pub(super) fn view(e: &ApprovalRequested, said: &str, shelf: &dyn Shelf) -> ApprovalView {
    let facts = &e.facts;
    let Exactly { text, warnings, diff } = exactly(facts, shelf);
    let suspicious = warnings.iter().any(|kind| kind.hides())
        || facts.can_touch.iter().any(|path| visible(path).suspicious);
    ApprovalView {
        id: e.approval.to_string(),
        call: e.call.to_string(),
        tool: shown(&e.tool),
        digest: e.digest.to_string(),
        act: act(facts).to_owned(),
        facts: words(facts),
        can_touch: facts.can_touch.iter().map(|path| visible(path).text).collect(),
        cannot_touch: facts.cannot_touch.clone(),
        risk: facts.risk,
        undo: undo(facts.undo).to_owned(),
        unshown: text.is_none(),
        exact: text.unwrap_or_default(),
        diff,
        suspicious,
        warnings: codes(&warnings),
        offers: e.offers.iter().map(permissions::offer).collect(),
        added: facts.added.iter().map(|path| visible(path).text).collect(),
        reach: facts.reach.clone(),
        state: ApprovalState::Open,
        model_says: (!said.trim().is_empty()).then(|| shown(said.trim())),
    }
}

/// The engine's words, and which of the files named are the reason to ask: secrets, and what acts later by itself.
fn words(facts: &Facts) -> BTreeMap<String, String> {
    let mut words: BTreeMap<String, String> =
        facts.words.iter().map(|(name, word)| (name.clone(), shown(word))).collect();
    for (name, paths) in [("secrets", secrets(facts)), ("protected", protected(facts))] {
        if !paths.is_empty() {
            let paths: Vec<String> = paths.iter().map(|path| visible(path).text).collect();
            words.insert(name.to_owned(), shown(&paths.join("\n")));
        }
    }
    words
}

/// Exactly what a yes is a yes to.
struct Exactly {
    /// `None` where it can't be shown whole.
    text: Option<String>,
    warnings: BTreeSet<WarningKind>,
    diff: Option<FileDiff>,
}

/// What is written, from the contents the record holds; else what is run or deleted. The digest that is answered with
/// covers both contents.
fn exactly(facts: &Facts, shelf: &dyn Shelf) -> Exactly {
    let Some(proposed) = facts.proposed else {
        let Shown { text, warnings } = command_shown(&facts.exact);
        let warnings = warnings.into_iter().map(|warning| warning.kind).collect();
        return Exactly { text: Some(text), warnings, diff: None };
    };
    let hidden = command_shown(&facts.exact).warnings.into_iter().map(|warning| warning.kind);
    let mut warnings: BTreeSet<WarningKind> = hidden.filter(|kind| kind.hides()).collect();
    let old = facts.depends_on.values().next().map(|digest| shelf.blob(digest));
    let (Some(new), false) = (shelf.blob(&proposed), old == Some(None)) else {
        return Exactly { text: None, warnings, diff: None };
    };
    let old = old.flatten();
    let mut diff = show::FileDiff::of(old.as_deref(), Some(&new), &Hands::default());
    let exact = exact(old.as_deref(), &new, &diff);
    warnings.extend(exact.hidden);
    made_visible(&mut diff);
    let path = facts.words.get("path").cloned().unwrap_or_default();
    Exactly { text: exact.text, warnings, diff: Some(diff::wire(path, diff, old.is_none())) }
}

fn codes(warnings: &BTreeSet<WarningKind>) -> Vec<String> {
    let code = |kind| serde_json::to_value(kind).ok()?.as_str().map(str::to_owned);
    warnings.iter().filter_map(code).collect()
}

pub(crate) fn act(facts: &Facts) -> &'static str {
    match facts.act {
        Act::Write => "write",
        Act::Edit => "edit",
        Act::Delete => "delete",
        Act::Run => "run",
        // Reading and talking ask only where a rule says so; the page words them by tool.
        Act::Read => "read",
        Act::Talk => "talk",
    }
}

pub(crate) fn undo(undo: Undo) -> &'static str {
    match undo {
        Undo::Yes => "yes",
        Undo::Partly => "partly",
        Undo::No => "no",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(act: Act, path: &str, expect: &[(&str, &str)]) {
        let facts = Facts {
            act,
            can_touch: vec![path.to_owned()],
            cannot_touch: Vec::new(),
            reach: Vec::new(),
            added: Vec::new(),
            undo: Undo::Yes,
            risk: 1,
            exact: path.to_owned(),
            words: BTreeMap::from([("path".to_owned(), path.to_owned())]),
            depends_on: BTreeMap::new(),
            proposed: None,
        };
        let mut words = words(&facts);
        assert_eq!(words.remove("path").as_deref(), Some(path));
        let expect = expect.iter().map(|(name, word)| ((*name).to_owned(), (*word).to_owned())).collect();
        assert_eq!(words, expect);
    }

    #[test]
    fn a_request_says_which_file_is_why_it_is_asked_about() {
        check(Act::Read, ".env", &[("secrets", ".env")]);
        check(Act::Read, "notes.md", &[]);
        check(Act::Write, ".git/hooks/pre-commit", &[("protected", ".git/hooks/pre-commit")]);
        check(Act::Delete, ".envrc", &[("protected", ".envrc")]);
        check(Act::Edit, "notes.md", &[]);
    }
}
