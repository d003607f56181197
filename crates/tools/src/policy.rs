//! May this call run? One pure function from the call, its facts and the settings in force.
//!
//! **Policy** is layers of rules, from built in to subagent. Each can only narrow: the strictest word wins, so a denial
//! below can't be lifted above. Invariant: nothing the model says of a call is read here, only checked arguments and facts.

use crate::call::Checked;
use crate::command::{Denial, Pattern, denied_by};
use crate::shell::dialect;
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

/// Rules of one origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Where they come from: `user`, `project`, `session`, `subagent`, …; stands in the verdict's rule.
    pub origin: String,
    /// The rules, in no order: the strictest that fits counts.
    pub rules: Vec<Rule>,
}

/// One rule. What isn't named fits everything; all that is named must fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name in the log.
    pub name: String,
    /// Only this tool.
    #[serde(default)]
    pub tool: Option<String>,
    /// Only this kind of act.
    #[serde(default)]
    pub act: Option<Act>,
    /// Only when a path it can touch is this one or lies under it.
    #[serde(default)]
    pub under: Option<String>,
    /// Only commands of this kind, however they are dressed; where that can't be told, a denial asks.
    #[serde(default)]
    pub command: Option<Pattern>,
    /// Only when the exact text (command or arguments) contains this.
    #[serde(default)]
    pub containing: Option<String>,
    /// What then.
    pub word: Word,
}

/// A rule's word. There is no `allow`: a rule can't widen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The person decides.
    Ask,
    /// No, for this reason.
    Deny(String),
}

/// The verdict on a kind of act at one path, without any call: what a mode does by itself.
#[must_use]
pub fn by_itself(act: Act, path: &str, network: bool, input: &PolicyInput<'_>) -> Verdict {
    let facts = Facts {
        act,
        can_touch: vec![path.to_owned()],
        cannot_touch: vec![OUTSIDE.to_owned()],
        added: Vec::new(),
        reach: if network { vec!["example.com:443".to_owned()] } else { Vec::new() },
        undo: domain::call::Undo::Yes,
        risk: 1,
        exact: String::new(),
        words: BTreeMap::new(),
        depends_on: BTreeMap::new(),
        proposed: None,
    };
    of_facts("", &facts, input)
}

/// The verdict on a call as things stand.
#[must_use]
pub fn judge(call: &Checked, facts: &Facts, input: &PolicyInput<'_>) -> Verdict {
    of_facts(call.name(), facts, input)
}

/// What may be allowed together with this call: only what would turn this very verdict into a yes, narrowest first.
#[must_use]
pub fn offers(call: &Checked, facts: &Facts, input: &PolicyInput<'_>) -> Vec<Grant> {
    let helps = |offer: &Grant| {
        let mut grants = input.grants.to_vec();
        grants.push((GrantId::from_bits(0), offer.clone()));
        let with = PolicyInput { grants: &grants, ..input.clone() };
        matches!(of_facts(call.name(), facts, &with), Verdict::Allow { .. })
    };
    let asks = matches!(of_facts(call.name(), facts, input), Verdict::Ask { .. });
    let offers = if asks { grants::offers(facts, input.cage) } else { Vec::new() };
    offers.into_iter().filter(helps).collect()
}

fn of_facts(tool: &str, facts: &Facts, input: &PolicyInput<'_>) -> Verdict {
    let mut verdict = by_mode(facts, input);
    if matches!(verdict, Verdict::Ask { .. })
        && let Some(grant) = grants::allowed_by(facts, input.cage, input.grants)
    {
        verdict = Verdict::Allow { rule: grant_rule(grant) };
    }
    verdict = stricter(verdict, built_in(facts, input));
    for layer in input.layers {
        for rule in layer.rules.iter().filter(|rule| rule.fits(tool, facts)) {
            let name = format!("{}/{}", layer.origin, rule.name);
            let word = match &rule.word {
                Word::Ask => Verdict::Ask { rule: name },
                Word::Deny(_) if rule.perhaps(facts) => Verdict::Ask { rule: name },
                Word::Deny(reason) => Verdict::Deny { rule: name, reason: reason.clone() },
            };
            verdict = stricter(verdict, Some(word));
        }
    }
    verdict
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
    if let Some(secrets) = facts.words.get(SECRETS).filter(|_| facts.act == Act::Run) {
        return ask(format!("builtin/secret:{}", secrets.lines().next().unwrap_or_default()));
    }
    // What was read could be sent: a permission given before isn't one for that.
    match input.read_secrets.first() {
        Some(secret) if !facts.reach.is_empty() => ask(format!("builtin/taint:{secret}")),
        Some(_) | None => None,
    }
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

/// The wording fact that lists the secret files a command names.
pub(crate) const SECRETS: &str = "secrets";

/// The word for a call that nothing outside the folder can be touched by.
pub(crate) const OUTSIDE: &str = "outside_folder";

/// The word for a cage that nothing can be written in.
pub(crate) const WRITING: &str = "writing";

impl Rule {
    fn fits(&self, tool: &str, facts: &Facts) -> bool {
        self.tool.as_deref().is_none_or(|name| name == tool)
            && self.act.is_none_or(|act| act == facts.act)
            && self
                .under
                .as_deref()
                .is_none_or(|under| facts.can_touch.iter().any(|path| path::overlap(path, under)))
            && self.containing.as_deref().is_none_or(|text| facts.exact.contains(text))
            && self.command.as_ref().is_none_or(|_| self.denial(facts) != Denial::None)
    }

    fn denial(&self, facts: &Facts) -> Denial {
        match &self.command {
            Some(pattern) if facts.act == Act::Run => {
                let reading = crate::command::read(&facts.exact, dialect());
                denied_by(&reading, std::slice::from_ref(pattern))
            }
            Some(_) | None => Denial::None,
        }
    }

    /// Is it only perhaps such a command?
    fn perhaps(&self, facts: &Facts) -> bool {
        matches!(self.denial(facts), Denial::Perhaps(_))
    }
}

fn stricter(one: Verdict, other: Option<Verdict>) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Allow { .. } => 0,
        Verdict::Ask { .. } => 1,
        Verdict::Deny { .. } => 2,
    };
    match other {
        Some(other) if rank(&other) > rank(&one) => other,
        Some(_) | None => one,
    }
}
