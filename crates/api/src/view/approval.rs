//! Approval requests as shown: the engine's facts, exact text made visible, and the difference from the record.

use super::Shelf;
use super::diff;
use super::facts::shown;
use crate::permissions;
use crate::wire::view::{ApprovalState, ApprovalView};
use domain::call::{Act, Facts, Undo};
use domain::event::ApprovalRequested;
use engine::show::{FileDiff, Hands, Shown, command_shown, visible};

/// The request, open.
pub(super) fn view(e: &ApprovalRequested, said: &str, shelf: &dyn Shelf) -> ApprovalView {
    let facts = &e.facts;
    let exact = command_shown(&facts.exact);
    let suspicious = exact.warnings.iter().any(|one| one.kind.hides())
        || facts.can_touch.iter().any(|path| visible(path).suspicious);
    let warnings = warnings(&exact);
    ApprovalView {
        id: e.approval.to_string(),
        call: e.call.to_string(),
        tool: shown(&e.tool),
        digest: e.digest.to_string(),
        act: act(facts).to_owned(),
        facts: facts.words.iter().map(|(name, word)| (name.clone(), shown(word))).collect(),
        can_touch: facts.can_touch.iter().map(|path| visible(path).text).collect(),
        cannot_touch: facts.cannot_touch.clone(),
        risk: facts.risk,
        undo: undo(facts.undo).to_owned(),
        exact: exact.text,
        diff: difference(facts, shelf),
        suspicious,
        warnings,
        offers: e.offers.iter().map(permissions::offer).collect(),
        reach: facts.reach.clone(),
        state: ApprovalState::Open,
        model_says: (!said.trim().is_empty()).then(|| shown(said.trim())),
    }
}

/// The kinds of warnings, each once.
fn warnings(shown: &Shown) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for warning in &shown.warnings {
        let code = serde_json::to_value(warning.kind).ok().and_then(|code| code.as_str().map(str::to_owned));
        codes.extend(code.filter(|code| !codes.contains(code)));
    }
    codes
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

/// What would change, from the two contents the record holds; `None` where a content can't be had.
fn difference(facts: &Facts, shelf: &dyn Shelf) -> Option<crate::wire::store::FileDiff> {
    let new = shelf.blob(&facts.proposed?)?;
    let old = match facts.depends_on.values().next() {
        Some(digest) => Some(shelf.blob(digest)?),
        None => None,
    };
    let path = facts.words.get("path").cloned().unwrap_or_default();
    Some(diff::wire(path, FileDiff::of(old.as_deref(), Some(&new), &Hands::default())))
}
