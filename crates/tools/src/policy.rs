//! May this call run? One pure function from the call, its facts and the settings in force.
//!
//! **Policy** is layers of rules, from built in to subagent. Each can only narrow: the strictest word wins, so a denial
//! below can't be lifted above. Invariant: nothing the model says of a call is read here, only checked arguments and facts.

use crate::rules::{Grade, Layer, Seen, Word};
use crate::{grants, path};
use domain::call::{Act, Facts, Grant, Mode, Verdict, grant_rule};
use domain::ids::GrantId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the cage enforces on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cage {
    /// Files, processes and network are cut off.
    Full,
    /// Files and network are cut off, something smaller isn't.
    Partial,
    /// There is none.
    None,
}

/// What is in force right now.
#[derive(Debug, Clone)]
pub struct PolicyInput<'a> {
    /// The session's mode.
    pub mode: Mode,
    /// The cage's strength.
    pub cage: Cage,
    /// Rules between built in and mode (organisation, user, project, session), and those of a subagent.
    pub layers: &'a [Layer],
    /// What the person allowed for more than one call.
    pub grants: &'a [(GrantId, Grant)],
    /// Files with secrets that were read in this session, by path: what reaches the network then is asked about.
    pub read_secrets: &'a [String],
}

/// The verdict on a kind of act at one path, without any call: what a mode does by itself.
#[must_use]
pub fn by_itself(act: Act, path: &str, command: &str, network: bool, input: &PolicyInput<'_>) -> Verdict {
    let leaves = crate::command::summary(&crate::command::read(command, crate::shell::dialect()), &[]).leaves;
    let words = leaves.then(|| (LEAVES.to_owned(), "true".to_owned())).into_iter().collect();
    let facts = Facts {
        act,
        can_touch: vec![path.to_owned()],
        cannot_touch: vec![OUTSIDE.to_owned()],
        added: Vec::new(),
        reach: if network { vec!["example.com:443".to_owned()] } else { Vec::new() },
        undo: domain::call::Undo::Yes,
        risk: 1,
        exact: command.to_owned(),
        words,
        depends_on: BTreeMap::new(),
        proposed: None,
    };
    judge(&facts, input)
}

/// The verdict on a call as things stand.
#[must_use]
pub fn judge(facts: &Facts, input: &PolicyInput<'_>) -> Verdict {
    let mut verdict = by_mode(facts, input);
    if matches!(verdict, Verdict::Ask { .. })
        && let Some(grant) = grants::allowed_by(facts, input.cage, input.grants)
    {
        verdict = Verdict::Allow { rule: grant_rule(grant) };
    }
    verdict = stricter(verdict, built_in(facts, input));
    let seen = Seen::new(facts, input.cage);
    for layer in input.layers {
        for rule in &layer.rules {
            let name = || format!("{}/{}", layer.origin, rule.name);
            let word = match (rule.grade(&seen), &rule.word) {
                (Grade::No, _) => None,
                (Grade::Perhaps, Word::Ask | Word::Deny(_)) | (Grade::Yes, Word::Ask) => {
                    Some(Verdict::Ask { rule: name() })
                }
                (Grade::Yes, Word::Deny(reason)) => {
                    Some(Verdict::Deny { rule: name(), reason: reason.clone() })
                }
            };
            verdict = stricter(verdict, word);
        }
    }
    verdict
}

/// What may be allowed together with this call: only what would turn this very verdict into a yes, narrowest first.
#[must_use]
pub fn offers(facts: &Facts, input: &PolicyInput<'_>) -> Vec<Grant> {
    let helps = |offer: &Grant| {
        let mut grants = input.grants.to_vec();
        grants.push((GrantId::from_bits(0), offer.clone()));
        let with = PolicyInput { grants: &grants, ..input.clone() };
        matches!(judge(facts, &with), Verdict::Allow { .. })
    };
    let asks = matches!(judge(facts, input), Verdict::Ask { .. });
    let offers = if asks { grants::offers(facts, input.cage) } else { Vec::new() };
    offers.into_iter().filter(helps).collect()
}

/// The table of modes.
fn by_mode(facts: &Facts, input: &PolicyInput<'_>) -> Verdict {
    let allow = |rule: &str| Verdict::Allow { rule: rule.to_owned() };
    let ask = |rule: &str| Verdict::Ask { rule: rule.to_owned() };
    let deny = |rule: &str, reason: &str| Verdict::Deny { rule: rule.to_owned(), reason: reason.to_owned() };
    if only_looks(facts) && input.cage != Cage::None {
        return allow("builtin/looks");
    }
    if !facts.reach.is_empty() {
        match input.mode {
            Mode::Plan => {
                return deny("mode/plan", "Plan only mode reaches no network; propose the command instead");
            }
            // Granted sites leave the command itself to be judged.
            Mode::Ask | Mode::Edit | Mode::Auto if grants::reached(facts, input.grants) => {}
            Mode::Ask | Mode::Edit | Mode::Auto => return ask("builtin/network"),
        }
    }
    match (facts.act, input.mode, input.cage) {
        (Act::Read, ..) => allow("builtin/read"),
        (Act::Talk, ..) => allow("builtin/talk"),
        (Act::Write | Act::Edit | Act::Delete, Mode::Plan, _) => deny(
            "mode/plan",
            "the session is in Plan only mode: nothing is written, propose the change instead",
        ),
        (Act::Run, Mode::Plan, Cage::None) => deny(
            "mode/plan",
            "Plan only mode runs commands in a read-only cage, and this machine has no cage",
        ),
        (Act::Run, Mode::Plan, Cage::Full | Cage::Partial) => allow("mode/plan-read-only"),
        (Act::Write | Act::Edit, Mode::Edit, _) => allow("mode/edit"),
        (Act::Write | Act::Edit, Mode::Auto, Cage::Full | Cage::Partial) => allow("mode/auto"),
        (Act::Write | Act::Edit, Mode::Auto, Cage::None) => ask("cage/none"),
        (Act::Run, Mode::Auto, Cage::Full | Cage::Partial) => allow("mode/auto"),
        (Act::Run, Mode::Auto | Mode::Ask | Mode::Edit, Cage::None) => ask("cage/none"),
        (Act::Write | Act::Edit | Act::Delete | Act::Run, Mode::Ask, _) => ask("mode/ask"),
        (Act::Delete | Act::Run, Mode::Edit, _) => ask("mode/edit"),
        (Act::Delete, Mode::Auto, _) => ask("mode/auto"),
    }
}

/// What holds whatever the mode.
fn built_in(facts: &Facts, input: &PolicyInput<'_>) -> Option<Verdict> {
    let ask = |rule: String| Some(Verdict::Ask { rule });
    let changes = matches!(facts.act, Act::Write | Act::Edit | Act::Delete);
    if let Some(protected) = facts.can_touch.iter().find(|path| changes && path::is_protected(path)) {
        return ask(format!("builtin/protected:{protected}"));
    }
    // The file has a name outside the folder, and what is written shows there.
    if changes && !facts.cannot_touch.iter().any(|one| one == OUTSIDE) {
        return ask("builtin/outside".to_owned());
    }
    let reads = facts.act == Act::Read;
    if let Some(secret) = facts.can_touch.iter().find(|path| reads && path::is_secret(path)) {
        return ask(format!("builtin/secret:{secret}"));
    }
    let of_command = |word: &str| {
        let named = facts.words.get(word).filter(|_| facts.act == Act::Run && !only_looks(facts));
        named.map(|paths| paths.lines().next().unwrap_or_default())
    };
    if let Some(protected) = of_command(PROTECTED) {
        return ask(format!("builtin/protected:{protected}"));
    }
    if let Some(secret) = of_command(SECRETS).or_else(|| of_command(OPEN)) {
        return ask(format!("builtin/secret:{secret}"));
    }
    let leaves = facts.words.contains_key(LEAVES);
    if leaves && input.mode == Mode::Plan {
        let reason = "Plan only mode hands nothing on; propose the command instead".to_owned();
        return Some(Verdict::Deny { rule: "mode/plan".to_owned(), reason });
    }
    // What was read could be handed on: a permission given before isn't one for that.
    if let Some(secret) = input.read_secrets.first().filter(|_| may_tell(facts)) {
        return ask(format!("builtin/taint:{}", facts.words.get(CARRIES).unwrap_or(secret)));
    }
    // What is handed on can't be brought back.
    if leaves { ask("builtin/publish".to_owned()) } else { None }
}

/// Could this call hand on what was read before, by its words as far as they can be told?
fn may_tell(facts: &Facts) -> bool {
    let tells = facts.words.contains_key(TELLS) && !only_looks(facts);
    !facts.reach.is_empty() || tells || facts.words.contains_key(CARRIES)
}

/// Is it a command that the cage keeps from writing and from the network, because it only looks?
#[must_use]
pub fn only_looks(facts: &Facts) -> bool {
    facts.act == Act::Run && facts.reach.is_empty() && facts.cannot_touch.iter().any(|one| one == WRITING)
}

/// The files with secrets that a call of these facts reads or names.
#[must_use]
pub fn secrets(facts: &Facts) -> Vec<String> {
    match facts.act {
        Act::Run => facts.words.get(SECRETS).map_or("", String::as_str).lines().map(str::to_owned).collect(),
        Act::Read => facts.can_touch.iter().filter(|path| path::is_secret(path)).cloned().collect(),
        Act::Write | Act::Edit | Act::Delete | Act::Talk => Vec::new(),
    }
}

/// The files that a call would change and that act later by themselves: hooks, settings that programs obey.
#[must_use]
pub fn protected(facts: &Facts) -> Vec<String> {
    match facts.act {
        Act::Write | Act::Edit | Act::Delete => {
            facts.can_touch.iter().filter(|path| path::is_protected(path)).cloned().collect()
        }
        Act::Run | Act::Read | Act::Talk => Vec::new(),
    }
}

/// The wording fact that lists the secret files a command names.
pub(crate) const SECRETS: &str = "secrets";

/// The wording fact that lists the files a command names that act later by themselves.
pub(crate) const PROTECTED: &str = "protected";

/// The wording fact of a secret file that the cage can't hide from a command that names none.
pub(crate) const OPEN: &str = "secrets_open";

/// The wording fact of a command that hands something on: publishes it, asks a registry for a name, fills the clipboard.
pub(crate) const LEAVES: &str = "leaves";

/// The wording fact of a command that may hand something on, or put it where that is done later.
pub(crate) const TELLS: &str = "tells";

/// The wording fact that names the file with secrets a value of which stands in a call's words.
pub const CARRIES: &str = "carries";

/// The word for a call that nothing outside the folder can be touched by.
pub(crate) const OUTSIDE: &str = "outside_folder";

/// The word for a cage that nothing can be written in.
pub(crate) const WRITING: &str = "writing";

fn stricter(one: Verdict, other: Option<Verdict>) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Allow { .. } => 0,
        Verdict::Ask { .. } => 1,
        Verdict::Deny { .. } => 2,
    };
    match other {
        Some(other) if rank(&other) > rank(&one) => other,
        // Where two ask, the one that says more of this call is named.
        Some(other @ Verdict::Ask { .. }) if rank(&other) == rank(&one) => other,
        Some(_) | None => one,
    }
}
